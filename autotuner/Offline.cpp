//===- autotuner/Offline.cpp - A program for a target elsewhere -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/Offline.h"

#include "runtime/contract/Contract.h"

#include <algorithm>
#include <cstdlib>
#include <map>
#include <set>

namespace eider {
namespace {

using contract::Variant;

void replaceAll(std::string &text, const std::string &from, const std::string &to) {
  for (size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
}

/// The texts of variants as one, in which every kernel stands once and has a name of its own.
class UnitedText {
public:
  /// Adds a variant's kernels, unless another variant has the same. Entries whose names are taken
  /// get new ones, in the variant too. `remark`: on what they are for; may be empty.
  void add(Variant &variant, const std::string &remark) {
    const auto [known, isNew] = texts.try_emplace(variant.source, parts.size());
    if (isNew)
      parts.push_back(partFor(variant));
    Part &part = parts[known->second];
    for (contract::Launch &launch : variant.launches)
      launch.entry += part.suffix;
    if (!remark.empty() && !part.isPlain)
      part.remarks += (part.remarks.empty() ? "" : ", ") + remark;
    part.isPlain |= remark.empty();
    variant.source = part.source;
  }

  std::string text() const {
    std::set<std::string> includes;
    std::string head, kernels;
    for (const Part &part : parts) {
      const size_t end = part.source.find(endOfHead);
      if (end == std::string::npos)
        throw Error(ErrorKind::Internal, "an emitted text has no using namespace", "offline");
      for (size_t at = 0, next; at < end; at = next + 1) {
        next = part.source.find('\n', at);
        includes.insert(part.source.substr(at, next - at));
      }
      std::string own = part.source.substr(end + endOfHead.size());
      if (!part.remarks.empty())
        replaceAll(own, "\nextern \"C\"", "\n// tuned for " + part.remarks + "\nextern \"C\"");
      kernels += own;
    }
    for (const std::string &include : includes)
      head += include + "\n";
    return head + std::string(endOfHead) + kernels;
  }

private:
  static constexpr std::string_view endOfHead = "\nusing namespace eider;\n";

  /// What variants with one text have in common.
  struct Part {
    std::string source, suffix;
    std::string remarks;
    bool isPlain = false; ///< Used without a remark, too.
  };

  Part partFor(const Variant &variant) {
    const auto isTaken = [&](const std::string &suffix) {
      return std::ranges::any_of(variant.launches, [&](const contract::Launch &launch) {
        return entries.contains(launch.entry + suffix);
      });
    };
    std::string suffix;
    for (int number = 1; isTaken(suffix); ++number)
      suffix = "_tuned" + (number == 1 ? "" : std::to_string(number));
    Part part{variant.source, suffix, {}};
    for (const contract::Launch &launch : variant.launches) {
      entries.insert(launch.entry + suffix);
      replaceAll(part.source, " void " + launch.entry + "(",
                 " void " + launch.entry + suffix + "(");
    }
    return part;
  }

  std::vector<Part> parts;
  std::map<std::string, size_t> texts; ///< The part of each.
  std::set<std::string> entries;
};

} // namespace

OfflineBuild buildOffline(const Program &program, const CompileOptions &options,
                          const CacheOptions &cache) {
  const auto compileOne = [&](const CompileOptions &one) { return compile(program, one); };
  // A file is the same on every machine, unless it is asked for what this one recorded.
  const char *asked = std::getenv("EIDER_TUNING");
  std::vector<tuning::TunedExecutable> tuned;
  if (asked && *asked)
    tuned = tuning::tunedExecutables(program, options, "", cache, compileOne);
  OfflineBuild build;
  build.executable = tuning::merge(compileOne(options), tuned);
  contract::Contract contract = contract::read(build.executable.contract);
  UnitedText united;
  // The heuristic's keep their names.
  for (size_t i = tuned.size(); i < contract.variants.size(); ++i)
    united.add(contract.variants[i], "");
  for (size_t i = 0; i < tuned.size(); ++i) {
    build.tuned.push_back(tuned[i].first);
    const std::string ranges = toText(tuned[i].first.ranges);
    united.add(contract.variants[i], ranges.empty() ? "these extents" : ranges);
  }
  build.text = united.text();
  build.executable.contract = contract::write(contract);
  return build;
}

} // namespace eider
