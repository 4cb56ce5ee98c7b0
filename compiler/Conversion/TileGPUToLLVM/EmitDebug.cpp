//===- EmitDebug.cpp - Assertions and printing ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both write through vprintf, which the driver provides, one call for each line
// so that lines of different programs do not mix. A call takes 32 arguments at
// most: longer tiles are several lines. An assertion then traps.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/TileGPUToLLVM/GpuEmitter.h"

#include "compiler/Analysis/Program/TileQueries.h"
#include "compiler/Conversion/TileToTileGPU/LayoutAttrs.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;
using flashtile::tile::getElementType;

/// Elements of a line; the position in the grid and in the tile come on top.
static constexpr int64_t kElementsPerLine = 24;

/// "%" as printf takes it.
static std::string escaped(StringRef text) {
  std::string result;
  for (char c : text)
    result += c == '%' ? std::string("%%") : std::string(1, c);
  return result;
}

void GpuEmitter::callPrintf(StringRef format, ArrayRef<Value> arguments) {
  constexpr char kName[] = "vprintf";
  Type pointer = LLVM::LLVMPointerType::get(b.getContext());
  auto module = kernel->getParentOfType<ModuleOp>();
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(kName);
  if (!function) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPointToStart(module.getBody());
    function = LLVM::LLVMFuncOp::create(
        b, kName,
        LLVM::LLVMFunctionType::get(b.getI32Type(), {pointer, pointer}));
  }
  SmallVector<uint8_t> bytes(format.begin(), format.end());
  bytes.push_back(0);
  Value text =
      LLVM::AddrSpaceCastOp::create(b, pointer, globalData("format", bytes));
  // Room for the arguments of any call, as a structure in C.
  constexpr int64_t kMostBytes = 8 * 32;
  if (!printArguments) {
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(entryEnd);
    printArguments = LLVM::AllocaOp::create(
        b, pointer, LLVM::LLVMArrayType::get(b.getI64Type(), kMostBytes / 8),
        i32(1), /*alignment=*/8);
  }
  int64_t offset = 0;
  for (Value argument : arguments) {
    int64_t size = argument.getType().getIntOrFloatBitWidth() / 8;
    offset = (offset + size - 1) / size * size;
    Value place = LLVM::GEPOp::create(
        b, pointer, b.getI8Type(), printArguments,
        ArrayRef<LLVM::GEPArg>{LLVM::GEPArg(int32_t(offset))});
    LLVM::StoreOp::create(b, argument, place, size);
    offset += size;
  }
  LLVM::CallOp::create(b, function, ValueRange{text, printArguments});
}

Value GpuEmitter::isFirstThread() {
  if (role == Role::Producer) // which is a single thread
    return arith::ConstantOp::create(b, b.getBoolAttr(true));
  return arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                               arith::OrIOp::create(b, self.lane, self.warp),
                               i32(0));
}

//===----------------------------------------------------------------------===//
// Assertions
//===----------------------------------------------------------------------===//

