//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations of the tilegpu dialect.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUOPS_TD
#define FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUOPS_TD

include "TileGPUTypes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class TileGPU_Op<string mnemonic, list<Trait> traits = []>
    : Op<TileGPU_Dialect, mnemonic, traits>;

def TileGPU_ConvertLayoutOp : TileGPU_Op<"convert_layout", [Pure]> {
  let summary = "the same tile in another layout";
  let description = [{
    Lowers to the least movement: nothing, renaming registers, lane shuffles, or
    a trip through shared memory.

    Example:

    ```mlir
    #row = #tilegpu.layout<[8, 4], reg = [4:(0, 1)], lane = [8:(1, 0), 4:(0, 0)], warp = []>
    #column = #tilegpu.layout<[8, 4], reg = [8:(1, 0)], lane = [4:(0, 1), 8:(0, 0)], warp = []>
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %a = tile.full 0.0 : f32 -> tensor<8x4xf32, #row>
      %b = tilegpu.convert_layout %a : tensor<8x4xf32, #row> -> tensor<8x4xf32, #column>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_AnyTile, "the tile">:$operand);
  let results = (outs Res<Tile_AnyTile, "the same elements">:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def TileGPU_LoadOp : TileGPU_Op<"load", [AttrSizedOperandSegments]> {
  let summary = "reads a tile into registers";
  let description = [{
    As `tile.load`, with the layout that the result's type names: every thread
    reads its own elements, several at a time where they are neighbours in
    memory. Replicated elements are read by each holder.

    Example:

    ```mlir
    #lanes = #tilegpu.layout<[64], reg = [2:(1)], lane = [32:(2)], warp = []>
    tile.kernel @k(%x: !tile.ptr<f32>) grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %i = tile.arange 0 to 64 : tensor<64xi32, #lanes>
      %base = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #lanes>
      %p = tile.addptr %base, %i : tensor<64x!tile.ptr<f32>, #lanes>, tensor<64xi32, #lanes>
      %v = tilegpu.load %p : tensor<64x!tile.ptr<f32>, #lanes> -> tensor<64xf32, #lanes>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[Tile_BlockPtrType, TileOf<Tile_Ptr>]>, "where to read", [MemRead]>:$pointer,
    Arg<Optional<TileOf<Tile_Bool>>, "which elements to read">:$mask,
    Arg<Optional<Tile_NumberTile>, "value of the others">:$other,
    DefaultValuedAttr<Tile_PaddingAttr, "::flashtile::tile::Padding::Zero">:$padding,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let results = (outs Res<Tile_NumberTile, "what was read">:$result);
  let assemblyFormat = [{
    $pointer (`mask` $mask^ `:` type($mask))? (`other` $other^ `:` type($other))?
    attr-dict `:` type($pointer) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_StoreOp : TileGPU_Op<"store"> {
  let summary = "writes a tile from registers";
  let description = [{
    As `tile.store`. Of replicated elements one holder writes.

    Example:

    ```mlir
    #lanes = #tilegpu.layout<[64], reg = [2:(1)], lane = [32:(2)], warp = []>
    tile.kernel @k(%x: !tile.ptr<f32>) grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %i = tile.arange 0 to 64 : tensor<64xi32, #lanes>
      %base = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #lanes>
      %p = tile.addptr %base, %i : tensor<64x!tile.ptr<f32>, #lanes>, tensor<64xi32, #lanes>
      %v = tile.full 1.0 : f32 -> tensor<64xf32, #lanes>
      tilegpu.store %p, %v : tensor<64x!tile.ptr<f32>, #lanes>, tensor<64xf32, #lanes>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[Tile_BlockPtrType, TileOf<Tile_Ptr>]>, "where to write", [MemWrite]>:$pointer,
    Arg<Tile_NumberTile, "what to write">:$value,
    Arg<Optional<TileOf<Tile_Bool>>, "which elements to write">:$mask,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let assemblyFormat = [{
    $pointer `,` $value (`mask` $mask^ `:` type($mask))? attr-dict
    `:` type($pointer) `,` type($value)
  }];
  let hasVerifier = 1;
}

def TileGPU_AtomicAddOp : TileGPU_Op<"atomic_add"> {
  let summary = "adds a tile to memory";
  let description = [{
    As `tile.atomic_add`. Of replicated elements one holder adds, and the others
    get its result.

    Example:

    ```mlir
    #lanes = #tilegpu.layout<[64], reg = [2:(1)], lane = [32:(2)], warp = []>
    tile.kernel @k(%x: !tile.ptr<f32>) grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %i = tile.arange 0 to 64 : tensor<64xi32, #lanes>
      %base = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #lanes>
      %p = tile.addptr %base, %i : tensor<64x!tile.ptr<f32>, #lanes>, tensor<64xi32, #lanes>
      %v = tile.full 1.0 : f32 -> tensor<64xf32, #lanes>
      %old = tilegpu.atomic_add %p, %v
          : tensor<64x!tile.ptr<f32>, #lanes>, tensor<64xf32, #lanes>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[Tile_BlockPtrType, TileOf<Tile_Ptr>]>, "where to add",
        [MemRead, MemWrite]>:$pointer,
    Arg<Tile_NumberTile, "what to add">:$value,
    Arg<Optional<TileOf<Tile_Bool>>, "which elements to add">:$mask);
  let results = (outs Res<Tile_NumberTile, "what was there before, in value's type">:$result);
  let assemblyFormat = [{
    $pointer `,` $value (`mask` $mask^ `:` type($mask))? attr-dict
    `:` type($pointer) `,` custom<SameType>(type($value), type($result))
  }];
  let hasVerifier = 1;
}

def TileGPU_StageOp : TileGPU_Op<"stage", [Pure]> {
  let summary = "a tile in shared memory, for matrix instructions";
  let description = [{
    Writes the tile to shared memory of its own, which every thread may read
    from here on. The extents of the result are the tile's, rounded up to what
    matrix instructions need; elements beyond the tile are zero.

    Example:

    ```mlir
    #rows = #tilegpu.layout<[8, 16], reg = [4:(0, 1)], lane = [4:(0, 4), 8:(1, 0)], warp = []>
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %a = tile.full 0.0 : f16 -> tensor<8x16xf16, #rows>
      %s = tilegpu.stage %a : tensor<8x16xf16, #rows> -> !tilegpu.smem<16x16xf16, swizzle = 32>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_NumberTile, "the tile, rank 2">:$operand);
  let results = (outs Res<TileGPU_SmemType, "the tile in shared memory">:$result);
  let assemblyFormat = "$operand attr-dict `:` type($operand) `->` type($result)";
  let hasVerifier = 1;
}

def TileGPU_PartialSumOp : TileGPU_Op<"partial_sum", [Pure]> {
  let summary = "what each thread holds of a tile, added up along an axis";
  let description = [{
    The result has, along the axis, one element for each thread that holds some
    of a line: nothing moves between threads. `tile.sum` of the result is
    `tile.sum` of the operand, up to the order of additions.

    Example:

    ```mlir
    #acc = #tilegpu.layout<[16, 8], reg = [2:(0, 1), 2:(8, 0)], lane = [4:(0, 2), 8:(1, 0)], warp = []>
    #parts = #tilegpu.layout<[16, 4], reg = [2:(8, 0)], lane = [4:(0, 1), 8:(1, 0)], warp = []>
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %p = tile.full 1.0 : f32 -> tensor<16x8xf32, #acc>
      %s = tilegpu.partial_sum %p axis 1 : tensor<16x8xf32, #acc> -> tensor<16x4xf32, #parts>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<TileOf<AnyFloat>, "the tile, rank 2">:$operand,
    ConfinedAttr<I32Attr, [IntNonNegative, IntMaxValue<1>]>:$axis);
  let results = (outs Res<TileOf<AnyFloat>, "the parts">:$result);
  let assemblyFormat = [{
    $operand `axis` $axis attr-dict `:` type($operand) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_AnyOp : TileGPU_Op<"any", [Pure]> {
  let summary = "whether some element of a tile is true";
  let description = [{
    Every thread gets the same answer: it asks its own registers, and one barrier
    carries the answers of all (PTX ISA, section "bar", `red.or`). As with every
    barrier, accesses of memory before it come before those after it.

    With `by_warp`, each warp gets the answer for the elements it holds, without a
    barrier (PTX ISA, section "vote.sync").

    Example:

    ```mlir
    #lanes = #tilegpu.layout<[64], reg = [2:(1)], lane = [32:(2)], warp = []>
    tile.kernel @k(%n: i32) grid(n) -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %i = tile.arange 0 to 64 : tensor<64xi32, #lanes>
      %limit = tile.splat %n : i32 -> tensor<64xi32, #lanes>
      %beyond = arith.cmpi sge, %i, %limit : tensor<64xi32, #lanes>
      %some = tilegpu.any %beyond : tensor<64xi1, #lanes>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<TileOf<Tile_Bool>, "the tile">:$operand,
                       UnitAttr:$byWarp);
  let results = (outs Res<I1, "whether there is one">:$result);
  let assemblyFormat = "(`by_warp` $byWarp^)? $operand attr-dict `:` type($operand)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Asynchronous copies
//===----------------------------------------------------------------------===//

def TileGPU_AllocOp : TileGPU_Op<"alloc"> {
  let summary = "buffers in shared memory";
  let description = [{
    Shared memory for the buffers of a ring, from here to their last use, loops
    that use them included. The contents are undefined at first.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
      %ring = tilegpu.alloc : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
      tile.return
    }
    ```
  }];
  let results = (outs Res<TileGPU_RingType, "the buffers", [MemAlloc]>:$ring);
  let assemblyFormat = "attr-dict `:` type($ring)";
}

def TileGPU_SlotOp : TileGPU_Op<"slot",
    [Pure, DeclareOpInterfaceMethods<InferTypeOpInterface>]> {
  let summary = "one buffer of a ring";
  let description = [{
    A view of buffer `index`, which is undefined unless 0 <= index < count.

    Example:

    ```mlir
    tile.kernel @k(%i: i32) grid(i) -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
      %ring = tilegpu.alloc : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
      %slot = tilegpu.slot %ring[%i] : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_RingType, "the buffers">:$ring,
    Arg<I32, "which one">:$index);
  let results = (outs Res<TileGPU_SmemType, "the buffer">:$slot);
  let assemblyFormat = "$ring `[` $index `]` attr-dict `:` type($ring)";
}

def TileGPU_CopyAsyncOp : TileGPU_Op<"copy_async"> {
  let summary = "copies a window to shared memory in the background";
  let description = [{
    All threads together start to copy the window to the buffer, whose extents
    are the window's or more. Elements beyond the tensor and beyond the window
    become zero. The copy belongs to the group that the next
    `tilegpu.commit_copies` closes; the buffer may be read after
    `tilegpu.wait_copies` for that group and a `tilegpu.barrier`
    (PTX ISA, section "cp.async"). What `cp.async` cannot move (elements that are
    not 16 bytes aligned in memory) moves through registers before the operation
    ends: which, is decided at run time.

    Example:

    ```mlir
    tile.kernel @k(%x: !tile.ptr<bf16>, %rows: i64, %i: i32) grid(rows, i) -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
      %zero = arith.constant 0 : i64
      %one = arith.constant 1 : i64
      %columns = arith.constant 64 : i64
      %window = tile.make_block_ptr %x shape[%rows, %columns] strides[%columns, %one]
          offsets[%zero, %zero] : !tile.ptr<bf16> -> !tile.block_ptr<64x64xbf16>
      %ring = tilegpu.alloc : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
      %slot = tilegpu.slot %ring[%i] : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
      tilegpu.copy_async %window to %slot
          : !tile.block_ptr<64x64xbf16>, !tilegpu.smem<64x64xbf16, swizzle = 128>
      tilegpu.commit_copies
      tilegpu.wait_copies {pending = 0 : i32}
      tilegpu.barrier
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Tile_BlockPtrType, "what to copy", [MemRead]>:$pointer,
    Arg<TileGPU_SmemType, "where to", [MemWrite]>:$slot,
    OptionalAttr<DenseBoolArrayAttr>:$in_bounds);
  let assemblyFormat = [{
    $pointer `to` $slot attr-dict `:` type($pointer) `,` type($slot)
  }];
  let hasVerifier = 1;
}

def TileGPU_LoadSharedOp : TileGPU_Op<"load_shared"> {
  let summary = "reads a buffer into registers";
  let description = [{
    The tile in the first rows and columns of a buffer, or the first elements of
    a buffer of rank 1. What is beyond the result's extents is not read. By `ldmatrix` where the layout is that of a
    fragment. On sm_90a, a `tilegpu.fence_proxy` stands between this and an
    arrival that lets TMA refill the buffer.

    Example:

    ```mlir
    #rows = #tilegpu.layout<[8, 16], reg = [4:(0, 1)], lane = [4:(0, 4), 8:(1, 0)], warp = []>
    tile.kernel @k(%i: i32) grid(i) -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %ring = tilegpu.alloc : !tilegpu.ring<2 x 16x16xf16, swizzle = 32>
      %slot = tilegpu.slot %ring[%i] : !tilegpu.ring<2 x 16x16xf16, swizzle = 32>
      %tile = tilegpu.load_shared %slot
          : !tilegpu.smem<16x16xf16, swizzle = 32> -> tensor<8x16xf16, #rows>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<TileGPU_SmemType, "the buffer", [MemRead]>:$slot);
  let results = (outs Res<Tile_NumberTile, "what it holds">:$result);
  let assemblyFormat = "$slot attr-dict `:` type($slot) `->` type($result)";
  let hasVerifier = 1;
}

/// What orders memory accesses has effects on all memory.
class TileGPU_SyncOp<string mnemonic, list<Trait> traits = []>
    : TileGPU_Op<mnemonic,
                 traits # [MemoryEffects<[MemRead, MemWrite]>]>;

def TileGPU_ScheduleFenceOp : TileGPU_SyncOp<"schedule_fence"> {
  let summary = "keeps what comes after behind the making of a tile";
  let description = [{
    Nothing that has effects and stands after the fence starts before the last
    element of the tile that a thread holds is computed, or with `first` its first
    one: an assembler may otherwise move a wait for products up to where the work
    that should run beside them begins. Costs a compare and a branch that is not
    taken, with `first` a compare and a load that is not done: an assembler can then
    mix the work before and after the fence. See `tilegpu.schedule_hold`.

    Example:

    ```mlir
    #acc = #tilegpu.layout<[16, 8], reg = [2:(0, 1), 2:(8, 0)], lane = [4:(0, 2), 8:(1, 0)], warp = []>
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 1 : i32} {
      %p = tile.full 1.0 : f32 -> tensor<16x8xf32, #acc>
      tilegpu.schedule_fence %p : tensor<16x8xf32, #acc>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<TileOf<F32>, "what has to be done first">:$tile,
                       UnitAttr:$first);
  let assemblyFormat = "(`first` $first^)? $tile attr-dict `:` type($tile)";
}

def TileGPU_ScheduleHoldOp : TileGPU_SyncOp<"schedule_hold"> {
  let summary = "keeps work on a tile behind another one, but on its first element";
  let description = [{
    What is made of the elements of `tile` that a thread holds comes behind `done`,
    but what is made of the first one: the other half of a fence in front of the
    wait for `done`, which an assembler may otherwise let sink to where `done` is
    used. That is so for work in front of this operation, too, if neither it nor
    what uses it has effects; else the tile is not held. Costs a compare, and a
    selection for each element.

    Example:

    ```mlir
    #acc = #tilegpu.layout<[16, 8], reg = [2:(0, 1), 2:(8, 0)], lane = [4:(0, 2), 8:(1, 0)], warp = []>
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 1 : i32} {
      %p = tile.full 1.0 : f32 -> tensor<16x8xf32, #acc>
      %q = tile.full 2.0 : f32 -> tensor<16x8xf32, #acc>
      tilegpu.schedule_hold %p behind %q : tensor<16x8xf32, #acc>, tensor<16x8xf32, #acc>
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<TileOf<F32>, "what is held">:$tile,
                       Arg<TileOf<F32>, "what has to be done first">:$done);
  let assemblyFormat =
      "$tile `behind` $done attr-dict `:` type($tile) `,` type($done)";
}

def TileGPU_CommitCopiesOp : TileGPU_SyncOp<"commit_copies"> {
  let summary = "closes a group of asynchronous copies";
  let description = [{
    The copies since the last `tilegpu.commit_copies` are one group, even if
    there are none (PTX ISA, section "cp.async.commit_group").

    Example: see `tilegpu.copy_async`.
  }];
  let assemblyFormat = "attr-dict";
}

def TileGPU_WaitCopiesOp : TileGPU_SyncOp<"wait_copies"> {
  let summary = "waits for groups of asynchronous copies";
  let description = [{
    Until at most the `pending` newest groups of the thread are under way (PTX
    ISA, section "cp.async.wait_group"). Other threads' copies are visible after
    a `tilegpu.barrier`.

    Example: see `tilegpu.copy_async`.
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending);
  let assemblyFormat = "attr-dict";
}

def TileGPU_BarrierOp : TileGPU_SyncOp<"barrier"> {
  let summary = "waits for all threads of the program";
  let description = [{
    What any thread wrote to shared memory before is visible to all after (PTX
    ISA, section "bar").

    Example: see `tilegpu.copy_async`.
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Blocks
//===----------------------------------------------------------------------===//

def TileGPU_BlockIdOp : TileGPU_Op<"block_id", [Pure]> {
  let summary = "number of this block in the launch";
  let description = [{
    From 0 to `tilegpu.num_blocks` - 1, in the order in which blocks start. Unless
    the kernel is persistent (`tilegpu.persistent`), a block is a program:
    `tile.program_id` is where this number is in the grid, x fastest.

    Example:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (n, 4)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
      %block = tilegpu.block_id
      %columns = tile.num_programs x
      %column = arith.remui %block, %columns : i32
      tile.return
    }
    ```
  }];
  let results = (outs Res<I32, "the number">:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_ProducerIdOp : TileGPU_Op<"producer_id", [Pure]> {
  let summary = "which of the threads that copy this is";
  let description = [{
    In the producer region of a `tilegpu.warp_specialize`: from 0, below the
    number of its `producers`.

    Example:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
      %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<2>
      tilegpu.warp_specialize {producer_registers = 24 : i32,
          consumer_registers = 240 : i32, producers = 2 : i32} producer {
        %id = tilegpu.producer_id
        tilegpu.mbarrier_arrive %full[%id] : !tilegpu.mbarriers<2>
      } consumer {
      }
      tile.return
    }
    ```
  }];
  let results = (outs Res<I32, "the number">:$result);
  let assemblyFormat = "attr-dict";
  let hasVerifier = 1;
}

def TileGPU_WarpgroupIdOp : TileGPU_Op<"warpgroup_id", [Pure]> {
  let summary = "which four warps these are";
  let description = [{
    The number of the warpgroup among those that run the role, from 0; the same
    for all threads of a warp.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
      %group = tilegpu.warpgroup_id
      %two = arith.constant 2 : i32
      %barrier = arith.addi %group, %two : i32
      tilegpu.named_barrier sync %barrier {threads = 128 : i32}
      tile.return
    }
    ```
  }];
  let results = (outs Res<I32, "the number">:$result);
  let assemblyFormat = "attr-dict";
}

def TileGPU_NumBlocksOp : TileGPU_Op<"num_blocks", [Pure]> {
  let summary = "blocks of the launch";
  let description = [{
    As many as the grid has programs, or fewer where the kernel is persistent: at
    least 1. Its blocks then take one program after the other, in a loop that
    `tilegpu.programs` marks.

    Example:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (n)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32,
                    tilegpu.persistent = 1 : i64} {
      %block = tilegpu.block_id
      %blocks = tilegpu.num_blocks
      %programs = tile.num_programs x
      scf.for unsigned %program = %block to %programs step %blocks : i32 {
        scf.yield
      } {tilegpu.programs}
      tile.return
    }
    ```
  }];
  let results = (outs Res<I32, "their number">:$result);
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

def TileGPU_MmaOp : TileGPU_Op<"mma",
    [DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
     AlwaysSpeculatable, AllTypesMatch<["c", "result"]>]> {
  let summary = "matrix product with mma.sync";
  let description = [{
    `result = a * b + c` as `tile.dot`, by the instruction `mma.sync.m16n8kK` of
    the operands' type (PTX ISA, section "mma"): warps_m x warps_n warps each
    compute a block of the result, whose layout is the instruction's
    accumulator. For f32 and f64 operands the threads multiply and add, and the
    result may have any layout.

    a is a tile in the instruction's operand layout, or in shared memory as M x K
    (K x M with `trans_a`); b is in shared memory as K x N (N x K with
    `trans_b`).

    Example:

    ```mlir
    #acc = #tilegpu.layout<[16, 8], reg = [2:(0, 1), 2:(8, 0)], lane = [4:(0, 2), 8:(1, 0)], warp = []>
    #rows = #tilegpu.layout<[16, 16], reg = [8:(0, 1)], lane = [2:(0, 8), 16:(1, 0)], warp = []>
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
      %a = tile.full 0.0 : f16 -> tensor<16x16xf16, #rows>
      %c = tile.full 0.0 : f32 -> tensor<16x8xf32, #acc>
      %sa = tilegpu.stage %a : tensor<16x16xf16, #rows> -> !tilegpu.smem<16x16xf16, swizzle = 32>
      %d = tilegpu.mma %sa, %sa, %c {warps_m = 1 : i32, warps_n = 1 : i32}
          : !tilegpu.smem<16x16xf16, swizzle = 32>, !tilegpu.smem<16x16xf16, swizzle = 32>,
            tensor<16x8xf32, #acc>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[TileGPU_SmemType, Tile_NumberTile]>, "left operand">:$a,
    Arg<TileGPU_SmemType, "right operand">:$b,
    Arg<Tile_NumberTile, "accumulator">:$c,
    I32Attr:$warps_m, I32Attr:$warps_n,
    UnitAttr:$trans_a, UnitAttr:$trans_b,
    DefaultValuedAttr<Tile_InputPrecisionAttr,
        "::flashtile::tile::InputPrecision::IEEE">:$input_precision);
  let results = (outs Res<Tile_NumberTile, "the product">:$result);
  let assemblyFormat = [{
    $a `,` $b `,` $c attr-dict `:` type($a) `,` type($b) `,` type($c)
  }];
  let hasVerifier = 1;
}

include "TileGPUHopperOps.td"

#endif // FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUOPS_TD
