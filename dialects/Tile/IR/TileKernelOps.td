//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels, their grid, and operations that state facts or aid debugging.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEKERNELOPS_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILEKERNELOPS_TD

include "TileOpBase.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Tile_KernelOp : Tile_Op<"kernel", [
    FunctionOpInterface, IsolatedFromAbove, HasParent<"::mlir::ModuleOp">,
    SingleBlockImplicitTerminator<"ReturnOp">, AffineScope,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "a program that a launch runs for every point of a grid";
  let description = [{
    Arguments are `!tile.ptr<T>`, integers (i1 to i64) or floats (f32, f64); a
    launcher passes them by the names that the text gives them. `grid` is an
    affine map from the kernel's integer arguments, in order, to one, two or
    three extents, so that a launcher needs nothing but the arguments. An
    extent of zero launches nothing and succeeds; a negative one is an error
    of the launch.

    Example:

    ```mlir
    tile.kernel @scale(%x: !tile.ptr<f32>, %n: i32, %a: f32)
        grid(n) -> (n ceildiv 64) {
      %pid = tile.program_id x
      %c64 = arith.constant 64 : i32
      %start = arith.muli %pid, %c64 : i32
      %lane = tile.arange 0 to 64 : tensor<64xi32>
      %base = tile.splat %start : i32 -> tensor<64xi32>
      %offsets = arith.addi %base, %lane : tensor<64xi32>
      %limit = tile.splat %n : i32 -> tensor<64xi32>
      %mask = arith.cmpi slt, %offsets, %limit : tensor<64xi32>
      %pointers = tile.splat %x : !tile.ptr<f32> -> tensor<64x!tile.ptr<f32>>
      %p = tile.addptr %pointers, %offsets : tensor<64x!tile.ptr<f32>>, tensor<64xi32>
      %v = tile.load %p mask %mask : tensor<64x!tile.ptr<f32>>
      %factor = tile.splat %a : f32 -> tensor<64xf32>
      %w = arith.mulf %v, %factor : tensor<64xf32>
      tile.store %p, %w mask %mask : tensor<64x!tile.ptr<f32>>
      tile.return
    }
    ```
  }];
  let arguments = (ins
    SymbolNameAttr:$sym_name,
    TypeAttrOf<FunctionType>:$function_type,
    StrArrayAttr:$arg_names,
    AffineMapAttr:$grid,
    OptionalAttr<DictArrayAttr>:$arg_attrs,
    OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let skipDefaultBuilders = 1;
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name,
      "::llvm::ArrayRef<::mlir::Type>":$argTypes,
      "::llvm::ArrayRef<::llvm::StringRef>":$argNames,
      "::mlir::AffineMap":$grid)>];
  let extraClassDeclaration = [{
    /// Arguments that the dimensions of `grid` stand for, in order.
    ::llvm::SmallVector<::mlir::BlockArgument> getGridArguments();
    ::llvm::StringRef getArgName(unsigned index) {
      return ::mlir::cast<::mlir::StringAttr>(getArgNames()[index]).getValue();
    }

    // FunctionOpInterface
    ::llvm::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::llvm::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
  }];
}

def Tile_ReturnOp : Tile_Op<"return", [Pure, Terminator, HasParent<"KernelOp">]> {
  let summary = "ends a kernel";
  let description = [{
    Kernels return nothing: their results are what they store.

    Example:

    ```mlir
    tile.kernel @nothing() grid() -> (1) {
      tile.return
    }
    ```
  }];
  let assemblyFormat = "attr-dict";
}

