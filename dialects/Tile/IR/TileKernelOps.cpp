//===- TileKernelOps.cpp - Kernels and facts ------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text, verification and folding of tile.kernel and of the operations that
// state facts. The kernel also checks what holds for every operation in its
// body, whichever dialect it is from: tiles of static, bounded shape.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "mlir/Interfaces/FunctionImplementation.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace flashtile::tile;

//===----------------------------------------------------------------------===//
// KernelOp
//===----------------------------------------------------------------------===//

void KernelOp::build(OpBuilder &builder, OperationState &state, StringRef name,
                     ArrayRef<Type> argTypes, ArrayRef<StringRef> argNames,
                     AffineMap grid) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.function_type =
      TypeAttr::get(builder.getFunctionType(argTypes, {}));
  properties.arg_names = builder.getStrArrayAttr(argNames);
  properties.grid = AffineMapAttr::get(grid);
  Block &entry = state.addRegion()->emplaceBlock();
  for (Type type : argTypes)
    entry.addArgument(type, state.location);
}

// tile.kernel @name(%x: !tile.ptr<f32>, %n: i32)
//     grid(n) -> (n ceildiv 64) attributes {...} { ... }
ParseResult KernelOp::parse(OpAsmParser &parser, OperationState &result) {
  Builder &builder = parser.getBuilder();
  Properties &properties = result.getOrAddProperties<Properties>();
  StringAttr name;
  SmallVector<OpAsmParser::Argument> arguments;
  AffineMap grid;
  if (parser.parseSymbolName(name) ||
      parser.parseArgumentList(arguments, OpAsmParser::Delimiter::Paren,
                               /*allowType=*/true, /*allowAttrs=*/true) ||
      parser.parseKeyword("grid") || parser.parseAffineMap(grid) ||
      parser.parseOptionalAttrDictWithKeyword(result.attributes))
    return failure();
  properties.sym_name = name;
  properties.grid = AffineMapAttr::get(grid);

  SmallVector<Type> types;
  SmallVector<Attribute> names;
  for (auto [index, argument] : llvm::enumerate(arguments)) {
    types.push_back(argument.type);
    StringRef argName = argument.ssaName.name.drop_front();
    // `%0` is no name that a caller could want to use.
    std::string numbered = "arg" + std::to_string(index);
    if (argName.empty() || llvm::isDigit(argName.front()))
      argName = numbered;
    names.push_back(builder.getStringAttr(argName));
  }
  // An explicit list wins: names need not be valid SSA identifiers.
  if (Attribute explicitNames = result.attributes.get("arg_names")) {
    auto list = dyn_cast<ArrayAttr>(explicitNames);
    if (!list || !llvm::all_of(list, llvm::IsaPred<StringAttr>))
      return parser.emitError(parser.getNameLoc(),
                              "expected 'arg_names' to be a list of strings");
    properties.arg_names = list;
    result.attributes.erase("arg_names");
  } else {
    properties.arg_names = builder.getArrayAttr(names);
  }
  properties.function_type = TypeAttr::get(builder.getFunctionType(types, {}));
  call_interface_impl::addArgAndResultAttrs(
      builder, result, arguments, /*resultAttrs=*/{},
      getArgAttrsAttrName(result.name), getResAttrsAttrName(result.name));

  Region *body = result.addRegion();
  if (parser.parseRegion(*body, arguments))
    return failure();
  ensureTerminator(*body, builder, result.location);
  return success();
}

void KernelOp::print(OpAsmPrinter &printer) {
  printer << ' ';
  printer.printSymbolName(getSymName());
  printer << '(';
  bool namesFollow = true;
  ArrayAttr argAttrs = getArgAttrsAttr();
  for (auto [index, argument] : llvm::enumerate(getBody().getArguments())) {
    if (index)
      printer << ", ";
    std::string shown;
    llvm::raw_string_ostream stream(shown);
    printer.printOperand(argument, stream);
    namesFollow &= StringRef(shown).drop_front() == getArgName(index);
    printer.printRegionArgument(
        argument, argAttrs ? cast<DictionaryAttr>(argAttrs[index]).getValue()
                           : ArrayRef<NamedAttribute>());
  }
  printer << ") grid" << getGrid();
  SmallVector<StringRef> elided = {
      getSymNameAttrName(), getFunctionTypeAttrName(), getGridAttrName(),
      getArgAttrsAttrName(), getResAttrsAttrName()};
  if (namesFollow)
    elided.push_back(getArgNamesAttrName());
  printer.printOptionalAttrDictWithKeyword((*this)->getAttrs(), elided);
  printer << ' ';
  printer.printRegion(getBody(), /*printEntryBlockArgs=*/false,
                      /*printBlockTerminators=*/true);
}

