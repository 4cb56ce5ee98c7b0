//===- Numerics.h - Element formats and exponentials in generated code ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Code that computes holds f16, bf16 and fp8 elements as f32 (their *compute
// type*); every operation on them rounds its f32 result to the narrow format,
// which for +, -, *, / gives the correctly rounded narrow result. Memory holds
// the narrow bits. This file emits both conversions, the rounding, and the
// functions of f32 that kernels spend their time in.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_NUMERICS_NUMERICS_H
#define FLASHTILE_COMPILER_CONVERSION_NUMERICS_NUMERICS_H

#include "mlir/IR/ImplicitLocOpBuilder.h"

namespace flashtile::numeric {

/// Type that elements of `type` have while computing: f32 for the narrow
/// floats, i64 for pointers, `type` itself otherwise.
mlir::Type getComputeType(mlir::Type type);

/// Type that elements of `type` have in user memory: an integer of the width
/// for bf16 and fp8, i8 for i1, i64 for pointers, `type` itself otherwise.
mlir::Type getMemoryType(mlir::Type type);

/// Type that elements of `type` have in the buffers of a kernel: the compute
/// type, but i8 for i1.
mlir::Type getBufferType(mlir::Type type);

/// `type` as a scalar or, where `like` is a vector, a vector of its length.
mlir::Type likeShape(mlir::Type like, mlir::Type element);

/// Splats a scalar to the shape of `like`; values of that shape stay.
mlir::Value matchShape(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                       mlir::Type like);

/// Constant of `type` (scalar or vector) with every element `value`.
mlir::Value constantFloat(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                          double value);
mlir::Value constantInt(mlir::ImplicitLocOpBuilder &b, mlir::Type type,
                        int64_t value);

/// Rounds an f32 (or f64) value to the nearest value of `element`, ties to
/// even, and gives it in the compute type of `element`. fp8 saturates.
mlir::Value roundTo(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                    mlir::Type element);

/// x * y + z of values of the narrow type `element`, rounded once to it.
mlir::Value emitNarrowFma(mlir::ImplicitLocOpBuilder &b,
                          mlir::ArrayRef<mlir::Value> operands,
                          mlir::Type element);

/// An i64 with at most 53 significant bits, which rounds to a narrow float as
/// `value` does: bits too far down are kept as one that is set if any is.
mlir::Value fitToF64(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                     bool isSigned);

/// From what memory holds to the compute type of `element`, and back. The
/// value to encode is one of `element`'s, i.e. was rounded before.
mlir::Value decode(mlir::ImplicitLocOpBuilder &b, mlir::Value bits,
                   mlir::Type element);
mlir::Value encode(mlir::ImplicitLocOpBuilder &b, mlir::Value value,
                   mlir::Type element);

/// 2^x and e^x of f32 values. Results below the smallest normal number are
/// zero. Relative error below 2^-22.
mlir::Value emitExp2(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitExp(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// The hyperbolic tangent and the error function of f32 values, within two
/// units in the last place.
mlir::Value emitTanh(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitErf(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
/// The hyperbolic tangent where `large` is that of |x| beyond a half, made by
/// other means.
mlir::Value emitTanh(mlir::ImplicitLocOpBuilder &b, mlir::Value x,
                     mlir::Value large);

/// Logarithms of f32 values, within two units in the last place.
mlir::Value emitLog(mlir::ImplicitLocOpBuilder &b, mlir::Value x);
mlir::Value emitLog2(mlir::ImplicitLocOpBuilder &b, mlir::Value x);

/// Replaces the operations of the math dialect in `kernel` that are others put
/// together: `math.isinf`, `isnormal`, `ipowi`, `clampf` and `sincos`. Neither
/// MLIR nor LLVM has code for them on all targets.
void expandMathOps(mlir::Operation *kernel);

} // namespace flashtile::numeric

#endif // FLASHTILE_COMPILER_CONVERSION_NUMERICS_NUMERICS_H
