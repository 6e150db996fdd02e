# Part of Eider, under the Apache License v2.0.
"""Many processes, other users, and a directory that may not grow."""

import os
import pathlib
import shutil
import unittest

from victim import TEXT, VictimTest

NOBODY = 65534


class Rivals(VictimTest):
    def test_sixteen_processes_twenty_cold_starts(self):
        for round in range(20):
            self.environment["EIDER_CACHE_DIR"] = str(self.directory / f"cache{round}")
            self.log.unlink(missing_ok=True)
            rivals = [self.start(EIDER_FAKE_NVRTC_MILLISECONDS="10") for _ in range(16)]
            answers = []
            for rival in rivals:
                output, errors = rival.communicate(timeout=60)
                self.assertEqual((rival.returncode, errors), (0, ""))
                answers += output.split()
            self.assertEqual(sorted(answers), ["hit"] * 15 + ["made"])
            self.assertEqual(self.compiles(), 1, f"cold start {round}")

    def test_rivals_over_a_damaged_entry(self):
        self.victim()
        for round in range(5):
            (self.entry() / "kernel.cubin").write_bytes(b"rubbish")
            rivals = [self.start() for _ in range(8)]
            for rival in rivals:
                _, errors = rival.communicate(timeout=60)
                self.assertEqual(rival.returncode, 0)
                self.assertLessEqual(len(errors.splitlines()), 1, errors)
            self.assertEqual(self.victim(), (["hit"], []))
        self.assertEqual(self.compiles(), 1 + 5)

    def size(self):
        return sum(f.stat().st_size for f in (self.cache / "kernels").rglob("*") if f.is_file())

    def test_the_least_recently_used_entries_go(self):
        texts = [f"{TEXT}// {n}\n" for n in range(8)]
        self.victim(*texts)
        limit = self.size() + 100  # the eighth fits, a ninth does not
        for age, (entry, _) in enumerate(sorted((e, e.stat().st_mtime_ns) for e in (self.cache / "kernels").iterdir())):
            os.utime(entry, (age, age))  # long ago, one after another
        self.assertEqual(self.victim(*texts[:3]), (["hit"] * 3, []))  # now used
        answers, warnings = self.victim(f"{TEXT}// 8\n", EIDER_CACHE_SIZE=str(limit))
        self.assertEqual((answers, warnings), (["made"], []))
        self.assertLessEqual(self.size(), limit)
        self.assertEqual(self.victim(*texts[:3], f"{TEXT}// 8\n"), (["hit"] * 4, []))
        answers, _ = self.victim(*texts[3:])
        self.assertIn("made", answers)
        self.assertEqual(list((self.cache / "staging").iterdir()), [])

    def test_eviction_while_others_read(self):
        texts = [f"{TEXT}// {n}\n" for n in range(12)]
        self.victim(*texts[:4])
        limit = str(self.size())
        processes = [self.start(*(texts[i % 12 :] + texts) * 6, EIDER_CACHE_SIZE=limit) for i in range(0, 12, 2)]
        for process in processes:
            _, errors = process.communicate(timeout=60)
            self.assertEqual((process.returncode, errors), (0, ""))
        self.assertGreater(self.compiles(), 4 + 12)  # some were evicted and made again
        self.victim("one more", EIDER_CACHE_SIZE=limit)
        self.assertLessEqual(self.size(), int(limit))

    def test_a_size_that_means_nothing(self):
        answers, warnings = self.victim(EIDER_CACHE_SIZE="plenty")
        self.assertEqual((answers, len(warnings)), (["made"], 1))
        self.assertIn("EIDER_CACHE_SIZE: 'plenty' is no size", warnings[0])

    def test_what_killed_writers_left_is_swept_after_an_hour(self):
        self.victim()
        for name, age in (("1-old", 7200), ("2-new", 60)):
            left = self.cache / "staging" / name
            left.mkdir(mode=0o700)
            (left / "kernel.cu").write_text("half")
            then = left.stat().st_mtime - age
            os.utime(left, (then, then))
        self.victim("another text")
        self.assertEqual([left.name for left in (self.cache / "staging").iterdir()], ["2-new"])


class Users(VictimTest):
    def is_memory_only(self, reason, **how):
        process = self.start(TEXT, TEXT, **how)
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output.split()), (0, ["made", "made"]), errors)
        self.assertEqual(len(errors.splitlines()), 1, errors)
        self.assertIn(f"cache directory '{self.cache}' is not used: {reason}", errors)

    def test_world_and_group_writable(self):
        self.cache.mkdir()
        for mode in (0o777, 0o770, 0o702, 0o1777):
            self.cache.chmod(mode)
            self.is_memory_only("it is writable by group or world")
            self.assertEqual(list(self.cache.iterdir()), [])

    def test_symbolic_link(self):
        (self.directory / "target").mkdir(mode=0o700)
        self.cache.symlink_to(self.directory / "target")
        self.is_memory_only("it is a symbolic link")
        self.assertEqual(list((self.directory / "target").iterdir()), [])

    @unittest.skipIf(os.geteuid() != 0, "only root can give a directory to another user")
    def test_a_directory_of_another_user(self):
        self.cache.mkdir(mode=0o755)
        os.chown(self.cache, NOBODY, NOBODY)
        self.is_memory_only("it belongs to another user")

    @unittest.skipIf(os.geteuid() != 0, "only root can run as another user")
    def test_another_user_on_ours(self):
        self.victim()
        place = self.directory / "programs"  # where the other user may read
        shutil.copytree(pathlib.Path(self.environment["EIDER_NVRTC"]).parent, place,
                        ignore=shutil.ignore_patterns("cache", "compiles"))
        self.directory.chmod(0o755)
        place.chmod(0o755)
        how = {"uid": NOBODY, "EIDER_NVRTC": str(place / "libnvrtc.so.13"),
               "EIDER_FAKE_NVRTC_LOG": "/dev/null"}
        try:
            probe = self.start(**how)
        except PermissionError:
            self.skipTest("the other user may not run the program where it was built")
        probe.communicate(timeout=60)
        self.is_memory_only("Permission denied", **how)
        self.cache.chmod(0o755)  # readable, still not his
        self.is_memory_only("it belongs to another user", **how)
        self.cache.chmod(0o700)
        self.assertEqual(self.victim(), (["hit"], []))

    @unittest.skipIf(os.geteuid() != 0, "only root can give a file to another user")
    def test_a_file_of_another_user_in_our_entry(self):
        self.victim()
        os.chown(self.entry() / "kernel.cubin", NOBODY, NOBODY)
        answers, warnings = self.victim()
        self.assertEqual((answers, len(warnings)), (["made"], 1))
        self.assertEqual((self.entry() / "kernel.cubin").stat().st_uid, 0)
        self.assertEqual(self.victim(), (["hit"], []))


if __name__ == "__main__":
    unittest.main()
