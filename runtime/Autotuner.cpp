//===- Autotuner.cpp - The fastest of several configurations --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Results on disk are entries of the kernel cache, which checks, replaces and
// prunes them as it does code; only the payload is of another kind, and the key
// says so.
//
//===----------------------------------------------------------------------===//

#include "runtime/Autotuner.h"

#include "compiler/Driver/CodeGenerator.h"
#include "compiler/Support/Error.h"
#include "runtime/BuildId.h"
#include "runtime/EnvOptions.h"
#include "runtime/GpuModule.h"
#include "runtime/KernelCache.h"
#include "runtime/ThreadPool.h"
#include "runtime/TuningRecord.h"

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>
#include <mutex>

using namespace flashtile;

namespace {
/// A result of this process, or the place where it will be.
struct Slot {
  std::mutex mutex;
  std::optional<TuningResult> result;
};

class SlotTable {
public:
  static SlotTable &global() {
    static auto *table = new SlotTable(); // used until the process is gone
    return *table;
  }
  std::shared_ptr<Slot> get(const Digest &key) {
    std::lock_guard<std::mutex> lock(mutex);
    std::shared_ptr<Slot> &slot = slots[key];
    if (!slot)
      slot = std::make_shared<Slot>();
    return slot;
  }
  void clear() {
    std::lock_guard<std::mutex> lock(mutex);
    slots.clear();
  }

  /// Held while launches are measured.
  std::mutex measuring;

private:
  std::mutex mutex;
  std::map<Digest, std::shared_ptr<Slot>> slots;
};

struct Candidate {
  TuningTrial trial;
  std::function<void()> launch; ///< empty where building failed
  ErrorCode code = ErrorCode::Internal;

  void fail(const std::exception &error) {
    const auto *known = dynamic_cast<const Error *>(&error);
    code = known ? known->code() : ErrorCode::Internal;
    trial.failure = error.what();
    // An empty reason would pass for none.
    if (trial.failure.empty())
      trial.failure = errorCodeName(code);
    trial.milliseconds = 0;
    launch = nullptr;
  }
};
} // namespace

/// The device as far as it decides what is fast.
static std::string identityOf(Device device) {
  if (!device.isCuda())
    return hostProcessor() + ", " +
           std::to_string(ThreadPool::global().workerCount()) + " threads";
  const CudaDevice &gpu = CudaDevice::get(device);
  return gpu.properties().name + ", " + gpuIdentity(gpu);
}

static Digest keyOf(const TuningProblem &problem,
                    const std::vector<TuningConfig> &configs) {
  std::string list;
  for (const TuningConfig &config : configs)
    list += config.toString() + "\n";
  return digest({"tuning", compilerBuildId, llvmIdentity(),
                 EnvOptions::read().cacheKey(), identityOf(problem.device),
                 problem.key, problem.program, list});
}

static std::vector<TuningConfig>
withoutRepetitions(const std::vector<TuningConfig> &configs) {
  std::vector<TuningConfig> unique;
  for (const TuningConfig &config : configs)
    if (std::find(unique.begin(), unique.end(), config) == unique.end())
      unique.push_back(config);
  return unique;
}

static std::vector<Candidate>
buildAll(const TuningProblem &problem,
         const std::vector<TuningConfig> &configs) {
  std::vector<Candidate> candidates(configs.size());
  ThreadPool::global().parallelFor(
      static_cast<int64_t>(configs.size()), [&](int64_t i, unsigned) {
        Candidate &candidate = candidates[static_cast<size_t>(i)];
        candidate.trial.config = configs[static_cast<size_t>(i)];
        const auto begin = std::chrono::steady_clock::now();
        try {
          candidate.launch = problem.build(candidate.trial.config);
          if (!candidate.launch)
            throw Error(ErrorCode::InvalidArgument,
                        "nothing to launch was built");
        } catch (const std::exception &error) {
          candidate.fail(error);
        }
        const std::chrono::duration<double, std::milli> elapsed =
            std::chrono::steady_clock::now() - begin;
        candidate.trial.buildMilliseconds = elapsed.count();
      });
  return candidates;
}

static void measureAll(std::vector<Candidate> &candidates, Device device,
                       const TuningOptions &options) {
  std::lock_guard<std::mutex> lock(SlotTable::global().measuring);
  TimingOptions timing = options.timing;
  for (Candidate &candidate : candidates) {
    if (!candidate.launch)
      continue;
    try {
      const Timing time = timeLaunches(device, candidate.launch, timing);
      candidate.trial.milliseconds = time.milliseconds;
      candidate.trial.firstMilliseconds = time.firstMilliseconds;
      timing.limitMilliseconds = std::min(timing.limitMilliseconds,
                                          time.milliseconds * options.hopeless);
    } catch (const std::exception &error) {
      candidate.fail(error);
    }
    // What it holds, memory of a device perhaps, is not needed any more.
    candidate.launch = nullptr;
  }
}

static TuningResult measured(const TuningProblem &problem,
                             const std::vector<TuningConfig> &configs,
                             const TuningOptions &options) {
  std::vector<Candidate> candidates = buildAll(problem, configs);
  measureAll(candidates, problem.device, options);
  TuningResult result;
  for (const Candidate &candidate : candidates)
    result.trials.push_back(candidate.trial);
  const std::optional<size_t> best = fastestTrial(result.trials);
  if (!best) {
    std::string message = "no configuration of '" + problem.key +
                          "' works on " + problem.device.toString() + ":";
    for (const TuningTrial &trial : result.trials)
      message += "\n  " + trial.config.toString() + ": " + trial.failure;
    throw Error(candidates.front().code, message);
  }
  result.best = result.trials[*best].config;
  result.milliseconds = result.trials[*best].milliseconds;
  return result;
}

TuningResult flashtile::autotune(const TuningProblem &problem,
                                 const TuningOptions &options) {
  const std::vector<TuningConfig> configs = withoutRepetitions(problem.configs);
  if (configs.empty() || !problem.build)
    throw Error(ErrorCode::InvalidArgument,
                "expected a configuration or more, and a function that builds "
                "them, to tune '" +
                    problem.key + "'");
  const Digest key = keyOf(problem, configs);
  const EnvOptions environment = EnvOptions::read();
  const std::shared_ptr<KernelCache> cache =
      KernelCache::open(environment.kernelCacheFolder(), environment.cacheSize);
  const std::shared_ptr<Slot> slot = SlotTable::global().get(key);
  std::lock_guard<std::mutex> lock(slot->mutex);
  if (options.usesCache && !slot->result && cache)
    if (const std::optional<std::string> text = cache->find(key))
      slot->result = readTuningRecord(*text, configs);
  if (options.usesCache && slot->result) {
    TuningResult result = *slot->result;
    result.fromCache = true;
    return result;
  }
  TuningResult result = measured(problem, configs, options);
  slot->result = result;
  if (cache)
    cache->store(key, writeTuningRecord(result));
  return result;
}

void flashtile::clearTuningResults() { SlotTable::global().clear(); }
