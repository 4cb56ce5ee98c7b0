//===- ReadmeKernel.cpp - The kernel of the README ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReadmeKernel.h"

#include <cmath>

using namespace flashtile;
using namespace flashtile::dsl;

KernelModule buildRowSoftmax(ElementType type, int64_t block) {
  KernelBuilder kernel("row_softmax");
  Value x = kernel.pointer("x", type), y = kernel.pointer("y", type);
  Value rows = kernel.i32("rows"), columns = kernel.i32("columns");
  kernel.grid({rows});

  Value at = cast(programId(0), i64) * columns;
  auto chunk = [&](Value base, Value start) {
    return makeBlockPtr(base + at, {columns}, {1}, {start}, {block});
  };
  auto [m, l] =
      forRange(0, columns, block, {full({}, -INFINITY, f32), full({}, 0, f32)},
               [&](Value start, Value m, Value l) {
                 Value s = cast(load(chunk(x, start), Padding::NegInf), f32);
                 Value mNew = maximum(m, max(s, 0));
                 Value ref =
                     where(mNew == -INFINITY, 0.0, mNew); // no -inf - -inf
                 l = l * exp(m - ref) + sum(exp(s - ref), 0);
                 return std::tuple(mNew, l);
               });
  Value top = m, norm = l; // C++17 lambdas do not capture bindings
  forRange(0, columns, block, [&](Value start) {
    Value s = cast(load(chunk(x, start)), f32);
    store(chunk(y, start), cast(exp(s - top) / norm, type));
  });
  return kernel.build();
}
