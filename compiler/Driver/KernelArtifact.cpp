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
static void transferKernel(Stream &stream, Value &kernel) {
  stream.text(kernel.info.name);
  stream.list(kernel.info.arguments, [&](auto &argument) {
    stream.text(argument.name);
    stream.flag(argument.isPointer);
    stream.enumerator(argument.type, ElementType::I64);
    stream.flag(argument.isWritten);
  });
  stream.list(kernel.info.grid, [&](auto &extent) {
    stream.list(extent.steps, [&](auto &step) {
      stream.enumerator(step.op, GridExpr::Op::Mod);
      stream.integer(step.value);
    });
  });
  stream.integer(kernel.arenaBytes);
  stream.flag(kernel.canFail);
  stream.integer(kernel.numWarps);
  stream.integer(kernel.sharedBytes);
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

/// Whether a grid can be evaluated with `integers` arguments.
static bool isEvaluable(const GridExpr &extent, uint64_t integers) {
  size_t depth = 0;
  for (const GridExpr::Step &step : extent.steps) {
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

static bool isLaunchable(const ArtifactKernel &kernel) {
  const std::vector<GridExpr> &grid = kernel.info.grid;
  constexpr int64_t maxWarps = 32;
  if (kernel.arenaBytes < 0 || kernel.sharedBytes < 0 || kernel.numWarps < 0 ||
      kernel.numWarps > maxWarps || grid.empty() || grid.size() > 3)
    return false;
  uint64_t integers = 0;
  for (const KernelArgument &argument : kernel.info.arguments)
    integers += argument.isInteger();
  for (const GridExpr &extent : grid)
    if (!isEvaluable(extent, integers))
      return false;
  return true;
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
  if (reader.failed || !reader.rest.empty() || artifact.kernels.empty())
    return std::nullopt;
  for (const ArtifactKernel &kernel : artifact.kernels)
    if (!isLaunchable(kernel))
      return std::nullopt;
  return artifact;
}
