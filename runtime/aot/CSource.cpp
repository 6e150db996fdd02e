//===- aot/CSource.cpp - NAME.c -------------------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "runtime/aot/CExpression.h"
#include "runtime/aot/CLaunchers.h"
#include "runtime/aot/CSources.h"
#include "runtime/aot/CText.h"

#include <algorithm>
#include <cstring>

namespace eider::aot {
namespace {

using contract::Contract;
using contract::Role;

constexpr const char *opening = R"(/* @name@.c - @op@ for @targets@.
 *
 * Written by Eider. In this order: the driver, the arguments and their checks, the launches of each
 * target, what is loaded where, the functions of the header, the machine code.
 */
#include "@name@.h"

#include <dlfcn.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

)";

constexpr const char *errorString = R"(const char *@name@_error_string(int status) {
  static const char *const texts[] = {
      "done",
      "no NVIDIA driver: libcuda.so.1, or what EIDER_CUDA_DRIVER names, cannot be opened",
      "the NVIDIA driver is older than CUDA 12.0",
      "the NVIDIA driver does not start: there is no GPU that it can use",
      "no CUDA context is current: call cudaSetDevice or cuCtxSetCurrent before",
      "the device is none of those that the kernels are for: "
      "@quotedTargets@",
      "an extent is negative or too large",
      "the workspace is null or not aligned to 256 bytes"};
  static const char *const complaints[TENSORS][COMPLAINTS] = {@complaints@};
  const int last = (int)(sizeof(texts) / sizeof(texts[0])) - 1;
  const int complaint = @NAME@_BAD_TENSOR - status;
  const char *text = NULL;
  if (status <= 0 && status >= -last)
    return texts[-status];
  if (complaint >= 0 && complaint < TENSORS * COMPLAINTS)
    return complaints[complaint / COMPLAINTS][complaint % COMPLAINTS];
  if (status > 0 && __atomic_load_n(&driver_is_open, __ATOMIC_ACQUIRE))
    driver.error_text(status, &text);
  return text ? text : "unknown status";
}
)";

constexpr const char *complaintsOf = R"(/* In the order of the enumerators. */
#define COMPLAINTS_OF(name)                                                                        \
  {name " is null",                                                                                \
   name " is not aligned to its elements",                                                         \
   name " has more bytes than can be counted",                                                     \
   name " has a negative stride",                                                                  \
   name " is written and overlaps itself: a stride is too small",                                  \
   name " overlaps another tensor, and one of the two is written",                                 \
   name " overlaps the workspace"}

)";

/// Prints one NAME.c.
class SourcePrinter {
public:
  SourcePrinter(const CInterface &interface, std::span<const Image> images)
      : interface(interface), images(images), contract(images.front().contract),
        expressions(contract, interface.dims) {}

  std::string print() {
    // Printed first, for the functions that they call.
    const std::string launchers = printLaunchers(interface, images, expressions, launcherNames);
    const std::string functions = publicFunctions();
    const std::string text = opening + skeleton("driver") + "\n" + arguments() +
                             skeleton("checks") + "\n" + skeleton("launch") + "\n" +
                             (isAnyCooperative() ? skeleton("cooperative") + "\n" : "") +
                             launchers + skeleton("images") + "\n" + table() + "\n" +
                             skeleton("loading") + "\n" + functions + "\n" + code();
    return filled(text, {{"complaints", complaintList()},
                         {"quotedTargets", targetNames(images, "\"\n      \"")},
                         {"targets", targetNames(images, "\n *   ")},
                         {"op", contract.name},
                         {"name", interface.name},
                         {"NAME", interface.upperName}});
  }

private:
  bool isAnyCooperative() const;
  std::string arguments() const;
  std::string table() const;
  std::string publicFunctions();
  std::string workspaceFunction();
  std::string launchFunction();
  std::string tensorRow(unsigned index);
  std::string complaintList() const;
  std::string code() const;

  const CInterface &interface;
  std::span<const Image> images;
  const Contract &contract;
  CExpressions expressions;
  std::vector<std::string> launcherNames; ///< One an image.
};

bool SourcePrinter::isAnyCooperative() const {
  for (const Image &image : images)
    for (const contract::Variant &variant : image.contract.variants)
      for (const contract::Launch &launch : variant.launches)
        if (launch.cooperative)
          return true;
  return false;
}

