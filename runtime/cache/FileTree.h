//===- cache/FileTree.h - A directory that only its owner writes *- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
// Everything goes through the descriptor of a directory that was checked once: a path that somebody
// exchanges later leads nowhere.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_RUNTIME_CACHE_FILETREE_H
#define EIDER_RUNTIME_CACHE_FILETREE_H

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace eider {

/// An open descriptor.
class Descriptor {
public:
  explicit Descriptor(int fd = -1) : fd(fd) {}
  Descriptor(Descriptor &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Descriptor &operator=(Descriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Descriptor();
  explicit operator bool() const { return fd >= 0; }
  int get() const { return fd; }

private:
  int fd;
};

/// Opens `path`, making it and its missing parents with mode 0700. Gives nothing, and why in
/// `problem`, if it cannot be made, is a symbolic link, belongs to another user, or is writable by
/// group or world.
Descriptor openPrivateDirectory(const std::string &path, std::string &problem);

/// Opens a directory that others may have made: it may also belong to root, and is never made.
Descriptor openForeignDirectory(const std::string &path, std::string &problem);

/// Opens the directory `name` in `parent` (an opened one); it may also belong to root. `create`:
/// makes it if it is missing; else one that is missing is no problem: `problem` is empty.
Descriptor openSubdirectory(const Descriptor &parent, const std::string &name, bool create,
                            std::string &problem);

/// The whole of a regular file that belongs to the user or root and is at most `limit` bytes long.
std::optional<std::string> readFile(const Descriptor &directory, const std::string &name,
                                    size_t limit);

/// Makes a new file of mode 0600 and waits until it is on the disk. False, with errno, if it
/// cannot.
bool writeFile(const Descriptor &directory, const std::string &name, std::string_view bytes);

/// Removes a directory of files (no deeper); best effort.
void removeDirectory(const Descriptor &parent, const std::string &name);

/// The names in a directory, without `.` and `..`, sorted.
std::vector<std::string> namesIn(const Descriptor &directory);

/// Whether `name` in `parent` is still the directory that was opened.
bool isStillIn(const Descriptor &parent, const std::string &name, const Descriptor &directory);

/// Notes that the directory `name` was used now; best effort.
void touch(const Descriptor &parent, const std::string &name);

/// When touch() was called last (or the directory changed), in nanoseconds since 1970, and the
/// bytes of its files.
struct Usage {
  int64_t time = 0;
  int64_t bytes = 0;
};
Usage usageOf(const Descriptor &directory);

} // namespace eider

#endif // EIDER_RUNTIME_CACHE_FILETREE_H
