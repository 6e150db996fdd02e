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


@tuned(row_configs(), key=["tokens", "hidden"])
@triton.jit
def softmax_kernel(x, y, tokens, hidden, CAUSAL: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    seen = columns < hidden
    if CAUSAL:
        seen = seen & (columns <= row + (hidden - tokens))
    value = tl.load(x + row * hidden + columns, mask=seen, other=float("-inf")).to(tl.float32)
    largest = tl.max(value, axis=0)
    largest = tl.where(largest == float("-inf"), 0.0, largest)  # of a row that sees nothing
    power = tl.where(seen, tl.exp(value - largest), 0.0)
    total = tl.sum(power, axis=0)
    share = tl.where(total == 0.0, 0.0, 1.0 / total)
    tl.store(y + row * hidden + columns, (power * share).to(tl.bfloat16), mask=columns < hidden)


@tuned(row_configs(), key=["tokens", "hidden"])
@triton.jit
def layer_norm_kernel(x, weight, bias, y, y_scale, tokens, hidden, eps, QUANTIZES: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    columns = tl.arange(0, BLOCK)
    inside = columns < hidden
    value = tl.load(x + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    mean = tl.sum(value, axis=0) / hidden
    centred = tl.where(inside, value - mean, 0.0)
    variance = tl.sum(centred * centred, axis=0) / hidden
    value = centred * tl.rsqrt(variance + eps) * tl.load(weight + columns, mask=inside, other=0.0).to(tl.float32)
    value += tl.load(bias + columns, mask=inside, other=0.0).to(tl.float32)
    if QUANTIZES:
        store_row(value, y_scale, y, y_scale, row, columns, inside, hidden, 1, BLOCK)
    else:
        tl.store(y + row * hidden + columns, value.to(tl.bfloat16), mask=inside)


@triton.jit
def gelu(value):
    return 0.5 * value * (1.0 + tl.erf(value * 0.7071067811865476))


@tuned(tile_configs(), key=["tokens", "hidden", "OP"])
@triton.jit
def activation_kernel(x, bias, y, y_scale, tokens, hidden, OP: tl.constexpr, GROUPS: tl.constexpr):
    """OP: 0 relu(x)^2, 1 gelu(x + bias), 2 gelu(gate) up."""
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    columns = group[:, None] * 128 + tl.arange(0, 128)[None, :]
    inside = columns < hidden
    pitch = 2 * hidden if OP == 2 else hidden
    value = tl.load(x + row * pitch + columns, mask=inside, other=0.0).to(tl.float32)
    if OP == 0:
        value = tl.maximum(value, 0.0)
        value = value * value
    elif OP == 1:
        value = gelu(value + tl.load(bias + columns, mask=inside, other=0.0).to(tl.float32))
    else:
        value = gelu(value) * tl.load(x + row * pitch + hidden + columns, mask=inside, other=0.0).to(tl.float32)
    scale = scale_of(tl.max(tl.abs(tl.where(inside, value, 0.0)), axis=1))
    tl.store(y + row * hidden + columns, (value / scale[:, None]).to(tl.float8e4nv), mask=inside)
    count = tl.cdiv(hidden, 128)
    tl.store(y_scale + row * count + group, scale, mask=group < count)


@tuned(tile_configs(), key=["tokens", "hidden"])
@triton.jit
def dequantize_kernel(x, x_scale, ids, y, tokens, hidden, CHOOSES: tl.constexpr, GROUPS: tl.constexpr):
    """Rows in order, or those that `ids` chooses."""
    row = tl.program_id(0).to(tl.int64)
    source = tl.load(ids + row) if CHOOSES else row
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    columns = group[:, None] * 128 + tl.arange(0, 128)[None, :]
    inside = columns < hidden
    count = tl.cdiv(hidden, 128)
    value = tl.load(x + source * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    value *= tl.load(x_scale + source * count + group, mask=group < count, other=0.0)[:, None]
    tl.store(y + row * hidden + columns, value.to(tl.bfloat16), mask=inside)


def transpose_configs():
    return [triton.Config({}, num_warps=warps) for warps in (4, 8, 16, 32)]


@tuned(transpose_configs(), key=["tokens", "hidden"])
@triton.jit
def cast_transpose_kernel(x, y, y_scale, yt, yt_scale, tokens, hidden, SQUARES: tl.constexpr):
    """A tile of 128x128 a program: scales along both directions, or one."""
    rows = tl.program_id(0).to(tl.int64) * 128 + tl.arange(0, 128)
    columns = tl.program_id(1) * 128 + tl.arange(0, 128)
    inside = (rows < tokens)[:, None] & (columns < hidden)[None, :]
    value = tl.load(x + rows[:, None] * hidden + columns[None, :], mask=inside, other=0.0).to(tl.float32)
    magnitude = tl.abs(value)
    row_blocks, column_blocks = tl.cdiv(tokens, 128), tl.cdiv(hidden, 128)
    if SQUARES:
        scale = scale_of(tl.max(tl.max(magnitude, axis=1), axis=0))
        codes = (value / scale).to(tl.float8e4nv)
        turned = codes
        tl.store(y_scale + tl.program_id(0) * column_blocks + tl.program_id(1), scale)
        tl.store(yt_scale + tl.program_id(1) * row_blocks + tl.program_id(0), scale)
    else:
        scale, scale_t = scale_of(tl.max(magnitude, axis=1)), scale_of(tl.max(magnitude, axis=0))
        codes = (value / scale[:, None]).to(tl.float8e4nv)
        turned = (value / scale_t[None, :]).to(tl.float8e4nv)
        tl.store(y_scale + rows * column_blocks + tl.program_id(1), scale, mask=rows < tokens)
        tl.store(yt_scale + columns.to(tl.int64) * row_blocks + tl.program_id(0), scale_t, mask=columns < hidden)
    tl.store(y + rows[:, None] * hidden + columns[None, :], codes, mask=inside)
    at = columns.to(tl.int64)[:, None] * tokens + rows[None, :]
    tl.store(yt + at, tl.trans(turned), mask=(columns < hidden)[:, None] & (rows < tokens)[None, :])


@tuned(tile_configs(), key=["tokens", "hidden"])
@triton.jit
def requantize_kernel(x, x_scale, y, y_scale, tokens, hidden, GROUPS: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    columns = group[:, None] * 128 + tl.arange(0, 128)[None, :]
    inside = columns < hidden
    count = tl.cdiv(hidden, 128)
    value = tl.load(x + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    value *= tl.load(x_scale + row * count + group, mask=group < count, other=0.0)[:, None]
    scale = scale_of(tl.max(tl.abs(value), axis=1))
    tl.store(y + row * hidden + columns, (value / scale[:, None]).to(tl.float8e4nv), mask=inside)
    tl.store(y_scale + row * count + group, scale, mask=group < count)


@tuned(tile_configs(), key=["tokens", "hidden", "QUANTIZES"])
@triton.jit
def permute_kernel(x, source, y, y_scale, tokens, hidden, QUANTIZES: tl.constexpr, GROUPS: tl.constexpr):
    """Rows that `source` chooses."""
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    columns = group[:, None] * 128 + tl.arange(0, 128)[None, :]
    inside = columns < hidden
    value = tl.load(x + tl.load(source + row) * hidden + columns, mask=inside, other=0.0)
    if QUANTIZES:
        wide = value.to(tl.float32)
        scale = scale_of(tl.max(tl.abs(wide), axis=1))
        count = tl.cdiv(hidden, 128)
        tl.store(y + row * hidden + columns, (wide / scale[:, None]).to(tl.float8e4nv), mask=inside)
        tl.store(y_scale + row * count + group, scale, mask=group < count)
    else:
        tl.store(y + row * hidden + columns, value, mask=inside)


@tuned(tile_configs(), key=["tokens", "hidden"])
@triton.jit
def unpermute_kernel(x, x_scale, index, weight, y, tokens, hidden, CHOSEN: tl.constexpr, GROUPS: tl.constexpr):
    """The weighted sum of the CHOSEN rows of a token."""
    row = tl.program_id(0).to(tl.int64)
    group = tl.program_id(1) * GROUPS + tl.arange(0, GROUPS)
    columns = group[:, None] * 128 + tl.arange(0, 128)[None, :]
    inside = columns < hidden
    count = tl.cdiv(hidden, 128)
    total = tl.zeros([GROUPS, 128], tl.float32)
    for k in tl.static_range(CHOSEN):
        source = tl.load(index + row * CHOSEN + k)
        value = tl.load(x + source * hidden + columns, mask=inside, other=0.0).to(tl.float32)
        scale = tl.load(x_scale + source * count + group, mask=group < count, other=0.0)
        total += value * (scale * tl.load(weight + row * CHOSEN + k))[:, None]
    tl.store(y + row * hidden + columns, total.to(tl.bfloat16), mask=inside)


@triton.jit
def angles_of(cos, sin, position):
    at = position * 64 + tl.arange(0, 64)
    return tl.load(cos + at).to(tl.float32)[None, :], tl.load(sin + at).to(tl.float32)[None, :]


@triton.jit
def store_heads(first, second, y, y_scale, row, columns, inside, hidden, HEADS: tl.constexpr):
    """The halves of heads of 128, each with a scale."""
    scale = scale_of(tl.maximum(tl.max(tl.abs(first), axis=1), tl.max(tl.abs(second), axis=1)))
    tl.store(y + row * hidden + columns, (first / scale[:, None]).to(tl.float8e4nv), mask=inside)
    tl.store(y + row * hidden + columns + 64, (second / scale[:, None]).to(tl.float8e4nv), mask=inside)
    head = tl.arange(0, HEADS)
    tl.store(y_scale + row * (hidden // 128) + head, scale, mask=head < hidden // 128)


@tuned(row_configs(), key=["tokens", "hidden", "QUANTIZES"])
@triton.jit
def rope_kernel(x, cos, sin, positions, y, y_scale, tokens, hidden, QUANTIZES: tl.constexpr, HEADS: tl.constexpr):
    """Heads of 128 side by side; HEADS: a power of two that is no less than their number."""
    row = tl.program_id(0).to(tl.int64)
    c, s = angles_of(cos, sin, tl.load(positions + row))
    columns = tl.arange(0, HEADS)[:, None] * 128 + tl.arange(0, 64)[None, :]
    inside = columns < hidden
    first = tl.load(x + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    second = tl.load(x + row * hidden + columns + 64, mask=inside, other=0.0).to(tl.float32)
    if QUANTIZES:
        store_heads(first * c - second * s, second * c + first * s, y, y_scale, row, columns, inside, hidden, HEADS)
    else:
        tl.store(y + row * hidden + columns, (first * c - second * s).to(tl.bfloat16), mask=inside)
        tl.store(y + row * hidden + columns + 64, (second * c + first * s).to(tl.bfloat16), mask=inside)


@tuned(row_configs(), key=["tokens", "hidden"])
@triton.jit
def kv_append_kernel(k, v, weight, cos, sin, positions, slots, k_cache, k_scale, v_cache, v_scale, tokens, hidden, eps,
                     HEADS: tl.constexpr):
    """A token: its heads of k normalized and turned, then those of v, into their slot."""
    row = tl.program_id(0).to(tl.int64)
    slot = tl.load(slots + row)
    c, s = angles_of(cos, sin, tl.load(positions + row))
    angle = tl.arange(0, 64)
    columns = tl.arange(0, HEADS)[:, None] * 128 + angle[None, :]
    inside = columns < hidden
    first = tl.load(k + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    second = tl.load(k + row * hidden + columns + 64, mask=inside, other=0.0).to(tl.float32)
    mean = (tl.sum(first * first, axis=1) + tl.sum(second * second, axis=1)) / 128
    norm = tl.rsqrt(mean + eps)[:, None]
    first *= norm * tl.load(weight + angle).to(tl.float32)[None, :]
    second *= norm * tl.load(weight + 64 + angle).to(tl.float32)[None, :]
    store_heads(first * c - second * s, second * c + first * s, k_cache, k_scale, slot, columns, inside, hidden, HEADS)
    first = tl.load(v + row * hidden + columns, mask=inside, other=0.0).to(tl.float32)
    second = tl.load(v + row * hidden + columns + 64, mask=inside, other=0.0).to(tl.float32)
    store_heads(first, second, v_cache, v_scale, slot, columns, inside, hidden, HEADS)


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


def softmax(x, causal=False):
    tokens, hidden = x.shape
    y = torch.empty_like(x)
    softmax_kernel[(tokens,)](x, y, tokens, hidden, CAUSAL=causal, BLOCK=triton.next_power_of_2(hidden))
    return (y,)


def softmax_causal(x):
    return softmax(x, True)


def layer_norm(x, weight, bias):
    tokens, hidden = x.shape
    y = torch.empty_like(x)
    layer_norm_kernel[(tokens,)](x, weight, bias, y, y, tokens, hidden, 1e-6, QUANTIZES=False,
                                 BLOCK=triton.next_power_of_2(hidden))
    return (y,)


def layer_norm_blocks(x, weight, bias):
    tokens, hidden = x.shape
    y, scale = codes_for(tokens, hidden, x), scales_for(tokens, triton.cdiv(hidden, 128), x)
    layer_norm_kernel[(tokens,)](x, weight, bias, y, scale, tokens, hidden, 1e-6, QUANTIZES=True,
                                 BLOCK=max(triton.next_power_of_2(hidden), 128))
    return y, scale


def activation(x, bias, hidden, op):
    tokens = x.shape[0]
    y, scale = codes_for(tokens, hidden, x), scales_for(tokens, triton.cdiv(hidden, 128), x)
    activation_kernel[lambda config: (tokens, triton.cdiv(hidden, 128 * config["GROUPS"]))](
        x, bias, y, scale, tokens, hidden, OP=op)
    return y, scale


def relu2_blocks(x):
    return activation(x, x, x.shape[1], 0)  # a pointer that is not read


def gelu_bias_blocks(x, bias):
    return activation(x, bias, x.shape[1], 1)


def gelu_mul_blocks(x):
    return activation(x, x, x.shape[1] // 2, 2)


def dequantize_rows(x, scale, ids, tokens):
    hidden = x.shape[1]
    y = torch.empty(tokens, hidden, device=x.device, dtype=torch.bfloat16)
    dequantize_kernel[lambda config: (tokens, triton.cdiv(hidden, 128 * config["GROUPS"]))](
        x, scale, scale if ids is None else ids, y, tokens, hidden, CHOOSES=ids is not None)
    return (y,)


def dequantize(x, scale):
    return dequantize_rows(x, scale, None, x.shape[0])


def embedding(table, scale, ids):
    return dequantize_rows(table, scale, ids, ids.shape[0])


def cast_transpose(x, squares=False):
    tokens, hidden = x.shape
    row_blocks, column_blocks = triton.cdiv(tokens, 128), triton.cdiv(hidden, 128)
    y, yt = codes_for(tokens, hidden, x), codes_for(hidden, tokens, x)
    scale = scales_for(row_blocks if squares else tokens, column_blocks, x)
    scale_t = scales_for(column_blocks if squares else hidden, row_blocks, x)
    cast_transpose_kernel[(row_blocks, column_blocks)](x, y, scale, yt, scale_t, tokens, hidden, SQUARES=squares)
    return y, scale, yt, scale_t


def cast_transpose_tiles(x):
    return cast_transpose(x, True)


def heads_of(hidden):
    return triton.next_power_of_2(hidden // 128)


def rope(x, cos, sin, positions):
    tokens, hidden = x.shape
    y = torch.empty_like(x)
    rope_kernel[(tokens,)](x, cos, sin, positions, y, y, tokens, hidden, QUANTIZES=False, HEADS=heads_of(hidden))
    return (y,)


def rope_blocks(x, cos, sin, positions):
    tokens, hidden = x.shape
    y, scale = codes_for(tokens, hidden, x), scales_for(tokens, hidden // 128, x)
    rope_kernel[(tokens,)](x, cos, sin, positions, y, scale, tokens, hidden, QUANTIZES=True, HEADS=heads_of(hidden))
    return y, scale


def requantize(x, x_scale):
    tokens, hidden = x.shape
    y, scale = codes_for(tokens, hidden, x), torch.empty_like(x_scale)
    requantize_kernel[lambda config: (tokens, triton.cdiv(hidden, 128 * config["GROUPS"]))](
        x, x_scale, y, scale, tokens, hidden)
    return y, scale


def permute(x, source, y, scale):
    tokens, hidden = y.shape
    permute_kernel[lambda config: (tokens, triton.cdiv(hidden, 128 * config["GROUPS"]))](
        x, source, y, y if scale is None else scale, tokens, hidden, QUANTIZES=scale is not None)


def moe_permute(x, source):
    y = torch.empty(source.shape[0], x.shape[1], device=x.device, dtype=x.dtype)
    permute(x, source, y, None)
    return (y,)


def moe_permute_blocks(x, source):
    tokens, hidden = source.shape[0], x.shape[1]
    y, scale = codes_for(tokens, hidden, x), scales_for(tokens, triton.cdiv(hidden, 128), x)
    permute(x, source, y, scale)
    return y, scale


def moe_unpermute(x, scale, index, weight):
    (tokens, chosen), hidden = index.shape, x.shape[1]
    y = torch.empty(tokens, hidden, device=x.device, dtype=torch.bfloat16)
    unpermute_kernel[lambda config: (tokens, triton.cdiv(hidden, 128 * config["GROUPS"]))](
        x, scale, index, weight, y, tokens, hidden, CHOSEN=chosen)
    return (y,)


def kv_append(k, v, weight, cos, sin, positions, slots, k_cache, k_scale, v_cache, v_scale):
    tokens, hidden = k.shape
    kv_append_kernel[(tokens,)](k, v, weight, cos, sin, positions, slots, k_cache, k_scale, v_cache, v_scale, tokens,
                                hidden, 1e-6, HEADS=heads_of(hidden))
    return ()


CALLS = {"quantize static": quantize_static, "quantize 1x128": quantize_blocks, "quantize 1x*": quantize_rows,
         "rms_norm_quant 1x128": rms_norm_blocks, "rms_norm_quant 1x*": rms_norm_rows,
         "rms_norm_quant static": rms_norm_static, "add_rms_norm_quant 1x128": add_rms_norm_blocks,
         "silu_mul_quant 1x128": silu_mul_blocks, "dequantize 1x128": dequantize, "embedding 1x128": embedding,
         "cast_transpose 1x128": cast_transpose, "cast_transpose 128x128": cast_transpose_tiles, "softmax": softmax,
         "softmax causal": softmax_causal, "layer_norm": layer_norm, "layer_norm_quant 1x128": layer_norm_blocks,
         "relu2_quant 1x128": relu2_blocks, "gelu_bias_quant 1x128": gelu_bias_blocks,
         "gelu_mul_quant 1x128": gelu_mul_blocks, "rope": rope, "rope_quant 1x128": rope_blocks,
         "requantize 1x128": requantize, "moe_permute": moe_permute, "moe_permute_quant 1x128": moe_permute_blocks,
         "moe_unpermute 1x128": moe_unpermute, "kv_append 1x128": kv_append}
