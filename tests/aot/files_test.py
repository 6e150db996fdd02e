# Part of Eider, under the Apache License v2.0.
"""What `eider build` writes, given to the compilers of those who get it."""

import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import unittest

from eider_process import EiderTest

CUDA = pathlib.Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "bin"
QUANTIZE = ("build", "quantize", "--block", "1x128", "--dim", "hidden=256")
STRICT = ["-Wall", "-Wextra", "-pedantic", "-Werror", "-c", "-o", "/dev/null"]
# The container writes each in a way of its own: plain, of one architecture, of either with the section .nv.compat.
KINDS_OF_ARCH = ("sm_80", "sm_90a", "sm_100", "sm_121a")


def toolkit(program):
    return shutil.which(program) or shutil.which(CUDA / program)


def machine_code(cubin):
    """{name: bytes} of the sections of a cubin that hold instructions."""
    content = pathlib.Path(cubin).read_bytes()
    (start,) = struct.unpack_from("<Q", content, 40)
    count, names = struct.unpack_from("<HH", content, 60)
    headers = [struct.unpack_from("<IIQQQQIIQQ", content, start + 64 * i) for i in range(count)]
    strings = content[headers[names][4]:]
    found = {}
    for name, _, _, _, offset, size, *_ in headers:
        name = strings[name:strings.index(b"\0", name)].decode()
        if name.startswith(".text."):
            found[name] = content[offset:offset + size]
    return found


