//===- F64Functions.cpp - Functions of f64 as arithmetic ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Coefficients of log, the trigonometric functions and erf are those of Sun's
// fdlibm, "Freely Distributable LIBM" (e_log.c, k_sin.c, k_cos.c, e_asin.c,
// s_atan.c, s_erf.c), free for any use:
//   Copyright (C) 1993 by Sun Microsystems, Inc. All rights reserved.
//   Developed at SunPro, a Sun Microsystems, Inc. business. Permission to use,
//   copy, modify, and distribute this software is freely granted, provided that
//   this notice is preserved.
// There are no branches but selects: threads of a warp stay together.
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Numerics/F64Functions.h"

#include "compiler/Conversion/Numerics/Numerics.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/ADT/StringSwitch.h"

#include <limits>

using namespace mlir;
using namespace flashtile::numeric;

static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

namespace {
/// A value with its builder, so that formulas read as such.
struct Real {
  ImplicitLocOpBuilder *b;
  Value v;

  Real constant(double value) const {
    return {b, constantFloat(*b, v.getType(), value)};
  }
  Real with(Value value) const { return {b, value}; }
};
/// The same for i64.
struct Bits {
  ImplicitLocOpBuilder *b;
  Value v;

  Bits constant(int64_t value) const {
    return {b, constantInt(*b, v.getType(), value)};
  }
};
} // namespace

static Real operator+(Real x, Real y) {
  return x.with(arith::AddFOp::create(*x.b, x.v, y.v));
}
static Real operator-(Real x, Real y) {
  return x.with(arith::SubFOp::create(*x.b, x.v, y.v));
}
static Real operator*(Real x, Real y) {
  return x.with(arith::MulFOp::create(*x.b, x.v, y.v));
}
static Real operator/(Real x, Real y) {
  return x.with(arith::DivFOp::create(*x.b, x.v, y.v));
}
static Real operator-(Real x) {
  return x.with(arith::NegFOp::create(*x.b, x.v));
}
static Real operator+(Real x, double y) { return x + x.constant(y); }
static Real operator-(Real x, double y) { return x - x.constant(y); }
static Real operator*(Real x, double y) { return x * x.constant(y); }
static Real operator-(double x, Real y) { return y.constant(x) - y; }
static Real operator/(double x, Real y) { return y.constant(x) / y; }
static Real fma(Real x, Real y, Real z) {
  return x.with(math::FmaOp::create(*x.b, x.v, y.v, z.v));
}
static Real abs(Real x) { return x.with(math::AbsFOp::create(*x.b, x.v)); }
static Real sqrt(Real x) { return x.with(math::SqrtOp::create(*x.b, x.v)); }
static Real truncate(Real x) {
  return x.with(math::TruncOp::create(*x.b, x.v));
}
static Real withSignOf(Real x, Real sign) {
  return x.with(math::CopySignOp::create(*x.b, x.v, sign.v));
}
static Value compare(arith::CmpFPredicate predicate, Real x, Real y) {
  return arith::CmpFOp::create(*x.b, predicate, x.v, y.v);
}
static Value less(Real x, double y) {
  return compare(arith::CmpFPredicate::OLT, x, x.constant(y));
}
static Value greater(Real x, double y) {
  return compare(arith::CmpFPredicate::OGT, x, x.constant(y));
}
static Value equal(Real x, double y) {
  return compare(arith::CmpFPredicate::OEQ, x, x.constant(y));
}
static Value isNaN(Real x) { return compare(arith::CmpFPredicate::UNO, x, x); }
static Real select(Value condition, Real x, Real y) {
  return x.with(arith::SelectOp::create(*x.b, condition, x.v, y.v));
}
static Real select(Value condition, double x, Real y) {
  return select(condition, y.constant(x), y);
}
static Bits bits(Real x) {
  return {x.b, arith::BitcastOp::create(
                   *x.b, likeShape(x.v.getType(), x.b->getI64Type()), x.v)};
}
static Real real(Bits x) {
  return {x.b, arith::BitcastOp::create(
                   *x.b, likeShape(x.v.getType(), x.b->getF64Type()), x.v)};
}
static Bits operator+(Bits x, Bits y) {
  return {x.b, arith::AddIOp::create(*x.b, x.v, y.v)};
}
static Bits operator-(Bits x, Bits y) {
  return {x.b, arith::SubIOp::create(*x.b, x.v, y.v)};
}
static Bits operator&(Bits x, Bits y) {
  return {x.b, arith::AndIOp::create(*x.b, x.v, y.v)};
}
static Bits shiftLeft(Bits x, int64_t count) {
  return {x.b, arith::ShLIOp::create(*x.b, x.v, x.constant(count).v)};
}
static Bits shiftRight(Bits x, int64_t count) {
  return {x.b, arith::ShRSIOp::create(*x.b, x.v, x.constant(count).v)};
}
static Bits select(Value condition, Bits x, Bits y) {
  return {x.b, arith::SelectOp::create(*x.b, condition, x.v, y.v)};
}
static Value equal(Bits x, int64_t y) {
  return arith::CmpIOp::create(*x.b, arith::CmpIPredicate::eq, x.v,
                               x.constant(y).v);
}
static Value both(Real like, Value x, Value y) {
  return arith::AndIOp::create(*like.b, x, y);
}

