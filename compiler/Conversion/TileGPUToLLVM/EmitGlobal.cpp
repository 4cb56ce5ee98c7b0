//===- EmitGlobal.cpp - Loads and stores ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements beyond a mask or a tensor are predicated off: the instruction does
// not touch memory. Neighbouring elements of a window move as vectors of up to
// 16 bytes where the tensor allows it, which is decided at run time, once for
// each access and alike in all threads.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"
#include "dialects/Tile/Transforms/ScalarFacts.h"
#include "dialects/TileGPU/IR/LaunchAttributes.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

/// Of the constant in an address.
static constexpr unsigned kAddressOffsetBits = 32;

static std::string offsetText(int64_t offset) {
  return offset ? "+" + std::to_string(offset) : ""; // "+-8", as LLVM has it
}

static LLVM::InlineAsmOp emitAsm(ImplicitLocOpBuilder &b, TypeRange results,
                                 StringRef text, StringRef constraints,
                                 ValueRange operands) {
  return LLVM::InlineAsmOp::create(
      b, results, operands, text, constraints, /*has_side_effects=*/true,
      /*is_align_stack=*/false, LLVM::TailCallKind::None,
      /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
}

//===----------------------------------------------------------------------===//
// One access
//===----------------------------------------------------------------------===//

namespace {
/// How PTX moves this many bytes: words of a type, in asm operands of a class.
struct AccessType {
  StringRef name;       ///< "b32"
  StringRef constraint; ///< "r"
  int64_t wordBytes;    ///< bytes of memory of one word
  int64_t words;
};
} // namespace

static AccessType accessType(int64_t elementBytes, int64_t count) {
  int64_t bytes = elementBytes * count;
  if (elementBytes == 8)
    return {"b64", "l", 8, count};
  switch (bytes) {
  case 1:
    return {"b8", "h", 1, 1};
  case 2:
    return {"b16", "h", 2, 1};
  case 4:
    return {"b32", "r", 4, 1};
  default:
    return {"b32", "r", 4, bytes / 4};
  }
}

/// The integer that asm carries a word in; bytes travel in 16 bits.
static Type carrierType(ImplicitLocOpBuilder &b, const AccessType &access) {
  return b.getIntegerType(std::max<int64_t>(16, access.wordBytes * 8));
}

/// Packs elements of a register type into the words of an access.
static SmallVector<Value> toWords(ImplicitLocOpBuilder &b, ValueRange registers,
                                  const AccessType &access) {
  SmallVector<Value> elements(registers);
  if (elements.front().getType().isInteger(1)) // whole bytes in memory
    for (Value &element : elements)
      element = arith::ExtUIOp::create(b, b.getI8Type(), element);
  Type type = elements.front().getType();
  unsigned bits = type.getIntOrFloatBitWidth();
  Type carrier = carrierType(b, access);
  int64_t perWord = elements.size() / access.words;
  SmallVector<Value> words;
  for (int64_t word = 0; word < access.words; ++word) {
    if (perWord == 1) {
      Value value = elements[word];
      if (isa<FloatType>(type))
        value = arith::BitcastOp::create(b, b.getIntegerType(bits), value);
      if (value.getType() != carrier)
        value = arith::ExtUIOp::create(b, carrier, value);
      words.push_back(value);
      continue;
    }
    Value vector = LLVM::PoisonOp::create(b, VectorType::get({perWord}, type));
    for (int64_t lane = 0; lane < perWord; ++lane)
      vector = LLVM::InsertElementOp::create(
          b, vector, elements[word * perWord + lane],
          arith::ConstantOp::create(b, b.getI32IntegerAttr(lane)));
    words.push_back(LLVM::BitcastOp::create(b, carrier, vector));
  }
  return words;
}

/// The inverse of toWords.
static Registers fromWords(ImplicitLocOpBuilder &b, ArrayRef<Value> words,
                           Type type, int64_t count) {
  if (type.isInteger(1)) {
    Registers bytes = fromWords(b, words, b.getI8Type(), count);
    Value zero = arith::ConstantOp::create(b, b.getI8IntegerAttr(0));
    for (Value &byte : bytes)
      byte = arith::CmpIOp::create(b, arith::CmpIPredicate::ne, byte, zero);
    return bytes;
  }
  unsigned bits = type.getIntOrFloatBitWidth();
  int64_t perWord = count / words.size();
  Registers elements;
  for (Value word : words) {
    if (perWord == 1) {
      Value value = word;
      if (value.getType().getIntOrFloatBitWidth() != bits)
        value = arith::TruncIOp::create(b, b.getIntegerType(bits), value);
      if (isa<FloatType>(type))
        value = arith::BitcastOp::create(b, type, value);
      elements.push_back(value);
      continue;
    }
    Value vector =
        LLVM::BitcastOp::create(b, VectorType::get({perWord}, type), word);
    for (int64_t lane = 0; lane < perWord; ++lane)
      elements.push_back(LLVM::ExtractElementOp::create(
          b, vector, arith::ConstantOp::create(b, b.getI32IntegerAttr(lane))));
  }
  return elements;
}

/// "$2, $3" from operand number `first`.
static std::string operandList(int64_t first, int64_t count) {
  std::string list;
  for (int64_t index = 0; index < count; ++index)
    list += (index ? ", $" : "$") + std::to_string(first + index);
  return count == 1 ? list : "{" + list + "}";
}

static std::string vectorSuffix(int64_t words) {
  return words == 1 ? "" : ".v" + std::to_string(words);
}

Registers GpuEmitter::loadElements(GlobalAddress address, Value mask,
                                   ValueRange others, Type element) {
  Type type = registerType(element);
  int64_t count = others.size();
  AccessType access = accessType(bytesOfElement(type), count);
  int64_t words = access.words;
  SmallVector<Value> operands = {
      address.base, arith::ExtUIOp::create(b, b.getI32Type(), mask)};
  llvm::append_range(operands, toWords(b, others, access));
  std::string constraints;
  for (int64_t word = 0; word < words; ++word)
    constraints += ("=" + access.constraint + ",").str();
  constraints += "l,r";
  for (int64_t word = 0; word < words; ++word)
    constraints += "," + std::to_string(word);
  std::string text = "{ .reg .pred p; setp.ne.b32 p, $" +
                     std::to_string(words + 1) + ", 0; @p ld.global" +
                     vectorSuffix(words) + "." + access.name.str() + " " +
                     operandList(0, words) + ", [$" + std::to_string(words) +
                     offsetText(address.offset) + "]; }";
  Type carrier = carrierType(b, access);
  Type result = words == 1
                    ? carrier
                    : Type(LLVM::LLVMStructType::getLiteral(
                          b.getContext(), SmallVector<Type>(words, carrier)));
  Value loaded = emitAsm(b, result, text, constraints + ",~{memory}", operands)
                     .getResult(0);
  SmallVector<Value> parts;
  for (int64_t word = 0; word < words; ++word)
    parts.push_back(words == 1
                        ? loaded
                        : Value(LLVM::ExtractValueOp::create(b, loaded, word)));
  return fromWords(b, parts, type, count);
}

void GpuEmitter::storeElements(GlobalAddress address, Value mask,
                               ValueRange values, Type element) {
  int64_t count = values.size();
  AccessType access = accessType(bytesOfElement(registerType(element)), count);
  SmallVector<Value> operands = {
      address.base, arith::ExtUIOp::create(b, b.getI32Type(), mask)};
  llvm::append_range(operands, toWords(b, values, access));
  std::string constraints = "l,r";
  for (int64_t word = 0; word < access.words; ++word)
    constraints += ("," + access.constraint).str();
  std::string text = "{ .reg .pred p; setp.ne.b32 p, $1, 0; @p st.global" +
                     vectorSuffix(access.words) + "." + access.name.str() +
                     " [$0" + offsetText(address.offset) + "], " +
                     operandList(2, access.words) + "; }";
  emitAsm(b, TypeRange(), text, constraints + ",~{memory}", operands);
}

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// Byte address of a register's element: the thread's first, which all
/// registers share, by way of the rows, and a constant.
GpuEmitter::GlobalAddress
GpuEmitter::windowPlace(const GpuWindow &window,
                        const DistributedLayout &layout, int64_t index,
                        Type element) {
  const Coordinates own = layout.offset(HardwareIndex::Register, index);
  GlobalAddress address = {window.base, 0};
  Value distance;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    Value position = arith::AddIOp::create(b, window.offsets[dim],
                                           toI64(threadOffset(layout, dim)));
    Value stride = arith::MulIOp::create(b, window.strides[dim],
                                         i64(bytesOfElement(element)));
    address.base = arith::AddIOp::create(
        b, address.base, arith::MulIOp::create(b, position, stride));
    if (own[dim] == 0)
      continue;
    APInt known;
    if (matchPattern(window.strides[dim], m_ConstantInt(&known)) &&
        known.isSignedIntN(kAddressOffsetBits / 2)) {
      address.offset +=
          own[dim] * known.getSExtValue() * bytesOfElement(element);
      continue;
    }
    Value away = arith::MulIOp::create(b, stride, i64(own[dim]));
    distance =
        distance ? Value(arith::AddIOp::create(b, distance, away)) : away;
  }
  if (distance)
    address.base = arith::AddIOp::create(b, address.base, distance);
  if (!llvm::isInt<kAddressOffsetBits>(address.offset))
    address = {arith::AddIOp::create(b, address.base, i64(address.offset)), 0};
  return address;
}

