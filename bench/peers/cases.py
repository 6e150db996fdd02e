# Part of Eider, under the Apache License v2.0.
"""What is measured: the ops and shapes of `eider bench` that peers have, with inputs, results and bytes."""
import dataclasses

import torch

import reference

SHAPES = ((1, 8192), (128, 4096), (4096, 4096), (16384, 8192), (4097, 4104), (1000, 7168))
LARGE = ((16384, 8192),)
CODES = torch.float8_e4m3fn


@dataclasses.dataclass(frozen=True)
class Tensor:
    shape: callable      # of the dims
    dtype: torch.dtype
    content: str = ""    # normal; codes; scales; the dim whose rows are chosen among; plain: any, of a result
    moved: str = ""      # the dim that says how many rows a call moves; all if there is none
    times: int = 1       # that these are moved: of a tensor that is read and written twice

    def bytes(self, dims):
        first, *others = self.shape(dims)
        count = self.times * (dims[self.moved] if self.moved else first)
        for extent in others:
            count *= extent
        return count * self.dtype.itemsize

    def make(self, dims):
        shape = self.shape(dims)
        if self.content == "codes":  # any but NaN
            return (torch.randint(0, 256, shape, device=DEVICE, dtype=torch.uint8) & 0xf7).view(CODES)
        if self.content == "scales":
            return torch.rand(shape, device=DEVICE) / 256 + 1 / 256
        if self.content == "normal":
            return torch.randn(shape, device=DEVICE, dtype=self.dtype)
        count = 1
        for extent in shape:
            count *= extent
        rows = dims[self.content]  # each once while there are enough of them
        return (torch.randperm(max(rows, count), device=DEVICE)[:count] % rows).view(shape)


DEVICE = "cuda"