/// c[0] + c[1] x + c[2] x^2 + ...
static Real polynomial(Real x, ArrayRef<double> coefficients) {
  Real sum = x.constant(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, x.constant(coefficient));
  return sum;
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

// 1.5 * 2^52: adding it rounds to an integer, which is then in the low bits.
static constexpr double kRounder = 6755399441055744.0;

/// x * 2^n for |n| < 2200, with one rounding at most where the result is not
/// subnormal.
static Real scale(Real x, Bits n) {
  auto powerOfTwo = [](Bits exponent) {
    return real(shiftLeft(exponent + exponent.constant(1023), 52));
  };
  Bits half = shiftRight(n, 1);
  return x * powerOfTwo(half) * powerOfTwo(n - half);
}

/// e^r for |r| <= ln 2 / 2, by the series.
static Real expOfSmall(Real r) {
  return polynomial(r,
                    {1.0, 1.0, 1.0 / 2, 1.0 / 6, 1.0 / 24, 1.0 / 120, 1.0 / 720,
                     1.0 / 5040, 1.0 / 40320, 1.0 / 362880, 1.0 / 3628800,
                     1.0 / 39916800, 1.0 / 479001600, 1.0 / 6227020800.0});
}

/// x within [low, high]; NaN passes.
static Real limited(Real x, double low, double high) {
  Real atLeast = select(less(x, low), low, x);
  return select(greater(atLeast, high), high, atLeast);
}

/// The integer in the low bits of `shifted`, which kRounder was added to.
static Bits integerOf(Real shifted) {
  return bits(shifted) - bits(shifted.constant(kRounder));
}

static Real exp2Of(Real x) {
  x = limited(x, -1100, 1100);
  Real shifted = x + kRounder;
  Real fraction = x - (shifted - kRounder);
  Real result =
      scale(expOfSmall(fraction * 0.69314718055994530942), integerOf(shifted));
  return select(isNaN(x), x, result);
}

/// e^(x + low), where low is tiny.
static Real expOf(Real x, Real low) {
  x = limited(x, -760, 760);
  Real shifted =
      fma(x, x.constant(1.44269504088896340736), x.constant(kRounder));
  Real n = shifted - kRounder;
  Real r = fma(n, x.constant(-6.93147180369123816490e-01), x);
  r = fma(n, x.constant(-1.90821492927058770002e-10), r);
  Real result = scale(expOfSmall(r + low), integerOf(shifted));
  return select(isNaN(x), x, result);
}
static Real expOf(Real x) { return expOf(x, x.constant(0.0)); }

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// log x = k ln 2 + f - halfSquare + rest.
struct LogParts {
  Real k, f, halfSquare, rest;
};
} // namespace

