//===- Harness.cpp - Many small kernels, compiled together ----------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/Harness.h"

#include "runtime/CallImpl.h"
#include "tests/matrix/BatchBackend.h"

#include <cstdlib>
#include <set>
#include <utility>

using namespace eider;
using namespace eider::matrix;

namespace {
/// What lies around a tensor, and in an output before it is written. Around inputs a NaN of every
/// dtype, so that what is read beyond a tensor does not pass unseen; in outputs no NaN, so that
/// what is not written does not pass for one.
std::byte poisonOf(const contract::Tensor &tensor) {
  if (tensor.role == contract::Role::Output)
    return std::byte{0xa5};
  bool isFnuz = tensor.dtype == DType::e4m3fnuz || tensor.dtype == DType::e5m2fnuz;
  return isFnuz ? std::byte{0x80} : std::byte{0xff};
}

/// A case with its kernel.
struct Entry {
  Case given;
  std::shared_ptr<const detail::KernelImpl> kernel;
  std::vector<Placement> placements; ///< One a tensor of the contract.
  std::unique_ptr<detail::CallImpl> call;
  const detail::PreparedVariant *variant;
};

const HostTensor *find(const std::vector<HostTensor> &tensors, const std::string &name) {
  for (const HostTensor &tensor : tensors)
    if (tensor.name == name)
      return &tensor;
  return nullptr;
}

/// Device memory that frees itself.
class Memory {
public:
  Memory(const Backend &backend, size_t bytes)
      : backend(backend), pointer_(backend.allocate(bytes)) {}
  Memory(Memory &&other) noexcept
      : backend(other.backend), pointer_(std::exchange(other.pointer_, nullptr)) {}
  ~Memory() {
    if (pointer_)
      backend.free(pointer_);
  }
  std::byte *pointer() const { return static_cast<std::byte *>(pointer_); }

private:
  const Backend &backend;
  void *pointer_;
};
} // namespace

std::string matrix::testDevice() {
  const char *device = std::getenv("EIDER_TEST_DEVICE");
  return device ? device : "host";
}

struct Harness::Impl {
  std::shared_ptr<BatchBackend> batch; ///< Null on a GPU.
  std::shared_ptr<const Backend> backend;
  std::vector<Entry> entries;
  std::set<std::string> texts;
};

Harness::Harness(const std::string &device, uint64_t seed) : impl(std::make_unique<Impl>()) {
  DeviceOptions options;
  options.cache.enabled = false;
  options.checked = true;
  options.seed = seed;
  options.threads = 1; // many cases run at once
  if (device == "host") {
    impl->batch = std::make_shared<BatchBackend>(options);
    impl->backend = impl->batch;
  } else if (device == "cuda") {
    impl->backend = openCuda(0, options);
  } else {
    throw Error(ErrorKind::Request, "no device '" + device + "'", "matrix", "give host or cuda");
  }
}

Harness::~Harness() = default;

/// The variant that tensors in their placements would take; no memory is needed to know.
static const detail::PreparedVariant &chooseVariant(const Entry &entry) {
  std::vector<TensorArg> tensors;
  uint64_t address = uint64_t(1) << 40;
  for (const Placement &placement : entry.placements) {
    tensors.push_back(
        {reinterpret_cast<const void *>(address + placement.offset()), placement.strides()});
    address += uint64_t(1) << 36;
  }
  detail::TensorFacts facts;
  entry.call->checker.describe(tensors, facts);
  return entry.call->choose(facts);
}

contract::Contract matrix::contractOf(const Case &given, const std::string &target) {
  CompileOptions options = given.options;
  options.target = target;
  contract::Contract contract = contract::read(compile(given.program, options).contract);
  if (given.forAnyRows && options.schedule.empty())
    std::erase_if(contract.variants, [](const auto &one) {
      return one.name == "few_rows" || one.name == "some_rows" || one.name.starts_with("rows_") ||
             one.name.starts_with("cooperative");
    });
  if (given.forSomeRows)
    std::erase_if(contract.variants, [](const auto &one) { return one.name == "few_rows"; });
  if (given.forManyRows)
    for (contract::Variant &variant : contract.variants)
      if (variant.name == "uneven_large")
        std::erase_if(variant.predicates, [](const contract::Predicate &one) {
          return one.kind == contract::Predicate::Kind::Range;
        });
  return contract;
}

