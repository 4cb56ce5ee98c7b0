//===- AttentionVariantKernel.h - Attention with other scores -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention whose scores or weights are not those of FlashAttentionForward.h
// (AttentionVariant.h has the formulas): the same recurrence in plain tiles,
// with something else in its middle. What a new kind of attention costs its
// author is this file's .cpp.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ATTENTIONVARIANTKERNEL_H
#define FLASHTILE_KERNELS_ATTENTIONVARIANTKERNEL_H

#include "compiler/Frontend/KernelBuilder.h"
#include "kernels/AttentionVariant.h"

#include <string>

namespace flashtile::kernels {

/// What is fixed when the kernel is compiled.
struct AttentionVariantConfig {
  AttentionVariant variant = AttentionVariant::Softcap;
  /// Of q, k, v and o: f32, f16 or bf16.
  ElementType dtype = ElementType::BF16;
  /// 8 to 256 in steps of 8.
  int64_t headDim = 64;
  /// Rows of q and of k in a tile.
  int64_t blockM = 64;
  int64_t blockN = 64;
  /// Row i sees the keys up to i + seq_k - seq_q only.
  bool causal = false;
  /// Promises scale >= 1.18e-38 at every launch.
  bool scaleIsPositive = false;
  /// Softcap: tanh of f16 numbers, one instruction of GPUs, whose relative
  /// error of 2^-10 shows in large scores. Without it, the error is 2^-21.
  bool fastTanh = false;
};

/// "softcap_attention", "alibi_attention_causal", and so on.
std::string attentionVariantKernelName(const AttentionVariantConfig &config);

/// The kernel in a module of its own. Arguments, in order:
///   q, k, v, o                  pointers
///   lse                         pointer to f32, contiguous [batch, heads_q,
///                               seq_q]; not for Sigmoid
///   slopes                      Alibi: pointer to f32, [heads_q]
///   heads_q, heads_kv           i32; heads_q is a multiple of heads_kv
///   seq_q, seq_k, batch         i32
///   q_stride_batch, q_stride_head, q_stride_row, k_..., v_..., o_...
///                               i64, elements; rows are contiguous
///   scale                       f32
///   cap                         Softcap: f32
///   left, right                 SlidingWindow: i32, not negative; no `right`
///                               if causal
///   bias                        Sigmoid: f32
/// Throws Error (InvalidArgument) for a configuration out of the limits above.
dsl::KernelModule
buildAttentionVariantKernel(const AttentionVariantConfig &config);

/// How blocks of a GPU take programs of the kernel, as in
/// CompilerOptions::persistent, unless FLASHTILE_PERSISTENT says. Masked
/// kernels have a block for each: beside loops that look for hidden NaN in each
/// tile there are no registers for what a block carries from one program to the
/// next.
const char *attentionVariantPersistence(const AttentionVariantConfig &config);

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_ATTENTIONVARIANTKERNEL_H