static LogParts logParts(Real x) {
  Value tiny = less(x, 0x1p-1022);
  Bits pattern = bits(select(tiny, x * 0x1p54, x));
  // From sqrt(1/2) on, the exponent counts one more.
  Bits shifted = pattern - pattern.constant(0x3FE6A09E667F3BCD);
  Bits exponent = shiftRight(shifted, 52);
  Real m = real(pattern - shiftLeft(exponent, 52));
  exponent = select(tiny, exponent - exponent.constant(54), exponent);
  Real k = x.with(arith::SIToFPOp::create(
      *x.b, likeShape(x.v.getType(), x.b->getF64Type()), exponent.v));
  Real f = m - 1.0;
  Real halfSquare = f * f * 0.5;
  Real s = f / (f + 2.0);
  Real z = s * s;
  Real r =
      z * polynomial(z, {6.666666666666735130e-01, 3.999999999940941908e-01,
                         2.857142874366239149e-01, 2.222219843214978396e-01,
                         1.818357216161805012e-01, 1.531383769920937332e-01,
                         1.479819860511658591e-01});
  return {k, f, halfSquare, s * (halfSquare + r)};
}

/// What logarithms of 0, negative numbers, infinity and NaN are.
static Real logEdges(Real x, Real result) {
  result = select(equal(x, kInfinity), x, result);
  result = select(equal(x, 0.0), -kInfinity, result);
  result = select(less(x, 0.0), kNaN, result);
  return select(isNaN(x), x, result);
}

static Real logOf(Real x) {
  LogParts p = logParts(x);
  Real low = p.rest + p.k * 1.90821492927058770002e-10 - p.halfSquare;
  return logEdges(x, low + p.f + p.k * 6.93147180369123816490e-01);
}

/// k * scale + log(m) / log(base), the inverse of log(base) in two parts.
static Real logOfBase(Real x, double inverseHigh, double inverseLow,
                      double scaleHigh, double scaleLow) {
  LogParts p = logParts(x);
  Bits pattern = bits(p.f - p.halfSquare);
  Real high = real(pattern & pattern.constant(-(int64_t(1) << 32)));
  Real low = (p.f - high) - p.halfSquare + p.rest;
  Real main = high * inverseHigh, whole = p.k * scaleHigh;
  Real rest = p.k * scaleLow + (low + high) * inverseLow + low * inverseHigh;
  Real sum = whole + main;
  rest = rest + ((whole - sum) + main);
  return logEdges(x, rest + sum);
}

static Real log2Of(Real x) {
  return logOfBase(x, 1.44269504072144627571e+00, 1.67517131648865118353e-10,
                   1.0, 0.0);
}

static Real log10Of(Real x) {
  return logOfBase(x, 4.34294481878168880939e-01, 2.50829467116452752298e-11,
                   3.01029995663611771306e-01, 3.69423907715893078616e-13);
}

// log1p and expm1 by Kahan: the error of 1 + x cancels in a quotient.
static Real log1pOf(Real x) {
  Real u = x + 1.0;
  Real result = logOf(u) * (x / (u - 1.0));
  result = select(equal(u, 1.0), x, result);
  return select(equal(x, kInfinity), x, result);
}

static Real expm1Of(Real x) {
  Real u = expOf(x);
  Real result = (u - 1.0) * (x / logOf(u));
  result = select(equal(u, 1.0), x, result);
  result = select(less(x, -40.0), -1.0, result);
  return select(greater(x, 700.0), u, result);
}

//===----------------------------------------------------------------------===//
// Hyperbolic functions
//===----------------------------------------------------------------------===//

static Real sinhOf(Real x) {
  Real a = abs(x), e = expm1Of(a);
  Real small = (e + e / (e + 1.0)) * 0.5;
  Real half = expOf(a * 0.5);
  Real result = select(greater(a, 40.0), half * 0.5 * half, small);
  return withSignOf(result, x);
}

static Real coshOf(Real x) {
  Real half = expOf(abs(x) * 0.5);
  Real whole = half * half;
  return select(greater(abs(x), 40.0), half * 0.5 * half,
                (whole + 1.0 / whole) * 0.5);
}

static Real tanhOf(Real x) {
  Real a = abs(x);
  Real e = expm1Of(select(greater(a, 30.0), 30.0, a) * 2.0);
  return select(isNaN(x), x, withSignOf(e / (e + 2.0), x));
}

static constexpr double kLn2 = 0.69314718055994530942;

static Real asinhOf(Real x) {
  Real a = abs(x), square = a * a;
  Real small = log1pOf(a + square / (sqrt(square + 1.0) + 1.0));
  Real result = select(greater(a, 0x1p28), logOf(a) + kLn2, small);
  return withSignOf(result, x);
}

static Real acoshOf(Real x) {
  Real t = x - 1.0;
  Real small = log1pOf(t + sqrt(t * 2.0 + t * t));
  return select(greater(x, 0x1p28), logOf(x) + kLn2, small);
}

