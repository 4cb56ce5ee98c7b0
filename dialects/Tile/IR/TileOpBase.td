//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Base class shared by all operations of the dialect.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_IR_TILEOPBASE_TD
#define FLASHTILE_DIALECTS_TILE_IR_TILEOPBASE_TD

include "TileTypes.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

class Tile_Op<string mnemonic, list<Trait> traits = []>
    : Op<Tile_Dialect, mnemonic, traits>;

// An operation whose result types follow from the rest. It defines inferTypes;
// building and verification both go through that, so that a wrong operation
// gets one error, which names it. (MLIR's own check of inferred types would add
// "failed to infer returned types" to each.)
class Tile_InferredOp<string mnemonic, list<Trait> traits = []>
    : Tile_Op<mnemonic, traits # [
        DeclareOpInterfaceMethods<InferTypeOpInterface, ["refineReturnTypes"]>]> {
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// Appends the result types to `inferred`, or reports through `emitError`
    /// why there are none.
    static ::llvm::LogicalResult inferTypes(Adaptor adaptor,
        ::llvm::function_ref<::mlir::InFlightDiagnostic()> emitError,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred);
  }];
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::inferReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location> location,
        ::mlir::ValueRange operands, ::mlir::DictionaryAttr attributes,
        ::mlir::OpaqueProperties properties, ::mlir::RegionRange regions,
        ::llvm::SmallVectorImpl<::mlir::Type> &inferred) {
      auto emitError = [&] {
        return location ? ::mlir::emitError(*location)
                        : ::mlir::InFlightDiagnostic();
      };
      return inferTypes(Adaptor(operands, attributes, properties, regions),
                        emitError, inferred);
    }

    ::llvm::LogicalResult $cppClass::refineReturnTypes(
        ::mlir::MLIRContext *, ::std::optional<::mlir::Location>,
        ::mlir::ValueRange, ::mlir::DictionaryAttr, ::mlir::OpaqueProperties,
        ::mlir::RegionRange, ::llvm::SmallVectorImpl<::mlir::Type> &) {
      return ::llvm::success(); // verify() compares the types.
    }

    ::llvm::LogicalResult $cppClass::verify() {
      ::llvm::SmallVector<::mlir::Type> inferred;
      if (::mlir::failed(inferTypes(Adaptor(*this),
                                    [&] { return emitOpError(); }, inferred)))
        return ::mlir::failure();
      return verifyResultTypes(*this, inferred);
    }
  }];
}

#endif // FLASHTILE_DIALECTS_TILE_IR_TILEOPBASE_TD
