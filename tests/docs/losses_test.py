# Part of Eider, under the Apache License v2.0.
"""The page of losses says what the results say, a profile is read from what Nsight Compute writes, and loops from machine
code."""
import contextlib
import io
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

import documents

sys.path[:0] = [str(documents.ROOT / "scripts"), str(documents.ROOT / "bench")]
import instructions  # noqa: E402
import losses  # noqa: E402
import profile_cells  # noqa: E402

PARAMS = {"dtype": "bf16", "format": "e4m3", "block": "1x128", "codec": "auto", "schedule": "", "l2": "cold"}
MACHINE = {"device": "NVIDIA H200", "target": "sm_90", "multiprocessors": 132, "memory_bytes": 1, "l2_bytes": 1,
           "memory_clock_khz": 1, "memory_bus_bits": 1, "driver": 13000}


def cell(op="quantize", value=100.0, tokens=16384, hidden=8192, params=(), **changes):
    made = {"op": op, "params": {**PARAMS, **dict(params)}, "shape": {"tokens": tokens, "hidden": hidden},
            "metric": "time", "unit": "us", "value": value, "baseline": "memcpy", "baseline_value": 100.0,
            "ratio": value / 100}
    return {**made, **changes}


def document(*cells, bench="ops"):
    return {"schema": 1, "bench": bench, "date": "2026-01-31T12:00:00Z", "commit": "0" * 40, "machine": MACHINE,
            "cells": list(cells)}


def peer(by, value, **changes):
    made = cell(value=value, **changes)
    params = {name: setting for name, setting in made["params"].items() if name not in ("codec", "schedule")}
    return {**made, "params": {"by": by, **params}}


def judged(ops, tune=None, peers=None):
    return losses.judge(losses.cases_of(document(*ops), tune and document(*tune), peers and document(*peers)))


