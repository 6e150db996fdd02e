//===- tools/safetensors/Header.cpp - Reading and checking the JSON header ------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/error.h"
#include "tools/safetensors/Extent.h"
#include "tools/safetensors/Safetensors.h"

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_set>

namespace eider::safetensors {

namespace {

using Json = nlohmann::json;

/// A name from the file, fit for one line of an error: quoted, escaped and not too long.
std::string shown(std::string_view name) {
  constexpr size_t kLongest = 80;
  std::string text;
  for (unsigned char c : name.substr(0, kLongest)) {
    static constexpr char kHex[] = "0123456789abcdef";
    if (c < 0x20 || c == 0x7f || c == '\'' || c == '\\')
      text += {'\\', 'x', kHex[c >> 4], kHex[c & 15]};
    else
      text += static_cast<char>(c);
  }
  return "'" + text + (name.size() > kLongest ? "…'" : "'");
}

/// Receives the header's JSON, token by token, and accepts exactly the shape that the format
/// prescribes. No document is ever built: depth and size of what the file says cost nothing.
class HeaderReader : public nlohmann::json_sax<Json> {
public:
  explicit HeaderReader(const std::string &file) : file_(file) {}

  std::vector<Entry> take() && { return std::move(entries_); }

  bool null() override { return unexpected("null"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t &text) override {
    return unexpected("the number " + text.substr(0, 40) + ", no integer of 64 bits,");
  }
  bool binary(binary_t &) override { return unexpected("binary data"); }

  bool number_unsigned(number_unsigned_t value) override {
    if (place_ != Place::Shape && place_ != Place::Offsets)
      return unexpected("a number");
    if (value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max()))
      return unexpected("the number " + std::to_string(value) + ", beyond 63 bits,");
    if (place_ == Place::Shape)
      entries_.back().shape.push_back(static_cast<int64_t>(value));
    else
      offsets_.push_back(value);
    return true;
  }

  bool string(string_t &value) override {
    if (place_ == Place::Metadata)
      return true;
    if (place_ != Place::Tensor || key_ != "dtype")
      return unexpected("the string " + shown(value));
    std::optional<DType> type = dtypeOfName(value);
    if (!type)
      fail("unknown dtype " + shown(value),
           "Eider reads BF16, F16, F32, F8_E4M3, F8_E5M2, "
           "F8_E4M3FNUZ, F8_E5M2FNUZ, F8_E8M0, F4, I32, I64 and U8");
    entries_.back().dtype = *type;
    return true;
  }

  bool key(string_t &value) override {
    key_ = value;
    if (place_ == Place::Top) {
      if (!names_.insert(value).second)
        fail("the name " + shown(value) + " stands twice in the header");
      return true;
    }
    if (place_ == Place::Tensor) {
      if (value != "dtype" && value != "shape" && value != "data_offsets")
        fail("unknown field " + shown(value), "a tensor has dtype, shape and data_offsets");
      if (!fields_.insert(value).second)
        fail("the field " + shown(value) + " stands twice");
    }
    return true;
  }

  bool start_object(size_t) override {
    if (place_ == Place::Outside) {
      place_ = Place::Top;
      return true;
    }
    if (place_ != Place::Top)
      return unexpected("an object");
    if (key_ == "__metadata__") {
      place_ = Place::Metadata;
      return true;
    }
    place_ = Place::Tensor;
    entries_.push_back(Entry{key_, DType::u8, {}, 0, 0});
    fields_.clear();
    offsets_.clear();
    return true;
  }

  bool end_object() override {
    if (place_ == Place::Tensor)
      finishTensor();
    place_ = place_ == Place::Top ? Place::Outside : Place::Top;
    return true;
  }

  bool start_array(size_t) override {
    if (place_ != Place::Tensor || key_ == "dtype")
      return unexpected("an array");
    place_ = key_ == "shape" ? Place::Shape : Place::Offsets;
    return true;
  }

  bool end_array() override {
    place_ = Place::Tensor;
    return true;
  }

  bool parse_error(size_t position, const std::string &,
                   const nlohmann::detail::exception &) override {
    throw Error(ErrorKind::Request,
                "the header is not JSON (at its byte " + std::to_string(position) + ")", file_,
                "is this a safetensors file?");
  }

private:
  enum class Place { Outside, Top, Metadata, Tensor, Shape, Offsets };

