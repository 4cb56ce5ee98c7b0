// RUN: fa-opt %s --split-input-file --verify-diagnostics

// A launcher passes arguments by name.
// expected-error @+1 {{'tile.kernel' op expected distinct argument names, but 'x' occurs twice}}
tile.kernel @explicit_names_repeat(%x: i32, %y: i32) grid(a, b) -> (1)
    attributes {arg_names = ["x", "x"]} {
  tile.return
}

// -----

// The parser sees an argument that repeats before the verifier does.
// expected-error @+2 {{region entry argument '%x' is already in use}}
// expected-note @+1 {{previously referenced here}}
tile.kernel @argument_repeats(%x: i32, %x: i32) grid(a, b) -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected a name for argument 0, but got an empty one}}
tile.kernel @name_is_empty(%x: f32) grid() -> (1) attributes {arg_names = [""]} {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected a name for each of 1 arguments, but 'arg_names' holds 0}}
tile.kernel @too_few_names(%x: f32) grid() -> (1) attributes {arg_names = []} {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected a name for each of 0 arguments, but 'arg_names' holds 1}}
tile.kernel @too_many_names() grid() -> (1) attributes {arg_names = ["x"]} {
  tile.return
}

// -----

// expected-error @+1 {{custom op 'tile.kernel' expected 'arg_names' to be a list of strings}}
tile.kernel @names_are_numbers(%x: f32) grid() -> (1) attributes {arg_names = [1 : i32]} {
  tile.return
}

// -----

// expected-error @+1 {{custom op 'tile.kernel' expected 'arg_names' to be a list of strings}}
tile.kernel @names_are_no_list(%x: f32) grid() -> (1) attributes {arg_names = "x"} {
  tile.return
}

// -----

// Tiles live in a program; an argument points to memory.
// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'tensor<16xf32>'}}
tile.kernel @argument_tile(%x: tensor<16xf32>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'f16'}}
tile.kernel @argument_f16(%x: f16) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'bf16'}}
tile.kernel @argument_bf16(%x: bf16) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'f8E4M3FN'}}
tile.kernel @argument_fp8(%x: f8E4M3FN) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'index'}}
tile.kernel @argument_index(%x: index) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got '!tile.block_ptr<16xf32>'}}
tile.kernel @argument_block_pointer(%x: !tile.block_ptr<16xf32>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'memref<4xf32>'}}
tile.kernel @argument_memref(%x: memref<4xf32>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'tensor<*xf32>'}}
tile.kernel @argument_unranked(%x: tensor<*xf32>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'none'}}
tile.kernel @argument_none(%x: none) grid() -> (1) {
  tile.return
}

// -----

// Only widths that C has.
// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'i7'}}
tile.kernel @argument_i7(%x: i7) grid(x) -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected argument 'x' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 or f64, but got 'si32'}}
tile.kernel @argument_si32(%x: si32) grid(x) -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got '!tile.ptr<f32>'}}
tile.kernel @pointer_to_pointer(%x: !tile.ptr<!tile.ptr<f32>>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got 'index'}}
tile.kernel @pointer_to_index(%x: !tile.ptr<index>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got 'tensor<4xf32>'}}
tile.kernel @pointer_to_tile(%x: !tile.ptr<tensor<4xf32>>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{expected non-function type}}
tile.kernel @pointer_to_nothing(%x: !tile.ptr<>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{unknown  type `pointer` in dialect `tile`}}
tile.kernel @unknown_type(%x: !tile.pointer<f32>) grid() -> (1) {
  tile.return
}

// -----

// expected-error @+1 {{expected ':'}}
tile.kernel @argument_without_type(%x) grid() -> (1) {
  tile.return
}

// -----

