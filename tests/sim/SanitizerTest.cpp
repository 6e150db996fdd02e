//===- sim/SanitizerTest.cpp - Races and stray stores are reported --------===//
//
// Part of Eider, under the Apache License v2.0.
//
// Kernels with a defect run in processes of their own, under the sanitizer that must see it; their
// sound twins must run in silence.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/CompilerProcess.h"
#include "runtime/host/TemporaryDirectory.h"
#include "templates/EmbeddedTemplates.h"

#include <algorithm>
#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <sys/personality.h>
#include <vector>

namespace eider::host {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

constexpr const char *asan = EIDER_TEST_DRIVERS "/sim_asan_driver";
constexpr const char *tsan = EIDER_TEST_DRIVERS "/sim_tsan_driver";

/// The body of a kernel over 64 threads a block; `i` is the thread's number in the grid.
std::string kernel(const std::string &body) {
  return "#include \"eider/reduce/threads.cuh\"\n"
         "#include \"eider/tile/row.cuh\"\n"
         "using namespace eider;\n"
         "extern \"C\" __global__ void probe(const float *x, float *y) {\n"
         "  const int thread = arch::thread_index();\n"
         "  const int64 i = arch::block_index() * 64 + thread;\n" +
         body + "}\n";
}
constexpr int bodyLine = 7; // of kernel()

/// A template of the library and what to run in its place.
struct Replacement {
  std::string name, text;
};

ProcessResult run(const char *driver, const std::string &text, int blocks,
                  const Replacement &replacement = {}, int cluster = 1) {
  setenv("EIDER_CXX", EIDER_TEST_CXX, 1);
  // For the child: ThreadSanitizer does not start where addresses are too random for it.
  personality(ADDR_NO_RANDOMIZE);
  const TemporaryDirectory directory;
  const auto source = directory.path() / "probe.cu", changed = directory.path() / "changed.cuh";
  writeFile(source, text);
  std::vector<std::string> command = {
      driver, source, "probe", std::to_string(blocks), "64", std::to_string(cluster)};
  if (!replacement.name.empty()) {
    writeFile(changed, replacement.text);
    command.insert(command.end(), {replacement.name, changed});
  }
  return runProcess(command, directory.path());
}

void expectSilent(const ProcessResult &result, const std::string &output) {
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.messages, output + "\n");
}

/// A report of `what` whose innermost frame, on one of its sides, is at `file`:`line`.
void expectReport(const ProcessResult &result, const std::string &what, const std::string &file,
                  int line) {
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.messages, HasSubstr(what));
  EXPECT_THAT(result.messages,
              ContainsRegex("#0 [^\n]*" + file + ":" + std::to_string(line) + "[: \n]"));
}

std::string templateText(const std::string &name) {
  for (const EmbeddedTemplate &file : embeddedTemplates())
    if (file.name == name)
      return file.text;
  ADD_FAILURE() << "the library has no " << name;
  return "";
}

/// The line of `text` on which `part` stands first.
int lineOf(const std::string &text, const std::string &part) {
  const size_t at = text.find(part);
  EXPECT_NE(at, text.npos) << part;
  return 1 +
         static_cast<int>(std::count(text.begin(), text.begin() + std::min(at, text.size()), '\n'));
}

//===-- The library's block reduction, whole and without a barrier --------===//

const std::string reduction = "eider/reduce/threads.cuh";

/// The line on which partial values are read, of a block and of a cluster.
int lineOfRead() { return lineOf(templateText(reduction), "? p[first + i]"); }

/// Two reductions, so that the second meets what the first left in shared memory.
std::string sumTwice() {
  return kernel("  float sum = 0;\n"
                "  for (int turn = 0; turn < 2; ++turn)\n"
                "    sum += reduce_threads<Sum, 64, 64>(x[i], arch::Site::current());\n"
                "  y[i] = sum;\n");
}

