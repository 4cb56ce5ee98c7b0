// RUN: fa-opt --split-input-file --verify-diagnostics %s

// Products of warpgroups and barriers of sm_90a.

// Elements that no instruction multiplies.
#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @elements(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x32xi8, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x32xi8, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x32xi8, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x32xi8, swizzle = 32>
  // expected-error@+1 {{expected elements of f16, bf16, f8E4M3FN, f8E5M2 or f32, but got 'i8'}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x32xi8, swizzle = 32>, !tilegpu.smem<16x32xi8, swizzle = 32> -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @mixed(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xf16, swizzle = 32>
  // expected-error@+1 {{expected 'b' to have elements of type 'bf16', but got 'f16'}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<16x16xf16, swizzle = 32> -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

// M, N and K are whole instructions.
#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @rows(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected M to be a multiple of 128, but got 64}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 2 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<16x16xbf16, swizzle = 32> -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

#odd = #tilegpu.layout<[64, 12], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @columns(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 12x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 12x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected N to be a multiple of 8, but got 12}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<12x16xbf16, swizzle = 32> -> tensor<64x12xf32, #odd>
  tile.return
}

// -----

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @depth(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x8xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x8xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x8xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x8xbf16, swizzle = 32>
  // expected-error@+1 {{expected K to be a multiple of 16, but got 8}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x8xbf16, swizzle = 32>, !tilegpu.smem<16x8xbf16, swizzle = 32> -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @disagree(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x32xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x32xbf16, swizzle = 32>
  // expected-error@+1 {{expected operands of 64 x K and K x 16, but got 64 x 16 and 32 x 16}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<16x32xbf16, swizzle = 32> -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

#many = #tilegpu.layout<[64, 520], reg = [2:(0, 1), 2:(8, 0), 65:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @many(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 520x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 520x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected at most 256 accumulators in a thread, but got 260}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<520x16xbf16, swizzle = 32> -> tensor<64x520xf32, #many>
  tile.return
}

// -----

// Only 16-bit elements are read along the rows of memory.
#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @inner(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x32xf8E4M3FN, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x32xf8E4M3FN, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 32x16xf8E4M3FN, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 32x16xf8E4M3FN, swizzle = 32>
  // expected-error@+1 {{expected K to be the inner dimension of 'b', as its elements are not of 16 bits}}
  %s = tilegpu.wgmma %a, %b {warpgroups = 1 : i32}
      : !tilegpu.smem<64x32xf8E4M3FN, swizzle = 32>, !tilegpu.smem<32x16xf8E4M3FN, swizzle = 32> -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

// Plain rows are not core matrices.
#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @plain(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 0>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 0>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected 'a' to have a swizzle of 32, 64 or 128 bytes, but got '!tilegpu.smem<64x16xbf16, swizzle = 0>'}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 0>, !tilegpu.smem<16x16xbf16, swizzle = 32> -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @registers(%i: i32) grid(i) -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<64x16xbf16, #acc>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected 'trans_a' only for 'a' in shared memory}}
  %s = tilegpu.wgmma %a, %b {trans_a, trans_b, warpgroups = 1 : i32}
      : tensor<64x16xbf16, #acc>, !tilegpu.smem<16x16xbf16, swizzle = 32> -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

tile.kernel @result(%i: i32) grid(i) -> (1) {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected a result of rank 2 with a layout}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<16x16xbf16, swizzle = 32> -> tensor<64x16xf32>
  tile.return
}

// -----

tile.kernel @wait() grid() -> (1) {
  %a = tile.full 0.0 : f32 -> tensor<64x8xf32>
  // expected-error@+1 {{expected tiles with layouts, but got 'tensor<64x8xf32>'}}
  %b = tilegpu.wgmma_wait %a {pending = 0 : i32} : tensor<64x8xf32>
  tile.return
}

// -----

// Barriers.
tile.kernel @count(%i: i32) grid(i) -> (1) {
  // expected-error@+1 {{expected 1 to 64 barriers, but got 0}}
  %b = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<0>
  tile.return
}

// -----

tile.kernel @arrivals(%i: i32) grid(i) -> (1) {
  // expected-error@+1 {{attribute 'arrivals' failed to satisfy constraint}}
  %b = tilegpu.mbarriers {arrivals = 0 : i32} : !tilegpu.mbarriers<1>
  tile.return
}

// -----

tile.kernel @nested(%c: i1) grid(c) -> (1) {
  scf.if %c {
    // expected-error@+1 {{expects parent op 'tile.kernel'}}
    %b = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  }
  tile.return
}

// -----

tile.kernel @id() grid() -> (1) {
  %one = arith.constant 1 : i32
  // expected-error@+1 {{expected an id from 2 to 15, but got 1}}
  tilegpu.named_barrier sync %one {threads = 64 : i32}
  tile.return
}

// -----

tile.kernel @threads(%i: i32) grid(i) -> (1) {
  // expected-error@+1 {{expected 'threads' to be a multiple of 32, but got 48}}
  tilegpu.named_barrier arrive %i {threads = 48 : i32}
  tile.return
}
