//===- TmaWindow.h - Windows as TMA sees them -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A window of a strided tensor becomes coordinates in a tensor map: its two
// dimensions, and one more for each term `index * stride` of its base pointer.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_TMAWINDOW_H
#define FLASHTILE_COMPILER_SCHEDULE_TMAWINDOW_H

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/IR/ImplicitLocOpBuilder.h"

#include <optional>
#include <string>

namespace flashtile::gpu {

struct TmaWindow {
  int64_t argument = 0; ///< of the kernel, a pointer
  /// Expressions of the kernel's integer arguments, innermost first.
  llvm::SmallVector<mlir::Attribute> extents, strides;
  mlir::Attribute offset; ///< null: none
  /// Of the window's first element, innermost first; integers of any type.
  llvm::SmallVector<mlir::Value> coordinates;

  /// Two windows of one tensor map.
  bool sharesMapWith(const TmaWindow &other) const {
    return argument == other.argument && extents == other.extents &&
           strides == other.strides && offset == other.offset;
  }
};

/// The window through which `pointer` reads, or why TMA cannot.
std::optional<TmaWindow>
describeWindow(mlir::Value pointer, tile::KernelOp kernel, std::string &whyNot);

/// The kernel's argument that a pointer or window is based on; null: unknown.
mlir::BlockArgument baseArgumentOf(mlir::Value pointer);

/// Makes the tensor map of a window for tiles of `memory`'s form.
mlir::Value createTensorMap(mlir::ImplicitLocOpBuilder &b,
                            const TmaWindow &window, tilegpu::SmemType memory);

/// A coordinate (an integer of any type) in the type that copies take; the
/// launcher sends tensors with larger extents elsewhere.
mlir::Value toCoordinate(mlir::ImplicitLocOpBuilder &b, mlir::Value value);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_TMAWINDOW_H
