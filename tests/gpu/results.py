# Part of Eider, under the Apache License v2.0.
"""The outcome of tests/gpu/run.sh in the schema of bench/README.md.

python3 results.py STEPS DEVICES FILE: STEPS has a line a step, `name passed failed skipped seconds`;
DEVICES is what `eider devices --json` says.
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


def main(steps, devices, file):
    gpu = json.loads(pathlib.Path(devices).read_text())["devices"][1]
    document = {
        "schema": 1,
        "bench": "gpu-tests",
        "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
        "commit": os.environ.get("EIDER_COMMIT", "unknown"),
        "machine": {"device": gpu["name"], **{key: gpu[key] for key in MACHINE}},
        "cells": [cell for line in pathlib.Path(steps).read_text().splitlines() for cell in cells(line)],
    }
    pathlib.Path(file).write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
