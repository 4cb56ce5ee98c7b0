// RUN: fa-opt --split-input-file --verify-diagnostics %s

// Tensor maps, copies by TMA and roles.

// Boxes that TMA cannot copy.
tile.kernel @rank(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64], strides = []}
      // expected-error@+1 {{expected 1 to 5 dimensions, but got 6}}
      : !tilegpu.tensor_map<1x1x1x1x1x64xbf16, swizzle = 128>
  tile.return
}

// -----

tile.kernel @extent(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64], strides = []}
      // expected-error@+1 {{expected extents of at most 256 elements, but got 257}}
      : !tilegpu.tensor_map<257x64xbf16, swizzle = 128>
  tile.return
}

// -----

tile.kernel @inner(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64], strides = []}
      // expected-error@+1 {{expected an innermost extent of a multiple of 16 bytes, but got 8}}
      : !tilegpu.tensor_map<64x4xbf16, swizzle = 0>
  tile.return
}

// -----

tile.kernel @bits(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64], strides = []}
      // expected-error@+1 {{expected elements of whole bytes, but got 'i1'}}
      : !tilegpu.tensor_map<64x64xi1, swizzle = 128>
  tile.return
}

// -----

// Arguments and expressions.
#n = affine_map<()[n] -> (n)>
tile.kernel @argument(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  // expected-error@+1 {{expected 'argument' to be below 2, the kernel's number of arguments, but got 2}}
  %m = tilegpu.tensor_map {argument = 2 : i64, extents = [64, #n], strides = [64]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
tile.kernel @pointee(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  // expected-error@+1 {{expected argument 0 to point to 'f16', but it is of type '!tile.ptr<bf16>'}}
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #n], strides = [64]}
      : !tilegpu.tensor_map<64x64xf16, swizzle = 128>
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
tile.kernel @scalar(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  // expected-error@+1 {{expected argument 1 to point to 'bf16', but it is of type 'i32'}}
  %m = tilegpu.tensor_map {argument = 1 : i64, extents = [64, #n], strides = [64]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
tile.kernel @extents(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  // expected-error@+1 {{expected 2 'extents', but got 1}}
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [#n], strides = [64]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
tile.kernel @strides(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  // expected-error@+1 {{expected 1 'strides', one fewer than extents, but got 2}}
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #n], strides = [1, 64]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
tile.kernel @text(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  // expected-error@+1 {{expected 'extents' to be integers or affine maps of one result, but got}}
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64, "n"], strides = [64]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
#two = affine_map<()[n, m] -> (m)>
tile.kernel @inputs(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  // expected-error@+1 {{expected 'strides' to have at most 1 inputs, as many as the kernel has integer arguments}}
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #n], strides = [#two]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
tile.kernel @padding(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  // expected-error@+1 {{expected 'padding' to be zero or nan, but got neg_inf}}
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #n], strides = [64], padding = #tile<padding neg_inf>}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  tile.return
}

// -----

// Copies.
#n = affine_map<()[n] -> (n)>
tile.kernel @coordinates(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #n], strides = [64]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  %b = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  %r = tilegpu.alloc : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
  %s = tilegpu.slot %r[%n] : !tilegpu.ring<1 x 64x64xbf16, swizzle = 128>
  // expected-error@+1 {{expected 2 coordinates, but got 1}}
  tilegpu.tma_load %m[%n] to %s signal %b[%n]
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>, !tilegpu.smem<64x64xbf16, swizzle = 128>,
        !tilegpu.mbarriers<1>
  tile.return
}

// -----

#n = affine_map<()[n] -> (n)>
tile.kernel @slot(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #n], strides = [64]}
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>
  %b = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  %r = tilegpu.alloc : !tilegpu.ring<1 x 64x64xbf16, swizzle = 64>
  %s = tilegpu.slot %r[%n] : !tilegpu.ring<1 x 64x64xbf16, swizzle = 64>
  // expected-error@+1 {{expected a slot of 64x64x'bf16', swizzle = 128, but got '!tilegpu.smem<64x64xbf16, swizzle = 64>'}}
  tilegpu.tma_load %m[%n, %n] to %s signal %b[%n]
      : !tilegpu.tensor_map<64x64xbf16, swizzle = 128>, !tilegpu.smem<64x64xbf16, swizzle = 64>,
        !tilegpu.mbarriers<1>
  tile.return
}

// -----

// A store would write what is not of the tile.
#n = affine_map<()[n] -> (n)>
tile.kernel @ragged(%x: !tile.ptr<bf16>, %n: i32) grid(n) -> (1) {
  %m = tilegpu.tensor_map {argument = 0 : i64, extents = [64, #n], strides = [64]}
      : !tilegpu.tensor_map<64x96xbf16, swizzle = 128>
  %b = tilegpu.mbarriers {arrivals = 1 : i32} : !tilegpu.mbarriers<1>
  %r = tilegpu.alloc : !tilegpu.ring<1 x 64x96xbf16, swizzle = 128>
  %s = tilegpu.slot %r[%n] : !tilegpu.ring<1 x 64x96xbf16, swizzle = 128>
  // expected-error@+1 {{expected an innermost extent of a multiple of 64 elements, the swizzle's span, but got 96}}
  tilegpu.tma_store %s to %m[%n, %n] : !tilegpu.smem<64x96xbf16, swizzle = 128>,
      !tilegpu.tensor_map<64x96xbf16, swizzle = 128>
  tile.return
}

// -----

#acc = #tilegpu.layout<[64, 8], reg = [2:(0, 1), 2:(8, 0)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @tile(%n: i32) grid(n) -> (1) {
  %r = tilegpu.alloc : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %s = tilegpu.slot %r[%n] : !tilegpu.ring<1 x 64x16xbf16, swizzle = 32>
  %t = tile.full 0.0 : bf16 -> tensor<64x8xbf16, #acc>
  // expected-error@+1 {{expected a slot of the tile's extents and elements}}
  tilegpu.store_shared %t to %s : tensor<64x8xbf16, #acc>, !tilegpu.smem<64x16xbf16, swizzle = 32>
  tile.return
}

// -----

#acc = #tilegpu.layout<[64, 64], reg = [2:(0, 1), 2:(8, 0), 8:(0, 8)],
    lane = [4:(0, 2), 8:(1, 0)], warp = [4:(16, 0)]>
tile.kernel @part(%n: i32) grid(n) -> (1) {
  %r = tilegpu.alloc : !tilegpu.ring<1 x 64x32xbf16, swizzle = 64>
  %s = tilegpu.slot %r[%n] : !tilegpu.ring<1 x 64x32xbf16, swizzle = 64>
  %t = tile.full 0.0 : bf16 -> tensor<64x64xbf16, #acc>
  // expected-error@+1 {{expected a slot of columns of the tile, which has a layout, from 48 on}}
  tilegpu.store_shared %t to %s {first_column = 48 : i64} : tensor<64x64xbf16, #acc>, !tilegpu.smem<64x32xbf16, swizzle = 64>
  tile.return
}

// -----

// Budgets of registers.
tile.kernel @multiple(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  // expected-error@+1 {{expected 'consumer_registers' to be a multiple of 8, but got 236}}
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 236 : i32} producer {
  } consumer {
  }
  tile.return
}

// -----

// Two warpgroups of 240 and one of 32 are more than three of 168.
tile.kernel @budget(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  // expected-error@+1 {{expected 2 * consumer_registers + producer_registers to be at most 504, but got 512}}
  tilegpu.warp_specialize {producer_registers = 32 : i32, consumer_registers = 240 : i32} producer {
  } consumer {
  }
  tile.return
}

// -----

// A budget cannot grow where it should shrink.
tile.kernel @entry(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  // expected-error@+1 {{expected at most 168 'producer_registers' and at least as many 'consumer_registers', but got 24 and 160}}
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 160 : i32} producer {
  } consumer {
  }
  tile.return
}

// -----

tile.kernel @warps(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 6 : i32} {
  // expected-error@+1 {{expected 'tilegpu.num_warps' to be a multiple of 4 up to 28, but got 6}}
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
  } consumer {
  }
  tile.return
}

// -----

// Every thread runs what comes before, and nothing comes after.
tile.kernel @before(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  // expected-error@+1 {{expected no effects on memory before 'tilegpu.warp_specialize'}}
  tile.store %x, %n : !tile.ptr<i32>
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
  } consumer {
  }
  tile.return
}

// -----

tile.kernel @after(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
  } consumer {
  }
  // expected-error@+1 {{expected nothing after 'tilegpu.warp_specialize'}}
  tile.store %x, %n : !tile.ptr<i32>
  tile.return
}

// -----

// A single thread produces.
tile.kernel @barrier(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
    // expected-error@+1 {{is not for a producer region, whose single thread has no tiles and waits for mbarriers only}}
    tilegpu.barrier
  } consumer {
  }
  tile.return
}

// -----

#lanes = #tilegpu.layout<[256], reg = [], lane = [32:(1)], warp = [8:(32)]>
tile.kernel @tiles(%x: !tile.ptr<i32>, %n: i32) grid(n) -> (1)
    attributes {tilegpu.target = "sm_90a", tilegpu.num_warps = 8 : i32} {
  tilegpu.warp_specialize {producer_registers = 24 : i32, consumer_registers = 240 : i32} producer {
    // expected-error@+1 {{is not for a producer region}}
    %t = tile.full 0 : i32 -> tensor<256xi32, #lanes>
  } consumer {
  }
  tile.return
}
