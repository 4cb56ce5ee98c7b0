//===- Numerics.cpp - Element formats and exponentials in vector code -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversions are integer arithmetic where x86 has no instruction that rounds
// as the contract asks (bf16 conversion instructions flush subnormals, and
// truncf to bf16 is a library call for each element on AVX2).
//
//===----------------------------------------------------------------------===//

#include "compiler/Conversion/Numerics/Numerics.h"

#include "dialects/Tile/IR/TileDialect.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace flashtile::numeric;

static bool isNarrow(Type type) {
  auto floatType = dyn_cast<FloatType>(type);
  return floatType && floatType.getWidth() < 32;
}

Type flashtile::numeric::getComputeType(Type type) {
  if (isNarrow(type))
    return Float32Type::get(type.getContext());
  if (isa<tile::PtrType>(type))
    return IntegerType::get(type.getContext(), 64);
  return type;
}

Type flashtile::numeric::getMemoryType(Type type) {
  MLIRContext *context = type.getContext();
  if (isa<BFloat16Type>(type))
    return IntegerType::get(context, 16);
  if (isNarrow(type) && type.getIntOrFloatBitWidth() == 8)
    return IntegerType::get(context, 8);
  if (type.isInteger(1))
    return IntegerType::get(context, 8);
  if (isa<tile::PtrType>(type))
    return IntegerType::get(context, 64);
  return type;
}

Type flashtile::numeric::getBufferType(Type type) {
  if (type.isInteger(1))
    return IntegerType::get(type.getContext(), 8);
  return getComputeType(type);
}

Type flashtile::numeric::likeShape(Type like, Type element) {
  if (auto vector = dyn_cast<VectorType>(like))
    return VectorType::get(vector.getShape(), element);
  return element;
}

Value flashtile::numeric::matchShape(ImplicitLocOpBuilder &b, Value value,
                                     Type like) {
  auto vector = dyn_cast<VectorType>(like);
  if (!vector || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      b, VectorType::get(vector.getShape(), value.getType()), value);
}

