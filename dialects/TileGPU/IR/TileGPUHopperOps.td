//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types and operations of the tilegpu dialect that need sm_90a: warpgroup
// products, mbarriers, copies by the tensor memory accelerator, warp roles.
// TileGPUOps.td includes this file after its own classes.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUHOPPEROPS_TD
#define FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUHOPPEROPS_TD

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def TileGPU_MbarriersType : TypeDef<TileGPU_Dialect, "Mbarriers"> {
  let mnemonic = "mbarriers";
  let summary = "barriers in shared memory that count arrivals and bytes";
  let description = [{
    `!tilegpu.mbarriers<2>`: `count` objects of 8 bytes (PTX ISA, section
    "mbarrier"), one for each buffer of a ring.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

def TileGPU_TensorMapType : TypeDef<TileGPU_Dialect, "TensorMap"> {
  let mnemonic = "tensor_map";
  let summary = "a tensor in global memory as TMA sees it";
  let description = [{
    `!tilegpu.tensor_map<1x64x128xbf16, swizzle = 128>`: the extents, outermost
    first, of the tile that one copy moves, and the swizzle of that tile in
    shared memory. With a swizzle the innermost extent is cut into boxes of the
    swizzle's span, as in `!tilegpu.smem`; a copy issues one instruction for
    each box. All extents but the innermost are at most 256.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents, elements">:$shape,
    "::mlir::Type":$elementType,
    "int64_t":$swizzle);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    int64_t getElementBytes();
    /// Elements along the innermost dimension that one instruction moves.
    int64_t getBoxColumns();
    /// Instructions of a copy.
    int64_t getBoxCount();
    /// Rows of a box: the product of all extents but the innermost.
    int64_t getRows();
    /// Bytes that a load writes to shared memory and reports to its mbarrier.
    int64_t getBytes();
  }];
}

def TileGPU_WordsType : TypeDef<TileGPU_Dialect, "Words"> {
  let mnemonic = "words";
  let summary = "integers in shared memory that roles tell each other";
  let description = [{
    `!tilegpu.words<2>`: `count` objects of 32 bits.
  }];
  let parameters = (ins "int64_t":$count);
  let assemblyFormat = "`<` $count `>`";
  let genVerifyDecl = 1;
}

//===----------------------------------------------------------------------===//
// Warpgroup products
//===----------------------------------------------------------------------===//

def TileGPU_WgmmaOp : TileGPU_SyncOp<"wgmma", [AttrSizedOperandSegments,
    OptionalTypesMatchWith<"the accumulator has the result's type", "result",
                           "c", "$_self">]> {
  let summary = "starts a matrix product of warpgroups";
  let description = [{
    `result = a * b + c`, or `a * b` without `c`, by `wgmma.mma_async` (PTX ISA,
    section "wgmma"). The instructions are one group. **The result is not valid
    before a `tilegpu.wgmma_wait` has returned it**; until then neither `c`, nor
    the result, nor registers of `a`, nor shared memory that the group reads may
    change.

    `warpgroups` groups of four warps each compute 64 rows, or a multiple; the
    result has the instruction's accumulator layout. With `column_groups`, so many
    of the groups share the columns of the same rows. `a` is a tile in the
    instruction's operand layout, or in shared memory as M x K (K x M with
    `trans_a`). `head` holds the first columns of such an `a` in registers, which
    saves reading them from there. `b` is in shared memory as K x N (N x K with `trans_b`). What was
    written there by ordinary stores needs a `tilegpu.fence_proxy` of the writing
    threads and a barrier first.

    M is a multiple of 64 * warpgroups / column_groups, N of 8, K of 256 bits. Elements are f16
    or bf16, both alike; f8E4M3FN or f8E5M2, also mixed; or f32, multiplied as
    tf32. All but 16-bit elements need `trans_b` and no `trans_a`. The sum is made
    in f32 (of fp8 elements less precisely: PTX does not say how).

    Swizzles of 32, 64 and 128 bytes are read. Plain rows are read only where
    they are 16 bytes long and K is the outer dimension.

    Example:

    ```mlir
    #acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
        lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
    tile.kernel @k(%i: i32) grid(i) -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %as = tilegpu.alloc : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
      %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x64xbf16, swizzle = 128>
      %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
      %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x64xbf16, swizzle = 128>
      %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
          : !tilegpu.smem<64x64xbf16, swizzle = 128>, !tilegpu.smem<16x64xbf16, swizzle = 128>
          -> tensor<64x16xf32, #acc>
      %t = tilegpu.wgmma %a, %b, %s {trans_b, warpgroups = 1 : i32}
          : !tilegpu.smem<64x64xbf16, swizzle = 128>, !tilegpu.smem<16x64xbf16, swizzle = 128>
          -> tensor<64x16xf32, #acc>
      %d = tilegpu.wgmma_wait %t {pending = 0 : i32} : tensor<64x16xf32, #acc>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<AnyTypeOf<[TileGPU_SmemType, Tile_NumberTile]>, "left operand">:$a,
    Arg<TileGPU_SmemType, "right operand">:$b,
    Arg<Optional<TileOf<F32>>, "accumulator; zeros where absent">:$c,
    Arg<Optional<Tile_NumberTile>, "first columns of `a`, in registers">:$head,
    ConfinedAttr<I32Attr, [IntPositive]>:$warpgroups,
    UnitAttr:$trans_a, UnitAttr:$trans_b,
    DefaultValuedAttr<ConfinedAttr<I32Attr, [IntPositive]>, "1">:$column_groups);
  let results = (outs Res<TileOf<F32>, "the product, once waited for">:$result);
  let assemblyFormat = [{
    $a `,` $b (`,` $c^)? (`head` `(` $head^ `:` type($head) `)`)? attr-dict
    `:` type($a) `,` type($b) `->` type($result)
  }];
  let hasVerifier = 1;
}

def TileGPU_WgmmaWaitOp : TileGPU_SyncOp<"wgmma_wait"> {
  let summary = "waits for groups of warpgroup products";
  let description = [{
    Until at most the `pending` newest groups of this warpgroup are under way
    (PTX ISA, section "wgmma.wait_group"). Takes the tiles that become valid and
    returns them; uses go to the results. Other f32 tiles may go through as well:
    what is computed from the results stays behind the wait. Waits of other
    warpgroups are their own.

    Example: see `tilegpu.wgmma`.

    ```mlir
    #acc = #tilegpu.layout<[64, 8], reg = [2:(0, 1), 2:(8, 0)],
        lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %c = tile.full 0.0 : f32 -> tensor<64x8xf32, #acc>
      %d = tilegpu.wgmma_wait %c {pending = 1 : i32} : tensor<64x8xf32, #acc>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Variadic<TileOf<F32>>, "tiles that become valid, at least one">:$tiles,
    ConfinedAttr<I32Attr, [IntMinValue<0>, IntMaxValue<7>]>:$pending);
  let results = (outs Res<Variadic<TileOf<F32>>, "the same tiles, valid">:$results);
  let assemblyFormat = [{
    $tiles attr-dict `:` custom<SameTypes>(type($tiles), type($results))
  }];
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Barriers
//===----------------------------------------------------------------------===//

def TileGPU_MbarriersOp : TileGPU_Op<"mbarriers", [HasParent<"::flashtile::tile::KernelOp">]> {
  let summary = "makes mbarriers";
  let description = [{
    Each phase of each barrier ends with `arrivals` arrivals and all the bytes
    that these announced (PTX ISA, section "mbarrier"). The barriers are ready
    when the kernel starts, all in phase 0, wherever in the body this stands.

    Example:

    ```mlir
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<2>
      %empty = tilegpu.mbarriers {arrivals = 4 : i32} : !tilegpu.mbarriers<2>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I32Attr, [IntPositive, IntMaxValue<1048575>]>:$arrivals);
  let results = (outs Res<TileGPU_MbarriersType, "the barriers", [MemAlloc]>:$barriers);
  let assemblyFormat = "attr-dict `:` type($barriers)";
}

def TileGPU_MbarrierExpectOp : TileGPU_SyncOp<"mbarrier_expect"> {
  let summary = "arrives and announces bytes that copies will bring";
  let description = [{
    One arrival, by the role's single thread (see `tilegpu.warp_specialize`; the
    first warp's elected lane elsewhere). The phase does not end before `bytes`
    more bytes have come.

    Example: see `tilegpu.tma_load`.

    ```mlir
    tile.kernel @k(%i: i32) grid(i) -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<2>
      tilegpu.mbarrier_expect %full[%i] {bytes = 8192 : i32} : !tilegpu.mbarriers<2>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_MbarriersType, "barriers">:$barriers,
    Arg<I32, "which one; undefined beyond the last">:$index,
    ConfinedAttr<I32Attr, [IntPositive, IntMaxValue<1048575>]>:$bytes);
  let assemblyFormat = "$barriers `[` $index `]` attr-dict `:` type($barriers)";
}

def TileGPU_MbarrierArriveOp : TileGPU_SyncOp<"mbarrier_arrive"> {
  let summary = "arrives once for each warp";
  let description = [{
    The first lane of each warp of the role arrives, after all that the warp read
    before; in a producer region, its one thread does. A buffer that was read by
    ordinary loads (`ldmatrix` included) and is refilled by TMA needs a
    `tilegpu.fence_proxy` before the arrival; products need only be waited for.

    Example:

    ```mlir
    tile.kernel @k(%i: i32) grid(i) -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %empty = tilegpu.mbarriers {arrivals = 4 : i32} : !tilegpu.mbarriers<2>
      tilegpu.mbarrier_arrive %empty[%i] : !tilegpu.mbarriers<2>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_MbarriersType, "barriers">:$barriers,
    Arg<I32, "which one; undefined beyond the last">:$index);
  let assemblyFormat = "$barriers `[` $index `]` attr-dict `:` type($barriers)";
}

def TileGPU_MbarrierWaitOp : TileGPU_SyncOp<"mbarrier_wait"> {
  let summary = "waits for the end of a phase";
  let description = [{
    Every thread of the role waits until the phase of this parity (0 or 1) is
    over. The first phase is 0: waiting for phase 1 of a new barrier returns at
    once, which is how a producer waits for buffers that nobody has used yet.

    Example:

    ```mlir
    tile.kernel @k(%i: i32, %phase: i32) grid(i, phase) -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<2>
      tilegpu.mbarrier_wait %full[%i] phase %phase : !tilegpu.mbarriers<2>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_MbarriersType, "barriers">:$barriers,
    Arg<I32, "which one; undefined beyond the last">:$index,
    Arg<I32, "parity of the phase">:$phase);
  let assemblyFormat = [{
    $barriers `[` $index `]` `phase` $phase attr-dict `:` type($barriers)
  }];
}

def TileGPU_NamedBarrierOp : TileGPU_SyncOp<"named_barrier"> {
  let summary = "arrives at one of the hardware's barriers, or waits there";
  let description = [{
    `sync` arrives and waits until `threads` threads have arrived, `arrive` does
    not wait (PTX ISA, section "bar"). Whole warps arrive. The id is from 2 to 15:
    the compiler keeps 0 and 1, undefined otherwise. `threads` is a multiple of
    32.

    Two warpgroups that take turns: each waits for its own barrier and lets the
    other go by arriving at the other's.

    Example:

    ```mlir
    tile.kernel @k(%mine: i32, %other: i32) grid(mine, other) -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
      tilegpu.named_barrier sync %mine {threads = 256 : i32}
      tilegpu.named_barrier arrive %other {threads = 256 : i32}
      tile.return
    }
    ```
  }];
  let arguments = (ins
    UnitAttr:$arrive,
    Arg<I32, "number of the barrier">:$id,
    ConfinedAttr<I32Attr, [IntMinValue<32>, IntMaxValue<1024>]>:$threads);
  let assemblyFormat = "(`arrive` $arrive^) : (`sync`)? $id attr-dict";
  let hasVerifier = 1;
}

def TileGPU_FenceProxyOp : TileGPU_SyncOp<"fence_proxy"> {
  let summary = "orders ordinary accesses with those of TMA and products";
  let description = [{
    What the thread wrote to shared memory is visible to products and stores by
    TMA that come after a following barrier; what it read is read before a load
    by TMA that a following arrival permits (PTX ISA, section
    "fence.proxy.async"). Each thread that wrote or read needs it.

    Example: see `tilegpu.tma_store`.

    ```mlir
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      tilegpu.fence_proxy
      tile.return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

//===----------------------------------------------------------------------===//
// Copies by the tensor memory accelerator
//===----------------------------------------------------------------------===//

def TileGPU_TensorMapOp : TileGPU_Op<"tensor_map", [Pure]> {
  let summary = "a tensor map that the host encodes at each launch";
  let description = [{
    Describes the tensor that the kernel's pointer argument number `argument`
    (counting all arguments from 0) points to, for copies of tiles of the
    result's type: `extents`, innermost first; `strides` in elements, of all
    dimensions but the innermost, whose stride is 1; `offset` in elements from the
    pointer to the first element. Loads beyond the extents give `padding`.

    Each is an integer, or an affine map of one result whose inputs, dimensions
    before symbols, are the kernel's integer arguments in order. As a product of
    two arguments needs symbols, it is best to use symbols only:
    `affine_map<()[h, d] -> (h * d)>`.

    The host checks what TMA demands (PTX ISA, section "Tensors"; the driver's
    `cuTensorMapEncodeTiled`): the first element on a multiple of 16 bytes, the
    strides as well.

    Example:

    ```mlir
    #rows = affine_map<()[rows, columns] -> (rows)>
    #columns = affine_map<()[rows, columns] -> (columns)>
    tile.kernel @k(%x: !tile.ptr<bf16>, %rows: i64, %columns: i64)
        grid(rows, columns) -> (rows ceildiv 64)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %map = tilegpu.tensor_map {argument = 0 : i64,
          extents = [#columns, #rows], strides = [#columns]}
          : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I64Attr, [IntNonNegative]>:$argument,
    ArrayAttr:$extents, ArrayAttr:$strides,
    OptionalAttr<AnyAttrOf<[I64Attr, AffineMapAttr]>>:$offset,
    DefaultValuedAttr<Tile_PaddingAttr, "::flashtile::tile::Padding::Zero">:$padding);
  let results = (outs Res<TileGPU_TensorMapType, "the map">:$map);
  let assemblyFormat = "attr-dict `:` type($map)";
  let hasVerifier = 1;
}

def TileGPU_TmaLoadOp : TileGPU_SyncOp<"tma_load"> {
  let summary = "starts to copy a tile from a tensor to shared memory";
  let description = [{
    Copies the tile at these coordinates (in elements, innermost first; negative
    ones and those beyond the extents are allowed) to the slot, whose last
    dimension is the tile's innermost and whose others are the tile's others,
    row-major. All bytes that the copy writes count for the barrier, padding
    included: see `bytes` of `tilegpu.mbarrier_expect`, which is the tile's rows
    times its innermost extent rounded up to whole swizzle spans. Issued by the
    role's single thread.

    Example:

    ```mlir
    #rows = affine_map<()[rows, columns] -> (rows)>
    #columns = affine_map<()[rows, columns] -> (columns)>
    tile.kernel @k(%x: !tile.ptr<bf16>, %rows: i32, %columns: i32)
        grid(rows, columns) -> (rows ceildiv 64)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %zero = arith.constant 0 : i32
      %map = tilegpu.tensor_map {argument = 0 : i64,
          extents = [#columns, #rows], strides = [#columns]}
          : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
      %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<2>
      %ring = tilegpu.alloc : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
      %slot = tilegpu.slot %ring[%zero] : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
      tilegpu.mbarrier_expect %full[%zero] {bytes = 8192 : i32} : !tilegpu.mbarriers<2>
      tilegpu.tma_load %map[%zero, %zero] to %slot signal %full[%zero]
          : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>,
            !tilegpu.smem<64x64xbf16, swizzle = 128>, !tilegpu.mbarriers<2>
      tilegpu.mbarrier_wait %full[%zero] phase %zero : !tilegpu.mbarriers<2>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_TensorMapType, "where to read">:$map,
    Arg<Variadic<I32>, "the tile's first element, innermost first">:$coordinates,
    Arg<TileGPU_SmemType, "where to write">:$slot,
    Arg<TileGPU_MbarriersType, "barriers">:$barriers,
    Arg<I32, "the barrier that counts the bytes">:$index);
  let assemblyFormat = [{
    $map `[` $coordinates `]` `to` $slot `signal` $barriers `[` $index `]`
    attr-dict `:` type($map) `,` type($slot) `,` type($barriers)
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaStoreOp : TileGPU_SyncOp<"tma_store"> {
  let summary = "starts to copy a tile from shared memory to a tensor";
  let description = [{
    The reverse of `tilegpu.tma_load`; nothing is written beyond the extents. The
    innermost extent is a multiple of the swizzle's span. The copy is a group of
    its own. Issued by the role's single thread, so that all who wrote the slot
    have passed a `tilegpu.fence_proxy` and then a barrier.

    With `by_warp`, each warp copies the rows of the slot that are its share: the
    map's box has one share of rows, and warp w of the role issues the copy of
    share w once its own lanes have passed a `tilegpu.fence_proxy`. Warps that
    write nothing but their shares need no barrier.

    Example:

    ```mlir
    #acc = #tilegpu.layout<[64, 64], reg = [2:(0, 1), 2:(8, 0), 8:(0, 8)],
        lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
    #rows = affine_map<()[rows, columns] -> (rows)>
    #columns = affine_map<()[rows, columns] -> (columns)>
    tile.kernel @k(%x: !tile.ptr<bf16>, %rows: i32, %columns: i32)
        grid(rows, columns) -> (rows ceildiv 64)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      %zero = arith.constant 0 : i32
      %map = tilegpu.tensor_map {argument = 0 : i64,
          extents = [#columns, #rows], strides = [#columns]}
          : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
      %ring = tilegpu.alloc : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
      %slot = tilegpu.slot %ring[%zero] : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
      %v = tile.full 1.0 : bf16 -> tensor<64x64xbf16, #acc>
      tilegpu.store_shared %v to %slot
          : tensor<64x64xbf16, #acc>, !tilegpu.smem<64x64xbf16, swizzle = 128>
      tilegpu.fence_proxy
      tilegpu.barrier
      tilegpu.tma_store %slot to %map[%zero, %zero]
          : !tilegpu.smem<64x64xbf16, swizzle = 128>,
            !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
      tilegpu.tma_store_wait {pending = 0 : i32}
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<TileGPU_SmemType, "where to read">:$slot,
    Arg<TileGPU_TensorMapType, "where to write">:$map,
    Arg<Variadic<I32>, "the tile's first element, innermost first">:$coordinates,
    UnitAttr:$byWarp);
  let assemblyFormat = [{
    $slot `to` $map `[` $coordinates `]` (`by_warp` $byWarp^)? attr-dict
    `:` type($slot) `,` type($map)
  }];
  let hasVerifier = 1;
}

def TileGPU_TmaStoreWaitOp : TileGPU_SyncOp<"tma_store_wait"> {
  let summary = "waits for stores by TMA";
  let description = [{
    The role's single thread waits until at most the `pending` newest stores are
    under way; with `read`, only until the others have read shared memory, which
    may then be written again (by other threads after a barrier). With `by_warp`,
    each warp waits for what it stored, and its lanes for each other. A kernel may
    not end before its stores have read their slots.

    Example: see `tilegpu.tma_store`.

    ```mlir
    tile.kernel @k() grid() -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
      tilegpu.tma_store_wait {pending = 0 : i32, read}
      tile.return
    }
    ```
  }];
  let arguments = (ins ConfinedAttr<I32Attr, [IntNonNegative]>:$pending,
                       UnitAttr:$read, UnitAttr:$byWarp);
  let assemblyFormat = "(`by_warp` $byWarp^)? attr-dict";
}

def TileGPU_StoreSharedOp : TileGPU_SyncOp<"store_shared"> {
  let summary = "writes a tile from registers to shared memory";
  let description = [{
    By `stmatrix` where the layouts and the target allow it, by vectors of up to
    16 bytes elsewhere. Neither waits before nor after: other threads read the
    slot after a barrier.

    A slot of fewer columns than the tile gets those from `first_column` on, where
    threads hold them in registers of their own: both are multiples of what one
    step of the layout's outermost columns covers.

    Example: see `tilegpu.tma_store`.

    ```mlir
    #acc = #tilegpu.layout<[64, 64], reg = [2:(0, 1), 2:(8, 0), 8:(0, 8)],
        lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
    tile.kernel @k(%i: i32) grid(i) -> (1)
        attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
      %ring = tilegpu.alloc : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
      %slot = tilegpu.slot %ring[%i] : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
      %v = tile.full 1.0 : bf16 -> tensor<64x64xbf16, #acc>
      tilegpu.store_shared %v to %slot
          : tensor<64x64xbf16, #acc>, !tilegpu.smem<64x64xbf16, swizzle = 128>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Tile_NumberTile, "the tile">:$tile,
    Arg<TileGPU_SmemType, "where to write">:$slot,
    DefaultValuedAttr<ConfinedAttr<I64Attr, [IntNonNegative]>, "0">:$first_column);
  let assemblyFormat = "$tile `to` $slot attr-dict `:` type($tile) `,` type($slot)";
  let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Roles
//===----------------------------------------------------------------------===//

def TileGPU_WarpSpecializeOp : TileGPU_Op<"warp_specialize", [
    HasParent<"::flashtile::tile::KernelOp">,
    SingleBlockImplicitTerminator<"::flashtile::tilegpu::YieldOp">,
    RecursiveMemoryEffects]> {
  let summary = "threads that copy beside warps that compute";
  let description = [{
    The kernel's warps run the consumer region; beside them one more warpgroup is
    launched, of which a single thread runs the producer region: of as many warps
    as there are `producers`, each for itself (`tilegpu.producer_id` tells them
    apart). Each role gets its own budget of registers for a thread (PTX ISA, section "setmaxnreg"):
    multiples of 8 from 24 to 256, with consumers * warpgroups + producer at most
    (warpgroups + 1) * floor8(65536 / threads), beyond which the launch hangs.

    Layouts count the consumers' warps only, and `tilegpu.barrier` in the consumer
    region, like every barrier that the compiler puts there, is among these. The
    producer region has no tiles. Values from before are visible in both regions;
    what comes before has no effects on memory, as all threads run it, and
    nothing comes after but the kernel's end.

    Example:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (1)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
      %zero = arith.constant 0 : i32
      %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
      tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
        tilegpu.mbarrier_arrive %full[%zero] : !tilegpu.mbarriers<1>
      } consumer {
        tilegpu.mbarrier_wait %full[%zero] phase %zero : !tilegpu.mbarriers<1>
      }
      tile.return
    }
    ```
  }];
  let arguments = (ins
    ConfinedAttr<I32Attr, [IntMinValue<24>, IntMaxValue<256>]>:$producer_registers,
    ConfinedAttr<I32Attr, [IntMinValue<24>, IntMaxValue<256>]>:$consumer_registers,
    DefaultValuedAttr<ConfinedAttr<I32Attr, [IntMinValue<1>, IntMaxValue<4>]>,
                      "1">:$producers);
  let regions = (region SizedRegion<1>:$producer, SizedRegion<1>:$consumer);
  let assemblyFormat = "attr-dict `producer` $producer `consumer` $consumer";
  let hasVerifier = 1;
}

def TileGPU_WordsOp : TileGPU_Op<"words", [HasParent<"::flashtile::tile::KernelOp">]> {
  let summary = "makes integers in shared memory";
  let description = [{
    Undefined at first; they are the block's as long as it runs.

    Example: see `tilegpu.take_program`.
  }];
  let results = (outs Res<TileGPU_WordsType, "the integers", [MemAlloc]>:$words);
  let assemblyFormat = "attr-dict `:` type($words)";
}

def TileGPU_WriteWordOp : TileGPU_SyncOp<"write_word"> {
  let summary = "writes an integer for other roles";
  let description = [{
    By the role's single thread. Others may read it behind a wait for a
    `tilegpu.mbarrier_arrive` of that thread.

    Example: see `tilegpu.take_program`.
  }];
  let arguments = (ins
    Arg<I32, "what to write">:$value,
    Arg<TileGPU_WordsType, "the integers">:$words,
    Arg<I32, "which one; undefined beyond the last">:$index);
  let assemblyFormat = "$value `to` $words `[` $index `]` attr-dict `:` type($words)";
  let hasVerifier = 1;
}

def TileGPU_ReadWordOp : TileGPU_SyncOp<"read_word"> {
  let summary = "reads an integer that another role wrote";
  let description = [{
    Each warp gets what its first lane reads, so that the result is the same in
    all lanes. That lane makes the warp's `tilegpu.mbarrier_arrive`, too: one
    behind this lets the integer be written again.

    Example: see `tilegpu.take_program`.
  }];
  let arguments = (ins
    Arg<TileGPU_WordsType, "the integers">:$words,
    Arg<I32, "which one; undefined beyond the last">:$index);
  let results = (outs Res<I32, "what it is">:$result);
  let assemblyFormat = "$words `[` $index `]` attr-dict `:` type($words)";
}

def TileGPU_TakeProgramOp : TileGPU_SyncOp<"take_program"> {
  let summary = "counts a program that this block takes";
  let description = [{
    Blocks have the programs of their own numbers first. Each one then takes
    program `tilegpu.num_blocks` + `result` when it has done one, and ends with
    the first number that is no program. `result` is how many blocks have asked
    before, by the launch's counter (`tilegpu.program_counter`).

    Each program makes its block ask once, so all blocks together ask `programs`
    times, and the last time the counter becomes 0 again (PTX ISA, section
    "atom", `inc`): it needs no launch of its own to be cleared. Where blocks are
    as many as programs, nobody asks, and the result is 0.

    In the producer region, by one of its threads, which tells the others:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (n)
        attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32,
                    tilegpu.persistent = 1 : i64, tilegpu.program_counter} {
      %zero = arith.constant 0 : i32
      %words = tilegpu.words : !tilegpu.words<1>
      %full = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
      %blocks = tilegpu.num_blocks
      %programs = tile.num_programs x
      tilegpu.warp_specialize {producer_registers = 56 : i32, consumer_registers = 256 : i32} producer {
        %taken = tilegpu.take_program of %programs
        %next = arith.addi %blocks, %taken : i32
        tilegpu.write_word %next to %words[%zero] : !tilegpu.words<1>
        tilegpu.mbarrier_arrive %full[%zero] : !tilegpu.mbarriers<1>
      } consumer {
        tilegpu.mbarrier_wait %full[%zero] phase %zero : !tilegpu.mbarriers<1>
        %next = tilegpu.read_word %words[%zero] : !tilegpu.words<1>
      }
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<I32, "programs of the launch">:$programs);
  let results = (outs Res<I32, "how many were taken before">:$result);
  let assemblyFormat = "`of` $programs attr-dict";
  let hasVerifier = 1;
}

def TileGPU_YieldOp : TileGPU_Op<"yield", [Pure, Terminator,
    HasParent<"::flashtile::tilegpu::WarpSpecializeOp">]> {
  let summary = "ends a role";
  let description = [{
    Roles return nothing: what they compute, they store. Not written in the text.
  }];
  let assemblyFormat = "attr-dict";
}

#endif // FLASHTILE_DIALECTS_TILEGPU_IR_TILEGPUHOPPEROPS_TD
