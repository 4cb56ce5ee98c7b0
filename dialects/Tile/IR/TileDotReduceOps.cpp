//===- TileDotReduceOps.cpp - Dots, reductions and scans ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification and type inference of dots, reductions and scans.
//
//===----------------------------------------------------------------------===//

#include "dialects/Tile/IR/TileDialect.h"

using namespace mlir;
using namespace flashtile::tile;

//===----------------------------------------------------------------------===//
// DotOp
//===----------------------------------------------------------------------===//

static bool isFp8(Type type) {
  return isa<Float8E4M3FNType, Float8E5M2Type>(type);
}

LogicalResult DotOp::verify() {
  auto a = cast<RankedTensorType>(getA().getType());
  auto b = cast<RankedTensorType>(getB().getType());
  auto c = cast<RankedTensorType>(getC().getType());
  for (auto [name, type] :
       {std::pair("a", a), std::pair("b", b), std::pair("c", c)})
    if (type.getRank() != 2)
      return emitOpError("expected '")
             << name << "' to have rank 2, but got " << type;
  if (a.getDimSize(1) != b.getDimSize(0))
    return emitOpError("expected 'b' to have the ")
           << a.getDimSize(1) << " rows that 'a' has columns, but got " << b;
  if (c.getDimSize(0) != a.getDimSize(0) || c.getDimSize(1) != b.getDimSize(1))
    return emitOpError("expected 'c' to be ")
           << a.getDimSize(0) << "x" << b.getDimSize(1) << ", but got " << c;

  Type ea = a.getElementType(), eb = b.getElementType();
  bool integer = ea.isInteger(8);
  if (!integer && !isFp8(ea) &&
      !isa<Float64Type, Float32Type, Float16Type, BFloat16Type>(ea))
    return emitOpError("expected operands of f64, f32, f16, bf16, fp8 or i8, "
                       "but 'a' is ")
           << a;
  if (ea != eb && !(isFp8(ea) && isFp8(eb)))
    return emitOpError("expected 'a' and 'b' of one element type, but got ")
           << ea << " and " << eb;
  Builder builder(getContext());
  Type accumulator = integer      ? Type(builder.getI32Type())
                     : ea.isF64() ? Type(builder.getF64Type())
                                  : Type(builder.getF32Type());
  if (c.getElementType() != accumulator)
    return emitOpError("expected an accumulator of ")
           << accumulator << " for operands of " << ea << ", but got "
           << c.getElementType();
  auto precision = getInputPrecision().value_or(InputPrecision::IEEE);
  if (precision != InputPrecision::IEEE && !ea.isF32())
    return emitOpError("expected precision ieee for operands of ")
           << ea << ", but got " << stringifyInputPrecision(precision);
  return success();
}

//===----------------------------------------------------------------------===//
// Reductions along an axis
//===----------------------------------------------------------------------===//

using EmitError = function_ref<InFlightDiagnostic()>;

/// `type` without dimension `axis`; the element type for rank 1.
static LogicalResult dropAxis(EmitError emitError, Type type, int64_t axis,
                              SmallVectorImpl<Type> &inferred) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor)
    return emitError() << "expected a tile to reduce, but got " << type;
  if (axis < 0 || axis >= tensor.getRank())
    return emitError() << "expected 'axis' between 0 and "
                       << tensor.getRank() - 1 << ", but got " << axis;
  // The fp8 formats have storage and casts, but no arithmetic.
  if (isFp8(tensor.getElementType()))
    return emitError() << "expected elements that compute, but got "
                       << tensor.getElementType()
                       << "; cast to a wider float first";
  if (tensor.getRank() == 1) {
    inferred.push_back(tensor.getElementType());
    return success();
  }
  SmallVector<int64_t> shape(tensor.getShape());
  shape.erase(shape.begin() + axis);
  inferred.push_back(RankedTensorType::get(shape, tensor.getElementType()));
  return success();
}

LogicalResult MaxOp::inferTypes(Adaptor adaptor, EmitError emitError,
                                SmallVectorImpl<Type> &inferred) {
  return dropAxis(emitError, adaptor.getOperand().getType(),
                  int32_t(adaptor.getAxis()), inferred);
}

