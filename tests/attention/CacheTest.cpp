//===- CacheTest.cpp - Caches without pages, and what appends to one ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"
#include "tests/points/Points.h"

#include <cmath>
#include <gmock/gmock.h>

using namespace eider;
using namespace eider::at_points;
using namespace eider::attention_cases;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

namespace {
/// Sequences of any lengths, the longest of which fills its own but for 3 tokens.
std::vector<matrix::Case> cases() {
  std::vector<matrix::Case> cases;
  auto add = [&](Cache shape, const OpParameters &parameters = {},
                 const std::string &codec = "auto", const std::string &schedule = "") {
    shape.page = 0;
    cases.push_back(decode(shape, parameters, codec, schedule, "normal", cases.size() + 1));
    cases.back().forAnyRows = cases.size() % 2; // by the schedule for many sequences, too
  };
  add({});
  for (const int64_t d : {32, 96, 128, 256, 512})
    add({.lengths = {45, 3, 0}, .d = d}, {.dtype = "f32"});
  for (const int64_t longest : {1, 12, 13, 14, 125})
    add({.lengths = {longest, 1, 0, longest / 2}}, {.dtype = "f16", .format = "e5m2"});
  for (const char *window : {"1", "20", "77"})
    add({.lengths = {77, 0, 20, 1, 400}}, {.settings = {{"window", window}}});
  for (const int64_t axes : {1, 2, 3})
    for (const char *window : {"2000", "20"}) {
      add({.lengths = {100, 17, 0, 1}, .scales = 2, .scaleAxes = axes, .blocks = axes == 3 ? 2 : 1},
          {.format = "e4m3fnuz", .settings = {{"window", window}}}, "software");
      add({.lengths = {700, 33}, .d = 128, .scaleAxes = axes, .blocks = axes == 3 ? 4 : 1}, {},
          "auto", "attention<threads = 128, vector = 1, blocks = 16, prefetch = 3>");
    }
  for (const char *format : {"bf16", "f16"})
    add({.lengths = {45, 3}, .d = 128}, {.format = format});
  add({.lengths = {77, 5}, .heads = 16, .kvHeads = 1, .d = 576, .valueColumns = 512});
  add({.lengths = {700, 0, 33}}, {}, "auto",
      "attention<threads = 64, vector = 1, blocks = 37, prefetch = 2, combine = 1>");
  for (const int64_t axes : {0, 2}) { // rows that lie apart, and begin anywhere
    add({.scales = 2, .scaleAxes = axes});
    cases.back().layout = {/*padding=*/3, /*shift=*/1};
  }
  add({.lengths = {0, 0}});
  add({.lengths = {300, 20, 64}, .quantised = true}, {.block = "1x64"});
  return cases;
}

constexpr int64_t kvHeads = 2, d = 64, sequences = 3, longest = 16;

/// Tokens into a cache of that type, by scales that are given where a row has none.
Program appending(const CacheType &type) {
  Builder b("appending");
  const Dim tokens = b.dim("tokens"), slots = b.dim("slots");
  const Value slot = b.input("slot_mapping", DType::i64, {tokens});
  for (const std::string name : {"k", "v"}) {
    const Value rows = b.input(name, f32, {tokens, kvHeads * d});
    QuantizeOptions how;
    if (type.has_scales() && type.block[0] == whole)
      how.scales = b.input(name + "_scale", f32, blocks_of(rows.shape(), type.block));
    b.append(name + "_cache", type, rows, slot, slots, how);
  }
  return b.build();
}

/// A query each over it.
Program attending(const CacheType &type, bool isPaged) {
  Builder b("attending");
  const Dim all = b.dim("b"), pages = isPaged ? b.dim("pages") : all,
            tokens = isPaged ? Dim(16) : b.dim("longest");
  const Value q = b.input("q", f32, {all, 2 * kvHeads, d});
  KVCache cache = b.cache(type, {pages, tokens, kvHeads, d});
  if (isPaged)
    cache.block_table = b.input("block_table", DType::i32, {all, 1});
  cache.lengths = b.input("lengths", DType::i32, {all});
  b.output("o", attention(q, cache), f32);
  return b.build();
}
} // namespace

TEST(Cache, WithoutPagesAgreesWithTheReferenceOnTheDevice) { expectReference(cases()); }