// The grid takes the integer arguments, all of them.
// expected-error @+1 {{'tile.kernel' op expected the grid to take the 2 integer arguments, but it takes 1}}
tile.kernel @grid_takes_too_few(%x: !tile.ptr<f32>, %n: i32, %m: i64) grid(n) -> (n) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected the grid to take the 0 integer arguments, but it takes 1}}
tile.kernel @grid_takes_too_many(%x: !tile.ptr<f32>, %a: f32) grid(a) -> (a) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected a grid of one to three extents, but got 0}}
tile.kernel @grid_is_empty() grid() -> () {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected a grid of one to three extents, but got 4}}
tile.kernel @grid_of_four(%n: i32) grid(n) -> (n, n, n, n) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected grid extents of 0 or more, but got -1}}
tile.kernel @grid_is_negative(%n: i32) grid(n) -> (n, -1) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected a grid without symbols, but got 1}}
tile.kernel @grid_has_symbols(%n: i32) grid(n)[s] -> (n + s) {
  tile.return
}

// -----

// expected-error @+1 {{use of undeclared identifier}}
tile.kernel @grid_names_nothing(%n: i32) grid(n) -> (m) {
  tile.return
}

// -----

// expected-error @+1 {{non-affine expression: at least one of the multiply operands has to be either a constant or symbolic}}
tile.kernel @grid_is_not_affine(%n: i32, %m: i32) grid(n, m) -> (n * m) {
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op expected a grid with positive divisors, but got 0}}
tile.kernel @grid_divides_by_zero(%n: i32) grid(n) -> (n floordiv 0) {
  tile.return
}

// -----

// expected-error @+1 {{custom op 'tile.kernel' expected 'grid'}}
tile.kernel @no_grid(%n: i32) {
  tile.return
}

// -----

// expected-error @+1 {{expected '{' to begin a region}}
tile.kernel @no_body() grid() -> (1)

// -----

// expected-error @+1 {{custom op 'tile.kernel' expected valid '@'-identifier for symbol name}}
tile.kernel () grid() -> (1) {
  tile.return
}

// -----

// Names of kernels are symbols.
// expected-note @+1 {{see existing symbol definition here}}
tile.kernel @twice() grid() -> (1) {
  tile.return
}
// expected-error @+1 {{redefinition of symbol named 'twice'}}
tile.kernel @twice() grid() -> (1) {
  tile.return
}

// -----

tile.kernel @outer() grid() -> (1) {
  // expected-error @+1 {{'tile.kernel' op expects parent op 'builtin.module'}}
  tile.kernel @nested() grid() -> (1) {
    tile.return
  }
  tile.return
}

// -----

// A kernel sees its arguments and nothing else.
%n = arith.constant 4 : i32
// expected-note @+1 {{required by region isolation constraints}}
tile.kernel @uses_outer_value() grid() -> (1) {
  // expected-error @+1 {{'tile.splat' op using value defined outside the region}}
  %t = tile.splat %n : i32 -> tensor<4xi32>
  tile.return
}

// -----

tile.kernel @undefined_value() grid() -> (1) {
  // expected-error @+1 {{use of undeclared SSA value name}}
  %t = tile.splat %nowhere : f32 -> tensor<16xf32>
  tile.return
}

// -----

tile.kernel @return_in_the_middle() grid() -> (1) {
  // expected-error @+1 {{'tile.return' op must be the last operation in the parent block}}
  tile.return
  %i = tile.arange 0 to 4 : tensor<4xi32>
}

// -----

// expected-error @+1 {{'tile.kernel' op expects region #0 to have 0 or 1 blocks}}
tile.kernel @two_blocks() grid() -> (1) {
  tile.return
^more:
  tile.return
}

// -----

tile.kernel @return_in_a_loop(%n: i32) grid(n) -> (1) {
  %c = arith.constant 1 : index
  scf.for %i = %c to %c step %c {
    // expected-error @+1 {{'tile.return' op expects parent op 'tile.kernel'}}
    tile.return
  }
  tile.return
}

// -----

tile.kernel @return_has_no_operands(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{expected integer number of results}}
  tile.return %n : i32
}

// -----

tile.kernel @yield_ends_a_kernel(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.yield' op expects parent op to be one of 'tile.reduce, tile.scan'}}
  tile.yield %n : i32
  tile.return
}

