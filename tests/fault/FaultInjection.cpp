//===- tests/fault/FaultInjection.cpp - System calls that fail ------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// To be preloaded. Counts the calls that touch files below `EIDER_FAULT_ROOT`; call number
// `EIDER_FAULT_AT` (from 1 on; with `EIDER_FAULT_STAYS` also all that follow) fails with the error
// `EIDER_FAULT_ERROR`, or the process is killed there if that is 0: before the call, but in the
// middle of a write. At the first strike the file `EIDER_FAULT_STRUCK` is made, with the call's
// name in it.
//
//===----------------------------------------------------------------------===//
#include <atomic>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdarg>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fcntl.h>
#include <string>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

template <typename Function> Function *real(const char *name) {
  return reinterpret_cast<Function *>(::dlsym(RTLD_NEXT, name));
}

const std::string &root() {
  static const std::string *path = [] {
    const char *value = std::getenv("EIDER_FAULT_ROOT");
    return new std::string(value ? value : "");
  }();
  return *path;
}

bool isBelow(const std::string &path) { return !root().empty() && path.starts_with(root()); }

std::string pathOf(int fd) {
  char path[PATH_MAX];
  const ssize_t length =
      ::readlink(("/proc/self/fd/" + std::to_string(fd)).c_str(), path, sizeof(path));
  return length < 0 ? "" : std::string(path, length);
}

std::string pathOf(int directory, const char *name) {
  return name[0] == '/' ? name : pathOf(directory) + "/" + name;
}

int number(const char *name) {
  const char *value = std::getenv(name);
  return value ? std::atoi(value) : 0;
}

void noteStrike(const char *call) {
  const char *path = std::getenv("EIDER_FAULT_STRUCK");
  static auto *openFile = real<int(const char *, int, ...)>("open");
  static auto *writeFile = real<ssize_t(int, const void *, size_t)>("write");
  const int file = path ? openFile(path, O_WRONLY | O_CREAT | O_EXCL, 0600) : -1;
  if (file >= 0 && writeFile(file, call, std::strlen(call)) >= 0)
    ::close(file);
}

/// Whether this call is to fail, with errno set. Does not return if the process is to die and
/// `dying` does not want to do something before.
bool strikes(const char *call, bool *dying = nullptr) {
  static std::atomic<int> calls = 0;
  static const int at = number("EIDER_FAULT_AT"), error = number("EIDER_FAULT_ERROR");
  static const bool stays = number("EIDER_FAULT_STAYS") != 0;
  const int now = ++calls;
  if (at == 0 || now < at || (now > at && !stays))
    return false;
  noteStrike(call);
  if (error == 0) {
    if (dying)
      return *dying = true;
    ::kill(::getpid(), SIGKILL);
  }
  errno = error;
  return true;
}

} // namespace

#define HOOK extern "C" __attribute__((visibility("default")))

HOOK int openat(int directory, const char *name, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  const mode_t mode = flags & O_CREAT ? va_arg(arguments, mode_t) : 0;
  va_end(arguments);
  if (isBelow(pathOf(directory, name)) && strikes("openat"))
    return -1;
  static auto *next = real<int(int, const char *, int, ...)>("openat");
  return next(directory, name, flags, mode);
}

HOOK ssize_t read(int fd, void *into, size_t count) {
  if (isBelow(pathOf(fd)) && strikes("read"))
    return -1;
  static auto *next = real<ssize_t(int, void *, size_t)>("read");
  return next(fd, into, count);
}

HOOK ssize_t write(int fd, const void *from, size_t count) {
  static auto *next = real<ssize_t(int, const void *, size_t)>("write");
  bool dying = false;
  if (isBelow(pathOf(fd)) && strikes("write", &dying)) {
    if (!dying)
      return -1;
    if (next(fd, from, count / 2) >= 0)
      ::kill(::getpid(), SIGKILL);
  }
  return next(fd, from, count);
}

HOOK int fsync(int fd) {
  if (isBelow(pathOf(fd)) && strikes("fsync"))
    return -1;
  static auto *next = real<int(int)>("fsync");
  return next(fd);
}

HOOK int fstat(int fd, struct stat *status) {
  if (isBelow(pathOf(fd)) && strikes("fstat"))
    return -1;
  static auto *next = real<int(int, struct stat *)>("fstat");
  return next(fd, status);
}

HOOK int flock(int fd, int operation) {
  if (isBelow(pathOf(fd)) && strikes("flock"))
    return -1;
  static auto *next = real<int(int, int)>("flock");
  return next(fd, operation);
}

HOOK int mkdir(const char *path, mode_t mode) {
  if (isBelow(path) && strikes("mkdir"))
    return -1;
  static auto *next = real<int(const char *, mode_t)>("mkdir");
  return next(path, mode);
}

HOOK int mkdirat(int directory, const char *name, mode_t mode) {
  if (isBelow(pathOf(directory, name)) && strikes("mkdirat"))
    return -1;
  static auto *next = real<int(int, const char *, mode_t)>("mkdirat");
  return next(directory, name, mode);
}

HOOK int renameat(int from, const char *name, int to, const char *newName) {
  if (isBelow(pathOf(from, name)) && strikes("renameat"))
    return -1;
  static auto *next = real<int(int, const char *, int, const char *)>("renameat");
  return next(from, name, to, newName);
}

HOOK int unlinkat(int directory, const char *name, int flags) {
  if (isBelow(pathOf(directory, name)) && strikes("unlinkat"))
    return -1;
  static auto *next = real<int(int, const char *, int)>("unlinkat");
  return next(directory, name, flags);
}
