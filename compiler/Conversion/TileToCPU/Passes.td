//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The conversion of tile kernels to loops over vectors for the CPU.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_CONVERSION_TILETOCPU_PASSES_TD
#define FLASHTILE_COMPILER_CONVERSION_TILETOCPU_PASSES_TD

include "mlir/Pass/PassBase.td"

def ConvertTileToCPUPass : Pass<"convert-tile-to-cpu", "::mlir::ModuleOp"> {
  let summary = "lower tile kernels to loops over vectors and buffers";
  let description = [{
    Replaces each `tile.kernel` by two functions of the func dialect.

    **Input:** verified tile kernels. Any tile program is accepted;
    `--tile-optimize` before it makes them fast.

    **Output:** for `@k`, a function `@flashtile_kernel_k(%arguments, %ids,
    %context, %arena)` that a launcher calls once for each program: `%arguments`
    points to pointers to the arguments' values in order, `%ids` to three
    program ids and three grid extents (i32), `%context` is handed to the
    runtime's callbacks (`flashtile_rt_fail`, `flashtile_rt_print_*`), and
    `%arena` is scratch memory of `tile.cpu.arena_bytes` (an attribute of the
    function), aligned to 64 bytes and private to the call. It calls `@k.body`,
    which gets one pointer for each piece of scratch memory, free of aliases.
    The bodies are scf, arith, math, vector, memref and llvm operations.

    **Example:** tests/compiler/Conversion/TileToCPU/dot.mlir

    **Order:** after `--tile-optimize`; before `--cpu-to-llvm`.
  }];
  let options = [
    Option<"lanes", "lanes", "int64_t", /*default=*/"8",
           "f32 elements of one vector: 4, 8 or 16">,
    Option<"registers", "registers", "int64_t", /*default=*/"16",
           "vector registers of the target: 16 or 32">];
  let statistics = [
    Statistic<"numBuffers", "buffers", "Tiles held in memory">,
    Statistic<"numSlots", "slots", "Pieces of memory that they share">];
  let dependentDialects = [
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect",
    "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect",
    "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect",
    "::mlir::vector::VectorDialect"];
}

#endif // FLASHTILE_COMPILER_CONVERSION_TILETOCPU_PASSES_TD
