//===- GpuKernel.cpp - A kernel on a GPU, with all of its functions -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/GpuKernel.h"

#include "compiler/Support/Error.h"
#include "runtime/GpuModule.h"
#include "runtime/cuda/CudaBackend.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdio>
#include <new>
#include <type_traits>

using namespace flashtile;

/// Says why a block of `entry` does not fit the device's shared memory.
static std::string whyTooLarge(const CudaFunction &function,
                               const GpuEntry &entry) {
  const CudaDevice &device = function.device();
  const int64_t limit = device.properties().sharedBytesPerBlockOptIn;
  const int64_t fixed = function.attributes().staticSharedBytes;
  if (entry.sharedBytes + fixed <= limit)
    return {};
  std::string text = "it needs " + std::to_string(entry.sharedBytes + fixed) +
                     " bytes of shared memory, but a block on device " +
                     device.describe() + " has at most " +
                     std::to_string(limit);
  for (const SharedBuffer &buffer : entry.sharedBuffers)
    text += (&buffer == entry.sharedBuffers.data() ? ": " : ", ") +
            buffer.name + " takes " + std::to_string(buffer.bytes) +
            " bytes from " + std::to_string(buffer.offset);
  return text;
}

static MultiprocessorLimits limitsOf(const CudaDevice &device) {
  const CudaDeviceProperties &properties = device.properties();
  MultiprocessorLimits limits;
  limits.registers = properties.registersPerMultiprocessor;
  limits.threads = properties.threadsPerMultiprocessor;
  limits.blocks = properties.blocksPerMultiprocessor;
  limits.sharedBytes = properties.sharedBytesPerMultiprocessor;
  limits.sharedBytesPerBlock = properties.sharedBytesPerBlockOptIn;
  return limits;
}

GpuKernel::GpuKernel(const CudaModule &code, const ArtifactKernel &kernel,
                     std::shared_ptr<PlainModule> elsewhere)
    : kernel(kernel), elsewhere(std::move(elsewhere)) {
  for (const GpuEntry &entry : kernel.entries) {
    Entry &added =
        entries.emplace_back(code.function(entry.symbol), entry, kernel.info);
    added.tooLarge = whyTooLarge(added.function, entry);
  }
}

void GpuKernel::note(const std::string &reason) const {
  const std::lock_guard<std::mutex> lock(reasonsMutex);
  // Values differ from launch to launch: the first few tell enough.
  constexpr size_t most = 8;
  if (reasons.size() < most &&
      std::find(reasons.begin(), reasons.end(), reason) == reasons.end())
    reasons.push_back(reason);
}

/// Why the arguments do not fit a function; empty where they do.
static std::string whyUnfit(const GpuEntry &entry, const KernelInfo &info,
                            const LaunchArguments &arguments) {
  for (const DivisibleArgument &each : entry.requirements) {
    const uint64_t value = arguments.address(each.argument);
    if ((value & static_cast<uint64_t>(each.divisor - 1)) == 0)
      continue;
    const std::string rule = "a multiple of " + std::to_string(each.divisor);
    const auto begin = info.arguments.begin(), at = begin + each.argument;
    if (at->isPointer)
      return "argument '" + at->name + "': the address is " +
             std::to_string(value % static_cast<uint64_t>(each.divisor)) +
             " bytes past " + rule;
    const auto number = std::count_if(
        begin, at, [](const KernelArgument &a) { return a.isInteger(); });
    return "argument '" + at->name + "': " +
           std::to_string(
               arguments.integerValues()[static_cast<size_t>(number)]) +
           " is not " + rule;
  }
  return {};
}

void GpuKernel::launch(const Kernel::Grid &grid,
                       const LaunchArguments &arguments) const {
  std::string problems;
  if (tryLaunch(grid, arguments, problems))
    return;
  if (elsewhere) {
    // Loading code would end the capture with an error of the driver's.
    if (!elsewhere->ifLoaded() &&
        CudaStream::current(entries.front().function.device()).isCapturing())
      throw Error(ErrorCode::InvalidArgument,
                  "cannot launch kernel '" + kernel.info.name +
                      "' in a capture: these arguments need a function that "
                      "has to be compiled first (" +
                      problems + "); launch it once before the capture");
    const GpuKernel &plain = elsewhere->kernel(kernel.info.name);
    if (plain.tryLaunch(grid, arguments, problems))
      return;
  }
  throw Error(ErrorCode::InvalidArgument,
              "cannot launch kernel '" + kernel.info.name + "': " + problems);
}

bool GpuKernel::tryLaunch(const Kernel::Grid &grid,
                          const LaunchArguments &arguments,
                          std::string &problems) const {
  for (const Entry &entry : entries) {
    std::string whyNot = entry.tooLarge;
    if (whyNot.empty())
      whyNot = whyUnfit(entry.info, kernel.info, arguments);
    if (whyNot.empty() && entry.info.tensorMaps.empty()) {
      launchEntry(entry, nullptr, grid, arguments);
      return true;
    }
    if (whyNot.empty() && launchWithMaps(entry, grid, arguments, whyNot))
      return true;
    note("function '" + entry.info.symbol + "' not taken: " + whyNot);
    // Functions may have the same one, too large a tile for instance.
    if (problems.find(whyNot) == std::string::npos)
      problems += (problems.empty() ? "" : "; ") + whyNot;
  }
  return false;
}

