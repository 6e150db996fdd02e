# Part of Eider, under the Apache License v2.0.
"""`eider bench` and `eider report`: what is measured can be read, and the page holds all of it."""

import json
import pathlib
import re
import signal
import subprocess
import time
import unittest
import xml.etree.ElementTree as xml

from eider_process import EIDER, EiderTest

RESULTS = sorted(pathlib.Path(__file__).resolve().parents[2].joinpath("bench/results").glob("*.json"))
HOSTILE = "<script>alert('x')</script>\"&amp;\u0001 https://example.org/a.js"


def document(*cells, **changes):
    return json.dumps({"schema": 1, "bench": "ops", "date": "2026-01-31T12:00:00Z", "commit": "0" * 40,
                       "machine": {"device": "NVIDIA H200", "target": "sm_90"}, "cells": cells, **changes})


def cell(**changes):
    return {"op": "quantize", "params": {"block": "1x128", "schedule": ""}, "shape": {"tokens": 64, "hidden": 256},
            "metric": "time", "unit": "us", "value": 2.5, "baseline": "memcpy", "baseline_value": 2.0, "bytes": 49152,
            **changes}


class Report(EiderTest):
    def page(self, *files):
        self.succeeds("report", *files, "-o", "page.html")
        text = (self.directory / "page.html").read_text()
        doctype, _, rest = text.partition("\n")
        self.assertEqual(doctype, "<!DOCTYPE html>")
        return text, xml.fromstring(rest)

    def rows(self, page):
        """The rows of the tables of every cell, without their heads."""
        return [["".join(field.itertext()) for field in row]
                for section in page.iter("section") if section.get("id") == "cells"
                for body in section.iter("tbody") for row in body]

    def test_every_cell_of_the_committed_results_is_there(self):
        self.assertTrue(RESULTS)
        _, page = self.page(*RESULTS)
        cells = [cell for path in RESULTS for cell in json.loads(path.read_text())["cells"]]
        rows = self.rows(page)
        self.assertEqual(len(rows), len(cells))
        for row, cell in zip(rows, cells):
            self.assertEqual((row[0], row[3]), (cell["op"], cell["metric"]))
            shown, unit = row[4].rsplit(" ", 1)
            self.assertEqual(unit, cell["unit"])
            self.assertAlmostEqual(float(shown), cell["value"], delta=max(0.006 * abs(cell["value"]), 1e-12))
            for value in (*cell["params"].values(), *map(str, cell["shape"].values())):
                self.assertIn(value, " ".join(row))

    def test_each_case_has_a_row_and_dots_that_lead_to_it(self):
        _, page = self.page(self.file("a.json", document(
            cell(), cell(params={"block": "1x128", "by": "torch.compile"}, value=4.0))))
        ids = {element.get("id") for element in page.iter() if element.get("id")}
        dots = [a for a in page.iter("a") if a.get("class") == "dot"]
        self.assertEqual(len(dots), 4)  # two drawings, two dots each
        for dot in dots:
            self.assertIn(dot.get("href").removeprefix("#"), ids)
            self.assertIn("× memcpy", dot.get("aria-label"))

    def test_refers_to_nothing_outside(self):
        text, page = self.page(*RESULTS)
        self.assertNotRegex(text, r"(?i)https?:")
        self.assertNotRegex(text, r"(?i)@import|url\(")
        for element in page.iter():
            self.assertNotIn(element.tag, ("link", "img", "iframe", "object", "embed"))
            for name, value in element.attrib.items():
                if name in ("href", "src", "data", "action"):
                    self.assertTrue(value.startswith("#"), value)

    def test_hostile_text_stays_text(self):
        file = self.file("a.json", document(
            cell(op=HOSTILE, params={"by": HOSTILE, HOSTILE: HOSTILE}, unit=HOSTILE, baseline=HOSTILE),
            cell(op=HOSTILE, params={"schedule": HOSTILE}, shape={HOSTILE: 3}),
            cell(op=HOSTILE, params={"schedule": HOSTILE + "threads = 3"}, shape={HOSTILE: 3}),
            cell(op=HOSTILE, metric=HOSTILE),
            bench=HOSTILE, commit=HOSTILE, date=HOSTILE, versions={HOSTILE: HOSTILE}, absent={HOSTILE: HOSTILE},
            machine={"device": HOSTILE, HOSTILE: HOSTILE}))
        _, page = self.page(file)
        scripts = list(page.iter("script"))
        self.assertEqual(len(scripts), 1)
        self.assertNotIn("alert", scripts[0].text)
        for element in page.iter():
            for name in element.attrib:
                self.assertRegex(name, r"^[A-Za-z0-9-]+$")
                self.assertFalse(name.startswith("on"), name)
        self.assertIn(HOSTILE.replace("\u0001", "\ufffd"), "".join(page.itertext()))

    def test_script_and_style_hold_no_markup(self):
        text, _ = self.page(*RESULTS)
        for content in re.findall(r"<(?:style|script)>(.*?)</(?:style|script)>", text, re.S):
            self.assertNotRegex(content, "[<&]")

    def test_field_that_is_wrong(self):
        self.file("a.json", document(cell(value="fast")))
        self.fails(2, ["a.json", "cells[0].value: is no number"], "report", "a.json", "-o", "page.html")
        self.assertFalse((self.directory / "page.html").exists())

    def test_other_schema(self):
        self.file("a.json", document(schema=2))
        self.fails(2, ["a.json", "schema: is 2"], "report", "a.json", "-o", "page.html")

    def test_no_json(self):
        self.file("a.json", "{")
        self.fails(2, ["a.json", "is no JSON"], "report", "a.json", "-o", "page.html")

    def test_no_file(self):
        self.fails(2, ["absent.json"], "report", "absent.json", "-o", "page.html")

    def test_page_that_cannot_be_written(self):
        self.file("a.json", document(cell()))
        self.fails(2, ["absent/page.html"], "report", "a.json", "-o", "absent/page.html")


