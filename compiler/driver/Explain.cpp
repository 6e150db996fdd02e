//===- Explain.cpp - Which schedule, and why ------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compilation.h"
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Space.h"
#include "compiler/transforms/Targets.h"

#include "llvm/ADT/StringExtras.h"

#include <map>

using namespace mlir;
using namespace eider;
using namespace eider::driver;
using eider::transforms::VariantKind;

namespace {
/// `1234` or `tokens * 16384`: bytes of the kernel's tensors that stream through memory once.
std::string bytesOf(ir::ProgramOp program, bool written) {
  std::string text;
  auto add = [&](Type type) {
    std::string term =
        std::to_string(std::max(1u, cast<RankedTensorType>(type).getElementTypeBitWidth() / 8));
    for (const ir::DimExpr &dim : ir::dimsInMemory(cast<RankedTensorType>(type))) {
      int64_t value = dim.extent(dim.name ? program.getDimValue(dim.name) : 0);
      if (value != 1)
        term += " * " +
                (ShapedType::isDynamic(value) ? dim.contractExpression() : std::to_string(value));
    }
    text += (text.empty() ? "" : " + ") + term;
  };
  for (Operation &op : program.getBlock()) {
    if (!written && isa<ir::InputOp, ir::InOutOp>(op))
      add(op.getResult(0).getType());
    if (written && isa<ir::OutputOp, ir::StoreOp>(op))
      add(op.getOperand(0).getType());
  }
  return text.empty() ? "0" : text;
}

/// Schedules that a person might ask for, and what the program says to them.
std::string rejections(ir::ProgramOp program, const transforms::Domain &domain) {
  std::string text;
  for (const char *other : {"map<threads = 256, vector = 16>", "row<threads = 256, vector = 16>",
                            "row<threads = 32, vector = 16, rows = 8>",
                            "tile<threads = 256, vector = 16, rows = 128, columns = 128>"}) {
    std::string message;
    auto schedule = ir::ScheduleAttr::parse(program.getContext(), other, message);
    if (schedule && !transforms::tileOf(schedule, domain, message))
      text += "  rejected  " + message + "\n";
  }
  return text;
}

/// How large the space is, and what the model prunes of it, for what reason.
std::string spaceOf(ir::ProgramOp program, const transforms::Domain &domain) {
  std::map<std::string, int> pruned;
  int legal = 0, worthwhile = 0;
  for (const transforms::ScheduleOption &option :
       transforms::scheduleSpace(program.getScheduleAttr(), domain, {})) {
    ++legal;
    if (option.pruned.empty())
      ++worthwhile;
    else
      ++pruned[option.pruned];
  }
  std::string text = "  space     " + std::to_string(legal) + " legal schedules tried, " +
                     std::to_string(worthwhile) + " worth measuring\n";
  for (const auto &[why, count] : pruned)
    text += "  pruned    " + std::to_string(count) + ": " + why + "\n";
  return text;
}
} // namespace

/// What serves many rows of any number.
static std::string largeOf(Compilation &compilation) {
  ir::ProgramOp main = transforms::mainProgram(compilation.scheduled(VariantKind::uneven_large));
  return "uneven_large (the same, of any number of rows from " +
         std::to_string(transforms::largeRowsOf(*transforms::Domain::of(main))) +
         " on: " + main.getScheduleAttr().str() + "), then ";
}

/// Which variants there are, and what serves few rows, or what all blocks together hold, where that
/// is another schedule.
static std::string variantsOf(Compilation &compilation) {
  std::string text;
  const std::vector<VariantKind> kinds = compilation.variants();
  auto has = [&](VariantKind kind) { return llvm::is_contained(kinds, kind); };
  auto schedules = [&](VariantKind kind) {
    std::string all;
    for (auto program : compilation.scheduled(kind).getOps<ir::ProgramOp>())
      if (!program->hasAttr(transforms::ofWholeName))
        all += " " + program.getScheduleAttr().str();
    return all;
  };
  for (VariantKind kind : kinds) {
    if (kind == VariantKind::contiguous)
      return text + "contiguous (row-major, aligned), then " +
             (has(VariantKind::uneven_large) ? largeOf(compilation) : "") +
             (has(VariantKind::uneven) ? "uneven (the same, of any number of rows), then " : "") +
             (has(VariantKind::aligned) ? "aligned (any row stride, aligned), then " : "") +
             "general (any row stride, any alignment" +
             (schedules(VariantKind::general) == schedules(VariantKind::contiguous)
                  ? ""
                  : ":" + schedules(VariantKind::general)) +
             ")";
    text += transforms::nameOf(kind);
    text += transforms::isCooperative(kind)
                ? " (one kernel, of matrices that all blocks hold at once:"
                : " (at most " + std::to_string(compilation.mostRowsOf(kind)) + " rows:";
    text += schedules(kind) + "), then ";
  }
  return text;
}

