//===- EmitWgmma.cpp - Matrix products of warpgroups ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A product is one piece of inline PTX from fence to commit, so that nothing
// can come between its instructions: ptxas serialises products where
// accumulators or operand registers are touched before the wait. Descriptors of
// shared memory are computed once; steps along K, blocks of rows and of columns
// are constants added within.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

static constexpr int64_t rowsOfInstruction = 64;
static constexpr int64_t mostColumns = 256;
static constexpr int64_t depthBytes = 32;
static constexpr int64_t warpsOfGroup = 4;
/// Rows of the unit that descriptors count in.
static constexpr int64_t coreRows = 8;
static constexpr int64_t descriptorUnit = 16;

namespace {
/// An operand in shared memory as the instructions see it (PTX ISA, section
/// "Asynchronous Warpgroup Level Matrix Shared Memory Layout").
struct MemoryOperand {
  MemoryOperand(tilegpu::SmemType type, bool depthIsOuter)
      : memory(sharedLayoutOf(type)), depthIsOuter(depthIsOuter) {}

  /// Bytes from the start to step `k` along the depth.
  int64_t depthOffset(int64_t k) const {
    if (depthIsOuter)
      return k * depthBytes / memory.elementBytes * memory.rowStride();
    return columnOffset(k * depthBytes);
  }

  /// Bytes to element `index` along M or N, which starts a block of rows or of
  /// columns.
  int64_t blockOffset(int64_t index) const {
    return depthIsOuter ? columnOffset(index * memory.elementBytes)
                        : index * memory.rowStride();
  }

  /// All but the address.
  uint64_t descriptor() const {
    // From one group of eight rows to the next, and from one box to the next;
    // the latter is not used where K is the inner dimension. Plain rows, of 16
    // bytes, have both in one.
    uint64_t stride = coreRows * memory.rowStride();
    uint64_t leading = descriptorUnit, mode = 0;
    if (depthIsOuter)
      leading = memory.swizzle == Swizzle::None ? stride
                                                : uint64_t(memory.boxStride());
    switch (memory.swizzle) {
    case Swizzle::None:
      break;
    case Swizzle::Bytes128:
      mode = 1;
      break;
    case Swizzle::Bytes64:
      mode = 2;
      break;
    case Swizzle::Bytes32:
      mode = 3;
      break;
    }
    return mode << 62 | (stride / descriptorUnit) << 32 |
           (leading / descriptorUnit) << 16;
  }

  SharedLayout memory;
  bool depthIsOuter;

private:
  int64_t columnOffset(int64_t bytes) const {
    if (memory.swizzle == Swizzle::None)
      return bytes;
    int64_t span = static_cast<int64_t>(memory.swizzle);
    return bytes / span * memory.boxStride() + bytes % span;
  }
};
} // namespace

/// `address` in units of descriptors. Buffers begin at multiples of their
/// swizzle, so that sums and products by constants are divided term by term:
/// what a loop adds to an address is all that it computes.
static Value unitsOf(ImplicitLocOpBuilder &b, Value address) {
  auto i32 = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
  };
  APInt constant;
  auto isWhole = [&](Value value) {
    return matchPattern(value, m_ConstantInt(&constant)) &&
           constant.getZExtValue() % descriptorUnit == 0;
  };
  if (isWhole(address))
    return i32(constant.getZExtValue() / descriptorUnit);
  if (auto sum = address.getDefiningOp<arith::AddIOp>()) {
    Value left = unitsOf(b, sum.getLhs());
    return arith::AddIOp::create(b, left, unitsOf(b, sum.getRhs()));
  }
  if (auto product = address.getDefiningOp<arith::MulIOp>();
      product && isWhole(product.getRhs()))
    return arith::MulIOp::create(b, product.getLhs(),
                                 i32(constant.getZExtValue() / descriptorUnit));
  return arith::DivUIOp::create(b, address, i32(descriptorUnit));
}

