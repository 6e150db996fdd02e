# Part of Eider, under the Apache License v2.0.
"""fp8-linear where there is no GPU, and what it refuses."""

import os
import subprocess
import unittest


class Linear(unittest.TestCase):
    def run_it(self, *arguments):
        environment = dict(os.environ, EIDER_CUDA_DRIVER="/nonexistent")
        done = subprocess.run([os.environ["FP8_LINEAR"], *arguments], capture_output=True, text=True, env=environment)
        return done.returncode, done.stderr

    def test_no_gpu(self):
        status, said = self.run_it("--check")
        self.assertEqual(status, 77)
        self.assertIn("skipped", said)
        self.assertIn("/nonexistent", said)

    def test_bad_shapes(self):
        for shape in ("8192x8192", "0x128x128", "4x4x4x4", "axbxc", "8x8x8 "):
            status, said = self.run_it("--shape", shape)
            self.assertEqual(status, 2, said)
            self.assertIn(shape, said)
            self.assertIn("rows x outputs x inputs", said)

    def test_sums(self):
        status, said = self.run_it("--part", "product", "--sums", "double")
        self.assertNotIn(status, (0, 77))
        self.assertIn("double", said)

    def test_a_part_is_neither_timed_nor_checked(self):
        for other in (["--check"], ["--json", "there.json"]):
            status, said = self.run_it("--part", "product", *other)
            self.assertNotIn(status, (0, 77))
            self.assertIn("excludes", said)
            self.assertIn("--part", said)

    def test_rounds(self):
        status, said = self.run_it("--rounds", "0")
        self.assertNotIn(status, (0, 77))
        self.assertIn("--rounds", said)
