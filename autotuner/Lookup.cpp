//===- autotuner/Lookup.cpp - What the records say of a program -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/Lookup.h"

#include "autotuner/store/Store.h"
#include "runtime/Log.h"
#include "runtime/cache/Archive.h"
#include "runtime/contract/Contract.h"
#include "runtime/contract/Expression.h"

#include <algorithm>
#include <cstdlib>
#include <mutex>

namespace eider::tuning {

namespace {

enum class Mode { Records, TableOnly, Off };

Mode modeOf() {
  const char *value = std::getenv("EIDER_TUNING");
  const std::string mode = value ? value : "";
  if (mode.empty() || mode == "on")
    return Mode::Records;
  if (mode == "table-only")
    return Mode::TableOnly;
  if (mode == "off")
    return Mode::Off;
  throw Error(ErrorKind::Request, "'" + mode + "' means nothing", "EIDER_TUNING",
              "set it to on, off or table-only");
}

/// The pinned table, an archive's records, read once a process: it must not change under a program.
const std::vector<Record> &pinnedTable() {
  static std::mutex mutex;
  static std::map<std::string, std::vector<Record>> tables; // by path; grows by what is pinned
  const char *path = std::getenv("EIDER_TUNING_TABLE");
  if (!path || !*path)
    throw Error(ErrorKind::Request, "table-only needs the path of a table", "EIDER_TUNING",
                "set EIDER_TUNING_TABLE to a file that eider cache export has written");
  std::lock_guard lock(mutex);
  if (auto known = tables.find(path); known != tables.end())
    return known->second;
  const archive::Source source = archive::openFile(path, std::string("EIDER_TUNING_TABLE=") + path);
  std::vector<Record> records = parseRecords(archive::readRecords(source), source.name);
  if (records.empty())
    warnOnce(source.name + ": has no tuning records: the heuristic chooses every schedule");
  return tables[path] = std::move(records);
}

/// `sm_90` for `sm_90a`, whose schedules it can have, too; empty for others.
std::string plainTarget(const std::string &target) {
  return target.ends_with('a') ? target.substr(0, target.size() - 1) : std::string();
}

/// The best records that the mode lets count.
std::vector<Record> bestRecords(const std::string &digest, const std::string &target,
                                const std::string &device, const CacheOptions &cache) {
  if (!device.empty() && modeOf() == Mode::Records) {
    std::vector<Record> best = Store(cache).best(digest, target, device);
    const std::string plain = plainTarget(target);
    return best.empty() && !plain.empty() ? Store(cache).best(digest, plain, device) : best;
  }
  std::vector<Record> chosen;
  for (const Record &record : recordsOf(digest, target, cache))
    if (record.best && std::ranges::find(chosen, record.dims, &Record::dims) == chosen.end())
      chosen.push_back(record); // of several devices the first: records are in their order
  return chosen;
}

/// The ranges of a record that launches with `fixed` dims may lie in; nothing if none does.
std::optional<DimsBucket> openRanges(const Record &record, const Signature &signature,
                                     const Dims &fixed) {
  std::optional<DimsBucket> bucket = parseBucket(record.dims);
  if (!bucket || bucket->size() != signature.dims.size())
    return std::nullopt;
  DimsBucket open;
  for (const Signature::NamedDim &dim : signature.dims) {
    auto range = bucket->find(dim.name);
    if (range == bucket->end())
      return std::nullopt;
    auto given = fixed.find(dim.name);
    const std::optional<int64_t> value =
        given != fixed.end() ? std::optional(given->second) : dim.value;
    if (!value)
      open[dim.name] = range->second;
    else if (*value < range->second.from || *value > range->second.to)
      return std::nullopt;
  }
  return open;
}

/// Joins neighbours of one schedule, where one dim alone is open.
void join(std::vector<TunedRange> &ranges) {
  std::ranges::sort(ranges, [](const TunedRange &a, const TunedRange &b) {
    return a.ranges.begin()->second.from < b.ranges.begin()->second.from;
  });
  std::vector<TunedRange> joined;
  for (TunedRange &range : ranges) {
    DimRange &mine = range.ranges.begin()->second;
    if (!joined.empty()) {
      DimRange &before = joined.back().ranges.begin()->second;
      if (joined.back().schedule == range.schedule && before.to == mine.from - 1) {
        before.to = mine.to;
        continue;
      }
    }
    joined.push_back(std::move(range));
  }
  ranges = std::move(joined);
}

} // namespace

std::vector<Record> recordsOf(const std::string &digest, const std::string &target,
                              const CacheOptions &cache) {
  const Mode mode = modeOf();
  if (mode == Mode::Off)
    return {};
  auto foundOf = [&](const std::string &wanted) {
    if (mode == Mode::Records)
      return Store(cache).of(digest, wanted);
    std::vector<Record> found;
    for (const Record &record : pinnedTable())
      if (record.program == digest && record.target == wanted)
        found.push_back(record);
    return found;
  };
  const std::vector<Record> found = foundOf(target);
  const std::string plain = plainTarget(target);
  return found.empty() && !plain.empty() ? foundOf(plain) : found;
}

std::vector<TunedRange> tunedRanges(const Program &program, const CompileOptions &options,
                                    const std::string &device, const CacheOptions &cache) {
  std::vector<TunedRange> ranges;
  for (const Record &record :
       bestRecords(digestOf(program, options.codec), options.target, device, cache))
    if (std::optional<DimsBucket> open = openRanges(record, program.signature(), options.dims))
      ranges.push_back({std::move(*open), record.schedule});
  if (!ranges.empty() && ranges.front().ranges.size() == 1)
    join(ranges);
  return ranges;
}

std::vector<TunedExecutable>
tunedExecutables(const Program &program, const CompileOptions &options, const std::string &device,
                 const CacheOptions &cache,
                 const std::function<Executable(const CompileOptions &)> &compileOne) {
  std::vector<TunedExecutable> tuned;
  if (!options.schedule.empty())
    return tuned;
  CompileOptions own = options;
  for (TunedRange &range : tunedRanges(program, options, device, cache)) {
    own.schedule = range.schedule;
    try {
      Executable one = compileOne(own);
      tuned.emplace_back(std::move(range), std::move(one));
    } catch (const Error &error) {
      if (error.kind() != ErrorKind::Request)
        throw;
      warnOnce(std::string("a tuning record is not used: ") + error.what());
    }
  }
  return tuned;
}

/// Of a variant, with the ranges of its dims in it; others have a number.
constexpr size_t longestName = 128;

/// A tuned variant: that of the launches in its range.
static void narrow(contract::Variant &variant, const std::string &name, const DimsBucket &ranges) {
  variant.name = name;
  for (const auto &[dim, bounds] : ranges) {
    contract::Predicate predicate;
    predicate.kind = contract::Predicate::Kind::Range;
    predicate.dim = dim;
    predicate.min = bounds.from;
    predicate.max = bounds.to;
    variant.predicates.push_back(predicate);
    variant.name += "_" + dim + "_" + std::to_string(bounds.from) + "_" + std::to_string(bounds.to);
  }
}

Executable merge(const Executable &base, const std::vector<TunedExecutable> &tuned) {
  contract::Contract all = contract::read(base.contract);
  std::vector<contract::Variant> variants;
  std::vector<std::string> workspaces = {all.workspace};
  for (const auto &[range, executable] : tuned) {
    contract::Contract one = contract::read(executable.contract);
    // Of launches in its range: what parts of a product leave would grow with the rows of others.
    for (const auto &[dim, bounds] : range.ranges)
      one.workspace = contract::upTo(bounds.to, dim, one.workspace);
    workspaces.push_back(std::move(one.workspace));
    for (contract::Variant &variant : one.variants) {
      const bool isUneven = variant.name == "uneven";
      if (!isUneven && &variant != &one.variants.front())
        continue;
      narrow(variant, isUneven ? "tuned_uneven" : "tuned", range.ranges);
      if (variant.name.size() > longestName)
        variant.name = "tuned_" + std::to_string(variants.size());
      variants.push_back(std::move(variant));
    }
  }
  for (contract::Variant &variant : all.variants)
    variants.push_back(std::move(variant));
  all.variants = std::move(variants);
  all.workspace = contract::maximumOf(std::move(workspaces));
  Executable executable = base;
  executable.contract = contract::write(all);
  return executable;
}

} // namespace eider::tuning
