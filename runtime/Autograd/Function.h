//===- Function.h - Differentiable calls of one's own ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   struct Square : autograd::Function<Square> {
//     static Tensor forward(autograd::Context &ctx, const Tensor &x) {
//       ctx.saveForBackward({x});
//       return square(x); // launches a kernel
//     }
//     static TensorList backward(autograd::Context &ctx,
//                                const TensorList &gradOutputs) {
//       return {twiceProduct(ctx.savedTensors()[0], gradOutputs[0])};
//     }
//   };
//   Tensor y = Square::apply(x);
//
// forward takes any arguments, and returns a Tensor, a TensorList, or a pair,
// tuple or array of Tensors; the same as arguments have gradients. It does not
// write to the tensors it was given, and neither it nor backward is recorded.
// backward gets a gradient for each result and returns one for each argument:
// for what is no tensor, and where ctx.needsInputGrad() says no, an undefined
// one; for a list, pair, tuple or array of tensors, one for each of them.
// Gradients at the end that are undefined may be left out.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_FUNCTION_H
#define FLASHTILE_RUNTIME_AUTOGRAD_FUNCTION_H

#include "runtime/Autograd/FunctionNode.h"

#include <array>
#include <optional>
#include <tuple>
#include <type_traits>
#include <utility>

namespace flashtile::autograd {

namespace detail {

inline void addArgument(FunctionNode &node, const Tensor &tensor) {
  node.addArgument(&tensor);
}
inline void addArgument(FunctionNode &node, const TensorList &tensors) {
  for (const Tensor &tensor : tensors)
    node.addArgument(&tensor);
}
inline void addArgument(FunctionNode &node,
                        const std::optional<Tensor> &tensor) {
  node.addArgument(tensor ? &*tensor : nullptr);
}
/// Whether T is a pair, tuple or array of tensors and of nothing else.
template <typename T, typename = void>
struct IsTensorTuple : std::false_type {};
template <typename... Ts>
struct IsTensorTuple<std::tuple<Ts...>>
    : std::bool_constant<(sizeof...(Ts) > 0) &&
                         (std::is_same_v<std::decay_t<Ts>, Tensor> && ...)> {};
template <typename A, typename B>
struct IsTensorTuple<std::pair<A, B>> : IsTensorTuple<std::tuple<A, B>> {};
template <size_t N>
struct IsTensorTuple<std::array<Tensor, N>> : std::true_type {};

/// Without a conversion: what converts to a tensor or list is none.
template <typename T>
void addOther(FunctionNode &node, const T &argument) {
  if constexpr (std::is_same_v<T, Tensor> || std::is_same_v<T, TensorList> ||
                std::is_same_v<T, std::optional<Tensor>>)
    addArgument(node, argument);
  else if constexpr (IsTensorTuple<T>::value)
    std::apply([&](const auto &...each) { (addArgument(node, each), ...); },
               argument);
  else
    node.addArgument(nullptr);
}

inline void addResults(FunctionNode &node, Tensor &result) {
  node.addResult(result);
}
inline void addResults(FunctionNode &node, TensorList &results) {
  for (Tensor &result : results)
    node.addResult(result);
}
template <typename Tuple>
auto addResults(FunctionNode &node, Tuple &results)
    -> std::void_t<decltype(std::tuple_size<Tuple>::value)> {
  std::apply([&](auto &...result) { (node.addResult(result), ...); }, results);
}

} // namespace detail

template <typename Self>
class Function {
public:
  /// Calls forward and puts its results on the tape, if gradients are recorded
  /// and an argument requires one. Throws what forward throws, and
  /// InvalidArgument if it wrote to an argument that requires a gradient.
  template <typename... Args>
  static auto apply(Args &&...args) {
    const auto node = Node::make<FunctionNode>(
        typeid(Self), [](Context &context, TensorList &&gradients) {
          return TensorList(Self::backward(context, std::move(gradients)));
        });
    node->reserve(sizeof...(args));
    (detail::addOther(*node, args), ...);
    auto results = [&] {
      const NoGradGuard noGrad;
      return Self::forward(node->context, std::forward<Args>(args)...);
    }();
    detail::addResults(*node, results);
    node->finish();
    return results;
  }

protected:
  Function() = default;
};

} // namespace flashtile::autograd

#endif // FLASHTILE_RUNTIME_AUTOGRAD_FUNCTION_H
