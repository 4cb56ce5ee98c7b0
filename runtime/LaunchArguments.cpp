//===- LaunchArguments.cpp - Values in the form that kernels read ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The good path makes no string and searches no map: names that come in the
// kernel's order are compared once each. Whatever goes wrong is looked at
// again, slowly, to say all that is wrong in one sentence.
//
//===----------------------------------------------------------------------===//

#include "runtime/LaunchArguments.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/GradMode.h"
#include "runtime/NearestName.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

using namespace flashtile;

//===----------------------------------------------------------------------===//
// Text
//===----------------------------------------------------------------------===//

static std::string realText(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.17g", value);
  // As short as it can be while it still names this number.
  for (int digits = 1; digits < 17; ++digits) {
    char shorter[32];
    std::snprintf(shorter, sizeof shorter, "%.*g", digits, value);
    if (std::strtod(shorter, nullptr) == value)
      return shorter;
  }
  return text;
}

std::string ArgumentValue::describe() const {
  switch (valueKind) {
  case Kind::TensorValue:
    return tensorValue.defined() ? "a tensor " + tensorValue.describe()
                                 : "an undefined tensor";
  case Kind::Pointer:
    return pointerValue ? "a pointer" : "nullptr";
  case Kind::Boolean:
    return integerValue ? "true" : "false";
  case Kind::Signed:
    return std::to_string(integerValue);
  case Kind::Unsigned:
    return std::to_string(static_cast<uint64_t>(integerValue));
  case Kind::Real:
    return realText(realValue);
  }
  __builtin_unreachable();
}

void LaunchArguments::failType(size_t position, const ArgumentValue &value,
                               const std::string &hint) const {
  const KernelArgument &argument = info.arguments[position];
  throw Error(ErrorCode::InvalidArgument,
              "kernel '" + info.name + "': expected argument '" +
                  argument.name + "' to be " + argument.typeText() +
                  ", but got " + value.describe() + hint);
}

void LaunchArguments::failRange(size_t position, const ArgumentValue &value,
                                const std::string &limits) const {
  failType(position, value, ", which is out of range: " + limits);
}

//===----------------------------------------------------------------------===//
// Binding
//===----------------------------------------------------------------------===//

/// Whether this thread's variables are gone; objects of static lifetime may
/// launch then.
static thread_local bool threadHasEnded = false;

namespace {
struct Spare {
  ~Spare() { threadHasEnded = true; }
  std::vector<int64_t> integers;
};
} // namespace

/// Takes, or gives back, the list that no launch of this thread has.
static void swapWithSpare(std::vector<int64_t> &integers) {
  thread_local Spare spare;
  if (!threadHasEnded)
    integers.swap(spare.integers);
}

LaunchArguments::~LaunchArguments() {
  integers.clear();
  swapWithSpare(integers);
}

void LaunchArguments::allocate() {
  swapWithSpare(integers);
  const size_t count = info.arguments.size();
  if (count <= inlineCount) {
    sources = inlineSources.data();
    slots = inlineSlots.data();
    pointerData = inlinePointers.data();
    tensors = inlineTensors.data();
  } else {
    moreSources.resize(count);
    moreSlots.resize(count);
    morePointers.resize(count);
    moreTensors.resize(count);
    sources = moreSources.data();
    slots = moreSlots.data();
    pointerData = morePointers.data();
    tensors = moreTensors.data();
  }
  for (size_t i = 0; i < count; ++i)
    pointerData[i] = &slots[i];
  integers.reserve(count);
}

LaunchArguments::LaunchArguments(const KernelInfo &info, Device device,
                                 const ArgumentValue *values, size_t count)
    : info(info), device(device) {
  if (count != info.arguments.size())
    throw Error(ErrorCode::InvalidArgument,
                "expected " + std::to_string(info.arguments.size()) +
                    " arguments, but got " + std::to_string(count) +
                    ", for kernel " + info.signature());
  allocate();
  for (size_t i = 0; i < count; ++i)
    bind(i, values[i]);
}

