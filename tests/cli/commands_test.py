# Part of Eider, under the Apache License v2.0.
"""What each command gives."""

import importlib.util
import json
import pathlib
import re
import stat
import unittest

from eider_process import EiderTest, f32, read_tensors

OPS = ["quantize", "dequantize", "rms_norm_quant", "add_rms_norm_quant", "silu_mul_quant"]
EMIT = ("emit", "rms_norm_quant", "--block", "1x128", "--dim", "hidden=512", "--arch", "sm_90")


class Commands(EiderTest):
    def test_list(self):
        text = self.succeeds("list")
        for op in OPS:
            self.assertIn(f"\n{op}\n", text)

    def test_list_for_a_script(self):
        ops = {op["name"]: op for op in json.loads(self.succeeds("list", "--json"))["ops"]}
        for op in OPS:
            self.assertIn(op, ops)
        norm = ops["add_rms_norm_quant"]
        self.assertEqual([t["name"] for t in norm["inputs"]], ["x", "residual", "weight"])
        self.assertEqual({t["name"] for t in norm["outputs"]}, {"y", "y_scale", "residual"})
        self.assertEqual(norm["scalars"], [{"name": "eps", "default": 1e-06}])
        self.assertIn("--scale-layout", norm["parameters"])

    def test_devices_for_a_script(self):
        answer = json.loads(self.succeeds("devices", "--json", EIDER_CUDA_DRIVER="/nonexistent"))
        self.assertEqual([d["id"] for d in answer["devices"]], ["host"])
        self.assertIn("/nonexistent", answer["why_no_gpu"])

    def test_help(self):
        self.assertIn("explain", self.succeeds("--help"))
        self.assertIn("--scale-source", self.succeeds("run", "--help"))
        self.assertRegex(self.succeeds("--version"), r"^eider \d+\.\d+\.\d+\n$")

    def test_emit_shows_the_cuda_text(self):
        text = self.succeeds(*EMIT)
        self.assertIn('extern "C" __global__', text)
        self.assertEqual(text, self.succeeds(*EMIT, "--stage", "cuda"))

    def test_emit_into_a_file(self):
        text = self.succeeds(*EMIT)
        self.assertEqual(self.succeeds(*EMIT, "-o", "text.cu"), "")
        self.assertEqual((self.directory / "text.cu").read_text(), text)
        self.assertEqual([p.name for p in self.directory.iterdir()], ["text.cu"])

    def test_emit_of_each_stage(self):
        self.assertIn("eider.quantize", self.succeeds(*EMIT, "--stage", "eider"))
        self.assertIn("simt.", self.succeeds(*EMIT, "--stage", "simt"))

    def test_a_file_in_place_of_an_op(self):
        self.file("norm.mlir", self.succeeds(*EMIT, "--stage", "eider"))
        self.assertEqual(self.succeeds("emit", "norm.mlir", "--arch", "sm_90"), self.succeeds(*EMIT))

    def test_text_is_the_same_from_any_directory(self):
        first = self.succeeds(*EMIT)
        self.directory = self.directory / "elsewhere"
        self.directory.mkdir()
        self.assertEqual(self.succeeds(*EMIT, HOME="/", TZ="Asia/Tokyo", LANG="de_DE.UTF-8"), first)

    def test_explain_prints_a_schedule_that_can_be_asked_for(self):
        text = self.succeeds("explain", *EMIT[1:])
        schedule = re.search(r"\b(row|map|tile)<[^>]*>", text).group(0)
        given, own = self.succeeds(*EMIT, "--schedule", schedule), self.succeeds(*EMIT)
        kernels = given[given.index("// "):]
        self.assertEqual(own[-len(kernels):], kernels)  # after the kernel for few rows
        self.assertIn("at most 256 rows", own[:-len(kernels)])
        self.assertNotIn("at most", given)

    def test_numerics_over_the_mode(self):
        plain = self.succeeds(*EMIT)
        self.assertNotEqual(self.succeeds(*EMIT, "--set", "nan=ignore"), plain)
        self.assertEqual(self.succeeds(*EMIT, "--set", "nan=propagate"), plain)

    def test_build(self):
        paths = self.succeeds("build", "quantize", "--block", "1x128", "--dim", "hidden=256",
                              "--arch", "sm_80,sm_90a", "--emit", "cu,ptx,cubin", "-o", "a/b")
        names = [f"quantize.{arch}.{kind}" for arch in ("sm_80", "sm_90a") for kind in ("cu", "ptx", "cubin")]
        self.assertEqual(paths.split(), [f"a/b/{name}" for name in names])
        for name in names:
            content = (self.directory / "a/b" / name).read_bytes()
            start = {"cu": b"// Written by Eider", "ptx": b"//", "cubin": b"\x7fELF"}[name.rsplit(".", 1)[1]]
            self.assertIn(start, content[:100])
        ptx = (self.directory / "a/b/quantize.sm_90a.ptx").read_bytes()
        self.assertIn(b".target sm_90a", ptx)
        self.assertTrue(ptx.endswith(b"}\n\n"), ptx[-8:])  # as ptxas takes it, with no 0

    def test_build_again_gives_the_same_from_the_cache(self):
        build = ("build", "quantize", "--block", "1x128", "--dim", "hidden=256", "--arch", "sm_90",
                 "--emit", "cubin", "-o")
        self.succeeds(*build, "first")
        self.succeeds(*build, "second")
        name = "quantize.sm_90.cubin"
        self.assertEqual((self.directory / "first" / name).read_bytes(),
                         (self.directory / "second" / name).read_bytes())
        self.assertEqual(stat.S_IMODE((self.directory / "cache").stat().st_mode), 0o700)


