//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of tiles with layouts to the code of one thread.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PASSES_TD
#define FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileGPUToLLVMPass : Pass<"convert-tilegpu-to-llvm", "::mlir::ModuleOp"> {
  let summary = "lower tiles with layouts to the code of a thread";
  let description = [{
    Replaces each `tile.kernel` by an `llvm.func` that one thread runs.

    **Input:** kernels after `--convert-tile-to-tilegpu`.

    **Output:** `@kernel(arguments..., i32, i32, i32)`: the kernel's arguments,
    pointers in global memory, then the three extents of its grid, which a launch
    folds into the x dimension of the device's. Between them are tensor maps by
    value, and the address of a counter with `tilegpu.program_counter`. Threads:
    32 for each warp, and a warpgroup more with roles.
    `shared_bytes` on the function says how much dynamic shared memory
    it uses. What is left in the body is of scf, arith, math, NVVM and llvm.

    **Example:** tests/compiler/Conversion/TileGPUToLLVM/vector-add.mlir

    **Order:** after `--convert-tile-to-tilegpu`, CSE and LICM.
  }];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect",
    "::mlir::NVVM::NVVMDialect", "::mlir::math::MathDialect",
    "::mlir::scf::SCFDialect"];
}

#endif // FLASHTILE_COMPILER_CONVERSION_TILEGPUTOLLVM_PASSES_TD
