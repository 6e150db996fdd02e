//===- store/Records.cpp - What a measurement leaves ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/store/Records.h"

#include "runtime/cache/Sha256.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <sstream>

namespace eider::tuning {

using nlohmann::json;

//===-- Keys --------------------------------------------------------------===//

DimRange bucketOf(int64_t extent) {
  if (extent <= 1)
    return {extent, extent};
  if (extent > int64_t(1) << 62)
    return {(int64_t(1) << 62) + 1, INT64_MAX};
  const auto to = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(extent)));
  return {to / 2 + 1, to};
}

DimsBucket bucketOf(const Dims &dims, const std::vector<std::string> &fixed) {
  DimsBucket bucket;
  for (const auto &[name, extent] : dims)
    bucket[name] =
        std::ranges::find(fixed, name) != fixed.end() ? DimRange{extent, extent} : bucketOf(extent);
  return bucket;
}

std::string toText(const DimsBucket &bucket) {
  std::string text;
  for (const auto &[name, range] : bucket) {
    text += (text.empty() ? "" : " ") + name + "=" + std::to_string(range.from);
    if (!range.isFixed())
      text += ".." + std::to_string(range.to);
  }
  return text;
}

std::optional<DimsBucket> parseBucket(const std::string &text) {
  DimsBucket bucket;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    if (equals == std::string::npos || equals == 0)
      return std::nullopt;
    DimRange range;
    const char *begin = word.data() + equals + 1, *end = word.data() + word.size();
    auto [after, error] = std::from_chars(begin, end, range.from);
    range.to = range.from;
    if (error == std::errc() && std::string_view(after, end).starts_with(".."))
      std::tie(after, error) = [&] {
        auto result = std::from_chars(after + 2, end, range.to);
        return std::tuple(result.ptr, result.ec);
      }();
    if (error != std::errc() || after != end || range.from < 0 || range.to < range.from)
      return std::nullopt;
    bucket[word.substr(0, equals)] = range;
  }
  if (bucket.empty() || toText(bucket) != text)
    return std::nullopt;
  return bucket;
}

