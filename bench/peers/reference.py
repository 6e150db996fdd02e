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


def quantize_whole(x):
    x = x.float()
    scale = x.abs().amax().view(1, 1) / E4M3_MAX
    scale = torch.where(scale == 0, 1.0, scale)
    return (x / scale).to(torch.float8_e4m3fn), scale


def quantize_tiles(x):
    """Scales of 128x128."""
    rows, columns = x.shape
    tiles = F.pad(x.float(), (0, -columns % 128, 0, -rows % 128))
    tiles = tiles.view(tiles.shape[0] // 128, 128, tiles.shape[1] // 128, 128)
    scale = tiles.abs().amax((1, 3)) / E4M3_MAX
    scale = torch.where(scale == 0, 1.0, scale)
    codes = (tiles / scale[:, None, :, None]).to(torch.float8_e4m3fn)
    return codes.view(tiles.shape[0] * 128, -1)[:rows, :columns].contiguous(), scale


def dequantized(codes, scale):
    """f32. Scales of 1x128, a row, 128x128 or everything, which their shape tells."""
    rows, columns = codes.shape
    if scale.shape[0] != rows:
        scale = scale.repeat_interleave(128, 0)[:rows] if scale.numel() > 1 else scale.expand(rows, 1)
    if scale.shape[1] == 1:
        return codes.float() * scale
    return (groups_of(codes.float(), 128) * scale[..., None]).view(rows, -1)[:, :columns]


def dequantize(codes, scale):
    return (dequantized(codes, scale).to(torch.bfloat16).contiguous(),)


def requantize(codes, scale):
    return quantize_blocks(dequantized(codes, scale))


def cast_transpose(x):
    return (*quantize_blocks(x), *quantize_blocks(x.t().contiguous()))


def cast_transpose_tiles(x):
    codes, scale = quantize_tiles(x)
    return codes, scale, codes.view(torch.uint8).t().contiguous().view(torch.float8_e4m3fn), scale.t().contiguous()


def softmax(x):
    return (torch.softmax(x.float(), -1).to(x.dtype),)


def softmax_causal(x):
    """The last row sees all columns; a row that sees nothing is 0."""
    rows, columns = x.shape
    last = torch.arange(rows, device=x.device)[:, None] + (columns - rows)
    seen = torch.arange(columns, device=x.device)[None] <= last
    y = torch.softmax(x.float().masked_fill(~seen, float("-inf")), -1)
    return (torch.where(seen, y, 0.0).to(x.dtype),)


def normalized(x, weight, bias, eps=1e-6):
    return F.layer_norm(x.float(), x.shape[-1:], weight.float(), bias.float(), eps)


def layer_norm(x, weight, bias):
    return (normalized(x, weight, bias).to(x.dtype),)


def layer_norm_blocks(x, weight, bias):
    return quantize_blocks(normalized(x, weight, bias))


def gelu_mul_blocks(x):
    gate, up = x.float().chunk(2, -1)
    return quantize_blocks(F.gelu(gate) * up)


def relu2_blocks(x):
    return quantize_blocks(F.relu(x.float()).square())


def gelu_bias_blocks(x, bias):
    return quantize_blocks(F.gelu(x.float() + bias.float()))


def turned(x, cos, sin, positions, head=128):
    """Heads of f32, the halves of each turned by its token's angles."""
    first, second = x.view(x.shape[0], -1, head).chunk(2, -1)
    c, s = cos[positions].float()[:, None], sin[positions].float()[:, None]
    return torch.cat((first * c - second * s, second * c + first * s), -1).view(x.shape)


def rope(x, cos, sin, positions):
    return (turned(x.float(), cos, sin, positions).to(x.dtype),)


def rope_blocks(x, cos, sin, positions):
    return quantize_blocks(turned(x.float(), cos, sin, positions))


def rows_of(codes, ids):
    """Of bytes, which every version of PyTorch indexes."""
    return codes.view(torch.uint8)[ids].view(torch.float8_e4m3fn)


def embedding(table, scale, ids):
    return dequantize(rows_of(table, ids), scale[ids])


def moe_permute(x, source):
    return (x[source],)


def moe_permute_blocks(x, source):
    return quantize_blocks(x[source])


def moe_unpermute(x, scale, index, weight):
    parts = (weight[:, k, None] * dequantized(rows_of(x, index[:, k]), scale[index[:, k]]) for k in range(index.shape[1]))
    return (sum(parts).to(torch.bfloat16),)


def kv_append(k, v, weight, cos, sin, positions, slots, k_cache, k_scale, v_cache, v_scale):
    heads = rms_norm(k.float().view(k.shape[0], -1, weight.shape[0]), weight).view(k.shape)
    for value, cache, scale in ((turned(heads, cos, sin, positions), k_cache, k_scale), (v, v_cache, v_scale)):
        codes, own = quantize_blocks(value)
        cache.view(torch.uint8)[slots] = codes.view(torch.uint8)
        scale[slots] = own
    return ()


def gemv(codes, scale, x):
    return ((dequantized(codes, scale) @ x.float()).to(torch.bfloat16),)


def matvec(w, x):
    return ((w.float() @ x.float()).to(x.dtype),)


def attention(q, k, v):
    """A sequence at a time: heads share keys and values."""
    results = []
    for queries, keys, values in zip(q, k.float(), v.float()):
        scores = queries.float().view(keys.shape[0], -1, keys.shape[2]) @ keys.transpose(1, 2) / keys.shape[2] ** 0.5
        results.append((torch.softmax(scores, -1) @ values).view(queries.shape))
    return (torch.stack(results).to(q.dtype),)


def prefill(q, k, v, causal=False):
    """A head at a time."""
    result = torch.empty_like(q)
    for head in range(q.shape[1]):
        scores = q[0, head].float() @ k[0, head].float().T / q.shape[3] ** 0.5
        if causal:
            scores.masked_fill_(torch.ones_like(scores, dtype=torch.bool).triu_(1), float("-inf"))
        result[0, head] = (torch.softmax(scores, -1) @ v[0, head].float()).to(q.dtype)
    return (result,)


def prefill_causal(q, k, v):
    return prefill(q, k, v, causal=True)


def matmul(w, x):
    return ((x.float() @ w.float().T).to(x.dtype),)


def scaled_matmul(w, w_scale, x, x_scale):
    return ((x.float() @ w.float().T * x_scale * w_scale.T).to(torch.bfloat16),)
