# Part of Eider, under the Apache License v2.0.
"""Memory, the user's directory, read-only bundles."""

import os
import unittest

from victim import TEXT, VictimTest

TEXTS = [f"{TEXT}// {n}\n" for n in range(3)]


class Layers(VictimTest):
    def setUp(self):
        super().setUp()
        self.bundles = [self.directory / "bundle0", self.directory / "bundle1"]
        for bundle, text in zip(self.bundles, TEXTS):
            self.victim(text, EIDER_CACHE_DIR=str(bundle))
        self.environment["EIDER_CACHE_BUNDLES"] = ":".join(map(str, self.bundles))

    def state(self, bundle):
        return sorted((str(f), f.stat().st_mtime_ns) for f in bundle.rglob("*"))

    def test_each_bundle_is_searched_and_none_is_written(self):
        before = [self.state(bundle) for bundle in self.bundles]
        self.assertEqual(self.victim(*TEXTS), (["hit", "hit", "made"], []))
        self.assertEqual(self.victim(*TEXTS), (["hit"] * 3, []))
        self.assertEqual([self.state(bundle) for bundle in self.bundles], before)
        self.assertEqual(len(list((self.cache / "kernels").iterdir())), 1)

    def test_without_a_directory_of_ones_own(self):
        self.cache.symlink_to("/nonexistent")
        answers, warnings = self.victim(*TEXTS[:2])
        self.assertEqual((answers, len(warnings)), (["hit", "hit"], 1))

    def test_a_damaged_bundle_is_warned_of_and_made_up_for(self):
        (entry,) = (self.bundles[0] / "kernels").iterdir()
        (entry / "kernel.cubin").write_text("rubbish")
        answers, warnings = self.victim(*TEXTS[:2])
        self.assertEqual((answers, len(warnings)), (["made", "hit"], 1))
        self.assertIn("mend the bundle", warnings[0])

    def test_a_bundle_that_others_can_write_or_that_is_not_there(self):
        self.bundles[0].chmod(0o777)
        answers, warnings = self.victim(*TEXTS[:2])
        self.assertEqual((answers, len(warnings)), (["made", "hit"], 1))
        self.assertIn(f"cache bundle '{self.bundles[0]}' is not used: it is writable by group or world", warnings[0])
        answers, warnings = self.victim(TEXTS[1], EIDER_CACHE_BUNDLES=f"/nonexistent::{self.bundles[1]}")
        self.assertEqual((answers, len(warnings)), (["hit"], 1))
        self.assertIn("'/nonexistent' is not used: No such file", warnings[0])

    @unittest.skipIf(os.geteuid() != 0, "only root can run as another user")
    def test_roots_bundle_serves_other_users(self):
        self.directory.chmod(0o755)
        for path in (self.bundles[0], *self.bundles[0].rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)
        home = self.directory / "home"
        home.mkdir()
        os.chown(home, 65534, 65534)
        how = {"EIDER_CACHE_DIR": str(home / "cache"), "EIDER_CACHE_BUNDLES": str(self.bundles[0]),
               "EIDER_FAKE_NVRTC_LOG": "/dev/null"}
        try:
            process = self.start(TEXTS[0], uid=65534, **how)
        except PermissionError:
            self.skipTest("the other user may not run the program where it was built")
        output, errors = process.communicate(timeout=60)
        self.assertEqual((process.returncode, output.split(), errors), (0, ["hit"], ""))


if __name__ == "__main__":
    unittest.main()