bool GpuKernel::launchWithMaps(const Entry &entry, const Kernel::Grid &grid,
                               const LaunchArguments &arguments,
                               std::string &whyNot) const {
  const ContextGuard guard(entry.function.device()); // once for all calls
  // Most of these are not used: not worth clearing.
  alignas(TensorMap)
      std::array<std::byte, GpuEntry::maxTensorMaps * sizeof(TensorMap)>
          memory;
  static_assert(std::is_trivially_destructible_v<TensorMap>);
  auto *maps = reinterpret_cast<TensorMap *>(memory.data());
  if (!entry.tensorMaps.find(arguments, maps, whyNot))
    return false;
  launchEntry(entry, std::launder(maps), grid, arguments);
  return true;
}

/// The grid of a function that does several programs at once.
static Kernel::Grid gridOf(const GpuEntry &entry, Kernel::Grid grid) {
  for (size_t axis = 0; axis < grid.size(); ++axis) {
    const int64_t count = entry.programsAtOnce[axis];
    grid[axis] = grid[axis] / count + (grid[axis] % count != 0);
  }
  return grid;
}

void GpuKernel::launchEntry(const Entry &entry, const TensorMap *maps,
                            const Kernel::Grid &grid,
                            const LaunchArguments &arguments) const {
  const ContextGuard guard(entry.function.device());
  const CudaStream stream = CudaStream::current(entry.function.device());
  CudaLaunchConfig config;
  config.block = {entry.info.numThreads, 1, 1};
  config.cluster = {entry.info.clusterBlocks, 1, 1};
  config.dynamicSharedBytes = static_cast<size_t>(entry.info.sharedBytes);
  if (entry.info.persistentBlocks)
    config.maxBlocks = entry.info.persistentBlocks *
                       entry.function.device().properties().multiprocessors;
  const FlattenedGrid flat(gridOf(entry.info, grid));
  // Blocks as many as programs ask no counter.
  const bool counts =
      entry.counters &&
      flat.numPrograms() > std::max<int64_t>(config.maxBlocks, 1);
  const cuda::DevicePointer counter =
      counts ? entry.counters->forLaunch(stream) : 0;
  const size_t ordinary = kernel.info.arguments.size();
  const size_t withMaps = ordinary + entry.info.tensorMaps.size();
  const size_t count = withMaps + (entry.counters ? 1 : 0);
  const void *const *parameters = arguments.pointers();
  constexpr size_t inlineCount = 64;
  std::array<const void *, inlineCount> few;
  std::vector<const void *> many;
  if (count > ordinary) {
    const void **all = few.data();
    if (count > inlineCount) {
      many.resize(count);
      all = many.data();
    }
    std::copy_n(parameters, ordinary, all);
    for (size_t i = ordinary; i < withMaps; ++i)
      all[i] = maps[i - ordinary].data();
    if (entry.counters)
      all[withMaps] = &counter;
    parameters = all;
  }
  entry.function.launch(stream, flat, config, parameters, count);
  arguments.forEachTensor(
      [&](const Tensor &tensor) { recordUse(tensor, stream); });
}

/// According to the driver; -1 where it does not answer: a report of a lost
/// device is still one.
static int64_t blocksAtOnce(const CudaFunction &function,
                            const GpuEntry &entry) {
  try {
    return function.maxBlocksPerMultiprocessor(
        static_cast<int>(entry.numThreads),
        static_cast<size_t>(entry.sharedBytes));
  } catch (const Error &) {
    return -1;
  }
}

void GpuKernel::describe(KernelReport &report) const {
  report.onGpu = true;
  for (const Entry &entry : entries) {
    const CudaFunction::Attributes &attributes = entry.function.attributes();
    GpuEntryReport &added = report.entries.emplace_back();
    static_cast<GpuEntry &>(added) = entry.info;
    added.limits = limitsOf(entry.function.device());
    added.resources.registers = attributes.registers;
    added.localBytes = attributes.localBytes;
    added.staticSharedBytes = attributes.staticSharedBytes;
    added.maxThreadsPerBlock = attributes.maxThreadsPerBlock;
    if (entry.tooLarge.empty())
      added.blocksPerMultiprocessor = blocksAtOnce(entry.function, entry.info);
  }
  {
    const std::lock_guard<std::mutex> lock(reasonsMutex);
    for (const std::string &reason : reasons)
      report.remarks.push_back("remark: at a launch of kernel '" +
                               kernel.info.name + "': " + reason);
  }
  const GpuModule *other = elsewhere ? elsewhere->ifLoaded() : nullptr;
  const GpuKernel *plain = other ? other->find(kernel.info.name) : nullptr;
  if (!plain)
    return;
  // Its stages are not among those of the report, which are of the module that
  // was compiled before any launch.
  const CompileReport &compiled = other->report;
  std::array<char, 32> time{};
  std::snprintf(time.data(), time.size(), "%.0f ms",
                compiled.totalMilliseconds());
  report.remarks.push_back("remark: at a launch of kernel '" +
                           kernel.info.name + "': its plain function was " +
                           (compiled.fromCache ? "loaded" : "compiled") +
                           " in " + time.data());
  report.warnings.insert(report.warnings.end(), compiled.warnings.begin(),
                         compiled.warnings.end());
  plain->describe(report);
}
