//===- EmitTma.cpp - Copies by TMA, and tiles that they take --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensor maps are parameters of the function, in constant memory: an address of
// a copy in local memory would be wrong, which nvvm.grid_constant prevents. A
// tile that is wider than its swizzle's span is copied box by box.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Layout/LayoutPart.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;

SmallVector<tilegpu::TensorMapOp>
flashtile::gpu::tensorMapsOf(tile::KernelOp kernel) {
  SmallVector<tilegpu::TensorMapOp> maps;
  kernel.getBody().walk([&](tilegpu::TensorMapOp op) { maps.push_back(op); });
  return maps;
}

/// One entry of tilegpu.tensor_maps, in the form of LaunchAttributes.h.
static Attribute describe(Builder &builder, tilegpu::TensorMapOp op) {
  tilegpu::TensorMapType type = op.getType();
  SmallVector<int64_t> box(llvm::reverse(type.getShape()));
  box.front() = type.getBoxColumns();
  SmallVector<NamedAttribute> entries = {
      builder.getNamedAttr("argument",
                           builder.getI64IntegerAttr(op.getArgument())),
      builder.getNamedAttr("element", TypeAttr::get(type.getElementType())),
      builder.getNamedAttr("swizzle",
                           builder.getI64IntegerAttr(type.getSwizzle())),
      builder.getNamedAttr("box", builder.getDenseI64ArrayAttr(box)),
      builder.getNamedAttr("extents", op.getExtents()),
      builder.getNamedAttr("strides", op.getStrides()),
      builder.getNamedAttr(
          "padding", builder.getStringAttr(stringifyPadding(op.getPadding())))};
  if (Attribute offset = op.getOffsetAttr())
    entries.push_back(builder.getNamedAttr("offset", offset));
  return builder.getDictionaryAttr(entries);
}

void flashtile::gpu::declareTensorMaps(LLVM::LLVMFuncOp function,
                                       ArrayRef<tilegpu::TensorMapOp> maps,
                                       unsigned firstParameter) {
  if (maps.empty())
    return;
  constexpr int64_t kBytes = 128;
  Builder builder(function.getContext());
  auto bytes = LLVM::LLVMArrayType::get(builder.getI8Type(), kBytes);
  SmallVector<Attribute> descriptions;
  for (auto [position, map] : llvm::enumerate(maps)) {
    unsigned parameter = firstParameter + position;
    function.setArgAttr(parameter, LLVM::LLVMDialect::getByValAttrName(),
                        TypeAttr::get(bytes));
    // 64 would do for drivers before CUDA 13.
    function.setArgAttr(parameter, LLVM::LLVMDialect::getAlignAttrName(),
                        builder.getI64IntegerAttr(kBytes));
    function.setArgAttr(parameter, NVVM::NVVMDialect::getGridConstantAttrName(),
                        builder.getUnitAttr());
    descriptions.push_back(describe(builder, map));
  }
  function->setAttr(tilegpu::kTensorMapsAttr,
                    builder.getArrayAttr(descriptions));
}

/// Coordinates of one box, as operands from `place` on: "{$3, $4}".
static std::string coordinateList(size_t place, size_t count) {
  std::string text = "{";
  for (size_t index = 0; index < count; ++index)
    text += (index ? ", $" : "$") + std::to_string(place + index);
  return text + "}";
}

void GpuEmitter::forBoxes(
    tilegpu::TensorMapType map, Value slot, ValueRange coordinates, bool byWarp,
    function_ref<void(Value address, ArrayRef<Value> at)> copy,
    function_ref<void()> finish) {
  SharedLayout memory = sharedLayoutOf(cast<tilegpu::SmemType>(slot.getType()));
  Value start = smemAddress(slot);
  SmallVector<Value> at;
  for (Value coordinate : coordinates)
    at.push_back(scalar(coordinate));
  if (byWarp) {
    // Rows follow each other in memory, one span each.
    Value row = arith::MulIOp::create(b, self.warp, i32(map.getRows()));
    at[1] = arith::AddIOp::create(b, at[1], row);
    start = arith::AddIOp::create(
        b, start, arith::MulIOp::create(b, row, i32(memory.rowStride())));
  }
  const Value first = at.front();
  const int64_t count = map.getBoxCount();
  // Unrolled, many boxes take more uniform registers than there are.
  constexpr int64_t kMostUnrolled = 8;
  auto emitBox = [&](Value columns, Value bytes) {
    at.front() = arith::AddIOp::create(b, first, columns);
    copy(arith::AddIOp::create(b, start, bytes), at);
  };
  bySingleThread(byWarp, [&] {
    if (count <= kMostUnrolled) {
      for (int64_t box = 0; box < count; ++box)
        emitBox(i32(box * map.getBoxColumns()), i32(box * memory.boxStride()));
      return finish();
    }
    // A loop that ends with its test is one block, which the pragma belongs to.
    Type type = b.getI32Type();
    auto loop = scf::WhileOp::create(b, type, ValueRange{i32(0)});
    {
      OpBuilder::InsertionGuard guard(b);
      Block *body = b.createBlock(&loop.getBefore(), {}, type, b.getLoc());
      Value box = body->getArgument(0);
      inlinePtx(Type(), ".pragma \"nounroll\";", "", {});
      emitBox(arith::MulIOp::create(b, box, i32(map.getBoxColumns())),
              arith::MulIOp::create(b, box, i32(memory.boxStride())));
      Value next = arith::AddIOp::create(b, box, i32(1));
      Value more =
          arith::CmpIOp::create(b, arith::CmpIPredicate::ult, next, i32(count));
      scf::ConditionOp::create(b, more, next);
      Block *again = b.createBlock(&loop.getAfter(), {}, type, b.getLoc());
      scf::YieldOp::create(b, again->getArgument(0));
    }
    finish();
  });
}

