//===- aot/FatBinary.cpp - Cubins of several targets as one file ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
// The container that the driver takes: a header, then each image behind a header of its own. NVIDIA
// does not document it; tests/aot compares it with what the toolkit's `fatbinary` writes.
//
//===----------------------------------------------------------------------===//
#include "eider/aot.h"

#include "runtime/contract/Contract.h"
#include "runtime/cuda/Targets.h"

#include <bit>
#include <cstring>
#include <elf.h>

namespace eider {
namespace {

static_assert(std::endian::native == std::endian::little, "the container's numbers are");

struct FileHeader {
  uint32_t magic = 0xba55ed50;
  uint16_t version = 1;
  uint16_t headerBytes = sizeof(FileHeader);
  uint64_t bytes = 0; ///< of all that follows
};

struct ImageHeader {
  uint16_t kind = 2; ///< a cubin
  uint16_t version = 0x0101;
  uint32_t headerBytes = sizeof(ImageHeader);
  uint64_t bytes = 0;
  uint32_t compressedBytes = 0;
  uint32_t extensionAt = 0; ///< in the header; 0: there is none
  uint16_t abiMinor = 0;    ///< the cubin's ABI version
  uint16_t abiMajor = 1;
  uint32_t capability = 0;
  uint64_t name = 0; ///< none
  uint64_t flags = 0;
  uint64_t reserved[2] = {};
};

/// Behind the header of a cubin for sm_100 or later, with what follows it: the options that it was
/// compiled with, which nobody says, and a copy of its section .nv.compat, by which the driver
/// knows what other GPUs it can be finalised for.
struct Extension {
  uint32_t optionsAt = sizeof(ImageHeader) + sizeof(Extension); ///< in the header
  uint32_t compatibilityBytes = 0;
};
static_assert(sizeof(FileHeader) == 16 && sizeof(ImageHeader) == 64 && sizeof(Extension) == 8);

constexpr uint64_t for64BitLinux = 0x11, archSpecific = 0x100000, hasCompatibility = 0x1000000;

template <typename T> void append(std::vector<std::byte> &bytes, const T &value) {
  const auto *begin = reinterpret_cast<const std::byte *>(&value);
  bytes.insert(bytes.end(), begin, begin + sizeof(T));
}

/// Reads a structure of an ELF file; false if it lies outside.
template <typename T> bool readAt(std::span<const std::byte> file, uint64_t at, T &value) {
  if (at > file.size() || file.size() - at < sizeof(T))
    return false;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return true;
}

/// The contents of a section; empty if there is none of that name.
std::span<const std::byte> sectionOf(std::span<const std::byte> file, std::string_view name) {
  Elf64_Ehdr header;
  Elf64_Shdr names, section;
  if (!readAt(file, 0, header) ||
      !readAt(file, header.e_shoff + header.e_shstrndx * sizeof(names), names))
    return {};
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    if (!readAt(file, header.e_shoff + i * sizeof(section), section))
      return {};
    const uint64_t at = names.sh_offset + section.sh_name;
    if (at >= file.size() || section.sh_offset > file.size() ||
        section.sh_size > file.size() - section.sh_offset)
      continue;
    const auto rest = file.subspan(at);
    if (rest.size() > name.size() && rest[name.size()] == std::byte(0) &&
        std::memcmp(rest.data(), name.data(), name.size()) == 0)
      return file.subspan(section.sh_offset, section.sh_size);
  }
  return {};
}

void pad(std::vector<std::byte> &bytes, size_t alignment) {
  bytes.resize((bytes.size() + alignment - 1) / alignment * alignment);
}

void appendImage(std::vector<std::byte> &bytes, const TargetImage &image) {
  const contract::Contract contract = contract::read(image.executable.contract);
  const std::optional<cuda::Target> target = cuda::parseTarget(contract.target);
  if (!target || image.cubin.size() < sizeof(Elf64_Ehdr) ||
      std::memcmp(image.cubin.data(), ELFMAG, SELFMAG) != 0)
    throw Error(ErrorKind::Internal, "is no cubin", contract.name + " for " + contract.target);
  std::vector<std::byte> code = image.cubin, extended;
  pad(code, 8);
  ImageHeader header;
  header.bytes = code.size();
  header.abiMinor = static_cast<uint16_t>(image.cubin[EI_ABIVERSION]);
  header.capability = static_cast<uint32_t>(target->capability);
  header.flags = for64BitLinux | (target->archSpecific ? archSpecific : 0);
  if (const auto compatibility = sectionOf(image.cubin, ".nv.compat");
      target->capability >= 100 && !compatibility.empty()) {
    Extension extension;
    extension.compatibilityBytes = static_cast<uint32_t>(compatibility.size());
    append(extended, extension);
    append(extended, '\0'); // the options
    extended.insert(extended.end(), compatibility.begin(), compatibility.end());
    pad(extended, 8);
    header.extensionAt = sizeof(ImageHeader);
    header.headerBytes += static_cast<uint32_t>(extended.size());
    header.flags |= hasCompatibility;
  }
  append(bytes, header);
  bytes.insert(bytes.end(), extended.begin(), extended.end());
  bytes.insert(bytes.end(), code.begin(), code.end());
}

} // namespace

std::vector<std::byte> fatBinary(std::span<const TargetImage> images) {
  std::vector<std::byte> body, bytes;
  for (const TargetImage &image : images)
    appendImage(body, image);
  FileHeader header;
  header.bytes = body.size();
  append(bytes, header);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

} // namespace eider