/// Stops the launch where `failed` (i1) holds in any thread.
void GpuEmitter::emitCheck(Value failed, StringRef message) {
  // All threads decide alike, so that the message is out before any traps.
  auto branch =
      scf::IfOp::create(b, anyThread(failed), /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPoint(branch.thenYield());
  {
    auto first = scf::IfOp::create(b, isFirstThread(), /*withElse=*/false);
    OpBuilder::InsertionGuard inner(b);
    b.setInsertionPoint(first.thenYield());
    callPrintf(escaped(message) + " in program (%d, %d, %d)\n",
               ArrayRef<Value>(programIds).take_front(3));
  }
  barrier();
  LLVM::InlineAsmOp::create(b, TypeRange(), ValueRange(), "trap;", "",
                            /*has_side_effects=*/true,
                            /*is_align_stack=*/false, LLVM::TailCallKind::None,
                            /*asm_dialect=*/nullptr, /*operand_attrs=*/nullptr);
}

void GpuEmitter::emitAssert(AssertOp op) {
  std::string message = op.getMessage().str();
  if (auto location = op.getLoc()->findInstanceOf<FileLineColLoc>())
    message = (location.getFilename().getValue() + ":" +
               Twine(location.getLine()) + ": " + message)
                  .str();
  Value yes = arith::ConstantOp::create(b, b.getBoolAttr(true));
  auto isFalse = [&](Value condition) -> Value {
    return arith::XOrIOp::create(b, condition, yes);
  };
  if (!tileType(op.getCondition()))
    return emitCheck(isFalse(scalar(op.getCondition())), message);
  DistributedLayout layout = layoutOf(op.getCondition().getType());
  Value failed = arith::ConstantOp::create(b, b.getBoolAttr(false));
  const Registers values = tiles.at(op.getCondition());
  for (int64_t index = 0; index < layout.registersPerThread(); ++index) {
    Value wrong = maskedByTile(isFalse(values[index]), layout, index);
    failed = arith::OrIOp::create(b, failed, wrong);
  }
  emitCheck(failed, message);
}

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// How printf shows an element: digits that tell it from its neighbours.
static StringRef formatOf(Type element) {
  if (!isa<FloatType>(element))
    return "%lld";
  return element.isF64() ? "%.17g" : element.isF32() ? "%.9g" : "%.5g";
}

/// As printf takes it: f64 or i64.
Value GpuEmitter::printable(Value value, Type element) {
  if (isa<FloatType>(element))
    return emitCast(value, element, b.getF64Type());
  if (element.isInteger(64))
    return value;
  return element.isInteger(1)
             ? Value(arith::ExtUIOp::create(b, b.getI64Type(), value))
             : toI64(value);
}

void GpuEmitter::emitPrint(PrintOp op) {
  std::string head = escaped(op.getPrefix()) + " (%d, %d, %d)";
  ArrayRef<Value> ids = ArrayRef<Value>(programIds).take_front(3);
  auto byFirstThread = [&](function_ref<void()> body) {
    auto first = scf::IfOp::create(b, isFirstThread(), /*withElse=*/false);
    OpBuilder::InsertionGuard guard(b);
    b.setInsertionPoint(first.thenYield());
    body();
  };
  if (op.getValues().empty())
    byFirstThread([&] { callPrintf(head + "\n", ids); });
  for (Value value : op.getValues()) {
    Type element = getElementType(value.getType());
    std::string type;
    llvm::raw_string_ostream(type) << withoutEncoding(value.getType());
    if (!tileType(value)) {
      byFirstThread([&] {
        SmallVector<Value> arguments(ids);
        arguments.push_back(printable(scalar(value), element));
        callPrintf(head + " " + type + ": " + formatOf(element).str() + "\n",
                   arguments);
      });
      continue;
    }
    printTile(value, head + " " + type, byFirstThread);
  }
}

/// Through shared memory, in row-major order.
void GpuEmitter::printTile(Value value, const std::string &head,
                           function_ref<void(function_ref<void()>)> guarded) {
  auto tile = tileType(value);
  Type element = tile.getElementType(), type = registerType(element);
  int64_t count = tile.getNumElements(), bytes = elementBytes(element);
  SmallVector<unsigned> order;
  for (unsigned dim = tile.getRank(); dim-- > 0;)
    order.push_back(dim);
  SharedLayout memory(tile.getShape(), bytes, order);
  Value start = scratchAddress(memory.bytes());
  barrier();
  storeShared(tiles.at(value), layoutOf(tile), memory, start, element);
  barrier();
  Type stored = type.isInteger(1) ? Type(b.getI8Type()) : type;
  auto line = [&](Value first, int64_t elements, bool whole) {
    std::string format = head;
    SmallVector<Value> arguments(programIds.begin(), programIds.begin() + 3);
    if (!whole) {
      format += " from [%d]";
      arguments.push_back(first);
    }
    for (int64_t index = 0; index < elements; ++index) {
      format += (index ? ", " : ": ") + formatOf(element).str();
      Value at = arith::AddIOp::create(b, first, i32(index));
      Value address = arith::AddIOp::create(
          b, start, arith::MulIOp::create(b, at, i32(bytes)));
      Value read = LLVM::LoadOp::create(b, stored, sharedPointer(b, address));
      if (stored != type)
        read = arith::TruncIOp::create(b, type, read);
      arguments.push_back(printable(read, element));
    }
    callPrintf(format + "\n", arguments);
  };
  guarded([&] {
    int64_t full = count / kElementsPerLine * kElementsPerLine;
    if (count <= kElementsPerLine)
      return line(i32(0), count, /*whole=*/true);
    auto loop = scf::ForOp::create(b, i32(0), i32(full), i32(kElementsPerLine));
    {
      OpBuilder::InsertionGuard guard(b);
      b.setInsertionPointToStart(loop.getBody());
      line(loop.getInductionVar(), kElementsPerLine, /*whole=*/false);
    }
    if (full < count)
      line(i32(full), count - full, /*whole=*/false);
  });
}
