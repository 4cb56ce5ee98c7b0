//===- SavedData.h - Values that a Function keeps for backward ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is saved beside tensors: numbers, options, strings, by name.
//
//   ctx.savedData["scale"] = 0.5;              // in forward
//   ctx.savedData["scale"].to<double>()        // in backward
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_SAVEDDATA_H
#define FLASHTILE_RUNTIME_AUTOGRAD_SAVEDDATA_H

#include <any>
#include <map>
#include <string>
#include <typeinfo>

namespace flashtile::autograd {

/// One value of any copyable type. A tensor that the Function returns, or that
/// was computed from one, belongs into saveForBackward(): here it would keep
/// the graph alive for ever.
class SavedValue {
public:
  SavedValue() = default;

  template <typename T>
  SavedValue &operator=(T saved) {
    value = std::move(saved);
    return *this;
  }
  SavedValue &operator=(const char *text) { return *this = std::string(text); }

  bool hasValue() const { return value.has_value(); }
  /// The value as the type it was saved as. Throws InvalidArgument for any
  /// other, and where there is none.
  template <typename T>
  const T &to() const {
    if (const T *saved = std::any_cast<T>(&value))
      return *saved;
    fail(typeid(T));
  }

private:
  [[noreturn]] void fail(const std::type_info &wanted) const;

  std::any value;
};

/// By name. Backward reads with at(), which throws InvalidArgument for a name
/// that is not there, or [], which makes an empty value for it.
class SavedData : public std::map<std::string, SavedValue> {
public:
  SavedValue &at(const std::string &name) {
    const auto it = find(name);
    return it == end() ? failAt(name) : it->second;
  }
  const SavedValue &at(const std::string &name) const {
    return const_cast<SavedData *>(this)->at(name);
  }

private:
  [[noreturn]] static SavedValue &failAt(const std::string &name);
};

/// The name of a type as one writes it.
std::string typeName(const std::type_info &type);

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_SAVEDDATA_H
