//===- Functions.h - Functions on tiles and scalars -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Value.h states the rules of shapes and element types. An axis may count from
// the end: -1 is the last. The last parameter of each function is the place
// that errors and diagnostics name; leave it to its default.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_FUNCTIONS_H
#define FLASHTILE_COMPILER_FRONTEND_FUNCTIONS_H

#include "compiler/Frontend/Operators.h"

#include <functional>

namespace flashtile::dsl {

//===----------------------------------------------------------------------===//
// Making tiles
//===----------------------------------------------------------------------===//

/// The integers start, start + 1, ..., end - 1, as i32.
Value arange(int64_t start, int64_t end,
             SourceLocation location = SourceLocation::current());
/// A tile (or, for an empty shape, a scalar) filled with one value; a Value has
/// to be of type `type` already.
Value full(const Shape &shape, const Operand &value, ElementType type,
           SourceLocation location = SourceLocation::current());
Value zeros(const Shape &shape, ElementType type,
            SourceLocation location = SourceLocation::current());

//===----------------------------------------------------------------------===//
// The grid
//===----------------------------------------------------------------------===//

/// Position of this program along axis 0, 1 or 2 of the grid, as i32.
Value programId(int axis, SourceLocation location = SourceLocation::current());
/// Extent of the grid along an axis, as i32.
Value numPrograms(int axis,
                  SourceLocation location = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

/// Swaps the two dimensions of a matrix.
Value trans(const Value &operand,
            SourceLocation location = SourceLocation::current());
/// Dimension d of the result is dimension order[d] of the operand.
Value permute(const Value &operand, const std::vector<int> &order,
              SourceLocation location = SourceLocation::current());
/// Inserts a dimension of extent 1, which is dimension `axis` of the result.
Value expandDims(const Value &operand, int axis,
                 SourceLocation location = SourceLocation::current());
Value broadcastTo(const Operand &operand, const Shape &shape,
                  SourceLocation location = SourceLocation::current());
/// The same elements in row-major order.
Value reshape(const Value &operand, const Shape &shape,
              SourceLocation location = SourceLocation::current());
Value cat(const Value &first, const Value &second, int axis,
          SourceLocation location = SourceLocation::current());
/// result[..., 0] = first[...], result[..., 1] = second[...].
Value join(const Value &first, const Value &second,
           SourceLocation location = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Elementwise
//===----------------------------------------------------------------------===//

enum class Accuracy {
  Precise,
  /// Hardware approximation: relative error up to 2^-21; of tanh of f16 and
  /// bf16 up to 2^-10.9 before it is rounded, by one instruction of GPUs.
  Fast,
};

Value exp(const Operand &operand, Accuracy accuracy = Accuracy::Precise,
          SourceLocation location = SourceLocation::current());
Value exp2(const Operand &operand, Accuracy accuracy = Accuracy::Precise,
           SourceLocation location = SourceLocation::current());
Value log(const Operand &operand, Accuracy accuracy = Accuracy::Precise,
          SourceLocation location = SourceLocation::current());
Value log2(const Operand &operand, Accuracy accuracy = Accuracy::Precise,
           SourceLocation location = SourceLocation::current());
Value sqrt(const Operand &operand,
           SourceLocation location = SourceLocation::current());
Value rsqrt(const Operand &operand,
            SourceLocation location = SourceLocation::current());
Value tanh(const Operand &operand, Accuracy accuracy = Accuracy::Precise,
           SourceLocation location = SourceLocation::current());
Value erf(const Operand &operand,
          SourceLocation location = SourceLocation::current());
Value sin(const Operand &operand,
          SourceLocation location = SourceLocation::current());
Value cos(const Operand &operand,
          SourceLocation location = SourceLocation::current());
Value floor(const Operand &operand,
            SourceLocation location = SourceLocation::current());
Value ceil(const Operand &operand,
           SourceLocation location = SourceLocation::current());
/// 1 / (1 + exp(-x)).
Value sigmoid(const Operand &operand, Accuracy accuracy = Accuracy::Precise,
              SourceLocation location = SourceLocation::current());
/// Floats and integers.
Value abs(const Operand &operand,
          SourceLocation location = SourceLocation::current());

/// NaN if either operand is NaN; +0 is greater than -0.
Value maximum(const Operand &lhs, const Operand &rhs,
              SourceLocation location = SourceLocation::current());
Value minimum(const Operand &lhs, const Operand &rhs,
              SourceLocation location = SourceLocation::current());
/// Integers; rounds up or down. `/` truncates.
Value ceilDiv(const Operand &lhs, const Operand &rhs,
              SourceLocation location = SourceLocation::current());
Value floorDiv(const Operand &lhs, const Operand &rhs,
               SourceLocation location = SourceLocation::current());
/// Integers; lhs - floorDiv(lhs, rhs) * rhs, which has the sign of rhs.
Value floorMod(const Operand &lhs, const Operand &rhs,
               SourceLocation location = SourceLocation::current());
/// condition ? lhs : rhs, element by element. Two literals make f32, i32 or i1.
Value where(const Operand &condition, const Operand &lhs, const Operand &rhs,
            SourceLocation location = SourceLocation::current());
Value isNaN(const Operand &operand,
            SourceLocation location = SourceLocation::current());
/// Neither NaN nor infinite.
Value isFinite(const Operand &operand,
               SourceLocation location = SourceLocation::current());
/// Between floats: rounds to nearest even and saturates to fp8. Float to
/// integer truncates and is undefined out of range. Numbers to i1: x != 0; i1
/// to numbers: 0 or 1.
Value cast(const Value &operand, ElementType type,
           SourceLocation location = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// How an f32 product is formed; see `tile.dot`. Default: with the accuracy of
/// f32, by what is fastest on the target.
enum class Precision { Default, IEEE, TF32, TF32x3 };

/// a · b, accumulated in f32 (f64 for f64, i32 for i8).
Value dot(const Value &a, const Value &b,
          Precision precision = Precision::Default,
          SourceLocation location = SourceLocation::current());
/// a · b + c.
Value dot(const Value &a, const Value &b, const Value &c,
          Precision precision = Precision::Default,
          SourceLocation location = SourceLocation::current());

//===----------------------------------------------------------------------===//
// Reductions and scans
//===----------------------------------------------------------------------===//

/// The axis disappears; a rank-1 tile becomes a scalar. NaN propagates.
Value max(const Value &operand, int axis,
          SourceLocation location = SourceLocation::current());
Value min(const Value &operand, int axis,
          SourceLocation location = SourceLocation::current());
Value sum(const Value &operand, int axis,
          SourceLocation location = SourceLocation::current());
/// Whether an element of an i1 tile is true, over all dimensions.
Value any(const Value &operand,
          SourceLocation location = SourceLocation::current());
Value all(const Value &operand,
          SourceLocation location = SourceLocation::current());

/// Combines two partial results, which are scalars.
using Combiner = std::function<Value(const Value &, const Value &)>;
using MultiCombiner = std::function<Values(const Values &, const Values &)>;

/// Reduces with a combiner that is associative and commutative.
Value reduce(const Value &operand, int axis, const Combiner &combiner,
             SourceLocation location = SourceLocation::current());
/// Reduces several tiles of one shape together.
Values reduce(const Values &operands, int axis, const MultiCombiner &combiner,
              SourceLocation location = SourceLocation::current());

enum class Direction { Forward, Reverse };

/// Prefix along an axis with an associative combiner, whose first argument
/// stands for the elements that come first in scan order.
Value scan(const Value &operand, int axis, const Combiner &combiner,
           Direction direction = Direction::Forward,
           SourceLocation location = SourceLocation::current());
Values scan(const Values &operands, int axis, const MultiCombiner &combiner,
            Direction direction = Direction::Forward,
            SourceLocation location = SourceLocation::current());
/// f16 and bf16 are summed in f32.
Value cumsum(const Value &operand, int axis,
             Direction direction = Direction::Forward,
             SourceLocation location = SourceLocation::current());

struct ValueAndIndex {
  Value value;
  Value index; ///< i32
};
/// The extreme element and its position; of several equal ones the first. A
/// NaN beats every number.
ValueAndIndex argmax(const Value &operand, int axis,
                     SourceLocation location = SourceLocation::current());
ValueAndIndex argmin(const Value &operand, int axis,
                     SourceLocation location = SourceLocation::current());

} // namespace flashtile::dsl

#endif // FLASHTILE_COMPILER_FRONTEND_FUNCTIONS_H
