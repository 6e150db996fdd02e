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

    def test_hostile_names_leave_nothing_but_letters_and_digits(self):
        text = subprocess.run([os.environ["EIDER"], "emit", CORPUS / "hostile-names.mlir", "--arch", "sm_90"],
                              capture_output=True, text=True, check=True, timeout=60).stdout
        self.assertIn("float *x", text)
        for word in ("__trap", "asm(", '"exit', ";;", "\\"):
            self.assertNotIn(word, text)


if __name__ == "__main__":
    unittest.main()
