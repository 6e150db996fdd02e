# Part of Eider, under the Apache License v2.0.
"""Requests that are wrong: exit status 2 and one line that says what, where and what to do."""

import unittest

from eider_process import EiderTest


class Requests(EiderTest):
    def emit(self, *arguments):
        return ("emit", *arguments, "--arch", "sm_90")

    def test_no_command(self):
        self.fails(2, ["subcommand is required", "eider --help"])

    def test_unknown_command(self):
        self.fails(2, ["unknown command 'frobnicate'"], "frobnicate")

    def test_unknown_op(self):
        self.fails(2, ["no op 'quantise'", "give one of quantize, "], *self.emit("quantise"))

    def test_unknown_option(self):
        self.fails(2, ["--blok", "eider emit --help"], *self.emit("quantize", "--blok", "1x128"))

    def test_unknown_format(self):
        self.fails(2, ["quantize", "--format cannot be 'e3m4'", "e4m3, e5m2"],
                   *self.emit("quantize", "--block", "1x128", "--format", "e3m4"))

    def test_unknown_dtype(self):
        self.fails(2, ["--dtype cannot be 'f64'", "bf16, f16, f32"],
                   *self.emit("quantize", "--block", "1x128", "--dtype", "f64"))

    def test_unknown_mode(self):
        self.fails(2, ["quantize", "no_such_mode"],
                   *self.emit("quantize", "--block", "1x128", "--mode", "no_such_mode"))

    def test_unknown_numerics_parameter(self):
        self.fails(2, ["quantize", "no_such_parameter"],
                   *self.emit("quantize", "--block", "1x128", "--set", "no_such_parameter=1"))

    def test_unknown_value_of_a_numerics_parameter(self):
        self.fails(2, ["quantize", "perhaps"],
                   *self.emit("quantize", "--block", "1x128", "--set", "nan=perhaps"))

    def test_scalar_that_is_no_number(self):
        self.fails(2, ["--set eps=small", "'small' is not a number"],
                   *self.emit("rms_norm_quant", "--block", "1x128", "--set", "eps=small"))

    def test_scalar_beyond_a_double(self):
        self.fails(2, ["'1e400' is beyond what a double holds"],
                   *self.emit("rms_norm_quant", "--dim", "hidden=256", "--set", "eps=1e400"))

    def test_numbers_out_of_range(self):
        self.fails(2, ["--budget", "a number above 0, of seconds"], "tune", "copy", "--device", "host", "--shapes", "4x32",
                   "--budget", "0")
        self.fails(2, ["--seed"], "run", "copy", "--device", "host", "--in", "a", "--out", "b", "--seed=-1")

    def test_width_of_0(self):
        for op in ("quantize", "requantize", "silu_quant", "dequantize", "copy"):
            for arch in ("sm_75", "sm_90", "host"):
                self.succeeds("emit", op, "--dim", "hidden=0", "--arch", arch)

    def test_unknown_arch(self):
        self.fails(2, ["sm_42"], "emit", "quantize", "--block", "1x128", "--dim", "hidden=256",
                   "--arch", "sm_42")

    def test_unknown_codec(self):
        self.fails(2, ["magic"], *self.emit("quantize", "--block", "1x128", "--dim", "hidden=256",
                                            "--codec", "magic"))

    def test_blocks_too_small_for_the_scales_that_are_read(self):
        for block, source in (("2x4", "1x128"), ("128x8", "1x512")):
            self.fails(2, [f"blocks of {block} are too small for the {source[2:]} neighbours that share a scale",
                           "take blocks of more columns"],
                       *self.emit("requantize", "--block", block, "--from-block", source, "--dim", "hidden=256"))

    def test_two_codes_a_byte_at_an_odd_width(self):
        self.fails(2, ["packs two codes a byte: 'hidden' must be even, not 255"],
                   *self.emit("quantize", "--format", "e2m1", "--block", "1x16", "--dim", "hidden=255"))
        self.fails(2, ["blocks of 128x5 end within a byte of two codes"],
                   *self.emit("quantize", "--format", "e2m1", "--block", "128x5", "--dim", "hidden=256"))

    def test_instructions_of_four_bits_that_the_target_lacks(self):
        self.fails(2, ["sm_90 has no e2m1 conversions (sm_100a is the first); take codec auto or software"],
                   *self.emit("quantize", "--format", "e2m1", "--block", "1x16", "--dim", "hidden=256",
                              "--codec", "hardware"))

    def test_stochastic_rounding(self):
        options = ["--dim", "hidden=256", "--set", "rounding=stochastic"]
        self.fails(2, ["no GPU rounds stochastically by instruction", "take codec auto or software"],
                   *self.emit("quantize", *options, "--codec", "hardware"))
        self.fails(2, ["stochastic rounding saturates", "use overflow saturate"],
                   *self.emit("quantize", *options, "--set", "overflow=format"))
        self.fails(2, ["'1.5' is no integer of magnitude up to 2^53", "--set seed=1.5"],
                   *self.emit("quantize", *options, "--set", "seed=1.5"))
        self.fails(2, ["no numerics parameter 'seed'", "seed and offset are of rounding=stochastic"],
                   *self.emit("quantize", "--dim", "hidden=256", "--set", "seed=1"))

    def test_unknown_dim(self):
        self.fails(2, ["--dim hiden", "it has tokens, hidden"],
                   *self.emit("quantize", "--block", "1x128", "--dim", "hiden=256"))

    def test_missing_dim(self):
        self.fails(2, ["hidden"], *self.emit("quantize", "--block", "1x128"))

    def test_block_of_zero(self):
        for block in ("0x128", "1x0", "0x0"):
            self.fails(2, [f"--block cannot be '{block}'", "1x128"],
                       *self.emit("quantize", "--block", block))

    def test_malformed_blocks(self):
        for block in ("128", "1x", "x1", "1x128x1", "-1x128", "1x99999999999999999999", "axb"):
            self.fails(2, [f"--block cannot be '{block}'"],
                       *self.emit("quantize", f"--block={block}"))

    def test_malformed_schedule(self):
        for schedule in ("row<threads = 0, vector = 16>", "row<", "spiral<threads = 32>", "row"):
            self.fails(2, ["schedule"], *self.emit("quantize", "--block", "1x128", "--dim",
                                                   "hidden=256", "--schedule", schedule))

    def test_unknown_stage(self):
        self.fails(2, ["--stage: unknown stage 'ptx'"], *self.emit("quantize", "--stage", "ptx"))

    def test_unknown_kind_of_file(self):
        self.fails(2, ["--emit: unknown kind 'exe'"], "build", "quantize", "--arch", "sm_90",
                   "--emit", "exe", "-o", "d")

    def test_name_that_c_does_not_take(self):
        self.fails(2, ["--name: 'fp8-quantize' is no name that C takes"], "build", "quantize",
                   "--block", "1x128", "--dim", "hidden=256", "--arch", "sm_90", "--emit", "header",
                   "--name", "fp8-quantize", "-o", "d")

    def test_name_that_is_a_path(self):
        self.fails(2, ["--name", "'../a' is a path: give the directory by -o"], "build", "quantize", "--dim", "hidden=256",
                   "--arch", "sm_90", "--emit", "cu", "--name", "../a", "-o", "d")

    def test_host_has_no_machine_code(self):
        self.fails(2, ["--arch host: 'host' takes text"], "build", "quantize", "--block", "1x128",
                   "--dim", "hidden=256", "--arch", "host", "--emit", "cubin", "-o", "d")

    def test_directory_that_cannot_be_made(self):
        self.file("d", "a file")
        self.fails(2, ["d/e: cannot make the directory"], "build", "quantize", "--block", "1x128",
                   "--dim", "hidden=256", "--arch", "sm_90", "--emit", "cu", "-o", "d/e")

    def test_unknown_device(self):
        self.matrix(2, 16)
        for device in ("abacus", "cuda:", "cuda:x", "cuda:-1"):
            self.fails(2, ["device"], "run", "quantize", "--block", "1x16", "--dtype", "f32",
                       f"--device={device}", "--in", "in.safetensors", "--out", "o")


