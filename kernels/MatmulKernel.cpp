//===- MatmulKernel.cpp - Products of matrices, as a kernel ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix whose columns are contiguous is read as its transpose, whose rows
// are, and transposed as a tile: loads run along memory, and the turn costs
// nothing on the way into a product.
//
//===----------------------------------------------------------------------===//

#include "kernels/MatmulKernel.h"

#include "compiler/Frontend/Dsl.h"
#include "kernels/ActivationTile.h"
#include "kernels/EnumChecks.h"

#include <algorithm>

namespace flashtile::kernels {

using namespace dsl;

/// Elements of a tile: the dialect's limit.
static constexpr int64_t kMaxTile = int64_t(1) << 20;

static bool isFp8(ElementType type) {
  return type == ElementType::F8E4M3FN || type == ElementType::F8E5M2;
}

ElementType matmulOutputType(ElementType dtype) {
  if (dtype == ElementType::I8)
    return ElementType::I32;
  return isFp8(dtype) ? ElementType::BF16 : dtype;
}

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, message);
}

static void checkConfig(const MatmulKernelConfig &config) {
  checkOption(config.activation);
  flashtile::checkElementType("dtype", config.dtype);
  checkOption("outputType", config.outputType);
  for (auto [name, order] :
       {std::pair("orderA", config.orderA), std::pair("orderB", config.orderB),
        std::pair("orderC", config.orderC)})
    flashtile::checkEnum(name, order, {"Rows", "Columns", "Strided"});
  if (!isFloat(config.dtype) && config.dtype != ElementType::I8)
    refuse("expected dtype to be a float type or i8, but got " +
           std::string(elementTypeName(config.dtype)));
  if (config.outputType) {
    bool fits = config.dtype == ElementType::I8
                    ? *config.outputType == ElementType::I32
                    : isFloat(*config.outputType);
    if (!fits)
      refuse("expected outputType to be " +
             std::string(config.dtype == ElementType::I8 ? "i32"
                                                         : "a float type") +
             " for dtype " + std::string(elementTypeName(config.dtype)) +
             ", but got " + std::string(elementTypeName(*config.outputType)));
  }
  if (config.dtype == ElementType::I8 &&
      (config.hasBias || config.activation != Activation::None))
    refuse("expected no bias and no activation for dtype i8");
  auto checkBlock = [](const char *name, int64_t extent, int64_t other) {
    if (extent <= 0 || extent > kMaxTile / other)
      refuse(std::string("expected ") + name + " between 1 and " +
             std::to_string(kMaxTile / other) + ", but got " +
             std::to_string(extent));
  };
  checkBlock("blockM", config.blockM, 1);
  checkBlock("blockN", config.blockN, config.blockM);
  checkBlock("blockK", config.blockK, std::max(config.blockM, config.blockN));
  checkBlock("groupM", config.groupM, 1);
}

namespace {
/// One of the three tensors, [outer, inner, row, column].
struct Matrix {
  Value base;
  Value strideOuter, strideInner;
  Value strideRow, strideColumn; ///< empty for 1
  MatrixOrder order;
};

class MatmulKernel {
public:
  explicit MatmulKernel(const MatmulKernelConfig &config)
      : config(config), kernel("matmul"),
        outputType(config.outputType.value_or(matmulOutputType(config.dtype))) {
    if (config.dtype == ElementType::F64)
      sumType = ElementType::F64;
    if (config.dtype == ElementType::I8)
      sumType = ElementType::I32;
  }

  KernelModule build() {
    declareArguments();
    locate();
    // Where the bias is added last, sums and bias are in registers at once.
    Value first = config.hasBias
                      ? loadBias()
                      : zeros({config.blockM, config.blockN}, sumType);
    // Out of bounds, loads give 0 and so add nothing.
    auto [sum] =
        forRange(0, k, config.blockK, {first}, [&](Value start, Value sum) {
          Value left =
              loadTile(a, m, k, row, start, config.blockM, config.blockK);
          Value right =
              loadTile(b, k, n, start, column, config.blockK, config.blockN);
          return dot(left, right, sum);
        });
    sum = activate(sum, config.activation);
    storeTile(sumType == outputType ? sum : cast(sum, outputType));
    return kernel.build();
  }

private:
  void declareArguments() {
    a.base = kernel.pointer("a", config.dtype);
    b.base = kernel.pointer("b", config.dtype);
    c.base = kernel.pointer("c", outputType);
    if (config.hasBias)
      bias = kernel.pointer("bias", config.dtype);
    m = kernel.i32("m");
    n = kernel.i32("n");
    k = kernel.i32("k");
    Value batch = kernel.i32("batch");
    heads = kernel.i32("heads");
    group = kernel.i32("group");
    declareStrides(a, "a", config.orderA);
    declareStrides(b, "b", config.orderB);
    declareStrides(c, "c", config.orderC);
    kernel.grid({ceilDiv(m, config.blockM), ceilDiv(n, config.blockN), batch});
  }

