//===- tools/eider/TuneCells.cpp - What a sweep measures ------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/TuneCells.h"

#include "tools/eider/ProgramSource.h"
#include "tools/eider/Text.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

namespace eider::cli {

namespace {

int64_t parsePositive(const std::string &text, const std::string &what, const std::string &where) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1)
    throw Error(ErrorKind::Request, "'" + text + "' is no " + what, where, "give 1 or more");
  return value;
}

/// A parameter whose values a sweep goes through.
struct Axis {
  const char *name; ///< In OpInfo::parameters; empty: every program has it.
  std::string &(*field)(ProgramRequest &);
};

const Axis axes[] = {
    {"dtype", [](ProgramRequest &r) -> std::string & { return r.parameters.dtype; }},
    {"format", [](ProgramRequest &r) -> std::string & { return r.parameters.format; }},
    {"block", [](ProgramRequest &r) -> std::string & { return r.parameters.block; }},
    {"fromFormat", [](ProgramRequest &r) -> std::string & { return r.parameters.fromFormat; }},
    {"fromBlock", [](ProgramRequest &r) -> std::string & { return r.parameters.fromBlock; }},
    {"fromScale", [](ProgramRequest &r) -> std::string & { return r.parameters.fromScale; }},
    {"fromScaleLayout",
     [](ProgramRequest &r) -> std::string & { return r.parameters.fromScaleLayout; }},
    {"scale", [](ProgramRequest &r) -> std::string & { return r.parameters.scale; }},
    {"scaleLayout", [](ProgramRequest &r) -> std::string & { return r.parameters.scaleLayout; }},
    {"scaleSource", [](ProgramRequest &r) -> std::string & { return r.parameters.scaleSource; }},
    {"mode", [](ProgramRequest &r) -> std::string & { return r.parameters.mode; }},
    {"index", [](ProgramRequest &r) -> std::string & { return r.parameters.index; }},
    {"copy", [](ProgramRequest &r) -> std::string & { return r.parameters.copy; }},
    {"transposed", [](ProgramRequest &r) -> std::string & { return r.parameters.transposed; }},
    {"amax", [](ProgramRequest &r) -> std::string & { return r.parameters.amax; }},
    {"", [](ProgramRequest &r) -> std::string & { return r.codec; }},
};

bool takes(const std::string &source, const std::string &parameter) {
  if (parameter.empty())
    return true;
  for (const OpInfo &op : libraryOps())
    if (op.name == source)
      return std::ranges::find(op.parameters, parameter) != op.parameters.end();
  return true; // a file, or no op: makeProgram() says so
}

/// One request for each combination of the values that its parameters list.
std::vector<ProgramRequest> combinations(ProgramRequest request, bool several) {
  std::vector<ProgramRequest> all = {request};
  for (const Axis &axis : axes) {
    const std::vector<std::string> values = split(axis.field(request), ',');
    std::vector<ProgramRequest> more;
    for (ProgramRequest &one : all)
      for (const std::string &value : values) {
        // With several ops, each takes of the parameters what it has.
        const bool known = takes(request.source, axis.name) || !several;
        axis.field(one) = known ? value : "";
        more.push_back(one);
        if (!known)
          break;
      }
    all = std::move(more);
  }
  return all;
}

/// The dims of a shape like 16384x8192, in the program's order, beside those that are given.
Dims dimsOf(const Program &program, const Dims &given, const std::string &shape) {
  Dims dims;
  std::vector<std::string> open;
  for (const Signature::NamedDim &dim : program.signature().dims) {
    if (auto value = given.find(dim.name); value != given.end())
      dims[dim.name] = value->second;
    else if (dim.value)
      dims[dim.name] = *dim.value;
    else
      open.push_back(dim.name);
  }
  if (shape.empty() && !open.empty())
    throw Error(ErrorKind::Request, "the dim '" + open.front() + "' has no value", program.name(),
                "give --shapes " + join(open, "x") + ",…");
  if (shape.empty())
    return dims;
  const std::vector<std::string> extents = split(shape, 'x');
  if (extents.size() != open.size())
    throw Error(ErrorKind::Request,
                "'" + shape + "' has " + std::to_string(extents.size()) + " extents where " +
                    program.name() + " has " + std::to_string(open.size()) + " dims (" +
                    join(open) + ")",
                "--shapes");
  for (size_t i = 0; i < open.size(); ++i)
    dims[open[i]] = parsePositive(extents[i], "extent", "--shapes " + shape);
  return dims;
}

std::string nameOf(const ProgramRequest &request) {
  std::string name = request.source;
  for (const Axis &axis : axes)
    if (const std::string &value = axis.field(const_cast<ProgramRequest &>(request));
        !value.empty())
      name += "/" + value;
  std::vector<std::string> extents;
  for (const auto &[dim, extent] : request.dims)
    extents.push_back(dim + "=" + std::to_string(extent));
  return name + " " + join(extents, " ");
}

const char *variable(std::initializer_list<const char *> names) {
  for (const char *name : names)
    if (const char *value = std::getenv(name); value && *value)
      return value;
  return nullptr;
}

} // namespace

Shard shardFor(const TuneRequest &request) {
  if (!request.shard.empty()) {
    const std::vector<std::string> parts = split(request.shard, '/');
    if (parts.size() != 2)
      throw Error(ErrorKind::Request, "'" + request.shard + "' is not of the form I/N", "--shard");
    const Shard shard{parsePositive(parts[0], "shard", "--shard " + request.shard) - 1,
                      parsePositive(parts[1], "number of shards", "--shard " + request.shard)};
    if (shard.index >= shard.count)
      throw Error(ErrorKind::Request, "'" + request.shard + "' is past the last shard", "--shard",
                  "give 1/N to N/N");
    return shard;
  }
  const char *rank = variable({"SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK"});
  const char *size = variable({"SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE"});
  if (!rank || !size)
    return {};
  const Shard shard{std::atoll(rank), std::atoll(size)};
  if (shard.index < 0 || shard.count < 1 || shard.index >= shard.count)
    throw Error(ErrorKind::Request,
                std::string("rank ") + rank + " of " + size + " in the environment is none",
                "--shard", "give --shard 1/1 to do without");
  return shard;
}

std::vector<TuneCell> cellsFor(const TuneRequest &request) {
  std::vector<TuneCell> cells;
  const std::vector<std::string> shapes =
      request.shapes.empty() ? std::vector<std::string>{""} : split(request.shapes, ',');
  for (const std::string &source : request.sources)
    for (const std::string &shape : shapes) {
      ProgramRequest params = request.params;
      params.source = source;
      for (ProgramRequest &one : combinations(params, request.sources.size() > 1)) {
        Program program = makeProgram(one).program;
        one.dims = dimsOf(program, request.params.dims, shape);
        optionsFor(one, program, "host"); // says so when a dim is none of the program's
        std::string name = nameOf(one);
        cells.push_back({std::move(one), std::move(program), std::move(name)});
      }
    }
  const Shard shard = shardFor(request);
  std::vector<TuneCell> mine;
  for (size_t i = 0; i < cells.size(); ++i)
    if (static_cast<int64_t>(i) % shard.count == shard.index)
      mine.push_back(std::move(cells[i]));
  return mine;
}

} // namespace eider::cli