  [[noreturn]] void fail(const std::string &what, const std::string &remedy = "") const {
    bool inTensor = place_ == Place::Tensor || place_ == Place::Shape || place_ == Place::Offsets;
    throw Error(ErrorKind::Request,
                (inTensor ? "tensor " + shown(entries_.back().name) + ": " : "") + what, file_,
                remedy);
  }

  bool unexpected(const std::string &what) const {
    switch (place_) {
    case Place::Outside:
      fail("the header is " + what + " where an object of tensors is wanted");
    case Place::Top:
      fail("the header has " + what + " at " + shown(key_) +
           " where a tensor's description is wanted");
    case Place::Metadata:
      fail("__metadata__ has " + what + " where a string is wanted");
    case Place::Tensor:
      fail(key_ + " is " + what + " where " + (key_ == "dtype" ? "a string" : "an array") +
           " is wanted");
    case Place::Shape:
      fail("shape has " + what + " where an extent is wanted");
    case Place::Offsets:
      fail("data_offsets has " + what + " where an offset in bytes is wanted");
    }
    return false;
  }

  void finishTensor() {
    for (const char *field : {"dtype", "shape", "data_offsets"})
      if (!fields_.contains(field))
        fail(std::string("no ") + field);
    if (offsets_.size() != 2)
      fail("data_offsets has " + std::to_string(offsets_.size()) + " numbers",
           "give begin and end");
    if (offsets_[0] > offsets_[1])
      fail("data_offsets end (" + std::to_string(offsets_[1]) + ") before they begin (" +
           std::to_string(offsets_[0]) + ")");
    Entry &entry = entries_.back();
    entry.offset = offsets_[0];
    entry.bytes = offsets_[1] - offsets_[0];
    packShape(entry);
    std::optional<uint64_t> wanted = bytesOf(entry.shape, entry.dtype);
    if (!wanted)
      fail("its shape overflows 63 bits of bytes");
    if (*wanted != entry.bytes)
      fail("shape and dtype make " + std::to_string(*wanted) + " bytes, data_offsets " +
           std::to_string(entry.bytes));
  }

  /// The file counts elements, Eider bytes of them where they are packed.
  void packShape(Entry &entry) const {
    const int packing = packingOf(entry.dtype);
    if (packing == 1)
      return;
    if (entry.shape.empty() || entry.shape.back() % packing != 0)
      fail("its rows are no whole bytes", "give an even last extent");
    entry.shape.back() /= packing;
  }

  const std::string &file_;
  Place place_ = Place::Outside;
  std::string key_;
  std::unordered_set<std::string> names_, fields_;
  std::vector<uint64_t> offsets_;
  std::vector<Entry> entries_;
};

/// The tensors must lie one after another and fill the data section: no hole where something could
/// hide, no overlap.
void checkPlaces(std::span<const Entry> entries, uint64_t dataBytes, const std::string &file) {
  uint64_t end = 0;
  auto fail = [&](const Entry &entry, const std::string &what, const std::string &remedy = "") {
    throw Error(ErrorKind::Request, "tensor " + shown(entry.name) + ": " + what, file, remedy);
  };
  for (const Entry &entry : entries) {
    if (entry.bytes > dataBytes || entry.offset > dataBytes - entry.bytes)
      fail(entry,
           "its data ends at byte " + std::to_string(entry.offset + entry.bytes) + " of " +
               std::to_string(dataBytes) + " in the file",
           "the file may be truncated");
    if (entry.offset < end)
      fail(entry, "its data overlaps that of the tensor before it");
    if (entry.offset > end)
      fail(entry, "a hole of " + std::to_string(entry.offset - end) + " bytes before its data");
    end = entry.offset + entry.bytes;
  }
  if (end != dataBytes)
    throw Error(ErrorKind::Request,
                std::to_string(dataBytes - end) + " bytes after the last tensor belong to none",
                file);
}

} // namespace

std::vector<Entry> parseHeader(std::string_view json, uint64_t dataBytes, const std::string &file) {
  if (json.empty() || json.front() != '{')
    throw Error(ErrorKind::Request, "the header does not start with '{'", file,
                "is this a safetensors file?");
  HeaderReader reader(file);
  Json::sax_parse(json.begin(), json.end(), &reader);
  std::vector<Entry> entries = std::move(reader).take();
  std::ranges::stable_sort(entries, [](const Entry &a, const Entry &b) {
    return a.offset != b.offset ? a.offset < b.offset : a.bytes < b.bytes;
  });
  checkPlaces(entries, dataBytes, file);
  return entries;
}

} // namespace eider::safetensors
