//===- Judge.cpp - Whether a result is good enough ------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every comparison is written so that NaN makes it fail.
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/Judge.h"

#include "compiler/Support/Error.h"
#include "runtime/Shape.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace flashtile::reference {

using Values = std::vector<double>;

static std::string numberText(double value) {
  char text[32];
  std::snprintf(text, sizeof(text), "%.4g", value);
  return text;
}

/// Enough digits to tell any two doubles apart.
static std::string exactText(double value) {
  char text[40];
  std::snprintf(text, sizeof(text), "%.17g", value);
  return text;
}

static void checkFloats(const char *name, const Tensor &tensor) {
  if (!tensor.defined())
    throw Error(ErrorCode::InvalidArgument,
                std::string("'") + name + "' is not defined");
  if (!isFloat(tensor.dtype()))
    throw Error(ErrorCode::InvalidArgument,
                std::string("expected '") + name +
                    "' to hold floats, but it holds " +
                    toString(tensor.dtype()));
}

static void checkSameShape(const char *name, const Tensor &tensor,
                           const Tensor &expected) {
  checkFloats(name, tensor);
  checkFloats("expected", expected);
  if (tensor.shape() != expected.shape())
    throw Error(ErrorCode::InvalidArgument,
                std::string("expected '") + name + "' of shape " +
                    toString(expected.shape()) + ", but got " +
                    toString(tensor.shape()));
}

/// The index of element `position` in row-major order.
static Shape unravelIndex(int64_t position, const Shape &shape) {
  Shape index(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    index[i] = position % shape[i];
    position /= shape[i];
  }
  return index;
}

/// Elements per head.
static int64_t headSize(const Shape &shape, int64_t headRank) {
  if (headRank < 0 || headRank > static_cast<int64_t>(shape.size()))
    throw Error(ErrorCode::InvalidArgument,
                "a head of " + std::to_string(headRank) +
                    " dimensions does not fit a tensor of shape " +
                    toString(shape));
  int64_t size = 1;
  for (size_t i = shape.size() - headRank; i < shape.size(); ++i)
    size *= shape[i];
  return size;
}

/// NaN or infinity on one side that the other does not have.
static bool isOutOfPlace(double actual, double expected) {
  if (std::isfinite(actual) && std::isfinite(expected))
    return false;
  if (std::isnan(actual) && std::isnan(expected))
    return false;
  return !(actual == expected);
}

namespace {

struct Difference {
  double error = 0;
  bool isAbsolute = false;   ///< nothing but 0 was expected
  int64_t outOfPlace = -1;   ///< first NaN or infinity without a counterpart
  int64_t worst = -1;        ///< the finite element furthest off
  double worstDeviation = 0; ///< by how much
  double magnitude = 0;      ///< the largest finite |expected|
};

} // namespace

/// Compares elements [begin, end).
static Difference compare(const Values &actual, const Values &expected,
                          int64_t begin, int64_t end) {
  Difference result;
  for (int64_t i = begin; i < end; ++i)
    if (std::isfinite(expected[i]))
      result.magnitude = std::max(result.magnitude, std::abs(expected[i]));
  result.isAbsolute = result.magnitude == 0;
  // Keeps the squares of very large and very small numbers in range.
  const double unit = result.isAbsolute ? 1 : result.magnitude;

  double errorSquares = 0, expectedSquares = 0;
  for (int64_t i = begin; i < end; ++i) {
    if (isOutOfPlace(actual[i], expected[i])) {
      if (result.outOfPlace < 0)
        result.outOfPlace = i;
      continue;
    }
    if (!std::isfinite(expected[i]))
      continue;
    const double deviation = std::abs(actual[i] - expected[i]);
    if (result.worst < 0 || deviation > result.worstDeviation) {
      result.worst = i;
      result.worstDeviation = deviation;
    }
    errorSquares += deviation / unit * (deviation / unit);
    expectedSquares += expected[i] / unit * (expected[i] / unit);
  }
  result.error = result.isAbsolute ? std::sqrt(errorSquares)
                                   : std::sqrt(errorSquares / expectedSquares);
  if (result.outOfPlace >= 0 || std::isnan(result.error))
    result.error = std::numeric_limits<double>::infinity();
  return result;
}

namespace {

/// The state that the checks of judge() share.
class Comparison {
public:
  Comparison(const Tensor &actual, const Tensor &expected, const Tensor &plain,
             const JudgeRule &rule)
      : shape(expected.shape()), rule(rule), actual(actual.toVector<double>()),
        expected(expected.toVector<double>()), plain(plain.toVector<double>()) {
  }

