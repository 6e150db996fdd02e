#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Prints where cuBLASLt is: what EIDER_CUBLASLT says, else the newest that came with PyTorch or the CUDA toolkit, else nothing."""
import glob
import os
import sysconfig

PLACES = (sysconfig.get_path("purelib") + "/nvidia/**/libcublasLt.so.1[2-9]", "/usr/local/cuda*/lib64/libcublasLt.so.1[2-9]")
found = [path for place in PLACES for path in glob.glob(place, recursive=True)]
print(os.environ.get("EIDER_CUBLASLT") or max(found, key=lambda path: path[path.rindex(".so."):], default=""))
