#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Counts the instructions of kernels' loops in their machine code, without a GPU.

    instructions.py FILE      EIDER_BIN of the environment says where the programs are, NVDISASM where nvdisasm is

What a warp executes in one turn of a kernel's longest inner loop, where nothing rare happens: a branch forward is taken, as
those around rare work are, but not after a vote (which finds nobody), and of two ways that meet the shorter is. FILE is of
the schema of bench/README.md.
"""
import argparse
import collections
import datetime
import json
import os
import pathlib
import re
import subprocess
import tempfile

# Op, what `eider build` is given, the kernel, and elements of a thread in a turn of its loop.
GEMV = ("--dim", "k=16384")
DECODE = ("--dim", "h=64", "--dim", "d=128", "--dim", "kv_heads=8", "--dim", "page=16", "--dim", "scales=1")
TURNS = ("--schedule", "map<threads = 128, vector = 16, loads = 2, tiles = 2>")  # the heuristic's has no loop
CELLS = (
    *(("gemv", ("--format", format, "--codec", codec, *GEMV), "gemv", elements)  # of four rows that come, or of two
      for format, codec, elements in (("e4m3", "software", 256), ("e4m3", "hardware", 128), ("e5m2", "software", 128),
                                      ("e4m3fnuz", "software", 256))),
    *(("gemv", ("--format", "e2m1", "--block", block, "--scale", scale, *GEMV), "gemv", 128)
      for block, scale in (("1x32", "e8m0"), ("1x16", "e4m3"))),
    ("gemv", ("--format", "e4m3", "--codec", "software", *GEMV, "--schedule",
              "row<threads = 256, vector = 16, rows = 2, tiles = 4, resident = 2>"), "gemv", 128),
    *(("attention_decode", ("--format", format, "--codec", codec, *DECODE), "attention_decode", 128)
      for format, codec in (("e4m3", "software"), ("e4m3", "hardware"), ("e5m2", "software"))),
    ("quantize", ("--format", "e2m1", "--block", "1x16", "--scale", "e4m3", "--dim", "hidden=8192", *TURNS), "quantize", 32),
    ("quantize", ("--format", "e2m1", "--block", "1x32", "--scale", "e8m0", "--mode", "mx", "--dim", "hidden=8192", *TURNS),
     "quantize", 32),
    *(("quantize", ("--format", "e4m3", "--codec", codec, "--dim", "hidden=8192"), "quantize", 32) for codec in ("software", "hardware")),
    ("quantize", ("--format", "e4m3", "--set", "rounding=stochastic", "--dim", "hidden=8192"), "quantize", 32),
    ("quantize", ("--format", "e2m1", "--block", "1x16", "--scale", "e4m3", "--set", "rounding=stochastic", "--dim", "hidden=8192",
                  *TURNS), "quantize", 32),
    ("quantize", ("--format", "e2m1", "--block", "1x32", "--scale", "e8m0", "--mode", "mx", "--set", "rounding=stochastic", "--dim",
                  "hidden=8192"), "quantize", 32),
    ("softmax_quant", ("--format", "e4m3", "--dim", "hidden=8192"), "softmax_quant", 64),
)
# Integer and comparing operations, which share a pipe of half the rate.
OF_INTEGERS = ("LOP3", "SHF", "PRMT", "ISETP", "SEL", "VIADD", "IADD3", "VIMNMX", "VIMNMX3", "LEA", "FSETP", "FMNMX", "MOV",
               "FSEL", "VHMNMX", "PLOP3")


def code_of(text, kernel):
    """The instructions of a kernel, and where its labels are."""
    section = text.split(f"\n.text.{kernel}:")[1].split(".section")[0]
    instructions, labels = [], {}
    for line in section.splitlines():
        if label := re.match(r"\.(L\w+):", line):
            labels[label[1]] = len(instructions)
        elif found := re.search(r"/\*[0-9a-f]{4,}\*/\s+(.*?)\s*;", line):
            instructions.append(found[1])
    return instructions, labels


def target_of(instruction, labels):
    found = re.search(r"\.(L\w+)\)", instruction) if "BRA" in instruction else None
    return labels[found[1]] if found else None


def name_of(instruction):
    return re.sub(r"^@!?U?P\w+\s+", "", instruction).split()[0]


def turn_of(instructions, labels, start):
    """What is executed from `start` until it is reached again, by name; nothing if it is not."""
    counts, at, voted = collections.Counter(), start, False
    while at < len(instructions) and sum(counts.values()) < 10000:
        instruction = instructions[at]
        name, to = name_of(instruction), target_of(instruction, labels)
        counts[name.split(".")[0]] += 1
        voted |= name.startswith("VOTE")
        at += 1
        if to == start:
            return counts
        if to is not None and to > at:
            # Somebody's (@P) is not taken after a vote, nobody's (@!P) is, and others are.
            # Where what is jumped over ends with a jump, its end is where two ways meet.
            two = instruction.startswith("@") and instructions[to - 1].startswith("BRA")
            end = target_of(instructions[to - 1], labels) if two else None
            if voted and instruction.startswith("@P"):
                pass
            elif end is None or end <= to or end - to < to - at:
                at = to
            voted = voted and not instruction.startswith("@")
    return collections.Counter()


def loop_of(instructions, labels):
    """A turn of the longest loop of those that have no other inside."""
    spans = [(to, at) for at, instruction in enumerate(instructions)
             if (to := target_of(instruction, labels)) is not None and to < at - 1]
    inner = {to for to, at in spans if not any(to <= first and last < at for first, last in spans)}
    return max((turn_of(instructions, labels, start) for start in inner), key=lambda turn: sum(turn.values()))


def machine_code(directory, *arguments):
    """What `eider build` makes of the arguments in the directory, its text among it, as nvdisasm prints it."""
    programs = pathlib.Path(os.environ.get("EIDER_BIN", pathlib.Path(__file__).resolve().parent.parent / "build/bin"))
    subprocess.run([programs / "eider", "build", *arguments, "--emit", "cubin,cu", "-o", directory, "--name", "k"], check=True,
                   stdout=subprocess.DEVNULL)
    return "".join(subprocess.run([os.environ.get("NVDISASM", "nvdisasm"), "-c", cubin], check=True, text=True,
                                  capture_output=True).stdout
                   for cubin in sorted(pathlib.Path(directory).glob("*.cubin")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=pathlib.Path, help="what is written")
    file = parser.parse_args().file
    target, cells = "sm_90a", []
    for op, arguments, kernel, elements in CELLS:
        with tempfile.TemporaryDirectory() as directory:
            text = machine_code(directory, op, *arguments, "--arch", target)
        turn = loop_of(*code_of(text, kernel))
        flags = {name[2:]: value for name, value in zip(arguments[::2], arguments[1::2]) if name != "--dim"}
        dims = (value.split("=") for name, value in zip(arguments[::2], arguments[1::2]) if name == "--dim")
        all_of, integers = sum(turn.values()), sum(turn[name] for name in OF_INTEGERS)
        common = {"op": op, "params": {"kernel": kernel, "schedule": "", **flags},
                  "shape": {name: int(value) for name, value in dims}}
        for metric, unit, value in (("loop_instructions", "instructions", all_of),
                                    ("instructions_per_element", "instructions", all_of / elements),
                                    ("integer_instructions_per_element", "instructions", integers / elements)):
            cells.append({**common, "metric": metric, "unit": unit, "value": value})
        print(f"{op:20} {' '.join(f'{name}={value}' for name, value in flags.items()):100.100} "
              f"{all_of:5} {all_of / elements:6.2f} {integers / elements:6.2f}")
    results = {"schema": 1, "bench": "instructions", "commit": os.environ.get("EIDER_COMMIT", "unknown"),
               "date": datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
               "machine": {"device": "none", "target": target}, "cells": cells}
    file.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
