//===- tests/unit/autotuner/LookupTest.cpp --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/Lookup.h"

#include "autotuner/store/Store.h"
#include "eider/dsl.h"
#include "eider/jit.h"
#include "runtime/contract/Contract.h"
#include "runtime/contract/Expression.h"
#include "tests/unit/autotuner/Support.h"
#include "tests/unit/runtime/TemporaryDirectory.h"

#include <gmock/gmock.h>

#include <fstream>
#include <iterator>

using namespace eider;
using namespace eider::tuning;
using testing::HasSubstr;

namespace {

constexpr const char *wide = "map<threads = 256, vector = 16>";
constexpr const char *narrow = "map<threads = 64, vector = 8, loads = 2>";

class LookupTest : public testing::Test {
protected:
  void record(const std::string &dims, const std::string &schedule) const {
    ASSERT_TRUE(Store(cache).replace({sampleRecord(program, dims, schedule)}));
  }
  /// The simulator, for which a program has this schedule on record.
  Device hostWithRecord(const Program &tuned, const std::string &dims,
                        const std::string &schedule) const {
    DeviceOptions options;
    options.cache = cache;
    Device host = Device::open("host", options);
    Record record = sampleRecord(tuned, dims, schedule);
    record.target = "host";
    record.device = identityOf(host.info());
    EXPECT_TRUE(Store(cache).replace({record}));
    return host;
  }
  std::vector<TunedRange> ranges(const Dims &fixed = {{"hidden", 8192}}) const {
    CompileOptions options;
    options.target = device.target;
    options.dims = fixed;
    return tunedRanges(program, options, identityOf(device), cache);
  }
  /// A file of `eider cache export` with these records.
  std::string table(const std::vector<Record> &records) const {
    static int number = 0;
    const std::string file =
        (temporary.path / ("table" + std::to_string(++number) + ".eider")).string();
    std::string lines;
    for (const Record &record : records)
      lines += toLine(record) + "\n";
    exportCache(file, lines, cache);
    return file;
  }

  TemporaryDirectory temporary;
  const CacheOptions cache{true, (temporary.path / "cache").string()};
  const Program program = libraryProgram("quantize");
  DeviceInfo device = sampleDevice();
};

TEST_F(LookupTest, NeighboursOfOneScheduleAreOneRange) {
  record("hidden=8192 tokens=1", narrow);
  record("hidden=8192 tokens=2", narrow);
  record("hidden=8192 tokens=3..4", narrow);
  record("hidden=8192 tokens=5..8", wide);
  record("hidden=8192 tokens=17..32", wide);
  record("hidden=4096 tokens=5..8", narrow); // another width
  const std::vector<TunedRange> found = ranges();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].ranges.at("tokens"), (DimRange{1, 4}));
  EXPECT_EQ(found[0].schedule, narrow);
  EXPECT_EQ(found[1].ranges.at("tokens"), (DimRange{5, 8}));
  EXPECT_EQ(found[2].ranges.at("tokens"), (DimRange{17, 32}));
}

TEST_F(LookupTest, RecordsOfTheTargetWithoutItsOwnFeaturesServe) {
  ASSERT_EQ(device.target, "sm_90");
  record("hidden=8192 tokens=5..8", wide);
  device.target = "sm_90a";
  ASSERT_EQ(ranges().size(), 1u);
  EXPECT_EQ(ranges()[0].schedule, wide);
  tuning::Record own = sampleRecord(program, "hidden=8192 tokens=5..8", narrow);
  own.target = "sm_90a";
  ASSERT_TRUE(Store(cache).replace({own}));
  ASSERT_EQ(ranges().size(), 1u);
  EXPECT_EQ(ranges()[0].schedule, narrow) << "its own go before";
}

TEST_F(LookupTest, ADimThatIsFixedChoosesItsBucket) {
  record("hidden=8192 tokens=5..8", wide);
  EXPECT_EQ(ranges({{"hidden", 8192}, {"tokens", 6}}).size(), 1u);
  EXPECT_TRUE(ranges({{"hidden", 8192}, {"tokens", 9}}).empty());
}

TEST_F(LookupTest, OfAnotherDeviceThereIsNothing) {
  record("hidden=8192 tokens=5..8", wide);
  device.multiprocessors = 114;
  EXPECT_TRUE(ranges().empty());
}

TEST_F(LookupTest, OffIgnoresRecords) {
  record("hidden=8192 tokens=5..8", wide);
  const Variable off("EIDER_TUNING", "off");
  EXPECT_TRUE(ranges().empty());
}

TEST_F(LookupTest, AModeThatMeansNothingIsRefused) {
  const Variable mode("EIDER_TUNING", "sometimes");
  EXPECT_THROW(ranges(), Error);
}

