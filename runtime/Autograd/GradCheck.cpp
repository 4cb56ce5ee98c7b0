//===- GradCheck.cpp - Whether a backward is right ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/GradCheck.h"

#include "compiler/Support/Error.h"
#include "runtime/Autograd/Autograd.h"

#include <cmath>
#include <cstdio>

using namespace flashtile;
using namespace flashtile::autograd;

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, "gradcheck: " + message);
}

static std::string text(double value) {
  char buffer[32];
  std::snprintf(buffer, sizeof buffer, "%.9g", value);
  return buffer;
}

/// The index of element `number` in row-major order.
static Shape indexOf(const Shape &shape, int64_t number) {
  Shape index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = number % shape[dim];
    number /= shape[dim];
  }
  return index;
}

static bool isChecked(const Tensor &tensor) {
  return tensor.defined() && tensor.requiresGrad();
}

static void checkInputs(const TensorList &inputs,
                        const GradCheckOptions &options) {
  if (!(options.eps > 0) || !std::isfinite(options.eps))
    refuse("expected a positive eps, but got " + text(options.eps));
  for (auto [name, tolerance] : {std::pair("atol", options.atol),
                                 {"rtol", options.rtol},
                                 {"nondetTol", options.nondetTol}})
    if (!(tolerance >= 0))
      refuse(std::string("expected ") + name + " of 0 or more, but got " +
             text(tolerance));
  bool any = false;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const Tensor &input = inputs[i];
    if (!isChecked(input))
      continue;
    any = true;
    const std::string what = "expected input " + std::to_string(i);
    if (!input.isLeaf())
      refuse(what + " to be a leaf, but got " + input.describe() +
             ", which was computed");
    if (!input.device().isCpu())
      refuse(what + " on the cpu, but got " + input.describe());
    constexpr double kLeastNarrowEps = 1e-4;
    if (input.dtype() != DType::F64 && options.eps < kLeastNarrowEps)
      refuse(what + " to be of f64, or an eps of " + text(kLeastNarrowEps) +
             " or more, but got " + input.describe() + " and " +
             text(options.eps));
    for (int64_t dim = 0; dim < input.rank(); ++dim)
      if (input.size(dim) > 1 && input.stride(dim) == 0)
        refuse(what + " with its elements in places of their own, but got " +
               input.describe());
  }
  if (!any)
    refuse("expected an input that requires a gradient, but got none");
}

//===----------------------------------------------------------------------===//
// Jacobians: jacobian[input][output][outputElement * inputSize + inputElement]
//===----------------------------------------------------------------------===//

using Jacobian = std::vector<std::vector<std::vector<double>>>;

namespace {
class Checker {
public:
  Checker(const GradCheckFunction &function, const TensorList &inputs,
          const GradCheckOptions &options)
      : function(function), inputs(inputs), options(options) {}

  void run();

private:
  TensorList call() const;
  TensorList gradients(const Tensor &output, const Tensor &upstream) const;
  void findAnalytical();
  void checkStrides(size_t output) const;
  void findNumerical();
  std::vector<std::vector<double>>
  outputsWith(const Tensor &input, const Shape &index, double value) const;
  void compare() const;

  const GradCheckFunction &function;
  const TensorList &inputs;
  const GradCheckOptions &options;
  TensorList outputs;            ///< of the call that is recorded
  std::vector<bool> hasGradient; ///< of outputs
  Jacobian analytical, numerical;
};
} // namespace

TensorList Checker::call() const {
  TensorList results = function(inputs);
  for (size_t j = 0; j < results.size(); ++j)
    if (!results[j].defined())
      refuse("expected output " + std::to_string(j) + " to be defined");
  return results;
}

/// By all inputs; zeros for those that nothing depends on.
TensorList Checker::gradients(const Tensor &output,
                              const Tensor &upstream) const {
  TensorList wanted;
  for (const Tensor &input : inputs)
    if (isChecked(input))
      wanted.push_back(input);
  TensorList found = grad({output}, wanted, {upstream}, /*retainGraph=*/true,
                          /*allowUnused=*/true);
  TensorList results(inputs.size());
  size_t next = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!isChecked(inputs[i]))
      continue;
    results[i] = found[next++];
    if (!results[i].defined())
      results[i] = Tensor::zeros(inputs[i].shape(), inputs[i].dtype());
  }
  return results;
}

void Checker::findAnalytical() {
  outputs = call();
  bool any = false;
  for (const Tensor &output : outputs) {
    hasGradient.push_back(isChecked(output));
    any |= hasGradient.back();
  }
  if (!any)
    refuse("expected an output that requires a gradient, but got none");
  analytical.assign(inputs.size(), {});
  for (auto &rows : analytical)
    rows.resize(outputs.size());
  for (size_t j = 0; j < outputs.size(); ++j) {
    if (!hasGradient[j])
      continue;
    const Tensor &output = outputs[j];
    for (int64_t element = 0; element < output.numel(); ++element) {
      const Tensor upstream =
          Tensor::zeros(output.shape(), output.dtype(), output.device());
      const Shape index = indexOf(output.shape(), element);
      upstream.set(index, 1);
      const TensorList first = gradients(output, upstream);
      const TensorList second = gradients(output, upstream);
      for (size_t i = 0; i < inputs.size(); ++i) {
        if (!first[i].defined())
          continue;
        const auto row = first[i].toVector<double>();
        const auto again = second[i].toVector<double>();
        for (size_t e = 0; e < row.size(); ++e)
          if (std::abs(row[e] - again[e]) > options.nondetTol)
            refuse(
                "two backward passes differ: the derivative of output " +
                std::to_string(j) + " " + toString(index) + " by input " +
                std::to_string(i) + " " +
                toString(indexOf(inputs[i].shape(), static_cast<int64_t>(e))) +
                " is " + text(row[e]) + ", then " + text(again[e]));
        auto &rows = analytical[i][j];
        rows.insert(rows.end(), row.begin(), row.end());
      }
    }
    checkStrides(j);
  }
}

