//===- cache/WhyMiss.cpp - How a key differs from those there -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/WhyMiss.h"
#include "runtime/Log.h"

#include <algorithm>
#include <set>
#include <tuple>

namespace eider {
namespace {

/// Calls `visit(meta, directory)` for each entry whose meta.json is sound.
template <typename Visit> void forEachEntry(const Cache &cache, EntryKind kind, Visit visit) {
  std::string problem;
  for (const Cache::Layer &layer : cache.layers()) {
    const Descriptor shelf = openSubdirectory(*layer.root, shelfOf(kind), false, problem);
    if (!shelf)
      continue;
    for (const std::string &key : namesIn(shelf))
      if (const Descriptor directory = openSubdirectory(shelf, key, false, problem))
        if (std::optional<Meta> meta = readMeta(directory, key, problem))
          visit(*meta, directory);
  }
}

std::vector<std::string> differences(const KeyFields &wanted, const KeyFields &found) {
  std::set<std::string> names;
  for (const KeyFields *fields : {&wanted, &found})
    for (const auto &[name, value] : *fields)
      names.insert(name);
  std::vector<std::string> different;
  for (const std::string &name : names) {
    const auto a = wanted.find(name), b = found.find(name);
    if (a == wanted.end() || b == found.end() || a->second != b->second)
      different.push_back(name);
  }
  return different;
}

size_t commonPrefix(std::string_view a, std::string_view b) {
  return std::ranges::mismatch(a, b).in1 - a.begin();
}

struct Candidate {
  Meta meta;
  std::vector<std::string> different;
  std::map<std::string, std::string> texts; ///< by field
  size_t agreement = 0;                     ///< of the texts, in bytes

  /// By fewer fields; then by the same target, for one request makes an entry a target, and the
  /// others of this very run tell nobody why there is a miss; then by longer agreement.
  bool isNearerThan(const Candidate &other) const { return rank() < other.rank(); }

private:
  std::tuple<size_t, bool, size_t, const std::string &> rank() const {
    const bool otherTarget = std::ranges::find(different, "target") != different.end();
    return {different.size(), otherTarget, ~agreement, meta.key};
  }
};

/// A value on one line: at most `width` bytes of it, from `begin` on.
std::string shortened(std::string_view text, size_t begin = 0, size_t width = 100) {
  std::string part(text.substr(begin, width));
  for (char &c : part)
    if (static_cast<unsigned char>(c) < 32 || c == 127)
      c = ' ';
  return (begin > 0 ? "…" : "") + part + (begin + width < text.size() ? "…" : "");
}

/// What stands around `position` in its line.
std::string quoteAt(std::string_view text, size_t position) {
  if (position == text.size())
    return "the end";
  const size_t begin = position == 0 ? 0 : text.rfind('\n', position - 1) + 1; // npos + 1 is 0
  const std::string_view line = text.substr(begin, text.find('\n', begin) - begin);
  const size_t column = position - begin;
  return "'" + shortened(line, column > 60 ? column - 40 : 0) + "'";
}

/// `line 3 is 'a', the entry's 'b'`.
std::string firstDifference(std::string_view wanted, std::string_view found) {
  const size_t at = commonPrefix(wanted, found);
  const auto line = 1 + std::ranges::count(wanted.substr(0, at), '\n');
  return "line " + std::to_string(line) + " is " + quoteAt(wanted, at) + ", the entry's " +
         quoteAt(found, at);
}

std::string valueIn(const KeyFields &fields, const std::string &name) {
  const auto found = fields.find(name);
  return found == fields.end() ? "absent" : "'" + shortened(found->second) + "'";
}

} // namespace

void explainMiss(const Cache &cache, EntryKind kind, const KeyFields &fields,
                 const std::map<std::string, FieldText> &texts) {
  std::optional<Candidate> nearest;
  forEachEntry(cache, kind, [&](const Meta &meta, const Descriptor &directory) {
    Candidate one{meta, differences(fields, meta.fields), {}, 0};
    if (nearest && one.different.size() > nearest->different.size())
      return;
    for (const auto &[field, text] : texts)
      if (std::optional<std::string> found = readFile(directory, text.file, fileLimit)) {
        one.agreement += commonPrefix(text.wanted, *found);
        one.texts[field] = std::move(*found);
      }
    if (!nearest || one.isNearerThan(*nearest))
      nearest = std::move(one);
  });
  const std::string miss =
      "cache miss: " + std::string(shelfOf(kind)) + "/" + keyOf(kind, fields).substr(0, 12);
  if (!nearest)
    return warnOnce(miss + ": there is no such entry at all yet");
  std::string line = miss + ": the nearest entry, " + nearest->meta.key.substr(0, 12) + ", differs";
  for (const std::string &name : nearest->different) {
    line += name == nearest->different.front() ? " in " : "; in ";
    line += name + ": ";
    if (const auto text = nearest->texts.find(name); text != nearest->texts.end())
      line += firstDifference(texts.at(name).wanted, text->second);
    else
      line += valueIn(fields, name) + ", the entry's " + valueIn(nearest->meta.fields, name);
  }
  if (nearest->different.empty())
    line += " in nothing: it is damaged, or was made meanwhile";
  warnOnce(line);
}

std::vector<std::string> keysLike(const Cache &cache, EntryKind kind, const KeyFields &fields,
                                  const std::string &butFor) {
  std::vector<std::pair<std::string, std::string>> found; // value of `butFor`, key
  forEachEntry(cache, kind, [&](const Meta &meta, const Descriptor &) {
    const std::vector<std::string> different = differences(fields, meta.fields);
    if (different.empty() || (different.size() == 1 && different[0] == butFor))
      found.emplace_back(meta.fields.count(butFor) ? meta.fields.at(butFor) : "", meta.key);
  });
  std::ranges::sort(found, std::greater<>());
  std::vector<std::string> keys;
  for (auto &[value, key] : found)
    keys.push_back(std::move(key));
  return keys;
}

} // namespace eider
