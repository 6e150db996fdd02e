//===- aot/CLaunchers.cpp - The launches of each target as C --------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/aot/CLaunchers.h"
#include "runtime/aot/CText.h"

#include <algorithm>
#include <map>

namespace eider::aot {
namespace {

using contract::Parameter;
using contract::Predicate;

/// Prints the functions of one target; `@target@` stands for its name.
class LauncherPrinter {
public:
  LauncherPrinter(const CInterface &interface, const contract::Contract &contract,
                  CExpressions &expressions)
      : interface(interface), contract(contract), entries(entriesOf(contract)),
        expressions(expressions) {}

  std::string print() {
    std::string text;
    for (const contract::Variant &variant : contract.variants)
      text += variantFunction(variant);
    return text + chooser();
  }

private:
  std::string variantFunction(const contract::Variant &variant);
  std::string parameterValue(const Parameter &parameter, std::string &locals, size_t &count);
  std::string launchCall(const std::string &before, const contract::Launch &launch,
                         const std::string &parameters);
  std::string chooser();
  std::string conditionOnGpu(const contract::Launch &launch);
  std::string condition(const Predicate &predicate) const;
  std::string conditionOnDim(const Predicate &predicate) const;

  const CInterface &interface;
  const contract::Contract &contract;
  const std::vector<Entry> entries;
  CExpressions &expressions;
};

/// The address of a kernel's parameter. What is no member of `arguments` becomes a local variable.
std::string LauncherPrinter::parameterValue(const Parameter &parameter, std::string &locals,
                                            size_t &count) {
  auto local = [&](const std::string &type, const std::string &value) {
    const std::string name = "value" + std::to_string(count++);
    locals += "  " + type + name + " = " + value + ";\n";
    return "&" + name;
  };
  switch (parameter.kind) {
  case Parameter::Kind::Tensor:
    return "&a->" + interface.tensors[parameter.index];
  case Parameter::Kind::Scalar:
    return "&a->" + interface.scalars[parameter.index];
  case Parameter::Kind::Stride: {
    const std::string &stride = interface.strides[parameter.index][parameter.axis];
    return stride.empty() ? local("int64_t ", "1") : "&a->" + stride;
  }
  case Parameter::Kind::Workspace: {
    const std::string offset = expressions.print(parameter.offset, "a->", "&a->overflow");
    return offset == "0" ? "&a->workspace" : local("void *", "(char *)a->workspace + " + offset);
  }
  case Parameter::Kind::Dim:
    break;
  }
  const int dim = contract.dimIndex(parameter.dim);
  return contract.dims[dim].value ? local("int64_t ", cInteger(*contract.dims[dim].value))
                                  : "&a->" + interface.dims[dim];
}

std::string LauncherPrinter::launchCall(const std::string &before, const contract::Launch &launch,
                                        const std::string &parameters) {
  const auto entry = std::ranges::find(entries, launch.entry, &Entry::name);
  std::string grid = expressions.print(launch.grid, "a->", "&a->overflow");
  if (launch.stays)
    grid = expressions.smaller(grid, std::to_string(launch.stays) + " * (int64_t)a->gpu->count");
  return wrapped(before + "launch(",
                 {"kernels[" + std::to_string(entry - entries.begin()) + "]", "a", grid,
                  std::to_string(launch.block), std::to_string(launch.cluster),
                  launch.cooperative ? "AT_ONCE"
                  : launch.overlaps  ? "OVERLAPPED"
                                     : "IN_TURN",
                  expressions.print(launch.shared, "a->", "&a->overflow"), parameters},
                 ");\n");
}

std::string LauncherPrinter::variantFunction(const contract::Variant &variant) {
  std::string locals, arrays, calls;
  size_t count = 0;
  const bool several = variant.launches.size() > 1;
  for (size_t i = 0; i < variant.launches.size(); ++i) {
    const contract::Launch &launch = variant.launches[i];
    std::vector<std::string> values;
    for (const Parameter &parameter : launch.parameters)
      values.push_back(parameterValue(parameter, locals, count));
    const std::string name = "parameters" + (several ? std::to_string(i) : "");
    arrays += wrapped("  void *" + name + "[] = {", values, "};\n");
    if (!several)
      calls += launchCall("  return ", launch, name);
    else if (i == 0)
      calls += launchCall("  int status = ", launch, name);
    else
      calls += "  if (status == 0)\n" + launchCall("    status = ", launch, name);
  }
  return "/* " + variant.launches.front().entry + (several ? " and those after it" : "") +
         " */\nstatic int " + variant.name + "_@target@(void *const *kernels, arguments *a) {\n" +
         locals + arrays + calls + (several ? "  return status;\n" : "") + "}\n\n";
}

/// Empty for what always holds.
std::string LauncherPrinter::condition(const Predicate &predicate) const {
  auto fact = [&](const std::string &name) {
    return "facts[" + interface.positions[predicate.tensor] + "]." + name;
  };
  if (predicate.kind == Predicate::Kind::Range || predicate.kind == Predicate::Kind::Multiple)
    return conditionOnDim(predicate);
  const std::vector<std::string> &axes = interface.strides[predicate.tensor];
  const bool fixed = std::ranges::all_of(axes, &std::string::empty);
  switch (predicate.kind) {
  case Predicate::Kind::Aligned:
    return fact("alignment") + " % " + std::to_string(predicate.bytes) + " == 0";
  case Predicate::Kind::Contiguous:
    return fixed ? "" : fact("contiguous");
  case Predicate::Kind::UnitStride:
    return axes.empty() || axes.back().empty() ? "" : fact("unit_stride");
  case Predicate::Kind::Range:
  case Predicate::Kind::Multiple:
    break;
  }
  return "";
}

/// Empty for what always holds, `0` for what never does.
std::string LauncherPrinter::conditionOnDim(const Predicate &predicate) const {
  const int index = contract.dimIndex(predicate.dim);
  const bool multiple = predicate.kind == Predicate::Kind::Multiple;
  if (const std::optional<int64_t> value = contract.dims[index].value) {
    const bool holds =
        multiple ? *value % predicate.of == 0 : predicate.min <= *value && *value <= predicate.max;
    return holds ? "" : "0";
  }
  const std::string dim = "a->" + interface.dims[index];
  if (multiple)
    return dim + " % " + cInteger(predicate.of) + " == 0";
  std::string text;
  if (predicate.min > 0)
    text = dim + " >= " + cInteger(predicate.min);
  if (predicate.max < INT64_MAX)
    text += (text.empty() ? "" : " && ") + dim + " <= " + cInteger(predicate.max);
  return text;
}

/// That all blocks of a cooperative launch run at once.
std::string LauncherPrinter::conditionOnGpu(const contract::Launch &launch) {
  return "at_once(a, " + expressions.print(launch.grid, "a->", "&a->overflow") + ", " +
         std::to_string(launch.cooperative) + ", " + std::to_string(launch.block) + ")";
}

std::string LauncherPrinter::chooser() {
  std::string text = "static int launch_@target@(void *const *kernels, arguments *a, const fact "
                     "*facts) {\n";
  bool usesFacts = false;
  for (const contract::Variant &variant : contract.variants) {
    std::vector<std::string> conditions;
    for (const Predicate &predicate : variant.predicates)
      if (std::string text = condition(predicate); !text.empty())
        conditions.push_back(std::move(text));
    for (const contract::Launch &launch : variant.launches)
      if (launch.cooperative)
        conditions.push_back(conditionOnGpu(launch));
    for (const std::string &condition : conditions)
      usesFacts |= condition.starts_with("facts");
    const std::string call = variant.name + "_@target@(kernels, a);\n";
    if (conditions.empty()) {
      text += "  return " + call;
      break;
    }
    text += wrapped("  if (", conditions, ")\n", " &&") + "    return " + call;
  }
  if (!usesFacts)
    text.insert(text.find('\n') + 1, "  (void)facts;\n");
  return text + "}\n\n";
}

} // namespace

std::vector<Entry> entriesOf(const contract::Contract &contract) {
  std::vector<Entry> entries;
  for (const contract::Variant &variant : contract.variants)
    for (const contract::Launch &launch : variant.launches) {
      auto entry = std::ranges::find(entries, launch.entry, &Entry::name);
      if (entry == entries.end())
        entry = entries.insert(entry, {launch.entry});
      entry->dynamicShared |= launch.shared != "0";
      entry->largeCluster |= launch.cluster > 8;
    }
  return entries;
}

std::string printLaunchers(const CInterface &interface, std::span<const Image> images,
                           CExpressions &expressions, std::vector<std::string> &names) {
  std::map<std::string, std::string> printed; // text to target
  std::string all;
  for (const Image &image : images) {
    const std::string text = LauncherPrinter(interface, image.contract, expressions).print();
    const auto [first, isNew] = printed.emplace(text, image.target.name());
    names.push_back("launch_" + first->second);
    if (!isNew)
      continue;
    all += filled(text, {{"target", first->second}});
  }
  return all;
}

} // namespace eider::aot
