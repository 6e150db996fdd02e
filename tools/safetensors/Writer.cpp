//===- tools/safetensors/Writer.cpp - Writing a file, whole or not at all -------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "eider/error.h"
#include "tools/safetensors/Extent.h"
#include "tools/safetensors/Safetensors.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <random>
#include <sys/stat.h>
#include <unistd.h>
#include <unordered_set>

namespace eider::safetensors {

namespace {

[[noreturn]] void failSystem(const std::string &path, const std::string &what, int error) {
  bool disk = error == ENOSPC || error == EFBIG || error == EIO || error == EDQUOT ||
              error == ENFILE || error == EMFILE;
  throw Error(disk ? ErrorKind::Machine : ErrorKind::Request, what + ": " + std::strerror(error),
              path);
}

void checkTensors(const std::string &path, std::span<const Tensor> tensors) {
  std::unordered_set<std::string> names;
  for (const Tensor &tensor : tensors) {
    auto fail = [&](const std::string &what) {
      throw Error(ErrorKind::Request, "tensor '" + tensor.name + "': " + what, path);
    };
    if (tensor.name == "__metadata__")
      fail("the format keeps this name for itself");
    if (!names.insert(tensor.name).second)
      fail("given twice");
    if (dtypeName(tensor.dtype).empty())
      fail(std::string("the format has no name for ") + nameOf(tensor.dtype));
    std::optional<uint64_t> bytes = bytesOf(tensor.shape, tensor.dtype);
    if (!bytes)
      fail("its shape is negative or overflows 63 bits of bytes");
    if (*bytes != tensor.data.size())
      fail("shape and dtype make " + std::to_string(*bytes) + " bytes, " +
           std::to_string(tensor.data.size()) + " are given");
  }
}

/// The header's length and the header, padded with blanks to a multiple of 8.
std::string makeHeader(const std::string &path, std::span<const Tensor *const> tensors) {
  nlohmann::ordered_json header = nlohmann::ordered_json::object();
  uint64_t offset = 0;
  for (const Tensor *tensor : tensors) {
    uint64_t end = offset + tensor->data.size();
    header[tensor->name] = {{"dtype", dtypeName(tensor->dtype)},
                            {"shape", tensor->shape},
                            {"data_offsets", {offset, end}}};
    offset = end;
  }
  std::string json;
  try {
    json = header.dump();
  } catch (const nlohmann::json::exception &) {
    throw Error(ErrorKind::Request, "a tensor's name is not UTF-8", path);
  }
  json.resize((json.size() + 7) / 8 * 8, ' ');
  std::string length(8, '\0');
  for (int i = 0; i < 8; ++i)
    length[i] = static_cast<char>(static_cast<uint64_t>(json.size()) >> (8 * i) & 0xff);
  return length + json;
}

/// A new file beside `path`; removed again unless it has taken its place.
class TemporaryFile {
public:
  explicit TemporaryFile(const std::string &path) : path_(path) {
    std::random_device random;
    for (int attempt = 0; attempt < 100 && descriptor_ < 0; ++attempt) {
      temporary_ = path + ".tmp-" + std::to_string(random());
      descriptor_ = ::open(temporary_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (descriptor_ < 0 && errno != EEXIST)
        failSystem(path, "cannot write there", errno);
    }
    if (descriptor_ < 0)
      failSystem(path, "cannot write there", EEXIST);
  }
  ~TemporaryFile() {
    if (descriptor_ >= 0)
      ::close(descriptor_);
    if (!temporary_.empty())
      ::unlink(temporary_.c_str());
  }
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  void append(std::span<const std::byte> bytes) {
    while (!bytes.empty()) {
      ssize_t count = ::write(descriptor_, bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR)
        continue;
      if (count < 0)
        failSystem(path_, "cannot write it", errno);
      bytes = bytes.subspan(static_cast<size_t>(count));
    }
  }

  void takePlace() {
    if (::fsync(descriptor_) != 0)
      failSystem(path_, "cannot write it", errno);
    int closed = ::close(descriptor_);
    descriptor_ = -1;
    if (closed != 0 || ::rename(temporary_.c_str(), path_.c_str()) != 0)
      failSystem(path_, "cannot write it", errno);
    temporary_.clear();
  }

private:
  const std::string &path_;
  std::string temporary_;
  int descriptor_ = -1;
};

} // namespace

void write(const std::string &path, std::span<const Tensor> tensors) {
  checkTensors(path, tensors);
  // Renaming over a device or a directory would replace it, or fail late.
  struct stat status;
  if (::stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode))
    throw Error(ErrorKind::Request, "there is something that is not a regular file", path,
                "choose another name");

  // Widest elements first: then every tensor starts at a multiple of its element's size.
  std::vector<const Tensor *> order;
  for (const Tensor &tensor : tensors)
    order.push_back(&tensor);
  std::ranges::stable_sort(order, std::greater<>(),
                           [](const Tensor *t) { return sizeOf(t->dtype); });

  TemporaryFile file(path);
  const std::string header = makeHeader(path, order);
  file.append(std::as_bytes(std::span(header)));
  for (const Tensor *tensor : order)
    file.append(tensor->data);
  file.takePlace();
}

} // namespace eider::safetensors
