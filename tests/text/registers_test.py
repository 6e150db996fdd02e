# Part of Eider, under the Apache License v2.0.
"""No kernel of the heuristic's schedules keeps many registers in memory: a bound on them that is too low once made casts of widths that
models have take 2.6 times as long. Read in the machine code that NVRTC makes, with no GPU."""
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

EIDER = pathlib.Path(os.environ["EIDER_BUILD"]) / "bin" / "eider"
NVFP4 = ("--format", "e2m1", "--block", "1x16", "--scale", "e4m3")
DRAWN = ("--set", "rounding=stochastic")
WIDTHS = (2880, 5376, 13824)  # of models, and no even number of warps
PROGRAMS = (("quantize", *NVFP4), ("quantize", *NVFP4, *DRAWN), ("quantize", *DRAWN), ("quantize", "--amax", "yes"), ("rms_norm_quant",),
            ("rms_norm_quant", *NVFP4), ("rms_norm_quant", *DRAWN), ("layer_norm_quant",), ("layer_norm",), ("softmax_quant",),
            ("add_rms_norm_quant",))
WIDE = ((("layer_norm",), (14336, 18432, 28672, 32768)), (("rms_norm_quant",), (28672, 18432, 30720, 32768)),  # by a table
        (("layer_norm_quant",), (32768, 18432, 28672, 30720)), (("rms_norm_quant", "--block", "1x32", "--mode", "mx"), (18432, 28672)),
        (("layer_norm_quant", "--codec", "software"), (28672, 6144, 12288, 14336, 18432)), (("rms_norm_quant", *NVFP4), (6144, 12288)),
        (("rms_norm_quant", *DRAWN), (24576, 18432)))
COPIED = ("--copy", "bf16")
BULK = ((("softmax", "--set", "causal=1"), (16384, 7168, 8192)), (("layer_norm",), (7168, 5120, 6144)), (("layer_norm_quant", *COPIED), (7168, 5120, 8192)),
        (("rms_norm_quant", *COPIED, "--scale", "e8m0", "--scale-layout", "packed_ue8m0"), (5120, 6144, 7168, 8192)),
        (("rms_norm_quant", *COPIED, "--block", "1x32", "--mode", "mx", "--scale-layout", "swizzled_128x4"), (7168, 5120, 8192)))
# Encodings that ask more than those that a table of timed widths was chosen for.
MORE = ((("layer_norm_quant", "--mode", "deepgemm"), (2560, 3584, 5120)), (("layer_norm_quant", "--scale-source", "static"), (13824, 2560, 6144)),
        (("rms_norm_quant", "--scale-source", "static"), (2880, 3584, 13824)), (("rms_norm_quant", "--block", "1x32", "--mode", "mx"), (3584, 5376)),
        (("softmax_quant", "--scale", "bf16"), (3584, 2560)), (("softmax_quant", "--block", "1x32", "--mode", "mx"), (18432, 2560)),
        (("gelu_quant", "--block", "*x*"), (3584, 2560)),
        # Two matrices and columns beside them; squares by twice the threads.
        (("silu_mul_bias_quant",), (7168, 3072, 5120)), (("gelu_mul_bias_quant", "--codec", "software"), (7168, 5376, 8192)),
        (("silu_mul_bias_quant", "--block", "*x*"), (8192, 3072)), (("silu_quant", "--block", "128x128"), (8192, 7168)),
        (("norm_rope_quant", "--codec", "software", "--dim", "max_position=4096"), (8192, 16384)))
TABLES = ("--dim", "max_position=4096")
TURNED = ((("norm_rope_quant", *TABLES), (7168, 1024, 5120)), (("norm_rope_quant", "--set", "interleaved=1", *TABLES), (7168, 8192)),
          (("norm_rope_quant", "--dtype", "f16", *TABLES), (1024, 4096)), (("kv_append", "--dim", "slots=512", *TABLES), (7168, 1024, 8192)),
          (("kv_append", "--dim", "slots=512", "--set", "interleaved=1", *TABLES), (7168, 1024)))
