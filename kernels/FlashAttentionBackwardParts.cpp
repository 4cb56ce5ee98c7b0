//===- FlashAttentionBackwardParts.cpp - What the kernels share -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardParts.h"

#include "kernels/AttentionExtents.h"
#include "kernels/EnumChecks.h"

namespace flashtile::kernels {

using namespace dsl;

/// Rows and columns of a part of a product that a warp holds. The rows are two
/// halves of eight; a thread has pairs of columns of one row, and of the same
/// row of the other half.
static constexpr int64_t kBlockRows = 16, kBlockColumns = 8, kHalf = 8,
                         kPair = 2;

/// With the width that is meant.
static FlashAttentionBackwardConfig
checked(FlashAttentionBackwardConfig config) {
  auto refuse = [](const std::string &message) {
    throw Error(ErrorCode::InvalidArgument, message);
  };
  checkOption(config.alignment);
  flashtile::checkElementType("dtype", config.dtype);
  if (config.dtype != ElementType::F32 && config.dtype != ElementType::F16 &&
      config.dtype != ElementType::BF16 && config.dtype != ElementType::F64)
    refuse("expected dtype to be f32, f16, bf16 or f64, but got " +
           std::string(elementTypeName(config.dtype)));
  checkAttentionExtents(config.headDim, config.blockM, config.blockN);
  if (config.width == 0)
    config.width = config.headDim;
  constexpr int64_t kMostWidth = 256;
  if (config.width < config.headDim || config.width > kMostWidth ||
      config.width % kBlockColumns != 0)
    refuse("expected width between headDim, " + std::to_string(config.headDim) +
           ", and 256 in steps of 8, but got " + std::to_string(config.width));
  if ((config.packsDq || config.packsRows) && config.blockM % kBlockRows != 0)
    refuse("expected blockM to be a multiple of 16 with packsDq or packsRows, "
           "but got " +
           std::to_string(config.blockM));
  return config;
}

std::string
flashAttentionBackwardName(const std::string &part,
                           const FlashAttentionBackwardConfig &config) {
  return "flash_attention_backward_" + part + (config.causal ? "_causal" : "");
}

BackwardKernel::BackwardKernel(const std::string &part,
                               const FlashAttentionBackwardConfig &config)
    : config(checked(config)), kernel(flashAttentionBackwardName(part, config)),
      real(config.dtype == ElementType::F64 ? ElementType::F64
                                            : ElementType::F32) {}

void BackwardKernel::declareStrides(BackwardTensor &tensor,
                                    const std::string &name) {
  tensor.strideBatch = kernel.i64(name + "_stride_batch");
  tensor.strideHead = kernel.i64(name + "_stride_head");
  tensor.strideRow = kernel.i64(name + "_stride_row");
  if (!config.unitInnerStride)
    tensor.strideInner = kernel.i64(name + "_stride_inner");
}

Value BackwardKernel::headOf(const BackwardTensor &tensor, const Value &batch,
                             const Value &head) const {
  Value base = tensor.base + batch * tensor.strideBatch;
  return base + cast(head, i64) * tensor.strideHead;
}

Value BackwardKernel::window(const BackwardTensor &tensor, const Value &base,
                             const Value &length, const Operand &start,
                             int64_t rows) const {
  Operand inner =
      tensor.strideInner.empty() ? Operand(1) : Operand(tensor.strideInner);
  return makeBlockPtr(base, {length, config.headDim}, {tensor.strideRow, inner},
                      {start, 0}, {rows, config.width});
}

Value BackwardKernel::rowVector(const Value &base, const Value &pitch,
                                const Value &head, const Operand &start,
                                int64_t count) const {
  return makeBlockPtr(base + head * pitch, {pitch}, {1}, {start}, {count});
}

/// Swaps the inner two of [parts, outer, inner, 2] elements of a row.
static Value swapped(const Value &row, int64_t outer, int64_t inner) {
  const int64_t count = row.shape()[0];
  Value parts = reshape(row, {count / kBlockRows, outer, inner, kPair});
  return reshape(permute(parts, {0, 2, 1, 3}), {count});
}

Value BackwardKernel::loadRow(const Value &window) const {
  Value row = load(window);
  return config.packsRows ? swapped(row, kHalf / kPair, kBlockRows / kHalf)
                          : row;
}

void BackwardKernel::storeRow(const Value &window, const Value &row) const {
  store(window, config.packsRows
                    ? swapped(row, kBlockRows / kHalf, kHalf / kPair)
                    : row);
}

Value BackwardKernel::dqOffset(const Value &start) const {
  return config.packsDq ? start / kBlockRows : start;
}

Value BackwardKernel::dqWindow(const Value &dqSum, const Value &pitch,
                               const Value &head, const Operand &start) const {
  Value base = dqSum + head * pitch * config.width;
  if (!config.packsDq)
    return makeBlockPtr(base, {pitch, config.width}, {config.width, 1},
                        {start, 0}, {config.blockM, config.width});
  const int64_t columns = kBlockRows * config.width;
  return makeBlockPtr(base, {pitch / kBlockRows, columns}, {columns, 1},
                      {start, 0}, {config.blockM / kBlockRows, columns});
}

Value BackwardKernel::packedDq(const Value &tile) const {
  if (!config.packsDq)
    return tile;
  const int64_t blocks = config.blockM / kBlockRows;
  Value parts = reshape(tile, {blocks, kBlockRows / kHalf, kHalf,
                               config.width / kBlockColumns,
                               kBlockColumns / kPair, kPair});
  return reshape(permute(parts, {0, 3, 2, 4, 1, 5}),
                 {blocks, kBlockRows * config.width});
}

Value BackwardKernel::unpackedDq(const Value &tile) const {
  if (!config.packsDq)
    return tile;
  const int64_t blocks = config.blockM / kBlockRows;
  Value parts =
      reshape(tile, {blocks, config.width / kBlockColumns, kHalf,
                     kBlockColumns / kPair, kBlockRows / kHalf, kPair});
  return reshape(permute(parts, {0, 4, 2, 1, 3, 5}),
                 {config.blockM, config.width});
}

Value BackwardKernel::weights(const Value &product, const Value &scale,
                              const Value &shift, const Value &rest,
                              const Value &visible) const {
  Value p;
  if (isShiftBinary()) {
    Value exponent = product * (scale * kLog2E) - shift;
    p = exp2(exponent, Accuracy::Fast);
  } else {
    Value exponent = product * scale - shift;
    if (!rest.empty())
      exponent = exponent - rest;
    p = exp(exponent, Accuracy::Fast);
  }
  return visible.empty() ? p : where(visible, p, 0.0);
}

Value BackwardKernel::scoreGradients(const Value &p, const Value &dp,
                                     const Value &delta,
                                     const Value &visible) const {
  Value ds = p * (dp - delta);
  // p is 0 where nothing is visible, but dp may be NaN there.
  return visible.empty() ? ds : where(visible, ds, 0.0);
}

void ScoresKernel::declareInputs() {
  for (auto [tensor, name] :
       {NamedTensor(&q, "q"), {&k, "k"}, {&v, "v"}, {&gradO, "grad_o"}})
    tensor->base = kernel.pointer(name, config.dtype);
  shift = kernel.pointer("shift", real);
  delta = kernel.pointer("delta", real);
  if (config.hasLseRest)
    lseRest = kernel.pointer("lse_rest", real);
}

void ScoresKernel::declareProblem(std::initializer_list<NamedTensor> results) {
  headsQ = kernel.i32("heads_q");
  headsKV = kernel.i32("heads_kv");
  seqQ = kernel.i32("seq_q");
  seqK = kernel.i32("seq_k");
  Value pitch = kernel.i32("row_pitch");
  batch = kernel.i32("batch");
  for (auto [tensor, name] :
       {NamedTensor(&q, "q"), {&k, "k"}, {&v, "v"}, {&gradO, "grad_o"}})
    declareStrides(*tensor, name);
  for (auto [tensor, name] : results)
    declareStrides(*tensor, name);
  scale = kernel.scalar("scale", real);
  rowPitch = cast(pitch, i64);
}

void ScoresKernel::locateBatch() {
  batchIndex = cast(programId(2), i64);
  queryCount = cast(seqQ, i64);
  keyCount = cast(seqK, i64);
}

} // namespace flashtile::kernels
