// RUN: fa-opt %s --split-input-file --verify-diagnostics

// Two of everything for a window of rank 2.
tile.kernel @block_rank_too_low(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 2 extents, strides and offsets for '!tile.block_ptr<24x40xf32>', but got 1}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24x40xf32>
  tile.return
}

// -----

tile.kernel @block_rank_too_high(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 1 extents, strides and offsets for '!tile.block_ptr<24xf32>', but got 2}}
  %p = tile.make_block_ptr %x shape [%n, %n] strides [%n, %n] offsets [%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @block_strides_missing(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 2 extents, strides and offsets for '!tile.block_ptr<24x40xf32>', but got 1}}
  %p = tile.make_block_ptr %x shape [%n, %n] strides [%n] offsets [%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<24x40xf32>
  tile.return
}

// -----

tile.kernel @block_offsets_missing(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 1 extents, strides and offsets for '!tile.block_ptr<24xf32>', but got 0}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @block_no_dimensions(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 1 extents, strides and offsets for '!tile.block_ptr<24xf32>', but got 0}}
  %p = tile.make_block_ptr %x shape [] strides [] offsets [] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @block_element_differs(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 'base' to point to 'f16', but got '!tile.ptr<f32>'}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf16>
  tile.return
}

// -----

tile.kernel @block_order_repeats(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 'order' to be a permutation of the 2 dimensions, but got [0, 0]}}
  %p = tile.make_block_ptr %x shape [%n, %n] strides [%n, %n] offsets [%z, %z] {order = array<i32: 0, 0>} : !tile.ptr<f32> -> !tile.block_ptr<24x40xf32>
  tile.return
}

// -----

tile.kernel @block_order_negative(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 'order' to be a permutation of the 1 dimensions, but got [-1]}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] {order = array<i32: -1>} : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @block_order_too_long(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 'order' to be a permutation of the 1 dimensions, but got [0, 1]}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] {order = array<i32: 0, 1>} : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @block_order_empty(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 'order' to be a permutation of the 1 dimensions, but got []}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] {order = array<i32>} : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @block_order_of_i64(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{custom op 'tile.make_block_ptr' 'tile.make_block_ptr' op attribute 'order' failed to satisfy constraint: i32 dense array attribute}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] {order = array<i64: 0>} : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @block_base_is_no_pointer(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op operand #0 must be pointer to one element in global memory, but got 'i64'}}
  %p = tile.make_block_ptr %n shape [%n] strides [%n] offsets [%z] : i64 -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @block_result_is_pointer(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op result #0 must be tile-shaped window of a strided tensor in global memory, but got '!tile.ptr<f32>'}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @block_extent_zero(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{expected positive block extents, but got 0}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<0xf32>
  tile.return
}

// -----

tile.kernel @block_extent_dynamic(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{expected static shape}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<?xf32>
  tile.return
}

// -----

tile.kernel @block_extent_negative(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{expected non-function type}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<-4xf32>
  tile.return
}

// -----

tile.kernel @block_rank_0(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{expected a block of rank 1 or more, but got rank 0}}
  %p = tile.make_block_ptr %x shape [] strides [] offsets [] : !tile.ptr<f32> -> !tile.block_ptr<f32>
  tile.return
}

// -----

tile.kernel @block_huge(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{expected a block of at most 1048576 elements, but got extents [2147483648]}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<2147483648xf32>
  tile.return
}

// -----

tile.kernel @block_overflows(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{expected a block of at most 1048576 elements, but got extents [4294967296, 4294967296]}}
  %p = tile.make_block_ptr %x shape [%n, %n] strides [%n, %n] offsets [%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<4294967296x4294967296xf32>
  tile.return
}

// -----

tile.kernel @block_one_too_many(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{expected a block of at most 1048576 elements, but got extents [1024, 1025]}}
  %p = tile.make_block_ptr %x shape [%n, %n] strides [%n, %n] offsets [%z, %z] : !tile.ptr<f32> -> !tile.block_ptr<1024x1025xf32>
  tile.return
}

