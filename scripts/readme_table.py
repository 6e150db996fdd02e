#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Writes the measured tables of README.md, between its two `results` markers, from bench/results/*.json.

    scripts/readme_table.py           rewrites README.md
    scripts/readme_table.py --check   exit status 1 unless README.md already holds these tables

The schema of the results is in bench/README.md. Shown are all tests, all latencies, of measured ops what a target was
set for or a peer stands beside, at the largest shape, and of tuning the summary, whatever it says; `eider report` shows
every cell.
"""
import argparse
import json
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BEGIN, END = "<!-- results: scripts/readme_table.py -->", "<!-- end of results -->"
OF_HARDWARE = 1.03  # the software codec's time over the hardware's
FEATHER = {  # its cells: ours, and how many times as fast as FP32 its paper has them on a GPU without such instructions
    "gemv 16384 × 16384, 1x128": ("gemv", {"n": 16384, "k": 16384}, "3.3 (E5M2), 2.1 (E4M3)"),
    "attention of 8192 tokens over themselves, one head of 512": ("attention_prefill", {"s": 8192, "h": 1, "d": 512}, "3.3")}
SHOWN_WIDTHS = (2048, 2560, 3584, 4096, 5120, 5376, 6144, 7168, 8192, 11008, 14336, 18432, 28672)  # of those in widths.json
NONE = ("No results are committed yet: `bench/results/` holds none. `build/bin/eider bench --device cuda --json FILE` and\n"
        "`build/bin/bench-latency --json FILE` measure them on a machine with a GPU.")


def load(directory):
    """The results in a directory, by file name, but for profiles, which are for losses.py, what is no run, and schedules that
    were tried. A file of another schema is a ValueError."""
    documents = []
    for path in sorted(path for path in directory.glob("*.json") if path.stem not in ("profile", "instructions", "schedules")):
        document = json.loads(path.read_text())
        if document.get("schema") != 1:
            raise ValueError(f"{path}: schema {document.get('schema')!r}, 1 is known here")
        documents.append(dict(document, bench="widths") if path.stem == "widths" else document)
    return documents


def machine_line(document):
    machine = document["machine"]
    driver = machine.get("driver")
    parts = [machine["device"], machine["target"]]
    if machine.get("multiprocessors") and driver:
        parts.append(f"{machine['multiprocessors']} multiprocessors")
        parts.append(f"driver for CUDA {driver // 1000}.{driver % 1000 // 10}")
    runs = {}
    for cell in document["cells"]:
        if run := cell.get("run"):
            key = f"{run['target']}, {run['date'][:10]}, commit {run['commit'][:12]}"
            runs[key] = runs.get(key, 0) + 1
    earlier = "".join(f"; {count} cells of {key}" for key, count in runs.items())
    return f"`{document['bench']}` · {' · '.join(parts)} · {document['date'][:10]} · commit {document['commit'][:12]}{earlier}"


def case(cell):
    """What was measured, in words: params that are given, and the extents."""
    params = [f"rows {value} apart" if name == "padding" else value for name, value in cell["params"].items()
              if value and name != "schedule"]
    rows_first = sorted(cell["shape"].items(), key=lambda dim: dim[0] not in ("tokens", "n"))
    extents = " × ".join(str(extent) for _, extent in rows_first)
    schedule = cell["params"].get("schedule")
    return cell["op"], " ".join(params) + (f" `{schedule}`" if schedule else ""), extents


def number(value):
    return f"{value:.3f}" if abs(value) < 10 else f"{value:.1f}"


def verdict(cell):
    """What was asked of the cell, and whether it is met. No target: nothing."""
    if target := cell.get("target_difference"):
        met = cell["value"] - cell["baseline_value"] <= target
        return f"≤ baseline + {target:g}: " + ("met" if met else "**missed**")
    if target := cell.get("target"):
        met = cell.get("ratio", cell["value"]) <= target
        return f"≤ {target:g}: " + ("met" if met else "**missed**")
    return ""


def of_hardware(cell, cells):
    """The software codec is asked to be as fast as the hardware's: against the same cell with that, or nothing."""
    if cell["params"].get("codec") != "software":
        return ""
    twin = dict(cell["params"], codec="hardware")
    for other in cells:
        if (other["op"], other["shape"], other["params"]) == (cell["op"], cell["shape"], twin):
            ratio = cell["value"] / other["value"]
            verdict = "met" if ratio <= OF_HARDWARE else "**missed**"
            return f"≤ {OF_HARDWARE} × hardware, is {ratio:.3f}: {verdict}"
    return ""


