# Part of Eider, under the Apache License v2.0.
"""Runs fault-victim with a cache, a fake NVRTC and, where wanted, faults."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

VICTIM = pathlib.Path(os.environ["VICTIM"])
LIBRARIES = VICTIM.parent.parent / "lib"
TEXT = 'extern "C" __global__ void k() {}\n' * 20


def fast_directory():
    """Where waiting for the disk costs nothing, if there is such a place: no test pulls a plug."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


class VictimTest(unittest.TestCase):
    """Every test has a directory, `self.directory`, and a cache in it, `self.cache`."""

    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="eider-fault-", dir=fast_directory()))
        self.addCleanup(shutil.rmtree, self.directory, ignore_errors=True)
        self.cache = self.directory / "cache"
        self.log = self.directory / "compiles"
        nvrtc = self.directory / "libnvrtc.so.13"
        shutil.copy(LIBRARIES / "libeider_fake_nvrtc.so", nvrtc)
        keep = {k: v for k, v in os.environ.items() if not k.startswith(("EIDER_", "XDG_"))}
        self.environment = {**keep, "EIDER_CACHE_DIR": str(self.cache), "EIDER_NVRTC": str(nvrtc),
                            "EIDER_FAKE_NVRTC_LOG": str(self.log)}

    def start(self, *texts, uid=None, **environment):
        return subprocess.Popen(
            [VICTIM, *(texts or (TEXT,))], env={**self.environment, **environment},
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            cwd="/", user=uid)

    def victim(self, *texts, **environment):
        """Its answers and warnings, a line each; the answer was right."""
        process = self.start(*texts, **environment)
        output, errors = process.communicate(timeout=60)
        self.assertEqual(process.returncode, 0, errors)
        return self.read(output, errors)

    def read(self, output, errors):
        """The answers and warnings in what the victim printed."""
        return output.split(), errors.splitlines()

    def strike(self, at, error, **environment):
        """A run with a fault at that call: its status, answers, warnings, and the call that was
        struck, None if it does not make so many calls."""
        struck = self.directory / "struck"
        struck.unlink(missing_ok=True)
        process = self.start(
            LD_PRELOAD=str(LIBRARIES / "libeider_fault_injection.so"),
            EIDER_FAULT_ROOT=str(self.fault_root()), EIDER_FAULT_AT=str(at), EIDER_FAULT_ERROR=str(error),
            EIDER_FAULT_STRUCK=str(struck), **environment)
        output, errors = process.communicate(timeout=60)
        call = struck.read_text() if struck.exists() else None
        return process.returncode, *self.read(output, errors), call

    def fault_root(self):
        """Below it, calls are struck."""
        return self.cache

    def compiles(self):
        return len(self.log.read_text().split()) if self.log.exists() else 0

    def entry(self, shelf="kernels"):
        """The only entry."""
        (entry,) = (self.cache / shelf).iterdir()
        return entry
