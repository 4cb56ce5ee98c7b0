//===- Examples.cpp - Small kernels in the DSL ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/Examples.h"

#include "compiler/Frontend/Dsl.h"
#include "compiler/Support/EnumCheck.h"

#include <cmath>
#include <tuple>

namespace flashtile::kernels {

using namespace dsl;

static constexpr double kSqrtHalf = 0.70710678118654752440;

KernelModule buildVectorAdd(ElementType type, int64_t block) {
  KernelBuilder kernel("vector_add");
  Value x = kernel.pointer("x", type), y = kernel.pointer("y", type);
  Value z = kernel.pointer("z", type);
  Value n = kernel.i32("n");
  kernel.grid({ceilDiv(n, block)});

  // In i64: the last program's offsets may pass 2^31.
  Value at = cast(programId(0), i64) * block + arange(0, block);
  Value inside = at < n;
  Value left = load(x + at, inside);
  Value right = load(y + at, inside);
  store(z + at, left + right, inside);
  return kernel.build();
}

KernelModule buildRowSoftmax(ElementType type, int64_t blockRows,
                             int64_t blockColumns) {
  KernelBuilder kernel("row_softmax");
  Value x = kernel.pointer("x", type), y = kernel.pointer("y", type);
  Value rows = kernel.i32("rows"), columns = kernel.i32("columns");
  Value strideX = kernel.i64("x_stride_row");
  Value strideY = kernel.i64("y_stride_row");
  kernel.grid({ceilDiv(rows, blockRows)});

  Value row = programId(0) * blockRows;
  auto chunk = [&](Value base, Value stride, Value column) {
    return makeBlockPtr(base, {rows, columns}, {stride, 1}, {row, column},
                        {blockRows, blockColumns});
  };
  Value mInit = full({blockRows}, -INFINITY, f32);
  Value lInit = zeros({blockRows}, f32);
  Value m, l;
  std::tie(m, l) =
      forRange(0, columns, blockColumns, {mInit, lInit},
               [&](Value column, Value m, Value l) {
                 Value s = load(chunk(x, strideX, column), Padding::NegInf);
                 s = cast(s, f32);
                 Value mNew = maximum(m, max(s, 1));
                 // Until a row has shown something above -inf, -inf - -inf must
                 // not arise.
                 Value reference = where(mNew == -INFINITY, 0.0, mNew);
                 Value added = sum(exp(s - expandDims(reference, 1)), 1);
                 l = l * exp(m - reference);
                 return std::tuple(mNew, l + added);
               });
  Value top = expandDims(m, 1), norm = expandDims(l, 1);
  forRange(0, columns, blockColumns, [&](Value column) {
    Value s = cast(load(chunk(x, strideX, column)), f32);
    Value p = exp(s - top) / norm;
    store(chunk(y, strideY, column), cast(p, type));
  });
  return kernel.build();
}

KernelModule buildTranspose(ElementType type, int64_t blockRows,
                            int64_t blockColumns) {
  KernelBuilder kernel("transpose");
  Value x = kernel.pointer("x", type), y = kernel.pointer("y", type);
  Value rows = kernel.i32("rows"), columns = kernel.i32("columns");
  Value strideX = kernel.i64("x_stride_row");
  Value strideY = kernel.i64("y_stride_row");
  kernel.grid({ceilDiv(rows, blockRows), ceilDiv(columns, blockColumns)});

  Value row = programId(0) * blockRows;
  Value column = programId(1) * blockColumns;
  Value from = makeBlockPtr(x, {rows, columns}, {strideX, 1}, {row, column},
                            {blockRows, blockColumns});
  Value to = makeBlockPtr(y, {columns, rows}, {strideY, 1}, {column, row},
                          {blockColumns, blockRows});
  store(to, trans(load(from)));
  return kernel.build();
}

KernelModule buildMatmul(const MatmulConfig &config) {
  checkEnum("epilogue", config.epilogue,
            {"None", "Bias", "BiasRelu", "BiasGelu"});
  KernelBuilder kernel("matmul");
  Value a = kernel.pointer("a", config.dtype);
  Value b = kernel.pointer("b", config.dtype);
  Value c = kernel.pointer("c", config.dtype);
  Value bias;
  if (config.epilogue != Epilogue::None)
    bias = kernel.pointer("bias", f32);
  Value m = kernel.i32("m"), n = kernel.i32("n"), k = kernel.i32("k");
  Value strideA = kernel.i64("a_stride_row");
  Value strideB = kernel.i64("b_stride_row");
  Value strideC = kernel.i64("c_stride_row");
  Value alpha = kernel.f32("alpha");
  kernel.grid({ceilDiv(m, config.blockM), ceilDiv(n, config.blockN)});

  Value row = programId(0) * config.blockM;
  Value column = programId(1) * config.blockN;
  Value aTiles = makeBlockPtr(a, {m, k}, {strideA, 1}, {row, 0},
                              {config.blockM, config.blockK});
  Value bTiles = makeBlockPtr(b, {k, n}, {strideB, 1}, {0, column},
                              {config.blockK, config.blockN});
  // Out of bounds, loads give 0 and so add nothing.
  Value zero = zeros({config.blockM, config.blockN}, f32);
  auto [sum] =
      forRange(0, k, config.blockK, {zero}, [&](Value start, Value acc) {
        Value aTile = load(advance(aTiles, {0, start}));
        Value bTile = load(advance(bTiles, {start, 0}));
        return dot(aTile, bTile, acc);
      });

  Value result = sum * alpha;
  if (!bias.empty())
    result += load(makeBlockPtr(bias, {n}, {1}, {column}, {config.blockN}));
  if (config.epilogue == Epilogue::BiasRelu)
    result = maximum(result, 0.0);
  if (config.epilogue == Epilogue::BiasGelu) {
    Value tail = erf(result * kSqrtHalf) + 1.0;
    result = result * 0.5 * tail;
  }
  store(makeBlockPtr(c, {m, n}, {strideC, 1}, {row, column},
                     {config.blockM, config.blockN}),
        cast(result, config.dtype));
  return kernel.build();
}

} // namespace flashtile::kernels
