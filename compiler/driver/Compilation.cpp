//===- Compilation.cpp - One request on its way through the passes --------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compilation.h"

#include "compiler/emit/CudaPrinter.h"
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Targets.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace eider;
using namespace eider::driver;
using eider::transforms::VariantKind;

/// A target, or an Error that names all of them.
static void checkTarget(const std::string &name) {
  if (transforms::findTarget(name))
    return;
  std::string names;
  for (const transforms::Target &target : transforms::targetTable())
    names += (names.empty() ? "" : ", ") + target.name.str();
  throw Error(ErrorKind::Request, "no target '" + name + "'", "arch", "the targets are " + names);
}

Compilation::Compilation(const Program &program, const CompileOptions &options)
    : program_(program), options_(options), context(MLIRContext::Threading::DISABLED) {
  checkTarget(options.target);
  loadDialects(context);
  context.loadDialect<simt::SimtDialect>();
}

template <class Work> void Compilation::run(Work work) {
  std::string first;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (first.empty() && diagnostic.getSeverity() == DiagnosticSeverity::Error)
      first = diagnostic.str();
    return success();
  });
  if (failed(work()))
    throw Error(ErrorKind::Request, first.empty() ? "the passes failed" : first, program_.name());
}

OwningOpRef<ModuleOp> Compilation::specialized() {
  OwningOpRef<ModuleOp> module = parseModule(program_, context);
  PassManager manager(&context);
  manager.addPass(transforms::createSpecialize(options_.dims));
  run([&] { return manager.run(*module); });
  return module;
}

ModuleOp Compilation::legalized() {
  if (legalized_)
    return *legalized_;
  OwningOpRef<ModuleOp> module = parseModule(program_, context);
  PassManager manager(&context);
  if (options_.timings)
    manager.enableTiming();
  transforms::buildTensorPipeline(manager, {options_.dims, options_.target, options_.codec});
  run([&] { return manager.run(*module); });
  legalized_ = std::move(module);
  return *legalized_;
}

std::optional<VariantKind> Compilation::variantOfGiven() {
  std::string message;
  const auto given = ir::ScheduleAttr::parse(&context, options_.schedule, message);
  if (!given)
    return std::nullopt;
  if (given.getKnobs().cooperative)
    return VariantKind::cooperative;
  const int64_t few = transforms::mostRowsOf(VariantKind::rows_16);
  ir::ProgramOp last = transforms::mainProgram(legalized());
  if (given.getFamily() != ir::Family::tile || last.getOps<ir::TransposeOp>().empty())
    return std::nullopt;
  const auto ofAny = transforms::Domain::of(last), ofFew = transforms::Domain::of(last, few);
  if (ofAny && ofFew && !transforms::tileOf(given, *ofAny, message) &&
      transforms::tileOf(given, *ofFew, message))
    return VariantKind::rows_16;
  return std::nullopt;
}

ModuleOp Compilation::scheduled(VariantKind variant) {
  if (variant == VariantKind::aligned || variant == VariantKind::uneven)
    variant = VariantKind::contiguous;
  OwningOpRef<ModuleOp> &scheduled = scheduled_[variant];
  if (scheduled)
    return *scheduled;
  if (variant == VariantKind::uneven_large) {
    scheduled = this->scheduled(VariantKind::contiguous).clone();
    ir::ProgramOp main = transforms::mainProgram(*scheduled);
    main.setScheduleAttr(
        transforms::tallerSchedule(main.getScheduleAttr(), *transforms::Domain::of(main)));
    return *scheduled;
  }
  const bool isCooperative = transforms::isCooperative(variant);
  const int64_t ofVariant = transforms::mostRowsOf(variant);
  const transforms::Launches launches = {
      .rows = ofVariant ? ofVariant : transforms::mostRowsOf(variant, legalized()),
      .held = variant == VariantKind::cooperative         ? transforms::fewHeld
              : variant == VariantKind::cooperative_large ? transforms::manyHeld
                                                          : 0,
      .anywhere = variant == VariantKind::general};
  const std::optional<VariantKind> own = variantOfGiven();
  const bool isGiven = isCooperative || !own || *own == variant;
  OwningOpRef<ModuleOp> module = legalized().clone();
  PassManager manager(&context);
  if (options_.timings)
    manager.enableTiming();
  manager.addPass(transforms::createAssignSchedule(isGiven ? options_.schedule : "", launches));
  manager.addPass(transforms::createRowsAsF16());
  manager.addPass(transforms::createAssignSchedule("", launches)); // of what that has made
  manager.addPass(transforms::createJoin());
  if (isCooperative) {
    manager.addPass(createCanonicalizerPass());
    manager.addPass(createCSEPass());
  }
  run([&] { return manager.run(*module); });
  scheduled = std::move(module);
  return *scheduled;
}

