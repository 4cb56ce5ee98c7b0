//===- GradientCheck.h - Judges gradients at any size -----------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_GRADIENTCHECK_H
#define FLASHTILE_TOOLS_FA_BENCH_GRADIENTCHECK_H

#include "kernels/FlashAttentionBackward.h"
#include "tools/fa-bench/Benchmark.h"

namespace flashtile::tools {

/// Judges dq, dk and dv against the definition in f64: as in AttentionCheck.h,
/// some rows of the first and the last head. Rows of dq need nothing but
/// themselves and all keys. Rows of dk and dv need the log-sum-exp and the sum
/// of each query, which are taken from `saved`, what flashAttentionSaved gave:
/// more exact by far than what is judged.
CheckResult checkGradients(const Tensor &q, const Tensor &k, const Tensor &v,
                           const FlashAttentionSaved &saved,
                           const Tensor &gradO,
                           const FlashAttentionGradients &gradients,
                           bool causal);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_GRADIENTCHECK_H
