# Part of Eider, under the Apache License v2.0.
"""Faults at every system call on the cache: the answer is right, and so is what is left behind."""

import collections
import errno
import itertools
import shutil
import unittest

from eider_cache import RequestVictim
from victim import VictimTest

Strike = collections.namedtuple("Strike", "call where status answers warnings")


class Faults(VictimTest):
    def strikes(self, error, prepare, **environment):
        """Strikes the first, second, … call of runs, each after `prepare(number)`: where it was, the status, answers and
        warnings. Ends with a run that makes no more calls, whose call is None."""
        for at in itertools.count(1):
            prepare(at)
            status, answers, warnings, call = self.strike(at, error, **environment)
            yield Strike(call, f"error {error} at call {at}, {call}: {warnings}", status, answers, warnings)
            if call is None:
                return

    def fresh(self, at):
        """A cache that is empty."""
        self.cache = self.directory / f"cache{len(list(self.directory.iterdir()))}"
        self.environment["EIDER_CACHE_DIR"] = str(self.cache)

    def recovers(self, strike, most_warnings=0):
        """The next run is right, and leaves an entry."""
        answers, warnings = self.victim()
        self.assertLessEqual(len(warnings), most_warnings, strike.where)
        self.assertEqual(self.victim(), (["hit"], []), strike.where)

    def killed(self, prepare, most_warnings):
        """The names of the calls of a run, each of which was killed."""
        calls = []
        for strike in self.strikes(0, prepare):
            if strike.call is None:
                self.assertEqual((strike.status, len(strike.warnings)), (0, most_warnings))
                return calls
            self.assertEqual(strike.status, -9, strike.where)
            calls.append(strike.call)
            self.recovers(strike, most_warnings)

    def failing(self, error, **environment):
        """The names of the calls of a cold start, each of which has failed."""
        seen = set()
        for strike in self.strikes(error, self.fresh, **environment):
            if strike.call is None:
                return seen
            self.assertEqual((strike.status, strike.answers), (0, ["made"]), strike.where)
            self.assertLessEqual(len(strike.warnings), 1, strike.where)
            seen.add(strike.call)
            self.recovers(strike)


class Kill(Faults):
    def test_at_every_call_of_a_cold_start(self):
        calls = self.killed(self.fresh, 0)
        self.assertLessEqual({"mkdir", "mkdirat", "openat", "write", "fsync", "renameat", "flock"}, set(calls))
        self.assertEqual(calls.count("write"), 3)

    def test_at_every_call_of_a_mending(self):
        self.victim()
        # What the last victim left in staging stays.
        calls = self.killed(lambda at: (self.entry() / "kernel.cubin").write_bytes(b"rubbish"), 1)
        self.assertEqual(calls.count("renameat"), 3)  # refused, the bad one away, the good one in


class Errors(Faults):
    def test_no_space_at_each_call(self):
        self.assertLessEqual({"write", "mkdirat", "fsync", "renameat"}, self.failing(errno.ENOSPC))

    def test_no_space_from_a_call_on(self):
        self.assertIn("write", self.failing(errno.ENOSPC, EIDER_FAULT_STAYS="1"))

    def test_a_broken_disk_at_each_call(self):
        self.assertIn("fsync", self.failing(errno.EIO))

    def test_a_broken_disk_from_a_call_on(self):
        self.assertIn("flock", self.failing(errno.EIO, EIDER_FAULT_STAYS="1"))

    def test_a_warm_start_from_a_broken_disk(self):
        self.victim()
        struck = 0
        for strike in self.strikes(errno.EIO, lambda at: None):
            self.assertEqual(strike.status, 0, strike.where)
            self.assertIn(strike.answers, (["hit"], ["made"]), strike.where)
            self.assertLessEqual(len(strike.warnings), 1, strike.where)
            self.assertEqual(self.victim(), (["hit"], []), strike.where)
            struck += strike.call is not None
        self.assertGreater(struck, 4)


class Requests(RequestVictim, Faults):
    """The entry of a request as it is written, while another thread reads the kernels, which are there."""

    def fault_root(self):
        return self.cache / "staging"  # where the writer alone makes calls

    def setUp(self):
        super().setUp()
        self.victim()
        self.filled = self.cache

    def fresh(self, at):
        super().fresh(at)
        self.cache.mkdir(0o700)
        shutil.copytree(self.filled / "kernels", self.cache / "kernels")

    def test_killed_at_every_call(self):
        calls = self.killed(self.fresh, 0)
        self.assertEqual((calls.count("write"), calls.count("renameat")), (3, 1))

    def test_no_space_at_each_call(self):
        self.assertLessEqual({"write", "mkdirat", "fsync", "renameat"}, self.failing(errno.ENOSPC))


if __name__ == "__main__":
    unittest.main()