class Bench(EiderTest):
    SMALL = ("--device", "host", "--dim", "tokens=4", "--dim", "hidden=256", "--rounds", "2")

    def test_results_can_be_reported(self):
        out = self.succeeds("bench", "quantize", *self.SMALL, "--json", "a.json")
        self.assertRegex(out, r"quantize/bf16/e4m3/1x128/auto/4x256 +cold .* us  memcpy .* us")
        results = json.loads((self.directory / "a.json").read_text())
        self.assertEqual([cell["metric"] for cell in results["cells"]], ["time", "launch"])
        time = results["cells"][0]
        self.assertEqual(time["bytes"], 4 * 256 * 3 + 4 * 2 * 4)
        self.assertEqual(time["shape"], {"tokens": 4, "hidden": 256})
        self.assertEqual(time["params"], {"dtype": "bf16", "format": "e4m3", "block": "1x128", "codec": "auto",
                                          "schedule": "", "l2": "cold"})
        self.assertAlmostEqual(time["ratio"], time["value"] / time["baseline_value"])
        self.succeeds("report", "a.json", "-o", "page.html")

    def test_who_is_ended_keeps_what_was_measured(self):
        path, partial = self.directory / "a.json", self.directory / "a.json.partial"
        self.succeeds("bench", "quantize", *self.SMALL, "--json", path)
        before = path.read_text()
        self.assertFalse(partial.exists())
        command = [EIDER, "bench", *["quantize", "rms_norm_quant", "softmax"] * 20, *self.SMALL, "--json", path]
        with subprocess.Popen(command, env=self.environment, stdout=subprocess.DEVNULL) as process:
            deadline = time.monotonic() + 60
            while time.monotonic() < deadline and process.poll() is None and not partial.exists():
                time.sleep(0.05)
            process.kill()
        self.assertEqual(process.returncode, -signal.SIGKILL)
        self.assertGreater(len(json.loads(partial.read_text())["cells"]), 0)
        self.assertEqual(path.read_text(), before)

    def test_rows_with_padding(self):
        self.succeeds("bench", "rms_norm_quant", *self.SMALL, "--json", "a.json")
        self.succeeds("bench", "rms_norm_quant", *self.SMALL, "--padding", "8", "--json", "a.json", "--again")
        cells = json.loads((self.directory / "a.json").read_text())["cells"]
        self.assertEqual([(cell["metric"], cell["params"].get("padding")) for cell in cells],
                         [("time", None), ("launch", None), ("time", "8"), ("launch", "8")])
        self.assertEqual(cells[0]["bytes"], cells[2]["bytes"])
        self.fails(2, ["--padding"], "bench", "rms_norm_quant", *self.SMALL, "--padding", "-1")

    def test_two_processes_join(self):
        bench = ("bench", "quantize", *self.SMALL, "--l2", "cold", "--json", "a.json")
        self.succeeds(*bench)
        first = json.loads((self.directory / "a.json").read_text())["cells"][0]
        self.assertNotIn("starts", first)
        self.assertLessEqual(first["ratio_low"], first["ratio_high"])
        self.succeeds(*bench, "--again")
        cells = json.loads((self.directory / "a.json").read_text())["cells"]
        self.assertEqual([cell["metric"] for cell in cells], ["time", "launch"])
        self.assertEqual(cells[0]["starts"], 2)
        self.assertAlmostEqual(cells[0]["ratio"], cells[0]["value"] / cells[0]["baseline_value"])
        self.assertLessEqual(cells[0]["ratio_low"], first["ratio_low"])
        self.assertGreaterEqual(cells[0]["ratio_high"], first["ratio_high"])

    def test_again_needs_results(self):
        self.fails(2, ["absent.json", "without --again"], "bench", "quantize", *self.SMALL, "--json", "absent.json", "--again")
        self.file("b.json", document(cell(), bench="latency"))
        self.fails(2, ["b.json", "of this bench"], "bench", "quantize", *self.SMALL, "--json", "b.json", "--again")

    def test_beside_a_copy_of_the_same_proportion(self):
        self.succeeds("bench", "silu_mul_quant", *self.SMALL, "--l2", "cold", "--beside-copy", "--json", "a.json")
        time = json.loads((self.directory / "a.json").read_text())["cells"][0]
        self.assertEqual(time["copy"], "4:1")
        self.assertAlmostEqual(time["copy_ratio"], time["value"] / time["copy_value"])

    def test_a_scale_of_the_whole_matrix_reads_it_twice(self):
        self.succeeds("bench", "quantize", *self.SMALL, "--block", "*x*", "--l2", "cold", "--json", "a.json")
        time = json.loads((self.directory / "a.json").read_text())["cells"][0]
        self.assertEqual(time["bytes"], 4 * 256 * (2 * 2 + 1) + 4)

    def test_in_outs_count_twice(self):
        self.succeeds("bench", "add_rms_norm_quant", *self.SMALL, "--l2", "cold", "--json", "a.json")
        time = json.loads((self.directory / "a.json").read_text())["cells"][0]
        self.assertEqual(time["bytes"], 4 * 256 * (2 + 2 * 2 + 1) + 256 * 2 + 4 * 2 * 4)

    def test_no_driver(self):
        self.fails(3, ["CUDA driver", "/nonexistent"], "bench", "quantize", "--device", "cuda",
                   EIDER_CUDA_DRIVER="/nonexistent")

    def test_the_simulator_has_no_default_shapes(self):
        self.fails(2, ["quantize", "--dim tokens=N --dim hidden=N"], "bench", "quantize", "--device", "host")
        self.fails(2, ["name an op"], "bench", "--device", "host")

    def test_no_such_cell(self):
        self.fails(2, ["--only", "no cell has 'nothing'"], "bench", "--device", "cuda", "--only", "nothing")

    def test_nothing_to_launch(self):
        self.fails(2, ["--dim tokens=0"], "bench", "quantize", "--device", "host", "--dim", "tokens=0",
                   "--dim", "hidden=256")

    def test_too_large(self):
        self.fails(2, ["tensor 'x'", "too large"], "bench", "quantize", "--device", "host", "--dim",
                   f"tokens={2**62}", "--dim", "hidden=256")

    def test_unknown_dim(self):
        self.fails(2, ["--dim hiden"], "bench", "quantize", *self.SMALL, "--dim", "hiden=1")

    def test_impossible_schedule(self):
        self.fails(2, ["threads"], "bench", "quantize", *self.SMALL, "--schedule", "row<threads = 0>")

    def test_unknown_op(self):
        self.fails(2, ["no op 'quantise'"], "bench", "quantise", *self.SMALL)

    def test_unknown_cache_state(self):
        self.fails(2, ["--l2"], "bench", "quantize", *self.SMALL, "--l2", "lukewarm")


if __name__ == "__main__":
    unittest.main()
