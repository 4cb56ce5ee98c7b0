// RUN: fa-opt %s --split-input-file --verify-diagnostics

tile.kernel @arange_empty() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op expected 'start' < 'end', but got 4 to 4}}
  %i = tile.arange 4 to 4 : tensor<0xi32>
  tile.return
}

// -----

tile.kernel @arange_backwards() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op expected 'start' < 'end', but got 4 to 0}}
  %i = tile.arange 4 to 0 : tensor<4xi32>
  tile.return
}

// -----

tile.kernel @arange_extent_differs() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op expected a result of 24 elements and rank 1, but got 'tensor<25xi32>'}}
  %i = tile.arange 0 to 24 : tensor<25xi32>
  tile.return
}

// -----

tile.kernel @arange_rank_2() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op expected a result of 24 elements and rank 1, but got 'tensor<4x6xi32>'}}
  %i = tile.arange 0 to 24 : tensor<4x6xi32>
  tile.return
}

// -----

tile.kernel @arange_i64() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op result #0 must be a tile (ranked tensor of static shape) of i32, but got 'tensor<24xi64>'}}
  %i = tile.arange 0 to 24 : tensor<24xi64>
  tile.return
}

// -----

tile.kernel @arange_scalar() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.arange' invalid kind of type specified: expected builtin.tensor, but found 'i32'}}
  %i = tile.arange 0 to 1 : i32
  tile.return
}

// -----

tile.kernel @arange_dynamic() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op result #0 must be a tile (ranked tensor of static shape) of i32, but got 'tensor<?xi32>'}}
  %i = tile.arange 0 to 24 : tensor<?xi32>
  tile.return
}

// -----

tile.kernel @arange_unranked() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.arange' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xi32>'}}
  %i = tile.arange 0 to 24 : tensor<*xi32>
  tile.return
}

// -----

tile.kernel @arange_huge() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op expected tiles of at most 1048576 elements, but got 'tensor<2147483647xi32>'}}
  %i = tile.arange 0 to 2147483647 : tensor<2147483647xi32>
  tile.return
}

// -----

// The extent is computed in 64 bits.
tile.kernel @arange_whole_range() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op expected tiles of at most 1048576 elements, but got 'tensor<4294967295xi32>'}}
  %i = tile.arange -2147483648 to 2147483647 : tensor<4294967295xi32>
  tile.return
}

// -----

tile.kernel @arange_end_does_not_fit() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op expected 'start' < 'end', but got 0 to -2147483648}}
  %i = tile.arange 0 to 2147483648 : tensor<24xi32>
  tile.return
}

// -----

tile.kernel @arange_encoding() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op expected tiles without an encoding, but got 'tensor<24xi32, "encoded">'}}
  %i = tile.arange 0 to 24 : tensor<24xi32, "encoded">
  tile.return
}

// -----

tile.kernel @generic_arange_without_end() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op requires attribute 'end'}}
  %i = "tile.arange"() <{start = 0 : i32}> : () -> tensor<24xi32>
  tile.return
}

// -----

tile.kernel @generic_arange_end_i64() grid() -> (1) {
  // expected-error @+1 {{'tile.arange' op attribute 'end' failed to satisfy constraint: 32-bit signless integer attribute}}
  %i = "tile.arange"() <{start = 0 : i32, end = 24 : i64}> : () -> tensor<24xi32>
  tile.return
}

// -----

tile.kernel @full_value_of_another_type() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected 'value' of type 'f32', but got 'f64'}}
  %t = tile.full 1.0 : f64 -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @full_integer_for_float() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected 'value' of type 'f32', but got 'i32'}}
  %t = tile.full 1 : i32 -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @full_of_a_tile() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected 'value' to be a number, but got dense<1.000000e+00> : tensor<24xf32>}}
  %t = tile.full dense<1.0> : tensor<24xf32> -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @full_of_text() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected 'value' to be a number, but got "one"}}
  %t = tile.full "one" -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @full_scalar() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.full' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %t = tile.full 1.0 : f32 -> f32
  tile.return
}

// -----

tile.kernel @full_of_pointers() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op result #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<24x!tile.ptr<f32>>'}}
  %t = tile.full 0 : i64 -> tensor<24x!tile.ptr<f32>>
  tile.return
}