// -----

// Terminator of a loop, not of a kernel.
tile.kernel @wrong_terminator() grid() -> (1) {
  // expected-error @+1 {{'scf.yield' op expects parent op to be one of 'scf.execute_region, scf.for, scf.if, scf.index_switch, scf.while'}}
  scf.yield
}

// -----

tile.kernel @axis_unknown() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.program_id' expected axis x, y or z, but got 'w'}}
  %p = tile.program_id w
  tile.return
}

// -----

tile.kernel @axis_is_a_number() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.program_id' expected axis x, y or z}}
  %p = tile.program_id 0
  tile.return
}

// -----

tile.kernel @axis_missing() grid() -> (1) {
  %p = tile.program_id
  // expected-error @+1 {{custom op 'tile.program_id' expected axis x, y or z, but got 'tile.return'}}
  tile.return
}

// -----

tile.kernel @programs_axis_unknown() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.num_programs' expected axis x, y or z, but got 'X'}}
  %p = tile.num_programs X
  tile.return
}

// -----

tile.kernel @generic_axis_missing() grid() -> (1) {
  // expected-error @+1 {{'tile.program_id' op requires attribute 'axis'}}
  %p = "tile.program_id"() : () -> i32
  tile.return
}

// -----

tile.kernel @generic_axis_is_i32() grid() -> (1) {
  // expected-error @+1 {{invalid properties {axis = 0 : i32} for op tile.num_programs: Invalid attribute `axis` in property conversion: 0 : i32}}
  %p = "tile.num_programs"() <{axis = 0 : i32}> : () -> i32
  tile.return
}

// -----

tile.kernel @generic_axis_unknown() grid() -> (1) {
  // expected-error @+2 {{expected ::flashtile::tile::ProgramAxis to be one of: x, y, z}}
  // expected-error @+1 {{failed to parse Tile_AxisAttr parameter 'value' which is to be a `::flashtile::tile::ProgramAxis`}}
  %p = "tile.num_programs"() <{axis = #tile<axis w>}> : () -> i32
  tile.return
}

// -----

tile.kernel @program_id_is_i64() grid() -> (1) {
  // expected-error @+1 {{'tile.program_id' op result #0 must be 32-bit signless integer, but got 'i64'}}
  %p = "tile.program_id"() <{axis = #tile<axis x>}> : () -> i64
  tile.return
}

// -----

tile.kernel @program_id_of_a_value(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.program_id' op requires zero operands}}
  %p = "tile.program_id"(%n) <{axis = #tile<axis x>}> : (i32) -> i32
  tile.return
}

// -----

tile.kernel @divisible_by_zero(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assume' op expected a positive 'divisible_by', but got 0}}
  %a = tile.assume %n {divisible_by = 0 : i64} : i32
  tile.return
}

// -----

tile.kernel @divisible_by_negative(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assume' op expected a positive 'divisible_by', but got -8}}
  %a = tile.assume %n {divisible_by = -8 : i64} : i32
  tile.return
}

// -----

tile.kernel @divisible_float(%x: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'divisible_by' on an integer, but got 'f32'}}
  %a = tile.assume %x {divisible_by = 8 : i64} : f32
  tile.return
}

// -----

tile.kernel @divisible_by_i32(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{custom op 'tile.assume' 'tile.assume' op attribute 'divisible_by' failed to satisfy constraint: 64-bit signless integer attribute}}
  %a = tile.assume %n {divisible_by = 8 : i32} : i32
  tile.return
}

// -----

tile.kernel @min_above_max(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'min' <= 'max', but got 4 > 3}}
  %a = tile.assume %n {min = 4 : i32, max = 3 : i32} : i32
  tile.return
}

// -----

tile.kernel @min_above_max_float(%x: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'min' <= 'max', but got 4.000000e+00 > 3.000000e+00}}
  %a = tile.assume %x {min = 4.0 : f32, max = 3.0 : f32} : f32
  tile.return
}

// -----

