//===- EmitConvert.cpp - From one layout to another -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The least movement that planConversion finds: other names for the same
// registers, shuffles within a warp, or a trip through shared memory.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

#include <set>

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

/// Moves a value of any width as 32-bit words.
Value GpuEmitter::throughShuffle(Value value, function_ref<Value(Value)> move) {
  Type type = value.getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type word = b.getI32Type();
  Type same = b.getIntegerType(bits);
  Value integer = isa<FloatType>(type)
                      ? Value(arith::BitcastOp::create(b, same, value))
                      : value;
  Value moved;
  if (bits == 32) {
    moved = move(integer);
  } else if (bits < 32) {
    moved = arith::TruncIOp::create(
        b, same, move(arith::ExtUIOp::create(b, word, integer)));
  } else {
    Value low = move(arith::TruncIOp::create(b, word, integer));
    Value high = move(arith::TruncIOp::create(
        b, word, arith::ShRUIOp::create(b, integer, i64(32))));
    moved = arith::OrIOp::create(
        b, arith::ExtUIOp::create(b, same, low),
        arith::ShLIOp::create(b, arith::ExtUIOp::create(b, same, high),
                              i64(32)));
  }
  return isa<FloatType>(type) ? Value(arith::BitcastOp::create(b, type, moved))
                              : moved;
}

Value GpuEmitter::shuffleXor(Value value, int64_t mask) {
  return throughShuffle(value, [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, i32(mask),
                                i32(31), NVVM::ShflKind::bfly, UnitAttr());
  });
}

Value GpuEmitter::shuffleIndex(Value value, Value source) {
  return throughShuffle(value, [&](Value word) -> Value {
    return NVVM::ShflOp::create(b, word.getType(), i32(-1), word, source,
                                i32(31), NVVM::ShflKind::idx, UnitAttr());
  });
}

/// All values that a function of the thread takes.
static std::set<int64_t> rangeOf(const ThreadFunction &function,
                                 int64_t warps) {
  std::set<int64_t> values;
  for (int64_t warp = 0; warp < warps; ++warp)
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
      values.insert(function.evaluate(lane, warp));
  return values;
}

Registers GpuEmitter::shuffle(const Registers &from,
                              const LayoutConversion &plan, int64_t count) {
  int64_t warps =
      kernel->getAttrOfType<IntegerAttr>(tilegpu::TileGPUDialect::kNumWarpsAttr)
          .getInt();
  Registers to(count, paddingOf(from.front().getType()));
  auto equals = [&](Value index, int64_t value) {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index,
                                 i32(value));
  };
  for (const ShuffleRound &round : plan.rounds) {
    Value offered;
    Value send = threadFunction(round.send);
    for (int64_t index : rangeOf(round.send, warps))
      offered = offered ? Value(arith::SelectOp::create(b, equals(send, index),
                                                        from[index], offered))
                        : from[index];
    Value received = round.source.isLane()
                         ? offered
                         : shuffleIndex(offered, threadFunction(round.source));
    std::set<int64_t> targets = rangeOf(round.receive, warps);
    Value receive = threadFunction(round.receive);
    for (int64_t index : targets)
      to[index] = targets.size() == 1
                      ? received
                      : Value(arith::SelectOp::create(b, equals(receive, index),
                                                      received, to[index]));
  }
  return to;
}

Registers GpuEmitter::convert(const Registers &from,
                              const DistributedLayout &fromLayout,
                              const DistributedLayout &toLayout, Type element) {
  Type type = registerType(element);
  int64_t bytes = std::max(1u, type.getIntOrFloatBitWidth() / 8);
  LayoutConversion plan = planConversion(fromLayout, toLayout, bytes);
  int64_t count = toLayout.registersPerThread();
  switch (plan.kind) {
  case LayoutConversion::Kind::None:
    return from;
  case LayoutConversion::Kind::Registers: {
    Registers to;
    for (int64_t source : plan.registerMap)
      to.push_back(source < 0 ? paddingOf(type) : from[source]);
    return to;
  }
  case LayoutConversion::Kind::Lanes:
    return shuffle(from, plan, count);
  case LayoutConversion::Kind::SharedMemory:
    break;
  }
  const SharedLayout &memory = plan.trip->memory;
  Value base = scratchAddress(memory.bytes());
  barrier();
  storeShared(from, fromLayout, memory, base, element);
  barrier();
  return loadShared(toLayout, memory, base, element);
}

void GpuEmitter::emitConvert(tilegpu::ConvertLayoutOp op) {
  const Registers from = tiles.at(op.getOperand());
  tiles[op.getResult()] =
      convert(from, layoutOf(op.getOperand().getType()), layoutOf(op.getType()),
              getElementType(op.getType()));
}
