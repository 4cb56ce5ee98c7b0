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
      start = emitter.smemAddress(operand);
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
  int64_t bytes = 0;
  Value start;
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
  Value address =
      emitter.sharedAddress(memory, matrix->rows, instruction, start);
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
    registers = emitter.loadShared(layout, memory, start, element);
}

void GpuEmitter::Fragments::load(int64_t index) {
  if (matrix)
    return loadMatrix(index / matrix->count);
  loadElements();
  int64_t perWord = 4 / bytes;
  words[index] =
      pack(ArrayRef<Value>(registers).slice(index * perWord, perWord));
}

/// An f32 (as i32) in parts that tf32 holds. An infinite number has no small
/// part, and meets those of the other operand as 0, whose product with it would
/// be NaN.
GpuEmitter::Tf32Parts GpuEmitter::splitTf32(Value word,
                                            InputPrecision precision) {
  Type f32 = b.getF32Type(), i32Type = b.getI32Type();
  auto round = [&](Value number) -> Value {
    return LLVM::InlineAsmOp::create(
               b, i32Type, ValueRange{number}, "cvt.rna.tf32.f32 $0, $1;",
               "=r,f", /*has_side_effects=*/false, /*is_align_stack=*/false,
               LLVM::TailCallKind::None, /*asm_dialect=*/nullptr,
               /*operand_attrs=*/nullptr)
        .getResult(0);
  };
  auto real = [&](Value bits) -> Value {
    return arith::BitcastOp::create(b, f32, bits);
  };
  constexpr int64_t kMagnitude = 0x7fffffff, kInfinity = 0x7f800000;
  auto magnitudeIs = [&](arith::CmpIPredicate predicate, Value bits) -> Value {
    return arith::CmpIOp::create(
        b, predicate, arith::AndIOp::create(b, bits, i32(kMagnitude)),
        i32(kInfinity));
  };
  Value rounded = round(real(word));
  if (precision == InputPrecision::TF32)
    return {rounded, {}, {}};
  // The largest numbers would round to infinity: they are cut.
  Value cut = arith::AndIOp::create(b, word, i32(-(1 << 13)));
  Value isCut = magnitudeIs(arith::CmpIPredicate::eq, rounded);
  Value big = arith::SelectOp::create(b, isCut, cut, rounded);
  Value isFinite = magnitudeIs(arith::CmpIPredicate::slt, big);
  Value zero = i32(0);
  Value finite = arith::SelectOp::create(b, isFinite, big, zero);
  Value lost = arith::SubFOp::create(b, real(word), real(big));
  Value rest = arith::SelectOp::create(
      b, isCut, arith::BitcastOp::create(b, i32Type, lost), round(lost));
  return {big, finite, arith::SelectOp::create(b, isFinite, rest, zero)};
}

/// "bf16" and the shape of the instruction for an element type.
static std::pair<StringRef, StringRef> instructionOf(Type element) {
  if (element.isBF16())
    return {"m16n8k16", "bf16"};
  if (element.isF16())
    return {"m16n8k16", "f16"};
  if (element.isInteger(8))
    return {"m16n8k32", "s8"};
  if (element.isF32())
    return {"m16n8k8", "tf32"};
  return {"", ""};
}

/// B with the registers of two neighbouring blocks of columns next to each
/// other, so that one ldmatrix loads what two instructions of the same step
/// need, and nothing waits in registers for the next step.
static DistributedLayout inColumnPairs(const DistributedLayout &layout) {
  DigitList digits = layout.registers();
  Digit columns = digits.pop_back_val();
  if (columns.extent % 2 != 0)
    return layout;
  Digit steps = digits.pop_back_val();
  Digit pair = {2, columns.step}, pairs = {columns.extent / 2, columns.step};
  for (int64_t &step : pairs.step)
    step *= 2;
  digits.append({pair, steps, pairs});
  return {layout.shape(), digits, layout.lanes(), layout.warps()};
}