// Nothing is at least NaN.
tile.kernel @min_is_nan(%x: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'min' not to be NaN}}
  %a = tile.assume %x {min = 0x7FC00000 : f32} : f32
  tile.return
}

// -----

tile.kernel @min_is_nan_below_max(%x: f32) grid() -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'min' not to be NaN}}
  %a = tile.assume %x {min = 0x7FC00000 : f32, max = 1.0 : f32} : f32
  tile.return
}

// -----

tile.kernel @min_of_another_width(%n: i64) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'min' to be of type 'i64', but got 'i32'}}
  %a = tile.assume %n {min = 4 : i32} : i64
  tile.return
}

// -----

tile.kernel @max_of_another_kind(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'max' to be of type 'i32', but got 'f32'}}
  %a = tile.assume %n {max = 4.0 : f32} : i32
  tile.return
}

// -----

tile.kernel @max_is_text(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'max' to be a number, but got "many"}}
  %a = tile.assume %n {max = "many"} : i32
  tile.return
}

// -----

tile.kernel @max_is_a_tile(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assume' op expected 'max' to be a number, but got dense<1> : tensor<2xi32>}}
  %a = tile.assume %n {max = dense<1> : tensor<2xi32>} : i32
  tile.return
}

// -----

tile.kernel @max_does_not_fit(%n: i8) grid(n) -> (1) {
  // expected-error @+1 {{integer constant out of range for attribute}}
  %a = tile.assume %n {max = 1000 : i8} : i8
  tile.return
}

// -----

// Facts are about scalars.
tile.kernel @assume_tile() grid() -> (1) {
  %i = tile.arange 0 to 4 : tensor<4xi32>
  // expected-error @+1 {{'tile.assume' op operand #0 must be a scalar of i1, i8, i16, i32, i64, f64, f32, f16 or bf16, but got 'tensor<4xi32>'}}
  %a = tile.assume %i {min = 0 : i32} : tensor<4xi32>
  tile.return
}

// -----

tile.kernel @assume_pointer(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.assume' op operand #0 must be a scalar of i1, i8, i16, i32, i64, f64, f32, f16 or bf16, but got '!tile.ptr<f32>'}}
  %a = tile.assume %x : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @assume_changes_type(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assume' op failed to verify that all of {value, result} have same type}}
  %a = "tile.assume"(%n) : (i32) -> i64
  tile.return
}

// -----

tile.kernel @assert_number(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{'tile.assert' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of i1, but got 'i32'}}
  tile.assert %n, "n" : i32
  tile.return
}

// -----

tile.kernel @assert_float_tile() grid() -> (1) {
  %t = tile.full 1.0 : f32 -> tensor<4xf32>
  // expected-error @+1 {{'tile.assert' op operand #0 must be a scalar or a tile (ranked tensor of static shape) of i1, but got 'tensor<4xf32>'}}
  tile.assert %t, "t" : tensor<4xf32>
  tile.return
}

// -----

tile.kernel @assert_without_message(%c: i1) grid(c) -> (1) {
  // expected-error @+1 {{expected ','}}
  tile.assert %c : i1
  tile.return
}

// -----

tile.kernel @assert_message_is_number(%c: i1) grid(c) -> (1) {
  // expected-error @+1 {{integer literal not valid for specified type}}
  tile.assert %c, 5 : i1
  tile.return
}

// -----

tile.kernel @generic_assert_without_message(%c: i1) grid(c) -> (1) {
  // expected-error @+1 {{'tile.assert' op requires attribute 'message'}}
  "tile.assert"(%c) : (i1) -> ()
  tile.return
}

// -----

tile.kernel @generic_assert_of_nothing() grid() -> (1) {
  // expected-error @+1 {{'tile.assert' op requires a single operand}}
  "tile.assert"() <{message = "m"}> : () -> ()
  tile.return
}

// -----

tile.kernel @print_pointer(%x: !tile.ptr<f32>) grid() -> (1) {
  // expected-error @+1 {{'tile.print' op operand #0 must be variadic of a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got '!tile.ptr<f32>'}}
  tile.print "x", %x : !tile.ptr<f32>
  tile.return
}

