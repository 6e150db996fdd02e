# Part of Eider, under the Apache License v2.0.
"""Writes OP.safetensors for every op of `eider list`: python3 inputs.py EIDER DIRECTORY [TOKENS HIDDEN].

Says a line an op: its name, and `blocks` if its y may have any format and block, `tiles` if also its
transpose, whose rows have blocks, `rows` if its blocks are of one row, or of heads, `codes` if it has other codes, or updates codes that are given, else `plain`. Shapes are odd on
purpose: rows have partial blocks and ends that no vector reaches; rows of heads are whole heads. What is chosen by an index has
more rows than choose; an index chooses each at most once, and now and then none.
"""

import json
import pathlib
import random
import re
import struct
import subprocess
import sys

DIMS = {}
NAMES = {"f32": "F32", "bf16": "BF16", "f16": "F16", "f8E4M3FN": "F8_E4M3", "f8E5M2": "F8_E5M2", "i32": "I32", "i64": "I64"}


def extent(text):
    """The value of `tokens`, `2 * hidden`, `ceildiv(hidden, 128)`."""
    if division := re.fullmatch(r"ceildiv\((.*), (\d+)\)", text):
        return -(-extent(division[1]) // int(division[2]))
    if product := re.fullmatch(r"(\w+) \* (.*)", text):
        return extent(product[1]) * extent(product[2])
    return DIMS[text] if text in DIMS else int(text)


def values(dtype, count, source):
    """Positive f32, of use as scales too; bf16 of both signs; finite codes."""
    if dtype == "f32":
        return struct.pack(f"<{count}f", *(source.uniform(0.001, 2) for _ in range(count)))
    if dtype == "bf16":
        floats = struct.pack(f"<{count}f", *(source.gauss(0, 3) for _ in range(count)))
        return b"".join(floats[4 * i + 2 : 4 * i + 4] for i in range(count))
    return bytes(source.choice((0, 128)) + source.randrange(0x78) for _ in range(count))


def integers(dtype, numbers):
    return struct.pack(f"<{len(numbers)}{ {'i32': 'i', 'i64': 'q'}[dtype] }", *numbers)


def indices(dtype, count, rows, source, none=0.1):
    """Rows of so many, each once while there are enough; some are none."""
    chosen = [row % rows for row in source.sample(range(max(rows, count)), count)]
    return integers(dtype, [source.choice((-1, rows)) if source.random() < none else row for row in chosen])


def ends(dtype, count, rows, source):
    """Where so many groups of rows end: some have none, and some rows no group."""
    return integers(dtype, sorted(source.randrange(rows + 1) for _ in range(count)))


def main(eider, directory, tokens=261, hidden=1173):
    listing = subprocess.run([eider, "list", "--json"], check=True, capture_output=True)
    for op in json.loads(listing.stdout)["ops"]:
        source = random.Random(op["name"])
        header, data = {}, b""
        settings = {setting["name"]: setting["default"] for setting in op["settings"]}
        DIMS.update({dim: 2 * int(tokens) + 3 for dim in op["dims"]}, tokens=int(tokens), m=9, groups=4, batches=4, n=int(tokens), k=int(hidden), hidden=3 * settings.get("head", 0) or int(hidden))
        if attends := "kv_heads" in op["dims"]:
            DIMS.update(b=4, h=8, kv_heads=2, d=128 if op["name"].endswith("_quant") else 64, page=16, max_pages=5, pages=23, scales=2)
        scaled = [name for tensor in op["outputs"] + op.get("inouts", []) if (name := tensor["name"]) in ("y", "k_cache", "v_cache")]
        second = [{"name": f"{name}_global_scale", "dtype": "f32", "shape": ["1"]} for name in scaled]  # of two levels of scales
        for tensor in op["inputs"] + op.get("inouts", []) + second:
            shape = [extent(text) for text in tensor["shape"]]
            count = 1
            for n in shape:
                count *= n
            if chosen := tensor.get("chooses_from"):
                content = indices(tensor["dtype"], count, extent(chosen), source, none=0 if attends else 0.1)
            elif rows := tensor.get("rises_to"):
                content = ends(tensor["dtype"], count, extent(rows), source)
            elif most := tensor.get("most_of_each"):
                content = integers(tensor["dtype"], [source.randrange(extent(most) + 1) for _ in range(count)])
            else:
                content = values(tensor["dtype"], count, source)
            header[tensor["name"]] = {
                "dtype": NAMES[tensor["dtype"]],
                "shape": shape,
                "data_offsets": [len(data), len(data) + len(content)],
            }
            data += content
        text = json.dumps(header).encode()
        path = pathlib.Path(directory) / f"{op['name']}.safetensors"
        path.write_bytes(struct.pack("<Q", len(text)) + text + data)
        params = op["parameters"]
        writes = [tensor["name"] for tensor in op["outputs"]]
        kind = "codes" if "--format" in params else "plain"
        updates_codes = any(tensor["name"] in writes and tensor["dtype"].startswith("f8") for tensor in op["inputs"])
        if "--scale-source" in params and not updates_codes:
            kind = "tiles" if "yt" in writes else "rows" if "--index" in params or attends else "blocks"
        print(op["name"], kind)


if __name__ == "__main__":
    main(*sys.argv[1:])