namespace {
/// One mma.sync: words of four registers of a, two of b and four sums.
class MmaInstruction {
public:
  MmaInstruction(ImplicitLocOpBuilder &b, Type element, StringRef shape,
                 StringRef name)
      : b(b) {
    const bool integer = element.isInteger(8);
    const StringRef sum = integer ? "s32" : "f32";
    text = ("mma.sync.aligned." + shape + ".row.col." + sum + "." + name + "." +
            name + "." + sum +
            " {$0, $1, $2, $3}, {$4, $5, $6, $7}, {$8, $9}, {$0, $1, $2, $3};")
               .str();
    constraints = integer ? "=r,=r,=r,=r,r,r,r,r,r,r,0,1,2,3"
                          : "=f,=f,=f,=f,r,r,r,r,r,r,0,1,2,3";
    sums = LLVM::LLVMStructType::getLiteral(
        b.getContext(),
        SmallVector<Type>(4, integer ? Type(b.getI32Type()) : b.getF32Type()));
  }

  void emit(MutableArrayRef<Value> target, ArrayRef<Value> left,
            ArrayRef<Value> right) const {
    SmallVector<Value> operands(left);
    operands.append(right.begin(), right.end());
    operands.append(target.begin(), target.end());
    auto product = LLVM::InlineAsmOp::create(
        b, sums, operands, text, constraints, /*has_side_effects=*/false,
        /*is_align_stack=*/false, LLVM::TailCallKind::None,
        /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
    for (int64_t word = 0; word < 4; ++word)
      target[word] =
          LLVM::ExtractValueOp::create(b, product.getResult(0), word);
  }

private:
  ImplicitLocOpBuilder &b;
  std::string text, constraints;
  Type sums;
};
} // namespace

/// The products of f32 fragments by tf32 instructions.
class GpuEmitter::Tf32Products {
public:
  Tf32Products(GpuEmitter &emitter, const MmaInstruction &instruction,
               Fragments &left, Fragments &right, InputPrecision precision)
      : emitter(emitter), instruction(instruction), left(left), right(right),
        precision(precision) {}

  /// Adds the product of the fragments with these first words.
  void emit(MutableArrayRef<Value> sums, int64_t firstA, int64_t firstB) {
    if (precision == InputPrecision::TF32) {
      product(sums, firstA, firstB, &Tf32Parts::big, &Tf32Parts::big);
      return;
    }
    // The instruction cuts its sums instead of rounding them: each starts anew
    // and is added to the others in f32.
    ImplicitLocOpBuilder &b = emitter.b;
    SmallVector<Value, 4> part(4, emitter.paddingOf(b.getF32Type()));
    product(part, firstA, firstB, &Tf32Parts::small, &Tf32Parts::finite);
    product(part, firstA, firstB, &Tf32Parts::finite, &Tf32Parts::small);
    product(part, firstA, firstB, &Tf32Parts::big, &Tf32Parts::big);
    for (auto [sum, more] : llvm::zip(sums, part))
      sum = arith::AddFOp::create(b, sum, more);
  }

private:
  using Known = std::map<int64_t, Tf32Parts>;

  const Tf32Parts &partsOf(Known &known, Fragments &from, int64_t index) {
    auto [entry, isNew] = known.try_emplace(index);
    if (isNew)
      entry->second = emitter.splitTf32(from.word(index), precision);
    return entry->second;
  }

  void product(MutableArrayRef<Value> target, int64_t firstA, int64_t firstB,
               Value Tf32Parts::*ofA, Value Tf32Parts::*ofB) {
    SmallVector<Value> wordsA, wordsB;
    for (int64_t word = 0; word < 4; ++word)
      wordsA.push_back(partsOf(leftParts, left, firstA + word).*ofA);
    for (int64_t word = 0; word < 2; ++word)
      wordsB.push_back(partsOf(rightParts, right, firstB + word).*ofB);
    instruction.emit(target, wordsA, wordsB);
  }

