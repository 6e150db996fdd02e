# Part of Eider, under the Apache License v2.0.
"""A pinned table as a fleet uses it: one machine tunes and exports, every rank chooses by the file. The GPU's driver
is the tests' own, the worker a stand-in that takes no time and prefers the third candidate."""

import json
import os
import pathlib
import subprocess
import unittest

from eider_process import EiderTest

WORKER = pathlib.Path(__file__).parent / "workers" / "worker.sh"
QUANTIZE = ("quantize", "--dtype", "f32", "--block", "1x128")
EXPLAIN = ("explain", *QUANTIZE, "--dim", "hidden=1024", "--arch", "sm_90")


class TableTest(EiderTest):
    def setUp(self):
        super().setUp()
        self.environment.update(EIDER_WORKER=str(WORKER), EIDER_TEST_TARGET="sm_90",
                                EIDER_CUDA_DRIVER=os.environ["EIDER_FAKE_DRIVER"])
        for name in ("EIDER_TUNING", "EIDER_TUNING_TABLE", "EIDER_CACHE_BUNDLES"):
            self.environment.pop(name, None)

    def rank(self, name, **more):
        """The environment of a rank with a cache of its own."""
        return {"EIDER_CACHE_DIR": str(self.directory / name), **more}

    def pinned(self, table="table", cache="empty"):
        return self.rank(cache, EIDER_TUNING="table-only", EIDER_TUNING_TABLE=str(self.directory / table))

    def tune(self, *shapes, **environment):
        """The schedule that was recorded."""
        out = self.succeeds("tune", *QUANTIZE, "--shapes", ",".join(shapes), "--device", "cuda:0", "--candidates", "3",
                            **environment)
        return out.splitlines()[0].split("  ")[-1]

    def table(self, *shapes):
        schedule = self.tune(*shapes)
        self.assertIn(f"and {2 * len(shapes)} tuning records", self.succeeds("cache", "export", "table"))
        return schedule


class Table(TableTest):
    def test_every_rank_chooses_by_the_file(self):
        schedule = self.table("64x1024")
        self.succeeds("tune", *QUANTIZE, "--shapes", "64x1024", "--device", "cuda:0", "--candidates", "1",
                      **self.rank("other"))  # records the heuristic's
        chosen = [self.succeeds(*EXPLAIN, **self.pinned(cache=cache)) for cache in ("empty", "other")]
        self.assertIn(f"the best, {schedule}\n", chosen[0])
        self.assertEqual(chosen[0], chosen[1])
        self.assertNotIn(f"the best, {schedule}\n", self.succeeds(*EXPLAIN, **self.rank("other")))

    def test_what_is_no_table_is_refused_with_what_to_do(self):
        self.table("64x1024")
        whole = (self.directory / "table").read_bytes()
        changed = bytearray(whole)
        changed[-40] ^= 1
        self.matrix(4, 1024)
        run = ("run", *QUANTIZE, "--device", "host", "--in", "in.safetensors", "--out", "out.safetensors")
        for name, content in (("empty.eider", b""), ("cut", whole[:-1]), ("changed", bytes(changed)),
                              ("line", b'{"schema": 1}\n'), ("longer", whole + b"\n")):
            self.file(name, content)
            for command in (run, EXPLAIN):
                self.fails(2, ["EIDER_TUNING_TABLE=", name, "give a file that eider cache export has written"],
                           *command, **self.pinned(name))
        self.fails(2, ["EIDER_TUNING_TABLE=", "No such file"], *run, **self.pinned("absent"))
        self.fails(2, ["set EIDER_TUNING_TABLE to a file that eider cache export has written"], *run,
                   **self.rank("empty", EIDER_TUNING="table-only"))
        self.succeeds(*run, **self.pinned("table"))


class Offline(TableTest):
    """eider build and emit take what was recorded for the target where they are asked to, and say so."""

    def setUp(self):
        super().setUp()
        self.environment["EIDER_TUNING"] = "on"

    def made(self, *more, **environment):
        """The text that is built, and what is said of it."""
        process = self.eider("build", *QUANTIZE, "--dim", "hidden=1024", "--arch", "sm_90", "--emit", "cu", "-o", "d",
                             *more, **environment)
        self.assertEqual(process.returncode, 0, process.stderr)
        return (self.directory / "d/quantize.sm_90.cu").read_text(), process.stderr

    def test_a_record_of_the_target_is_a_kernel_more(self):
        plain, said = self.made()
        self.assertEqual(said, "")
        schedule = self.table("64x1024")
        tuned, said = self.made()
        self.assertEqual(said, f"eider: sm_90, tokens=33..64: {schedule}, by a tuning record\n")
        self.assertIn(f"// schedule {schedule}\n// tuned for tokens=33..64\n", tuned)
        self.assertTrue(tuned.startswith(plain.rstrip("\n")))
        self.assertEqual(self.made(EIDER_TUNING="off"), (plain, ""))
        self.assertEqual(self.made(EIDER_TUNING=""), (plain, ""))
        self.assertEqual(self.made("--no-cache"), (plain, ""))
        self.assertEqual(self.made(**self.pinned()), (tuned, said))
        self.assertEqual(self.made("--schedule", schedule)[1], "")
        emitted = self.eider("emit", *QUANTIZE, "--dim", "hidden=1024", "--arch", "sm_90")
        self.assertEqual(emitted.stderr, said)
        self.assertTrue(tuned.endswith(emitted.stdout[emitted.stdout.index("// quantize"):]))

    def test_another_target_or_width_has_no_record(self):
        self.table("64x1024")
        for dim, arch in (("hidden=2048", "sm_90"), ("hidden=1024", "sm_80"), ("hidden=1024", "host")):
            self.succeeds("emit", *QUANTIZE, "--dim", dim, "--arch", arch)

    def test_all_extents_given(self):
        schedule = self.table("64x1024")
        text, said = self.made("--dim", "tokens=40")
        self.assertEqual(said, f"eider: sm_90: {schedule}, by a tuning record\n")
        self.assertIn("// tuned for these extents\n", text)
        self.assertEqual(self.made("--dim", "tokens=65")[1], "")

    def test_the_c_launches_the_tuned_kernel_in_its_range(self):
        self.table("64x1024")
        process = self.eider("build", *QUANTIZE, "--dim", "hidden=1024", "--arch", "sm_90", "--emit", "header", "-o", "d")
        self.assertEqual(process.returncode, 0, process.stderr)
        source = (self.directory / "d/quantize.c").read_text()
        self.assertIn('{"quantize_tuned", 0, 0}', source)
        self.assertIn("a->tokens >= 33 && a->tokens <= 64", source)
        subprocess.run(["gcc", "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-c", "-o", "/dev/null",
                        self.directory / "d/quantize.c"], check=True)

    def test_the_cache_is_filled_with_what_jit_looks_for(self):
        self.table("64x1024")
        build = ("build", *QUANTIZE, "--dim", "hidden=1024", "--arch", "sm_90", "--emit", "cache")
        self.succeeds(*build, **self.rank("there", EIDER_TUNING="off"))
        without = json.loads(self.succeeds("cache", "stat", "--json", **self.rank("there")))
        process = self.eider(*build, **self.pinned(cache="there"))
        self.assertEqual(process.returncode, 0, process.stderr)
        tuned = json.loads(self.succeeds("cache", "stat", "--json", **self.rank("there")))
        # Its contract, its cubin and its PTX.
        self.assertEqual((tuned["requests"], tuned["kernels"]), (without["requests"] + 1, without["kernels"] + 2))


if __name__ == "__main__":
    unittest.main()
