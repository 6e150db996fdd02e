# Part of Eider, under the Apache License v2.0.
"""eider cache: look, check, clear; move entries as one file; refuse files that are no archives."""

import hashlib
import json
import unittest

from eider_cache import EiderCacheTest
from victim import TEXT


def digest(data):
    return hashlib.sha256(data).hexdigest()


class Archives(EiderCacheTest):
    def test_stat_and_clear(self):
        self.victim(TEXT, TEXT + "//")
        cache = json.loads(self.succeeds("cache", "stat", "--json"))
        size = sum(f.stat().st_size for f in (self.cache / "kernels").rglob("*") if f.is_file())
        self.assertEqual((cache["directory"], cache["kernels"], cache["requests"]), (str(self.cache), 2, 0))
        self.assertEqual((cache["bytes"], cache["limit"], cache["bundles"]), (size, 2 << 30, []))
        self.assertIn("kernels     2\n", self.succeeds("cache", "stat"))
        self.assertEqual(self.succeeds("cache", "clear"), "removed 2 entries\n")
        self.assertEqual(json.loads(self.succeeds("cache", "stat", "--json"))["bytes"], 0)
        self.assertEqual(self.victim(), (["made"], []))

    def test_verify_names_what_is_damaged(self):
        self.victim()
        self.assertEqual(self.succeeds("cache", "verify"), "sound: 1 entries\n")
        (self.entry() / "kernel.cu").write_text("other")
        process = self.eider("cache", "verify")
        self.assertEqual(process.returncode, 1)
        self.assertEqual(process.stdout, f"damaged {self.entry()}: kernel.cu has 5 bytes of {len(TEXT)}\n")

    def test_from_one_machine_to_another(self):
        self.victim(TEXT, TEXT + "//")
        self.assertIn("exported 2 entries", self.succeeds("cache", "export", "all"))
        there = {"EIDER_CACHE_DIR": str(self.directory / "there")}
        self.assertIn("imported 2 entries, of which 0 were here", self.succeeds("cache", "import", "all", **there))
        self.assertEqual(self.victim(TEXT, TEXT + "//", **there), (["hit", "hit"], []))
        self.assertIn("of which 2 were here", self.succeeds("cache", "import", "all", **there))
        self.assertEqual(self.succeeds("cache", "verify", **there), "sound: 2 entries\n")

    def test_what_is_damaged_stays_behind(self):
        self.victim(TEXT, TEXT + "//")
        next((self.cache / "kernels").iterdir()).joinpath("kernel.cubin").write_text("rubbish")
        self.assertIn("exported 1 entries", self.succeeds("cache", "export", "all"))

    def test_bundles_travel_too(self):
        self.victim(EIDER_CACHE_DIR=str(self.directory / "bundle"))
        self.assertIn("exported 1 entries",
                      self.succeeds("cache", "export", "all", EIDER_CACHE_BUNDLES=str(self.directory / "bundle")))

    def record(self):
        """A line of the tuning store, as another machine has written it."""
        fields = {"schema": 1, "program": "a" * 64, "dims": "hidden=7168 tokens=1..2", "target": "sm_90",
                  "device": "9.0 sm 132 l2 62914560 bus 6144 clock 3201000", "schedule": "map<threads = 64>",
                  "best": True, "microseconds": 98.5, "spread": 0.25, "memcpy": 99.25, "bytes": 402653184,
                  "date": "2026-01-31T12:00:00Z", "name": "quantize", "device_name": "NVIDIA H200",
                  "version": "0.1.0", "driver": 13000}
        text = json.dumps(fields, sort_keys=True, separators=(",", ":"))
        return json.dumps({**fields, "digest": digest(text.encode())}, sort_keys=True, separators=(",", ":")) + "\n"

    def with_records(self, records):
        index = json.dumps({"entries": [], "records": {"bytes": len(records), "sha256": digest(records.encode())}})
        head = f"eider archive 1 {len(index)} {digest(index.encode())}\n"
        (self.directory / "records").write_text(head + index + records)
        return "records"

    def test_tuning_records_travel_with_the_entries(self):
        self.victim()
        said = self.succeeds("cache", "import", self.with_records(self.record()))
        self.assertEqual(said, "imported 0 entries, of which 0 were here, and 1 tuning records\n")
        self.assertEqual(self.succeeds("cache", "export", "all"), "exported 1 entries and 1 tuning records\n")
        self.assertTrue((self.directory / "all").read_bytes().endswith(self.record().encode()))
        there = {"EIDER_CACHE_DIR": str(self.directory / "there")}
        self.succeeds("cache", "import", "all", **there)
        self.assertEqual(self.victim(**there), (["hit"], []))
        self.assertEqual(self.succeeds("cache", "export", "again", **there), "exported 1 entries and 1 tuning records\n")
        self.succeeds("cache", "clear", **there)  # entries alone
        self.assertEqual(self.succeeds("cache", "export", "rest", **there), "exported 0 entries and 1 tuning records\n")

    def test_records_that_are_none(self):
        for records in ("rubbish\n", self.record().replace("98.5", "1.5"), self.record() + "{}\n"):
            self.fails(2, ["is no tuning record"], "cache", "import", self.with_records(records))
        self.assertEqual(self.succeeds("cache", "export", "all"), "exported 0 entries and 0 tuning records\n")

    def test_files_that_cannot_be(self):
        self.fails(2, ["absent/all: cannot be written"], "cache", "export", "absent/all")
        self.fails(2, ["absent: cannot be read: No such file"], "cache", "import", "absent")
        self.fails(2, ["/dev/zero: it is no regular file"], "cache", "import", "/dev/zero")
        (self.directory / "taken").write_text("")
        self.victim()
        self.succeeds("cache", "export", "all")
        self.cache.rename(self.directory / "away")
        self.cache.symlink_to("away")
        process = self.eider("cache", "import", "all")
        self.assertEqual(process.returncode, 3)
        self.assertIn("there is no cache directory to store in", process.stderr)


