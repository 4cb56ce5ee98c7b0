//===- GradCheck.h - Whether a backward is right --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Compares the gradients that the tape gives with central finite differences,
// element by element:
//
//   Tensor x = Tensor::randn({3, 4}, DType::F64, 1).setRequiresGrad();
//   autograd::gradcheck(
//       [](const TensorList &in) { return TensorList{Square::apply(in[0])}; },
//       {x});
//
// It takes 2 calls for each element of the inputs, and a backward for each
// element of the outputs: use small tensors.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_GRADCHECK_H
#define FLASHTILE_RUNTIME_AUTOGRAD_GRADCHECK_H

#include "runtime/Autograd/Hooks.h"

#include <functional>

namespace flashtile::autograd {

struct GradCheckOptions {
  /// Half of the distance over which differences are taken.
  double eps = 1e-6;
  /// |analytical - numerical| <= atol + rtol * |numerical|
  double atol = 1e-5, rtol = 1e-3;
  /// By how much two backward passes over one graph may differ.
  double nondetTol = 0;
  /// Whether a failure is thrown as InvalidArgument, with the output, the
  /// input, the indices and both values; otherwise the result is false.
  bool raisesException = true;
};

using GradCheckFunction = std::function<TensorList(const TensorList &)>;

/// Whether the gradients of the outputs of `function` by those `inputs` that
/// require one are right. Also checks that a second pass gives the same
/// (`nondetTol`), and that an upstream gradient whose elements all lie in one
/// place (strides 0) gives what a contiguous one does.
///
/// `function` gives the same for the same inputs, and returns at least one
/// tensor that depends on them. Inputs are leaves on the cpu whose elements are
/// in places of their own, of f64: differences of narrower types are mostly
/// rounding, so that these are accepted only with an eps of 1e-4 or more, and
/// want tolerances to match. Elements are changed for the calls and put back.
/// Throws InvalidArgument where something of this does not hold.
bool gradcheck(const GradCheckFunction &function, const TensorList &inputs,
               const GradCheckOptions &options = {});

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_GRADCHECK_H