class Judgement(unittest.TestCase):
    def test_losses_come_first(self):
        cases = judged([cell("copy", 99, target=1), cell("scale", 103, target=1.02), cell("add", 150),
                        cell("triad", 110, target=1)])
        self.assertEqual([case.cell["op"] for case in cases], ["triad", "scale", "copy", "add"])
        self.assertEqual([bool(case.missed) for case in cases], [True, True, False, False])
        self.assertAlmostEqual(cases[0].worst, 1.1)

    def test_what_peers_alone_were_measured_at_is_judged_in_turn(self):
        other = [peer("triton", 4.0, tokens=256, eider_value=5.0), peer("torch.compile", 6.0, tokens=256, eider_value=4.9),
                 peer("triton", 4.0, tokens=512), peer("triton", 4.0, tokens=1024, eider_value=5.0, eider_schedule="row<threads = 32>")]
        cases = judged([cell("copy", 99, target=1)], peers=other)
        self.assertEqual([case.cell["shape"]["tokens"] for case in cases], [256, 16384])
        self.assertEqual(cases[0].judged["value"], 5.0)
        self.assertAlmostEqual(cases[0].judged["ratio"], 0.05)
        self.assertAlmostEqual(cases[0].worst, 5.0 / (losses.SMALL_PEER * 4.0))

    def test_code_for_an_older_target_is_held_beside_this_ones(self):
        def gemv(codec, value, l2="cold", op="gemv"):
            made = cell(op, value)
            return {**made, "params": {**made["params"], "codec": codec, "l2": l2}, "shape": {"n": 64, "k": 32}}

        older = {**document(gemv("software", 80), gemv("auto", 80), gemv("software", 9, l2="warm"), gemv("software", 9, op="copy")),
                 "machine": {**MACHINE, "target": "sm_80"}}
        cases = losses.judged(document(gemv("hardware", 70), gemv("software", 75)), None, None, older)
        of_older, = [case for case in cases if case.cell["params"].get("target") == "sm_80"]
        self.assertEqual([(what, round(share, 4)) for what, share in of_older.asked],
                         [("≥ 0.95 × the speed of code for this GPU", round(0.95 * 80 / 70, 4))])
        missed, = [miss for miss in losses.misses(document(gemv("hardware", 70)), None, None, older) if "target" in miss["cell"]["params"]]
        self.assertIn("software", missed["arguments"])
        profile = document({**missed["cell"], "metric": "issue_slots", "value": 60}, bench="profile")
        profile["cells"][0]["params"]["kernel"] = "gemv"
        text = losses.page(document(gemv("hardware", 70), gemv("software", 75)), None, None, profile, older)
        self.assertIn("sm_80 64 × 32: `gemv`: issue slots 60 %", text)

    def test_an_older_targets_prefill_is_held_beside_flash(self):
        def of(value, **params):
            return {**cell("attention_prefill", value), "params": {"format": "e4m3", "l2": "cold", **params}, "shape": {"s": 8192, "d": 128}}

        older = {**document(of(1650.0, codec="software")), "machine": {**MACHINE, "target": "sm_80"}}
        cases = losses.judged(document(of(900.0, codec="auto")), None, document(of(1700.0, by="torch flash")), older)
        of_older, = [case for case in cases if case.cell["params"].get("target") == "sm_80"]
        (what, share), = of_older.asked
        self.assertEqual((what, round(share, 4)), ("≤ 1 × torch flash", round(1650 / 1700, 4)))

    def test_codes_of_four_bits_are_asked_to_be_no_slower(self):
        def of(op, value, **params):
            return {**cell(op, value, copy_ratio=2.0), "params": {**PARAMS, "format": "e2m1", **params}, "shape": {"n": 16384, "k": 16384, **({"m": 8} if op != "gemv" else {})}}

        for op in ("gemv", "matmul_skinny"):
            case, = judged([of(op, 60.0)], peers=[of(op, 120.0, by="torch bf16")])
            self.assertEqual(case.asked, [("≤ 1 × torch bf16", 0.5)])

    def test_weights_are_held_beside_others_and_a_sum(self):
        def gemv(n, k, value, **changes):
            return {**cell("gemv", value, **changes), "shape": {"n": n, "k": k}}

        def by(name, n, k, value):
            made = gemv(n, k, value)
            return {**made, "params": {"by": name, **{key: made["params"][key] for key in ("dtype", "format", "block", "l2")}}}

        copy = {"copy": "1:0", "copy_value": 66.0, "copy_ratio": 1.1}
        square, large, small = judged(
            [gemv(16384, 16384, 70.0, **copy), gemv(7168, 18432, 40.0, **copy), gemv(1024, 4096, 3.0, **copy)],
            peers=[by("torch f32", 16384, 16384, 240.0), by("torch bf16", 16384, 16384, 150.0), by("torch bf16", 7168, 18432, 80.0)])
        self.assertEqual([what for what, _ in square.asked],
                         ["≤ 1/4 × torch f32", "≤ 1/2 × torch bf16", "≥ 0.95 × a plain sum's speed"])
        for (_, share), expected in zip(square.asked, (70 * 4 / 240, 70 * 2 / 150, 0.95 * 1.1)):
            self.assertAlmostEqual(share, expected)
        self.assertEqual([what for what, _ in large.asked], ["≤ 1 × torch bf16", "≥ 0.85 × a plain sum's speed"])
        self.assertEqual(small.asked, [])
        self.assertIsNone(square.peer, "weights of other types are no peers of the cell")

    def test_few_rows_are_held_beside_a_vector(self):
        weights = {"n": 4096, "k": 14336}
        vector = {**cell("gemv", 20.0, bytes=1000), "shape": weights}
        few, many = ({**cell("matmul_skinny", value, {"from_block": "1x128"}, bytes=1100), "shape": {"m": m, **weights}} for m, value in ((8, 25.0), (64, 40.0)))
        theirs = {**many, "value": 60.0, "params": {"by": "torch bf16", **{key: many["params"][key] for key in ("dtype", "format", "block", "l2")}}}
        cases = {case.cell["shape"].get("m", 0): case for case in judged([vector, few, many], peers=[theirs])}
        (what, share), = cases[8].asked
        self.assertEqual(what, "≥ 0.9 × gemv's bandwidth")
        self.assertAlmostEqual(share, 0.9 * (1000 / 20) / (1100 / 25))
        (what, share), = cases[64].asked
        self.assertEqual(what, "≤ 1/1.7 × torch bf16")
        self.assertAlmostEqual(share, 40 * 1.7 / 60)

    def test_attention_is_held_beside_the_faster_back_end(self):
        def of(value, sequences, pages, **params):
            made = cell("attention_decode", value)
            by = {"params": {**params, "l2": made["params"]["l2"]}} if params else {}
            return {**made, **by, "shape": {"b": sequences, "max_pages": pages}}

        cases = {case.cell["shape"]["b"]: case for case in judged(
            [of(50.0, 8, 512), of(10.0, 2, 64)],
            peers=[of(90.0, 8, 512, by="torch cudnn"), of(99.0, 8, 512, by="torch flash"), of(12.0, 2, 64, by="torch flash")])}
        (what, share), = cases[8].asked
        self.assertEqual(what, "≤ 1/1.9 × torch cudnn of bf16")
        self.assertAlmostEqual(share, 50 * 1.9 / 90)
        (what, share), = cases[2].asked
        self.assertEqual(what, "≤ 1 × torch flash of bf16")
        self.assertAlmostEqual(share, 10 / 12)
        ours = dict(of(50.0, 8, 512), shape={"b": 8, "max_tokens": 8192})
        (what, share), = judged([ours], peers=[dict(of(90.0, 8, 512, by="torch cudnn"), shape={"b": 8, "page": 16, "pages": 4096, "max_pages": 512})])[0].asked
        self.assertAlmostEqual(share, 50 * 1.9 / 90)

    def test_prefill_is_held_beside_what_the_codec_is(self):
        def of(value, d, **params):
            made = cell("attention_prefill", value)
            own = {"codec": "auto", "l2": made["params"]["l2"], **params}
            return {**made, "params": own, "shape": {"s": 8192, "d": d}}

        peers = [of(900.0, 128, by="torch cudnn"), of(1700.0, 128, by="torch flash"), of(3000.0, 512, by="torch f32")]
        asked = [dict(case.asked) for case in sorted(
            judged([of(870.0, 128), of(1600.0, 128, codec="software"), of(600.0, 512)], peers=peers),
            key=lambda case: case.cell["value"])]
        self.assertEqual(asked[0], {"≤ 1/10 × torch f32": 600 * 10 / 3000})
        self.assertEqual(asked[1], {"≤ 1 × torch cudnn": 870 / 900, "≤ 1 × torch flash": 870 / 1700})
        self.assertEqual(asked[2], {"≤ 1 × torch flash": 1600 / 1700})

    def test_what_was_tuned_counts(self):
        record = cell(value=99, params={"schedule": "map<threads = 64>"}, metric="tuned_time")
        case, = judged([cell(value=105, target=1)], tune=[record])
        self.assertFalse(case.missed)
        self.assertIn("map<threads = 64>", losses.arguments_of(case))
        own = judged([cell(value=105, target=1), cell(value=98, params={"schedule": "tuned"}, target=1)])
        self.assertEqual([case.judged["value"] for case in own], [98])
        both, = judged([cell(value=105, target=1), cell(value=98, params={"schedule": "tuned"})], tune=[record])
        self.assertEqual((both.judged["value"], both.schedule), (98, "map<threads = 64>"))
        self.assertIn("| tuned |", losses.line_of(both))
        slower, = judged([cell(value=105), cell(value=108, params={"schedule": "tuned"})], tune=[record])
        self.assertEqual(slower.judged["value"], 105)  # what the bench itself took by that schedule, not what the tuner says
        other, = judged([cell(value=105)], tune=[{**record, "run": {"commit": "other"}}])
        self.assertIn("| tuned † |", losses.line_of(other))
        newer, = judged([cell(value=97)], tune=[record])
        self.assertEqual((newer.judged["value"], newer.schedule), (97, ""))

    def test_a_memcpy_of_broken_pieces_flatters_no_record(self):
        def ratio(memcpy, bytes, **more):
            record = cell(value=99, params={"schedule": "map<threads = 64>"}, metric="tuned_time", bytes=bytes, baseline_value=memcpy,
                          ratio=99 / memcpy, **more)
            case, = judged([cell(value=105, target=1)], tune=[record])
            return case.judged["ratio"]

        whole, broken = 2 << 21, (2 << 21) + 2
        self.assertEqual(ratio(110, broken), 99 / 100, "the cell's own memcpy is faster")
        self.assertEqual(ratio(90, broken), 105 / 100, "beside its own the cell is faster, by whatever schedule")
        self.assertEqual(ratio(110, whole), 99 / 110)
        self.assertEqual(ratio(110, broken, copied=whole // 2 + 4096), 99 / 110)
        self.assertEqual((ratio(110, 2 * 1024), ratio(110, 2 * 1028)), (99 / 110, 99 / 100), "small pieces")

    def test_fastest_peer(self):
        case, = judged([cell(value=100)], peers=[peer("triton", 104.0), peer("torch.compile", 96.0)])
        self.assertEqual(case.missed, [("≤ 1 × torch.compile", 100 / 96)])

    def test_a_peer_of_another_run_is_said_to_be(self):
        case, = judged([cell(value=100)], peers=[peer("triton", 96.0, ratio=0.97)])
        self.assertIn("| 96.0 · 0.970 (triton) |", losses.line_of(case))
        case, = judged([cell(value=100)], peers=[peer("triton", 96.0, ratio=0.97, run={"commit": "other", "date": "2026-01-31T12:00:00Z", "target": "sm_90"})])
        self.assertIn("| 96.0 · 0.970 (triton †) |", losses.line_of(case))

    def test_what_took_turns_with_a_peer_is_held_beside_it(self):
        theirs = peer("triton", 96.0, ratio=0.97, eider_value=95.0)
        case, = judged([cell(value=97)], peers=[theirs])
        self.assertEqual(case.missed, [])
        self.assertAlmostEqual(case.worst, 95 / 96)
        self.assertIn("96.0 · 0.970 (triton; ours in turn 95.0)", losses.line_of(case))
        case, = judged([cell(value=97)], peers=[dict(theirs, eider_schedule="map<…>")])
        self.assertIn("96.0 · 0.970 (triton; ours tuned in turn 95.0)", losses.line_of(case))

    def test_what_has_become_slower_since_is_not(self):
        for date, missed in (("2026-01-30T12:00:00Z", [("≤ 1 × triton", 100 / 96)]), ("2026-02-01T12:00:00Z", [])):
            run = {"commit": "other", "date": date, "target": "sm_90"}
            case, = judged([cell(value=100)], peers=[peer("triton", 96.0, ratio=0.97, eider_value=95.0, run=run)])
            self.assertEqual(case.missed, missed)
            self.assertIn("96.0 · 0.970 (triton †)" if missed else "(triton; ours in turn 95.0 †)", losses.line_of(case))

    def test_a_slower_machine_is_not_what_has_become_slower(self):
        run = {"commit": "other", "date": "2026-01-30T12:00:00Z", "target": "sm_90"}
        theirs = peer("triton", 96.0, eider_value=95.0, baseline_value=99.0, run=run)
        in_its_run = 125 * 99 / 120  # each beside its own memcpy
        for memcpy, missed in ((130.0, []), (120.0, [("≤ 1 × triton", in_its_run / 96)])):
            case, = judged([cell(value=125, baseline_value=memcpy)], peers=[theirs])
            self.assertEqual(case.missed, missed)

    def test_the_peer_that_comes_off_best_counts(self):
        peers = [peer("torch.compile", 94.0, ratio=0.95, eider_value=93.0), peer("triton", 98.0, ratio=0.97, eider_value=99.0)]
        case, = judged([cell(value=95)], peers=peers)
        self.assertEqual(case.missed, [("≤ 1 × triton", 99 / 98)])

    def test_a_peer_may_lead_a_little_where_all_is_short(self):
        case, = judged([cell(value=2.0)], peers=[peer("triton", 1.95)])
        self.assertEqual(case.missed, [])

    def test_a_kernel_may_take_what_an_empty_one_does(self):
        empty = cell("all", 1.6, metric="empty_kernel", params={}, shape={})
        case, = losses.judged(document(cell(value=2.0), empty), None, document(peer("triton", 1.5)))
        self.assertEqual(case.asked, [("≤ empty kernel + 0.5 µs", 2.0 / 2.1)])
        case, = losses.judged(document(cell(value=2.0)), None, document(peer("triton", 1.5)))
        self.assertEqual([what for what, _ in case.missed], ["≤ 1.05 × triton"])
        case, = losses.judged(document(cell(value=100), empty), None, document(peer("triton", 99.0)))
        self.assertEqual([what for what, _ in case.missed], ["≤ 1 × triton"])

    def test_the_interval_of_two_processes(self):
        case, = judged([cell(value=101, starts=2, ratio_low=0.99, ratio_high=1.02)])
        self.assertIn("1.010 [0.990, 1.020]", losses.line_of(case))

    def test_software_beside_hardware(self):
        case = judged([cell(params={"codec": "hardware"}), cell(value=104, params={"codec": "software"})])[0]
        self.assertEqual(case.missed, [("≤ 1.03 × hardware codec", 104 / 103)])

    def test_odd_beside_even(self):
        case = judged([cell(), cell(value=120, hidden=8193), cell(value=300, hidden=7168)])[0]
        self.assertEqual((case.cell["shape"]["hidden"], len(case.missed)), (8193, 1))


class Loops(unittest.TestCase):
    TEXT = """
.text.other:
        /*0000*/                   EXIT ;
.section .x
.text.kernel:
        /*0000*/                   S2R R0, SR_TID.X ;
.L_x_0:
        /*0010*/                   LDG.E R1, [R2] ;
        /*0020*/              @!P0 BRA `(.L_x_1) ;
        /*0030*/                   FSETP.NAN P1, R1, R1 ;
.L_x_1:
        /*0040*/                   VOTE.ANY P2, P0 ;
        /*0050*/               @P2 BRA `(.L_x_2) ;
        /*0060*/                   HMMA.16816.F32 R4, R4, R8, R4 ;
        /*0070*/                   BRA `(.L_x_3) ;
.L_x_2:
        /*0080*/                   LOP3.LUT R4, R4, R5, RZ ;
.L_x_3:
        /*0090*/                   IADD3 R2, R2, 4, RZ ;
        /*00a0*/               @P3 BRA `(.L_x_0) ;
        /*00b0*/                   EXIT ;
.section .y
"""

    def test_rare_work_is_not_in_a_turn(self):
        turn = instructions.loop_of(*instructions.code_of(self.TEXT, "kernel"))
        self.assertEqual(turn, {"LDG": 1, "BRA": 4, "VOTE": 1, "HMMA": 1, "IADD3": 1})

    def test_of_two_ways_the_shorter_counts(self):
        usual = self.TEXT.replace("VOTE.ANY P2, P0", "ISETP P2, R1")
        rare = usual.replace("HMMA.16816.F32 R4, R4, R8, R4 ;", "FADD R4, R4, R8 ;\n        /*0061*/   FADD R4, R4, R8 ;")
        for text, way in ((usual, {"LOP3": 1, "BRA": 3}), (rare, {"LOP3": 1, "BRA": 3}),
                          (rare.replace("LOP3.LUT R4, R4, R5, RZ ;", "".join(f"FMUL R{n} ;\n /*{n:04x}*/ " for n in range(200, 204)) +
                                        "FMUL R4 ;"), {"FADD": 2, "BRA": 4})):
            turn = instructions.loop_of(*instructions.code_of(text, "kernel"))
            self.assertEqual(turn, {"LDG": 1, "ISETP": 1, "IADD3": 1, **way})

    def test_of_loops_in_loops_the_inner_one_counts(self):
        text = self.TEXT.replace("EXIT ;\n.section .y", "@P4 BRA `(.L_x_9) ;\n.section .y").replace(
            ".text.kernel:", ".text.kernel:\n.L_x_9:")
        turn = instructions.loop_of(*instructions.code_of(text, "kernel"))
        self.assertNotIn("S2R", turn)


class Linear(unittest.TestCase):
    """What linear.json asks of itself."""
    @staticmethod
    def part(name, value, baseline, baseline_value, **asked):
        return {"op": "fp8_linear", "params": {"block": "1x128", "sums": "f32", "part": name}, "shape": {"m": 4096, "n": 7168, "k": 512},
                "metric": "time", "unit": "us", "value": value, "baseline": baseline, "baseline_value": baseline_value,
                "ratio": value / baseline_value, **asked}

    def test_parts_are_held_beside_their_baselines(self):
        linear = document(self.part("product", 50.0, "bf16 product", 100.0), self.part("linear", 60.0, "bf16 product", 100.0, target=0.5),
                          self.part("cast", 4.0, "product", 50.0, target=0.1),
                          self.part("norm and cast", 9.0, "norm", 7.0, target_difference=1.0))
        asked = [[(what, round(share, 3)) for what, share in case.asked] for case in losses.judged(document(), None, None, None, linear)]
        self.assertEqual(asked, [[("≤ norm + 1 µs", 2.0)], [("≤ 0.5 × bf16 product", 1.2)], [("≤ 0.1 × product", 0.8)]])
        text = losses.page(document(), None, None, None, None, linear)
        self.assertIn("2 of the 3 cells of which something is asked miss it", text)
        self.assertIn("| 60.0 | – | – | – | ≤ 0.5 × bf16 product: **1.200** |", text)
        first = next(losses.misses(document(), None, None, None, linear))
        self.assertEqual((first["program"], first["arguments"]),
                         ("fp8-linear", ["--shape", "4096x7168x512", "--block", "1x128", "--sums", "f32", "--part", "norm and cast"]))


class Page(unittest.TestCase):
    def test_says_what_misses_and_why(self):
        ops = document(cell(value=110, target=1, copy="2:1", copy_value=97.0, copy_ratio=110 / 97))
        profiled = [{**cell(params={"kernel": "quantize"}), "metric": metric, "value": value} for metric, value in
                    (("dram_throughput", 71.2), ("registers", 40), ("stall_wait", 2.5), ("stall_barrier", 4.0))]
        text = losses.page(ops, None, None, document(*profiled, bench="profile"))
        self.assertIn("1 of the 1 cells of which something is asked miss it; of 0 others", text)
        self.assertIn("| heuristic | 110.0 | 1.100 | 1.134 (2:1) | – | ≤ 1 × memcpy: **1.100** |", text)
        self.assertIn("16384 × 8192: `quantize`: DRAM 71 % · 40 registers · an instruction waits for barrier 4.0, wait 2.5 "
                      "cycles", text)

    def test_what_is_not_profiled(self):
        self.assertIn("16384 × 8192: not profiled", losses.page(document(cell(value=110, target=1)), None, None, None))

    def test_nothing_missed(self):
        self.assertIn("Nothing is missed.", losses.page(document(cell(value=90, target=1)), None, None, None))

    def test_other_schemas(self):
        with tempfile.TemporaryDirectory() as directory:
            path = pathlib.Path(directory, "ops.json")
            path.write_text(json.dumps({"schema": 2}))
            with self.assertRaisesRegex(ValueError, "schema 2, 1 is known here"):
                losses.load(path.parent, "ops")

    def test_pages_hold_the_committed_results(self):
        results = pathlib.Path(losses.__file__).resolve().parents[1] / "bench" / "results"
        for directory in (results, results / "h100"):
            check = subprocess.run([sys.executable, losses.__file__, "--check", "--results", directory])
            self.assertEqual(check.returncode, 0, f"run scripts/losses.py --results {directory}")

    def test_arguments_measure_the_case_alone(self):
        """The command line takes them; for a GPU, that is all that it lacks."""
        eider = os.path.join(os.environ["EIDER_BUILD"], "bin", "eider")
        case, = judged([cell("softmax", 200, params={"set causal": "1", "format": "", "block": ""}, target=1)])
        for device, status in (("host", 0), ("cuda", 3)):
            arguments = losses.arguments_of(case)
            at = arguments.index("--dim")
            small = [*arguments[:at], "--dim", "tokens=2", "--dim", "hidden=64", *arguments[at + 4:]]
            run = subprocess.run([eider, "bench", *small, "--device", device, "--rounds", "1"], capture_output=True,
                                 env={**os.environ, "EIDER_CUDA_DRIVER": "/nonexistent"})
            self.assertEqual(run.returncode, status, run.stderr)


class Profile(unittest.TestCase):
    HEAD = ('"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device",'
            '"CC"')
    TABLE = "\n".join([
        "==PROF== Connected to process 4711 (/somewhere/eider)",
        HEAD + ',"dram__throughput.avg.pct_of_peak_sustained_elapsed","launch__registers_per_thread",'
        '"smsp__inst_executed.sum","l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum",'
        '"l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum","smsp__average_warps_issue_stalled_wait_per_issue_active.ratio"',
        '"","","","","","","","","","","","%","register/thread","inst","byte","byte","inst"',
        '"0","4711","eider","127.0.0.1","quantize(const eider::bf16 *, float *)","1","7","(128, 1, 1)","(65536, 1, 1)","0",'
        '"9.0","11.5","40","1,234,567","0","0","2.5"',
        '"1","4711","eider","127.0.0.1","quantize(const eider::bf16 *, float *)","1","7","(128, 1, 1)","(65536, 1, 1)","0",'
        '"9.0","91.5","40","1,234,568","16","8","n/a"',
        '"2","4711","eider","127.0.0.1","quantize_2","1","7","(128, 1, 1)","(132, 1, 1)","0","9.0","50","32","","","",""',
        "==PROF== Disconnected from process 4711", ""])

    def test_reads_the_last_launch_of_each_kernel(self):
        kernels = profile_cells.parse(self.TABLE)
        self.assertEqual(list(kernels), ["quantize", "quantize_2"])
        self.assertEqual(kernels["quantize"], {"dram_throughput": (91.5, "%"), "registers": (40, "registers"),
                                               "local_bytes": (24, "bytes"), "instructions": (1234568, "instructions")})
        self.assertEqual(kernels["quantize_2"], {"dram_throughput": (50, "%"), "registers": (32, "registers")})

    def test_what_ran_less_often_prepared_the_rest(self):
        self.assertEqual(list(profile_cells.parse(self.TABLE, 2)), ["quantize"])

    def test_nothing_there(self):
        self.assertEqual(profile_cells.parse("==ERROR== ERR_NVGPUCTRPERM\n"), {})

    def run_with(self, ncu):
        """What profile_cells.py writes of one miss, where ncu is a script."""
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            (directory / "ops.json").write_text(json.dumps(document(cell(value=110, target=1))))
            devices = json.dumps({"devices": [{}, {**MACHINE, "name": MACHINE["device"]}]})
            for program, text in (("eider", f"echo '{devices}'"), ("ncu", ncu)):
                path = directory / program
                path.write_text(f"#!/bin/bash\n{text}\n")
                path.chmod(0o755)
            (directory / "table").write_text(self.TABLE)
            changed = {"EIDER_BIN": name, "NCU": f"{name}/ncu"}
            old = {key: os.environ.get(key) for key in changed}
            os.environ.update(changed)
            try:
                with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
                    status = profile_cells.main(directory / "profile.json", directory)
            finally:
                for key, value in old.items():
                    os.environ.pop(key) if value is None else os.environ.update({key: value})
            return status, json.loads((directory / "profile.json").read_text())

    TAKES_SECTIONS = """log=$(sed 's/.*--log-file \\([^ ]*\\).*/\\1/' <<<"$*")
        if [[ $* == *--section* ]]; then cp "${0%/*}/table" "$log"
        else echo '==ERROR== Failed to find metric x' >"$log"; exit 1; fi"""

    def test_a_metric_that_ncu_does_not_know(self):
        status, written = self.run_with(self.TAKES_SECTIONS)
        self.assertEqual((status, written["absent"]), (0, {}))
        first = written["cells"][0]
        self.assertEqual((first["params"]["kernel"], first["metric"], first["value"], first["unit"]),
                         ("quantize", "dram_throughput", 91.5, "%"))
        text = losses.page(document(cell(value=110, target=1)), None, None, written)
        self.assertIn("`quantize`: DRAM 92 % · 40 registers · 24 bytes of local memory", text)

    def test_what_cannot_be_profiled_is_said(self):
        status, written = self.run_with("echo '==ERROR== ERR_NVGPUCTRPERM' >&2; exit 1")
        self.assertEqual((status, written["cells"]), (1, []))
        self.assertEqual(list(written["absent"].values()), ["==ERROR== ERR_NVGPUCTRPERM"])


class Joined(unittest.TestCase):
    """bench/join.py."""

    def joined(self, into, source):
        with tempfile.TemporaryDirectory() as name:
            files = [pathlib.Path(name) / each for each in ("into.json", "from.json")]
            for file, made in zip(files, (into, source)):
                file.write_text(json.dumps(made))
            run = subprocess.run([sys.executable, documents.ROOT / "bench/join.py", *files], capture_output=True, text=True)
            return run, json.loads(files[0].read_text())

    def test_a_cell_takes_the_place_of_the_same_one(self):
        run, written = self.joined(document(cell(value=9), cell(value=8, hidden=7168)),
                                   {**document(cell(value=7), cell(value=6, params={"l2": "warm"})), "commit": "new"})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([each["value"] for each in written["cells"]], [7, 8, 6])
        self.assertEqual([each.get("run", {}).get("commit") for each in written["cells"]], ["new", None, "new"])
        self.assertEqual(written["commit"], "0" * 40)

    def test_a_whole_run_is_the_file(self):
        source = {**document(cell(value=7), cell(value=6, params={"l2": "warm"})), "commit": "new"}
        run, written = self.joined(document(cell(value=9)), source)
        self.assertEqual((run.returncode, written), (0, source))

    def test_another_device_is_not_joined(self):
        run, written = self.joined(document(cell(value=9)), {**document(cell(value=7)), "machine": {**MACHINE, "device": "H100"}})
        self.assertEqual((run.returncode, written["cells"][0]["value"]), (1, 9))
        self.assertIn("another device: 'NVIDIA H200' and 'H100'", run.stderr)

    def test_another_target_is_not_joined(self):
        run, written = self.joined(document(cell(value=9)), {**document(cell(value=7)), "machine": {**MACHINE, "target": "sm_80"}})
        self.assertEqual((run.returncode, written["cells"][0]["value"]), (1, 9))
        self.assertIn("another target: 'sm_90' and 'sm_80'", run.stderr)

    def test_what_is_absent_is_said(self):
        into = {**document(cell(value=9), cell(value=8, hidden=7168)), "absent": {"a": "old", "b": "old"}}
        _, written = self.joined(into, {**document(cell(value=7)), "absent": {"b": "new"}, "versions": {"torch": "2"}})
        self.assertEqual((written["absent"], written["versions"]), ({"a": "old", "b": "new"}, {"torch": "2"}))


class TunedMisses(unittest.TestCase):
    """bench/tune_misses.py, where eider is a script that finds the same time for whatever it is asked."""
    EIDER = """while [ "$1" != --json ]; do
            [ "$1" = --schedule ] && { echo 'error: a schedule is what tuning finds' >&2; exit 1; }
            shift
        done
        [ -e "${0%/*}/fails" ] && { echo 'error: no' >&2; exit 1; }
        cp "${0%/*}/found" "$2" """

    def run_with(self, found, before=None, fails=False):
        with tempfile.TemporaryDirectory() as name:
            directory = pathlib.Path(name)
            missed = document(cell(value=110, target=1), cell(value=110, target=1, params={"l2": "warm"}))
            (directory / "ops.json").write_text(json.dumps(missed))
            (directory / "found").write_text(json.dumps(found))
            if before:
                (directory / "tune.json").write_text(json.dumps(before))
            if fails:
                (directory / "fails").touch()
            (directory / "eider").write_text(f"#!/bin/bash\n{self.EIDER}\n")
            (directory / "eider").chmod(0o755)
            run = subprocess.run([sys.executable, documents.ROOT / "bench/tune_misses.py", directory / "tune.json", directory],
                                 capture_output=True, text=True, env={**os.environ, "EIDER_BIN": name})
            out = directory / "tune.json"
            return run, json.loads(out.read_text()) if out.exists() else None

    @staticmethod
    def tuned(value, **params):
        made = document(cell(value=value, params=params))
        made["cells"][0]["metric"] = "tuned_time"
        del made["cells"][0]["params"]["l2"]
        return {**made, "commit": "new"}

    def test_a_record_takes_the_place_of_an_older_one(self):
        before = {**self.tuned(108), "commit": "old"}
        before["cells"] += self.tuned(50, format="e5m2")["cells"]
        run, written = self.run_with(self.tuned(99), before)
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([each["value"] for each in written["cells"]], [50, 99])
        self.assertEqual(written["cells"][1]["run"]["commit"], "new")
        self.assertEqual((written["commit"], "run" in written["cells"][0]), ("old", False))

    def test_of_nothing(self):
        run, written = self.run_with(self.tuned(99))
        self.assertEqual((run.returncode, len(written["cells"])), (0, 1), "a cell is tuned once, warm or cold")
        self.assertEqual(run.stdout.count("us  "), 1)

    def test_a_cell_whose_record_misses_too(self):
        run, written = self.run_with(self.tuned(99), {**self.tuned(108, schedule="map<threads = 32>"), "commit": "old"})
        self.assertEqual(run.returncode, 0, run.stderr)
        self.assertEqual([each["value"] for each in written["cells"]], [99])

    def test_what_cannot_be_tuned_is_said(self):
        run, written = self.run_with(self.tuned(99), fails=True)
        self.assertEqual((run.returncode, written), (1, None))
        self.assertIn("not tuned: quantize", run.stderr)
        self.assertIn("error: no", run.stderr)


if __name__ == "__main__":
    unittest.main()