size_t Harness::add(Case added) {
  contract::Contract contract = contractOf(added, target());
  Entry entry{std::move(added), nullptr, {}, nullptr, nullptr};
  entry.kernel = std::make_shared<const detail::KernelImpl>(impl->backend, std::move(contract), "");
  entry.call = std::make_unique<detail::CallImpl>(entry.kernel, entry.given.dims);
  std::vector<int64_t> dims = entry.kernel->dimValues(entry.given.dims);
  const auto &tensors = entry.kernel->contract.tensors;
  for (unsigned i = 0; i < tensors.size(); ++i) {
    Layout layout = entry.given.layout;
    if (tensors[i].shape.size() == 3 && tensors[i].role != contract::Role::Input)
      layout.padding = 0; // whose columns are two dims, which lie together
    entry.placements.emplace_back(tensors[i].dtype, entry.kernel->extents(i, dims), layout);
  }
  entry.variant = &chooseVariant(entry);
  impl->texts.insert(entry.variant->variant->variant.source);
  impl->entries.push_back(std::move(entry));
  return impl->entries.size() - 1;
}

void Harness::build() {
  if (impl->batch) {
    std::vector<const contract::Variant *> variants;
    for (const Entry &entry : impl->entries)
      variants.push_back(&entry.variant->variant->variant);
    impl->batch->compile(variants);
    return;
  }
  inParallel(impl->entries.size(),
             [&](size_t i) { impl->entries[i].variant->variant->load(*impl->backend, target()); });
}

/// The image of each tensor before the launch.
static std::vector<std::vector<std::byte>> imagesOf(const Entry &entry) {
  std::vector<std::vector<std::byte>> images;
  const auto &tensors = entry.kernel->contract.tensors;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const HostTensor *data = nullptr;
    if (tensors[i].role != contract::Role::Output)
      if (data = find(entry.given.inputs, tensors[i].name); !data)
        throw Error(ErrorKind::Internal, "the case lacks input '" + tensors[i].name + "'",
                    "matrix");
    images.push_back(entry.placements[i].image(poisonOf(tensors[i]), data));
  }
  return images;
}

static std::vector<ScalarArg> scalarsOf(const Entry &entry) {
  std::vector<ScalarArg> scalars;
  for (const contract::Scalar &scalar : entry.kernel->contract.scalars) {
    auto given = entry.given.scalars.find(scalar.name);
    scalars.push_back(given == entry.given.scalars.end() ? scalar.defaultValue.value()
                                                         : static_cast<double>(given->second));
  }
  return scalars;
}

std::vector<HostTensor> Harness::run(size_t number) const {
  const Entry &entry = impl->entries[number];
  const Backend &backend = *impl->backend;
  std::vector<std::vector<std::byte>> images = imagesOf(entry);
  std::vector<Memory> memory;
  std::vector<TensorArg> arguments;
  for (size_t i = 0; i < images.size(); ++i) {
    memory.emplace_back(backend, images[i].size());
    backend.upload(memory[i].pointer(), images[i].data(), images[i].size());
    arguments.push_back(
        {memory[i].pointer() + entry.placements[i].offset(), entry.placements[i].strides()});
  }
  Memory workspace(backend, entry.call->workspaceBytes);
  backend.fill(workspace.pointer(), 0xff, entry.call->workspaceBytes);
  entry.call->launch({}, arguments, scalarsOf(entry),
                     entry.call->workspaceBytes ? workspace.pointer() : nullptr);
  backend.synchronize();

  std::vector<HostTensor> outputs;
  const auto &tensors = entry.kernel->contract.tensors;
  for (size_t i = 0; i < images.size(); ++i) {
    std::vector<std::byte> image(images[i].size());
    backend.download(image.data(), memory[i].pointer(), image.size());
    bool isInput = tensors[i].role == contract::Role::Input;
    if (isInput ? image != images[i] : !entry.placements[i].guardsHold(image, poisonOf(tensors[i])))
      throw Error(ErrorKind::Internal,
                  isInput ? "the input '" + tensors[i].name + "' was written"
                          : "something was written beside the output '" + tensors[i].name + "'",
                  "matrix");
    if (!isInput)
      outputs.push_back(entry.placements[i].extract(tensors[i].name, image));
  }
  return outputs;
}

const std::string &Harness::variantOf(size_t number) const {
  return impl->entries[number].variant->variant->variant.name;
}

size_t Harness::texts() const { return impl->texts.size(); }
const std::string &Harness::target() const { return impl->backend->info().target; }
