// RUN: fa-opt %s --split-input-file --verify-diagnostics

tile.kernel @exp_integer(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.exp' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'i32'}}
  %e = tile.exp %n : i32
  tile.return
}

// -----

tile.kernel @exp_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E4M3FN -> tensor<24xf8E4M3FN>
  // expected-error @+1 {{'tile.exp' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'tensor<24xf8E4M3FN>'}}
  %e = tile.exp %t : tensor<24xf8E4M3FN>
  tile.return
}

// -----

tile.kernel @exp_integer_tile() grid() -> (1) {
  %t = tile.full 1 : i32 -> tensor<24xi32>
  // expected-error @+1 {{'tile.exp' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'tensor<24xi32>'}}
  %e = tile.exp %t : tensor<24xi32>
  tile.return
}

// -----

tile.kernel @exp_pointer(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.exp' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got '!tile.ptr<f32>'}}
  %e = tile.exp %x : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @exp_vector() grid() -> (1) {
  %v = arith.constant dense<1.0> : vector<4xf32>
  // expected-error @+1 {{'tile.exp' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'vector<4xf32>'}}
  %e = tile.exp %v : vector<4xf32>
  tile.return
}

// -----

tile.kernel @exp_without_operand() grid() -> (1) {
  // expected-error @+1 {{expected SSA operand}}
  %e = tile.exp : f32
  tile.return
}

// -----

tile.kernel @exp_flag_unknown(%x: f32) grid() -> (1) {
  // expected-error @+2 {{custom op 'tile.exp' expected ::mlir::arith::FastMathFlags to be one of: none, reassoc, nnan, ninf, nsz, arcp, contract, afn, fast}}
  // expected-error @+1 {{custom op 'tile.exp' failed to parse Arith_FastMathAttr parameter 'value' which is to be a `::mlir::arith::FastMathFlags`}}
  %e = tile.exp %x fastmath<quick> : f32
  tile.return
}

// -----

tile.kernel @generic_exp_shapes_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.exp' op requires the same type for all operands and results}}
  %e = "tile.exp"(%t) : (tensor<24xf32>) -> tensor<25xf32>
  tile.return
}

// -----

tile.kernel @generic_exp_elements_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.exp' op requires the same type for all operands and results}}
  %e = "tile.exp"(%t) : (tensor<24xf32>) -> tensor<24xf16>
  tile.return
}

// -----

tile.kernel @generic_exp_flag_is_number(%x: f32) grid() -> (1) {
  // expected-error @+1 {{invalid properties {fastmath = 1 : i32} for op tile.exp: Invalid attribute `fastmath` in property conversion: 1 : i32}}
  %e = "tile.exp"(%x) <{fastmath = 1 : i32}> : (f32) -> f32
  tile.return
}

// -----

tile.kernel @generic_exp_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.exp' op requires a single operand}}
  %e = "tile.exp"() : () -> f32
  tile.return
}

// -----

tile.kernel @exp2_integer(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.exp2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'i32'}}
  %e = tile.exp2 %n : i32
  tile.return
}

// -----

tile.kernel @exp2_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E4M3FN -> tensor<24xf8E4M3FN>
  // expected-error @+1 {{'tile.exp2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'tensor<24xf8E4M3FN>'}}
  %e = tile.exp2 %t : tensor<24xf8E4M3FN>
  tile.return
}

// -----

tile.kernel @exp2_integer_tile() grid() -> (1) {
  %t = tile.full 1 : i32 -> tensor<24xi32>
  // expected-error @+1 {{'tile.exp2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'tensor<24xi32>'}}
  %e = tile.exp2 %t : tensor<24xi32>
  tile.return
}

// -----

tile.kernel @exp2_pointer(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.exp2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got '!tile.ptr<f32>'}}
  %e = tile.exp2 %x : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @exp2_vector() grid() -> (1) {
  %v = arith.constant dense<1.0> : vector<4xf32>
  // expected-error @+1 {{'tile.exp2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'vector<4xf32>'}}
  %e = tile.exp2 %v : vector<4xf32>
  tile.return
}

// -----

tile.kernel @exp2_without_operand() grid() -> (1) {
  // expected-error @+1 {{expected SSA operand}}
  %e = tile.exp2 : f32
  tile.return
}

// -----

tile.kernel @exp2_flag_unknown(%x: f32) grid() -> (1) {
  // expected-error @+2 {{custom op 'tile.exp2' expected ::mlir::arith::FastMathFlags to be one of: none, reassoc, nnan, ninf, nsz, arcp, contract, afn, fast}}
  // expected-error @+1 {{custom op 'tile.exp2' failed to parse Arith_FastMathAttr parameter 'value' which is to be a `::mlir::arith::FastMathFlags`}}
  %e = tile.exp2 %x fastmath<quick> : f32
  tile.return
}

// -----

