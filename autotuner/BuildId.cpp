//===- autotuner/BuildId.cpp - Which compiler is this? --------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/BuildId.h"

#include <cstdint>
#include <cstring>
#include <link.h>
#include <string_view>

namespace eider {
namespace {

struct Search {
  uintptr_t address;
  std::string id;
};

bool holds(const dl_phdr_info &object, uintptr_t address) {
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr) &segment = object.dlpi_phdr[i];
    const uintptr_t begin = object.dlpi_addr + segment.p_vaddr;
    if (segment.p_type == PT_LOAD && begin <= address && address < begin + segment.p_memsz)
      return true;
  }
  return false;
}

std::string hexadecimal(std::string_view bytes) {
  std::string digits;
  for (unsigned char byte : bytes) {
    digits += "0123456789abcdef"[byte >> 4];
    digits += "0123456789abcdef"[byte & 15];
  }
  return digits;
}

/// The GNU build id among the notes of a segment.
std::string idInNotes(const char *notes, size_t size) {
  const auto padded = [](size_t bytes) { return (bytes + 3) & ~size_t(3); };
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof(header));
    const size_t total = sizeof(header) + padded(header.n_namesz) + padded(header.n_descsz);
    if (total > size)
      break;
    const std::string_view name(notes + sizeof(header), header.n_namesz);
    if (header.n_type == NT_GNU_BUILD_ID && name == std::string_view("GNU\0", 4))
      return hexadecimal({notes + sizeof(header) + padded(header.n_namesz), header.n_descsz});
    notes += total;
    size -= total;
  }
  return "";
}

int visit(dl_phdr_info *object, size_t, void *context) {
  auto &search = *static_cast<Search *>(context);
  if (!holds(*object, search.address))
    return 0;
  for (int i = 0; i < object->dlpi_phnum && search.id.empty(); ++i)
    if (const ElfW(Phdr) &segment = object->dlpi_phdr[i]; segment.p_type == PT_NOTE)
      search.id = idInNotes(reinterpret_cast<const char *>(object->dlpi_addr + segment.p_vaddr),
                            segment.p_memsz);
  return 1;
}

} // namespace

std::string buildIdAt(const void *address) {
  Search search{reinterpret_cast<uintptr_t>(address), ""};
  ::dl_iterate_phdr(visit, &search);
  return search.id;
}

} // namespace eider