/// Each sequence in one page of a table, and without: the same tokens, in the same order.
TEST(Cache, WithoutPagesHasTheBitsOfOnePageEach) {
  for (const int64_t axes : {0, 1, 2}) {
    const Cache shape = {.lengths = {77, 0, 1, 130}, .page = 0, .scales = 2, .scaleAxes = axes};
    const matrix::Case own = decode(shape);
    Cache paged = shape;
    paged.page = own.dims.at("max_tokens");
    matrix::Case table = decode(paged);
    const int32_t order[] = {3, 1, 0, 2};
    std::vector<int32_t> pages;
    for (const int32_t page : order)
      pages.insert(pages.end(), {page, INT32_MAX});
    write(inputNamed(table, "block_table"), pages);
    for (const char *name : {"q", "k_cache", "v_cache", "k_scale", "v_scale"}) {
      const std::vector<std::byte> &from = inputNamed(const_cast<matrix::Case &>(own), name).data;
      std::vector<std::byte> &to = inputNamed(table, name).data;
      const bool isOfPages = name != std::string("q") && (axes || std::string(name).ends_with("e"));
      const size_t bytes = from.size() / 4;
      for (size_t s = 0; s < 4; ++s)
        std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(s * bytes), bytes,
                    to.begin() +
                        static_cast<std::ptrdiff_t>(
                            (isOfPages && from.size() != to.size() ? order[s] : s) * bytes));
    }
    EXPECT_EQ(runOnHost(own).at(0).data, runOnHost(table).at(0).data) << axes;
  }
}

/// A longer cache is the same kernel: how many tokens a sequence may have is the launch's to say.
TEST(Cache, WithoutPagesIsAsLongAsTheLaunchSays) {
  CompileOptions options = decode({.page = 0}).options;
  options.target = "sm_90";
  const Program program = decode({.page = 0}).program;
  const std::string text = emit(program, options, Stage::Cuda);
  EXPECT_THAT(text, AllOf(HasSubstr("/*page=*/0"), HasSubstr("eider::no_pages, lengths, b, 0, "),
                          HasSubstr("max_tokens * "), Not(HasSubstr("block_table"))));
  const std::vector<Signature::Tensor> &tensors = program.signature().tensors;
  const auto lengths = std::ranges::find(tensors, "lengths", &Signature::Tensor::name);
  EXPECT_EQ(lengths->mostOfEach, "max_tokens");
  for (const Signature::NamedDim &dim : program.signature().dims)
    EXPECT_EQ(dim.isFixed, dim.name != "b" && dim.name != "max_tokens") << dim.name;
}

/// One type describes what is written and what is read: of sequences of one token the result is
/// the value that was appended, to the precision of its element and its block.
TEST(Cache, OneTypeAppendsAndAttends) {
  for (const CacheType &type : {CacheType{e4m3, {1, whole}},
                                {e4m3, {1, d}},
                                {e5m2, {1, 32}},
                                {e4m3, {whole, whole}},
                                {e5m2, {whole, d}},
                                {bf16},
                                {f16}})
    for (const bool isPaged : {true, false}) {
      const Program append = appending(type), attend = attending(type, isPaged);
      const int64_t pages = isPaged ? 5 : sequences;
      const Dims ofAppend = {{"tokens", sequences}, {"slots", pages * longest}};
      Dims ofAttend = {{"b", sequences}};
      ofAttend[isPaged ? "pages" : "longest"] = isPaged ? pages : longest;
      matrix::Case written = {append, {}, inputsOf(append, ofAppend, "normal", 3), ofAppend};
      matrix::Case read = {attend, {}, inputsOf(attend, ofAttend, "normal", 4), ofAttend};
      read.forAnyRows = false;
      auto isGiven = [](const HostTensor &input) {
        return input.name == "k_scale" || input.name == "v_scale";
      };
      const int32_t table[] = {4, 0, 2};
      std::vector<int64_t> slots;
      for (int64_t s = 0; s < sequences; ++s)
        slots.push_back((isPaged ? table[s] : s) * longest);
      write(inputNamed(written, "slot_mapping"), slots);
      std::vector<float> rows = floatsOf(inputNamed(written, "v"));
      for (size_t i = 0; i < rows.size(); ++i) // blocks that differ, where they have own scales
        rows[i] *= type.block[0] == 1 ? std::ldexp(1.0f, static_cast<int>(i / 32 % 5) * 3) : 1.0f;
      write(inputNamed(written, "v"), rows);
      for (HostTensor &input : written.inputs)
        if (isGiven(input))
          write(input, std::vector<float>(input.data.size() / 4, 0.25f));
      for (const HostTensor &tensor : runOnHost(written)) {
        const std::string name = tensor.name.ends_with("_cache_scale")
                                     ? tensor.name.substr(0, 2) + "scale"
                                     : tensor.name;
        ASSERT_EQ(inputNamed(read, name).data.size(), tensor.data.size()) << name;
        inputNamed(read, name).data = tensor.data;
      }
      for (HostTensor &input : written.inputs)
        if (isGiven(input))
          inputNamed(read, input.name).data = input.data;
      if (isPaged)
        write(inputNamed(read, "block_table"), std::vector<int32_t>(table, table + sequences));
      write(inputNamed(read, "lengths"), std::vector<int32_t>(sequences, 1));
      const std::vector<HostTensor> outputs = runOnHost(read);
      EXPECT_EQ(wrongOf(read, outputs), 0);
      const std::vector<float> o = floatsOf(outputs.at(0));
      const float step = type.format == e4m3 ? 1.0f / 15 : type.format == e5m2 ? 1.0f / 7 : 0x1p-8f;
      for (int64_t i = 0; i < sequences * 2 * kvHeads * d; ++i) {
        const int64_t head = i / d % (2 * kvHeads) / 2;
        const float value = rows[i / (2 * kvHeads * d) * kvHeads * d + head * d + i % d];
        ASSERT_NEAR(o[i], value, std::abs(value) * step + 0x1p-7f) << i;
      }
    }
}

