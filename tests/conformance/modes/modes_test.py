# ===- modes_test.py - Modes against their peers' formulas -------------------=== #
#
# Part of Eider, under the Apache License v2.0.
#
# ===------------------------------------------------------------------------=== #
"""`eider run quantize --mode …` bit for bit against plain NumPy, on every kind of input.

$EIDER is the program; $EIDER_TEST_DEVICE the device, `host` if unset.
"""
import os
import pathlib
import subprocess
import tempfile
import unittest

import ml_dtypes
import numpy as np
import safetensors
from safetensors.numpy import save_file

import formulas

SCALES = {"F32": np.float32, "BF16": ml_dtypes.bfloat16, "F16": np.float16, "F8_E8M0": np.uint8, "F8_E4M3": np.uint8}
BITS = {1: np.uint8, 2: np.uint16, 4: np.uint32}  # by size
COLUMNS = 128 * 3 + 41  # the last block is a partial one


def rows_of_every_kind():
    """[rows, COLUMNS] f32: each row of a kind, its blocks of different magnitudes."""
    random = np.random.default_rng(20)
    normal = random.standard_normal((3, COLUMNS)) * np.repeat([1.0, 1e-3, 300.0, 7.0], 128)[:COLUMNS]
    uniform = random.uniform(-1, 1, (8, COLUMNS))
    zeros = np.where(random.uniform(size=COLUMNS) < 0.5, -0.0, 0.0)
    floor = uniform[0] * np.repeat([1e-4, 1e-6, 1e-10, 1e-11], 128)[:COLUMNS]
    tiny = uniform[1] * 1e-30
    subnormal = uniform[2] * 2.0**-128
    smallest = random.integers(-3, 4, COLUMNS) * 2.0**-149
    huge = uniform[3] * 3e38
    infinite, nan, mixed = normal[0].copy(), normal[1].copy(), uniform[4].copy()
    infinite[5], infinite[200] = np.inf, -np.inf
    nan[7], nan[300], nan[-1] = np.nan, -np.nan, np.nan
    mixed[::13], mixed[1::31], mixed[2::17] = 0.0, np.inf, -0.0
    powers = 2.0 ** random.integers(-20, 20, COLUMNS) * random.choice([-1, 1], COLUMNS)
    one_zero_block = np.where(np.arange(COLUMNS) // 128 == 1, zeros, normal[2])
    rows = [*normal, uniform[5], zeros, floor, tiny, subnormal, smallest, huge, infinite, nan, mixed,
            powers, one_zero_block]
    with np.errstate(over="ignore"):
        return np.stack(rows).astype(np.float32)


def run_eider(x, arguments):
    """y and y_scale of `eider run quantize`."""
    with tempfile.TemporaryDirectory() as directory:
        source, result = pathlib.Path(directory, "in.safetensors"), pathlib.Path(directory, "out.safetensors")
        save_file({"x": x, "y_global_scale": np.array([formulas.GLOBAL_SCALE])}, source)
        command = [os.environ["EIDER"], "run", "quantize", *arguments, "--no-cache",
                   "--device", os.environ.get("EIDER_TEST_DEVICE", "host"),
                   "--in", str(source), "--out", str(result)]
        done = subprocess.run(command, capture_output=True, text=True)
        if done.returncode:
            raise AssertionError(f"{' '.join(command)}: {done.stderr}")
        # Not load_file: its NumPy has no FP8.
        tensors = dict(safetensors.deserialize(result.read_bytes()))
    y, y_scale = tensors["y"], tensors["y_scale"]
    return (np.frombuffer(y["data"], np.uint8).reshape(y["shape"]),
            np.frombuffer(y_scale["data"], SCALES[y_scale["dtype"]]).reshape(y_scale["shape"]))


class Modes(unittest.TestCase):
    def check(self, formula, mode, block, options=(), narrow=None, formats=("e4m3", "e5m2")):
        """`narrow`: the dtype that x has in memory; f32 if none."""
        x = rows_of_every_kind()
        name = {None: "f32", ml_dtypes.bfloat16: "bf16", np.float16: "f16"}[narrow]
        if narrow:
            with np.errstate(over="ignore"):
                x = x.astype(narrow)
        for format in formats:
            dtype = formulas.FORMATS[format][0]
            given = np.ascontiguousarray(x[:, :-1]) if format == "e2m1" else x  # which has even widths
            codes, scales = formulas.quantize(given.astype(np.float32), block, formula, format)
            columns = "*" if block == COLUMNS else block
            y, y_scale = run_eider(given, ["--dtype", name, "--format", format, "--block", f"1x{columns}",
                                           "--mode", mode, *options])
            with self.subTest(format=format, output="y_scale"):
                self.assertEqual(y_scale.dtype, scales.dtype)
                bits = BITS[scales.itemsize]
                self.assert_same(y_scale.view(bits), scales.view(bits), np.isnan(y_scale), np.isnan(scales))
            with self.subTest(format=format, output="y"):
                if format == "e2m1":  # two codes a byte, no NaN
                    y = np.stack([y & 15, y >> 4], axis=2).reshape(codes.shape)
                    self.assert_same(y, codes, np.zeros(y.shape, bool), np.zeros(y.shape, bool))
                else:
                    self.assert_same(y, codes, np.isnan(y.view(dtype)), np.isnan(codes.view(dtype)))

    def assert_same(self, bits, expected, is_nan, expected_is_nan):
        """Equal bits; a NaN may have any."""
        wrong = np.argwhere(np.where(expected_is_nan, ~is_nan, bits != expected))
        if len(wrong):
            row, column = wrong[0]
            self.fail(f"{len(wrong)} wrong, first [{row}, {column}]: {bits[row, column]:#x}, "
                      f"by the formula {expected[row, column]:#x}")

    def test_default(self):
        self.check(formulas.default, "default", 128)
        self.check(formulas.default, "default", COLUMNS)

    def test_deepgemm(self):
        self.check(formulas.deepgemm, "deepgemm", 128)

    def test_tilekernels(self):
        self.check(formulas.tilekernels, "tilekernels", 128)

    def test_vllm_group(self):
        self.check(formulas.vllm_group, "vllm_group", 128)

    def test_vllm_token(self):
        self.check(formulas.vllm_token, "vllm_token", COLUMNS)
        self.check(formulas.vllm_token_bounded, "vllm_token", COLUMNS, ["--set", "amax_bound=2"])

    def test_sglang_group(self):
        self.check(formulas.sglang_group, "sglang_group", 128)

    def test_trtllm_token(self):
        self.check(formulas.trtllm_token, "trtllm_token", COLUMNS)

    def test_te_current(self):
        self.check(formulas.te_current, "te_current", 128, formats=("e4m3", "e5m2fnuz"))
        self.check(formulas.te_current_powers, "te_current", COLUMNS, ["--set", "power_of_two=rceil"])

    def test_mx(self):
        self.check(formulas.mx, "mx", 32, formats=formulas.FORMATS)

    def test_fnuz(self):
        self.check(formulas.default, "default", 128, formats=("e4m3fnuz", "e5m2fnuz"))

    def test_e8m0(self):
        e8m0 = ["--scale", "e8m0"]
        self.check(formulas.default_e8m0, "default", 32, e8m0, narrow=ml_dtypes.bfloat16, formats=("e5m2", "e4m3fnuz"))
        self.check(formulas.floor_e8m0, "default", 32, [*e8m0, "--set", "power_of_two=floor"])
        self.check(formulas.deepgemm_e8m0, "deepgemm", 128, e8m0)

    def test_bf16_scales(self):
        self.check(formulas.default_bf16, "default", COLUMNS, ["--scale", "bf16"], formats=("e4m3", "e5m2fnuz"))

    def test_mx_ocp(self):
        self.check(formulas.mx_ocp, "mx_ocp", 32, formats=("e4m3", "e2m1"))

    def test_two_level_scales(self):
        self.check(formulas.two_level, "default", 16, ["--scale", "e4m3"], formats=("e2m1", "e4m3"))

    def test_f16_scales(self):
        self.check(formulas.default_f16, "default", 16, ["--scale", "f16"], formats=("e4m3", "e2m1"))

    def test_narrow_inputs(self):
        """bf16 and f16 are widened exactly: the same formula."""
        self.check(formulas.default, "default", 128, narrow=ml_dtypes.bfloat16)
        self.check(formulas.deepgemm, "deepgemm", 128, narrow=ml_dtypes.bfloat16)
        self.check(formulas.sglang_group, "sglang_group", 128, narrow=np.float16)

    def test_modes_differ(self):
        """The inputs tell the modes apart: no two formulas give the same codes and scales."""
        names = ["default", "deepgemm", "tilekernels", "vllm_group", "vllm_token", "sglang_group", "trtllm_token",
                 "te_current", "te_current_powers", "mx", "default_e8m0", "floor_e8m0", "mx_ocp", "deepgemm_e8m0", "default_bf16",
                 "default_f16", "two_level"]
        seen = {}
        for name in names:
            codes, scales = formulas.quantize(rows_of_every_kind(), 128, getattr(formulas, name), "e4m3")
            seen[codes.tobytes() + scales.tobytes()] = name
        self.assertEqual(len(seen), len(names))


if __name__ == "__main__":
    unittest.main()
