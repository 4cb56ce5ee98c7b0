//===- EmitControl.cpp - Blocks, loops and scalars of a kernel ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Structured control flow keeps its shape: tiles that it carries live in
// buffers, scalars stay SSA values, and block pointers are carried as the
// offsets that change.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Program/LoopCounter.h"
#include "compiler/Conversion/Numerics/ScalarOps.h"
#include "compiler/Conversion/TileToCPU/KernelEmitter.h"
#include "compiler/Conversion/TileToCPU/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace flashtile::tile;
using namespace flashtile::cpu;
using flashtile::tile::getElementType;

LogicalResult KernelEmitter::emit(ValueRange arguments, ValueRange ids,
                                  ValueRange slots, Value contextPointer) {
  for (auto [argument, value] :
       llvm::zip(kernel.getBody().getArguments(), arguments))
    scalars.map(argument, value);
  programIds = llvm::to_vector(ids);
  context = contextPointer;

  // One typed view of its slot for each buffer, and one for gathers.
  Value zero = index(0);
  for (const Buffer &buffer : plan.buffers()) {
    SmallVector<int64_t> shape;
    int64_t elements = 1;
    for (unsigned dim : physicalOrder(buffer)) {
      int64_t extent = buffer.type.getDimSize(dim);
      shape.push_back(dim == buffer.laneDim ? plan.paddedExtent(extent)
                                            : extent);
      elements *= shape.back();
    }
    Type element = getBufferType(buffer.type.getElementType());
    bufferViews.push_back(
        memref::ViewOp::create(b, MemRefType::get(shape, element),
                               slots[buffer.slot], zero, ValueRange()));
    flatViews.push_back(
        memref::ViewOp::create(b, MemRefType::get({elements}, element),
                               slots[buffer.slot], zero, ValueRange()));
  }
  return emitBlock(kernel.getBody().front());
}

LogicalResult KernelEmitter::emitBlock(Block &block) {
  for (Operation &op : block.without_terminator())
    if (failed(emitOp(&op)))
      return failure();
  return success();
}

LogicalResult KernelEmitter::emitOp(Operation *op) {
  b.setLoc(op->getLoc());
  if (const Cluster *cluster = plan.clusterLedBy(op))
    return emitCluster(*cluster);
  if (plan.isClustered(op))
    return success(); // its leader has computed it
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](DotOp dot) { return emitDot(dot), success(); })
      .Case([&](LoadOp load) { return emitLoad(load), success(); })
      .Case([&](StoreOp store) { return emitStore(store), success(); })
      .Case([&](AtomicAddOp add) { return emitAtomicAdd(add), success(); })
      .Case([&](ReduceOp reduce) { return emitReduction(reduce), success(); })
      .Case([&](ScanOp scan) { return emitScan(scan), success(); })
      .Case([&](AssertOp check) { return emitAssert(check), success(); })
      .Case([&](PrintOp print) { return emitPrint(print), success(); })
      .Case([&](scf::ForOp loop) { return emitFor(loop); })
      .Case([&](scf::IfOp branch) { return emitIf(branch); })
      .Case([&](scf::WhileOp loop) { return emitWhile(loop); })
      .Default([&](Operation *other) -> LogicalResult {
        bool tiles = llvm::any_of(other->getResults(), tileType);
        if (!tiles)
          return emitScalar(other);
        DenseElementsAttr constant;
        Value result = other->getResult(0);
        if (matchPattern(other, m_Constant(&constant)))
          return constant.isSplat() ? success()
                                    : emitConstant(result, constant);
        if (other->getNumResults() == 1 &&
            (isElementwise(other) || isView(other) ||
             isa<ArangeOp, SplatOp, FullOp, MaxOp, MinOp, SumOp>(other)))
          return success(); // evaluated by whoever needs it
        return other->emitOpError(
            "is not supported on tiles by the cpu target");
      });
}

