# Part of Eider, under the Apache License v2.0.
"""Machines that lack something: exit status 3, or a warning where Eider can go on without."""

import os
import pathlib
import shutil
import subprocess
import unittest

from eider_process import EIDER, EiderTest

BUILD = ("build", "quantize", "--block", "1x128", "--dim", "hidden=256", "--arch", "sm_90")


class Machine(EiderTest):
    def test_no_compiler_for_host(self):
        self.matrix(2, 16)
        self.fails(3, ["EIDER_CXX", "/nonexistent"], *self.quantize(), EIDER_CXX="/nonexistent")
        self.assertFalse((self.directory / "out.safetensors").exists())

    def test_compiler_that_fails(self):
        self.matrix(2, 16)
        self.fails(3, ["false ended with status 1"], *self.quantize(), EIDER_CXX="false")

    def test_no_driver(self):
        self.matrix(2, 16)
        self.fails(3, ["CUDA driver", "/nonexistent"], "run", "quantize", "--dtype", "f32",
                   "--block", "1x16", "--device", "cuda", "--in", "in.safetensors", "--out", "out",
                   EIDER_CUDA_DRIVER="/nonexistent")

    def test_devices_without_a_driver(self):
        text = self.succeeds("devices", EIDER_CUDA_DRIVER="/nonexistent")
        self.assertTrue(text.startswith("host "), text)
        self.assertIn("no GPU  ", text)

    def test_no_nvrtc(self):
        self.fails(3, ["NVRTC", "/nonexistent"], *BUILD, "--emit", "cubin", "-o", "d",
                   EIDER_NVRTC="/nonexistent")

    def build_without_the_linkers_cache(self, **environment):
        """Builds where the dynamic linker knows the system's directories alone."""
        loader = "/lib64/ld-linux-x86-64.so.2"
        if not os.path.exists(loader):
            self.skipTest(f"no {loader}")
        self.environment.pop("LD_LIBRARY_PATH", None)
        command = [loader, "--inhibit-cache", EIDER, *BUILD, "--emit", "cubin", "-o", "d"]
        return subprocess.run(command, env={**self.environment, **environment}, cwd=self.directory,
                              capture_output=True, text=True, timeout=120)

    def test_nvrtc_where_the_dynamic_linker_does_not_look(self):
        process = self.build_without_the_linkers_cache()
        self.assertEqual((process.returncode, process.stderr), (0, ""))

    def test_nvrtc_without_its_builtins(self):
        toolkit = os.environ.get("CUDA_HOME", "/usr/local/cuda")
        nvrtc = next(pathlib.Path(toolkit).glob("lib*/libnvrtc.so.13"), None)
        if not nvrtc:
            self.skipTest(f"no NVRTC 13 under {toolkit}")
        shutil.copy(nvrtc, self.directory)
        process = self.build_without_the_linkers_cache(EIDER_NVRTC=str(self.directory / nvrtc.name))
        self.assertEqual(process.returncode, 3, process.stderr)
        self.assertIn("libnvrtc-builtins", process.stderr.split("\n")[0])

    def test_text_needs_no_nvrtc(self):
        self.succeeds(*BUILD, "--emit", "cu", "-o", "d", EIDER_NVRTC="/nonexistent")
        self.assertTrue((self.directory / "d/quantize.sm_90.cu").exists())

    def warns_once_and_goes_on(self, cache):
        process = self.eider(*BUILD, "--emit", "cubin", "-o", "d", EIDER_CACHE_DIR=str(cache))
        self.assertEqual(process.returncode, 0, process.stderr)
        lines = process.stderr.splitlines()
        self.assertEqual(len(lines), 1, process.stderr)
        self.assertTrue(lines[0].startswith("eider: warning: "), lines)
        self.assertIn(str(cache), lines[0])
        self.assertTrue((self.directory / "d/quantize.sm_90.cubin").read_bytes()[:4] == b"\x7fELF")

    def test_cache_that_is_a_file(self):
        self.file("occupied", "")
        self.warns_once_and_goes_on(self.directory / "occupied")

    def test_cache_below_a_file(self):
        self.file("occupied", "")
        self.warns_once_and_goes_on(self.directory / "occupied/cache")

    def test_cache_that_others_can_write(self):
        cache = self.directory / "shared"
        cache.mkdir()
        cache.chmod(0o777)
        self.warns_once_and_goes_on(cache)

    def test_cache_that_is_a_link(self):
        (self.directory / "elsewhere").mkdir(mode=0o700)
        (self.directory / "link").symlink_to("elsewhere")
        self.warns_once_and_goes_on(self.directory / "link")

    @unittest.skipIf(os.geteuid() == 0, "root may write everywhere")
    def test_cache_without_permission(self):
        cache = self.directory / "locked"
        cache.mkdir(mode=0o500)
        self.warns_once_and_goes_on(cache)

    def test_no_cache_touches_none(self):
        self.succeeds(*BUILD, "--emit", "cubin", "--no-cache", "-o", "d")
        self.assertFalse((self.directory / "cache").exists())

    def test_full_standard_output(self):
        with open("/dev/full", "w") as full:
            process = subprocess.run([EIDER, "list"], stdout=full, stderr=subprocess.PIPE, text=True)
        self.assertEqual(process.returncode, 3)
        self.assertIn("standard output: cannot write: No space left", process.stderr)


if __name__ == "__main__":
    unittest.main()
