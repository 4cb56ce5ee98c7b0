//===- MlpKernel.cpp - Two layers in one kernel ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/MlpKernel.h"

#include "compiler/Frontend/Dsl.h"
#include "kernels/ActivationTile.h"
#include "kernels/EnumChecks.h"

#include <algorithm>
#include <string>

namespace flashtile::kernels {

using namespace dsl;

static void checkConfig(const MlpKernelConfig &config) {
  constexpr int64_t kMinWidth = 8, kMaxWidth = 256, kWidthStep = 8;
  /// Elements of a tile: the dialect's limit.
  constexpr int64_t kMaxTile = int64_t(1) << 20;
  checkOption(config.activation);
  flashtile::checkElementType("dtype", config.dtype);
  if (config.dtype != ElementType::F32 && config.dtype != ElementType::F16 &&
      config.dtype != ElementType::BF16)
    throw Error(ErrorCode::InvalidArgument,
                "expected dtype to be f32, f16 or bf16, but got " +
                    std::string(elementTypeName(config.dtype)));
  for (auto [name, width] : {std::pair("inputs", config.inputs),
                             std::pair("outputs", config.outputs)})
    if (width < kMinWidth || width > kMaxWidth || width % kWidthStep)
      throw Error(ErrorCode::InvalidArgument,
                  std::string("expected ") + name + " between " +
                      std::to_string(kMinWidth) + " and " +
                      std::to_string(kMaxWidth) + " in steps of " +
                      std::to_string(kWidthStep) + ", but got " +
                      std::to_string(width));
  auto checkBlock = [&](const char *name, int64_t extent, int64_t other) {
    if (extent <= 0 || extent > kMaxTile / other)
      throw Error(ErrorCode::InvalidArgument,
                  std::string("expected ") + name + " between 1 and " +
                      std::to_string(kMaxTile / other) + ", but got " +
                      std::to_string(extent));
  };
  const int64_t width = std::max(config.inputs, config.outputs);
  checkBlock("blockM", config.blockM, width);
  checkBlock("blockH", config.blockH, std::max(width, config.blockM));
}

KernelModule buildMlpKernel(const MlpKernelConfig &config) {
  checkConfig(config);
  KernelBuilder kernel("mlp");
  Value x = kernel.pointer("x", config.dtype);
  Value w1 = kernel.pointer("w1", config.dtype);
  Value w2 = kernel.pointer("w2", config.dtype);
  Value y = kernel.pointer("y", config.dtype);
  Value b1, b2;
  if (config.hasBias) {
    b1 = kernel.pointer("b1", config.dtype);
    b2 = kernel.pointer("b2", config.dtype);
  }
  Value rows = kernel.i32("rows"), hidden = kernel.i32("hidden");
  Value strideX = kernel.i64("x_stride_row");
  Value strideW1 = kernel.i64("w1_stride_row");
  Value strideW2 = kernel.i64("w2_stride_row");
  Value strideY = kernel.i64("y_stride_row");
  kernel.grid({ceilDiv(rows, config.blockM)});

  Value row = programId(0) * config.blockM;
  Value input = load(makeBlockPtr(x, {rows, config.inputs}, {strideX, 1},
                                  {row, 0}, {config.blockM, config.inputs}));
  Value into = makeBlockPtr(w1, {config.inputs, hidden}, {strideW1, 1}, {0, 0},
                            {config.inputs, config.blockH});
  Value outOf = makeBlockPtr(w2, {hidden, config.outputs}, {strideW2, 1},
                             {0, 0}, {config.blockH, config.outputs});
  Value zero = zeros({config.blockM, config.outputs}, f32);
  auto [sum] =
      forRange(0, hidden, config.blockH, {zero}, [&](Value start, Value sum) {
        Value layer = dot(input, load(advance(into, {0, start})));
        if (config.hasBias) {
          Value bias =
              load(makeBlockPtr(b1, {hidden}, {1}, {start}, {config.blockH}));
          layer = layer + cast(bias, f32);
        }
        layer = cast(activate(layer, config.activation), config.dtype);
        // Beyond the hidden layer w2 is loaded as 0, and so adds nothing.
        return dot(layer, load(advance(outOf, {start, 0})), sum);
      });
  if (config.hasBias) {
    Value bias =
        load(makeBlockPtr(b2, {config.outputs}, {1}, {0}, {config.outputs}));
    sum = sum + cast(bias, f32);
  }
  store(makeBlockPtr(y, {rows, config.outputs}, {strideY, 1}, {row, 0},
                     {config.blockM, config.outputs}),
        cast(sum, config.dtype));
  return kernel.build();
}

} // namespace flashtile::kernels
