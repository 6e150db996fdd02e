# Part of Eider, under the Apache License v2.0.
"""Programs that once ended the compiler, or might have: accepted or refused with a line."""

import os
import pathlib
import subprocess
import unittest

CORPUS = pathlib.Path(__file__).parent / "corpus/mlir"


class Corpus(unittest.TestCase):
    def test_each_is_accepted_or_refused(self):
        programs = sorted(CORPUS.glob("*.mlir"))
        self.assertGreater(len(programs), 0)
        for program in programs:
            for target in ("sm_90", "host"):
                with self.subTest(program=program.name, target=target):
                    process = subprocess.run(
                        [os.environ["EIDER"], "emit", program, "--arch", target],
                        capture_output=True, timeout=60)
                    self.assertIn(process.returncode, (0, 2), process.stderr)
                    if process.returncode == 2:
                        self.assertTrue(process.stderr.startswith(b"eider: "), process.stderr)


if __name__ == "__main__":
    unittest.main()
