//===- tests/unit/runtime/ContractTest.cpp --------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/unit/runtime/Samples.h"

#include "eider/error.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <rapidcheck/gtest.h>

using namespace eider;
using namespace eider::contract;

namespace {

using Json = nlohmann::json;

TEST(Contract, RoundTrip) {
  Contract contract = scaleContract();
  contract.dims[1].value = 7168;
  contract.scalars.push_back({"seed", DType::i64, std::nullopt});
  contract.mayAlias = {{0, 1}};
  Launch &launch = contract.variants[0].launches[0];
  launch.parameters.push_back({Parameter::Kind::Workspace, 0, 0, "tokens * 4", ""});
  launch.cluster = 2;
  const std::string text = write(contract);
  const Contract back = read(text);
  EXPECT_EQ(write(back), text);
  EXPECT_EQ(back.dims[1].value, 7168);
  EXPECT_FALSE(back.dims[0].value.has_value());
  EXPECT_EQ(back.variants[0].source, contract.variants[0].source);
  EXPECT_EQ(back.variants[0].predicates.size(), contract.variants[0].predicates.size());
  EXPECT_EQ(back.variants[0].launches[0].parameters.back().offset, "tokens * 4");
  EXPECT_EQ(back.variants[0].launches[0].cluster, 2);
  EXPECT_EQ(back.variants[0].launches[0].cooperative, 0);
  contract.variants[0].launches[0].cluster = 1;
  contract.variants[0].launches[0].cooperative = 4;
  EXPECT_EQ(read(write(contract)).variants[0].launches[0].cooperative, 4);
  contract.variants[0].launches[0].cooperative = 0;
  EXPECT_EQ(back.variants[0].launches[0].stays, 0);
  contract.variants[0].launches[0].stays = 3;
  EXPECT_EQ(read(write(contract)).variants[0].launches[0].stays, 3);
  contract.variants[0].launches[0].stays = 0;
  EXPECT_FALSE(read(write(contract)).variants[0].launches[0].overlaps);
  contract.variants[0].launches[0].overlaps = true;
  EXPECT_TRUE(read(write(contract)).variants[0].launches[0].overlaps);
  EXPECT_EQ(back.scalars[0].defaultValue, 2.0);
  EXPECT_FALSE(back.scalars[1].defaultValue.has_value());
  EXPECT_EQ(back.mayAlias, contract.mayAlias);
}

TEST(Contract, EveryTypeHasItsName) {
  for (DType dtype :
       {DType::f32, DType::bf16, DType::f16, DType::e4m3, DType::e5m2, DType::e4m3fnuz,
        DType::e5m2fnuz, DType::e8m0, DType::i32, DType::i64, DType::u8})
    EXPECT_EQ(dtypeNamed(nameOf(dtype)), dtype);
  EXPECT_EQ(dtypeNamed("f64"), std::nullopt);
}

TEST(Contract, TheExampleOfTheDesignIsReadable) {
  EXPECT_EQ(read(R"json({"schema": 1, "name": "add_rms_norm_quant", "target": "sm_90",
    "dims": [{"name": "tokens", "value": null}, {"name": "hidden", "value": 7168}],
    "tensors": [{"name": "x", "role": "input", "dtype": "bf16", "shape": ["tokens", "hidden"]},
                {"name": "y_scale", "role": "output", "dtype": "f32", "shape": ["tokens", "ceildiv(hidden, 128)"]}],
    "scalars": [{"name": "eps", "dtype": "f32", "default": 1e-06}],
    "may_alias": [], "workspace": "tokens * 4",
    "variants": [{"name": "general", "predicates": [{"kind": "unit_stride", "tensor": 0}], "source": "text",
      "launches": [{"entry": "k", "block": 448, "grid": "min(tokens, 2147483647)", "cluster": 1, "shared": "0",
        "parameters": [{"tensor": 0}, {"scalar": 0}, {"stride": [0, 0]}, {"workspace": "0"}, {"dim": "tokens"}]}]}]})json")
                .variants[0]
                .launches[0]
                .block,
            448);
}

//===-- Hostile contracts --------------------------------------------------===//