Value flashtile::numeric::constantFloat(ImplicitLocOpBuilder &b, Type type,
                                        double value) {
  auto element = cast<FloatType>(getElementTypeOrSelf(type));
  FloatAttr scalar = FloatAttr::get(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(b, scalar);
}

Value flashtile::numeric::constantInt(ImplicitLocOpBuilder &b, Type type,
                                      int64_t value) {
  Type element = getElementTypeOrSelf(type);
  IntegerAttr scalar = IntegerAttr::get(element, value);
  if (auto vector = dyn_cast<VectorType>(type))
    return arith::ConstantOp::create(b, DenseElementsAttr::get(vector, scalar));
  return arith::ConstantOp::create(b, scalar);
}

namespace {
/// Arithmetic on values of one shape, so that formulas read as such.
struct Formula {
  ImplicitLocOpBuilder &b;
  Type like;

  Type i32() { return likeShape(like, b.getI32Type()); }
  Type f32() { return likeShape(like, b.getF32Type()); }
  Value f(double value) { return constantFloat(b, f32(), value); }
  Value i(int64_t value) { return constantInt(b, i32(), value); }
  Value bits(Value x) { return arith::BitcastOp::create(b, i32(), x); }
  Value real(Value x) { return arith::BitcastOp::create(b, f32(), x); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, x, y); }
  Value sub(Value x, Value y) { return arith::SubIOp::create(b, x, y); }
  Value bitAnd(Value x, Value y) { return arith::AndIOp::create(b, x, y); }
  Value bitOr(Value x, Value y) { return arith::OrIOp::create(b, x, y); }
  Value shl(Value x, int64_t n) { return arith::ShLIOp::create(b, x, i(n)); }
  Value shr(Value x, int64_t n) { return arith::ShRUIOp::create(b, x, i(n)); }
  Value isNan(Value x) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::UNO, x, x);
  }
  Value less(Value x, Value y) {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OLT, x, y);
  }
  Value select(Value c, Value x, Value y) {
    return arith::SelectOp::create(b, c, x, y);
  }
  Value fma(Value x, Value y, Value z) {
    return math::FmaOp::create(b, x, y, z);
  }

  /// `x` with its mantissa cut by `drop` bits, ties to even.
  Value roundMantissa(Value x, int64_t drop) {
    Value lsb = bitAnd(shr(x, drop), i(1));
    Value half = i((int64_t(1) << (drop - 1)) - 1);
    return bitAnd(add(x, add(half, lsb)), i(-(int64_t(1) << drop)));
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Rounding
//===----------------------------------------------------------------------===//

static Value roundToBF16(Formula m, Value x) {
  Value bits = m.bits(x);
  Value quiet = m.bitAnd(m.bitOr(bits, m.i(0x00400000)), m.i(-0x10000));
  return m.real(m.select(m.isNan(x), quiet, m.roundMantissa(bits, 16)));
}

/// fp8 with `mantissa` bits, largest finite value `max` and the distance
/// `quantum` between its subnormals.
static Value roundToFp8(Formula m, Value x, int64_t mantissa, double max,
                        double quantum) {
  Value bits = m.bits(x);
  Value sign = m.bitAnd(bits, m.i(int64_t(-0x7fffffff) - 1));
  Value magnitude = m.real(m.bitAnd(bits, m.i(0x7fffffff)));
  Value normal = m.real(m.roundMantissa(m.bits(magnitude), 23 - mantissa));
  // Adding 2^23 quanta makes the FPU round to a multiple of the quantum.
  Value shifter = m.f(quantum * double(1 << 23));
  Value sum = arith::AddFOp::create(m.b, magnitude, shifter);
  Value subnormal = arith::SubFOp::create(m.b, sum, shifter);
  Value smallestNormal = m.f(quantum * double(int64_t(1) << mantissa));
  Value rounded =
      m.select(m.less(magnitude, smallestNormal), subnormal, normal);
  Value saturated = m.select(m.less(m.f(max), rounded), m.f(max), rounded);
  Value withSign = m.real(m.bitOr(m.bits(saturated), sign));
  return m.select(m.isNan(x), x, withSign);
}

/// f64 to f32 rounding to odd: a later rounding to a narrower format is then
/// as if it had been made from f64 at once.
static Value truncateToOdd(ImplicitLocOpBuilder &b, Value x) {
  Formula m{b, x.getType()};
  Value nearest = arith::TruncFOp::create(b, m.f32(), x);
  Value back = arith::ExtFOp::create(b, x.getType(), nearest);
  Value inexact = arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, back, x);
  Value tooFar = arith::CmpFOp::create(b, arith::CmpFPredicate::OGT,
                                       math::AbsFOp::create(b, back),
                                       math::AbsFOp::create(b, x));
  Value bits = m.bits(nearest);
  Value toward = m.select(tooFar, m.sub(bits, m.i(1)), bits);
  return m.real(m.select(inexact, m.bitOr(toward, m.i(1)), bits));
}

Value flashtile::numeric::emitNarrowFma(ImplicitLocOpBuilder &b,
                                        ArrayRef<Value> operands,
                                        Type element) {
  Type f64 = likeShape(operands.front().getType(), b.getF64Type());
  auto add = [&](Value x, Value y) -> Value {
    return arith::AddFOp::create(b, x, y);
  };
  auto subtract = [&](Value x, Value y) -> Value {
    return arith::SubFOp::create(b, x, y);
  };
  SmallVector<Value> wide;
  for (Value operand : operands)
    wide.push_back(arith::ExtFOp::create(b, f64, operand));
  Value product = arith::MulFOp::create(b, wide[0], wide[1]); // exact
  Value sum = add(product, wide[2]);
  // What the sum lost, exactly (Knuth's two-sum).
  Value part = subtract(sum, product);
  Value lost =
      add(subtract(product, subtract(sum, part)), subtract(wide[2], part));
  // Rounded to odd, so that the last rounding is as if it were the only one.
  Type i64 = likeShape(f64, b.getI64Type());
  Value zero = constantFloat(b, f64, 0.0), one = constantInt(b, i64, 1);
  Value bits = arith::BitcastOp::create(b, i64, sum);
  auto positive = [&](Value x) -> Value {
    return arith::CmpFOp::create(b, arith::CmpFPredicate::OGT, x, zero);
  };
  Value outward = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                        positive(lost), positive(sum));
  Value next =
      arith::SelectOp::create(b, outward, arith::AddIOp::create(b, bits, one),
                              arith::SubIOp::create(b, bits, one));
  Value isEven = arith::CmpIOp::create(b, arith::CmpIPredicate::eq,
                                       arith::AndIOp::create(b, bits, one),
                                       constantInt(b, i64, 0));
  Value inexact =
      arith::CmpFOp::create(b, arith::CmpFPredicate::ONE, lost, zero);
  Value odd = arith::SelectOp::create(
      b, arith::AndIOp::create(b, inexact, isEven), next, bits);
  return roundTo(b, arith::BitcastOp::create(b, f64, odd), element);
}

