//===- cache/WhyMiss.h - How a key differs from those there -----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// These read the meta.json of every entry: for machines and moments where that is worth it.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_WHYMISS_H
#define EIDER_RUNTIME_CACHE_WHYMISS_H

#include "runtime/cache/Cache.h"

namespace eider {

/// A text that a field stands for: the file of an entry that holds it, and the text wanted.
struct FieldText {
  std::string file;
  std::string wanted;
};

/// Tells the log which fields differ between a key that was not found and the nearest entry: the
/// one that differs in the fewest, of those the one whose texts agree longest.
void explainMiss(const Cache &cache, EntryKind kind, const KeyFields &fields,
                 const std::map<std::string, FieldText> &texts);

/// The keys of the entries whose fields are those given, but for one; in order of that one, last
/// first.
std::vector<std::string> keysLike(const Cache &cache, EntryKind kind, const KeyFields &fields,
                                  const std::string &butFor);

} // namespace eider

#endif // EIDER_RUNTIME_CACHE_WHYMISS_H