// -----

tile.kernel @full_rank_0() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected tiles of rank 1 or more, but got 'tensor<f32>'; use a scalar}}
  %t = tile.full 1.0 : f32 -> tensor<f32>
  tile.return
}

// -----

tile.kernel @full_empty() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected tiles with elements, but got 'tensor<24x0xf32>'}}
  %t = tile.full 1.0 : f32 -> tensor<24x0xf32>
  tile.return
}

// -----

tile.kernel @full_dynamic() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op result #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<24x?xf32>'}}
  %t = tile.full 1.0 : f32 -> tensor<24x?xf32>
  tile.return
}

// -----

tile.kernel @full_unranked() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.full' invalid kind of type specified: expected builtin.tensor, but found 'tensor<*xf32>'}}
  %t = tile.full 1.0 : f32 -> tensor<*xf32>
  tile.return
}

// -----

tile.kernel @full_vector() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.full' invalid kind of type specified: expected builtin.tensor, but found 'vector<24xf32>'}}
  %t = tile.full 1.0 : f32 -> vector<24xf32>
  tile.return
}

// -----

tile.kernel @full_memref() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.full' invalid kind of type specified: expected builtin.tensor, but found 'memref<24xf32>'}}
  %t = tile.full 1.0 : f32 -> memref<24xf32>
  tile.return
}

// -----

tile.kernel @full_too_many() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected tiles of at most 1048576 elements, but got 'tensor<1025x1024xf32>'}}
  %t = tile.full 1.0 : f32 -> tensor<1025x1024xf32>
  tile.return
}

// -----

tile.kernel @full_2_31() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected tiles of at most 1048576 elements, but got 'tensor<2147483648xf32>'}}
  %t = tile.full 1.0 : f32 -> tensor<2147483648xf32>
  tile.return
}

// -----

tile.kernel @full_overflows() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op expected tiles of at most 1048576 elements, but got 'tensor<4294967296x4294967296xf32>'}}
  %t = tile.full 1.0 : f32 -> tensor<4294967296x4294967296xf32>
  tile.return
}

// -----

tile.kernel @full_index() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op result #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<24xindex>'}}
  %t = tile.full 1 : index -> tensor<24xindex>
  tile.return
}

// -----

tile.kernel @full_i4() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op result #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<24xi4>'}}
  %t = tile.full 1 : i4 -> tensor<24xi4>
  tile.return
}

// -----

tile.kernel @full_fp4() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op result #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<24xf4E2M1FN>'}}
  %t = tile.full 1.0 : f4E2M1FN -> tensor<24xf4E2M1FN>
  tile.return
}

// -----

tile.kernel @full_value_out_of_range() grid() -> (1) {
  // expected-error @+1 {{integer constant out of range for attribute}}
  %t = tile.full 300 : i8 -> tensor<24xi8>
  tile.return
}

// -----

tile.kernel @generic_full_without_value() grid() -> (1) {
  // expected-error @+1 {{'tile.full' op requires attribute 'value'}}
  %t = "tile.full"() : () -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @generic_full_value_is_a_type() grid() -> (1) {
  // expected-error @+1 {{invalid properties {value = f32} for op tile.full: Invalid attribute `value` in property conversion: f32}}
  %t = "tile.full"() <{value = f32}> : () -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @splat_another_element(%a: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op expected 'value' of type 'f16', but got 'f32'}}
  %t = tile.splat %a : f32 -> tensor<24xf16>
  tile.return
}

// -----

tile.kernel @splat_to_scalar(%a: f32) grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.splat' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %t = tile.splat %a : f32 -> f32
  tile.return
}

// -----

tile.kernel @splat_a_tile(%a: f32) grid() -> (1) {
  %s = tile.splat %a : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.splat' op operand #0 must be !tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<24xf32>'}}
  %t = tile.splat %s : tensor<24xf32> -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @splat_empty(%a: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op expected tiles with elements, but got 'tensor<0xf32>'}}
  %t = tile.splat %a : f32 -> tensor<0xf32>
  tile.return
}

// -----