static Real atanhOf(Real x) {
  Real a = abs(x);
  return withSignOf(log1pOf(a * 2.0 / (1.0 - a)) * 0.5, x);
}

//===----------------------------------------------------------------------===//
// Trigonometric functions
//===----------------------------------------------------------------------===//

namespace {
/// Sine and cosine of x reduced to |r| <= pi / 4, and the quarter turn.
struct Reduced {
  Real sine, cosine;
  Bits quarter;
};
} // namespace

static Reduced reduce(Real x) {
  Real shifted =
      fma(x, x.constant(0.63661977236758134308), x.constant(kRounder));
  Real n = shifted - kRounder;
  // Pi / 2 in three parts; the first difference is exact.
  Real r = fma(n, x.constant(-1.5707963267948965580e+00), x);
  r = fma(n, x.constant(-6.1232339957367660359e-17), r);
  r = fma(n, x.constant(1.4973849048591833030e-33), r);
  Real z = r * r;
  Real sine = fma(
      z * r,
      polynomial(z, {-1.66666666666666324348e-01, 8.33333333332248946124e-03,
                     -1.98412698298579493134e-04, 2.75573137070700676789e-06,
                     -2.50507602534068634195e-08, 1.58969099521155010221e-10}),
      r);
  Real tail =
      z * z *
      polynomial(z, {4.16666666666666019037e-02, -1.38888888888741095749e-03,
                     2.48015872894767294178e-05, -2.75573143513906633035e-07,
                     2.08757232129817482790e-09, -1.13596475577881948265e-11});
  Real half = z * 0.5;
  Real w = 1.0 - half;
  Real cosine = w + (((1.0 - w) - half) + tail);
  return {sine, cosine, integerOf(shifted)};
}

static Real sinOf(Real x, int64_t quarters = 0) {
  Reduced p = reduce(x);
  Bits quarter = p.quarter + p.quarter.constant(quarters);
  Value even = equal(quarter & quarter.constant(1), 0);
  Value positive = equal(quarter & quarter.constant(2), 0);
  Real result = select(even, p.sine, p.cosine);
  return select(positive, result, -result);
}

static Real tanOf(Real x) {
  Reduced p = reduce(x);
  Value even = equal(p.quarter & p.quarter.constant(1), 0);
  return select(even, p.sine, -p.cosine) / select(even, p.cosine, p.sine);
}

static Real atanOf(Real x) {
  constexpr double kHigh[] = {
      4.63647609000806093515e-01, 7.85398163397448278999e-01,
      9.82793723247329054082e-01, 1.57079632679489655800e+00};
  constexpr double kLow[] = {
      2.26987774529616870924e-17, 3.06161699786838301793e-17,
      1.39033110312309984516e-17, 6.12323399573676603587e-17};
  Real a = abs(x);
  // atan a = atan c + atan((a - c) / (1 + a c)) for c = 0, 1/2, 1, 3/2, inf.
  Value range0 = less(a, 0.4375), range1 = less(a, 0.6875),
        range2 = less(a, 1.1875), range3 = less(a, 2.4375);
  auto choose = [&](Real r0, Real r1, Real r2, Real r3, Real r4) {
    return select(
        range0, r0,
        select(range1, r1, select(range2, r2, select(range3, r3, r4))));
  };
  Real one = x.constant(1.0), zero = x.constant(0.0);
  Real t = choose(a, a * 2.0 - 1.0, a - 1.0, a - 1.5, x.constant(-1.0)) /
           choose(one, a + 2.0, a + 1.0, a * 1.5 + 1.0, a);
  Real z = t * t;
  Real r =
      t * z *
      polynomial(z, {3.33333333333329318027e-01, -1.99999999998764832476e-01,
                     1.42857142725034663711e-01, -1.11111104054623557880e-01,
                     9.09088713343650656196e-02, -7.69187620504482999495e-02,
                     6.66107313738753120669e-02, -5.83357013379057348645e-02,
                     4.97687799461593236017e-02, -3.65315727442169155270e-02,
                     1.62858201153657823623e-02});
  auto constants = [&](const double (&list)[4]) {
    return choose(zero, x.constant(list[0]), x.constant(list[1]),
                  x.constant(list[2]), x.constant(list[3]));
  };
  Real result = constants(kHigh) - ((r - constants(kLow)) - t);
  return withSignOf(result, x);
}

