# Part of Eider, under the Apache License v2.0.
"""Installs the build under a prefix, moves it, and builds and runs the samples against it."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

BUILD, SOURCE, CMAKE = (os.environ[name] for name in ("EIDER_BUILD", "EIDER_SOURCE", "CMAKE"))
TUTORIAL = pathlib.Path(SOURCE) / "docs/tutorial"
NO_DRIVER = {"EIDER_CUDA_DRIVER": "/nonexistent"}
TUNES = """
#include "eider/tune.h"
#include <cstdio>

int main() try {
  const auto program = eider::libraryOp("quantize", {.block = "1x128"});
  eider::TuneOptions options;
  options.candidates = 2;
  options.seconds = 60;
  const auto result =
      eider::tune(program, eider::Device::open("host"), {{"tokens", 4}, {"hidden", 256}}, options);
  if (result.fromRecord)
    std::printf("known %s\\n", result.schedule.c_str());
  else
    std::printf("measured %zu %s\\n", result.candidates.size(), result.schedule.c_str());
} catch (const eider::Error &error) {
  std::fprintf(stderr, "%s\\n", error.what());
  return 3;
}
"""


class Package(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        temporary = tempfile.TemporaryDirectory(prefix="eider-install-")
        cls.addClassCleanup(temporary.cleanup)
        cls.directory = pathlib.Path(temporary.name)
        cls.environment = {**os.environ, "EIDER_CACHE_DIR": str(cls.directory / "cache")}
        cls.environment.pop("LD_LIBRARY_PATH", None)
        cls.run_ok(CMAKE, "--install", BUILD, "--prefix", cls.directory / "first")
        cls.prefix = cls.directory / "moved"
        shutil.move(cls.directory / "first", cls.prefix)

    @classmethod
    def process(cls, *command, **environment):
        return subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              env={**cls.environment, **environment}, cwd=cls.directory)

    @classmethod
    def run_ok(cls, *command, **environment):
        process = cls.process(*command, **environment)
        assert process.returncode == 0, f"{command}: {process.stdout}{process.stderr}"
        return process.stdout

    def built(self, source, name):
        """The build directory of a project that uses the package."""
        build = self.directory / name
        self.run_ok(CMAKE, "-S", source, "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Debug",
                    f"-DCMAKE_PREFIX_PATH={self.prefix}")
        self.run_ok(CMAKE, "--build", build)
        return build

    def project(self, text, name="project", **files):
        directory = self.directory / name
        directory.mkdir(exist_ok=True)
        lists = "cmake_minimum_required(VERSION 3.25)\nproject(P LANGUAGES C CXX)\nfind_package(Eider REQUIRED)\n"
        (directory / "CMakeLists.txt").write_text(lists + text)
        for file, content in files.items():
            (directory / file.replace("_cpp", ".cpp")).write_text(content)
        return directory

    def libraries(self, program):
        return self.run_ok("ldd", program)

    def test_a_kernel_is_compiled_as_the_program_runs(self):
        sample = self.built(TUTORIAL / "jit", "jit") / "jit-sample"
        output = self.run_ok(sample, "host")
        self.assertIn("y: 0 of 51200 differ from the reference", output)
        self.assertIn("bias_relu_quant on host (few_rows)", output)
        process = self.process(sample, "cuda", **NO_DRIVER)
        self.assertEqual((process.returncode, process.stdout), (2, ""))
        self.assertIn("/nonexistent", process.stderr)

    def test_a_kernel_is_compiled_before(self):
        sample = self.built(TUTORIAL / "offline", "offline") / "offline-sample"
        for name in ("eider", "cuda", "LLVM", "stdc++"):
            self.assertNotIn(name, self.libraries(sample))
        process = self.process(sample, **NO_DRIVER)
        self.assertEqual((process.returncode, process.stdout), (3, ""))
        self.assertEqual(process.stderr, "offline-sample: loading: no NVIDIA driver: libcuda.so.1, or what "
                                         "EIDER_CUDA_DRIVER names, cannot be opened\n")

    def test_the_runtime_alone_needs_no_compiler(self):
        source = self.project(
            "add_executable(p main.cpp)\ntarget_link_libraries(p PRIVATE Eider::runtime)\n", "runtime",
            main_cpp='#include "eider/runtime.h"\n#include <cstdio>\n'
                     'int main() { std::puts(eider::Device::open("host").info().id.c_str()); }\n')
        program = self.built(source, "runtime-build") / "p"
        self.assertEqual(self.run_ok(program), "host\n")
        libraries = self.libraries(program)
        self.assertIn("libeider_runtime.so", libraries)
        for name in ("compiler", "LLVM", "MLIR", "cuda"):
            self.assertNotIn(name, libraries)

    def test_the_compiler_alone_gives_text(self):
        source = self.project(
            "add_executable(p main.cpp)\ntarget_link_libraries(p PRIVATE Eider::compiler)\n", "compiler",
            main_cpp='#include "eider/compile.h"\n#include <cstdio>\n'
                     'int main() { std::puts(eider::emit(eider::libraryOp("quantize", {}), '
                     '{.target = "sm_90", .dims = {{"hidden", 256}}}, eider::Stage::Cuda).c_str()); }\n')
        self.assertIn('extern "C" __global__', self.run_ok(self.built(source, "compiler-build") / "p"))

    def test_a_program_tunes_with_the_installed_worker(self):
        source = self.project("add_executable(p main.cpp)\ntarget_link_libraries(p PRIVATE Eider::eider)\n", "tune",
                              main_cpp=TUNES)
        program = self.built(source, "tune-build") / "p"
        environment = {"EIDER_CACHE_DIR": str(self.directory / "tuned")}
        self.assertRegex(self.run_ok(program, **environment), r"^measured 2 map<.*>\n$")
        self.assertRegex(self.run_ok(program, **environment), r"^known map<.*>\n$")
        worker = self.prefix / "bin/eider-worker"
        (self.prefix / "elsewhere").mkdir()
        hidden = worker.rename(self.prefix / "elsewhere/eider-worker")
        self.addCleanup(hidden.rename, worker)
        process = self.process(program, EIDER_CACHE_DIR=str(self.directory / "untuned"))
        self.assertEqual((process.returncode, process.stdout), (3, ""))
        self.assertEqual(process.stderr, "tune: the program eider-worker, which measures, is not found; put it beside "
                                         "eider, or set EIDER_WORKER to its path\n")
        self.assertRegex(self.run_ok(program, EIDER_CACHE_DIR=str(self.directory / "untuned"), EIDER_WORKER=str(hidden)),
                         "^measured 2 ")

    def test_nothing_installed_names_the_build_or_the_prefix(self):
        for path in self.prefix.rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                for place in (BUILD, SOURCE, str(self.directory)):
                    self.assertNotIn(place.encode(), content, path)

    def test_libraries_export_the_interface_alone(self):
        for name in ("libeider.so", "libeider_runtime.so", "libeider_compiler.so"):
            symbols = self.run_ok("nm", "-D", "-C", "--defined-only", self.prefix / "lib" / name)
            for line in symbols.splitlines():
                self.assertRegex(line, r"eider::|\bstd::|__gnu|__emutls|typeinfo|vtable", f"{name}: {line}")

    def test_installed_programs_run(self):
        self.assertRegex(self.run_ok(self.prefix / "bin/eider", "--version"), r"^eider \d+\.\d+\.\d+\n$")
        self.run_ok(self.prefix / "bin/eider-opt", "--version")

    def test_two_ops_of_one_file_under_names_of_ones_own(self):
        source = self.project("eider_add_kernels(kernels OPS quantize quantize NAMES rows blocks ARCHS sm_90 "
                              "PARAMS --dim hidden=256 EMIT fatbin cu)\n"
                              "add_executable(p main.cpp)\ntarget_link_libraries(p PRIVATE kernels)\n", "names",
                              main_cpp='#include "rows.h"\n#include "blocks.h"\n'
                                       "int main() { return rows_load() == blocks_load() ? 0 : 1; }\n")
        build = self.built(source, "names-build")
        self.run_ok(build / "p", **NO_DRIVER)
        self.assertTrue((build / "kernels.eider/rows.fatbin").exists())

    def test_wrong_calls_are_named(self):
        for call, words in {"eider_add_kernels(k OPS quantize)": "eider_add_kernels(k): give ARCHS",
                            "eider_add_kernels(k OPS quantize ARCHS sm_90 NAMES a b)": "2 NAMES for 1 OPS",
                            "eider_add_kernels(k x OPS quantize ARCHS sm_90)": "unknown argument x"}.items():
            process = self.process(CMAKE, "-S", self.project(call + "\n", "wrong"), "-B", self.directory / "wrong-build",
                                   "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={self.prefix}")
            self.assertNotEqual(process.returncode, 0)
            self.assertIn(words, re.sub(r"\s+", " ", process.stderr))


if __name__ == "__main__":
    unittest.main()
