//===- tests/fuzz/Safetensors.cpp -----------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/safetensors/Safetensors.h"
#include "tests/fuzz/Targets.h"

#include "eider/error.h"

#include <sys/mman.h>
#include <unistd.h>

namespace eider::fuzz {
namespace {

/// A file that holds `bytes`, in memory.
class MemoryFile {
public:
  explicit MemoryFile(std::string_view bytes) : descriptor(::memfd_create("fuzz", MFD_CLOEXEC)) {
    if (descriptor < 0 ||
        ::write(descriptor, bytes.data(), bytes.size()) != static_cast<ssize_t>(bytes.size()))
      defect("no memory for a file");
  }
  ~MemoryFile() { ::close(descriptor); }
  MemoryFile(const MemoryFile &) = delete;
  MemoryFile &operator=(const MemoryFile &) = delete;
  std::string path() const { return "/proc/self/fd/" + std::to_string(descriptor); }

private:
  int descriptor;
};

} // namespace

void safetensors(std::string_view bytes) {
  const MemoryFile memory(bytes);
  try {
    const eider::safetensors::File file(memory.path());
    for (const auto &entry : file.entries()) {
      if (file.read(entry).size() != entry.bytes || entry.bytes > bytes.size())
        defect("a tensor is not as large as its entry says");
      if (!file.find(entry.name))
        defect("a tensor is not found by its name");
    }
  } catch (const Error &) {
  }
}

} // namespace eider::fuzz