TEST(Cache, RefusesWhatDoesNotMeet) {
  Builder b("wrong");
  const Dim all = b.dim("b"), other = b.dim("other"), open = b.dim("d");
  auto errorOf = [&](auto call) {
    try {
      call();
    } catch (const Error &error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const Value q = b.input("q", bf16, {all, 4, 64}), tokens = b.input("t", bf16, {all, 128});
  const eider::Shape ofOthers = {other, 16, 2, 64};
  KVCache cache = {.keys = b.codes("k", e4m3, ofOthers),
                   .values = b.codes("v", e4m3, ofOthers),
                   .lengths = b.input("lengths", DType::i32, {all})};
  EXPECT_THAT(errorOf([&] { attention(q, cache); }),
              AllOf(HasSubstr("the keys are [other, 16, 2, 64], the queries [b, 4, 64]"),
                    HasSubstr("give each sequence one page, or a block table")));
  auto ofType = [&](const CacheType &type, const eider::Shape &shape) {
    static int calls = 0;
    return errorOf([&] { b.cache(type, shape, {}, {"kv_" + std::to_string(++calls)}); });
  };
  const eider::Shape shape = {all, 16, 2, 64};
  EXPECT_EQ(ofType({e4m3, {16, 64}}, shape), "");
  EXPECT_THAT(ofType({e4m3, {8, 64}}, shape), HasSubstr("a scale of 8 tokens in pages of 16"));
  EXPECT_THAT(ofType({e4m3, {1, 48}}, shape), HasSubstr("a scale of 48 columns in heads of 64"));
  EXPECT_THAT(ofType({e4m3, {whole, 32}}, shape), HasSubstr("give each head one"));
  EXPECT_THAT(ofType({e4m3, {1}}, shape), HasSubstr("give tokens and columns"));
  EXPECT_THAT(ofType({e4m3, {1, 64}}, {all, 16, 2, open}),
              HasSubstr("give the shape of the scales"));
  EXPECT_THAT(ofType({}, {all, 2, 64}), HasSubstr("give [pages, page, kv_heads, d]"));
  const Value slot = b.input("slot", DType::i64, {all});
  auto append = [&](const CacheType &type) {
    return errorOf([&] { b.append("into", type, tokens, slot, other); });
  };
  EXPECT_THAT(append({e4m3, {16, 64}}), HasSubstr("use blocks of one row, or give the scales"));
  EXPECT_THAT(append({e4m3, {16}}), HasSubstr("give tokens and columns"));
  for (const auto &[parameters, words] :
       {std::pair(OpParameters{.format = "bf16", .scaleSource = "static"}, "has no scales"),
        {OpParameters{.format = "f32"}, "e2m1, bf16, f16"}})
    EXPECT_THAT(errorOf([&] { libraryOp("kv_append", parameters); }), HasSubstr(words));
}

TEST(Cache, TextsArePure) {
  attention_cases::expectPure(decode({.page = 0}));
  attention_cases::expectPure(decode({.page = 0, .scaleAxes = 3, .blocks = 2}));
}

TEST(Cache, NvrtcCompilesTheTexts) {
  for (const char *target : {"sm_75", "sm_90a"})
    for (const int64_t axes : {0, 3}) {
      const matrix::Case made = decode({.page = 0, .scaleAxes = axes, .blocks = axes ? 2 : 1});
      expectNvrtc(made.program, made.options, target);
    }
}
