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
FORMATS = {"e4m3": (ml_dtypes.float8_e4m3fn, f32(448)), "e5m2": (ml_dtypes.float8_e5m2, f32(57344))}


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
    assert values.dtype == f32 and scale.dtype == f32
    codes = values.astype(dtype).view(np.uint8)
    return codes.reshape(rows, -1)[:, :columns], scale[:, :, 0]
