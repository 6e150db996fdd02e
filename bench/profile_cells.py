# Part of Eider, under the Apache License v2.0.
"""Runs Nsight Compute over one launch of each cell that misses what is asked of it (bench/profile.sh).

    profile_cells.py FILE RESULTS     NCU and EIDER_BIN of the environment say where ncu and the programs are

FILE is written anew after each cell, in the schema of bench/README.md. What it has already is not profiled again: its
cells stay, with the commit that they are of.
"""
import csv
import datetime
import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCRIPTS = pathlib.Path(__file__).resolve().parent.parent / "scripts"
SKIPPED, PROFILED = 2, 4  # launches: those before anything is warm; kernels of two calls, if a call has two
OF_PART = 4  # how often fp8-linear launches a part: what of a kernel ran less often was there to prepare it
STALLS = ("barrier", "branch_resolving", "dispatch_stall", "drain", "imc_miss", "lg_throttle", "long_scoreboard",
          "math_pipe_throttle", "membar", "mio_throttle", "no_instruction", "not_selected", "short_scoreboard", "sleeping",
          "tex_throttle", "wait")
# Ours, the unit, and ncu's: the first that is there, or the sum of all.
METRICS = (
    ("dram_throughput", "%", "first", ("dram__throughput.avg.pct_of_peak_sustained_elapsed",
                                       "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed")),
    ("l2_throughput", "%", "first", ("lts__throughput.avg.pct_of_peak_sustained_elapsed",)),
    ("issue_slots", "%", "first", ("sm__inst_issued.avg.pct_of_peak_sustained_active",
                                   "smsp__issue_active.avg.pct_of_peak_sustained_active")),
    ("achieved_occupancy", "%", "first", ("sm__warps_active.avg.pct_of_peak_sustained_active",)),
    ("registers", "registers", "first", ("launch__registers_per_thread",)),
    ("local_bytes", "bytes", "sum", ("l1tex__t_bytes_pipe_lsu_mem_local_op_ld.sum",
                                     "l1tex__t_bytes_pipe_lsu_mem_local_op_st.sum")),
    ("instructions", "instructions", "first", ("smsp__inst_executed.sum", "sm__inst_executed.sum")),
    *((f"stall_{reason}", "cycles", "first", (f"smsp__average_warps_issue_stalled_{reason}_per_issue_active.ratio",))
      for reason in STALLS))
# Where a version of ncu lacks one of the metrics it may refuse them all; sections it always has.
SECTIONS = ("SpeedOfLight", "MemoryWorkloadAnalysis_Tables", "LaunchStats", "Occupancy", "SchedulerStats", "WarpStateStats",
            "InstructionStats")


def number_in(text):
    """A field of ncu as a number; None for `n/a` and the like."""
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def parse(text, least=1):
    """{kernel: {metric: (value, unit)}} of `ncu --csv --page raw`, of the last launch of each kernel that has so many; what is
    missing is left out. Lines of other programs and of ncu's own log may stand around the table."""
    lines = [line for line in text.splitlines() if line.startswith('"')]
    while lines and not lines[0].startswith('"ID"'):
        lines.pop(0)
    kernels, launches = {}, {}
    for fields in csv.DictReader(lines):
        kernel = (fields.get("Kernel Name") or "").split("(")[0].strip()
        if not kernel or not (fields.get("ID") or "").isdigit():
            continue  # the row of units
        found = {}
        for name, unit, how, theirs in METRICS:
            values = [value for value in (number_in(fields.get(each) or "") for each in theirs) if value is not None]
            if values:
                found[name] = (sum(values) if how == "sum" else values[0], unit)
        kernels[kernel] = found
        launches[kernel] = launches.get(kernel, 0) + 1
    return {kernel: found for kernel, found in kernels.items() if launches[kernel] >= least}


def what_to_measure(sections):
    if sections:
        return [argument for section in SECTIONS for argument in ("--section", section)]
    return ["--metrics", ",".join(name for _, _, _, theirs in METRICS for name in theirs)]


