# Part of Eider, under the Apache License v2.0.
"""The command line on a cache that fault-victim fills."""

import os
import subprocess

from victim import VictimTest

EIDER = os.environ["EIDER"]


class EiderCacheTest(VictimTest):
    def eider(self, *arguments, **environment):
        return subprocess.run([EIDER, *map(str, arguments)], env={**self.environment, **environment},
                              cwd=self.directory, capture_output=True, text=True,
                              stdin=subprocess.DEVNULL, timeout=120)

    def succeeds(self, *arguments, **environment):
        process = self.eider(*arguments, **environment)
        self.assertEqual((process.returncode, process.stderr), (0, ""))
        return process.stdout

    def fails(self, status, words, *arguments, **environment):
        process = self.eider(*arguments, **environment)
        self.assertEqual((process.returncode, process.stdout), (status, ""), process.stderr)
        self.assertEqual(len(process.stderr.splitlines()), 1, process.stderr)
        for word in words:
            self.assertIn(word, process.stderr)
        return process.stderr
