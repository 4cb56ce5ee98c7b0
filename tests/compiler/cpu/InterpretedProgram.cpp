//===- InterpretedProgram.cpp - Compiled kernels on a PtxMachine ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/InterpretedProgram.h"

#include "runtime/cuda/TensorMap.h"
#include "tests/compiler/cpu/KernelRunner.h"
#include "tests/compiler/cpu/PtxMachine.h"
#include "tests/compiler/cpu/PtxProgram.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

using namespace flashtile;
using namespace flashtile::cputest;

/// "prefix (0, 0, 0) type: v, v" to "prefix|type| v v".
static std::string printedLine(const std::string &line) {
  const size_t open = line.find(" ("), close = line.find(')', open);
  std::string prefix = line.substr(0, open);
  if (close + 1 >= line.size())
    return prefix + "||";
  const size_t colon = line.find(": ", close);
  std::string values = line.substr(colon + 1);
  for (size_t comma = values.find(','); comma != std::string::npos;
       comma = values.find(','))
    values.erase(comma, 1);
  return prefix + "|" + line.substr(close + 2, colon - close - 2) + "|" +
         values;
}

/// The integer arguments, in order.
static std::vector<int64_t> integersOf(const KernelInfo &info,
                                       const std::vector<Argument> &arguments) {
  std::vector<int64_t> integers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const KernelArgument &argument = info.arguments[i];
    if (argument.isPointer || isFloat(argument.type))
      continue;
    int64_t value = 0;
    std::memcpy(&value, arguments[i].address(), elementSize(argument.type));
    integers.push_back(wrapTo(argument.type, value));
  }
  return integers;
}

/// False where the hardware has no such map, or copies could not reach all.
static bool encode(const TensorMapParameter &parameter, const KernelInfo &info,
                   const std::vector<Argument> &arguments, PtxTensorMap &map) {
  const std::vector<int64_t> integers = integersOf(info, arguments);
  const auto bytes = int64_t(elementSize(parameter.element));
  TensorMapDescription description;
  description.type = parameter.element;
  description.box = parameter.box;
  description.fill = parameter.fillsNaN ? TensorMapDescription::Fill::NaN
                                        : TensorMapDescription::Fill::Zero;
  description.swizzle = TensorMapDescription::Swizzle(
      parameter.swizzleBytes == 0
          ? 0
          : __builtin_ctzll(parameter.swizzleBytes) - 4);
  std::memcpy(&description.base, arguments[parameter.argument].address(), 8);
  int64_t offset = 0;
  if (!parameter.offset.steps.empty() &&
      !parameter.offset.evaluate(integers, offset))
    return false;
  description.base += uint64_t(offset * bytes);
  for (const GridExpr &extent : parameter.extents) {
    if (!extent.evaluate(integers, description.shape.emplace_back()) ||
        description.shape.back() > INT32_MAX)
      return false;
  }
  for (const GridExpr &stride : parameter.strides) {
    int64_t &value = description.strideBytes.emplace_back();
    if (!stride.evaluate(integers, value))
      return false;
    value *= bytes;
    if (description.shape[description.strideBytes.size()] == 1)
      value = 16;
  }
  if (!description.whyNot().empty())
    return false;
  map = {};
  map.base = reinterpret_cast<uint8_t *>(description.base);
  map.rank = int64_t(description.shape.size());
  map.elementBytes = bytes;
  map.swizzleBytes = parameter.swizzleBytes;
  if (parameter.fillsNaN)
    map.padding = canonicalBits(parameter.element, std::nan(""));
  for (int64_t dim = 0; dim < map.rank; ++dim) {
    map.extents[dim] = description.shape[dim];
    map.strideBytes[dim] = dim ? description.strideBytes[dim - 1] : bytes;
    map.box[dim] = int32_t(description.box[dim]);
  }
  return true;
}

namespace {
class InterpretedProgram : public GpuProgram {
public:
  InterpretedProgram(KernelArtifact compiled,
                     std::optional<KernelArtifact> plain)
      : artifact(std::move(compiled)), machine(artifact.code) {
    if (plain)
      elsewhere =
          std::make_unique<InterpretedProgram>(std::move(*plain), std::nullopt);
  }

