# Part of Eider, under the Apache License v2.0.
"""Our kernels as a peer's process calls them: built by `eider build`, launched in turn with the peer's.

EIDER_BIN is where `eider` is (build/bin); a C compiler (CC, cc, gcc or clang) makes what it writes a library.
"""
import concurrent.futures
import ctypes
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import torch

import cases

ROOT = pathlib.Path(__file__).resolve().parents[2]
C_TYPES = {"float": ctypes.c_float, "int64_t": ctypes.c_int64}


def run(*command):
    """Raises RuntimeError with the last line that the command said."""
    child = subprocess.run(command, capture_output=True, text=True)
    if child.returncode:
        raise RuntimeError((child.stderr.strip().splitlines() or [f"{command[0]}: exit status {child.returncode}"])[-1])


def compiler():
    for name in (os.environ.get("CC"), "cc", "gcc", "clang"):
        if name and shutil.which(name):
            return name
    raise RuntimeError("no C compiler")


def build(op, hidden, target, schedule=""):
    """One op of one width as a library: the text of its header, and a directory that holds own.so. Raises RuntimeError where
    it cannot be built."""
    arguments = ["--dim", f"{op.names[1]}={hidden}"]
    for name, extent in op.others.items():
        arguments += ["--dim", f"{name}={extent}"]
    for name, value in op.params.items():
        arguments += ["--set", f"{name[4:]}={value}"] if name.startswith("set ") else ["--" + name.replace("_", "-"), str(value)]
    if schedule:
        arguments += ["--schedule", schedule]
    directory = tempfile.TemporaryDirectory(prefix="eider-own-")
    path = pathlib.Path(directory.name)
    binary = os.path.join(os.environ.get("EIDER_BIN", ROOT / "build/bin"), "eider")
    run(binary, "build", op.name, *arguments, "--arch", target, "--emit", "header", "--name", "own", "-o", directory.name)
    run(compiler(), "-shared", "-fPIC", "-O1", str(path / "own.c"), "-o", str(path / "own.so"), "-ldl")
    return (path / "own.h").read_text(), directory


class Kernel:
    """What was built, of any number of rows. Raises RuntimeError where it cannot be loaded."""

    def __init__(self, header, directory):
        self.read_header(header)
        with directory:
            self.library = ctypes.CDLL(os.path.join(directory.name, "own.so"))
        self.library.own_workspace_bytes.restype = ctypes.c_int64
        if status := self.library.own_load():
            raise RuntimeError(f"our kernel was not loaded: status {status}")

    def read_header(self, text):
        tensors = re.findall(r"^ \*   (read|updated|written) +(\w+) ", text, re.MULTILINE)
        self.inputs = [name for how, name in tensors if how != "written"]
        self.outputs = [name for how, name in tensors if how == "written"]
        self.defaults = {name.lower(): float(value) for name, value in re.findall(r"^#define OWN_(\w+)_DEFAULT (\S+?)f$", text, re.MULTILINE)}
        prototype = re.search(r"^int own_launch\((.*?)\);", text, re.MULTILINE | re.DOTALL).group(1)
        words = [parameter.split() for parameter in prototype.split(",")]
        self.parameters = [(words[-1].lstrip("*"), "*" in words[-1], words[-2]) for words in words]
        extents = re.search(r"own_workspace_bytes\((.*?)\);", text, re.DOTALL).group(1)
        self.extents = [parameter.split()[-1] for parameter in extents.split(",") if parameter.strip() != "void"]

    def call(self, op, tokens, hidden):
        """What a peer's call is: of inputs as `op` has them, gives its results."""
        dims = op.dims(tokens, hidden)
        if len(self.inputs) != len(op.inputs) or len(self.outputs) != len(op.results):
            raise RuntimeError("our kernel has other tensors than the peer")
        results = [cases.RESULTS[name] for name in op.results]
        extents = [ctypes.c_int64(dims[name]) for name in self.extents]
        room = self.library.own_workspace_bytes(*extents)
        workspace = torch.empty(max(room, 1), device=cases.DEVICE, dtype=torch.uint8)

        def value(name, is_pointer, kind, tensors):
            if name == "stream":
                return ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
            if name == "workspace":
                return ctypes.c_void_p(workspace.data_ptr())
            if is_pointer:
                return ctypes.c_void_p(tensors[name].data_ptr())
            if name.endswith("_stride"):
                return ctypes.c_int64(tensors[name.removesuffix("_stride")].stride(0))
            return C_TYPES[kind](dims[name] if name in dims else self.defaults[name])

        def launch(*inputs):
            outputs = [torch.empty(result.shape(dims), device=cases.DEVICE, dtype=result.dtype) for result in results]
            tensors = dict(zip(self.inputs + self.outputs, [*inputs, *outputs]))
            status = self.library.own_launch(*(value(*parameter, tensors) for parameter in self.parameters))
            if status:
                raise RuntimeError(f"our kernel was not launched: status {status}")
            return outputs
        return launch


class Kernels:
    """Those of one target. What was asked for is built beside each other, ahead of its call."""

    def __init__(self, target):
        self.target, self.asked, self.loaded = target, {}, {}
        self.builders = concurrent.futures.ThreadPoolExecutor(os.cpu_count())

    def ask(self, op, hidden, schedule=""):
        key = (op.key, str(op.others), hidden, schedule)
        if key not in self.asked:
            self.asked[key] = self.builders.submit(build, op, hidden, self.target, schedule)
        return key

    def wait(self, seconds):
        """Until what was asked for is built, or is known to fail; what is not begun by then will not be."""
        for late in concurrent.futures.wait(self.asked.values(), seconds).not_done:
            late.cancel()

    def kernel(self, key):
        if key not in self.loaded:
            try:
                self.loaded[key] = Kernel(*self.asked[key].result())
            except Exception as error:  # noqa: BLE001: said again to each who calls it
                self.loaded[key] = error
        if isinstance(self.loaded[key], Exception):
            raise self.loaded[key]
        return self.loaded[key]

    def call(self, op, tokens, hidden, schedule=""):
        """By a schedule, else the heuristic's. Raises RuntimeError where there is no such kernel."""
        return self.kernel(self.ask(op, hidden, schedule)).call(op, tokens, hidden)
