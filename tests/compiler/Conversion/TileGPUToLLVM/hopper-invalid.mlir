// RUN: fa-opt --split-input-file --verify-diagnostics --convert-tilegpu-to-llvm %s

// What only the conversion knows: layouts of instructions, targets, handles.

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @target(%i: i32) grid(i) -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 4 : i32} {
  %c = tile.full 0.0 : f32 -> tensor<64x16xf32, #acc>
  // expected-error@+1 {{expected 'tilegpu.target' of the kernel to be "sm_90a"}}
  %d = tilegpu.wgmma_wait %c {pending = 0 : i32} : tensor<64x16xf32, #acc>
  tile.return
}

// -----

// The rows of the accumulator are not the instruction's.
#rows = #tilegpu.layout<[64, 16], reg = [8:(0, 1)],
    lane = [2:(0, 8), 16:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @result(%i: i32) grid(i) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %as = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %a = tilegpu.slot %as[%i] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected a result in the layout <[64, 16], reg = [2:(0,1), 2:(8,0), 2:(0,8)], lane = [4:(0,2), 8:(1,0)], warp = [4:(16,0)]>, but got}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : !tilegpu.smem<64x16xbf16, swizzle = 32>, !tilegpu.smem<16x16xbf16, swizzle = 32>
      -> tensor<64x16xf32, #rows>
  tile.return
}

// -----

#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
#rows = #tilegpu.layout<[64, 16], reg = [8:(0, 1)],
    lane = [2:(0, 8), 16:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @operand(%i: i32) grid(i) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %a = tile.full 1.0 : bf16 -> tensor<64x16xbf16, #rows>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected 'a' in the layout}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : tensor<64x16xbf16, #rows>, !tilegpu.smem<16x16xbf16, swizzle = 32>
      -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

// All warps of a kernel take part.
#acc = #tilegpu.layout<[64, 16], reg = [2:(0, 1), 2:(8, 0), 2:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0), 2:(0, 0)]>
tile.kernel @warps(%i: i32) grid(i) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  %a = tile.full 1.0 : bf16 -> tensor<64x16xbf16, #acc>
  %bs = tilegpu.alloc : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  %b = tilegpu.slot %bs[%i] : !tilegpu.ring<1 x 16x16xbf16, swizzle = 32>
  // expected-error@+1 {{expected 'warpgroups' of 4 warps each to be all 8 warps of the kernel, but got 1}}
  %s = tilegpu.wgmma %a, %b {trans_b, warpgroups = 1 : i32}
      : tensor<64x16xbf16, #acc>, !tilegpu.smem<16x16xbf16, swizzle = 32>
      -> tensor<64x16xf32, #acc>
  tile.return
}

// -----

// A slot is chosen by its index, not by control flow.
tile.kernel @select(%c: i1, %i: i32) grid(c, i) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %full = tilegpu.mbarriers {arrivals = 4 : i32} : !tilegpu.mbarriers<1>
  %empty = tilegpu.mbarriers {arrivals = 4 : i32} : !tilegpu.mbarriers<1>
  // expected-error@+1 {{cannot take or return a value of type '!tilegpu.mbarriers<1>'}}
  %b = arith.select %c, %full, %empty : !tilegpu.mbarriers<1>
  tilegpu.mbarrier_arrive %b[%i] : !tilegpu.mbarriers<1>
  tile.return
}

// -----

tile.kernel @carried(%n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 4 : i32} {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %ring = tilegpu.alloc : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
  // expected-error@+1 {{cannot take or return a value of type '!tilegpu.ring<2 x 64x64xbf16, swizzle = 128>'}}
  %r = scf.for %i = %zero to %n step %one iter_args(%c = %ring)
      -> (!tilegpu.ring<2 x 64x64xbf16, swizzle = 128>) : i32 {
    scf.yield %c : !tilegpu.ring<2 x 64x64xbf16, swizzle = 128>
  }
  tile.return
}

// -----

// Operations of the dialect below take single elements only.
#lanes = #tilegpu.layout<[64], reg = [2:(1)], lane = [32:(2)], warp = []>
tile.kernel @tile_load(%x: !tile.ptr<f32>) grid() -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #lanes>
  // expected-error@+1 {{is of single elements in a kernel with layouts; expected 'tilegpu.load' for a tile}}
  %v = tile.load %p : tensor<64x!tile.ptr<f32>, #lanes>
  tilegpu.store %p, %v : tensor<64x!tile.ptr<f32>, #lanes>, tensor<64xf32, #lanes>
  tile.return
}

// -----

// Both warps would add.
#lanes = #tilegpu.layout<[64], reg = [2:(1)], lane = [32:(2)], warp = []>
tile.kernel @one_warp_of_two(%x: !tile.ptr<f32>) grid() -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 2 : i32} {
  // expected-error@+1 {{expected a layout of 2 warps, as 'tilegpu.num_warps' of the kernel says, but got one of 1: 'tensor<64x!tile.ptr<f32>, #tilegpu.layout<}}
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>, #lanes>
  %v = tile.full 1.0 : f32 -> tensor<64xf32, #lanes>
  %old = tilegpu.atomic_add %p, %v
      : tensor<64x!tile.ptr<f32>, #lanes>, tensor<64xf32, #lanes>
  tile.return
}

// -----

tile.kernel @no_layout(%x: !tile.ptr<f32>) grid() -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
  // expected-error@+1 {{expected a tile with a layout, but got 'tensor<64xf32>'}}
  %v = tile.full 1.0 : f32 -> tensor<64xf32>
  tile.print "v", %v : tensor<64xf32>
  tile.return
}

// -----

// Written below where it is taken apart; LLVM has no such instruction.
#lanes = #tilegpu.layout<[64], reg = [2:(1)], lane = [32:(2)], warp = []>
tile.kernel @function(%x: f32) grid() -> (1)
    attributes {tilegpu.target = "sm_80", tilegpu.num_warps = 1 : i32} {
  %t = tile.splat %x : f32 -> tensor<64xf32, #lanes>
  // expected-error@+1 {{'math.sincos' op is not supported by the gpu targets yet}}
  %s, %c = math.sincos %t : tensor<64xf32, #lanes>
  tile.return
}
