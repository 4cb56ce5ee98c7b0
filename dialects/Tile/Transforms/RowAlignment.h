//===- RowAlignment.h - Which dimensions of values correspond -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the body of a loop, branches and inner loops included: the dimensions of
// tiles fall into classes, such that element i along a dimension is computed
// from elements i along the other dimensions of its class.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_ROWALIGNMENT_H
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_ROWALIGNMENT_H

#include "mlir/Dialect/SCF/IR/SCF.h"

#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/SmallSet.h"

namespace flashtile::tile {

/// Whether all elements of the result are the same: such values have no rows.
bool isUniformOp(mlir::Operation *op);

/// 0 for scalars.
size_t rankOf(mlir::Value value);

class RowAlignment {
public:
  explicit RowAlignment(mlir::scf::ForOp loop);

  /// Whether two dimensions of one value correspond, as in x + trans(x): then
  /// elements of one row meet those of another.
  bool mixesDimensions();

  /// Lets rows run along the dimensions of `value`.
  void setRows(mlir::Value value) {
    for (size_t dim = 0; dim < rankOf(value); ++dim)
      rows.insert(leader(value, dim));
  }

  bool isRow(mlir::Value value, size_t dim) const {
    return rows.contains(leader(value, dim));
  }
  bool hasRows(mlir::Value value) const;

  bool correspond(mlir::Value a, size_t i, mlir::Value b, size_t j) const {
    return leader(a, i) == leader(b, j);
  }

private:
  using Dim = std::pair<void *, size_t>;

  Dim leader(mlir::Value value, size_t dim) const {
    Dim key(value.getAsOpaquePointer(), dim);
    auto it = classes.findLeader(key);
    return it == classes.member_end() ? key : *it;
  }

  void unify(mlir::Value a, size_t i, mlir::Value b, size_t j);
  void unifyAll(mlir::Value a, mlir::Value b);
  void unify(mlir::Operation *op);
  /// What the operations of `block` tie, and those within them.
  void unify(mlir::Block *block);

  mlir::scf::ForOp loop;
  llvm::EquivalenceClasses<Dim> classes;
  llvm::SmallSet<Dim, 4> rows;
};

} // namespace flashtile::tile

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_ROWALIGNMENT_H