Value flashtile::numeric::fitToF64(ImplicitLocOpBuilder &b, Value value,
                                   bool isSigned) {
  Type type = value.getType();
  constexpr int64_t kLimit = int64_t(1) << 53, kLost = (1 << 11) - 1;
  auto constant = [&](int64_t number) { return constantInt(b, type, number); };
  // -2^53 <= value < 2^53, or 0 <= value < 2^53: one unsigned comparison.
  Value shifted = isSigned
                      ? Value(arith::AddIOp::create(b, value, constant(kLimit)))
                      : value;
  Value fits = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, shifted,
                                     constant(isSigned ? 2 * kLimit : kLimit));
  Value low = arith::AndIOp::create(b, value, constant(kLost));
  Value high = arith::SubIOp::create(b, value, low);
  Value any =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ne, low, constant(0));
  Value sticky = arith::OrIOp::create(b, high, constant(kLost + 1));
  Value kept = arith::SelectOp::create(b, any, sticky, high);
  return arith::SelectOp::create(b, fits, value, kept);
}

Value flashtile::numeric::roundTo(ImplicitLocOpBuilder &b, Value value,
                                  Type element) {
  Type from = getElementTypeOrSelf(value.getType());
  Type like = value.getType();
  if (from == element)
    return value;
  if (isa<Float64Type>(element))
    return arith::ExtFOp::create(b, likeShape(like, element), value);
  if (isa<Float16Type>(element)) {
    Value half = arith::TruncFOp::create(b, likeShape(like, element), value);
    return arith::ExtFOp::create(b, likeShape(like, b.getF32Type()), half);
  }
  if (isa<Float32Type>(element))
    return arith::TruncFOp::create(b, likeShape(like, element), value);
  if (isa<Float64Type>(from))
    value = truncateToOdd(b, value);
  Formula m{b, like};
  if (isa<BFloat16Type>(element))
    return roundToBF16(m, value);
  if (isa<Float8E4M3FNType>(element))
    return roundToFp8(m, value, /*mantissa=*/3, /*max=*/448.0,
                      /*quantum=*/0x1p-9);
  return roundToFp8(m, value, /*mantissa=*/2, /*max=*/57344.0,
                    /*quantum=*/0x1p-16);
}

//===----------------------------------------------------------------------===//
// Memory formats
//===----------------------------------------------------------------------===//

Value flashtile::numeric::decode(ImplicitLocOpBuilder &b, Value bits,
                                 Type element) {
  Type like = bits.getType();
  Formula m{b, like};
  if (element.isInteger(1)) {
    Value zero = constantInt(b, like, 0);
    return arith::CmpIOp::create(b, arith::CmpIPredicate::ne, bits, zero);
  }
  if (isa<Float16Type>(element))
    return arith::ExtFOp::create(b, m.f32(), bits);
  if (isa<BFloat16Type>(element))
    return m.real(m.shl(arith::ExtUIOp::create(b, m.i32(), bits), 16));
  if (!isa<Float8E5M2Type, Float8E4M3FNType>(element))
    return bits;

  Type i16 = likeShape(like, b.getI16Type());
  Type f16 = likeShape(like, b.getF16Type());
  auto half = [&](Value pattern) -> Value {
    Value number = arith::BitcastOp::create(b, f16, pattern);
    return arith::ExtFOp::create(b, m.f32(), number);
  };
  Value wide = arith::ExtUIOp::create(b, i16, bits);
  if (isa<Float8E5M2Type>(element)) // the upper half of an f16
    return half(arith::ShLIOp::create(b, wide, constantInt(b, i16, 8)));
  // e4m3 in f16's fields is the value times 2^-8, subnormals included; only
  // the pattern of NaN means something else there.
  Value magnitude = arith::AndIOp::create(b, wide, constantInt(b, i16, 0x7f));
  Value sign = arith::ShLIOp::create(
      b, arith::AndIOp::create(b, wide, constantInt(b, i16, 0x80)),
      constantInt(b, i16, 8));
  Value fields = arith::OrIOp::create(
      b, sign, arith::ShLIOp::create(b, magnitude, constantInt(b, i16, 7)));
  Value number = arith::MulFOp::create(b, half(fields), m.f(256.0));
  Value isNan = arith::CmpIOp::create(b, arith::CmpIPredicate::eq, magnitude,
                                      constantInt(b, i16, 0x7f));
  return m.select(isNan, m.f(std::numeric_limits<double>::quiet_NaN()), number);
}

