# Part of Eider, under the Apache License v2.0.
"""The outcome of tests/gpu/run.sh in the schema of bench/README.md.

python3 results.py STEPS DEVICES FILE [keep]: STEPS has a line a step, `name passed failed skipped seconds`;
DEVICES is what `eider devices --json` says. With `keep` other steps that FILE has stay there, each with its run.
"""

import datetime
import json
import os
import pathlib
import sys

MACHINE = ("target", "multiprocessors", "memory_bytes", "l2_bytes", "memory_clock_khz", "memory_bus_bits", "driver")


def cells(line):
    """One cell a figure of a step."""
    step, *figures = line.split()
    for metric, figure in zip(("passed", "failed", "skipped", "seconds"), figures, strict=True):
        seconds = metric == "seconds"
        cell = {
            "op": "all",
            "params": {"step": step},
            "shape": {},
            "metric": metric,
            "unit": "s" if seconds else "tests",
            "value": float(figure) if seconds else int(figure),
        }
        if metric == "failed":
            cell["target"] = 0
        yield cell


def kept(file, steps):
    """The cells of FILE's other steps."""
    if not file.exists():
        return
    document = json.loads(file.read_text())
    run = {"commit": document["commit"], "date": document["date"], "target": document["machine"]["target"]}
    for cell in document["cells"]:
        if cell["params"]["step"] not in steps:
            yield {"run": run, **cell}


def main(steps, devices, file, keep=""):
    lines, file = pathlib.Path(steps).read_text().splitlines(), pathlib.Path(file)
    gpu = json.loads(pathlib.Path(devices).read_text())["devices"][1]
    document = {
        "schema": 1,
        "bench": "gpu-tests",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": os.environ.get("EIDER_COMMIT", "unknown"),
        "machine": {"device": gpu["name"], **{key: gpu[key] for key in MACHINE}},
        "cells": [*(kept(file, {line.split()[0] for line in lines}) if keep else ()), *(cell for line in lines for cell in cells(line))],
    }
    file.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