/// The type `arguments`, the numbers of tensors, and the arithmetic on extents.
std::string SourcePrinter::arguments() const {
  size_t rank = 1, entries = 1;
  for (const contract::Tensor &tensor : contract.tensors)
    rank = std::max(rank, tensor.shape.size());
  for (const Image &image : images)
    entries = std::max(entries, entriesOf(image.contract).size());
  std::vector<std::string> positions = interface.positions;
  positions.push_back("TENSORS");
  std::string text = section("The arguments") + wrapped("enum { ", positions, " };\n");
  text += "\n/* Of a GPU: how many, and what one of them holds; no threads of cooperative launches "
          "where "
          "it\n   has none. */\n"
          "typedef struct {\n  int count, blocks, cooperative_threads;\n} multiprocessors;\n\n";
  text += "enum { MOST_RANK = " + std::to_string(rank) +
          ", IMAGES = " + std::to_string(images.size()) +
          ", MOST_ENTRIES = " + std::to_string(entries) +
          " };\n\n/* What a launch is given. */\ntypedef struct {\n  " + interface.name +
          "_stream stream;\n";
  for (const CArgument &argument : interface.arguments)
    text += "  " + argument.type + argument.name + ";\n";
  text += "  void *workspace;\n  int overflow; /* set by arithmetic on extents that overflows */\n"
          "  int is_begun; /* the launch before was of some blocks, if there was one */\n"
          "  const multiprocessors *gpu;\n"
          "} arguments;\n\n/* Which tensors may be the same memory. */\n"
          "static const char may_alias[TENSORS][TENSORS] = {{0}";
  std::vector<std::vector<int>> pairs(contract.tensors.size(),
                                      std::vector<int>(contract.tensors.size()));
  for (auto [a, b] : contract.mayAlias)
    pairs[a][b] = pairs[b][a] = 1;
  if (!contract.mayAlias.empty()) {
    text.resize(text.size() - 3);
    for (size_t a = 0; a < pairs.size(); ++a) {
      text += a == 0 ? "{" : ", {";
      for (size_t b = 0; b < pairs.size(); ++b)
        text += (b == 0 ? "" : ", ") + std::to_string(pairs[a][b]);
      text += "}";
    }
  }
  return text + "};\n\n" + expressions.functions();
}

std::string entryTable(const std::string &target, const std::vector<Entry> &entries) {
  std::string text = "static const entry entries_" + target + "[] = {";
  for (const Entry &entry : entries)
    text += std::string(&entry == entries.data() ? "\n" : ",\n") + "    {\"" + entry.name + "\", " +
            (entry.dynamicShared ? "1" : "0") + ", " + (entry.largeCluster ? "1" : "0") + "}";
  return text + "};\n\n";
}

/// The entries of each target, and the images.
std::string SourcePrinter::table() const {
  std::string text, rows;
  for (size_t i = 0; i < images.size(); ++i) {
    const std::string target = images[i].target.name();
    const std::vector<Entry> entries = entriesOf(images[i].contract);
    if (!images[i].isPtx) // its entries are its target's
      text += entryTable(target, entries);
    rows += std::string(i == 0 ? "" : ",\n") + "    {" +
            std::to_string(images[i].target.capability) + ", " +
            (images[i].target.archSpecific ? "1" : "0") + ", " + (images[i].isPtx ? "1" : "0") +
            ", " + std::to_string(entries.size()) + ", entries_" + target + ", " +
            launcherNames[i] + "}";
  }
  return text + "static const image images[IMAGES] = {\n" + rows + "};\n";
}

std::string SourcePrinter::workspaceFunction() {
  std::string bytes;
  std::vector<std::string> seen;
  for (const Image &image : images) {
    const std::string next = expressions.print(image.contract.workspace, "", "&overflow");
    if (std::ranges::find(seen, next) != seen.end())
      continue;
    seen.push_back(next);
    bytes = bytes.empty() ? next : expressions.larger(bytes, next);
  }
  std::string text = workspacePrototype(interface) + " {\n";
  std::string negative;
  for (const CArgument &extent : interface.extents)
    negative += (negative.empty() ? "" : " || ") + extent.name + " < 0";
  if (!negative.empty())
    text += "  if (" + negative + ")\n    return @NAME@_BAD_EXTENT;\n";
  if (seen.size() == 1 && bytes.find('(') == std::string::npos)
    return text + "  return " + bytes + ";\n}\n";
  return text + "  int overflow = 0;\n  const int64_t bytes = " + bytes +
         ";\n  if (overflow || bytes < 0)\n    return @NAME@_BAD_EXTENT;\n  return bytes;\n}\n";
}

