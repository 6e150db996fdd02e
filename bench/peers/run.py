#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Measures peers at the ops and shapes of `eider bench`, each beside a memcpy, into one file of bench/README.md's schema.

    run.py --json FILE [--only TEXT]… [--shape TOKENSxHIDDEN]… [--tuned FILE] [--schedule SCHEDULE]… [--rounds N] [--starts N]
           [--seconds N] [--continue]

Exit status 3 without PyTorch or a GPU. A peer that is not there, or fails, or gives other results than the op's, is
named in `absent` with the reason; the rest is measured. The file is written anew after each cell; with --continue,
what an earlier run left in it stays, and only what it lacks is measured.
"""
import argparse
import datetime
import json
import os
import statistics
import sys
import time


def machine():
    import torch
    device = torch.cuda.get_device_properties(0)
    target = f"sm_{device.major}{device.minor}"
    return {"device": device.name, "target": target + "a" * (target == "sm_90"),  # as Eider compiles for it
            "multiprocessors": device.multi_processor_count, "memory_bytes": device.total_memory,
            "l2_bytes": device.L2_cache_size}


def versions():
    import importlib.metadata
    names = ("torch", "triton", "torchao", "flashinfer-python", "flag-gems")
    found = {"python": sys.version.split()[0]}
    for name in names:
        try:
            found[name] = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            pass
    return found


def schedules_of(path):
    """What the records of a tune.json say, by op, params and shape."""
    if not path:
        return {}
    with open(path, encoding="utf-8") as file:
        cells = json.load(file)["cells"]
    return {subject_of(cell["op"], cell["params"], cell["shape"], "time"): cell["params"]["schedule"]
            for cell in cells if cell["metric"] == "tuned_time" and cell["params"].get("codec") != "software"}


def subject_of(op, params, shape, metric):
    """What a cell is of, whatever the cache holds and the schedule is."""
    named = {name: value for name, value in params.items() if name not in ("schedule", "l2", "codec") and value}
    return json.dumps([op, named, shape, metric], sort_keys=True)


def beside(schedule, values):
    """What a peer's cell says of ours: the time by the schedule that judges it, and those by others."""
    said = {"eider_value": values[schedule]} if schedule in values else {}
    if said and schedule:
        said["eider_schedule"] = schedule
    others = {other: value for other, value in values.items() if other != schedule}
    return {**said, **({"eider_values": others} if others else {})}


