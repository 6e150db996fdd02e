# Part of Eider, under the Apache License v2.0.
"""Peers are measured as bench/README.md says, with no GPU: what they and our kernels take is made up, what is written of it is not."""
import argparse
import concurrent.futures
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import documents

sys.path.insert(0, str(documents.ROOT / "bench" / "peers"))
import run  # noqa: E402

RUN = documents.ROOT / "bench" / "peers" / "run.py"
TUNED, GIVEN, ILLEGAL, SLOW = "row<tuned>", "row<given>", "row<illegal>", "row<slow>"
OURS = {"": 5.0, TUNED: 4.0, GIVEN: 3.0, SLOW: 9.0}
PARAMS = {"format": "e4m3", "block": "1x128"}


def op_of(name):
    return types.SimpleNamespace(name=name, key=f"{name} 1x128", params=PARAMS, shapes=((16, 128),), names=("tokens", "hidden"),
                                 others={}, dims=lambda tokens, hidden: {"tokens": tokens, "hidden": hidden},
                                 traffic=lambda tokens, hidden: 3 * tokens * hidden, make_inputs=lambda tokens, hidden: ())


class Kernels:
    asked = []  # of the last run

    def __init__(self, target):
        Kernels.asked = self.asked = []
        self.was_waited_for = False

    def ask(self, op, hidden, schedule=""):
        self.asked.append((op.key, hidden, schedule))

    def wait(self, seconds):
        self.was_waited_for = True

    def call(self, op, tokens, hidden, schedule=""):
        assert self.was_waited_for and (op.key, hidden, schedule) in self.asked
        if schedule == ILLEGAL:
            raise RuntimeError("a thread would hold too much")
        return OURS[schedule]


class Meter:
    l2 = 1 << 20

    def __init__(self, rounds):
        pass

    def copies_for(self, traffic):
        return 1

    def time(self, calls, sets, traffic, cold):
        return calls, 2.0, 0.01


def measured(resume=None, tuned=None, given=(), only=()):
    """The document that a run writes, and what it says on standard error."""
    ops = [op_of("quantize"), op_of("requantize")]
    modules = {"meter": types.SimpleNamespace(Meter=Meter), "own": types.SimpleNamespace(Kernels=Kernels),
               "packages": types.SimpleNamespace(available=lambda: ({"triton": {op.key: 6.0 for op in ops}}, {}), first_line=str),
               "cases": types.SimpleNamespace(OPS=ops, close=lambda op, inputs, call: ""), "torch": mock.MagicMock()}
    with tempfile.TemporaryDirectory() as directory:
        path = pathlib.Path(directory) / "peers.json"
        tuning = pathlib.Path(directory) / "tune.json"
        if resume:
            path.write_text(json.dumps(resume))
        if tuned:
            cell = {"op": "quantize", "metric": "tuned_time", "params": {**PARAMS, "schedule": tuned}, "shape": {"tokens": 16, "hidden": 128}}
            tuning.write_text(json.dumps({"cells": [cell]}))
        arguments = argparse.Namespace(json=str(path), only=list(only), shapes=[], tuned=tuned and str(tuning), given=list(given),
                                       rounds=3, seconds=100.0, resume=bool(resume))
        errors = io.StringIO()
        with mock.patch.dict(sys.modules, modules), mock.patch.object(run, "machine", lambda: {"target": "sm_90a"}), \
                contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(errors):
            run.Run(arguments).times()
        return json.loads(path.read_text()), errors.getvalue()


def ours(document, op="quantize", l2="cold"):
    cell, = (cell for cell in document["cells"] if cell["op"] == op and cell["params"]["l2"] == l2)
    return {name: value for name, value in cell.items() if name.startswith("eider_")}


