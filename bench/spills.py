#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Says which kernels keep registers in memory, by their machine code and without a GPU: where the heuristic bounds them too much.

    spills.py OP… --widths 5120,7168 [--arch sm_90a] [-- ARGUMENT…]

A line for each kernel that does, with its stores to and loads from such memory, and its schedule. ARGUMENTs are those of `eider build`
(--format e5m2); EIDER_BIN of the environment says where the programs are, NVDISASM where nvdisasm is. Exit status 1: there is such a kernel.
"""
import argparse
import pathlib
import re
import sys
import tempfile

from instructions import code_of, machine_code, name_of

LOCAL = ("STL", "LDL")


def spills_of(directory, *arguments):
    """Of each kernel that `eider build` makes: its name, how many instructions move spilled registers, and its schedule."""
    code = machine_code(directory, *arguments)
    texts = "".join(path.read_text() for path in sorted(pathlib.Path(directory).glob("*.cu")))
    schedules = {kernel: schedule for schedule, kernel in
                 re.findall(r"// schedule (.*>).*\nextern \"C\"[^{]*?(\w+)\(\n", texts)}
    for kernel in re.findall(r"\n\.text\.(\w+):", code):
        names = [name_of(instruction).split(".")[0] for instruction in code_of(code, kernel)[0]]
        yield kernel, sum(name in LOCAL for name in names), schedules.get(kernel, "")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("ops", nargs="+")
    parser.add_argument("--widths", default="2048,2560,2880,3072,3584,4096,4608,5120,5376,6144,7168,8192,11008,13824,16384,18432")
    parser.add_argument("--arch", default="sm_90a")
    own = sys.argv[1:]
    given = own[own.index("--") + 1:] if "--" in own else []
    request = parser.parse_args(own[:own.index("--")] if "--" in own else own)
    found = 0
    for op in request.ops:
        for width in request.widths.split(","):
            with tempfile.TemporaryDirectory() as directory:
                for kernel, count, schedule in spills_of(directory, op, "--dim", f"hidden={width}", "--arch", request.arch, *given):
                    if count:
                        found += 1
                        print(f"{width:>6} {count:4} {kernel:32} {schedule}", flush=True)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