void KernelOp::getAsmBlockArgumentNames(Region &region,
                                        OpAsmSetValueNameFn setName) {
  for (auto [argument, name] :
       llvm::zip(region.getArguments(), getArgNames().getAsRange<StringAttr>()))
    setName(argument, name.getValue());
}

SmallVector<BlockArgument> KernelOp::getGridArguments() {
  SmallVector<BlockArgument> arguments;
  for (BlockArgument argument : getBody().getArguments())
    if (isa<IntegerType>(argument.getType()))
      arguments.push_back(argument);
  return arguments;
}

LogicalResult KernelOp::verify() {
  FunctionType type = getFunctionType();
  if (type.getNumResults())
    return emitOpError("expected no results, but got ") << type.getNumResults();
  if (getArgNames().size() != type.getNumInputs())
    return emitOpError("expected a name for each of ")
           << type.getNumInputs() << " arguments, but 'arg_names' holds "
           << getArgNames().size();
  llvm::StringSet<> seen;
  for (auto [index, attribute] : llvm::enumerate(getArgNames())) {
    StringRef name = cast<StringAttr>(attribute).getValue();
    if (name.empty())
      return emitOpError("expected a name for argument ")
             << index << ", but got an empty one";
    if (!seen.insert(name).second)
      return emitOpError("expected distinct argument names, but '")
             << name << "' occurs twice";
  }

  int64_t integers = 0;
  for (auto [index, input] : llvm::enumerate(type.getInputs())) {
    auto integer = dyn_cast<IntegerType>(input);
    integers += bool(integer);
    bool known =
        integer && integer.isSignless() &&
        llvm::is_contained({1u, 8u, 16u, 32u, 64u}, integer.getWidth());
    if (!known && !isa<PtrType, Float32Type, Float64Type>(input))
      return emitOpError("expected argument '")
             << getArgName(index)
             << "' to be a !tile.ptr, an integer (i1, i8, i16, i32, i64), f32 "
                "or f64, but got "
             << input;
  }
  AffineMap grid = getGrid();
  if (grid.getNumSymbols())
    return emitOpError("expected a grid without symbols, but got ")
           << grid.getNumSymbols();
  if (int64_t(grid.getNumDims()) != integers)
    return emitOpError("expected the grid to take the ")
           << integers << " integer arguments, but it takes "
           << grid.getNumDims();
  if (grid.getNumResults() < 1 || grid.getNumResults() > 3)
    return emitOpError("expected a grid of one to three extents, but got ")
           << grid.getNumResults();
  for (AffineExpr extent : grid.getResults()) {
    int64_t divisor = 1;
    extent.walk([&](AffineExpr expr) {
      auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
      if (!binary || expr.getKind() == AffineExprKind::Add ||
          expr.getKind() == AffineExprKind::Mul)
        return;
      // Without symbols, divisors are constants.
      int64_t value = cast<AffineConstantExpr>(binary.getRHS()).getValue();
      divisor = std::min(divisor, value);
    });
    if (divisor <= 0)
      return emitOpError("expected a grid with positive divisors, but got ")
             << divisor;
    if (auto constant = dyn_cast<AffineConstantExpr>(extent))
      if (constant.getValue() < 0)
        return emitOpError("expected grid extents of 0 or more, but got ")
               << constant.getValue();
  }
  return success();
}

/// No target has all floats and integers that arith has; LLVM would end the
/// process.
static LogicalResult verifyScalarType(Operation *op, Type type) {
  constexpr unsigned kMostBits = 64;
  auto integer = dyn_cast<IntegerType>(type);
  if ((integer && integer.getWidth() > kMostBits) || isa<ComplexType>(type))
    return op->emitOpError("expected scalars of at most ")
           << kMostBits << " bits, but got " << type;
  if (isa<FloatType>(type))
    return PtrType::verify([&] { return op->emitOpError("in a scalar: "); },
                           type);
  return success();
}

// Ops of arith, math and scf accept tensors that are no tiles.
static LogicalResult verifyTileType(Operation *op, Type type) {
  auto shaped = dyn_cast<ShapedType>(type);
  if (!shaped)
    return verifyScalarType(op, type);
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return op->emitOpError("expected tiles to be ranked tensors, but got ")
           << type;
  if (!tensor.hasStaticShape())
    return op->emitOpError("expected tiles of static shape, but got ") << type;
  if (Attribute encoding = tensor.getEncoding()) {
    auto layout = dyn_cast<TileLayoutAttrInterface>(encoding);
    if (!layout)
      return op->emitOpError("expected tiles without an encoding, but got ")
             << type;
    if (failed(layout.verifyLayout(tensor.getShape(),
                                   [&] { return op->emitOpError(); })))
      return failure();
  }
  if (tensor.getRank() == 0)
    return op->emitOpError("expected tiles of rank 1 or more, but got ")
           << type << "; use a scalar";
  int64_t elements = 1;
  for (int64_t extent : tensor.getShape()) {
    if (extent == 0)
      return op->emitOpError("expected tiles with elements, but got ") << type;
    if (extent > TileDialect::kMaxTileElements ||
        (elements *= extent) > TileDialect::kMaxTileElements)
      return op->emitOpError("expected tiles of at most ")
             << TileDialect::kMaxTileElements << " elements, but got " << type;
  }
  Type element = tensor.getElementType();
  if (isa<PtrType>(element))
    return success();
  return PtrType::verify(
      [&] { return op->emitOpError("in a tile of type ") << type << ": "; },
      element);
}

