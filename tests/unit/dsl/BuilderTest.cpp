//===- BuilderTest.cpp - What the DSL records -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/compile.h"

#include <gmock/gmock.h>

using namespace eider;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

namespace {
/// A program of one expression on x [tokens, hidden] (bf16), row [hidden], column [tokens, 1], s (a
/// scalar).
struct Playground {
  Builder b{"op"};
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", bf16, {tokens, hidden});
  Value row = b.input("row", f32, {hidden});
  Value column = b.input("column", f32, {tokens, 1});
  Value s = b.scalar("s", 0.5f);

  std::string text(const Value &value) {
    b.output("y", value);
    return b.build().text();
  }
  std::string text(const Scaled &value) {
    b.output("y", value);
    return b.build().text();
  }
};

size_t count(const std::string &text, const std::string &part) {
  size_t n = 0;
  for (size_t at = text.find(part); at != text.npos; at = text.find(part, at + 1))
    ++n;
  return n;
}

/// The text is read back as the same text.
void expectRoundTrip(const Program &program) {
  EXPECT_EQ(parseProgram(program.text(), "again.mlir").text(), program.text());
}

TEST(Builder, recordsTheExampleOfTheInterface) {
  Builder b("add_rms_norm_quant");
  auto tokens = b.dim("tokens"), hidden = b.dim("hidden");
  auto x = b.input("x", eider::bf16, {tokens, hidden});
  auto residual = b.inout("residual", eider::bf16, {tokens, hidden});
  auto weight = b.input("weight", eider::bf16, {hidden});
  auto eps = b.scalar("eps", 1e-6f);
  auto h = x + residual;
  b.store(residual, h);
  auto n = h * rsqrt(mean(h * h, /*axis=*/-1) + eps) * weight;
  b.output("y", quantize(n, eider::e4m3, {.block = {1, 128}}));
  Program program = b.build();

  EXPECT_EQ(program.name(), "add_rms_norm_quant");
  const Signature &signature = program.signature();
  ASSERT_EQ(signature.tensors.size(), 5u);
  EXPECT_EQ(signature.tensors[1].name, "residual");
  EXPECT_EQ(signature.tensors[1].role, Signature::Role::InOut);
  EXPECT_EQ(signature.tensors[3].dtype, e4m3);
  EXPECT_EQ(signature.tensors[4].name, "y_scale");
  EXPECT_THAT(signature.tensors[4].shape, ElementsAre("tokens", "ceildiv(hidden, 128)"));
  ASSERT_EQ(signature.scalars.size(), 1u);
  EXPECT_EQ(signature.scalars[0].value, 1e-6f);
  expectRoundTrip(program);
}

TEST(Builder, textIsTheSameEachTime) {
  Playground first, second;
  EXPECT_EQ(first.text(exp(first.x) * first.row), second.text(exp(second.x) * second.row));
}

TEST(Builder, staticDims) {
  Builder b("op");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden", 7168);
  Value x = b.input("x", f32, {tokens, 2 * hidden});
  b.output("y", quantize(first_half(x), e5m2, {.block = {1, 128}}));
  Program program = b.build();
  EXPECT_THAT(program.text(), HasSubstr("@op(tokens, hidden = 7168)"));
  EXPECT_THAT(program.text(), HasSubstr("tensor<?x14336xf32, #eider.dims<tokens, 2 * hidden>>"));
  EXPECT_EQ(program.signature().dims[0].value, std::nullopt);
  EXPECT_EQ(program.signature().dims[1].value, 7168);
  EXPECT_THAT(program.signature().tensors[0].shape, ElementsAre("tokens", "2 * hidden"));
  expectRoundTrip(program);
}

TEST(Builder, constantDims) {
  Builder b("op");
  Value x = b.input("x", f32, {4, 7168});
  b.output("y", quantize(x, e4m3, {.block = {1, 128}}));
  Program program = b.build();
  EXPECT_THAT(program.signature().tensors[2].shape, ElementsAre("4", "56"));
  expectRoundTrip(program);
}

TEST(Builder, scaledInput) {
  Builder b("op");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Scaled x = b.scaled_input("x", e5m2, {tokens, hidden}, {128, 128});
  EXPECT_EQ(x.format(), e5m2);
  EXPECT_EQ(x.shape(), (Shape{tokens, hidden}));
  b.output("y", dequantize(x), f16);
  Program program = b.build();
  const auto &tensors = program.signature().tensors;
  ASSERT_EQ(tensors.size(), 3u);
  EXPECT_EQ(tensors[0].dtype, e5m2);
  EXPECT_EQ(tensors[1].name, "x_scale");
  EXPECT_THAT(tensors[1].shape, ElementsAre("ceildiv(tokens, 128)", "ceildiv(hidden, 128)"));
  EXPECT_EQ(tensors[2].dtype, f16);
  expectRoundTrip(program);
}

TEST(Builder, givenScalesAreNoOutput) {
  Builder b("op");
  Dim tokens = b.dim("tokens"), hidden = b.dim("hidden");
  Value x = b.input("x", f32, {tokens, hidden});
  Value scale = b.input("scale", f32, blocks_of({tokens, hidden}, {whole, whole}));
  b.output("y", quantize(x, e4m3, {.block = {whole, whole}, .scales = scale}));
  Program program = b.build();
  ASSERT_EQ(program.signature().tensors.size(), 3u);
  EXPECT_EQ(program.signature().tensors[2].name, "y");
  expectRoundTrip(program);
}

TEST(Arithmetic, isFloatAndWidensOnce) {
  Playground p;
  std::string text = p.text(p.x * p.x + p.x);
  EXPECT_EQ(count(text, "arith.extf"), 1u);
  EXPECT_EQ(count(text, "arith.mulf"), 1u);
  EXPECT_THAT(text, HasSubstr("eider.output \"y\", %2 : tensor<?x?xf32,"));
}

TEST(Arithmetic, staysAtTheSmallerLevel) {
  Playground p;
  std::string text = p.text(p.x * ((p.column + p.s) * (p.s * 2 + 1)));
  EXPECT_THAT(text, HasSubstr("arith.mulf %s, %cst : f32"));
  EXPECT_THAT(text, HasSubstr("eider.broadcast %s : f32 to tensor<?x1xf32"));
  EXPECT_EQ(count(text, "to tensor<?x?xf32, #eider.dims<tokens, hidden>>"), 2u) << text;
}

TEST(Arithmetic, rowsAndColumnsMakeAMatrix) {
  Playground p;
  EXPECT_EQ((p.row - p.column).shape(), (Shape{p.tokens, p.hidden}));
  EXPECT_EQ((p.column / p.s).shape(), (Shape{p.tokens, 1}));
  EXPECT_EQ((p.s - 1).shape(), Shape());
  EXPECT_EQ((p.row * p.row).shape(), Shape{p.hidden});
}

TEST(Arithmetic, oneValueABlockRepeats) {
  Playground p;
  Value largest = amax(p.x, {1, 128});
  EXPECT_EQ(largest.shape(), (Shape{p.tokens, ceildiv(p.hidden, 128)}));
  EXPECT_EQ((p.x / largest).shape(), (Shape{p.tokens, p.hidden}));
  EXPECT_EQ((largest * amax(p.x, {1, 64})).shape(), (Shape{p.tokens, ceildiv(p.hidden, 64)}));
}

TEST(Arithmetic, numbersAreRoundedAndSharedOnce) {
  Playground p;
  std::string text = p.text((p.x + 0.1) * 0.1f - 0.1);
  EXPECT_EQ(count(text, "arith.constant 1.000000e-01 : f32"), 1u) << text;
}

TEST(Arithmetic, everyFunctionIsRecorded) {
  Playground p;
  const std::pair<Value, const char *> cases[] = {
      {p.x + 1, "arith.addf"},
      {1 - p.x, "arith.subf"},
      {p.x * 2, "arith.mulf"},
      {2 / p.x, "arith.divf"},
      {-p.x, "arith.negf"},
      {min(p.x, 1), "arith.minimumf"},
      {max(p.x, 1), "arith.maximumf"},
      {abs(p.x), "math.absf"},
      {sqrt(p.x), "math.sqrt"},
      {fma(p.x, 2, p.s), "math.fma"},
      {rsqrt(p.x), "math.rsqrt"},
      {exp(p.x), "math.exp "},
      {exp2(p.x), "math.exp2"},
      {log(p.x), "math.log"},
      {tanh(p.x), "math.tanh"},
      {erf(p.x), "math.erf"},
      {sigmoid(p.x), "eider.sigmoid"},
      {gelu(p.x), "eider.gelu"},
      {select(p.x < 0, 0, p.x), "arith.cmpf olt"},
      {select(p.x <= 0, 0, p.x), "arith.cmpf ole"},
      {select(p.x > 0, 0, p.x), "arith.cmpf ogt"},
      {select(p.x >= 0, 0, p.x), "arith.cmpf oge"},
      {select(p.x == 0, 0, p.x), "arith.cmpf oeq"},
      {select(p.x != 0, 0, p.x), "arith.cmpf une"},
      {sum(p.x, -1), "over [1, *]"},
      {sum(p.x, 0), "over [*, 1]"},
      {mean(p.x, {1, 64}), "over [1, 64]"},
      {max(p.x, {2, whole}), "over [2, *]"},
      {min(p.x, {4, 4}), "over [4, 4]"},
      {amax(p.x, 1), "amax %"},
      {max_along(p.x, 1), "max %"},
      {min_along(p.x, 1), "min %"},
  };
  for (int i = 0; const auto &entry : cases)
    p.b.output("y" + std::to_string(i++), entry.first);
  Program program = p.b.build();
  for (const auto &entry : cases)
    EXPECT_THAT(program.text(), HasSubstr(entry.second));
  expectRoundTrip(program);
}

TEST(Arithmetic, composedFunctions) {
  Playground p;
  std::string text =
      p.text(silu(p.x) + gelu(p.x) + gelu_tanh(p.x) + relu(p.x) + clamp(p.x, -1, p.s) + rcp(p.x));
  for (const char *part : {"eider.sigmoid", "eider.gelu", "math.tanh", "arith.maximumf",
                           "arith.minimumf", "arith.divf", "0.797884583", "4.471500e-02"})
    EXPECT_THAT(text, HasSubstr(part));
}

TEST(Arithmetic, fmaIsAtTheSharedShape) {
  Playground p;
  EXPECT_EQ(fma(p.row, p.s, p.column).shape(), (Shape{p.tokens, p.hidden}));
}

TEST(Arithmetic, selectComparesAtTheSharedShape) {
  Playground p;
  Value chosen = select(p.s > 0, p.row, p.column);
  EXPECT_EQ(chosen.shape(), (Shape{p.tokens, p.hidden}));
  EXPECT_THAT(p.text(chosen), HasSubstr("tensor<?x?xi1"));
}

TEST(Types, castsAndRoundings) {
  Playground p;
  EXPECT_EQ(cast(p.x, bf16).dtype(), bf16);
  EXPECT_EQ(cast(p.x, f16).dtype(), f16);
  EXPECT_EQ(round_to(p.x * 2, bf16).dtype(), f32);
  Playground q;
  std::string text = q.text(round_to(q.row * 2, bf16));
  EXPECT_EQ(count(text, "arith.truncf"), 1u);
  EXPECT_EQ(count(text, "to tensor<?xf32"), 2u)
      << text; // the rounded value widened, and the constant broadcast
}

TEST(Shapes, halvesKeepTheType) {
  Builder b("op");
  Dim n = b.dim("n");
  Value x = b.input("x", bf16, {4 * n});
  EXPECT_EQ(first_half(x).dtype(), bf16);
  EXPECT_EQ(second_half(x).shape(), Shape{2 * n});
}

TEST(Shapes, broadcastWidensWhatIsNoValue) {
  Builder b("op");
  Dim n = b.dim("n");
  for (auto [type, wide] :
       {std::pair(DType::e8m0, f32), {e4m3, f32}, {DType::i32, DType::i64}, {bf16, bf16}}) {
    Value x = b.input(std::string("x_") + std::to_string(static_cast<int>(type)), type, {n, 1});
    Value wider = broadcast(x, {n, 8});
    EXPECT_EQ(wider.dtype(), wide) << nameOf(type);
    if (wide != DType::i64)
      b.output("y_" + std::to_string(static_cast<int>(type)), wider);
  }
  EXPECT_THAT(b.build().text(), HasSubstr("to tensor<?x8xbf16"));
}

TEST(Shapes, broadcastKeepsTheType) {
  Playground p;
  EXPECT_EQ(broadcast(p.s, {p.tokens, 1}).shape(), (Shape{p.tokens, 1}));
  EXPECT_EQ(broadcast(p.row, {p.tokens, p.hidden}).shape(), (Shape{p.tokens, p.hidden}));
}

TEST(Names, becomeNamesOfTheText) {
  Playground p;
  Value h = named(p.x + p.row, "h");
  std::string text = p.text(p.s.named("ignored") * h);
  EXPECT_THAT(text, HasSubstr("%h = arith.addf"));
  EXPECT_THAT(text, HasSubstr("{eider.name = \"h\"}"));
  EXPECT_THAT(text, Not(HasSubstr("ignored")));
}

TEST(Quantize, optionsAreRecorded) {
  Playground p;
  std::string text = p.text(quantize(
      p.x, e5m2, {.block = {1, whole}, .mode = "deepgemm", .numerics = {{"nan", "ignore"}}}));
  EXPECT_THAT(text, HasSubstr("block = [1, *]"));
  EXPECT_THAT(text, HasSubstr("f8E5M2"));
  EXPECT_THAT(text, HasSubstr("arithmetic = reciprocal, amax_floor = 1.0e-04"));
  EXPECT_THAT(text, HasSubstr("nan = ignore"));
}

TEST(Quantize, roundsStochasticallyBySeedAndOffset) {
  Playground p;
  Value seed = p.b.integer("seed", -3).named("ignored"), offset = p.b.integer("offset", 1LL << 40);
  EXPECT_EQ(seed.dtype(), DType::i64);
  EXPECT_EQ(seed.shape(), Shape{});
  p.b.output("y", quantize(p.x, e4m3,
                           {.block = {1, 128},
                            .numerics = {{"rounding", "stochastic"}},
                            .seed = seed,
                            .offset = offset}));
  Program program = p.b.build();
  EXPECT_THAT(program.text(), HasSubstr("%seed = eider.integer \"seed\" = -3\n"));
  EXPECT_THAT(program.text(), HasSubstr("eider.random %seed, %offset : tensor<?x?xi16,"));
  EXPECT_THAT(program.text(), HasSubstr("numerics<rounding = stochastic>"));
  const auto &scalars = program.signature().scalars;
  ASSERT_EQ(scalars.size(), 3u); // the playground's own first
  EXPECT_EQ(scalars[1].dtype, DType::i64);
  EXPECT_EQ(scalars[1].value, -3);
  EXPECT_EQ(scalars[2].value, 0x1p40);
  expectRoundTrip(program);
}

TEST(Values, outliveTheirBuilder) {
  Value x;
  {
    Builder b("op");
    x = b.input("x", f32, {b.dim("n")});
  }
  EXPECT_EQ((x * x).dtype(), f32);
}

TEST(Programs, areBuiltAgainAfterMore) {
  Playground p;
  p.b.output("y", p.x * 2);
  Program first = p.b.build();
  p.b.output("z", p.x * 3);
  EXPECT_EQ(first.signature().tensors.size(), 4u);
  EXPECT_EQ(p.b.build().signature().tensors.size(), 5u);
}
} // namespace