// -----

tile.kernel @block_of_pointers(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got '!tile.ptr<f32>'}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<4x!tile.ptr<f32>>
  tile.return
}

// -----

// Offsets and strides are 64-bit: i32 is not widened in silence.
tile.kernel @block_offset_i32(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-note @+1 {{prior use here}}
  %w = arith.constant 0 : i32
  // expected-error @+1 {{use of value '%w' expects different type than prior uses: 'i64' vs 'i32'}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%w] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @generic_block_lists_differ(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 1 extents, strides and offsets for '!tile.block_ptr<24xf32>', but got 0}}
  %p = "tile.make_block_ptr"(%x, %n, %n) : (!tile.ptr<f32>, i64, i64) -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @generic_block_of_nothing(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-error @+1 {{'tile.make_block_ptr' op expected 1 or more operands, but found 0}}
  %p = "tile.make_block_ptr"() : () -> !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @advance_too_few(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.advance' op expected 1 offsets for '!tile.block_ptr<24xf32>', but got 0}}
  %q = tile.advance %p, [] : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @advance_too_many(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.advance' op expected 1 offsets for '!tile.block_ptr<24xf32>', but got 2}}
  %q = tile.advance %p, [%z, %z] : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @advance_pointer(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.advance' op operand #0 must be tile-shaped window of a strided tensor in global memory, but got '!tile.ptr<f32>'}}
  %q = tile.advance %x, [%z] : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @advance_by_i32(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-note @+1 {{prior use here}}
  %w = arith.constant 0 : i32
  // expected-error @+1 {{use of value '%w' expects different type than prior uses: 'i64' vs 'i32'}}
  %q = tile.advance %p, [%w] : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @advance_changes_type(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.advance' op failed to verify that all of {pointer, result} have same type}}
  %q = "tile.advance"(%p, %z) : (!tile.block_ptr<24xf32>, i64) -> !tile.block_ptr<40xf32>
  tile.return
}

// -----

tile.kernel @advance_another_type(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  // expected-note @+1 {{prior use here}}
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{use of value '%p' expects different type than prior uses: '!tile.block_ptr<40xf32>' vs '!tile.block_ptr<24xf32>'}}
  %q = tile.advance %p, [%z] : !tile.block_ptr<40xf32>
  tile.return
}

// -----

// A window knows its bounds; a mask is for pointers.
tile.kernel @load_block_with_mask(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %m = arith.constant dense<true> : tensor<24xi1>
  // expected-error @+1 {{'tile.load' op expected no 'mask' with a block pointer: its bounds are the mask}}
  %v = tile.load %p mask %m : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @load_block_with_other(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %o = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.load' op expected no 'other' with a block pointer: use 'padding'}}
  %v = tile.load %p other %o : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @load_padding_unknown(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{custom op 'tile.load' expected padding zero, nan or neg_inf, but got 'one'}}
  %v = tile.load %p padding one : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @load_padding_missing(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{custom op 'tile.load' expected padding zero, nan or neg_inf}}
  %v = tile.load %p padding : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @load_in_bounds_too_long(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op expected 1 values of 'in_bounds', but got 2}}
  %v = tile.load %p {in_bounds = array<i1: true, false>} : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @load_in_bounds_empty(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op expected 1 values of 'in_bounds', but got 0}}
  %v = tile.load %p {in_bounds = array<i1>} : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @load_in_bounds_is_a_bool(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{custom op 'tile.load' 'tile.load' op attribute 'in_bounds' failed to satisfy constraint: i1 dense array attribute}}
  %v = tile.load %p {in_bounds = true} : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @generic_load_another_shape(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op expected result of type 'tensor<24xf32>', but got 'tensor<25xf32>'}}
  %v = "tile.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tile.block_ptr<24xf32>) -> tensor<25xf32>
  tile.return
}

// -----

tile.kernel @generic_load_another_element(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op expected result of type 'tensor<24xf32>', but got 'tensor<24xi32>'}}
  %v = "tile.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tile.block_ptr<24xf32>) -> tensor<24xi32>
  tile.return
}

// -----

tile.kernel @generic_load_without_segments(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op operand count (1) does not match with the total size (0) specified in attribute 'operandSegmentSizes'}}
  %v = "tile.load"(%p) : (!tile.block_ptr<24xf32>) -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @generic_load_of_nothing(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op expected 1 or more operands, but found 0}}
  %v = "tile.load"() <{operandSegmentSizes = array<i32: 0, 0, 0>}> : () -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @generic_load_segments_too_large(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op operand count (1) does not match with the total size (8) specified in attribute 'operandSegmentSizes'}}
  %v = "tile.load"(%p) <{operandSegmentSizes = array<i32: 1, 7, 0>}> : (!tile.block_ptr<24xf32>) -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @generic_load_segments_negative(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op 'operandSegmentSizes' attribute cannot have negative elements}}
  %v = "tile.load"(%p) <{operandSegmentSizes = array<i32: 1, -1, 1>}> : (!tile.block_ptr<24xf32>) -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @generic_load_two_results(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.load' op requires one result}}
  %v:2 = "tile.load"(%p) <{operandSegmentSizes = array<i32: 1, 0, 0>}> : (!tile.block_ptr<24xf32>) -> (tensor<24xf32>, tensor<24xf32>)
  tile.return
}

