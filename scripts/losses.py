#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Writes bench/results/losses.md: every timed cell of ops.json, and of sm_80.json what is held beside it, those that miss most first, and what their profiles say.

    scripts/losses.py             rewrites the page
    scripts/losses.py --check     exit status 1 unless the page is already what the results give
    scripts/losses.py --misses    one line of JSON a miss: the cell, and the arguments of the `eider bench` (or `program`) of it
                                  alone, under EIDER_TARGET if it has a target

From ops.json, sm_80.json, linear.json, peers.json, tune.json and profile.json in bench/results/ (--results DIR), of which only the
first must be there. The schema is in bench/README.md. A cell is judged by what is asked of it: its target beside a memcpy; of the
software codec, the hardware's time; of code for an older target, that of code for this GPU; of an odd shape, its even
neighbour's ratio; of a linear layer, the same in BF16; and the peer that comes off best. Its time is the
tuned one where there is a record that is faster than the heuristic; of a shape at which only peers.json has ours, that in turn.
"""
import argparse
import dataclasses
import json
import pathlib
import sys

import readme_table
from readme_table import OF_HARDWARE, in_pages, number, row, subject

ODD = 1.15          # an odd shape's ratio to a memcpy over its even neighbour's
MACHINES = 1.03     # by how much machines of one kind differ
PIECE, SMALL_PIECE = 4096, 512  # bytes that a memcpy copies as fast as it can, from 1 MiB on and below
SMALL_US, SMALL_PEER = 20, 1.05  # below so many microseconds a peer may lead by so much,
OVER_EMPTY = 0.5                 # or a kernel take so much longer than an empty one
SKINNY, SKINNY_ROWS, SKINNY_SHARE = 1.7, 16, 0.9  # times PyTorch's bf16; up to so many rows, of gemv's bandwidth
WEIGHTS = {"torch f32": 4, "torch bf16": 2}  # peers whose weights are not quantized: how many times their speed a square has,
BACK_ENDS = {"torch cudnn", "torch flash"}  # of attention over a cache of bf16: the faster one is held beside ours,
ATTENTION = {(64, 1024): 1.9, (8, 512): 1.9, (1, 2048): 1.9}  # so many times its speed, of so many sequences and pages; else 1
PREFILL = {"torch f32": 10}  # the same of a sequence over itself; else 1
SQUARE, SQUARE_SUM = 16384, 0.95  # of so many rows, and the share of the speed at which a plain sum reads as many bytes
LARGE_SUM, LARGE_BYTES = 0.85, 64e6  # the same share of other weights of more bytes
OLDER, OLDER_SHARE = ("gemv", "attention_decode"), 0.95  # of code for an older target, the share of the speed of this GPU's
BYTES = ("e4m3", "e5m2")  # the formats of which the table of products speaks; of others, no more than the peers' times are asked
OLDER_PREFILL, LINEAR = "attention_prefill", "fp8_linear"
FLAGS = {"dtype": "--dtype", "format": "--format", "block": "--block", "from_format": "--from-format",
         "from_block": "--from-block", "from_scale": "--from-scale", "from_scale_layout": "--from-scale-layout",
         "scale": "--scale", "scale_layout": "--scale-layout", "scale_source": "--scale-source", "mode": "--mode",
         "index": "--index", "copy": "--copy", "transposed": "--transposed",
         "amax": "--amax", "codec": "--codec"}


def load(directory, name):
    """A file of results, or nothing if it is not there. Another schema is a ValueError."""
    path = directory / f"{name}.json"
    if not path.exists():
        return None
    document = json.loads(path.read_text())
    if document.get("schema") != 1:
        raise ValueError(f"{path}: schema {document.get('schema')!r}, 1 is known here")
    return document


def cells_of(document, metric):
    return [cell for cell in document["cells"] if cell["metric"] == metric] if document else []


@dataclasses.dataclass
class Peer:
    cell: dict
    beside: bool  # whether it was measured at the commit of our cell
    is_before: bool  # and whether before that

    def in_turn(self, figure):
        """What ours took in turn with it; nothing where it has not been measured, or has become slower since, beside its memcpy by more
        than machines differ: short times of two processes differ by more, and those of a memcpy with them."""
        ours = self.cell.get("eider_value")
        if not ours or not self.is_before:
            return ours
        then = ours / beside_whole_pieces(self.cell, figure)["baseline_value"]
        now = figure["value"] / figure["baseline_value"]
        return None if now > MACHINES * then else ours


class Case:
    """A cell, and what is asked of it: pairs of what it is held against, and how many times as much it is as it may be."""

    def __init__(self, cell, tuned, record):
        self.cell = cell  # of the heuristic's schedule, or of the one that there is
        # Each beside the memcpy of its own run, which differs by more than a schedule does where times are short. Of the
        # tuner's schedule the bench's own time counts where there is one: the tuner's may be 2 % less.
        self.judged = min((time for time in (cell, tuned or record) if time), key=lambda time: time.get("ratio", float("inf")))
        self.schedule = record["params"]["schedule"] if record and self.judged is not cell else ""
        self.asked = []
        self.peers = []
        self.peer = None  # of them the one that comes off best
        self.is_own = True  # measured with the schedule that it is judged by
        self.weights = []  # peers of weights, or of a cache, that are not quantized

    def ask(self, what, share):
        self.asked.append((what, share))

    @property
    def worst(self):
        return max((share for _, share in self.asked), default=0)

    @property
    def missed(self):
        return [(what, share) for what, share in self.asked if share > 1]


def beside_whole_pieces(record, cell):
    """A record of the tuner, or of a peer, with the faster memcpy of its own and the cell's, unless it says what was copied: older ones
    stood beside a memcpy of half of the bytes, which is slower where that is no whole pieces."""
    half = record.get("bytes", 0) // 2 if record and "copied" not in record else 0
    piece = PIECE if half >= 1 << 20 else SMALL_PIECE
    if half % piece == 0 or not record.get("baseline_value", 0) > cell["baseline_value"]:
        return record
    return dict(record, baseline_value=cell["baseline_value"], ratio=record["value"] / cell["baseline_value"])


def commit_of(document, cell):
    return cell.get("run", document)["commit"]


def date_of(document, cell):
    return cell.get("run", document)["date"]


def in_turn(cell):
    """The case of a shape that ops.json lacks: what ours took in turn with a peer, by the heuristic's schedule."""
    params = {name: value for name, value in sorted(cell["params"].items()) if name != "by"}
    ours = dict(cell, params=params | {"codec": "auto"}, value=cell["eider_value"], ratio=cell["eider_value"] / cell["baseline_value"])
    return Case(ours, None, None)