def row(cells):
    return "| " + " | ".join(cells) + " |"


def against_memcpy(cells):
    lines = [row(["op", "params", "rows × columns", "Eider µs", "memcpy µs", "ratio", "asked"]),
             "|---|---|---|--:|--:|--:|---|"]
    for cell in cells:
        lines.append(row([*case(cell), number(cell["value"]), number(cell["baseline_value"]),
                          f"{cell['ratio']:.3f}", of_hardware(cell, cells) or verdict(cell)]))
    return lines


def subject(cell):
    """What a cell measures, whoever it is of: peers choose their codec and schedule themselves."""
    params = {name: value for name, value in cell["params"].items()
              if name not in ("by", "schedule") and value and (name, value) != ("codec", "auto")}
    if cell["metric"] == "time":
        params.setdefault("l2", "cold")
    return json.dumps([cell["op"], params, cell["shape"], cell["metric"]], sort_keys=True)


def beside_peers(documents):
    """A row for each thing that a peer was measured at: our time and theirs, the fastest in bold."""
    peers = [cell for document in documents for cell in document["cells"] if "by" in cell["params"]]
    names = sorted({cell["params"]["by"] for cell in peers})
    ours = {subject(cell): cell for document in documents for cell in document["cells"]
            if "by" not in cell["params"] and not cell["params"].get("schedule")}
    rows = {}
    for cell in peers:
        rows.setdefault(subject(cell), {})[cell["params"]["by"]] = cell
    lines = [row(["op", "params", "extents", "metric", "Eider", *names]), "|---|---|---|---|--:" + "|--:" * len(names) + "|"]
    for key, cells in rows.items():
        one = next(iter(cells.values()))
        shown = dict(one, params={name: value for name, value in one["params"].items() if name != "by"})
        times = [(ours.get(key) or {}).get("value"), *(cells[name]["value"] if name in cells else None for name in names)]
        best = min(time for time in times if time is not None)
        texts = ["–" if time is None else f"**{number(time)}**" if time == best else number(time) for time in times]
        lines.append(row([*case(shown), f"`{one['metric']}` {one['unit']}", *texts]))
    return lines


def absent(document):
    """The peers that were to be measured, and why they were not."""
    late = "no time was left"
    missing = document.get("absent", {})
    reasons = [f"{name} ({why})" for name, why in missing.items() if why != late]
    if count := sum(why == late for why in missing.values()):
        reasons.append(f"{count} cells ({late})")
    return "Not measured: " + "; ".join(reasons) if reasons else ""


def plain(cells):
    lines = [row(["op", "params", "extents", "metric", "value", "baseline", "asked"]),
             "|---|---|---|---|--:|--:|---|"]
    for cell in cells:
        beside = ""
        if "baseline" in cell:
            beside = f"{number(cell['baseline_value'])} {cell['unit']} ({cell['baseline']})"
        lines.append(row([*case(cell), f"`{cell['metric']}`", f"{number(cell['value'])} {cell['unit']}",
                          beside, verdict(cell)]))
    return lines


def launches(cells):
    """The thread's cost of a launch hardly depends on the cell: the least, the middle and the most."""
    values = sorted(cell["value"] for cell in cells)
    return [f"A prepared launch costs its thread {number(values[0])} to {number(values[-1])} µs, "
            f"{number(values[len(values) // 2])} in the middle of {len(values)} kernels."]


def tests(cells):
    """A line a step of tests: how many passed, failed, were skipped."""
    steps = {}
    for cell in cells:
        steps.setdefault(cell["params"]["step"], {})[cell["metric"]] = cell["value"]
    columns = ("passed", "failed", "skipped", "seconds")
    lines = [row(["tests on the GPU", *columns]), "|---|--:|--:|--:|--:|"]
    for step, values in steps.items():
        shown = [f"{values.get(column, 0):.0f}" for column in columns]
        if values.get("failed"):
            shown[1] = f"**{shown[1]}**"
        lines.append(row([f"`{step}`", *shown]))
    return lines


