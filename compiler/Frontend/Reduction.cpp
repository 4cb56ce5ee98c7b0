//===- Reduction.cpp - Reductions and scans -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Combiners are C++ functions that are called once, on the arguments of the
// region, and so write its body.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Emitter.h"
#include "compiler/Frontend/Functions.h"

#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;

template <typename Op>
static Value reduceAxis(llvm::StringRef name, const Value &operand, int axis,
                        SourceLocation location) {
  Emitter emit(location, operand);
  mlir::Value value = emit.useNumberTile(operand);
  emit.checkComputes(elementOf(value), message("the operand of '", name, "'"));
  if (std::is_same_v<Op, tile::SumOp> && elementOf(value).isInteger(1))
    emit.fail("expected the operand of 'sum' to be a number, but got i1; cast "
              "to i32 first");
  return emit.wrap(
      Op::create(emit.b, emit.loc, value, emit.axis(axis, operand.rank())));
}

Value dsl::max(const Value &operand, int axis, SourceLocation location) {
  return reduceAxis<tile::MaxOp>("max", operand, axis, location);
}

Value dsl::min(const Value &operand, int axis, SourceLocation location) {
  return reduceAxis<tile::MinOp>("min", operand, axis, location);
}

Value dsl::sum(const Value &operand, int axis, SourceLocation location) {
  return reduceAxis<tile::SumOp>("sum", operand, axis, location);
}

/// Reduces an i1 tile over all dimensions, the last first.
template <typename Op>
static Value reduceBools(llvm::StringRef name, const Value &operand,
                         SourceLocation location) {
  Emitter emit(location, operand);
  if (!elementOf(emit.useTile(operand)).isInteger(1))
    emit.fail("expected the operand of '", name,
              "' to be a tile of i1, but "
              "got ",
              operand.typeText());
  Value result = operand;
  while (!result.isScalar())
    result = reduceAxis<Op>(name, result, -1, location);
  return result;
}

Value dsl::any(const Value &operand, SourceLocation location) {
  return reduceBools<tile::MaxOp>("any", operand, location);
}

Value dsl::all(const Value &operand, SourceLocation location) {
  return reduceBools<tile::MinOp>("all", operand, location);
}

//===----------------------------------------------------------------------===//
// Combiners
//===----------------------------------------------------------------------===//

/// The operands of a reduction or scan, checked.
static llvm::SmallVector<mlir::Value>
combined(const Emitter &emit, llvm::StringRef name, const Values &operands) {
  llvm::SmallVector<mlir::Value> values;
  for (const Value &operand : operands) {
    mlir::Value value = emit.useNumberTile(operand);
    emit.checkComputes(elementOf(value),
                       message("the operands of '", name, "'"));
    if (shapeOf(value) != shapeOf(values.empty() ? value : values.front()))
      emit.fail("expected tiles of one shape, but got ",
                values.front().getType(), " and ", value.getType());
    values.push_back(value);
  }
  return values;
}

/// Fills `region` with what `combiner` does to its arguments.
static void buildCombiner(const Emitter &emit, mlir::Region &region,
                          llvm::ArrayRef<mlir::Value> operands,
                          const MultiCombiner &combiner) {
  mlir::Block &block = region.emplaceBlock();
  Values lhs, rhs;
  for (Values *side : {&lhs, &rhs})
    for (mlir::Value operand : operands)
      side->push_back(
          emit.wrap(block.addArgument(elementOf(operand), emit.loc)));
  withinBlock(emit.state, &block, [&] {
    Values results = combiner(lhs, rhs);
    if (results.size() != operands.size())
      emit.fail("expected the combiner to return ", operands.size(),
                " values, but got ", results.size());
    llvm::SmallVector<mlir::Value> yielded;
    for (auto [index, result] : llvm::enumerate(results)) {
      mlir::Value value = emit.use(result);
      if (value.getType() != elementOf(operands[index]))
        emit.fail("expected the combiner's value ", index, " to be of type ",
                  elementOf(operands[index]), ", but got ", value.getType());
      yielded.push_back(value);
    }
    for (mlir::Operation &op : block)
      if (!mlir::isMemoryEffectFree(&op) || op.getNumRegions())
        emit.fail("expected a combiner of scalar operations without side "
                  "effects, but got '",
                  op.getName().getStringRef(), "'");
    tile::YieldOp::create(emit.b, emit.loc, yielded);
  });
}

Values dsl::reduce(const Values &operands, int axis,
                   const MultiCombiner &combiner, SourceLocation location) {
  if (operands.empty())
    throw Error(ErrorCode::Compile, "expected a tile to reduce, but got none",
                location);
  Emitter emit(location, operands.front());
  auto values = combined(emit, "reduce", operands);
  int32_t along = emit.axis(axis, operands.front().rank());
  auto op = tile::ReduceOp::create(emit.b, emit.loc, values, along);
  buildCombiner(emit, op.getCombiner(), values, combiner);
  Values results;
  for (mlir::Value result : op.getResults())
    results.push_back(emit.wrap(result));
  return results;
}

