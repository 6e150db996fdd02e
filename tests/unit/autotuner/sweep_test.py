# Part of Eider, under the Apache License v2.0.
"""`eider tune` as a person runs it: grids, resuming, shards, refusals. The worker is a stand-in that takes no time."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

EIDER = os.environ["EIDER"]
WORKER = pathlib.Path(__file__).parent / "workers" / "worker.sh"
GRID = ["quantize", "rms_norm_quant", "--format", "e4m3,e5m2", "--block", "1x128,1x*",
        "--shapes", "4x256,16x256", "--device", "host", "--candidates", "3"]
RANKS = ("SLURM_PROCID", "SLURM_NTASKS", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "PMI_RANK", "PMI_SIZE")


class Sweep(unittest.TestCase):
    def setUp(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.addCleanup(self.temporary.cleanup)
        self.directory = pathlib.Path(self.temporary.name)

    def environment(self, **more):
        environment = {k: v for k, v in os.environ.items() if k not in RANKS}
        environment.update(EIDER_WORKER=str(WORKER), EIDER_CACHE_DIR=str(self.directory / "cache"), **more)
        return environment

    def tune(self, *arguments, **more):
        return subprocess.run([EIDER, "tune", *arguments], capture_output=True, text=True, env=self.environment(**more),
                              cwd=self.directory, timeout=60)

    def counts(self, run):
        found = re.search(r"(\d+) of (\d+) cells .* (\d+) tuned, (\d+) known, (\d+) refused, (\d+) failed", run.stdout)
        self.assertTrue(found, run.stdout + run.stderr)
        return tuple(map(int, found.groups()))

    def test_a_grid_is_the_product_and_is_measured_once(self):
        first = self.tune(*GRID, "--json", "tune.json")
        self.assertEqual(first.returncode, 0, first.stderr)
        self.assertEqual(self.counts(first), (16, 16, 16, 0, 0, 0))
        self.assertNotIn("\r", first.stdout + first.stderr)
        self.assertEqual(self.counts(self.tune(*GRID)), (16, 16, 0, 16, 0, 0))
        self.assertEqual(self.counts(self.tune(*GRID, "--again")), (16, 16, 16, 0, 0, 0))
        document = json.loads((self.directory / "tune.json").read_text())
        self.assertEqual(document["schema"], 1)
        tuned = [cell for cell in document["cells"] if cell["metric"] == "tuned_time"]
        self.assertEqual(len(tuned), 16)
        self.assertEqual({cell["value"] for cell in tuned}, {9})
        self.assertEqual({cell["baseline_value"] for cell in tuned}, {8})
        copied = [cell for cell in document["cells"] if "copied" in cell]
        self.assertEqual(copied, tuned, "what a memcpy was that stood beside")
        for cell in copied:
            self.assertEqual((cell["copied"] % 512, 0 <= cell["copied"] - cell["bytes"] // 2 < 4096), (0, True))
        self.tune(*GRID, "--json", "records.json")
        self.assertNotIn("copied", (self.directory / "records.json").read_text())

    def test_with_verbose_every_schedule_is_a_figure(self):
        self.tune("quantize", "--shapes", "4x256", "--device", "host", "--candidates", "3", "--verbose", "--json", "t.json")
        cells = json.loads((self.directory / "t.json").read_text())["cells"]
        schedules = [cell for cell in cells if cell["metric"] == "time"]
        self.assertEqual([(cell["value"], cell.get("ratio")) for cell in schedules], [(10, 10 / 8), (9, 9 / 8)])
        self.assertEqual(len({cell["params"]["schedule"] for cell in schedules}), 2)
        subprocess.run([EIDER, "report", "t.json", "-o", "t.html"], cwd=self.directory, check=True,
                       stdout=subprocess.DEVNULL)
        page = (self.directory / "t.html").read_text()
        for cell in schedules:
            self.assertIn(cell["params"]["schedule"].replace("<", "&lt;").replace(">", "&gt;") + ": ", page)

    def test_schedules_that_are_asked_for_take_the_place_of_the_space(self):
        asked = ("map<threads = 16, vector = 16, loads = 1>", "map<threads = 8, vector = 16, loads = 2>")
        cell = ("quantize", "--shapes", "4x256", "--device", "host", *(word for schedule in asked for word in ("--try", schedule)))
        for _ in range(2):  # whether there is a record or not
            run = self.tune(*cell, "--json", "t.json")
            self.assertEqual(self.counts(run), (1, 1, 1, 0, 0, 0))
            self.assertEqual(run.returncode, 1, "of the first no cell was measured")
            self.assertIn(f"no cell was measured by '{asked[0]}'", run.stderr)
            self.assertNotIn(asked[1], run.stderr)
            cells = json.loads((self.directory / "t.json").read_text())["cells"]
            heuristic, *others = [cell["params"]["schedule"] for cell in cells if cell["metric"] == "time"]
            self.assertNotIn(heuristic, asked)
            self.assertEqual(others, [asked[1]])
            for schedule in (heuristic, *asked):  # the record's, too, once
                self.assertEqual(run.stdout.count(f"\n  {schedule} "), 1, run.stdout)
        for other in (("--candidates", "3"), ("--verify",)):
            run = self.tune(*cell, *other)
            self.assertEqual(run.returncode, 2)
            self.assertIn("--try", run.stderr)

    def test_requests_that_differ_anywhere_are_cells_of_their_own(self):
        self.tune("quantize", "--copy", "none,bf16", "--scale-source", "dynamic,static", "--shapes", "4x256",
                  "--device", "host", "--candidates", "1", "--json", "t.json")
        cells = json.loads((self.directory / "t.json").read_text())["cells"]
        tuned = [cell["params"] for cell in cells if cell["metric"] == "tuned_time"]
        self.assertEqual(sorted((params["copy"], params["scale_source"]) for params in tuned),
                         [("bf16", "dynamic"), ("bf16", "static"), ("none", "dynamic"), ("none", "static")])

    def test_verify_measures_records_again_and_keeps_none(self):
        cell = ("quantize", "--shapes", "4x256", "--device", "host", "--candidates", "3")
        self.tune(*cell)
        before = self.export()
        run = self.tune(*cell, "--verify", "--json", "v.json", EIDER_TEST_VERIFIED="9.5")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("1 verified, 0 slower than the heuristic's, 0 the heuristic's own, 0 without a record", run.stdout)
        self.assertIn("the slowest takes 0.950 of the heuristic's time", run.stdout)
        (found,) = json.loads((self.directory / "v.json").read_text())["cells"]
        self.assertEqual((found["metric"], found["value"], found["baseline_value"], found["ratio"], found["slower"]),
                         ("verified_time", 9.5, 10, 0.95, False))
        # 0.2 % is noise, and 5 % is not.
        self.assertEqual(self.tune(*cell, "--verify", EIDER_TEST_VERIFIED="10.02").returncode, 0)
        run = self.tune(*cell, "--verify", EIDER_TEST_VERIFIED="10.5")
        self.assertEqual(run.returncode, 1)
        self.assertIn("1.050  SLOWER", run.stdout)
        self.assertEqual(self.export(), before)

    def test_verify_says_what_cannot_be_verified(self):
        cell = ("quantize", "--shapes", "4x256", "--device", "host")
        run = self.tune(*cell, "--verify")
        self.assertEqual(run.returncode, 1)
        self.assertIn("has no record", run.stdout)
        self.tune(*cell, "--candidates", "1")  # the heuristic's
        run = self.tune(*cell, "--verify")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("0 verified, 0 slower than the heuristic's, 1 the heuristic's own", run.stdout)
        self.tune(*cell, "--candidates", "3", "--again")
        run = self.tune(*cell, "--verify", EIDER_TEST_DEFECT="segv")
        self.assertEqual(run.returncode, 1)
        self.assertIn("refused: the worker died of: Segmentation fault", run.stdout)
        self.assertEqual(self.tune(*cell, "--verify", "--again").returncode, 2)

    def export(self):
        """The records, as text."""
        subprocess.run([EIDER, "cache", "export", "all"], cwd=self.directory, env=self.environment(), check=True,
                       stdout=subprocess.DEVNULL)
        return (self.directory / "all").read_bytes()

    def test_after_a_kill_the_finished_cells_are_known(self):
        process = subprocess.Popen([EIDER, "tune", *GRID], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
                                   env=self.environment())
        process.stdout.readline()
        process.kill()
        process.wait()
        process.stdout.close()
        done, total, tuned, known, refused, failed = self.counts(self.tune(*GRID))
        self.assertEqual((done, refused, failed), (total, 0, 0))
        self.assertGreaterEqual(known, 1)

    def test_shards_part_the_grid(self):
        for shard in ("1/3", "2/3", "3/3"):
            self.assertEqual(self.tune(*GRID, "--shard", shard).returncode, 0)
        self.assertEqual(self.counts(self.tune(*GRID)), (16, 16, 0, 16, 0, 0))

    def test_ranks_are_shards(self):
        for rank, size in (("SLURM_PROCID", "SLURM_NTASKS"), ("OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
                           ("PMI_RANK", "PMI_SIZE")):
            run = self.tune(*GRID, **{rank: "3", size: "4"})
            self.assertEqual(self.counts(run)[1], 4)
        self.assertEqual(self.counts(self.tune(*GRID, "--shard", "1/1", SLURM_PROCID="3", SLURM_NTASKS="4"))[1], 16)

    def test_wrong_requests_say_what_to_do(self):
        for arguments, words in (
                (["quantize", "--device", "host"], "give --shapes tokensxhidden"),
                (["quantize", "--shapes", "4", "--device", "host"], "(tokens, hidden)"),
                (["quantize", "--shapes", "0x128", "--device", "host"], "give 1 or more"),
                (["quantize", "--shapes", "4x128", "--device", "host", "--shard", "3/2"], "past the last shard"),
                (["quantize", "--shapes", "4x128", "--device", "host", "--schedule", "map<threads = 32>"], "leave it out"),
                (["nothing", "--shapes", "4x128", "--device", "host"], "no op 'nothing'"),
                (["quantize", "--shapes", "4x128", "--device", "gpu"], "'gpu' is no device")):
            run = self.tune(*arguments)
            self.assertEqual(run.returncode, 2, arguments)
            self.assertIn(words, run.stderr)

    def test_a_machine_without_a_worker_is_told_so(self):
        run = subprocess.run([EIDER, "tune", "quantize", "--shapes", "4x128", "--device", "host"], capture_output=True,
                             text=True, env=self.environment() | {"EIDER_WORKER": "/nonexistent"})
        self.assertEqual(run.returncode, 3)
        self.assertIn("EIDER_WORKER", run.stderr)

    def test_a_candidate_that_dies_costs_itself_alone(self):
        run = self.tune("quantize", "--shapes", "4x256", "--device", "host", "--candidates", "3", "--verbose",
                        EIDER_TEST_DEFECT="segv")
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertIn("Segmentation fault (illegal address)", run.stdout)

    def test_explain_shows_the_records(self):
        self.tune(*GRID)
        explained = subprocess.run([EIDER, "explain", "quantize", "--format", "e4m3", "--block", "1x*", "--dim", "hidden=256",
                                    "--arch", "host"], capture_output=True, text=True, env=self.environment(), check=True)
        self.assertIn("tuned     hidden=256 tokens=3..4", explained.stdout)
        self.assertIn("worth measuring", explained.stdout)


if __name__ == "__main__":
    unittest.main()