  void declareStrides(Matrix &matrix, const std::string &name,
                      MatrixOrder order) {
    matrix.order = order;
    matrix.strideOuter = kernel.i64(name + "_stride_outer");
    matrix.strideInner = kernel.i64(name + "_stride_inner");
    if (order != MatrixOrder::Columns)
      matrix.strideRow = kernel.i64(name + "_stride_row");
    if (order != MatrixOrder::Rows)
      matrix.strideColumn = kernel.i64(name + "_stride_column");
  }

  /// The tile of this program. Programs run about in the order of their number,
  /// x first; they take `groupM` tiles down a column before they go on to the
  /// next, and the whole width before the next rows.
  void locate() {
    Value tilesM = numPrograms(0), tilesN = numPrograms(1);
    Value number = programId(0) + programId(1) * tilesM;
    Value perGroup = tilesN * config.groupM;
    Value groupIndex = number / perGroup;
    Value within = number - groupIndex * perGroup;
    Value firstRow = groupIndex * config.groupM;
    // The last group may have fewer rows.
    Value rows = minimum(tilesM - firstRow, config.groupM);
    Value tileColumn = within / rows;
    Value tileRow = firstRow + (within - tileColumn * rows);
    row = tileRow * config.blockM;
    column = tileColumn * config.blockN;

    Value matrix = programId(2);
    Value outer = matrix / heads;
    Value inner = matrix - outer * heads;
    Value innerB = inner / group;
    at(a, outer, inner);
    at(b, outer, innerB);
    at(c, outer, inner);
  }

  static void at(Matrix &matrix, const Value &outer, const Value &inner) {
    matrix.base = matrix.base + cast(outer, i64) * matrix.strideOuter;
    matrix.base = matrix.base + cast(inner, i64) * matrix.strideInner;
  }

  /// A window of `rows` x `columns`, or of its transpose where that is what
  /// lies in memory.
  static Value window(const Matrix &matrix, const Value &numRows,
                      const Value &numColumns, const Value &row,
                      const Value &column, int64_t rows, int64_t columns) {
    if (matrix.order == MatrixOrder::Columns)
      return makeBlockPtr(matrix.base, {numColumns, numRows},
                          {matrix.strideColumn, 1}, {column, row},
                          {columns, rows});
    Operand inner = matrix.order == MatrixOrder::Rows
                        ? Operand(1)
                        : Operand(matrix.strideColumn);
    return makeBlockPtr(matrix.base, {numRows, numColumns},
                        {matrix.strideRow, inner}, {row, column},
                        {rows, columns});
  }

  static Value loadTile(const Matrix &matrix, const Value &numRows,
                        const Value &numColumns, const Value &row,
                        const Value &column, int64_t rows, int64_t columns) {
    Value tile =
        load(window(matrix, numRows, numColumns, row, column, rows, columns));
    return matrix.order == MatrixOrder::Columns ? trans(tile) : tile;
  }

  /// For the columns of this program's tile, in each of its rows.
  Value loadBias() {
    Value tile = load(makeBlockPtr(bias, {n}, {1}, {column}, {config.blockN}));
    return broadcastTo(expandDims(cast(tile, sumType), 0),
                       {config.blockM, config.blockN});
  }

  void storeTile(const Value &tile) {
    Value target = window(c, m, n, row, column, config.blockM, config.blockN);
    store(target, c.order == MatrixOrder::Columns ? trans(tile) : tile);
  }

  const MatmulKernelConfig &config;
  KernelBuilder kernel;
  ElementType outputType;
  ElementType sumType = ElementType::F32;
  Matrix a, b, c;
  Value bias;
  Value m, n, k, heads, group;
  Value row, column;
};
} // namespace

KernelModule buildMatmulKernel(const MatmulKernelConfig &config) {
  checkConfig(config);
  return MatmulKernel(config).build();
}

} // namespace flashtile::kernels