static Real atan2Of(Real y, Real x) {
  constexpr double kPi = 3.14159265358979323846;
  constexpr double kPiLow = 1.2246467991473531772e-16;
  Real ay = abs(y), ax = abs(x);
  Real angle = atanOf(ay / ax);
  angle = select(both(x, equal(ay, 0.0), equal(ax, 0.0)), 0.0, angle);
  angle = select(both(x, equal(ay, kInfinity), equal(ax, kInfinity)), kPi / 4,
                 angle);
  Value left = arith::CmpIOp::create(*x.b, arith::CmpIPredicate::slt, bits(x).v,
                                     bits(x).constant(0).v);
  angle = select(left, kPi - (angle - kPiLow), angle);
  Real result = withSignOf(angle, y);
  result = select(isNaN(x), x, result);
  return select(isNaN(y), y, result);
}

/// asin s for |s| <= 1/2 as s + s * R(s^2).
static Real asinQuotient(Real z) {
  return z *
         polynomial(z,
                    {1.66666666666666657415e-01, -3.25565818622400915405e-01,
                     2.01212532134862925881e-01, -4.00555345006794114027e-02,
                     7.91534994289814532176e-04, 3.47933107596021167570e-05}) /
         polynomial(z, {1.0, -2.40339491173441421878e+00,
                        2.02094576023350569471e+00, -6.88283971605453293030e-01,
                        7.70381505559019352791e-02});
}

static constexpr double kHalfPi = 1.57079632679489661923;
static constexpr double kHalfPiLow = 6.12323399573676603587e-17;

static Real asinOf(Real x) {
  Real a = abs(x);
  Value small = less(a, 0.5);
  Real z = select(small, a * a, (1.0 - a) * 0.5);
  Real s = sqrt(z), q = asinQuotient(z);
  Real large = kHalfPi - ((s + s * q) * 2.0 - kHalfPiLow);
  return withSignOf(select(small, a + a * q, large), x);
}

static Real acosOf(Real x) {
  Real a = abs(x);
  Value small = less(a, 0.5);
  Real z = select(small, x * x, (1.0 - a) * 0.5);
  Real s = sqrt(z), q = asinQuotient(z);
  Real middle = kHalfPi - (x - (kHalfPiLow - x * q));
  Real right = (s + s * q) * 2.0;
  Real left = (kHalfPi - (s + (s * q - kHalfPiLow))) * 2.0;
  return select(small, middle, select(less(x, 0.0), left, right));
}

//===----------------------------------------------------------------------===//
// The error function
//===----------------------------------------------------------------------===//

/// erfc a for a >= 1.25: e^(-a^2) times a rational function over a.
static Real erfcTail(Real a) {
  Real s = 1.0 / (a * a);
  Value near = less(a, 1 / 0.35);
  Real p = select(
      near,
      polynomial(s, {-9.86494403484714822705e-03, -6.93858572707181764372e-01,
                     -1.05586262253232909814e+01, -6.23753324503260060396e+01,
                     -1.62396669462573470355e+02, -1.84605092906711035994e+02,
                     -8.12874355063065934246e+01, -9.81432934416914548592e+00}),
      polynomial(s, {-9.86494292470009928597e-03, -7.99283237680523006574e-01,
                     -1.77579549177547519889e+01, -1.60636384855821916062e+02,
                     -6.37566443368389627722e+02, -1.02509513161107724954e+03,
                     -4.83519191608651397019e+02}));
  Real q = select(
      near,
      polynomial(s,
                 {1.0, 1.96512716674392571292e+01, 1.37657754143519042600e+02,
                  4.34565877475229228821e+02, 6.45387271733267880336e+02,
                  4.29008140027567833386e+02, 1.08635005541779435134e+02,
                  6.57024977031928170135e+00, -6.04244152148580987438e-02}),
      polynomial(s, {1.0, 3.03380607434824582924e+01,
                     3.25792512996573918826e+02, 1.53672958608443695994e+03,
                     3.19985821950859553908e+03, 2.55305040643316442583e+03,
                     4.74528541206955367215e+02, -2.24409524465858183362e+01}));
  // a^2 in two parts, the first exact.
  Bits pattern = bits(a);
  Real z = real(pattern & pattern.constant(-(int64_t(1) << 32)));
  return expOf(-(z * z) - 0.5625) * expOf((z - a) * (z + a) + p / q) / a;
}

