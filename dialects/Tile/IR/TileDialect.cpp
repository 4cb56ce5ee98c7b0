//===- TileDialect.cpp - Dialect registration and types -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registers the dialect and holds the textual form of its types.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace flashtile::tile;

#include "dialects/Tile/IR/TileAttrInterfaces.cpp.inc"
#include "dialects/Tile/IR/TileDialect.cpp.inc"
#include "dialects/Tile/IR/TileEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Tile/IR/TileAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/Tile/IR/TileTypes.cpp.inc"

void TileDialect::initialize() {
  registerTypes();
  registerAttributes();
  addOperations<
#define GET_OP_LIST
#include "dialects/Tile/IR/TileOps.cpp.inc"
      >();
}

void TileDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/Tile/IR/TileTypes.cpp.inc"
      >();
}

void TileDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/Tile/IR/TileAttributes.cpp.inc"
      >();
}

Operation *TileDialect::materializeConstant(OpBuilder &builder, Attribute value,
                                            Type type, Location loc) {
  return arith::ConstantOp::materialize(builder, value, type, loc);
}

bool flashtile::tile::isPermutation(ArrayRef<int32_t> order, int64_t rank) {
  SmallVector<bool> seen(rank, false);
  for (int32_t dim : order) {
    if (dim < 0 || dim >= rank || seen[dim])
      return false;
    seen[dim] = true;
  }
  return int64_t(order.size()) == rank;
}

LogicalResult flashtile::tile::verifyResultTypes(Operation *op,
                                                 TypeRange expected) {
  if (op->getNumResults() != expected.size())
    return op->emitOpError("expected ")
           << expected.size() << " results, but got " << op->getNumResults();
  for (auto [index, type] : llvm::enumerate(expected))
    if (withoutEncoding(op->getResult(index).getType()) !=
        withoutEncoding(type)) {
      InFlightDiagnostic diagnostic = op->emitOpError("expected result ");
      if (expected.size() > 1)
        diagnostic << index << " ";
      return diagnostic << "of type " << type << ", but got "
                        << op->getResult(index).getType();
    }
  return success();
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static bool isNumber(Type type) {
  if (auto integer = dyn_cast<IntegerType>(type))
    return integer.isSignless() &&
           llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
  return isa<Float64Type, Float32Type, Float16Type, BFloat16Type,
             Float8E4M3FNType, Float8E5M2Type>(type);
}

static LogicalResult verifyElement(function_ref<InFlightDiagnostic()> emitError,
                                   Type type) {
  if (isNumber(type))
    return success();
  return emitError() << "expected a float (f64, f32, f16, bf16, f8E4M3FN, "
                        "f8E5M2) or signless integer (i1, i8, i16, i32, i64) "
                        "element type, but got "
                     << type;
}

// By hand: the generated parser adds a second error that names C++ classes.
Type PtrType::parse(AsmParser &parser) {
  Type pointeeType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseType(pointeeType) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    pointeeType);
}

void PtrType::print(AsmPrinter &printer) const {
  printer << "<" << getPointeeType() << ">";
}

LogicalResult PtrType::verify(function_ref<InFlightDiagnostic()> emitError,
                              Type pointeeType) {
  return verifyElement(emitError, pointeeType);
}

LogicalResult BlockPtrType::verify(function_ref<InFlightDiagnostic()> emitError,
                                   ArrayRef<int64_t> shape, Type elementType) {
  if (shape.empty())
    return emitError() << "expected a block of rank 1 or more, but got rank 0";
  int64_t elements = 1;
  for (int64_t extent : shape) {
    if (extent <= 0)
      return emitError() << "expected positive block extents, but got "
                         << extent;
    if (extent > TileDialect::kMaxTileElements ||
        (elements *= extent) > TileDialect::kMaxTileElements)
      return emitError() << "expected a block of at most "
                         << TileDialect::kMaxTileElements
                         << " elements, but got extents [" << shape << "]";
  }
  return verifyElement(emitError, elementType);
}

Type BlockPtrType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
      parser.parseType(elementType) || parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape, elementType);
}

void BlockPtrType::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printDimensionList(getShape());
  printer << "x" << getElementType() << ">";
}