// -----

tile.kernel @store_block_with_mask(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %v = tile.load %p : !tile.block_ptr<24xf32>
  %m = arith.constant dense<true> : tensor<24xi1>
  // expected-error @+1 {{'tile.store' op expected no 'mask' with a block pointer: its bounds are the mask}}
  tile.store %p, %v mask %m : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @store_another_shape(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-note @+1 {{prior use here}}
  %v = tile.full 1.0 : f32 -> tensor<25xf32>
  // expected-error @+1 {{use of value '%v' expects different type than prior uses: 'tensor<24xf32>' vs 'tensor<25xf32>'}}
  tile.store %p, %v : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @store_in_bounds_too_short(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %v = tile.load %p : !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.store' op expected 1 values of 'in_bounds', but got 0}}
  tile.store %p, %v {in_bounds = array<i1>} : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @generic_store_another_element(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %v = tile.full 1 : i32 -> tensor<24xi32>
  // expected-error @+1 {{'tile.store' op expected 'value' of type 'tensor<24xf32>', but got 'tensor<24xi32>'}}
  "tile.store"(%p, %v) : (!tile.block_ptr<24xf32>, tensor<24xi32>) -> ()
  tile.return
}

// -----

tile.kernel @store_gives_nothing(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %v = tile.load %p : !tile.block_ptr<24xf32>
  // expected-error @+1 {{cannot name an operation with no results}}
  %w = tile.store %p, %v : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @generic_store_without_value(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.store' op expected 2 or more operands, but found 1}}
  "tile.store"(%p) : (!tile.block_ptr<24xf32>) -> ()
  tile.return
}

// -----

tile.kernel @atomic_block_with_mask(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %v = tile.load %p : !tile.block_ptr<24xf32>
  %m = arith.constant dense<true> : tensor<24xi1>
  // expected-error @+1 {{'tile.atomic_add' op expected no 'mask' with a block pointer: its bounds are the mask}}
  %o = tile.atomic_add %p, %v mask %m : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @atomic_another_shape(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  // expected-note @+1 {{prior use here}}
  %v = tile.full 1.0 : f32 -> tensor<25xf32>
  // expected-error @+1 {{use of value '%v' expects different type than prior uses: 'tensor<24xf32>' vs 'tensor<25xf32>'}}
  %o = tile.atomic_add %p, %v : !tile.block_ptr<24xf32>
  tile.return
}

// -----

tile.kernel @generic_atomic_result_differs(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f32> -> !tile.block_ptr<24xf32>
  %v = tile.load %p : !tile.block_ptr<24xf32>
  // expected-error @+1 {{'tile.atomic_add' op expected result of type 'tensor<24xf32>', but got 'tensor<24xf16>'}}
  %o = "tile.atomic_add"(%p, %v) : (!tile.block_ptr<24xf32>, tensor<24xf32>) -> tensor<24xf16>
  tile.return
}

// -----

// Integers have neither NaN nor infinity.
tile.kernel @load_padding_of_integers(%x: !tile.ptr<i32>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<i32> -> !tile.block_ptr<24xi32>
  // expected-error @+1 {{'tile.load' op expected padding zero for elements of type 'i32', but got nan}}
  %v = tile.load %p padding nan : !tile.block_ptr<24xi32>
  tile.return
}

// -----

// The format f8E4M3FN has NaN but no infinity.
tile.kernel @load_padding_without_infinity(%x: !tile.ptr<f8E4M3FN>, %n: i64) grid(n) -> (1) {
  %z = arith.constant 0 : i64
  %p = tile.make_block_ptr %x shape [%n] strides [%n] offsets [%z] : !tile.ptr<f8E4M3FN> -> !tile.block_ptr<24xf8E4M3FN>
  // expected-error @+1 {{'tile.load' op expected padding zero or nan for elements of type 'f8E4M3FN', which has no infinity, but got neg_inf}}
  %v = tile.load %p padding neg_inf : !tile.block_ptr<24xf8E4M3FN>
  tile.return
}

// -----

tile.kernel @addptr_offset_is_scalar(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{'tile.addptr' op expected 'offset' to have the shape of 'pointer' 'tensor<24x!tile.ptr<f32>>', but got 'i64'}}
  %q = tile.addptr %p, %n : tensor<24x!tile.ptr<f32>>, i64
  tile.return
}

// -----

tile.kernel @addptr_pointer_is_scalar(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{'tile.addptr' op expected 'offset' to have the shape of 'pointer' '!tile.ptr<f32>', but got 'tensor<24xi32>'}}
  %q = tile.addptr %x, %i : !tile.ptr<f32>, tensor<24xi32>
  tile.return
}

// -----

tile.kernel @addptr_shapes_differ(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %j = tile.arange 0 to 25 : tensor<25xi32>
  // expected-error @+1 {{'tile.addptr' op expected 'offset' to have the shape of 'pointer' 'tensor<24x!tile.ptr<f32>>', but got 'tensor<25xi32>'}}
  %q = tile.addptr %p, %j : tensor<24x!tile.ptr<f32>>, tensor<25xi32>
  tile.return
}

// -----

tile.kernel @addptr_ranks_differ(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %j = tile.full 0 : i64 -> tensor<24x1xi64>
  // expected-error @+1 {{'tile.addptr' op expected 'offset' to have the shape of 'pointer' 'tensor<24x!tile.ptr<f32>>', but got 'tensor<24x1xi64>'}}
  %q = tile.addptr %p, %j : tensor<24x!tile.ptr<f32>>, tensor<24x1xi64>
  tile.return
}

// -----

tile.kernel @addptr_offset_i16(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %j = tile.full 0 : i16 -> tensor<24xi16>
  // expected-error @+1 {{'tile.addptr' op operand #1 must be a scalar or a tile (ranked tensor of static shape) of i32 or i64, but got 'tensor<24xi16>'}}
  %q = tile.addptr %p, %j : tensor<24x!tile.ptr<f32>>, tensor<24xi16>
  tile.return
}

// -----

tile.kernel @addptr_offset_float(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %j = tile.full 0.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.addptr' op operand #1 must be a scalar or a tile (ranked tensor of static shape) of i32 or i64, but got 'tensor<24xf32>'}}
  %q = tile.addptr %p, %j : tensor<24x!tile.ptr<f32>>, tensor<24xf32>
  tile.return
}

// -----

tile.kernel @addptr_of_numbers(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{'tile.addptr' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of !tile.ptr, but got 'tensor<24xi32>'}}
  %q = tile.addptr %i, %i : tensor<24xi32>, tensor<24xi32>
  tile.return
}

// -----

tile.kernel @addptr_changes_element(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{'tile.addptr' op failed to verify that all of {pointer, result} have same type}}
  %q = "tile.addptr"(%p, %i) : (tensor<24x!tile.ptr<f32>>, tensor<24xi32>) -> tensor<24x!tile.ptr<f16>>
  tile.return
}

// -----

tile.kernel @load_number(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{custom op 'tile.load' expected a !tile.ptr, a tile of pointers or a !tile.block_ptr, but got 'i64'}}
  %v = tile.load %n : i64
  tile.return
}