  GpuEmitter &emitter;
  const MmaInstruction &instruction;
  Fragments &left, &right;
  InputPrecision precision;
  Known leftParts, rightParts;
};

LogicalResult GpuEmitter::emitMma(tilegpu::MmaOp op) {
  auto extents = [](Type type) {
    auto memory = dyn_cast<tilegpu::SmemType>(type);
    return memory ? memory.getShape() : cast<RankedTensorType>(type).getShape();
  };
  Type element =
      isa<tilegpu::SmemType>(op.getA().getType())
          ? cast<tilegpu::SmemType>(op.getA().getType()).getElementType()
          : getElementType(op.getA().getType());
  InputPrecision precision = op.getInputPrecision();
  if (element.isF64() || (element.isF32() && precision == InputPrecision::IEEE))
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
  int64_t copies = warpCount() / (warpsM * warpsN);
  DistributedLayout layoutA = replicateWarps(
      mmaOperandA(result.getDimSize(0), depth, bits, warpsM, warpsN), copies);
  DistributedLayout layoutB =
      replicateWarps(inColumnPairs(mmaOperandB(depth, result.getDimSize(1),
                                               bits, warpsM, warpsN)),
                     copies);
  Fragments left(*this, op.getA(), layoutA, op.getTransA());
  Fragments right(*this, op.getB(), layoutB, op.getTransB());

  // Words of one fragment: 4 of a, 2 of b, 4 of the result.
  int64_t steps = depth / (256 / bits);
  int64_t rowBlocks = layoutA.registersPerThread() * bits / 32 / 4 / steps;
  int64_t columnBlocks = layoutB.registersPerThread() * bits / 32 / 2 / steps;
  Registers sums = tiles.at(op.getC());
  const MmaInstruction instruction(b, element, shape, name);
  Tf32Products tf32(*this, instruction, left, right, precision);
  for (int64_t step = 0; step < steps; ++step)
    for (int64_t column = 0; column < columnBlocks; ++column)
      for (int64_t row = 0; row < rowBlocks; ++row) {
        MutableArrayRef<Value> own = MutableArrayRef<Value>(sums).slice(
            4 * (row * columnBlocks + column), 4);
        int64_t firstA = 4 * (row * steps + step);
        int64_t pair = columnBlocks % 2 == 0 ? 2 : 1;
        int64_t firstB =
            2 * ((column / pair * steps + step) * pair + column % pair);
        if (element.isF32()) {
          tf32.emit(own, firstA, firstB);
          continue;
        }
        SmallVector<Value> wordsA, wordsB;
        for (int64_t word = 0; word < 4; ++word)
          wordsA.push_back(left.word(firstA + word));
        for (int64_t word = 0; word < 2; ++word)
          wordsB.push_back(right.word(firstB + word));
        instruction.emit(own, wordsA, wordsB);
      }
  tiles[op.getResult()] = sums;
  return success();
}

void GpuEmitter::emitMultiplyAdds(tilegpu::MmaOp op) {
  auto result = cast<RankedTensorType>(op.getType());
  DistributedLayout layout = layoutOf(result);
  struct Operand {
    SharedLayout memory;
    Value start;
    bool transposed;
  };
  auto describe = [&](Value value, bool transposed) -> Operand {
    return {sharedLayoutOf(cast<tilegpu::SmemType>(value.getType())),
            smemAddress(value), transposed};
  };
  Operand left = describe(op.getA(), op.getTransA());
  Operand right = describe(op.getB(), op.getTransB());
  int64_t depth = std::min(left.memory.shape[left.transposed ? 0 : 1],
                           right.memory.shape[right.transposed ? 1 : 0]);
  Type element = result.getElementType();
  auto read = [&](const Operand &from, Value row, Value column) -> Value {
    if (from.transposed)
      std::swap(row, column);
    Value address = sharedAddress(from.memory, {row, column}, from.start);
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