tile.kernel @splat_dynamic(%a: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op result #0 must be a tile (ranked tensor of static shape) of !tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<?xf32>'}}
  %t = tile.splat %a : f32 -> tensor<?xf32>
  tile.return
}

// -----

tile.kernel @splat_huge(%a: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op expected tiles of at most 1048576 elements, but got 'tensor<2147483648xf32>'}}
  %t = tile.splat %a : f32 -> tensor<2147483648xf32>
  tile.return
}

// -----

tile.kernel @splat_encoding(%a: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op expected tiles without an encoding, but got 'tensor<24xf32, 7 : i64>'}}
  %t = tile.splat %a : f32 -> tensor<24xf32, 7>
  tile.return
}

// -----

tile.kernel @splat_missing_operand(%a: f32) grid() -> (1) {
  // expected-error @+1 {{expected SSA operand}}
  %t = tile.splat : f32 -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @generic_splat_of_nothing(%a: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op requires a single operand}}
  %t = "tile.splat"() : () -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @splat_index(%a: f32) grid() -> (1) {
  %i = arith.constant 1 : index
  // expected-error @+1 {{'tile.splat' op operand #0 must be !tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'index'}}
  %t = tile.splat %i : index -> tensor<24xindex>
  tile.return
}

// -----

tile.kernel @expand_axis_negative() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.expand_dims' op expected 'axis' between 0 and 2, but got -1}}
  %u = tile.expand_dims %t axis -1 : tensor<6x7xf32> -> tensor<1x6x7xf32>
  tile.return
}

// -----

tile.kernel @expand_axis_too_large() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.expand_dims' op expected 'axis' between 0 and 2, but got 3}}
  %u = tile.expand_dims %t axis 3 : tensor<6x7xf32> -> tensor<6x7x1xf32>
  tile.return
}

// -----

tile.kernel @expand_axis_huge() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.expand_dims' op expected 'axis' between 0 and 2, but got 2147483647}}
  %u = tile.expand_dims %t axis 2147483647 : tensor<6x7xf32> -> tensor<6x7x1xf32>
  tile.return
}

// -----

tile.kernel @expand_axis_does_not_fit() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{integer constant out of range for attribute}}
  %u = tile.expand_dims %t axis 4294967296 : tensor<6x7xf32> -> tensor<1x6x7xf32>
  tile.return
}

// -----

tile.kernel @expand_result_elsewhere() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.expand_dims' op expected result of type 'tensor<1x6x7xf32>', but got 'tensor<6x1x7xf32>'}}
  %u = tile.expand_dims %t axis 0 : tensor<6x7xf32> -> tensor<6x1x7xf32>
  tile.return
}

// -----

tile.kernel @expand_result_of_another_element() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.expand_dims' op expected result of type 'tensor<1x6x7xf32>', but got 'tensor<1x6x7xf16>'}}
  %u = tile.expand_dims %t axis 0 : tensor<6x7xf32> -> tensor<1x6x7xf16>
  tile.return
}

// -----

tile.kernel @expand_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{custom op 'tile.expand_dims' expected 'axis'}}
  %u = tile.expand_dims %t : tensor<6x7xf32> -> tensor<1x6x7xf32>
  tile.return
}

// -----

tile.kernel @generic_expand_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.expand_dims' op requires attribute 'axis'}}
  %u = "tile.expand_dims"(%t) : (tensor<6x7xf32>) -> tensor<1x6x7xf32>
  tile.return
}

// -----

tile.kernel @generic_expand_axis_i64() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.expand_dims' op attribute 'axis' failed to satisfy constraint: 32-bit signless integer attribute}}
  %u = "tile.expand_dims"(%t) <{axis = 0 : i64}> : (tensor<6x7xf32>) -> tensor<1x6x7xf32>
  tile.return
}

// -----

tile.kernel @generic_expand_of_nothing() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.expand_dims' op requires a single operand}}
  %u = "tile.expand_dims"() <{axis = 0 : i32}> : () -> tensor<1x6x7xf32>
  tile.return
}

// -----

tile.kernel @expand_to_scalar() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{custom op 'tile.expand_dims' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %u = tile.expand_dims %t axis 0 : tensor<6x7xf32> -> f32
  tile.return
}