void GpuEmitter::emitTmaLoad(tilegpu::TmaLoadOp op) {
  size_t rank = op.getCoordinates().size();
  std::string text = "cp.async.bulk.tensor." + std::to_string(rank) +
                     "d.shared::cluster.global.tile.mbarrier::complete_tx::"
                     "bytes [$0], [$1, " +
                     coordinateList(3, rank) + "], [$2];";
  std::string constraints = "r,l,r,";
  for (size_t index = 0; index < rank; ++index)
    constraints += "r,";
  Value barrier = mbarrierAddress(op.getBarriers(), op.getIndex());
  Value map = tensorMaps.lookup(op.getMap());
  forBoxes(
      op.getMap().getType(), op.getSlot(), op.getCoordinates(),
      /*byWarp=*/false,
      [&](Value address, ArrayRef<Value> at) {
        SmallVector<Value> operands = {address, map, barrier};
        llvm::append_range(operands, at);
        inlinePtx(Type(), text, constraints + "~{memory}", operands);
      },
      [] {});
}

void GpuEmitter::emitTmaStore(tilegpu::TmaStoreOp op) {
  size_t rank = op.getCoordinates().size();
  std::string text = "cp.async.bulk.tensor." + std::to_string(rank) +
                     "d.global.shared::cta.tile.bulk_group [$1, " +
                     coordinateList(2, rank) + "], [$0];";
  std::string constraints = "r,l,";
  for (size_t index = 0; index < rank; ++index)
    constraints += "r,";
  Value map = tensorMaps.lookup(op.getMap());
  forBoxes(
      op.getMap().getType(), op.getSlot(), op.getCoordinates(), op.getByWarp(),
      [&](Value address, ArrayRef<Value> at) {
        SmallVector<Value> operands = {address, map};
        llvm::append_range(operands, at);
        inlinePtx(Type(), text, constraints + "~{memory}", operands);
      },
      [&] {
        inlinePtx(Type(), "cp.async.bulk.commit_group;", "~{memory}", {});
      });
}

void GpuEmitter::emitTmaStoreWait(tilegpu::TmaStoreWaitOp op) {
  // Threads that stored nothing have nothing to wait for.
  inlinePtx(Type(),
            "cp.async.bulk.wait_group" + Twine(op.getRead() ? ".read " : " ") +
                Twine(op.getPending()) + ";",
            "~{memory}", {});
  if (op.getByWarp())
    NVVM::SyncWarpOp::create(b, i32(-1));
}

/// By `stmatrix` where layout, memory and target allow it.
void GpuEmitter::storeMatrices(const Registers &values,
                               const DistributedLayout &layout,
                               const SharedLayout &memory, Value start,
                               Type element) {
  std::optional<MatrixAccess> matrix;
  if (isHopper())
    matrix = planMatrixAccess(layout, memory);
  if (!matrix) {
    storeShared(values, layout, memory, start, element);
    return;
  }
  Registers words = packWords(values);
  int64_t count = matrix->count;
  std::string list, constraints = "r,r,";
  for (int64_t word = 2; word < count + 2; ++word) {
    list += (word > 2 ? ", $" : "$") + std::to_string(word);
    constraints += "r,";
  }
  std::string name = "stmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                     (matrix->transposed ? ".trans" : "") + ".shared.b16 ";
  int64_t instructions = int64_t(words.size()) / count;
  for (int64_t index = 0; index < instructions; ++index) {
    // Addresses are made where they are used: known before a loop, each would
    // occupy a register there.
    std::optional<SharedPlace> place = sharedPlace(memory, matrix->rows, index);
    SmallVector<Value> operands = {start};
    if (place)
      operands.push_back(place->thread);
    else
      operands = {i32(0), sharedAddress(memory, matrix->rows, index, start)};
    llvm::append_range(operands,
                       ArrayRef<Value>(words).slice(index * count, count));
    inlinePtx(Type(),
              "{ .reg .b32 at; xor.b32 at, $1, " +
                  Twine(place ? place->flipped : 0) + "; add.u32 at, at, $0; " +
                  name + "[at+" + Twine(place ? place->added : 0) + "], {" +
                  list + "}; }",
              constraints + "~{memory}", operands);
  }
}