/// Addresses of shared memory have 18 bits, of which the descriptor holds all
/// but the lowest four.
Value GpuEmitter::matrixDescriptor(Value address, uint64_t rest) {
  return arith::OrIOp::create(
      b, arith::ExtUIOp::create(b, b.getI64Type(), unitsOf(b, address)),
      i64(int64_t(rest)));
}

Registers GpuEmitter::packWords(ArrayRef<Value> values) {
  Type type = values.front().getType();
  int64_t perWord = 32 / type.getIntOrFloatBitWidth();
  Registers words;
  for (size_t first = 0; first < values.size(); first += perWord) {
    if (perWord == 1) {
      words.push_back(isa<FloatType>(type)
                          ? Value(arith::BitcastOp::create(b, b.getI32Type(),
                                                           values[first]))
                          : values[first]);
      continue;
    }
    Value vector = LLVM::PoisonOp::create(b, VectorType::get({perWord}, type));
    for (int64_t position = 0; position < perWord; ++position)
      vector = LLVM::InsertElementOp::create(
          b, vector, values[first + position], i32(position));
    words.push_back(LLVM::BitcastOp::create(b, b.getI32Type(), vector));
  }
  return words;
}

Registers GpuEmitter::unpackWords(ArrayRef<Value> words, Type type) {
  int64_t perWord = 32 / type.getIntOrFloatBitWidth();
  Registers values;
  for (Value word : words) {
    if (perWord == 1) {
      values.push_back(isa<FloatType>(type)
                           ? Value(arith::BitcastOp::create(b, type, word))
                           : word);
      continue;
    }
    Value vector =
        LLVM::BitcastOp::create(b, VectorType::get({perWord}, type), word);
    for (int64_t position = 0; position < perWord; ++position)
      values.push_back(
          LLVM::ExtractElementOp::create(b, vector, i32(position)));
  }
  return values;
}

/// ".bf16.bf16" and so on; the depth of an instruction, in elements.
static std::string typesOf(Type a, Type b) {
  auto name = [](Type type) -> std::string {
    if (type.isF32())
      return ".tf32";
    if (type.isBF16())
      return ".bf16";
    if (type.isF16())
      return ".f16";
    return isa<Float8E4M3FNType>(type) ? ".e4m3" : ".e5m2";
  };
  return name(a) + name(b);
}

/// "{$4, $5, ...}".
static std::string registerList(int64_t first, int64_t count) {
  std::string text = "{";
  for (int64_t index = first; index < first + count; ++index)
    text += (index == first ? "$" : ", $") + std::to_string(index);
  return text + "}";
}

LogicalResult GpuEmitter::checkWgmma(tilegpu::WgmmaOp op) {
  int64_t groups = op.getWarpgroups();
  if (groups * warpsOfGroup != warpCount())
    return op.emitOpError("expected 'warpgroups' of ")
           << warpsOfGroup << " warps each to be all " << warpCount()
           << " warps of the kernel, but got " << groups;
  auto check = [&](StringRef what, Type type,
                   const DistributedLayout &wanted) -> LogicalResult {
    if (layoutOf(type) == wanted)
      return success();
    return op.emitOpError("expected ")
           << what << " in the layout " << wanted.canonical().str()
           << ", but got " << type;
  };
  auto result = cast<RankedTensorType>(op.getType());
  if (failed(check("a result", result,
                   wgmmaAccumulator(result.getDimSize(0), result.getDimSize(1),
                                    groups, op.getColumnGroups()))))
    return failure();
  Value registers = op.getHead() ? op.getHead() : op.getA();
  auto a = dyn_cast<RankedTensorType>(registers.getType());
  if (!a)
    return success();
  // Those that share columns have the same rows.
  int64_t sharers = groups / op.getColumnGroups();
  return check(
      op.getHead() ? "'head'" : "'a'", a,
      replicateWarps(wgmmaOperandA(a.getDimSize(0), a.getDimSize(1),
                                   a.getElementTypeBitWidth(), sharers),
                     op.getColumnGroups()));
}

