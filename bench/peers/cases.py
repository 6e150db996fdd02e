# Part of Eider, under the Apache License v2.0.
"""What is measured: the ops and shapes of `eider bench` that peers have, with inputs and bytes."""
import dataclasses

import torch

import reference

SHAPES = ((1, 8192), (128, 4096), (4096, 4096), (16384, 8192), (4097, 4104), (1000, 7168))


@dataclasses.dataclass(frozen=True)
class Op:
    name: str  # Eider's
    block: str
    reference: callable
    inputs: tuple  # of x, wide (x of twice the width), residual, weight, scale
    static: bool = False

    @property
    def key(self):
        return f"{self.name} {'static' if self.static else self.block}"

    def params(self):
        static = {"scale_source": "static"} if self.static else {}
        return {"dtype": "bf16", "format": "e4m3", "block": self.block, **static}

    def traffic(self, tokens, hidden):
        """Bytes: each input read once, each output written once, an in-out both."""
        count = tokens * hidden
        size = {"x": 2 * count, "wide": 4 * count, "residual": 4 * count, "weight": 2 * hidden, "scale": 4}
        scales = {"1x128": -(-hidden // 128) * tokens, "1x*": tokens, "*x*": 0}[self.block]
        return sum(size[name] for name in self.inputs) + count + 4 * scales

    def make_inputs(self, tokens, hidden):
        make = {"x": lambda: torch.randn(tokens, hidden, device="cuda", dtype=torch.bfloat16),
                "wide": lambda: torch.randn(tokens, 2 * hidden, device="cuda", dtype=torch.bfloat16),
                "residual": lambda: torch.randn(tokens, hidden, device="cuda", dtype=torch.bfloat16),
                "weight": lambda: torch.randn(hidden, device="cuda", dtype=torch.bfloat16),
                "scale": lambda: torch.full((1,), 0.01, device="cuda")}
        return [make[name]() for name in self.inputs]


OPS = (
    Op("quantize", "*x*", reference.quantize_static, ("x", "scale"), static=True),
    Op("quantize", "1x128", reference.quantize_blocks, ("x",)),
    Op("quantize", "1x*", reference.quantize_rows, ("x",)),
    Op("rms_norm_quant", "1x128", reference.rms_norm_blocks, ("x", "weight")),
    Op("rms_norm_quant", "1x*", reference.rms_norm_rows, ("x", "weight")),
    Op("rms_norm_quant", "*x*", reference.rms_norm_static, ("x", "weight", "scale"), static=True),
    Op("add_rms_norm_quant", "1x128", reference.add_rms_norm_blocks, ("x", "residual", "weight")),
    Op("silu_mul_quant", "1x128", reference.silu_mul_blocks, ("wide",)),
)


def close(op, inputs, call):
    """Why a peer's results are not the op's; nothing if they are. A code may differ by one step of E4M3."""
    mine, theirs = ([tensor.clone() for tensor in inputs] for _ in range(2))
    expected, given = op.reference(*mine), call(*theirs)
    scales = [expected[1].view(mine[0].shape[0], -1), given[1].view(mine[0].shape[0], -1)] if len(expected) == 2 else []
    if scales and not torch.allclose(*scales, rtol=1e-2):
        return "its scales are others"
    one = torch.ones(mine[0].shape[0], 1, device="cuda")
    a = reference.dequantized(expected[0], scales[0] if scales else one)
    b = reference.dequantized(given[0], scales[1] if scales else one)
    if not torch.allclose(a, b, rtol=0.15, atol=2e-3 * a.abs().max().item()):
        return "its codes are others"
    if "residual" in op.inputs and not torch.allclose(mine[1], theirs[1], rtol=1e-2):
        return "its residual is another"
    return None
