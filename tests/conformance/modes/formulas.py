# ===- formulas.py - Each mode as its peer writes it -------------------------=== #
#
# Part of Eider, under the Apache License v2.0.
#
# Plain NumPy in f32, one rounding an operation, transcribed from the formulas that the peers' kernels state. `m` is the format's
# maximum. Each takes the amax of every block and gives the scale that is stored and what a value of the block becomes
# before it is rounded to a code.
#
# ===------------------------------------------------------------------------=== #
import ml_dtypes
import numpy as np

f32 = np.float32
FORMATS = {"e4m3": (ml_dtypes.float8_e4m3fn, f32(448)), "e5m2": (ml_dtypes.float8_e5m2, f32(57344)),
           "e4m3fnuz": (ml_dtypes.float8_e4m3fnuz, f32(240)), "e5m2fnuz": (ml_dtypes.float8_e5m2fnuz, f32(57344)),
           "e2m1": (ml_dtypes.float4_e2m1fn, f32(6))}
GLOBAL_SCALE = f32(0.37)  # the second level of scales that have two


def default(amax, m):
    scale = amax / m
    scale = np.where(scale == 0, f32(1), scale)
    return scale, lambda x: x / scale


def deepgemm(amax, m):
    amax = np.maximum(amax, f32(1e-4))
    scale = amax / m
    return scale, lambda x: x * (f32(1) / scale)


def tilekernels(amax, m):
    amax = np.maximum(amax, f32(1e-4))
    return amax / m, lambda x: x * (m / amax)


def vllm_group(amax, m):
    amax = np.maximum(amax, f32(1e-10))
    scale = amax / m
    return scale, lambda x: x / scale


def vllm_token(amax, m):
    scale = np.maximum(amax / m, f32(1) / (m * f32(512)))
    return scale, lambda x: x / scale


def vllm_token_bounded(amax, m):
    """With an upper bound of 2 on amax."""
    scale = np.maximum(np.minimum(amax, f32(2)) / m, f32(1) / (m * f32(512)))
    return scale, lambda x: x / scale


def sglang_group(amax, m):
    amax = np.maximum(amax, f32(1e-10))
    return amax * (f32(1) / m), lambda x: x * (m / amax)


def trtllm_token(amax, m):
    amax = np.maximum(amax, f32(1e-6))
    scale = np.maximum(amax / m, f32(1) / (m * f32(512)))
    return scale, lambda x: x * np.minimum(m / amax, m * f32(512))


def current_multiplier(amax, m):
    multiplier = np.minimum(m / amax, np.finfo(f32).max)
    return np.where((amax == 0) | ~np.isfinite(amax), f32(1), multiplier)


def te_current(amax, m):
    multiplier = current_multiplier(amax, m)
    return f32(1) / multiplier, lambda x: x * multiplier


def te_current_powers(amax, m):
    """The multiplier's mantissa masked off."""
    multiplier = (current_multiplier(amax, m).view(np.uint32) & np.uint32(0x7F800000)).view(f32)
    return f32(1) / multiplier, lambda x: x * multiplier


def exponent_code(value):
    """The exponent of a number that is not negative, rounded up, as TransformerEngine's kernels compute it from its bits."""
    bits = value.view(np.uint32)
    exponent, mantissa = bits >> 23, bits & 0x7FFFFF
    up = (mantissa > 0) & (exponent != 0xFE) & ~((exponent == 0) & (mantissa <= 0x400000))
    code = np.where(value == 0, 0, exponent + up)
    return np.where(np.isnan(value), 0xFF, np.where(np.isinf(value), 0xFE, code)).astype(np.uint8)


def power(code):
    """2^(code - 127), NaN for 0xff."""
    return code.view(ml_dtypes.float8_e8m0fnu).astype(f32)


def mx(amax, m):
    code = exponent_code(amax * (f32(1) / m))
    return code, lambda x: x * (f32(1) / power(code))


def default_e8m0(amax, m):
    """The ratio rounded up; 1 in a block of zeros."""
    ratio = amax / m
    code = np.where(ratio == 0, np.uint8(127), exponent_code(ratio))
    return code, lambda x: x / power(code)


def floor_e8m0(amax, m):
    """The exponent of amax, over that of the format's maximum (OCP MX)."""
    ratio = amax * f32(2.0 ** -np.floor(np.log2(m)))
    exponent = (ratio.view(np.uint32) >> 23).astype(np.uint8)
    code = np.where(np.isinf(ratio), np.uint8(254), exponent)
    return np.where(ratio == 0, np.uint8(127), code), lambda x: x / power(np.where(ratio == 0, np.uint8(127), code))


def deepgemm_e8m0(amax, m):
    code = exponent_code(np.maximum(amax, f32(1e-4)) / m)
    return code, lambda x: x * (f32(1) / power(code))


def mx_ocp(amax, m):
    """OCP MX 1.0, 6.3: the exponent of amax less that of the format's largest power of two."""
    ratio = amax * f32(2.0 ** -np.floor(np.log2(m)))
    code = np.where(np.isinf(ratio), np.uint8(254), (ratio.view(np.uint32) >> 23).astype(np.uint8))
    return code, lambda x: x * (f32(1) / power(code))


def two_level(amax, m):
    """NVFP4's recipe: a block's scale in e4m3, under one f32."""
    ratio = amax / (m * GLOBAL_SCALE)
    scale = np.where(np.isnan(ratio), ratio, np.minimum(ratio, f32(448))).astype(ml_dtypes.float8_e4m3fn)
    scale = np.where(scale == 0, ml_dtypes.float8_e4m3fn(1), scale)
    return scale.view(np.uint8), lambda x: x / (scale.astype(f32) * GLOBAL_SCALE)


def default_f16(amax, m):
    scale = (amax / m).astype(np.float16)
    scale = np.where(scale == 0, np.float16(1), scale)
    return scale, lambda x: x / scale.astype(f32)


def default_bf16(amax, m):
    scale = (amax / m).astype(ml_dtypes.bfloat16)
    scale = np.where(scale == 0, ml_dtypes.bfloat16(1), scale)
    return scale, lambda x: x / scale.astype(f32)


def quantize(x, block, formula, format):
    """Codes and scales of x [rows, columns], f32, in blocks of 1 × `block` columns."""
    dtype, m = FORMATS[format]
    rows, columns = x.shape
    blocks = -(-columns // block)
    padded = np.zeros((rows, blocks * block), f32)
    padded[:, :columns] = x
    grouped = padded.reshape(rows, blocks, block)
    with np.errstate(all="ignore"):
        amax = np.abs(grouped).max(axis=2, keepdims=True)
        scale, scaled = formula(amax, m)
        # Saturating: ml_dtypes overflows as the format does, so the clamp comes first. It keeps NaN.
        values = np.clip(scaled(grouped), -m, m)
    assert values.dtype == f32
    codes = values.astype(dtype).view(np.uint8)
    if format == "e2m1":  # of four bits; NaN, which it has not, gives the largest
        codes = np.where(np.isnan(values), np.uint8(7), codes & 15)
    return codes.reshape(rows, -1)[:, :columns], scale[:, :, 0]