// -----

tile.kernel @broadcast_raises_rank() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.broadcast' op expected operand and result of one rank, but got 1 and 2; 'tile.expand_dims' raises the rank}}
  %u = tile.broadcast %t : tensor<7xf32> -> tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @broadcast_grows_extent() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<3x7xf32>
  // expected-error @+1 {{'tile.broadcast' op expected extent 1 or 6 in dimension 0, but got 3}}
  %u = tile.broadcast %t : tensor<3x7xf32> -> tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @broadcast_shrinks_to_1() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<3x7xf32>
  // expected-error @+1 {{'tile.broadcast' op expected extent 1 or 1 in dimension 0, but got 3}}
  %u = tile.broadcast %t : tensor<3x7xf32> -> tensor<1x7xf32>
  tile.return
}

// -----

tile.kernel @broadcast_another_element() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1x7xf32>
  // expected-error @+1 {{'tile.broadcast' op expected elements of type 'f32', but got 'f16'}}
  %u = tile.broadcast %t : tensor<1x7xf32> -> tensor<6x7xf16>
  tile.return
}

// -----

tile.kernel @broadcast_dynamic() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1x7xf32>
  // expected-error @+1 {{'tile.broadcast' op result #0 must be a tile (ranked tensor of static shape) of !tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<?x7xf32>'}}
  %u = tile.broadcast %t : tensor<1x7xf32> -> tensor<?x7xf32>
  tile.return
}

// -----

tile.kernel @broadcast_empty() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1x7xf32>
  // expected-error @+1 {{'tile.broadcast' op expected tiles with elements, but got 'tensor<0x7xf32>'}}
  %u = tile.broadcast %t : tensor<1x7xf32> -> tensor<0x7xf32>
  tile.return
}

// -----

tile.kernel @broadcast_huge() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1x1xf32>
  // expected-error @+1 {{'tile.broadcast' op expected tiles of at most 1048576 elements, but got 'tensor<4096x4096xf32>'}}
  %u = tile.broadcast %t : tensor<1x1xf32> -> tensor<4096x4096xf32>
  tile.return
}

// -----

tile.kernel @broadcast_to_scalar() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1xf32>
  // expected-error @+1 {{custom op 'tile.broadcast' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %u = tile.broadcast %t : tensor<1xf32> -> f32
  tile.return
}

// -----

tile.kernel @generic_broadcast_of_nothing() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1xf32>
  // expected-error @+1 {{'tile.broadcast' op requires a single operand}}
  %u = "tile.broadcast"() : () -> tensor<4xf32>
  tile.return
}

// -----

tile.kernel @trans_order_repeats() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.trans' op expected 'order' to be a permutation of the 2 dimensions of 'tensor<6x7xf32>', but got [0, 0]}}
  %u = tile.trans %t order [0, 0] : tensor<6x7xf32> -> tensor<6x6xf32>
  tile.return
}

// -----

tile.kernel @trans_order_negative() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.trans' op expected 'order' to be a permutation of the 2 dimensions of 'tensor<6x7xf32>', but got [-1, 0]}}
  %u = tile.trans %t order [-1, 0] : tensor<6x7xf32> -> tensor<7x6xf32>
  tile.return
}

// -----

tile.kernel @trans_order_too_large() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.trans' op expected 'order' to be a permutation of the 2 dimensions of 'tensor<6x7xf32>', but got [2, 0]}}
  %u = tile.trans %t order [2, 0] : tensor<6x7xf32> -> tensor<7x6xf32>
  tile.return
}

// -----

tile.kernel @trans_order_too_short() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.trans' op expected 'order' to be a permutation of the 2 dimensions of 'tensor<6x7xf32>', but got [1]}}
  %u = tile.trans %t order [1] : tensor<6x7xf32> -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @trans_order_too_long() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.trans' op expected 'order' to be a permutation of the 2 dimensions of 'tensor<6x7xf32>', but got [1, 0, 2]}}
  %u = tile.trans %t order [1, 0, 2] : tensor<6x7xf32> -> tensor<7x6xf32>
  tile.return
}

// -----

