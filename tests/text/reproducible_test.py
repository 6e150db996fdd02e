# Part of Eider, under the Apache License v2.0.
"""The same request gives the same bytes: from another place, another user, another locale."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import unittest

BUILD = pathlib.Path(os.environ["EIDER_BUILD"])
SOURCE = pathlib.Path(os.environ["EIDER_SOURCE"])

REQUESTS = [
    ("quantize", "--block", "1x128"),
    ("quantize", "--block", "1x*", "--dtype", "f32", "--format", "e5m2", "--codec", "software"),
    ("quantize", "--block", "*x*", "--scale-source", "static"),
    ("quantize", "--block", "1x128", "--mode", "trtllm_token"),
    ("quantize", "--mode", "mx", "--format", "e4m3fnuz"),
    ("dequantize", "--block", "128x128"),
    ("dequantize", "--block", "1x32", "--scale", "e8m0"),
    ("rms_norm_quant", "--block", "1x*", "--mode", "vllm_token"),
    ("add_rms_norm_quant", "--block", "128x128"),
    ("silu_mul_quant", "--block", "1x128", "--mode", "deepgemm"),
]
STAGES = ("eider", "simt", "cuda")

PROGRAM = """
eider.program @halved(rows, columns = 192) {
  %x = eider.input "x" : tensor<?x192xf32, #eider.dims<rows, columns>>
  %half = arith.constant 0.5 : f32
  %wide = eider.broadcast %half : f32 to tensor<?x192xf32, #eider.dims<rows, columns>>
  %y = arith.mulf %x, %wide : tensor<?x192xf32, #eider.dims<rows, columns>>
  eider.output "y", %y : tensor<?x192xf32, #eider.dims<rows, columns>>
}
"""


class Place:
    """A copy of the build in a directory of its own, and an environment to run it in."""

    def __init__(self, directory, **environment):
        self.directory = pathlib.Path(directory)
        self.home = self.directory / "home"
        self.home.mkdir(parents=True)
        for part in ("bin/eider", "lib"):
            target = self.directory / "build" / part
            target.parent.mkdir(parents=True, exist_ok=True)
            (shutil.copytree if (BUILD / part).is_dir() else shutil.copy2)(BUILD / part, target)
        (self.directory / "program.mlir").write_text(PROGRAM)
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.home), **environment}

    def emit(self, request, stage, cwd):
        arguments = [self.directory / "build/bin/eider", "emit", *request, "--arch", "sm_90", "--stage", stage]
        process = subprocess.run(arguments, cwd=cwd, env=self.environment, capture_output=True, timeout=60)
        if process.returncode != 0:
            raise AssertionError(f"{request}: {process.stderr.decode()}")
        return process.stdout


def other_locale():
    """A locale of this machine that writes numbers in its own way, if there is one."""
    names = subprocess.run(["locale", "-a"], capture_output=True, text=True).stdout.split()
    return next((n for n in names if re.match(r"(de|fr|tr)_.*utf-?8", n, re.IGNORECASE)), "C.UTF-8")


class Reproducible(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.temporary = tempfile.TemporaryDirectory(prefix="eider-text-")
        root = pathlib.Path(cls.temporary.name)
        cls.one = Place(root / "one", TZ="UTC", LC_ALL="C", USER="one")
        cls.other = Place(root / "deeper" / "an other", TZ="Asia/Kolkata", LC_ALL=other_locale(), USER="other",
                          LANG="tr_TR.UTF-8", TMPDIR=str(root), SOURCE_DATE_EPOCH="1", COLUMNS="40")

    @classmethod
    def tearDownClass(cls):
        cls.temporary.cleanup()

    def emitted(self):
        """(name, the bytes from one place, those from the other) of every request and stage."""
        for op in REQUESTS:
            for stage in STAGES:
                request = (*op, "--dim", "hidden=1536")
                yield (f"{' '.join(op)} {stage}", self.one.emit(request, stage, "/"),
                       self.other.emit(request, stage, self.other.home))
        for stage in STAGES:
            yield (f"program.mlir {stage}", self.one.emit(("program.mlir",), stage, self.one.directory),
                   self.other.emit((str(self.other.directory / "program.mlir"),), stage, "/"))

    def test_same_bytes(self):
        for name, one, other in self.emitted():
            with self.subTest(name):
                self.assertGreater(len(one), 200)
                self.assertEqual(one, other)

    def test_nothing_of_the_machine(self):
        forbidden = [str(BUILD), str(SOURCE), str(self.one.directory), self.temporary.name, "/tmp", "/usr", "/home",
                     "/root", socket.gethostname(), "program.mlir", ".cpp", ".so"]
        for name, text, _ in self.emitted():
            with self.subTest(name):
                for word in forbidden:
                    self.assertNotIn(word.encode(), text)
                self.assertNotRegex(text, rb"20[0-9]{2}-[0-9]{2}-[0-9]{2}|\b0x[0-9a-f]{6,}|\b[0-9a-f]{32,}\b")


if __name__ == "__main__":
    unittest.main()
