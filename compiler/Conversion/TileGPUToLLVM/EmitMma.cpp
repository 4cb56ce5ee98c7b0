//===- EmitMma.cpp - Matrix products with mma.sync ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fragments of the operands are loaded from shared memory, by ldmatrix where
// the layout allows it, when the first instruction needs them; one instruction
// multiplies 16 rows, 8 columns and 256 bits of depth.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"

#include <map>

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

/// The operand's fragments as packed 32-bit words: word w of a fragment holds
/// elements w * n to (w + 1) * n - 1 of it.
class GpuEmitter::Fragments {
public:
  Fragments(GpuEmitter &emitter, Value operand, const DistributedLayout &layout,
            bool transposed)
      : emitter(emitter), layout(layout) {
    if (auto type = dyn_cast<tilegpu::SmemType>(operand.getType())) {
      element = type.getElementType();
      bytes = element.getIntOrFloatBitWidth() / 8;
      // Memory in the operand's own order of dimensions.
      Coordinates shape(type.getShape().begin(), type.getShape().end());
      llvm::SmallVector<unsigned, 4> order = {1, 0};
      if (transposed) {
        std::swap(shape[0], shape[1]);
        order = {0, 1};
      }
      memory = SharedLayout(shape, bytes, order,
                            static_cast<Swizzle>(type.getSwizzle()));
      base = emitter.stages.at(operand);
      matrix = planMatrixAccess(layout, memory);
      if (!matrix)
        access = planVectorAccess(layout, memory, /*isStore=*/false, 4);
    } else {
      element = getElementType(operand.getType());
      bytes = element.getIntOrFloatBitWidth() / 8;
      registers = emitter.tiles.at(operand);
    }
    words.resize(layout.registersPerThread() * bytes / 4);
  }

  Value word(int64_t index) {
    if (!words[index])
      load(index);
    return words[index];
  }

private:
  void load(int64_t index);
  void loadMatrix(int64_t instruction);
  void loadElements();
  Value pack(ArrayRef<Value> elements);

  GpuEmitter &emitter;
  DistributedLayout layout;
  Type element;
  int64_t bytes = 0, base = 0;
  SharedLayout memory;
  std::optional<MatrixAccess> matrix;
  VectorAccess access;
  Registers registers; ///< of an operand that is not in memory
  SmallVector<Value> words;
};

Value GpuEmitter::Fragments::pack(ArrayRef<Value> elements) {
  ImplicitLocOpBuilder &b = emitter.b;
  if (elements.size() == 1)
    return isa<FloatType>(elements.front().getType())
               ? Value(arith::BitcastOp::create(b, b.getI32Type(),
                                                elements.front()))
               : elements.front();
  Type type = elements.front().getType();
  Value vector = LLVM::PoisonOp::create(
      b, VectorType::get({int64_t(elements.size())}, type));
  for (auto [position, value] : llvm::enumerate(elements))
    vector =
        LLVM::InsertElementOp::create(b, vector, value, emitter.i32(position));
  return LLVM::BitcastOp::create(b, b.getI32Type(), vector);
}

