//===- Names.cpp - Variable names of the text -----------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/emit/Names.h"

#include "compiler/ir/ElementTypes.h"
#include "compiler/ir/ScaleLayouts.h"
#include "llvm/ADT/StringExtras.h"

using namespace eider::text;

/// The words of a list that has one space between them.
static llvm::StringSet<> setOf(llvm::StringRef list) {
  llvm::SmallVector<llvm::StringRef> words;
  list.split(words, ' ');
  llvm::StringSet<> set;
  set.insert_range(words);
  return set;
}

/// Words of C++ and CUDA, and the names that every text uses.
static bool isReserved(llvm::StringRef name) {
  static const llvm::StringSet<> words = setOf(
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t "
      "char16_t char32_t class compl concept const consteval constexpr constinit const_cast "
      "continue co_await co_return co_yield decltype default delete do double dynamic_cast else "
      "enum explicit export extern false float for friend goto if inline int long mutable "
      "namespace new noexcept not not_eq nullptr operator or or_eq private protected public "
      "register reinterpret_cast requires return short signed sizeof static static_assert "
      "static_cast struct switch template this thread_local throw true try typedef typeid "
      "typename union unsigned using virtual void volatile wchar_t while xor xor_eq main gridDim "
      "blockDim blockIdx threadIdx warpSize eider int32 int64 uint32 uint64 "
      "hardware software cached streaming BulkStores Codec Fragment GridBarrier Row RowTile Rows "
      "RowsTile Tile BlockTile GroupedTile Product GroupedProduct WarpgroupProduct CodeProduct "
      "all_rows Attend AttentionDecode AttentionPrefill WarpgroupPrefill AttentionParts "
      "TensorCores ScaleExtents OfEveryRow at_launch row tile");
  const bool isLayout =
      llvm::any_of(eider::ir::scaleLayouts(),
                   [&](const eider::ir::ScaleLayoutInfo &row) { return row.text == name; });
  // As macros of the system's headers are, which a text for the host has.
  const bool isMacro = name.size() > 2 && llvm::none_of(name, llvm::isLower);
  return words.contains(name) || isLayout || isMacro || eider::ir::isWordOfText(name);
}

/// Functions, types and macros that NVRTC has declared before any text: no kernel may be called so.
/// A variable hides them, which harms nothing: the text qualifies what it calls.
static bool isDeclaredByToolkit(llvm::StringRef name) {
  static const llvm::StringSet<> names = setOf(
      "abs acos acosh alloca asin asinh assert atan atan2 atanh calloc cbrt ceil clock clock64 "
      "copysign cos cosh cospi dim3 erf erfc erfcinv erfcx erfinv exp exp10 exp2 expm1 fabs fdim "
      "fdivide float2 float3 float4 floor fma fmax fmin fmod free frexp hypot ilogb int2 int3 "
      "int4 isfinite isinf isnan j0 j1 jn labs ldexp lgamma llabs llmax llmin llrint llround log "
      "log10 log1p log2 logb lrint lround malloc max memcmp memcpy memmove memset min modf nan "
      "nearbyint nextafter norm norm3d norm4d normcdf normcdfinv pow powi printf rcbrt remainder "
      "remquo rhypot rint rnorm rnorm3d rnorm4d round rsqrt scalbln scalbn signbit sin sincos "
      "sincospi sinh sinpi size_t sqrt strcmp strcpy strlen surfaceReference tan tanh tgamma trap "
      "trunc uint2 uint3 uint4 ullmax ullmin umax umin vprintf y0 y1 yn");
  // The same with the suffix of their float forms.
  return names.contains(name) || (name.ends_with("f") && names.contains(name.drop_back()));
}

std::string eider::text::identifier(llvm::StringRef name) {
  std::string text;
  for (char c : name)
    text += llvm::isAlnum(c) ? c : (text.empty() || text.back() != '_') ? '_' : 'u';
  if (text.empty() || llvm::isDigit(text.front()) || text.front() == '_')
    text = "v" + text;
  return isReserved(text) ? text + "_" : text;
}

std::string eider::text::kernelName(llvm::StringRef name) {
  std::string text = identifier(name);
  return isDeclaredByToolkit(text) ? text + "_" : text;
}

std::string eider::text::commentText(llvm::StringRef text) {
  std::string line;
  for (char c : text)
    line += (c == '\\' || static_cast<unsigned char>(c) < 32 || c == 127) ? '_' : c;
  return line;
}

std::string Names::fresh(llvm::StringRef wanted) {
  std::string base = identifier(wanted), name = base;
  for (int number = 2; !taken.insert(name).second; ++number)
    name = base + (base.back() == '_' ? "" : "_") + std::to_string(number);
  return name;
}
