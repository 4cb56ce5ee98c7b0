//===- Memory.cpp - Pointers, loads, stores, facts ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Memory.h"
#include "compiler/Frontend/Emitter.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;

//===----------------------------------------------------------------------===//
// Block pointers
//===----------------------------------------------------------------------===//

static llvm::SmallVector<mlir::Value> offsets(const Emitter &emit,
                                              const std::vector<Operand> &from,
                                              size_t rank,
                                              llvm::StringRef what) {
  if (from.size() != rank)
    emit.fail("expected ", rank, " ", what, " for a window of rank ", rank,
              ", but got ", from.size());
  llvm::SmallVector<mlir::Value> values;
  for (const Operand &operand : from)
    values.push_back(emit.offset(operand, what));
  return values;
}

static mlir::DenseI32ArrayAttr
orderAttr(const Emitter &emit, const std::vector<int> &order, size_t rank) {
  if (order.empty())
    return {};
  llvm::SmallVector<bool> seen(rank, false);
  bool permutation = order.size() == rank;
  for (int dim : order) {
    permutation =
        permutation && dim >= 0 && dim < static_cast<int>(rank) && !seen[dim];
    if (permutation)
      seen[dim] = true;
  }
  if (!permutation)
    emit.fail("expected the order to be a permutation of the ", rank,
              " dimensions");
  return emit.b.getDenseI32ArrayAttr(
      llvm::SmallVector<int32_t>(order.begin(), order.end()));
}

Value dsl::makeBlockPtr(const Value &base, const std::vector<Operand> &shape,
                        const std::vector<Operand> &strides,
                        const std::vector<Operand> &position,
                        const Shape &tileShape, const std::vector<int> &order,
                        SourceLocation location) {
  Emitter emit(location, base);
  mlir::Value pointer = emit.use(base);
  auto type = llvm::dyn_cast<tile::PtrType>(pointer.getType());
  if (!type)
    emit.fail("expected a pointer to one element, but got ", pointer.getType());
  if (tileShape.empty())
    emit.fail("expected a window of rank 1 or more");
  emit.checkShape(tileShape);
  size_t rank = tileShape.size();
  auto extents = offsets(emit, shape, rank, "extents");
  auto steps = offsets(emit, strides, rank, "strides");
  auto origin = offsets(emit, position, rank, "offsets");
  return emit.wrap(tile::MakeBlockPtrOp::create(
      emit.b, emit.loc,
      tile::BlockPtrType::get(tileShape, type.getPointeeType()), pointer,
      extents, steps, origin, orderAttr(emit, order, rank)));
}

Value dsl::advance(const Value &pointer, const std::vector<Operand> &distance,
                   SourceLocation location) {
  Emitter emit(location, pointer);
  mlir::Value window = emit.use(pointer);
  if (pointer.kind() != Value::Kind::BlockPointer)
    emit.fail("expected a block pointer, but got ", window.getType());
  auto values = offsets(emit, distance, pointer.rank(), "offsets");
  return emit.wrap(tile::AdvanceOp::create(emit.b, emit.loc, window.getType(),
                                           window, values));
}

//===----------------------------------------------------------------------===//
// Loads, stores, atomics
//===----------------------------------------------------------------------===//

static mlir::Value usePointer(const Emitter &emit, const Value &pointer) {
  mlir::Value value = emit.use(pointer);
  if (pointer.kind() == Value::Kind::Number)
    emit.fail("expected a pointer or a block pointer, but got ",
              value.getType());
  return value;
}

static mlir::Value useMask(const Emitter &emit, const Value &pointer,
                           const Value &mask) {
  mlir::Value value = emit.useNumber(mask);
  if (pointer.kind() == Value::Kind::BlockPointer)
    emit.fail("expected no mask with a block pointer: its bounds are the mask");
  if (!elementOf(value).isInteger(1))
    emit.fail("expected a mask of i1, but got ", value.getType());
  return emit.fitTo(value, pointer.shape(), "the mask");
}

/// What is stored or added, in the type and shape of the pointer's elements.
static mlir::Value payload(const Emitter &emit, const Value &pointer,
                           const Operand &operand, llvm::StringRef what) {
  mlir::Type element = toMlir(pointer.elementType(), emit.b.getContext());
  if (!operand.value())
    return emit.literal(operand, element, pointer.shape());
  mlir::Value value = emit.useNumber(*operand.value());
  if (elementOf(value) != element)
    emit.fail("expected ", what, " of ", element, ", but got ",
              elementOf(value), "; cast it first");
  return emit.fitTo(value, pointer.shape(), what);
}

Value dsl::load(const Value &pointer, SourceLocation location) {
  Emitter emit(location, pointer);
  mlir::Value from = usePointer(emit, pointer);
  return emit.wrap(tile::LoadOp::create(emit.b, emit.loc, from));
}

Value dsl::load(const Value &blockPointer, Padding padding,
                SourceLocation location) {
  Emitter emit(location, blockPointer);
  mlir::Value from = usePointer(emit, blockPointer);
  if (blockPointer.kind() != Value::Kind::BlockPointer)
    emit.fail("expected padding only with a block pointer, but got ",
              from.getType(), "; use a mask and 'other'");
  mlir::Type element = toMlir(blockPointer.elementType(), emit.b.getContext());
  auto floatType = llvm::dyn_cast<mlir::FloatType>(element);
  if (padding != Padding::Zero && !floatType)
    emit.fail("expected padding zero for elements of ", element);
  if (padding == Padding::NegInf &&
      !llvm::APFloat::semanticsHasInf(floatType.getFloatSemantics()))
    emit.fail("expected padding zero or NaN for elements of ", element,
              ", which has no infinity");
  return emit.wrap(tile::LoadOp::create(emit.b, emit.loc, from,
                                        static_cast<tile::Padding>(padding)));
}