Value flashtile::numeric::encode(ImplicitLocOpBuilder &b, Value value,
                                 Type element) {
  Type like = value.getType();
  Formula m{b, like};
  Type memory = likeShape(like, getMemoryType(element));
  if (element.isInteger(1))
    return arith::ExtUIOp::create(b, memory, value);
  if (isa<Float16Type>(element))
    return arith::TruncFOp::create(b, memory, value);
  if (isa<BFloat16Type>(element))
    return arith::TruncIOp::create(b, memory, m.shr(m.bits(value), 16));
  if (!isa<Float8E5M2Type, Float8E4M3FNType>(element))
    return value;

  Type i16 = likeShape(like, b.getI16Type());
  Type f16 = likeShape(like, b.getF16Type());
  bool e4m3 = isa<Float8E4M3FNType>(element);
  // The inverse of decode: every value of the format is exact in f16.
  Value scaled =
      e4m3 ? Value(arith::MulFOp::create(b, value, m.f(0x1p-8))) : value;
  Value narrow = arith::TruncFOp::create(b, f16, scaled);
  Value fields = arith::BitcastOp::create(b, i16, narrow);
  int64_t drop = e4m3 ? 7 : 8;
  Value magnitude = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, fields, constantInt(b, i16, drop)),
      constantInt(b, i16, 0x7f));
  Value sign = arith::AndIOp::create(
      b, arith::ShRUIOp::create(b, fields, constantInt(b, i16, 8)),
      constantInt(b, i16, 0x80));
  Value number = arith::OrIOp::create(b, sign, magnitude);
  Value pattern = arith::SelectOp::create(b, m.isNan(value),
                                          constantInt(b, i16, 0x7f), number);
  return arith::TruncIOp::create(b, memory, pattern);
}

//===----------------------------------------------------------------------===//
// Exponentials
//===----------------------------------------------------------------------===//

// Minimax polynomials (Remez, relative error) with the constant term fixed to
// 1, so that 2^n is exact: 2^f on [-1/2, 1/2], error 2^-28.5, and e^r on
// [-ln2/2, ln2/2], error 2^-28.5.
static constexpr double kExp2[] = {0.000155946770151, 0.00134066438475,
                                   0.00961769297614,  0.0555031055121,
                                   0.240226527829,    0.693147214968};
static constexpr double kExp[] = {0.00140612399099, 0.00837901112632,
                                  0.0416647773028,  0.166663654419,
                                  0.500000043437,   1.00000004964};

