# Part of Eider, under the Apache License v2.0.
"""What each op gives, in plain PyTorch: compiled by torch.compile as a peer, and run as it is to check every peer.

A function takes the op's inputs and gives codes and scales; add_rms_norm_quant updates `residual`.
"""
import torch
import torch.nn.functional as F

E4M3_MAX = 448.0


def groups_of(x, width):
    """[m, n] as [m, ceil(n / width), width], with zeros at the end of a row."""
    rows, columns = x.shape
    if columns % width:
        x = F.pad(x, (0, width - columns % width))
    return x.view(rows, -1, width)


def quantize_blocks(x, width=128):
    rows, columns = x.shape
    groups = groups_of(x.float(), width)
    scale = groups.abs().amax(-1) / E4M3_MAX
    scale = torch.where(scale == 0, 1.0, scale)
    codes = (groups / scale[..., None]).to(torch.float8_e4m3fn).view(rows, -1)
    return (codes[:, :columns].contiguous() if codes.shape[1] != columns else codes), scale


def quantize_rows(x):
    x = x.float()
    scale = x.abs().amax(-1, keepdim=True) / E4M3_MAX
    scale = torch.where(scale == 0, 1.0, scale)
    return (x / scale).to(torch.float8_e4m3fn), scale


def quantize_static(x, scale):
    return ((x.float() / scale).clamp(-E4M3_MAX, E4M3_MAX).to(torch.float8_e4m3fn),)


def rms_norm(h, weight, eps=1e-6):
    return h * torch.rsqrt((h * h).mean(-1, keepdim=True) + eps) * weight.float()


def rms_norm_blocks(x, weight):
    return quantize_blocks(rms_norm(x.float(), weight))


def rms_norm_rows(x, weight):
    return quantize_rows(rms_norm(x.float(), weight))


def rms_norm_static(x, weight, scale):
    return quantize_static(rms_norm(x.float(), weight), scale)


def add_rms_norm_blocks(x, residual, weight):
    h = x.float() + residual.float()
    residual.copy_(h)
    return quantize_blocks(rms_norm(h, weight))


def silu_mul_blocks(x):
    gate, up = x.float().chunk(2, -1)
    return quantize_blocks(F.silu(gate) * up)


def dequantized(codes, scale):
    rows, columns = codes.shape
    width = columns if scale.shape[-1] == 1 else 128
    return (groups_of(codes.float(), width) * scale[..., None]).view(rows, -1)[:, :columns]
