//===- EmitControl.cpp - While loops, chosen windows, order of accesses ---===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Within a program a load sees the stores before it and none of those after it,
// whichever threads make them: barriers separate them where one may touch what
// another thread does.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileGPUToLLVM/ProductCalls.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

//===----------------------------------------------------------------------===//
// Order of accesses
//===----------------------------------------------------------------------===//

void GpuEmitter::orderLoads() {
  if (stored || added) {
    barrier();
    stored = loaded = added = false;
  }
  loaded = true;
}

void GpuEmitter::orderStores() {
  if (stored || loaded || added) {
    barrier();
    loaded = added = false;
  }
  stored = true;
}

/// Whether an addition's old value is of no interest.
static bool isPlainAddition(Operation *op) {
  return isa<tilegpu::AtomicAddOp, AtomicAddOp>(op) && op->use_empty();
}

void GpuEmitter::orderAdditions(Operation *op) {
  if (!isPlainAddition(op))
    return orderStores();
  if (stored || loaded) {
    barrier();
    stored = loaded = false;
  }
  added = true;
}

void GpuEmitter::expectAccessesOf(Region &region) {
  region.walk([&](Operation *op) {
    loaded |= isa<tilegpu::LoadOp, LoadOp>(op);
    added |= isPlainAddition(op);
    stored |=
        isa<tilegpu::StoreOp, StoreOp, tilegpu::AtomicAddOp, AtomicAddOp>(op) &&
        !isPlainAddition(op);
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

void GpuEmitter::checkStep(scf::ForOp loop) {
  if (!checksStep(loop))
    return;
  Value step = scalar(loop.getStep());
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(step.getType()));
  auto wrong = loop.getUnsignedCmp() ? arith::CmpIPredicate::ule
                                     : arith::CmpIPredicate::sle;
  emitCheck(arith::CmpIOp::create(b, wrong, step, zero),
            "loop step must be positive");
}

LogicalResult GpuEmitter::emitWhile(scf::WhileOp loop) {
  SmallVector<Value> inits;
  for (Value init : loop.getInits())
    flatten(init, inits);
  SmallVector<Type> types;
  for (Value result : loop.getResults())
    llvm::append_range(types, flattenedTypes(result));
  // Accesses late in an iteration come before those early in the next, unless
  // that is another program.
  bool hasPrograms = loop->hasAttr(tilegpu::TileGPUDialect::kProgramsAttr);
  if (!hasPrograms)
    for (Region &region : loop->getRegions())
      expectAccessesOf(region);
  auto newLoop = scf::WhileOp::create(b, types, inits);
  auto emitRegion = [&](Block &from, Region &region, TypeRange arguments,
                        function_ref<void()> terminate) -> LogicalResult {
    Block *to = region.empty() ? &region.emplaceBlock() : &region.front();
    if (to->getNumArguments() == 0)
      to->addArguments(arguments,
                       SmallVector<Location>(arguments.size(), b.getLoc()));
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(to);
    ValueRange parts = to->getArguments();
    for (Value argument : from.getArguments())
      bind(argument, parts);
    // What a program needs of the thread takes no registers in all of them. A
    // producer is one thread, which may not shuffle.
    ThreadState outer = self;
    if (hasPrograms && role == Role::Consumer &&
        &region == &newLoop.getAfter()) {
      findWarpAgain();
      findThreadAgain(); // what is found once comes behind that
    }
    if (failed(emitBlock(from)))
      return failure();
    self = outer;
    terminate();
    return success();
  };
  auto flattened = [&](ValueRange values) {
    SmallVector<Value> parts;
    for (Value value : values)
      flatten(value, parts);
    return parts;
  };
  scf::ConditionOp condition = loop.getConditionOp();
  if (failed(emitRegion(*loop.getBeforeBody(), newLoop.getBefore(),
                        ValueRange(inits).getTypes(), [&] {
                          scf::ConditionOp::create(
                              b, scalar(condition.getCondition()),
                              flattened(condition.getArgs()));
                        })))
    return failure();
  // The loop ends here, whatever barriers its other region has.
  bool storedBefore = stored, loadedBefore = loaded, addedBefore = added;
  if (failed(emitRegion(*loop.getAfterBody(), newLoop.getAfter(), types, [&] {
        scf::YieldOp::create(b, flattened(loop.getYieldOp().getOperands()));
      })))
    return failure();
  stored |= storedBefore;
  loaded |= loadedBefore;
  added |= addedBefore;
  ValueRange results = newLoop.getResults();
  for (Value result : loop.getResults())
    bind(result, results);
  return success();
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

void GpuEmitter::emitWindowSelect(arith::SelectOp op) {
  Value condition = scalar(op.getCondition());
  const GpuWindow yes = windows.at(op.getTrueValue()),
                  no = windows.at(op.getFalseValue());
  auto choose = [&](Value x, Value y) -> Value {
    return x == y ? x : Value(arith::SelectOp::create(b, condition, x, y));
  };
  auto chooseAll = [&](ArrayRef<Value> x, ArrayRef<Value> y) {
    SmallVector<Value, 4> chosen;
    for (auto [one, other] : llvm::zip(x, y))
      chosen.push_back(choose(one, other));
    return chosen;
  };
  windows[op.getResult()] = {
      choose(yes.base, no.base), chooseAll(yes.shape, no.shape),
      chooseAll(yes.strides, no.strides), chooseAll(yes.offsets, no.offsets)};
}
