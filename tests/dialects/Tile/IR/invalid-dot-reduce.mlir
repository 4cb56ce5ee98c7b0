// RUN: fa-opt %s --split-input-file --verify-diagnostics

tile.kernel @dot_rank_1() grid() -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<24xbf16>
  %b = tile.full 1.0 : bf16 -> tensor<24x6xbf16>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{'tile.dot' op expected 'a' to have rank 2, but got 'tensor<24xbf16>'}}
  %d = tile.dot %a, %b, %c : tensor<24xbf16>, tensor<24x6xbf16>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_rank_3() grid() -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<2x24x5xbf16>
  %b = tile.full 1.0 : bf16 -> tensor<5x6xbf16>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{'tile.dot' op expected 'a' to have rank 2, but got 'tensor<2x24x5xbf16>'}}
  %d = tile.dot %a, %b, %c : tensor<2x24x5xbf16>, tensor<5x6xbf16>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_accumulator_rank_1() grid() -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<24x5xbf16>
  %b = tile.full 1.0 : bf16 -> tensor<5x6xbf16>
  %c = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.dot' op expected 'c' to have rank 2, but got 'tensor<24xf32>'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xbf16>, tensor<5x6xbf16>, tensor<24xf32>
  tile.return
}

// -----

tile.kernel @dot_inner_extents_differ() grid() -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<24x5xbf16>
  %b = tile.full 1.0 : bf16 -> tensor<7x6xbf16>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{'tile.dot' op expected 'b' to have the 5 rows that 'a' has columns, but got 'tensor<7x6xbf16>'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xbf16>, tensor<7x6xbf16>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_accumulator_rows_differ() grid() -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<24x5xbf16>
  %b = tile.full 1.0 : bf16 -> tensor<5x6xbf16>
  %c = tile.full 1.0 : f32 -> tensor<25x6xf32>
  // expected-error @+1 {{'tile.dot' op expected 'c' to be 24x6, but got 'tensor<25x6xf32>'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xbf16>, tensor<5x6xbf16>, tensor<25x6xf32>
  tile.return
}

// -----

tile.kernel @dot_accumulator_columns_differ() grid() -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<24x5xbf16>
  %b = tile.full 1.0 : bf16 -> tensor<5x6xbf16>
  %c = tile.full 1.0 : f32 -> tensor<24x7xf32>
  // expected-error @+1 {{'tile.dot' op expected 'c' to be 24x6, but got 'tensor<24x7xf32>'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xbf16>, tensor<5x6xbf16>, tensor<24x7xf32>
  tile.return
}

// -----

