//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types, type constraints and enumerations of the tile dialect.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILETYPES_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILETYPES_TD

include "TileDialect.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypes.td"
include "mlir/IR/EnumAttr.td"

// A tile's encoding says how a target distributes it. The tile dialect only asks
// that an encoding fits the tile; targets define them.
def Tile_LayoutAttrInterface : AttrInterface<"TileLayoutAttrInterface"> {
  let cppNamespace = "::flashtile::tile";
  let description = [{
    Encoding of a tile whose distribution over hardware has been decided. Within
    a kernel, encodings of tiles implement this interface.
  }];
  let methods = [
    InterfaceMethod<[{
      Reports through `emitError` where the layout is none of a tile of this
      shape.
    }], "::llvm::LogicalResult", "verifyLayout", (ins
      "::llvm::ArrayRef<int64_t>":$shape,
      "::llvm::function_ref<::mlir::InFlightDiagnostic()>":$emitError)>];
}

class Tile_Type<string name, string typeMnemonic>
    : TypeDef<Tile_Dialect, name> {
  let mnemonic = typeMnemonic;
}

def Tile_PtrType : Tile_Type<"Ptr", "ptr"> {
  let summary = "pointer to one element in global memory";
  let description = [{
    `!tile.ptr<T>` points to an element of type `T` in memory that all programs
    of a launch share. Arithmetic on it (`tile.addptr`) counts elements and is
    64-bit.
  }];
  let parameters = (ins "::mlir::Type":$pointeeType);
  let hasCustomAssemblyFormat = 1;
  let builders = [TypeBuilderWithInferredContext<
      (ins "::mlir::Type":$pointeeType),
      [{ return $_get(pointeeType.getContext(), pointeeType); }]>];
  let genVerifyDecl = 1;
}

def Tile_BlockPtrType : Tile_Type<"BlockPtr", "block_ptr"> {
  let summary = "tile-shaped window of a strided tensor in global memory";
  let description = [{
    `!tile.block_ptr<64x32xbf16>` is a window of 64 x 32 elements of type bf16.
    The tensor's base, extents and strides and the window's offsets are run-time
    values that `tile.make_block_ptr` binds.
  }];
  let parameters = (ins
    ArrayRefParameter<"int64_t", "extents of the window, elements">:$shape,
    "::mlir::Type":$elementType);
  let hasCustomAssemblyFormat = 1;
  let builders = [TypeBuilderWithInferredContext<
      (ins "::llvm::ArrayRef<int64_t>":$shape, "::mlir::Type":$elementType),
      [{ return $_get(elementType.getContext(), shape, elementType); }]>];
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// Type of the tile that a load through this pointer gives.
    ::mlir::RankedTensorType getTileType() const {
      return ::mlir::RankedTensorType::get(getShape(), getElementType());
    }
    int64_t getRank() const { return getShape().size(); }
  }];
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

// Their summaries are what errors name as wanted.
def Tile_Float : AnyTypeOf<[F64, F32, F16, BF16, F8E4M3FN, F8E5M2],
                           "f64, f32, f16, bf16, f8E4M3FN or f8E5M2">;
// The narrow formats have storage and casts, not arithmetic.
def Tile_ComputeFloat : AnyTypeOf<[F64, F32, F16, BF16], "f64, f32, f16 or bf16">;
def Tile_Int : AnyTypeOf<[I1, I8, I16, I32, I64], "i1, i8, i16, i32 or i64">;
def Tile_Number : AnyTypeOf<[Tile_Float, Tile_Int],
    "f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64">;
def Tile_Element : AnyTypeOf<[Tile_Number, Tile_PtrType],
    "!tile.ptr, f64, f32, f16, bf16, f8E4M3FN, f8E5M2, i1, i8, i16, i32 or i64">;
def Tile_Bool : AnyTypeOf<[I1], "i1">;
def Tile_Ptr : AnyTypeOf<[Tile_PtrType], "!tile.ptr">;
def Tile_Index : AnyTypeOf<[I32, I64], "i32 or i64">;
def Tile_Addend : AnyTypeOf<[F64, F32, F16, BF16, I32, I64],
                            "f64, f32, f16, bf16, i32 or i64">;

class TileOf<Type element>
    : Type<And<[StaticShapeTensorOf<[element]>.predicate,
        CPred<"::mlir::isa<::mlir::RankedTensorType>($_self)">]>,
        "a tile (ranked tensor of static shape) of " # element.summary,
        "::mlir::RankedTensorType">;
class ScalarOrTileOf<Type element>
    : AnyTypeOf<[element, TileOf<element>],
        "a scalar or a tile (ranked tensor of static shape) of " # element.summary>;

def Tile_AnyTile : TileOf<Tile_Element>;
def Tile_NumberTile : TileOf<Tile_Number>;

def Tile_ComputeFloatOrTile : ScalarOrTileOf<Tile_ComputeFloat>;
def Tile_FloatOrTile : ScalarOrTileOf<Tile_Float>;
def Tile_NumberOrTile : ScalarOrTileOf<Tile_Number>;
def Tile_I1OrTile : ScalarOrTileOf<Tile_Bool>;
def Tile_PtrOrTile : ScalarOrTileOf<Tile_Ptr>;
def Tile_IndexOrTile : ScalarOrTileOf<Tile_Index>;
def Tile_AddendOrTile : ScalarOrTileOf<Tile_Addend>;
def Tile_AnyPtr : AnyTypeOf<[Tile_PtrType, Tile_BlockPtrType, TileOf<Tile_Ptr>],
    "!tile.ptr, !tile.block_ptr or a tile (ranked tensor of static shape) of !tile.ptr">;

//===----------------------------------------------------------------------===//
// Enumerations
//===----------------------------------------------------------------------===//

class Tile_I32Enum<string name, string summary, list<I32EnumAttrCase> cases>
    : I32EnumAttr<name, summary, cases> {
  let cppNamespace = "::flashtile::tile";
  let genSpecializedAttr = 0;
}

def Tile_AxisEnum : Tile_I32Enum<"ProgramAxis", "axis of the launch grid", [
  I32EnumAttrCase<"X", 0, "x">, I32EnumAttrCase<"Y", 1, "y">,
  I32EnumAttrCase<"Z", 2, "z">]>;
def Tile_AxisAttr : EnumAttr<Tile_Dialect, Tile_AxisEnum, "axis">;

def Tile_PaddingEnum : Tile_I32Enum<"Padding", "value of elements out of bounds", [
  I32EnumAttrCase<"Zero", 0, "zero">, I32EnumAttrCase<"NaN", 1, "nan">,
  I32EnumAttrCase<"NegInf", 2, "neg_inf">]>;
def Tile_PaddingAttr : EnumAttr<Tile_Dialect, Tile_PaddingEnum, "padding">;

def Tile_InputPrecisionEnum : Tile_I32Enum<"InputPrecision",
    "precision of the products of an f32 dot", [
  I32EnumAttrCase<"IEEE", 0, "ieee">, I32EnumAttrCase<"TF32", 1, "tf32">,
  I32EnumAttrCase<"TF32x3", 2, "tf32x3">]>;
def Tile_InputPrecisionAttr
    : EnumAttr<Tile_Dialect, Tile_InputPrecisionEnum, "input_precision">;

#endif // FLASHTILE_DIALECTS_TILE_IR_TILETYPES_TD