/// What read() says of the sample after `change`.
template <typename Change> std::string complaint(Change change) {
  Json json = Json::parse(write(scaleContract()));
  change(json);
  try {
    read(json.dump());
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

void expectComplaint(const std::string &found, const std::string &part) {
  EXPECT_NE(found.find(part), std::string::npos) << "said: " << found;
}

TEST(Contract, HostileJsonIsRefused) {
  EXPECT_THROW(read(""), Error);
  EXPECT_THROW(read("[]"), Error);
  EXPECT_THROW(read("{"), Error);
  EXPECT_THROW(read("\xff\xfe"), Error);
  EXPECT_THROW(read(std::string(100000, '[')), Error);
  const std::string whole = write(scaleContract());
  for (size_t length = 0; length + 1 < whole.size(); length += 7)
    EXPECT_THROW(read(whole.substr(0, length)), Error) << length;
}

/// Any damage is an error or another sound contract, and never worse.
RC_GTEST_PROP(Contract, DamagedBytesAreReadOrRefused, ()) {
  static const std::string whole = write(scaleContract());
  std::string text = whole;
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i)
    text[*rc::gen::inRange<size_t>(0, text.size())] = *rc::gen::arbitrary<char>();
  try {
    const Contract contract = read(text);
    RC_ASSERT(write(read(write(contract))) == write(contract));
  } catch (const Error &error) {
    RC_ASSERT(error.kind() == ErrorKind::Internal);
  }
}

TEST(Contract, EachMemberIsNeeded) {
  for (const char *key : {"schema", "name", "target", "dims", "tensors", "scalars", "may_alias",
                          "workspace", "variants"}) {
    expectComplaint(complaint([&](Json &json) { json.erase(key); }), "is missing");
    expectComplaint(complaint([&](Json &json) { json[key] = true; }), "is not");
  }
}

TEST(Contract, WrongValuesAreRefused) {
  expectComplaint(complaint([](Json &json) { json["schema"] = 2; }), "schema 2 is not 1");
  expectComplaint(complaint([](Json &json) { json["name"] = "a-b"; }), "is not an identifier");
  expectComplaint(complaint([](Json &json) { json["dims"][0]["value"] = -1; }), "below zero");
  expectComplaint(complaint([](Json &json) { json["dims"][0]["value"] = UINT64_MAX; }),
                  "64-bit integer");
  expectComplaint(complaint([](Json &json) { json["dims"][0]["value"] = 1.5; }), "64-bit integer");
  expectComplaint(complaint([](Json &json) { json["dims"][1]["name"] = "tokens"; }), "twice");
  expectComplaint(complaint([](Json &json) { json["tensors"][0]["dtype"] = "f64"; }), "'f64'");
  expectComplaint(complaint([](Json &json) { json["tensors"][0]["role"] = "spare"; }), "'spare'");
  expectComplaint(complaint([](Json &json) { json["tensors"][0]["shape"][0] = "rows"; }),
                  "unknown name 'rows'");
  expectComplaint(
      complaint([](Json &json) {
        json["tensors"][0]["shape"] = Json::array({"1", "1", "1", "1", "1", "1", "1", "1", "1"});
      }),
      "rank over 8");
  expectComplaint(complaint([](Json &json) { json["may_alias"] = {{0, 9}}; }), "may_alias");
  expectComplaint(complaint([](Json &json) { json["variants"] = Json::array(); }),
                  "variants is empty");
  expectComplaint(complaint([](Json &json) { json["variants"].erase(2); }),
                  "asks more than unit_stride");
}

TEST(Contract, WrongLaunchesAreRefused) {
  auto launch = [](Json &json) -> Json & { return json["variants"][0]["launches"][0]; };
  expectComplaint(complaint([&](Json &json) { launch(json)["entry"] = "k; rm"; }),
                  "is not an identifier");
  expectComplaint(complaint([&](Json &json) { launch(json)["block"] = 0; }), "block");
  expectComplaint(complaint([&](Json &json) { launch(json)["block"] = 1025; }), "block");
  expectComplaint(complaint([&](Json &json) { launch(json)["cluster"] = 17; }), "cluster");
  expectComplaint(complaint([&](Json &json) { launch(json)["cooperative"] = -1; }), "cooperative");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["cooperative"] = 2;
                    launch(json)["cluster"] = 2;
                  }),
                  "cooperative, in clusters");
  expectComplaint(complaint([&](Json &json) { launch(json)["stays"] = 65; }), "outside 0 … 64");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["stays"] = 2;
                    launch(json)["cluster"] = 2;
                  }),
                  "blocks that stay, and is cooperative or in clusters");
  expectComplaint(complaint([&](Json &json) { launch(json)["overlaps"] = 3; }),
                  "neither true nor false");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["overlaps"] = true;
                    launch(json)["cooperative"] = 2;
                  }),
                  "overlaps the launch before it, and is cooperative");
  expectComplaint(complaint([&](Json &json) { launch(json)["grid"] = "tokens *"; }),
                  "expected a number");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["parameters"][0] = {{"tensor", 7}};
                  }),
                  "no tensor");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["parameters"][0] = {{"scalar", 7}};
                  }),
                  "no scalar");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["parameters"][0] = {{"stride", {0, 2}}};
                  }),
                  "no stride");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["parameters"][0] = {{"dim", "rows"}};
                  }),
                  "no dim");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["parameters"][0] = {{"file", "x"}};
                  }),
                  "unknown kind 'file'");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["parameters"][0] = {{"tensor", -1}};
                  }),
                  "no index");
  expectComplaint(complaint([&](Json &json) {
                    launch(json)["parameters"] = Json(std::vector<Json>(200, Json{{"tensor", 0}}));
                  }),
                  "128 parameters");
  expectComplaint(
      complaint([&](Json &json) { json["variants"][0]["predicates"][0]["bytes"] = 12; }),
      "power of two");
  expectComplaint(
      complaint([&](Json &json) { json["variants"][0]["predicates"][0]["tensor"] = 5; }),
      "not there");
  expectComplaint(
      complaint([&](Json &json) { json["variants"][0]["predicates"][0]["kind"] = "odd"; }),
      "'odd'");
}

} // namespace
