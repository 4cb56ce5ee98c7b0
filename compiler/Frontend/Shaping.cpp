//===- Shaping.cpp - Making tiles and changing their shape ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Also the matrix product, whose shapes are what can be wrong about it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Emitter.h"
#include "compiler/Frontend/Functions.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;

//===----------------------------------------------------------------------===//
// Making tiles
//===----------------------------------------------------------------------===//

Value dsl::arange(int64_t start, int64_t end, SourceLocation location) {
  Emitter emit(location);
  if (start >= end)
    emit.fail("expected start < end, but got ", start, " to ", end);
  if (start < INT32_MIN || end > INT32_MAX)
    emit.fail("expected bounds of 32 bits, but got ", start, " to ", end);
  emit.checkShape({end - start});
  return emit.wrap(tile::ArangeOp::create(emit.b, emit.loc,
                                          static_cast<int32_t>(start),
                                          static_cast<int32_t>(end)));
}

Value dsl::full(const Shape &shape, const Operand &value, ElementType type,
                SourceLocation location) {
  Emitter emit(location, {&value});
  emit.checkShape(shape);
  mlir::Type element = toMlir(type, emit.b.getContext());
  if (!value.value())
    return emit.wrap(emit.literal(value, element, shape));
  mlir::Value scalar = emit.number(value, element, "the value");
  if (!shapeOf(scalar).empty())
    emit.fail("expected a scalar to fill a tile, but got ", scalar.getType());
  return emit.wrap(emit.broadcast(scalar, shape));
}

Value dsl::zeros(const Shape &shape, ElementType type,
                 SourceLocation location) {
  if (type == ElementType::I1)
    return full(shape, Operand(false, location), type, location);
  return full(shape, Operand(0, location), type, location);
}

static tile::ProgramAxis gridAxis(const Emitter &emit, int axis) {
  if (axis < 0 || axis > 2)
    emit.fail("expected grid axis 0, 1 or 2, but got ", axis);
  return static_cast<tile::ProgramAxis>(axis);
}

Value dsl::programId(int axis, SourceLocation location) {
  Emitter emit(location);
  return emit.wrap(
      tile::ProgramIdOp::create(emit.b, emit.loc, gridAxis(emit, axis)));
}