/// The text of the reduction with its barrier number `which` blanked, no line moved.
std::string reductionWithoutBarrier(int which) {
  std::string text = templateText(reduction);
  static const std::string call = "arch::barrier(site);";
  size_t at = text.find(call);
  for (int i = 0; i < which && at != text.npos; ++i)
    at = text.find(call, at + 1);
  EXPECT_NE(at, text.npos) << "the reduction has no barrier " << which;
  return at == text.npos ? text : text.replace(at, call.size(), ";");
}

TEST(Race, TheLibrarysReductionHasNone) { expectSilent(run(tsan, sumTwice(), 6), "128"); }

/// A row a block: y = x / sum(x).
std::string normalizeRows(int blocks) {
  return kernel("  using Row = RowTile<64, 1, 64>;\n"
                "  for (const Row row : Row::over(" +
                std::to_string(blocks) +
                ")) {\n"
                "    const auto values = row.load(x);\n"
                "    row.store(y, values / row.sum(values));\n"
                "  }\n");
}

TEST(Race, TheLibrarysRowTileHasNone) { expectSilent(run(tsan, normalizeRows(5), 5), "0.015625"); }

/// y += 1 in three rows that begin anywhere, where lanes store for each other.
std::string addOneInPlace() {
  return kernel("  using Row = RowTile<64, 8, 511>;\n"
                "  for (const Row row : Row::over(3))\n"
                "    row.store<4>(y + 3, row.load<4>(y + 3) + x[i]);\n");
}

TEST(Race, ShiftedRowsInPlaceHaveNone) { expectSilent(run(tsan, addOneInPlace(), 24), "2"); }

TEST(Race, WithoutTheBarrierOfTheWarpShiftedRowsHaveOne) {
  const std::string name = "eider/tile/members.cuh", barrier = "arch::warp_barrier(at);";
  std::string text = templateText(name);
  const size_t at = text.find(barrier);
  ASSERT_NE(at, text.npos);
  const ProcessResult result =
      run(tsan, addOneInPlace(), 24, {name, text.replace(at, barrier.size(), ";")});
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.messages, HasSubstr("ThreadSanitizer: data race"));
  EXPECT_THAT(result.messages, HasSubstr("store_words"));
}

/// Six rows of y = x + 1, each stored twice out of the same shared memory; of a warp's chunks each
/// is a copy, or all are one.
std::string storeInBulk(const std::string &tile = "RowTile<64, 4, 256>") {
  return kernel("  using Row = " + tile +
                ";\n"
                "  BulkStores stores;\n"
                "  for (const Row row : Row::over(6)) {\n"
                "    row.store_in_bulk(stores, y, row.load(x));\n"
                "    row.store_in_bulk(stores, y, row.load(x) + 1.0f);\n"
                "  }\n");
}

const char *const inOneCopy = "RowTile<64, 2, 256, 1, 2, 1, 32>";

TEST(Race, StoresInBulkHaveNone) {
  expectSilent(run(tsan, storeInBulk(), 24), "2");
  expectSilent(run(tsan, storeInBulk(inOneCopy), 24), "2");
}

TEST(Race, WithoutABarrierOfTheWarpStoresInBulkHaveOne) {
  const std::string name = "eider/memory/bulk.cuh", barrier = "arch::warp_barrier(at);";
  const std::string whole = templateText(name);
  for (size_t at = whole.find(barrier); at != whole.npos; at = whole.find(barrier, at + 1)) {
    std::string text = whole;
    text.replace(at, barrier.size(), ";");
    for (const std::string &of : {storeInBulk(), storeInBulk(inOneCopy)}) {
      const ProcessResult result = run(tsan, of, 24, {name, text});
      EXPECT_NE(result.status, 0) << at;
      EXPECT_THAT(result.messages, HasSubstr("ThreadSanitizer: data race"));
      EXPECT_THAT(result.messages, HasSubstr("await_reads"));
    }
  }
}

TEST(Race, WithoutTheBarrierBeforeTheReadIsReportedAtItsLine) {
  const std::string text = reductionWithoutBarrier(1);
  expectReport(run(tsan, sumTwice(), 2, {reduction, text}), "ThreadSanitizer: data race",
               "threads.cuh", lineOfRead());
}

