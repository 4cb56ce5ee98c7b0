//===- Value.cpp - Types of values between C++ and MLIR -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Translates element types and locations to MLIR, and MLIR values to handles
// that carry their type as C++ data.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Emitter.h"

#include "compiler/Support/EnumCheck.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace flashtile;
using namespace flashtile::dsl;
using namespace flashtile::dsl::detail;

mlir::Type detail::toMlir(ElementType type, mlir::MLIRContext *context) {
  checkElementType("an element type", type);
  switch (type) {
  case ElementType::F64:
    return mlir::Float64Type::get(context);
  case ElementType::F32:
    return mlir::Float32Type::get(context);
  case ElementType::F16:
    return mlir::Float16Type::get(context);
  case ElementType::BF16:
    return mlir::BFloat16Type::get(context);
  case ElementType::F8E4M3FN:
    return mlir::Float8E4M3FNType::get(context);
  case ElementType::F8E5M2:
    return mlir::Float8E5M2Type::get(context);
  case ElementType::I1:
    return mlir::IntegerType::get(context, 1);
  case ElementType::I8:
    return mlir::IntegerType::get(context, 8);
  case ElementType::I16:
    return mlir::IntegerType::get(context, 16);
  case ElementType::I32:
    return mlir::IntegerType::get(context, 32);
  case ElementType::I64:
    return mlir::IntegerType::get(context, 64);
  }
  llvm_unreachable("unknown element type");
}

static ElementType fromMlir(mlir::Type type) {
  return llvm::TypeSwitch<mlir::Type, ElementType>(type)
      .Case([](mlir::Float64Type) { return ElementType::F64; })
      .Case([](mlir::Float32Type) { return ElementType::F32; })
      .Case([](mlir::Float16Type) { return ElementType::F16; })
      .Case([](mlir::BFloat16Type) { return ElementType::BF16; })
      .Case([](mlir::Float8E4M3FNType) { return ElementType::F8E4M3FN; })
      .Case([](mlir::Float8E5M2Type) { return ElementType::F8E5M2; })
      .Case([](mlir::IntegerType integer) {
        switch (integer.getWidth()) {
        case 1:
          return ElementType::I1;
        case 8:
          return ElementType::I8;
        case 16:
          return ElementType::I16;
        case 32:
          return ElementType::I32;
        default:
          return ElementType::I64;
        }
      });
}

mlir::Location detail::toMlir(SourceLocation location,
                              mlir::MLIRContext *context) {
  if (!location.line)
    return mlir::UnknownLoc::get(context);
  // The language tells the line of a call, not its column.
  return mlir::FileLineColLoc::get(context, location.file, location.line, 0);
}

Value ValueAccess::make(std::shared_ptr<KernelState> kernel,
                        mlir::Value value) {
  Value result;
  result.kernel = std::move(kernel);
  result.handle = value.getAsOpaquePointer();
  if (auto block = llvm::dyn_cast<tile::BlockPtrType>(value.getType())) {
    result.valueKind = Value::Kind::BlockPointer;
    result.element = fromMlir(block.getElementType());
    result.extents.assign(block.getShape().begin(), block.getShape().end());
    return result;
  }
  mlir::Type element = elementOf(value);
  if (auto pointer = llvm::dyn_cast<tile::PtrType>(element)) {
    result.valueKind = Value::Kind::Pointer;
    element = pointer.getPointeeType();
  }
  result.element = fromMlir(element);
  llvm::ArrayRef<int64_t> shape = shapeOf(value);
  result.extents.assign(shape.begin(), shape.end());
  return result;
}

// From the handle alone, so that it works after the kernel was built too.
std::string Value::typeText() const {
  if (empty())
    return "empty";
  std::string inner(elementTypeName(element));
  std::string extentText = extents.empty() ? "" : shapeText(extents) + "x";
  if (valueKind == Kind::BlockPointer)
    return "!tile.block_ptr<" + extentText + inner + ">";
  if (valueKind == Kind::Pointer)
    inner = "!tile.ptr<" + inner + ">";
  return extents.empty() ? inner : "tensor<" + extentText + inner + ">";
}
