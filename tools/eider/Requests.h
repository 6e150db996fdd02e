//===- tools/eider/Requests.h - What a command line asks for ----*- C++ -*-===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#ifndef EIDER_TOOLS_EIDER_REQUESTS_H
#define EIDER_TOOLS_EIDER_REQUESTS_H

#include "eider/compile.h"

#include <cstdint>
#include <map>
#include <string>
#include <variant>
#include <vector>

namespace eider::cli {

/// A program and how to specialise it: OP|FILE.mlir and the params.
struct ProgramRequest {
  std::string source;                          ///< An op's name, or a path that ends in `.mlir`.
  OpParameters parameters;                     ///< Of a library op; all but its numerics.
  std::map<std::string, std::string> settings; ///< --set: scalars and numerics parameters.
  std::map<std::string, int64_t> dims;
  std::string codec = "auto";
  std::string schedule;
};

struct DevicesRequest {
  bool json = false;
};

struct ListRequest {
  bool json = false;
};

struct EmitRequest {
  ProgramRequest program;
  std::string arch;
  Stage stage = Stage::Cuda;
  std::string output; ///< Empty: standard output.
  bool timings = false;
};

struct BuildRequest {
  ProgramRequest program;
  std::vector<std::string> archs;
  std::vector<std::string> kinds; ///< `cu`, `ptx`, `cubin`, `fatbin`, `header`, `cache`
  std::string directory;          ///< Empty if the only kind is `cache`.
  std::string name;               ///< Of the files; empty: the program's.
  bool cache = true;
  bool whyMiss = false;
};

struct RunRequest {
  ProgramRequest program;
  std::string device;
  std::string input;
  std::string output;
  bool check = false;
  bool cache = true;
  bool whyMiss = false;
  uint64_t seed = 0;
};

struct BenchRequest {
  std::vector<std::string> sources; ///< Ops or files; none: the cells of bench/results/.
  ProgramRequest params;            ///< Of each of them; its source is empty.
  std::string device;
  std::string json;        ///< The file of results; empty: none.
  std::string only;        ///< Parts of cells' names, between |.
  std::string l2 = "both"; ///< `cold`, `warm`
  int rounds = 30;
  int64_t padding = 0; ///< Elements from the end of a matrix's row to the next.
  bool sweep = false;
  bool again = false;      ///< `json` is there, and what another process measured is joined.
  bool besideCopy = false; ///< Also beside a kernel that only reads and writes, as much of each.
};

struct TuneRequest {
  std::vector<std::string> sources; ///< Ops or files.
  ProgramRequest params;            ///< Of each of them; values may be lists with commas.
  std::string shapes;               ///< `16384x8192,4096x4096`
  std::string device;               ///< An id, several with commas, or `all`.
  std::string shard;                ///< `I/N`; empty: from the environment, else everything.
  std::string json;                 ///< The file of results; empty: none.
  double budget = 0;                ///< seconds; 0: as long as it takes
  int candidates = 16;
  std::vector<std::string> schedules; ///< Beside the heuristic's; empty: the tuner's choice.
  bool again = false;
  bool verify = false; ///< Measures what has a record beside the heuristic's, and records nothing.
  bool verbose = false;
};

struct CacheRequest {
  enum class Action { Stat, Verify, Clear, Export, Import };
  Action action = Action::Stat;
  bool json = false;
  std::string file; ///< Of an export or import.
};

struct ReportRequest {
  std::vector<std::string> files; ///< Of bench/results/'s schema.
  std::string output;
};

struct ExplainRequest {
  ProgramRequest program;
  std::string arch;
};

using Request = std::variant<CacheRequest, DevicesRequest, ListRequest, EmitRequest, BuildRequest,
                             RunRequest, ExplainRequest, BenchRequest, ReportRequest, TuneRequest>;

/// Carries a request out; results go to standard output. Gives the exit status: 0, or 1 when a
/// check failed. Throws Error.
int carryOut(const DevicesRequest &request);
int carryOut(const ListRequest &request);
int carryOut(const EmitRequest &request);
int carryOut(const BuildRequest &request);
int carryOut(const RunRequest &request);
int carryOut(const ExplainRequest &request);
int carryOut(const CacheRequest &request);
int carryOut(const BenchRequest &request);
int carryOut(const TuneRequest &request);
int carryOut(const ReportRequest &request);

} // namespace eider::cli

#endif // EIDER_TOOLS_EIDER_REQUESTS_H