TEST_F(LookupTest, APinnedTableCountsAloneAndForEveryDeviceOfTheTarget) {
  record("hidden=8192 tokens=5..8", wide);
  const Variable mode("EIDER_TUNING", "table-only"),
      path("EIDER_TUNING_TABLE",
           table({sampleRecord(program, "hidden=8192 tokens=9..16", narrow)}));
  device.memoryClock = 1; // another rank's machine
  const std::vector<TunedRange> found = ranges();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].schedule, narrow);
  device.target = "sm_80";
  EXPECT_TRUE(ranges().empty());
}

TEST_F(LookupTest, APinnedTableThatCannotBeReadIsAnError) {
  const Variable mode("EIDER_TUNING", "table-only");
  const std::string whole = table({sampleRecord(program, "hidden=8192 tokens=9..16", narrow)});
  const auto file = [&](const std::string &name, const std::string &content) {
    const std::string path = (temporary.path / name).string();
    std::ofstream(path, std::ios::binary) << content;
    return path;
  };
  std::ifstream stream(whole, std::ios::binary);
  const std::string bytes(std::istreambuf_iterator<char>(stream), {});
  std::string changed = bytes;
  changed[changed.find("map<")] = 'r';
  for (const auto &[path, words] :
       {std::pair<std::string, std::string>{"", "set EIDER_TUNING_TABLE to a file"},
        {"/nonexistent/table", "No such file"},
        {temporary.path.string(), "no regular file"},
        {file("empty", ""), "give a file that eider cache export has written"},
        {file("lines", toLine(sampleRecord(program, "hidden=8192 tokens=1", narrow)) + "\n"),
         "give a file that eider cache export has written"},
        {file("cut", bytes.substr(0, bytes.size() - 1)), "promises more bytes than it has"},
        {file("changed", changed), "'the records' "}}) {
    const Variable variable("EIDER_TUNING_TABLE", path);
    try {
      ranges();
      ADD_FAILURE() << path;
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Request);
      EXPECT_THAT(error.what(), HasSubstr(words));
      EXPECT_THAT(error.what(), HasSubstr("EIDER_TUNING"));
    }
  }
}

TEST_F(LookupTest, AnEmptyTableIsWarnedOf) {
  std::vector<std::string> warnings;
  setLogHandler([&](const std::string &line) { warnings.push_back(line); });
  const Variable mode("EIDER_TUNING", "table-only"), path("EIDER_TUNING_TABLE", table({}));
  EXPECT_TRUE(ranges().empty());
  EXPECT_TRUE(ranges().empty());
  setLogHandler({});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("has no tuning records"));
}

TEST_F(LookupTest, WithoutADeviceTheFirstOfTheTargetCounts) {
  Record first = sampleRecord(program, "hidden=8192 tokens=5..8", narrow), second = first,
         third = sampleRecord(program, "hidden=8192 tokens=9..16", wide);
  first.device = "9.0 sm 114", second.device = third.device = "9.0 sm 132";
  second.schedule = wide;
  for (const Record &each : {third, second, first})
    ASSERT_TRUE(Store(cache).replace({each}));
  CompileOptions options;
  options.dims = {{"hidden", 8192}};
  const std::vector<TunedRange> found = tunedRanges(program, options, "", cache);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].schedule, narrow);
  EXPECT_EQ(found[1].schedule, wide);
}

TEST_F(LookupTest, JitTakesAPinnedTableWithAnEmptyCache) {
  Record record = sampleRecord(program, "hidden=256 tokens=5..8",
                               "map<threads = 16, vector = 16, rows = 4, loads = 1>");
  record.target = "host";
  record.device = "host of another rank";
  const Variable mode("EIDER_TUNING", "table-only"), path("EIDER_TUNING_TABLE", table({record}));
  for (const char *rank : {"first", "second"}) { // with a cache each
    DeviceOptions options;
    options.cache.directory = (temporary.path / rank).string();
    const Kernel kernel = jit(program, Device::open("host", options), {{"hidden", 256}});
    EXPECT_EQ(kernel.prepare({{"tokens", 7}, {"hidden", 256}}).variant(), "tuned_tokens_5_8");
  }
}

TEST_F(LookupTest, TunedVariantsComeFirstWithTheirRange) {
  CompileOptions options;
  options.dims = {{"hidden", 8192}};
  const Executable base = compile(program, options);
  options.schedule = narrow;
  const Executable tuned = compile(program, options);
  const Executable merged = merge(base, {{TunedRange{{{"tokens", {5, 8}}}, narrow}, tuned}});
  const contract::Contract contract = contract::read(merged.contract);
  ASSERT_EQ(contract.variants.size(), 6u);
  EXPECT_EQ(contract.variants[0].name, "tuned_tokens_5_8");
  EXPECT_THAT(contract.variants[0].source, HasSubstr("threads = 64"));
  const contract::Predicate &range = contract.variants[0].predicates.back();
  EXPECT_EQ(range.kind, contract::Predicate::Kind::Range);
  EXPECT_EQ(range.min, 5);
  EXPECT_EQ(range.max, 8);
  EXPECT_EQ(contract.variants[1].name, "few_rows");
  EXPECT_EQ(contract.variants[2].name, "some_rows");
  EXPECT_EQ(contract.variants[3].name, "contiguous");
  EXPECT_EQ(contract.variants[4].name, "aligned");
  EXPECT_EQ(contract.variants[5].name, "general");
}