def table_of(cell):
    if "by" in cell["params"]:
        return beside_peers
    if cell["metric"] == "launch":
        return launches
    if "step" in cell["params"]:
        return tests
    return against_memcpy if cell.get("baseline") == "memcpy" else plain


def beside_weights(documents):
    """gemv of a square: how many times the speed of PyTorch's product of weights that are not quantized."""
    cells = [cell for document in documents for cell in document["cells"]
             if cell["op"] == "gemv" and cell["metric"] == "time" and cell["shape"] == {"n": 16384, "k": 16384}]
    theirs = {cell["params"]["by"]: cell for cell in cells if "by" in cell["params"]}
    plain = [theirs[name] for name in ("torch f32", "torch bf16") if name in theirs]
    if not plain:
        return []
    lines = [row(["gemv 16384 × 16384", "µs", "× memcpy", *(f"times as fast as {one['params']['by']}" for one in plain)]),
             "|---|--:|--:|" + "--:|" * len(plain)]
    for cell in sorted(cells, key=lambda cell: ("by" not in cell["params"], cell["params"].get("codec", ""), cell["value"])):
        if cell["params"].get("codec") == "auto":
            continue  # the hardware's, again
        params = cell["params"]
        name = params.get("by") or f"Eider {params['format']} {params['block']}, {params['codec']} codec"
        lines.append(row([name, number(cell["value"]), f"{cell['ratio']:.3f}",
                          *(f"{one['value'] / cell['value']:.2f}" for one in plain)]))
    return lines


def is_older(document):
    """Whether the code is for an older target than the GPU, for which all codecs are the software's."""
    return document["machine"]["target"].startswith("sm_8")


def in_pages(shape):
    """The shape of a cache with its tokens in pages of 16, as the cells of peers and most of ours have it."""
    if "max_tokens" not in shape:
        return shape
    pages = shape["max_tokens"] // 16
    others = {name: extent for name, extent in shape.items() if name != "max_tokens"}
    return others | {"page": 16, "pages": shape["b"] * pages, "max_pages": pages}


def beside_older(documents):
    """gemv and decode in code for an older target, beside this GPU's: by software, and as it is."""
    times = {}
    for document in documents:
        for cell in document["cells"]:
            params = cell["params"]
            if (cell["op"] in ("gemv", "attention_decode") and cell["metric"] == "time" and "by" not in params and not params.get("schedule")
                    and params.get("l2", "cold") == "cold"):
                kind = "older" if is_older(document) else "software" if params["codec"] == "software" else "own"
                of_case = {name: value for name, value in params.items() if name != "codec"}
                key = json.dumps([cell["op"], of_case, cell["shape"]], sort_keys=True)
                times.setdefault(key, {})[kind] = cell["value"]
    lines = [row(["op", "codes", "extents", "code for sm_80, µs", "by software, µs", "as it is, µs", "speed of the first beside the last"]),
             "|---|---|---|--:|--:|--:|--:|"]
    for key, found in sorted(times.items()):
        if {"older", "own"} <= found.keys():
            op, params, shape = json.loads(key)
            given = {"set scale_axes": "axes of scales", "set value_columns": "value columns"}
            codes = ", ".join([f"{params['format']} {params.get('block', '')}".strip(),
                               *(f"{params[name]} {what}" for name, what in given.items() if params.get(name)),
                               *(["contiguous"] if "max_tokens" in shape else []),
                               *([f"{shape['blocks']} blocks a head"] if "blocks" in shape else [])])
            extents = (f"{shape['n']} × {shape['k']}" if op == "gemv" else
                       f"{shape['b']} × {in_pages(shape)['max_pages'] * in_pages(shape)['page']}, {shape['h']} heads of {shape['d']}")
            lines.append(row([op, codes, extents, *(number(found[kind]) if kind in found else "–" for kind in ("older", "software", "own")),
                              f"{found['own'] / found['older']:.2f}"]))
    return lines if len(lines) > 2 else []


