//===- tools/safetensors/Safetensors.h - Files of named tensors -------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// The safetensors format: 8 bytes of header length (little endian), a JSON header that gives each
// tensor's dtype, shape and place, then the data of all tensors without gaps. A file is untrusted:
// nothing is allocated, read or printed on its word alone.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_SAFETENSORS_SAFETENSORS_H
#define EIDER_TOOLS_SAFETENSORS_SAFETENSORS_H

#include "eider/dtype.h"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace eider::safetensors {

/// The longest header that is read, in bytes: the limit of the format's reference implementation.
inline constexpr uint64_t kMaximumHeaderBytes = 100'000'000;

/// The format's name of a type (`BF16`, `F8_E4M3`, …).
std::string_view dtypeName(DType type);

/// The type of a format's name; nothing when Eider has no such type.
std::optional<DType> dtypeOfName(std::string_view name);

/// Where a tensor lies in a file.
struct Entry {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape; ///< In units of memory: of F4 the last extent is half the file's.
  uint64_t offset;            ///< In bytes from the start of the data section.
  uint64_t bytes;             ///< Product of the shape times the size of a unit.
};

/// A tensor to write. `data` is row-major and contiguous.
struct Tensor {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  std::span<const std::byte> data;
};

/// Checks a header against `dataBytes`, the size of the file's data section, and gives its entries
/// in order of offset. Throws Error (Request) that names `file` and the tensor.
std::vector<Entry> parseHeader(std::string_view json, uint64_t dataBytes, const std::string &file);

/// An open file whose header has been read and checked.
class File {
public:
  /// Throws Error (Request) that names the file and, where one is at fault, the tensor.
  explicit File(const std::string &path);
  ~File();
  File(const File &) = delete;
  File &operator=(const File &) = delete;

  const std::string &path() const { return path_; }
  /// All tensors in order of offset.
  const std::vector<Entry> &entries() const { return entries_; }
  /// The tensor called `name`, or null.
  const Entry *find(std::string_view name) const;
  /// The data of one of this file's entries. Throws Error if the file has shrunk since it was
  /// opened.
  std::vector<std::byte> read(const Entry &entry) const;

private:
  void readHeader(uint64_t fileBytes);
  void readExactly(uint64_t offset, std::span<std::byte> into) const;

  std::string path_;
  int descriptor_;
  uint64_t dataStart_ = 0;
  std::vector<Entry> entries_;
};

/// Writes a file whole or not at all: a temporary one beside it is renamed over it. The data starts
/// at a multiple of 8 bytes and each tensor at a multiple of its element's size. Throws Error:
/// Request when tensors or path are wrong, Machine when the disk fails.
void write(const std::string &path, std::span<const Tensor> tensors);

} // namespace eider::safetensors

#endif // EIDER_TOOLS_SAFETENSORS_SAFETENSORS_H