Value GpuEmitter::windowAddress(const GpuWindow &window,
                                const DistributedLayout &layout, int64_t index,
                                Type element) {
  GlobalAddress address = windowPlace(window, layout, index, element);
  return arith::AddIOp::create(b, address.base, i64(address.offset));
}

/// Whether the first register digit runs along memory, and what has to hold at
/// run time for whole vectors to be aligned and in or out of bounds together.
std::optional<GpuEmitter::VectorPlan>
GpuEmitter::planVectors(Value pointer, const DistributedLayout &layout,
                        Type element) {
  constexpr int64_t kMaxBytes = 16;
  if (layout.registers().empty() || kernel->hasAttr(tilegpu::kPlainAttr))
    return std::nullopt;
  const Digit &first = layout.registers().front();
  std::optional<unsigned> along;
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    if (first.step[dim] == 1 && !along)
      along = dim;
    else if (first.step[dim] != 0)
      return std::nullopt;
  }
  int64_t bytes = bytesOfElement(element);
  if (!along || layout.isPaddedAlong(*along))
    return std::nullopt;
  int64_t width = kMaxBytes / bytes;
  while (width > 1 && first.extent % width != 0)
    width /= 2;
  // Accesses are of 4, 8 or 16 bytes; 8 travel as one 64-bit word only for
  // 64-bit elements.
  if (width == 1 || width * bytes < 4 || (width * bytes == 8 && bytes < 8))
    return std::nullopt;

  if (*along == 1 && isKnownAligned(pointer) &&
      isMultipleOf(pointer.getDefiningOp<MakeBlockPtrOp>().getShape()[1],
                   width))
    return VectorPlan{*along, width, Value()};
  const GpuWindow &window = windows.at(pointer);
  auto divides = [&](Value value, int64_t by) -> Value {
    return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                 arith::AndIOp::create(b, value, i64(by - 1)),
                                 i64(0));
  };
  Value usable = divides(window.base, width * bytes);
  auto conjoin = [&](Value condition) {
    usable = arith::AndIOp::create(b, usable, condition);
  };
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    if (dim != *along) {
      conjoin(divides(window.strides[dim], width));
      continue;
    }
    conjoin(divides(window.shape[dim], width));
    conjoin(divides(window.offsets[dim], width));
    if (!matchPattern(window.strides[dim], m_One()))
      conjoin(arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                    window.strides[dim], i64(1)));
  }
  return VectorPlan{*along, width, usable};
}