# Every variable is called what the toolkit calls a function; the reductions get their names from the printer.
NAMES = """eider.program @norm(tokens, n = 40) {
  %norm = eider.input "norm" : tensor<?x40xf32, #eider.dims<tokens, n>>
  %exp = eider.scalar "exp" = 2.0
  %max = eider.reduce max %norm over [1, *] : tensor<?x40xf32, #eider.dims<tokens, n>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
  %bound = eider.broadcast %exp : f32 to tensor<?x1xf32, #eider.dims<tokens, 1>>
  %fmin = arith.minimumf %max, %bound {eider.name = "fmin"} : tensor<?x1xf32, #eider.dims<tokens, 1>>
  %wide = eider.broadcast %fmin : tensor<?x1xf32, #eider.dims<tokens, 1>> to tensor<?x40xf32, #eider.dims<tokens, n>>
  %sqrt = arith.minimumf %norm, %wide {eider.name = "sqrt"} : tensor<?x40xf32, #eider.dims<tokens, n>>
  %abs = math.absf %sqrt {eider.name = "abs"} : tensor<?x40xf32, #eider.dims<tokens, n>>
  %root = math.sqrt %abs {eider.name = "log"} : tensor<?x40xf32, #eider.dims<tokens, n>>
  eider.output "round", %root : tensor<?x40xf32, #eider.dims<tokens, n>>
}
"""


class NamesOfTheToolkit(EiderTest):
    def test_on_host(self):
        program = self.file("names.mlir", NAMES)
        self.tensors(norm=("F32", [2, 40], f32(*range(80))))
        self.succeeds("run", program, "--device", "host", "--in", "in.safetensors", "--out", "out.safetensors",
                      "--check")
        tensors = read_tensors(self.directory / "out.safetensors")
        self.assertEqual(tensors["round"][2], f32(0, 1, *[2**0.5] * 78))

    def test_by_nvrtc(self):
        program = self.file("names.mlir", NAMES)
        self.succeeds("build", program, "--arch", "sm_75,sm_90", "--emit", "cubin", "-o", "d")


