//===- UniformFactor.h - Products with one scalar -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `x * c` where c is one scalar in every element: the scale of attention. The
// factor is a value or, where known, a constant, and can be made in any shape.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_UNIFORMFACTOR_H
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_UNIFORMFACTOR_H

#include "dialects/Tile/IR/TileDialect.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"

namespace flashtile::tile {

/// A float scalar: a value, or a constant.
class UniformFactor {
public:
  /// What fills the scalar or uniform tile `value`; nothing where it is not
  /// known to be uniform.
  static std::optional<UniformFactor> of(mlir::Value value);

  bool operator==(const UniformFactor &other) const;

  /// The factor as a scalar or tile of `type`, at the builder's position.
  mlir::Value materialize(mlir::OpBuilder &builder, mlir::Location loc,
                          mlir::Type type) const;

  /// The scalar, null for a constant.
  mlir::Value getScalar() const { return scalar; }
  std::optional<llvm::APFloat> getConstant() const { return constant; }
  bool isPositiveNormal() const { return positive; }

private:
  mlir::Value scalar;
  std::optional<llvm::APFloat> constant;
  bool positive = false;
};

/// `x * factor`.
struct ScaledValue {
  mlir::Value value;
  UniformFactor factor;

  /// Reads `value` as a product, if it is one.
  static std::optional<ScaledValue> of(mlir::Value value);
};

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_UNIFORMFACTOR_H
