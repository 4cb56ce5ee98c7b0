//===- ControlFlow.h - Loops and branches of a kernel ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A C++ `for` unrolls while the kernel is written; forRange makes a loop that
// runs on the device. What changes from one iteration to the next is carried:
//
//   auto [m, l] = forRange(0, n, 64, {m0, l0}, [&](Value i, Value m, Value l) {
//     ...
//     return std::tuple(mNew, lNew);
//   });
//
// A body returns as many values as are carried, of the same types: a Value, a
// std::tuple of Values, or Values. It may also take the carried values as one
// `const Values &`. Results come as a std::tuple for a braced list, and as
// Values for Values.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_CONTROLFLOW_H
#define FLASHTILE_COMPILER_FRONTEND_CONTROLFLOW_H

#include "compiler/Frontend/Value.h"

#include <array>
#include <functional>
#include <tuple>
#include <utility>

namespace flashtile::dsl {

namespace detail {

using LoopBody = std::function<Values(const Value &, const Values &)>;
Values forRange(const Operand &lower, const Operand &upper, const Operand &step,
                const Values &init, const LoopBody &body,
                SourceLocation location);
Values ifThenElse(const Value &condition, const std::function<Values()> &onTrue,
                  const std::function<Values()> &onFalse,
                  SourceLocation location);

inline Values toValues(Values values) { return values; }
inline Values toValues(const Value &value) { return {value}; }
template <typename... T>
Values toValues(const std::tuple<T...> &values) {
  static_assert((std::is_same_v<T, Value> && ...),
                "a body returns a tuple of Values");
  return std::apply([](const auto &...v) { return Values{v...}; }, values);
}

/// Calls `function` and gives what it returns, nothing included, as Values.
template <typename Function, typename... Args>
Values callForValues(Function &function, const Args &...args) {
  if constexpr (std::is_void_v<std::invoke_result_t<Function &, Args...>>) {
    function(args...);
    return {};
  } else {
    return toValues(function(args...));
  }
}

template <size_t... I>
auto tupleOf(const Values &values, std::index_sequence<I...>) {
  return std::make_tuple(values[I]...);
}

template <typename Body, size_t... I>
Values callLoopBody(Body &body, const Value &index, const Values &carried,
                    std::index_sequence<I...>) {
  if constexpr (std::is_invocable_v<Body &, const Value &,
                                    decltype((void)I,
                                             std::declval<const Value &>())...>)
    return callForValues(body, index, carried[I]...);
  else
    return callForValues(body, index, carried);
}

/// Values as `Result`, the type that a branch returns.
template <typename Result>
Result fromValues(Values values) {
  if constexpr (std::is_same_v<Result, Values>)
    return values;
  else if constexpr (std::is_same_v<Result, Value>)
    return values.front();
  else
    return tupleOf(values,
                   std::make_index_sequence<std::tuple_size_v<Result>>());
}

} // namespace detail

/// for (i = lower; step > 0 ? i < upper : i > upper; i += step). The counter is
/// i32, or i64 if a bound is. A literal step may be negative but not zero; a
/// step that is a Value has to be positive when the kernel runs, which the
/// kernel asserts unless it is evident.
template <typename Body>
void forRange(const Operand &lower, const Operand &upper, const Operand &step,
              Body &&body,
              SourceLocation location = SourceLocation::current()) {
  detail::forRange(
      lower, upper, step, {},
      [&](const Value &index, const Values &) {
        return detail::callForValues(body, index);
      },
      location);
}

template <size_t N, typename Body>
auto forRange(const Operand &lower, const Operand &upper, const Operand &step,
              const Value (&init)[N], Body &&body,
              SourceLocation location = SourceLocation::current()) {
  auto indices = std::make_index_sequence<N>();
  return detail::tupleOf(
      detail::forRange(
          lower, upper, step, Values(std::begin(init), std::end(init)),
          [&](const Value &index, const Values &carried) {
            return detail::callLoopBody(body, index, carried, indices);
          },
          location),
      indices);
}

template <typename Body>
Values forRange(const Operand &lower, const Operand &upper, const Operand &step,
                const Values &init, Body &&body,
                SourceLocation location = SourceLocation::current()) {
  return detail::forRange(
      lower, upper, step, init,
      [&](const Value &index, const Values &carried) {
        return detail::callForValues(body, index, carried);
      },
      location);
}

/// Runs one of two branches. Both return the same: nothing, a Value, a
/// std::tuple of Values, or Values.
template <typename Then, typename Else>
auto ifThenElse(const Value &condition, Then &&onTrue, Else &&onFalse,
                SourceLocation location = SourceLocation::current()) {
  using Result = std::invoke_result_t<Then &>;
  static_assert(std::is_same_v<Result, std::invoke_result_t<Else &>>,
                "both branches return the same C++ type");
  Values results = detail::ifThenElse(
      condition, [&] { return detail::callForValues(onTrue); },
      [&] { return detail::callForValues(onFalse); }, location);
  if constexpr (!std::is_void_v<Result>)
    return detail::fromValues<Result>(std::move(results));
}

/// Runs `onTrue`, which returns nothing, where `condition` holds.
template <typename Then>
void ifThen(const Value &condition, Then &&onTrue,
            SourceLocation location = SourceLocation::current()) {
  static_assert(std::is_void_v<std::invoke_result_t<Then &>>,
                "a branch without another gives no values");
  detail::ifThenElse(
      condition, [&] { return detail::callForValues(onTrue); }, nullptr,
      location);
}

} // namespace flashtile::dsl

#endif // FLASHTILE_COMPILER_FRONTEND_CONTROLFLOW_H