class Peers(unittest.TestCase):
    def test_our_heuristic_takes_turns(self):
        document, _ = measured()
        self.assertEqual(len(document["cells"]), 4)  # two ops, from DRAM and out of the L2
        self.assertEqual(document["cells"][0]["value"], 6.0)
        self.assertEqual(document["cells"][0]["ratio"], 3.0)
        self.assertEqual(ours(document), {"eider_value": 5.0})

    def test_a_record_judges_what_it_is_of(self):
        document, _ = measured(tuned=TUNED)
        self.assertEqual(ours(document), {"eider_value": 4.0, "eider_schedule": TUNED})
        self.assertEqual(ours(document, op="requantize"), {"eider_value": 5.0})

    def test_given_schedules_stand_beside_it(self):
        document, _ = measured(given=[GIVEN, SLOW, GIVEN])
        self.assertEqual(ours(document, l2="warm"), {"eider_value": 5.0, "eider_values": {GIVEN: 3.0, SLOW: 9.0}})
        document, _ = measured(given=[GIVEN], tuned=TUNED)
        self.assertEqual(ours(document), {"eider_value": 4.0, "eider_schedule": TUNED, "eider_values": {GIVEN: 3.0}})

    def test_an_illegal_schedule_costs_a_line(self):
        document, errors = measured(given=[ILLEGAL, GIVEN], only=["/quantize"])
        self.assertEqual(ours(document), {"eider_value": 5.0, "eider_values": {GIVEN: 3.0}})
        self.assertIn(f"quantize 1x128 16x128: not in turn with peers: {ILLEGAL}: a thread would hold too much", errors)
        self.assertEqual(document["absent"], {})

    def test_only_what_lacks_is_measured_again(self):
        whole, _ = measured(only=["/quantize"])
        whole["cells"] = [dict(cell, value=7.0) for cell in whole["cells"]]
        document, _ = measured(resume=whole)
        self.assertEqual([(cell["op"], cell["value"]) for cell in document["cells"]],
                         [("quantize", 7.0)] * 2 + [("requantize", 6.0)] * 2)
        self.assertEqual(Kernels.asked, [("requantize 1x128", 128, "")])

    def test_continuing_refuses_schedules(self):
        child = subprocess.run([sys.executable, RUN, "--json", "unused.json", "--continue", "--schedule", GIVEN], capture_output=True, text=True)
        self.assertEqual(child.returncode, 2)
        self.assertIn("--continue measures no cell again", child.stderr)

    def test_without_a_gpu_it_says_so(self):
        with tempfile.TemporaryDirectory() as directory:
            (pathlib.Path(directory) / "torch.py").write_text(
                "import types\ncuda = types.SimpleNamespace(is_available=lambda: False)\n")
            child = subprocess.run([sys.executable, RUN, "--json", "unused.json"],
                                   env={**os.environ, "PYTHONPATH": directory}, capture_output=True, text=True)
        self.assertEqual((child.returncode, child.stderr), (3, "bench/peers: PyTorch sees no GPU\n"))


class OurKernels(unittest.TestCase):
    """Each is built once, ahead of what calls it, and what went wrong is said to all who do."""

    def setUp(self):
        with mock.patch.dict(sys.modules, {"torch": mock.MagicMock(), "cases": mock.MagicMock()}):
            sys.modules.pop("own", None)
            import own
        self.own = own
        self.addCleanup(sys.modules.pop, "own", None)

    def kernels(self, build, load=lambda *_: 0):
        """With these in place of `eider build` and of a library's loader."""
        library = types.SimpleNamespace(own_workspace_bytes=types.SimpleNamespace(), own_load=load)

        def opened(path):
            pathlib.Path(path).read_bytes()  # it is there
            return library
        for patch in (mock.patch.object(self.own, "build", build), mock.patch.object(self.own.ctypes, "CDLL", opened)):
            patch.start()
            self.addCleanup(patch.stop)
        return self.own.Kernels("sm_90a")

    def built(self, op, hidden, target, schedule=""):
        self.builds.append((op.name, hidden, target, schedule))
        directory = tempfile.TemporaryDirectory()
        (pathlib.Path(directory.name) / "own.so").touch()
        return "int own_launch(void *stream);\nown_workspace_bytes(void);", directory

    def test_each_is_built_once(self):
        self.builds = []
        kernels = self.kernels(self.built)
        for schedule in ("", GIVEN, ""):
            kernels.ask(op_of("quantize"), 128, schedule)
        kernels.wait(10)
        heuristic, given = (kernels.kernel(kernels.ask(op_of("quantize"), 128, schedule)) for schedule in ("", GIVEN))
        self.assertIsNot(heuristic, given)
        self.assertIs(kernels.kernel(kernels.ask(op_of("quantize"), 128, GIVEN)), given)
        self.assertEqual(sorted(self.builds), [("quantize", 128, "sm_90a", ""), ("quantize", 128, "sm_90a", GIVEN)])

    def test_what_cannot_be_built_says_why_each_time(self):
        kernels = self.kernels(mock.Mock(side_effect=RuntimeError("eider: no such op")))
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "no such op"):
                kernels.call(op_of("quantize"), 16, 128)

    def test_what_cannot_be_loaded_says_why_each_time(self):
        self.builds = []
        kernels = self.kernels(self.built, load=lambda: -4)
        for _ in range(2):
            with self.assertRaisesRegex(RuntimeError, "not loaded: status -4"):
                kernels.call(op_of("quantize"), 16, 128)

    def test_what_is_not_begun_in_time_is_left(self):
        begun, end = threading.Event(), threading.Event()

        def build(*_):
            begun.set()
            end.wait(10)
            raise RuntimeError("was begun")
        with mock.patch.object(self.own.os, "cpu_count", lambda: 1):
            kernels = self.kernels(build)
        keys = [kernels.ask(op_of("quantize"), hidden) for hidden in (128, 256)]
        begun.wait(10)
        kernels.wait(0)
        end.set()
        with self.assertRaisesRegex(RuntimeError, "was begun"):
            kernels.kernel(keys[0])
        with self.assertRaises(concurrent.futures.CancelledError):
            kernels.kernel(keys[1])


if __name__ == "__main__":
    unittest.main()
