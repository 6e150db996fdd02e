# Part of Eider, under the Apache License v2.0.
#
# Configuration of the lit suite. Tools are found in the build and in LLVM alone.
import os

import lit.formats

config.name = "eider"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir"]
# What a machine has tuned changes no text here.
config.environment["EIDER_TUNING"] = "off"
config.test_source_root = os.path.dirname(__file__)
config.environment["PATH"] = os.pathsep.join(
    [config.eider_tools, config.llvm_tools, config.environment["PATH"]])
