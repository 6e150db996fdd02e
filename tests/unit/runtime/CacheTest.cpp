//===- tests/unit/runtime/CacheTest.cpp -----------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/Cache.h"
#include "runtime/cache/PendingWrites.h"
#include "runtime/cache/Sha256.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cstdlib>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace eider;
namespace fs = std::filesystem;

namespace {

constexpr Cache::Kind kind = Cache::Kind::Kernel;

/// What entry number `n` is made from, and its key.
KeyFields fieldsOf(int n) { return {{"number", std::to_string(n)}}; }
std::string keyNumber(int n) { return keyOf(kind, fieldsOf(n)); }
const std::string key = keyNumber(0);

CacheEntry sampleEntry(int n = 0) {
  CacheEntry entry;
  entry.fields = fieldsOf(n);
  entry.files["kernel.cu"] = "text";
  entry.files["kernel.cubin"] = std::string("\0\1\2binary", 9);
  entry.info = R"({"registers":32})";
  return entry;
}

std::string contents(const fs::path &path) {
  std::ifstream file(path, std::ios::binary);
  std::ostringstream all;
  all << file.rdbuf();
  return all.str();
}

void overwrite(const fs::path &path, const std::string &bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<std::string> namesOf(const fs::path &directory) {
  std::vector<std::string> names;
  for (const auto &entry : fs::directory_iterator(directory))
    names.push_back(entry.path().filename());
  return names;
}

class CacheTest : public testing::Test {
protected:
  void SetUp() override {
    setLogHandler([this](const std::string &line) { warnings.push_back(line); });
  }
  void TearDown() override {
    pendingWrites::drain();
    setLogHandler(nullptr);
  }

  Cache open() const { return Cache({true, (temporary.path / "cache").string()}); }
  fs::path entry() const { return temporary.path / "cache/kernels" / key; }
  bool finds() const { return open().find(kind, key).has_value(); }

  TemporaryDirectory temporary;
  std::vector<std::string> warnings;
};

TEST_F(CacheTest, StoredEntryIsFound) {
  EXPECT_FALSE(finds());
  open().store(kind, key, sampleEntry());
  const auto found = open().find(kind, key);
  ASSERT_TRUE(found);
  EXPECT_EQ(found->files, sampleEntry().files);
  EXPECT_EQ(found->info, sampleEntry().info);
  EXPECT_FALSE(open().find(Cache::Kind::Request, key));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(CacheTest, AnEntryOnItsWayIsFoundAndArrives) {
  for (int i = 0; i < 10; ++i) {
    open().storeLater(kind, keyNumber(i), sampleEntry(i));
    ASSERT_TRUE(open().find(kind, keyNumber(i))) << i;
  }
  pendingWrites::drain();
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(fs::exists(temporary.path / "cache/kernels" / keyNumber(i) / "meta.json"));
}

TEST_F(CacheTest, AForkedChildWritesAtOnce) {
  open().storeLater(kind, keyNumber(1), sampleEntry(1)); // the thread is the parent's
  const pid_t child = ::fork();
  if (child == 0) {
    open().storeLater(kind, key, sampleEntry());
    std::_Exit(finds() ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_TRUE(fs::exists(entry() / "meta.json"));
}

TEST_F(CacheTest, FormatOnDisk) {
  open().store(kind, key, sampleEntry());
  const auto meta = nlohmann::json::parse(contents(entry() / "meta.json"));
  EXPECT_EQ(meta["schema"], 2);
  EXPECT_EQ(meta["fields"]["number"], "0");
  EXPECT_EQ(meta["key"], key);
  EXPECT_EQ(meta["files"]["kernel.cu"]["bytes"], 4);
  EXPECT_EQ(meta["files"]["kernel.cu"]["sha256"], sha256("text"));
  EXPECT_EQ(meta["info"]["registers"], 32);
  EXPECT_EQ(contents(entry() / "meta.json").find(temporary.path.string()), std::string::npos);
  struct stat status;
  ASSERT_EQ(::stat((temporary.path / "cache").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  EXPECT_TRUE(fs::is_empty(temporary.path / "cache/staging"));
}

TEST_F(CacheTest, BadEntryIsAMissAndIsMended) {
  const CacheEntry whole = sampleEntry();
  const std::vector<std::function<void()>> damages = {
      [&] { overwrite(entry() / "kernel.cubin", std::string("\0\1\2binarx", 9)); },
      [&] { overwrite(entry() / "kernel.cubin", "short"); },
      [&] { fs::remove(entry() / "kernel.cu"); },
      [&] { fs::remove(entry() / "meta.json"); },
      [&] { overwrite(entry() / "meta.json", ""); },
      [&] { overwrite(entry() / "meta.json", "{\"schema\": 1}"); },
      [&] { overwrite(entry() / "meta.json", "[]"); },
      [&] { // of another key
        std::string meta = contents(entry() / "meta.json");
        meta.replace(meta.find(key), key.size(), std::string(64, 'b'));
        overwrite(entry() / "meta.json", meta);
      },
      [&] { // pointing outside
        std::string meta = contents(entry() / "meta.json");
        meta.replace(meta.find("kernel.cu"), 9, "../../x.c");
        overwrite(entry() / "meta.json", meta);
      },
      [&] { // a link in the place of a file
        fs::rename(entry() / "kernel.cu", temporary.path / "elsewhere.cu");
        fs::create_symlink(temporary.path / "elsewhere.cu", entry() / "kernel.cu");
      },
      [&] { // a pipe in the place of a file
        fs::remove(entry() / "kernel.cu");
        ASSERT_EQ(::mkfifo((entry() / "kernel.cu").c_str(), 0600), 0);
      },
      [&] { ::chmod((entry() / "kernel.cu").c_str(), 0666); },
      [&] { ::chmod(entry().c_str(), 0777); },
      [&] { fs::remove_all(entry()), overwrite(entry(), "a file"); },
      [&] { // a link in the place of the entry
        fs::rename(entry(), temporary.path / "moved");
        fs::create_symlink(temporary.path / "moved", entry());
      }};
  for (size_t i = 0; i < damages.size(); ++i) {
    open().store(kind, key, whole);
    ASSERT_TRUE(finds()) << "before damage " << i;
    damages[i]();
    warnings.clear();
    EXPECT_FALSE(finds()) << "after damage " << i;
    EXPECT_FALSE(finds()) << "after damage " << i;
    ASSERT_LE(warnings.size(), 1u) << "after damage " << i; // none for one that it knows
    EXPECT_FALSE(i == 0 && warnings.empty());
    open().store(kind, key, whole);
    EXPECT_TRUE(finds()) << "mended after damage " << i;
    EXPECT_TRUE(fs::is_empty(temporary.path / "cache/staging")) << i;
    fs::remove_all(temporary.path / "moved");
    fs::remove(temporary.path / "elsewhere.cu");
  }
}

TEST_F(CacheTest, ARivalsGoodEntryStays) {
  CacheEntry first = sampleEntry(), second = sampleEntry();
  second.info = R"({"registers":64})";
  open().store(kind, key, first);
  open().store(kind, key, second);
  EXPECT_EQ(open().find(kind, key)->info, first.info);
}

/// What the cache warns of when its directory is made so by `prepare`.
template <typename Prepare>
std::vector<std::string> warningsWith(const fs::path &directory, Prepare prepare) {
  std::vector<std::string> warnings;
  setLogHandler([&](const std::string &line) { warnings.push_back(line); });
  prepare();
  for (int i = 0; i < 2; ++i) { // the second time it is quiet
    const Cache cache({true, directory.string()});
    cache.store(kind, key, sampleEntry());
    EXPECT_FALSE(cache.find(kind, key));
    EXPECT_EQ(cache.pathOf(kind, key), "");
  }
  return warnings;
}

TEST_F(CacheTest, SymbolicLinkIsNotUsed) {
  const fs::path directory = temporary.path / "link";
  for (const char *slash : {"", "/"}) {
    const fs::path given = directory.string() + slash;
    const auto found = warningsWith(given, [&] {
      fs::remove(directory);
      fs::create_directory(temporary.path / "target");
      fs::create_symlink(temporary.path / "target", directory);
    });
    ASSERT_EQ(found.size(), 1u);
    EXPECT_NE(found[0].find("it is a symbolic link"), std::string::npos) << found[0];
  }
  EXPECT_TRUE(fs::is_empty(temporary.path / "target"));
}

TEST_F(CacheTest, WorldWritableDirectoryIsNotUsed) {
  const fs::path directory = temporary.path / "open";
  const auto found = warningsWith(directory, [&] {
    fs::create_directory(directory);
    ::chmod(directory.c_str(), 0777);
  });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("it is writable by group or world"), std::string::npos) << found[0];
}

TEST_F(CacheTest, DirectoryOfAnotherUserIsNotUsed) {
  // Root can give a directory away; others need not: /usr is root's.
  const fs::path directory = ::geteuid() == 0 ? temporary.path / "theirs" : fs::path("/usr");
  if (::geteuid() == 0) {
    fs::create_directory(directory);
    ASSERT_EQ(::chown(directory.c_str(), 65534, 65534), 0);
  }
  const auto found = warningsWith(directory, [] {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("it belongs to another user"), std::string::npos) << found[0];
}

TEST_F(CacheTest, DirectoryThatCannotBeMadeIsNotUsed) {
  overwrite(temporary.path / "file", "");
  const auto found = warningsWith(temporary.path / "file/cache", [] {});
  ASSERT_EQ(found.size(), 1u);
  EXPECT_NE(found[0].find("Not a directory"), std::string::npos) << found[0];
}

TEST_F(CacheTest, UnwritableDirectoryGivesOneWarning) {
  // Root may write anywhere: a file in the way of the shelf stops it too.
  fs::create_directory(temporary.path / "cache");
  ::chmod((temporary.path / "cache").c_str(), 0700);
  overwrite(temporary.path / "cache/staging", "");
  for (int i = 0; i < 3; ++i)
    open().store(kind, key, sampleEntry());
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_NE(warnings[0].find("cannot be written"), std::string::npos) << warnings[0];
  EXPECT_FALSE(finds());
}

TEST_F(CacheTest, DirectoryByTheEnvironment) {
  ::setenv("EIDER_CACHE_DIR", (temporary.path / "env").c_str(), 1);
  EXPECT_EQ(Cache({}).pathOf(kind, key), (temporary.path / "env/kernels" / key).string());
  ::unsetenv("EIDER_CACHE_DIR");
  ::setenv("XDG_CACHE_HOME", (temporary.path / "xdg").c_str(), 1);
  EXPECT_EQ(Cache({}).pathOf(kind, key), (temporary.path / "xdg/eider/kernels" / key).string());
  ::unsetenv("XDG_CACHE_HOME");
  EXPECT_EQ(Cache({false, ""}).pathOf(kind, key), "");
}

TEST_F(CacheTest, ManyThreadsSeeWholeEntriesOnly) {
  std::vector<std::thread> threads;
  std::atomic<int> found = 0, torn = 0;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] {
      const Cache cache = open();
      for (int i = 0; i < 25; ++i) {
        cache.store(kind, keyNumber(i % 10), sampleEntry(i % 10));
        if (auto entry = cache.find(kind, keyNumber(i % 10))) {
          ++found;
          torn += entry->files != sampleEntry().files;
        }
      }
    });
  for (std::thread &thread : threads)
    thread.join();
  EXPECT_EQ(torn, 0);
  EXPECT_EQ(found, 8 * 25);
}

TEST_F(CacheTest, AKilledWriterLeavesNoEntry) {
  const fs::path shelf = temporary.path / "cache/kernels";
  auto count = [&] { return fs::exists(shelf) ? namesOf(shelf).size() : 0; };
  for (int i = 0; i < 20; ++i) {
    const size_t before = count();
    const pid_t child = ::fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      CacheEntry entry = sampleEntry();
      entry.files["kernel.cubin"] = std::string(1 << 20, 'x');
      for (int n = 0;; ++n) {
        entry.fields = fieldsOf(100000 * i + n);
        open().store(kind, keyOf(kind, entry.fields), entry);
      }
    }
    while (count() == before && ::waitpid(child, nullptr, WNOHANG) == 0)
      ::usleep(200);
    ::usleep(700 * i); // somewhere in one of the next writes
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  EXPECT_GE(count(), 20u);
  for (const std::string &entry : namesOf(shelf))
    EXPECT_TRUE(open().find(kind, entry)) << entry;
}

} // namespace
