//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Passes on tiles with layouts.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILEGPU_TRANSFORMS_PASSES_TD
#define FLASHTILE_DIALECTS_TILEGPU_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def SpecializeArgumentsPass
    : Pass<"tilegpu-specialize-arguments", "::mlir::ModuleOp"> {
  let summary = "compile kernels for aligned arguments, and once more without";
  let description = [{
    Finds which arguments decide whether the rows of windows of rank 2 start at
    multiples of 16 bytes.

    **Input:** kernels of the tile dialect.

    **Output:** where there are such arguments, the kernel assumes that they are
    multiples of what is needed, which `tilegpu.requires` lists for the launcher,
    and `@kernel__plain` is the kernel without assumptions. `functions=fast`
    leaves the latter out and notes that in `tilegpu.plain_elsewhere`;
    `functions=plain` leaves nothing else.

    **Example:** tests/dialects/TileGPU/Transforms/specialize-arguments.mlir

    **Order:** after `--tile-optimize`, before `--convert-tile-to-tilegpu`.
  }];
  let options = [Option<"functions", "functions", "std::string",
                        /*default=*/"\"both\"",
                        "which of them to keep: fast, plain or both">];
  let dependentDialects = ["::flashtile::tile::TileDialect"];
}

def StageLoadsPass : Pass<"tilegpu-stage-loads", "::flashtile::tile::KernelOp"> {
  let summary = "copy dot operands to shared memory in the background";
  let description = [{
    A load whose only use is `tilegpu.stage` does not have to pass through
    registers: it becomes a `tilegpu.copy_async`. In a loop the copies of later
    iterations run while the current one computes, through a ring of `num-stages`
    buffers.

    **Input:** a kernel after `--convert-tile-to-tilegpu`.

    **Output:** `tilegpu.alloc`, copies and waits in place of such loads and
    stages. Numbers in memory that say where a window is (the pages of a table)
    are read once more, ahead. A remark says why a load was left: a store in the
    loop, a window that depends on carried values, or on memory in a loop with
    assertions, padding that is not zero, or too little shared memory
    (`shared-limit` bytes), for which first the ring gets shorter.

    **Example:** tests/dialects/TileGPU/Transforms/stage-loads.mlir

    **Order:** after CSE and LICM, before `--convert-tilegpu-to-llvm`.
  }];
  let options = [
    Option<"numStages", "num-stages", "int64_t", /*default=*/"2",
           "buffers of a ring; with 1, loads in loops stay as they are">,
    Option<"sharedLimit", "shared-limit", "int64_t", /*default=*/"166912",
           "bytes of shared memory of a program">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::flashtile::tilegpu::TileGPUDialect"];
}

#endif // FLASHTILE_DIALECTS_TILEGPU_TRANSFORMS_PASSES_TD