LogicalResult GpuEmitter::emitStoreShared(tilegpu::StoreSharedOp op) {
  Type element = tile::getElementType(op.getTile().getType());
  DistributedLayout layout = layoutOf(op.getTile().getType());
  SharedLayout memory = sharedLayoutOf(op.getSlot().getType());
  Value start = smemAddress(op.getSlot());
  Registers values = tiles.at(op.getTile());
  if (memory.shape.back() < layout.shape().back()) {
    std::optional<LayoutPart> part =
        lastDimPart(layout, op.getFirstColumn(), memory.shape.back());
    if (!part)
      return op.emitOpError("expected columns that each thread holds in "
                            "registers of their own, but got ")
             << memory.shape.back() << " from " << op.getFirstColumn()
             << " on of " << layout.str();
    Registers all = std::move(values);
    values.clear();
    for (int64_t index : part->registers)
      values.push_back(all[index]);
    layout = part->layout;
  }
  storeMatrices(values, layout, memory, start, element);
  return success();
}

/// All at once they would occupy registers that products need. What they read
/// stays until the operations that use it are done.
void GpuEmitter::sinkLateLoads() {
  std::function<void(Operation *)> sink = [&](Operation *op) {
    Operation *first = nullptr;
    for (Operation *user : llvm::to_vector(op->getUsers())) {
      if (isa<LLVM::ExtractElementOp, arith::NegFOp>(user) &&
          user->getBlock() == op->getBlock())
        sink(user);
      Operation *at = op->getBlock()->findAncestorOpInBlock(*user);
      if (!at)
        return;
      if (!first || at->isBeforeInBlock(first))
        first = at;
    }
    if (first)
      op->moveBefore(first);
  };
  for (Operation *load : lateLoads)
    sink(load);
}

void GpuEmitter::emitLoadShared(tilegpu::LoadSharedOp op) {
  Type element = tile::getElementType(op.getType());
  DistributedLayout layout = layoutOf(op.getType());
  SharedLayout memory = sharedLayoutOf(op.getSlot().getType());
  Value start = smemAddress(op.getSlot());
  std::optional<MatrixAccess> matrix;
  if (layout.rank() == 2)
    matrix = planMatrixAccess(layout, memory);
  if (!matrix) {
    Operation *before = b.getBlock()->empty() ? nullptr : &b.getBlock()->back();
    if (b.getInsertionPoint() != b.getBlock()->end())
      before = b.getInsertionPoint()->getPrevNode();
    tiles[op.getResult()] = loadShared(layout, memory, start, element);
    // Rows are read element by element where they are used.
    Operation *next = before ? before->getNextNode() : &b.getBlock()->front();
    for (; layout.rank() == 1 && next &&
           Block::iterator(next) != b.getInsertionPoint();
         next = next->getNextNode())
      if (isa<LLVM::LoadOp>(next))
        lateLoads.push_back(next);
    return;
  }
  int64_t count = matrix->count;
  std::string list, constraints;
  for (int64_t word = 0; word < count; ++word) {
    list += (word ? ", $" : "$") + std::to_string(word);
    constraints += "=r,";
  }
  std::string text = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                     (matrix->transposed ? ".trans" : "") + ".shared.b16 {" +
                     list + "}, [$" + std::to_string(count) + "];";
  Type word = b.getI32Type();
  Type type = count == 1 ? word
                         : Type(LLVM::LLVMStructType::getLiteral(
                               b.getContext(), SmallVector<Type>(count, word)));
  int64_t instructions =
      layout.registersPerThread() / matrix->elementsPerRegister / count;
  Registers words;
  for (int64_t index = 0; index < instructions; ++index) {
    Value loaded = inlinePtx(type, text, constraints + "r,~{memory}",
                             sharedAddress(memory, matrix->rows, index, start));
    for (int64_t part = 0; part < count; ++part)
      words.push_back(
          count == 1 ? loaded
                     : Value(LLVM::ExtractValueOp::create(b, loaded, part)));
  }
  tiles[op.getResult()] = unpackWords(words, registerType(element));
}