def beside_feather(documents):
    """The two cells that Feather is known for, each beside PyTorch's FP32 on the same GPU: what it reports, and ours."""
    found = {}
    for document in sorted(documents, key=lambda document: document["date"]):
        older = is_older(document)
        for cell in document["cells"]:
            params, shape = cell["params"], cell["shape"]
            if older or cell["metric"] != "time" or params.get("l2", "cold") != "cold" or params.get("schedule"):
                continue
            name = next((name for name, (op, extents, _) in FEATHER.items()
                         if cell["op"] == op and extents.items() <= shape.items() and params.get("block", "1x128") == "1x128"), None)
            if name and params.get("by", "torch f32") == "torch f32" and params.get("set causal", "0") == "0":
                found[name, params.get("by") or (params["format"], params["codec"] == "software")] = cell["value"]
    kinds = [(format, by_software) for by_software in (True, False) for format in ("e5m2", "e4m3")]
    lines = [row(["times as fast as FP32", "Feather reports", *(f"Eider, {format.upper()}" + (" by software" if by_software else "")
                                                                for format, by_software in kinds)]), "|---|--:|" + "--:|" * len(kinds)]
    for name, (_, _, reported) in FEATHER.items():
        if (name, "torch f32") in found:
            times = [found.get((name, kind)) for kind in kinds]
            lines.append(row([name, reported, *(f"{found[name, 'torch f32'] / time:.2f}" if time else "–" for time in times)]))
    return lines if len(lines) > 2 else []


def beside_bf16_caches(documents):
    """attention_decode over codes beside PyTorch's back ends over bf16, by batch and context."""
    cells = [cell for document in documents for cell in document["cells"]
             if cell["op"] == "attention_decode" and cell["metric"] == "time" and cell["params"].get("l2", "cold") == "cold"]
    theirs, ours = {}, {}
    for cell in cells:
        shape = json.dumps(in_pages(cell["shape"]), sort_keys=True)
        if by := cell["params"].get("by"):
            theirs.setdefault(shape, {})[by] = cell["value"]
        elif cell["params"]["format"] == "e4m3" and cell["params"]["codec"] == "auto" and not cell["params"].get("schedule"):
            ours.setdefault(shape, {})["contiguous" if "max_tokens" in cell["shape"] else "pages"] = cell["value"]
    names = sorted({by for peers in theirs.values() for by in peers})
    lines = [row(["sequences × tokens, query heads over 8", "E4M3 in", "Eider µs", *(f"{name}, BF16 µs" for name in names),
                  "times the fastest of these"]), "|---|---|--:|" + "--:|" * (len(names) + 1)]
    for shape, peers in theirs.items():
        extents = json.loads(shape)
        for kind, value in ours.get(shape, {}).items():
            lines.append(row([f"{extents['b']} × {extents['max_pages'] * extents['page']}, {extents['h']}",
                              "pages of 16" if kind == "pages" else "one row a sequence", number(value),
                              *(number(peers[name]) if name in peers else "–" for name in names), f"{min(peers.values()) / value:.2f}"]))
    return lines if len(lines) > 2 else []


def beside_bf16_products(documents):
    """Products of some rows by codes, of bf16 and of codes, beside PyTorch's of bf16 weights, by rows and weights."""
    theirs, ours = {}, {}
    for document in documents:
        for cell in document["cells"]:
            params, shape = cell["params"], json.dumps(cell["shape"], sort_keys=True)
            if (cell["op"] in ("matmul_skinny", "scaled_matmul") and cell["metric"] == "time" and params.get("l2", "cold") == "cold"
                    and not params.get("schedule")):
                if "by" in params:
                    theirs.setdefault(shape, {}).setdefault(params["by"], cell["value"])
                else:
                    ours.setdefault((shape, params["format"], params["block"]), {}).setdefault(cell["op"], cell["value"])
    lines = [row(["rows, n × k", "weights", "x of BF16, µs", "x of codes, µs", "PyTorch's of BF16, µs", "times that, x of BF16", "x of codes"]),
             "|---|---|--:|--:|--:|--:|--:|"]
    for (shape, kind, block), by in sorted(ours.items(), key=lambda item: ([json.loads(item[0][0])[dim] for dim in "nkm"], item[0][1:])):
        extents, bf16 = json.loads(shape), theirs.get(shape, {}).get("torch bf16")
        if bf16 and len(by) == 2:
            lines.append(row([f"{extents['m']}, {extents['n']} × {extents['k']}", f"{kind} {block}",
                              *(number(by[op]) for op in ("matmul_skinny", "scaled_matmul")), number(bf16),
                              *(f"{bf16 / by[op]:.2f}" for op in ("matmul_skinny", "scaled_matmul"))]))
    return lines if len(lines) > 2 else []


