# Part of Eider, under the Apache License v2.0.
"""`--scale-layout`: the file that `eider run` writes has the scales where the layout says, and zeros elsewhere."""

import random
import struct
import unittest

from eider_process import EiderTest, read_tensors, tensors_file

ROWS, COLUMNS = 261, 525


def up(count, multiple):
    return -(-count // multiple) * multiple


# (extents of the memory, place of a scale) of `rows` × `columns` scales, in scales.
def by_columns(rows, columns):
    return [columns, up(rows, 4)], lambda i, j: j * up(rows, 4) + i


def by_rows(rows, columns):
    return [rows, up(columns, 4)], lambda i, j: i * up(columns, 4) + j


def in_words(rows, columns):
    return [up(columns, 4) // 4, up(rows, 4)], lambda i, j: (j // 4 * up(rows, 4) + i) * 4 + j % 4


def in_tiles(rows, columns):
    tiles = up(columns, 4) // 4
    return [up(rows, 128) // 128, 512 * tiles], lambda i, j: (
        (i // 128 * tiles + j // 4) * 512 + i % 32 * 16 + i % 128 // 32 * 4 + j % 4
    )


CASES = [
    ("mn_major_aligned", "f32", (1, 128), by_columns),
    ("mn_major_aligned", "f32", (128, 128), by_columns),
    ("packed_ue8m0", "e8m0", (1, 128), in_words),
    ("packed_ue8m0", "e8m0", (1, 32), in_words),
    ("swizzled_128x4", "e8m0", (1, 32), in_tiles),
    ("swizzled_128x4", "e8m0", (32, 32), in_tiles),
    ("te_gemm_ready", "f32", (1, 128), by_columns),
    ("te_gemm_ready", "f32", (128, 128), by_rows),
    ("te_gemm_ready", "f32", (128, 1), by_rows),
]


class Layouts(EiderTest):
    def quantized(self, scale, block, layout):
        """Codes and scales of x, as they lie in the file."""
        self.succeeds("run", "quantize", "--dtype", "f32", "--scale", scale, "--block", block, "--scale-layout", layout,
                      "--device", "host", "--in", "x.safetensors", "--out", "y.safetensors", "--check")
        tensors = read_tensors(self.directory / "y.safetensors")
        return tensors["y"], tensors["y_scale"]

    def test_scales_lie_where_the_layout_says_and_padding_is_zero(self):
        source = random.Random(1)
        # Each block has a scale of its own.
        values = [source.gauss(0, 2.0 ** source.randrange(-9, 9)) for _ in range(ROWS * COLUMNS)]
        data = struct.pack(f"<{len(values)}f", *values)
        self.file("x.safetensors", tensors_file({"x": ("F32", [ROWS, COLUMNS], data)}))
        for layout, scale, (height, width), memory in CASES:
            block = f"{height}x{width}"
            with self.subTest(layout=layout, block=block):
                codes, (_, grid, plain) = self.quantized(scale, block, "row_major")
                rows, columns = -(-ROWS // height), -(-COLUMNS // width)
                self.assertEqual(grid, [rows, columns])
                shape, place = memory(rows, columns)
                size = 4 if scale == "f32" else 1
                wanted = bytearray(shape[0] * shape[1] * (4 if layout == "packed_ue8m0" else size))
                for i in range(rows):
                    for j in range(columns):
                        at, to = (i * columns + j) * size, place(i, j) * size
                        wanted[to : to + size] = plain[at : at + size]
                laid = self.quantized(scale, block, layout)
                self.assertEqual(laid[0], codes)
                self.assertEqual(laid[1][1:], (shape, bytes(wanted)))
                self.assertNotEqual(laid[1][2], plain)

    def test_scales_that_a_layout_cannot_hold(self):
        self.fails(2, ["te_gemm_ready", "1x128, 128x128 and 128x1 blocks", "row_major"], "emit", "quantize", "--block",
                   "1x64", "--scale-layout", "te_gemm_ready", "--arch", "sm_90")
        self.fails(2, ["packed_ue8m0", "not f32", "take e8m0"], "emit", "quantize", "--scale-layout", "packed_ue8m0",
                   "--arch", "sm_90")
        self.fails(2, ["--scale-layout cannot be 'columns'", "mn_major_aligned"], "emit", "quantize", "--scale-layout",
                   "columns", "--arch", "sm_90")


if __name__ == "__main__":
    unittest.main()