tile.kernel @dot_element_types_differ() grid() -> (1) {
  %a = tile.full 1.0 : f16 -> tensor<24x5xf16>
  %b = tile.full 1.0 : bf16 -> tensor<5x6xbf16>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{'tile.dot' op expected 'a' and 'b' of one element type, but got 'f16' and 'bf16'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xf16>, tensor<5x6xbf16>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_fp8_with_f16() grid() -> (1) {
  %a = tile.full 1.0 : f8E4M3FN -> tensor<24x5xf8E4M3FN>
  %b = tile.full 1.0 : f16 -> tensor<5x6xf16>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{'tile.dot' op expected 'a' and 'b' of one element type, but got 'f8E4M3FN' and 'f16'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xf8E4M3FN>, tensor<5x6xf16>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_accumulates_bf16() grid() -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<24x5xbf16>
  %b = tile.full 1.0 : bf16 -> tensor<5x6xbf16>
  %c = tile.full 1.0 : bf16 -> tensor<24x6xbf16>
  // expected-error @+1 {{'tile.dot' op expected an accumulator of 'f32' for operands of 'bf16', but got 'bf16'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xbf16>, tensor<5x6xbf16>, tensor<24x6xbf16>
  tile.return
}

// -----

tile.kernel @dot_accumulates_f64() grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<24x5xf32>
  %b = tile.full 1.0 : f32 -> tensor<5x6xf32>
  %c = tile.full 1.0 : f64 -> tensor<24x6xf64>
  // expected-error @+1 {{'tile.dot' op expected an accumulator of 'f32' for operands of 'f32', but got 'f64'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xf32>, tensor<5x6xf32>, tensor<24x6xf64>
  tile.return
}

// -----

tile.kernel @dot_f64_accumulates_f32() grid() -> (1) {
  %a = tile.full 1.0 : f64 -> tensor<24x5xf64>
  %b = tile.full 1.0 : f64 -> tensor<5x6xf64>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{'tile.dot' op expected an accumulator of 'f64' for operands of 'f64', but got 'f32'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xf64>, tensor<5x6xf64>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_i8_accumulates_i8() grid() -> (1) {
  %a = tile.full 1 : i8 -> tensor<24x5xi8>
  %b = tile.full 1 : i8 -> tensor<5x6xi8>
  %c = tile.full 1 : i8 -> tensor<24x6xi8>
  // expected-error @+1 {{'tile.dot' op expected an accumulator of 'i32' for operands of 'i8', but got 'i8'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xi8>, tensor<5x6xi8>, tensor<24x6xi8>
  tile.return
}

// -----

tile.kernel @dot_i8_accumulates_f32() grid() -> (1) {
  %a = tile.full 1 : i8 -> tensor<24x5xi8>
  %b = tile.full 1 : i8 -> tensor<5x6xi8>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{'tile.dot' op expected an accumulator of 'i32' for operands of 'i8', but got 'f32'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xi8>, tensor<5x6xi8>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_i32() grid() -> (1) {
  %a = tile.full 1 : i32 -> tensor<24x5xi32>
  %b = tile.full 1 : i32 -> tensor<5x6xi32>
  %c = tile.full 1 : i32 -> tensor<24x6xi32>
  // expected-error @+1 {{'tile.dot' op expected operands of f64, f32, f16, bf16, fp8 or i8, but 'a' is 'tensor<24x5xi32>'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xi32>, tensor<5x6xi32>, tensor<24x6xi32>
  tile.return
}

// -----

tile.kernel @dot_i1() grid() -> (1) {
  %a = tile.full 1 : i1 -> tensor<24x5xi1>
  %b = tile.full 1 : i1 -> tensor<5x6xi1>
  %c = tile.full 1 : i32 -> tensor<24x6xi32>
  // expected-error @+1 {{'tile.dot' op expected operands of f64, f32, f16, bf16, fp8 or i8, but 'a' is 'tensor<24x5xi1>'}}
  %d = tile.dot %a, %b, %c : tensor<24x5xi1>, tensor<5x6xi1>, tensor<24x6xi32>
  tile.return
}

// -----

tile.kernel @dot_precision_unknown() grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<24x5xf32>
  %b = tile.full 1.0 : f32 -> tensor<5x6xf32>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{custom op 'tile.dot' expected precision ieee, tf32 or tf32x3, but got 'tf32x2'}}
  %d = tile.dot %a, %b, %c precision tf32x2 : tensor<24x5xf32>, tensor<5x6xf32>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_precision_missing() grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<24x5xf32>
  %b = tile.full 1.0 : f32 -> tensor<5x6xf32>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{custom op 'tile.dot' expected precision ieee, tf32 or tf32x3}}
  %d = tile.dot %a, %b, %c precision : tensor<24x5xf32>, tensor<5x6xf32>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_precision_of_bf16() grid() -> (1) {
  %a = tile.full 1.0 : bf16 -> tensor<24x5xbf16>
  %b = tile.full 1.0 : bf16 -> tensor<5x6xbf16>
  %c = tile.full 1.0 : f32 -> tensor<24x6xf32>
  // expected-error @+1 {{'tile.dot' op expected precision ieee for operands of 'bf16', but got tf32}}
  %d = tile.dot %a, %b, %c precision tf32 : tensor<24x5xbf16>, tensor<5x6xbf16>, tensor<24x6xf32>
  tile.return
}

// -----

tile.kernel @dot_precision_of_i8() grid() -> (1) {
  %a = tile.full 1 : i8 -> tensor<24x5xi8>
  %b = tile.full 1 : i8 -> tensor<5x6xi8>
  %c = tile.full 1 : i32 -> tensor<24x6xi32>
  // expected-error @+1 {{'tile.dot' op expected precision ieee for operands of 'i8', but got tf32x3}}
  %d = tile.dot %a, %b, %c precision tf32x3 : tensor<24x5xi8>, tensor<5x6xi8>, tensor<24x6xi32>
  tile.return
}

// -----

tile.kernel @dot_two_operands() grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<5x5xf32>
  // expected-error @+1 {{expected ','}}
  %d = tile.dot %a, %a : tensor<5x5xf32>, tensor<5x5xf32>
  tile.return
}

// -----

tile.kernel @dot_scalars() grid() -> (1) {
  %a = arith.constant 1.0 : f32
  // expected-error @+1 {{custom op 'tile.dot' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %d = tile.dot %a, %a, %a : f32, f32, f32
  tile.return
}

// -----

tile.kernel @generic_dot_two_operands() grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<5x5xf32>
  // expected-error @+1 {{'tile.dot' op expected 3 operands, but found 2}}
  %d = "tile.dot"(%a, %a) : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  tile.return
}

// -----

tile.kernel @generic_dot_result_differs() grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<5x5xf32>
  // expected-error @+1 {{'tile.dot' op failed to verify that all of {c, result} have same type}}
  %d = "tile.dot"(%a, %a, %a) : (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x6xf32>
  tile.return
}

// -----

tile.kernel @generic_dot_precision_is_text() grid() -> (1) {
  %a = tile.full 1.0 : f32 -> tensor<5x5xf32>
  // expected-error @+1 {{invalid properties {input_precision = "tf32"} for op tile.dot: Invalid attribute `input_precision` in property conversion: "tf32"}}
  %d = "tile.dot"(%a, %a, %a) <{input_precision = "tf32"}> : (tensor<5x5xf32>, tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  tile.return
}

// -----

tile.kernel @max_axis_negative() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.max' op expected 'axis' between 0 and 1, but got -1}}
  %m = tile.max %t axis -1 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @max_axis_too_large() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.max' op expected 'axis' between 0 and 1, but got 2}}
  %m = tile.max %t axis 2 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @max_axis_huge() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.max' op expected 'axis' between 0 and 1, but got 2147483647}}
  %m = tile.max %t axis 2147483647 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @max_wrong_axis_removed() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.max' op expected result of type 'tensor<7xf32>', but got 'tensor<6xf32>'}}
  %m = tile.max %t axis 0 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @max_keeps_rank() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.max' op expected result of type 'tensor<7xf32>', but got 'tensor<1x7xf32>'}}
  %m = tile.max %t axis 0 : tensor<6x7xf32> -> tensor<1x7xf32>
  tile.return
}

// -----

// A tile of rank 1 reduces to a scalar.
tile.kernel @max_rank_1_to_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.max' op expected result of type 'f32', but got 'tensor<1xf32>'}}
  %m = tile.max %t axis 0 : tensor<7xf32> -> tensor<1xf32>
  tile.return
}

// -----

tile.kernel @max_another_element() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.max' op expected result of type 'tensor<7xf32>', but got 'tensor<7xf64>'}}
  %m = tile.max %t axis 0 : tensor<6x7xf32> -> tensor<7xf64>
  tile.return
}

