# Part of Eider, under the Apache License v2.0.
"""Tensors that do not fit, and files that are not what they say: exit status 2, nothing written."""

import json
import struct
import unittest

from eider_process import EiderTest, f32, tensors_file


class Tensors(EiderTest):
    def refuses(self, *words):
        self.fails(2, words, *self.quantize())
        self.assertFalse((self.directory / "out.safetensors").exists())

    def norm(self, **tensors):
        self.tensors(**tensors)
        return ("run", "add_rms_norm_quant", "--dtype", "f32", "--block", "1x16", "--device",
                "host", "--in", "in.safetensors", "--out", "out.safetensors")

    def test_missing_file(self):
        self.refuses("in.safetensors: cannot open it: No such file")

    def test_missing_tensor(self):
        self.tensors(w=("F32", [1, 1], f32(1)))
        self.refuses("in.safetensors: no tensor 'x'; it has w")

    def test_wrong_dtype(self):
        self.tensors(x=("BF16", [1, 2], bytes(4)))
        self.refuses("tensor 'x': its dtype is BF16 where F32 is wanted")

    def test_wrong_rank(self):
        self.tensors(x=("F32", [2], bytes(8)))
        self.refuses("tensor 'x': its shape is [2] where rank 2 is wanted: [tokens, hidden]")

    def test_shapes_that_disagree(self):
        self.fails(2, ["hidden is 8 in tensor 'weight' but 16 in tensor 'x'"],
                   *self.norm(x=("F32", [2, 16], bytes(128)), residual=("F32", [2, 16], bytes(128)),
                              weight=("F32", [8], bytes(32))))

    def test_rows_that_disagree(self):
        self.fails(2, ["tokens is 3 in tensor 'residual' but 2 in tensor 'x'"],
                   *self.norm(x=("F32", [2, 16], bytes(128)), residual=("F32", [3, 16], bytes(192)),
                              weight=("F32", [16], bytes(64))))

    def test_dim_that_disagrees(self):
        self.matrix(2, 16)
        self.fails(2, ["hidden is 16 in tensor 'x' but 32 in --dim"],
                   *self.quantize("--dim", "hidden=32"))

    def test_scales_of_the_wrong_shape(self):
        self.tensors(x=("F8_E4M3", [2, 32], bytes(64)), x_scale=("F32", [2, 1], bytes(8)))
        self.fails(2, ["tensor 'x_scale': its shape is [2, 1] where [2, 2] is wanted"],
                   "run", "dequantize", "--dtype", "f32", "--block", "1x16", "--device", "host",
                   "--in", "in.safetensors", "--out", "out.safetensors")

    def test_odd_width_of_two_halves(self):
        self.tensors(x=("F32", [1, 3], bytes(12)))
        self.fails(2, ["tensor 'x': its extent 3 is no multiple of 2"],
                   "run", "silu_mul_quant", "--dtype", "f32", "--block", "1x16", "--device", "host",
                   "--in", "in.safetensors", "--out", "out.safetensors")

    def test_output_that_cannot_be_written(self):
        self.matrix(1, 16)
        self.fails(2, ["none/out: cannot write there: No such file"],
                   *self.quantize(output="none/out"))
        self.fails(2, ["/dev/null: there is something that is not a regular file"],
                   *self.quantize(output="/dev/null"))


class HostileFiles(EiderTest):
    """Each would, believed, read or allocate what it must not."""

    def refuses(self, content, *words):
        self.file("in.safetensors", content)
        self.fails(2, ["in.safetensors", *words], *self.quantize())

    def header(self, header, data=b"", length=None):
        text = header if isinstance(header, bytes) else json.dumps(header).encode()
        return struct.pack("<Q", len(text) if length is None else length) + text + data

    def x(self, **changes):
        return {"x": {"dtype": "F32", "shape": [1, 1], "data_offsets": [0, 4], **changes}}

    def test_every_truncation(self):
        whole = tensors_file({"x": ("F32", [1, 2], bytes(8))})
        for length in range(0, len(whole), 5):
            self.refuses(whole[:length])

    def test_header_length(self):
        self.refuses(self.header(self.x(), bytes(4), length=2**64 - 1), "18446744073709551615 bytes")
        self.refuses(self.header(self.x(), bytes(4), length=2**63), "truncated")

    def test_json(self):
        self.refuses(self.header(b'{"x": '), "not JSON")
        self.refuses(self.header(b"[" * 100000), "does not start with")
        self.refuses(self.header(b'{"x":' * 100000), "unknown field 'x'")

    def test_offsets(self):
        self.refuses(self.header(self.x(data_offsets=[0, 8]), bytes(4)), "tensor 'x'", "8")
        self.refuses(self.header(self.x(data_offsets=[4, 8]), bytes(4)), "ends at byte 8 of 4")
        self.refuses(self.header(self.x(data_offsets=[4, 0]), bytes(4)), "end (0)")
        self.refuses(self.header(self.x(data_offsets=[-4, 0]), bytes(4)), "negative")
        self.refuses(self.header(self.x(data_offsets=[0, 4]), bytes(9)), "5 bytes after the last")

    def test_overlap(self):
        both = {**self.x(), "y": {"dtype": "F32", "shape": [1], "data_offsets": [2, 6]}}
        self.refuses(self.header(both, bytes(6)), "tensor 'y': its data overlaps")

    def test_overflow(self):
        self.refuses(self.header(self.x(shape=[2**32, 2**32], data_offsets=[0, 0])), "overflows")
        self.refuses(self.header(self.x(shape=[2**64, 1])), "no integer of 64 bits")

    def test_duplicates(self):
        one = json.dumps(self.x())[1:-1]
        self.refuses(self.header(f"{{{one}, {one}}}".encode(), bytes(4)), "'x' stands twice")

    def test_dtype(self):
        self.refuses(self.header(self.x(dtype="F6_E2M3")), "unknown dtype 'F6_E2M3'")

    def test_two_codes_a_byte(self):
        self.refuses(self.header(self.x(dtype="F4", shape=[2, 3], data_offsets=[0, 3]), bytes(3)), "no whole bytes")


if __name__ == "__main__":
    unittest.main()
