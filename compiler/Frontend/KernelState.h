//===- KernelState.h - What the opaque handles stand for ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The MLIR side of KernelModule, KernelBuilder and Value. Handles share
// ownership, so that a Value which outlives its builder is an error with a
// line and not a dangling pointer.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_KERNELSTATE_H
#define FLASHTILE_COMPILER_FRONTEND_KERNELSTATE_H

#include "compiler/Frontend/KernelBuilder.h"
#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/ADT/DenseMap.h"

namespace flashtile::dsl::detail {

class ModuleState {
public:
  ModuleState();

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

struct ModuleAccess {
  static const std::shared_ptr<ModuleState> &state(const KernelModule &module) {
    return module.state;
  }
};

/// Why a kernel takes no more operations.
enum class KernelStatus {
  Open,
  Built,
  GivenUp, ///< its builder is gone, or an error left a loop or branch half done
};

class KernelState {
public:
  KernelState(KernelModule owner, std::string kernelName,
              SourceLocation location);

  mlir::Block &entry() { return op->getBody().front(); }
  /// The constant, from the one place at the entry that holds each constant
  /// once: the text stays short and a tile is not filled again in a loop.
  mlir::Value constant(mlir::TypedAttr value, mlir::Location location);
  void eraseUnusedConstants();
  /// Number of arguments that a grid's affine map takes.
  unsigned gridDims();

  KernelModule module; // before `op`, which lives in its context
  std::string name;
  mlir::OwningOpRef<tile::KernelOp> op;
  mlir::OpBuilder builder;
  KernelStatus status = KernelStatus::Open;
  bool builderLives = true;
  std::vector<std::string> argumentNames;
  llvm::SmallVector<mlir::AffineExpr> grid;
  /// Operations that only computed a grid; build() erases those.
  llvm::SmallVector<mlir::Operation *> gridOps;

private:
  llvm::DenseMap<mlir::Attribute, mlir::Value> constants;
  mlir::Operation *lastConstant = nullptr;
};

/// The innermost open kernel of this thread; throws where there is none.
std::shared_ptr<KernelState> currentKernel(SourceLocation location);
void pushCurrentKernel(const std::shared_ptr<KernelState> &kernel);

mlir::Type toMlir(ElementType type, mlir::MLIRContext *context);
mlir::Location toMlir(SourceLocation location, mlir::MLIRContext *context);

struct ValueAccess {
  static const std::shared_ptr<KernelState> &kernel(const Value &value) {
    return value.kernel;
  }
  static mlir::Value mlirValue(const Value &value) {
    return mlir::Value::getFromOpaquePointer(value.handle);
  }
  static Value make(std::shared_ptr<KernelState> kernel, mlir::Value value);
};

} // namespace flashtile::dsl::detail

#endif // FLASHTILE_COMPILER_FRONTEND_KERNELSTATE_H