/// (erf a - erx) for 0.84375 <= a < 1.25.
static constexpr double kErx = 8.45062911510467529297e-01;
static Real erfMiddle(Real a) {
  Real s = a - 1.0;
  return polynomial(s, {-2.36211856075265944077e-03, 4.14856118683748331666e-01,
                        -3.72207876035701323847e-01, 3.18346619901161753674e-01,
                        -1.10894694282396677476e-01, 3.54783043256182359371e-02,
                        -2.16637559486879084300e-03}) /
         polynomial(s, {1.0, 1.06420880400844228286e-01,
                        5.40397917702171048937e-01, 7.18286544141962662868e-02,
                        1.26171219808761642112e-01, 1.36370839120290507362e-02,
                        1.19844998467991074170e-02});
}

/// erf x = x + x * this of x^2 for |x| < 0.84375.
static Real erfSmall(Real z) {
  return polynomial(z,
                    {1.28379167095512558561e-01, -3.25042107247001499370e-01,
                     -2.84817495755985104766e-02, -5.77027029648944159157e-03,
                     -2.37630166566501626084e-05}) /
         polynomial(z,
                    {1.0, 3.97917223959155352819e-01,
                     6.50222499887672944485e-02, 5.08130628187576562776e-03,
                     1.32494738004321644526e-04, -3.96022827877536812320e-06});
}

static Real erfOf(Real x) {
  Real a = abs(x);
  Real small = a + a * erfSmall(a * a);
  Real tail = 1.0 - erfcTail(select(greater(a, 6.0), 6.0, a));
  Real result = select(less(a, 0.84375), small,
                       select(less(a, 1.25), erfMiddle(a) + kErx, tail));
  return select(isNaN(x), x, withSignOf(result, x));
}

static Real erfcOf(Real x) {
  Real a = abs(x);
  Real y = erfSmall(x * x);
  Real small =
      select(less(x, 0.25), 1.0 - (x + x * y), 0.5 - (x - 0.5 + x * y));
  Real middle = erfMiddle(a);
  Real tail = erfcTail(select(greater(a, 30.0), 30.0, a));
  Real right = select(less(a, 1.25), (1 - kErx) - middle, tail);
  Real left = select(less(a, 1.25), middle + (1 + kErx), 2.0 - tail);
  Real result =
      select(less(a, 0.84375), small, select(less(x, 0.0), left, right));
  return select(isNaN(x), x, result);
}

//===----------------------------------------------------------------------===//
// Powers, roots, remainders
//===----------------------------------------------------------------------===//

static Real powOf(Real x, Real y) {
  Real logarithm = logOf(abs(x));
  Real product = y * logarithm;
  Real lost = fma(y, logarithm, -product);
  // Infinite products lose NaN.
  Real result =
      expOf(product, select(less(abs(product), 1e6), lost, lost.constant(0.0)));
  // Negative x: only integers are exponents, and odd ones keep the sign.
  Real half = y * 0.5;
  Value isInteger = compare(arith::CmpFPredicate::OEQ, truncate(y), y);
  Value isEven = compare(arith::CmpFPredicate::OEQ, truncate(half), half);
  Value isNegative = arith::CmpIOp::create(*x.b, arith::CmpIPredicate::slt,
                                           bits(x).v, bits(x).constant(0).v);
  Real odd = select(isNegative, -result, result);
  result = select(isInteger, select(isEven, result, odd), result);
  Value undefined =
      both(x, less(x, 0.0),
           both(x, greater(x, -kInfinity),
                compare(arith::CmpFPredicate::ONE, truncate(y), y)));
  result = select(undefined, kNaN, result);
  result = select(isNaN(x), x, result);
  result = select(isNaN(y), y, result);
  result = select(both(x, equal(abs(x), 1.0), equal(abs(y), kInfinity)), 1.0,
                  result);
  result = select(equal(y, 0.0), 1.0, result);
  return select(equal(x, 1.0), 1.0, result);
}

