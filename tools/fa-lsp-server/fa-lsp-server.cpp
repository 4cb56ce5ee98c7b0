//===- fa-lsp-server.cpp - Editor support for tile programs ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// MLIR's language server with the dialects that kernels are written in, and
// those of the later stages that FLASHTILE_DUMP_DIR keeps: diagnostics while
// one types, definitions, uses, and what an operation is.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileDialect.h"
#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/DialectRegistry.h"
#include "mlir/Tools/mlir-lsp-server/MlirLspServerMain.h"

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry
      .insert<flashtile::tile::TileDialect, flashtile::tilegpu::TileGPUDialect,
              mlir::arith::ArithDialect, mlir::func::FuncDialect,
              mlir::LLVM::LLVMDialect, mlir::math::MathDialect,
              mlir::memref::MemRefDialect, mlir::NVVM::NVVMDialect,
              mlir::scf::SCFDialect, mlir::vector::VectorDialect>();
  return mlir::failed(mlir::MlirLspServerMain(argc, argv, registry));
}
