//===- EmitBarriers.cpp - Barriers and fences -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers, and words that roles tell each other, lie behind everything else
// in shared memory; where that is, is known when the body has been emitted.
// Arrivals are predicated instructions, not branches: control flow around
// products makes ptxas serialise them.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;

static constexpr int64_t bytesOfBarrier = 8, bytesOfWord = 4;

Value GpuEmitter::inlinePtx(Type type, const Twine &text,
                            const Twine &constraints, ValueRange operands) {
  auto code = LLVM::InlineAsmOp::create(
      b, type ? TypeRange(type) : TypeRange(), operands, text.str(),
      constraints.str(), /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
  return type ? code.getResult(0) : Value();
}

void GpuEmitter::barrier() {
  switch (role) {
  case Role::All:
    NVVM::BarrierOp::create(b);
    return;
  case Role::Consumer: // the producer does not take part
    NVVM::BarrierOp::create(b, /*res=*/Type(), i32(kConsumerBarrier),
                            i32(lanesPerWarp * warpCount()),
                            /*reductionOp=*/nullptr,
                            /*reductionPredicate=*/Value());
    return;
  case Role::Producer: // a single thread
    return;
  }
}

Value GpuEmitter::anyThread(Value condition) {
  if (role == Role::Producer)
    return condition; // a single thread
  // NVVM::BarrierOp with a number of threads has no reduction.
  std::string name = "llvm.nvvm.barrier.cta.red.or.aligned.";
  SmallVector<Value> operands = {i32(0)};
  if (role == Role::Consumer) // the producer does not take part
    operands = {i32(kConsumerBarrier), i32(lanesPerWarp * warpCount())};
  name += role == Role::Consumer ? "count" : "all";
  operands.push_back(condition);
  Value any = LLVM::CallIntrinsicOp::create(b, b.getI1Type(),
                                            b.getStringAttr(name), operands)
                  .getResult(0);
  // Accesses of global memory are in order here.
  stored = loaded = added = false;
  return any;
}

Value GpuEmitter::firstLane() {
  return oncePerThread("first lane", [&]() -> Value {
    return arith::ExtUIOp::create(
        b, b.getI32Type(),
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, self.lane, i32(0)));
  });
}

void GpuEmitter::makeMbarriers() {
  SmallVector<tilegpu::MbarriersOp> makers;
  SmallVector<tilegpu::WordsOp> words;
  for (Operation &op : kernel.getBody().front()) {
    if (auto maker = dyn_cast<tilegpu::MbarriersOp>(op))
      makers.push_back(maker);
    if (auto maker = dyn_cast<tilegpu::WordsOp>(op))
      words.push_back(maker);
  }
  if (makers.empty() && words.empty())
    return;
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(entryEnd);
    mbarrierOffset = i32(0).getDefiningOp(); // set by placeMbarriers
    mbarrierBase =
        arith::AddIOp::create(b, sharedBase, mbarrierOffset->getResult(0));
  }
  Value index = arith::OrIOp::create(b, self.warp, self.lane);
  Value first =
      arith::CmpIOp::create(b, arith::CmpIPredicate::eq, index, i32(0));
  auto guard = scf::IfOp::create(b, first, /*withElseRegion=*/false);
  {
    OpBuilder::InsertionGuard restore(b);
    b.setInsertionPoint(guard.thenYield());
    for (tilegpu::MbarriersOp maker : makers) {
      mbarriers[maker.getBarriers()] = mbarrierBytes;
      for (int64_t index = 0; index < maker.getBarriers().getType().getCount();
           ++index) {
        Value address =
            arith::AddIOp::create(b, mbarrierBase, i32(mbarrierBytes));
        inlinePtx(Type(),
                  "mbarrier.init.shared::cta.b64 [$0], " +
                      Twine(maker.getArrivals()) + ";",
                  "r,~{memory}", address);
        mbarrierBytes += bytesOfBarrier;
      }
    }
    // Visible to other proxies before anyone uses them.
    inlinePtx(Type(), "fence.mbarrier_init.release.cluster;", "~{memory}", {});
    inlinePtx(Type(), "fence.proxy.async;", "~{memory}", {});
  }
  NVVM::BarrierOp::create(b);
  // Whoever reads a word waits for it at a barrier.
  for (tilegpu::WordsOp maker : words) {
    mbarriers[maker.getWords()] = mbarrierBytes;
    mbarrierBytes += maker.getWords().getType().getCount() * bytesOfWord;
  }
}

void GpuEmitter::placeMbarriers() {
  if (mbarrierOffset)
    mbarrierOffset->setAttr("value", b.getI32IntegerAttr(sharedSize));
}

Value GpuEmitter::mbarrierAddress(Value barriers, Value index) {
  int64_t bytes = isa<tilegpu::WordsType>(barriers.getType()) ? bytesOfWord
                                                              : bytesOfBarrier;
  Value offset = arith::MulIOp::create(b, scalar(index), i32(bytes));
  Value start =
      arith::AddIOp::create(b, mbarrierBase, i32(mbarriers.lookup(barriers)));
  return arith::AddIOp::create(b, start, offset);
}

