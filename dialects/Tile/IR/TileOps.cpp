//===- TileOps.cpp - Generated code of the operations ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The generated definitions, and the directives that the textual forms of
// several operations share: keywords for enumerations, and type lists from
// which every type that follows from another is left out.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileDialect.h"

using namespace mlir;
using namespace flashtile::tile;

//===----------------------------------------------------------------------===//
// Keywords
//===----------------------------------------------------------------------===//

/// Parses one keyword of an enumeration; `expected` lists them for the error.
template <typename AttrT, typename SymbolizeFn>
static ParseResult parseEnumKeyword(OpAsmParser &parser, AttrT &attribute,
                                    SymbolizeFn symbolize, StringRef expected) {
  StringRef keyword;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseOptionalKeyword(&keyword))
    return parser.emitError(loc, "expected ") << expected;
  auto value = symbolize(keyword);
  if (!value)
    return parser.emitError(loc, "expected ")
           << expected << ", but got '" << keyword << "'";
  attribute = AttrT::get(parser.getContext(), *value);
  return success();
}

static ParseResult parseAxisKeyword(OpAsmParser &parser,
                                    ProgramAxisAttr &attribute) {
  return parseEnumKeyword(
      parser, attribute, [](StringRef s) { return symbolizeProgramAxis(s); },
      "axis x, y or z");
}

static void printAxisKeyword(OpAsmPrinter &printer, Operation *,
                             ProgramAxisAttr attribute) {
  printer << stringifyProgramAxis(attribute.getValue());
}

static ParseResult parsePaddingKeyword(OpAsmParser &parser,
                                       PaddingAttr &attribute) {
  return parseEnumKeyword(
      parser, attribute, [](StringRef s) { return symbolizePadding(s); },
      "padding zero, nan or neg_inf");
}

static void printPaddingKeyword(OpAsmPrinter &printer, Operation *,
                                PaddingAttr attribute) {
  printer << stringifyPadding(attribute.getValue());
}

static ParseResult parsePrecisionKeyword(OpAsmParser &parser,
                                         InputPrecisionAttr &attribute) {
  return parseEnumKeyword(
      parser, attribute, [](StringRef s) { return symbolizeInputPrecision(s); },
      "precision ieee, tf32 or tf32x3");
}

static void printPrecisionKeyword(OpAsmPrinter &printer, Operation *,
                                  InputPrecisionAttr attribute) {
  printer << stringifyInputPrecision(attribute.getValue());
}

//===----------------------------------------------------------------------===//
// Types that follow from a pointer's
//===----------------------------------------------------------------------===//

/// Type of what a load through `pointer` gives; null where `pointer` is none.
static Type accessedType(Type pointer) {
  if (auto block = dyn_cast<BlockPtrType>(pointer))
    return block.getTileType();
  if (auto ptr = dyn_cast<PtrType>(pointer))
    return ptr.getPointeeType();
  if (auto tensor = dyn_cast<RankedTensorType>(pointer))
    if (auto ptr = dyn_cast<PtrType>(tensor.getElementType()))
      return tensor.clone(ptr.getPointeeType());
  return {};
}

static ParseResult parsePointerType(OpAsmParser &parser, Type &pointer,
                                    Type &accessed) {
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseType(pointer))
    return failure();
  accessed = accessedType(pointer);
  if (!accessed)
    return parser.emitError(loc, "expected a !tile.ptr, a tile of pointers or "
                                 "a !tile.block_ptr, but got ")
           << pointer;
  return success();
}

using OptionalOperand = std::optional<OpAsmParser::UnresolvedOperand>;

static ParseResult parseLoadTypes(OpAsmParser &parser, Type &pointer,
                                  const OptionalOperand &mask, Type &maskType,
                                  const OptionalOperand &other,
                                  Type &otherType) {
  Type accessed;
  if (parsePointerType(parser, pointer, accessed))
    return failure();
  if (mask)
    maskType = withElementType(accessed, parser.getBuilder().getI1Type());
  if (other)
    otherType = accessed;
  return success();
}

static void printLoadTypes(OpAsmPrinter &printer, Operation *, Type pointer,
                           Value, Type, Value, Type) {
  printer << pointer;
}

static ParseResult parseStoreTypes(OpAsmParser &parser, Type &pointer,
                                   Type &valueType, const OptionalOperand &mask,
                                   Type &maskType) {
  if (parsePointerType(parser, pointer, valueType))
    return failure();
  if (mask)
    maskType = withElementType(valueType, parser.getBuilder().getI1Type());
  return success();
}

static void printStoreTypes(OpAsmPrinter &printer, Operation *, Type pointer,
                            Type, Value, Type) {
  printer << pointer;
}

static ParseResult parseAtomicTypes(OpAsmParser &parser, Type &pointer,
                                    Type &valueType,
                                    const OptionalOperand &mask, Type &maskType,
                                    Type &resultType) {
  if (parseStoreTypes(parser, pointer, valueType, mask, maskType))
    return failure();
  resultType = valueType;
  return success();
}

static void printAtomicTypes(OpAsmPrinter &printer, Operation *, Type pointer,
                             Type, Value, Type, Type) {
  printer << pointer;
}

static ParseResult parseSameType(OpAsmParser &parser, Type &lhs, Type &rhs) {
  if (parser.parseType(lhs))
    return failure();
  rhs = lhs;
  return success();
}

static void printSameType(OpAsmPrinter &printer, Operation *, Type lhs, Type) {
  printer << lhs;
}

static ParseResult parseSameTypes(OpAsmParser &parser,
                                  SmallVectorImpl<Type> &operands,
                                  SmallVectorImpl<Type> &results) {
  if (parser.parseTypeList(operands))
    return failure();
  results.assign(operands.begin(), operands.end());
  return success();
}

static void printSameTypes(OpAsmPrinter &printer, Operation *,
                           TypeRange operands, TypeRange) {
  llvm::interleaveComma(operands, printer);
}

#define GET_OP_CLASSES
#include "dialects/Tile/IR/TileOps.cpp.inc"