// -----

tile.kernel @max_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E5M2 -> tensor<6x7xf8E5M2>
  // expected-error @+1 {{'tile.max' op expected elements that compute, but got 'f8E5M2'; cast to a wider float first}}
  %m = tile.max %t axis 0 : tensor<6x7xf8E5M2> -> tensor<7xf8E5M2>
  tile.return
}

// -----

tile.kernel @max_scalar(%a: f32) grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.max' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %m = tile.max %a axis 0 : f32 -> f32
  tile.return
}

// -----

tile.kernel @max_pointers(%x: !tile.ptr<f32>) grid() -> (1) {
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  // expected-error @+1 {{'tile.max' op operand #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<4x!tile.ptr<f32>>'}}
  %m = tile.max %p axis 0 : tensor<4x!tile.ptr<f32>> -> !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @max_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{custom op 'tile.max' expected 'axis'}}
  %m = tile.max %t : tensor<7xf32> -> f32
  tile.return
}

// -----

tile.kernel @generic_max_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.max' op requires attribute 'axis'}}
  %m = "tile.max"(%t) : (tensor<7xf32>) -> f32
  tile.return
}

// -----

tile.kernel @generic_max_axis_i64() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.max' op attribute 'axis' failed to satisfy constraint: 32-bit signless integer attribute}}
  %m = "tile.max"(%t) <{axis = 0 : i64}> : (tensor<7xf32>) -> f32
  tile.return
}