// -----

tile.kernel @print_index() grid() -> (1) {
  %c = arith.constant 1 : index
  // expected-error @+1 {{'tile.print' op operand #0 must be variadic of a scalar or a tile (ranked tensor of static shape) of f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64, but got 'index'}}
  tile.print "c", %c : index
  tile.return
}

// -----

tile.kernel @print_dynamic() grid() -> (1) {
  // expected-error @+1 {{operation being parsed with an unregistered dialect. If this is intended, please use -allow-unregistered-dialect with the MLIR tool used}}
  %c = "test.dynamic"() : () -> tensor<?xf32>
  tile.print "c", %c : tensor<?xf32>
  tile.return
}

// -----

tile.kernel @print_without_prefix(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{expected attribute value}}
  tile.print %n : i32
  tile.return
}

// -----

tile.kernel @print_too_few_types(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{custom op 'tile.print' number of operands and types do not match: got 2 operands and 1 types}}
  tile.print "n", %n, %n : i32
  tile.return
}

// -----

tile.kernel @print_gives_nothing(%n: i32) grid(n) -> (1) {
  // expected-error @+1 {{cannot name an operation with no results}}
  %p = tile.print "n", %n : i32
  tile.return
}

// -----

// expected-error @+1 {{'tile.kernel' op requires attribute 'arg_names'}}
"tile.kernel"() ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op requires one region}}
"tile.kernel"() <{arg_names = [], function_type = () -> (), grid = affine_map<() -> (1)>, sym_name = "no_region"}> : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op region #0 ('body') failed to verify constraint: region with 1 blocks}}
"tile.kernel"() <{arg_names = [], function_type = () -> (), grid = affine_map<() -> (1)>, sym_name = "empty_region"}> ({
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op expects a non-empty block}}
"tile.kernel"() <{arg_names = [], function_type = () -> (), grid = affine_map<() -> (1)>, sym_name = "empty_block"}> ({
^entry:
}) : () -> ()

// -----

"tile.kernel"() <{arg_names = [], function_type = () -> (), grid = affine_map<() -> (1)>, sym_name = "no_terminator"}> ({
  // expected-error @+1 {{block with no terminator, has %0 = "tile.arange"() <{end = 4 : i32, start = 0 : i32}> : () -> tensor<4xi32>}}
  %i = "tile.arange"() <{start = 0 : i32, end = 4 : i32}> : () -> tensor<4xi32>
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op type of entry block argument #0('i64') must match the type of the corresponding argument in function signature('i32')}}
"tile.kernel"() <{arg_names = ["n"], function_type = (i32) -> (), grid = affine_map<(n) -> (n)>, sym_name = "entry_differs"}> ({
^entry(%n: i64):
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op entry block must have 1 arguments to match function signature}}
"tile.kernel"() <{arg_names = ["n"], function_type = (i32) -> (), grid = affine_map<(n) -> (n)>, sym_name = "entry_takes_nothing"}> ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op expected no results, but got 1}}
"tile.kernel"() <{arg_names = [], function_type = () -> i32, grid = affine_map<() -> (1)>, sym_name = "results"}> ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op attribute 'function_type' failed to satisfy constraint: type attribute of function type}}
"tile.kernel"() <{arg_names = [], function_type = i32, grid = affine_map<() -> (1)>, sym_name = "type_is_no_function"}> ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{invalid properties {arg_names = [], function_type = () -> (), grid = 1 : i32, sym_name = "grid_is_a_number"} for op tile.kernel: Invalid attribute `grid` in property conversion: 1 : i32}}
"tile.kernel"() <{arg_names = [], function_type = () -> (), grid = 1 : i32, sym_name = "grid_is_a_number"}> ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op attribute 'arg_names' failed to satisfy constraint: string array attribute}}
"tile.kernel"() <{arg_names = [1 : i32], function_type = () -> (), grid = affine_map<() -> (1)>, sym_name = "names_are_numbers"}> ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op expects argument attribute array to have the same number of elements as the number of function arguments, got 1, but expected 0}}
"tile.kernel"() <{arg_attrs = [{}], arg_names = [], function_type = () -> (), grid = affine_map<() -> (1)>, sym_name = "attributes_of_no_argument"}> ({
  "tile.return"() : () -> ()
}) : () -> ()

