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


# In which a tile can be of both matrices.
CASES_OF_TRANSPOSES = [case for case in CASES if case[2] != (128, 1)]


def laid_out(layout, scale, memory, rows, columns, plain):
    """(shape, bytes) in memory of scales whose bytes row by row are `plain`."""
    shape, place = memory(rows, columns)
    size = 4 if scale == "f32" else 1
    wanted = bytearray(shape[0] * shape[1] * (4 if layout == "packed_ue8m0" else size))
    for i in range(rows):
        for j in range(columns):
            at, to = (i * columns + j) * size, place(i, j) * size
            wanted[to : to + size] = plain[at : at + size]
    return shape, bytes(wanted)


class Layouts(EiderTest):
    def setUp(self):
        super().setUp()
        source = random.Random(1)
        # Each block has a scale of its own.
        values = [source.gauss(0, 2.0 ** source.randrange(-9, 9)) for _ in range(ROWS * COLUMNS)]
        self.inputs = {"x": ("F32", [ROWS, COLUMNS], struct.pack(f"<{len(values)}f", *values))}
        self.file("x.safetensors", tensors_file(self.inputs))

    def run_op(self, op, scale, block, layout, *more, tensors="x.safetensors"):
        """The outputs of x, as they lie in the file."""
        self.succeeds("run", op, "--dtype", "f32", "--scale", scale, "--block", block, "--scale-layout", layout, *more,
                      "--device", "host", "--in", tensors, "--out", "y.safetensors", "--check")
        return read_tensors(self.directory / "y.safetensors")

    def test_scales_lie_where_the_layout_says_and_padding_is_zero(self):
        for layout, scale, (height, width), memory in CASES:
            block = f"{height}x{width}"
            with self.subTest(layout=layout, block=block):
                plain = self.run_op("quantize", scale, block, "row_major")
                rows, columns = -(-ROWS // height), -(-COLUMNS // width)
                self.assertEqual(plain["y_scale"][1], [rows, columns])
                laid = self.run_op("quantize", scale, block, layout)
                self.assertEqual(laid["y"], plain["y"])
                self.assertEqual(laid["y_scale"][1:], laid_out(layout, scale, memory, rows, columns, plain["y_scale"][2]))
                self.assertNotEqual(laid["y_scale"][2], plain["y_scale"][2])

    def test_scales_of_the_transpose_lie_in_the_layout_of_its_own_matrix(self):
        for layout, scale, (height, width), memory in CASES_OF_TRANSPOSES:
            block = f"{height}x{width}"
            with self.subTest(layout=layout, block=block):
                plain = self.run_op("cast_transpose", scale, block, "row_major")
                laid = self.run_op("cast_transpose", scale, block, layout)
                for codes, of, extents in ("y", "y_scale", (ROWS, COLUMNS)), ("yt", "yt_scale", (COLUMNS, ROWS)):
                    rows, columns = -(-extents[0] // height), -(-extents[1] // width)
                    self.assertEqual(plain[of][1], [rows, columns])
                    self.assertEqual(laid[codes], plain[codes])
                    self.assertEqual(laid[of][1:], laid_out(layout, scale, memory, rows, columns, plain[of][2]))

    def test_given_scales_of_both_matrices_are_read_in_the_layout(self):
        for layout, scale, (height, width), memory in CASES_OF_TRANSPOSES:
            block = f"{height}x{width}"
            with self.subTest(layout=layout, block=block):
                plain, laid = dict(self.inputs), dict(self.inputs)
                matrices = [("scale", ROWS, COLUMNS)] + ([("scale_t", COLUMNS, ROWS)] if height != width else [])
                for name, rows, columns in matrices:
                    rows, columns = -(-rows // height), -(-columns // width)
                    powers = [2.0 ** (i * 7 % 13 - 6) for i in range(rows * columns)]
                    data = struct.pack(f"<{len(powers)}f", *powers)
                    if scale == "e8m0":
                        data = bytes(127 + i * 7 % 13 - 6 for i in range(rows * columns))
                    kind = "F32" if scale == "f32" else "F8_E8M0"
                    plain[name] = (kind, [rows, columns], data)
                    laid[name] = ("I32" if layout == "packed_ue8m0" else kind,
                                  *laid_out(layout, scale, memory, rows, columns, data))
                self.file("plain.safetensors", tensors_file(plain))
                self.file("laid.safetensors", tensors_file(laid))
                static = ("--scale-source", "static")
                self.assertEqual(
                    self.run_op("cast_transpose", scale, block, layout, *static, tensors="laid.safetensors"),
                    self.run_op("cast_transpose", scale, block, "row_major", *static, tensors="plain.safetensors"))

    def test_scales_that_a_layout_cannot_hold(self):
        self.fails(2, ["te_gemm_ready", "1x128, 128x128 and 128x1 blocks", "row_major"], "emit", "quantize", "--block",
                   "1x64", "--scale-layout", "te_gemm_ready", "--arch", "sm_90")
        self.fails(2, ["packed_ue8m0", "not f32", "take e8m0"], "emit", "quantize", "--scale-layout", "packed_ue8m0",
                   "--arch", "sm_90")
        self.fails(2, ["--scale-layout cannot be 'columns'", "mn_major_aligned"], "emit", "quantize", "--scale-layout",
                   "columns", "--arch", "sm_90")


if __name__ == "__main__":
    unittest.main()