// -----

tile.kernel @generic_max_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.max' op requires a single operand}}
  %m = "tile.max"() <{axis = 0 : i32}> : () -> f32
  tile.return
}

// -----

tile.kernel @min_axis_negative() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.min' op expected 'axis' between 0 and 1, but got -1}}
  %m = tile.min %t axis -1 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @min_axis_too_large() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.min' op expected 'axis' between 0 and 1, but got 2}}
  %m = tile.min %t axis 2 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @min_axis_huge() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.min' op expected 'axis' between 0 and 1, but got 2147483647}}
  %m = tile.min %t axis 2147483647 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @min_wrong_axis_removed() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.min' op expected result of type 'tensor<7xf32>', but got 'tensor<6xf32>'}}
  %m = tile.min %t axis 0 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @min_keeps_rank() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.min' op expected result of type 'tensor<7xf32>', but got 'tensor<1x7xf32>'}}
  %m = tile.min %t axis 0 : tensor<6x7xf32> -> tensor<1x7xf32>
  tile.return
}

// -----

// A tile of rank 1 reduces to a scalar.
tile.kernel @min_rank_1_to_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.min' op expected result of type 'f32', but got 'tensor<1xf32>'}}
  %m = tile.min %t axis 0 : tensor<7xf32> -> tensor<1xf32>
  tile.return
}

// -----

tile.kernel @min_another_element() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.min' op expected result of type 'tensor<7xf32>', but got 'tensor<7xf64>'}}
  %m = tile.min %t axis 0 : tensor<6x7xf32> -> tensor<7xf64>
  tile.return
}

// -----

tile.kernel @min_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E5M2 -> tensor<6x7xf8E5M2>
  // expected-error @+1 {{'tile.min' op expected elements that compute, but got 'f8E5M2'; cast to a wider float first}}
  %m = tile.min %t axis 0 : tensor<6x7xf8E5M2> -> tensor<7xf8E5M2>
  tile.return
}

// -----

tile.kernel @min_scalar(%a: f32) grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.min' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %m = tile.min %a axis 0 : f32 -> f32
  tile.return
}

// -----

tile.kernel @min_pointers(%x: !tile.ptr<f32>) grid() -> (1) {
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  // expected-error @+1 {{'tile.min' op operand #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<4x!tile.ptr<f32>>'}}
  %m = tile.min %p axis 0 : tensor<4x!tile.ptr<f32>> -> !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @min_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{custom op 'tile.min' expected 'axis'}}
  %m = tile.min %t : tensor<7xf32> -> f32
  tile.return
}

// -----

tile.kernel @generic_min_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.min' op requires attribute 'axis'}}
  %m = "tile.min"(%t) : (tensor<7xf32>) -> f32
  tile.return
}

// -----

tile.kernel @generic_min_axis_i64() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.min' op attribute 'axis' failed to satisfy constraint: 32-bit signless integer attribute}}
  %m = "tile.min"(%t) <{axis = 0 : i64}> : (tensor<7xf32>) -> f32
  tile.return
}