/// Whether a launch says how many rows it has by one dim, as a predicate needs it.
static bool hasOpenRows(ir::ProgramOp program) {
  if (program->hasAttr(transforms::ofWholeName))
    return true; // it has none
  const std::optional<transforms::Domain> domain = transforms::Domain::of(program);
  return domain && domain->rows.name && domain->rows.factor == 1 && domain->rows.divisor == 1 &&
         ShapedType::isDynamic(program.getDimValue(domain->rows.name));
}

/// Whether rows of a transposed tensor may begin in the middle of an access.
static bool mayBeUneven(ir::ProgramOp program) {
  constexpr int64_t widest = 16; // elements
  const std::optional<transforms::Domain> domain = transforms::Domain::of(program);
  if (!domain || !domain->transposes || !domain->rows.name)
    return false;
  const int64_t rows = program.getDimValue(domain->rows.name);
  return ShapedType::isDynamic(rows) || rows % widest != 0;
}

/// Whether many such rows have a schedule of their own.
bool Compilation::mayBeTaller() {
  ir::ProgramOp main = transforms::mainProgram(scheduled());
  if (!options_.schedule.empty() || !mayBeUneven(main))
    return false; // the one given is for every launch that it can serve
  const std::optional<transforms::Domain> domain = transforms::Domain::of(main);
  const int64_t rows = main.getDimValue(domain->rows.name);
  const bool isServed =
      ShapedType::isDynamic(rows) ? hasOpenRows(main) : rows >= transforms::largeRowsOf(*domain);
  return isServed && transforms::tallerSchedule(main.getScheduleAttr(), *domain);
}

/// Whether rows that lie apart may be read and written by other accesses than those that begin
/// anywhere: some begin on more bytes than an element's.
bool Compilation::mayLieApart() {
  OwningOpRef<ModuleOp> kernels = lowered(VariantKind::aligned);
  for (simt::KernelOp kernel : kernels->getOps<simt::KernelOp>())
    for (const auto &tensor : program_.signature().tensors) {
      const auto alignment = kernel.getAlignments().getAs<IntegerAttr>(tensor.name);
      const bool hasStride = llvm::any_of(kernel.getArguments(), [&](Attribute argument) {
        return cast<StringAttr>(argument).getValue().starts_with("stride:" + tensor.name + ":");
      });
      if (hasStride && alignment && alignment.getInt() > static_cast<int64_t>(sizeOf(tensor.dtype)))
        return true;
    }
  return false;
}

/// Those that the heuristic has for this program: one, where narrow rows allow a thread no more.
std::vector<VariantKind> Compilation::cooperativeVariants() {
  std::vector<VariantKind> kinds;
  ir::ProgramOp last = transforms::mainProgram(scheduled());
  if (llvm::none_of(last.getOps<ir::InputOp>(),
                    [](ir::InputOp input) { return input->hasAttr(transforms::partsKind); }))
    return kinds;
  ir::ScheduleAttr before;
  for (VariantKind kind : {VariantKind::cooperative, VariantKind::cooperative_large}) {
    const ir::ScheduleAttr schedule = transforms::mainProgram(scheduled(kind)).getScheduleAttr();
    if (schedule.getKnobs().cooperative && schedule != before)
      kinds.push_back(kind);
    before = schedule;
  }
  return kinds;
}