TEST_F(LookupTest, AnyNumberOfRowsOfATransposeIsTuned) {
  const Program transpose = libraryProgram("cast_transpose");
  const Device host =
      hostWithRecord(transpose, "hidden=256 tokens=33..64",
                     "tile<threads = 1024, vector = 16, rows = 128, columns = 128>");
  const Kernel kernel = jit(transpose, host, {{"hidden", 256}});
  const auto variantOf = [&](int64_t tokens) {
    return kernel.prepare({{"tokens", tokens}, {"hidden", 256}}).variant();
  };
  EXPECT_EQ(variantOf(48), "tuned_tokens_33_64");
  EXPECT_EQ(variantOf(37), "tuned_uneven_tokens_33_64");
  EXPECT_EQ(variantOf(1000), "uneven");
  EXPECT_EQ(variantOf(1008), "contiguous");
}

TEST_F(LookupTest, JitTakesTheRecordInItsRangeAndTheHeuristicElsewhere) {
  const Device host = hostWithRecord(program, "hidden=256 tokens=5..8",
                                     "map<threads = 16, vector = 16, rows = 4, loads = 1>");
  const Kernel kernel = jit(program, host, {{"hidden", 256}});
  ASSERT_EQ(kernel.variants().size(), 5u);
  EXPECT_EQ(kernel.variants()[0].name, "tuned_tokens_5_8");
  EXPECT_EQ(kernel.prepare({{"tokens", 7}, {"hidden", 256}}).variant(), "tuned_tokens_5_8");
  EXPECT_EQ(kernel.prepare({{"tokens", 9}, {"hidden", 256}}).variant(), "few_rows");
  EXPECT_EQ(kernel.prepare({{"tokens", 256}, {"hidden", 256}}).variant(), "few_rows");
  EXPECT_EQ(kernel.prepare({{"tokens", 257}, {"hidden", 256}}).variant(), "contiguous");
}

Executable onHost(const Program &program, const Dims &dims) {
  CompileOptions options;
  options.target = "host";
  options.dims = dims;
  return compile(program, options);
}

/// As many records as dims have buckets, each of which needs another workspace.
TEST_F(LookupTest, ManyRecordsAreMerged) {
  const Program whole = libraryProgram("quantize", "*x*");
  const Executable base = onHost(whole, {{"hidden", 256}});
  std::vector<TunedExecutable> tuned;
  for (int64_t tokens = 1; tokens <= 100; ++tokens) {
    Executable one = base;
    contract::Contract changed = contract::read(one.contract);
    changed.workspace = std::to_string(256 * tokens);
    one.contract = contract::write(changed);
    tuned.emplace_back(TunedRange{{{"tokens", {tokens, tokens}}}, ""}, one);
  }
  const contract::Contract merged = contract::read(merge(base, tuned).contract);
  const auto bytesOf = [](const contract::Contract &contract, int64_t tokens) {
    std::vector<int64_t> dims(contract.dims.size(), 256);
    dims[contract.dimIndex("tokens")] = tokens;
    return contract::Expression::parse(contract.workspace, contract.dimNames()).evaluate(dims);
  };
  EXPECT_EQ(bytesOf(merged, 1), 25600);
  EXPECT_EQ(bytesOf(merged, 100), 25600);
  EXPECT_EQ(bytesOf(merged, 101), bytesOf(contract::read(base.contract), 101))
      << "more rows than any record is of need what they need without records";
  EXPECT_LT(bytesOf(merged, 101), 25600);
}

TEST_F(LookupTest, LongNamesOfDimsAreLeftOutOfAVariants) {
  Builder b("copy_of");
  const std::string rows(60, 'r'), columns(60, 'c');
  b.output("y", b.input("x", bf16, {b.dim(rows), b.dim(columns)}));
  const Program copy = b.build();
  const Executable base = onHost(copy, {{columns, 64}});
  const DimsBucket bucket = {{rows, {5, 8}}, {columns, {64, 64}}};
  const Executable merged = merge(base, {{TunedRange{bucket, ""}, base}});
  EXPECT_EQ(contract::read(merged.contract).variants[0].name, "tuned_0");
}

TEST_F(LookupTest, ARecordThatIsNoLongerLegalIsLeftOutWithAWarning) {
  DeviceOptions options;
  options.cache = cache;
  const Device host = Device::open("host", options);
  Record record =
      sampleRecord(program, "hidden=256 tokens=5..8", "contract<threads = 7, magic = 3>");
  record.target = "host";
  record.device = identityOf(host.info());
  ASSERT_TRUE(Store(cache).replace({record}));
  std::vector<std::string> warnings;
  setLogHandler([&](const std::string &line) { warnings.push_back(line); });
  EXPECT_EQ(jit(program, host, {{"hidden", 256}}).variants().size(), 4u);
  setLogHandler({});
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("a tuning record is not used"));
}

} // namespace
