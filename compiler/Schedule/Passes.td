//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedules of kernels whose tiles have layouts.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_PASSES_TD
#define FLASHTILE_COMPILER_SCHEDULE_PASSES_TD

include "mlir/Pass/PassBase.td"

def DeferSumsPass : Pass<"tilegpu-defer-sums", "::flashtile::tile::KernelOp"> {
  let summary = "let loops carry sums that each thread keeps for itself";
  let description = [{
    A carried sum `l = l * a + sum(p)` (or without `a`) is linear: threads may
    carry their own part of it and add them up once, after the loop. That saves
    the exchange between lanes in each iteration.

    **Input:** a kernel after `--convert-tile-to-tilegpu`.

    **Output:** such sums are carried as one column for each thread, made by
    `tilegpu.partial_sum`.

    **Example:** tests/compiler/Schedule/defer-sums.mlir

    **Order:** after `--convert-tile-to-tilegpu`, before `--tilegpu-stage-loads`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::flashtile::tilegpu::TileGPUDialect"];
}

def LocalizeBranchesPass
    : Pass<"tilegpu-localize-branches", "::flashtile::tile::KernelOp"> {
  let summary = "let warps branch for themselves";
  let description = [{
    A branch on `any(c)` that computes something for the elements where `c` holds
    and keeps the others makes no difference to warps that hold no such element.
    Each warp then asks for itself: no barrier carries the answer, and warps need
    not come together there.

    **Input:** a kernel after `--convert-tile-to-tilegpu`.

    **Output:** `tilegpu.any by_warp` where the branch yields `select(c, x, y)` on
    one side and `y` on the other, writes nothing, reads no memory that the kernel
    writes, and moves nothing between warps.

    **Example:** tests/compiler/Schedule/localize-branches.mlir

    **Order:** after `--convert-tile-to-tilegpu`.
  }];
  let dependentDialects = ["::flashtile::tilegpu::TileGPUDialect"];
}

def OrderProgramsPass
    : Pass<"tilegpu-order-programs", "::flashtile::tile::KernelOp"> {
  let summary = "start the programs that run longest first";
  let description = [{
    Where the number of iterations of the kernel's loops grows or shrinks with the
    position along one axis of the grid (causal attention), programs at that end
    of the axis start first: what starts last is short, and no multiprocessor
    waits long for the others' end.

    **Input:** a kernel after `--convert-tile-to-tilegpu`.

    **Output:** `tile.program_id` is computed from `tilegpu.block_id`; a remark
    says along which axis, or why not. Nothing where all programs run their loops
    equally often.

    **Example:** tests/compiler/Schedule/order-programs.mlir

    **Order:** before `--tilegpu-specialize-warps`, whose producers read positions,
    too.
  }];
  let options = [
    Option<"group", "group", "int64_t", /*default=*/"256",
           "programs that go from the long end to the short one before others "
           "start: as many heads as that makes, whose keys and values stay in the "
           "cache, but at least one; 0 keeps the order of the grid">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::flashtile::tilegpu::TileGPUDialect"];
}

def PairProgramsPass : Pass<"tilegpu-pair-programs", "::flashtile::tile::KernelOp"> {
  let summary = "let neighbouring programs share what they load";
  let description = [{
    A kernel written at small tiles has programs of one warpgroup, each of which
    loads its operands for itself. Two or three programs that follow each other
    along an axis of the grid become one with as many times the rows, each
    program's rows a warpgroup's: what all of them load is loaded once, and the
    block has the warpgroups that later passes let work beside each other.

    Every value has to be the same in all programs, or a tile or window whose
    rows follow those of the program before. Each row is computed by the
    operations that it was computed by, in their order. Programs beyond the grid,
    where the number of programs is no multiple, must read and store nothing: the
    extents of windows (or masks) end where the grid does. A loop may end at the
    position of the program where iterations behind the end of one provably
    change nothing (a causal mask), up to the sign of zero. Where some programs
    take a branch, both of its sides are computed, and each row takes its own.

    **Input:** a tile kernel as its author wrote it, for `num-warps` warps.

    **Output:** such a kernel has larger tiles and a smaller grid, and the
    attributes `tilegpu.programs_at_once`, for the launcher, and
    `tilegpu.num_warps`. Others are as they were, with a remark that names the
    operation because of which. Where `programs` asks for more than threads have
    registers for, there are fewer, with a remark that has the numbers.

    **Example:** tests/compiler/Schedule/pair-programs.mlir

    **Order:** before `--tile-optimize`, which splits loops by masks: for sm_90a
    only.
  }];
  let options = [
    Option<"numWarps", "num-warps", "int64_t", /*default=*/"4",
           "warps of a program; those of 4 are put together">,
    Option<"programs", "programs", "int64_t", /*default=*/"0",
           "programs that become one, at most: 2 or 3; 1: none; 0: as is best">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::flashtile::tilegpu::TileGPUDialect"];
}

def SplitBranchesPass : Pass<"tilegpu-split-branches", "::flashtile::tile::KernelOp"> {
  let summary = "give the usual case of an iteration a block of its own";
  let description = [{
    In a loop with several products, of which some stand in branches whose
    conditions need none (rare cases, as values that are not finite), everything
    from the first product on goes into one branch. Its usual side has all the
    products in one block, where they can run together.

    **Input:** a kernel of the tile dialect, for sm_90a.

    **Output:** such loops with loads, the condition, and one `scf.if`.

    **Example:** tests/compiler/Schedule/split-branches.mlir

    **Order:** before `--convert-tile-to-tilegpu`, which gives each side layouts
    of its own.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
}

def HoistOperandsPass : Pass<"tilegpu-hoist-operands", "::flashtile::tile::KernelOp"> {
  let summary = "keep left operands that a loop does not change in registers";
  let description = [{
    A left operand of warpgroup products that is loaded outside of their loop is
    read from shared memory once, where there are registers for it. Of loops with
    four products or more, the first columns of it, as many as there is room for:
    their products ask more of shared memory than it gives.

    **Input:** a kernel after `--tilegpu-specialize-warps`.

    **Output:** `tilegpu.load_shared` before the loop; the buffer is released
    behind it, unless columns are still read from there.

    **Example:** tests/compiler/Schedule/hoist-operands.mlir

    **Order:** after `--tilegpu-specialize-warps`, before
    `--tilegpu-overlap-products`.
  }];
  let dependentDialects = ["::flashtile::tilegpu::TileGPUDialect"];
}

def StoreTilesPass : Pass<"tilegpu-store-tiles", "::flashtile::tile::KernelOp"> {
  let summary = "store results of warpgroup products by TMA";
  let description = [{
    A tile that would be converted to another layout to be stored goes to shared
    memory by `stmatrix`, and from there by TMA in the background: as a whole, or
    half of its columns after the other, and so on, as shared memory allows. What
    is stored to several tensors is copied to each from one buffer.

    TMA writes rows up to a multiple of 16 bytes. Where the tensor's rows are as
    long as an argument says, `tilegpu.requires` gets that it is such a multiple.

    **Input:** a kernel after `--tilegpu-specialize-warps`.

    **Output:** `tilegpu.tma_store` in the consumer. A remark says why a tile is
    stored by threads: rows that need not end with 16 bytes, elements of other
    than 16 bits, windows that TMA cannot write, too little
    shared memory, or a program that would notice that the store is still under
    way: one that loads behind it, or writes to the same tensor elsewhere.

    **Example:** tests/compiler/Schedule/store-tiles.mlir

    **Order:** after `--tilegpu-specialize-warps`.
  }];
  let options = [
    Option<"sharedLimit", "shared-limit", "int64_t", /*default=*/"231424",
           "bytes of shared memory of a program">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::flashtile::tilegpu::TileGPUDialect"];
}

def OverlapProductsPass
    : Pass<"tilegpu-overlap-products", "::flashtile::tile::KernelOp"> {
  let summary = "multiply while other things happen";
  let description = [{
    In a loop with two chained products, the first product of a tile starts before
    the second of the tile before, and the work between them runs beside that. In a
    loop with one product, the wait for it moves to the next iteration. In other
    loops products start when their operands are there, and each is waited for
    where its result is used; nothing is under way when an iteration ends. A
    product of several that is only added to memory, and whose left operand goes
    through shared memory, runs an iteration later.

    Loops with chained products that go on where another ended are one sequence:
    the last product of one runs beside the first of the next. With `take-turns`,
    warpgroups start the products of an iteration one after the other.

    **Input:** a kernel after `--tilegpu-specialize-warps`.

    **Output:** loops of the consumer, rotated or reordered. A remark says why a loop stays as
    it is.

    **Example:** tests/compiler/Schedule/overlap-products.mlir

    **Order:** after `--tilegpu-specialize-warps`.
  }];
  let options = [
    Option<"sharedLimit", "shared-limit", "int64_t", /*default=*/"231424",
           "bytes of shared memory of a program">,
    Option<"takeTurns", "take-turns", "bool", /*default=*/"true",
           "warpgroups start chained products one after the other">,
    Option<"delay", "delay", "bool", /*default=*/"true",
           "products that are added to memory run an iteration later">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::flashtile::tilegpu::TileGPUDialect"];
}

def SpecializeWarpsPass
    : Pass<"tilegpu-specialize-warps", "::flashtile::tile::KernelOp"> {
  let summary = "load dot operands by TMA in a warp of their own";
  let description = [{
    Loads of the operands of warpgroup products become copies by TMA into rings
    of buffers, issued by threads of a producer warpgroup that run ahead of the
    warps that compute: one for each ring that loops use, up to four, so that no
    ring waits for another's buffers.

    **Input:** a kernel for sm_90a after `--convert-tile-to-tilegpu` with
    `tilegpu.wgmma`.

    **Output:** one `tilegpu.warp_specialize` with both roles. Where the kernel's
    structure does not allow it, nothing, and a remark that says why.

    Rows of numbers that such a loop loads beside tiles come with the first of
    these, through the same barriers.

    The kernel is persistent (`tilegpu.persistent`) where there is room: both
    roles run a loop over the programs of a block, and the producer loads for the
    next program while the consumers store. Where programs take equally long, a
    block has a fixed share of them; elsewhere one producer takes the next one
    from a counter in memory (`tilegpu.program_counter`) and tells the others.

    **Example:** tests/compiler/Schedule/specialize-warps.mlir,
    tests/compiler/Schedule/dynamic-programs.mlir

    **Order:** after `--tilegpu-defer-sums`, before `--tilegpu-stage-loads`.
  }];
  let options = [
    Option<"numStages", "num-stages", "int64_t", /*default=*/"2",
           "buffers of a ring, 1 to 8">,
    Option<"sharedLimit", "shared-limit", "int64_t", /*default=*/"231424",
           "bytes of shared memory of a program">,
    Option<"persistent", "persistent", "std::string", /*default=*/"\"auto\"",
           "how blocks take one program after the other: static (or true) by a "
           "fixed share, dynamic by a counter in memory, off (or false) not at "
           "all; auto: static where programs take equally long, else dynamic">];
  let dependentDialects = ["::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect",
                           "::flashtile::tilegpu::TileGPUDialect"];
}

#endif // FLASHTILE_COMPILER_SCHEDULE_PASSES_TD
