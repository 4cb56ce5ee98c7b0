//===- RandomProgram.h - Tile programs made at random ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tree of tile operations that can be printed as a kernel and that a scalar
// interpreter runs, one element at a time. All numbers are integers: the
// generator keeps floats so small that their arithmetic is exact, so that the
// compiled kernel has to agree bit for bit whatever order it adds in.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_RANDOMPROGRAM_H
#define FLASHTILE_TESTS_COMPILER_CPU_RANDOMPROGRAM_H

#include "compiler/Support/ElementType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flashtile::cputest {

/// A tile, or a scalar where the shape is empty.
struct TileType {
  std::vector<int64_t> shape;
  ElementType element;

  bool isScalar() const { return shape.empty(); }
  int64_t elements() const;
  bool operator==(const TileType &other) const {
    return shape == other.shape && element == other.element;
  }
  std::string text() const;
};

enum class NodeKind {
  Constant,    ///< integers: one (a splat) or all elements
  Arange,      ///< integers: start
  Splat,       ///< of a scalar
  Elementwise, ///< name: the operation, with its predicate
  Convert,     ///< name: the operation
  Select,
  ExpandDims, ///< integers: axis
  Broadcast,
  Trans, ///< integers: order
  Reshape,
  Cat, ///< integers: axis
  Join,
  AxisReduce, ///< name: tile.sum, tile.max, tile.min; integers: axis
  ArgMax,     ///< tile.reduce of values and positions; integers: axis
  Reduce,     ///< tile.reduce; name: the combiner; integers: axis
  Scan,       ///< name: the combiner; integers: axis, reverse
  Dot,
  Load,  ///< an Access
  Store, ///< an Access
  For,   ///< integers: begin, end, step, whether bounds are run-time values
  If,
  While, ///< integers: trips
};

/// Window of a memory, in elements.
struct Access {
  unsigned memory = 0;
  int64_t base = 0;
  std::vector<int64_t> shape, strides, offsets;
  bool throughPointers = false; ///< rather than through a block pointer
};

struct Block;

struct Node {
  NodeKind kind;
  std::string name;
  std::vector<int> operands, results;
  std::vector<int64_t> integers;
  Access access;
  std::vector<Block> blocks;
};

struct Block {
  std::vector<int> arguments;
  std::vector<Node> nodes;
  std::vector<int> yields;
};

/// What a kernel reads and writes: an argument of the kernel.
struct MemorySpec {
  std::string name;
  ElementType element;
  int64_t elements;
};

struct RandomProgram {
  std::vector<TileType> types; ///< of every value
  std::vector<MemorySpec> memories;
  Block body;

  std::string text() const;
  /// Runs on memories that hold integers, in place.
  void interpret(std::vector<std::vector<int64_t>> &memories) const;
};

/// Which operations a program is made of.
enum class ProgramFlavour { Shapes, Everything };

RandomProgram generateProgram(uint64_t seed, ProgramFlavour flavour);

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_RANDOMPROGRAM_H