TEST(Race, WithoutTheBarrierBeforeTheNextWriteIsReportedAtItsLine) {
  const std::string text = reductionWithoutBarrier(0);
  expectReport(run(tsan, sumTwice(), 2, {reduction, text}), "ThreadSanitizer: data race",
               "threads.cuh", lineOf(text, "partial[i * slots + warp] = result[i]"));
}

//===-- The reduction over a cluster --------------------------------------===//

/// As sumTwice, over blocks 2c and 2c + 1, and again: each half of the slots is used twice.
std::string sumClusters() {
  std::string text =
      kernel("  arch::Exchange::prepare();\n"
             "  float sum = 0;\n"
             "  for (int turn = 0; turn < 4; ++turn)\n"
             "    sum += reduce_cluster<Sum, 64, 2>([&] { return x[i]; }, arch::Site::current());\n"
             "  y[i] = sum;\n");
  return "#include \"eider/reduce/cluster.cuh\"\n" + text;
}

/// A template with some of its calls blanked, no line moved.
Replacement withoutCalls(const std::string &name, const std::vector<std::string> &calls) {
  std::string text = templateText(name);
  for (const std::string &call : calls) {
    const size_t at = text.find(call);
    EXPECT_NE(at, text.npos) << name << " has no " << call;
    if (at != text.npos)
      text.erase(at, call.size());
  }
  return {name, text};
}

TEST(Race, TheLibrarysClusterReductionHasNone) {
  expectSilent(run(tsan, sumClusters(), 6, {}, 2), "512");
}

TEST(Bounds, TheLibrarysClusterReductionKeepsThem) {
  expectSilent(run(asan, sumClusters(), 6, {}, 2), "512");
}

TEST(Race, WithoutTheClustersBarrierBeforeTheReadIsReportedAtItsLine) {
  const Replacement changed = withoutCalls("eider/reduce/cluster.cuh", {"exchange.wait(site);"});
  expectReport(run(tsan, sumClusters(), 2, changed, 2), "ThreadSanitizer: data race", "threads.cuh",
               lineOfRead());
}

TEST(Race, WithoutTheClustersBarrierBeforeTheWriteIsAnError) {
  const Replacement changed = withoutCalls(
      "eider/arch/host.h", // those before writes come first
      {"scheduler->cluster_arrive(place(site));", "scheduler->cluster_wait(place(site));"});
  const ProcessResult result = run(tsan, sumClusters(), 2, changed, 2);
  EXPECT_NE(result.status, 0);
  EXPECT_THAT(result.messages, HasSubstr("before a barrier of the cluster: that block may not have "
                                         "begun"));
}

//===-- The reduction over a grid -----------------------------------------===//

const std::string gridReduction = "eider/reduce/grid.cuh", parts = "eider/reduce/partial.cuh";

/// Blocks that all meet, at memory that nobody has prepared; the driver launches it twice.
std::string maximumOfGrid() {
  return "static long long state[64];\n" +
         kernel("  const GridBarrier grid(state);\n"
                "  y[i] = grid.reduce<Maximum, 64>(x[i], arch::Site::current());\n");
}

TEST(Race, TheLibrarysGridReductionHasNone) {
  expectSilent(run(tsan, maximumOfGrid(), 6, {}, 6), "1");
}

TEST(Bounds, TheLibrarysGridReductionKeepsThem) {
  expectSilent(run(asan, maximumOfGrid(), 6, {}, 6), "1");
}

TEST(Race, WithoutWaitingForTheGridIsReportedAtItsLine) {
  const Replacement changed =
      withoutCalls(gridReduction, {"arch::wait_for_word(state_, phase, before, site);"});
  expectReport(run(tsan, maximumOfGrid(), 4, changed, 4), "ThreadSanitizer: data race",
               "partial.cuh", lineOf(templateText(parts), "combine(own, parts[i])"));
}