void GpuEmitter::emitMbarrierExpect(tilegpu::MbarrierExpectOp op) {
  Value address = mbarrierAddress(op.getBarriers(), op.getIndex());
  bySingleThread(/*ofEachWarp=*/false, [&] {
    inlinePtx(Type(),
              "mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], " +
                  Twine(op.getBytes()) + ";",
              "r,~{memory}", address);
  });
}

void GpuEmitter::emitMbarrierArrive(tilegpu::MbarrierArriveOp op) {
  Value address = mbarrierAddress(op.getBarriers(), op.getIndex());
  if (role == Role::Producer) {
    inlinePtx(Type(), "mbarrier.arrive.shared::cta.b64 _, [$0];", "r,~{memory}",
              address);
    return;
  }
  inlinePtx(Type(),
            "{\n.reg .pred p;\nsetp.ne.b32 p, $1, 0;\n"
            "@p mbarrier.arrive.shared::cta.b64 _, [$0];\n}",
            "r,r,~{memory}", {address, firstLane()});
}

void GpuEmitter::emitMbarrierWait(tilegpu::MbarrierWaitOp op) {
  Value address = mbarrierAddress(op.getBarriers(), op.getIndex());
  inlinePtx(Type(),
            "{\n.reg .pred p;\nW_${:uid}:\n"
            "mbarrier.try_wait.parity.shared::cta.b64 p, [$0], $1;\n"
            "@!p bra W_${:uid};\n}",
            "r,r,~{memory}", {address, scalar(op.getPhase())});
}

void GpuEmitter::emitWriteWord(tilegpu::WriteWordOp op) {
  inlinePtx(
      Type(), "st.shared.u32 [$0], $1;", "r,r,~{memory}",
      {mbarrierAddress(op.getWords(), op.getIndex()), scalar(op.getValue())});
}

void GpuEmitter::emitReadWord(tilegpu::ReadWordOp op) {
  Value address = mbarrierAddress(op.getWords(), op.getIndex());
  if (role == Role::Producer) {
    scalars.map(op.getResult(),
                inlinePtx(b.getI32Type(), "ld.shared.u32 $0, [$1];",
                          "=r,r,~{memory}", address));
    return;
  }
  // The lane reads that arrives for its warp: others might read after that,
  // when the next word is there. Also ptxas sees that all lanes get the same.
  Value word = inlinePtx(b.getI32Type(),
                         "{\n.reg .pred p;\nsetp.ne.b32 p, $2, 0;\n"
                         "mov.b32 $0, 0;\n@p ld.shared.u32 $0, [$1];\n}",
                         "=&r,r,r,~{memory}", {address, firstLane()});
  scalars.map(op.getResult(), shuffleIndex(word, i32(0)));
}

void GpuEmitter::emitTakeProgram(tilegpu::TakeProgramOp op) {
  Value blocks = readAgain(b, "nctaid.x");
  Value programs = scalar(op.getPrograms());
  Value last = arith::SubIOp::create(b, programs, i32(1));
  // Behind the last of all, the counter is 0 for the next launch.
  scalars.map(op.getResult(),
              inlinePtx(b.getI32Type(),
                        "{\n.reg .pred p;\nsetp.lt.u32 p, $2, $3;\n"
                        "mov.u32 $0, 0;\n"
                        "@p atom.relaxed.gpu.global.inc.u32 $0, [$1], $4;\n}",
                        "=&r,l,r,r,r,~{memory}",
                        {programCounter, blocks, programs, last}));
}

void GpuEmitter::emitNamedBarrier(tilegpu::NamedBarrierOp op) {
  Value threads = i32(op.getThreads());
  if (op.getArrive())
    inlinePtx(Type(), "bar.arrive $0, $1;", "r,n,~{memory}",
              {scalar(op.getId()), threads});
  else
    NVVM::BarrierOp::create(b, /*res=*/Type(), scalar(op.getId()), threads,
                            /*reductionOp=*/nullptr,
                            /*reductionPredicate=*/Value());
}

void GpuEmitter::emitFenceProxy() {
  inlinePtx(Type(), "fence.proxy.async.shared::cta;", "~{memory}", {});
  // One lane arrives or copies for its warp: the others' fences come first.
  if (role != Role::Producer)
    NVVM::SyncWarpOp::create(b, i32(-1));
}

/// Compares with the bits of a NaN that no instruction makes. One element is
/// enough, and leaves the order of the others to the assembler: which mixes
/// what stands on both sides of a load that depends on it, but not of a branch.
void GpuEmitter::emitScheduleFence(tilegpu::ScheduleFenceOp op) {
  const Registers &values = tiles.at(op.getTile());
  Value element = op.getFirst() ? values.front() : values.back();
  Value word = arith::BitcastOp::create(b, b.getI32Type(), element);
  if (op.getFirst()) {
    inlinePtx(Type(),
              "{ .reg .pred p; .reg .b32 a; setp.eq.b32 p, $0, 0x7fc0dead; "
              "mov.u32 a, 0; @p ld.volatile.shared.b32 a, [a]; }",
              "r,~{memory}", {word});
    return;
  }
  inlinePtx(Type(),
            "{ .reg .pred p; setp.eq.b32 p, $0, 0x7fc0dead; "
            "@!p bra FENCE_${:uid}; nanosleep.u32 0; FENCE_${:uid}: }",
            "r,~{memory}", {word});
}