Value dsl::load(const Value &pointer, const Value &mask,
                SourceLocation location) {
  Emitter emit(location, pointer);
  mlir::Value from = usePointer(emit, pointer);
  mlir::Value where = useMask(emit, pointer, mask);
  return emit.wrap(
      tile::LoadOp::create(emit.b, emit.loc, from, where, mlir::Value()));
}

Value dsl::load(const Value &pointer, const Value &mask, const Operand &other,
                SourceLocation location) {
  Emitter emit(location, pointer);
  mlir::Value from = usePointer(emit, pointer);
  mlir::Value where = useMask(emit, pointer, mask);
  mlir::Value rest = payload(emit, pointer, other, "'other'");
  return emit.wrap(tile::LoadOp::create(emit.b, emit.loc, from, where, rest));
}

void dsl::store(const Value &pointer, const Operand &value,
                SourceLocation location) {
  Emitter emit(location, pointer);
  mlir::Value to = usePointer(emit, pointer);
  tile::StoreOp::create(emit.b, emit.loc, to,
                        payload(emit, pointer, value, "the value"));
}

void dsl::store(const Value &pointer, const Operand &value, const Value &mask,
                SourceLocation location) {
  Emitter emit(location, pointer);
  mlir::Value to = usePointer(emit, pointer);
  mlir::Value what = payload(emit, pointer, value, "the value");
  tile::StoreOp::create(emit.b, emit.loc, to, what,
                        useMask(emit, pointer, mask));
}

static Value emitAtomicAdd(const Emitter &emit, const Value &pointer,
                           const Operand &value, const Value *mask) {
  mlir::Value to = usePointer(emit, pointer);
  ElementType element = pointer.elementType();
  if (elementSize(element) == 1 || element == ElementType::I16)
    emit.fail("expected elements of f64, f32, f16, bf16, i32 or i64 to add to, "
              "but got ",
              llvm::StringRef(elementTypeName(element)));
  mlir::Value what = payload(emit, pointer, value, "the value");
  mlir::Value where = mask ? useMask(emit, pointer, *mask) : mlir::Value();
  return emit.wrap(
      tile::AtomicAddOp::create(emit.b, emit.loc, to, what, where));
}

Value dsl::atomicAdd(const Value &pointer, const Operand &value,
                     SourceLocation location) {
  return emitAtomicAdd(Emitter(location, pointer), pointer, value, nullptr);
}

Value dsl::atomicAdd(const Value &pointer, const Operand &value,
                     const Value &mask, SourceLocation location) {
  return emitAtomicAdd(Emitter(location, pointer), pointer, value, &mask);
}

//===----------------------------------------------------------------------===//
// Facts, assertions, printing
//===----------------------------------------------------------------------===//

static mlir::TypedAttr bound(const Emitter &emit,
                             const std::optional<Operand> &operand,
                             mlir::Type type, llvm::StringRef name) {
  if (!operand)
    return {};
  if (operand->value())
    emit.fail("expected a literal as '", name, "'");
  mlir::TypedAttr attribute = emit.literal(*operand, type);
  if (auto real = llvm::dyn_cast<mlir::FloatAttr>(attribute))
    if (real.getValue().isNaN())
      emit.fail("expected a number as '", name, "', but got NaN");
  return attribute;
}

Value dsl::assume(const Value &scalar, const Facts &facts,
                  SourceLocation location) {
  Emitter emit(location, scalar);
  mlir::Value value = emit.useNumber(scalar);
  mlir::Type type = value.getType();
  if (!scalar.isScalar())
    emit.fail("expected a scalar, but got ", type);
  emit.checkComputes(type, "the scalar");
  mlir::IntegerAttr divisor;
  if (facts.divisor()) {
    if (!llvm::isa<mlir::IntegerType>(type))
      emit.fail("expected 'divisibleBy' on an integer, but got ", type);
    if (*facts.divisor() <= 0)
      emit.fail("expected a positive 'divisibleBy', but got ",
                *facts.divisor());
    divisor = emit.b.getI64IntegerAttr(*facts.divisor());
  }
  mlir::TypedAttr min = bound(emit, facts.minimum(), type, "min");
  mlir::TypedAttr max = bound(emit, facts.maximum(), type, "max");
  bool ordered = true;
  if (min && max) {
    if (auto low = llvm::dyn_cast<mlir::IntegerAttr>(min))
      ordered =
          low.getValue().sle(llvm::cast<mlir::IntegerAttr>(max).getValue());
    else
      ordered = llvm::cast<mlir::FloatAttr>(min).getValue() <=
                llvm::cast<mlir::FloatAttr>(max).getValue();
  }
  if (!ordered)
    emit.fail("expected 'min' <= 'max', but got ", min, " and ", max);
  return emit.wrap(
      tile::AssumeOp::create(emit.b, emit.loc, type, value, divisor, min, max));
}

void dsl::deviceAssert(const Value &condition, const std::string &text,
                       SourceLocation location) {
  Emitter emit(location, condition);
  mlir::Value value = emit.useNumber(condition);
  if (!elementOf(value).isInteger(1))
    emit.fail("expected a condition of i1, but got ", value.getType());
  tile::AssertOp::create(emit.b, emit.loc, value, text);
}

void dsl::print(const std::string &prefix, const Values &values,
                SourceLocation location) {
  Emitter emit =
      values.empty() ? Emitter(location) : Emitter(location, values.front());
  llvm::SmallVector<mlir::Value> printed;
  for (const Value &value : values)
    printed.push_back(emit.useNumber(value));
  tile::PrintOp::create(emit.b, emit.loc, prefix, printed);
}
