//===- tests/unit/autotuner/RecordsTest.cpp -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/autotuner/Support.h"

#include <gmock/gmock.h>

#include <limits>

using namespace eider;
using namespace eider::tuning;
using testing::HasSubstr;

namespace {

constexpr const char *mapSchedule = "map<threads = 256, vector = 16, loads = 1>";

TEST(Bucket, PowersOfTwo) {
  EXPECT_EQ(bucketOf(0), (DimRange{0, 0}));
  EXPECT_EQ(bucketOf(1), (DimRange{1, 1}));
  EXPECT_EQ(bucketOf(2), (DimRange{2, 2}));
  EXPECT_EQ(bucketOf(3), (DimRange{3, 4}));
  EXPECT_EQ(bucketOf(4), (DimRange{3, 4}));
  EXPECT_EQ(bucketOf(4097), (DimRange{4097, 8192}));
  EXPECT_EQ(bucketOf(int64_t(1) << 62), (DimRange{(int64_t(1) << 61) + 1, int64_t(1) << 62}));
  EXPECT_EQ(bucketOf(std::numeric_limits<int64_t>::max()).to, std::numeric_limits<int64_t>::max());
}

TEST(Bucket, EveryExtentLiesInItsBucketAndBucketsTile) {
  for (int64_t extent = 1; extent < 5000; ++extent) {
    const DimRange range = bucketOf(extent);
    EXPECT_LE(range.from, extent);
    EXPECT_GE(range.to, extent);
    EXPECT_EQ(bucketOf(range.to), range);
    EXPECT_EQ(bucketOf(range.to + 1).from, range.to + 1);
  }
}

TEST(Bucket, TextThatReadsBack) {
  const DimsBucket bucket = bucketOf(Dims{{"tokens", 16384}, {"hidden", 7168}}, {"hidden"});
  EXPECT_EQ(toText(bucket), "hidden=7168 tokens=8193..16384");
  EXPECT_EQ(parseBucket(toText(bucket)), bucket);
  for (const char *bad : {"", "hidden", "hidden=", "=3", "hidden=3..", "hidden=5..4", "hidden=-1",
                          "tokens=1 hidden=2", "hidden=1  tokens=2", "hidden=1x"})
    EXPECT_FALSE(parseBucket(bad)) << bad;
}

TEST(FixedDims, ThoseAlongRows) {
  EXPECT_EQ(fixedDims(libraryProgram("add_rms_norm_quant").signature()),
            std::vector<std::string>{"hidden"});
  EXPECT_EQ(fixedDims(libraryProgram("matmul_skinny").signature()),
            (std::vector<std::string>{"n", "k"}));
  EXPECT_EQ(fixedDims(libraryProgram("grouped_matmul").signature()),
            (std::vector<std::string>{"groups", "n", "k"}));
  EXPECT_EQ(fixedDims(libraryProgram("gemv").signature()), std::vector<std::string>{"k"});
  EXPECT_EQ(fixedDims(libraryProgram("silu_mul_quant").signature()),
            std::vector<std::string>{"hidden"});
  EXPECT_EQ(fixedDims(libraryProgram("quantize").signature(), {{"tokens", 3}, {"hidden", 40}}),
            (Dims{{"hidden", 40}}));
}

/// The rows of a transposed result are columns.
TEST(FixedDims, NoneAlongTheRowsOfATranspose) {
  EXPECT_EQ(fixedDims(libraryProgram("cast_transpose").signature()),
            std::vector<std::string>{"hidden"});
}

TEST(FixedDims, ThoseOfResultsThatNothingReadHas) {
  Builder b("outer");
  Dim rows = b.dim("rows"), columns = b.dim("columns");
  Value column = b.input("column", f32, {rows, 1}), row = b.input("row", f32, {columns});
  b.output("y", column * row);
  EXPECT_EQ(fixedDims(b.build().signature()), std::vector<std::string>{"columns"});
}

TEST(Digest, TellsProgramsAndCodecsApart) {
  const Program a = libraryProgram("quantize"), b = libraryProgram("quantize", "1x32");
  EXPECT_NE(digestOf(a, "auto"), digestOf(b, "auto"));
  EXPECT_NE(digestOf(a, "auto"), digestOf(a, "software"));
  EXPECT_EQ(digestOf(a, "auto"), digestOf(libraryProgram("quantize"), "auto"));
}

TEST(Identity, IsWhatSpeedDependsOnAndNotTheName) {
  DeviceInfo device = sampleDevice();
  const std::string identity = identityOf(device);
  device.name = "another name";
  device.id = "cuda:7";
  EXPECT_EQ(identityOf(device), identity);
  for (int DeviceInfo::*field : {&DeviceInfo::minor, &DeviceInfo::multiprocessors,
                                 &DeviceInfo::memoryClock, &DeviceInfo::memoryBus}) {
    DeviceInfo other = sampleDevice();
    ++(other.*field);
    EXPECT_NE(identityOf(other), identity);
  }
}

TEST(RecordLine, ReadsBack) {
  const Program program = libraryProgram("quantize");
  const Record record = sampleRecord(program, "hidden=8192 tokens=8193..16384", mapSchedule);
  const Record back = parseRecord(toLine(record));
  EXPECT_EQ(toLine(back), toLine(record));
  EXPECT_EQ(back.schedule, record.schedule);
  EXPECT_EQ(back.microseconds, record.microseconds);
  EXPECT_EQ(back.best, record.best);
}

TEST(RecordLine, EveryChangedByteIsNoticed) {
  const std::string line =
      toLine(sampleRecord(libraryProgram("quantize"), "hidden=8192 tokens=1..1", mapSchedule));
  // `tokens=1..1` is not as toText() writes it.
  EXPECT_THROW(parseRecord(line), Error);
  const std::string good =
      toLine(sampleRecord(libraryProgram("quantize"), "hidden=8192 tokens=1", mapSchedule));
  ASSERT_NO_THROW(parseRecord(good));
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] ^= 1;
    EXPECT_THROW(parseRecord(bad), Error) << i;
  }
}

TEST(RecordLine, ImpossibleContentIsRefusedWhateverItsDigest) {
  const Program program = libraryProgram("quantize");
  Record record = sampleRecord(program, "hidden=8192 tokens=1", mapSchedule);
  for (double time : {0.0, -1.0}) {
    record.microseconds = time;
    EXPECT_THROW(parseRecord(toLine(record)), Error);
  }
  record = sampleRecord(program, "hidden=8192 tokens=1", "row<\n>");
  EXPECT_THROW(parseRecord(toLine(record)), Error);
  record = sampleRecord(program, "hidden=8192 tokens=1", "");
  EXPECT_THROW(parseRecord(toLine(record)), Error);
}

TEST(RecordLines, TheBadOneIsNamed) {
  const std::string good =
      toLine(sampleRecord(libraryProgram("quantize"), "hidden=8192 tokens=1", mapSchedule));
  EXPECT_EQ(parseRecords(good + "\n\n" + good, "file").size(), 2u);
  try {
    parseRecords(good + "\n{}\n", "file");
    FAIL();
  } catch (const Error &error) {
    EXPECT_THAT(error.what(), HasSubstr("file: line 2 is no tuning record"));
    EXPECT_EQ(error.kind(), ErrorKind::Request);
  }
}

} // namespace