/// A constant with elements of its own: copied from a global, element by
/// element.
LogicalResult KernelEmitter::emitConstant(Value value,
                                          DenseElementsAttr constant) {
  auto type = cast<RankedTensorType>(value.getType());
  Type element = type.getElementType();
  Type memory = getMemoryType(element);
  auto flat = RankedTensorType::get({type.getNumElements()}, memory);
  SmallVector<Attribute> elements;
  for (Attribute attribute : constant.getValues<Attribute>()) {
    APInt bits = isa<FloatAttr>(attribute)
                     ? cast<FloatAttr>(attribute).getValue().bitcastToAPInt()
                     : cast<IntegerAttr>(attribute).getValue();
    if (auto integer = dyn_cast<IntegerType>(memory))
      elements.push_back(
          b.getIntegerAttr(memory, bits.zext(integer.getWidth())));
    else
      elements.push_back(attribute);
  }
  auto module = b.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  auto globalType = MemRefType::get({type.getNumElements()}, memory);
  std::string name;
  unsigned number = 0;
  do
    name = ("__" + kernel.getSymName() + "_constant_" + Twine(number++)).str();
  while (module.lookupSymbol(name));
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    memref::GlobalOp::create(b, name, b.getStringAttr("private"), globalType,
                             DenseElementsAttr::get(flat, elements),
                             /*constant=*/true, /*alignment=*/IntegerAttr());
  }
  Value global = memref::GetGlobalOp::create(b, globalType, name);
  forEachElement(type.getShape(), [&](ArrayRef<Coord> coords) {
    Value position;
    for (auto [coord, extent] : llvm::zip(coords, type.getShape())) {
      position = position
                     ? Value(arith::MulIOp::create(b, position, index(extent)))
                     : index(0);
      position = arith::AddIOp::create(b, position, coord.index);
    }
    Value bits = memref::LoadOp::create(b, global, ValueRange{position});
    writeBuffer(plan.buffersOf(value).front(), coords,
                decode(b, bits, element));
  });
  emitFurtherLayouts(value);
  return success();
}

//===----------------------------------------------------------------------===//
// Scalars
//===----------------------------------------------------------------------===//

void KernelEmitter::emitConstantScalar(arith::ConstantOp op) {
  Type compute = getComputeType(op.getType());
  auto number = dyn_cast<FloatAttr>(op.getValue());
  scalars.map(op.getResult(),
              number && compute != op.getType()
                  ? constantFloat(b, compute, number.getValueAsDouble())
                  : b.clone(*op)->getResult(0));
}

/// A pointer, or each part of a block pointer.
void KernelEmitter::emitPointerSelect(arith::SelectOp op) {
  SmallVector<Value> onTrue, onFalse, selected;
  flatten(op.getTrueValue(), onTrue);
  flatten(op.getFalseValue(), onFalse);
  Value condition = scalar(op.getCondition());
  for (auto [left, right] : llvm::zip_equal(onTrue, onFalse))
    selected.push_back(arith::SelectOp::create(b, condition, left, right));
  ValueRange parts(selected);
  bindFlattened(op.getResult(), parts);
}

