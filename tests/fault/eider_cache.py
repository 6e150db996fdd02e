# Part of Eider, under the Apache License v2.0.
"""The command line on a cache that fault-victim fills, and as a victim itself."""

import subprocess

from eider_process import EIDER, EiderProcess
from victim import VictimTest


class EiderCacheTest(EiderProcess, VictimTest):
    def fails(self, status, words, *arguments, **environment):
        """A cache explains itself in one line."""
        complaint = super().fails(status, words, *arguments, **environment)
        self.assertEqual(len(complaint.splitlines()), 1, complaint)
        return complaint


class RequestVictim:
    """Of a VictimTest whose victim is a build that needs the entry of one request, and its kernels."""

    kernels = None  # Of the first build.

    def start(self, **environment):
        return subprocess.Popen(
            [EIDER, "build", "quantize", "--block", "1x16", "--dim", "hidden=64", "--arch", "sm_90", "--emit", "cache",
             "--why-miss"], env={**self.environment, **environment}, cwd=self.directory, text=True,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def read(self, output, errors):
        """Whether the request's entry was there."""
        lines = errors.splitlines()
        self.built = [line.rsplit("/", 1)[-1] for line in output.split()]
        missed = any("cache miss: requests/" in line for line in lines)
        return ["made" if missed else "hit"], [line for line in lines if "cache miss: " not in line]

    def victim(self, **environment):
        """The answer is right: they are the kernels of the first build."""
        result = super().victim(**environment)
        self.kernels = self.kernels or self.built
        self.assertGreaterEqual(len(self.built), 4)
        self.assertEqual(self.built, self.kernels)
        return result