Value GpuEmitter::windowMask(const GpuWindow &window,
                             const DistributedLayout &layout, int64_t index,
                             std::optional<ArrayRef<bool>> promised,
                             ArrayRef<int64_t> shape) {
  Value all;
  auto conjoin = [&](Value condition) {
    all = all ? Value(arith::AndIOp::create(b, all, condition)) : condition;
  };
  for (unsigned dim = 0; dim < layout.rank(); ++dim) {
    Value at = coordinate(layout, index, dim);
    if (layout.isPaddedAlong(dim))
      conjoin(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, at,
                                    i32(shape[dim])));
    if (promised && (*promised)[dim])
      continue;
    Value position = arith::AddIOp::create(b, window.offsets[dim], toI64(at));
    conjoin(arith::CmpIOp::create(b, arith::CmpIPredicate::ult, position,
                                  window.shape[dim]));
  }
  return all ? all : Value(arith::ConstantOp::create(b, b.getBoolAttr(true)));
}

Registers GpuEmitter::loadWindow(const GpuWindow &window, tilegpu::LoadOp op,
                                 const DistributedLayout &layout,
                                 int64_t width) {
  auto type = cast<RankedTensorType>(op.getType());
  Type element = type.getElementType(), inRegister = registerType(element);
  Attribute padding = b.getZeroAttr(inRegister);
  if (op.getPadding() != Padding::Zero)
    padding =
        b.getFloatAttr(element, op.getPadding() == Padding::NaN
                                    ? std::numeric_limits<double>::quiet_NaN()
                                    : -std::numeric_limits<double>::infinity());
  SmallVector<Value> others(width, constantOf(padding));
  Registers values;
  for (int64_t index = 0; index < layout.registersPerThread(); index += width)
    llvm::append_range(
        values, loadElements(windowPlace(window, layout, index, element),
                             windowMask(window, layout, index, op.getInBounds(),
                                        type.getShape()),
                             others, element));
  return values;
}