tile.kernel @generic_exp2_shapes_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.exp2' op requires the same type for all operands and results}}
  %e = "tile.exp2"(%t) : (tensor<24xf32>) -> tensor<25xf32>
  tile.return
}

// -----

tile.kernel @generic_exp2_elements_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.exp2' op requires the same type for all operands and results}}
  %e = "tile.exp2"(%t) : (tensor<24xf32>) -> tensor<24xf16>
  tile.return
}

// -----

tile.kernel @generic_exp2_flag_is_number(%x: f32) grid() -> (1) {
  // expected-error @+1 {{invalid properties {fastmath = 1 : i32} for op tile.exp2: Invalid attribute `fastmath` in property conversion: 1 : i32}}
  %e = "tile.exp2"(%x) <{fastmath = 1 : i32}> : (f32) -> f32
  tile.return
}

// -----

tile.kernel @generic_exp2_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.exp2' op requires a single operand}}
  %e = "tile.exp2"() : () -> f32
  tile.return
}

// -----

tile.kernel @log_integer(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.log' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'i32'}}
  %e = tile.log %n : i32
  tile.return
}

// -----

tile.kernel @log_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E4M3FN -> tensor<24xf8E4M3FN>
  // expected-error @+1 {{'tile.log' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'tensor<24xf8E4M3FN>'}}
  %e = tile.log %t : tensor<24xf8E4M3FN>
  tile.return
}

// -----

tile.kernel @log_integer_tile() grid() -> (1) {
  %t = tile.full 1 : i32 -> tensor<24xi32>
  // expected-error @+1 {{'tile.log' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'tensor<24xi32>'}}
  %e = tile.log %t : tensor<24xi32>
  tile.return
}

// -----

tile.kernel @log_pointer(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.log' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got '!tile.ptr<f32>'}}
  %e = tile.log %x : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @log_vector() grid() -> (1) {
  %v = arith.constant dense<1.0> : vector<4xf32>
  // expected-error @+1 {{'tile.log' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'vector<4xf32>'}}
  %e = tile.log %v : vector<4xf32>
  tile.return
}

// -----

tile.kernel @log_without_operand() grid() -> (1) {
  // expected-error @+1 {{expected SSA operand}}
  %e = tile.log : f32
  tile.return
}

// -----

tile.kernel @log_flag_unknown(%x: f32) grid() -> (1) {
  // expected-error @+2 {{custom op 'tile.log' expected ::mlir::arith::FastMathFlags to be one of: none, reassoc, nnan, ninf, nsz, arcp, contract, afn, fast}}
  // expected-error @+1 {{custom op 'tile.log' failed to parse Arith_FastMathAttr parameter 'value' which is to be a `::mlir::arith::FastMathFlags`}}
  %e = tile.log %x fastmath<quick> : f32
  tile.return
}

// -----

tile.kernel @generic_log_shapes_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.log' op requires the same type for all operands and results}}
  %e = "tile.log"(%t) : (tensor<24xf32>) -> tensor<25xf32>
  tile.return
}

// -----

tile.kernel @generic_log_elements_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.log' op requires the same type for all operands and results}}
  %e = "tile.log"(%t) : (tensor<24xf32>) -> tensor<24xf16>
  tile.return
}

// -----

tile.kernel @generic_log_flag_is_number(%x: f32) grid() -> (1) {
  // expected-error @+1 {{invalid properties {fastmath = 1 : i32} for op tile.log: Invalid attribute `fastmath` in property conversion: 1 : i32}}
  %e = "tile.log"(%x) <{fastmath = 1 : i32}> : (f32) -> f32
  tile.return
}

// -----

tile.kernel @generic_log_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.log' op requires a single operand}}
  %e = "tile.log"() : () -> f32
  tile.return
}

// -----

tile.kernel @log2_integer(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.log2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'i32'}}
  %e = tile.log2 %n : i32
  tile.return
}

// -----

tile.kernel @log2_fp8() grid() -> (1) {
  %t = tile.full 1.0 : f8E4M3FN -> tensor<24xf8E4M3FN>
  // expected-error @+1 {{'tile.log2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'tensor<24xf8E4M3FN>'}}
  %e = tile.log2 %t : tensor<24xf8E4M3FN>
  tile.return
}

// -----

tile.kernel @log2_integer_tile() grid() -> (1) {
  %t = tile.full 1 : i32 -> tensor<24xi32>
  // expected-error @+1 {{'tile.log2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'tensor<24xi32>'}}
  %e = tile.log2 %t : tensor<24xi32>
  tile.return
}

// -----

tile.kernel @log2_pointer(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.log2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got '!tile.ptr<f32>'}}
  %e = tile.log2 %x : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @log2_vector() grid() -> (1) {
  %v = arith.constant dense<1.0> : vector<4xf32>
  // expected-error @+1 {{'tile.log2' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16 or bf16, but got 'vector<4xf32>'}}
  %e = tile.log2 %v : vector<4xf32>
  tile.return
}

