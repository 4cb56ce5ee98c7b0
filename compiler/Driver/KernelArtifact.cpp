//===- KernelArtifact.cpp - Compiled kernels as bytes ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers are little-endian, texts and lists have their length in front. One
// function per struct describes its fields for both directions, so that writer
// and reader cannot drift apart.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/KernelArtifact.h"

#include <algorithm>
#include <type_traits>

using namespace flashtile;

namespace {

constexpr std::string_view magic = "FlashTile kernel";

class Writer {
public:
  template <typename Integer>
  void integer(const Integer &value) {
    auto bits = static_cast<std::make_unsigned_t<Integer>>(value);
    for (size_t i = 0; i < sizeof bits; ++i)
      bytes.push_back(static_cast<char>(static_cast<uint64_t>(bits) >> 8 * i));
  }
  template <typename Enum>
  void enumerator(const Enum &value, Enum) {
    integer(static_cast<uint8_t>(value));
  }
  void flag(const bool &value) { integer(static_cast<uint8_t>(value)); }
  void text(const std::string &value) {
    integer(static_cast<uint64_t>(value.size()));
    bytes += value;
  }
  template <typename Element, typename Function>
  void list(const std::vector<Element> &values, Function &&element) {
    integer(static_cast<uint64_t>(values.size()));
    for (const Element &value : values)
      element(value);
  }

  std::string bytes;
};

/// Once something was wrong, `failed` is set and nothing more is read.
class Reader {
public:
  explicit Reader(std::string_view bytes) : rest(bytes) {}

  template <typename Integer>
  void integer(Integer &value) {
    const std::string_view bytes = take(sizeof value);
    uint64_t bits = 0;
    for (size_t i = 0; i < bytes.size(); ++i)
      bits |= uint64_t{static_cast<uint8_t>(bytes[i])} << 8 * i;
    value = static_cast<Integer>(bits);
  }
  template <typename Enum>
  void enumerator(Enum &value, Enum last) {
    uint8_t number = 0;
    integer(number);
    if (number <= static_cast<uint8_t>(last))
      value = static_cast<Enum>(number);
    else
      failed = true;
  }
  void flag(bool &value) {
    uint8_t number = 0;
    integer(number);
    value = number == 1;
    failed |= number > 1;
  }
  void text(std::string &value) {
    uint64_t size = 0;
    integer(size);
    value = take(size);
  }
  template <typename Element, typename Function>
  void list(std::vector<Element> &values, Function &&element) {
    uint64_t count = 0;
    integer(count);
    // Every element takes at least a byte: a list longer than the rest is not
    // believed, and one that is shorter than its count stops at the end.
    failed |= count > rest.size();
    for (uint64_t i = 0; i < count && !failed; ++i)
      element(values.emplace_back());
  }

  std::string_view take(uint64_t size) {
    if (failed || size > rest.size()) {
      failed = true;
      return {};
    }
    const std::string_view taken = rest.substr(0, size);
    rest.remove_prefix(size);
    return taken;
  }

  std::string_view rest;
  bool failed = false;
};

} // namespace

//===----------------------------------------------------------------------===//
// Fields. `Value` is const for the writer only.
//===----------------------------------------------------------------------===//

template <typename Stream, typename Value>
static void transferExpression(Stream &stream, Value &expression) {
  stream.list(expression.steps, [&](auto &step) {
    stream.enumerator(step.op, GridExpr::Op::Mod);
    stream.integer(step.value);
  });
}

template <typename Stream, typename Value>
static void transferExpressions(Stream &stream, Value &expressions) {
  stream.list(expressions, [&](auto &expression) {
    transferExpression(stream, expression);
  });
}

template <typename Stream, typename Value>
static void transferTensorMap(Stream &stream, Value &map) {
  stream.integer(map.argument);
  stream.enumerator(map.element, ElementType::I64);
  stream.integer(map.swizzleBytes);
  stream.flag(map.fillsNaN);
  stream.list(map.box, [&](auto &extent) { stream.integer(extent); });
  transferExpressions(stream, map.extents);
  transferExpressions(stream, map.strides);
  transferExpression(stream, map.offset);
}

template <typename Stream, typename Value>
static void transferEntry(Stream &stream, Value &entry) {
  stream.text(entry.symbol);
  stream.integer(entry.numThreads);
  stream.integer(entry.sharedBytes);
  stream.integer(entry.clusterBlocks);
  stream.integer(entry.persistentBlocks);
  stream.flag(entry.countsPrograms);
  for (auto &count : entry.programsAtOnce)
    stream.integer(count);
  stream.list(entry.tensorMaps,
              [&](auto &map) { transferTensorMap(stream, map); });
  stream.list(entry.requirements, [&](auto &requirement) {
    stream.integer(requirement.argument);
    stream.integer(requirement.divisor);
  });
  stream.list(entry.sharedBuffers, [&](auto &buffer) {
    stream.text(buffer.name);
    stream.integer(buffer.offset);
    stream.integer(buffer.bytes);
  });
  stream.integer(entry.resources.registers);
  stream.integer(entry.resources.stackBytes);
  stream.integer(entry.resources.spillStoreBytes);
  stream.integer(entry.resources.spillLoadBytes);
}

