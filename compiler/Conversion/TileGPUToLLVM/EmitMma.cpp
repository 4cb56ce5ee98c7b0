//===- EmitMma.cpp - Matrix products with mma.sync ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fragments of the operands are loaded from shared memory, by ldmatrix where
// the layout allows it, when the first instruction needs them, or a step ahead
// in loops that do nothing else; one instruction multiplies 16 rows, 8 columns
// and 256 bits of depth.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/LoopCounter.h"
#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/LoopInvariantCodeMotionUtils.h"

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
  /// `place`: of an operand in memory, where that is not what it says itself.
  Fragments(GpuEmitter &emitter, Value operand, const DistributedLayout &layout,
            bool transposed, Value place = {})
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
      start = place ? place : emitter.smemAddress(operand);
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

  /// Of a word that has been loaded before.
  void setWord(int64_t index, Value word) { words[index] = word; }

  /// Words that one ldmatrix loads; 0 where none does.
  int64_t wordsOfMatrix() const { return matrix ? matrix->count : 0; }

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

/// One mma.sync: words of four registers of a, two of b and four sums.
class GpuEmitter::MmaInstruction {
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

/// The element type of an operand.
static Type elementOfOperand(Value operand) {
  if (auto memory = dyn_cast<tilegpu::SmemType>(operand.getType()))
    return memory.getElementType();
  return getElementType(operand.getType());
}

/// How a product is made of instructions.
struct GpuEmitter::MmaPlan {
  MmaPlan(tilegpu::MmaOp op, int64_t warps);

  /// First words of the fragments of a block in a step: 4 of a, 2 of b.
  int64_t wordA(int64_t row, int64_t step) const {
    return 4 * (row * steps + step);
  }
  int64_t wordB(int64_t column, int64_t step) const {
    return 2 * ((column / pair * steps + step) * pair + column % pair);
  }