// -----

// expected-error @+1 {{'tile.kernel' op requires zero results}}
%k = "tile.kernel"() <{arg_names = [], function_type = () -> (), grid = affine_map<() -> (1)>, sym_name = "has_result"}> ({
  "tile.return"() : () -> ()
}) : () -> i32

// -----

// expected-error @+1 {{'tile.return' op expects parent op 'tile.kernel'}}
"tile.return"() : () -> ()

// -----

// Operations of arith, math and scf take tensors that are no tiles; a kernel does not.
tile.kernel @arith_empty() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op expected tiles with elements, but got 'tensor<0xf32>'}}
  %c = arith.constant dense<> : tensor<0xf32>
  tile.return
}

// -----

tile.kernel @arith_rank_0() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op expected tiles of rank 1 or more, but got 'tensor<f32>'; use a scalar}}
  %c = arith.constant dense<1.0> : tensor<f32>
  tile.return
}

// -----

tile.kernel @arith_huge() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op expected tiles of at most 1048576 elements, but got 'tensor<2147483648xf32>'}}
  %c = arith.constant dense<1.0> : tensor<2147483648xf32>
  tile.return
}

// -----

tile.kernel @arith_one_too_many() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op expected tiles of at most 1048576 elements, but got 'tensor<1048577xf32>'}}
  %c = arith.constant dense<1.0> : tensor<1048577xf32>
  tile.return
}

// -----

// The product of the extents does not fit in 64 bits.
tile.kernel @arith_overflows() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op expected tiles of at most 1048576 elements, but got 'tensor<4294967296x4294967296xf32>'}}
  %c = arith.constant dense<1.0> : tensor<4294967296x4294967296xf32>
  tile.return
}

// -----

tile.kernel @arith_encoding() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op expected tiles without an encoding, but got 'tensor<16xf32, "encoded">'}}
  %c = arith.constant dense<1.0> : tensor<16xf32, "encoded">
  tile.return
}

// -----

tile.kernel @arith_index_elements() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op in a tile of type 'tensor<16xindex>': expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got 'index'}}
  %c = arith.constant dense<1> : tensor<16xindex>
  tile.return
}

// -----

tile.kernel @arith_i4_elements() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op in a tile of type 'tensor<16xi4>': expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got 'i4'}}
  %c = arith.constant dense<1> : tensor<16xi4>
  tile.return
}

// -----

tile.kernel @arith_complex_elements() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op in a tile of type 'tensor<16xcomplex<f32>>': expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got 'complex<f32>'}}
  %c = arith.constant dense<(1.0, 2.0)> : tensor<16xcomplex<f32>>
  tile.return
}

// -----

tile.kernel @arith_vector() grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op expected tiles to be ranked tensors, but got 'vector<16xf32>'}}
  %c = arith.constant dense<1.0> : vector<16xf32>
  tile.return
}

// -----

tile.kernel @math_narrow(%x: f32) grid() -> (1) {
  // expected-error @+1 {{'arith.constant' op in a tile of type 'tensor<16xf4E2M1FN>': expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got 'f4E2M1FN'}}
  %c = arith.constant dense<1.0> : tensor<16xf4E2M1FN>
  %d = math.absf %c : tensor<16xf4E2M1FN>
  tile.return
}

// -----

tile.kernel @arith_shapes_differ() grid() -> (1) {
  %a = tile.arange 0 to 4 : tensor<4xi32>
  // expected-note @+1 {{prior use here}}
  %b = tile.arange 0 to 5 : tensor<5xi32>
  // expected-error @+1 {{use of value '%b' expects different type than prior uses: 'tensor<4xi32>' vs 'tensor<5xi32>'}}
  %c = arith.addi %a, %b : tensor<4xi32>
  tile.return
}