LogicalResult MinOp::inferTypes(Adaptor adaptor, EmitError emitError,
                                SmallVectorImpl<Type> &inferred) {
  return dropAxis(emitError, adaptor.getOperand().getType(),
                  int32_t(adaptor.getAxis()), inferred);
}

LogicalResult SumOp::inferTypes(Adaptor adaptor, EmitError emitError,
                                SmallVectorImpl<Type> &inferred) {
  Type type = adaptor.getOperand().getType();
  if (getElementType(type).isInteger(1))
    return emitError() << "expected elements that add, but got i1; extend to a "
                          "wider integer first";
  return dropAxis(emitError, type, int32_t(adaptor.getAxis()), inferred);
}

//===----------------------------------------------------------------------===//
// ReduceOp, ScanOp
//===----------------------------------------------------------------------===//

/// Types of the results of a reduction of `operands`, which have one shape.
static LogicalResult dropAxisOfAll(EmitError emitError, TypeRange operands,
                                   int64_t axis,
                                   SmallVectorImpl<Type> &inferred) {
  if (operands.empty())
    return emitError() << "expected one operand or more, but got none";
  for (auto [index, type] : llvm::enumerate(operands)) {
    if (failed(dropAxis(emitError, type, axis, inferred)))
      return failure();
    if (cast<RankedTensorType>(type).getShape() !=
        cast<RankedTensorType>(operands.front()).getShape())
      return emitError() << "expected operands of one shape, but operand 0 is "
                         << operands.front() << " and operand " << index
                         << " is " << type;
  }
  return success();
}

LogicalResult ReduceOp::inferTypes(Adaptor adaptor, EmitError emitError,
                                   SmallVectorImpl<Type> &inferred) {
  return dropAxisOfAll(emitError, adaptor.getOperands().getTypes(),
                       int32_t(adaptor.getAxis()), inferred);
}

/// Checks that `combiner` takes two of each operand's element and yields one.
static LogicalResult verifyCombiner(Operation *op, Region &combiner,
                                    TypeRange operands) {
  Block &block = combiner.front();
  size_t count = operands.size();
  if (block.getNumArguments() != 2 * count)
    return op->emitOpError("expected a combiner of ")
           << 2 * count << " arguments, but got " << block.getNumArguments();
  for (auto [index, argument] : llvm::enumerate(block.getArguments())) {
    Type element = getElementType(operands[index % count]);
    if (argument.getType() != element)
      return op->emitOpError("expected combiner argument ")
             << index << " of type " << element << ", but got "
             << argument.getType();
  }
  auto yield =
      dyn_cast_or_null<YieldOp>(block.empty() ? nullptr : &block.back());
  if (!yield)
    return op->emitOpError("expected the combiner to end with 'tile.yield'");
  if (yield.getNumOperands() != count)
    return yield.emitOpError("expected ")
           << count << " values, but got " << yield.getNumOperands();
  for (auto [index, value] : llvm::enumerate(yield.getValues())) {
    Type element = getElementType(operands[index]);
    if (value.getType() != element)
      return yield.emitOpError("expected value ")
             << index << " of type " << element << ", but got "
             << value.getType();
  }
  for (Operation &inner : block) {
    if (!isMemoryEffectFree(&inner) || inner.getNumRegions())
      return inner.emitOpError("expected operations without side effects and "
                               "regions in the combiner of '")
             << op->getName() << "'";
    for (TypeRange types : {TypeRange(inner.getOperandTypes()),
                            TypeRange(inner.getResultTypes())})
      for (Type type : types)
        if (isa<ShapedType>(type))
          return inner.emitOpError("expected scalars in the combiner of '")
                 << op->getName() << "', but got " << type;
  }
  return success();
}

LogicalResult ReduceOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner(), getOperands().getTypes());
}

LogicalResult ScanOp::verify() {
  SmallVector<Type> reduced;
  if (failed(dropAxisOfAll([&] { return emitOpError(); },
                           getOperands().getTypes(), int32_t(getAxis()),
                           reduced)))
    return failure();
  return verifyResultTypes(*this, getOperands().getTypes());
}

LogicalResult ScanOp::verifyRegions() {
  return verifyCombiner(*this, getCombiner(), getOperands().getTypes());
}