class Hostile(EiderCacheTest):
    """An archive with one thing changed, all digests right but where they are the thing."""

    def setUp(self):
        super().setUp()
        self.victim()
        self.succeeds("cache", "export", "good")
        self.good = (self.directory / "good").read_bytes()
        first, rest = self.good.split(b"\n", 1)
        size = int(first.split()[3])
        self.index, self.data = json.loads(rest[:size]), rest[size:]
        self.there = {"EIDER_CACHE_DIR": str(self.directory / "there")}

    def refused(self, content, *words):
        (self.directory / "bad").write_bytes(content)
        self.fails(2, ["eider: bad: ", *words], "cache", "import", "bad", **self.there)
        self.assertFalse((self.directory / "there/kernels").exists())

    def archive(self, index=None, data=None):
        text = json.dumps(self.index if index is None else index).encode()
        return b"eider archive 1 %d %s\n" % (len(text), digest(text).encode()) + text + (
            self.data if data is None else data)

    def changed(self, change, *words):
        index = json.loads(json.dumps(self.index))
        change(index)
        self.refused(self.archive(index), *words)

    def test_the_good_one_is_good(self):
        (self.directory / "same").write_bytes(self.archive())
        self.succeeds("cache", "import", "same", **self.there)

    def test_no_archive(self):
        for content in (b"", b"x", b"eider archive 2 5 x\n", b"eider archive 1 ", b"\0" * 1000):
            self.refused(content, "it is no archive of a cache, or of another version")
        for line in (b"", b"-1 x", b"x x", b"5", b"99999999999999999999 x", b"1000000000 x"):
            self.refused(b"eider archive 1 " + line + b"\n", "its first line is damaged")
        self.refused(b"eider archive 1 100 " + b"0" * 64 + b"\nshort", "it ends within 'the index'")

    def test_every_prefix_and_every_byte(self):
        step = max(1, len(self.good) // 40)
        for at in range(0, len(self.good), step):
            self.refused(self.good[:at])
            self.refused(self.good[:at] + bytes([self.good[at] ^ 4]) + self.good[at + 1 :])
        self.refused(self.good + b"x", "it has more bytes than its index promises")

    def test_paths(self):
        entry = lambda index: index["entries"][0]
        for key in ("../../../tmp/x", "..", "", "/etc/passwd", "A" * 64, "0" * 63):
            self.changed(lambda i: entry(i).update(key=key), "its index names no entry of a cache")
        for shelf in ("..", "staging", "kernels/..", ""):
            self.changed(lambda i: entry(i).update(shelf=shelf), "its index names no entry of a cache")
        for name in ("../x", "/etc/passwd", "..", ".hidden", "a/b", "", "a\x00b", "meta.json", "x" * 65, "ü"):
            self.changed(lambda i: entry(i)["files"][1].update(name=name), "its index names no file of an entry")
        self.changed(lambda i: entry(i)["files"][0].update(name="kernel.cu"), "its index names no file of an entry")

    def test_sizes(self):
        entry = lambda index: index["entries"][0]
        for size in (-1, 1.5, "1", None, True):
            self.changed(lambda i: entry(i)["files"][1].update(bytes=size), "its index is damaged")
        for size in (2**64 - 1, 2**63, 2**40):
            self.changed(lambda i: entry(i)["files"][1].update(bytes=size), "is larger than a file of an entry can be")
        self.changed(lambda i: entry(i)["files"][1].update(bytes=1 << 28), "its index promises more bytes than it has")
        self.changed(lambda i: i["records"].update(bytes=2**64 - 1), "its records are larger than they can be")
        self.changed(lambda i: i["records"].update(bytes=1), "its index promises more bytes than it has")
        self.changed(lambda i: i.update(entries=i["entries"] * 2), "twice")
        self.changed(lambda i: entry(i)["files"].append(entry(i)["files"][1]), "its index promises more bytes")
        self.changed(lambda i: entry(i).update(files=[]), "an entry of its index has no files")

    def test_digests(self):
        entry = lambda index: index["entries"][0]
        self.changed(lambda i: entry(i)["files"][1].update(sha256=digest(b"")), "is not as it was written")
        self.changed(lambda i: entry(i)["files"][0].update(sha256=""), "'meta.json' is not as it was written")
        self.changed(lambda i: i["records"].update(sha256=digest(b"x")), "'the records' is not as it was written")
        self.changed(lambda i: entry(i).update(key="0" * 64), "its key is not that of its fields")

    def test_files_that_meta_does_not_know(self):
        def rename(index):
            index["entries"][0]["files"][1]["name"] = "other.cu"

        self.changed(rename, "meta.json knows no other.cu")
        swapped = json.loads(json.dumps(self.index))  # right digests in the index, not in meta.json
        meta, text, *_ = swapped["entries"][0]["files"]
        data = bytearray(self.data)
        data[meta["bytes"]] ^= 1
        text["sha256"] = digest(bytes(data[meta["bytes"] : meta["bytes"] + text["bytes"]]))
        self.refused(self.archive(swapped, bytes(data)), "the entry ", "is not as it was written")

    def test_shapes_of_json(self):
        for index in ([], {}, 1, {"entries": None, "records": {}}, {"entries": {}, "records": {}}, {"entries": [1], "records": {}},
                      {"entries": [], "records": []}, "[" * 5):
            self.refused(self.archive(index), "its index is damaged")
        deep = b"[" * 100000
        self.refused(b"eider archive 1 %d %s\n" % (len(deep), digest(deep).encode()) + deep, "its index is damaged")


if __name__ == "__main__":
    unittest.main()