std::vector<VariantKind> Compilation::variants() {
  std::vector<VariantKind> kinds = {VariantKind::contiguous, VariantKind::general};
  auto usual = scheduled().getOps<ir::ProgramOp>();
  if (llvm::any_of(usual, mayBeUneven))
    kinds.insert(kinds.end() - 1, VariantKind::uneven);
  if (mayBeTaller())
    kinds.insert(kinds.begin() + 1, VariantKind::uneven_large);
  if (mayLieApart())
    kinds.insert(kinds.end() - 1, VariantKind::aligned);
  if (const std::optional<VariantKind> own = variantOfGiven())
    kinds.insert(kinds.begin(), *own);
  if (!options_.schedule.empty())
    return kinds; // it is for every launch that it can serve
  const bool hasOpen = llvm::all_of(usual, hasOpenRows);
  const bool multiplies = llvm::any_of(usual, [](ir::ProgramOp program) {
    const ir::Family family = program.getScheduleAttr().getFamily();
    return family == ir::Family::contract || family == ir::Family::attention;
  });
  const bool attends = llvm::any_of(
      usual, [](ir::ProgramOp program) { return !program.getOps<ir::AttentionOp>().empty(); });
  const bool transposes = llvm::any_of(usual, mayBeUneven);
  auto schedules = [&](VariantKind kind) {
    return llvm::map_to_vector(scheduled(kind).getOps<ir::ProgramOp>(),
                               [](ir::ProgramOp program) { return program.getScheduleAttr(); });
  };
  const bool hasSome = transforms::mostRowsOf(VariantKind::some_rows, legalized()) > 0;
  // Of rows that are transposed, which may be as many as begin anywhere, that variant is better.
  const bool hasFew = !transposes || transforms::mostRowsOf(VariantKind::few_rows, legalized()) >
                                         transforms::mostRowsOf(VariantKind::rows_16);
  for (VariantKind kind :
       {VariantKind::some_rows, VariantKind::few_rows, VariantKind::rows_64, VariantKind::rows_32,
        VariantKind::rows_16, VariantKind::rows_8, VariantKind::rows_4}) {
    const bool isTried = kind == VariantKind::some_rows  ? hasSome && !multiplies
                         : kind == VariantKind::few_rows ? hasFew && !multiplies
                         : kind == VariantKind::rows_4   ? attends
                         : kind == VariantKind::rows_64  ? multiplies && !attends
                         : kind == VariantKind::rows_16  ? multiplies || transposes
                                                         : multiplies;
    if (hasOpen && isTried && schedules(kind) != schedules(kinds.front()))
      kinds.insert(kinds.begin(), kind);
  }
  const std::vector<VariantKind> cooperative = cooperativeVariants();
  kinds.insert(kinds.begin(), cooperative.begin(), cooperative.end());
  return kinds;
}

OwningOpRef<ModuleOp> Compilation::lowered(VariantKind variant) {
  OwningOpRef<ModuleOp> module = scheduled(variant).clone();
  PassManager manager(&context);
  if (options_.timings)
    manager.enableTiming();
  transforms::buildVariantPipeline(manager, variant);
  run([&] { return manager.run(*module); });
  return module;
}

int64_t Compilation::mostRowsOf(VariantKind variant) {
  return transforms::mostRowsOf(variant, scheduled(variant));
}

std::string Compilation::text(ModuleOp kernels) {
  std::string text;
  run([&] {
    auto printed = text::printCuda(kernels);
    if (succeeded(printed))
      text = std::move(*printed);
    return LogicalResult(printed);
  });
  return text;
}