static Real cbrtOf(Real x) {
  Real a = abs(x);
  Real t = expOf(logOf(a) * (1.0 / 3.0));
  // One step of Newton's, on the residual.
  Real square = t * t;
  Real residual = fma(-square, t, a) + fma(t, t, -square) * -t;
  t = t + residual / (square * 3.0);
  t = select(equal(a, 0.0), a, t);
  t = select(equal(a, kInfinity), a, t);
  return withSignOf(t, x);
}

/// C's fmod, exactly: each round subtracts a multiple of y * 2^k below 2^53.
static Real remainderOf(Real x, Real y) {
  ImplicitLocOpBuilder &b = *x.b;
  Real t = abs(y), r = abs(x);
  Value finite = less(r, kInfinity), divides = greater(t, 0.0);
  Value valid = both(x, finite, divides);
  r = select(valid, r, r.constant(0.0));
  t = select(valid, t, t.constant(1.0));
  auto loop = scf::WhileOp::create(b, TypeRange{b.getF64Type()},
                                   ValueRange{r.v}, nullptr, nullptr);
  {
    OpBuilder::InsertionGuard guard(b);
    Block *before = &loop.getBefore().front();
    b.setInsertionPointToStart(before);
    Value rest = before->getArgument(0);
    Value more = compare(arith::CmpFPredicate::OGE, r.with(rest), t);
    scf::ConditionOp::create(b, more, ValueRange{rest});
    Block *after = &loop.getAfter().front();
    b.setInsertionPointToStart(after);
    Real now = r.with(after->getArgument(0));
    Bits er = shiftRight(bits(now), 52), et = shiftRight(bits(t), 52);
    // A subnormal y has fewer leading bits than its exponent field says.
    Bits k =
        select(equal(et, 0), er - er.constant(1), er - et - er.constant(50));
    k = {&b, arith::MaxSIOp::create(b, k.v, k.constant(0).v)};
    Real step = scale(t, k);
    Real next = fma(-truncate(now / step), step, now);
    next = select(less(next, 0.0), next + step, next);
    scf::YieldOp::create(b, ValueRange{next.v});
  }
  Real result = withSignOf(r.with(loop.getResult(0)), x);
  return select(valid, result, result.constant(kNaN));
}

bool flashtile::numeric::isF64Function(StringRef name) {
  static const llvm::StringSet<> known = {
      "exp",  "exp2",  "expm1", "log",   "log2",  "log10", "log1p",
      "sin",  "cos",   "tan",   "asin",  "acos",  "atan",  "sinh",
      "cosh", "tanh",  "asinh", "acosh", "atanh", "erf",   "erfc",
      "cbrt", "atan2", "powf",  "remf"};
  return known.contains(name);
}

Value flashtile::numeric::emitF64Function(ImplicitLocOpBuilder &b,
                                          StringRef name, ValueRange operands) {
  Real x{&b, operands.front()};
  auto unary = llvm::StringSwitch<Real (*)(Real)>(name)
                   .Case("exp", [](Real x) { return expOf(x); })
                   .Case("exp2", exp2Of)
                   .Case("expm1", expm1Of)
                   .Case("log", logOf)
                   .Case("log2", log2Of)
                   .Case("log10", log10Of)
                   .Case("log1p", log1pOf)
                   .Case("sin", [](Real x) { return sinOf(x); })
                   .Case("cos", [](Real x) { return sinOf(x, 1); })
                   .Case("tan", tanOf)
                   .Case("asin", asinOf)
                   .Case("acos", acosOf)
                   .Case("atan", atanOf)
                   .Case("sinh", sinhOf)
                   .Case("cosh", coshOf)
                   .Case("tanh", tanhOf)
                   .Case("asinh", asinhOf)
                   .Case("acosh", acoshOf)
                   .Case("atanh", atanhOf)
                   .Case("erf", erfOf)
                   .Case("erfc", erfcOf)
                   .Case("cbrt", cbrtOf)
                   .Default(nullptr);
  if (unary)
    return unary(x).v;
  if (operands.size() != 2)
    return {};
  auto binary = llvm::StringSwitch<Real (*)(Real, Real)>(name)
                    .Case("atan2", atan2Of)
                    .Case("powf", powOf)
                    .Case("remf", remainderOf)
                    .Default(nullptr);
  return binary ? binary(x, Real{&b, operands[1]}).v : Value();
}