template <typename Stream, typename Value>
static void transferKernel(Stream &stream, Value &kernel) {
  stream.text(kernel.info.name);
  stream.list(kernel.info.arguments, [&](auto &argument) {
    stream.text(argument.name);
    stream.flag(argument.isPointer);
    stream.enumerator(argument.type, ElementType::I64);
    stream.flag(argument.isWritten);
  });
  transferExpressions(stream, kernel.info.grid);
  stream.integer(kernel.arenaBytes);
  stream.flag(kernel.canFail);
  stream.list(kernel.entries,
              [&](auto &entry) { transferEntry(stream, entry); });
  stream.flag(kernel.hasPlainElsewhere);
}

template <typename Stream, typename Value>
static void transferArtifact(Stream &stream, Value &artifact) {
  stream.text(artifact.target);
  stream.enumerator(artifact.format, CodeFormat::Cubin);
  stream.text(artifact.code);
  stream.list(artifact.kernels,
              [&](auto &kernel) { transferKernel(stream, kernel); });
  stream.list(artifact.remarks, [&](auto &remark) { stream.text(remark); });
  stream.list(artifact.warnings, [&](auto &warning) { stream.text(warning); });
}

//===----------------------------------------------------------------------===//
// Meaning: what launches rely on without asking again
//===----------------------------------------------------------------------===//

/// Whether an expression can be evaluated with `integers` arguments.
static bool isEvaluable(const GridExpr &expression, uint64_t integers) {
  size_t depth = 0;
  for (const GridExpr::Step &step : expression.steps) {
    const bool isLeaf =
        step.op == GridExpr::Op::Constant || step.op == GridExpr::Op::Argument;
    if (step.op == GridExpr::Op::Argument &&
        static_cast<uint64_t>(step.value) >= integers)
      return false;
    if (!isLeaf && depth < 2)
      return false;
    depth += isLeaf ? 1 : -1;
  }
  return depth == 1;
}

static bool areEvaluable(const std::vector<GridExpr> &expressions,
                         uint64_t integers) {
  return std::all_of(
      expressions.begin(), expressions.end(),
      [&](const GridExpr &each) { return isEvaluable(each, integers); });
}

static bool isEncodable(const TensorMapParameter &map, const KernelInfo &info,
                        uint64_t integers) {
  const size_t rank = map.extents.size();
  constexpr size_t maxRank = 5;
  const int64_t swizzle = map.swizzleBytes;
  return static_cast<uint64_t>(map.argument) < info.arguments.size() &&
         info.arguments[map.argument].isPointer && rank >= 1 &&
         rank <= maxRank && map.box.size() == rank &&
         map.strides.size() + 1 == rank &&
         (swizzle == 0 || swizzle == 32 || swizzle == 64 || swizzle == 128) &&
         areEvaluable(map.extents, integers) &&
         areEvaluable(map.strides, integers) &&
         (map.offset.steps.empty() || isEvaluable(map.offset, integers));
}

static bool isEntry(const GpuEntry &entry, const KernelInfo &info,
                    uint64_t integers) {
  constexpr int64_t maxThreads = 1024, maxCluster = 16, maxPersistent = 64;
  if (entry.symbol.empty() || entry.numThreads < 1 ||
      entry.numThreads > maxThreads || entry.sharedBytes < 0 ||
      entry.clusterBlocks < 1 || entry.clusterBlocks > maxCluster ||
      entry.persistentBlocks < 0 || entry.persistentBlocks > maxPersistent ||
      (entry.countsPrograms && entry.persistentBlocks == 0) ||
      entry.tensorMaps.size() > GpuEntry::maxTensorMaps)
    return false;
  for (const int64_t count : entry.programsAtOnce)
    if (count < 1 || count > GpuEntry::maxProgramsAtOnce)
      return false;
  for (const DivisibleArgument &each : entry.requirements)
    if (static_cast<uint64_t>(each.argument) >= info.arguments.size() ||
        each.divisor < 1 || (each.divisor & (each.divisor - 1)) != 0)
      return false;
  return std::all_of(entry.tensorMaps.begin(), entry.tensorMaps.end(),
                     [&](const TensorMapParameter &map) {
                       return isEncodable(map, info, integers);
                     });
}

static bool isLaunchable(const ArtifactKernel &kernel, bool onGpu) {
  const std::vector<GridExpr> &grid = kernel.info.grid;
  if (kernel.arenaBytes < 0 || grid.empty() || grid.size() > 3 ||
      kernel.entries.empty() == onGpu)
    return false;
  uint64_t integers = 0;
  for (const KernelArgument &argument : kernel.info.arguments)
    integers += argument.isInteger();
  for (const GpuEntry &entry : kernel.entries)
    if (!isEntry(entry, kernel.info, integers))
      return false;
  return areEvaluable(grid, integers);
}

bool KernelArtifact::isValid() const {
  return !kernels.empty() &&
         std::all_of(kernels.begin(), kernels.end(),
                     [&](const ArtifactKernel &kernel) {
                       return isLaunchable(kernel, target != "cpu");
                     });
}

std::string KernelArtifact::serialize() const {
  Writer writer;
  writer.bytes = magic;
  writer.integer(formatVersion);
  transferArtifact(writer, *this);
  return std::move(writer.bytes);
}

std::optional<KernelArtifact> KernelArtifact::parse(std::string_view bytes) {
  Reader reader(bytes);
  if (reader.take(magic.size()) != magic)
    return std::nullopt;
  uint32_t version = 0;
  reader.integer(version);
  if (version != formatVersion)
    return std::nullopt;
  KernelArtifact artifact;
  transferArtifact(reader, artifact);
  if (reader.failed || !reader.rest.empty() || !artifact.isValid())
    return std::nullopt;
  return artifact;
}