/// A loop that would run zero times although it counts down is a mistake that
/// nothing else would show.
static LogicalResult verifyLoopStep(Operation *op) {
  APInt step;
  if (op->getName().getStringRef() != "scf.for" || op->getNumOperands() < 3 ||
      !matchPattern(op->getOperand(2), m_ConstantInt(&step)) ||
      step.isStrictlyPositive())
    return success();
  return op->emitOpError("expected a positive step, but got ")
         << step.getSExtValue();
}

LogicalResult KernelOp::verifyRegions() {
  Block &entry = getBody().front();
  if (entry.getArgumentTypes() != getFunctionType().getInputs())
    return emitOpError("expected the body's arguments to have the types of "
                       "the kernel's");
  WalkResult result = getBody().walk([&](Operation *op) {
    if (failed(verifyLoopStep(op)))
      return WalkResult::interrupt();
    for (Type type : op->getResultTypes())
      if (failed(verifyTileType(op, type)))
        return WalkResult::interrupt();
    for (Region &region : op->getRegions())
      for (Block &block : region)
        for (Type type : block.getArgumentTypes())
          if (failed(verifyTileType(op, type)))
            return WalkResult::interrupt();
    return WalkResult::advance();
  });
  return failure(result.wasInterrupted());
}

//===----------------------------------------------------------------------===//
// AssumeOp, AssertOp
//===----------------------------------------------------------------------===//

LogicalResult AssumeOp::verify() {
  Type type = getValue().getType();
  if (std::optional<uint64_t> divisor = getDivisibleBy()) {
    if (!isa<IntegerType>(type))
      return emitOpError("expected 'divisible_by' on an integer, but got ")
             << type;
    if (int64_t(*divisor) <= 0)
      return emitOpError("expected a positive 'divisible_by', but got ")
             << int64_t(*divisor);
  }
  for (auto [name, bound] :
       {std::pair("min", getMinAttr()), std::pair("max", getMaxAttr())}) {
    if (bound && !isa<IntegerAttr, FloatAttr>(bound))
      return emitOpError("expected '")
             << name << "' to be a number, but got " << bound;
    if (bound && bound.getType() != type)
      return emitOpError("expected '") << name << "' to be of type " << type
                                       << ", but got " << bound.getType();
    if (auto value = dyn_cast_or_null<FloatAttr>(bound);
        value && value.getValue().isNaN())
      return emitOpError("expected '") << name << "' not to be NaN";
  }
  auto minInt = dyn_cast_or_null<IntegerAttr>(getMinAttr());
  auto maxInt = dyn_cast_or_null<IntegerAttr>(getMaxAttr());
  if (minInt && maxInt && minInt.getValue().sgt(maxInt.getValue()))
    return emitOpError("expected 'min' <= 'max', but got ")
           << minInt.getInt() << " > " << maxInt.getInt();
  auto minFloat = dyn_cast_or_null<FloatAttr>(getMinAttr());
  auto maxFloat = dyn_cast_or_null<FloatAttr>(getMaxAttr());
  if (minFloat && maxFloat && !(minFloat.getValue() <= maxFloat.getValue()))
    return emitOpError("expected 'min' <= 'max', but got ")
           << minFloat.getValueAsDouble() << " > "
           << maxFloat.getValueAsDouble();
  return success();
}

OpFoldResult AssumeOp::fold(FoldAdaptor adaptor) {
  if (adaptor.getValue())
    return adaptor.getValue();
  if (!getDivisibleBy() && !getMinAttr() && !getMaxAttr())
    return getValue();
  return {};
}

LogicalResult AssertOp::canonicalize(AssertOp op, PatternRewriter &rewriter) {
  Attribute condition;
  if (!matchPattern(op.getCondition(), m_Constant(&condition)))
    return rewriter.notifyMatchFailure(op, "condition is no constant");
  auto elements = dyn_cast<DenseElementsAttr>(condition);
  bool holds = elements ? llvm::all_of(elements.getValues<bool>(),
                                       [](bool value) { return value; })
                        : cast<IntegerAttr>(condition).getValue().isOne();
  if (!holds)
    return rewriter.notifyMatchFailure(op, "condition is false");
  rewriter.eraseOp(op);
  return success();
}
