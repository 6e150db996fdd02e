#!/usr/bin/env python3
# Part of Eider, under the Apache License v2.0.
"""Joins files of results: bench/join.py INTO FROM…

Each cell of FROM replaces the one of INTO that has its op, params, shape and metric, or is added, and says the run that it is of.
If INTO is not there, or has no cell that FROM lacks, it is FROM. Of another device, target, bench or schema nothing is joined: exit status 1.
"""
import json
import pathlib
import sys


def key_of(cell):
    return json.dumps([cell["op"], cell["params"], cell["shape"], cell["metric"]], sort_keys=True)


def join(into, source):
    """The document `into` with the cells of `source`. Raises ValueError if they are not of one kind."""
    for what, a, b in (("schema", into["schema"], source["schema"]), ("bench", into["bench"], source["bench"]),
                       ("device", into["machine"]["device"], source["machine"]["device"]),
                       ("target", into["machine"]["target"], source["machine"]["target"])):
        if a != b:
            raise ValueError(f"another {what}: {a!r} and {b!r}")
    new = {key_of(cell) for cell in source["cells"]}
    if all(key_of(cell) in new for cell in into["cells"]):
        return source
    run = {"commit": source["commit"], "date": source["date"], "target": source["machine"]["target"]}
    cells = {key_of(cell): cell for cell in into["cells"]}
    cells.update((key_of(cell), {**cell, "run": cell.get("run", run)}) for cell in source["cells"])
    said = {key: {**into.get(key, {}), **source[key]} for key in ("absent", "versions") if key in source}
    return {**into, **said, "cells": list(cells.values())}


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__.strip())
    into = pathlib.Path(sys.argv[1])
    document = json.loads(into.read_text()) if into.exists() else None
    for name in sys.argv[2:]:
        source = json.loads(pathlib.Path(name).read_text())
        try:
            document = join(document, source) if document else source
        except ValueError as error:
            sys.exit(f"bench/join.py: {name}: {error}")
        print(f"{len(source['cells'])} cells of {source['commit'][:12]} from {name}")
    into.write_text(json.dumps(document, indent=1) + "\n")


if __name__ == "__main__":
    main()
