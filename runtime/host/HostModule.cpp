//===- host/HostModule.cpp - Emitted text, compiled for the CPU -----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/HostModule.h"

#include "eider/error.h"
#include "runtime/host/CompilerProcess.h"
#include "runtime/host/TemporaryDirectory.h"
#include "templates/EmbeddedTemplates.h"

#include <dlfcn.h>
#include <filesystem>
#include <optional>
#include <sstream>

namespace eider::host {

namespace {

constexpr int quotedErrors = 3;

void writeTemplates(const std::filesystem::path &directory, const HostCompileOptions &options) {
  for (const EmbeddedTemplate &file : embeddedTemplates())
    writeFile(directory / file.name, file.text);
  for (const auto &[name, text] : options.replacedTemplates)
    writeFile(directory / name, text);
}

/// `source` with the functions that the simulator looks for.
std::string withEntries(const std::string &source, const std::vector<std::string> &entries,
                        const std::string &name) {
  std::string text = "#line 1 \"" + name + "\"\n" + source + "\n";
  for (const std::string &entry : entries)
    text += "EIDER_HOST_ENTRY(" + entry + ")\n";
  return text;
}

std::vector<std::string> sanitizerFlags(HostSanitizer sanitizer) {
  switch (sanitizer) {
  case HostSanitizer::None:
    return {};
  case HostSanitizer::Address:
    return {"-fsanitize=address", "-g1", "-fno-omit-frame-pointer"};
  case HostSanitizer::Thread:
    // Thread-local variables of another model are allocated by the first fiber that asks, whose
    // allocation ThreadSanitizer takes for a race with all others.
    return {"-fsanitize=thread", "-g1", "-fno-omit-frame-pointer", "-ftls-model=initial-exec"};
  }
  return {};
}

std::vector<std::string> compileCommand(const std::filesystem::path &source,
                                        const std::filesystem::path &library,
                                        const HostCompileOptions &options) {
  const std::string directory = source.parent_path().string();
  std::vector<std::string> command = findCompiler();
  // As nvcc --fmad=false: a multiply and an add are fused only where the text says so. Hidden
  // symbols keep two modules with the same names apart. Of optimisations those that pay for their
  // time: -O1 takes half as long again to compile and runs no faster.
  for (const char *flag :
       {"-std=c++20", "-Og", "-ftree-sra", "-fPIC", "-shared", "-ffp-contract=off",
        "-fno-math-errno", "-fno-strict-aliasing", "-fvisibility=hidden", "-w", "-DEIDER_HOST"})
    command.push_back(flag);
  for (const std::string &flag : sanitizerFlags(options.sanitizer))
    command.push_back(flag);
  for (const std::string &word : {"-ffile-prefix-map=" + directory + "/=", "-I" + directory,
                                  "-o" + library.string(), source.string()})
    command.push_back(word);
  return command;
}

/// The first errors among a compiler's messages, in one line, without the name of `directory`.
std::string firstErrors(const std::string &messages, const std::string &directory) {
  std::istringstream lines(messages);
  std::string quoted;
  int count = 0;
  for (std::string line; count < quotedErrors && std::getline(lines, line);) {
    if (line.find("error:") == std::string::npos)
      continue;
    for (size_t at = line.find(directory); at != std::string::npos; at = line.find(directory))
      line.erase(at, directory.size());
    quoted += (count++ == 0 ? "" : " | ") + line;
  }
  return quoted.empty() ? "it said no error" : quoted;
}

void runCompiler(const std::vector<std::string> &command, const std::filesystem::path &directory,
                 const std::string &name) {
  const ProcessResult result = runProcess(command, directory);
  if (result.status != 0)
    throw Error(ErrorKind::Internal,
                command[0] + " ended with status " + std::to_string(result.status) + ": " +
                    firstErrors(result.messages, directory.string() + "/"),
                name,
                "this is a defect of the text unless the compiler is older than C++20; EIDER_CXX "
                "names another");
}

} // namespace

std::shared_ptr<HostModule> HostModule::compile(const std::string &source,
                                                const std::vector<std::string> &entries,
                                                const HostCompileOptions &options) {
  std::optional<TemporaryDirectory> temporary;
  if (options.keepIn.empty())
    temporary.emplace();
  const std::filesystem::path directory =
      temporary ? temporary->path() : std::filesystem::path(options.keepIn);
  const std::filesystem::path text = directory / "kernel.cpp", library = directory / "kernel.so";
  writeTemplates(directory, options);
  writeFile(text, withEntries(source, entries, options.name));
  runCompiler(compileCommand(text, library, options), directory, options.name);
  void *handle = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    throw Error(ErrorKind::Machine, std::string("cannot load the compiled text: ") + dlerror(),
                options.name, "the directory of TMPDIR must not be mounted noexec");
  return std::shared_ptr<HostModule>(new HostModule(handle));
}

HostModule::~HostModule() { dlclose(library_); }

EiderHostKernel HostModule::kernel(const std::string &entry) const {
  void *symbol = dlsym(library_, ("eider_host_" + entry).c_str());
  if (!symbol)
    throw Error(ErrorKind::Internal, "the compiled text has no kernel " + entry, "device host");
  return reinterpret_cast<EiderHostKernel>(symbol);
}

} // namespace eider::host
