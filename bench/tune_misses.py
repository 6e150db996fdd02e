#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Tunes each cell that misses what is asked of it, and joins what is found to tune.json.

    bench/tune_misses.py FILE [RESULTS] [--candidates N] [--only TEXT]

RESULTS (bench/results) says which cells miss; FILE, of bench/README.md's schema, is written anew after each. Records that
it has of other cells stay, with the commit that they are of. EIDER_BIN is where the programs are (build/bin), EIDER_COMMIT
what they were built from. Exit status 1: a cell could not be tuned, which a line says.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent


def key_of(cell):
    params = {name: value for name, value in cell["params"].items() if name not in ("schedule", "l2") and value}
    return json.dumps([cell["op"], params, cell["shape"]], sort_keys=True)


def tune(binary, arguments, candidates, cache):
    """The cells that `eider tune` writes of one. Raises RuntimeError with what it said."""
    out = pathlib.Path(cache) / "cells.json"
    child = subprocess.run([binary, "tune", *arguments, "--device", "cuda:0", "--candidates", str(candidates), "--json", out],
                           capture_output=True, text=True, env={**os.environ, "EIDER_CACHE_DIR": cache})
    if child.returncode:
        said = (child.stderr or child.stdout).strip().splitlines()
        raise RuntimeError(said[-1] if said else f"exit status {child.returncode}")
    return json.loads(out.read_text())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("results", nargs="?", default=ROOT / "bench/results")
    parser.add_argument("--candidates", type=int, default=400)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    listed = subprocess.run([sys.executable, ROOT / "scripts/losses.py", "--misses", "--results", options.results],
                            capture_output=True, text=True)
    if listed.returncode:
        sys.exit(listed.stderr)
    binary = os.path.join(os.environ.get("EIDER_BIN", ROOT / "build/bin"), "eider")
    document = json.loads(options.file.read_text()) if options.file.exists() else None
    done, failed = set(), 0
    for miss in map(json.loads, listed.stdout.splitlines()):
        cell, arguments = miss["cell"], miss["arguments"]
        name = " ".join(arguments)
        if ("program" in miss or "target" in cell["params"] or cell["params"]["l2"] != "cold" or options.only not in name or
                key_of(cell) in done):
            continue
        done.add(key_of(cell))
        # Of a tuned cell that misses, too, the schedule is what is to be found.
        left_out = {at + more for at, each in enumerate(arguments) if each in ("--l2", "--schedule") for more in (0, 1)}
        try:
            with tempfile.TemporaryDirectory() as cache:
                found = tune(binary, [each for at, each in enumerate(arguments) if at not in left_out], options.candidates, cache)
        except RuntimeError as error:
            failed = 1
            print(f"not tuned: {name}: {error}", file=sys.stderr)
            continue
        run = {"commit": found["commit"], "date": found["date"], "target": found["machine"]["target"]}
        times = {each["metric"]: each["value"] for each in found["cells"]}
        print(f"{times.get('heuristic_time', 0):9.2f} → {times.get('tuned_time', 0):9.2f} us  {name}", flush=True)
        if document is None:
            document = {**found, "cells": []}
        new = {key_of(each) for each in found["cells"]}
        document["cells"] = ([each for each in document["cells"] if key_of(each) not in new] +
                             [{**each, "run": run} for each in found["cells"]])
        options.file.write_text(json.dumps(document, indent=1) + "\n")
    return failed


if __name__ == "__main__":
    sys.exit(main())
