# Part of Eider, under the Apache License v2.0.
"""Entries that are not as they were written: made again, with one warning, and the right answer."""

import hashlib
import os
import unittest

from eider_cache import RequestVictim
from victim import VictimTest


class Damage:
    """Of the victim's only entry on a shelf."""

    def setUp(self):
        super().setUp()
        self.assertEqual(self.victim(), (["made"], []))
        self.files = {file.name: file.read_bytes() for file in self.entry(self.shelf).iterdir()}
        self.assertEqual(sorted(self.files), sorted(self.names))

    def is_made_again(self, what):
        answers, warnings = self.victim()
        self.assertEqual(answers, ["made"], what)
        self.assertEqual(len(warnings), 1, f"{what}: {warnings}")
        self.assertIn(f"cache entry '{self.entry(self.shelf)}' is not used: ", warnings[0], what)
        self.assertIn("it is made again", warnings[0])
        self.assertEqual({f.name: f.read_bytes() for f in self.entry(self.shelf).iterdir()}, self.files, what)
        self.assertEqual(list((self.cache / "staging").iterdir()), [])

    def flip(self, name, places, bit):
        content = self.files[name]
        for i in places:
            flipped = content[:i] + bytes([content[i] ^ bit]) + content[i + 1 :]
            (self.entry(self.shelf) / name).write_bytes(flipped)
            self.is_made_again(f"byte {i} of {name}")

    def test_every_file_truncated_emptied_and_removed(self):
        for name, content in self.files.items():
            for size in {0, 1, len(content) // 2, len(content) - 1}:
                os.truncate(self.entry(self.shelf) / name, size)
                self.is_made_again(f"{name} cut to {size}")
            with open(self.entry(self.shelf) / name, "ab") as file:
                file.write(b"\n")
            self.is_made_again(f"{name} with a byte more")
            (self.entry(self.shelf) / name).unlink()
            self.is_made_again(f"{name} removed")
        self.assertEqual(self.victim(), (["hit"], []))

    def test_bytes_of_files_flipped(self):
        # Their digests are of every byte: that some are caught tells that all are read.
        for name in self.names[:-1]:
            size = len(self.files[name])
            self.flip(name, {*range(0, size, max(1, size // 90)), size - 1}, 0x80)


class Requests(RequestVictim, Damage, VictimTest):
    shelf, names = "requests", ("contract.json", "program.mlir", "meta.json")

    def test_bytes_of_meta_flipped(self):
        self.flip("meta.json", range(0, len(self.files["meta.json"]), 3), 1)


class Kernels(Damage, VictimTest):
    shelf, names = "kernels", ("kernel.cu", "kernel.cubin", "meta.json")

    def test_every_byte_of_meta_flipped(self):
        self.flip("meta.json", range(len(self.files["meta.json"])), 1)

    def test_the_entry_of_another_key(self):
        other = self.cache / "kernels" / ("0" * 64)
        self.entry().rename(other)
        self.assertEqual(self.victim(), (["made"], []))  # a miss like any
        (mine,) = (e for e in (self.cache / "kernels").iterdir() if e != other)
        for file in mine.iterdir():
            file.unlink()
        mine.rmdir()
        other.rename(mine)
        self.assertEqual(self.victim(), (["hit"], []))

    def test_meta_that_is_sound_but_of_other_fields(self):
        # Somebody who can compute digests changes a field: the key is then another.
        text = self.files["meta.json"].split(b"\n", 1)[1].replace(b"sm_90", b"sm_80")
        head = b'{"sha256": "' + hashlib.sha256(text).hexdigest().encode() + b'",\n'
        (self.entry() / "meta.json").write_bytes(head + text)
        answers, warnings = self.victim()
        self.assertEqual((answers, len(warnings)), (["made"], 1))
        self.assertIn("its key is not that of its fields", warnings[0])

    def test_a_moved_directory_still_hits(self):
        moved = self.directory / "elsewhere"
        self.cache.rename(moved)
        self.assertEqual(self.victim(EIDER_CACHE_DIR=str(moved)), (["hit"], []))
        for file in moved.rglob("meta.json"):
            self.assertNotIn(str(self.directory), file.read_text())


if __name__ == "__main__":
    unittest.main()
