# Part of Eider, under the Apache License v2.0.
"""What the documents quote still stands in the files they name, and is still printed by the commands they name."""
import json
import pathlib
import re
import sys
import unittest

import documents

sys.path.insert(0, str(documents.ROOT / "scripts"))
import readme_table  # noqa: E402


class Excerpts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.shell = documents.Shell()

    @classmethod
    def tearDownClass(cls):
        cls.shell.close()

    def check(self, path, block, source):
        absent = documents.missing(block["text"], source)
        if absent is not None:
            self.fail(f"{path.relative_to(documents.ROOT)}: {block['kind']} {block['what']} has no more\n{absent}")

    def test_quoted_files(self):
        for path in documents.DOCUMENTS:
            for block in documents.blocks_of(path):
                if block["kind"] == "from":
                    with self.subTest(document=path.name, file=block["what"]):
                        self.check(path, block, (documents.ROOT / block["what"]).read_text())

    def test_quoted_outputs(self):
        for path in documents.DOCUMENTS:
            for block in documents.blocks_of(path):
                if block["kind"] == "output of":
                    with self.subTest(document=path.name, command=block["what"]):
                        self.check(path, block, self.shell.output_of(block["what"]))

    def test_sessions(self):
        for path in documents.DOCUMENTS:
            for block in documents.blocks_of(path):
                if block["kind"] != "session":
                    continue
                for command, expected in documents.session_of(block["text"]):
                    with self.subTest(document=path.name, command=command):
                        absent = documents.missing(expected, self.shell.run(command))
                        self.assertIsNone(absent, f"$ {command}\nprints no more\n{absent}")

    def test_the_readme_and_the_benchmarks_have_every_op(self):
        """README.md says the activations once, and what is done to each; of attention's casts the products have none."""
        readme = (documents.ROOT / "README.md").read_text()
        measured = {cell["op"] for cell in json.loads((documents.ROOT / "bench/results/ops.json").read_text())["cells"]}
        ops = re.findall(r"^(\w+)$", self.shell.run("build/bin/eider list"), re.MULTILINE)
        self.assertGreater(len(ops), 50)
        for op in ops:
            name, suffix = re.fullmatch(r"((?:silu|gelu|relu2)(?=_|$)|\w+?)(_mul_bias|_mul|_bias)?(?:_quant)?", op).groups()
            with self.subTest(op=op):
                self.assertIn(f"`{name}`", readme)
                self.assertIn(f"`…{suffix}`" if suffix else "", readme)
                self.assertTrue(op in measured or op.startswith("attention_"), "no cell in bench/results/ops.json")

    def test_every_block_of_code_says_what_it_is(self):
        """In README.md and the life of a kernel; a block that only shows a form is marked `form`."""
        for name in ("README.md", "docs/design/life-of-a-kernel.md"):
            text = (documents.ROOT / name).read_text()
            marked = len(documents.BLOCK.findall(text)) + len(re.findall(r"<!-- form -->\n+```", text))
            self.assertEqual(text.count("\n```") // 2, marked, f"{name} has a block that nothing checks")

    def test_links_lead_to_files(self):
        for path in documents.DOCUMENTS:
            text = re.sub(r"```.*?```|`[^`]*`", "", path.read_text(), flags=re.DOTALL)  # lambdas are no links
            for target in re.findall(r"\]\(([^)#:]+)\)", text):
                with self.subTest(document=path.name, link=target):
                    self.assertTrue((path.parent / target).exists())


class Checker(unittest.TestCase):
    """That the check itself finds what is wrong."""

    SOURCE = "one\n  two\n  three\nfour\n"

    def test_finds_passages_in_order(self):
        self.assertIsNone(documents.missing("two\nthree\n…\nfour\n", self.SOURCE))

    def test_misses_what_changed(self):
        self.assertEqual(documents.missing("two\nfour\n", self.SOURCE), "two\nfour")

    def test_misses_another_order(self):
        self.assertEqual(documents.missing("four\n…\none\n", self.SOURCE), "one")

    def test_command_that_fails(self):
        shell = documents.Shell()
        self.addCleanup(shell.close)
        with self.assertRaises(AssertionError):
            shell.run("build/bin/eider emit nothing --arch sm_90")


class Table(unittest.TestCase):
    CELL = {"op": "quantize", "params": {"dtype": "bf16", "block": "1x128", "schedule": ""},
            "shape": {"tokens": 16384, "hidden": 8192}, "metric": "time", "unit": "us", "value": 98.25,
            "baseline": "memcpy", "baseline_value": 99.5, "ratio": 0.98744, "target": 1.01}
    DOCUMENT = {"schema": 1, "bench": "ops", "date": "2026-01-31T12:00:00Z", "commit": "0123456789abcdef",
                "machine": {"device": "NVIDIA H200", "target": "sm_90", "multiprocessors": 132, "driver": 13000}}

    def table(self, **changes):
        return readme_table.tables([dict(self.DOCUMENT, cells=[dict(self.CELL, **changes)])])

    def test_win(self):
        self.assertIn("NVIDIA H200 · sm_90 · 132 multiprocessors · driver for CUDA 13.0 · 2026-01-31", self.table())
        self.assertIn("| quantize | bf16 1x128 | 16384 × 8192 | 98.2 | 99.5 | 0.987 | ≤ 1.01: met |", self.table())

    def test_widths_stand_in_a_row_of_their_program(self):
        cells = [dict(self.CELL, shape={"tokens": 1, "hidden": hidden}, ratio=ratio, params={"block": "1x32", "set rounding": "stochastic"})
                 for hidden, ratio in ((2048, 1.234), (28672, 0.5), (2049, 9))]
        text = readme_table.tables([dict(self.DOCUMENT, bench="widths", cells=cells)])
        self.assertRegex(text, r"\| quantize 1x32 rounding stochastic \| 1\.23 \|( – \|)+ 0\.50 \|\n?$")
        self.assertNotIn("9.00", text)
        self.assertNotIn("98.2", text, "no table of ops")

    def test_loss_is_said(self):
        self.assertIn("| 1.200 | ≤ 1.01: **missed** |", self.table(ratio=1.2))

    def test_no_target(self):
        self.assertIn("| 1.200 |  |", self.table(ratio=1.2, target=0))

    def test_latency(self):
        text = self.table(metric="launch_prepared", baseline="cuLaunchKernel", value=3.0, baseline_value=2.0,
                          target=None, target_difference=0.5)
        self.assertIn("| `launch_prepared` | 3.000 us | 2.000 us (cuLaunchKernel) | ≤ baseline + 0.5: **missed** |", text)

    def test_attention_stands_beside_caches_of_bf16(self):
        shape = {"b": 8, "h": 32, "max_pages": 512, "page": 16}
        ours = dict(self.CELL, op="attention_decode", params={"format": "e4m3", "codec": "auto"}, shape=shape, value=40.0)
        theirs = [dict(ours, params={"by": by}, value=value) for by, value in (("torch flash", 80.0), ("torch cudnn", 60.0))]
        text = readme_table.tables([dict(self.DOCUMENT, cells=[ours]), dict(self.DOCUMENT, bench="peers", cells=theirs)])
        self.assertIn("| 8 × 8192, 32 | pages of 16 | 40.0 | 60.0 | 80.0 | 1.50 |", text)
        theirs[0]["shape"] = theirs[1]["shape"] = shape | {"pages": 4096}
        ours["shape"] = {"b": 8, "h": 32, "max_tokens": 8192}
        text = readme_table.tables([dict(self.DOCUMENT, cells=[ours]), dict(self.DOCUMENT, bench="peers", cells=theirs)])
        self.assertIn("| 8 × 8192, 32 | one row a sequence | 40.0 | 60.0 | 80.0 | 1.50 |", text)

    def test_prefill_stands_beside_what_is_no_codes(self):
        ours = dict(self.CELL, op="attention_prefill", params={"format": "e4m3", "codec": "auto", "set causal": "1"},
                    shape={"s": 8192, "h": 32, "d": 128}, value=800.0)
        theirs = dict(ours, params={"by": "torch flash", "set causal": "1"}, value=1600.0)
        text = readme_table.tables([dict(self.DOCUMENT, cells=[ours]), dict(self.DOCUMENT, bench="peers", cells=[theirs])])
        self.assertIn("| attention of 8192 tokens over themselves, 32 × 128, causal | µs | times as fast as torch flash |", text)
        self.assertIn("| Eider e4m3, as it is | 800.0 | 2.00 |", text)

    def test_feathers_cells_come_first(self):
        shape = {"n": 16384, "k": 16384}
        ours = [dict(self.CELL, op="gemv", shape=shape, value=value, params={"format": "e4m3", "block": block, "codec": codec})
                for codec, block, value in (("software", "1x128", 90.0), ("hardware", "1x128", 60.0), ("software", "1x*", 1.0))]
        theirs = [dict(ours[0], params={"by": by, "block": "1x128"}, value=value) for by, value in (("torch f32", 240.0), ("torch bf16", 120.0))]
        text = readme_table.tables([dict(self.DOCUMENT, cells=ours), dict(self.DOCUMENT, bench="peers", cells=theirs)])
        first = next(line for line in text.splitlines() if line.startswith("| gemv"))
        self.assertEqual(first, "| gemv 16384 × 16384, 1x128 | 3.3 (E5M2), 2.1 (E4M3) | – | 2.67 | – | 4.00 |")

    def test_prefill_shows_the_newest_of_a_cell(self):
        cells = [dict(self.CELL, op="attention_prefill", params={"format": "e4m3", "codec": "auto"}, shape={"s": 8192, "h": 32, "d": 128}, value=value)
                 for value in (800.0, 700.0)]
        theirs = dict(cells[0], params={"by": "torch flash"}, value=1600.0)
        text = readme_table.tables([dict(self.DOCUMENT, date="2026-02-01", commit="newer", cells=[cells[1]]),
                                    dict(self.DOCUMENT, date="2026-01-01", commit="older", cells=[cells[0]]),
                                    dict(self.DOCUMENT, bench="peers", cells=[theirs])])
        self.assertIn("| Eider e4m3, as it is | 700.0 | 2.29 |", text)
        self.assertNotIn("800.0", text)
        self.assertIn("commit newer", text)
        self.assertNotIn("commit older", text)

    def test_products_stand_beside_weights_of_bf16(self):
        one = dict(self.CELL, shape={"m": 64, "n": 4096, "k": 512})
        ours = [dict(one, op=op, params={"format": kind, "block": "1x128", "l2": "cold"}, value=value)
                for op, kind, value in (("matmul_skinny", "e4m3", 50.0), ("scaled_matmul", "e4m3", 20.0), ("scaled_matmul", "e5m2", 21.0))]
        theirs = dict(one, op="scaled_matmul", params={"by": "torch bf16"}, value=30.0)
        text = readme_table.tables([dict(self.DOCUMENT, cells=ours), dict(self.DOCUMENT, bench="peers", cells=[theirs])])
        self.assertIn("| 64, 4096 × 512 | e4m3 1x128 | 50.0 | 20.0 | 30.0 | 0.60 | 1.50 |", text)
        self.assertNotIn("e5m2", text)  # of which there are no rows of bf16

    def test_peers_stand_beside_us(self):
        ours = dict(self.CELL, params={**self.CELL["params"], "codec": "auto", "l2": "cold"}, value=98.25)
        theirs = [dict(self.CELL, params={"by": by, "dtype": "bf16", "block": "1x128", "l2": "cold"}, value=value)
                  for by, value in (("triton", 97.5), ("torch.compile", 126.0))]
        text = readme_table.tables([dict(self.DOCUMENT, cells=[ours]),
                                    dict(self.DOCUMENT, bench="peers", cells=theirs, absent={"torchao": "not there"})])
        self.assertIn("| op | params | extents | metric | Eider | torch.compile | triton |", text)
        self.assertIn("| quantize | bf16 1x128 cold | 16384 × 8192 | `time` us | 98.2 | 126.0 | **97.5** |", text)
        self.assertIn("Not measured: torchao (not there)", text)

    def test_other_shapes_are_left_to_the_report(self):
        self.assertNotIn("1000", self.table(shape={"tokens": 1000, "hidden": 7168}))
        self.assertNotIn("224", self.table(metric="heuristic_time", baseline="tuned", params={"schedule": "row<224>"}))

    def test_launches_are_one_line(self):
        cells = [dict(self.CELL, metric="launch", value=value, shape={"tokens": int(value)}) for value in (3.0, 2.0, 4.0)]
        text = readme_table.tables([dict(self.DOCUMENT, cells=cells)])
        self.assertIn("costs its thread 2.000 to 4.000 µs, 3.000 in the middle of 3 kernels", text)

    def test_tests_on_the_gpu(self):
        cells = [{"op": "tests", "params": {"step": "matrix"}, "shape": {}, "metric": metric, "unit": "tests",
                  "value": value} for metric, value in (("passed", 40), ("failed", 2), ("seconds", 7.0))]
        text = readme_table.tables([dict(self.DOCUMENT, cells=cells)])
        self.assertIn("| `matrix` | 40 | **2** | 0 | 7 |", text)

    def test_readme_holds_the_committed_results(self):
        readme = (documents.ROOT / "README.md").read_text()
        tables = readme_table.tables(readme_table.load(documents.ROOT / "bench" / "results"))
        self.assertEqual(readme, readme_table.with_tables(readme, tables), "run scripts/readme_table.py")


if __name__ == "__main__":
    unittest.main()