namespace {
/// A product as its instructions see it.
struct WgmmaPlan {
  explicit WgmmaPlan(tilegpu::WgmmaOp op)
      : right(op.getB().getType(), !op.getTransB()) {
    auto result = cast<RankedTensorType>(op.getType());
    tilegpu::SmemType b = op.getB().getType();
    transA = op.getTransA();
    transB = op.getTransB();
    adds = bool(op.getC());
    columnGroups = op.getColumnGroups();
    groups = op.getWarpgroups() / columnGroups;
    columns = result.getDimSize(1) / columnGroups;
    blocks = result.getDimSize(0) / (rowsOfInstruction * groups);
    sums = layoutOf(result).registersPerThread();
    element = b.getElementType();
    elementA = getElementType(op.getA().getType());
    bits = element.getIntOrFloatBitWidth();
    steps = stepsOf(b.getShape()[transB ? 1 : 0]);
    if (auto memory = dyn_cast<tilegpu::SmemType>(op.getA().getType())) {
      elementA = memory.getElementType();
      left.emplace(memory, transA);
    }
    if (Value head = op.getHead())
      headSteps = stepsOf(cast<RankedTensorType>(head.getType()).getDimSize(1));
  }

  int64_t stepsOf(int64_t depth) const { return depth * bits / 8 / depthBytes; }
  std::string text() const;

  bool transA, transB;
  bool adds;                    ///< to sums that are there
  int64_t groups, columnGroups; ///< that share the rows, and the columns
  int64_t columns, blocks;      ///< of a group: columns, and instructions' rows
  int64_t sums;                 ///< registers of the result
  int64_t bits;                 ///< of an element
  int64_t steps, headSteps = 0; ///< of the depth; of its part in registers
  Type element, elementA;
  MemoryOperand right;
  std::optional<MemoryOperand> left; ///< none: a is in registers

  /// Numbers of operands: results, their old values, then these.
  int64_t placeA = 0, placeHead = 0, placeB = 0;

private:
  std::string leftText(int64_t block, int64_t step, std::string &text) const;
  std::string transposes(bool isMemory) const;
};
} // namespace

static std::string pointTo(StringRef name, int64_t place, int64_t bytes) {
  return ("add.s64 " + name + ", $").str() + std::to_string(place) + ", " +
         std::to_string(bytes / descriptorUnit) + ";\n";
}

/// The left operand of an instruction, whose address goes to the text before.
std::string WgmmaPlan::leftText(int64_t block, int64_t step,
                                std::string &text) const {
  if (step < headSteps)
    return registerList(placeHead + 4 * (block * headSteps + step), 4);
  if (!left)
    return registerList(placeA + 4 * (block * steps + step), 4);
  text += pointTo("da", placeA,
                  left->blockOffset(block * rowsOfInstruction) +
                      left->depthOffset(step));
  return "da";
}

std::string WgmmaPlan::transposes(bool isMemory) const {
  std::string text;
  if (bits != 16)
    return text;
  if (isMemory)
    text += transA ? ", 1" : ", 0";
  return text + (transB ? ", 0" : ", 1");
}

std::string WgmmaPlan::text() const {
  std::string text = "{\n.reg .pred p, q;\n.reg .b64 da, db;\n"
                     "setp.ne.b32 p, 1, 0;\nsetp.ne.b32 q, 0, 0;\n"
                     "wgmma.fence.sync.aligned;\n";
  for (int64_t block = 0; block < blocks; ++block)
    for (int64_t column = 0; column < columns; column += mostColumns)
      for (int64_t step = 0; step < steps; ++step) {
        int64_t width = std::min(mostColumns, columns - column);
        int64_t first = block * columns / 2 + column / 2;
        std::string a = leftText(block, step, text);
        text += pointTo("db", placeB,
                        right.blockOffset(column) + right.depthOffset(step));
        text += "wgmma.mma_async.sync.aligned.m64n" + std::to_string(width) +
                "k" + std::to_string(depthBytes * 8 / bits) + ".f32" +
                typesOf(elementA, element) + " " +
                registerList(first, width / 2) + ", " + a + ", db, " +
                (adds || step > 0 ? "p" : "q") + ", 1, 1" +
                transposes(left && step >= headSteps) + ";\n";
      }
  return text + "wgmma.commit_group.sync.aligned;\n}";
}

