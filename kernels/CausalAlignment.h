//===- CausalAlignment.h - Where the causal diagonal runs -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What "causal" means for queries and keys of different lengths: one word for
// the kernels, the references that judge them and the tools.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_CAUSALALIGNMENT_H
#define FLASHTILE_KERNELS_CAUSALALIGNMENT_H

namespace flashtile {

/// Which corner the causal diagonal runs through when seq_q != seq_k.
enum class CausalAlignment {
  BottomRight, ///< row i sees key j iff j <= i + seq_k - seq_q
  TopLeft,     ///< row i sees key j iff j <= i
};

} // namespace flashtile

#endif // FLASHTILE_KERNELS_CAUSALALIGNMENT_H