  Verdict judge() const {
    const int64_t count = static_cast<int64_t>(expected.size());
    const Difference whole = compare(actual, expected, 0, count);
    const Difference yardstick = compare(plain, expected, 0, count);
    if (whole.outOfPlace >= 0)
      return {false, whole.error, 0, elementText(actual, whole.outOfPlace)};
    if (!std::isfinite(yardstick.error))
      return {false, whole.error, 0,
              "the plain implementation sets no limit: its " +
                  elementText(plain, yardstick.outOfPlace >= 0
                                         ? yardstick.outOfPlace
                                         : yardstick.worst)};

    double limit = std::max(rule.factor * yardstick.error, rule.floor);
    if (whole.isAbsolute)
      limit += rule.slack;
    Verdict verdict{whole.error <= limit, whole.error, limit, {}};
    if (!verdict.pass)
      verdict.reason = errorText(whole, yardstick, limit);

    const int64_t size = headSize(shape, rule.headRank);
    for (int64_t begin = 0; verdict.pass && begin < count; begin += size)
      judgeHead(begin, begin + size, verdict);
    return verdict;
  }

private:
  /// Leaves `verdict` alone if the head is good.
  void judgeHead(int64_t begin, int64_t end, Verdict &verdict) const {
    const Difference head = compare(actual, expected, begin, end);
    const Difference yardstick = compare(plain, expected, begin, end);
    const double limit = rule.factor * yardstick.error + rule.slack;
    if (!(head.error <= limit)) {
      verdict = {false, head.error, limit,
                 headText(begin) + errorText(head, yardstick, limit)};
      return;
    }
    if (rule.elementFactor <= 0)
      return;
    const double elementLimit = rule.elementFactor * yardstick.worstDeviation +
                                rule.slack * head.magnitude;
    if (!(head.worstDeviation <= elementLimit))
      verdict = {false, head.worstDeviation, elementLimit,
                 headText(begin) + elementText(actual, head.worst) +
                     ", further off than " + numberText(elementLimit)};
  }

  std::string headText(int64_t begin) const {
    Shape index = unravelIndex(begin, shape);
    index.resize(index.size() - rule.headRank);
    return "head " + toString(index) + ": ";
  }

  std::string elementText(const Values &values, int64_t position) const {
    return "element " + toString(unravelIndex(position, shape)) + " is " +
           exactText(values[position]) + " where " +
           exactText(expected[position]) + " is expected";
  }

  std::string errorText(const Difference &difference,
                        const Difference &yardstick, double limit) const {
    std::string text = difference.isAbsolute ? "absolute" : "relative";
    text += " error " + numberText(difference.error) + " exceeds " +
            numberText(limit) + " (the plain implementation has " +
            numberText(yardstick.error) + ")";
    if (difference.worst >= 0)
      text += "; furthest off: " + elementText(actual, difference.worst);
    return text;
  }

  const Shape shape;
  const JudgeRule rule;
  const Values actual, expected, plain;
};

} // namespace

static Verdict wrongShape(const Tensor &actual, const Tensor &expected) {
  return {false, std::numeric_limits<double>::infinity(), 0,
          "the shape is " + toString(actual.shape()) + " where " +
              toString(expected.shape()) + " is expected"};
}

double relativeError(const Tensor &actual, const Tensor &expected) {
  checkSameShape("actual", actual, expected);
  return compare(actual.toVector<double>(), expected.toVector<double>(), 0,
                 expected.numel())
      .error;
}

std::vector<double> headErrors(const Tensor &actual, const Tensor &expected,
                               int64_t headRank) {
  checkSameShape("actual", actual, expected);
  const int64_t size = headSize(expected.shape(), headRank);
  const Values a = actual.toVector<double>();
  const Values b = expected.toVector<double>();
  std::vector<double> errors;
  for (int64_t begin = 0; begin < expected.numel(); begin += size)
    errors.push_back(compare(a, b, begin, begin + size).error);
  return errors;
}

Verdict judge(const Tensor &actual, const Tensor &expected, const Tensor &plain,
              const JudgeRule &rule) {
  checkFloats("actual", actual);
  checkSameShape("plain", plain, expected);
  headSize(expected.shape(), rule.headRank);
  if (actual.shape() != expected.shape())
    return wrongShape(actual, expected);
  return Comparison(actual, expected, plain, rule).judge();
}

Verdict judgeExact(const Tensor &actual, const Tensor &expected) {
  checkFloats("actual", actual);
  checkFloats("expected", expected);
  if (actual.shape() != expected.shape())
    return wrongShape(actual, expected);
  const Values a = actual.toVector<double>();
  const Values b = expected.toVector<double>();
  for (size_t i = 0; i < a.size(); ++i)
    if (isOutOfPlace(a[i], b[i]) || (std::isfinite(b[i]) && a[i] != b[i]))
      return {false, relativeError(actual, expected), 0,
              "element " +
                  toString(
                      unravelIndex(static_cast<int64_t>(i), expected.shape())) +
                  " is " + exactText(a[i]) + " where " + exactText(b[i]) +
                  " is expected"};
  return {true, 0, 0, {}};
}

} // namespace flashtile::reference
