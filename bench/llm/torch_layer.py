#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""The decode layer of bench/llm in PyTorch, in BF16: as it is written, and by torch.compile; each as one CUDA graph.

    bench/llm/torch_layer.py --json FILE    adds its cells to FILE, which bench-llm wrote on the same machine

Attention is scaled_dot_product_attention by the back end that is faster (cuDNN or flash) over caches that lie together, the
new token's keys and values included; weights are as bench-llm's, products by cuBLAS.
"""
import argparse
import json
import pathlib
import statistics

import torch
from torch.nn.attention import SDPBackend, sdpa_kernel

MODELS = {"llama-8b": (4096, 32, 8, 128, 14336, 32), "llama-70b": (8192, 64, 8, 128, 28672, 80)}
STEPS, EPSILON = 4, 1e-6


class Layer:
    def __init__(self, model, sequences, context, backend):
        self.hidden, self.heads, self.kv_heads, self.d, self.ffn, _ = MODELS[model]
        self.backend = backend

        def make(*shape, by=1.0):
            return torch.randn(*shape, device="cuda", dtype=torch.bfloat16) * by

        queries, keys = self.heads * self.d, self.kv_heads * self.d
        self.qkv = make(queries + 2 * keys, self.hidden, by=0.02)
        self.o = make(self.hidden, queries, by=0.02)
        self.gate_up = make(2 * self.ffn, self.hidden, by=0.02)
        self.down = make(self.hidden, self.ffn, by=0.02)
        self.norm1, self.norm2, self.q_norm, self.k_norm = (make(n) for n in (self.hidden, self.hidden, self.d, self.d))
        self.cos, self.sin = make(sequences, 1, self.d // 2), make(sequences, 1, self.d // 2)
        self.k_cache, self.v_cache = (make(sequences, self.kv_heads, context, self.d) for _ in range(2))
        self.x, self.residual = make(sequences, self.hidden), make(sequences, self.hidden)
        self.last = torch.full((sequences,), context - 1, device="cuda")
        self.rows = torch.arange(sequences, device="cuda")
        self.bytes = sum(tensor.nbytes for tensor in (self.qkv, self.o, self.gate_up, self.down, self.k_cache, self.v_cache))

    def norm(self, x, weight):
        return torch.nn.functional.rms_norm(x, x.shape[-1:], weight, EPSILON)

    def turn(self, x):
        first, second = x.chunk(2, -1)
        return torch.cat((first * self.cos - second * self.sin, second * self.cos + first * self.sin), -1)

    def step(self, x, residual):
        residual = x + residual
        qkv = self.norm(residual, self.norm1) @ self.qkv.T
        q, k, v = qkv.split((self.heads * self.d, self.kv_heads * self.d, self.kv_heads * self.d), -1)
        heads = (x.shape[0], -1, self.d)
        q = self.turn(self.norm(q.reshape(heads), self.q_norm))
        k = self.turn(self.norm(k.reshape(heads), self.k_norm))
        self.k_cache[self.rows, :, self.last] = k
        self.v_cache[self.rows, :, self.last] = v.reshape(heads)
        with sdpa_kernel(self.backend):
            attended = torch.nn.functional.scaled_dot_product_attention(q.unsqueeze(2), self.k_cache, self.v_cache, enable_gqa=True)
        residual = attended.reshape(x.shape[0], -1) @ self.o.T + residual
        gate, up = (self.norm(residual, self.norm2) @ self.gate_up.T).chunk(2, -1)
        return (torch.nn.functional.silu(gate) * up) @ self.down.T, residual


def microseconds(function, rounds):
    """Of a step: medians of rounds of STEPS, replayed as one CUDA graph."""
    torch.cuda.synchronize()  # what it reads is there
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        for _ in range(3):
            function()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        for _ in range(STEPS):
            function()
    times = []
    for i in range(rounds + 2):
        start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        graph.replay()  # keeps the GPU busy while the next is on its way
        start.record()
        graph.replay()
        end.record()
        end.synchronize()
        if i >= 2:
            times.append(1000 * start.elapsed_time(end) / STEPS)
    return statistics.median(times)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", required=True, help="a file that bench-llm wrote; its shapes are measured")
    parser.add_argument("--rounds", type=int, default=20)
    arguments = parser.parse_args()
    path = pathlib.Path(arguments.json)
    document = json.loads(path.read_text())
    document["cells"] = [cell for cell in document["cells"] if "by" not in cell["params"]]
    wanted = []  # of both kinds of activations once
    for cell in document["cells"]:
        one = (cell["params"]["model"], cell["shape"])
        if cell["metric"] == "time" and one not in wanted:
            wanted.append(one)
    document["absent"] = {}
    document.setdefault("versions", {})["torch"] = torch.__version__
    for model, shape in wanted:
        for name in ("torch bf16", "torch.compile bf16"):
            best = None
            for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION):
                torch._dynamo.reset()
                layer = Layer(model, shape["sequences"], shape["context"], backend)
                step = torch.compile(layer.step, dynamic=False) if "compile" in name else layer.step
                try:
                    with torch.no_grad():
                        time = microseconds(lambda: step(layer.x, layer.residual), arguments.rounds)
                except Exception as error:  # a back end that refuses, or memory
                    print(f"{name} {model} {shape} {backend}: {str(error).splitlines()[0][:120]}")
                    continue
                finally:
                    moved = layer.bytes
                    del layer, step
                    torch.cuda.empty_cache()
                best = time if best is None else min(best, time)
            if best is None:
                document["absent"][f"{name} {model} {shape}"] = "no back end ran it"
                path.write_text(json.dumps(document, indent=1) + "\n")
                continue
            print(f"{name:20s} {model:10s} {shape['sequences']:3d} sequences of {shape['context']:6d} {best:9.1f} us", flush=True)
            one = {"op": "decode_layer", "params": {"model": model, "dtype": "bf16", "by": name}, "shape": shape}
            tokens = 1e6 * shape["sequences"] / (best * MODELS[model][-1])
            document["cells"] += [one | {"metric": "time", "unit": "us", "value": best, "bytes": moved},
                                  one | {"metric": "tokens_per_second", "unit": "tokens", "value": tokens}]
            path.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