def beside_prompts(documents):
    """attention_prefill over codes beside PyTorch's back ends over what is no codes, an extent each: the newest of each
    cell; and the documents that ours are of."""
    newest = {}
    for document in sorted(documents, key=lambda document: document["date"]):
        older = is_older(document)
        for cell in document["cells"]:
            if (cell["op"] == "attention_prefill" and cell["metric"] == "time" and cell["params"].get("l2", "cold") == "cold"
                    and not (older and cell["params"]["codec"] != "software")):
                code = f", code for {document['machine']['target']}" if older else ""
                newest[json.dumps([cell["shape"], cell["params"], code], sort_keys=True)] = dict(cell, code=code), document
    cells, tables = [cell for cell, _ in newest.values()], []
    for shape in sorted({json.dumps(cell["shape"], sort_keys=True) for cell in cells}):
        of_shape = sorted((cell for cell in cells if cell["shape"] == json.loads(shape)), key=lambda cell: -cell["value"])
        theirs = [cell for cell in of_shape if "by" in cell["params"]]
        extents = json.loads(shape)
        causal = ", causal" if of_shape[0]["params"].get("set causal") == "1" else ""
        lines = [row([f"attention of {extents['s']} tokens over themselves, {extents['h']} × {extents['d']}{causal}", "µs",
                      *(f"times as fast as {cell['params']['by']}" for cell in theirs)]), "|---|--:|" + "--:|" * len(theirs)]
        for cell in of_shape:
            params = cell["params"]
            name = params.get("by") or f"Eider {params['format']}, {'software codec' if params['codec'] == 'software' else 'as it is'}{cell['code']}"
            lines.append(row([name, number(cell["value"]), *(f"{one['value'] / cell['value']:.2f}" for one in theirs)]))
        if theirs and len(lines) > 2 + len(theirs):
            tables.append(lines)
    ours = [document for document in documents if any(one is document and "by" not in cell["params"] for cell, one in newest.values())]
    return tables, ours


def linears(documents):
    """A linear layer in FP8 beside the same in BF16: its parts and what they share of the time; of few rows also one kernel for x as it is."""
    ours = [cell for document in documents for cell in document["cells"] if cell["op"] == "fp8_linear"]
    of_parts = {}
    for cell in ours:
        params = cell["params"]
        if "block" in params:
            key = json.dumps([cell["shape"], params["block"], params.get("sums", "")], sort_keys=True)
            of_parts.setdefault(key, {})[params["part"]] = cell
    many = [row(["rows × outputs × inputs", "scales of x, sums", "product µs", "cast µs", "of the product", "in the norm, more than the norm",
                 "cast and product, times as fast as BF16", "with the norm"]), "|---|---|--:|--:|--:|--:|--:|--:|"]
    few = [row(["rows × outputs × inputs, rows of bf16", "scales of weights", "Eider µs", "BF16 by cuBLASLt µs", "times as fast"]), "|---|---|--:|--:|--:|"]
    for key, parts in of_parts.items():
        shape, block, sums = json.loads(key)
        name = f"{shape['m']} × {shape['n']} × {shape['k']}"
        if own := parts.get("linear of bf16"):
            few.append(row([name, "1x*" if block == "1x*" else "128x128", number(own["value"]), number(own["baseline_value"]), f"{1 / own['ratio']:.2f}"]))
        if not {"linear", "product", "cast", "norm and cast", "norm, linear"} <= set(parts):
            continue
        whole = parts["linear"]
        product, cast, fused = parts["product"]["value"], parts["cast"], parts["norm and cast"]
        more = (fused["value"] - fused["baseline_value"]) / product
        many.append(row([name, f"{block}, {sums}", number(product), number(cast["value"]), f"{100 * cast['ratio']:.1f} %", f"{100 * more:.1f} %",
                         f"{1 / whole['ratio']:.2f}", f"{1 / parts['norm, linear']['ratio']:.2f}"]))
    return [lines for lines in (many, few) if len(lines) > 2]