static Value horner(Formula m, Value x, ArrayRef<double> coefficients) {
  Value sum = m.f(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = m.fma(sum, x, m.f(coefficient));
  return m.fma(sum, x, m.f(1.0));
}

/// Values below `low` become `below`, values above `high` become `high`; NaN
/// passes. The order of comparison makes the upper half one min instruction of
/// x86, which returns its second operand when one is NaN.
static Value limit(Formula m, Value x, double low, double below, double high) {
  Value atLeast = m.select(m.less(x, m.f(low)), m.f(below), x);
  return m.select(m.less(m.f(high), atLeast), m.f(high), atLeast);
}

// 1.5 * 2^23: adding it rounds to an integer, ties to even, and leaves that
// integer in the low bits of the sum. No fast-math flags here: reassociation
// would undo it.
static constexpr double kRounder = 12582912.0;

/// p * 2^n for the integer n in the low bits of `shifted`, by adding to p's
/// exponent field. The result must be a normal number, 2^-127 (which gives 0)
/// or 2^128 (infinity).
static Value scaleByPowerOfTwo(Formula m, Value p, Value shifted) {
  return m.real(m.add(m.bits(p), m.shl(m.bits(shifted), 23)));
}

Value flashtile::numeric::emitExp2(ImplicitLocOpBuilder &b, Value x) {
  Formula m{b, x.getType()};
  x = limit(m, x, -126.0, -127.0, 128.0);
  Value shifted = arith::AddFOp::create(b, x, m.f(kRounder));
  Value integer = arith::SubFOp::create(b, shifted, m.f(kRounder));
  Value fraction = arith::SubFOp::create(b, x, integer);
  return scaleByPowerOfTwo(m, horner(m, fraction, kExp2), shifted);
}

Value flashtile::numeric::emitExp(ImplicitLocOpBuilder &b, Value x) {
  Formula m{b, x.getType()};
  // The f32 numbers next to ln 2^-126 and ln FLT_MAX, within.
  constexpr double kLowest = -87.336540222167969;
  constexpr double kHighest = 88.722831726074219;
  Value limited = limit(m, x, kLowest, kLowest, kHighest);
  Value shifted = m.fma(limited, m.f(1.44269504088896340736), m.f(kRounder));
  Value integer = arith::SubFOp::create(b, shifted, m.f(kRounder));
  // ln 2 in two parts, the first with few enough bits to make n * it exact.
  Value r = m.fma(integer, m.f(-0.693145751953125), limited);
  r = m.fma(integer, m.f(-1.42860682030941723212e-6), r);
  Value result = scaleByPowerOfTwo(m, horner(m, r, kExp), shifted);
  // The ends are not exact powers of two as in emitExp2.
  result = m.select(m.less(x, m.f(kLowest)), m.f(0.0), result);
  return m.select(m.less(m.f(kHighest), x),
                  m.f(std::numeric_limits<double>::infinity()), result);
}

//===----------------------------------------------------------------------===//
// Functions of exponentials
//===----------------------------------------------------------------------===//

/// `small` up to `limit`, and for NaN; `large` beyond; with the sign of `x`.
static Value oddFunction(Formula m, Value x, double limit, Value small,
                         Value large) {
  Value isLarge = m.less(m.f(limit), math::AbsFOp::create(m.b, x));
  return math::CopySignOp::create(m.b, m.select(isLarge, large, small), x);
}

/// The sum of the terms after the leading one, in powers of `x`.
static Value polynomial(Formula m, Value x, ArrayRef<double> coefficients) {
  Value sum = m.f(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = m.fma(sum, x, m.f(coefficient));
  return sum;
}

Value flashtile::numeric::emitTanh(ImplicitLocOpBuilder &b, Value x,
                                   Value large) {
  Formula m{b, x.getType()};
  // (tanh x / x - 1) / x^2 for |x| <= 0.55, by x^2: interpolated at Chebyshev's
  // nodes, relative error of tanh 2^-26.
  constexpr double kLimit = 0.55;
  constexpr double kTerms[] = {-0.00657322444, 0.0212895218, -0.0539061576,
                               0.133330971, -0.333333313};
  Value square = arith::MulFOp::create(b, x, x);
  Value tail = arith::MulFOp::create(b, polynomial(m, square, kTerms), square);
  return oddFunction(m, x, kLimit, m.fma(tail, x, x), large);
}

Value flashtile::numeric::emitTanh(ImplicitLocOpBuilder &b, Value x) {
  Formula m{b, x.getType()};
  // 1 - 2 / (e^2x + 1) loses less than a bit where tanh is above a half.
  Value size = math::AbsFOp::create(b, x);
  Value power = emitExp(b, arith::AddFOp::create(b, size, size));
  Value quotient = arith::DivFOp::create(
      b, m.f(2.0), arith::AddFOp::create(b, power, m.f(1.0)));
  return emitTanh(b, x, arith::SubFOp::create(b, m.f(1.0), quotient));
}

Value flashtile::numeric::emitErf(ImplicitLocOpBuilder &b, Value x) {
  Formula m{b, x.getType()};
  // Minimax polynomials: erf x / x - 1 by x^2 up to the limit, and beyond
  // log(1 - erf x) / x + 1 by |x|.
  constexpr double kLimit = 0.927734375;
  constexpr double kSmall[] = {-5.96761703e-4, 4.99119423e-3,  -2.67681349e-2,
                               1.12819925e-1,  -3.76125336e-1, 1.28379166e-1};
  constexpr double kLarge[] = {-1.72853470e-5, 3.83197126e-4,  -3.88396438e-3,
                               2.42546219e-2,  -1.06777877e-1, -6.34846687e-1,
                               -1.28717512e-1};
  Value square = arith::MulFOp::create(b, x, x);
  Value small = m.fma(polynomial(m, square, kSmall), x, x);
  Value size = math::AbsFOp::create(b, x);
  Value exponent =
      m.fma(polynomial(m, size, kLarge), size, arith::NegFOp::create(b, size));
  Value large = arith::SubFOp::create(b, m.f(1.0), emitExp(b, exponent));
  return oddFunction(m, x, kLimit, small, large);
}

//===----------------------------------------------------------------------===//
// Logarithms
//===----------------------------------------------------------------------===//

namespace {
/// x = 2^exponent (1 + f) with 1 + f in [2/3, 4/3), and log(1 + f).
struct Logarithm {
  Value exponent, ofMantissa;
};
} // namespace

static Logarithm splitLogarithm(Formula m, Value x) {
  // Subnormal numbers get an exponent that shows in their bits.
  Value isSmall = m.less(x, m.f(0x1p-126));
  x = m.select(isSmall, arith::MulFOp::create(m.b, x, m.f(0x1p23)), x);
  constexpr int64_t kTwoThirds = 0x3f2aaaab;
  Value shifted = m.bitAnd(m.sub(m.bits(x), m.i(kTwoThirds)), m.i(-0x800000));
  Value mantissa = m.real(m.sub(m.bits(x), shifted));
  Value exponent = m.fma(arith::SIToFPOp::create(m.b, m.f32(), shifted),
                         m.f(0x1p-23), m.select(isSmall, m.f(-23.0), m.f(0.0)));
  // log(1 + f) = f + f^2 p(f). Even and odd coefficients apart shorten the
  // chain of dependent operations.
  constexpr double kEven[] = {-0.130310059, -0.121483512, -0.166846126,
                              -0.2499962};
  constexpr double kOdd[] = {0.140869141, 0.139814854, 0.200120345};
  Value f = arith::SubFOp::create(m.b, mantissa, m.f(1.0));
  Value square = arith::MulFOp::create(m.b, f, f);
  Value p = m.fma(polynomial(m, square, kOdd), f, polynomial(m, square, kEven));
  p = m.fma(m.fma(p, f, m.f(0.333331972)), f, m.f(-0.5));
  return {exponent, m.fma(p, square, f)};
}

/// `result` for positive numbers, and what logarithms of others are.
static Value withEdges(Formula m, Value x, Value result) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Value zero = m.f(0.0);
  // Neither NaN nor infinity is less than infinity: both are their logarithms.
  result = m.select(m.less(x, m.f(kInfinity)), result, x);
  result = m.select(m.less(x, zero), m.f(kNaN), result);
  Value isZero = arith::CmpFOp::create(m.b, arith::CmpFPredicate::OEQ, x, zero);
  return m.select(isZero, m.f(-kInfinity), result);
}

Value flashtile::numeric::emitLog(ImplicitLocOpBuilder &b, Value x) {
  Formula m{b, x.getType()};
  Logarithm parts = splitLogarithm(m, x);
  return withEdges(m, x,
                   m.fma(parts.exponent, m.f(0.693147182), parts.ofMantissa));
}

Value flashtile::numeric::emitLog2(ImplicitLocOpBuilder &b, Value x) {
  Formula m{b, x.getType()};
  Logarithm parts = splitLogarithm(m, x);
  return withEdges(m, x,
                   m.fma(parts.ofMantissa, m.f(1.44269504), parts.exponent));
}
