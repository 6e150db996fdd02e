# Part of Eider, under the Apache License v2.0.
"""Every op of `eider list`, run by name on `host` and checked against the reference."""

import concurrent.futures
import contextlib
import importlib.util
import io
import math
import os
import pathlib
import struct
import unittest

from eider_process import EIDER, EiderTest, read_tensors, tensors_file

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
                result, shape = {"kv_append": ("k_cache", [13, 384]), "attention_decode": ("o", [4, 8, 64]), "attention_decode_quant": ("y", [4, 8, 128]),
                                 "attention_prefill": ("o", [13, 8, 64]), "attention_prefill_quant": ("y", [13, 8, 128])}.get(
                    op, ("y", [5, 384 if "rope" in op else 141]))
                shape = shape[:1] if op.endswith("gemv") else [9, 5] if "matmul" in op else shape
                self.assertRegex(process.stdout, rf"check {result} +largest error")
                self.assertEqual(read_tensors(self.directory / f"{op}.out")[result][1], shape)

    def appended(self, block, blocks):
        """What kv_append --block leaves of 13 pages of one token, 3 heads of 128, as attention_decode reads it, whose scales are of so many blocks."""
        with contextlib.redirect_stdout(io.StringIO()):
            inputs.main(EIDER, self.directory, tokens=5, hidden=141)
        count = 3 * math.prod(blocks)
        asked = read_tensors(self.directory / "kv_append.safetensors")
        for name in ("k_cache_scale", "v_cache_scale"):
            asked[name] = ("F32", [13, count], bytes(13 * count * 4))
        self.file("append.safetensors", tensors_file(asked))
        self.succeeds("run", "kv_append", "--block", block, "--device", "host", "--in", "append.safetensors",
                      "--out", "cache.safetensors", "--check")
        cache = read_tensors(self.directory / "cache.safetensors")
        tensors = {}
        for name in ("k", "v"):
            for given, read, shape in ((f"{name}_cache", f"{name}_cache", [13, 1, 3, 128]), (f"{name}_cache_scale", f"{name}_scale", [13, 1, 3, *blocks])):
                dtype, written, data = cache[given]
                self.assertEqual(written, [13, math.prod(shape) // 13])
                tensors[read] = (dtype, shape, data)
        slots = struct.unpack("<5q", asked["slot_mapping"][2])
        kept = [slot for slot in slots if slot >= 0]
        tensors["q"] = ("BF16", [1, 3, 128], asked["k"][2][: 2 * 3 * 128])
        tensors["block_table"] = ("I32", [1, len(kept)], struct.pack(f"<{len(kept)}i", *kept))
        tensors["lengths"] = ("I32", [1], struct.pack("<i", len(kept)))
        self.file("decode.safetensors", tensors_file(tensors))

    def test_decode_reads_what_append_writes(self):
        # Scales of each token and head, in the one layout, or of each block of a head.
        for block, blocks, axes in (("1x128", [], "2"), ("1x64", [2], "3"), ("1x32", [4], "3")):
            self.appended(block, blocks)
            run = ("run", "attention_decode", "--device", "host", "--in", "decode.safetensors", "--out", "o.safetensors", "--check")
            self.assertRegex(self.succeeds(*run, "--set", f"scale_axes={axes}"), "check o +largest error")
            self.fails(2, ["--set scale_axes cannot be '4'", "0 to 3"], *run, "--set", "scale_axes=4")

    def test_decode_follows_no_table_out_of_its_cache(self):
        self.appended("1x128", [])
        kept = read_tensors(self.directory / "decode.safetensors")
        pages = kept["block_table"][1][1]
        run = ("run", "attention_decode", "--set", "scale_axes=2", "--device", "host", "--in", "bad.safetensors", "--out", "o.safetensors")
        for name, numbers, said in (("lengths", [pages + 1], f"has length {pages + 1} in {pages} pages of 1"), ("lengths", [-1], "has length -1"),
                                    ("block_table", [0] * (pages - 1) + [13], "has a token on page 13 of 13"),
                                    ("block_table", [-1] * pages, "has a token on page -1 of 13")):
            bad = kept | {name: (kept[name][0], kept[name][1], struct.pack(f"<{len(numbers)}i", *numbers))}
            self.file("bad.safetensors", tensors_file(bad))
            self.fails(2, ["sequence 0 " + said, "give lengths of 0 to"], *run)
            self.assertFalse((self.directory / "o.safetensors").exists())
        beyond = kept | {"lengths": ("I32", [1], struct.pack("<i", pages - 1)),
                         "block_table": ("I32", [1, pages], struct.pack(f"<{pages}i", *range(pages - 1), 1 << 30))}
        self.file("bad.safetensors", tensors_file(beyond))  # which nobody meets
        self.succeeds(*run)
        before = kept | {"block_table": ("I32", [1, pages], struct.pack(f"<{pages}i", -1, *range(1, pages)))}
        self.file("bad.safetensors", tensors_file(before))
        self.succeeds(*run, "--set", f"window={pages - 1}")
        self.fails(2, ["on page -1 of 13"], *run)

    def test_decode_reads_a_contiguous_cache(self):
        self.appended("1x128", [])
        tensors = read_tensors(self.directory / "decode.safetensors")
        del tensors["block_table"]
        for name in ("k_cache", "v_cache", "k_scale", "v_scale"):  # 13 pages of a token are one of 13 tokens
            dtype, shape, data = tensors[name]
            tensors[name] = (dtype, [1, 13, *shape[2:]], data)
        self.file("contiguous.safetensors", tensors_file(tensors))
        run = ("run", "attention_decode", "--set", "scale_axes=2", "--device", "host", "--in", "contiguous.safetensors", "--out", "o.safetensors", "--check")
        self.assertRegex(self.succeeds(*run, "--set", "contiguous=1"), "check o +largest error")
        self.fails(2, ["block_table"], *run)
        tensors["lengths"] = ("I32", [1], struct.pack("<i", 14))
        self.file("contiguous.safetensors", tensors_file(tensors))
        self.fails(2, ["sequence 0 has length 14 of at most 13 tokens"], *run, "--set", "contiguous=1")

    def test_decode_reads_caches_of_no_codes(self):
        with contextlib.redirect_stdout(io.StringIO()):
            inputs.main(EIDER, self.directory, tokens=5, hidden=141)
        tensors = read_tensors(self.directory / "attention_decode.safetensors")
        for name in ("k", "v"):
            shape = tensors[f"{name}_cache"][1]
            count = math.prod(shape)
            tensors[f"{name}_cache"] = ("BF16", shape, struct.pack(f"<{count}H", *(0x3f00 + i * 37 % 256 for i in range(count))))
            del tensors[f"{name}_scale"]
        self.file("decode.safetensors", tensors_file(tensors))
        run = ("run", "attention_decode", "--device", "host", "--in", "decode.safetensors", "--out", "o.safetensors", "--check")
        self.assertRegex(self.succeeds(*run, "--format", "bf16"), "check o +largest error")
        self.fails(2, ["k_cache", "BF16"], *run)
        self.fails(2, ["a cache that is no codes has no scales", "leave --set scale_axes out"], *run, "--format", "bf16", "--set", "scale_axes=2")
        self.fails(2, ["--format cannot be 'f32'", "e2m1, bf16, f16"], *run, "--format", "f32")
        self.fails(2, ["--format cannot be 'bf16'"], "emit", "attention_prefill", "--format", "bf16", "--arch", "sm_90")

    def test_prefill_of_several_sequences_by_queries_of_no_codes(self):
        with contextlib.redirect_stdout(io.StringIO()):
            inputs.main(EIDER, self.directory, tokens=5, hidden=141)
        tensors = read_tensors(self.directory / "attention_prefill.safetensors")
        tokens, heads, d = tensors["q"][1]
        tensors["q"] = ("BF16", [tokens, heads, d], struct.pack(f"<{tokens * heads * d}H", *(0x3f00 + i * 37 % 256 for i in range(tokens * heads * d))))
        del tensors["q_scale"]
        run = ("run", "attention_prefill", "--set", "varlen=1", "--set", "float_queries=1", "--device", "host",
               "--in", "packed.safetensors", "--out", "o.safetensors", "--check")
        for starts in ((0, 5, 5, tokens), (0, 5, 4, tokens)):
            tensors["cu_seqlens"] = ("I32", [len(starts)], struct.pack(f"<{len(starts)}i", *starts))
            self.file("packed.safetensors", tensors_file(tensors))
            if starts[1] <= starts[2]:
                self.assertRegex(self.succeeds(*run), "check o +largest error")
            else:
                process = self.eider(*run)
                self.assertEqual(process.returncode, 2)
                self.assertIn(f"the starts of sequences do not rise from 0 to {tokens}", process.stderr)
        # Whoever measures makes starts of its own, which the reference takes.
        self.succeeds("tune", "attention_prefill", "--set", "varlen=1", "--device", "host",
                      *(word for dim in ("s=20", "h=1", "kv_heads=1", "d=32", "scales=1", "starts=4") for word in ("--dim", dim)))

    def test_blocks_without_a_row_load_none_ahead(self):
        # The kernel that leaves parts has many blocks, whatever the rows are, and each loads its first row ahead.
        with contextlib.redirect_stdout(io.StringIO()):
            inputs.main(EIDER, self.directory, tokens=5, hidden=4096)
        process = self.eider("run", "rms_norm_quant", "--block", "*x*", "--schedule", "row<threads = 256, vector = 16>",
                             "--device", "host", "--in", "rms_norm_quant.safetensors", "--out", "y.out", "--check")
        self.assertEqual((process.returncode, process.stderr), (0, ""))


# y = x where a column is seen, less the largest such; elsewhere 0 less it.
MASKED = """
eider.program @masked(m, n = 256) {
  %x = eider.input "x" : tensor<?x256xf32, #eider.dims<m, n>>
  %row = eider.position 0 : tensor<?x1xi64, #eider.dims<m, 1>>
  %lengths = eider.input "lengths" : tensor<?x1xi64, #eider.dims<m, 1>>
  %column = eider.position 1 : tensor<1x256xi64, #eider.dims<1, n>>
  %columns = eider.broadcast %column : tensor<1x256xi64, #eider.dims<1, n>> to tensor<?x256xi64, #eider.dims<m, n>>
  %first = eider.broadcast %row : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %end = eider.broadcast %lengths : tensor<?x1xi64, #eider.dims<m, 1>> to tensor<?x256xi64, #eider.dims<m, n>>
  %zero = arith.constant 0.0 : f32
  %zeros = eider.broadcast %zero : f32 to tensor<?x256xf32, #eider.dims<m, n>>
  %isFrom = arith.cmpi sge, %columns, %first : tensor<?x256xi64, #eider.dims<m, n>>
  %from = arith.select %isFrom, %x, %zeros : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %isBehind = arith.cmpi sge, %columns, %end : tensor<?x256xi64, #eider.dims<m, n>>
  %seen = arith.select %isBehind, %zeros, %from : tensor<?x256xi1, #eider.dims<m, n>>, tensor<?x256xf32, #eider.dims<m, n>>
  %max = eider.reduce max %seen over [1, *] : tensor<?x256xf32, #eider.dims<m, n>> -> tensor<?x1xf32, #eider.dims<m, 1>>
  %high = eider.broadcast %max : tensor<?x1xf32, #eider.dims<m, 1>> to tensor<?x256xf32, #eider.dims<m, n>>
  %y = arith.subf %seen, %high : tensor<?x256xf32, #eider.dims<m, n>>
  eider.output "y", %y : tensor<?x256xf32, #eider.dims<m, n>>
}
"""


class Masks(EiderTest):
    def test_what_a_mask_hides_is_not_seen_and_all_else_is(self):
        rows, columns = 300, 256
        lengths = [(37 * i) % 300 - 20 for i in range(rows)]  # none of the row, part of it, more than all
        seen = [[i <= j < lengths[i] for j in range(columns)] for i in range(rows)]
        x = [[1.0 + (i * 7 + j * 5) % 64 if seen[i][j] else math.nan for j in range(columns)] for i in range(rows)]
        expected = []
        for row, sees in zip(x, seen):
            values = [value if see else 0.0 for value, see in zip(row, sees)]
            expected += [value - max(values) for value in values]
        program = self.file("masked.mlir", MASKED)
        self.tensors(x=("F32", [rows, columns], struct.pack(f"<{rows * columns}f", *sum(x, []))),
                     lengths=("I64", [rows, 1], struct.pack(f"<{rows}q", *lengths)))
        for knobs in ("", "vector = 8", "vector = 4", "vector = 8, tiles = 2, prefetch = 1"):
            schedule = ("--schedule", f"row<threads = 32, {knobs}>") if knobs else ()
            with self.subTest(knobs):
                self.succeeds("run", program, *schedule, "--device", "host", "--in", "in.safetensors", "--out", "y.out")
                _, _, data = read_tensors(self.directory / "y.out")["y"]
                self.assertEqual(list(struct.unpack(f"<{rows * columns}f", data)), expected)


CODES_OF_ROWS = """
!x = tensor<?x64xf32, #eider.dims<m, n>>
!row = tensor<?x1xf32, #eider.dims<m, 1>>
!code = tensor<?x1xf8E4M3FN, #eider.dims<m, 1>>
eider.program @largest(m, n = 64) {
  %x = eider.input "x" : !x
  %max = eider.reduce max %x over [1, *] : !x -> !row
  %two = arith.constant 2.0 : f32
  %half = eider.broadcast %two : f32 to !row
  %a = eider.encode %max {overflow_to_format, ignore_nan} : !row -> !code
  %b = eider.encode %max within %max : !row {bounded} : !row -> !code
  %c = eider.encode %max by %half : !row within %max : !row {bounded} : !row -> !code
  eider.output "overflows", %a : !code
  eider.output "saturates", %b : !code
  eider.output "halved", %c : !code
}
"""


CODES_OF_ALL = """
!x = tensor<?x64xf32, #eider.dims<m, n>>
!one = tensor<1x1xf32, #eider.dims<1, 1>>
eider.program @largest(m, n = 64) {
  %x = eider.input "x" : !x
  %max = eider.reduce amax %x over [*, *] : !x -> !one
  %two = arith.constant 2.0 : f32
  %half = eider.broadcast %two : f32 to !one
  %c = eider.encode %max by %half : !one within %max : !one {bounded} : !one -> tensor<1x1xf8E4M3FN, #eider.dims<1, 1>>
  eider.output "halved", %c : tensor<1x1xf8E4M3FN, #eider.dims<1, 1>>
}
"""


class CodesOfRows(EiderTest):
    def test_one_value_of_all_is_encoded_as_elements_are(self):
        self.tensors(x=("F32", [2, 64], struct.pack("<128f", *[0.5] * 127, -448.0)))
        program = self.file("largest.mlir", CODES_OF_ALL)
        for codec in ("hardware", "software"):
            self.succeeds("run", program, "--codec", codec, "--device", "host", "--in", "in.safetensors", "--out",
                          "y.out")
            self.assertEqual(list(read_tensors(self.directory / "y.out")["halved"][2]), [0x76])

    def test_one_value_a_row_is_encoded_as_elements_are(self):
        largest = [1.0, 448.0, 1e6, math.nan]
        values = sum([[value, *[0.5] * 63] for value in largest], [])
        self.tensors(x=("F32", [len(largest), 64], struct.pack("<256f", *values)))
        program = self.file("largest.mlir", CODES_OF_ROWS)
        for codec in ("hardware", "software"):
            self.succeeds("run", program, "--codec", codec, "--device", "host", "--in", "in.safetensors", "--out",
                          "y.out")
            codes = {name: list(data) for name, (_, _, data) in read_tensors(self.directory / "y.out").items()}
            self.assertEqual(codes, {"overflows": [0x38, 0x7e, 0x7f, 0x7e], "saturates": [0x38, 0x7e, 0x7e, 0x7f],
                                     "halved": [0x30, 0x76, 0x7e, 0x7f]})


if __name__ == "__main__":
    unittest.main()
