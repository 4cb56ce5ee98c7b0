//===- TileGPUDialect.cpp - The tilegpu dialect ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Registration, and the text and verification of the layout attribute.
//
//===----------------------------------------------------------------------===//

#include "dialects/TileGPU/IR/TileGPUDialect.h"

#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace flashtile::tilegpu;

#include "dialects/TileGPU/IR/TileGPUDialect.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/TileGPU/IR/TileGPUAttributes.cpp.inc"

#define GET_TYPEDEF_CLASSES
#include "dialects/TileGPU/IR/TileGPUTypes.cpp.inc"

void TileGPUDialect::initialize() {
  registerAttributes();
  registerTypes();
  addOperations<
#define GET_OP_LIST
#include "dialects/TileGPU/IR/TileGPUOps.cpp.inc"
      >();
}

void TileGPUDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "dialects/TileGPU/IR/TileGPUAttributes.cpp.inc"
      >();
}

void TileGPUDialect::registerTypes() {
  addTypes<
#define GET_TYPEDEF_LIST
#include "dialects/TileGPU/IR/TileGPUTypes.cpp.inc"
      >();
}

LogicalResult
TileGPUDialect::verifyOperationAttribute(Operation *op,
                                         NamedAttribute attribute) {
  StringRef name = attribute.getName();
  if (isLaunchAttribute(name) &&
      (isa<tile::KernelOp>(op) || op->getName().getStringRef() == "llvm.func"))
    return success(); // checked by the driver stage, which reads them
  if (name == kProgramsAttr) {
    StringRef kind = op->getName().getStringRef();
    if ((kind != "scf.for" && kind != "scf.while") ||
        !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError("expected '")
             << name
             << "' to be a unit attribute of an 'scf.for' or 'scf.while'";
    return success();
  }
  if (name == kRareAttr) {
    if (op->getName().getStringRef() != "scf.if" ||
        !isa<UnitAttr>(attribute.getValue()))
      return op->emitOpError("expected '")
             << name << "' to be a unit attribute of an 'scf.if'";
    return success();
  }
  if (!isa<tile::KernelOp>(op))
    return op->emitOpError("expected '") << name << "' on a 'tile.kernel' only";
  if (name == kTargetAttr) {
    auto target = dyn_cast<StringAttr>(attribute.getValue());
    if (!target || (target != "sm_80" && target != "sm_90a"))
      return op->emitOpError("expected '")
             << name << "' to be \"sm_80\" or \"sm_90a\", but got "
             << attribute.getValue();
    return success();
  }
  if (name == kNumWarpsAttr) {
    auto warps = dyn_cast<IntegerAttr>(attribute.getValue());
    constexpr int64_t kMaxWarps = 32;
    if (!warps || !warps.getType().isInteger(32) || warps.getInt() < 1 ||
        warps.getInt() > kMaxWarps)
      return op->emitOpError("expected '")
             << name << "' to be an i32 from 1 to " << kMaxWarps << ", but got "
             << attribute.getValue();
    return success();
  }
  return op->emitOpError("unknown attribute '") << name << "'";
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

/// Elements that the digits of an index enumerate; -1 where they are malformed.
static int64_t countOf(ArrayRef<int64_t> digits, size_t rank) {
  constexpr int64_t kMost = int64_t(1) << 20;
  if (digits.size() % (rank + 1) != 0)
    return -1;
  int64_t count = 1;
  for (size_t digit = 0; digit < digits.size(); digit += rank + 1) {
    if (digits[digit] < 1 || digits[digit] > kMost ||
        (count *= digits[digit]) > kMost)
      return -1;
    for (int64_t step : digits.slice(digit + 1, rank))
      if (step < 0 || step > kMost)
        return -1;
  }
  return count;
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 ArrayRef<int64_t> shape,
                                 ArrayRef<int64_t> registers,
                                 ArrayRef<int64_t> lanes,
                                 ArrayRef<int64_t> warps) {
  if (shape.empty())
    return emitError() << "expected a layout of rank 1 or more";
  for (int64_t extent : shape)
    if (extent < 1 || extent > tile::TileDialect::kMaxTileElements)
      return emitError() << "expected extents from 1 to "
                         << tile::TileDialect::kMaxTileElements << ", but got "
                         << extent;
  for (auto [name, digits] :
       {std::pair("reg", registers), std::pair("lane", lanes),
        std::pair("warp", warps)})
    if (countOf(digits, shape.size()) < 0)
      return emitError() << "expected '" << name
                         << "' to hold digits extent:(step, ...) with "
                         << shape.size()
                         << " steps of 0 or more and extents of 1 or more";
  if (int64_t count = countOf(lanes, shape.size()); count != 32)
    return emitError() << "expected the extents of 'lane' to multiply to 32, "
                          "but they multiply to "
                       << count;
  return success();
}

LogicalResult
LayoutAttr::verifyLayout(ArrayRef<int64_t> shape,
                         function_ref<InFlightDiagnostic()> emitError) const {
  if (shape == getShape())
    return success();
  return emitError() << "expected a layout of the tile's shape [" << shape
                     << "], but got " << *this;
}

// <[64, 16], reg = [2:(0, 1), 2:(8, 0)], lane = [...], warp = [...]>
static ParseResult parseDigits(AsmParser &parser, StringRef name, size_t rank,
                               SmallVectorImpl<int64_t> &digits) {
  if (parser.parseKeyword(name) || parser.parseEqual())
    return failure();
  return parser.parseCommaSeparatedList(
      AsmParser::Delimiter::Square, [&]() -> ParseResult {
        int64_t extent;
        SMLoc loc = parser.getCurrentLocation();
        if (parser.parseInteger(extent) || parser.parseColon())
          return failure();
        digits.push_back(extent);
        size_t steps = 0;
        if (parser.parseCommaSeparatedList(
                AsmParser::Delimiter::Paren, [&]() -> ParseResult {
                  ++steps;
                  return parser.parseInteger(digits.emplace_back());
                }))
          return failure();
        if (steps != rank)
          return parser.emitError(loc, "expected a digit with ")
                 << rank << " steps, but got " << steps;
        return success();
      });
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  SmallVector<int64_t> shape, registers, lanes, warps;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parser.parseCommaSeparatedList(
          AsmParser::Delimiter::Square,
          [&] { return parser.parseInteger(shape.emplace_back()); }) ||
      parser.parseComma() ||
      parseDigits(parser, "reg", shape.size(), registers) ||
      parser.parseComma() || parseDigits(parser, "lane", shape.size(), lanes) ||
      parser.parseComma() || parseDigits(parser, "warp", shape.size(), warps) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    shape, registers, lanes, warps);
}

static void printDigits(AsmPrinter &printer, StringRef name, size_t rank,
                        ArrayRef<int64_t> digits) {
  printer << ", " << name << " = [";
  for (size_t digit = 0; digit < digits.size(); digit += rank + 1) {
    if (digit)
      printer << ", ";
    printer << digits[digit] << ":(";
    llvm::interleaveComma(digits.slice(digit + 1, rank), printer);
    printer << ")";
  }
  printer << "]";
}

void LayoutAttr::print(AsmPrinter &printer) const {
  size_t rank = getShape().size();
  printer << "<[";
  llvm::interleaveComma(getShape(), printer);
  printer << "]";
  printDigits(printer, "reg", rank, getRegisters());
  printDigits(printer, "lane", rank, getLanes());
  printDigits(printer, "warp", rank, getWarps());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// Tiles in memory: 64x64xbf16, swizzle = 128
//===----------------------------------------------------------------------===//

static ParseResult parseTileForm(AsmParser &parser,
                                 SmallVectorImpl<int64_t> &shape,
                                 Type &elementType, int64_t &swizzle) {
  return failure(parser.parseDimensionList(shape, /*allowDynamic=*/false) ||
                 parser.parseType(elementType) || parser.parseComma() ||
                 parser.parseKeyword("swizzle") || parser.parseEqual() ||
                 parser.parseInteger(swizzle));
}

static void printTileForm(AsmPrinter &printer, ArrayRef<int64_t> shape,
                          Type elementType, int64_t swizzle) {
  printer.printDimensionList(shape);
  printer << "x" << elementType << ", swizzle = " << swizzle;
}

/// A type that is nothing but the form of a tile.
template <typename TypeT>
static Type parseTileFormType(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t swizzle = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() ||
      parseTileForm(parser, shape, elementType, swizzle) ||
      parser.parseGreater())
    return {};
  return TypeT::getChecked([&] { return parser.emitError(loc); },
                           parser.getContext(), shape, elementType, swizzle);
}

template <typename TypeT>
static void printTileFormType(AsmPrinter &printer, TypeT type) {
  printer << "<";
  printTileForm(printer, type.getShape(), type.getElementType(),
                type.getSwizzle());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// SmemType
//===----------------------------------------------------------------------===//

LogicalResult SmemType::verify(function_ref<InFlightDiagnostic()> emitError,
                               ArrayRef<int64_t> shape, Type elementType,
                               int64_t swizzle) {
  if (!llvm::is_contained({0, 32, 64, 128}, swizzle))
    return emitError() << "expected a swizzle of 0, 32, 64 or 128 bytes, but "
                          "got "
                       << swizzle;
  // The checks of a window's extents and elements are those of any tile.
  return tile::BlockPtrType::verify(emitError, shape, elementType);
}

Type SmemType::parse(AsmParser &parser) {
  return parseTileFormType<SmemType>(parser);
}

void SmemType::print(AsmPrinter &printer) const {
  printTileFormType(printer, *this);
}

//===----------------------------------------------------------------------===//
// RingType
//===----------------------------------------------------------------------===//

SmemType RingType::getSlotType() {
  return SmemType::get(getContext(), getShape(), getElementType(),
                       getSwizzle());
}

LogicalResult RingType::verify(function_ref<InFlightDiagnostic()> emitError,
                               int64_t count, ArrayRef<int64_t> shape,
                               Type elementType, int64_t swizzle) {
  constexpr int64_t kMaxCount = 64;
  if (count < 1 || count > kMaxCount)
    return emitError() << "expected 1 to " << kMaxCount << " buffers, but got "
                       << count;
  return SmemType::verify(emitError, shape, elementType, swizzle);
}

Type RingType::parse(AsmParser &parser) {
  SmallVector<int64_t> shape;
  Type elementType;
  int64_t count = 0, swizzle = 0;
  SMLoc loc = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseInteger(count) ||
      parser.parseKeyword("x") ||
      parseTileForm(parser, shape, elementType, swizzle) ||
      parser.parseGreater())
    return {};
  return getChecked([&] { return parser.emitError(loc); }, parser.getContext(),
                    count, shape, elementType, swizzle);
}

void RingType::print(AsmPrinter &printer) const {
  printer << "<" << getCount() << " x ";
  printTileForm(printer, getShape(), getElementType(), getSwizzle());
  printer << ">";
}

//===----------------------------------------------------------------------===//
// TensorMapType
//===----------------------------------------------------------------------===//

Type TensorMapType::parse(AsmParser &parser) {
  return parseTileFormType<TensorMapType>(parser);
}

void TensorMapType::print(AsmPrinter &printer) const {
  printTileFormType(printer, *this);
}
