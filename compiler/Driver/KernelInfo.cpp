//===- KernelInfo.cpp - Kernels as text -----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For messages and listings: a kernel the way one would declare it.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/KernelInfo.h"

#include <utility>

using namespace flashtile;

std::string KernelArgument::typeText() const {
  const std::string name(elementTypeName(type));
  return isPointer ? "ptr<" + name + ">" : name;
}

std::vector<std::string> KernelInfo::integerNames() const {
  std::vector<std::string> names;
  for (const KernelArgument &argument : arguments)
    if (argument.isInteger())
      names.push_back(argument.name);
  return names;
}

std::string KernelInfo::signature() const {
  std::string text = name + "(";
  for (const KernelArgument &argument : arguments)
    text += (&argument == arguments.data() ? "" : ", ") + argument.name + ": " +
            argument.typeText();
  return text + ")";
}

std::string KernelInfo::gridText() const {
  const std::vector<std::string> names = integerNames();
  std::string text = "(";
  for (const GridExpr &extent : grid)
    text += (&extent == grid.data() ? "" : ", ") + extent.text(names);
  return text + ")";
}

static const char *infix(GridExpr::Op op) {
  switch (op) {
  case GridExpr::Op::Constant:
  case GridExpr::Op::Argument:
    return "";
  case GridExpr::Op::Add:
    return " + ";
  case GridExpr::Op::Multiply:
    return " * ";
  case GridExpr::Op::FloorDiv:
    return " floordiv ";
  case GridExpr::Op::CeilDiv:
    return " ceildiv ";
  case GridExpr::Op::Mod:
    return " mod ";
  }
  return "";
}

bool GridExpr::dependsOn(size_t integer) const {
  for (const Step &step : steps)
    if (step.op == Op::Argument && static_cast<size_t>(step.value) == integer)
      return true;
  return false;
}

std::string GridExpr::text(const std::vector<std::string> &integerNames) const {
  // Operands with how tightly they bind: sums 1, products 2, atoms 3.
  std::vector<std::pair<std::string, int>> stack;
  for (const Step &step : steps) {
    if (step.op == Op::Constant) {
      stack.emplace_back(std::to_string(step.value), 3);
      continue;
    }
    if (step.op == Op::Argument) {
      stack.emplace_back(integerNames.at(static_cast<size_t>(step.value)), 3);
      continue;
    }
    const int strength = step.op == Op::Add ? 1 : 2;
    auto enclosed = [](const std::pair<std::string, int> &operand, int least) {
      return operand.second < least ? "(" + operand.first + ")" : operand.first;
    };
    const std::pair<std::string, int> right = std::move(stack.back());
    stack.pop_back();
    std::pair<std::string, int> &left = stack.back();
    left = {enclosed(left, strength) + infix(step.op) +
                enclosed(right, strength + 1),
            strength};
  }
  return stack.back().first;
}
