//===- SavedData.cpp - Values that a Function keeps for backward ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/SavedData.h"

#include "compiler/Support/Error.h"

#include <cstdlib>
#include <cxxabi.h>
#include <memory>

using namespace flashtile;
using namespace flashtile::autograd;

std::string autograd::typeName(const std::type_info &type) {
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> name(
      abi::__cxa_demangle(type.name(), nullptr, nullptr, &status), &std::free);
  return name ? name.get() : type.name();
}

SavedValue &SavedData::failAt(const std::string &name) {
  throw Error(ErrorCode::InvalidArgument,
              "expected a saved value '" + name + "', but forward saved none");
}

void SavedValue::fail(const std::type_info &wanted) const {
  throw Error(ErrorCode::InvalidArgument,
              "expected a saved value of type " + typeName(wanted) +
                  ", but got " +
                  (value.has_value() ? "one of type " + typeName(value.type())
                                     : std::string("none")));
}
