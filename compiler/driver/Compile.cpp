//===- Compile.cpp - eider/compile.h: executables and stages --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "compiler/driver/Compilation.h"
#include "compiler/emit/Names.h"
#include "compiler/transforms/Heuristic.h"
#include "compiler/transforms/Targets.h"
#include "runtime/contract/Contract.h"
#include "runtime/contract/Expression.h"

using namespace mlir;
using namespace eider;
using namespace eider::driver;
using eider::transforms::VariantKind;

namespace {
/// Fills the contract of a compilation.
class ContractBuilder {
public:
  explicit ContractBuilder(Compilation &compilation) : compilation(compilation) {}
  contract::Contract build();

private:
  Compilation &compilation;
  contract::Contract contract;
  llvm::StringMap<unsigned> tensors, scalars;
  llvm::StringMap<std::string> workspaces; ///< offsets
  std::vector<std::string> ends;           ///< of the workspaces of variants

  void addBoundary();
  std::string placeWorkspace(VariantKind kind, ModuleOp kernels);
  contract::Variant variant(VariantKind kind);
  std::vector<contract::Predicate> predicates(VariantKind kind, ModuleOp kernels) const;
  bool isReadByAxes(unsigned tensor) const;
  contract::Predicate fewRows(VariantKind kind) const;
  std::vector<contract::Predicate> manyRows(VariantKind kind) const;
  std::vector<contract::Predicate> hasRows(VariantKind kind) const;
  contract::Launch launch(simt::KernelOp kernel) const;
};

contract::Role roleOf(Signature::Role role) {
  switch (role) {
  case Signature::Role::Input:
    return contract::Role::Input;
  case Signature::Role::InOut:
    return contract::Role::InOut;
  case Signature::Role::Output:
    break;
  }
  return contract::Role::Output;
}

/// That a dim is a multiple of so many.
static contract::Predicate multipleOf(NamedAttribute dim) {
  contract::Predicate predicate;
  predicate.kind = contract::Predicate::Kind::Multiple;
  predicate.dim = dim.getName().str();
  predicate.of = cast<IntegerAttr>(dim.getValue()).getInt();
  return predicate;
}

void ContractBuilder::addBoundary() {
  const Program &program = compilation.program();
  contract.name = text::kernelName(program.name());
  contract.target = compilation.options().target;
  const auto &given = compilation.options().dims;
  for (const auto &dim : program.signature().dims) {
    auto value = given.find(dim.name);
    contract.dims.push_back({dim.name, value == given.end() ? dim.value : value->second});
  }
  for (const auto &tensor : program.signature().tensors) {
    tensors[tensor.name] = contract.tensors.size();
    contract.tensors.push_back({tensor.name, roleOf(tensor.role), tensor.dtype, tensor.shape});
  }
  for (const auto &scalar : program.signature().scalars) {
    scalars[scalar.name] = contract.scalars.size();
    contract.scalars.push_back({scalar.name, scalar.dtype, scalar.value});
  }
  auto limit = [&](size_t count, unsigned most, const char *what) {
    if (count > most)
      throw Error(ErrorKind::Request,
                  "has " + std::to_string(count) + " " + what + "; a launch takes at most " +
                      std::to_string(most),
                  program.name(), "cut it into programs");
  };
  limit(contract.dims.size(), contract::maxDims, "dims");
  limit(contract.tensors.size(), contract::maxTensors, "tensors");
  limit(contract.scalars.size(), contract::maxScalars, "scalars");
}

/// How many tiles of a KV head's queries there are, of all sequences.
static std::string tilesOf(ir::AttentionOp op) {
  const transforms::Attention it = transforms::shapeOf(op);
  const std::string sequences =
      ir::dimsOf(op.getLengths().getType()).getExprs()[0].contractExpression();
  return "(" + sequences + ") * " + std::to_string(it.kvHeads * it.tiles());
}

/// What the blocks of attention leave, of which there is one a sequence and tile of a KV head's
/// queries at least.
static std::string bytesOfParts(ir::ProgramOp program, ir::AttentionOp op) {
  return std::to_string(4 * transforms::shapeOf(op).sizeOfPart()) + " * max(" +
         std::to_string(program.getScheduleAttr().getKnobs().blocks) + ", " + tilesOf(op) + ")";
}

/// Rows, with those that the last tile of so many lacks.
static std::string wholeTiles(const ir::DimExpr &rows, int64_t ofTile) {
  const std::string of = std::to_string(ofTile);
  return "ceildiv(" + rows.contractExpression() + ", " + of + ") * " + of;
}

/// What a kernel's blocks have in a workspace of that name.
static std::string bytesOfBlocks(simt::KernelOp kernel, StringRef name) {
  const std::string blocks = "(" + kernel.getGrid().str() + ")";
  if (name.starts_with(transforms::gridStateName)) // templates/reduce/grid.cuh
    return "256 + 4 * " + blocks;
  const simt::TileAttr tile = (*kernel.getOps<simt::ForTilesOp>().begin()).getTile();
  if (name == transforms::sumsName)
    return std::to_string(4 * tile.elements() * tile.blockThreads()) + " * " + blocks;
  assert(name == transforms::arrivalsName && "a word for each tile that parts have");
  return "8 * (" + blocks + " / " + std::to_string(tile.getParts()) + ")";
}

/// Offsets, 256-byte aligned, of what one kernel of a variant leaves to the next, and of where
/// blocks of a grid meet; gives where they end.
std::string ContractBuilder::placeWorkspace(VariantKind kind, ModuleOp kernels) {
  std::string end = "0";
  workspaces.clear(); // a variant's own
  auto place = [&](StringRef name, const std::string &bytes) {
    if (!workspaces.try_emplace(name, end).second)
      return; // a program has begun what another combines into
    end = (end == "0" ? "" : end + " + ") + "ceildiv(" + bytes + ", 256) * 256";
  };
  for (ir::ProgramOp program : compilation.scheduled(kind).getOps<ir::ProgramOp>())
    for (auto output : program.getOps<ir::OutputOp>()) {
      if (!output.getWorkspace())
        continue;
      if (ir::AttentionOp attention = transforms::attentionOf(output)) {
        place(output.getName(), bytesOfParts(program, attention));
        continue;
      }
      const auto type = cast<RankedTensorType>(output.getValue().getType());
      std::string bytes = std::to_string(std::max(1u, type.getElementTypeBitWidth() / 8));
      if (transforms::leavesParts(output))
        bytes += " * " + std::to_string(transforms::mostParts);
      const auto ofTile = output->getAttrOfType<IntegerAttr>(transforms::forProductsName);
      for (auto [axis, dim] : llvm::enumerate(ir::dimsOf(type).getExprs()))
        bytes += " * " + (axis == 0 && ofTile ? wholeTiles(dim, ofTile.getInt())
                                              : "(" + dim.contractExpression() + ")");
      place(output.getName(), bytes);
    }
  for (ir::ProgramOp program : compilation.scheduled(kind).getOps<ir::ProgramOp>())
    for (auto attention : program.getOps<ir::AttentionOp>())
      if (program.getScheduleAttr().getKnobs().combine) {
        place(transforms::partsName, bytesOfParts(program, attention));
        place(transforms::arrivalsName, "8 * " + tilesOf(attention));
      }
  // What blocks of one kernel leave each other; those of another have the same room after them.
  llvm::MapVector<StringRef, std::vector<std::string>> shared;
  for (simt::KernelOp kernel : kernels.getOps<simt::KernelOp>())
    for (Attribute argument : kernel.getArguments())
      if (auto [what, name] = cast<StringAttr>(argument).getValue().split(':');
          what == "workspace" && !workspaces.contains(name))
        shared[name].push_back(bytesOfBlocks(kernel, name));
  for (auto &[name, bytes] : shared)
    place(name, contract::maximumOf(std::move(bytes)));
  return end;
}

/// Whether the tensor is read by strides of each axis alone.
bool ContractBuilder::isReadByAxes(unsigned tensor) const {
  bool isRead = false;
  for (ir::ProgramOp program :
       compilation.scheduled(VariantKind::contiguous).getOps<ir::ProgramOp>())
    for (auto input : program.getOps<ir::InputOp>()) {
      if (input.getName() != contract.tensors[tensor].name)
        continue;
      if (!llvm::all_of(input->getUsers(),
                        [](Operation *user) { return transforms::readsByAxes(*user); }))
        return false;
      isRead = true;
    }
  return isRead;
}

/// Whether the last kernel may begin before the one before it has ended: it waits for that where it
/// reads what attention left, of two kernels (templates/attention/parts.cuh), or rows as f16
/// (templates/contraction/warpgroups.cuh), and nothing else of it.
static bool overlaps(ArrayRef<simt::KernelOp> kernels, const std::string &target) {
  const transforms::Target *known = transforms::findTarget(target);
  if (!known || !known->clusters || kernels.size() < 2)
    return false;
  simt::KernelOp last = kernels.back(), before = kernels.drop_back().back();
  bool awaits = false;
  last.walk([&](simt::ContractOp op) { awaits |= op.getAwaits(); });
  if (awaits)
    return !before.getBlock().getOps<simt::AllowNextOp>().empty();
  auto attends = [](simt::KernelOp kernel) {
    return !kernel.getBlock().getOps<simt::AttendOp>().empty();
  };
  return kernels.size() == 2 && attends(before) && !last.getCooperative() && last.getCluster() == 1;
}

std::vector<contract::Predicate> ContractBuilder::predicates(VariantKind kind,
                                                             ModuleOp kernels) const {
  using Kind = contract::Predicate::Kind;
  std::vector<contract::Predicate> list;
  auto add = [&](Kind kind, unsigned tensor, int64_t bytes) {
    contract::Predicate predicate;
    predicate.kind = kind;
    predicate.tensor = tensor;
    predicate.bytes = bytes;
    list.push_back(predicate);
  };
  for (unsigned index = 0; index < contract.tensors.size(); ++index) {
    // Of three dims that are rows and columns, the columns lie together.
    const bool isMatrix = contract.tensors[index].shape.size() != 3 || isReadByAxes(index);
    add(transforms::isStrided(kind) && isMatrix ? Kind::UnitStride : Kind::Contiguous, index, 0);
    int64_t alignment = 1;
    for (simt::KernelOp kernel : kernels.getOps<simt::KernelOp>())
      if (auto kept = kernel.getAlignments().getAs<IntegerAttr>(contract.tensors[index].name))
        alignment = std::max(alignment, kept.getInt());
    if (alignment > static_cast<int64_t>(sizeOf(contract.tensors[index].dtype)))
      add(Kind::Aligned, index, alignment);
  }
  for (simt::KernelOp kernel : kernels.getOps<simt::KernelOp>())
    if (DictionaryAttr multiples = kernel.getMultiplesAttr())
      llvm::append_range(list, llvm::map_range(multiples, multipleOf));
  if (compilation.mostRowsOf(kind))
    list.push_back(fewRows(kind));
  if (transforms::isCooperative(kind))
    llvm::append_range(list, hasRows(kind));
  if (kind == VariantKind::uneven_large)
    llvm::append_range(list, manyRows(kind));
  return list;
}

/// The dim that all of the program's kernels have as rows is at most as much as the variant serves.
contract::Predicate ContractBuilder::fewRows(VariantKind kind) const {
  ir::ProgramOp program = transforms::mainProgram(compilation.scheduled(kind));
  contract::Predicate predicate;
  predicate.kind = contract::Predicate::Kind::Range;
  predicate.dim = transforms::Domain::of(program)->rows.name.getValue().str();
  predicate.min = 0;
  predicate.max = compilation.mostRowsOf(kind);
  return predicate;
}

/// They are at least as many as make tall tiles pay.
std::vector<contract::Predicate> ContractBuilder::manyRows(VariantKind kind) const {
  ir::ProgramOp main = transforms::mainProgram(compilation.scheduled(kind));
  const auto domain = transforms::Domain::of(main);
  if (!ShapedType::isDynamic(main.getDimValue(domain->rows.name)))
    return {}; // which they are
  contract::Predicate predicate;
  predicate.kind = contract::Predicate::Kind::Range;
  predicate.dim = domain->rows.name.getValue().str();
  predicate.min = transforms::largeRowsOf(*domain);
  return {predicate};
}

/// What a launch says of a cooperative kernel's rows, which are at least 1.
std::vector<contract::Predicate> ContractBuilder::hasRows(VariantKind kind) const {
  ir::ProgramOp main = transforms::mainProgram(compilation.scheduled(kind));
  const auto domain = transforms::Domain::of(main);
  if (!domain->rows.name || !ShapedType::isDynamic(main.getDimValue(domain->rows.name)))
    return {};
  contract::Predicate predicate;
  predicate.kind = contract::Predicate::Kind::Range;
  predicate.dim = domain->rows.name.getValue().str();
  predicate.min = 1;
  return {predicate};
}

contract::Launch ContractBuilder::launch(simt::KernelOp kernel) const {
  contract::Launch launch;
  launch.entry = text::kernelName(kernel.getSymName());
  launch.block = kernel.getThreads();
  launch.grid = kernel.getGrid().str();
  launch.cluster = kernel.getCluster();
  launch.cooperative = kernel.getCooperative() ? kernel.getResident() : 0;
  launch.stays = kernel.getStays() ? kernel.getResident() : 0;
  launch.shared = std::to_string(kernel.getShared());
  for (Attribute argument : kernel.getArguments()) {
    auto [kind, rest] = cast<StringAttr>(argument).getValue().split(':');
    auto [name, axis] = rest.split(':');
    contract::Parameter parameter;
    if (kind == "tensor") {
      parameter.kind = contract::Parameter::Kind::Tensor;
      parameter.index = tensors.lookup(name);
    } else if (kind == "scalar") {
      parameter.kind = contract::Parameter::Kind::Scalar;
      parameter.index = scalars.lookup(name);
    } else if (kind == "stride") {
      parameter.kind = contract::Parameter::Kind::Stride;
      parameter.index = tensors.lookup(name);
      parameter.axis = std::stoi(axis.str());
    } else if (kind == "workspace") {
      parameter.kind = contract::Parameter::Kind::Workspace;
      parameter.offset = workspaces.lookup(name);
    } else {
      parameter.kind = contract::Parameter::Kind::Dim;
      parameter.dim = name.str();
    }
    launch.parameters.push_back(parameter);
  }
  return launch;
}

contract::Variant ContractBuilder::variant(VariantKind kind) {
  OwningOpRef<ModuleOp> kernels = compilation.lowered(kind);
  contract::Variant variant;
  variant.name = transforms::nameOf(kind);
  variant.predicates = predicates(kind, *kernels);
  variant.source = compilation.text(*kernels);
  std::string end = placeWorkspace(kind, *kernels);
  auto leavesF16 = [](ir::ProgramOp program) {
    const ir::ScheduleAttr schedule = program.getScheduleAttr();
    return schedule && schedule.getKnobs().f16;
  };
  const bool isOwn = // what other variants need none of, and would grow with others' rows
      workspaces.contains(transforms::sumsName) ||
      llvm::any_of(compilation.scheduled(kind).getOps<ir::ProgramOp>(), leavesF16);
  if (const int64_t most = compilation.mostRowsOf(kind); most && isOwn)
    end = contract::upTo(most, fewRows(kind).dim, end);
  ends.push_back(std::move(end));
  for (simt::KernelOp kernel : kernels->getOps<simt::KernelOp>())
    variant.launches.push_back(launch(kernel));
  variant.launches.back().overlaps =
      overlaps(llvm::to_vector(kernels->getOps<simt::KernelOp>()), contract.target);
  return variant;
}

contract::Contract ContractBuilder::build() {
  addBoundary();
  for (VariantKind kind : compilation.variants())
    contract.variants.push_back(variant(kind));
  contract.workspace = contract::maximumOf(ends);
  return std::move(contract);
}

/// All variants' kernels in one module.
OwningOpRef<ModuleOp> allKernels(Compilation &compilation) {
  const std::vector<VariantKind> kinds = compilation.variants();
  OwningOpRef<ModuleOp> all = compilation.lowered(kinds.front());
  for (VariantKind kind : llvm::drop_begin(kinds)) {
    OwningOpRef<ModuleOp> more = compilation.lowered(kind);
    for (Operation &op : llvm::make_early_inc_range(*more->getBody()))
      op.moveBefore(all->getBody(), all->getBody()->end());
  }
  return all;
}

std::string irText(ModuleOp module) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module.print(os);
  return text + "\n";
}
} // namespace

Executable eider::compile(const Program &program, const CompileOptions &options) {
  Compilation compilation(program, options);
  contract::Contract contract = ContractBuilder(compilation).build();
  std::string name = contract.name;
  return {std::move(name), contract::write(contract)};
}

std::string eider::emit(const Program &program, const CompileOptions &options, Stage stage) {
  Compilation compilation(program, options);
  if (stage == Stage::Eider)
    return irText(*compilation.specialized());
  OwningOpRef<ModuleOp> kernels = allKernels(compilation);
  return stage == Stage::Simt ? irText(*kernels) : compilation.text(*kernels);
}

std::vector<std::string> eider::targets() {
  std::vector<std::string> names;
  for (const transforms::Target &target : transforms::targetTable())
    if (target.name != "host")
      names.push_back(target.name.str());
  return names;
}