// -----

tile.kernel @generic_min_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.min' op requires a single operand}}
  %m = "tile.min"() <{axis = 0 : i32}> : () -> f32
  tile.return
}

// -----

tile.kernel @sum_axis_negative() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.sum' op expected 'axis' between 0 and 1, but got -1}}
  %m = tile.sum %t axis -1 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @sum_axis_too_large() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.sum' op expected 'axis' between 0 and 1, but got 2}}
  %m = tile.sum %t axis 2 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @sum_axis_huge() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.sum' op expected 'axis' between 0 and 1, but got 2147483647}}
  %m = tile.sum %t axis 2147483647 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @sum_wrong_axis_removed() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.sum' op expected result of type 'tensor<7xf32>', but got 'tensor<6xf32>'}}
  %m = tile.sum %t axis 0 : tensor<6x7xf32> -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @sum_keeps_rank() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.sum' op expected result of type 'tensor<7xf32>', but got 'tensor<1x7xf32>'}}
  %m = tile.sum %t axis 0 : tensor<6x7xf32> -> tensor<1x7xf32>
  tile.return
}

// -----

// A tile of rank 1 reduces to a scalar.
tile.kernel @sum_rank_1_to_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.sum' op expected result of type 'f32', but got 'tensor<1xf32>'}}
  %m = tile.sum %t axis 0 : tensor<7xf32> -> tensor<1xf32>
  tile.return
}

// -----

tile.kernel @sum_another_element() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.sum' op expected result of type 'tensor<7xf32>', but got 'tensor<7xf64>'}}
  %m = tile.sum %t axis 0 : tensor<6x7xf32> -> tensor<7xf64>
  tile.return
}

// -----

tile.kernel @sum_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E5M2 -> tensor<6x7xf8E5M2>
  // expected-error @+1 {{'tile.sum' op expected elements that compute, but got 'f8E5M2'; cast to a wider float first}}
  %m = tile.sum %t axis 0 : tensor<6x7xf8E5M2> -> tensor<7xf8E5M2>
  tile.return
}

// -----

tile.kernel @sum_scalar(%a: f32) grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.sum' invalid kind of type specified: expected builtin.tensor, but found 'f32'}}
  %m = tile.sum %a axis 0 : f32 -> f32
  tile.return
}

// -----

tile.kernel @sum_pointers(%x: !tile.ptr<f32>) grid() -> (1) {
  %p = tile.splat %x : !tile.ptr<f32> -> tensor<4x!tile.ptr<f32>>
  // expected-error @+1 {{'tile.sum' op operand #0 must be a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'tensor<4x!tile.ptr<f32>>'}}
  %m = tile.sum %p axis 0 : tensor<4x!tile.ptr<f32>> -> !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @sum_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{custom op 'tile.sum' expected 'axis'}}
  %m = tile.sum %t : tensor<7xf32> -> f32
  tile.return
}

// -----

tile.kernel @generic_sum_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.sum' op requires attribute 'axis'}}
  %m = "tile.sum"(%t) : (tensor<7xf32>) -> f32
  tile.return
}

// -----

tile.kernel @generic_sum_axis_i64() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<7xf32>
  // expected-error @+1 {{'tile.sum' op attribute 'axis' failed to satisfy constraint: 32-bit signless integer attribute}}
  %m = "tile.sum"(%t) <{axis = 0 : i64}> : (tensor<7xf32>) -> f32
  tile.return
}

// -----

tile.kernel @generic_sum_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.sum' op requires a single operand}}
  %m = "tile.sum"() <{axis = 0 : i32}> : () -> f32
  tile.return
}

// -----

tile.kernel @sum_i1() grid() -> (1) {
  %t = tile.full 1 : i1 -> tensor<7xi1>
  // expected-error @+1 {{'tile.sum' op expected elements that add, but got i1; extend to a wider integer first}}
  %m = tile.sum %t axis 0 : tensor<7xi1> -> i1
  tile.return
}

