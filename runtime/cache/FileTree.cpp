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
  if (fd < 0)
    return;
  const int kept = errno; // of the call for which we give up
  ::close(fd);
  errno = kept;
}

namespace {

/// Who may own what we read, besides the user.
enum class Owner { User, UserOrRoot };

/// Empty if only the owner can have written what `fd` is.
std::string whyNotPrivate(int fd, Owner owner) {
  struct stat status;
  if (::fstat(fd, &status) != 0)
    return std::strerror(errno);
  if (status.st_uid != ::geteuid() && (owner == Owner::User || status.st_uid != 0))
    return "it belongs to another user";
  if (status.st_mode & (S_IWGRP | S_IWOTH))
    return "it is writable by group or world";
  return "";
}

Descriptor openChecked(int parent, const char *name, Owner owner, std::string &problem) {
  Descriptor directory(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!directory) {
    // Linux answers ENOTDIR for a symbolic link when O_DIRECTORY is asked for.
    const int error = errno;
    struct stat status;
    const bool link = (error == ELOOP || error == ENOTDIR) &&
                      ::fstatat(parent, name, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
                      S_ISLNK(status.st_mode);
    problem = link ? "it is a symbolic link" : std::strerror(error);
    errno = error;
    return directory;
  }
  problem = whyNotPrivate(directory.get(), owner);
  if (problem.empty())
    return directory;
  errno = EPERM;
  return Descriptor();
}

/// Without trailing slashes, which would follow a symbolic link.
std::string trimmed(std::string path) {
  while (path.size() > 1 && path.back() == '/')
    path.pop_back();
  return path;
}

} // namespace

Descriptor openPrivateDirectory(const std::string &given, std::string &problem) {
  const std::string path = trimmed(given);
  for (size_t slash = path.find('/', 1); slash != std::string::npos;
       slash = path.find('/', slash + 1))
    ::mkdir(path.substr(0, slash).c_str(), 0700);
  if (::mkdir(path.c_str(), 0700) != 0 && errno != EEXIST) {
    problem = std::strerror(errno);
    return Descriptor();
  }
  return openChecked(AT_FDCWD, path.c_str(), Owner::User, problem);
}

Descriptor openForeignDirectory(const std::string &path, std::string &problem) {
  return openChecked(AT_FDCWD, trimmed(path).c_str(), Owner::UserOrRoot, problem);
}

Descriptor openSubdirectory(const Descriptor &parent, const std::string &name, bool create,
                            std::string &problem) {
  if (create && ::mkdirat(parent.get(), name.c_str(), 0700) != 0 && errno != EEXIST) {
    problem = std::strerror(errno);
    return Descriptor();
  }
  Descriptor directory = openChecked(parent.get(), name.c_str(), Owner::UserOrRoot, problem);
  if (!directory && !create && errno == ENOENT)
    problem.clear();
  return directory;
}

std::optional<std::string> readFile(const Descriptor &directory, const std::string &name,
                                    size_t limit) {
  // O_NONBLOCK: a FIFO in the place of the file must not make us wait.
  Descriptor file(
      ::openat(directory.get(), name.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK));
  struct stat status;
  if (!file || ::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode) ||
      static_cast<size_t>(status.st_size) > limit ||
      !whyNotPrivate(file.get(), Owner::UserOrRoot).empty())
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

bool isStillIn(const Descriptor &parent, const std::string &name, const Descriptor &directory) {
  struct stat there, opened;
  return ::fstatat(parent.get(), name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
         ::fstat(directory.get(), &opened) == 0 && there.st_ino == opened.st_ino &&
         there.st_dev == opened.st_dev;
}

void touch(const Descriptor &parent, const std::string &name) {
  ::utimensat(parent.get(), name.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
}

Usage usageOf(const Descriptor &directory) {
  Usage usage;
  struct stat status;
  if (::fstat(directory.get(), &status) == 0)
    usage.time = status.st_mtim.tv_sec * INT64_C(1000000000) + status.st_mtim.tv_nsec;
  for (const std::string &file : namesIn(directory))
    if (::fstatat(directory.get(), file.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      usage.bytes += status.st_size;
  return usage;
}

} // namespace eider
