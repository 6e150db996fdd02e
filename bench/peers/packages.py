# Part of Eider, under the Apache License v2.0.
"""Peers: for each, the calls of the ops that it has, or why it has none here."""
import importlib

import torch

import cases


def torch_compile():
    def compiled(function):
        return torch.compile(function, mode="max-autotune-no-cudagraphs", dynamic=False, fullgraph=True)
    return {op.key: compiled(op.reference) for op in cases.OPS if not {"weights", "cache", "prompt"} & set(op.label.split())}


def torch_of(weights):
    """PyTorch's own product, of weights that are not quantized; and its attention, of whatever back end it chooses."""
    def attend(q, k, v):
        return (torch.nn.functional.scaled_dot_product_attention(q, k, v),)
    return lambda: {f"gemv {weights} weights": lambda w, x: (w @ x,),
                    f"matmul_skinny {weights} weights": lambda w, x: (x @ w.T,),
                    f"scaled_matmul {weights} weights": lambda w, x: (x @ w.T,),
                    f"attention_prefill {weights} prompt": attend}


def torch_scaled():
    """PyTorch's product of codes, which is cuBLASLt's."""
    def call(w, w_scale, x, x_scale):
        return (torch._scaled_mm(x, w.T, scale_a=x_scale, scale_b=w_scale.T, out_dtype=torch.bfloat16),)
    return {"scaled_matmul rows of weights": call}


def attention_of(backend):
    """PyTorch's scaled_dot_product_attention by one of its back ends."""
    def load():
        attention = importlib.import_module("torch.nn.attention")
        chosen = getattr(attention.SDPBackend, backend)

        def call(q, k, v):
            with attention.sdpa_kernel(chosen):
                return (torch.nn.functional.scaled_dot_product_attention(q, k, v, enable_gqa=True),)

        def causal(q, k, v):
            with attention.sdpa_kernel(chosen):
                return (torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True),)
        return {"attention_decode bf16 cache": call, "attention_prefill bf16 causal prompt": causal}
    return load


def triton():
    return importlib.import_module("triton_kernels").CALLS


def torchao():
    kernels = importlib.import_module("torchao.prototype.blockwise_fp8_training.kernels")
    return {"quantize 1x128": kernels.triton_fp8_blockwise_act_quant_lhs}


def flashinfer():
    norm = importlib.import_module("flashinfer.norm")

    def rms_norm_static(x, weight, scale):
        y = torch.empty(x.shape, device=x.device, dtype=torch.float8_e4m3fn)
        norm.rmsnorm_quant(y, x, weight, scale, 1e-6)
        return (y,)
    return {"rms_norm_quant static": rms_norm_static}


def flag_gems():
    group = importlib.import_module("flag_gems").per_token_group_quant_fp8
    return {"quantize 1x128": lambda x: group(x, 128)}


PEERS = {"torch cudnn": attention_of("CUDNN_ATTENTION"), "torch flash": attention_of("FLASH_ATTENTION"),
         "torch bf16": torch_of("bf16"), "torch f32": torch_of("f32"), "torch scaled": torch_scaled, "torch.compile": torch_compile, "triton": triton,
         "torchao": torchao, "flashinfer": flashinfer, "flag-gems": flag_gems}


def available():
    """({peer: {key of an op: call}}, {peer: why it is absent}). Whatever goes wrong in a package is its absence."""
    present, absent = {}, {}
    for name, load in PEERS.items():
        try:
            present[name] = load()
        except Exception as error:  # noqa: BLE001
            absent[name] = first_line(error)
    return present, absent


def first_line(error):
    return f"{type(error).__name__}: {str(error).splitlines()[0] if str(error) else ''}"[:160]
