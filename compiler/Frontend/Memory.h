//===- Memory.h - Pointers, loads, stores, facts --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory is reached through a block pointer, which knows the bounds of its
// tensor, or through a pointer or a tile of pointers (`pointer + offsets`) with
// a mask. Offsets and strides count elements and may be i32, i64 or literals;
// they are 64-bit from there on.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_MEMORY_H
#define FLASHTILE_COMPILER_FRONTEND_MEMORY_H

#include "compiler/Frontend/Value.h"

#include <optional>

namespace flashtile::dsl {

/// A window of `tileShape` elements at `offsets` of the tensor that starts at
/// `base` and has `shape` elements at distances `strides`. `order` lists the
/// dimensions from the fastest in memory to the slowest (a hint).
Value makeBlockPtr(const Value &base, const std::vector<Operand> &shape,
                   const std::vector<Operand> &strides,
                   const std::vector<Operand> &offsets, const Shape &tileShape,
                   const std::vector<int> &order = {},
                   SourceLocation location = SourceLocation::current());
/// The window moved by `offsets` elements.
Value advance(const Value &pointer, const std::vector<Operand> &offsets,
              SourceLocation location = SourceLocation::current());

/// What a block pointer's load gives outside the tensor.
enum class Padding { Zero, NaN, NegInf };

/// Through a block pointer, or unmasked through a pointer.
Value load(const Value &pointer,
           SourceLocation location = SourceLocation::current());
Value load(const Value &blockPointer, Padding padding,
           SourceLocation location = SourceLocation::current());
/// Zero where `mask` is false; no memory is touched there.
Value load(const Value &pointer, const Value &mask,
           SourceLocation location = SourceLocation::current());
Value load(const Value &pointer, const Value &mask, const Operand &other,
           SourceLocation location = SourceLocation::current());

/// Elements out of a block pointer's bounds are not written. The value
/// broadcasts to the pointer's shape; its element type has to be right.
void store(const Value &pointer, const Operand &value,
           SourceLocation location = SourceLocation::current());
void store(const Value &pointer, const Operand &value, const Value &mask,
           SourceLocation location = SourceLocation::current());

/// Adds to memory, safely against other programs; gives what was there before.
Value atomicAdd(const Value &pointer, const Operand &value,
                SourceLocation location = SourceLocation::current());
Value atomicAdd(const Value &pointer, const Operand &value, const Value &mask,
                SourceLocation location = SourceLocation::current());

/// Facts that the author promises about a scalar:
///   auto stride = assume(strideArg, Facts().divisibleBy(8).min(0));
class Facts {
public:
  Facts &divisibleBy(int64_t divisor) {
    divisorFact = divisor;
    return *this;
  }
  Facts &min(const Operand &bound) {
    minFact = bound;
    return *this;
  }
  Facts &max(const Operand &bound) {
    maxFact = bound;
    return *this;
  }

  std::optional<int64_t> divisor() const { return divisorFact; }
  const std::optional<Operand> &minimum() const { return minFact; }
  const std::optional<Operand> &maximum() const { return maxFact; }

private:
  std::optional<int64_t> divisorFact;
  std::optional<Operand> minFact;
  std::optional<Operand> maxFact;
};

/// The scalar together with the facts; use the result, not the operand.
/// Bounds are literals. A fact that does not hold makes results undefined.
Value assume(const Value &scalar, const Facts &facts,
             SourceLocation location = SourceLocation::current());

/// The launch fails with `message` where an element of `condition` is false.
void deviceAssert(const Value &condition, const std::string &message,
                  SourceLocation location = SourceLocation::current());
/// Prints the values of each program to standard error.
void print(const std::string &prefix, const Values &values = {},
           SourceLocation location = SourceLocation::current());

} // namespace flashtile::dsl

#endif // FLASHTILE_COMPILER_FRONTEND_MEMORY_H
