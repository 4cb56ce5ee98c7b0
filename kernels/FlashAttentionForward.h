//===- FlashAttentionForward.h - Attention, forward -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The flash attention recurrence: one program takes a tile of queries over all
// tiles of keys and keeps, for each row, the running maximum m of the scores,
// the sum l of their exponentials and the weighted sum acc of the values. With
// S = scale * q k^T on the positions that a row sees:
//
//   o_i = sum_j exp(S_ij - lse_i) v_j        lse_i = log sum_j exp(S_ij)
//
// A row that sees no key has o = 0 and lse = -inf. A masked position adds
// nothing, even where k or v hold NaN or infinity.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_FLASHATTENTIONFORWARD_H
#define FLASHTILE_KERNELS_FLASHATTENTIONFORWARD_H

#include "compiler/Frontend/KernelBuilder.h"
#include "kernels/CausalAlignment.h"

#include <optional>
#include <string>

namespace flashtile::kernels {

/// What is fixed when the kernel is compiled.
struct FlashAttentionConfig {
  /// Of q, k and v: f64, f32, f16, bf16, f8E4M3FN or f8E5M2.
  ElementType dtype = ElementType::BF16;
  /// Of o: any of these; by default `dtype`, and bf16 for the fp8 types.
  std::optional<ElementType> outputType;
  /// 8 to 256 in steps of 8.
  int64_t headDim = 64;
  /// Rows of q and of k in a tile.
  int64_t blockM = 64;
  int64_t blockN = 64;
  bool causal = false;
  CausalAlignment alignment = CausalAlignment::BottomRight;
  /// Promises scale >= 1.18e-38 at every launch; the compiler then multiplies
  /// the row's maximum instead of every score.
  bool scaleIsPositive = false;
  /// The head dimension is contiguous; otherwise each tensor has an argument
  /// `q_stride_inner`.
  bool unitInnerStride = true;
  /// Ends the loop at the last tile that the causal mask lets through, instead
  /// of leaving that to the compiler. Only with `causal`.
  bool shortenedLoop = false;
  /// Where a value that a row does not see is NaN or infinite: adds the rows
  /// that it spoiled up again, behind the loop, instead of looking at each tile
  /// of values that the mask crosses. The loop over masked tiles then overlaps
  /// its products on Hopper; rows that are added up again differ in rounding.
  bool mendsBehind = false;
  /// Also writes what o lost when it was rounded to its type, for the backward.
  bool oRest = false;
  /// The same of lse; exponentials are then precise.
  bool lseRest = false;
};

/// "flash_attention_forward", or "flash_attention_forward_causal".
std::string flashAttentionForwardName(const FlashAttentionConfig &config);

/// The kernel in a module of its own. Arguments, in order:
///   q, k, v, o                  pointers
///   lse                         pointer to f32 (f64 where dtype is),
///                               contiguous [batch, heads_q, seq_q]
///   (o_rest), (lse_rest)        pointers, as o and as lse
///   heads_q, heads_kv           i32; heads_q is a multiple of heads_kv
///   seq_q, seq_k, batch         i32
///   q_stride_batch, q_stride_head, q_stride_row, (q_stride_inner),
///   k_..., v_..., o_..., (o_rest_...)   i64, elements
///   scale                       f32 (f64 where dtype is)
/// Throws Error (InvalidArgument) for a configuration out of the limits above.
dsl::KernelModule
buildFlashAttentionForward(const FlashAttentionConfig &config);

/// Adds the kernel to a module under another name.
void addFlashAttentionForward(const dsl::KernelModule &module,
                              const std::string &name,
                              const FlashAttentionConfig &config);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_FLASHATTENTIONFORWARD_H