class Outputs(EiderTest):
    """What is written takes the place of nothing that was read, nor of what is of another kind."""

    SMALL = ["--dim", "tokens=4", "--dim", "hidden=32", "--device", "host", "--rounds", "1", "--l2", "cold"]

    def kept(self, status, words, name, *arguments):
        before = (self.directory / name).read_bytes()
        self.fails(status, [name, *words], *arguments)
        self.assertEqual((self.directory / name).read_bytes(), before)

    def test_of_what_is_read(self):
        self.matrix(4, 32)
        self.kept(2, ["it is read, too"], "in.safetensors", "run", "quantize", "--dtype", "f32", "--device", "host", "--in",
                  "in.safetensors", "--out", "./in.safetensors")
        self.file("p.mlir", self.succeeds("emit", "copy", "--dim", "hidden=32", "--arch", "sm_90", "--stage", "eider"))
        self.kept(2, ["it is read, too"], "p.mlir", "emit", "p.mlir", "--arch", "sm_90", "-o", "p.mlir")
        self.succeeds("bench", "copy", *self.SMALL, "--json", "a.json")
        self.kept(2, ["it is read, too"], "a.json", "report", "a.json", "-o", "a.json")

    def test_behind_a_link(self):
        self.file("real.json", "")
        (self.directory / "link.json").symlink_to("real.json")
        self.succeeds("bench", "copy", *self.SMALL, "--json", "link.json")
        self.assertTrue((self.directory / "link.json").is_symlink())
        self.assertIn('"bench": "ops"', (self.directory / "real.json").read_text())
        (self.directory / "out").symlink_to("/proc/self/fd/1")
        self.assertIn('"bench": "ops"', self.succeeds("bench", "copy", *self.SMALL, "--json", "out"))
        self.assertIn("<!DOCTYPE html>", self.succeeds("report", "real.json", "-o", "/dev/stdout"))
        self.assertTrue((self.directory / "out").is_symlink())

    def test_that_have_an_ops_name(self):
        for _ in range(2):
            self.succeeds("emit", "copy", "--dim", "hidden=32", "--arch", "sm_90", "-o", "copy")

    def test_keep_their_mode(self):
        (self.directory / self.file("a.cu", "")).chmod(0o640)
        self.succeeds("emit", "copy", "--dim", "hidden=32", "--arch", "sm_90", "-o", "a.cu")
        self.assertEqual((self.directory / "a.cu").stat().st_mode & 0o7777, 0o640)

    def test_that_a_device_does_not_take(self):
        process = self.eider("bench", "copy", *self.SMALL, "--json", "/dev/full")
        self.assertEqual(process.returncode, 3)
        self.assertIn("/dev/full: cannot write it", process.stderr)

    def test_of_another_kind(self):
        self.file("notes.txt", "not ours")
        self.kept(2, ["would be lost"], "notes.txt", "bench", "copy", *self.SMALL, "--json", "notes.txt")
        self.kept(2, ["no archive of a cache"], "notes.txt", "cache", "export", "notes.txt")
        self.file("tune.json", '{"schema": 1, "bench": "tune", "cells": []}')
        self.kept(2, ["would be lost"], "tune.json", "bench", "copy", *self.SMALL, "--json", "tune.json")

    def test_that_cannot_be_written_are_refused_before_the_work(self):
        for request in (["bench", "copy", *self.SMALL, "--json"],
                        ["tune", "copy", "--device", "host", "--shapes", "4x32", "--json"]):
            self.fails(2, ["none/x.json: cannot write there"], *request, "none/x.json")
        self.assertFalse((self.directory / "cache").exists())  # nothing was compiled
        self.fails(3, ["cannot take records"], "tune", "copy", "--device", "host", "--shapes", "4x32",
                   EIDER_CACHE_DIR="/proc/none")