LogicalResult KernelEmitter::emitScalar(Operation *op) {
  if (auto id = dyn_cast<ProgramIdOp>(op)) {
    scalars.map(id.getResult(), programIds[unsigned(id.getAxis())]);
    return success();
  }
  if (auto count = dyn_cast<NumProgramsOp>(op)) {
    scalars.map(count.getResult(), programIds[3 + unsigned(count.getAxis())]);
    return success();
  }
  auto all = [&](ValueRange values) {
    SmallVector<Value, 4> mapped;
    for (Value value : values)
      mapped.push_back(scalar(value));
    return mapped;
  };
  if (auto make = dyn_cast<MakeBlockPtrOp>(op)) {
    windows[make.getResult()] = {scalar(make.getBase()), all(make.getShape()),
                                 all(make.getStrides()),
                                 all(make.getOffsets())};
    return success();
  }
  if (auto advance = dyn_cast<AdvanceOp>(op)) {
    Window moved = window(advance.getPointer());
    for (auto [offset, step] : llvm::zip(moved.offsets, advance.getOffsets()))
      offset = arith::AddIOp::create(b, offset, scalar(step));
    windows[advance.getResult()] = moved;
    return success();
  }
  if (auto add = dyn_cast<AddPtrOp>(op)) {
    Type element = cast<PtrType>(add.getType()).getPointeeType();
    scalars.map(add.getResult(),
                elementPointer(scalar(add.getPointer()),
                               asI64(scalar(add.getOffset())), element));
    return success();
  }
  if (op->getNumResults() == 0 && isMemoryEffectFree(op))
    return success();
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return emitConstantScalar(constant), success();
  if (auto select = dyn_cast<arith::SelectOp>(op);
      select && isa<PtrType, BlockPtrType>(select.getType()))
    return emitPointerSelect(select), success();
  if (op->getNumResults() == 1 && isElementwise(op)) {
    SmallVector<Value, 4> operands = all(op->getOperands());
    if (llvm::none_of(operands, [](Value value) { return !value; })) {
      scalars.map(op->getResult(0), emitElementwise(op, operands));
      return success();
    }
  }
  return numeric::copyScalarOp(b, op, scalars);
}

//===----------------------------------------------------------------------===//
// Carried values
//===----------------------------------------------------------------------===//

SmallVector<Type> KernelEmitter::flattenedTypes(ValueRange values) {
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  SmallVector<Type> types;
  for (Value value : values) {
    if (tileType(value))
      continue;
    if (auto block = dyn_cast<BlockPtrType>(value.getType())) {
      types.push_back(pointer);
      types.append(3 * block.getRank(), b.getI64Type());
      continue;
    }
    types.push_back(isa<PtrType>(value.getType())
                        ? pointer
                        : getComputeType(value.getType()));
  }
  return types;
}

void KernelEmitter::flatten(Value value, SmallVectorImpl<Value> &parts) {
  if (tileType(value))
    return;
  if (!isa<BlockPtrType>(value.getType())) {
    parts.push_back(scalar(value));
    return;
  }
  Window parted = window(value);
  parts.push_back(parted.base);
  llvm::append_range(parts, parted.shape);
  llvm::append_range(parts, parted.strides);
  llvm::append_range(parts, parted.offsets);
}

void KernelEmitter::bindFlattened(Value value, ValueRange &parts) {
  if (tileType(value))
    return;
  auto take = [&](size_t count) {
    SmallVector<Value, 4> taken(parts.take_front(count));
    parts = parts.drop_front(count);
    return taken;
  };
  auto type = dyn_cast<BlockPtrType>(value.getType());
  if (!type) {
    scalars.map(value, take(1).front());
    return;
  }
  Window whole;
  whole.base = take(1).front();
  whole.shape = take(type.getRank());
  whole.strides = take(type.getRank());
  whole.offsets = take(type.getRank());
  windows[value] = whole;
}

/// Whether the loop only ever advances the window that it carries.
static bool onlyAdvances(Value yielded, Value carried) {
  while (auto advance = yielded.getDefiningOp<AdvanceOp>())
    yielded = advance.getPointer();
  return yielded == carried;
}

void KernelEmitter::checkStep(scf::ForOp loop, Value step) {
  if (matchPattern(loop.getStep(), m_Constant()))
    return;
  Value zero = arith::ConstantOp::create(b, b.getZeroAttr(step.getType()));
  auto greater = loop.getUnsignedCmp() ? arith::CmpIPredicate::ugt
                                       : arith::CmpIPredicate::sgt;
  emitCheck(arith::CmpIOp::create(b, greater, step, zero),
            "loop step must be positive");
}

