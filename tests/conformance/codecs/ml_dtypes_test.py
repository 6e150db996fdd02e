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

FORMATS = (("e4m3", ml_dtypes.float8_e4m3fn, 448.0), ("e5m2", ml_dtypes.float8_e5m2, 57344.0))
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
        assert len(table) == 4 * size, f"{PROGRAM} wrote {len(table)} bytes, not {4 * size}"
        cls.tables = {}
        for i, name in enumerate(f"{f} {path}" for f, _, _ in FORMATS for path in ("software", "hardware")):
            part = table[i * size:(i + 1) * size]
            codes = np.frombuffer(part[1024:], dtype=np.uint8)
            cls.tables[name] = (np.frombuffer(part[:1024], dtype=np.float32), codes[:count], codes[count:])

    def each(self):
        for name, dtype, maximum in FORMATS:
            for path in ("software", "hardware"):
                yield f"{name} {path}", dtype, maximum

    def test_decode(self):
        for name, dtype, _ in self.each():
            values = self.tables[name][0]
            expected = np.arange(256, dtype=np.uint8).view(dtype).astype(np.float32)
            nan = np.isnan(expected)
            self.assertTrue(np.isnan(values[nan]).all(), name)
            np.testing.assert_array_equal(values[~nan].view(np.uint32), expected[~nan].view(np.uint32), name)

    def compare(self, name, codes, floats, dtype):
        """NaN is any NaN code with the sign of the float; else the bits are the same."""
        bits = floats.view(np.uint32)
        with np.errstate(over="ignore", invalid="ignore"):
            expected = floats.astype(dtype)
        same = codes == expected.view(np.uint8)
        both_nan = np.isnan(expected.astype(np.float32)) & np.isnan(codes.view(dtype).astype(np.float32))
        wrong = np.flatnonzero(~(same | (both_nan & ((codes >> 7) == (bits >> 31)))))
        if len(wrong):
            first = wrong[0]
            self.fail(f"{name}: {len(wrong)} wrong, first float 0x{bits[first]:08x}: code 0x{codes[first]:02x}")

    def test_saturating(self):
        for name, dtype, maximum in self.each():
            clipped = np.where(np.isnan(self.inputs), self.inputs, np.clip(self.inputs, -maximum, maximum))
            self.compare(name, self.tables[name][1], clipped.astype(np.float32), dtype)

    def test_overflowing(self):
        for name, dtype, _ in self.each():
            self.compare(name, self.tables[name][2], self.inputs, dtype)


if __name__ == "__main__":
    PROGRAM = sys.argv.pop(1)
    unittest.main()
