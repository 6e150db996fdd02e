//===- measure/WorkerProcess.cpp - A worker, watched ----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/WorkerProcess.h"

#include "eider/compile.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <poll.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

namespace eider::tuning {

namespace fs = std::filesystem;

namespace {

constexpr const char *workerName = "eider-worker";

bool isProgram(const fs::path &path) { return ::access(path.c_str(), X_OK) == 0; }

std::vector<fs::path> placesOfWorker() {
  std::vector<fs::path> places;
  std::error_code error;
  if (fs::path self = fs::read_symlink("/proc/self/exe", error); !error)
    places.push_back(self.parent_path());
  Dl_info info;
  if (::dladdr(reinterpret_cast<const void *>(&compile), &info) && info.dli_fname) {
    const fs::path library = fs::path(info.dli_fname).parent_path();
    places.push_back(library);
    places.push_back(library / ".." / "bin");
    places.push_back(library / ".." / ".." / "bin"); // from lib/x86_64-linux-gnu
  }
  const char *const variable = std::getenv("PATH");
  const std::string path = variable ? variable : "";
  for (size_t begin = 0; begin < path.size();) {
    const size_t end = std::min(path.find(':', begin), path.size());
    places.push_back(path.substr(begin, end - begin));
    begin = end + 1;
  }
  return places;
}

[[noreturn]] void cannotStart(const std::string &program, int error) {
  throw Error(ErrorKind::Machine, std::string("cannot be started: ") + std::strerror(error),
              program, "build eider-worker, or set EIDER_WORKER to its path");
}

} // namespace

std::string findWorker() {
  if (const char *given = std::getenv("EIDER_WORKER"); given && *given) {
    if (!isProgram(given))
      throw Error(ErrorKind::Machine, "is no program", std::string("EIDER_WORKER=") + given,
                  "set it to the path of eider-worker, or unset it");
    return given;
  }
  for (const fs::path &place : placesOfWorker())
    if (isProgram(place / workerName))
      return place / workerName;
  throw Error(ErrorKind::Machine, "the program eider-worker, which measures, is not found", "tune",
              "put it beside eider, or set EIDER_WORKER to its path");
}

WorkerProcess::WorkerProcess(const std::string &program,
                             const std::vector<std::string> &arguments) {
  int sockets[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    cannotStart(program, errno);
  socket = sockets[0];
  complaints = ::memfd_create("eider-worker", MFD_CLOEXEC);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], STDIN_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, sockets[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, complaints, STDERR_FILENO);
  std::vector<char *> argv = {const_cast<char *>(program.c_str())};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  const int error = ::posix_spawn(&pid, program.c_str(), &actions, nullptr, argv.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(sockets[1]);
  if (error == 0)
    return;
  ::close(socket);
  ::close(complaints);
  cannotStart(program, error);
}

WorkerProcess::~WorkerProcess() {
  end();
  ::close(socket);
  ::close(complaints);
}

bool WorkerProcess::send(const std::string &line) {
  const std::string whole = line + "\n";
  for (size_t sent = 0; sent < whole.size();) {
    const ssize_t n = ::send(socket, whole.data() + sent, whole.size() - sent, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    sent += static_cast<size_t>(n);
  }
  return true;
}

WorkerProcess::Received WorkerProcess::receive(std::string &line,
                                               std::chrono::milliseconds timeout) {
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + timeout;
  while (true) {
    if (const size_t end = buffer.find('\n'); end != std::string::npos) {
      line = buffer.substr(0, end);
      buffer.erase(0, end + 1);
      return Received::Line;
    }
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    pollfd waiting = {socket, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, static_cast<int>(std::max<int64_t>(0, left)));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready == 0)
      return Received::TimedOut;
    char bytes[4096];
    const ssize_t n = ::recv(socket, bytes, sizeof(bytes), 0);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return Received::Ended;
    buffer.append(bytes, static_cast<size_t>(n));
  }
}

std::string WorkerProcess::lastComplaint() const {
  const off_t size = ::lseek(complaints, 0, SEEK_END);
  std::string text(static_cast<size_t>(std::clamp<off_t>(size, 0, 2000)), '\0');
  const ssize_t n =
      ::pread(complaints, text.data(), text.size(), size - static_cast<off_t>(text.size()));
  text.resize(static_cast<size_t>(std::max<ssize_t>(0, n)));
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text.substr(text.rfind('\n') + 1); // all of it where there is no newline
}

std::string WorkerProcess::end(const std::string &reasonToKill) {
  if (pid < 0)
    return ended;
  // What has closed its socket is about to end by itself, and says more then.
  int status = 0;
  pid_t waited = 0;
  for (int i = 0; reasonToKill.empty() && i < 100 && waited == 0; ++i) {
    ::shutdown(socket, SHUT_RDWR);
    if ((waited = ::waitpid(pid, &status, WNOHANG)) == 0)
      ::usleep(2000);
  }
  if (waited == 0) {
    ::kill(pid, SIGKILL);
    ::waitpid(pid, &status, 0);
  }
  pid = -1;
  if (!reasonToKill.empty())
    ended = reasonToKill;
  else if (WIFSIGNALED(status))
    ended = std::string("the worker died of: ") + ::strsignal(WTERMSIG(status));
  else
    ended = "the worker ended with status " + std::to_string(WEXITSTATUS(status));
  if (const std::string complaint = lastComplaint(); !complaint.empty())
    ended += " (" + complaint + ")";
  return ended;
}

} // namespace eider::tuning
