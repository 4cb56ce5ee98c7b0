//===- Golden.h - Stored cases with known results -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A golden folder holds `manifest.json`, an array of cases, and for each case
// `NAME.{q,k,v,do,o,lse,dq,dk,dv}.npy`. The arrays are stored in f32 (any float
// type is read); the inputs are values of the case's own dtype. A case:
//
//   {"name": "one_row", "dtype": "float16", "batch": 1, "heads_q": 2,
//    "heads_kv": 2, "seq_q": 1, "seq_k": 1, "head_dim": 64, "causal": true,
//    "scale": 0.125, "layout": "b h n d", "causal_alignment": "bottom-right"}
//
// All these keys must be present; further ones are ignored.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_REFERENCE_GOLDEN_H
#define FLASHTILE_KERNELS_REFERENCE_GOLDEN_H

#include "kernels/Reference/AttentionOptions.h"

#include <filesystem>
#include <string>
#include <vector>

namespace flashtile::reference {

struct GoldenCase {
  std::filesystem::path directory;
  std::string name;
  DType dtype; ///< what a kernel is to compute in
  int64_t batch, headsQ, headsKv, seqQ, seqK, headDim;
  bool causal;
  double scale;
  CausalAlignment alignment;

  /// The case as options of a reference.
  AttentionOptions options() const;
};

struct GoldenTensors {
  Tensor q, k, v, dO; ///< inputs, of the case's dtype
  AttentionResult forward;
  AttentionGradients gradients; ///< of sum(o * dO)
};

/// Reads `directory/manifest.json`. Throws NotFound if there is none, and
/// InvalidArgument, naming the file, the case, the key, what it holds and what
/// is wanted, for a manifest that is malformed, lacks a key, gives one twice or
/// two cases the same name, or asks for what does not exist.
std::vector<GoldenCase>
readGoldenManifest(const std::filesystem::path &directory);

/// Loads the arrays of a case. Throws NotFound for a missing file,
/// InvalidArgument for one of the wrong shape or type, and Io for what is no
/// .npy file; each names the file.
GoldenTensors loadGolden(const GoldenCase &goldenCase);

} // namespace flashtile::reference

#endif // FLASHTILE_KERNELS_REFERENCE_GOLDEN_H
