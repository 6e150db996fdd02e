# Part of Eider, under the Apache License v2.0.
"""The ops in Triton, as its users write them: one kernel an op, tuned over block sizes and warps."""
import torch
import triton
import triton.language as tl

E4M3_MAX = tl.constexpr(448.0)


def tile_configs():
    return [triton.Config({"GROUPS": groups}, num_warps=warps)
            for groups in (1, 2, 4, 8, 16, 32) for warps in (1, 2, 4, 8)]


def flat_configs():
    return [triton.Config({"BLOCK": block}, num_warps=warps)
            for block in (512, 1024, 2048, 4096, 8192) for warps in (2, 4, 8, 16)]


def row_configs():
    return [triton.Config({}, num_warps=warps) for warps in (2, 4, 8, 16, 32)]


def tuned(configs, key, **options):
    """triton.autotune, with less time for each configuration than its own 125 ms."""
    def bench(call, quantiles):
        return triton.testing.do_bench(call, warmup=5, rep=20, quantiles=quantiles)
    return triton.autotune(configs, key=key, do_bench=bench, **options)


@triton.jit
def scale_of(amax):
    scale = amax / E4M3_MAX
    return tl.where(scale == 0.0, 1.0, scale)


@tuned(tile_configs(), key=["tokens", "hidden"])
@triton.jit
def quantize_blocks_kernel(x, y, y_scale, tokens, hidden, GROUPS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    columns = group[:, None] * 128 + tl.arange(0, 128)[None, :]
    inside = columns < hidden
    value = tl.load(x + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    scale = scale_of(tl.max(tl.abs(value), axis=1))
    tl.store(y + row * hidden + columns, (value / scale[:, None]).to(tl.float8e4nv), mask=inside)
    count = tl.cdiv(hidden, 128)
    tl.store(y_scale + row * count + group, scale, mask=group < count)


@tuned(tile_configs(), key=["tokens", "hidden"])
@triton.jit
def silu_mul_blocks_kernel(x, y, y_scale, tokens, hidden, GROUPS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    columns = group[:, None] * 128 + tl.arange(0, 128)[None, :]
    inside = columns < hidden
    gate = tl.load(x + row * 2 * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    up = tl.load(x + row * 2 * hidden + hidden + columns, mask=inside, other=0.0).to(tl.float32)
    value = gate * tl.sigmoid(gate) * up
    scale = scale_of(tl.max(tl.abs(value), axis=1))
    tl.store(y + row * hidden + columns, (value / scale[:, None]).to(tl.float8e4nv), mask=inside)
    count = tl.cdiv(hidden, 128)
    tl.store(y_scale + row * count + group, scale, mask=group < count)


@tuned(flat_configs(), key=["elements"])
@triton.jit
def quantize_static_kernel(x, scale, y, elements, BLOCK: tl.constexpr):
    at = tl.program_id(0).to(tl.int64) * BLOCK + tl.arange(0, BLOCK)
    inside = at < elements
    value = tl.load(x + at, mask=inside, other=0.0).to(tl.float32) / tl.load(scale)
    value = tl.minimum(tl.maximum(value, -E4M3_MAX), E4M3_MAX)
    tl.store(y + at, value.to(tl.float8e4nv), mask=inside)


@triton.jit
def store_row(value, scale, y, y_scale, row, columns, inside, hidden, MODE: tl.constexpr, BLOCK: tl.constexpr):
    """MODE: 0 a scale a row, 1 a scale each 128, 2 a given scale."""
    if MODE == 0:
        own = scale_of(tl.max(tl.abs(value), axis=0))
        tl.store(y_scale + row, own)
        codes = value / own
    elif MODE == 1:
        groups = tl.reshape(value, (BLOCK // 128, 128))
        own = scale_of(tl.max(tl.abs(groups), axis=1))
        count = tl.cdiv(hidden, 128)
        group = tl.arange(0, BLOCK // 128)
        tl.store(y_scale + row * count + group, own, mask=group < count)
        codes = tl.reshape(groups / own[:, None], (BLOCK,))
    else:
        codes = tl.minimum(tl.maximum(value / tl.load(scale), -E4M3_MAX), E4M3_MAX)
    tl.store(y + row * hidden + columns, codes.to(tl.float8e4nv), mask=inside)


@tuned(row_configs(), key=["tokens", "hidden", "MODE", "NORM"])
@triton.jit
def row_kernel(x, weight, scale, y, y_scale, tokens, hidden, eps, MODE: tl.constexpr, NORM: tl.constexpr,
               BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < hidden
    value = tl.load(x + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    if NORM:
        mean_square = tl.sum(value * value, axis=0) / hidden
        value = value * tl.rsqrt(mean_square + eps) * tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
    store_row(value, scale, y, y_scale, row, columns, inside, hidden, MODE, BLOCK)


@tuned(row_configs(), key=["tokens", "hidden"], restore_value=["residual"])
@triton.jit
def add_rms_norm_kernel(x, residual, weight, y, y_scale, tokens, hidden, eps, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < hidden
    h = tl.load(x + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    h += tl.load(residual + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    tl.store(residual + row * hidden + columns, h.to(tl.bfloat16), mask=inside)
    mean_square = tl.sum(h * h, axis=0) / hidden
    value = h * tl.rsqrt(mean_square + eps) * tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
    store_row(value, y_scale, y, y_scale, row, columns, inside, hidden, 1, BLOCK)


def codes_for(tokens, hidden, x):
    return torch.empty(tokens, hidden, device=x.device, dtype=torch.float8_e4m3fn)


def scales_for(tokens, count, x):
    return torch.empty(tokens, count, device=x.device, dtype=torch.float32)


def tiles(kernel, x, hidden):
    tokens = x.shape[0]
    y, scale = codes_for(tokens, hidden, x), scales_for(tokens, triton.cdiv(hidden, 128), x)
    kernel[lambda config: (tokens, triton.cdiv(hidden, 128 * config["GROUPS"]))](x, y, scale, tokens, hidden)
    return y, scale


def quantize_blocks(x):
    return tiles(quantize_blocks_kernel, x, x.shape[1])


def silu_mul_blocks(x):
    return tiles(silu_mul_blocks_kernel, x, x.shape[1] // 2)


def quantize_static(x, scale):
    y = codes_for(*x.shape, x)
    quantize_static_kernel[lambda config: (triton.cdiv(x.numel(), config["BLOCK"]),)](x, scale, y, x.numel())
    return (y,)


def rows(x, weight, given, mode, norm):
    tokens, hidden = x.shape
    y = codes_for(tokens, hidden, x)
    scale = scales_for(tokens, triton.cdiv(hidden, 128) if mode == 1 else 1, x)
    # Pointers that a mode does not read are any tensor's.
    row_kernel[(tokens,)](x, x if weight is None else weight, scale if given is None else given, y, scale, tokens,
                          hidden, 1e-6, MODE=mode, NORM=norm, BLOCK=max(triton.next_power_of_2(hidden), 128))
    return (y, scale) if given is None else (y,)


def quantize_rows(x):
    return rows(x, None, None, 0, False)


def rms_norm_rows(x, weight):
    return rows(x, weight, None, 0, True)


def rms_norm_blocks(x, weight):
    return rows(x, weight, None, 1, True)


def rms_norm_static(x, weight, scale):
    return rows(x, weight, scale, 2, True)


def add_rms_norm_blocks(x, residual, weight):
    tokens, hidden = x.shape
    y, scale = codes_for(tokens, hidden, x), scales_for(tokens, triton.cdiv(hidden, 128), x)
    add_rms_norm_kernel[(tokens,)](x, residual, weight, y, scale, tokens, hidden, 1e-6,
                                   BLOCK=max(triton.next_power_of_2(hidden), 128))
    return y, scale


CALLS = {"quantize static": quantize_static, "quantize 1x128": quantize_blocks, "quantize 1x*": quantize_rows,
         "rms_norm_quant 1x128": rms_norm_blocks, "rms_norm_quant 1x*": rms_norm_rows,
         "rms_norm_quant static": rms_norm_static, "add_rms_norm_quant 1x128": add_rms_norm_blocks,
         "silu_mul_quant 1x128": silu_mul_blocks}