UNALIGNED = (("rms_norm", 8193), ("rms_norm_quant", 8193))  # rows that begin anywhere, held as they were loaded
SOME = ((("layer_norm_quant",), (16384, 7168, 8192)), (("layer_norm",), (8192, 7168, 2048)),  # whose schedule is of some rows alone
        (("softmax_quant",), (4096, 8192, 16384)), (("softmax_quant", "--set", "causal=1"), (4096, 8192)),
        (("layer_norm_quant", "--codec", "software"), (16384, 8192)), (("layer_norm_quant", *NVFP4), (8192, 16384, 7168)))
SHARE = int(os.environ.get("EIDER_TEST_SHARE", "1"))
MOST_BYTES = 48  # of a thread: a dozen registers, moved where little else is done
TIMED = {("norm_rope_quant", "f16", 1024): 56}  # more, and faster so by a GPU (docs/design/schedules.md)
FRAME_SIZE = 0x11  # of the attributes in .nv.info: a symbol and bytes


def sections_of(image):
    offset, = struct.unpack_from("<Q", image, 0x28)
    size, count, names = struct.unpack_from("<3H", image, 0x3A)
    headers = [struct.unpack_from("<IIQQQQIIQQ", image, offset + i * size) for i in range(count)]
    texts = image[headers[names][4]:][:headers[names][5]]
    return {texts[header[0]:].split(b"\0", 1)[0].decode(): image[header[4]:][:header[5]] for header in headers}


def frames_of(cubin):
    """Bytes of local memory a thread, of each kernel by its name."""
    sections = sections_of(cubin)
    info, symbols, texts = sections[".nv.info"], sections[".symtab"], sections[".strtab"]
    frames, at = {}, 0
    while at < len(info):
        kind, attribute, size = struct.unpack_from("<BBH", info, at)
        has_value = kind == 4  # others have theirs in `size`
        if has_value and attribute == FRAME_SIZE:
            symbol, frame = struct.unpack_from("<II", info, at + 4)
            name = texts[struct.unpack_from("<I", symbols, symbol * 24)[0]:].split(b"\0", 1)[0].decode()
            frames[name] = frame
        at += 4 + (size if has_value else 0)
    return frames


def frames_of_op(op, width, arguments=()):
    """Of the kernels of an op's heuristic schedules at a width."""
    with tempfile.TemporaryDirectory() as directory:
        subprocess.run([EIDER, "build", op, *arguments, "--dim", f"hidden={width}", "--arch", "sm_90a", "--emit", "cubin",
                        "--name", "k", "-o", directory], check=True, capture_output=True)
        return {name: size for cubin in pathlib.Path(directory).glob("*.cubin") for name, size in frames_of(cubin.read_bytes()).items()}


def taken(widths, i):
    """All of them; in a quick run one."""
    return widths if SHARE == 1 else (widths[i % len(widths)],)


class Registers(unittest.TestCase):
    def test_few_are_kept_in_memory(self):
        for i, ((op, *arguments), widths) in enumerate((*((program, WIDTHS) for program in PROGRAMS), *WIDE, *MORE, *TURNED, *BULK)):
            for width in taken(widths, i):
                with self.subTest(op=op, arguments=arguments, width=width):
                    frames = frames_of_op(op, width, arguments)
                    self.assertIn(op, frames)
                    most = max((TIMED.get((op, argument, width), 0) for argument in arguments), default=0) or MOST_BYTES
                    own = {name: size for name, size in frames.items() if name in (op, f"{op}_aligned") and size > most}
                    self.assertEqual(own, {})

    def test_some_rows_are_in_registers(self):
        for i, ((op, *arguments), widths) in enumerate(SOME):
            for width in taken(widths, i):
                with self.subTest(op=op, arguments=arguments, width=width):
                    self.assertLessEqual(frames_of_op(op, width, arguments)[f"{op}_some_rows"], MOST_BYTES)

    def test_rows_that_begin_anywhere_are_in_registers(self):
        for op, width in UNALIGNED:
            with self.subTest(op=op, width=width):
                self.assertEqual(frames_of_op(op, width)[op], 0)


if __name__ == "__main__":
    unittest.main()