LogicalResult GpuEmitter::emitWgmma(tilegpu::WgmmaOp op) {
  if (failed(checkWgmma(op)))
    return failure();
  WgmmaPlan plan(op);
  std::string constraints;
  SmallVector<Value> operands;
  for (int64_t index = 0; index < plan.sums; ++index)
    constraints += plan.adds ? "=f," : "=&f,";
  if (plan.adds) {
    llvm::append_range(operands, tiles.at(op.getC()));
    for (int64_t index = 0; index < plan.sums; ++index)
      constraints += std::to_string(index) + ",";
  }
  auto addWords = [&](Value tile) {
    for (Value word : packWords(tiles.at(tile))) {
      operands.push_back(word);
      constraints += "r,";
    }
  };
  plan.placeA = plan.sums + operands.size();
  if (plan.left) {
    Value start = smemAddress(op.getA());
    if (plan.groups > 1) {
      Value group = arith::DivUIOp::create(b, self.warp, i32(warpsOfGroup));
      if (plan.columnGroups > 1)
        group = arith::RemUIOp::create(b, group, i32(plan.groups));
      int64_t rows = plan.blocks * rowsOfInstruction;
      start = arith::AddIOp::create(
          b, start,
          arith::MulIOp::create(b, group, i32(plan.left->blockOffset(rows))));
    }
    operands.push_back(matrixDescriptor(start, plan.left->descriptor()));
    constraints += "l,";
  } else {
    addWords(op.getA());
  }
  // The first steps of an operand in memory may be in registers, too.
  plan.placeHead = plan.sums + operands.size();
  if (Value head = op.getHead())
    addWords(head);
  plan.placeB = plan.sums + operands.size();
  Value startB = smemAddress(op.getB());
  if (plan.columnGroups > 1) {
    Value group =
        arith::DivUIOp::create(b, self.warp, i32(warpsOfGroup * plan.groups));
    startB = arith::AddIOp::create(
        b, startB,
        arith::MulIOp::create(b, group,
                              i32(plan.right.blockOffset(plan.columns))));
  }
  operands.push_back(matrixDescriptor(startB, plan.right.descriptor()));
  constraints += "l,~{memory}";
  Type type = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(plan.sums, b.getF32Type()));
  Value product = inlinePtx(type, plan.text(), constraints, operands);
  Registers registers;
  for (int64_t index = 0; index < plan.sums; ++index)
    registers.push_back(LLVM::ExtractValueOp::create(b, product, index));
  tiles[op.getResult()] = registers;
  return success();
}

void GpuEmitter::emitWgmmaWait(tilegpu::WgmmaWaitOp op) {
  // Takes and returns the registers, so that no use of them can move above.
  SmallVector<Value> operands;
  for (Value tile : op.getTiles())
    llvm::append_range(operands, tiles.at(tile));
  std::string constraints;
  for (size_t index = 0; index < operands.size(); ++index)
    constraints += "=f,";
  for (size_t index = 0; index < operands.size(); ++index)
    constraints += std::to_string(index) + ",";
  SmallVector<Type> types(operands.size(), b.getF32Type());
  Type type =
      types.size() == 1
          ? types.front()
          : Type(LLVM::LLVMStructType::getLiteral(b.getContext(), types));
  Value all = inlinePtx(type,
                        "wgmma.wait_group.sync.aligned " +
                            std::to_string(op.getPending()) + ";",
                        constraints + "~{memory}", operands);
  int64_t next = 0;
  for (auto [tile, result] : llvm::zip(op.getTiles(), op.getResults())) {
    Registers registers;
    for (size_t count = tiles.at(tile).size(); count > 0; --count)
      registers.push_back(
          types.size() == 1
              ? all
              : Value(LLVM::ExtractValueOp::create(b, all, next++)));
    tiles[result] = registers;
  }
}
