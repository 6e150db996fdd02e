//===- Cache.cpp - What appends to a cache, and what reads it -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/dsl/Recording.h"

using namespace eider;
using namespace eider::detail;

/// The block of a type: so many tokens, and so many columns of their heads side by side.
static std::pair<int64_t, int64_t> blockOf(const CacheType &type, const Site &site) {
  if (type.block.size() != 2)
    site.fail("a block of " + std::to_string(type.block.size()) + " axes",
              "give tokens and columns, such as {1, 128}");
  return {type.block[0], type.block[1]};
}

/// The shape of a cache's scales as attention reads them: what has some of its own (none, pages,
/// tokens), heads that do, and the blocks of one.
static Shape scalesOf(const CacheType &type, const Shape &shape, const Extents &extents,
                      const Site &site) {
  const auto [tokens, columns] = blockOf(type, site);
  auto constant = [&](size_t axis, const char *what) {
    if (extents[axis].name)
      site.fail(std::string("scales depend on the ") + what + ", which are a dim",
                "give the shape of the scales");
    return extents[axis].extent(0);
  };
  Shape scales;
  if (tokens == 1)
    scales = {shape[0], shape[1]};
  else if (tokens != whole && tokens == constant(1, "tokens of a page"))
    scales = {shape[0]};
  else if (tokens != whole)
    site.fail("a scale of " + std::to_string(tokens) + " tokens in pages of " + extents[1].str(),
              "give all one, or each page, or each token");
  if (columns == whole)
    scales.emplace_back(1);
  else if (const int64_t d = constant(3, "elements of a head"); columns == d)
    scales.push_back(shape[2]);
  else if (tokens == 1 && columns > 0 && d % columns == 0)
    scales.insert(scales.end(), {shape[2], d / columns});
  else
    site.fail("a scale of " + std::to_string(columns) + " columns in heads of " + std::to_string(d),
              tokens == 1 ? "give each head one, or some that are alike" : "give each head one");
  return scales;
}

KVCache Builder::cache(const CacheType &type, const Shape &shape, const Shape &scales,
                       const std::vector<std::string> &names, std::source_location where) {
  Site site{"cache", where, recording_.get()};
  const Extents extents = recording_->extentsOf(shape, site, 4);
  if (extents.size() != 4)
    site.fail("the shape is " + textOf(extents), "give [pages, page, kv_heads, d]");
  if (names.empty() || names.size() > 2)
    site.fail(std::to_string(names.size()) + " names",
              "give those of keys and of values, or one of keys that begin with their values");
  Shape ofScales = scales;
  if (type.has_scales() && scales.empty())
    ofScales = scalesOf(type, shape, extents, site);
  if (!type.has_scales() && !scales.empty())
    site.fail("the rows are no codes, and have scales", "leave their shape out");
  auto rowsOf = [&](const std::string &name) {
    return type.has_scales()
               ? codes(name + "_cache", type.format, shape, where)
               : input(name + "_cache", type.format, shape, ScaleLayout::row_major, where);
  };
  auto scaleOf = [&](const std::string &name) {
    return type.has_scales() ? std::optional(input(name + "_scale", type.scale, ofScales,
                                                   ScaleLayout::row_major, where))
                             : std::nullopt;
  };
  KVCache cache = {.keys = rowsOf(names.front()), .lengths = {}};
  if (names.size() > 1)
    cache.values = rowsOf(names.back());
  cache.key_scale = scaleOf(names.front());
  if (names.size() > 1)
    cache.value_scale = scaleOf(names.back());
  return cache;
}

void Builder::append(const std::string &name, const CacheType &type, const Value &tokens,
                     const Value &index, const Dim &rows, const QuantizeOptions &how,
                     std::source_location where) {
  const Site site{"append '" + name + "'", where, recording_.get()};
  if (!type.has_scales()) {
    if (!Recording::isEmpty(how.scales))
      site.fail("the rows are no codes, and have scales", "leave them out");
    return scatter(name, tokens, index, rows, type.format, where);
  }
  const auto [count, columns] = blockOf(type, site);
  if (count != 1 && count != whole)
    site.fail("blocks of several rows have one scale, which tokens of a page do not come with",
              "give each token its own, or all one");
  QuantizeOptions options = how;
  options.block = {count, columns};
  options.scale = type.scale;
  scatter(name, quantize(Operand(tokens, where), type.format, options), index, rows, where);
}
