//===- FlashAttentionBackwardKernels.h - Gradients of attention -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The backward of flash attention, scores recomputed tile by tile. With
// P_ij = exp(S_ij - lse_i) on the positions that row i sees:
//
//   delta_i = sum_c dO_ic o_ic - dLse_i      dP_ij = dO_i . v_j
//   dS_ij   = P_ij (dP_ij - delta_i)
//   dv_j = sum_i P_ij dO_i    dk_j = scale sum_i dS_ij q_i
//   dq_i = scale sum_j dS_ij k_j
//
// Five kernels:
//   rows     before: delta, and what the exponent subtracts
//   keys     programs own keys: dk, dv, and, if wanted, parts of dq
//   mend     causal: keys again beside which a row with NaN is hidden
//   queries  programs own queries: dq; with `keys` the deterministic form
//   finish   after: dq from the sums of its parts
//
// The row vectors have `row_pitch` elements for each head, at least seq_q;
// further elements make rows without any effect, which needs no mask.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDKERNELS_H
#define FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDKERNELS_H

#include "compiler/Frontend/KernelBuilder.h"
#include "kernels/CausalAlignment.h"

#include <string>

namespace flashtile::kernels {

/// What is fixed when a kernel is compiled. Each kernel takes what it needs.
struct FlashAttentionBackwardConfig {
  /// Of q, k, v, o, dO and the gradients: f32, f16, bf16 or f64. Sums and row
  /// vectors are f32, f64 where this is f64: `real` below.
  ElementType dtype = ElementType::BF16;
  /// 8 to 256 in steps of 8.
  int64_t headDim = 64;
  /// Columns of tiles, and of dq_sum: headDim, or more, which are zeros; 0
  /// stands for headDim.
  int64_t width = 0;
  /// Rows of q and of k in a tile. `rows` and `finish` take blockM rows.
  int64_t blockM = 64;
  int64_t blockN = 64;
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  /// The head dimension is contiguous everywhere; otherwise each tensor has an
  /// argument `q_stride_inner`.
  bool unitInnerStride = true;

  /// `keys`: several query heads share a head of keys; their gradients are
  /// added up in one program.
  bool grouped = false;
  /// `grouped` and not `mends`: one counter goes through the heads of all
  /// batches. It takes the fewest registers, but TMA cannot read by it.
  bool countsHeads = false;
  /// `keys`: adds each tile's part of dq, without `scale`, to an f32 tensor.
  bool addsDq = false;
  /// dq_sum is [row_pitch / 16, 16 width]: blocks of 16 rows and 8 columns,
  /// each as the threads of a warp hold such a part of a product, so that they
  /// add whole lines of memory. blockM is a multiple of 16.
  bool packsDq = false;
  /// shift and delta have each 16 rows in the order 0 1 8 9 2 3 10 11 ..., in
  /// which the threads of a warp take four of them each. blockM is a multiple
  /// of 16.
  bool packsRows = false;
  /// `mend`: of that kernel, and the tiles of the `keys` that ran before it;
  /// keysBlockN is a multiple of blockN.
  bool mends = false;
  int64_t keysBlockM = 0, keysBlockN = 0;
  /// `rows`: o has a second part that its rounding lost.
  bool hasORest = false;
  /// `keys`, `queries`: so has lse.
  bool hasLseRest = false;
  /// `rows`: there is a gradient by lse.
  bool hasGradLse = false;
};

/// What the exponents subtract, and delta: for each row
///   shift = lse; 1e30 behind seq_q and for a row that sees no key
///   delta = sum_c dO_c (o_c + oRest_c) - dLse; 0 behind seq_q
/// One of the two is not finite if q or dO of the row are not. With `addsDq`,
/// sets the sums of dq to zero. Arguments:
///   q, o, (o_rest), grad_o        pointers to dtype
///   lse, (grad_lse)               pointers to real; lse is contiguous
///   shift, delta, (dq_sum)        pointers to real, written
///   heads_q, seq_q, seq_k, row_pitch, batch   i32
///   q_stride_batch, q_stride_head, q_stride_row, (q_stride_inner),
///   o_..., (o_rest_...), grad_o_...    i64, elements
///   (grad_lse_stride_batch, grad_lse_stride_head, grad_lse_stride_row)
dsl::KernelModule
buildFlashAttentionBackwardRows(const FlashAttentionBackwardConfig &config);

/// dk and dv. Arguments:
///   q, k, v, grad_o               pointers to dtype
///   shift, delta, (lse_rest)      pointers to real; lse_rest is contiguous
///                                 [batch, heads_q, seq_q]
///   dk, dv                        pointers to dtype, written
///   (dq_sum)                      pointer to real, contiguous
///                                 [batch, heads_q, row_pitch, width], added
///   heads_q, heads_kv, seq_q, seq_k, row_pitch, batch   i32
///   q_stride_batch, q_stride_head, q_stride_row, (q_stride_inner),
///   k_..., v_..., grad_o_..., dk_..., dv_...            i64, elements
///   scale                         f32, f64 where dtype is
dsl::KernelModule
buildFlashAttentionBackwardKeys(const FlashAttentionBackwardConfig &config);

/// dk and dv again for the tiles where a row that is not finite lies beside the
/// diagonal; nothing for others. To run after `keys`, with its arguments but
/// dq_sum: `addsDq` is false.
dsl::KernelModule
buildFlashAttentionBackwardMend(const FlashAttentionBackwardConfig &config);

/// dq. Arguments:
///   q, k, v, grad_o               pointers to dtype
///   shift, delta, (lse_rest)      as above
///   dq                            pointer to dtype, written
///   heads_q, heads_kv, seq_q, seq_k, row_pitch, batch   i32
///   q_stride_batch, q_stride_head, q_stride_row, (q_stride_inner),
///   k_..., v_..., grad_o_..., dq_...                    i64, elements
///   scale                         f32, f64 where dtype is
dsl::KernelModule
buildFlashAttentionBackwardQueries(const FlashAttentionBackwardConfig &config);

/// dq = scale dq_sum. Arguments:
///   dq_sum                        pointer to real, as above
///   dq                            pointer to dtype, written
///   heads_q, seq_q, row_pitch, batch   i32
///   dq_stride_batch, dq_stride_head, dq_stride_row, (dq_stride_inner)
///   scale                         f32, f64 where dtype is
dsl::KernelModule
buildFlashAttentionBackwardFinish(const FlashAttentionBackwardConfig &config);

/// The same with the causal mask, and dq again where a key that is not finite
/// lies beside the diagonal. `addsDq` is true. Arguments: those of `queries`,
/// with dq_sum before dq.
dsl::KernelModule buildFlashAttentionBackwardFinishCausal(
    const FlashAttentionBackwardConfig &config);

/// "flash_attention_backward_keys" and the like, with "_causal" behind it.
std::string flashAttentionBackwardName(const std::string &part,
                                       const FlashAttentionBackwardConfig &);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_FLASHATTENTIONBACKWARDKERNELS_H
