//===- tools/eider/CommandLine.cpp - From arguments to a request ----------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tools/eider/CommandLine.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>

namespace eider::cli {

namespace {

/// The parts of a comma-separated list; none of them empty.
std::vector<std::string> splitList(const std::string &option, const std::string &text) {
  std::vector<std::string> parts;
  for (size_t begin = 0; begin <= text.size();) {
    size_t end = std::min(text.find(',', begin), text.size());
    if (end == begin)
      throw Error(ErrorKind::Request, "an empty name in '" + text + "'", option,
                  "separate names by single commas");
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// Name and value of `name=value`.
std::pair<std::string, std::string> splitAssignment(const std::string &option,
                                                    const std::string &text) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size())
    throw Error(ErrorKind::Request, "'" + text + "' is not of the form name=value", option);
  return {text.substr(0, equals), text.substr(equals + 1)};
}

int64_t parseExtent(const std::string &assignment, const std::string &text) {
  int64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0)
    throw Error(ErrorKind::Request, "'" + text + "' is not a whole number from 0 to 2^63 - 1",
                "--dim " + assignment);
  return value;
}

/// An option that may be repeated, each time with a `name=value`.
void addAssignments(CLI::App &app, const std::string &option, const std::string &description,
                    const std::function<void(const std::string &name, const std::string &value,
                                             const std::string &text)> &take) {
  app.add_option_function<std::vector<std::string>>(
         option,
         [=](const std::vector<std::string> &texts) {
           std::vector<std::string> seen;
           for (const std::string &text : texts) {
             auto [name, value] = splitAssignment(option, text);
             if (std::ranges::find(seen, name) != seen.end())
               throw Error(ErrorKind::Request, "'" + name + "' is given twice", option);
             seen.push_back(name);
             take(name, value, text);
           }
         },
         description)
      ->type_name("NAME=VALUE")
      ->allow_extra_args(false);
}

void addParams(CLI::App &app, ProgramRequest &request) {
  OpParameters &parameters = request.parameters;
  app.add_option("--dtype", parameters.dtype, "bf16, f16 or f32");
  app.add_option("--format", parameters.format,
                 "e4m3, e5m2, e4m3fnuz, e5m2fnuz, e2m1; attention_decode, kv_append, embedding, "
                 "moe_unpermute: bf16, f16 too");
  app.add_option("--block", parameters.block,
                 "What one scale covers: 1x128, 128x128, 1x* (a row), *x* (the tensor), …");
  app.add_option(
      "--from-format", parameters.fromFormat,
      "Of a scaled x (requantize, …scaled_matmul), or what attention reads where y is codes "
      "(attention_decode_quant: bf16, f16 too): e4m3, …");
  app.add_option("--from-block", parameters.fromBlock,
                 "Of a scaled x (requantize, …scaled_matmul): 1x128, …");
  app.add_option("--from-scale", parameters.fromScale,
                 "Of a scaled x (requantize, …scaled_matmul): f32, …");
  app.add_option("--from-scale-layout", parameters.fromScaleLayout,
                 "Of requantize's x: row_major, …");
  app.add_option(
      "--scale", parameters.scale,
      "Type of the scales: f32, bf16, f16, e8m0, or e4m3 with a second level that is given "
      "(y_global_scale, one f32)");
  app.add_option("--scale-layout", parameters.scaleLayout,
                 "row_major, mn_major_aligned, packed_ue8m0, swizzled_128x4 or te_gemm_ready");
  app.add_option("--scale-source", parameters.scaleSource,
                 "dynamic (from the data) or static (the input `scale`)");
  app.add_option("--mode", parameters.mode, "Numerics of a peer: default, deepgemm, vllm_group, …");
  app.add_option("--index", parameters.index, "Type of what chooses rows: i64 or i32");
  app.add_option("--copy", parameters.copy,
                 "Type of a second output, `copy`: y before it is quantised (none, bf16, …)");
  app.add_option("--transposed", parameters.transposed,
                 "yes: a second output, `yt`: the transpose, quantised in the same blocks");
  app.add_option("--amax", parameters.amax,
                 "yes: an output `amax`: the largest |y| before it is quantised, of one read");
  app.add_option("--codec", request.codec, "auto, hardware or software");
  app.add_option("--schedule", request.schedule, "As `eider explain` prints it: row<threads = …>");
  addAssignments(
      app, "--dim", "An extent, made static: hidden=7168",
      [&request](const std::string &name, const std::string &value, const std::string &text) {
        request.dims[name] = parseExtent(text, value);
      });
  addAssignments(app, "--set",
                 "A scalar (eps=1e-6) or one parameter of the numerics over the mode (nan=ignore)",
                 [&request](const std::string &name, const std::string &value,
                            const std::string &) { request.settings[name] = value; });
}

void addProgram(CLI::App &app, ProgramRequest &request) {
  app.add_option("program", request.source, "An op of `eider list`, or a file of the eider dialect")
      ->type_name("OP|FILE.mlir")
      ->required();
  addParams(app, request);
}

void addStage(CLI::App &app, EmitRequest &request) {
  app.add_option_function<std::string>(
      "--stage",
      [&request](const std::string &name) {
        if (name == "eider")
          request.stage = Stage::Eider;
        else if (name == "simt")
          request.stage = Stage::Simt;
        else if (name == "cuda")
          request.stage = Stage::Cuda;
        else
          throw Error(ErrorKind::Request, "unknown stage '" + name + "'", "--stage",
                      "give eider, simt or cuda");
      },
      "eider (what), simt (how) or cuda (the text; what is shown unless told otherwise)");
}

void addKinds(CLI::App &app, BuildRequest &request) {
  app.add_option_function<std::string>(
         "--emit",
         [&request](const std::string &list) {
           for (const std::string &kind : splitList("--emit", list)) {
             if (kind != "cu" && kind != "ptx" && kind != "cubin" && kind != "fatbin" &&
                 kind != "header" && kind != "cache")
               throw Error(ErrorKind::Request, "unknown kind '" + kind + "'", "--emit",
                           "give cu, ptx, cubin, fatbin, header or cache");
             if (std::ranges::find(request.kinds, kind) == request.kinds.end())
               request.kinds.push_back(kind);
           }
         },
         "What to make: cu,ptx,cubin,fatbin,header; cache: what `run` and jit() load, to the cache")
      ->required();
}

void addArchs(CLI::App &app, BuildRequest &request) {
  app.add_option_function<std::string>(
         "--arch",
         [&request](const std::string &list) {
           for (const std::string &arch : splitList("--arch", list))
             if (std::ranges::find(request.archs, arch) == request.archs.end())
               request.archs.push_back(arch);
         },
         "The targets: sm_80,sm_90a")
      ->required();
}

/// What the kinds of files ask of the other options.
void checkKinds(const BuildRequest &request) {
  const auto caches = std::ranges::count(request.kinds, "cache");
  if (caches != 0 && !request.cache)
    throw Error(ErrorKind::Request, "'cache' with --no-cache makes nothing", "--emit",
                "leave one of them out");
  if (request.directory.empty() && caches != std::ssize(request.kinds))
    throw Error(ErrorKind::Request, "--output is required", "", "give -o DIR");
}

template <typename CachedRequest> void addCacheFlags(CLI::App &app, CachedRequest &request) {
  CLI::Option *none =
      app.add_flag("!--no-cache", request.cache, "Neither read nor write the cache");
  app.add_flag("--why-miss", request.whyMiss,
               "Of what the cache lacks: how the nearest entry's key differs, on standard error")
      ->excludes(none);
}

/// All requests that a command line could be, of which it becomes one.
struct Requests {
  DevicesRequest devices;
  ListRequest list;
  EmitRequest emit;
  BuildRequest build;
  RunRequest run;
  ExplainRequest explain;
  CacheRequest cache;
  BenchRequest bench;
  TuneRequest tune;
  ReportRequest report;
};

void addInspection(CLI::App &app, Requests &requests, std::optional<Request> &chosen) {
  CLI::App *devices = app.add_subcommand("devices", "host, and each GPU with what it can do");
  devices->add_flag("--json", requests.devices.json, "For a script");
  devices->final_callback([&] { chosen = requests.devices; });

  CLI::App *list = app.add_subcommand("list", "The ops: parameters, inputs and outputs of each");
  list->add_flag("--json", requests.list.json, "For a script");
  list->final_callback([&] { chosen = requests.list; });

  CLI::App *explain = app.add_subcommand("explain", "Which schedule a program gets, and why");
  addProgram(*explain, requests.explain.program);
  explain->add_option("--arch", requests.explain.arch, "The target: sm_90, …")->required();
  explain->final_callback([&] { chosen = requests.explain; });
}

void addProduction(CLI::App &app, Requests &requests, std::optional<Request> &chosen) {
  CLI::App *emit = app.add_subcommand("emit", "Shows a program at a stage of its compilation");
  addProgram(*emit, requests.emit.program);
  emit->add_option("--arch", requests.emit.arch, "The target: sm_90, …, or host")->required();
  addStage(*emit, requests.emit);
  emit->add_option("-o,--output", requests.emit.output, "A file instead of standard output");
  emit->add_flag("--timings", requests.emit.timings, "Time of each pass, on standard error");
  emit->final_callback([&] { chosen = requests.emit; });

  CLI::App *build = app.add_subcommand("build", "Compiles a program for targets, without a GPU");
  addProgram(*build, requests.build.program);
  addArchs(*build, requests.build);
  addKinds(*build, requests.build);
  build->add_option("-o,--output", requests.build.directory,
                    "A directory; made if absent; `--emit cache` alone needs none");
  build
      ->add_option("--name", requests.build.name,
                   "Of the files and the C functions, instead of the program's")
      ->check(CLI::Validator(
          [](const std::string &name) {
            return name.find('/') == name.npos
                       ? ""
                       : "'" + name + "' is a path: give the directory by -o";
          },
          ""));
  addCacheFlags(*build, requests.build);
  build->final_callback([&] {
    checkKinds(requests.build);
    chosen = requests.build;
  });

  CLI::App *run = app.add_subcommand("run", "Runs a program on tensors of a file");
  addProgram(*run, requests.run.program);
  run->add_option("--device", requests.run.device, "host, cuda or cuda:N")->required();
  run->add_option("--in", requests.run.input, "A safetensors file with the inputs")->required();
  run->add_option("--out", requests.run.output, "The safetensors file to write")->required();
  run->add_flag("--check", requests.run.check, "Compare with the reference");
  addCacheFlags(*run, requests.run);
  run->add_option("--seed", requests.run.seed, "Of the order in which `host` runs threads")
      ->check(CLI::Range(int64_t{0}, INT64_MAX));
  run->final_callback([&] { chosen = requests.run; });
}

void addMeasurement(CLI::App &app, Requests &requests, std::optional<Request> &chosen) {
  CLI::App *bench = app.add_subcommand("bench", "Times ops beside a memcpy of the same bytes");
  BenchRequest &request = requests.bench;
  bench->add_option("program", request.sources, "Ops or files; none: all that is measured")
      ->type_name("OP|FILE.mlir");
  addParams(*bench, request.params);
  bench->add_option("--device", request.device, "cuda, cuda:N, or host (no measure of a GPU)")
      ->required();
  CLI::Option *file = bench->add_option("--json", request.json, "The file of results to write");
  bench
      ->add_flag("--again", request.again,
                 "Joins the cells of FILE, which another process measured")
      ->needs(file);
  bench->add_option("--only", request.only,
                    "Only cells with this, or one of these between |, in "
                    "op/dtype/format/block/.../codec/tokensxhidden");
  bench->add_option("--l2", request.l2, "The cache before a launch: cold, warm or both")
      ->check(CLI::IsMember({"cold", "warm", "both"}));
  bench->add_option("--rounds", request.rounds, "Of which medians are taken")
      ->check(CLI::Range(1, 10000));
  bench
      ->add_option("--padding", request.padding,
                   "Elements between the rows of matrices that are read: what strides cost")
      ->check(CLI::Range(0, 1 << 20));
  bench->add_flag("--sweep", request.sweep, "Tries many schedules a cell");
  bench->add_flag("--beside-copy", request.besideCopy,
                  "Also beside a copy kernel with as many reads and writes");
  bench->final_callback([&] { chosen = requests.bench; });

  CLI::App *report = app.add_subcommand("report", "Results of benchmarks as one page of HTML");
  report->add_option("files", requests.report.files, "Results, as bench --json writes them")
      ->type_name("FILE.json")
      ->required();
  report->add_option("-o,--output", requests.report.output, "The page to write")->required();
  report->final_callback([&] { chosen = requests.report; });
}

void addCache(CLI::App &app, CacheRequest &request, std::optional<Request> &chosen) {
  using Action = CacheRequest::Action;
  CLI::App *cache = app.add_subcommand("cache", "What the cache holds; to check, clear or move it");
  cache->require_subcommand(1);
  const auto add = [&](const char *name, Action action, const char *description) {
    CLI::App *command = cache->add_subcommand(name, description);
    command->final_callback([&request, &chosen, action] {
      request.action = action;
      chosen = request;
    });
    return command;
  };
  add("stat", Action::Stat, "Its place, entries, size and limit")
      ->add_flag("--json", request.json, "For a script");
  add("verify", Action::Verify, "Reads every entry; names those that are damaged");
  add("clear", Action::Clear, "Removes every entry; tuning records stay");
  add("export", Action::Export, "Writes the entries and tuning records to one file")
      ->add_option("file", request.file, "The file to write")
      ->required();
  add("import", Action::Import, "Verifies such a file and stores what it holds")
      ->add_option("file", request.file, "The file to read")
      ->required();
}

void addTuning(CLI::App &app, Requests &requests, std::optional<Request> &chosen) {
  CLI::App *tune = app.add_subcommand("tune", "Measures schedules and records the best");
  TuneRequest &request = requests.tune;
  tune->add_option("program", request.sources, "Ops or files")
      ->type_name("OP|FILE.mlir")
      ->required();
  addParams(*tune, request.params);
  tune->add_option("--shapes", request.shapes,
                   "Extents in the order of the dims: 16384x8192,4096x4096");
  tune->add_option("--device", request.device, "cuda:N, several with commas, all (GPUs) or host")
      ->required();
  tune->add_option("--budget", request.budget, "Seconds, after which nothing is begun")
      ->check(CLI::Validator(
          [](const std::string &seconds) {
            return std::strtod(seconds.c_str(), nullptr) > 0 ? ""
                                                             : "give a number above 0, of seconds";
          },
          ""));
  CLI::Option *candidates =
      tune->add_option("--candidates", request.candidates, "Schedules a cell, at most")
          ->check(CLI::Range(1, 1000));
  CLI::Option *schedules =
      tune->add_option(
              "--try", request.schedules,
              "Measure this schedule beside the heuristic's and the record's, and no others")
          ->type_name("SCHEDULE")
          ->allow_extra_args(false)
          ->excludes(candidates);
  CLI::Option *again = tune->add_flag("--again", request.again, "Measure what has a record, too");
  tune->add_flag("--verify", request.verify,
                 "Measure records beside the heuristic's schedules; exit status 1 if one is slower")
      ->excludes(again)
      ->excludes(schedules);
  tune->add_option("--shard", request.shard, "I/N: every N-th cell; else by SLURM's or MPI's rank");
  tune->add_option("--json", request.json, "The file of results to write");
  tune->add_flag("--verbose", request.verbose, "A line for each schedule, too");
  tune->final_callback([&] { chosen = requests.tune; });
}

/// CLI11's message on one line.
std::string oneLine(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  std::ranges::replace(text, '\n', ' ');
  return text;
}

/// Says in one line what CLI11 found wrong.
[[noreturn]] void complain(const CLI::App &app, const CLI::ParseError &error,
                           const std::string &first) {
  auto commands = app.get_subcommands();
  if (commands.empty() && !first.empty() && first.front() != '-')
    throw Error(ErrorKind::Request, "unknown command '" + first + "'", "", "see eider --help");
  throw Error(ErrorKind::Request, oneLine(error.what()), "",
              "see eider " + (commands.empty() ? "" : commands.front()->get_name() + " ") +
                  "--help");
}

} // namespace

std::optional<Request> parseCommandLine(int argc, const char *const *argv, std::string &help) {
  CLI::App app("Describe a memory-bound op once; get the CUDA kernel for every FP8 format and GPU.",
               "eider");
  app.set_version_flag("--version", std::string("eider ") + EIDER_VERSION);
  app.require_subcommand(1);
  Requests requests;
  std::optional<Request> chosen;
  addInspection(app, requests, chosen);
  addProduction(app, requests, chosen);
  addCache(app, requests.cache, chosen);
  addMeasurement(app, requests, chosen);
  addTuning(app, requests, chosen);
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp &) {
    help = app.help();
  } catch (const CLI::CallForAllHelp &) {
    help = app.help("", CLI::AppFormatMode::All);
  } catch (const CLI::CallForVersion &) {
    help = app.version() + "\n";
  } catch (const CLI::ParseError &error) {
    complain(app, error, argc > 1 ? argv[1] : "");
  }
  return chosen;
}

} // namespace eider::cli