class BrokenPrograms(EiderTest):
    def emit(self, content, *words):
        path = self.file("broken.mlir", content)
        self.fails(2, ["broken.mlir", *words], "emit", path, "--arch", "sm_90")

    def test_missing_file(self):
        self.fails(2, ["none.mlir: cannot read it: No such file"], "emit", "none.mlir", "--arch",
                   "sm_90")

    def test_directory(self):
        (self.directory / "d.mlir").mkdir()
        self.fails(2, ["d.mlir: cannot read it"], "emit", "d.mlir", "--arch", "sm_90")

    def test_empty_file(self):
        self.emit("")

    def test_garbage(self):
        self.emit("this is no program\n")

    def test_bytes(self):
        self.emit(bytes(range(256)))

    def test_unknown_operation(self):
        self.emit("eider.program @p(n) {\n  %0 = eider.frobnicate\n}\n", "frobnicate")

    def test_unbalanced(self):
        self.emit("eider.program @p(n) {\n")

    def program(self, *lines):
        return "\n".join(("!x = tensor<?x64xf32, #eider.dims<m, n>>", "eider.program @p(m, n = 64) {", *lines, "}"))

    def test_what_is_the_compilers_own(self):
        output = 'eider.output "o", %x : !x'
        self.emit(self.program('%x = eider.input "x" {eider.attention_of = array<i64: 2>} : !x', output),
                  ":3:", "'eider.attention_of' is the compiler's own, or nobody's; leave it out")
        self.emit(self.program('%x = eider.input "x" workspace : !x', output), ":3:", "leave workspace out")
        self.emit(self.program('%x = eider.input "x" : !x', 'eider.output "o" workspace, %x : !x'), ":4:", "leave workspace out")
        self.emit(self.program('%x = eider.inout "x" {workspace} : !x', output), ":3:", "'workspace' is the compiler's own")

    def test_outputs_that_no_kernel_writes(self):
        self.emit(self.program('%x = eider.input "x" : !x', "%i = eider.position 0 : tensor<?x1xi64, #eider.dims<m, 1>>",
                               'eider.output "o", %i : tensor<?x1xi64, #eider.dims<m, 1>>'), ":5:", "an output of indices")

    def test_codes_that_nothing_encodes(self):
        self.emit(self.program('%x = eider.input "x" : !x',
                               "%c = arith.truncf %x : !x to tensor<?x64xf8E4M3FN, #eider.dims<m, n>>",
                               'eider.output "o", %c : tensor<?x64xf8E4M3FN, #eider.dims<m, n>>'),
                  ":4:", "'arith.truncf' gives codes, which inputs are and eider.encode makes")
        code = "tensor<?x64xf8E4M3FN, #eider.dims<m, n>>"
        self.emit(self.program(f'%x = eider.input "x" : {code}', f"%c = arith.cmpf olt, %x, %x : {code}"),
                  ":4:", "'arith.cmpf' takes codes, which are no values; decode them first")
        self.emit(self.program(f'%x = eider.input "x" : {code}', f"%c = arith.extf %x : {code} to tensor<?x64xf16, #eider.dims<m, n>>"),
                  ":4:", "'arith.extf' takes codes")
        scaled = "!eider.scaled<?x64xf8E4M3FN, dims = <m, n>, block = [1, 64], scale = f32, layout = row_major>"
        self.emit(self.program(f'%a = eider.input "a" : {scaled}', f'%b = eider.input "b" : {scaled}',
                               "%c = arith.constant true", f"%d = arith.select %c, %a, %b : {scaled}",
                               f'eider.output "o", %d : {scaled}'), ":6:", "'arith.select' gives a scaled tensor")

    def test_more_tensors_than_a_launch_takes(self):
        self.file("many.mlir", self.program(
            *(f'%x{i} = eider.input "x{i}" : !x' for i in range(33)),
            *(f"%y{i + 1} = arith.addf %{'xy'[i > 0]}{i}, %x{i + 1} : !x" for i in range(32)), 'eider.output "o", %y32 : !x'))
        self.fails(2, ["p: has 34 tensors; a launch takes at most 32"], "emit", "many.mlir", "--arch", "sm_90")

    def test_scales_that_groups_share(self):
        for block in ("*, *, *", "2, 32, 64"):
            weights = f"!eider.scaled<4x64x64xf8E4M3FN, dims = <g, n, k>, block = [{block}], scale = f32, layout = row_major>"
            x, y = "tensor<?x64xbf16, #eider.dims<m, k>>", "tensor<?x64xf32, #eider.dims<m, n>>"
            self.file("shared.mlir", f"""eider.program @p(m, n = 64, k = 64, g = 4) {{
              %w = eider.input "w" : {weights}
              %x = eider.input "x" : {x}
              %y = eider.contract %w, %x : {weights}, {x} -> {y}
              eider.output "y", %y : {y}
            }}""")
            self.fails(2, ["scales that several groups' weights share"], "emit", "shared.mlir", "--arch", "sm_90")

    def test_types_that_disagree(self):
        text = self.succeeds("emit", "quantize", "--block", "1x128", "--dim", "hidden=256",
                             "--arch", "sm_90", "--stage", "eider")
        self.emit(text.replace("x256xbf16", "x128xbf16", 1))

    def test_block_of_zero(self):
        text = self.succeeds("emit", "quantize", "--block", "1x128", "--dim", "hidden=256",
                             "--arch", "sm_90", "--stage", "eider")
        for extent in ("0", "2147483648"):
            self.emit(text.replace("block = [1, 128]", f"block = [1, {extent}]"), "1 to 2147483647")

    def test_parameters_of_the_library(self):
        self.file("p.mlir", "")
        self.fails(2, ["--format: a program from a file"], "emit", "p.mlir", "--arch", "sm_90",
                   "--format", "e5m2")


if __name__ == "__main__":
    unittest.main()