LaunchArguments::LaunchArguments(const KernelInfo &info, Device device,
                                 const NamedArgument *named, size_t count,
                                 bool gridOnly)
    : info(info), device(device) {
  allocate();
  if (!bindByName(named, count))
    failNames(named, count, gridOnly);
  std::vector<bool> needed;
  if (gridOnly)
    needed = usedByGrid();
  for (size_t i = 0; i < info.arguments.size(); ++i) {
    if (sources[i]) {
      bind(i, *sources[i]);
    } else if (!gridOnly || needed[i]) {
      failNames(named, count, gridOnly);
    } else if (info.arguments[i].isInteger()) {
      integers.push_back(0); // the grid does not look at it
    }
  }
}

/// Finds the value of each argument. False for a name that is unknown or comes
/// twice.
bool LaunchArguments::bindByName(const NamedArgument *named, size_t count) {
  const size_t wanted = info.arguments.size();
  std::fill_n(sources, wanted, nullptr);
  for (size_t i = 0; i < count; ++i) {
    size_t position = i;
    if (i >= wanted || named[i].name != info.arguments[i].name)
      for (position = 0; position < wanted; ++position)
        if (named[i].name == info.arguments[position].name)
          break;
    if (position == wanted || sources[position])
      return false;
    sources[position] = &named[i].value;
  }
  return true;
}

std::vector<bool> LaunchArguments::usedByGrid() const {
  std::vector<bool> used;
  size_t integer = 0;
  for (const KernelArgument &argument : info.arguments) {
    used.push_back(false);
    if (!argument.isInteger())
      continue;
    for (const GridExpr &extent : info.grid)
      used.back() = used.back() || extent.dependsOn(integer);
    ++integer;
  }
  return used;
}

/// Says everything that is wrong with the names at once.
void LaunchArguments::failNames(const NamedArgument *named, size_t count,
                                bool gridOnly) const {
  std::vector<std::string> names;
  for (const KernelArgument &argument : info.arguments)
    names.push_back(argument.name);
  const std::vector<bool> needed =
      gridOnly ? usedByGrid() : std::vector<bool>(names.size(), true);
  std::vector<int> given(names.size());
  std::string problems;
  auto add = [&](const std::string &problem) {
    problems += (problems.empty() ? "" : ", ") + problem;
  };
  for (size_t i = 0; i < count; ++i) {
    const std::string name(named[i].name);
    size_t position = 0;
    while (position < names.size() && names[position] != name)
      ++position;
    if (position == names.size())
      add("unknown argument '" + name + "'" + didYouMean(name, names));
    else if (++given[position] == 2)
      add("argument '" + name + "' given twice");
  }
  for (size_t i = 0; i < names.size(); ++i)
    if (needed[i] && !given[i])
      add("missing argument '" + names[i] + "'");
  throw Error(ErrorCode::InvalidArgument,
              problems + "; kernel " + info.signature());
}

void LaunchArguments::bind(size_t position, const ArgumentValue &value) {
  const KernelArgument &argument = info.arguments[position];
  sources[position] = &value;
  if (argument.isPointer)
    bindPointer(position, value);
  else if (isFloat(argument.type))
    bindFloat(position, value);
  else
    bindInteger(position, value);
}

void LaunchArguments::bindPointer(size_t position, const ArgumentValue &value) {
  const KernelArgument &argument = info.arguments[position];
  void *address = value.pointer();
  if (value.kind() == ArgumentValue::Kind::TensorValue) {
    const Tensor &tensor = value.tensor();
    if (!tensor.defined())
      failType(position, value, "; pass nullptr for a null pointer");
    if (tensor.dtype() != argument.type)
      failType(position, value,
               "; convert it with to(DType), whose result is a copy");
    if (tensor.device() != device)
      failType(position, value,
               ", which the kernel on " + device.toString() +
                   " cannot reach; copy it there with to(Device)");
    address = tensor.rawData();
    tensors[numTensors++] = position;
  } else if (value.kind() != ArgumentValue::Kind::Pointer) {
    failType(position, value);
  }
  std::memcpy(&slots[position], &address, sizeof address);
}

