# Part of Eider, under the Apache License v2.0.
"""Every op of `eider list`, run by name on `host` and checked against the reference."""

import concurrent.futures
import contextlib
import importlib.util
import io
import os
import pathlib
import unittest

from eider_process import EIDER, EiderTest, read_tensors

spec = importlib.util.spec_from_file_location("inputs", pathlib.Path(__file__).parents[1] / "gpu/inputs.py")
inputs = importlib.util.module_from_spec(spec)
spec.loader.exec_module(inputs)

# Where more is to be seen than the defaults show.
PARAMS = {
    "rms_norm_quant": ["--copy", "bf16"],
    "requantize": ["--format", "e5m2", "--block", "1x*"],
    "softmax": ["--set", "softmax_scale=0.125"],
    "softmax_quant": ["--set", "causal=1"],
    "rope": ["--set", "interleaved=1"],
    "norm_rope_quant": ["--set", "head=128", "--block", "1x*"],
    "layer_norm": ["--set", "eps=1e-3"],
    "triad": ["--set", "alpha=-0.5"],
    "attention_decode": ["--set", "softcap=20"],
    "attention_prefill": ["--set", "causal=1", "--set", "softcap=20"],
    "gelu_mul_quant": ["--format", "e5m2", "--block", "1x32"],
    "relu2_bias_quant": ["--block", "128x128", "--mode", "deepgemm"],
}


class Ops(EiderTest):
    def run_checked(self, op):
        return self.eider("run", op, *PARAMS.get(op, []), "--device", "host", "--in", f"{op}.safetensors",
                          "--out", f"{op}.out", "--check")

    def test_each_agrees_with_the_reference(self):
        with contextlib.redirect_stdout(io.StringIO()) as listed:
            inputs.main(EIDER, self.directory, tokens=5, hidden=141)
        ops = [line.split()[0] for line in listed.getvalue().splitlines()]
        self.assertGreaterEqual(len(ops), 35)
        self.assertLessEqual(PARAMS.keys(), set(ops))
        with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
            processes = dict(zip(ops, pool.map(self.run_checked, ops)))
        for op, process in processes.items():
            with self.subTest(op):
                self.assertEqual((process.returncode, process.stderr), (0, ""))
                result, shape = {"kv_append": ("k_cache", [13, 384]), "attention_decode": ("o", [4, 8, 64]),
                                 "attention_prefill": ("o", [13, 8, 64])}.get(
                    op, ("y", [5, 384 if "rope" in op else 141]))
                shape = {"gemv": shape[:1], "matmul_skinny": [9, 5]}.get(op, shape)
                self.assertRegex(process.stdout, rf"check {result} +largest error")
                self.assertEqual(read_tensors(self.directory / f"{op}.out")[result][1], shape)

    def test_blocks_without_a_row_load_none_ahead(self):
        # The kernel that leaves parts has many blocks, whatever the rows are, and each loads its first row ahead.
        with contextlib.redirect_stdout(io.StringIO()):
            inputs.main(EIDER, self.directory, tokens=5, hidden=4096)
        process = self.eider("run", "rms_norm_quant", "--block", "*x*", "--schedule", "row<threads = 256, vector = 16>",
                             "--device", "host", "--in", "rms_norm_quant.safetensors", "--out", "y.out", "--check")
        self.assertEqual((process.returncode, process.stderr), (0, ""))


if __name__ == "__main__":
    unittest.main()