// -----

tile.kernel @reduce_axis_negative() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected 'axis' between 0 and 1, but got -1}}
  %u = tile.reduce(%t) axis -1 {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_axis_too_large() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected 'axis' between 0 and 1, but got 2}}
  %u = tile.reduce(%t) axis 2 {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{custom op 'tile.reduce' expected 'axis'}}
  %u = tile.reduce(%t)  {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_combiner_of_three() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected a combiner of 2 arguments, but got 3}}
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_combiner_takes_tiles() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected combiner argument 0 of type 'f32', but got 'tensor<7xf32>'}}
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: tensor<7xf32>, %y: tensor<7xf32>):
    tile.yield %x : tensor<7xf32>
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_combiner_of_another_type() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected combiner argument 1 of type 'f32', but got 'f64'}}
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f64):
    tile.yield %x : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_combiner_without_arguments() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected a combiner of 2 arguments, but got 0}}
  %u = tile.reduce(%t) axis 0 {
    %x = arith.constant 1.0 : f32
    tile.yield %x : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_yields_nothing() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.yield' op expected 1 values, but got 0}}
    tile.yield
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_yields_two() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.yield' op expected 1 values, but got 2}}
    tile.yield %x, %y : f32, f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_yields_another_type() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    %c = arith.cmpf ogt, %x, %y : f32
    // expected-error @+1 {{'tile.yield' op expected value 0 of type 'f32', but got 'i1'}}
    tile.yield %c : i1
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_without_terminator() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{block with no terminator, has %2 = "arith.addf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32}}
    %c = arith.addf %x, %y : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_returns() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.return' op expects parent op 'tile.kernel'}}
    tile.return
  } : (tensor<6x7xf32>) -> tensor<7xf32>
}

// -----

tile.kernel @reduce_scf_yield() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
    scf.yield %x : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_empty_region() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expects a non-empty block}}
  %u = tile.reduce(%t) axis 0 {
  
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_two_blocks() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expects region #0 to have 0 or 1 blocks}}
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  ^more:
    tile.yield %t : tensor<6x7xf32>
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

// Combiners are evaluated any number of times.
tile.kernel @reduce_prints() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.print' op expected operations without side effects and regions in the combiner of 'tile.reduce'}}
    tile.print "x", %x : f32
    tile.yield %x : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

// Combiners work on elements.
tile.kernel @reduce_uses_a_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.max' op expected scalars in the combiner of 'tile.reduce', but got 'tensor<6x7xf32>'}}
    %m = tile.max %t axis 0 : tensor<6x7xf32> -> tensor<7xf32>
    tile.yield %x : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_branches() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    %c = arith.cmpf ogt, %x, %y : f32
    // expected-error @+1 {{'scf.if' op expected operations without side effects and regions in the combiner of 'tile.reduce'}}
    %r = scf.if %c -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    tile.yield %r : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @reduce_of_nothing() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected one operand or more, but got none}}
  tile.reduce() axis 0 {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : () -> f32
  tile.return
}

// -----

tile.kernel @generic_reduce_without_region() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op requires one region}}
  %u = "tile.reduce"(%t) <{axis = 0 : i32}> : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @generic_reduce_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op requires attribute 'axis'}}
  %u = "tile.reduce"(%t) ({
  ^bb0(%x: f32, %y: f32):
    "tile.yield"(%x) : (f32) -> ()
  }) : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @generic_reduce_two_results() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected 1 results, but got 2}}
  %u:2 = "tile.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    "tile.yield"(%x) : (f32) -> ()
  }) : (tensor<6x7xf32>) -> (tensor<7xf32>, tensor<7xf32>)
  tile.return
}

// -----

