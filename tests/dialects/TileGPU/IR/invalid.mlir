// RUN: fa-opt --split-input-file --verify-diagnostics %s

// Lanes are 32.
// expected-error@+1 {{expected the extents of 'lane' to multiply to 32, but they multiply to 16}}
#short = #tilegpu.layout<[16], reg = [], lane = [16:(1)], warp = []>

// -----

// expected-error@+1 {{expected a digit with 2 steps, but got 1}}
#rank = #tilegpu.layout<[4, 8], reg = [], lane = [8:(1), 4:(1, 0)], warp = []>

// -----

// expected-error@+1 {{expected 'reg' to hold digits extent:(step, ...) with 1 steps of 0 or more and extents of 1 or more}}
#negative = #tilegpu.layout<[32], reg = [2:(-1)], lane = [32:(1)], warp = []>

// -----

#lanes = #tilegpu.layout<[32], reg = [], lane = [32:(1)], warp = []>
tile.kernel @shape() grid() -> (1) {
  // expected-error@+1 {{expected a layout of the tile's shape [64]}}
  %a = tile.arange 0 to 64 : tensor<64xi32, #lanes>
  tile.return
}

// -----

tile.kernel @plain(%x: i32) grid(d0) -> (1) {
  %a = tile.splat %x : i32 -> tensor<32xi32>
  // expected-error@+1 {{expected tiles with layouts, but got 'tensor<32xi32>'}}
  %b = tilegpu.convert_layout %a : tensor<32xi32> -> tensor<32xi32>
  tile.return
}

// -----

#lanes = #tilegpu.layout<[32], reg = [], lane = [32:(1)], warp = []>
tile.kernel @elements(%x: i32) grid(d0) -> (1) {
  %a = tile.splat %x : i32 -> tensor<32xi32, #lanes>
  // expected-error@+1 {{expected a result of type 'tensor<32xi32>' in any layout}}
  %b = tilegpu.convert_layout %a : tensor<32xi32, #lanes> -> tensor<32xf32, #lanes>
  tile.return
}

// -----

// expected-error@+1 {{expected 'tilegpu.target' to be "sm_80" or "sm_90a", but got "sm_75"}}
tile.kernel @target() grid() -> (1) attributes {tilegpu.target = "sm_75"} {
  tile.return
}

// -----

// expected-error@+1 {{expected 'tilegpu.num_warps' to be an i32 from 1 to 32, but got 0 : i32}}
tile.kernel @warps() grid() -> (1) attributes {tilegpu.num_warps = 0 : i32} {
  tile.return
}

// -----

#lanes = #tilegpu.layout<[32], reg = [], lane = [32:(1)], warp = []>
#other = #tilegpu.layout<[32], reg = [2:(16)], lane = [16:(1), 2:(0)], warp = []>
tile.kernel @layouts(%x: !tile.ptr<f32>) grid() -> (1) {
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<32x!tile.ptr<f32>, #lanes>
  // expected-error@+1 {{expected pointers in the layout of}}
  %v = tilegpu.load %p : tensor<32x!tile.ptr<f32>, #lanes> -> tensor<32xf32, #other>
  tile.return
}

// -----

#rows = #tilegpu.layout<[8, 16], reg = [4:(0, 1)], lane = [4:(0, 4), 8:(1, 0)], warp = []>
tile.kernel @stage() grid() -> (1) {
  %a = tile.full 0.0 : f16 -> tensor<8x16xf16, #rows>
  // expected-error@+1 {{expected at least 16 elements in dimension 1, but got 8}}
  %s = tilegpu.stage %a : tensor<8x16xf16, #rows> -> !tilegpu.smem<16x8xf16, swizzle = 0>
  tile.return
}

// -----

#rows = #tilegpu.layout<[8, 16], reg = [4:(0, 1)], lane = [4:(0, 4), 8:(1, 0)], warp = []>
tile.kernel @swizzle() grid() -> (1) {
  %a = tile.full 0.0 : f16 -> tensor<8x16xf16, #rows>
  // expected-error@+1 {{expected a swizzle of 0, 32, 64 or 128 bytes, but got 48}}
  %s = tilegpu.stage %a : tensor<8x16xf16, #rows> -> !tilegpu.smem<16x16xf16, swizzle = 48>
  tile.return
}

// -----

tile.kernel @programs(%n: i32) grid(n) -> (n) {
  %zero = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  // expected-error@+1 {{expected 'tilegpu.programs' to be a unit attribute of an 'scf.for' or 'scf.while'}}
  scf.for %i = %zero to %n step %one : i32 {
  } {tilegpu.programs = 1 : i32}
  tile.return
}

// -----

tile.kernel @branch(%n: i32, %yes: i1) grid(n, yes) -> (n) {
  // expected-error@+1 {{expected 'tilegpu.programs' to be a unit attribute of an 'scf.for' or 'scf.while'}}
  scf.if %yes {
  } {tilegpu.programs}
  tile.return
}

// -----

tile.kernel @any_plain(%x: i1) grid(x) -> (1) {
  %a = tile.splat %x : i1 -> tensor<32xi1>
  // expected-error@+1 {{expected a tile with a layout, but got 'tensor<32xi1>'}}
  %b = tilegpu.any %a : tensor<32xi1>
  tile.return
}

// -----

#lanes = #tilegpu.layout<[32], reg = [], lane = [32:(1)], warp = []>
tile.kernel @any_numbers(%x: i32) grid(x) -> (1) {
  %a = tile.splat %x : i32 -> tensor<32xi32, #lanes>
  // expected-error@+1 {{'tilegpu.any' op operand #0 must be}}
  %b = tilegpu.any %a : tensor<32xi32, #lanes>
  tile.return
}