def cases_of(ops, tune, peers):
    """The cases of ops.json, and those of other shapes that peers.json has, unjudged, by subject."""
    records = {subject(dict(cell, metric="time")): cell for cell in cells_of(tune, "tuned_time")}
    tuned = {subject(cell): cell for cell in cells_of(ops, "time") if cell["params"].get("schedule") == "tuned"}
    cases, others = {}, {}
    for cell in cells_of(ops, "time"):
        key = subject(cell)
        if cell["params"].get("schedule") != "tuned" or key not in cases:
            record = beside_whole_pieces(records.get(key), cell)
            cases[key] = case = Case(cell, tuned.get(key), record)
            case.is_own = case.judged is not record or commit_of(tune, case.judged) == commit_of(ops, cell)
    for cell in cells_of(peers, "time"):
        if cell["params"]["by"] in WEIGHTS.keys() | BACK_ENDS:
            for case in cases.values():
                if (case.cell["op"], in_pages(case.cell["shape"])) == (cell["op"], cell["shape"]):
                    case.weights.append(cell)
            continue
        key = subject(cell)
        if key in cases:
            is_later = date_of(ops, cases[key].cell) > date_of(peers, cell)
            cases[key].peers.append(Peer(cell, commit_of(peers, cell) == commit_of(ops, cases[key].cell), is_later))
        elif cell.get("eider_value") and not cell.get("eider_schedule"):
            others.setdefault(key, in_turn(cell)).peers.append(Peer(cell, True, False))
    return cases | others


