# Part of Eider, under the Apache License v2.0.
"""What the libraries export, what the programs load, and what all of it weighs."""

import os
import pathlib
import re
import subprocess
import unittest

BUILD = pathlib.Path(os.environ["EIDER_BUILD"])
LIBRARY = BUILD / "lib" / "libeider_compiler.so"

# Instantiations of the standard library are weak: the loader merges them, whoever they come from.
WEAK = {"V", "W", "u"}


def output_of(*arguments):
    return subprocess.run(list(map(str, arguments)), check=True, capture_output=True, text=True).stdout


def exported():
    """(kind, demangled name) of every symbol that the compiler's library defines for others."""
    lines = output_of("nm", "-D", "--defined-only", "-C", LIBRARY).splitlines()
    return [tuple(line.split(" ", 2)[1:]) for line in lines]


def needed(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "-d", path))


def programs():
    return [path for path in (BUILD / "bin").iterdir() if path.is_file() and path.read_bytes()[:4] == b"\x7fELF"]


class Exports(unittest.TestCase):
    def test_public_api_is_exported(self):
        names = [name for _, name in exported()]
        for function in ("compile", "emit", "explain", "parseProgram", "targets", "libraryOps", "libraryOp",
                         "interpret", "compare"):
            self.assertTrue(any(re.match(rf"eider::{function}(\[abi:cxx11\])?\(", name) for name in names), function)

    def test_nothing_of_llvm(self):
        self.assertEqual([name for _, name in exported() if "llvm::" in name or "mlir::" in name], [])

    def test_eider_and_weak_standard_library_alone(self):
        ours = re.compile(r"((vtable|typeinfo|typeinfo name|VTT|guard variable) for )?eider::")
        standard = re.compile(r"((vtable|typeinfo|typeinfo name|guard variable) for )?([\w:<>, *&]+ )?(std|__gnu_cxx)::")
        strange = [(kind, name) for kind, name in exported()
                   if not ours.match(name) and not (kind in WEAK and standard.match(name))]
        self.assertEqual(strange, [])


class Dependences(unittest.TestCase):
    def test_no_llvm_library(self):
        for path in [LIBRARY, *programs()]:
            with self.subTest(path.name):
                for library in needed(path):
                    self.assertNotRegex(library, r"(?i)llvm|mlir")

    def test_no_cuda_library(self):
        for path in [LIBRARY, *programs()]:
            with self.subTest(path.name):
                for library in needed(path):
                    self.assertNotRegex(library, r"libcuda|libnvrtc|libcudart")

    def test_the_program_loads_ours_and_the_system_s_alone(self):
        allowed = {"libeider_compiler.so", "libstdc++.so.6", "libm.so.6", "libgcc_s.so.1", "libc.so.6",
                   "ld-linux-x86-64.so.2"}
        self.assertEqual(set(needed(BUILD / "bin" / "eider")) - allowed, set())

    def test_run_path_is_relative(self):
        paths = re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.*)\]", output_of("readelf", "-d", BUILD / "bin" / "eider"))
        # CMake pads with colons what installing replaces.
        self.assertEqual([path.rstrip(":") for path in paths], ["$ORIGIN/../lib"])


class Weight(unittest.TestCase):
    def test_what_travels_to_a_gpu_machine_is_under_60_megabytes(self):
        names = "bin/eider bin/eider-worker bin/eider-demo bin/gpu-* bin/matrix bin/bench-latency lib/*.so"
        files = [p for name in names.split() for p in BUILD.glob(name) if not p.is_symlink()]
        sizes = sorted(((p.stat().st_size, p.name) for p in files), reverse=True)
        self.assertGreater(len(sizes), 10)
        self.assertLess(sum(size for size, _ in sizes), 60_000_000, sizes[:10])


if __name__ == "__main__":
    unittest.main()