class Run(EiderTest):
    def test_quantize(self):
        """Powers of two: scales and codes are exact and known."""
        self.tensors(x=("F32", [2, 4], f32(448, 224, -112, 0, 7, -0.875, 0.4375, 0)))
        out = self.succeeds("run", "quantize", "--dtype", "f32", "--block", "1x4", "--device",
                            "host", "--in", "in.safetensors", "--out", "out.safetensors", "--check")
        self.assertIn("y               F8_E4M3  [2, 4]\n", out)
        self.assertRegex(out, r"check y_scale +largest error 0, 0 of 2 differ, none may\n")
        tensors = read_tensors(self.directory / "out.safetensors")
        self.assertEqual(tensors["y_scale"], ("F32", [2, 1], f32(1, 7 / 448)))
        self.assertEqual(tensors["y"], ("F8_E4M3", [2, 4],
                                        bytes([0x7e, 0x76, 0xee, 0x00, 0x7e, 0xe6, 0x5e, 0x00])))

    def test_inout_is_updated_in_the_output_alone(self):
        ones, twos = f32(*[1] * 16), f32(*[2] * 16)
        path = self.tensors(x=("F32", [1, 16], ones), residual=("F32", [1, 16], twos), weight=("F32", [16], ones))
        before = pathlib.Path(path).read_bytes()
        self.succeeds("run", "add_rms_norm_quant", "--dtype", "f32", "--block", "1x16", "--device",
                      "host", "--in", path, "--out", "out.safetensors", "--check")
        residual = read_tensors(self.directory / "out.safetensors")["residual"]
        self.assertEqual(residual, ("F32", [1, 16], f32(*[3] * 16)))
        self.assertEqual(pathlib.Path(path).read_bytes(), before)

    def test_scalars_reach_the_kernel_and_the_reference(self):
        self.tensors(x=("F32", [1, 16], f32(*[1] * 16)), weight=("F32", [16], f32(*[1] * 16)))
        self.succeeds("run", "rms_norm_quant", "--dtype", "f32", "--block", "1x16", "--set", "eps=3",
                      "--device", "host", "--in", "in.safetensors", "--out", "out.safetensors", "--check")
        scale = read_tensors(self.directory / "out.safetensors")["y_scale"]
        self.assertEqual(scale, ("F32", [1, 1], f32(0.5 / 448)))  # 1 / sqrt(1 + 3)

    def test_zero_rows(self):
        self.tensors(x=("F32", [0, 16], b""))
        self.succeeds(*self.quantize("--check"))
        self.assertEqual(read_tensors(self.directory / "out.safetensors"),
                         {"y": ("F8_E4M3", [0, 16], b""), "y_scale": ("F32", [0, 1], b"")})

    def test_static_scales(self):
        self.tensors(x=("F32", [1, 16], f32(*range(16))), scale=("F32", [1, 1], f32(2)))
        self.succeeds(*self.quantize("--scale-source", "static", "--check"))
        self.assertEqual(list(read_tensors(self.directory / "out.safetensors")), ["y"])

    def test_round_trip_by_dequantize(self):
        self.matrix(5, 37)
        self.succeeds(*self.quantize("--check"))
        tensors = read_tensors(self.directory / "out.safetensors")
        self.tensors("codes", x=tensors["y"], x_scale=tensors["y_scale"])
        self.succeeds("run", "dequantize", "--dtype", "f32", "--block", "1x16", "--device", "host",
                      "--in", "codes", "--out", "back", "--check")
        self.assertEqual(read_tensors(self.directory / "back")["y"][1], [5, 37])

    @unittest.skipUnless(importlib.util.find_spec("safetensors"), "no package safetensors")
    def test_others_read_what_is_written(self):
        import safetensors

        self.matrix(3, 33)
        self.succeeds(*self.quantize("--check"))
        content = (self.directory / "out.safetensors").read_bytes()
        theirs = {n: (t["dtype"], t["shape"], bytes(t["data"])) for n, t in safetensors.deserialize(content)}
        self.assertEqual(theirs, read_tensors(self.directory / "out.safetensors"))

    def test_the_seed_changes_no_result(self):
        self.matrix(3, 33)
        self.succeeds(*self.quantize("--seed", "1", output="one"))
        self.succeeds(*self.quantize("--seed", "2", output="two"))
        self.assertEqual((self.directory / "one").read_bytes(), (self.directory / "two").read_bytes())

    def test_a_wrong_kernel_is_caught(self):
        """The compiler is made to mistake 448 for 400: exit status 1, the output written all the same."""
        path = self.file("miscompiler", '#!/bin/sh\nfor last; do :; done\nsed -i "s/448\\.0f/400.0f/" "$last"\nexec c++ "$@"\n')
        (self.directory / "miscompiler").chmod(0o700)
        self.matrix(3, 16)
        process = self.eider(*self.quantize("--check"), EIDER_CXX=path)
        self.assertEqual(process.returncode, 1, process.stderr)
        self.assertIn("eider: check failed: y_scale[0, 0]", process.stderr.split("\n")[0])
        self.assertRegex(process.stdout, r"check y_scale +largest error 0\.1\d+, 3 of 3 differ")
        self.assertTrue((self.directory / "out.safetensors").exists())
        self.assertEqual(self.eider(*self.quantize(), EIDER_CXX=path).returncode, 0)  # nobody asked


if __name__ == "__main__":
    unittest.main()
