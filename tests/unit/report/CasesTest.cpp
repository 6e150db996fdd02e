//===- tests/unit/report/CasesTest.cpp - Who stands beside whom -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/report/Samples.h"

#include "tools/report/Cases.h"
#include "tools/report/Page.h"

#include <gmock/gmock.h>

using namespace eider::report;
using testing::HasSubstr;

namespace {

std::vector<Document> documentsOf(const std::vector<std::string> &files) {
  std::vector<Document> documents;
  for (const std::string &file : files)
    documents.push_back(readDocument(file, "f"));
  return documents;
}

TEST(Cases, PeersStandBesideUs) {
  const auto documents =
      documentsOf({fileWith(timeCell(98, R"(, "codec": "auto", "schedule": "")")),
                   fileWith(timeCell(130, R"(, "by": "torch.compile", "l2": "cold")") + "," +
                            timeCell(104, R"(, "by": "triton")"))});
  const auto cases = casesOf(documents);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].ours()->value, 98);
  ASSERT_EQ(cases[0].peers.size(), 2u);
  EXPECT_EQ(cases[0].peers[0].name, "triton"); // the fastest first
  EXPECT_EQ(cases[0].best(), nullptr);
}

TEST(Cases, WhatDiffersIsAnotherCase) {
  const auto documents = documentsOf({fileWith(
      timeCell(98) + "," + timeCell(60, R"(, "l2": "warm")") + "," +
      timeCell(99, R"(, "codec": "software")") + "," + timeCell(97, R"(, "dtype": "f16")"))});
  EXPECT_EQ(casesOf(documents).size(), 4u);
}

TEST(Cases, TheBestScheduleIsTheTunedTime) {
  const auto documents = documentsOf(
      {fileWith(timeCell(100) + "," + timeCell(90, R"(, "schedule": "row<threads = 64>")") + "," +
                timeCell(95, R"(, "schedule": "row<threads = 128>")"))});
  const auto cases = casesOf(documents);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].ours()->value, 100);
  EXPECT_EQ(cases[0].best()->value, 90);
}

TEST(Cases, ARecordCountsBeforeASweep) {
  const auto documents = documentsOf(
      {fileWith(timeCell(100) + "," + timeCell(90, R"(, "schedule": "row<threads = 64>")") + "," +
                timeCell(92, R"(, "schedule": "tuned")"))});
  EXPECT_EQ(casesOf(documents)[0].best()->value, 92);
}

TEST(Cases, WhatTheTunerMeasuredStandsInForABenchmark) {
  auto metric = [](std::string cell, const std::string &name) {
    return cell.replace(cell.find("\"time\""), 6, "\"" + name + "\"");
  };
  const std::string tuned = metric(timeCell(92, R"(, "schedule": "a")"), "tuned_time"),
                    heuristic = metric(timeCell(99, R"(, "schedule": "b")"), "heuristic_time");
  const auto alone = documentsOf({fileWith(tuned + "," + heuristic)});
  EXPECT_EQ(casesOf(alone)[0].ours()->value, 99);
  EXPECT_EQ(casesOf(alone)[0].best()->value, 92);
  const auto both = documentsOf({fileWith(tuned + "," + heuristic), fileWith(timeCell(100))});
  ASSERT_EQ(casesOf(both).size(), 1u);
  EXPECT_EQ(casesOf(both)[0].ours()->value, 100);
}

TEST(Cases, AnUnbeatenHeuristicIsNotTuned) {
  const auto documents = documentsOf(
      {fileWith(timeCell(80) + "," + timeCell(90, R"(, "schedule": "row<threads = 64>")"))});
  EXPECT_EQ(casesOf(documents)[0].best(), nullptr);
}

TEST(Cases, TheNewerFileCounts) {
  const auto documents = documentsOf({fileWith(timeCell(98), "2026-02-01T00:00:00Z"),
                                      fileWith(timeCell(150), "2026-01-01T00:00:00Z")});
  const auto cases = casesOf(documents);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].ours()->value, 98);
}

TEST(Cases, TheWorstIsFirst) {
  // Slower than memcpy, slower than a peer, good.
  const auto documents =
      documentsOf({fileWith(timeCell(99) + "," + timeCell(140, R"(, "dtype": "f16")") + "," +
                            timeCell(101, R"(, "dtype": "f32")") + "," +
                            timeCell(60, R"(, "dtype": "f32", "by": "p")"))});
  const auto cases = casesOf(documents);
  ASSERT_EQ(cases.size(), 3u);
  EXPECT_EQ(cases[0].ours()->value, 101);
  EXPECT_EQ(cases[1].ours()->value, 140);
  EXPECT_EQ(cases[2].ours()->value, 99);
}

TEST(Page, LossesAreCounted) {
  const std::string page =
      pageOf(documentsOf({fileWith(timeCell(140) + "," + timeCell(100, R"(, "by": "p")"))}));
  EXPECT_THAT(page, HasSubstr("<b>1 of 1</b>cases are more than 5 % slower than a memcpy"));
  EXPECT_THAT(page, HasSubstr("<b>1 of 1</b>cases are slower than the fastest peer"));
}

TEST(Page, APeerAloneIsShown) {
  const std::string page = pageOf(documentsOf({fileWith(timeCell(100, R"(, "by": "p")"))}));
  EXPECT_THAT(page, HasSubstr("of p (100 µs)"));
}

TEST(Page, NoCellsIsNoError) {
  EXPECT_THAT(pageOf(documentsOf({fileWith("")})), HasSubstr("NVIDIA H200"));
}

} // namespace
