//===- measure/WorkerProcess.h - A worker, watched --------------*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_AUTOTUNER_MEASURE_WORKERPROCESS_H
#define EIDER_AUTOTUNER_MEASURE_WORKERPROCESS_H

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

namespace eider::tuning {

/// The path of eider-worker: `EIDER_WORKER`, else beside this program, else beside or in ../bin of
/// the library that holds the compiler, else on the PATH. Throws Error (Machine).
std::string findWorker();

/// A process started by exec, never a fork of this one's memory: the caller may use CUDA. Lines go
/// both ways over one socket. Not thread-safe.
class WorkerProcess {
public:
  /// Throws Error (Machine) if it cannot be started.
  WorkerProcess(const std::string &program, const std::vector<std::string> &arguments);
  /// Kills it.
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess &) = delete;
  WorkerProcess &operator=(const WorkerProcess &) = delete;

  /// False if it has ended.
  bool send(const std::string &line);

  enum class Received { Line, TimedOut, Ended };
  Received receive(std::string &line, std::chrono::milliseconds timeout);

  /// Kills it if it runs; how it ended, in words, with the last line that it complained.
  std::string end(const std::string &reasonToKill = "");

private:
  std::string lastComplaint() const;

  pid_t pid = -1;
  int socket = -1, complaints = -1;
  std::string buffer;
  std::string ended;
};

} // namespace eider::tuning

#endif // EIDER_AUTOTUNER_MEASURE_WORKERPROCESS_H