namespace {
bool isWordCharacter(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

bool mentions(const std::string &expression, const std::string &name) {
  for (size_t at = expression.find(name); at != std::string::npos;
       at = expression.find(name, at + 1)) {
    const size_t end = at + name.size();
    if ((at == 0 || !isWordCharacter(expression[at - 1])) &&
        (end == expression.size() || !isWordCharacter(expression[end])))
      return true;
  }
  return false;
}
} // namespace

std::vector<std::string> fixedDims(const Signature &signature) {
  // A vector of one value a row has its dim last, too: only tensors of full rank tell what a row
  // is. Rows of a transposed result are columns of what is read; those of a product are not, but
  // for its weights, whose rows are its columns.
  size_t rank = 0;
  for (const Signature::Tensor &tensor : signature.tensors)
    rank = std::max(rank, tensor.shape.size());
  const auto any = [&](auto holds) {
    return std::ranges::any_of(signature.tensors, [&](const Signature::Tensor &tensor) {
      return rank > 0 && tensor.shape.size() == rank &&
             holds(tensor, tensor.role != Signature::Role::Output);
    });
  };
  const auto isRowOfInput = [&](const std::string &name) {
    return any(
        [&](auto &tensor, bool isRead) { return isRead && mentions(tensor.shape.front(), name); });
  };
  std::vector<std::string> fixed;
  for (const Signature::NamedDim &dim : signature.dims) {
    const auto isAlong = [&](const std::string &axis) { return mentions(axis, dim.name); };
    const bool countsRows = isRowOfInput(dim.name);
    const bool alongRows = any([&](auto &tensor, bool isRead) {
      const bool hasRowsOfInput =
          std::ranges::any_of(signature.dims, [&](const Signature::NamedDim &other) {
            return mentions(tensor.shape.front(), other.name) && isRowOfInput(other.name);
          });
      return (isRead || !countsRows || hasRowsOfInput) && isAlong(tensor.shape.back());
    });
    if (alongRows || dim.value || dim.isFixed)
      fixed.push_back(dim.name);
  }
  return fixed;
}

Dims fixedDims(const Signature &signature, const Dims &dims) {
  Dims fixed;
  for (const std::string &name : fixedDims(signature))
    fixed[name] = dims.at(name);
  return fixed;
}

std::string identityOf(const DeviceInfo &device) {
  if (device.target == "host")
    return "host " + std::to_string(device.multiprocessors);
  return std::to_string(device.major) + "." + std::to_string(device.minor) + " sm " +
         std::to_string(device.multiprocessors) + " l2 " + std::to_string(device.l2) + " bus " +
         std::to_string(device.memoryBus) + " clock " + std::to_string(device.memoryClock);
}

std::string digestOf(const Program &program, const std::string &codec) {
  Sha256 hash;
  hash.field("eider tuning");
  hash.field(program.text());
  hash.field(codec);
  return hash.hex();
}

//===-- Lines -------------------------------------------------------------===//

namespace {

constexpr int recordSchema = 1;

json withoutDigest(const Record &record) {
  return {{"schema", recordSchema},    {"program", record.program},
          {"dims", record.dims},       {"target", record.target},
          {"device", record.device},   {"schedule", record.schedule},
          {"best", record.best},       {"microseconds", record.microseconds},
          {"spread", record.spread},   {"memcpy", record.memcpyTime},
          {"bytes", record.bytes},     {"date", record.date},
          {"name", record.name},       {"device_name", record.deviceName},
          {"version", record.version}, {"driver", record.driver}};
}

[[noreturn]] void refuse(const std::string &why) {
  throw Error(ErrorKind::Request, "is no tuning record: " + why);
}

void require(bool condition, const std::string &why) {
  if (!condition)
    refuse(why);
}

bool isHexDigest(const std::string &text) {
  return text.size() == 64 && text.find_first_not_of("0123456789abcdef") == std::string::npos;
}

/// Printable, and not longer than anything that we write.
bool isPlain(const std::string &text) {
  return text.size() <= 500 &&
         std::ranges::all_of(text, [](unsigned char c) { return c >= 32 && c != 127; });
}

void check(const Record &record) {
  require(isHexDigest(record.program), "the program's digest is none");
  require(parseBucket(record.dims).has_value(), "dims are not as in 'hidden=7168 tokens=1..2'");
  for (const std::string *text : {&record.target, &record.device, &record.schedule, &record.date,
                                  &record.name, &record.deviceName, &record.version})
    require(isPlain(*text), "a text has control characters or is too long");
  require(!record.target.empty() && !record.device.empty() && !record.schedule.empty(),
          "target, device or schedule is empty");
  require(std::isfinite(record.microseconds) && record.microseconds > 0, "the time is no time");
  require(std::isfinite(record.spread) && record.spread >= 0, "the spread is no spread");
  require(std::isfinite(record.memcpyTime) && record.memcpyTime >= 0 && record.bytes >= 0,
          "the memcpy's time or the bytes are negative");
}

} // namespace

std::string toLine(const Record &record) {
  json object = withoutDigest(record);
  object["digest"] = sha256(object.dump());
  return object.dump();
}

Record parseRecord(const std::string &line) {
  try {
    json object = json::parse(line);
    require(object.is_object(), "it is no object");
    require(object.at("schema") == recordSchema,
            "its schema is not " + std::to_string(recordSchema));
    Record record{object.at("program"),      object.at("dims"),     object.at("target"),
                  object.at("device"),       object.at("schedule"), object.at("best"),
                  object.at("microseconds"), object.at("spread"),   object.at("memcpy"),
                  object.at("bytes"),        object.at("date"),     object.at("name"),
                  object.at("device_name"),  object.at("version"),  object.at("driver")};
    require(object.at("digest") == sha256(withoutDigest(record).dump()),
            "its digest is not that of its content");
    check(record);
    return record;
  } catch (const json::exception &error) {
    refuse(error.what());
  }
}

std::vector<Record> parseRecords(const std::string &text, const std::string &where) {
  std::vector<Record> records;
  std::istringstream lines(text);
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (line.find_first_not_of(" \t\r") == std::string::npos)
      continue;
    try {
      records.push_back(parseRecord(line));
    } catch (const Error &error) {
      throw Error(ErrorKind::Request, "line " + std::to_string(number) + " " + error.what(), where,
                  "nothing of it was taken");
    }
  }
  return records;
}

} // namespace eider::tuning