/// A tensor as the checks take it.
std::string SourcePrinter::tensorRow(unsigned index) {
  const contract::Tensor &tensor = contract.tensors[index];
  std::string extents, strides;
  for (size_t axis = 0; axis < tensor.shape.size(); ++axis) {
    const std::string &stride = interface.strides[index][axis];
    extents += (axis ? ", " : "") + expressions.print(tensor.shape[axis], "", "&a.overflow");
    strides += (axis ? ", " : "") + (stride.empty() ? "1" : stride);
  }
  if (tensor.shape.empty())
    extents = strides = "0";
  return "{" + interface.tensors[index] + ", " + (tensor.role == Role::Input ? "0" : "1") + ", " +
         std::to_string(tensor.shape.size()) + ", " + std::to_string(sizeOf(tensor.dtype)) + ", {" +
         extents + "}, {" + strides + "}}";
}

std::string SourcePrinter::launchFunction() {
  std::vector<std::string> members = {"stream"}, extents;
  for (const CArgument &argument : interface.arguments)
    members.push_back(argument.name);
  members.insert(members.end(), {"workspace", "0", "0", "NULL"});
  for (const CArgument &extent : interface.extents)
    extents.push_back(extent.name);
  std::string text = launchPrototype(interface) + " {\n" +
                     wrapped("  arguments a = {", members, "};\n") +
                     "  const tensor tensors[TENSORS] = {\n";
  for (unsigned i = 0; i < contract.tensors.size(); ++i)
    text += std::string(i ? ",\n" : "") + "      " + tensorRow(i);
  text += "};\n  fact facts[TENSORS];\n" +
          wrapped("  const int64_t bytes = @name@_workspace_bytes(", extents, ");\n") +
          "  int number, status;\n";
  std::string invalid = "a.overflow || bytes < 0";
  for (const std::string &extent : extents)
    invalid += " || " + extent + " < 0";
  return text + "  if (" + invalid + R"()
    return @NAME@_BAD_EXTENT;
  status = check(tensors, facts, workspace, bytes);
  if (status == 0)
    status = find_image(&number, &a.gpu);
  return status != 0 ? status : images[number].launch(kernels[number], &a, facts);
}
)";
}

std::string SourcePrinter::publicFunctions() {
  const std::string workspace = workspaceFunction();
  return section("The functions of the header") + R"(int @name@_load(void) {
  int number;
  const multiprocessors *gpu;
  return find_image(&number, &gpu);
}

)" + workspace +
         "\n" + launchFunction() + "\n" + complaintsOf + errorString;
}

std::string SourcePrinter::complaintList() const {
  std::vector<std::string> rows;
  for (const std::string &tensor : interface.tensors)
    rows.push_back("COMPLAINTS_OF(\"" + tensor + "\")");
  return wrapped("\n      ", rows, "");
}

/// A C array of the bytes as words, which are aligned as an ELF file asks, and a 0 or more.
std::string wordsOf(std::span<const std::byte> bytes) {
  std::string rows;
  std::vector<std::byte> padded(bytes.begin(), bytes.end());
  padded.resize((padded.size() + 8) / 8 * 8);
  for (size_t at = 0; at < padded.size(); at += 8) {
    uint64_t word;
    std::memcpy(&word, &padded[at], 8);
    char digits[24];
    std::snprintf(digits, sizeof(digits), "0x%016llxu,", static_cast<unsigned long long>(word));
    rows += at % 32 == 0 ? (at ? "\n    " : "    ") : " ";
    rows += digits;
  }
  return rows;
}

/// The images' code.
std::string SourcePrinter::code() const {
  std::string text = section("The machine code");
  std::vector<std::string> names;
  for (const Image &image : images) {
    const std::string name = "code_" + image.target.name() + (image.isPtx ? "_ptx" : "");
    text += std::string("/* ") + (image.isPtx ? "PTX" : "A cubin") +
            ", as words of the little-endian machines that have GPUs. */\nstatic const uint64_t " +
            name + "[] = {\n" + wordsOf(image.code) + "\n};\n\n";
    names.push_back(name);
  }
  return text + "static const void *code_of(int number) {\n" +
         wrapped("  static const void *const codes[IMAGES] = {", names, "};\n") +
         "  return codes[number];\n}\n";
}

} // namespace

std::string printSource(const CInterface &interface, std::span<const Image> images) {
  return SourcePrinter(interface, images).print();
}

} // namespace eider::aot
