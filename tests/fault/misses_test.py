# Part of Eider, under the Apache License v2.0.
"""--why-miss names the field that differs; EIDER_JIT=never says what would cure a miss."""

import pathlib
import shlex
import struct
import unittest

from eider_cache import EiderCacheTest
from victim import LIBRARIES

QUANTIZE = ("quantize", "--dtype", "f32", "--block", "1x16")
SM_90 = ("--arch", "sm_90")
CACHE = ("--emit", "cache")


class WhyMiss(EiderCacheTest):
    def misses(self, *arguments, **environment):
        """What it says of the request, and of the kernels."""
        process = self.eider("build", *arguments, *CACHE, "--why-miss", **environment)
        self.assertEqual(process.returncode, 0, process.stderr)
        lines = process.stderr.splitlines()
        for line in lines:
            self.assertTrue(line.startswith("eider: cache miss: "), line)
            self.assertNotIn(str(self.directory), line)
        return [[l for l in lines if f"cache miss: {s}/" in l] for s in ("requests", "kernels")]

    def setUp(self):
        super().setUp()
        requests, kernels = self.misses(*QUANTIZE, "--dim", "hidden=64", *SM_90)
        self.assertIn("there is no such entry at all yet", requests[0])

    def test_nothing_is_said_of_hits(self):
        self.assertEqual(self.misses(*QUANTIZE, "--dim", "hidden=64", *SM_90), [[], []])

    def test_each_input_of_a_request(self):
        # What differs, and how it is called.
        base = [*QUANTIZE, "--dim", "hidden=64", *SM_90]
        for arguments, said in (
            ([*QUANTIZE, "--dim", "hidden=32", *SM_90], "differs in dim hidden: '32', the entry's '64'"),
            ([*base, "--dim", "tokens=4"], "differs in dim tokens: '4', the entry's absent"),
            ([*base, "--codec", "software"], "differs in codec: 'software', the entry's 'auto'"),
            ([*base, "--schedule", "map<threads = 32, vector = 8>"], "differs in schedule: 'map<"),
            ([*base, "--format", "e5m2"], "differs in program: line "),
            ([*base[:-2], "--arch", "sm_90a"], "differs in target: 'sm_90a', the entry's 'sm_90'"),
        ):
            # The fake NVRTC takes 90 and 90a alone.
            requests, _ = self.misses(*arguments)
            self.assertEqual(len(requests), 1, arguments)
            self.assertIn(said, requests[0])

    def test_another_compiler_of_machine_code(self):
        other = self.directory / "other/libnvrtc.so.13"
        other.parent.mkdir()
        other.write_bytes(pathlib.Path(self.environment["EIDER_NVRTC"]).read_bytes() + b"\n")
        before = list((self.cache / "kernels").iterdir())
        requests, kernels = self.misses(*QUANTIZE, "--dim", "hidden=64", *SM_90, EIDER_NVRTC=str(other))
        self.assertEqual((len(requests), len(kernels)), (0, len(before)))
        for line in kernels:
            self.assertIn("differs in nvrtc: 'libnvrtc.so.13:", line)

    def test_the_same_request_in_another_order(self):
        self.misses(*QUANTIZE, "--dim", "hidden=64", "--dim", "tokens=4", *SM_90)
        self.assertEqual(self.misses("quantize", *SM_90, "--dim", "tokens=4", "--block", "1x16",
                                     "--dim", "hidden=64", "--dtype", "f32"), [[], []])

    def test_no_path_of_this_machine_in_an_entry(self):
        for file in self.cache.rglob("*"):
            if file.is_file():
                self.assertNotIn(str(self.directory).encode(), file.read_bytes())

    def test_not_without_a_cache(self):
        self.fails(2, ["--why-miss", "--no-cache"], "build", *QUANTIZE, *SM_90, *CACHE, "--no-cache", "--why-miss")


class Never(EiderCacheTest):
    """On a driver that runs nothing."""

    def setUp(self):
        super().setUp()
        driver = LIBRARIES / "libeider_fake_driver.so"
        if not driver.exists():
            self.skipTest(f"{driver} is not built")
        self.environment["EIDER_CUDA_DRIVER"] = str(driver)
        header = b'{"x":{"dtype":"F32","shape":[2,64],"data_offsets":[0,512]}}'
        content = struct.pack("<Q", len(header)) + header + bytes(512)
        (self.directory / "in.safetensors").write_bytes(content)
        self.run = ("run", *QUANTIZE, "--device", "cuda", "--in", "in.safetensors", "--out", "out")

    def cure(self, process):
        """The command that the error names."""
        self.assertEqual((process.returncode, len(process.stderr.splitlines())), (3, 1), process.stderr)
        self.assertIn("not in the cache, and EIDER_JIT=never; run: eider build ", process.stderr)
        return shlex.split(process.stderr.split("; run: eider ", 1)[1])

    def test_the_command_it_names_cures_it(self):
        command = self.cure(self.eider(*self.run, EIDER_JIT="never"))
        self.assertFalse((self.directory / "out").exists())
        self.assertEqual(command, ["build", *QUANTIZE, "--dim", "hidden=64", "--arch", "sm_90a", "--emit", "cache"])
        self.succeeds(*command, EIDER_JIT="never")  # building is what it is for
        before = self.compiles()
        self.succeeds(*self.run, EIDER_JIT="never")
        self.assertEqual(self.compiles(), before)

    def test_with_everything_that_matters(self):
        extra = ("--format", "e5m2", "--codec", "software", "--set", "nan=ignore",
                 "--schedule", "map<threads = 32, vector = 8>", "--dim", "tokens=2")
        command = self.cure(self.eider(*self.run, *extra, EIDER_JIT="never"))
        self.succeeds(*command)
        self.succeeds(*self.run, *extra, EIDER_JIT="never")

    def test_machine_code_alone_is_missing(self):
        command = self.cure(self.eider(*self.run, EIDER_JIT="never"))
        self.succeeds(*command)
        for entry in (self.cache / "kernels").iterdir():
            for file in entry.iterdir():
                file.unlink()
            entry.rmdir()
        self.assertEqual(self.cure(self.eider(*self.run, EIDER_JIT="never")), command)
        self.succeeds(*command)
        self.succeeds(*self.run, EIDER_JIT="never")

    def test_from_a_bundle_on_a_machine_without_nvrtc(self):
        command = self.cure(self.eider(*self.run, EIDER_JIT="never"))
        self.succeeds(*command, EIDER_CACHE_DIR=str(self.directory / "bundle"))
        without = {"EIDER_NVRTC": "/nonexistent", "EIDER_CACHE_BUNDLES": str(self.directory / "bundle")}
        self.succeeds(*self.run, EIDER_JIT="never", **without)
        self.succeeds(*self.run, **without)
        self.fails(3, ["NVRTC: /nonexistent is no libnvrtc"], *self.run, "--format", "e5m2", **without)

    def test_a_value_that_means_nothing(self):
        self.fails(2, ["EIDER_JIT: 'maybe' means nothing; set it to never or auto"], *self.run, EIDER_JIT="maybe")
        self.succeeds(*self.run, EIDER_JIT="auto")

    def test_the_simulator_compiles_all_the_same(self):
        self.succeeds("run", *QUANTIZE, "--device", "host", "--in", "in.safetensors", "--out", "out",
                      EIDER_JIT="never")


if __name__ == "__main__":
    unittest.main()