void GpuEmitter::Fragments::loadMatrix(int64_t instruction) {
  ImplicitLocOpBuilder &b = emitter.b;
  SmallVector<Value> at;
  for (unsigned dim = 0; dim < 2; ++dim)
    at.push_back(emitter.coordinate(matrix->rows, instruction, dim));
  Value address = emitter.sharedAddress(memory, at, base);
  int64_t count = matrix->count;
  std::string results, constraints;
  for (int64_t word = 0; word < count; ++word) {
    results += (word ? ", $" : "$") + std::to_string(word);
    constraints += "=r,";
  }
  std::string text = "ldmatrix.sync.aligned.m8n8.x" + std::to_string(count) +
                     (matrix->transposed ? ".trans" : "") + ".shared.b16 {" +
                     results + "}, [$" + std::to_string(count) + "];";
  Type word = b.getI32Type();
  Type type = count == 1 ? word
                         : Type(LLVM::LLVMStructType::getLiteral(
                               b.getContext(), SmallVector<Type>(count, word)));
  auto loaded = LLVM::InlineAsmOp::create(
      b, type, ValueRange{address}, text, constraints + "r,~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
  for (int64_t index = 0; index < count; ++index)
    words[instruction * count + index] =
        count == 1 ? loaded.getResult(0)
                   : Value(LLVM::ExtractValueOp::create(b, loaded.getResult(0),
                                                        index));
}

/// Element by element, for what ldmatrix does not do.
void GpuEmitter::Fragments::loadElements() {
  if (registers.empty())
    registers = emitter.loadShared(layout, memory, base, element);
}

void GpuEmitter::Fragments::load(int64_t index) {
  if (matrix)
    return loadMatrix(index / matrix->count);
  loadElements();
  int64_t perWord = 4 / bytes;
  words[index] =
      pack(ArrayRef<Value>(registers).slice(index * perWord, perWord));
}

/// "bf16" and the shape of the instruction for an element type.
static std::pair<StringRef, StringRef> instructionOf(Type element) {
  if (element.isBF16())
    return {"m16n8k16", "bf16"};
  if (element.isF16())
    return {"m16n8k16", "f16"};
  if (element.isInteger(8))
    return {"m16n8k32", "s8"};
  return {"", ""};
}

LogicalResult GpuEmitter::emitMma(tilegpu::MmaOp op) {
  auto extents = [](Type type) {
    auto memory = dyn_cast<tilegpu::SmemType>(type);
    return memory ? memory.getShape() : cast<RankedTensorType>(type).getShape();
  };
  Type element =
      isa<tilegpu::SmemType>(op.getA().getType())
          ? cast<tilegpu::SmemType>(op.getA().getType()).getElementType()
          : getElementType(op.getA().getType());
  if (element.isF32() || element.isF64())
    return emitMultiplyAdds(op), success();
  auto [shape, name] = instructionOf(element);
  if (shape.empty())
    return op.emitOpError("on ")
           << element << " is not supported by the gpu targets yet";
  int64_t bits = element.getIntOrFloatBitWidth();
  int64_t warpsM = op.getWarpsM(), warpsN = op.getWarpsN();
  auto result = cast<RankedTensorType>(op.getType());
  ArrayRef<int64_t> a = extents(op.getA().getType());
  int64_t depth = a[op.getTransA() ? 0 : 1];
  depth = (depth + 256 / bits - 1) / (256 / bits) * (256 / bits);
  DistributedLayout layoutA =
      mmaOperandA(result.getDimSize(0), depth, bits, warpsM, warpsN);
  DistributedLayout layoutB =
      mmaOperandB(depth, result.getDimSize(1), bits, warpsM, warpsN);
  DistributedLayout layoutC = layoutOf(result);
  Fragments left(*this, op.getA(), layoutA, op.getTransA());
  Fragments right(*this, op.getB(), layoutB, op.getTransB());

  // Words of one fragment: 4 of a, 2 of b, 4 of the result.
  int64_t steps = depth / (256 / bits);
  int64_t rowBlocks = layoutA.registersPerThread() * bits / 32 / 4 / steps;
  int64_t columnBlocks = layoutB.registersPerThread() * bits / 32 / 2 / steps;
  Registers sums = tiles.at(op.getC());
  bool integer = element.isInteger(8);
  StringRef accumulator = integer ? "s32" : "f32";
  std::string text =
      ("mma.sync.aligned." + shape + ".row.col." + accumulator + "." + name +
       "." + name + "." + accumulator +
       " {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};")
          .str();
  std::string constraints = integer ? "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
                                    : "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3";
  Type sumType = integer ? Type(b.getI32Type()) : b.getF32Type();
  Type fragment = LLVM::LLVMStructType::getLiteral(
      b.getContext(), SmallVector<Type>(4, sumType));
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t row = 0; row < rowBlocks; ++row)
      for (int64_t column = 0; column < columnBlocks; ++column) {
        int64_t at = 4 * (row * columnBlocks + column);
        SmallVector<Value> operands;
        for (int64_t word = 0; word < 4; ++word)
          operands.push_back(left.word(4 * (row * steps + step) + word));
        for (int64_t word = 0; word < 2; ++word)
          operands.push_back(right.word(2 * (column * steps + step) + word));
        for (int64_t word = 0; word < 4; ++word)
          operands.push_back(sums[at + word]);
        auto product = LLVM::InlineAsmOp::create(
            b, fragment, operands, text, constraints,
            /*has_side_effects=*/false, /*is_align_stack=*/false,
            LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
            /*operand_attrs=*/nullptr);
        for (int64_t word = 0; word < 4; ++word)
          sums[at + word] =
              LLVM::ExtractValueOp::create(b, product.getResult(0), word);
      }
  tiles[op.getResult()] = sums;
  return success();
}