TEST(Race, WithoutTheBarrierOfABlockThatHasWaitedIsReportedAtItsLine) {
  const Replacement changed = withoutCalls(gridReduction, {"arch::barrier(site);"});
  expectReport(run(tsan, maximumOfGrid(), 4, changed, 4), "ThreadSanitizer: data race",
               "partial.cuh", lineOf(templateText(parts), "combine(own, parts[i])"));
}

/// Blocks of which the last combines what all have left, in memory that nobody has prepared. The
/// driver launches them twice: the second launch tells what the first has given. All are resident
/// here, so that none is over, and forgotten, when another meets what it has left.
std::string maximumByLastBlock() {
  return "static long long state[64];\nstatic float most = -1;\n" +
         kernel("  y[i] = most;\n"
                "  PartialOfLast<Maximum, 64> seen(state);\n"
                "  seen.add_reduced(RowTile<64, 1, 64>::only(6), x[i] * i);\n"
                "  seen.combine_into(&most);\n");
}

TEST(Race, OfWhatTheLastBlockCombinesTheLibraryHasNone) {
  expectSilent(run(tsan, maximumByLastBlock(), 6, {}, 6), "383");
}

/// Where a block does not count itself after what it has left, the last one reads it unordered.
TEST(Race, OfPartsThatAreLeftTooLateIsReportedAtItsLine) {
  Replacement late = {parts, templateText(parts)};
  const std::string store = "    this->store(parts_, at);\n";
  ASSERT_NE(late.text.find(store), late.text.npos);
  late.text.erase(late.text.find(store), store.size());
  late.text.insert(late.text.find("    if (!arrivals_.is_last"), "\n");
  const size_t at = late.text.find("      return;\n", late.text.find("is_last("));
  late.text.replace(at, std::string("      return;\n").size(),
                    "      return this->store(parts_, at);\n");
  expectReport(run(tsan, maximumByLastBlock(), 6, late, 6), "ThreadSanitizer: data race",
               "partial.cuh", lineOf(templateText(parts), "combine(own, parts[i])"));
}

/// Blocks that combine into one value. The driver launches them twice: the second launch tells what
/// the first has left.
std::string maximumInMemory() {
  return "static float most = -1;\n" +
         kernel("  y[i] = arch::as_float(arch::load_word(reinterpret_cast<uint32 *>(&most)));\n"
                "  Partial<Maximum, 64> seen;\n"
                "  seen.add_reduced(RowTile<64, 1, 64>::only(6), x[i] * i);\n"
                "  seen.combine_into(&most);\n");
}

TEST(Race, OfOneValueInMemoryTheLibraryHasNone) {
  expectSilent(run(tsan, maximumInMemory(), 6, {}, 6), "383");
}

TEST(Race, WhereTheValueIsJustWrittenItsReadIsReported) {
  const std::string replace = "found = arch::replace_word(word, expected, wanted);";
  Replacement changed = {parts, templateText(parts)};
  const size_t at = changed.text.find(replace);
  ASSERT_NE(at, changed.text.npos);
  changed.text.replace(at, replace.size(), "found = expected, *word = wanted;");
  expectReport(run(tsan, maximumInMemory(), 6, changed, 6), "ThreadSanitizer: data race", "host.h",
               lineOf(templateText("eider/arch/host.h"), "inline uint32 load_word"));
}

/// A block that has seen the value as it was before another's came tries again.
TEST(Grid, AValueThatAnotherHasChangedIsCombinedAnew) {
  const std::string look = "arch::load_word(word)";
  Replacement changed = {parts, templateText(parts)};
  const size_t at = changed.text.find(look);
  ASSERT_NE(at, changed.text.npos);
  changed.text.replace(at, look.size(), "arch::as_bits(-1.0f)");
  expectSilent(run(tsan, maximumInMemory(), 6, changed, 6), "383");
}

TEST(Grid, ABlockThatDoesNotSayThatItHasComeIsAnError) {
  Replacement changed = {gridReduction, templateText(gridReduction)};
  const std::string call = "arch::add_to_word(state_, ";
  const size_t at = changed.text.find(call);
  ASSERT_NE(at, changed.text.npos);
  changed.text.insert(at, "if (arch::block_index() != 1) ");
  const ProcessResult result = run(asan, maximumOfGrid(), 4, changed, 4);
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.messages, HasSubstr("waits for all blocks of the grid, which do not come"));
}