tile.kernel @generic_reduce_result_differs() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected result of type 'tensor<7xf32>', but got 'tensor<6xf32>'}}
  %u = "tile.reduce"(%t) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    "tile.yield"(%x) : (f32) -> ()
  }) : (tensor<6x7xf32>) -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @scan_axis_negative() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expected 'axis' between 0 and 1, but got -1}}
  %u = tile.scan(%t) axis -1 {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_axis_too_large() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expected 'axis' between 0 and 1, but got 2}}
  %u = tile.scan(%t) axis 2 {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{custom op 'tile.scan' expected 'axis'}}
  %u = tile.scan(%t)  {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_combiner_of_three() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expected a combiner of 2 arguments, but got 3}}
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32, %z: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_combiner_takes_tiles() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expected combiner argument 0 of type 'f32', but got 'tensor<7xf32>'}}
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: tensor<7xf32>, %y: tensor<7xf32>):
    tile.yield %x : tensor<7xf32>
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_combiner_of_another_type() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expected combiner argument 1 of type 'f32', but got 'f64'}}
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f64):
    tile.yield %x : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_combiner_without_arguments() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expected a combiner of 2 arguments, but got 0}}
  %u = tile.scan(%t) axis 0 {
    %x = arith.constant 1.0 : f32
    tile.yield %x : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_yields_nothing() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.yield' op expected 1 values, but got 0}}
    tile.yield
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_yields_two() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.yield' op expected 1 values, but got 2}}
    tile.yield %x, %y : f32, f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_yields_another_type() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    %c = arith.cmpf ogt, %x, %y : f32
    // expected-error @+1 {{'tile.yield' op expected value 0 of type 'f32', but got 'i1'}}
    tile.yield %c : i1
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_without_terminator() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{block with no terminator, has %2 = "arith.addf"(%arg0, %arg1) <{fastmath = #arith.fastmath<none>}> : (f32, f32) -> f32}}
    %c = arith.addf %x, %y : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_returns() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.return' op expects parent op 'tile.kernel'}}
    tile.return
  } : tensor<6x7xf32>
}

// -----

tile.kernel @scan_scf_yield() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
    scf.yield %x : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_empty_region() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expects a non-empty block}}
  %u = tile.scan(%t) axis 0 {
  
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_two_blocks() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expects region #0 to have 0 or 1 blocks}}
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  ^more:
    tile.yield %t : tensor<6x7xf32>
  } : tensor<6x7xf32>
  tile.return
}

// -----

// Combiners are evaluated any number of times.
tile.kernel @scan_prints() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.print' op expected operations without side effects and regions in the combiner of 'tile.scan'}}
    tile.print "x", %x : f32
    tile.yield %x : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

// Combiners work on elements.
tile.kernel @scan_uses_a_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    // expected-error @+1 {{'tile.max' op expected scalars in the combiner of 'tile.scan', but got 'tensor<6x7xf32>'}}
    %m = tile.max %t axis 0 : tensor<6x7xf32> -> tensor<7xf32>
    tile.yield %x : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_branches() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    %c = arith.cmpf ogt, %x, %y : f32
    // expected-error @+1 {{'scf.if' op expected operations without side effects and regions in the combiner of 'tile.scan'}}
    %r = scf.if %c -> f32 {
      scf.yield %x : f32
    } else {
      scf.yield %y : f32
    }
    tile.yield %r : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @scan_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.scan' op expected one operand or more, but got none}}
  "tile.scan"() <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    "tile.yield"(%x) : (f32) -> ()
  }) : () -> ()
  tile.return
}

// -----

tile.kernel @generic_scan_without_region() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op requires one region}}
  %u = "tile.scan"(%t) <{axis = 0 : i32}> : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @generic_scan_without_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op requires attribute 'axis'}}
  %u = "tile.scan"(%t) ({
  ^bb0(%x: f32, %y: f32):
    "tile.yield"(%x) : (f32) -> ()
  }) : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}

// -----

tile.kernel @generic_scan_two_results() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expected 1 results, but got 2}}
  %u:2 = "tile.scan"(%t) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    "tile.yield"(%x) : (f32) -> ()
  }) : (tensor<6x7xf32>) -> (tensor<7xf32>, tensor<7xf32>)
  tile.return
}

