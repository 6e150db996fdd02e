# Part of Eider, under the Apache License v2.0.
"""The first call of an op at a shape, in a process of its own whose CUDA context is up, with empty caches.

    jit.py PEER KEY TOKENS HIDDEN     prints milliseconds; the cache directories are those of the environment
"""
import os
import subprocess
import sys
import tempfile
import time


def first_call(peer, key, tokens, hidden):
    import torch

    import cases
    import packages
    op = next(op for op in cases.OPS if op.key == key)
    inputs = op.make_inputs(tokens, hidden)
    torch.cuda.synchronize()
    call = packages.PEERS[peer]()[key]
    if peer == "triton":
        use_one_config(key)
    start = time.perf_counter()
    call(*inputs)
    torch.cuda.synchronize()
    return 1000 * (time.perf_counter() - start)


def use_one_config(key):
    """Compiling is timed, not tuning: one configuration of each kernel."""
    import triton
    import triton_kernels
    for kernel in vars(triton_kernels).values():
        if isinstance(kernel, triton.runtime.Autotuner):
            kernel.configs = kernel.configs[len(kernel.configs) // 2:][:1]


def measure(peer, key, tokens, hidden, starts):
    """Milliseconds of each start. Raises RuntimeError with the child's last line."""
    times = []
    for _ in range(starts):
        with tempfile.TemporaryDirectory(prefix="eider-peer-") as directory:
            environment = {**os.environ, "TRITON_CACHE_DIR": f"{directory}/triton",
                           "TORCHINDUCTOR_CACHE_DIR": f"{directory}/inductor", "TORCHINDUCTOR_FX_GRAPH_CACHE": "0"}
            child = subprocess.run([sys.executable, __file__, peer, key, str(tokens), str(hidden)], env=environment,
                                   capture_output=True, text=True, timeout=300)
        if child.returncode:
            raise RuntimeError((child.stderr.strip().splitlines() or ["no output"])[-1])
        times.append(float(child.stdout.split()[-1]))
    return times


if __name__ == "__main__":
    print(first_call(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
