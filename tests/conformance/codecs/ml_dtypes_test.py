# Part of Eider, under the Apache License v2.0.
"""The codecs against ml_dtypes: every code, every bf16 and f16 value, and a dense part of all floats.

Usage: ml_dtypes_test.py CODEC-TABLE, the program of CodecTable.cpp. Exit status 77: numpy or ml_dtypes is missing.
"""
import subprocess
import sys
import unittest

try:
    import ml_dtypes
    import numpy as np
except ImportError as missing:
    print(f"conformance.ml_dtypes: skipped: {missing}; make test installs it", file=sys.stderr)
    sys.exit(77)

# Name, dtype, maximum, in the order in which the program writes them.
TABLES = (("e4m3 software", ml_dtypes.float8_e4m3fn, 448.0), ("e4m3 hardware", ml_dtypes.float8_e4m3fn, 448.0),
          ("e5m2 software", ml_dtypes.float8_e5m2, 57344.0), ("e5m2 hardware", ml_dtypes.float8_e5m2, 57344.0),
          ("e4m3fnuz", ml_dtypes.float8_e4m3fnuz, 240.0), ("e5m2fnuz", ml_dtypes.float8_e5m2fnuz, 57344.0),
          ("e2m1 software", ml_dtypes.float4_e2m1fn, 6.0), ("e2m1 hardware", ml_dtypes.float4_e2m1fn, 6.0))
STRIDE = 257  # prime, so that low and high bits all move


def inputs():
    """Floats: all bf16, all f16, and every STRIDE-th float."""
    half = np.arange(1 << 16, dtype=np.uint32)
    bf16 = (half << 16).view(np.float32)
    f16 = half.astype(np.uint16).view(np.float16).astype(np.float32)
    dense = np.arange(0, 1 << 32, STRIDE, dtype=np.uint64).astype(np.uint32).view(np.float32)
    return np.concatenate([bf16, f16, dense])


class Codecs(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.inputs = inputs()
        table = subprocess.run([PROGRAM], input=cls.inputs.tobytes(), stdout=subprocess.PIPE, check=True).stdout
        count = len(cls.inputs)
        size = 256 * 4 + 2 * count
        names = [name for name, _, _ in TABLES] + ["e8m0"]
        assert len(table) == len(names) * size, f"{PROGRAM} wrote {len(table)} bytes, not {len(names) * size}"
        cls.tables = {}
        for i, name in enumerate(names):
            part = table[i * size:(i + 1) * size]
            codes = np.frombuffer(part[1024:], dtype=np.uint8)
            cls.tables[name] = (np.frombuffer(part[:1024], dtype=np.float32), codes[:count], codes[count:])

    def test_decode(self):
        for name, dtype, _ in TABLES:
            values = self.tables[name][0]
            count = 16 if name.startswith("e2m1") else 256
            expected = (np.arange(256) % count).astype(np.uint8).view(dtype).astype(np.float32)
            nan = np.isnan(expected)
            self.assertTrue(np.isnan(values[nan]).all(), name)
            np.testing.assert_array_equal(values[~nan].view(np.uint32), expected[~nan].view(np.uint32), name)

    def compare(self, name, codes, floats, dtype):
        """NaN is any NaN code with the sign of the float, where the format has both; else the bits are the same."""
        bits = floats.view(np.uint32)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = floats.astype(dtype)
        if name.startswith("e2m1"):  # there is no NaN: it gives the largest code, without a sign
            np.testing.assert_array_equal(codes, np.where(np.isnan(floats), 7, expected.view(np.uint8) & 15), name)
            return
        same = codes == expected.view(np.uint8)
        both_nan = np.isnan(expected.astype(np.float32)) & np.isnan(codes.view(dtype).astype(np.float32))
        has_sign = not name.endswith("fnuz")
        same_sign = (codes >> 7) == (bits >> 31) if has_sign else True
        wrong = np.flatnonzero(~((same & ~both_nan) | (both_nan & same_sign)))
        if len(wrong):
            first = wrong[0]
            self.fail(f"{name}: {len(wrong)} wrong, first float 0x{bits[first]:08x}: code 0x{codes[first]:02x}")

    def test_saturating(self):
        for name, dtype, maximum in TABLES:
            clipped = np.where(np.isnan(self.inputs), self.inputs, np.clip(self.inputs, -maximum, maximum))
            self.compare(name, self.tables[name][1], clipped.astype(np.float32), dtype)

    def test_overflowing(self):
        for name, dtype, _ in TABLES:
            if name.startswith("e2m1"):  # nor infinity: nothing overflows
                np.testing.assert_array_equal(self.tables[name][2], self.tables[name][1], name)
            else:
                self.compare(name, self.tables[name][2], self.inputs, dtype)

    def test_powers_of_two(self):
        """E8M0: exact on the powers of two, and the codes next to all else, within the range of the codes."""
        values, below, above = self.tables["e8m0"]
        codes = np.arange(256, dtype=np.uint8).view(ml_dtypes.float8_e8m0fnu)
        np.testing.assert_array_equal(values, codes.astype(np.float32))
        x = np.abs(self.inputs)
        is_nan = np.isnan(x)
        self.assertTrue((below[is_nan] == 255).all() and (above[is_nan] == 255).all())
        x, below, above = x[~is_nan].astype(np.float64), below[~is_nan], above[~is_nan]
        fraction, exponent = np.frexp(x)  # in [1/2, 1); of infinity and 0 it is no fraction
        exponent = np.where(x == 0, -1000, np.where(np.isinf(x), 1000, exponent))
        np.testing.assert_array_equal(below, np.clip(exponent - 1 + 127, 0, 254))
        np.testing.assert_array_equal(above, np.clip(exponent - (fraction == 0.5) + 127, 0, 254))


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
