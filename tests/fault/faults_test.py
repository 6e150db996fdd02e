# Part of Eider, under the Apache License v2.0.
"""Faults at every system call on the cache: the answer is right, and so is what is left behind."""

import errno
import unittest

from victim import VictimTest

CALLS = {"openat", "read", "write", "fsync", "fstat", "flock", "mkdir", "mkdirat", "renameat", "unlinkat"}


class Kill(VictimTest):
    def sweep(self, prepare):
        """Kills at the first, second, … call until none is left; gives the names of the calls."""
        calls, at = [], 0
        while True:
            at += 1
            prepare(at)
            status, answers, warnings, call = self.strike(at, 0)
            if call is None:
                self.assertEqual((status, warnings), (0, []))
                return calls
            self.assertEqual(status, -9, f"call {at}, {call}: {warnings}")
            calls.append(call)
            answers, warnings = self.victim()
            self.assertEqual(warnings, [], f"killed at call {at}, {call}")
            self.assertEqual(self.victim(), (["hit"], []), f"killed at call {at}, {call}")

    def test_at_every_call_of_a_cold_start(self):
        def empty(at):
            self.cache = self.directory / f"cache{at}"
            self.environment["EIDER_CACHE_DIR"] = str(self.cache)

        calls = self.sweep(empty)
        self.assertLessEqual({"mkdir", "mkdirat", "openat", "write", "fsync", "renameat", "flock"}, set(calls))
        self.assertEqual(calls.count("write"), 3)

    def test_at_every_call_of_a_mending(self):
        self.victim()
        def damage(at):
            # What the last victim left in staging stays.
            (self.entry() / "kernel.cubin").write_bytes(b"rubbish")

        calls, at = [], 0
        while True:
            at += 1
            damage(at)
            status, _, warnings, call = self.strike(at, 0)
            if call is None:
                self.assertEqual((status, len(warnings)), (0, 1))
                break
            calls.append(call)
            answers, warnings = self.victim()
            self.assertLessEqual(len(warnings), 1, f"killed at call {at}, {call}")
            self.assertEqual(self.victim(), (["hit"], []), f"killed at call {at}, {call}")
        self.assertEqual(calls.count("renameat"), 3)  # refused, the bad one away, the good one in


class Errors(VictimTest):
    def sweep(self, error, **environment):
        seen, at = set(), 0
        while True:
            at += 1
            self.cache = self.directory / f"cache{error}-{len(environment)}-{at}"
            self.environment["EIDER_CACHE_DIR"] = str(self.cache)
            status, answers, warnings, call = self.strike(at, error, **environment)
            if call is None:
                return seen
            where = f"error {error} at call {at}, {call}"
            self.assertEqual((status, answers), (0, ["made"]), f"{where}: {warnings}")
            self.assertLessEqual(len(warnings), 1, f"{where}: {warnings}")
            seen.add(call)
            answers, warnings = self.victim()
            self.assertEqual(warnings, [], where)
            self.assertEqual(self.victim(), (["hit"], []), where)

    def test_no_space_at_each_call(self):
        self.assertLessEqual({"write", "mkdirat", "fsync", "renameat"}, self.sweep(errno.ENOSPC))

    def test_no_space_from_a_call_on(self):
        self.assertIn("write", self.sweep(errno.ENOSPC, EIDER_FAULT_STAYS="1"))

    def test_a_broken_disk_at_each_call(self):
        self.assertIn("fsync", self.sweep(errno.EIO))

    def test_a_broken_disk_from_a_call_on(self):
        self.assertIn("flock", self.sweep(errno.EIO, EIDER_FAULT_STAYS="1"))

    def test_a_warm_start_from_a_broken_disk(self):
        self.victim()
        at = 0
        while True:
            at += 1
            status, answers, warnings, call = self.strike(at, errno.EIO)
            if call is None:
                break
            self.assertEqual(status, 0, f"call {at}, {call}: {warnings}")
            self.assertIn(answers, (["hit"], ["made"]))
            self.assertLessEqual(len(warnings), 1, f"call {at}, {call}: {warnings}")
            self.assertEqual(self.victim(), (["hit"], []), f"call {at}, {call}")
        self.assertGreater(at, 5)


if __name__ == "__main__":
    unittest.main()