/// An upstream gradient of ones, in memory and in one place.
void Checker::checkStrides(size_t j) const {
  const Tensor &output = outputs[j];
  const Tensor one = Tensor::full({}, 1, output.dtype(), output.device());
  const Tensor dense = Tensor::full(output.shape(), 1, output.dtype());
  const TensorList expected = gradients(output, dense);
  const TensorList actual = gradients(output, one.expand(output.shape()));
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!expected[i].defined())
      continue;
    const auto a = expected[i].toVector<double>();
    const auto b = actual[i].toVector<double>();
    for (size_t e = 0; e < a.size(); ++e)
      // NaN in both is for compare() to tell of.
      if (!(std::abs(a[e] - b[e]) <=
            options.atol + options.rtol * std::abs(a[e])) &&
          !(std::isnan(a[e]) && std::isnan(b[e])))
        refuse("an upstream gradient with strides of 0 gives output " +
               std::to_string(j) + " other gradients: by input " +
               std::to_string(i) + " " +
               toString(indexOf(inputs[i].shape(), static_cast<int64_t>(e))) +
               " " + text(b[e]) + " instead of " + text(a[e]));
  }
}

std::vector<std::vector<double>> Checker::outputsWith(const Tensor &input,
                                                      const Shape &index,
                                                      double value) const {
  const Tensor place = input.detach();
  Tensor window = place;
  for (int64_t dim = 0; dim < place.rank(); ++dim)
    window = window.narrow(dim, index[static_cast<size_t>(dim)], 1);
  const Tensor original = window.clone();
  struct Restore {
    const Tensor &window, &original;
    ~Restore() { window.copyFrom(original); }
  };
  std::vector<std::vector<double>> values;
  const NoGradGuard noGrad;
  const Restore restore{window, original};
  place.set(index, value);
  const TensorList results = call();
  if (results.size() != outputs.size())
    refuse("expected " + std::to_string(outputs.size()) +
           " outputs at every call, but got " + std::to_string(results.size()));
  for (size_t j = 0; j < results.size(); ++j) {
    if (results[j].shape() != outputs[j].shape())
      refuse("expected output " + std::to_string(j) + " to be " +
             outputs[j].describe() + " at every call, but got " +
             results[j].describe());
    values.push_back(results[j].toVector<double>());
  }
  return values;
}

void Checker::findNumerical() {
  numerical = analytical;
  for (size_t i = 0; i < inputs.size(); ++i) {
    if (!isChecked(inputs[i]))
      continue;
    const Tensor &input = inputs[i];
    const int64_t size = input.numel();
    const auto values = input.toVector<double>();
    for (int64_t element = 0; element < size; ++element) {
      const Shape index = indexOf(input.shape(), element);
      const double value = values[static_cast<size_t>(element)];
      // What the type of the input makes of the two places.
      const auto rounded = [&](double wanted) {
        return Tensor::full({}, wanted, input.dtype()).item<double>();
      };
      const double low = rounded(value - options.eps);
      const double high = rounded(value + options.eps);
      if (!(high > low))
        refuse("expected an eps that changes input " + std::to_string(i) + " " +
               toString(index) + ", which is " + text(value) + ", but got " +
               text(options.eps));
      const auto above = outputsWith(input, index, high);
      const auto below = outputsWith(input, index, low);
      for (size_t j = 0; j < outputs.size(); ++j)
        for (size_t e = 0; hasGradient[j] && e < above[j].size(); ++e)
          // Equal infinities have no difference, as a log-sum-exp of nothing.
          numerical[i][j][e * static_cast<size_t>(size) +
                          static_cast<size_t>(element)] =
              above[j][e] == below[j][e]
                  ? 0
                  : (above[j][e] - below[j][e]) / (high - low);
    }
  }
}

void Checker::compare() const {
  for (size_t i = 0; i < inputs.size(); ++i)
    for (size_t j = 0; j < outputs.size(); ++j)
      for (size_t e = 0; e < analytical[i][j].size(); ++e) {
        const double a = analytical[i][j][e], n = numerical[i][j][e];
        // Written so that NaN fails.
        if (std::abs(a - n) <= options.atol + options.rtol * std::abs(n))
          continue;
        const int64_t size = inputs[i].numel();
        const auto place = static_cast<int64_t>(e);
        refuse("the derivative of output " + std::to_string(j) + " " +
               toString(indexOf(outputs[j].shape(), place / size)) +
               " by input " + std::to_string(i) + " " +
               toString(indexOf(inputs[i].shape(), place % size)) +
               " is numerically " + text(n) + ", but backward gives " +
               text(a) + ": more than " + text(options.atol) + " + " +
               text(options.rtol) + " * |numerical| apart");
      }
}

void Checker::run() {
  findAnalytical();
  findNumerical();
  compare();
}

bool autograd::gradcheck(const GradCheckFunction &function,
                         const TensorList &inputs,
                         const GradCheckOptions &options) {
  if (!function)
    refuse("expected a function, but got an empty one");
  checkInputs(inputs, options);
  try {
    const AutoGradMode records(true);
    Checker(function, inputs, options).run();
    return true;
  } catch (const Error &error) {
    if (options.raisesException || error.code() != ErrorCode::InvalidArgument)
      throw;
    return false;
  }
}