LogicalResult GpuEmitter::emitLoad(tilegpu::LoadOp op) {
  orderLoads();
  auto type = cast<RankedTensorType>(op.getType());
  DistributedLayout layout = layoutOf(type);
  Type element = type.getElementType(), inRegister = registerType(element);
  int64_t count = layout.registersPerThread();
  if (!isa<BlockPtrType>(op.getPointer().getType())) {
    Value zero = arith::ConstantOp::create(b, b.getZeroAttr(inRegister));
    Value always = arith::ConstantOp::create(b, b.getBoolAttr(true));
    Registers values;
    for (int64_t index = 0; index < count; ++index) {
      Value other = op.getOther() ? tiles.at(op.getOther())[index] : zero;
      Value mask = op.getMask() ? tiles.at(op.getMask())[index] : always;
      mask = maskedByTile(mask, layout, index);
      llvm::append_range(values,
                         loadElements({tiles.at(op.getPointer())[index], 0},
                                      mask, other, element));
    }
    tiles[op.getResult()] = values;
    return success();
  }
  const GpuWindow window = windows.at(op.getPointer());
  std::optional<VectorPlan> vectors =
      planVectors(op.getPointer(), layout, element);
  if (!vectors) {
    tiles[op.getResult()] = loadWindow(window, op, layout, 1);
    return success();
  }
  if (!vectors->usable) {
    tiles[op.getResult()] = loadWindow(window, op, layout, vectors->width);
    return success();
  }
  auto branch = scf::IfOp::create(b, SmallVector<Type>(count, inRegister),
                                  vectors->usable, /*withElseRegion=*/true);
  {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(branch.thenBlock());
    scf::YieldOp::create(b, loadWindow(window, op, layout, vectors->width));
    b.setInsertionPointToStart(branch.elseBlock());
    scf::YieldOp::create(b, loadWindow(window, op, layout, 1));
  }
  tiles[op.getResult()] =
      Registers(branch.getResults().begin(), branch.getResults().end());
  return success();
}

void GpuEmitter::storeWindow(const GpuWindow &window, tilegpu::StoreOp op,
                             const DistributedLayout &layout, Value owner,
                             int64_t width) {
  auto type = cast<RankedTensorType>(op.getValue().getType());
  Type element = type.getElementType();
  const Registers values = tiles.at(op.getValue());
  for (int64_t index = 0; index < layout.registersPerThread(); index += width) {
    Value inside =
        windowMask(window, layout, index, op.getInBounds(), type.getShape());
    storeElements(windowPlace(window, layout, index, element),
                  arith::AndIOp::create(b, owner, inside),
                  ArrayRef<Value>(values).slice(index, width), element);
  }
}

LogicalResult GpuEmitter::emitStore(tilegpu::StoreOp op) {
  orderStores();
  auto type = cast<RankedTensorType>(op.getValue().getType());
  DistributedLayout layout = layoutOf(type);
  Type element = type.getElementType();
  // Of several holders of an element the first writes.
  Value owner = isFirstHolder(layout);
  if (!isa<BlockPtrType>(op.getPointer().getType())) {
    for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
      Value mask = owner;
      if (op.getMask())
        mask = arith::AndIOp::create(b, mask, tiles.at(op.getMask())[index]);
      mask = maskedByTile(mask, layout, index);
      Value value = tiles.at(op.getValue())[index];
      storeElements({tiles.at(op.getPointer())[index], 0}, mask, value,
                    element);
    }
    return success();
  }
  const GpuWindow window = windows.at(op.getPointer());
  std::optional<VectorPlan> vectors =
      planVectors(op.getPointer(), layout, element);
  if (!vectors) {
    storeWindow(window, op, layout, owner, 1);
    return success();
  }
  if (!vectors->usable) {
    storeWindow(window, op, layout, owner, vectors->width);
    return success();
  }
  auto branch = scf::IfOp::create(b, vectors->usable, /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  storeWindow(window, op, layout, owner, vectors->width);
  b.setInsertionPoint(branch.elseYield());
  storeWindow(window, op, layout, owner, 1);
  return success();
}

LogicalResult GpuEmitter::emitScalarAccess(Operation *op) {
  Value always = arith::ConstantOp::create(b, b.getBoolAttr(true));
  if (auto load = dyn_cast<LoadOp>(op)) {
    orderLoads();
    Type element = load.getType();
    Value other = load.getOther()
                      ? scalar(load.getOther())
                      : Value(arith::ConstantOp::create(
                            b, b.getZeroAttr(registerType(element))));
    scalars.map(load.getResult(),
                loadElements({scalar(load.getPointer()), 0},
                             load.getMask() ? scalar(load.getMask()) : always,
                             other, element)
                    .front());
    return success();
  }
  orderStores();
  auto store = cast<StoreOp>(op);
  Value mask = store.getMask() ? scalar(store.getMask()) : always;
  storeElements({scalar(store.getPointer()), 0},
                arith::AndIOp::create(b, mask, isFirstThread()),
                scalar(store.getValue()), store.getValue().getType());
  return success();
}