TEST(Cluster, AnExchangeThatNobodyPreparedIsAnError) {
  const Replacement changed =
      withoutCalls("eider/tile/members.cuh", {"arch::Exchange::prepare();"});
  const std::string text = kernel("  using Row = RowTile<64, 1, 128, 1, 1, 2>;\n"
                                  "  for (const Row row : Row::over(2))\n"
                                  "    row.store_rows(y, row.sum(row.load(x)));\n");
  expectSilent(run(asan, text, 4, {}, 2), "0");
  const ProcessResult result = run(asan, text, 4, changed, 2);
  EXPECT_EQ(result.status, 3);
  EXPECT_THAT(result.messages, HasSubstr("an exchange in a kernel that has not prepared any"));
}

TEST(Race, WithOneHalfOfTheSlotsTheNextWriteIsReportedAtTheReadersLine) {
  const Replacement changed =
      withoutCalls("eider/reduce/cluster.cuh", {" + exchange.half() * slots"});
  expectReport(run(tsan, sumClusters(), 2, changed, 2), "ThreadSanitizer: data race", "threads.cuh",
               lineOfRead());
}

TEST(Race, BetweenTwoBlocksIsReported) {
  expectReport(run(tsan, kernel("  y[thread] = x[i];\n"), 2), "ThreadSanitizer: data race",
               "probe.cu", bodyLine);
}

TEST(Race, IsNoneWhereBlocksMeetInAtomics) {
  expectSilent(run(tsan,
                   kernel("  __atomic_fetch_add(reinterpret_cast<int *>(y), 1, __ATOMIC_RELAXED);\n"
                          "  if (i != 0) y[i] = x[i];\n"),
                   4),
               "1");
}

TEST(Race, AShuffleDoesNotOrderMemory) {
  const std::string body = "  float *shared = arch::shared<Sum, float, 64>();\n"
                           "  shared[thread] = x[i];\n"
                           "  arch::shuffle_xor(0, 1, 0xffffffff, arch::Site::current());\n"
                           "  y[i] = shared[thread ^ 1];\n";
  expectReport(run(tsan, kernel(body), 1), "ThreadSanitizer: data race", "probe.cu", bodyLine + 3);
}

//===-- Stores past the end -----------------------------------------------===//

TEST(Bounds, TheLibrarysReductionKeepsThem) { expectSilent(run(asan, sumTwice(), 6), "128"); }

TEST(Bounds, TheLibrarysRowTileKeepsThem) {
  expectSilent(run(asan, normalizeRows(5), 5), "0.015625");
}

TEST(Bounds, AStorePastATensorIsReportedAtItsLine) {
  expectReport(run(asan, kernel("  y[i + 1] = x[i];\n"), 2),
               "AddressSanitizer: heap-buffer-overflow", "probe.cu", bodyLine);
}

TEST(Bounds, AStorePastASharedArrayIsReportedAtItsLine) {
  const std::string body = "  float *shared = arch::shared<Sum, float, 63>();\n"
                           "  shared[thread] = x[i];\n"
                           "  y[i] = 0;\n";
  expectReport(run(asan, kernel(body), 1), "AddressSanitizer: heap-buffer-overflow", "probe.cu",
               bodyLine + 1);
}

TEST(Bounds, AStorePastALocalArrayIsReportedAtItsLine) {
  const std::string body = "  float local[4] = {x[i]};\n"
                           "  asm volatile(\"\" : : \"r\"(local) : \"memory\");\n"
                           "  local[thread] = 1;\n"
                           "  y[i] = local[0];\n";
  expectReport(run(asan, kernel(body), 1), "AddressSanitizer: stack-buffer-overflow", "probe.cu",
               bodyLine + 2);
}

} // namespace
} // namespace eider::host