// -----

tile.kernel @arith_cast_changes_shape() grid() -> (1) {
  %a = tile.arange 0 to 4 : tensor<4xi32>
  // expected-error @+1 {{'arith.sitofp' op failed to verify that input and output have the same tensor dimensions}}
  %c = arith.sitofp %a : tensor<4xi32> to tensor<5xf32>
  tile.return
}

// -----

tile.kernel @loop_carries_dynamic(%n: i32) grid(n) -> (1) {
  %c = arith.constant 1 : index
  // expected-note @+1 {{prior use here}}
  %t = tile.full 1.0 : f32 -> tensor<4xf32>
  // expected-error @+1 {{use of value '%t' expects different type than prior uses: 'tensor<?xf32>' vs 'tensor<4xf32>'}}
  %r = scf.for %i = %c to %c step %c iter_args(%a = %t) -> (tensor<?xf32>) {
    scf.yield %a : tensor<?xf32>
  }
  tile.return
}

// -----

tile.kernel @if_gives_rank_0(%c: i1) grid(c) -> (1) {
  %r = scf.if %c -> tensor<f32> {
    // expected-error @+1 {{'arith.constant' op expected tiles of rank 1 or more, but got 'tensor<f32>'; use a scalar}}
    %a = arith.constant dense<1.0> : tensor<f32>
    scf.yield %a : tensor<f32>
  } else {
    %b = arith.constant dense<2.0> : tensor<f32>
    scf.yield %b : tensor<f32>
  }
  tile.return
}

// -----

tile.kernel @if_yields_another_type(%c: i1) grid(c) -> (1) {
  // expected-error @+1 {{'scf.if' op along control flow edge from Operation scf.yield to parent: successor operand type #0 'i32' should match successor input type #0 'f32'}}
  %r = scf.if %c -> f32 {
    %a = arith.constant 1 : i32
    // expected-note @+1 {{region branch point}}
    scf.yield %a : i32
  } else {
    %b = arith.constant 2.0 : f32
    scf.yield %b : f32
  }
  tile.return
}

// -----

tile.kernel @while_passes_vector(%c: i1) grid(c) -> (1) {
  %v = tile.full 1.0 : f32 -> tensor<4xf32>
  // expected-error @+1 {{'scf.while' op along control flow edge from Operation scf.condition to Region #1: successor operand type #0 'tensor<4xf32>' should match successor input type #0 'vector<4xf32>'}}
  %r = scf.while (%a = %v) : (tensor<4xf32>) -> tensor<4xf32> {
    // expected-note @+1 {{region branch point}}
    scf.condition(%c) %a : tensor<4xf32>
  } do {
  ^bb0(%b: vector<4xf32>):
    scf.yield %b : vector<4xf32>
  }
  tile.return
}

// -----

tile.kernel @unknown_operation() grid() -> (1) {
  // expected-error @+1 {{custom op 'tile.matmul' is unknown}}
  %r = tile.matmul
  tile.return
}

// -----

// Scalars that LLVM has no code for on all targets.
tile.kernel @wide_integer(%n: i64) grid(n) -> (1) {
  // expected-error @+1 {{'arith.extsi' op expected scalars of at most 64 bits, but got 'i128'}}
  %a = arith.extsi %n : i64 to i128
  tile.return
}

// -----

tile.kernel @wide_float(%n: i64) grid(n) -> (1) {
  // expected-error @+1 {{'arith.sitofp' op in a scalar: expected a float (f64, f32, f16, bf16, f8E4M3FN, f8E5M2) or signless integer (i1, i8, i16, i32, i64) element type, but got 'f128'}}
  %a = arith.sitofp %n : i64 to f128
  tile.return
}

// -----

tile.kernel @narrow_float(%n: i64) grid(n) -> (1) {
  // expected-error @+1 {{'arith.sitofp' op in a scalar: expected a float}}
  %a = arith.sitofp %n : i64 to tf32
  tile.return
}
