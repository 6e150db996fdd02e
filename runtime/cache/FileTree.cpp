//===- cache/FileTree.cpp - A directory that only its owner writes --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cache/FileTree.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace eider {

Descriptor::~Descriptor() {
  if (fd >= 0)
    ::close(fd);
}

namespace {

/// Empty if only the user can have written what `fd` is.
std::string whyNotPrivate(int fd) {
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return std::strerror(errno);
  if (status.st_uid != ::geteuid())
    return "it belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return "it is writable by group or world";
  return "";
}

Descriptor openChecked(int parent, const char *name, std::string &problem) {
  Descriptor directory(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    // Linux answers ENOTDIR for a symbolic link when O_DIRECTORY is asked for.
    struct stat status;
    const bool link = (errno == ELOOP || errno == ENOTDIR) &&
                      ::fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                      S_ISLNK(status.st_mode);
    problem = link ? "it is a symbolic link" : std::strerror(errno);
    return directory;
  }
  problem = whyNotPrivate(directory.get());
  return problem.empty() ? std::move(directory) : Descriptor();
}

} // namespace

Descriptor openPrivateDirectory(const std::string &given, std::string &problem) {
  std::string path = given;
  while (path.size() > 1 && path.back() == '/') // a trailing slash would follow a symbolic link
    path.pop_back();
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), 0700);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    problem = std::strerror(errno);
    return Descriptor();
  }
  return openChecked(AT_FDCWD, path.c_str(), problem);
}

Descriptor openSubdirectory(const Descriptor &parent, const std::string &name, bool create,
                            std::string &problem) {
  if (create && ::mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
    problem = std::strerror(errno);
    return Descriptor();
  }
  return openChecked(parent.get(), name.c_str(), problem);
}

std::optional<std::string> readFile(const Descriptor &directory, const std::string &name,
                                    size_t limit) {
  // O_NONBLOCK: a FIFO in the place of the file must not make us wait.
  Descriptor file(
      ::openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<size_t>(status.st_size) > limit || !whyNotPrivate(file.get()).empty())
    return std::nullopt;
  std::string bytes(status.st_size, '\0');
  for (size_t done = 0; done < bytes.size();) {
    const ssize_t count = ::read(file.get(), bytes.data() + done, bytes.size() - done);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return std::nullopt;
    done += count;
  }
  return bytes;
}

bool writeFile(const Descriptor &directory, const std::string &name, std::string_view bytes) {
  Descriptor file(::openat(directory.get(), name.c_str(),
                           O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!file)
    return false;
  while (!bytes.empty()) {
    const ssize_t count = ::write(file.get(), bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    bytes.remove_prefix(count);
  }
  return ::fsync(file.get()) == 0;
}

void removeDirectory(const Descriptor &parent, const std::string &name) {
  {
    Descriptor directory(
        ::openat(parent.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (directory)
      for (const std::string &file : namesIn(directory))
        ::unlinkat(directory.get(), file.c_str(), 0);
  }
  ::unlinkat(parent.get(), name.c_str(), AT_REMOVEDIR);
}

std::vector<std::string> namesIn(const Descriptor &directory) {
  std::vector<std::string> names;
  // A descriptor of its own: fdopendir takes it over, and its position.
  const int fd = ::openat(directory.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *stream = fd < 0 ? nullptr : ::fdopendir(fd);
  if (!stream) {
    if (fd >= 0)
      ::close(fd);
    return names;
  }
  while (const dirent *entry = ::readdir(stream))
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      names.push_back(entry->d_name);
  ::closedir(stream);
  std::sort(names.begin(), names.end());
  return names;
}

} // namespace eider
