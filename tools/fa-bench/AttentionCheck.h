//===- AttentionCheck.h - Judges attention at any size ----------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_ATTENTIONCHECK_H
#define FLASHTILE_TOOLS_FA_BENCH_ATTENTIONCHECK_H

#include "runtime/Tensor.h"
#include "tools/fa-bench/Benchmark.h"

namespace flashtile::tools {

/// Judges o, and lse if that is defined, against attention in f64. The
/// reference takes as long as a slow machine needs for it: of many heads the
/// first and the last are judged, and of many rows the first, some in the
/// middle, and the last. q, k and v are [batch, heads, rows, d], where k and v
/// may have fewer heads and other rows, on any device. `factor` times the error
/// of a plain implementation is allowed.
CheckResult checkAttention(const Tensor &q, const Tensor &k, const Tensor &v,
                           const Tensor &o, const Tensor &lse, bool causal,
                           double factor = 2);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_ATTENTIONCHECK_H
