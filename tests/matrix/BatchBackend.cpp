//===- BatchBackend.cpp - `host` with texts compiled together -------------===//
//
// Part of Eider, under the Apache License v2.0.
//
//===----------------------------------------------------------------------===//
#include "tests/matrix/BatchBackend.h"

#include "runtime/host/CombinedSource.h"
#include "runtime/host/HostModule.h"

#include <atomic>
#include <thread>

using namespace eider;
using namespace eider::matrix;

void matrix::inParallel(size_t count, const std::function<void(size_t)> &task) {
  std::atomic<size_t> next = 0;
  std::mutex mutex;
  std::exception_ptr failure;
  auto work = [&] {
    for (size_t i = next++; i < count; i = next++)
      try {
        task(i);
      } catch (...) {
        std::lock_guard lock(mutex);
        if (!failure)
          failure = std::current_exception();
      }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 1; i < std::thread::hardware_concurrency(); ++i)
    threads.emplace_back(work);
  work();
  for (std::thread &thread : threads)
    thread.join();
  if (failure)
    std::rethrow_exception(failure);
}

void BatchBackend::compile(const std::vector<const contract::Variant *> &variants) {
  // Enough texts to a unit that the compiler's start-up is shared, few enough that units are many.
  constexpr size_t textsPerUnit = 12;
  std::map<std::string, const contract::Variant *> missing;
  for (const contract::Variant *variant : variants)
    if (!texts.count(variant->source))
      missing.emplace(variant->source, variant);
  std::vector<std::vector<const contract::Variant *>> batches;
  for (auto &[source, variant] : missing) {
    if (batches.empty() || batches.back().size() == textsPerUnit)
      batches.emplace_back();
    batches.back().push_back(variant);
  }
  inParallel(batches.size(), [&](size_t i) { compileOrSplit(batches[i]); });
}

void BatchBackend::compileOrSplit(const std::vector<const contract::Variant *> &batch) {
  try {
    compileBatch(batch);
  } catch (const Error &error) {
    if (error.kind() == ErrorKind::Machine)
      throw;
    if (batch.size() > 1) {
      for (const contract::Variant *variant : batch)
        compileOrSplit({variant});
      return;
    }
    std::lock_guard lock(mutex);
    refused[batch[0]->source] = error.what();
  }
}

void BatchBackend::compileBatch(const std::vector<const contract::Variant *> &batch) {
  std::vector<host::NamedSource> sources;
  std::vector<std::string> entries;
  for (size_t i = 0; i < batch.size(); ++i) {
    host::NamedSource source{"text_" + std::to_string(i) + ".cu", batch[i]->source, {}};
    for (const contract::Launch &launch : batch[i]->launches) {
      source.entries.push_back(launch.entry);
      entries.push_back(host::combinedEntry(launch.entry, i));
    }
    sources.push_back(std::move(source));
  }
  std::shared_ptr<const host::HostModule> module =
      host::HostModule::compile(host::combine(sources), entries);
  std::lock_guard lock(mutex);
  for (size_t i = 0; i < batch.size(); ++i) {
    auto text = std::make_shared<LoadedText>();
    for (const std::string &entry : sources[i].entries)
      text->functions.push_back(
          reinterpret_cast<void *>(module->kernel(host::combinedEntry(entry, i))));
    text->owner = module;
    texts[batch[i]->source] = std::move(text);
  }
}

std::shared_ptr<const LoadedText> BatchBackend::load(const contract::Variant &variant,
                                                     const std::string &) const {
  if (auto found = refused.find(variant.source); found != refused.end())
    throw Error(ErrorKind::Internal, found->second, "matrix");
  auto found = texts.find(variant.source);
  if (found == texts.end())
    throw Error(ErrorKind::Internal, "the text of variant '" + variant.name + "' was not compiled",
                "matrix", "call build() after the last add()");
  return found->second;
}
