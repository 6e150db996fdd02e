//===- host/HostModule.h - Emitted text, compiled for the CPU -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_HOST_HOSTMODULE_H
#define EIDER_HOST_HOSTMODULE_H

#include "templates/arch/host_abi.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace eider::host {

enum class HostSanitizer {
  None,
  Address, ///< For processes linked with -fsanitize=address.
  Thread   ///< For processes linked with -fsanitize=thread.
};

struct HostCompileOptions {
  std::string name = "kernel.cu"; ///< Stands for the source in messages.
  HostSanitizer sanitizer = HostSanitizer::None;
  /// An existing directory that keeps all files of the compilation, so that a sanitizer or a
  /// debugger finds source lines. Empty: a private one, gone before compile() returns.
  std::string keepIn = {};
  /// Texts by name (`eider/tile/row.cuh`) to use in place of the library's: to try a change, or to
  /// see a defect found.
  std::map<std::string, std::string> replacedTemplates = {};
};

/// Kernels compiled as C++20 and loaded into this process; unloaded with the last reference.
class HostModule {
public:
  /// Compiles `source`, which may hold many kernels (combine()), and loads its kernels `entries`.
  /// Nothing of it is cached. Throws Error: of kind Machine without a compiler, a directory or room
  /// on disk; of kind Internal, with the first three errors, when the compiler refuses the text.
  static std::shared_ptr<HostModule> compile(const std::string &source,
                                             const std::vector<std::string> &entries,
                                             const HostCompileOptions &options = {});
  ~HostModule();
  HostModule(const HostModule &) = delete;
  HostModule &operator=(const HostModule &) = delete;

  /// For launch(); valid as long as the module. Throws Error of kind Internal when the module has
  /// no such entry.
  EiderHostKernel kernel(const std::string &entry) const;

private:
  explicit HostModule(void *library) : library_(library) {}
  void *library_;
};

} // namespace eider::host

#endif // EIDER_HOST_HOSTMODULE_H
