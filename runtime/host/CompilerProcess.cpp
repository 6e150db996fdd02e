//===- host/CompilerProcess.cpp - Finds and runs the C++ compiler ---------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/host/CompilerProcess.h"

#include "eider/error.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <spawn.h>
#include <sstream>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace eider::host {

namespace {

bool isProgram(const std::filesystem::path &path) {
  std::error_code ignored;
  return std::filesystem::is_regular_file(path, ignored) && access(path.c_str(), X_OK) == 0;
}

/// As execvp would look for it.
bool isInPath(const std::string &name) {
  if (name.find('/') != std::string::npos)
    return isProgram(name);
  const char *path = std::getenv("PATH");
  std::istringstream directories(path ? path : "");
  for (std::string directory; std::getline(directories, directory, ':');)
    if (isProgram(std::filesystem::path(directory.empty() ? "." : directory) / name))
      return true;
  return false;
}

std::vector<std::string> words(const char *text) {
  std::istringstream stream(text ? text : "");
  return {std::istream_iterator<std::string>(stream), {}};
}

[[noreturn]] void failToFind(const std::string &tried) {
  throw Error(ErrorKind::Machine, "no C++ compiler; tried " + tried, "device host",
              "install g++ 12 or newer, or set EIDER_CXX to a C++20 compiler");
}

/// The environment, with messages in the language that we look for errors in.
std::vector<char *> englishEnvironment() {
  static char language[] = "LC_ALL=C";
  std::vector<char *> variables;
  for (char **variable = environ; *variable; ++variable)
    if (std::strncmp(*variable, "LC_ALL=", 7) != 0)
      variables.push_back(*variable);
  variables.push_back(language);
  variables.push_back(nullptr);
  return variables;
}

std::string readFile(const std::filesystem::path &path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

int waitFor(pid_t process) {
  int status = 0;
  while (waitpid(process, &status, 0) < 0)
    if (errno != EINTR)
      return 0; // the caller's process ignores its children: the file that was to be made will tell
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace

std::vector<std::string> findCompiler() {
  std::string tried;
  for (const char *variable : {"EIDER_CXX", "CXX"}) {
    const std::vector<std::string> command = words(std::getenv(variable));
    if (!command.empty() && isInPath(command[0]))
      return command;
    tried += std::string(tried.empty() ? "" : ", ") + "$" + variable +
             (command.empty() ? " (unset)" : " (" + command[0] + ")");
    if (!command.empty() && std::strcmp(variable, "EIDER_CXX") == 0)
      failToFind(tried);
  }
  for (const char *name : {"c++", "g++", "clang++"}) {
    if (isInPath(name))
      return {name};
    tried += std::string(", ") + name;
  }
  failToFind(tried);
}

ProcessResult runProcess(const std::vector<std::string> &command,
                         const std::filesystem::path &directory) {
  std::vector<char *> arguments;
  for (const std::string &argument : command)
    arguments.push_back(const_cast<char *>(argument.c_str()));
  arguments.push_back(nullptr);
  std::vector<char *> environment = englishEnvironment();
  const std::filesystem::path messages = directory / "messages";

  posix_spawn_file_actions_t files;
  posix_spawn_file_actions_init(&files);
  posix_spawn_file_actions_addopen(&files, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, 1, messages.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
  posix_spawn_file_actions_adddup2(&files, 1, 2);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, arguments[0], &files, nullptr, arguments.data(), environment.data());
  posix_spawn_file_actions_destroy(&files);
  if (error != 0)
    throw Error(ErrorKind::Machine,
                "cannot start " + command[0] + ": " + std::string(std::strerror(error)),
                "device host", "set EIDER_CXX to a C++20 compiler");
  const int status = waitFor(process);
  return {status, readFile(messages)};
}

} // namespace eider::host