def Tile_YieldOp : Tile_Op<"yield", [Pure, Terminator, ReturnLike,
    ParentOneOf<["ReduceOp", "ScanOp"]>]> {
  let summary = "gives the result of a combiner";
  let description = [{
    Ends the region of `tile.reduce` and `tile.scan`; one value for each
    reduced tile. See `tile.reduce` for an example.
  }];
  let arguments = (ins Arg<Variadic<AnyType>, "one for each reduced tile">:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

class Tile_GridOp<string mnemonic> : Tile_Op<mnemonic, [Pure]> {
  let arguments = (ins Arg<Tile_AxisAttr, "axis of the launch grid">:$axis);
  let results = (outs Res<I32, "number of programs">:$result);
  let assemblyFormat = "custom<AxisKeyword>($axis) attr-dict";
  let builders = [OpBuilder<(ins "::flashtile::tile::ProgramAxis":$axis), [{
    build($_builder, $_state, $_builder.getI32Type(), axis);
  }]>];
}

def Tile_ProgramIdOp : Tile_GridOp<"program_id"> {
  let summary = "position of this program in the grid";
  let description = [{
    Between 0 and `tile.num_programs` - 1 along the same axis; 0 along axes
    that the kernel's grid does not have.

    Example:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (n, 4) {
      %row = tile.program_id x
      %column = tile.program_id y
      tile.return
    }
    ```
  }];
}

def Tile_NumProgramsOp : Tile_GridOp<"num_programs"> {
  let summary = "extent of the grid along an axis";
  let description = [{
    At least 1 wherever a program runs; 1 along axes that the grid does not
    have.

    Example:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (n) {
      %count = tile.num_programs x
      tile.return
    }
    ```
  }];
}

def Tile_FactScalar : AnyTypeOf<[Tile_Int, Tile_ComputeFloat],
    "a scalar of i1, i8, i16, i32, i64, f64, f32, f16 or bf16">;

// Not speculatable: a fact need not hold where control does not reach it.
def Tile_AssumeOp : Tile_Op<"assume", [NoMemoryEffect,
    AllTypesMatch<["value", "result"]>]> {
  let summary = "a scalar together with facts about it";
  let description = [{
    `result = value`, of which the author promises: it is a multiple of
    `divisible_by`, at least `min`, at most `max` (each optional). The compiler
    builds on the facts without checking them; where one does not hold, the
    program's results are undefined. For floats, `min` and `max` also promise
    that the value is not NaN.

    Example:

    ```mlir
    tile.kernel @k(%stride: i64, %scale: f32) grid(s) -> (1) {
      %s = tile.assume %stride {divisible_by = 8 : i64, min = 0 : i64} : i64
      %c = tile.assume %scale {min = 1.0e-30 : f32} : f32
      tile.return
    }
    ```
  }];
  let arguments = (ins
    Arg<Tile_FactScalar, "scalar the facts are about">:$value,
    OptionalAttr<I64Attr>:$divisible_by,
    OptionalAttr<TypedAttrInterface>:$min,
    OptionalAttr<TypedAttrInterface>:$max);
  let results = (outs Res<Tile_FactScalar, "the same value">:$result);
  let assemblyFormat = "$value attr-dict `:` type($value)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def Tile_AssertOp : Tile_Op<"assert", [MemoryEffects<[MemWrite]>]> {
  let summary = "stops the launch where a condition is false";
  let description = [{
    Where any element of `condition` is false, the launch fails with an error
    that holds `message` and the program's position in the grid. Stores of
    this and other programs may or may not have happened.

    Example:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (1) {
      %zero = arith.constant 0 : i32
      %positive = arith.cmpi sgt, %n, %zero : i32
      tile.assert %positive, "n must be positive" : i1
      tile.return
    }
    ```
  }];
  let arguments = (ins Arg<Tile_I1OrTile, "condition">:$condition,
                       StrAttr:$message);
  let assemblyFormat = "$condition `,` $message attr-dict `:` type($condition)";
  let hasFolder = 0;
  let hasCanonicalizeMethod = 1;
}

def Tile_PrintOp : Tile_Op<"print", [MemoryEffects<[MemWrite]>]> {
  let summary = "prints values, for debugging";
  let description = [{
    Prints `prefix`, the program's position, and each operand with its type,
    one line per operand, to standard error. Lines of different programs come
    in any order but are not mixed.

    Example:

    ```mlir
    tile.kernel @k(%n: i32) grid(n) -> (n) {
      %x = tile.arange 0 to 4 : tensor<4xi32>
      tile.print "x and n", %x, %n : tensor<4xi32>, i32
      tile.return
    }
    ```
  }];
  let arguments = (ins StrAttr:$prefix,
    Arg<Variadic<Tile_NumberOrTile>, "values to print">:$values);
  let assemblyFormat = "$prefix (`,` $values^ `:` type($values))? attr-dict";
}

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEKERNELOPS_TD