def layers(documents):
    """A transformer's decode layer beside PyTorch's in BF16, and how many sequences fit."""
    ours = [cell for document in documents for cell in document["cells"] if cell["op"] == "decode_layer"]
    times, peers, rates, fits = {}, {}, {}, {}
    for cell in ours:
        key = (cell["params"]["model"], cell["shape"].get("sequences"), cell["shape"]["context"])
        activations = cell["params"].get("activations", "bf16")
        if "by" in cell["params"]:
            peers.setdefault(key, {}).setdefault(cell["params"]["by"], {})[cell["metric"]] = cell
        elif cell["metric"] == "time":
            times[*key, activations] = cell
        elif cell["metric"] == "tokens_per_second":
            rates[*key, activations] = cell["value"]
        elif cell["metric"] == "sequences_that_fit":
            fits.setdefault((key[0], key[2]), {})[cell["params"]["format"], cell["params"]["cache"]] = cell["value"]
    names = sorted({by for found in peers.values() for by in found})
    of_peers = [f"{name} {what}" for name in names for what in ("µs", "tokens/s")]
    lines = [row(["decode layer", "sequences × tokens", "activations", "GB", "Eider µs", "TB/s", "tokens/s", *(["GB in BF16"] if names else []), *of_peers,
                  "times the fastest of these"]), "|---|---|---|--:|--:|--:|--:|" + "--:|" * (len(of_peers) + bool(names) + 1)]
    for (model, sequences, context, activations), mine in times.items():
        theirs = peers.get((model, sequences, context), {})
        of_peers = []
        for name in names:
            time, rate = (theirs.get(name, {}).get(metric) for metric in ("time", "tokens_per_second"))
            of_peers += [number(time["value"]) if time else "–", f"{rate['value']:.0f}" if rate else "–"]
        moved = [one["time"]["bytes"] for one in theirs.values() if "bytes" in one.get("time", {})]
        fastest = min((one["time"]["value"] for one in theirs.values() if "time" in one), default=None)
        lines.append(row([model, f"{sequences} × {context}", activations, f"{mine['bytes'] * 1e-9:.2f}", number(mine["value"]),
                          f"{mine['bytes'] / mine['value'] * 1e-6:.2f}", f"{rates.get((model, sequences, context, activations), 0):.0f}",
                          *([f"{moved[0] * 1e-9:.2f}" if moved else "–"] if names else []), *of_peers, f"{fastest / mine['value']:.2f}" if fastest else "–"]))
    room = [row(["sequences that fit", "weights and cache BF16", "weights E4M3, cache BF16", "weights and cache E4M3"]), "|---|--:|--:|--:|"]
    for (model, context), cells in fits.items():
        room.append(row([f"{model}, of {context} tokens", *(f"{cells.get(pair, 0):.0f}" for pair in (("bf16", "bf16"), ("e4m3", "bf16"), ("e4m3", "e4m3")))]))
    return [table for table in (lines, room) if len(table) > 2]


def at_widths(documents):
    """Rows of each program at widths of models: its time, times that of a memcpy."""
    rows, usual = {}, ("format e4m3", "block 1x128", "codec auto", "dtype bf16", "l2 cold")
    for cell in (cell for document in documents if document["bench"] == "widths" for cell in document["cells"]):
        said = [f"{name} {value}".removeprefix("set ") for name, value in cell["params"].items() if value]
        program = " ".join([cell["op"], *(word.split(" ", 1)[1] if word.split(" ")[0] in ("format", "block", "scale") else word
                                          for word in said if word not in usual)])
        rows.setdefault(program, {})[cell["shape"]["hidden"]] = cell["ratio"]
    if not rows:
        return []
    return ["| × memcpy | " + " | ".join(map(str, SHOWN_WIDTHS)) + " |", "|---|" + "--:|" * len(SHOWN_WIDTHS),
            *(f"| {program} | " + " | ".join(f"{of[width]:.2f}" if width in of else "–" for width in SHOWN_WIDTHS) + " |"
              for program, of in sorted(rows.items()))]