Values dsl::scan(const Values &operands, int axis,
                 const MultiCombiner &combiner, Direction direction,
                 SourceLocation location) {
  if (operands.empty())
    throw Error(ErrorCode::Compile, "expected a tile to scan, but got none",
                location);
  Emitter emit(location, operands.front());
  auto values = combined(emit, "scan", operands);
  int32_t along = emit.axis(axis, operands.front().rank());
  auto op = tile::ScanOp::create(emit.b, emit.loc,
                                 mlir::ValueRange(values).getTypes(), values,
                                 along, direction == Direction::Reverse);
  buildCombiner(emit, op.getCombiner(), values, combiner);
  Values results;
  for (mlir::Value result : op.getResults())
    results.push_back(emit.wrap(result));
  return results;
}

static MultiCombiner asMulti(const Combiner &combiner) {
  return [&combiner](const Values &lhs, const Values &rhs) {
    return Values{combiner(lhs.front(), rhs.front())};
  };
}

Value dsl::reduce(const Value &operand, int axis, const Combiner &combiner,
                  SourceLocation location) {
  return reduce(Values{operand}, axis, asMulti(combiner), location).front();
}

Value dsl::scan(const Value &operand, int axis, const Combiner &combiner,
                Direction direction, SourceLocation location) {
  return scan(Values{operand}, axis, asMulti(combiner), direction, location)
      .front();
}

//===----------------------------------------------------------------------===//
// Helpers on top
//===----------------------------------------------------------------------===//

Value dsl::cumsum(const Value &operand, int axis, Direction direction,
                  SourceLocation location) {
  Emitter emit(location, operand);
  mlir::Type element = elementOf(emit.useNumber(operand));
  if (element.isInteger(1))
    emit.fail("expected the operand of 'cumsum' to be a number, but got i1; "
              "cast to i32 first");
  bool narrow = element.isF16() || element.isBF16();
  Value wide = narrow ? cast(operand, ElementType::F32, location) : operand;
  Value sums = scan(
      wide, axis,
      [location](const Value &lhs, const Value &rhs) {
        return Operand(lhs, location) + Operand(rhs, location);
      },
      direction, location);
  return narrow ? cast(sums, operand.elementType(), location) : sums;
}

/// Position of the extreme element; `beats` compares two elements.
static ValueAndIndex argExtreme(llvm::StringRef name, const Value &operand,
                                int axis, const Combiner &beats,
                                SourceLocation location) {
  Emitter emit(location, operand);
  emit.useNumberTile(operand);
  emit.checkComputes(elementOf(emit.use(operand)),
                     message("the operand of '", name, "'"));
  int32_t along = emit.axis(axis, operand.rank());

  // The positions along the axis, in the operand's shape.
  llvm::SmallVector<int64_t> line(operand.rank(), 1);
  line[along] = operand.shape()[along];
  mlir::Value positions = tile::ArangeOp::create(
      emit.b, emit.loc, 0, static_cast<int32_t>(line[along]));
  if (operand.rank() > 1)
    positions = tile::ReshapeOp::create(emit.b, emit.loc,
                                        typeOf(line, emit.i32()), positions);
  positions = emit.broadcast(positions, operand.shape());

  bool floats = isFloat(operand.elementType());
  auto at = [location](const Value &value) { return Operand(value, location); };
  auto combine = [&](const Values &lhs, const Values &rhs) {
    Value better = beats(lhs[0], rhs[0]);
    Value tie = at(lhs[0]) == at(rhs[0]);
    if (floats) {
      Value lhsNaN = isNaN(lhs[0], location), rhsNaN = isNaN(rhs[0], location);
      better = at(better) | at(at(lhsNaN) & at(!at(rhsNaN)));
      tie = at(tie) | at(at(lhsNaN) & at(rhsNaN));
    }
    Value earlier = at(lhs[1]) < at(rhs[1]);
    Value take = at(better) | at(at(tie) & at(earlier));
    return Values{where(take, lhs[0], rhs[0], location),
                  where(take, lhs[1], rhs[1], location)};
  };
  Values results = reduce(Values{operand, emit.wrap(positions)}, along,
                          MultiCombiner(combine), location);
  return {results[0], results[1]};
}

/// i1 has no `<`; false < true means rhs & !lhs.
static Value less(const Value &lhs, const Value &rhs, SourceLocation location) {
  Operand left(lhs, location), right(rhs, location);
  if (lhs.elementType() == ElementType::I1)
    return right & Operand(!left, location);
  return left < right;
}

ValueAndIndex dsl::argmax(const Value &operand, int axis,
                          SourceLocation location) {
  return argExtreme(
      "argmax", operand, axis,
      [location](const Value &lhs, const Value &rhs) {
        return less(rhs, lhs, location);
      },
      location);
}

ValueAndIndex dsl::argmin(const Value &operand, int axis,
                          SourceLocation location) {
  return argExtreme(
      "argmin", operand, axis,
      [location](const Value &lhs, const Value &rhs) {
        return less(lhs, rhs, location);
      },
      location);
}