/// Whether the program multiplies rows that a kernel before it leaves.
static bool multipliesComputed(ir::ProgramOp program) {
  return llvm::any_of(program.getOps<ir::ContractOp>(), [](ir::ContractOp op) {
    auto rows = op.getVector().getDefiningOp<ir::InputOp>();
    return op.isOfMatrices() && rows && rows.getWorkspace();
  });
}

/// Why these, which have a matrix, are more than one kernel.
static std::string reasonForKernels(ArrayRef<ir::ProgramOp> programs) {
  ir::ProgramOp first = programs.front();
  if (!first.getOps<ir::AttentionOp>().empty())
    return "attention leaves parts, which the next combines";
  if (!first.getOps<ir::PrefillOp>().empty())
    return "attention of a sequence over itself is a kernel of its own";
  if (llvm::any_of(programs, multipliesComputed))
    return "a product reads rows that a kernel before it computes";
  if (llvm::any_of(first.getOps<ir::OutputOp>(), transforms::leavesParts))
    return "a reduction over the whole matrix comes before what reads it";
  const auto domain = transforms::Domain::of(programs.back());
  if (domain && domain->width > domain->longestHeld())
    return "no registers hold a row that is reduced: kernels before reduce pieces of it";
  return "two-dimensional blocks and a reduction along whole rows do not fit one tile";
}

/// How many kernels there are, and why; empty for one.
static std::string kernelsOf(ArrayRef<ir::ProgramOp> programs) {
  if (programs.size() == 1)
    return "";
  SmallVector<ir::ProgramOp> ofMatrices;
  llvm::copy_if(programs, std::back_inserter(ofMatrices),
                [](ir::ProgramOp program) { return !program->hasAttr(transforms::ofWholeName); });
  SmallVector<std::string> reasons;
  if (ofMatrices.size() > 1)
    reasons.push_back(reasonForKernels(ofMatrices));
  if (ofMatrices.size() < programs.size())
    reasons.push_back("blocks combine what is only given of the whole matrix, which one begins");
  if (programs.back()->hasAttr(transforms::ofWholeName))
    reasons.push_back("one computes what is given of that");
  return "kernels   " + std::to_string(programs.size()) + ": " + llvm::join(reasons, "; ") + "\n";
}

std::string eider::explain(const Program &program, const CompileOptions &options) {
  Compilation compilation(program, options);
  const transforms::Target *target = transforms::findTarget(options.target);
  std::string text = program.name() + " for " + options.target + "\n";
  const bool isGiven = !options.schedule.empty() && !compilation.variantOfGiven();
  auto programs = llvm::to_vector(compilation.scheduled().getOps<ir::ProgramOp>());
  for (ir::ProgramOp kernel : programs) {
    auto domain = transforms::Domain::of(kernel);
    text += "kernel " + kernel.getSymName().str() + "\n";
    text += "  schedule  " + kernel.getScheduleAttr().str() +
            (isGiven && transforms::takesGivenSchedule(kernel, options.schedule) ? " (given)"
                                                                                 : " (heuristic)") +
            "\n";
    text += "  family    " + stringifyFamily(kernel.getScheduleAttr().getFamily()).str() + ": " +
            transforms::familyOf(*domain).reason + "\n";
    if (!domain->rowAligned() && !kernel->hasAttr(transforms::ofWholeName))
      text += "  access    rows do not start on 16 bytes: aligned windows around chunks, shifted\n";
    if (!kernel->hasAttr(transforms::ofWholeName))
      text += rejections(kernel, *domain) + spaceOf(kernel, *domain);
    text += "  reads     " + bytesOf(kernel, false) + " bytes\n";
    text += "  writes    " + bytesOf(kernel, true) + " bytes\n";
  }
  text += kernelsOf(programs);
  text += "codec     " + options.codec +
          (target->fp8Instructions ? ": " + options.target + " has FP8 conversions\n"
                                   : ": " + options.target + " has no FP8 conversions, software\n");
  text += "variants  " + variantsOf(compilation) + "\n";
  return text;
}
