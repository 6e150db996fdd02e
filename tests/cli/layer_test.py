# Part of Eider, under the Apache License v2.0.
"""bench-llm where there is no GPU, and what it refuses."""

import os
import pathlib
import subprocess
import unittest

DATA = pathlib.Path(__file__).parents[2] / "examples" / "data"


class Layer(unittest.TestCase):
    def run_it(self, *arguments):
        environment = dict(os.environ, EIDER_CUDA_DRIVER="/nonexistent")
        done = subprocess.run([os.environ["BENCH_LLM"], *arguments], capture_output=True, text=True, env=environment)
        return done.returncode, done.stdout, done.stderr

    def test_simulated(self):
        """A layer of MiniLM's dims on real weights is what loops say; what is wrong in one thing is not."""
        status, said, _ = self.run_it("--device", "host", "--check", str(DATA / "minilm_layer.safetensors"))
        self.assertEqual(status, 0, said)
        self.assertEqual(said.count("ok "), 78, said)
        self.assertNotIn("not ok", said)

    def test_no_gpu(self):
        status, _, said = self.run_it()
        self.assertEqual(status, 77)
        self.assertIn("/nonexistent", said)

    def test_nothing_to_time(self):
        status, _, said = self.run_it("--device", "host")
        self.assertEqual(status, 2)
        self.assertIn("--check FILE, or a GPU", said)

    def test_other_files(self):
        for name, what in (("absent.safetensors", "absent.safetensors"), ("minilm.safetensors", "no bf16 tensor 'query'")):
            status, _, said = self.run_it("--device", "host", "--check", str(DATA / name))
            self.assertEqual(status, 2)
            self.assertIn(what, said)
