# Part of Eider, under the Apache License v2.0.
"""Runs the command line in a directory and a cache of its own, and makes the files it reads."""

import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

EIDER = os.environ["EIDER"]


def tensors_file(tensors):
    """The bytes of a safetensors file of {name: (dtype, shape, data)}."""
    header, data = {}, b""
    for name, (dtype, shape, content) in tensors.items():
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def read_tensors(path):
    """{name: (dtype, shape, data)} of a safetensors file."""
    content = pathlib.Path(path).read_bytes()
    (length,) = struct.unpack("<Q", content[:8])
    header, data = json.loads(content[8 : 8 + length]), content[8 + length :]
    return {n: (e["dtype"], e["shape"], data[slice(*e["data_offsets"])]) for n, e in header.items()}


def f32(*values):
    return struct.pack(f"<{len(values)}f", *values)


class EiderProcess:
    """Of a test that has a directory, `self.directory`, and an environment."""

    def eider(self, *arguments, **environment):
        return subprocess.run(
            [EIDER, *map(str, arguments)],
            env={**self.environment, **environment},
            cwd=self.directory,
            capture_output=True,
            text=True,
            stdin=subprocess.DEVNULL,
            timeout=120,
        )

    def succeeds(self, *arguments, **environment):
        """Its standard output."""
        process = self.eider(*arguments, **environment)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        return process.stdout

    def fails(self, status, words, *arguments, **environment):
        """Its complaint, whose first line has all `words`; nothing but that explains itself."""
        process = self.eider(*arguments, **environment)
        self.assertEqual(process.returncode, status, process.stdout + process.stderr)
        first = process.stderr.split("\n")[0]
        self.assertTrue(first.startswith("eider: "), process.stderr)
        for word in words:
            self.assertIn(word, first)
        self.assertEqual(process.stdout, "")
        return process.stderr


class EiderTest(EiderProcess, unittest.TestCase):
    """Every test has a directory, `self.directory`, and a cache in it."""

    def setUp(self):
        temporary = tempfile.TemporaryDirectory(prefix="eider-cli-")
        self.addCleanup(temporary.cleanup)
        self.directory = pathlib.Path(temporary.name)
        self.environment = {**os.environ, "EIDER_CACHE_DIR": str(self.directory / "cache")}

    def file(self, name, content):
        path = self.directory / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return str(path)

    def tensors(self, name="in.safetensors", **tensors):
        return self.file(name, tensors_file(tensors))

    def matrix(self, rows, columns, name="in.safetensors"):
        values = [((i * 2654435761) % 2001 - 1000) / 64 for i in range(rows * columns)]
        return self.tensors(name, x=("F32", [rows, columns], f32(*values)))

    def quantize(self, *arguments, input="in.safetensors", output="out.safetensors"):
        """The arguments of a small run on `host`."""
        return ("run", "quantize", "--dtype", "f32", "--block", "1x16", "--device", "host",
                "--in", input, "--out", output, *arguments)