void LaunchArguments::bindInteger(size_t position, const ArgumentValue &value) {
  using Kind = ArgumentValue::Kind;
  const DType type = info.arguments[position].type;
  const bool isSigned = value.kind() == Kind::Signed;
  if (isSigned && type == DType::I64) { // as most are
    slots[position] = static_cast<Slot>(value.integer());
    integers.push_back(value.integer());
    return;
  }
  const bool isFlag = type == DType::I1;
  const int bits = static_cast<int>(elementSize(type)) * 8;
  const int64_t high = isFlag ? 1 : INT64_MAX >> (64 - bits);
  const int64_t low = isFlag ? 0 : -high - 1;
  if (value.kind() == Kind::Boolean
          ? !isFlag
          : value.kind() != Kind::Signed && value.kind() != Kind::Unsigned)
    failType(position, value);
  const int64_t number = value.integer();
  if (value.kind() == Kind::Unsigned || number < low || number > high)
    failRange(position, value,
              toString(type) + " holds " + std::to_string(low) + " to " +
                  std::to_string(high));
  dispatchDType(type, [&](auto tag) {
    const auto stored = static_cast<typename decltype(tag)::Type>(number);
    std::memcpy(&slots[position], &stored, sizeof stored);
  });
  integers.push_back(number);
}

void LaunchArguments::bindFloat(size_t position, const ArgumentValue &value) {
  using Kind = ArgumentValue::Kind;
  if (value.kind() != Kind::Real && value.kind() != Kind::Signed &&
      value.kind() != Kind::Unsigned)
    failType(position, value);
  const DType type = info.arguments[position].type;
  dispatchDType(type, [&](auto tag) {
    using T = typename decltype(tag)::Type;
    T stored;
    if (value.kind() == Kind::Real) {
      const double number = value.real();
      stored = convertElement<T>(number);
      // fp8 has no infinity: there the largest number stands for it.
      if (std::isfinite(number) && !std::isfinite(double(stored)))
        failRange(position, value, "it becomes infinite as " + toString(type));
    } else {
      const int64_t number = value.integer();
      stored = convertElement<T>(number);
      const double back(stored);
      if (value.kind() == Kind::Unsigned ||
          !(back >= -0x1p63 && back < 0x1p63) ||
          static_cast<int64_t>(back) != number)
        failRange(position, value,
                  toString(type) + " does not hold it exactly; pass a "
                                   "floating-point number to have it rounded");
    }
    std::memcpy(&slots[position], &stored, sizeof stored);
  });
}

void LaunchArguments::bumpVersions() const {
  const auto forEachWritten = [&](auto &&function) {
    for (size_t i = 0; i < numTensors; ++i)
      if (info.arguments[tensors[i]].isWritten)
        function(tensors[i], sources[tensors[i]]->tensor());
  };
  // Of a tensor on the tape, the tape would not notice the write.
  forEachWritten([&](size_t i, const Tensor &tensor) {
    if (tensor.requiresGrad() && GradMode::isEnabled())
      failType(i, *sources[i],
               ", which requires a gradient, and the kernel writes to it; "
               "launch within a NoGradGuard, or pass detach()");
  });
  forEachWritten([](size_t, const Tensor &tensor) { tensor.bumpVersion(); });
}

//===----------------------------------------------------------------------===//
// Grid
//===----------------------------------------------------------------------===//

void LaunchArguments::failExtent(size_t axis,
                                 const std::string &problem) const {
  const GridExpr &extent = info.grid[axis];
  const std::vector<std::string> names = info.integerNames();
  std::string values;
  for (size_t i = 0; i < names.size(); ++i)
    if (extent.dependsOn(i))
      values += (values.empty() ? " for " : ", ") + names[i] + " = " +
                std::to_string(integers[i]);
  throw Error(ErrorCode::InvalidArgument,
              "kernel '" + info.name + "': expected extent " +
                  std::string(1, "xyz"[axis]) + " of the grid, " +
                  extent.text(names) + ", to be 0 to 2147483647, but it " +
                  problem + values);
}

std::array<int64_t, 3> LaunchArguments::grid() const {
  std::array<int64_t, 3> extents = {1, 1, 1};
  for (size_t axis = 0; axis < info.grid.size(); ++axis) {
    if (!info.grid[axis].evaluate(integers, extents[axis]))
      failExtent(axis, "does not fit 64 bits or divides by zero");
    if (extents[axis] < 0 || extents[axis] > INT32_MAX)
      failExtent(axis, "is " + std::to_string(extents[axis]));
  }
  return extents;
}