  DistributedLayout layoutA, layoutB;
  int64_t steps, rowBlocks, columnBlocks, pair;
};

GpuEmitter::MmaPlan::MmaPlan(tilegpu::MmaOp op, int64_t warps) {
  int64_t bits = elementOfOperand(op.getA()).getIntOrFloatBitWidth();
  int64_t warpsM = op.getWarpsM(), warpsN = op.getWarpsN();
  auto result = cast<RankedTensorType>(op.getType());
  auto memory = dyn_cast<tilegpu::SmemType>(op.getA().getType());
  ArrayRef<int64_t> a =
      memory ? memory.getShape()
             : cast<RankedTensorType>(op.getA().getType()).getShape();
  int64_t depth = a[op.getTransA() ? 0 : 1];
  depth = (depth + 256 / bits - 1) / (256 / bits) * (256 / bits);
  int64_t copies = warps / (warpsM * warpsN);
  layoutA = replicateWarps(
      mmaOperandA(result.getDimSize(0), depth, bits, warpsM, warpsN), copies);
  layoutB =
      replicateWarps(inColumnPairs(mmaOperandB(depth, result.getDimSize(1),
                                               bits, warpsM, warpsN)),
                     copies);
  // Words of one fragment: 4 of a, 2 of b, 4 of the result.
  steps = depth / (256 / bits);
  rowBlocks = layoutA.registersPerThread() * bits / 32 / 4 / steps;
  columnBlocks = layoutB.registersPerThread() * bits / 32 / 2 / steps;
  pair = columnBlocks % 2 == 0 ? 2 : 1;
}

/// The instructions of one step.
void GpuEmitter::emitMmaStep(const MmaPlan &plan,
                             const MmaInstruction &instruction, int64_t step,
                             Fragments &left, Fragments &right,
                             Registers &sums) {
  for (int64_t column = 0; column < plan.columnBlocks; ++column)
    for (int64_t row = 0; row < plan.rowBlocks; ++row) {
      SmallVector<Value> wordsA, wordsB;
      for (int64_t word = 0; word < 4; ++word)
        wordsA.push_back(left.word(plan.wordA(row, step) + word));
      for (int64_t word = 0; word < 2; ++word)
        wordsB.push_back(right.word(plan.wordB(column, step) + word));
      instruction.emit(MutableArrayRef<Value>(sums).slice(
                           4 * (row * plan.columnBlocks + column), 4),
                       wordsA, wordsB);
    }
}

LogicalResult GpuEmitter::emitMma(tilegpu::MmaOp op) {
  Type element = elementOfOperand(op.getA());
  InputPrecision precision = op.getInputPrecision();
  if (element.isF64() || (element.isF32() && precision == InputPrecision::IEEE))
    return emitMultiplyAdds(op), success();
  auto [shape, name] = instructionOf(element);
  if (shape.empty())
    return op.emitOpError("on ")
           << element << " is not supported by the gpu targets yet";
  const MmaPlan plan(op, warpCount());
  Fragments left(*this, op.getA(), plan.layoutA, op.getTransA());
  Fragments right(*this, op.getB(), plan.layoutB, op.getTransB());
  Registers sums = tiles.at(op.getC());
  const MmaInstruction instruction(b, element, shape, name);
  Tf32Products tf32(*this, instruction, left, right, precision);
  for (int64_t step = 0; step < plan.steps; ++step) {
    if (!element.isF32()) {
      emitMmaStep(plan, instruction, step, left, right, sums);
      continue;
    }
    for (int64_t column = 0; column < plan.columnBlocks; ++column)
      for (int64_t row = 0; row < plan.rowBlocks; ++row)
        tf32.emit(MutableArrayRef<Value>(sums).slice(
                      4 * (row * plan.columnBlocks + column), 4),
                  plan.wordA(row, step), plan.wordB(column, step));
  }
  tiles[op.getResult()] = sums;
  return success();
}

//===----------------------------------------------------------------------===//
// Loops that only add up a product
//===----------------------------------------------------------------------===//

/// The operations of such a loop, as --tilegpu-stage-loads writes it, that do
/// more than to compute numbers.
struct GpuEmitter::ProductLoop {
  tilegpu::WaitCopiesOp wait;
  tilegpu::BarrierOp barrier;
  tilegpu::MmaOp product;
  scf::IfOp copies;
  tilegpu::CommitCopiesOp commit;
  tilegpu::SlotOp left, right;
  unsigned buffer; ///< which carried value is the number of the buffer
};

bool GpuEmitter::findProductLoop(scf::ForOp loop, ProductLoop &found) {
  bool fits = true;
  auto take = [&](auto &part, auto op) {
    fits &= !part;
    part = op;
  };
  for (Operation &op : loop.getBody()->without_terminator()) {
    if (auto wait = dyn_cast<tilegpu::WaitCopiesOp>(op))
      take(found.wait, wait);
    else if (auto barrier = dyn_cast<tilegpu::BarrierOp>(op))
      take(found.barrier, barrier);
    else if (auto product = dyn_cast<tilegpu::MmaOp>(op))
      take(found.product, product);
    else if (auto copies = dyn_cast<scf::IfOp>(op))
      take(found.copies, copies);
    else if (auto commit = dyn_cast<tilegpu::CommitCopiesOp>(op))
      take(found.commit, commit);
    else
      fits &= isMemoryEffectFree(&op) && op.getNumRegions() == 0 &&
              llvm::none_of(op.getResults(), tileType);
  }
  if (!fits || !found.wait || !found.barrier || !found.product ||
      !found.copies || !found.commit || !isCopyGuard(found.copies) ||
      !found.wait->isBeforeInBlock(found.barrier) ||
      !found.barrier->isBeforeInBlock(found.product) ||
      !found.product->isBeforeInBlock(found.copies) ||
      !found.copies->isBeforeInBlock(found.commit))
    return false;
  // Of two tiles in buffers of the same number, to a carried tile.
  tilegpu::MmaOp product = found.product;
  found.left = product.getA().getDefiningOp<tilegpu::SlotOp>();
  found.right = product.getB().getDefiningOp<tilegpu::SlotOp>();
  auto sum = dyn_cast<BlockArgument>(product.getC());
  if (!found.left || !found.right || !sum || sum.getOwner() != loop.getBody() ||
      loop.getYieldedValues()[sum.getArgNumber() - 1] != product.getResult())
    return false;
  auto buffer = dyn_cast<BlockArgument>(found.left.getIndex());
  if (!buffer || buffer.getOwner() != loop.getBody() ||
      buffer == loop.getInductionVar() || found.right.getIndex() != buffer)
    return false;
  found.buffer = buffer.getArgNumber() - 1;
  // Each step has instructions of its own that load it.
  Type element = elementOfOperand(product.getA());
  if (element.isF32() || element.isF64() ||
      instructionOf(element).first.empty())
    return false;
  const MmaPlan plan(product, warpCount());
  Value anywhere = i32(0);
  Fragments left(*this, product.getA(), plan.layoutA, product.getTransA(),
                 anywhere);
  Fragments right(*this, product.getB(), plan.layoutB, product.getTransB(),
                  anywhere);
  return plan.steps > 1 && left.wordsOfMatrix() == 4 &&
         right.wordsOfMatrix() == 2 * plan.pair;
}

/// The fragments of a step are loaded while the instructions of the step before
/// run. Those of the first step of an iteration are loaded, and therefore
/// waited for, in the iteration before.
LogicalResult GpuEmitter::emitProductLoop(scf::ForOp loop,
                                          const ProductLoop &parts) {
  tilegpu::MmaOp product = parts.product;
  const MmaPlan plan(product, warpCount());
  Type element = elementOfOperand(product.getA());
  auto [shape, name] = instructionOf(element);
  const MmaInstruction instruction(b, element, shape, name);
  auto placeOf = [&](tilegpu::SlotOp slot, Value buffer) -> Value {
    int64_t bytes = sharedLayoutOf(slot.getSlot().getType()).bytes();
    return arith::AddIOp::create(
        b, arith::AddIOp::create(b, sharedBase, i32(stages.at(slot.getRing()))),
        arith::MulIOp::create(b, buffer, i32(bytes)));
  };
  auto fragmentsOf = [&](Value operand, const DistributedLayout &layout,
                         bool transposed, tilegpu::SlotOp slot, Value buffer) {
    return Fragments(*this, operand, layout, transposed, placeOf(slot, buffer));
  };
  auto leftIn = [&](Value buffer) {
    return fragmentsOf(product.getA(), plan.layoutA, product.getTransA(),
                       parts.left, buffer);
  };
  auto rightIn = [&](Value buffer) {
    return fragmentsOf(product.getB(), plan.layoutB, product.getTransB(),
                       parts.right, buffer);
  };
  // Words of a step, those of a before those of b.
  auto wordsOf = [&](int64_t step, Fragments &left, Fragments &right) {
    Registers words;
    for (int64_t row = 0; row < plan.rowBlocks; ++row)
      for (int64_t word = 0; word < 4; ++word)
        words.push_back(left.word(plan.wordA(row, step) + word));
    for (int64_t column = 0; column < plan.columnBlocks; ++column)
      for (int64_t word = 0; word < 2; ++word)
        words.push_back(right.word(plan.wordB(column, step) + word));
    return words;
  };
  auto waitForBuffer = [&] {
    NVVM::CpAsyncWaitGroupOp::create(
        b, tilegpu::WaitCopiesOp(parts.wait).getPending());
    barrier();
  };

  SmallVector<Value> inits;
  for (Value init : loop.getInitArgs())
    flatten(init, inits);
  const size_t ofLoop = inits.size();
  checkStep(loop);
  waitForBuffer();
  Value firstBuffer = scalar(loop.getInitArgs()[parts.buffer]);
  Fragments firstLeft = leftIn(firstBuffer), firstRight = rightIn(firstBuffer);
  llvm::append_range(inits, wordsOf(0, firstLeft, firstRight));
  OpBuilder::InsertionGuard guard(b);
  ValueRange arguments;
  auto newLoop = enterLoop(loop, inits, arguments);
  bool storedBefore = stored, loadedBefore = loaded, addedBefore = added;
  expectAccessesOf(loop.getRegion());
  for (Operation &op : loop.getBody()->without_terminator())
    if (!isa<tilegpu::WaitCopiesOp, tilegpu::BarrierOp, tilegpu::MmaOp,
             scf::IfOp, tilegpu::CommitCopiesOp>(op) &&
        failed(emitOp(&op)))
      return failure();

  Fragments left(*this, product.getA(), plan.layoutA, product.getTransA());
  Fragments right(*this, product.getB(), plan.layoutB, product.getTransB());
  for (int64_t row = 0; row < plan.rowBlocks; ++row)
    for (int64_t word = 0; word < 4; ++word, arguments = arguments.drop_front())
      left.setWord(plan.wordA(row, 0) + word, arguments.front());
  for (int64_t column = 0; column < plan.columnBlocks; ++column)
    for (int64_t word = 0; word < 2; ++word, arguments = arguments.drop_front())
      right.setWord(plan.wordB(column, 0) + word, arguments.front());
  Registers sums = tiles.at(product.getC()), next;
  for (int64_t step = 0; step < plan.steps; ++step) {
    if (step + 1 < plan.steps) {
      wordsOf(step + 1, left, right);
    } else {
      waitForBuffer();
      Value buffer = scalar(loop.getYieldedValues()[parts.buffer]);
      Fragments nextLeft = leftIn(buffer), nextRight = rightIn(buffer);
      next = wordsOf(0, nextLeft, nextRight);
    }
    emitMmaStep(plan, instruction, step, left, right, sums);
    // To the buffer of the iteration before, at whose end all have been past
    // the barrier: this one's first fragments come from behind it.
    if (step == 0) {
      if (failed(emitOp(parts.copies)))
        return failure();
      NVVM::CpAsyncCommitGroupOp::create(b);
    }
  }
  tiles[product.getResult()] = sums;
  SmallVector<Value> yields;
  for (Value yielded : loop.getYieldedValues())
    flatten(yielded, yields);
  llvm::append_range(yields, next);
  b.setInsertionPointToEnd(newLoop.getBody());
  scf::YieldOp::create(b, yields);
  stored |= storedBefore;
  loaded |= loadedBefore;
  added |= addedBefore;
  moveLoopInvariantCode(cast<LoopLikeOpInterface>(newLoop.getOperation()));
  b.setInsertionPointAfter(newLoop);
  ValueRange results = newLoop.getResults().take_front(ofLoop);
  for (Value result : loop.getResults())
    bind(result, results);
  return success();
}

std::optional<LogicalResult> GpuEmitter::emitProductLoop(scf::ForOp loop) {
  ProductLoop parts;
  if (isHopper() || !findProductLoop(loop, parts))
    return std::nullopt;
  return emitProductLoop(loop, parts);
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