def even_neighbour(case, cases):
    """The case that differs in its shape alone, which is of multiples of 128 just below."""
    shape = case.cell["shape"]
    even = {name: extent // 128 * 128 for name, extent in shape.items()}
    if even == shape or any(extent - even[name] > 8 for name, extent in shape.items()):
        return None
    return cases.get(subject(dict(case.cell, shape=even)))


def hardware_twin(case, cases):
    if case.cell["params"].get("codec") != "software":
        return None
    return cases.get(subject(dict(case.cell, params=dict(case.cell["params"], codec="hardware"))))


def most_of(peer, empty):
    """What a cell that the peer has may take, and in words. Small ones may take what an empty kernel does, and a bit."""
    by, value = peer["params"]["by"], peer["value"]
    if value >= SMALL_US:
        return value, f"≤ 1 × {by}"
    if empty and empty + OVER_EMPTY > SMALL_PEER * value:
        return empty + OVER_EMPTY, f"≤ empty kernel + {OVER_EMPTY:g} µs"
    return SMALL_PEER * value, f"≤ {SMALL_PEER:g} × {by}"


def judge_product(case, cases):
    """Few rows, held beside PyTorch's product of bf16 weights, and up to 16 beside gemv of the same weights."""
    shape = case.cell["shape"]
    is_byte = case.cell["params"]["format"] in BYTES
    for peer in case.weights:
        if peer["params"].get("l2", "cold") == case.cell["params"].get("l2", "cold"):
            times = SKINNY if is_byte else 1
            case.ask(f"≤ {'' if times == 1 else '1/'}{times} × {peer['params']['by']}", case.judged["value"] * times / peer["value"])
    params = {name: value for name, value in case.cell["params"].items() if not name.startswith("from_")}
    vectors = (cases.get(subject(dict(case.cell, op="gemv", params=params | {"codec": codec}, shape={"n": shape["n"], "k": shape["k"]})))
               for codec in ("auto", "hardware"))
    vector = next(filter(None, vectors), None)
    if vector and is_byte and shape["m"] <= SKINNY_ROWS:
        speeds = [one.cell["bytes"] / one.judged["value"] for one in (vector, case)]
        case.ask(f"≥ {SKINNY_SHARE:g} × gemv's bandwidth", SKINNY_SHARE * speeds[0] / speeds[1])


def judge_attention(case):
    """A cache of codes, held beside PyTorch's fastest back end over one of bf16."""
    peers = [peer for peer in case.weights if peer["params"].get("l2", "cold") == case.cell["params"].get("l2", "cold")]
    if peers:
        best, shape = min(peers, key=lambda peer: peer["value"]), in_pages(case.cell["shape"])
        times = ATTENTION.get((shape["b"], shape["max_pages"]), 1)
        case.ask(f"≤ {'' if times == 1 else '1/'}{times} × {best['params']['by']} of bf16", case.judged["value"] * times / best["value"])


def judge_prefill(case):
    """Codes held beside PyTorch's attention of what is no codes: by software its flash back end, else its fastest."""
    peers = {peer["params"]["by"]: peer for peer in case.weights}
    if case.cell["params"]["codec"] == "software" and "torch flash" in peers:
        peers = {"torch flash": peers["torch flash"]}
    for by, peer in sorted(peers.items()):
        times = PREFILL.get(by, 1)
        case.ask(f"≤ {'' if times == 1 else '1/'}{times} × {by}", case.judged["value"] * times / peer["value"])


def judge_contraction(case):
    figure, cell = case.judged, case.cell
    weights = cell["shape"]["n"] * cell["shape"]["k"]
    is_byte = cell["params"]["format"] in BYTES
    is_square = is_byte and weights == SQUARE * SQUARE
    for peer in case.weights:
        times = WEIGHTS[peer["params"]["by"]] if is_square else 1
        if peer["params"].get("l2", "cold") == cell["params"].get("l2", "cold"):
            case.ask(f"≤ {'' if times == 1 else '1/'}{times} × {peer['params']['by']}", figure["value"] * times / peer["value"])
    if is_byte and "copy_ratio" in cell and (is_square or weights > LARGE_BYTES):
        share = SQUARE_SUM if is_square else LARGE_SUM
        case.ask(f"≥ {share:g} × a plain sum's speed", share * cell["copy_ratio"] * figure["ratio"] / cell["ratio"])


def judge_peers(case, empty):
    """Beside the peer that comes off best: in turn where it was measured so, else each beside the memcpy of its own run."""
    def share(peer):
        figure = case.judged
        run = beside_whole_pieces(peer.cell, figure)["baseline_value"] / figure["baseline_value"]
        return (peer.in_turn(figure) or figure["value"] * run) / most_of(peer.cell, empty)[0]
    if case.peers:
        case.peer = max(case.peers, key=share)
        case.ask(most_of(case.peer.cell, empty)[1], share(case.peer))


def judge(cases, empty=None):
    """`empty`: the time of an empty kernel, if it was measured."""
    for case in cases.values():
        figure = case.judged
        if target := case.cell.get("target"):
            case.ask(f"≤ {target:g} × memcpy", figure["ratio"] / target)
        if twin := hardware_twin(case, cases):
            most = OF_HARDWARE * twin.judged["value"]
            case.ask(f"≤ {OF_HARDWARE:g} × hardware codec", figure["value"] / most)
        if even := even_neighbour(case, cases):
            case.ask(f"≤ {ODD:g} × even neighbour", figure["ratio"] / (ODD * even.judged["ratio"]))
        if case.cell["op"] == "gemv":
            judge_contraction(case)
        if case.cell["op"] in ("matmul_skinny", "scaled_matmul"):
            judge_product(case, cases)
        if case.cell["op"] == "attention_decode":
            judge_attention(case)
        if case.cell["op"] == "attention_prefill":
            judge_prefill(case)
        judge_peers(case, empty)
    return losses_first(cases.values())


def losses_first(cases):
    return sorted(cases, key=lambda case: (-case.worst, -case.judged["ratio"]))


def cases_of_older(older, cases):
    """Code for an older target, which is by software whatever was asked for, held beside the code for this GPU: each by the
    heuristic's schedule. A sequence over itself beside PyTorch's flash back end, which such a GPU has."""
    found = {}
    for cell in cells_of(older, "time"):
        twins = [cases.get(subject(dict(cell, params=dict(cell["params"], codec=codec)))) for codec in ("hardware", "auto")]
        if twin := next(filter(None, twins), None) if cell["op"] in (*OLDER, OLDER_PREFILL) else None:
            codec = "software" if twin.cell["params"]["format"].startswith("e") else cell["params"]["codec"]
            params = dict(cell["params"], codec=codec, target=older["machine"]["target"])
            case = Case(dict(cell, params=params), None, None)
            if cell["op"] in OLDER:
                case.ask(f"≥ {OLDER_SHARE:g} × the speed of code for this GPU", OLDER_SHARE * cell["value"] / twin.cell["value"])
            for peer in twin.weights:
                if cell["op"] == OLDER_PREFILL and peer["params"]["by"] == "torch flash":
                    case.ask("≤ 1 × torch flash", cell["value"] / peer["value"])
            if case.asked:
                found[subject(case.cell)] = case
    return found.values()


def cases_of_linear(linear):
    """A part of a linear layer, held beside what the cell says of it: the product, the norm alone, or the same in BF16."""
    for cell in cells_of(linear, "time"):
        case = Case(cell, None, None)
        if target := cell.get("target"):
            case.ask(f"≤ {target:.3g} × {cell['baseline']}", cell["ratio"] / target)
            yield case
        elif most := cell.get("target_difference"):
            case.ask(f"≤ {cell['baseline']} + {most:.3g} µs", (cell["value"] - cell["baseline_value"]) / most)
            yield case


def name_of(case):
    params = {name: value for name, value in case.cell["params"].items() if (name, value) != ("codec", "auto")}
    op, text, extents = readme_table.case(dict(case.cell, params=params))
    return op, text, extents


def line_of(case):
    figure, cell = case.judged, case.cell
    copy = "–"
    if "copy_ratio" in cell:
        copy = f"{cell['copy_ratio'] * figure['ratio'] / cell['ratio']:.3f} ({cell['copy']})"
    peer = "–"
    if case.peer:
        theirs, turns = case.peer.cell, case.peer.in_turn(figure)
        tuned = " tuned" if theirs.get("eider_schedule") else ""
        said = ("" if turns is None else f"; ours{tuned} in turn {number(turns)}") + ("" if case.peer.beside else " †")
        peer = f"{number(theirs['value'])} · {theirs['ratio']:.3f} ({theirs['params']['by']}{said})"
    asked = "; ".join(f"{what}: {f'**{share:.3f}**' if share > 1 else f'{share:.3f}'}" for what, share in case.asked)
    ratio = "–" if cell["op"] == LINEAR else f"{figure['ratio']:.3f}"
    if figure.get("starts", 1) > 1 and "ratio_low" in figure:
        ratio += f" [{figure['ratio_low']:.3f}, {figure['ratio_high']:.3f}]"
    schedule = "heuristic" if figure is cell else "tuned" if case.is_own else "tuned †"
    return row([*name_of(case), schedule, number(figure["value"]),
                ratio, copy, peer, asked or "–"])


#--- What a profile says ----------------------------------------------------------------------------------------

def profiled(cell):
    """The subject of which a cell of a profile says something."""
    params = {name: value for name, value in cell["params"].items() if name != "kernel"}
    return subject(dict(cell, params=params, metric="time"))


def profiles_of(profile):
    """Metrics by subject and kernel."""
    found = {}
    for cell in profile["cells"] if profile else []:
        found.setdefault(profiled(cell), {}).setdefault(cell["params"]["kernel"], {})[cell["metric"]] = cell["value"]
    return found


def profile_line(metrics):
    """One kernel's metrics in words; what was not measured is left out."""
    words = [("dram_throughput", "DRAM {:.0f} %"), ("l2_throughput", "L2 {:.0f} %"),
             ("issue_slots", "issue slots {:.0f} %"), ("achieved_occupancy", "occupancy {:.0f} %"),
             ("registers", "{:.0f} registers"), ("local_bytes", "{:.0f} bytes of local memory"),
             ("instructions", "{:.3g} instructions")]
    parts = [form.format(metrics[name]) for name, form in words if name in metrics]
    stalls = sorted(((value, name) for name, value in metrics.items() if name.startswith("stall_")), reverse=True)
    if stalls:
        waits = ", ".join(f"{name.removeprefix('stall_')} {value:.1f}" for value, name in stalls[:3])
        parts.append(f"an instruction waits for {waits} cycles")
    return " · ".join(parts)


def commits_of(profile):
    """Of what was profiled at another commit than the document's."""
    return {profiled(cell): cell["commit"] for cell in profile["cells"] if "commit" in cell} if profile else {}


def said_of_misses(cases, profiles, commits):
    lines = []
    for case in cases:
        op, params, extents = name_of(case)
        key = subject(case.cell)
        kernels = profiles.get(key, {})
        said = "; ".join(f"`{kernel}`: {profile_line(metrics)}" for kernel, metrics in kernels.items())
        other = commits.get(key, "")
        lines.append(f"- {op} {params} {extents}: {said or 'not profiled'}" + (f" (commit {other[:12]})" if other else ""))
    return lines


#--- The page -----------------------------------------------------------------------------------------------------

def judged(ops, tune, peers, older=None, linear=None):
    empty = [cell["value"] for cell in cells_of(ops, "empty_kernel")]
    cases = cases_of(ops, tune, peers)
    ours = judge(cases, empty[0] if empty else None)
    return losses_first([*ours, *cases_of_older(older, cases), *cases_of_linear(linear)])


def page(ops, tune, peers, profile, older=None, linear=None):
    sources = [document for document in (ops, older, linear, tune, peers, profile) if document]
    cases = judged(ops, tune, peers, older, linear)
    missed = [case for case in cases if case.missed]
    asked = [case for case in cases if case.asked]
    return "\n".join([
        "# Every cell, losses first", "",
        "Written by `scripts/losses.py` from the results beside it; `bench/README.md` says how they are measured.", "",
        *(f"- {readme_table.machine_line(document)}" for document in sources), "",
        f"{len(missed)} of the {len(asked)} cells of which something is asked miss it; of {len(cases) - len(asked)} others "
        "nothing is.", "",
        "`× memcpy`: in brackets, where two processes measured, what the 95 % intervals of their medians of rounds hold.",
        "`× copy`: beside our own best kernel that only reads and writes, of the same proportion of bytes read to bytes written",
        "(in brackets). `asked`: what the time is of the most that is allowed; above 1 it is a miss.",
        "`peer`: of all the one that comes off best: its µs, times the memcpy of its own run, and what ours took in turn with it. †: of a peer or of the tuner, of another run, on a machine of the same",
        "kind that may be 2 or 3 % faster or slower, so that µs beside µs say less than ratios to a memcpy.", "",
        row(["op", "params", "rows × columns", "schedule", "µs", "× memcpy", "× copy", "peer", "asked"]),
        "|---|---|---|---|--:|--:|--:|--:|---|",
        *(line_of(case) for case in cases), "",
        "## What the profile says of each miss", "",
        *(said_of_misses(missed, profiles_of(profile), commits_of(profile)) or ["Nothing is missed."]), ""])


def arguments_of(case):
    """What `eider bench`, or of a linear layer `fp8-linear`, is given to run the case alone, under the schedule that it is judged by."""
    cell = case.cell
    if cell["op"] == LINEAR:
        shape, params = cell["shape"], cell["params"]
        return ["--shape", f"{shape['m']}x{shape['n']}x{shape['k']}", "--block", params["block"], "--sums", params["sums"],
                "--part", params["part"]]
    arguments = [cell["op"]]
    for name, value in cell["params"].items():
        if name in FLAGS and value:
            arguments += [FLAGS[name], value]
        elif name.startswith("set "):
            arguments += ["--set", f"{name.removeprefix('set ')}={value}"]
    for name, extent in cell["shape"].items():
        arguments += ["--dim", f"{name}={extent}"]
    if case.schedule:
        arguments += ["--schedule", case.schedule]
    return [*arguments, "--l2", cell["params"].get("l2", "cold")]


def misses(ops, tune, peers, older, linear=None):
    for case in judged(ops, tune, peers, older, linear):
        if case.missed:
            cell = {name: case.cell[name] for name in ("op", "params", "shape")}
            program = {"program": "fp8-linear"} if cell["op"] == LINEAR else {}
            yield {"cell": cell, **program, "arguments": arguments_of(case)}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="change nothing; exit status 1 if the page differs")
    parser.add_argument("--misses", action="store_true", help="change nothing; print what misses, as lines of JSON")
    parser.add_argument("--results", type=pathlib.Path, default=readme_table.ROOT / "bench" / "results")
    arguments = parser.parse_args()
    try:
        ops, older, linear, tune, peers, profile = (
            load(arguments.results, name) for name in ("ops", "sm_80", "linear", "tune", "peers", "profile"))
        if ops is None:
            raise ValueError(f"{arguments.results} has no ops.json; eider bench --json writes one")
        if arguments.misses:
            for miss in misses(ops, tune, peers, older, linear):
                print(json.dumps(miss))
            return 0
        text = page(ops, tune, peers, profile, older, linear)
    except (ValueError, KeyError) as error:
        print(f"losses: {error}", file=sys.stderr)
        return 2
    path = arguments.results / "losses.md"
    if arguments.check:
        return int(not path.exists() or path.read_text() != text)
    path.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