LogicalResult KernelEmitter::emitFor(scf::ForOp loop) {
  SmallVector<Value> inits;
  for (auto [init, argument] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs())) {
    if (tileType(argument)) {
      unsigned target = plan.buffersOf(argument).front();
      bool adopted =
          plan.isBuffered(init) && plan.buffersOf(init).front() == target;
      if (!adopted)
        emitCopy(init, target);
      continue;
    }
    flatten(init, inits);
  }
  Value step = scalar(loop.getStep());
  checkStep(loop, step);
  auto newLoop = createLoopLike(
      b, loop,
      {scalar(loop.getLowerBound()), scalar(loop.getUpperBound()), step},
      inits);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(newLoop.getBody());
  scalars.map(loop.getInductionVar(), counterLike(b, loop, newLoop));
  ValueRange parts = newLoop.getRegionIterArgs();
  for (auto [init, argument, yielded] :
       llvm::zip(loop.getInitArgs(), loop.getRegionIterArgs(),
                 loop.getYieldedValues())) {
    bindFlattened(argument, parts);
    // What does not change stays visible as such.
    if (isa<BlockPtrType>(argument.getType()) &&
        onlyAdvances(yielded, argument)) {
      Window carried = window(argument), initial = window(init);
      carried.base = initial.base;
      carried.shape = initial.shape;
      carried.strides = initial.strides;
      windows[argument] = carried;
    }
  }
  if (failed(emitBlock(*loop.getBody())))
    return failure();

  SmallVector<Value> yields;
  SmallVector<std::pair<Value, unsigned>> copies;
  for (auto [yielded, argument] :
       llvm::zip(loop.getYieldedValues(), loop.getRegionIterArgs())) {
    if (!tileType(argument)) {
      flatten(yielded, yields);
      continue;
    }
    unsigned target = plan.buffersOf(argument).front();
    if (plan.isBuffered(yielded) &&
        llvm::is_contained(plan.buffersOf(yielded), target))
      continue; // updated in place, or passed on unchanged
    copies.push_back({yielded, target});
  }
  emitCopies(copies);
  if (!yields.empty())
    scf::YieldOp::create(b, yields);
  b.setInsertionPointAfter(newLoop);
  ValueRange results = newLoop.getResults();
  for (auto [result, init, argument, yielded] :
       llvm::zip(loop.getResults(), loop.getInitArgs(),
                 loop.getRegionIterArgs(), loop.getYieldedValues())) {
    bindFlattened(result, results);
    if (isa<BlockPtrType>(result.getType()) &&
        onlyAdvances(yielded, argument)) {
      Window carried = window(result), initial = window(init);
      carried.base = initial.base;
      carried.shape = initial.shape;
      carried.strides = initial.strides;
      windows[result] = carried;
    }
  }
  return success();
}

/// Copies made at once: a source that an earlier copy overwrites is moved out
/// of the way first. Only loops that permute what they carry have such.
void KernelEmitter::emitCopies(ArrayRef<std::pair<Value, unsigned>> copies) {
  auto overwritten = [&](Value value, size_t before) {
    if (!plan.isBuffered(value))
      return false;
    for (auto [other, target] : copies.take_front(before))
      if (llvm::is_contained(plan.buffersOf(value), target))
        return true;
    return false;
  };
  SmallVector<Value> staged(copies.size());
  for (auto [position, copy] : llvm::enumerate(copies)) {
    if (!overwritten(copy.first, position))
      continue;
    const Buffer &buffer = plan.buffers()[copy.second];
    auto type = cast<MemRefType>(bufferViews[copy.second].getType());
    Value stage;
    {
      OpBuilder::InsertionGuard guard(b);
      auto function =
          b.getBlock()->getParentOp()->getParentOfType<func::FuncOp>();
      b.setInsertionPointToStart(&function.getBody().front());
      stage = memref::AllocaOp::create(b, type);
    }
    Value value = copy.first;
    unsigned target = copy.second;
    forEachVector(buffer.type.getShape(), buffer.laneDim,
                  [&](ArrayRef<Coord> coords) {
                    Value elements = evaluateVector(value, coords);
                    Value saved = std::exchange(bufferViews[target], stage);
                    writeBuffer(target, coords, elements);
                    bufferViews[target] = saved;
                  });
    staged[position] = stage;
  }
  for (auto [position, copy] : llvm::enumerate(copies)) {
    if (staged[position])
      memref::CopyOp::create(b, staged[position], bufferViews[copy.second]);
    else
      emitCopy(copy.first, copy.second);
  }
}

