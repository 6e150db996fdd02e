#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Measures ops at widths of models on the first GPU, about 2^27 elements each, to find those that are slower than their neighbours.

    widths.py FILE [--only WORDS] [--widths 2880,5376] [--rounds 3]

FILE is of bench/README.md's schema; what is in it stays. A line for each program: the time at each width, times that of a memcpy of the
same bytes. EIDER_BIN of the environment says where the programs are. Exit status 1: something could not be measured.
"""
import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import join

MXFP8 = "--block 1x32 --scale e8m0 --mode mx"
MXFP4 = "--format e2m1 " + MXFP8
NVFP4 = "--format e2m1 --block 1x16 --scale e4m3"
DRAWN = "--set rounding=stochastic"
PROGRAMS = tuple(text.strip() for text in (
    *(f"quantize {how}" for how in ("", MXFP8, MXFP4, NVFP4, DRAWN, f"{NVFP4} {DRAWN}", "--amax yes")),
    *(f"rms_norm_quant {how}" for how in ("", MXFP8, NVFP4, DRAWN, "--block 1x*", "--codec software")),
    "add_rms_norm_quant", "layer_norm_quant", "softmax_quant", "silu_mul_quant", "gelu_quant", "requantize", "dequantize", "rms_norm",
    "layer_norm", "softmax", "cast_transpose --block 128x128"))
WIDTHS = "2560,2880,3584,4608,5376,7168,11008,13824,14336,18432,28672"
ELEMENTS, ROWS = 1 << 27, 128  # of a matrix; its rows are a multiple of so many


def measured(file, program, width, rounds):
    """Times a memcpy; or raises CalledProcessError."""
    elements = ELEMENTS // 2 if program.startswith("silu_mul") else ELEMENTS  # reads two of each
    tokens = elements // width // ROWS * ROWS
    with tempfile.TemporaryDirectory() as directory:
        own = pathlib.Path(directory) / "cell.json"
        subprocess.run([os.path.join(os.environ.get("EIDER_BIN", "build/bin"), "eider"), "bench", *program.split(), "--device", "cuda:0",
                        "--dim", f"hidden={width}", "--dim", f"tokens={tokens}", "--l2", "cold", "--rounds", str(rounds), "--json", own],
                       check=True, capture_output=True, text=True)
        document = json.loads(own.read_text())
    document["cells"] = [cell for cell in document["cells"] if cell["metric"] == "time"]
    known = json.loads(file.read_text()) if file.exists() else None
    file.write_text(json.dumps(join.join(known, document) if known else document, indent=1) + "\n")
    return document["cells"][0]["ratio"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", type=pathlib.Path)
    parser.add_argument("--only", default="", help="programs that have all of these words")
    parser.add_argument("--widths", default=WIDTHS)
    parser.add_argument("--rounds", type=int, default=3)
    request = parser.parse_args()
    has_failed = False
    for program in PROGRAMS:
        if not all(word in program.split() for word in request.only.split()):
            continue
        line = []
        for width in request.widths.split(","):
            try:
                line.append(f"{width}: {measured(request.file, program, int(width), request.rounds):.3f}")
            except subprocess.CalledProcessError as error:
                has_failed = True
                print(f"{program}, {width}: {(error.stderr.strip().splitlines() or ['?'])[-1]}", file=sys.stderr)
        print(f"{program:56} {'  '.join(line)}", flush=True)
    return 1 if has_failed else 0


if __name__ == "__main__":
    sys.exit(main())