class Run:
    def __init__(self, arguments):
        import meter
        import own
        import packages
        self.arguments = arguments
        self.begin = time.monotonic()
        self.peers, absent = packages.available()
        self.meter = meter.Meter(arguments.rounds)
        self.document = {"schema": 1, "bench": "peers",
                         "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "commit": os.environ.get("EIDER_COMMIT", "unknown"), "machine": machine(),
                         "versions": versions(), "absent": absent, "cells": []}
        self.own = own.Kernels(self.document["machine"]["target"])
        self.schedules = schedules_of(arguments.tuned)
        self.measured = set()
        if arguments.resume and os.path.exists(arguments.json):
            with open(arguments.json, encoding="utf-8") as file:
                earlier = json.load(file)
            self.document["cells"] = earlier["cells"]
            for cell in self.document["cells"]:  # where they are of, unless it is where the others will be
                if (earlier["commit"], earlier["machine"]) != (self.document["commit"], self.document["machine"]):
                    cell.setdefault("run", {"commit": earlier["commit"], "date": earlier["date"], "target": earlier["machine"]["target"]})
            self.measured = {subject_of(cell["op"], cell["params"], cell["shape"], cell["metric"]) for cell in self.document["cells"]}

    def has(self, name, op, metric, shape):
        return subject_of(op.name, {"by": name, **op.params}, shape, metric) in self.measured

    def shapes_of(self, op):
        return self.arguments.shapes if self.arguments.shapes and op.names == ("tokens", "hidden") else op.shapes

    def wants(self, subject):
        return all(any(text in subject for text in texts.split("|")) for texts in self.arguments.only)

    def left(self):
        return self.arguments.seconds - (time.monotonic() - self.begin)

    def write(self):
        with open(self.arguments.json, "w", encoding="utf-8") as file:
            json.dump(self.document, file, indent=1)
            file.write("\n")

    def add(self, name, op, tokens, hidden, **figures):
        self.document["cells"].append({
            "op": op.name, "params": {"by": name, **op.params, **figures.pop("params", {})},
            "shape": op.dims(tokens, hidden), **figures})
        self.write()

    def lacks(self, name, op, tokens, hidden, why):
        subject = f"{name}: {op.key} {tokens}x{hidden}"
        print(f"{subject}: {why}", file=sys.stderr)
        self.document["absent"][subject] = why
        self.write()

    def time_call(self, name, op, tokens, hidden, call):
        import cases
        import torch
        traffic = op.traffic(tokens, hidden)
        sets = [op.make_inputs(tokens, hidden) for _ in range(self.meter.copies_for(traffic))]
        if why := cases.close(op, sets[0], call):
            self.lacks(name, op, tokens, hidden, why)
            return
        schedules = self.schedules_for(op, tokens, hidden)
        ours = {schedule: own for schedule in schedules if (own := self.ours(op, tokens, hidden, sets[0], schedule))}
        for cold in (True, False) if traffic <= self.meter.l2 else (True,):
            (value, *values), memcpy, spread = self.meter.time([call, *ours.values()], sets, traffic, cold)
            l2 = "cold" if cold else "warm"
            by_schedule = dict(zip(ours, values))
            print(f"{name:14} {op.key:26} {tokens:6}x{hidden:<6} {l2} {value:9.2f} us  memcpy {memcpy:9.2f} us  "
                  f"{value / memcpy:.3f}" + "".join(f"  ours {each:9.2f} us{' ' * bool(schedule)}{schedule}"
                                                    for schedule, each in by_schedule.items()), flush=True)
            self.add(name, op, tokens, hidden, params={"l2": l2}, metric="time", unit="us", value=value,
                     **beside(schedules[0], by_schedule),
                     baseline="memcpy", baseline_value=memcpy, ratio=value / memcpy, spread=spread, bytes=traffic)
        del sets
        torch.cuda.empty_cache()

    def schedules_for(self, op, tokens, hidden):
        """Of ours: what judges it, first, then those that were given."""
        recorded = self.schedules.get(subject_of(op.name, op.params, op.dims(tokens, hidden), "time"), "")
        return list(dict.fromkeys([recorded, *self.arguments.given]))

    def ours(self, op, tokens, hidden, inputs, schedule):
        """Our kernel's call, to take turns with a peer's; none, and a line, where it cannot be."""
        import cases
        import packages
        try:
            call = self.own.call(op, tokens, hidden, schedule)
            why = cases.close(op, inputs, call)
        except Exception as error:  # noqa: BLE001: what fails of ours is no peer's absence
            why = packages.first_line(error)
        if not why:
            return call
        print(f"eider: {op.key} {tokens}x{hidden}: not in turn with peers{': ' * bool(schedule)}{schedule}: {why}", file=sys.stderr)
        return None

    def subjects(self):
        """Of times: those that are wanted, and not there."""
        import cases
        for name, calls in self.peers.items():
            for op in cases.OPS:
                for tokens, hidden in self.shapes_of(op) if op.key in calls else ():
                    if self.wants(f"{name}/{op.key}/{tokens}x{hidden}") and not self.has(name, op, "time", op.dims(tokens, hidden)):
                        yield name, calls[op.key], op, tokens, hidden

    def times(self):
        import packages
        import torch
        subjects = list(self.subjects())
        for _, _, op, tokens, hidden in subjects:
            for schedule in self.schedules_for(op, tokens, hidden):
                self.own.ask(op, hidden, schedule)
        self.own.wait(max(0, self.left()))  # nothing else runs while something is timed
        for name, call, op, tokens, hidden in subjects:
            if self.left() < 0:
                self.lacks(name, op, tokens, hidden, "no time was left")
                continue
            torch._dynamo.reset()  # one shape a compile, however many there are
            try:
                with torch.no_grad():
                    self.time_call(name, op, tokens, hidden, call)
            except Exception as error:  # noqa: BLE001: a peer's failure is its own
                self.lacks(name, op, tokens, hidden, packages.first_line(error))

    def first_calls(self):
        """Beside `cold_total` of bench-latency: the same ops and widths."""
        import cases
        import jit
        import packages
        for name in ("triton", "torch.compile"):
            for key, hidden in (("quantize 1x128", 8192), ("add_rms_norm_quant 1x128", 7168)):
                op = next(op for op in cases.OPS if op.key == key)
                if name not in self.peers or not self.wants(f"{name}/{key}/first"):
                    continue
                if self.has(name, op, "cold_total", {"hidden": hidden}):
                    continue
                if self.left() < 0:
                    self.lacks(name, op, 4096, hidden, "no time was left")
                    continue
                try:
                    starts = jit.measure(name, key, 4096, hidden, self.arguments.starts)
                except Exception as error:  # noqa: BLE001
                    self.lacks(name, op, 4096, hidden, "first call: " + packages.first_line(error))
                    continue
                print(f"{name:14} {key:26} first call {statistics.median(starts):9.1f} ms", flush=True)
                cell = {"op": op.name, "params": {"by": name, **op.params}, "shape": {"hidden": hidden},
                        "metric": "cold_total", "unit": "ms", "value": statistics.median(starts),
                        "starts": len(starts)}
                self.document["cells"].append(cell)
                self.write()


def shape(text):
    tokens, hidden = map(int, text.split("x"))
    return tokens, hidden


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", required=True, help="the file of results to write")
    parser.add_argument("--only", action="append", default=[],
                        help="only what has this (or one of several, between |), and all others given so, in peer/op block/TOKENSxHIDDEN")
    parser.add_argument("--shape", dest="shapes", type=shape, action="append", default=[], metavar="TOKENSxHIDDEN",
                        help="this in place of the shapes of all ops of tokens and hidden; any number of times")
    parser.add_argument("--tuned", help="a tune.json, whose schedules ours has where it has one")
    parser.add_argument("--schedule", dest="given", action="append", default=[],
                        help="by this ours takes turns, too, where it is legal; any number of times")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--starts", type=int, default=3, help="processes a first call is the median of")
    parser.add_argument("--seconds", type=float, default=1e9, help="after which nothing new is begun")
    parser.add_argument("--continue", dest="resume", action="store_true", help="measure what the file lacks")
    arguments = parser.parse_args()
    if arguments.resume and arguments.given:
        parser.error("--continue measures no cell again, by which --schedule would stand: give one of them")
    try:
        import torch
    except ImportError as error:
        print(f"bench/peers: no PyTorch: {error}", file=sys.stderr)
        return 3
    if not torch.cuda.is_available():
        print("bench/peers: PyTorch sees no GPU", file=sys.stderr)
        return 3
    torch.manual_seed(1)
    run = Run(arguments)
    run.first_calls()
    run.times()
    run.write()
    return 0


if __name__ == "__main__":
    sys.exit(main())