// -----

tile.kernel @log2_without_operand() grid() -> (1) {
  // expected-error @+1 {{expected SSA operand}}
  %e = tile.log2 : f32
  tile.return
}

// -----

tile.kernel @log2_flag_unknown(%x: f32) grid() -> (1) {
  // expected-error @+2 {{custom op 'tile.log2' expected ::mlir::arith::FastMathFlags to be one of: none, reassoc, nnan, ninf, nsz, arcp, contract, afn, fast}}
  // expected-error @+1 {{custom op 'tile.log2' failed to parse Arith_FastMathAttr parameter 'value' which is to be a `::mlir::arith::FastMathFlags`}}
  %e = tile.log2 %x fastmath<quick> : f32
  tile.return
}

// -----

tile.kernel @generic_log2_shapes_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.log2' op requires the same type for all operands and results}}
  %e = "tile.log2"(%t) : (tensor<24xf32>) -> tensor<25xf32>
  tile.return
}

// -----

tile.kernel @generic_log2_elements_differ() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.log2' op requires the same type for all operands and results}}
  %e = "tile.log2"(%t) : (tensor<24xf32>) -> tensor<24xf16>
  tile.return
}

// -----

tile.kernel @generic_log2_flag_is_number(%x: f32) grid() -> (1) {
  // expected-error @+1 {{invalid properties {fastmath = 1 : i32} for op tile.log2: Invalid attribute `fastmath` in property conversion: 1 : i32}}
  %e = "tile.log2"(%x) <{fastmath = 1 : i32}> : (f32) -> f32
  tile.return
}

// -----

tile.kernel @generic_log2_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.log2' op requires a single operand}}
  %e = "tile.log2"() : () -> f32
  tile.return
}

// -----

// Integers convert through arith.
tile.kernel @cast_integer(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.cast' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'i32'}}
  %e = tile.cast %n : i32 -> f32
  tile.return
}

// -----

tile.kernel @cast_to_integer(%x: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.cast' op result #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'i32'}}
  %e = tile.cast %x : f32 -> i32
  tile.return
}

// -----

tile.kernel @cast_integer_tile() grid() -> (1) {
  %t = tile.full 1 : i8 -> tensor<24xi8>
  // expected-error @+1 {{'tile.cast' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<24xi8>'}}
  %e = tile.cast %t : tensor<24xi8> -> tensor<24xf32>
  tile.return
}

// -----

tile.kernel @cast_changes_shape() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.cast' op requires the same shape for all operands and results}}
  %e = tile.cast %t : tensor<24xf32> -> tensor<25xf16>
  tile.return
}

// -----

tile.kernel @cast_changes_rank() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.cast' op requires the same shape for all operands and results}}
  %e = tile.cast %t : tensor<24xf32> -> tensor<4x6xf16>
  tile.return
}

// -----

tile.kernel @cast_tile_to_scalar() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<1xf32>
  // expected-error @+1 {{'tile.cast' op requires the same shape for all operands and results}}
  %e = tile.cast %t : tensor<1xf32> -> f16
  tile.return
}

// -----

tile.kernel @cast_scalar_to_tile(%x: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.cast' op requires the same shape for all operands and results}}
  %e = tile.cast %x : f32 -> tensor<1xf16>
  tile.return
}

// -----

tile.kernel @cast_to_fp4() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.cast' op result #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<24xf4E2M1FN>'}}
  %e = tile.cast %t : tensor<24xf32> -> tensor<24xf4E2M1FN>
  tile.return
}

// -----

tile.kernel @cast_to_dynamic() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.cast' op result #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<?xf16>'}}
  %e = tile.cast %t : tensor<24xf32> -> tensor<?xf16>
  tile.return
}

// -----

tile.kernel @cast_to_tf32() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<24xf32>
  // expected-error @+1 {{'tile.cast' op result #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got 'tensor<24xtf32>'}}
  %e = tile.cast %t : tensor<24xf32> -> tensor<24xtf32>
  tile.return
}

// -----

tile.kernel @cast_pointer(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.cast' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN or f8E5M2, but got '!tile.ptr<f32>'}}
  %e = tile.cast %x : !tile.ptr<f32> -> !tile.ptr<f16>
  tile.return
}

// -----

tile.kernel @cast_without_result_type(%x: f32) grid() -> (1) {
  // expected-error @+1 {{expected '->'}}
  %e = tile.cast %x : f32
  tile.return
}

// -----

tile.kernel @generic_cast_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.cast' op requires a single operand}}
  %e = "tile.cast"() : () -> f32
  tile.return
}

// -----

tile.kernel @generic_cast_with_region(%x: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.cast' op requires zero regions}}
  %e = "tile.cast"(%x) ({
  }) : (f32) -> f16
  tile.return
}