def is_shown(cell):
    """Whether a cell is for the README: ops at the shape that targets speak of, and what is not of one shape."""
    if cell["op"] in ("gemv", "matmul_skinny", "scaled_matmul", "attention_decode", "attention_prefill", "fp8_linear", "decode_layer"):
        return False  # beside_weights(), beside_bf16_products(), beside_bf16_caches(), beside_prompts(), linears(), layers()
    if cell["metric"] not in ("time", "launch", "tuned_time", "heuristic_time", "verified_time", "tuning"):
        return True
    largest = cell["shape"].get("tokens") == 16384 and cell["shape"].get("hidden") == 8192
    return cell["metric"] == "launch" or (cell["metric"] == "time" and largest)


def tables(documents):
    """The markdown between the markers."""
    blocks = []
    ours = [document for document in documents if not is_older(document)]
    of_gemv = [document for document in ours if any(cell["op"] == "gemv" for cell in document["cells"])]
    if feather := beside_feather(documents):
        blocks += [*(machine_line(document) for document in of_gemv), "\n".join(feather)]
    if square := beside_weights(ours):
        blocks += [*([] if feather else map(machine_line, of_gemv)), "\n".join(square)]
    if products := beside_bf16_products(ours):
        blocks += ["Some rows by such weights, nothing in L2 (`matmul_skinny`, `scaled_matmul`); of the same files:", "\n".join(products)]
    prompts, of_prefill = beside_prompts(documents)
    if prompts:
        blocks += [*(machine_line(document) for document in of_prefill), *("\n".join(lines) for lines in prompts)]
    if caches := beside_bf16_caches(ours):
        blocks += ["One token's attention over a cache, heads of 128, nothing in L2 (PyTorch's caches are contiguous); of the same files:", "\n".join(caches)]
    if older := beside_older(documents):
        blocks += ["Code for sm_80, which has no conversions of FP8, no clusters and no early launches, on the same GPU; of the same files:",
                   "\n".join(older)]
    if of_layers := layers(documents):
        of_models = [document for document in documents if document["bench"] == "llm"]
        blocks += [*(machine_line(document) for document in of_models), *("\n".join(lines) for lines in of_layers),
                   *(absent(document) for document in of_models if absent(document))]
    if shapes := linears(documents):
        of_linear = [document for document in documents if document["bench"] == "linear"]
        blocks += [*(machine_line(document) for document in of_linear), "A linear layer in FP8 (`build/bin/fp8-linear`): the cast by Eider, many rows multiplied by cuBLASLt, few by Eider.",
                   *("\n".join(lines) for lines in shapes)]
    if rows := at_widths(documents):
        blocks += [*(machine_line(document) for document in documents if document["bench"] == "widths"),
                   "Rows of widths that models have, some 2²⁷ elements of bf16 from DRAM, to E4M3 by 1x128 unless it says otherwise, by the heuristic's schedules:",
                   "\n".join(rows)]
    documents = [dict(document, cells=[cell for cell in document["cells"] if is_shown(cell)]) for document in documents
                 if document["bench"] != "widths" and any(map(is_shown, document["cells"])) and not is_older(document)]
    for document in documents:
        blocks.append(machine_line(document))
        for table in (against_memcpy, launches, plain, tests):
            cells = [cell for cell in document["cells"] if table_of(cell) is table]
            blocks += ["\n".join(table(cells))] if cells else []
        if any(table_of(cell) is beside_peers for cell in document["cells"]):
            mine = [{"cells": [cell for cell in other["cells"] if "by" not in cell["params"]]} for other in documents]
            blocks.append("\n".join(beside_peers([*mine, document])))
        blocks += [absent(document)] if absent(document) else []
    return "\n\n".join(blocks) if blocks else NONE


def with_tables(readme, text):
    """README.md with `text` between its markers."""
    head, begin, rest = readme.partition(BEGIN)
    _, end, tail = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"README.md lacks the markers {BEGIN} and {END}")
    return f"{head}{BEGIN}\n{text}\n{END}{tail}"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 if README.md differs")
    arguments = parser.parse_args()
    readme = ROOT / "README.md"
    old = readme.read_text()
    try:
        new = with_tables(old, tables(load(ROOT / "bench" / "results")))
    except (ValueError, KeyError) as error:
        print(f"readme_table: {error}", file=sys.stderr)
        return 2
    if arguments.check:
        return int(old != new)
    readme.write_text(new)
    return 0


if __name__ == "__main__":
    sys.exit(main())