def blocks(extent):
    return -(-extent // 128)


def matrix(rows, dtype=torch.bfloat16, content="normal", columns="hidden", **how):
    return Tensor(lambda dims: (dims[rows], dims[columns]), dtype, content, **how)


def scales(rows, **how):
    """One each 128 columns."""
    return Tensor(lambda dims: (dims[rows], blocks(dims["hidden"])), torch.float32, "scales", **how)


def vector(extent, dtype=torch.bfloat16, content="normal"):
    return Tensor(lambda dims: (extent if isinstance(extent, int) else dims[extent],), dtype, content)


def choices(rows):
    return vector("tokens", torch.int64, rows)


def angles():
    return Tensor(lambda dims: (dims["max_position"], 64), torch.bfloat16, "normal", moved="tokens")


def tokens(dims):
    return dims["page"] * dims["max_pages"]


def heads(of, of_tokens=lambda dims: 1, content="normal"):
    return Tensor(lambda dims: (dims["b"], dims[of], of_tokens(dims), dims["d"]), torch.bfloat16, content)


def prompt(of, dtype=torch.bfloat16, content="normal"):
    return Tensor(lambda dims: (1, dims[of], dims["s"], dims["d"]), dtype, content)


INPUTS = {
    "x": matrix("tokens"), "k": matrix("tokens"), "v": matrix("tokens"),
    "wide": Tensor(lambda dims: (dims["tokens"], 2 * dims["hidden"]), torch.bfloat16, "normal"),
    "residual": matrix("tokens", times=2), "x twice": matrix("tokens", times=2),
    "weight": vector("hidden"), "bias": vector("hidden"), "head weight": vector(128),
    "scale": vector(1, torch.float32, "scales"),
    "codes": matrix("tokens", CODES, "codes"), "codes scale": scales("tokens"),
    "table": matrix("vocabulary", CODES, "codes", moved="tokens"), "table scale": scales("vocabulary", moved="tokens"),
    "ids": choices("vocabulary"),
    "sources": matrix("sources", moved="tokens"), "source": choices("sources"),
    "permuted": matrix("permuted", CODES, "codes", moved="tokens", times=2),
    "permuted scale": scales("permuted", moved="tokens", times=2),
    "index": Tensor(lambda dims: (dims["tokens"], 2), torch.int64, "permuted"),
    "expert weight": Tensor(lambda dims: (dims["tokens"], 2), torch.float32, "scales"),
    "cos": angles(), "sin": angles(), "positions": choices("max_position"),
    "slots": choices("slots"),
    "k cache": matrix("slots", CODES, "codes", moved="tokens"), "k scale": scales("slots", moved="tokens"),
    "v cache": matrix("slots", CODES, "codes", moved="tokens"), "v scale": scales("slots", moved="tokens"),
    "w codes": matrix("n", CODES, "codes", columns="k"), "k vector": vector("k"),
    "w scale": Tensor(lambda dims: (dims["n"], blocks(dims["k"])), torch.float32, "scales"),
    "w bf16": matrix("n", columns="k"), "w f32": matrix("n", torch.float32, columns="k"),
    "w row scale": Tensor(lambda dims: (dims["n"], 1), torch.float32, "scales"),
    "k vector f32": vector("k", torch.float32), "m rows": matrix("m", columns="k"),
    "m codes": matrix("m", CODES, "codes", columns="k"), "m scale": Tensor(lambda dims: (dims["m"], 1), torch.float32, "scales"),
    "prompt queries": prompt("h"), "prompt keys": prompt("kv_heads"), "prompt values": prompt("kv_heads"),
    "prompt queries f32": prompt("h", torch.float32), "prompt keys f32": prompt("kv_heads", torch.float32),
    "prompt values f32": prompt("kv_heads", torch.float32),
    "queries": heads("h"), "keys": heads("kv_heads", tokens), "values": heads("kv_heads", tokens),
}
UPDATED = {"residual": None, "k cache": "k scale", "v cache": "v scale"}  # and the scales of what is codes

# What a call gives, in order; the scale of codes follows them.
RESULTS = {
    "y": matrix("tokens", CODES, "codes"), "bf16": matrix("tokens", content="plain"),
    "1x128": scales("tokens"),
    "1x*": Tensor(lambda dims: (dims["tokens"], 1), torch.float32, "scales"),
    "*x*": Tensor(lambda dims: (1, 1), torch.float32, "scales"),
    "128x128": Tensor(lambda dims: (blocks(dims["tokens"]), blocks(dims["hidden"])), torch.float32, "scales"),
    "yt": matrix("hidden", CODES, "codes", columns="tokens"),
    "t 1x128": Tensor(lambda dims: (dims["hidden"], blocks(dims["tokens"])), torch.float32, "scales"),
    "t 128x128": Tensor(lambda dims: (blocks(dims["hidden"]), blocks(dims["tokens"])), torch.float32, "scales"),
    "n vector": vector("n", content="plain"), "n vector f32": vector("n", torch.float32, "plain"),
    "m products": matrix("m", content="plain", columns="n"),
    "attended": heads("h", content="plain"),
    "prompt attended": prompt("h", content="plain"), "prompt attended f32": prompt("h", torch.float32, "plain"),
}


@dataclasses.dataclass(frozen=True)
class Op:
    name: str   # Eider's
    label: str  # what tells it from others of the name
    reference: callable
    inputs: tuple   # of INPUTS
    results: tuple  # of RESULTS
    params: dict    # as Eider's cell has them
    shapes: tuple = SHAPES
    others: dict = dataclasses.field(default_factory=dict)  # dims but those two
    names: tuple = ("tokens", "hidden")

    @property
    def key(self):
        return f"{self.name} {self.label}".strip()

    def dims(self, tokens, hidden):
        return {self.names[0]: tokens, self.names[1]: hidden, **self.others}

    def traffic(self, tokens, hidden):
        """Bytes: each input read once, each output written once, an in-out both; of what is chosen from, the rows."""
        dims = self.dims(tokens, hidden)
        return (sum(INPUTS[name].bytes(dims) for name in self.inputs) +
                sum(RESULTS[name].bytes(dims) for name in self.results))

    def make_inputs(self, tokens, hidden):
        dims = self.dims(tokens, hidden)
        return [INPUTS[name].make(dims) for name in self.inputs]


def quantizing(name, block, reference_of, inputs, **how):
    """An op whose result is quantized."""
    return Op(name, block, reference_of, inputs, ("y", block), {"dtype": "bf16", "format": "e4m3", "block": block}, **how)


def static(name, reference_of, inputs):
    params = {"dtype": "bf16", "format": "e4m3", "block": "*x*", "scale_source": "static"}
    return Op(name, "static", reference_of, (*inputs, "scale"), ("y",), params)


def plain(name, reference_of, inputs, label="", params=(), **how):
    """An op whose result is bf16."""
    return Op(name, label, reference_of, inputs, ("bf16",), {"dtype": "bf16", **dict(params)}, **how)


E4M3 = {"format": "e4m3", "block": "1x128"}
GEMV = ((16384, 16384), (4096, 14336), (7168, 18432), (1024, 4096))


def gemv(label, reference_of, inputs, result):
    """Of weights as the label says; held beside ours of codes whatever they are."""
    return Op("gemv", label, reference_of, inputs, (result,), {"dtype": "bf16", **E4M3}, GEMV, names=("n", "k"))


def matmul(m, *shapes):
    return Op("matmul_skinny", "bf16 weights", reference.matmul, ("w bf16", "m rows"), ("m products",),
              {"dtype": "bf16", **E4M3}, shapes, others={"m": m}, names=("n", "k"))


def scaled_matmul(m, *shapes, block="1x*", of_codes=True):
    """Of codes with scales of rows; or of bf16, held beside ours of codes."""
    inputs = ("w codes", "w row scale", "m codes", "m scale") if of_codes else ("w bf16", "m rows")
    return Op("scaled_matmul", "rows of weights" if of_codes else "bf16 weights",
              reference.scaled_matmul if of_codes else reference.matmul, inputs, ("m products",),
              {"dtype": "bf16", "format": "e4m3", "block": block, "from_format": "e4m3", "from_block": block}, shapes,
              others={"m": m}, names=("n", "k"))


def attention(b, max_pages, h=32):
    """Of keys and values of bf16, which lie together; held beside ours of codes in pages."""
    return Op("attention_decode", "bf16 cache", reference.attention, ("queries", "keys", "values"), ("attended",),
              {"dtype": "bf16", "format": "e4m3"}, ((b, max_pages),),
              others={"h": h, "d": 128, "kv_heads": 8, "page": 16, "pages": b * max_pages, "scales": 1}, names=("b", "max_pages"))


def prefill(label, h, d, causal="0", dtype=""):
    """Of queries, keys and values that are no codes; held beside ours of codes."""
    names = tuple(f"prompt {what}{dtype}" for what in ("queries", "keys", "values"))
    return Op("attention_prefill", label, reference.prefill_causal if causal == "1" else reference.prefill, names,
              (f"prompt attended{dtype}",), {"dtype": "bf16", "format": "e4m3", "set causal": causal}, ((8192, d),),
              others={"h": h, "kv_heads": h, "scales": 1}, names=("s", "d"))


OPS = (
    static("quantize", reference.quantize_static, ("x",)),
    quantizing("quantize", "1x128", reference.quantize_blocks, ("x",)),
    quantizing("quantize", "1x*", reference.quantize_rows, ("x",)),
    quantizing("rms_norm_quant", "1x128", reference.rms_norm_blocks, ("x", "weight")),
    quantizing("rms_norm_quant", "1x*", reference.rms_norm_rows, ("x", "weight")),
    static("rms_norm_quant", reference.rms_norm_static, ("x", "weight")),
    quantizing("add_rms_norm_quant", "1x128", reference.add_rms_norm_blocks, ("x", "residual", "weight")),
    quantizing("silu_mul_quant", "1x128", reference.silu_mul_blocks, ("wide",)),
    quantizing("quantize", "*x*", reference.quantize_whole, ("x twice",), shapes=LARGE),
    plain("dequantize", reference.dequantize, ("codes", "codes scale"), "1x128", E4M3),
    Op("requantize", "1x128", reference.requantize, ("codes", "codes scale"), ("y", "1x128"), E4M3, shapes=LARGE),
    Op("cast_transpose", "1x128", reference.cast_transpose, ("x",), ("y", "1x128", "yt", "t 1x128"),
       {"dtype": "bf16", **E4M3}),
    Op("cast_transpose", "128x128", reference.cast_transpose_tiles, ("x",), ("y", "128x128", "yt", "t 128x128"),
       {"dtype": "bf16", "format": "e4m3", "block": "128x128"}),
    plain("softmax", reference.softmax, ("x",)),
    plain("softmax", reference.softmax_causal, ("x",), "causal", {"set causal": "1"}, shapes=LARGE),
    plain("layer_norm", reference.layer_norm, ("x", "weight", "bias"), shapes=LARGE),
    quantizing("layer_norm_quant", "1x128", reference.layer_norm_blocks, ("x", "weight", "bias")),
    quantizing("gelu_mul_quant", "1x128", reference.gelu_mul_blocks, ("wide",), shapes=LARGE),
    quantizing("relu2_quant", "1x128", reference.relu2_blocks, ("x",), shapes=LARGE),
    quantizing("gelu_bias_quant", "1x128", reference.gelu_bias_blocks, ("x", "bias")),
    plain("rope", reference.rope, ("x", "cos", "sin", "positions"), shapes=LARGE, others={"max_position": 32768}),
    quantizing("rope_quant", "1x128", reference.rope_blocks, ("x", "cos", "sin", "positions"), shapes=LARGE,
               others={"max_position": 32768}),
    plain("embedding", reference.embedding, ("table", "table scale", "ids"), "1x128", E4M3, shapes=LARGE,
          others={"vocabulary": 65536}),
    plain("moe_permute", reference.moe_permute, ("sources", "source"), shapes=LARGE, others={"sources": 8192}),
    quantizing("moe_permute_quant", "1x128", reference.moe_permute_blocks, ("sources", "source"), shapes=LARGE,
               others={"sources": 8192}),
    plain("moe_unpermute", reference.moe_unpermute, ("permuted", "permuted scale", "index", "expert weight"), "1x128", E4M3,
          shapes=LARGE, others={"permuted": 32768}),
    Op("kv_append", "1x128", reference.kv_append,
       ("k", "v", "head weight", "cos", "sin", "positions", "slots", "k cache", "k scale", "v cache", "v scale"), (),
       {"dtype": "bf16", **E4M3}, shapes=((16384, 1024),), others={"slots": 65536, "max_position": 32768}),
    gemv("1x128", reference.gemv, ("w codes", "w scale", "k vector"), "n vector"),
    gemv("bf16 weights", reference.matvec, ("w bf16", "k vector"), "n vector"),
    gemv("f32 weights", reference.matvec, ("w f32", "k vector f32"), "n vector f32"),
    matmul(1, (16384, 16384)), *(matmul(m, *GEMV) for m in (2, 4, 8, 16, 32, 64)),
    scaled_matmul(64, (16384, 16384)),
    *(scaled_matmul(m, *shapes, block=block, of_codes=False)
      for m, block, shapes in ((1, "1x128", GEMV[:1]), *((m, "1x128", GEMV) for m in (2, 4, 8, 16, 32, 64)),
                               (64, "1x*", GEMV[:1]))),
    prefill("bf16 causal prompt", 32, 128, causal="1"), prefill("bf16 prompt", 1, 512), prefill("f32 prompt", 1, 512, dtype=" f32"),
    attention(64, 1024, h=64), attention(8, 512), attention(1, 2048), attention(64, 64), attention(8, 64), attention(1, 64),
)


def same_codes(expected, given):
    """Whether pairs of codes and scales are; a code may differ by one step of E4M3."""
    a, b = reference.dequantized(*expected), reference.dequantized(*given)
    return torch.allclose(a, b, rtol=0.15, atol=2e-3 * a.abs().max().item())


def close(op, inputs, call):
    """Why a peer's results are not the op's; nothing if they are."""
    mine, theirs = ([tensor.clone() for tensor in inputs] for _ in range(2))
    expected, given = op.reference(*mine), call(*theirs)
    if len(given) != len(op.results):
        return "its results are fewer or more"
    one = torch.ones(1, 1, device=DEVICE)
    for i, name in enumerate(op.results):
        content = RESULTS[name].content
        a, b = expected[i], given[i].view(expected[i].shape)
        if content == "scales" and not torch.allclose(a, b, rtol=1e-2):
            return "its scales are others"
        if content == "plain" and not torch.allclose(a.float(), b.float(), rtol=2e-2, atol=2e-3 * a.abs().max().item()):
            return "its values are others"
        if content == "codes":
            scaled = i + 1 < len(op.results)
            pairs = [(codes, results[i + 1].view(expected[i + 1].shape) if scaled else one)
                     for codes, results in ((a, expected), (b, given))]
            if not same_codes(*pairs):
                return "its codes are others"
    for name, of_codes in UPDATED.items():
        if name in op.inputs:
            at, scale = op.inputs.index(name), op.inputs.index(of_codes) if of_codes else None
            if scale is not None and not same_codes((mine[at], mine[scale]), (theirs[at], theirs[scale])):
                return f"its {name} is another"
            if scale is None and not torch.allclose(mine[at], theirs[at], rtol=1e-2):
                return f"its {name} is another"
    return None
