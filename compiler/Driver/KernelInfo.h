//===- KernelInfo.h - What a launcher knows of a compiled kernel ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Arguments and launch grid of a kernel, free of MLIR.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_KERNELINFO_H
#define FLASHTILE_COMPILER_DRIVER_KERNELINFO_H

#include "compiler/Support/ElementType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace flashtile {

struct KernelArgument {
  bool isInteger() const { return !isPointer && !isFloat(type); }
  /// "ptr<f32>" or "i32".
  std::string typeText() const;

  std::string name;
  bool isPointer = false;
  ElementType type = ElementType::F32; ///< of the scalar, or pointed to
  /// The kernel may store through this pointer.
  bool isWritten = false;
};

/// An extent of the launch grid, or a number of a tensor map, as a function of
/// the kernel's integer arguments, in postfix form.
struct GridExpr {
  enum class Op : uint8_t {
    Constant, ///< pushes `value`
    Argument, ///< pushes the integer argument number `value`
    Add,
    Multiply,
    FloorDiv,
    CeilDiv,
    Mod,
  };
  struct Step {
    Op op;
    int64_t value = 0;
  };
  std::vector<Step> steps;

  /// The value for these integer arguments. False where it does not fit 64
  /// bits or divides by zero.
  bool evaluate(const std::vector<int64_t> &integers, int64_t &extent) const;

  /// Whether the integer argument of this number occurs.
  bool dependsOn(size_t integer) const;

  /// "n ceildiv 64", given the names of the integer arguments.
  std::string text(const std::vector<std::string> &integerNames) const;
};

struct KernelInfo {
  std::string name;
  std::vector<KernelArgument> arguments;
  std::vector<GridExpr> grid; ///< one to three extents

  /// Those that grids are computed from, in order.
  std::vector<std::string> integerNames() const;
  /// "vector_add(x: ptr<f32>, n: i32)".
  std::string signature() const;
  /// "(n ceildiv 64)".
  std::string gridText() const;
};

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_KERNELINFO_H
