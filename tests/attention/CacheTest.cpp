//===- CacheTest.cpp - Caches without pages, and what appends to one ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/attention/Cases.h"
#include "tests/points/Points.h"

#include <cmath>
#include <gmock/gmock.h>
#include <random>

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
    for (const matrix::Layout layout : matrix::apart) {
      add({.scales = 2, .scaleAxes = axes});
      cases.back().layout = layout;
    }
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
  EXPECT_THAT(text, AllOf(HasSubstr("/*page=*/0"), HasSubstr("eider::no_pages(), lengths, b, 0, "),
                          HasSubstr("max_tokens * "), Not(HasSubstr("block_table"))));
  const std::vector<Signature::Tensor> &tensors = program.signature().tensors;
  const auto lengths = std::ranges::find(tensors, "lengths", &Signature::Tensor::name);
  EXPECT_EQ(lengths->mostOfEach, "max_tokens");
  for (const Signature::NamedDim &dim : program.signature().dims)
    EXPECT_EQ(dim.isFixed, dim.name != "b" && dim.name != "max_tokens") << dim.name;
}

/// One type describes what is written and what is read: beside softmax in double of what was
/// appended, unquantised, attention is as near as elements of that type are. Columns differ by
/// powers of two where blocks have scales of their own, and so do the scales that are given, by
/// head: each key and each value must meet its own.
TEST(Cache, OneTypeAppendsAndAttends) {
  constexpr int64_t row = kvHeads * d, length = 2;
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
      const Dims ofAppend = {{"tokens", sequences * length}, {"slots", pages * longest}};
      Dims ofAttend = {{"b", sequences}};
      ofAttend[isPaged ? "pages" : "longest"] = isPaged ? pages : longest;
      matrix::Case written = {append, {}, inputsOf(append, ofAppend, "normal", 3), ofAppend};
      matrix::Case read = {attend, {}, inputsOf(attend, ofAttend, "normal", 4), ofAttend};
      const std::vector<int32_t> table = {4, 0, 2};
      std::vector<int64_t> slots;
      for (int64_t i = 0; i < sequences * length; ++i)
        slots.push_back((isPaged ? table[i / length] : i / length) * longest + i % length);
      write(inputNamed(written, "slot_mapping"), slots);
      auto factorOf = [&](int64_t column) {
        return type.block[0] == 1 ? std::ldexp(1.0f, static_cast<int>(column / 32) * 3) : 1.0f;
      };
      std::mt19937 random(9);
      std::normal_distribution<float> normal;
      std::vector<float> k, v, q;
      for (int64_t i = 0; i < sequences * length * row; ++i) {
        k.push_back(normal(random) * factorOf(i % row));
        v.push_back(normal(random) * factorOf(i % row));
      }
      for (int64_t i = 0; i < sequences * 2 * row; ++i) // two query heads a KV head
        q.push_back(normal(random) / factorOf(i / d % (2 * kvHeads) / 2 * d + i % d));
      write(inputNamed(written, "k"), k);
      write(inputNamed(written, "v"), v);
      write(inputNamed(read, "q"), q);
      auto take = [&](const std::string &name, const HostTensor &tensor) {
        ASSERT_EQ(inputNamed(read, name).data.size(), tensor.data.size()) << name;
        inputNamed(read, name).data = tensor.data;
      };
      if (type.has_scales() && type.block[0] == whole)
        for (const std::string name : {"k_scale", "v_scale"}) {
          std::vector<float> scales = {0.25f, 0.5f};
          scales.resize(inputNamed(written, name).data.size() / sizeof(float));
          write(inputNamed(written, name), scales);
          take(name, inputNamed(written, name));
        }
      for (const HostTensor &tensor : runOnHost(written))
        take(tensor.name.ends_with("_cache_scale") ? tensor.name.substr(0, 2) + "scale"
                                                   : tensor.name,
             tensor);
      if (isPaged)
        write(inputNamed(read, "block_table"), table);
      write(inputNamed(read, "lengths"), std::vector<int32_t>(sequences, length));
      const std::vector<HostTensor> outputs = runOnHost(read);
      EXPECT_EQ(wrongOf(read, outputs), 0);
      const std::vector<float> o = floatsOf(outputs.at(0));
      const double step = type.format == e4m3 ? 0x1p-4 : type.format == e5m2 ? 0x1p-3 : 0x1p-8;
      for (int64_t i = 0; i < sequences * 2 * row; ++i) {
        const int64_t head = i / d % (2 * kvHeads) / 2, column = head * d + i % d;
        const int64_t first = i / (2 * row) * length * row;
        double difference = 0; // of the scores of both tokens
        for (int64_t j = 0; j < d; ++j)
          difference += q[i / d * d + j] *
                        (k[first + head * d + j] - k[first + row + head * d + j]) / std::sqrt(d);
        const double weight = 1 / (1 + std::exp(-difference));
        const double one = weight * v[first + column],
                     other = (1 - weight) * v[first + row + column];
        const double far = std::abs(v[first + column] - v[first + row + column]);
        ASSERT_NEAR(o[i], one + other,
                    step * (std::abs(one) + std::abs(other) + 0.7 * far) +
                        0x1p-7 * factorOf(column))
            << i << " " << isPaged;
      }
    }
}

/// How long a cache is may be a rounded quotient of what the launch says: 6 tokens of an n of 11.
TEST(Cache, IsOfAnyExtent) {
  Builder b("halves");
  const Dim all = b.dim("b"), n = b.dim("n"), tokens = ceildiv(n, 2);
  KVCache cache = b.cache({e4m3, {1, d}}, {all, tokens, kvHeads, d});
  cache.lengths = b.input("lengths", DType::i32, {all});
  b.output("o", attention(b.input("q", f32, {all, 2 * kvHeads, d}), cache), f32);
  const eider::Shape ofN = {all, n, kvHeads, d}; // which says what n is
  KVCache other = {.keys = b.codes("k", e4m3, ofN), .lengths = cache.lengths};
  b.output("of_other", attention(b.input("r", f32, {all, 2 * kvHeads, d}), other), f32);
  const Program program = b.build();
  const Dims dims = {{"b", sequences}, {"n", 11}};
  matrix::Case made = {program, {}, inputsOf(program, dims, "normal", 4), dims};
  write(inputNamed(made, "lengths"), std::vector<int32_t>{6, 3, 5});
  EXPECT_EQ(inputNamed(made, "k_cache").shape.at(1), 6);
  EXPECT_EQ(wrongOf(made, runOnHost(made)), 0);
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
  EXPECT_THAT(append({e4m3, {16, 64}}), HasSubstr("give each token its own, or all one"));
  EXPECT_THAT(append({e4m3, {whole, 64}}), HasSubstr("or give the scales"));
  EXPECT_THAT(
      errorOf([&] {
        b.append("into", {bf16}, tokens, slot, other, {.scales = b.input("scales", f32, {1, 1})});
      }),
      HasSubstr("no codes, and have scales"));
  EXPECT_THAT(errorOf([&] { b.cache({bf16}, shape, {1}, {"floats"}); }),
              HasSubstr("no codes, and have scales"));
  EXPECT_THAT(append({e4m3, {16}}), HasSubstr("give tokens and columns"));
  for (const auto &[parameters, words] :
       {std::pair(OpParameters{.format = "bf16", .scaleSource = "static"},
                  "no codes, and no scales"),
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
