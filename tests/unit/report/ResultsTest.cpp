//===- tests/unit/report/ResultsTest.cpp - Files of results ---------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/report/Samples.h"

#include "eider/error.h"
#include "tools/report/Html.h"
#include "tools/report/Words.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

using namespace eider::report;
using testing::HasSubstr;

namespace {

std::string errorOf(const std::string &text) {
  try {
    readDocument(text, "some.json");
  } catch (const eider::Error &error) {
    EXPECT_EQ(error.kind(), eider::ErrorKind::Request);
    EXPECT_EQ(error.where(), "some.json");
    return error.what();
  }
  return "no error";
}

/// The complaint about a good file, one field of which (a JSON pointer) is another value.
std::string errorWith(const std::string &field, const nlohmann::json &value) {
  nlohmann::json document = nlohmann::json::parse(fileWith(timeCell(98)));
  document[nlohmann::json::json_pointer(field)] = value;
  return errorOf(document.dump());
}

/// The complaint about a good file without a field of its document or of its cell.
std::string errorWithout(const std::string &field) {
  nlohmann::json document = nlohmann::json::parse(fileWith(timeCell(98)));
  if (!document.erase(field))
    document["cells"][0].erase(field);
  return errorOf(document.dump());
}

TEST(Results, AreRead) {
  const Document document = readDocument(fileWith(timeCell(98.5, R"(, "by": "torch")")), "f");
  EXPECT_EQ(document.device, "NVIDIA H200");
  EXPECT_EQ(document.machine, (Pairs{{"target", "sm_90"}}));
  ASSERT_EQ(document.cells.size(), 1u);
  const Cell &cell = document.cells[0];
  EXPECT_EQ(cell.op, "quantize");
  EXPECT_EQ(cell.param("by"), "torch");
  EXPECT_EQ(cell.param("codec"), "");
  EXPECT_EQ(cell.shape, (Pairs{{"tokens", "16384"}, {"hidden", "8192"}})); // rows first
  EXPECT_DOUBLE_EQ(*cell.ratio(), 0.985);
  EXPECT_EQ(cell.met(), std::nullopt);
}

TEST(Results, EveryFieldThatMustBeThereIsAskedFor) {
  for (const char *field : {"schema", "bench", "date", "commit", "machine", "cells"})
    EXPECT_THAT(errorWithout(field), HasSubstr(std::string(field) + ": is missing")) << field;
  for (const char *field : {"op", "params", "shape", "metric", "unit", "value", "baseline_value"})
    EXPECT_THAT(errorWithout(field), HasSubstr("cells[0]." + std::string(field) + ": is missing"))
        << field;
}

TEST(Results, ErrorsNameTheField) {
  EXPECT_THAT(errorWith("/schema", 2), HasSubstr("schema: is 2; 1 is known here"));
  EXPECT_THAT(errorWith("/cells", 3), HasSubstr("cells: is no array"));
  EXPECT_THAT(errorWith("/cells/0", "x"), HasSubstr("cells[0]: is no object"));
  EXPECT_THAT(errorWith("/cells/0/value", "fast"), HasSubstr("cells[0].value: is no number"));
  EXPECT_THAT(errorWith("/cells/0/value", 0), HasSubstr("cells[0].value: is no time"));
  EXPECT_THAT(errorWith("/cells/0/op", 1), HasSubstr("cells[0].op: is no string"));
  EXPECT_THAT(errorWith("/cells/0/shape/tokens", 1.5),
              HasSubstr("cells[0].shape.tokens: is no extent"));
  EXPECT_THAT(errorWith("/cells/0/shape/tokens", -1),
              HasSubstr("cells[0].shape.tokens: is no extent"));
  EXPECT_THAT(errorWith("/cells/0/params/block", {1, 128}),
              HasSubstr("cells[0].params.block: is neither"));
  EXPECT_THAT(errorWith("/cells/0/spread", "wide"), HasSubstr("cells[0].spread: is no number"));
  EXPECT_THAT(errorWith("/machine", "H200"), HasSubstr("machine: is no object"));
}

TEST(Results, TextThatIsNoJson) {
  EXPECT_THAT(errorOf(""), HasSubstr("some.json: is no JSON"));
  EXPECT_THAT(errorOf(fileWith(timeCell(98)).substr(0, 200)), HasSubstr("is no JSON"));
  EXPECT_THAT(errorOf("[]"), HasSubstr("is no object"));
  EXPECT_THAT(errorOf(R"({"schema": 1e999})"), HasSubstr("is no JSON"));
}

TEST(Results, ACellOccursOnce) {
  EXPECT_THAT(errorOf(fileWith(timeCell(98) + "," + timeCell(99))),
              HasSubstr("cells[1]: has op, params, shape and metric of cells[0]"));
  EXPECT_EQ(errorOf(fileWith(timeCell(98) + "," + timeCell(99, R"(, "by": "torch")"))), "no error");
}

TEST(Results, WhatWasAskedIsJudged) {
  auto met = [](nlohmann::json fields) {
    nlohmann::json document = nlohmann::json::parse(fileWith(timeCell(104)));
    document["cells"][0].update(fields);
    return readDocument(document.dump(), "f").cells[0].met();
  };
  EXPECT_EQ(met({{"target", 1.05}}), true);
  EXPECT_EQ(met({{"target", 1.03}}), false);
  EXPECT_EQ(met({{"target", 0}}), std::nullopt); // 0: none
  EXPECT_EQ(met({{"target_difference", 5}}), true);
  EXPECT_EQ(met({{"target_difference", 3}}), false);
  EXPECT_EQ(met({{"metric", "failed"}, {"target", 0}}), false);
  EXPECT_EQ(met({{"metric", "failed"}, {"target", 0}, {"value", 0}}), true);
}

TEST(Html, TextIsEscaped) {
  const Element made = element("p", "", "a<b>&\"'\x01\x7f\xef\xbf\xbf").set("title", "\"><script>");
  EXPECT_EQ(made.str(), "<p title=\"&quot;&gt;&lt;script&gt;\">a&lt;b&gt;&amp;&quot;&#39;"
                        "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd</p>");
}

TEST(Words, NumbersAreShort) {
  EXPECT_EQ(number(96.9344), "96.9");
  EXPECT_EQ(number(1.0533), "1.053");
  EXPECT_EQ(number(1234.6), "1235");
  EXPECT_EQ(number(3), "3");
  EXPECT_EQ(number(0.001234), "0.00123");
  EXPECT_EQ(number(0.03452), "0.0345");
  EXPECT_EQ(bytesText(402718720), "403 MB");
  EXPECT_EQ(bytesText(1e9), "1 GB");
  EXPECT_EQ(bytesText(1500), "1.5 kB");
  EXPECT_EQ(bytesText(12), "12 B");
}

} // namespace