  Outcome run(const std::string &name,
              const std::vector<Argument> &arguments) const override {
    for (const ArtifactKernel &kernel : artifact.kernels)
      if (kernel.info.name == name || name.empty()) {
        std::vector<PtxTensorMap> maps;
        if (const GpuEntry *entry = entryFor(kernel, arguments, maps))
          return run(kernel, *entry, arguments, maps);
        if (elsewhere)
          return elsewhere->run(kernel.info.name, arguments);
      }
    ADD_FAILURE() << "no function for kernel @" << name;
    return {};
  }

private:
  /// As a launch does: the first whose requirements hold, and that can have its
  /// tensor maps.
  static const GpuEntry *entryFor(const ArtifactKernel &kernel,
                                  const std::vector<Argument> &arguments,
                                  std::vector<PtxTensorMap> &maps) {
    for (const GpuEntry &entry : kernel.entries) {
      bool fits = true;
      for (const DivisibleArgument &requirement : entry.requirements) {
        int64_t value = 0;
        const KernelArgument &argument =
            kernel.info.arguments[requirement.argument];
        std::memcpy(&value, arguments[requirement.argument].address(),
                    argument.isPointer ? 8 : elementSize(argument.type));
        fits &= value % requirement.divisor == 0;
      }
      maps.resize(entry.tensorMaps.size());
      for (size_t i = 0; i < maps.size(); ++i)
        fits = fits &&
               encode(entry.tensorMaps[i], kernel.info, arguments, maps[i]);
      if (fits)
        return &entry;
    }
    return nullptr;
  }

  Outcome run(const ArtifactKernel &kernel, const GpuEntry &entry,
              const std::vector<Argument> &arguments,
              const std::vector<PtxTensorMap> &maps) const {
    constexpr int64_t multiprocessors = 2;
    auto grid = gridOf(kernel.info, arguments);
    PtxLaunch launch;
    for (size_t axis = 0; axis < grid.size(); ++axis) {
      const auto count = int32_t(entry.programsAtOnce[axis]);
      grid[axis] = grid[axis] / count + (grid[axis] % count != 0);
      launch.blocks *= grid[axis];
    }
    if (entry.persistentBlocks)
      launch.blocks =
          std::min(launch.blocks, entry.persistentBlocks * multiprocessors);
    launch.threads = entry.numThreads;
    launch.sharedBytes = entry.sharedBytes;
    // Either order of threads has to do.
    static bool descending = false;
    launch.descending = descending = !descending;
    for (const Argument &argument : arguments)
      launch.arguments.push_back(argument.address());
    for (const PtxTensorMap &map : maps)
      launch.arguments.push_back(&map);
    const uint32_t *place = &counter;
    if (entry.countsPrograms)
      launch.arguments.push_back(&place);
    for (const int32_t &extent : grid)
      launch.arguments.push_back(&extent);
    std::string output;
    const std::string stopped = machine.run(entry.symbol, launch, output);
    if (std::exchange(counter, 0) != 0 && stopped.empty())
      ADD_FAILURE() << "@" << kernel.info.name
                    << ": the counter of programs is not 0 behind a launch";
    Outcome outcome;
    if (stopped == "trap")
      outcome.failure = output.substr(0, output.find('\n'));
    else if (!stopped.empty())
      ADD_FAILURE() << "@" << kernel.info.name << ": " << stopped << "\n"
                    << artifact.code;
    else
      for (size_t at = 0; at < output.size();) {
        const size_t end = output.find('\n', at);
        outcome.printed.push_back(printedLine(output.substr(at, end - at)));
        at = end + 1;
      }
    return outcome;
  }

  KernelArtifact artifact;
  mutable PtxMachine machine;
  mutable uint32_t counter = 0;
  std::unique_ptr<InterpretedProgram> elsewhere;
};
} // namespace

std::unique_ptr<GpuProgram>
cputest::interpretProgram(KernelArtifact compiled,
                          std::optional<KernelArtifact> plain) {
  return std::make_unique<InterpretedProgram>(std::move(compiled),
                                              std::move(plain));
}
