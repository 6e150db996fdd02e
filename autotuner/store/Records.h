//===- store/Records.h - What a measurement leaves --------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_STORE_RECORDS_H
#define EIDER_AUTOTUNER_STORE_RECORDS_H

#include "eider/dsl.h"
#include "eider/runtime.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace eider::tuning {

/// From … to, both included.
struct DimRange {
  int64_t from = 0, to = 0;
  bool operator==(const DimRange &) const = default;
  bool isFixed() const { return from == to; }
};

/// The bucket of a launch: fixed dims by value, the others by powers of two: 8193 … 16384.
using DimsBucket = std::map<std::string, DimRange>;

DimRange bucketOf(int64_t extent);
DimsBucket bucketOf(const Dims &dims, const std::vector<std::string> &fixed);

/// `hidden=7168 tokens=8193..16384`
std::string toText(const DimsBucket &bucket);
/// What toText() gives; nothing for another text.
std::optional<DimsBucket> parseBucket(const std::string &text);

/// The dims that run along a row of some tensor (of a transposed one they count rows of what is
/// read): those that compile() wants static; and their extents of `dims`.
std::vector<std::string> fixedDims(const Signature &signature);
Dims fixedDims(const Signature &signature, const Dims &dims);

/// What a kernel's speed depends on of a device; its name does not tell.
/// `9.0 sm 132 l2 62914560 bus 6144 clock 3201000`, `host 8`
std::string identityOf(const DeviceInfo &device);

/// SHA-256 of the program and who converts FP8.
std::string digestOf(const Program &program, const std::string &codec);

/// One schedule measured for a cell: program × bucket × target × device.
struct Record {
  std::string program; ///< digestOf()
  std::string dims;    ///< toText()
  std::string target;  ///< `sm_90`
  std::string device;  ///< identityOf()
  std::string schedule;
  bool best = false;       ///< The one to take.
  double microseconds = 0; ///< median
  double spread = 0;
  double memcpyTime = 0; ///< microseconds, beside it
  int64_t bytes = 0;
  std::string date; ///< `2026-01-31T12:00:00Z`
  // Information alone.
  std::string name;       ///< the program's
  std::string deviceName; ///< `NVIDIA H200`
  std::string version;    ///< Eider's
  int driver = 0;
};

/// One line of JSON, with a digest of the rest.
std::string toLine(const Record &record);
/// Throws Error (Request) that says what is wrong with it.
Record parseRecord(const std::string &line);
/// All lines; blank ones are skipped. Throws Error (Request) that names `where` and the line.
std::vector<Record> parseRecords(const std::string &text, const std::string &where);

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_STORE_RECORDS_H
