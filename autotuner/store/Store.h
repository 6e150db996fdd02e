//===- store/Store.h - Records on disk --------------------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// `tuning.db` in the cache directory, an SQLite database that many processes use at a time.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_STORE_STORE_H
#define EIDER_AUTOTUNER_STORE_STORE_H

#include "autotuner/store/Records.h"
#include "eider/runtime.h"

#include <string>
#include <vector>

namespace eider::tuning {

/// Whether a file system (statfs's f_type) is of those on which SQLite's WAL does not work.
bool isNetworkFileSystem(long type);

/// The records of a cache directory. A database that is missing has none; one that is damaged,
/// foreign or not ours to write has none either, with one warning. Thread-safe.
class Store {
public:
  explicit Store(const CacheOptions &options = {});

  /// The best of every bucket of a program on a device.
  std::vector<Record> best(const std::string &program, const std::string &target,
                           const std::string &device) const;
  /// Everything known of a program for a target, on all devices; best first in each cell.
  std::vector<Record> of(const std::string &program, const std::string &target) const;
  std::vector<Record> all() const;

  /// Replaces a cell's records: all of `records` must be of one cell. False, with a warning, if
  /// they cannot be kept.
  bool replace(const std::vector<Record> &records) const;

  /// Takes records of other machines or times, cell by cell: those of a cell that is known and was
  /// measured later stay. Gives the number of records taken. Throws Error (Machine) if they cannot
  /// be kept.
  int64_t merge(const std::vector<Record> &records) const;

private:
  std::string path; ///< Empty: there is no directory.
};

/// All records as lines of JSON.
EIDER_API std::string exportRecords(const CacheOptions &options = {});
/// What exportRecords() gave, here or elsewhere, each record verified before any is taken. Gives
/// the number taken. Throws Error: Request for a bad record, Machine if they cannot be kept.
EIDER_API int64_t importRecords(const std::string &text, const CacheOptions &options = {});

} // namespace eider::tuning

namespace eider {
using tuning::exportRecords;
using tuning::importRecords;
} // namespace eider

#endif // EIDER_AUTOTUNER_STORE_STORE_H
