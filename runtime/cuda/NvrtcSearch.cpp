//===- cuda/NvrtcSearch.cpp - Where NVRTC may be --------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/cuda/NvrtcSearch.h"
#include "runtime/cuda/SharedLibrary.h"

#include "eider/error.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <vector>

namespace eider::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char *where = "NVRTC";
constexpr int majors[] = {13, 12}; // newest first

/// The entries of `directory` whose names begin with `prefix`, last name first: cuda-13.0 before
/// cuda-12.8.
std::vector<fs::path> withPrefix(const fs::path &directory, const std::string &prefix) {
  std::vector<fs::path> found;
  std::error_code ignored;
  for (fs::directory_iterator it(directory, ignored), end; !ignored && it != end;
       it.increment(ignored))
    if (it->path().filename().string().starts_with(prefix))
      found.push_back(it->path());
  std::sort(found.rbegin(), found.rend());
  return found;
}

void addToolkit(std::vector<fs::path> &directories, const fs::path &home) {
  directories.push_back(home / "lib64");
  directories.push_back(home / "lib");
  for (const fs::path &platform : withPrefix(home / "targets", ""))
    directories.push_back(platform / "lib");
}

/// NVIDIA's Python wheels in the environments that this process can know of.
void addWheels(std::vector<fs::path> &directories) {
  std::vector<fs::path> roots = {"/usr/local/lib", "/usr/lib"};
  if (const char *home = std::getenv("HOME"))
    roots.insert(roots.begin(), fs::path(home) / ".local/lib");
  if (const char *environment = std::getenv("VIRTUAL_ENV"))
    roots.insert(roots.begin(), fs::path(environment) / "lib");
  for (const fs::path &root : roots)
    for (const fs::path &python : withPrefix(root, "python3"))
      for (const char *packages : {"site-packages", "dist-packages"})
        for (const char *wheel : {"nvidia/cu13/lib", "nvidia/cuda_nvrtc/lib"})
          directories.push_back(python / packages / wheel);
}

/// `NAME:BYTES;`
std::string nameAndSize(const fs::path &path) {
  std::error_code ignored;
  return path.filename().string() + ":" + std::to_string(fs::file_size(path, ignored)) + ";";
}

/// Without opening it: the sizes differ between versions, and the file of builtins has the version
/// in its name.
NvrtcFile describe(const fs::path &path, int major) {
  std::error_code ignored;
  std::string identity = nameAndSize(fs::canonical(path, ignored));
  for (const fs::path &builtins :
       withPrefix(path.parent_path(), "libnvrtc-builtins.so." + std::to_string(major)))
    identity += nameAndSize(builtins);
  return {path.string(), major, identity};
}

/// From a file's name, links followed (libnvrtc.so -> libnvrtc.so.13); 0 if it does not say.
int majorOf(const fs::path &path) {
  std::error_code ignored;
  const fs::path real = fs::canonical(path, ignored);
  for (const fs::path &name : {path.filename(), real.filename()})
    for (int major : majors)
      if (name.string().starts_with("libnvrtc.so." + std::to_string(major)))
        return major;
  return 0;
}

std::vector<fs::path> searchDirectories() {
  std::vector<fs::path> directories;
  if (const char *home = std::getenv("CUDA_HOME"))
    addToolkit(directories, home);
  for (const fs::path &toolkit : withPrefix("/usr/local", "cuda"))
    addToolkit(directories, toolkit);
  std::string path = std::getenv("LD_LIBRARY_PATH") ? std::getenv("LD_LIBRARY_PATH") : "";
  for (size_t start = 0; start < path.size();) {
    const size_t end = std::min(path.find(':', start), path.size());
    directories.push_back(path.substr(start, end - start));
    start = end + 1;
  }
  for (const char *system :
       {"/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"})
    directories.push_back(system);
  addWheels(directories);
  return directories;
}

/// Where the dynamic linker finds it by its own configuration, which only the linker can read;
/// empty if it does not.
fs::path linkersDirectory(int major) {
  SharedLibrary library;
  if (!library.open("libnvrtc.so." + std::to_string(major)))
    return {};
  return library.directoryOf("nvrtcVersion");
}

Error newerThanDriver(int major, int maxMajor) {
  return Error(ErrorKind::Machine,
               "NVRTC " + std::to_string(major) + " is newer than the driver, which is for CUDA " +
                   std::to_string(maxMajor),
               where, "install a newer driver, or NVRTC " + std::to_string(maxMajor));
}

} // namespace

NvrtcFile findNvrtcFile(int maxMajor) {
  std::error_code ignored;
  if (const char *given = std::getenv("EIDER_NVRTC")) {
    const int major = majorOf(given);
    if (!fs::exists(given, ignored) || major == 0)
      throw Error(ErrorKind::Machine, std::string(given) + " is no libnvrtc.so.13 or .12", where,
                  "correct EIDER_NVRTC or unset it");
    return major <= maxMajor ? describe(given, major) : throw newerThanDriver(major, maxMajor);
  }
  int newest = 0;
  const std::vector<fs::path> directories = searchDirectories();
  for (int major : majors)
    for (const fs::path &directory : directories) {
      const fs::path file = directory / ("libnvrtc.so." + std::to_string(major));
      if (!fs::exists(file, ignored))
        continue;
      if (major <= maxMajor)
        return describe(file, major);
      newest = std::max(newest, major);
    }
  for (int major : majors)
    if (major <= maxMajor)
      if (const fs::path directory = linkersDirectory(major); !directory.empty())
        return describe(directory / ("libnvrtc.so." + std::to_string(major)), major);
  if (newest != 0)
    throw newerThanDriver(newest, maxMajor);
  throw Error(ErrorKind::Machine, "libnvrtc.so.13 and .12 are nowhere to be found", where,
              "install the CUDA toolkit or NVIDIA's NVRTC wheel, or set CUDA_HOME or EIDER_NVRTC");
}

} // namespace eider::cuda
