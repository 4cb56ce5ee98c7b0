//===- GridExpr.cpp - Evaluation of launch grids --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stack machine with checked arithmetic: arguments come from users.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/KernelInfo.h"

#include <array>
#include <cstdlib>

using namespace flashtile;

/// Quotient rounded toward minus infinity, and the remainder that goes with it.
static int64_t floorDivide(int64_t a, int64_t b, int64_t &remainder) {
  int64_t quotient = a / b;
  remainder = a % b;
  if (remainder != 0 && (remainder < 0) != (b < 0)) {
    --quotient;
    remainder += b;
  }
  return quotient;
}

static bool apply(GridExpr::Op op, int64_t a, int64_t b, int64_t &result) {
  if (op == GridExpr::Op::Add)
    return !__builtin_add_overflow(a, b, &result);
  if (op == GridExpr::Op::Multiply)
    return !__builtin_mul_overflow(a, b, &result);
  if (b == 0 || (a == INT64_MIN && b == -1))
    return false;
  int64_t remainder = 0;
  result = floorDivide(a, b, remainder);
  if (op == GridExpr::Op::Mod)
    result = remainder;
  else if (op == GridExpr::Op::CeilDiv && remainder != 0)
    ++result;
  return true;
}

bool GridExpr::evaluate(const std::vector<int64_t> &integers,
                        int64_t &extent) const {
  // A launch evaluates several: no allocation for those of ordinary size.
  constexpr size_t inlineCount = 32;
  std::array<int64_t, inlineCount> few;
  std::vector<int64_t> many;
  int64_t *stack = few.data();
  if (steps.size() > inlineCount) {
    many.resize(steps.size());
    stack = many.data();
  }
  size_t depth = 0;
  for (const Step &step : steps) {
    if (step.op == Op::Constant) {
      stack[depth++] = step.value;
    } else if (step.op == Op::Argument) {
      stack[depth++] = integers.at(step.value);
    } else {
      const int64_t right = stack[--depth];
      int64_t &left = stack[depth - 1];
      if (!apply(step.op, left, right, left))
        return false;
    }
  }
  extent = stack[depth - 1];
  return true;
}
