//===- EmitRoles.cpp - Producer and consumers, dispatch for sm_90a --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Consumers are the kernel's warps; the producer's warpgroup comes behind them.
// A warpgroup changes its budget of registers as a whole, so the producer's
// three other warps stay until then and have nothing more to do.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tilegpu;

bool GpuEmitter::isHopper() {
  auto target = kernel->getAttrOfType<StringAttr>(TileGPUDialect::kTargetAttr);
  return target && target == "sm_90a";
}

bool flashtile::gpu::needsHopper(Operation *op) {
  return isa<WgmmaOp, WgmmaWaitOp, MbarriersOp, MbarrierExpectOp,
             MbarrierArriveOp, MbarrierWaitOp, FenceProxyOp, TensorMapOp,
             TmaLoadOp, TmaStoreOp, TmaStoreWaitOp, WarpSpecializeOp, WordsOp,
             WriteWordOp, ReadWordOp, TakeProgramOp>(op);
}

/// Stands for a place that is known when compiling.
static bool isHandle(Type type) {
  return isa<SmemType, RingType, MbarriersType, TensorMapType, WordsType>(type);
}

LogicalResult GpuEmitter::checkHandles() {
  WalkResult walked =
      kernel.getBody().walk<WalkOrder::PreOrder>([](Operation *op) {
        if (isa<TileGPUDialect>(op->getDialect()))
          return WalkResult::advance();
        SmallVector<Type> types(op->getOperandTypes());
        llvm::append_range(types, op->getResultTypes());
        for (Region &region : op->getRegions())
          for (Block &block : region)
            llvm::append_range(types, block.getArgumentTypes());
        const auto *found = llvm::find_if(types, isHandle);
        if (found == types.end())
          return WalkResult::advance();
        op->emitOpError("cannot take or return a value of type ") << *found;
        return WalkResult::interrupt();
      });
  return failure(walked.wasInterrupted());
}

void GpuEmitter::bySingleThread(bool ofEachWarp,
                                function_ref<void()> emitCode) {
  if (role == Role::Producer)
    return emitCode(); // the region's only thread
  OpBuilder::InsertionGuard guard(b);
  if (!ofEachWarp) {
    Value isFirst =
        arith::CmpIOp::create(b, arith::CmpIPredicate::eq, self.warp, i32(0));
    auto outer = scf::IfOp::create(b, isFirst, /*withElseRegion=*/false);
    b.setInsertionPoint(outer.thenYield());
  }
  Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
  auto inner = scf::IfOp::create(b, elected, /*withElseRegion=*/false);
  b.setInsertionPoint(inner.thenYield());
  emitCode();
}

LogicalResult GpuEmitter::emitWarpSpecialize(WarpSpecializeOp op) {
  Value isProducer = arith::CmpIOp::create(b, arith::CmpIPredicate::uge,
                                           self.warp, i32(warpCount()));
  auto branch = scf::IfOp::create(b, isProducer, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  // What a role needs of the thread takes no registers in front of it.
  ThreadState outer = self;
  auto findRole = [&] {
    self = outer;
    findWarpAgain();
    findThreadAgain(); // what is found once comes behind that
  };
  auto emitRole = [&](Role which, Region &region) {
    role = which;
    stored = added = false;
    LogicalResult emitted = emitBlock(region.front());
    role = Role::All;
    return emitted;
  };
  {
    b.setInsertionPoint(branch.thenYield());
    NVVM::SetMaxRegisterOp::create(b, op.getProducerRegisters(),
                                   NVVM::SetMaxRegisterAction::decrease);
    findRole();
    Value copies =
        arith::CmpIOp::create(b, arith::CmpIPredicate::ult, self.warp,
                              i32(warpCount() + int64_t(op.getProducers())));
    auto few = scf::IfOp::create(b, copies, /*withElseRegion=*/false);
    b.setInsertionPoint(few.thenYield());
    Value elected = NVVM::ElectSyncOp::create(b, b.getI1Type(), Value());
    auto single = scf::IfOp::create(b, elected, /*withElseRegion=*/false);
    b.setInsertionPoint(single.thenYield());
    if (failed(emitRole(Role::Producer, op.getProducer())))
      return failure();
  }
  b.setInsertionPoint(branch.elseYield());
  NVVM::SetMaxRegisterOp::create(b, op.getConsumerRegisters(),
                                 NVVM::SetMaxRegisterAction::increase);
  findRole();
  LogicalResult emitted = emitRole(Role::Consumer, op.getConsumer());
  self = outer;
  return emitted;
}

std::optional<LogicalResult> GpuEmitter::emitHopperOp(Operation *op) {
  if (needsHopper(op) && !isHopper())
    return op->emitOpError("expected '")
           << TileGPUDialect::kTargetAttr << "' of the kernel to be \"sm_90a\"";
  if (auto product = dyn_cast<WgmmaOp>(op))
    return emitWgmma(product);
  if (auto roles = dyn_cast<WarpSpecializeOp>(op))
    return emitWarpSpecialize(roles);
  if (isa<MbarriersOp, TensorMapOp, WordsOp>(op))
    return success(); // made before the body
  if (auto wait = dyn_cast<WgmmaWaitOp>(op))
    emitWgmmaWait(wait);
  else if (auto expect = dyn_cast<MbarrierExpectOp>(op))
    emitMbarrierExpect(expect);
  else if (auto arrive = dyn_cast<MbarrierArriveOp>(op))
    emitMbarrierArrive(arrive);
  else if (auto wait = dyn_cast<MbarrierWaitOp>(op))
    emitMbarrierWait(wait);
  else if (auto write = dyn_cast<WriteWordOp>(op))
    emitWriteWord(write);
  else if (auto read = dyn_cast<ReadWordOp>(op))
    emitReadWord(read);
  else if (auto take = dyn_cast<TakeProgramOp>(op))
    emitTakeProgram(take);
  else if (auto named = dyn_cast<NamedBarrierOp>(op))
    emitNamedBarrier(named);
  else if (isa<FenceProxyOp>(op))
    emitFenceProxy();
  else if (auto load = dyn_cast<TmaLoadOp>(op))
    emitTmaLoad(load);
  else if (auto store = dyn_cast<TmaStoreOp>(op))
    emitTmaStore(store);
  else if (auto wait = dyn_cast<TmaStoreWaitOp>(op))
    emitTmaStoreWait(wait);
  else if (auto store = dyn_cast<StoreSharedOp>(op))
    return emitStoreShared(store);
  else
    return std::nullopt;
  return success();
}