def profile(arguments, target, program=None):
    """parse() of one run, of code for `target` if it is not this GPU's, of `eider bench` or a program that launches one thing
    alone. Raises RuntimeError with what ncu said."""
    environment = {name: value for name, value in os.environ.items() if name != "EIDER_TARGET"}
    if target:
        environment["EIDER_TARGET"] = target
    if program:
        run = [os.path.join(os.environ["EIDER_BIN"], program), *arguments, "--device", "cuda:0"]
        counted, least = [], OF_PART
    else:
        run = [os.path.join(os.environ["EIDER_BIN"], "eider"), "bench", *arguments, "--device", "cuda:0", "--rounds", "1"]
        counted, least = ["--launch-skip", str(SKIPPED), "--launch-count", str(PROFILED)], 1
    said = ""
    for sections in (False, True):
        with tempfile.NamedTemporaryFile(prefix="eider-ncu-") as log:
            ncu = [os.environ["NCU"], "--csv", "--page", "raw", "--print-units", "base", *counted, "--force-overwrite",
                   "--log-file", log.name, *what_to_measure(sections)]
            child = subprocess.run([*ncu, *run], capture_output=True, text=True, timeout=300, env=environment)
            text = pathlib.Path(log.name).read_text(errors="replace")
        kernels = {kernel: metrics for kernel, metrics in parse(text, least).items() if metrics}
        if kernels:
            return kernels
        said = next((line for line in (text + child.stderr).splitlines() if "ERROR" in line or "error" in line), "no kernel")
    raise RuntimeError(said)


def machine():
    devices = subprocess.run([os.path.join(os.environ["EIDER_BIN"], "eider"), "devices", "--json"], capture_output=True,
                             text=True, check=True)
    gpu = json.loads(devices.stdout)["devices"][1]
    keys = ("target", "multiprocessors", "memory_bytes", "l2_bytes", "memory_clock_khz", "memory_bus_bits", "driver")
    return {"device": gpu["name"], **{key: gpu[key] for key in keys}}


def cells_of(cell, kernels):
    """A cell of results for each metric of each kernel."""
    for kernel, metrics in kernels.items():
        for metric, (value, unit) in metrics.items():
            yield {**cell, "params": {**cell["params"], "kernel": kernel}, "metric": metric, "unit": unit, "value": value}


def key_of(cell):
    """What a cell is of, whichever kernel and metric it has."""
    params = {name: value for name, value in cell["params"].items() if name != "kernel"}
    return json.dumps([cell["op"], params, cell["shape"]], sort_keys=True)


def earlier(file):
    """The cells that the file has, each with its commit."""
    if not file.exists():
        return []
    document = json.loads(file.read_text())
    return [{"commit": document["commit"], **cell} for cell in document["cells"]]


def main(file, results):
    file = pathlib.Path(file)
    listed = subprocess.run([sys.executable, SCRIPTS / "losses.py", "--misses", "--results", results],
                            capture_output=True, text=True)
    if listed.returncode:
        print(listed.stderr, end="", file=sys.stderr)
        return 2
    document = {"schema": 1, "bench": "profile",
                "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                "commit": os.environ.get("EIDER_COMMIT", "unknown"), "machine": machine(), "absent": {}, "cells": earlier(file)}
    known = {key_of(cell) for cell in document["cells"]}
    for line in listed.stdout.splitlines():
        miss = json.loads(line)
        if key_of(miss["cell"]) in known:
            continue
        name = " ".join(miss["arguments"])
        try:
            document["cells"] += cells_of(miss["cell"], profile(miss["arguments"], miss["cell"]["params"].get("target"),
                                                                   miss.get("program")))
            print(f"profiled: {name}", flush=True)
        except (RuntimeError, subprocess.TimeoutExpired) as error:
            document["absent"][name] = str(error)[:160]
            print(f"not profiled: {name}: {error}", file=sys.stderr)
        file.write_text(json.dumps(document, indent=1) + "\n")
    return int(bool(document["absent"]))


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
