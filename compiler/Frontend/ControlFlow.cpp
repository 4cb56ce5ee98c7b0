//===- ControlFlow.cpp - Loops and branches of a kernel -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bodies are C++ functions that are called once and so write the region. They
// are called from here, never from a callback of MLIR, since they may throw.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/ControlFlow.h"
#include "compiler/Frontend/Emitter.h"

#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;
namespace arith = mlir::arith;
namespace scf = mlir::scf;

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

namespace {
/// A loop that counts up, and how its counter gives the author's.
struct Range {
  mlir::Value lower, upper, step;
  /// Set for a negative step: the author's counter is `top` - counter.
  mlir::Value top;
};
} // namespace

/// The type of a counter: i64 if a bound needs it, else i32.
static mlir::Type counterType(const Emitter &emit,
                              std::initializer_list<const Operand *> operands) {
  bool wide = false;
  for (const Operand *operand : operands) {
    if (const Value *value = operand->value())
      wide |= emit.useScalarInteger(*value, "the bounds of a loop")
                  .getType()
                  .isInteger(64);
    else if (const int64_t *integer = operand->integer())
      wide |= !llvm::isInt<32>(*integer);
    else
      emit.fail("expected the bounds of a loop to be integers");
  }
  return wide ? emit.i64() : emit.i32();
}

static bool isEvidentlyPositive(mlir::Value step) {
  if (auto assume = step.getDefiningOp<tile::AssumeOp>()) {
    auto min = llvm::dyn_cast_or_null<mlir::IntegerAttr>(assume.getMinAttr());
    return min && min.getValue().isStrictlyPositive();
  }
  return step.getDefiningOp<tile::NumProgramsOp>() != nullptr;
}

static Range makeRange(const Emitter &emit, const Operand &lower,
                       const Operand &upper, const Operand &step) {
  mlir::Type type = counterType(emit, {&lower, &upper, &step});
  auto bound = [&](const Operand &operand) {
    return emit.number(operand, type, "the bounds of a loop");
  };
  Range range;
  if (const int64_t *literal = step.integer()) {
    if (*literal == 0)
      emit.fail("expected a step other than 0");
    if (*literal < 0) {
      // i = lower - j for j = 0, |step|, ... < lower - upper.
      if (*literal < -INT64_C(0x7fffffff))
        emit.fail("expected a step of at least -2147483647, but got ",
                  *literal);
      range.top = bound(lower);
      range.lower = emit.literal(Operand(0), type, {});
      range.upper =
          arith::SubIOp::create(emit.b, emit.loc, range.top, bound(upper));
      range.step = emit.literal(Operand(-*literal), type, {});
      return range;
    }
    range.step = emit.literal(step, type, {});
  } else {
    mlir::Value value = emit.use(*step.value());
    if (!isEvidentlyPositive(value)) {
      mlir::Value zero = emit.literal(Operand(0), value.getType(), {});
      mlir::Value positive = arith::CmpIOp::create(
          emit.b, emit.loc, arith::CmpIPredicate::sgt, value, zero);
      tile::AssertOp::create(emit.b, emit.loc, positive,
                             "expected a positive step of a loop");
    }
    range.step = emit.widen(value, type);
  }
  range.lower = bound(lower);
  range.upper = bound(upper);
  return range;
}

/// What a region gives back, checked against `types`.
static llvm::SmallVector<mlir::Value>
returned(const Emitter &emit, const Values &values, mlir::TypeRange types,
         llvm::StringRef what, llvm::StringRef each) {
  if (values.size() != types.size())
    emit.fail("expected ", what, " to return ", types.size(),
              " values, but got ", values.size());
  llvm::SmallVector<mlir::Value> results;
  for (auto [index, value] : llvm::enumerate(values)) {
    mlir::Value result = emit.use(value);
    if (result.getType() != types[index])
      emit.fail("expected ", each, " ", index, " to keep its type ",
                types[index], ", but ", what, " returns ", result.getType());
    results.push_back(result);
  }
  return results;
}

Values detail::forRange(const Operand &lower, const Operand &upper,
                        const Operand &step, const Values &init,
                        const LoopBody &body, SourceLocation location) {
  Operand carrier = init.empty() ? Operand(0) : Operand(init.front());
  Emitter emit(location, {&lower, &upper, &step, &carrier});
  llvm::SmallVector<mlir::Value> carried;
  for (const Value &value : init)
    carried.push_back(emit.use(value));
  Range range = makeRange(emit, lower, upper, step);
  auto loop = scf::ForOp::create(emit.b, emit.loc, range.lower, range.upper,
                                 range.step, carried);
  mlir::Block *block = loop.getBody();
  // Without results MLIR adds the terminator itself.
  if (!block->empty())
    block->back().erase();

  withinBlock(emit.state, block, [&] {
    mlir::Value counter = loop.getInductionVar();
    if (range.top)
      counter = arith::SubIOp::create(emit.b, emit.loc, range.top, counter);
    Values arguments;
    for (mlir::Value argument : loop.getRegionIterArgs())
      arguments.push_back(emit.wrap(argument));
    auto results = returned(emit, body(emit.wrap(counter), arguments),
                            mlir::ValueRange(carried).getTypes(),
                            "the loop's body", "carried value");
    scf::YieldOp::create(emit.b, emit.loc, results);
  });

  Values results;
  for (mlir::Value result : loop.getResults())
    results.push_back(emit.wrap(result));
  return results;
}

//===----------------------------------------------------------------------===//
// Branches
//===----------------------------------------------------------------------===//

Values detail::ifThenElse(const Value &condition,
                          const std::function<Values()> &onTrue,
                          const std::function<Values()> &onFalse,
                          SourceLocation location) {
  Emitter emit(location, condition);
  mlir::Value flag = emit.use(condition);
  if (!flag.getType().isInteger(1))
    emit.fail("expected a condition of type i1, but got ", flag.getType(),
              llvm::isa<mlir::RankedTensorType>(flag.getType())
                  ? "; 'any', 'all' or 'where' may be meant"
                  : "");

  // The results' types are known once the branches are written, so they are
  // written into an operation without results and then move.
  auto draft = scf::IfOp::create(emit.b, emit.loc, mlir::TypeRange(), flag,
                                 /*addThenBlock=*/true,
                                 /*addElseBlock=*/bool(onFalse));
  auto branch = [&](mlir::Region &region, const std::function<Values()> &body,
                    auto check) {
    mlir::Block *block = &region.front();
    if (!block->empty())
      block->back().erase();
    return withinBlock(emit.state, block, [&] {
      llvm::SmallVector<mlir::Value> results = check(body());
      scf::YieldOp::create(emit.b, emit.loc, results);
      return results;
    });
  };
  auto values =
      branch(draft.getThenRegion(), onTrue, [&](const Values &results) {
        llvm::SmallVector<mlir::Value> used;
        for (const Value &result : results)
          used.push_back(emit.use(result));
        return used;
      });
  mlir::TypeRange types = mlir::ValueRange(values).getTypes();
  if (onFalse)
    branch(draft.getElseRegion(), onFalse, [&](const Values &results) {
      return returned(emit, results, types, "the other branch", "result");
    });

  auto op = scf::IfOp::create(emit.b, emit.loc, types, flag,
                              /*addThenBlock=*/false, /*addElseBlock=*/false);
  op.getThenRegion().takeBody(draft.getThenRegion());
  op.getElseRegion().takeBody(draft.getElseRegion());
  draft.erase();
  Values results;
  for (mlir::Value result : op.getResults())
    results.push_back(emit.wrap(result));
  return results;
}
