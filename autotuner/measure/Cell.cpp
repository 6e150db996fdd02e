//===- measure/Cell.cpp - One cell, run by a worker -----------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "autotuner/measure/Cell.h"

#include <nlohmann/json.hpp>

namespace eider::tuning {

using nlohmann::json;
using Received = WorkerProcess::Received;

namespace {

std::string secondsText(std::chrono::milliseconds time) {
  std::string text = std::to_string(static_cast<double>(time.count()) / 1000);
  return text.substr(0, text.find('.') + 2) + " s";
}

ErrorKind kindNamed(const std::string &name) {
  return name == "request"   ? ErrorKind::Request
         : name == "machine" ? ErrorKind::Machine
                             : ErrorKind::Internal;
}

/// A worker's line; an empty object for what is none.
json parsed(const std::string &line) {
  json event = json::parse(line, nullptr, false);
  return event.is_object() ? event : json::object();
}

void takeResult(const json &event, CellOutcome &outcome) {
  outcome.bytes = event.at("bytes");
  outcome.memcpyTime = event.at("memcpy");
  for (const json &run : event.at("runs"))
    outcome.runs.push_back({run.at("id"), run.at("us"), run.at("spread")});
}

} // namespace

WorkerHost::WorkerHost(std::string device, Patience patience)
    : device(std::move(device)), patience(patience) {}

void WorkerHost::start() {
  worker =
      std::make_unique<WorkerProcess>(findWorker(), std::vector{device, scratch.path().string()});
  std::string line;
  const Received received = worker->receive(line, patience.other);
  const json event = received == Received::Line ? parsed(line) : json::object();
  const std::string kind = event.value("event", "");
  if (kind == "ready") {
    target_ = event.value("target", "");
    return;
  }
  const std::string how = worker->end(received == Received::TimedOut ? "it does not answer" : "");
  worker.reset();
  if (kind == "error")
    throw Error(kindNamed(event.value("kind", "")), event.value("why", ""));
  throw Error(ErrorKind::Machine, "the worker does not start: " + how, device);
}

std::string WorkerHost::target() {
  if (!worker)
    start();
  return target_;
}

/// Ends the worker, for which `running` is to blame.
void WorkerHost::lose(const CellRequest &request, CellOutcome &outcome, int running,
                      const std::string &why) {
  worker.reset();
  if (running < 0)
    throw Error(ErrorKind::Internal, why, "tuning on " + device);
  if (running == request.candidates.front().id)
    throw Error(ErrorKind::Internal, "the heuristic's kernel: " + why,
                request.candidates.front().schedule);
  outcome.rejected[running] = why;
}

/// One worker's try. False if a candidate took it down: try again without.
bool WorkerHost::attempt(const CellRequest &request, CellOutcome &outcome) {
  if (!worker)
    start();
  int running = -1;
  std::string line;
  if (!worker->send(toLine(request))) {
    lose(request, outcome, -1, worker->end());
    return false;
  }
  while (true) {
    const Received received =
        worker->receive(line, running < 0 ? patience.other : patience.candidate);
    if (received == Received::TimedOut) {
      lose(request, outcome, running,
           worker->end("it did not end within " +
                       secondsText(running < 0 ? patience.other : patience.candidate)));
      return false;
    }
    if (received == Received::Ended) {
      lose(request, outcome, running, worker->end());
      return false;
    }
    try {
      const json event = parsed(line);
      const std::string kind = event.at("event");
      if (kind == "start") {
        running = event.at("id");
      } else if (kind == "measured") {
        outcome.measured[event.at("id")] = event.at("us");
        running = -1;
      } else if (kind == "dropped" || kind == "failed") {
        outcome.rejected[event.at("id")] = event.at("why");
        running = -1;
      } else if (kind == "fault") {
        lose(request, outcome, event.at("id"), event.at("why"));
        return false;
      } else if (kind == "result") {
        takeResult(event, outcome);
        return true;
      } else if (kind == "refused") {
        outcome.refused = event.at("why");
        return true;
      } else if (kind == "error") {
        throw Error(kindNamed(event.at("kind")), event.at("why"));
      }
    } catch (const json::exception &) {
      lose(request, outcome, running, "the worker talks nonsense: " + line.substr(0, 80));
      return false;
    }
  }
}

CellOutcome WorkerHost::run(CellRequest request) {
  CellOutcome outcome;
  while (!attempt(request, outcome)) {
    outcome.runs.clear();
    outcome.measured.clear();
    std::erase_if(request.candidates, [&](const CandidateRequest &candidate) {
      return outcome.rejected.contains(candidate.id);
    });
  }
  return outcome;
}

} // namespace eider::tuning