LogicalResult KernelEmitter::emitIf(scf::IfOp branch) {
  SmallVector<Type> types = flattenedTypes(branch.getResults());
  bool withElse = !branch.getElseRegion().empty();
  auto newIf = scf::IfOp::create(b, types, scalar(branch.getCondition()),
                                 withElse || !types.empty());
  auto side = [&](Block *from, Block *to) -> LogicalResult {
    OpBuilder::InsertionGuard guard(b);
    if (to->mightHaveTerminator())
      b.setInsertionPoint(to->getTerminator());
    else
      b.setInsertionPointToEnd(to);
    if (failed(emitBlock(*from)))
      return failure();
    SmallVector<Value> yields;
    SmallVector<std::pair<Value, unsigned>> copies;
    for (auto [yielded, result] :
         llvm::zip(from->getTerminator()->getOperands(), branch.getResults())) {
      if (!tileType(result)) {
        flatten(yielded, yields);
        continue;
      }
      unsigned target = plan.buffersOf(result).front();
      if (!plan.isBuffered(yielded) ||
          !llvm::is_contained(plan.buffersOf(yielded), target))
        copies.push_back({yielded, target});
    }
    emitCopies(copies);
    if (!types.empty())
      scf::YieldOp::create(b, yields);
    return success();
  };
  if (failed(side(branch.thenBlock(), newIf.thenBlock())))
    return failure();
  if (withElse && failed(side(branch.elseBlock(), newIf.elseBlock())))
    return failure();
  ValueRange results = newIf.getResults();
  for (Value result : branch.getResults())
    bindFlattened(result, results);
  return success();
}

LogicalResult KernelEmitter::emitWhile(scf::WhileOp loop) {
  auto isScalar = [](Value value) { return !tileType(value); };
  SmallVector<Value> inits;
  SmallVector<std::pair<Value, unsigned>> copies;
  for (auto [init, argument] :
       llvm::zip(loop.getInits(), loop.getBeforeArguments())) {
    if (isScalar(argument))
      flatten(init, inits);
    else
      copies.push_back({init, plan.buffersOf(argument).front()});
  }
  emitCopies(copies);
  SmallVector<Type> afterTypes = flattenedTypes(loop.getAfterArguments());
  auto newLoop = scf::WhileOp::create(b, afterTypes, inits);
  OpBuilder::InsertionGuard guard(b);

  SmallVector<Location> locations(inits.size(), loop.getLoc());
  Block *before = b.createBlock(&newLoop.getBefore(), {},
                                TypeRange(ValueRange(inits)), locations);
  ValueRange parts = before->getArguments();
  for (Value argument : loop.getBeforeArguments())
    bindFlattened(argument, parts);
  if (failed(emitBlock(*loop.getBeforeBody())))
    return failure();
  SmallVector<Value> passed;
  copies.clear();
  auto condition = loop.getConditionOp();
  for (auto [value, after, result] : llvm::zip(
           condition.getArgs(), loop.getAfterArguments(), loop.getResults())) {
    if (isScalar(value)) {
      flatten(value, passed);
      continue;
    }
    copies.push_back({value, plan.buffersOf(after).front()});
    copies.push_back({value, plan.buffersOf(result).front()});
  }
  emitCopies(copies);
  scf::ConditionOp::create(b, scalar(condition.getCondition()), passed);

  locations.assign(afterTypes.size(), loop.getLoc());
  Block *after = b.createBlock(&newLoop.getAfter(), {}, afterTypes, locations);
  parts = after->getArguments();
  for (Value argument : loop.getAfterArguments())
    bindFlattened(argument, parts);
  if (failed(emitBlock(*loop.getAfterBody())))
    return failure();
  SmallVector<Value> yields;
  copies.clear();
  for (auto [value, argument] :
       llvm::zip(loop.getYieldOp().getResults(), loop.getBeforeArguments())) {
    if (isScalar(value))
      flatten(value, yields);
    else
      copies.push_back({value, plan.buffersOf(argument).front()});
  }
  emitCopies(copies);
  scf::YieldOp::create(b, yields);
  b.setInsertionPointAfter(newLoop);
  ValueRange results = newLoop.getResults();
  for (Value result : loop.getResults())
    bindFlattened(result, results);
  return success();
}