tile.kernel @trans_order_empty() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.trans' op expected 'order' to be a permutation of the 2 dimensions of 'tensor<6x7xf32>', but got []}}
  %u = tile.trans %t order [] : tensor<6x7xf32> -> tensor<7x6xf32>
  tile.return
}

// -----

tile.kernel @trans_result_differs() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.trans' op expected result of type 'tensor<7x6xf32>', but got 'tensor<6x7xf32>'}}
  %u = tile.trans %t order [1, 0] : tensor<6x7xf32> -> tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @trans_without_order() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{custom op 'tile.trans' expected 'order'}}
  %u = tile.trans %t : tensor<6x7xf32> -> tensor<7x6xf32>
  tile.return
}

// -----

tile.kernel @generic_trans_without_order() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.trans' op requires attribute 'order'}}
  %u = "tile.trans"(%t) : (tensor<6x7xf32>) -> tensor<7x6xf32>
  tile.return
}

// -----

tile.kernel @generic_trans_order_i64() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{invalid properties {order = array<i64: 1, 0>} for op tile.trans: Invalid attribute `order` in property conversion: array<i64: 1, 0>}}
  %u = "tile.trans"(%t) <{order = array<i64: 1, 0>}> : (tensor<6x7xf32>) -> tensor<7x6xf32>
  tile.return
}

// -----

tile.kernel @reshape_loses_elements() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reshape' op expected 42 elements, but 'tensor<41xf32>' has 41}}
  %u = tile.reshape %t : tensor<6x7xf32> -> tensor<41xf32>
  tile.return
}

// -----

tile.kernel @reshape_another_element() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reshape' op expected elements of type 'f32', but got 'i32'}}
  %u = tile.reshape %t : tensor<6x7xf32> -> tensor<42xi32>
  tile.return
}

// -----

tile.kernel @reshape_to_scalar() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1xf32>
  // expected-error @+1 {{custom op 'tile.reshape' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %u = tile.reshape %t : tensor<1xf32> -> f32
  tile.return
}

// -----

tile.kernel @reshape_to_rank_0() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1xf32>
  // expected-error @+1 {{'tile.reshape' op expected tiles of rank 1 or more, but got 'tensor<f32>'; use a scalar}}
  %u = tile.reshape %t : tensor<1xf32> -> tensor<f32>
  tile.return
}

// -----

tile.kernel @reshape_dynamic() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reshape' op result #0 must be a tile (ranked tensor of static shape) of !tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<?xf32>'}}
  %u = tile.reshape %t : tensor<6x7xf32> -> tensor<?xf32>
  tile.return
}

// -----

tile.kernel @reshape_to_empty() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reshape' op expected 42 elements, but 'tensor<0xf32>' has 0}}
  %u = tile.reshape %t : tensor<6x7xf32> -> tensor<0xf32>
  tile.return
}

// -----

// The product of the extents does not fit in 64 bits.
tile.kernel @reshape_overflows() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reshape' op expected 42 elements, but 'tensor<4294967296x4294967296x42xf32>' has 0}}
  %u = tile.reshape %t : tensor<6x7xf32> -> tensor<4294967296x4294967296x42xf32>
  tile.return
}

// -----

tile.kernel @cat_axis_negative() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.cat' op expected 'axis' between 0 and 1, but got -1}}
  %u = tile.cat %t, %t axis -1 : tensor<6x7xf32>, tensor<6x7xf32> -> tensor<6x14xf32>
  tile.return
}

// -----

tile.kernel @cat_axis_too_large() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.cat' op expected 'axis' between 0 and 1, but got 2}}
  %u = tile.cat %t, %t axis 2 : tensor<6x7xf32>, tensor<6x7xf32> -> tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @cat_extents_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %s = tile.full 1.0 : f32 -> tensor<5x7xf32>
  // expected-error @+1 {{'tile.cat' op expected equal extents in dimension 0, but got 6 and 5}}
  %u = tile.cat %t, %s axis 1 : tensor<6x7xf32>, tensor<5x7xf32> -> tensor<6x14xf32>
  tile.return
}

// -----

