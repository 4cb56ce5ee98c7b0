//===- Remark.h - Decisions, told to the user -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every decision that a pass does not take leaves a remark with the reason.
// Remarks go to the context's remark engine: `fa-opt --remarks` prints them, a
// compile report installs a streamer, and without either they cost nothing.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_REMARK_H
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_REMARK_H

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/IR/Remarks.h"

namespace flashtile::tile {

namespace detail {
inline mlir::remark::RemarkOpts
remarkOptions(mlir::Operation *op, llvm::StringRef pass, llvm::StringRef name) {
  auto kernel = op->getParentOfType<KernelOp>();
  return mlir::remark::RemarkOpts::name(name).category(pass).function(
      kernel ? kernel.getSymName() : llvm::StringRef());
}
} // namespace detail

/// Tells that `pass` (its argument, a literal) did something to `op`. `name`
/// identifies the kind of remark for machines.
inline void remarkApplied(mlir::Operation *op, llvm::StringRef pass,
                          llvm::StringRef name, const llvm::Twine &text) {
  auto remark =
      mlir::remark::passed(op->getLoc(), detail::remarkOptions(op, pass, name));
  if (remark)
    remark << llvm::StringRef(text.str());
}

/// Tells that `pass` left `op` as it is, and why.
inline void remarkMissed(mlir::Operation *op, llvm::StringRef pass,
                         llvm::StringRef name, const llvm::Twine &reason) {
  auto remark =
      mlir::remark::missed(op->getLoc(), detail::remarkOptions(op, pass, name));
  if (remark)
    remark << mlir::remark::detail::Remark::Arg("Reason", reason.str());
}

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_REMARK_H