//===----------------------------------------------------------------------===//
// Calls into the runtime
//===----------------------------------------------------------------------===//

void KernelEmitter::callRuntime(StringRef name, ValueRange operands) {
  auto module = b.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  if (!module.lookupSymbol(name)) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    auto function = func::FuncOp::create(
        b, name, b.getFunctionType(TypeRange(operands), {}));
    function.setPrivate();
  }
  func::CallOp::create(b, name, TypeRange(), operands);
}

Value KernelEmitter::stringPointer(StringRef text) {
  auto module = b.getBlock()->getParentOp()->getParentOfType<ModuleOp>();
  std::string name;
  unsigned number = 0;
  do
    name = ("__" + kernel.getSymName() + "_text_" + Twine(number++)).str();
  while (module.lookupSymbol(name));
  std::string terminated = (text + Twine('\0')).str();
  auto type = LLVM::LLVMArrayType::get(b.getI8Type(), terminated.size());
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    LLVM::GlobalOp::create(b, type, /*isConstant=*/true,
                           LLVM::Linkage::Internal, name,
                           b.getStringAttr(terminated));
  }
  return LLVM::AddressOfOp::create(
      b, LLVM::LLVMPointerType::get(b.getContext()), name);
}

void KernelEmitter::emitCheck(Value condition, StringRef message) {
  Value failed =
      arith::XOrIOp::create(b, condition, constantInt(b, b.getI1Type(), 1));
  auto ifOp = scf::IfOp::create(b, failed, /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(ifOp.thenYield());
  callRuntime("flashtile_rt_fail", {context, stringPointer(message)});
}

void KernelEmitter::emitAssert(AssertOp op) {
  std::string message = op.getMessage().str();
  if (auto location = op.getLoc()->findInstanceOf<FileLineColLoc>())
    message = (location.getFilename().getValue() + ":" +
               Twine(location.getLine()) + ": " + message)
                  .str();
  auto type = tileType(op.getCondition());
  if (!type)
    return emitCheck(scalar(op.getCondition()), message);
  forEachElement(type.getShape(), [&](ArrayRef<Coord> coords) {
    emitCheck(evaluate(op.getCondition(), coords), message);
  });
}

void KernelEmitter::emitPrint(PrintOp op) {
  auto printNumber = [&](Value number, Type element) {
    if (isa<FloatType>(element)) {
      if (!number.getType().isF64())
        number = arith::ExtFOp::create(b, b.getF64Type(), number);
      return callRuntime("flashtile_rt_print_f64", {context, number});
    }
    if (element.isInteger(1))
      number = arith::ExtUIOp::create(b, b.getI64Type(), number);
    callRuntime("flashtile_rt_print_i64", {context, asI64(number)});
  };
  auto begin = [&](StringRef type) {
    callRuntime("flashtile_rt_print_begin",
                {context, stringPointer(op.getPrefix()), stringPointer(type)});
  };
  if (op.getValues().empty()) {
    begin("");
    callRuntime("flashtile_rt_print_end", {context});
  }
  for (Value value : op.getValues()) {
    std::string type;
    llvm::raw_string_ostream(type) << value.getType();
    begin(type);
    Type element = getElementType(value.getType());
    if (auto tile = tileType(value))
      forEachElement(tile.getShape(), [&](ArrayRef<Coord> coords) {
        printNumber(evaluate(value, coords), element);
      });
    else
      printNumber(scalar(value), element);
    callRuntime("flashtile_rt_print_end", {context});
  }
}