Value dsl::numPrograms(int axis, SourceLocation location) {
  Emitter emit(location);
  return emit.wrap(
      tile::NumProgramsOp::create(emit.b, emit.loc, gridAxis(emit, axis)));
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

Value dsl::trans(const Value &operand, SourceLocation location) {
  Emitter emit(location, operand);
  mlir::Value value = emit.useTile(operand);
  if (operand.rank() != 2)
    emit.fail("expected a tile of rank 2, but got ", value.getType(),
              "; 'permute' takes the order of the dimensions");
  return permute(operand, {1, 0}, location);
}

Value dsl::permute(const Value &operand, const std::vector<int> &order,
                   SourceLocation location) {
  Emitter emit(location, operand);
  mlir::Value value = emit.useTile(operand);
  int64_t rank = operand.rank();
  if (static_cast<int64_t>(order.size()) != rank)
    emit.fail("expected an order of ", rank, " dimensions, but got ",
              order.size());
  llvm::SmallVector<bool> seen(rank, false);
  for (int dim : order) {
    if (dim < 0 || dim >= rank || seen[dim])
      emit.fail("expected a permutation of the ", rank, " dimensions");
    seen[dim] = true;
  }
  return emit.wrap(tile::TransOp::create(
      emit.b, emit.loc, value,
      emit.b.getDenseI32ArrayAttr(
          llvm::SmallVector<int32_t>(order.begin(), order.end()))));
}

Value dsl::expandDims(const Value &operand, int axis, SourceLocation location) {
  Emitter emit(location, operand);
  mlir::Value value = emit.useTile(operand);
  return emit.wrap(tile::ExpandDimsOp::create(
      emit.b, emit.loc, value, emit.axis(axis, operand.rank() + 1)));
}

Value dsl::broadcastTo(const Operand &operand, const Shape &shape,
                       SourceLocation location) {
  Emitter emit(location, {&operand});
  if (!operand.value())
    emit.fail("expected a tile or a scalar of the kernel, but got a literal; "
              "'full' fills a tile");
  emit.checkShape(shape);
  return emit.wrap(
      emit.fitTo(emit.use(*operand.value()), shape, "the operand"));
}

Value dsl::reshape(const Value &operand, const Shape &shape,
                   SourceLocation location) {
  Emitter emit(location, operand);
  mlir::Value value = emit.useTile(operand);
  if (shape.empty())
    emit.fail("expected a shape of rank 1 or more");
  emit.checkShape(shape);
  auto type = llvm::cast<mlir::RankedTensorType>(value.getType());
  int64_t elements = 1;
  for (int64_t extent : shape)
    elements *= extent;
  if (elements != type.getNumElements())
    emit.fail("expected a shape of ", type.getNumElements(),
              " elements, but got ", shapeText(shape));
  return emit.wrap(
      tile::ReshapeOp::create(emit.b, emit.loc, type.clone(shape), value));
}

Value dsl::cat(const Value &first, const Value &second, int axis,
               SourceLocation location) {
  Emitter emit(location, first);
  mlir::Value lhs = emit.useTile(first), rhs = emit.useTile(second);
  if (elementOf(lhs) != elementOf(rhs) || first.rank() != second.rank())
    emit.fail("expected tiles of one rank and element type, but got ",
              lhs.getType(), " and ", rhs.getType());
  int32_t along = emit.axis(axis, first.rank());
  Shape shape = first.shape();
  for (int64_t dim = 0; dim < first.rank(); ++dim)
    if (dim != along && shape[dim] != second.shape()[dim])
      emit.fail("expected equal extents in dimension ", dim, ", but got ",
                shape[dim], " and ", second.shape()[dim]);
  shape[along] += second.shape()[along];
  emit.checkShape(shape);
  return emit.wrap(tile::CatOp::create(emit.b, emit.loc, lhs, rhs, along));
}

Value dsl::join(const Value &first, const Value &second,
                SourceLocation location) {
  Emitter emit(location, first);
  mlir::Value lhs = emit.useTile(first), rhs = emit.useTile(second);
  if (lhs.getType() != rhs.getType())
    emit.fail("expected tiles of one type, but got ", lhs.getType(), " and ",
              rhs.getType());
  Shape shape = first.shape();
  shape.push_back(2);
  emit.checkShape(shape);
  return emit.wrap(tile::JoinOp::create(emit.b, emit.loc, lhs, rhs));
}

//===----------------------------------------------------------------------===//
// Matrix products
//===----------------------------------------------------------------------===//

/// The accumulator's element type; throws where `a` and `b` do not multiply.
static mlir::Type accumulator(const Emitter &emit, mlir::Value a,
                              mlir::Value b) {
  for (auto [name, value] : {std::pair("a", a), std::pair("b", b)})
    if (shapeOf(value).size() != 2)
      emit.fail("expected '", name, "' of rank 2, but got ", value.getType());
  if (shapeOf(a)[1] != shapeOf(b)[0])
    emit.fail("expected as many rows of 'b' as 'a' has columns, but got ",
              shapeText(shapeOf(a)), " and ", shapeText(shapeOf(b)));
  mlir::Type left = elementOf(a), right = elementOf(b);
  if (left != right && !(isFp8(left) && isFp8(right)))
    emit.fail("expected operands of one element type, but got ", left, " and ",
              right, "; cast one of them");
  if (left.isInteger(8))
    return emit.i32();
  if (!llvm::isa<mlir::FloatType>(left))
    emit.fail("expected operands of a float type or i8, but got ", left);
  return left.isF64() ? emit.b.getF64Type() : mlir::Type(emit.b.getF32Type());
}

static Value emitDot(const Emitter &emit, mlir::Value a, mlir::Value b,
                     mlir::Value c, Precision precision) {
  tile::InputPrecisionAttr attribute;
  auto set = [&](tile::InputPrecision value) {
    attribute = tile::InputPrecisionAttr::get(emit.b.getContext(), value);
  };
  switch (precision) {
  case Precision::Default:
    break;
  case Precision::IEEE:
    set(tile::InputPrecision::IEEE);
    break;
  case Precision::TF32:
    set(tile::InputPrecision::TF32);
    break;
  case Precision::TF32x3:
    set(tile::InputPrecision::TF32x3);
    break;
  }
  bool rounds = precision == Precision::TF32 || precision == Precision::TF32x3;
  if (rounds && !elementOf(a).isF32())
    emit.fail("expected precision IEEE for operands of ", elementOf(a));
  return emit.wrap(
      tile::DotOp::create(emit.b, emit.loc, c.getType(), a, b, c, attribute));
}

Value dsl::dot(const Value &a, const Value &b, Precision precision,
               SourceLocation location) {
  Emitter emit(location, a);
  mlir::Value lhs = emit.useTile(a), rhs = emit.useTile(b);
  mlir::Type element = accumulator(emit, lhs, rhs);
  llvm::SmallVector<int64_t> shape = {shapeOf(lhs)[0], shapeOf(rhs)[1]};
  emit.checkShape(shape);
  mlir::Value zero = emit.literal(Operand(0, location), element, shape);
  return emitDot(emit, lhs, rhs, zero, precision);
}

Value dsl::dot(const Value &a, const Value &b, const Value &c,
               Precision precision, SourceLocation location) {
  Emitter emit(location, a);
  mlir::Value lhs = emit.useTile(a), rhs = emit.useTile(b);
  mlir::Value sum = emit.useTile(c);
  mlir::Type element = accumulator(emit, lhs, rhs);
  mlir::Type expected = typeOf({shapeOf(lhs)[0], shapeOf(rhs)[1]}, element);
  if (sum.getType() != expected)
    emit.fail("expected an accumulator of type ", expected, ", but got ",
              sum.getType());
  return emitDot(emit, lhs, rhs, sum, precision);
}