// -----

tile.kernel @load_tile(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{custom op 'tile.load' expected a !tile.ptr, a tile of pointers or a !tile.block_ptr, but got 'tensor<24xi32>'}}
  %v = tile.load %i : tensor<24xi32>
  tile.return
}

// -----

tile.kernel @load_mask_is_scalar(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-note @+1 {{prior use here}}
  %m = arith.constant true
  // expected-error @+1 {{use of value '%m' expects different type than prior uses: 'tensor<24xi1>' vs 'i1'}}
  %v = tile.load %p mask %m : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @load_mask_of_another_shape(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-note @+1 {{prior use here}}
  %m = arith.constant dense<true> : tensor<25xi1>
  // expected-error @+1 {{use of value '%m' expects different type than prior uses: 'tensor<24xi1>' vs 'tensor<25xi1>'}}
  %v = tile.load %p mask %m : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @load_mask_is_i8(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-note @+1 {{prior use here}}
  %m = arith.constant dense<1> : tensor<24xi8>
  // expected-error @+1 {{use of value '%m' expects different type than prior uses: 'tensor<24xi1>' vs 'tensor<24xi8>'}}
  %v = tile.load %p mask %m : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @load_other_without_mask(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %o = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.load' op expected a 'mask' beside 'other'}}
  %v = tile.load %p other %o : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @load_other_of_another_element(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  // expected-note @+1 {{prior use here}}
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %m = arith.constant dense<true> : tensor<24xi1>
  // expected-error @+1 {{use of value '%i' expects different type than prior uses: 'tensor<24xf32>' vs 'tensor<24xi32>'}}
  %v = tile.load %p mask %m other %i : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @generic_load_mask_differs(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %m = arith.constant dense<true> : tensor<25xi1>
  // expected-error @+1 {{'tile.load' op expected 'mask' of type 'tensor<24xi1>', but got 'tensor<25xi1>'}}
  %v = "tile.load"(%p, %m) <{operandSegmentSizes = array<i32: 1, 1, 0>}> : (tensor<24x!tile.ptr<f32>>, tensor<25xi1>) -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @generic_load_other_differs(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %m = arith.constant dense<true> : tensor<24xi1>
  // expected-error @+1 {{'tile.load' op expected 'other' of type 'tensor<24xf32>', but got 'tensor<24xi32>'}}
  %v = "tile.load"(%p, %m, %i) <{operandSegmentSizes = array<i32: 1, 1, 1>}> : (tensor<24x!tile.ptr<f32>>, tensor<24xi1>, tensor<24xi32>) -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @load_padding_through_pointers(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{'tile.load' op expected 'padding' only with a block pointer: use 'other'}}
  %v = tile.load %p padding nan : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @load_in_bounds_through_pointers(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{'tile.load' op expected 'in_bounds' only with a block pointer}}
  %v = tile.load %p {in_bounds = array<i1: true>} : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @load_padding_of_one_element(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{'tile.load' op expected 'padding' only with a block pointer: use 'other'}}
  %v = tile.load %x padding nan : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @store_mask_of_another_shape(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %v = tile.load %p : tensor<24x!tile.ptr<f32>>
  %m = arith.constant dense<true> : tensor<25xi1>
  // expected-error @+1 {{'tile.store' op expected 'mask' of type 'tensor<24xi1>', but got 'tensor<25xi1>'}}
  "tile.store"(%p, %v, %m) : (tensor<24x!tile.ptr<f32>>, tensor<24xf32>, tensor<25xi1>) -> ()
  tile.return
}

// -----

tile.kernel @store_in_bounds_through_pointers(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %v = tile.load %p : tensor<24x!tile.ptr<f32>>
  // expected-error @+1 {{'tile.store' op expected 'in_bounds' only with a block pointer}}
  tile.store %p, %v {in_bounds = array<i1: true>} : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @store_pointers(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  // expected-note @+1 {{prior use here}}
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{use of value '%p' expects different type than prior uses: 'tensor<24xf32>' vs 'tensor<24x!tile.ptr<f32>>'}}
  tile.store %p, %p : tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @store_to_number(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{custom op 'tile.store' expected a !tile.ptr, a tile of pointers or a !tile.block_ptr, but got 'i64'}}
  tile.store %n, %n : i64
  tile.return
}

// -----

tile.kernel @atomic_to_number(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  // expected-error @+1 {{custom op 'tile.atomic_add' expected a !tile.ptr, a tile of pointers or a !tile.block_ptr, but got 'i64'}}
  %o = tile.atomic_add %n, %n : i64
  tile.return
}

// -----

tile.kernel @atomic_mask_of_another_shape(%x: !tile.ptr<f32>, %n: i64) grid(n) -> (1) {
  %i = tile.arange 0 to 24 : tensor<24xi32>
  %b = tile.splat %x : !tile.ptr<f32> -> tensor<24x!tile.ptr<f32>>
  %p = tile.addptr %b, %i : tensor<24x!tile.ptr<f32>>, tensor<24xi32>
  %v = tile.load %p : tensor<24x!tile.ptr<f32>>
  %m = arith.constant dense<true> : tensor<25xi1>
  // expected-error @+1 {{'tile.atomic_add' op expected 'mask' of type 'tensor<24xi1>', but got 'tensor<25xi1>'}}
  %o = "tile.atomic_add"(%p, %v, %m) : (tensor<24x!tile.ptr<f32>>, tensor<24xf32>, tensor<25xi1>) -> tensor<24xf32>
  tile.return
}

// -----

// Memory adds what hardware adds.
tile.kernel @atomic_i8(%x: !tile.ptr<i8>, %v: i8) grid(v) -> (1) {
  // expected-error @+1 {{'tile.atomic_add' op operand #1 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, i32 or i64, but got 'i8'}}
  %o = tile.atomic_add %x, %v : !tile.ptr<i8>
  tile.return
}

// -----

tile.kernel @atomic_i1(%x: !tile.ptr<i1>, %v: i1) grid(v) -> (1) {
  // expected-error @+1 {{'tile.atomic_add' op operand #1 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, i32 or i64, but got 'i1'}}
  %o = tile.atomic_add %x, %v : !tile.ptr<i1>
  tile.return
}

// -----

tile.kernel @atomic_fp8(%x: !tile.ptr<f8E5M2>) grid() -> (1) {
  %v = tile.load %x : !tile.ptr<f8E5M2>
  // expected-error @+1 {{'tile.atomic_add' op operand #1 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, i32 or i64, but got 'f8E5M2'}}
  %o = tile.atomic_add %x, %v : !tile.ptr<f8E5M2>
  tile.return
}

// -----

tile.kernel @pointers_of_rank_0(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op expected tiles of rank 1 or more, but got 'tensor<!tile.ptr<f32>>'; use a scalar}}
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @pointers_dynamic(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op result #0 must be a tile (ranked tensor of static shape) of !tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<?x!tile.ptr<f32>>'}}
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<?x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @blocks_in_a_tile(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op result #0 must be a tile (ranked tensor of static shape) of !tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<4x!tile.block_ptr<4xf32>>'}}
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.block_ptr<4xf32>>
  tile.return
}