// -----

tile.kernel @generic_scan_result_differs() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.scan' op expected result of type 'tensor<6x7xf32>', but got 'tensor<6xf32>'}}
  %u = "tile.scan"(%t) <{axis = 0 : i32}> ({
  ^bb0(%x: f32, %y: f32):
    "tile.yield"(%x) : (f32) -> ()
  }) : (tensor<6x7xf32>) -> tensor<6xf32>
  tile.return
}

// -----

tile.kernel @reduce_shapes_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %s = tile.full 1.0 : f32 -> tensor<6x5xf32>
  // expected-error @+1 {{'tile.reduce' op expected operands of one shape, but operand 0 is 'tensor<6x7xf32>' and operand 1 is 'tensor<6x5xf32>'}}
  %u, %v = tile.reduce(%t, %s) axis 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  } : (tensor<6x7xf32>, tensor<6x5xf32>) -> (tensor<7xf32>, tensor<5xf32>)
  tile.return
}

// -----

tile.kernel @scan_shapes_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  %s = tile.full 1.0 : f32 -> tensor<6x5xf32>
  // expected-error @+1 {{'tile.scan' op expected operands of one shape, but operand 0 is 'tensor<6x7xf32>' and operand 1 is 'tensor<6x5xf32>'}}
  %u, %v = tile.scan(%t, %s) axis 0 {
  ^bb0(%a: f32, %b: f32, %c: f32, %d: f32):
    tile.yield %a, %b : f32, f32
  } : tensor<6x7xf32>, tensor<6x5xf32>
  tile.return
}

// -----

// Arguments come as (x0, x1, y0, y1), not in pairs.
tile.kernel @reduce_arguments_in_pairs() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6xf32>
  %s = tile.arange 0 to 6 : tensor<6xi32>
  // expected-error @+1 {{'tile.reduce' op expected combiner argument 1 of type 'i32', but got 'f32'}}
  %u, %v = tile.reduce(%t, %s) axis 0 {
  ^bb0(%a: f32, %b: f32, %c: i32, %d: i32):
    tile.yield %a, %c : f32, i32
  } : (tensor<6xf32>, tensor<6xi32>) -> (f32, i32)
  tile.return
}

// -----

tile.kernel @reduce_result_keeps_axis() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{'tile.reduce' op expected result of type 'tensor<7xf32>', but got 'tensor<6x7xf32>'}}
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : (tensor<6x7xf32>) -> tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @reduce_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E4M3FN -> tensor<6xf8E4M3FN>
  // expected-error @+1 {{'tile.reduce' op expected elements that compute, but got 'f8E4M3FN'; cast to a wider float first}}
  %u = tile.reduce(%t) axis 0 {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN):
    tile.yield %x : f8E4M3FN
  } : (tensor<6xf8E4M3FN>) -> f8E4M3FN
  tile.return
}

// -----

tile.kernel @scan_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E4M3FN -> tensor<6xf8E4M3FN>
  // expected-error @+1 {{'tile.scan' op expected elements that compute, but got 'f8E4M3FN'; cast to a wider float first}}
  %u = tile.scan(%t) axis 0 {
  ^bb0(%x: f8E4M3FN, %y: f8E4M3FN):
    tile.yield %x : f8E4M3FN
  } : tensor<6xf8E4M3FN>
  tile.return
}

// -----

tile.kernel @scan_reverse_is_misspelt() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{expected '{' to begin a region}}
  %u = tile.scan(%t) axis 0 backwards {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : tensor<6x7xf32>
  tile.return
}

// -----

tile.kernel @reduce_has_no_reverse() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<6x7xf32>
  // expected-error @+1 {{expected '{' to begin a region}}
  %u = tile.reduce(%t) axis 0 reverse {
  ^bb0(%x: f32, %y: f32):
    %s = arith.addf %x, %y : f32
    tile.yield %s : f32
  } : (tensor<6x7xf32>) -> tensor<7xf32>
  tile.return
}
