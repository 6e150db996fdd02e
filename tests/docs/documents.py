# Part of Eider, under the Apache License v2.0.
"""The blocks of code in the documents that claim to be something, and whether they still are.

A comment before a block says what it is:

    <!-- from FILE -->             lines of that file
    <!-- output of COMMAND -->     lines that the command prints
    <!-- session -->               commands after `$ `, each with lines that it prints

A line `…` stands for any lines left out: the lines between two of them stand together in the file or output, and in this
order. Indentation may differ by what all lines of a block have in common. Commands run in a shell, in a directory of
their own that holds links to build/, examples/ and docs/, with a cache of their own.

    python3 tests/docs/documents.py --update    writes anew what commands print, in blocks without `…`
"""
import os
import pathlib
import re
import subprocess
import sys
import tempfile
import textwrap

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
DOCUMENTS = [ROOT / "README.md", ROOT / "bench" / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
BUILD = pathlib.Path(os.environ.get("EIDER_BUILD", ROOT / "build"))
ELISION = "…"

BLOCK = re.compile(r"<!-- (?P<kind>from|output of|session) ?(?P<what>[^\n]*?) ?-->\n+```\w*\n(?P<text>.*?)^```$",
                   re.MULTILINE | re.DOTALL)


class Shell:
    """Runs commands as a reader of the documents would."""

    def __init__(self):
        self.home = tempfile.TemporaryDirectory(prefix="eider-docs-")
        (pathlib.Path(self.home.name) / "build").symlink_to(BUILD)
        for folder in ("examples", "docs"):
            (pathlib.Path(self.home.name) / folder).symlink_to(ROOT / folder)
        self.outputs = {}

    def run(self, command):
        """What the command prints. A status other than 0 is an AssertionError."""
        environment = dict(os.environ, EIDER_CACHE_DIR=self.home.name + "/cache")
        done = subprocess.run(["bash", "-o", "pipefail", "-c", command], cwd=self.home.name, text=True,
                              env=environment, capture_output=True, timeout=120)
        if done.returncode != 0:
            raise AssertionError(f"$ {command}\nexit status {done.returncode}: {done.stderr}")
        return done.stdout

    def output_of(self, command):
        if command not in self.outputs:
            self.outputs[command] = self.run(command)
        return self.outputs[command]

    def close(self):
        self.home.cleanup()


def blocks_of(path):
    return list(BLOCK.finditer(path.read_text()))


def stripped(text):
    return [line.rstrip() for line in textwrap.dedent(text).strip("\n").splitlines()]


def passages(text):
    """The runs of lines between elisions."""
    runs, run = [], []
    for line in stripped(text):
        if line.strip() == ELISION:
            runs.append(run)
            run = []
        else:
            run.append(line)
    return [stripped("\n".join(run)) for run in runs + [run] if run]


def find(passage, lines, start):
    """Where the passage ends in `lines`, from `start` on; -1 if it is not there."""
    for at in range(start, len(lines) - len(passage) + 1):
        if stripped("\n".join(lines[at:at + len(passage)])) == passage:
            return at + len(passage)
    return -1


def missing(text, source):
    """The first passage of a block that its source does not hold in this order; None if all are there."""
    lines, at = [line.rstrip() for line in source.splitlines()], 0
    for passage in passages(text):
        at = find(passage, lines, at)
        if at < 0:
            return "\n".join(passage)
    return None


def session_of(text):
    """The (command, expected output) pairs of a session."""
    steps = re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]
    return [tuple(step.partition("\n")[::2]) for step in steps]


def update():
    """Writes the whole outputs anew; says which documents changed. Exit status 1 if a command failed."""
    shell, failures = Shell(), []
    for path in DOCUMENTS:
        def fresh(block):
            whole = ELISION not in stripped(block["text"])
            if block["kind"] != "output of" or not whole:
                return block[0]
            begin, end = (block.start("text") - block.start(), block.end("text") - block.start())
            try:
                return block[0][:begin] + shell.output_of(block["what"]).strip("\n") + "\n" + block[0][end:]
            except AssertionError as failure:
                failures.append(str(failure))
                return block[0]

        old = path.read_text()
        new = BLOCK.sub(fresh, old)
        if new != old:
            path.write_text(new)
            print(f"{path.relative_to(ROOT)} is written anew")
    shell.close()
    if failures:
        sys.exit("\n".join(failures))


if __name__ == "__main__":
    if sys.argv[1:] != ["--update"]:
        sys.exit("usage: documents.py --update")
    update()