tile.kernel @cat_ranks_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %s = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.cat' op expected tiles of one rank and element type, but got 'tensor<6x7xf32>' and 'tensor<7xf32>'}}
  %u = tile.cat %t, %s axis 0 : tensor<6x7xf32>, tensor<7xf32> -> tensor<7x7xf32>
  tile.return
}

// -----

tile.kernel @cat_elements_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %s = tile.full 1 : i32 -> tensor<6x7xi32>
  // expected-error @+1 {{'tile.cat' op expected tiles of one rank and element type, but got 'tensor<6x7xf32>' and 'tensor<6x7xi32>'}}
  %u = tile.cat %t, %s axis 0 : tensor<6x7xf32>, tensor<6x7xi32> -> tensor<12x7xf32>
  tile.return
}

// -----

tile.kernel @cat_result_too_small() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.cat' op expected result of type 'tensor<12x7xf32>', but got 'tensor<6x7xf32>'}}
  %u = tile.cat %t, %t axis 0 : tensor<6x7xf32>, tensor<6x7xf32> -> tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @cat_too_many_elements() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1024x1024xf32>
  // expected-error @+1 {{'tile.cat' op expected tiles of at most 1048576 elements, but got 'tensor<2048x1024xf32>'}}
  %u = tile.cat %t, %t axis 0 : tensor<1024x1024xf32>, tensor<1024x1024xf32> -> tensor<2048x1024xf32>
  tile.return
}

// -----

tile.kernel @cat_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{custom op 'tile.cat' expected 'axis'}}
  %u = tile.cat %t, %t : tensor<6x7xf32>, tensor<6x7xf32> -> tensor<12x7xf32>
  tile.return
}

// -----

tile.kernel @generic_cat_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.cat' op requires attribute 'axis'}}
  %u = "tile.cat"(%t, %t) : (tensor<6x7xf32>, tensor<6x7xf32>) -> tensor<12x7xf32>
  tile.return
}

// -----

tile.kernel @generic_cat_one_operand() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.cat' op expected 2 operands, but found 1}}
  %u = "tile.cat"(%t) <{axis = 0 : i32}> : (tensor<6x7xf32>) -> tensor<12x7xf32>
  tile.return
}

// -----

tile.kernel @cat_scalars() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %a = arith.constant 1.0 : f32
  // expected-error @+1 {{custom op 'tile.cat' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %u = tile.cat %a, %a axis 0 : f32, f32 -> tensor<2xf32>
  tile.return
}

// -----

tile.kernel @join_types_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-note @+1 {{prior use here}}
  %s = tile.full 1 : i32 -> tensor<6x7xi32>
  // expected-error @+1 {{use of value '%s' expects different type than prior uses: 'tensor<6x7xf32>' vs 'tensor<6x7xi32>'}}
  %u = tile.join %t, %s : tensor<6x7xf32> -> tensor<6x7x2xf32>
  tile.return
}

// -----

tile.kernel @generic_join_types_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %s = tile.full 1 : i32 -> tensor<6x7xi32>
  // expected-error @+1 {{'tile.join' op expected two tiles of one type, but got 'tensor<6x7xf32>' and 'tensor<6x7xi32>'}}
  %u = "tile.join"(%t, %s) : (tensor<6x7xf32>, tensor<6x7xi32>) -> tensor<6x7x2xf32>
  tile.return
}

// -----

tile.kernel @join_result_differs() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.join' op expected result of type 'tensor<6x7x2xf32>', but got 'tensor<2x6x7xf32>'}}
  %u = tile.join %t, %t : tensor<6x7xf32> -> tensor<2x6x7xf32>
  tile.return
}

// -----

tile.kernel @join_scalars() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %a = arith.constant 1.0 : f32
  // expected-error @+1 {{'tile.join' op operand #0 must be a tile (ranked tensor of static shape) of !tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'f32'}}
  %u = tile.join %a, %a : f32 -> tensor<2xf32>
  tile.return
}

// -----

tile.kernel @join_too_many_elements() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1024x1024xf32>
  // expected-error @+1 {{'tile.join' op expected tiles of at most 1048576 elements, but got 'tensor<1024x1024x2xf32>'}}
  %u = tile.join %t, %t : tensor<1024x1024xf32> -> tensor<1024x1024x2xf32>
  tile.return
}