void GpuEmitter::emitMultiplyAdds(tilegpu::MmaOp op) {
  auto result = cast<RankedTensorType>(op.getType());
  DistributedLayout layout = layoutOf(result);
  struct Operand {
    SharedLayout memory;
    int64_t base;
    bool transposed;
  };
  auto describe = [&](Value value, bool transposed) -> Operand {
    auto type = cast<tilegpu::SmemType>(value.getType());
    return {SharedLayout(type.getShape(),
                         type.getElementType().getIntOrFloatBitWidth() / 8,
                         {1u, 0u}, static_cast<Swizzle>(type.getSwizzle())),
            stages.at(value), transposed};
  };
  Operand left = describe(op.getA(), op.getTransA());
  Operand right = describe(op.getB(), op.getTransB());
  int64_t depth = std::min(left.memory.shape[left.transposed ? 0 : 1],
                           right.memory.shape[right.transposed ? 1 : 0]);
  Type element = result.getElementType();
  auto read = [&](const Operand &from, Value row, Value column) -> Value {
    if (from.transposed)
      std::swap(row, column);
    Value address = sharedAddress(from.memory, {row, column}, from.base);
    auto pointer = LLVM::LLVMPointerType::get(
        b.getContext(), static_cast<unsigned>(NVVM::NVVMMemorySpace::Shared));
    return LLVM::LoadOp::create(b, element,
                                LLVM::IntToPtrOp::create(b, pointer, address));
  };
  const Registers inits = tiles.at(op.getC());
  auto loop = scf::ForOp::create(b, i32(0), i32(depth), i32(1), inits);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(loop.getBody());
    Value k = loop.getInductionVar();
    // Registers of one row share what they read of a, those of one column b.
    std::map<int64_t, Value> rows, columns;
    Registers sums;
    for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
      Coordinates at = layout.offset(HardwareIndex::Register, index);
      Value &a = rows[at[0]], &bValue = columns[at[1]];
      // Padding reads inside the tile; nobody reads what becomes of it.
      auto clamped = [&](unsigned dim, int64_t extent) -> Value {
        Value position = coordinate(layout, index, dim);
        return layout.isPaddedAlong(dim)
                   ? Value(arith::MinUIOp::create(b, position, i32(extent - 1)))
                   : position;
      };
      if (!a)
        a = read(left, clamped(0, result.getDimSize(0)), k);
      if (!bValue)
        bValue = read(right, k, clamped(1, result.getDimSize(1)));
      sums.push_back(
          math::FmaOp::create(b, a, bValue, loop.getRegionIterArgs()[index]));
    }
    scf::YieldOp::create(b, sums);
  }
  tiles[op.getResult()] =
      Registers(loop.getResults().begin(), loop.getResults().end());
}