class Files(EiderTest):
    def compile(self, *command):
        process = subprocess.run(command, cwd=self.directory, capture_output=True, text=True)
        self.assertEqual((process.returncode, process.stdout + process.stderr), (0, ""))

    def test_each_kind_is_named_for_the_program(self):
        paths = self.succeeds(*QUANTIZE, "--arch", "sm_80,sm_90a", "--emit", "header,fatbin,cu", "-o", "d")
        self.assertEqual(paths.split(), ["d/quantize.sm_80.cu", "d/quantize.sm_90a.cu",
                                         "d/quantize.fatbin", "d/quantize.h", "d/quantize.c"])

    def test_a_name_of_ones_own(self):
        self.succeeds(*QUANTIZE, "--arch", "sm_90", "--emit", "header", "--name", "to_e4m3", "-o", "d")
        self.assertIn("int to_e4m3_launch(", (self.directory / "d/to_e4m3.h").read_text())
        self.assertIn("#ifndef TO_E4M3_H", (self.directory / "d/to_e4m3.h").read_text())

    def test_scalars_have_the_defaults_asked_for(self):
        self.succeeds("build", "rms_norm_quant", "--dim", "hidden=256", "--set", "eps=0.001", "--arch",
                      "sm_90", "--emit", "header", "-o", "d")
        self.assertIn("#define RMS_NORM_QUANT_EPS_DEFAULT 0.001f",
                      (self.directory / "d/rms_norm_quant.h").read_text())

    def test_c_of_every_signature_compiles_without_a_warning_as_c_and_as_cpp(self):
        """One op of those that have the same tensors and scalars: the C of the others is its, but for the name."""
        ops = {json.dumps([op["inputs"], op["outputs"], op["scalars"]]): op["name"]
               for op in json.loads(self.succeeds("list", "--json"))["ops"]}
        self.assertGreaterEqual(len(ops), 12)
        for op in ops.values():
            with self.subTest(op):
                process = self.eider("build", op, "--dim", "hidden=256", "--arch", "sm_90a",
                                     "--emit", "header", "-o", "d", EIDER_NVRTC_OPTIONS="--Ofast-compile=max")
                if process.returncode == 2:  # has other dims
                    self.skipTest(process.stderr)
                self.assertEqual(process.returncode, 0, process.stderr)
                self.compile("gcc", "-std=c99", *STRICT, f"d/{op}.c")
                self.compile("g++", "-std=c++17", *STRICT, "-x", "c++", f"d/{op}.c")
                for line in (self.directory / f"d/{op}.c").read_text().splitlines():
                    self.assertLessEqual(len(line), 100, line)

    def test_expressions_that_no_line_holds_are_cut(self):
        """Segments of two groups in two turns: the grid is a call of nine others."""
        self.succeeds("build", "requantize", "--dim", "hidden=2816", "--arch", "sm_90a", "--emit", "header", "-o", "d")
        text = (self.directory / "d/requantize.c").read_text()
        self.assertRegex(text, r"smaller\(larger\([^;]*\n[^;]*2147483647\)")
        self.assertLessEqual(max(map(len, text.splitlines())), 100)
        self.compile("gcc", "-std=c99", *STRICT, "d/requantize.c")

    def test_the_same_request_gives_the_same_bytes(self):
        for directory in ("first", "second"):
            self.succeeds(*QUANTIZE, "--arch", "sm_90", "--emit", "cu,fatbin,header", "--no-cache",
                          "-o", directory)
        for path in (self.directory / "first").iterdir():
            self.assertEqual(path.read_bytes(), (self.directory / "second" / path.name).read_bytes())

    def code(self, *arches):
        """{name: its first bytes} of the machine code in NAME.c."""
        self.succeeds(*QUANTIZE, "--arch", ",".join(arches), "--emit", "header", "-o", "d")
        text = (self.directory / "d/quantize.c").read_text()
        words = re.findall(r"uint64_t code_(\w+)\[\] = \{\n    0x(\w{16})u,", text)
        return {name: bytes.fromhex(word)[::-1] for name, word in words}

    def test_newer_gpus_get_the_newest_targets_ptx(self):
        self.assertEqual(self.code("sm_90", "sm_80", "sm_100a"),
                         {"sm_90": b"\x7fELF\2\1\1A", "sm_80": b"\x7fELF\2\1\1A", "sm_100a": b"\x7fELF\2\1\1A",
                          "sm_90_ptx": b"//\n// Ge"})
        self.assertIn("quantize for sm_90, sm_80, sm_100a and GPUs newer than sm_90.",
                      (self.directory / "d/quantize.h").read_text())
        self.assertEqual(set(self.code("sm_100a")), {"sm_100a"})  # its PTX would run there alone
        self.assertNotIn("newer", (self.directory / "d/quantize.h").read_text())

    def test_arguments_named_as_what_the_c_file_has(self):
        self.file("own.mlir", """
            eider.program @own(tokens, width = 64) {
              %0 = eider.input "stream" : tensor<?x64xf32, #eider.dims<tokens, width>>
              %1 = eider.scalar "launch" = 2.0
              %2 = eider.broadcast %1 : f32 to tensor<?x64xf32, #eider.dims<tokens, width>>
              %3 = arith.mulf %0, %2 : tensor<?x64xf32, #eider.dims<tokens, width>>
              eider.output "kernels", %3 : tensor<?x64xf32, #eider.dims<tokens, width>>
              %4 = eider.reduce amax %3 over [*, *] : tensor<?x64xf32, #eider.dims<tokens, width>> -> tensor<1x1xf32, #eider.dims<1, 1>>
              %5 = eider.reduce max %0 over [1, *] : tensor<?x64xf32, #eider.dims<tokens, width>> -> tensor<?x1xf32, #eider.dims<tokens, 1>>
              eider.output "byte_order", %5 : tensor<?x1xf32, #eider.dims<tokens, 1>>
              eider.output "INT64_MAX", %4 : tensor<1x1xf32, #eider.dims<1, 1>>
            }""".replace("tokens", "add"))
        self.succeeds("build", "own.mlir", "--dim", "width=64", "--arch", "sm_90", "--emit", "header",
                      "-o", "d")
        self.assertIn("const float *stream_,", (self.directory / "d/own.h").read_text())
        self.assertIn("if (add_ < 0)\n    return OWN_BAD_EXTENT;", (self.directory / "d/own.c").read_text())
        self.compile("gcc", "-std=c99", *STRICT, "d/own.c")
        self.compile("g++", "-std=c++17", *STRICT, "-x", "c++", "d/own.c")

    def test_the_text_includes_nothing(self):
        self.succeeds(*QUANTIZE, "--arch", "sm_90", "--emit", "cu", "-o", "d")
        text = (self.directory / "d/quantize.sm_90.cu").read_text()
        self.assertNotIn("#include", text)
        self.assertNotIn("EIDER_HOST", text)
        self.assertEqual(len(re.findall(r"^//===- eider/types.cuh ", text, re.M)), 1)
        self.assertIn("nvcc -std=c++20 --fmad=false -arch=sm_90 -cubin", text)

    @unittest.skipUnless(toolkit("nvcc"), "no nvcc")
    def test_nvcc_gives_the_same_machine_code(self):
        self.succeeds(*QUANTIZE, "--arch", "sm_90", "--emit", "cu,cubin", "-o", "d")
        self.compile(toolkit("nvcc"), "-std=c++20", "--fmad=false", "-arch=sm_90", "-cubin", "-o", "nvcc.cubin",
                     "d/quantize.sm_90.cu")
        ours = machine_code(self.directory / "d/quantize.sm_90.cubin")
        self.assertEqual(len(ours), 4)
        self.assertEqual(machine_code(self.directory / "nvcc.cubin"), ours)

    @unittest.skipUnless(toolkit("nvcc"), "no nvcc")
    def test_nvcc_takes_every_family(self):
        attention = ("--dim", "h=8", "--dim", "d=64", "--dim", "kv_heads=2", "--dim", "page=16", "--dim", "scales=1")
        for op, *arguments in (("cast_transpose", "--block", "128x128", "--dim", "hidden=512"),
                               ("rms_norm_quant", "--block", "1x128", "--dim", "hidden=512"),
                               ("matmul_skinny", "--block", "1x128", "--dim", "n=256", "--dim", "k=256"),
                               ("attention_decode", *attention)):
            with self.subTest(op):
                self.succeeds("build", op, *arguments, "--arch", "sm_90a", "--emit", "cu", "-o", "d")
                self.compile(toolkit("nvcc"), "-std=c++20", "--fmad=false", "-arch=sm_90a", "-cubin", "-o", "nvcc.cubin",
                             f"d/{op}.sm_90a.cu")

    @unittest.skipUnless(toolkit("fatbinary"), "no fatbinary")
    def test_the_fat_binary_is_the_toolkits(self):
        self.succeeds(*QUANTIZE, "--arch", ",".join(KINDS_OF_ARCH), "--emit", "cubin,fatbin", "-o", "d")
        images = [f"--image3=kind=elf,sm={arch[3:]},file=d/quantize.{arch}.cubin" for arch in KINDS_OF_ARCH]
        self.compile(toolkit("fatbinary"), "--create=theirs", "--64", "--compress=false", *images)
        self.assertEqual((self.directory / "d/quantize.fatbin").read_bytes(),
                         (self.directory / "theirs").read_bytes())


if __name__ == "__main__":
    unittest.main()
