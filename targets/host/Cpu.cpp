#include "targets/host/Cpu.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/TargetParser/Host.h"

#include <atomic>
#include <memory>
#include <optional>
#include <pthread.h>
#include <sched.h>

namespace plim::targets::host {
namespace {

FeatureMap readHere() {
  FeatureMap features;
  for (const auto &feature : llvm::sys::getHostCPUFeatures())
    features[feature.getKey().str()] = feature.getValue();
  return features;
}

void *readInThread(void *features) {
  *static_cast<FeatureMap *>(features) = readHere();
  return nullptr;
}

/// CPUID answers for the core that executes it, so the question is asked by a thread bound there.
std::optional<FeatureMap> readOn(int cpu) {
  cpu_set_t *set = CPU_ALLOC(cpu + 1);
  if (!set)
    return std::nullopt;
  size_t setBytes = CPU_ALLOC_SIZE(cpu + 1);
  CPU_ZERO_S(setBytes, set);
  CPU_SET_S(cpu, setBytes, set);
  pthread_attr_t attributes;
  pthread_t thread;
  FeatureMap features;
  bool asked = false;
  if (pthread_attr_init(&attributes) == 0) {
    asked = pthread_attr_setaffinity_np(&attributes, setBytes, set) == 0 &&
            pthread_create(&thread, &attributes, readInThread, &features) == 0 &&
            pthread_join(thread, nullptr) == 0;
    pthread_attr_destroy(&attributes);
  }
  CPU_FREE(set);
  return asked ? std::optional(std::move(features)) : std::nullopt;
}

} // namespace

std::string readTriple() { return llvm::sys::getProcessTriple(); }

FeatureMap readFeatures(const std::vector<int> &cpus) {
  struct Known {
    std::vector<int> cpus;
    FeatureMap features;
  };
  // Once: LLVM ends the process if it gets no memory while it reads. Never destroyed, as threads may ask while it ends.
  static std::atomic<const Known *> known = nullptr;
  const Known *before = known.load();
  if (before && before->cpus == cpus)
    return before->features;
  FeatureMap features = readHere();
  if (cpus.size() > 1)
    for (int cpu : cpus)
      if (std::optional<FeatureMap> there = readOn(cpu))
        features = intersectFeatures(features, *there);
  auto read = std::make_unique<const Known>(cpus, features);
  if (!before && known.compare_exchange_strong(before, read.get()))
    (void)read.release();
  return features;
}

FeatureMap intersectFeatures(const FeatureMap &a, const FeatureMap &b) {
  FeatureMap both;
  for (const auto &[name, enabled] : a)
    both[name] = enabled && hasFeature(b, name);
  for (const auto &[name, enabled] : b)
    both.try_emplace(name, false);
  return both;
}

bool hasFeature(const FeatureMap &features, const std::string &name) {
  auto found = features.find(name);
  return found != features.end() && found->second;
}

} // namespace plim::targets::host
