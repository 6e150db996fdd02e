//===- tests/unit/autotuner/StoreTest.cpp ---------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/store/Store.h"

#include "tests/unit/autotuner/Support.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gmock/gmock.h>
#include <sqlite3.h>

#include <fstream>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace eider;
using namespace eider::tuning;
using testing::HasSubstr;

namespace {

constexpr const char *dims = "hidden=8192 tokens=8193..16384";

class StoreTest : public testing::Test {
protected:
  StoreTest() {
    setLogHandler([this](const std::string &line) { warnings.push_back(line); });
  }
  ~StoreTest() override { setLogHandler({}); }

  std::vector<Record> cell(double time = 98.5, const std::string &date = "2026-01-31T12:00:00Z",
                           const std::string &bucket = dims) const {
    Record best = sampleRecord(program, bucket, "map<threads = 256, vector = 16>");
    Record other = sampleRecord(program, bucket, "map<threads = 128, vector = 16>", false);
    best.microseconds = time;
    best.date = other.date = date;
    return {best, other};
  }
  std::vector<Record> best(const Store &store) const {
    return store.best(cell()[0].program, "sm_90", cell()[0].device);
  }

  TemporaryDirectory temporary;
  const CacheOptions options{true, (temporary.path / "cache").string()};
  const std::string database = options.directory + "/tuning.db";
  const Program program = libraryProgram("quantize");
  std::vector<std::string> warnings;
};

TEST_F(StoreTest, WithoutADatabaseThereIsNothingAndNothingIsMade) {
  EXPECT_TRUE(Store(options).all().empty());
  EXPECT_FALSE(std::filesystem::exists(options.directory));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(StoreTest, WhatIsWrittenIsFound) {
  ASSERT_TRUE(Store(options).replace(cell()));
  const std::vector<Record> found = best(Store(options));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(toLine(found[0]), toLine(cell()[0]));
  EXPECT_EQ(Store(options).of(cell()[0].program, "sm_90").size(), 2u);
  EXPECT_TRUE(Store(options).best(cell()[0].program, "sm_80", cell()[0].device).empty());
  EXPECT_TRUE(Store(options).best(cell()[0].program, "sm_90", "another device").empty());
  EXPECT_TRUE(warnings.empty());
}

TEST_F(StoreTest, ACellIsReplacedWhole) {
  ASSERT_TRUE(Store(options).replace(cell()));
  std::vector<Record> again = cell(90);
  again.pop_back();
  ASSERT_TRUE(Store(options).replace(again));
  ASSERT_EQ(Store(options).all().size(), 1u);
  EXPECT_EQ(best(Store(options))[0].microseconds, 90);
}

TEST_F(StoreTest, TheDatabaseIsInWalMode) {
  ASSERT_TRUE(Store(options).replace(cell()));
  std::ifstream file(database, std::ios::binary);
  std::string header(20, '\0');
  file.read(header.data(), 20);
  EXPECT_EQ(header[18], 2); // SQLite's file format: 2 is WAL, 1 a rollback journal
}

TEST_F(StoreTest, NetworkFileSystemsAreKnown) {
  EXPECT_TRUE(isNetworkFileSystem(0x6969));
  EXPECT_TRUE(isNetworkFileSystem(static_cast<int32_t>(0xff534d42))); // as some kernels give it
  EXPECT_FALSE(isNetworkFileSystem(0xef53));                          // ext4
}

TEST_F(StoreTest, ExportAndImportMoveEverything) {
  ASSERT_TRUE(Store(options).replace(cell()));
  const std::string text = exportRecords(options);
  const CacheOptions other{true, (temporary.path / "other").string()};
  EXPECT_EQ(importRecords(text, other), 2);
  EXPECT_EQ(exportRecords(other), text);
  EXPECT_EQ(importRecords(text, other), 0); // known
}

TEST_F(StoreTest, OfTwoMachinesTheLaterMeasurementStays) {
  ASSERT_TRUE(Store(options).replace(cell(98, "2026-02-01T00:00:00Z")));
  const auto lines = [](const std::vector<Record> &records) {
    return toLine(records[0]) + "\n" + toLine(records[1]) + "\n";
  };
  EXPECT_EQ(importRecords(lines(cell(50, "2026-01-01T00:00:00Z")), options), 0);
  EXPECT_EQ(best(Store(options))[0].microseconds, 98);
  EXPECT_EQ(importRecords(lines(cell(97, "2026-03-01T00:00:00Z")), options), 2);
  EXPECT_EQ(best(Store(options))[0].microseconds, 97);
}

TEST_F(StoreTest, OneBadLineAndNothingIsTaken) {
  const std::string text = toLine(cell()[0]) + "\nnonsense\n";
  EXPECT_THROW(importRecords(text, options), Error);
  EXPECT_TRUE(Store(options).all().empty());
}

TEST_F(StoreTest, ADamagedDatabaseIsAMissWithOneWarning) {
  ASSERT_TRUE(Store(options).replace(cell()));
  std::ofstream(database, std::ios::binary | std::ios::trunc) << std::string(5000, 'x');
  EXPECT_TRUE(Store(options).all().empty());
  EXPECT_TRUE(Store(options).all().empty());
  EXPECT_FALSE(Store(options).replace(cell()));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("tuning.db"));
}

TEST_F(StoreTest, EveryTruncationIsAMissOrAnAnswer) {
  ASSERT_TRUE(Store(options).replace(cell()));
  std::ifstream file(database, std::ios::binary);
  const std::string whole((std::istreambuf_iterator<char>(file)), {});
  for (size_t size = 0; size < whole.size(); size += 501) {
    std::ofstream(database, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
    EXPECT_LE(Store(options).all().size(), 2u) << size;
  }
}

TEST_F(StoreTest, AnotherProgramsDatabaseIsLeftAlone) {
  ASSERT_TRUE(Store(options).replace(cell()));
  std::filesystem::remove(database);
  sqlite3 *foreign = nullptr;
  ASSERT_EQ(::sqlite3_open(database.c_str(), &foreign), SQLITE_OK);
  ::sqlite3_exec(foreign, "CREATE TABLE records (mine TEXT)", nullptr, nullptr, nullptr);
  ::sqlite3_close(foreign);
  EXPECT_TRUE(Store(options).all().empty());
  EXPECT_FALSE(Store(options).replace(cell()));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("another program's"));
}

TEST_F(StoreTest, ADirectoryThatOthersWriteIsNotUsed) {
  ASSERT_TRUE(Store(options).replace(cell()));
  ::chmod(options.directory.c_str(), 0777);
  EXPECT_TRUE(Store(options).all().empty());
  EXPECT_FALSE(Store(options).replace(cell()));
  EXPECT_THROW(importRecords(toLine(cell()[0]), options), Error);
}

TEST_F(StoreTest, ManyProcessesWriteAtATime) {
  constexpr int processes = 8, cells = 6;
  for (int i = 0; i < processes; ++i)
    if (::fork() == 0) {
      bool good = true;
      for (int j = 0; j < cells; ++j)
        good &= Store(options).replace(
            cell(98, "2026-01-31T12:00:00Z",
                 "hidden=" + std::to_string(128 * (i * cells + j + 1)) + " tokens=1"));
      ::_exit(good ? 0 : 1);
    }
  for (int i = 0, status; i < processes; ++i) {
    ASSERT_GT(::wait(&status), 0);
    EXPECT_EQ(status, 0);
  }
  EXPECT_EQ(Store(options).all().size(), size_t(2 * processes * cells));
}

} // namespace
