//===- PtxDecode.cpp - Statements of one thread ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/PtxValues.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <stdexcept>

using namespace flashtile;
using namespace flashtile::cputest;

uint8_t *flashtile::cputest::ptxPointer(PtxThread &thread,
                                        const std::string &space,
                                        uint64_t address, int64_t bytes) {
  if (space == "shared") {
    address = uint32_t(address);
    if (int64_t(address) + bytes > thread.block->sharedBytes)
      throw std::runtime_error("access to shared memory at " +
                               std::to_string(address) + " of " +
                               std::to_string(thread.block->sharedBytes));
    if (address % bytes != 0)
      throw std::runtime_error("misaligned access to shared memory");
    return thread.block->shared.data() + address;
  }
  if (space == "local") {
    uint64_t begin = reinterpret_cast<uint64_t>(thread.local.data());
    if (address < begin || address + bytes > begin + thread.local.size())
      throw std::runtime_error("access outside of local memory at " +
                               std::to_string(int64_t(address - begin)) +
                               " of " + std::to_string(thread.local.size()));
  }
  if (address % bytes != 0 && bytes > 1)
    throw std::runtime_error("misaligned access of " + std::to_string(bytes) +
                             " bytes");
  return reinterpret_cast<uint8_t *>(address);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

using Binary = std::function<uint64_t(uint64_t, uint64_t)>;

static double leastOrMost(double a, double b, bool least, bool propagates) {
  if (std::isnan(a) || std::isnan(b))
    return propagates || (std::isnan(a) && std::isnan(b))
               ? std::numeric_limits<double>::quiet_NaN()
           : std::isnan(a) ? b
                           : a;
  if (a == b)
    return std::signbit(a) == least ? a : b;
  return (a < b) == least ? a : b;
}

static Binary floatBinary(const PtxWords &words, const std::string &name,
                          PtxType type) {
  bool ftz = words.has("ftz");
  auto real = [=](auto fn) -> Binary {
    return [=](uint64_t x, uint64_t y) {
      double a = toReal(x, type), b = toReal(y, type);
      if (ftz)
        a = flushed(a), b = flushed(b);
      return fromReal(fn(a, b), type);
    };
  };
  // Doubles hold exact sums, products and once-rounded quotients of the rest.
  if (type.bits == 32) {
    if (name == "add")
      return real([](double a, double b) { return float(a) + float(b); });
    if (name == "sub")
      return real([](double a, double b) { return float(a) - float(b); });
    if (name == "mul")
      return real([](double a, double b) { return float(a) * float(b); });
    if (name == "div")
      return real([](double a, double b) { return float(a) / float(b); });
  }
  if (name == "add")
    return real([](double a, double b) { return a + b; });
  if (name == "sub")
    return real([](double a, double b) { return a - b; });
  if (name == "mul")
    return real([](double a, double b) { return a * b; });
  if (name == "div")
    return real([](double a, double b) { return a / b; });
  if (name == "copysign") // takes the sign of the first
    return real([](double a, double b) { return std::copysign(b, a); });
  bool propagates = words.has("NaN");
  if (name == "min" || name == "max")
    return real([=](double a, double b) {
      return leastOrMost(a, b, name == "min", propagates);
    });
  throw std::runtime_error("unknown instruction: " + words.text);
}

static Binary integerBinary(const PtxWords &words, const std::string &name,
                            PtxType type) {
  int bits = type.bits;
  bool isSigned = type.kind == 's';
  if (name == "add")
    return [](uint64_t x, uint64_t y) { return x + y; };
  if (name == "sub")
    return [](uint64_t x, uint64_t y) { return x - y; };
  if (name == "and")
    return [](uint64_t x, uint64_t y) { return x & y; };
  if (name == "or")
    return [](uint64_t x, uint64_t y) { return x | y; };
  if (name == "xor")
    return [](uint64_t x, uint64_t y) { return x ^ y; };
  if (name == "shl")
    return [=](uint64_t x, uint64_t y) {
      return uint32_t(y) >= uint32_t(bits) ? 0 : x << uint32_t(y);
    };
  if (name == "shr")
    return [=](uint64_t x, uint64_t y) -> uint64_t {
      uint32_t amount = uint32_t(y);
      if (isSigned)
        return extended(x, bits) >> std::min<uint32_t>(amount, bits - 1);
      return amount >= uint32_t(bits) ? 0 : masked(x, bits) >> amount;
    };
  if (name == "div" || name == "rem") {
    bool rest = name == "rem";
    return [=](uint64_t x, uint64_t y) -> uint64_t {
      if (masked(y, bits) == 0)
        return ~uint64_t(0);
      if (isSigned) {
        int64_t a = extended(x, bits), b = extended(y, bits);
        if (b == -1)
          return rest ? 0 : uint64_t(0) - uint64_t(a);
        return rest ? a % b : a / b;
      }
      uint64_t a = masked(x, bits), b = masked(y, bits);
      return rest ? a % b : a / b;
    };
  }
  if (name == "min" || name == "max") {
    bool least = name == "min";
    return [=](uint64_t x, uint64_t y) {
      bool less = isSigned ? extended(x, bits) < extended(y, bits)
                           : masked(x, bits) < masked(y, bits);
      return less == least ? x : y;
    };
  }
  if (name == "mul") {
    if (words.has("wide"))
      return [=](uint64_t x, uint64_t y) -> uint64_t {
        return isSigned ? uint64_t(extended(x, bits) * extended(y, bits))
                        : masked(x, bits) * masked(y, bits);
      };
    if (words.has("hi"))
      return [=](uint64_t x, uint64_t y) -> uint64_t {
        if (isSigned)
          return uint64_t((__int128(extended(x, bits)) * extended(y, bits)) >>
                          bits);
        return uint64_t(
            ((unsigned __int128)(masked(x, bits)) * masked(y, bits)) >> bits);
      };
    return [](uint64_t x, uint64_t y) { return x * y; };
  }
  throw std::runtime_error("unknown instruction: " + words.text);
}

static std::function<bool(uint64_t, uint64_t)> comparison(const PtxWords &words,
                                                          PtxType type) {
  const std::string &op = words.opcode[1];
  if (type.isFloat()) {
    std::string relation = op;
    bool unordered = false;
    if (op == "num" || op == "nan") {
      bool wantsNaN = op == "nan";
      return [=](uint64_t x, uint64_t y) {
        return (std::isnan(toReal(x, type)) || std::isnan(toReal(y, type))) ==
               wantsNaN;
      };
    }
    if (op.size() == 3 && op.back() == 'u') {
      unordered = true;
      relation = op.substr(0, 2);
    }
    return [=](uint64_t x, uint64_t y) {
      double a = toReal(x, type), b = toReal(y, type);
      if (std::isnan(a) || std::isnan(b))
        return unordered;
      return relation == "eq"   ? a == b
             : relation == "ne" ? a != b
             : relation == "lt" ? a < b
             : relation == "le" ? a <= b
             : relation == "gt" ? a > b
                                : a >= b;
    };
  }
  bool isSigned = type.kind == 's';
  int bits = type.bits;
  int code = op == "eq"                 ? 0
             : op == "ne"               ? 1
             : op == "lt" || op == "lo" ? 2
             : op == "le" || op == "ls" ? 3
             : op == "gt" || op == "hi" ? 4
             : op == "ge" || op == "hs" ? 5
                                        : -1;
  if (code < 0)
    throw std::runtime_error("unknown comparison: " + words.text);
  return [=](uint64_t x, uint64_t y) {
    bool equal = masked(x, bits) == masked(y, bits);
    bool less = isSigned ? extended(x, bits) < extended(y, bits)
                         : masked(x, bits) < masked(y, bits);
    switch (code) {
    case 0:
      return equal;
    case 1:
      return !equal;
    case 2:
      return less;
    case 3:
      return less || equal;
    case 4:
      return !less && !equal;
    default:
      return !less;
    }
  };
}

static double roundedToInteger(const PtxWords &words, double value) {
  if (words.has("rni"))
    return std::nearbyint(value);
  if (words.has("rmi"))
    return std::floor(value);
  if (words.has("rpi"))
    return std::ceil(value);
  return std::trunc(value);
}

static std::function<uint64_t(uint64_t)> conversion(const PtxWords &words,
                                                    PtxType to, PtxType from) {
  if (words.has("tf32"))
    return [](uint64_t x) -> uint64_t {
      uint32_t bits = uint32_t(x);
      if ((bits & 0x7FFFFFFF) > 0x7F800000)
        return 0x7FFFFFFF;
      if ((bits & 0x7FFFFFFF) == 0x7F800000)
        return bits;
      return (bits + 0x1000) & 0xFFFFE000; // ties away from zero
    };
  bool saturates = words.has("sat");
  if (saturates)
    throw std::runtime_error("unknown conversion: " + words.text);
  if (from.isFloat() && to.isFloat()) {
    bool integral = words.has("rni") || words.has("rzi") || words.has("rmi") ||
                    words.has("rpi");
    PtxWords copy = words;
    return [=](uint64_t x) {
      double value = toReal(x, from);
      if (integral)
        value = roundedToInteger(copy, value);
      return fromReal(value, to);
    };
  }
  if (from.isFloat()) {
    PtxWords copy = words;
    return [=](uint64_t x) -> uint64_t {
      double value = roundedToInteger(copy, toReal(x, from));
      if (std::isnan(value))
        return to.bits == 64 ? uint64_t(1) << 63 : 0;
      if (to.kind == 's') {
        double low = -std::ldexp(1.0, to.bits - 1);
        if (value <= low)
          return uint64_t(extended(uint64_t(1) << (to.bits - 1), to.bits));
        if (value >= -low)
          return (uint64_t(1) << (to.bits - 1)) - 1;
        return uint64_t(int64_t(value));
      }
      if (value <= 0)
        return 0;
      if (value >= std::ldexp(1.0, to.bits))
        return masked(~uint64_t(0), to.bits);
      return uint64_t(value);
    };
  }
  if (to.isFloat())
    return [=](uint64_t x) -> uint64_t {
      // Rounded once: in long double, which holds 64 bits.
      long double value = from.kind == 's'
                              ? static_cast<long double>(extended(x, from.bits))
                              : static_cast<long double>(masked(x, from.bits));
      if (to.bits == 32)
        return fromReal(float(value), to);
      if (to.bits == 64)
        return fromReal(double(value), to);
      return fromReal(double(value), to);
    };
  return [=](uint64_t x) -> uint64_t {
    uint64_t value = from.kind == 's' ? uint64_t(extended(x, from.bits))
                                      : masked(x, from.bits);
    return to.kind == 's' ? uint64_t(extended(value, to.bits))
                          : masked(value, to.bits);
  };
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::string spaceOf(const PtxWords &words) {
  for (const char *space : {"shared", "global", "local", "param"})
    if (words.has(space))
      return space;
  if (words.has("shared::cta"))
    return "shared";
  return "generic";
}

static void decodeAccess(const PtxWords &words, PtxStatement &statement) {
  bool isLoad = words.opcode[0] == "ld";
  PtxType type = typesOf(words).back();
  int64_t bytes = type.bits / 8;
  std::string space = spaceOf(words);
  auto [base, offset] = words.address(words.operands[isLoad ? 1 : 0]);
  std::vector<PtxOperand> values;
  for (const std::string &part : ptxParts(words.operands[isLoad ? 0 : 1]))
    values.push_back(words.resolve(part));
  int64_t count = values.size();
  bool isSigned = type.kind == 's';
  statement.alone = [=, base = base, offset = offset](PtxThread &thread) {
    uint8_t *place =
        ptxPointer(thread, space, base.get(thread) + offset, bytes * count);
    if (!isLoad && space == "shared")
      ptxNoteWrite(thread, place, bytes * count);
    for (int64_t i = 0; i < count; ++i) {
      if (!isLoad) {
        uint64_t value = values[i].get(thread);
        std::memcpy(place + i * bytes, &value, bytes);
        continue;
      }
      uint64_t value = 0;
      std::memcpy(&value, place + i * bytes, bytes);
      thread.registers[values[i].slot] =
          isSigned ? uint64_t(extended(value, type.bits)) : value;
    }
  };
}

static void decodeAtomic(const PtxWords &words, PtxStatement &statement) {
  PtxType type = typesOf(words).back();
  int64_t bytes = type.bits / 8;
  std::string space = spaceOf(words);
  bool isCas = words.has("cas"), wraps = words.has("inc");
  if (!isCas && !wraps && !words.has("add"))
    throw std::runtime_error("unknown instruction: " + words.text);
  bool reduces = words.opcode[0] == "red";
  size_t first = reduces ? 0 : 1;
  auto [base, offset] = words.address(words.operands[first]);
  int result = reduces ? -1 : words.resolve(words.operands[0]).slot;
  std::vector<PtxOperand> values;
  for (const std::string &part : ptxParts(words.operands[first + 1]))
    values.push_back(words.resolve(part));
  PtxOperand x = values.front();
  if (values.size() > 1) {
    // red.global.add.v4.f32
    if (!reduces || type.kind != 'f' || type.bits != 32)
      throw std::runtime_error("unknown instruction: " + words.text);
    statement.alone = [=, base = base, offset = offset](PtxThread &thread) {
      uint8_t *place = ptxPointer(thread, space, base.get(thread) + offset,
                                  bytes * int64_t(values.size()));
      for (const PtxOperand &value : values) {
        uint64_t old = 0;
        std::memcpy(&old, place, bytes);
        const uint64_t next = fromReal(
            float(toReal(old, type)) + float(toReal(value.get(thread), type)),
            type);
        std::memcpy(place, &next, bytes);
        place += bytes;
      }
    };
    return;
  }
  PtxOperand y =
      isCas ? words.resolve(words.operands[first + 2]) : PtxOperand();
  statement.alone = [=, base = base, offset = offset](PtxThread &thread) {
    uint8_t *place =
        ptxPointer(thread, space, base.get(thread) + offset, bytes);
    uint64_t old = 0;
    std::memcpy(&old, place, bytes);
    uint64_t next;
    if (isCas)
      next = old == masked(x.get(thread), type.bits) ? y.get(thread) : old;
    else if (wraps)
      next = old >= masked(x.get(thread), type.bits) ? 0 : old + 1;
    else if (type.isFloat())
      next = fromReal(type.bits == 32
                          ? float(toReal(old, type)) +
                                float(toReal(x.get(thread), type))
                          : toReal(old, type) + toReal(x.get(thread), type),
                      type);
    else
      next = old + x.get(thread);
    std::memcpy(place, &next, bytes);
    if (result >= 0)
      thread.registers[result] = old;
  };
}

static void decodeCopy(const PtxWords &words, PtxStatement &statement) {
  // cp.async.cg.shared.global [to], [from], bytes, bytes that are read;
  auto [to, toOffset] = words.address(words.operands[0]);
  auto [from, fromOffset] = words.address(words.operands[1]);
  PtxOperand size = words.resolve(words.operands[2]);
  PtxOperand read =
      words.operands.size() > 3 ? words.resolve(words.operands[3]) : size;
  statement.alone = [=, to = to, toOffset = toOffset, from = from,
                     fromOffset = fromOffset](PtxThread &thread) {
    int64_t bytes = size.get(thread);
    uint8_t *place =
        ptxPointer(thread, "shared", to.get(thread) + toOffset, bytes);
    ptxNoteWrite(thread, place, bytes);
    std::memset(place, 0, bytes);
    int64_t count = uint32_t(read.get(thread));
    if (count > 0)
      std::memcpy(
          place,
          ptxPointer(thread, "global", from.get(thread) + fromOffset, bytes),
          count);
  };
}

/// printf with the arguments of a C structure.
static void printLine(std::string &output, const char *format,
                      const uint8_t *arguments) {
  size_t offset = 0;
  for (const char *at = format; *at; ++at) {
    if (*at != '%') {
      output += *at;
      continue;
    }
    std::string directive = "%";
    while (*++at && !std::strchr("dgs%", *at))
      directive += *at;
    directive += *at;
    if (directive == "%%") {
      output += '%';
      continue;
    }
    bool isFloat = *at == 'g',
         isLong = directive.find("ll") != std::string::npos;
    size_t bytes = isFloat || isLong ? 8 : 4;
    offset = (offset + bytes - 1) / bytes * bytes;
    char text[64];
    if (isFloat) {
      double value;
      std::memcpy(&value, arguments + offset, 8);
      std::snprintf(text, sizeof(text), directive.c_str(), value);
    } else if (isLong) {
      long long value;
      std::memcpy(&value, arguments + offset, 8);
      std::snprintf(text, sizeof(text), directive.c_str(), value);
    } else {
      int value;
      std::memcpy(&value, arguments + offset, 4);
      std::snprintf(text, sizeof(text), directive.c_str(), value);
    }
    output += text;
    offset += bytes;
  }
}

static void decodeCall(const PtxWords &words, PtxStatement &statement) {
  if (words.text.find("vprintf") == std::string::npos)
    throw std::runtime_error("unknown function: " + words.text);
  PtxOperand format = words.resolve("param0"),
             arguments = words.resolve("param1");
  statement.alone = [=](PtxThread &thread) {
    auto pointer = [&](const PtxOperand &operand) {
      uint64_t value;
      std::memcpy(&value, reinterpret_cast<void *>(operand.get(thread)), 8);
      return value;
    };
    printLine(*thread.block->output,
              reinterpret_cast<const char *>(pointer(format)),
              reinterpret_cast<const uint8_t *>(pointer(arguments)));
  };
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

static void decodeMove(const PtxWords &words, PtxStatement &statement) {
  auto to = ptxParts(words.operands[0]), from = ptxParts(words.operands[1]);
  int bits = typesOf(words).back().bits;
  std::vector<PtxOperand> targets, sources;
  // "_" is a part that nobody wants.
  for (const std::string &part : to)
    targets.push_back(part == "_" ? PtxOperand() : words.resolve(part));
  for (const std::string &part : from)
    sources.push_back(words.resolve(part));
  if (targets.size() == 1 && sources.size() == 1) {
    PtxOperand source = sources[0];
    int target = targets[0].slot;
    statement.alone = [=](PtxThread &thread) {
      thread.registers[target] = source.get(thread);
    };
    return;
  }
  int part = bits / int(std::max(targets.size(), sources.size()));
  statement.alone = [=](PtxThread &thread) {
    uint64_t whole = 0;
    for (size_t i = 0; i < sources.size(); ++i)
      whole |= sources.size() == 1
                   ? sources[i].get(thread)
                   : masked(sources[i].get(thread), part) << (part * i);
    for (size_t i = 0; i < targets.size(); ++i)
      if (targets[i].slot >= 0)
        thread.registers[targets[i].slot] =
            targets.size() == 1 ? whole : masked(whole >> (part * i), part);
  };
}

/// Instructions of one operand; none where `name` is not one.
static std::function<uint64_t(uint64_t)>
unary(const PtxWords &words, const std::string &name, PtxType type) {
  int bits = type.bits;
  if (name == "not")
    return type.kind == 'p' ? std::function<uint64_t(uint64_t)>(
                                  [](uint64_t x) { return (x & 1) ^ 1; })
                            : [](uint64_t x) { return ~x; };
  if (name == "neg" || name == "abs") {
    bool isAbs = name == "abs";
    if (type.isFloat()) {
      uint64_t sign = uint64_t(1) << (bits - 1);
      return [=](uint64_t x) { return isAbs ? x & ~sign : x ^ sign; };
    }
    return [=](uint64_t x) -> uint64_t {
      int64_t value = extended(x, bits);
      return isAbs && value >= 0 ? value : uint64_t(0) - uint64_t(value);
    };
  }
  if (name == "popc")
    return [=](uint64_t x) -> uint64_t {
      return __builtin_popcountll(masked(x, bits));
    };
  if (name == "clz")
    return [=](uint64_t x) -> uint64_t {
      x = masked(x, bits);
      return x ? __builtin_clzll(x) - (64 - bits) : bits;
    };
  if (name == "brev")
    return [=](uint64_t x) {
      uint64_t result = 0;
      for (int i = 0; i < bits; ++i)
        result |= (x >> i & 1) << (bits - 1 - i);
      return result;
    };
  auto real = [=](auto fn) {
    return [=](uint64_t x) { return fromReal(fn(toReal(x, type)), type); };
  };
  if (name == "ex2")
    return real([](double x) { return flushed(float(std::exp2(flushed(x)))); });
  if (name == "tanh")
    return real([](double x) { return std::tanh(x); });
  if (name == "lg2")
    return real([](double x) { return std::log2(flushed(x)); });
  if (name == "sqrt")
    return bits == 32 ? std::function<uint64_t(uint64_t)>(
                            real([](double x) { return std::sqrt(float(x)); }))
                      : real([](double x) { return std::sqrt(x); });
  if (name == "rcp")
    return bits == 32 ? std::function<uint64_t(uint64_t)>(
                            real([](double x) { return 1.0f / float(x); }))
                      : real([](double x) { return 1 / x; });
  if (name == "rsqrt")
    return real([](double x) { return 1 / std::sqrt(x); });
  return nullptr;
}

//===----------------------------------------------------------------------===//
// All
//===----------------------------------------------------------------------===//

void flashtile::cputest::decodeStatement(const PtxWords &words,
                                         PtxStatement &statement) {
  if (decodeBarriers(words, statement) || decodeTensorCopy(words, statement) ||
      decodeWarpgroup(words, statement) || decodeTogether(words, statement))
    return;
  const std::string &name = words.opcode[0];
  if (name == "ld" || name == "st")
    return decodeAccess(words, statement);
  if (name == "atom" || name == "red")
    return decodeAtomic(words, statement);
  if (name == "call")
    return decodeCall(words, statement);
  if (name == "mov")
    return decodeMove(words, statement);
  if (name == "trap") {
    statement.alone = [](PtxThread &) { throw std::runtime_error("trap"); };
    return;
  }
  if (name == "membar" || name == "fence" || name == "griddepcontrol" ||
      name == "nanosleep" || name == "setmaxnreg" || name == "prefetch") {
    statement.alone = [](PtxThread &) {};
    return;
  }
  if (name == "cp") {
    if (words.has("commit_group") || words.has("wait_group") ||
        words.has("wait_all"))
      statement.alone = [](PtxThread &) {};
    else
      decodeCopy(words, statement);
    return;
  }
  std::vector<PtxType> types = typesOf(words);
  if (types.empty())
    throw std::runtime_error("unknown instruction: " + words.text);
  std::vector<PtxOperand> operands;
  std::string second;
  for (size_t i = 0; i < words.operands.size(); ++i) {
    std::string text = words.operands[i];
    if (size_t bar = text.find('|'); i == 0 && bar != std::string::npos) {
      second = text.substr(bar + 1);
      text = text.substr(0, bar);
    }
    operands.push_back(words.resolve(text));
  }
  int to = operands[0].slot;
  PtxType type = types.back();
  if (name == "setp") {
    auto compare = comparison(words, type);
    PtxOperand x = operands[1], y = operands[2];
    int other = second.empty() ? -1 : words.resolve(second).slot;
    // setp.eq.and.s32 p, a, b, q
    int combine = words.has("and")   ? 1
                  : words.has("or")  ? 2
                  : words.has("xor") ? 3
                                     : 0;
    PtxOperand q = operands.size() > 3 ? operands[3] : PtxOperand();
    statement.alone = [=](PtxThread &thread) {
      bool result = compare(x.get(thread), y.get(thread));
      bool with = q.get(thread) & 1;
      if (other >= 0)
        thread.registers[other] = !result;
      thread.registers[to] = combine == 1   ? result && with
                             : combine == 2 ? result || with
                             : combine == 3 ? result != with
                                            : result;
    };
    return;
  }
  if (name == "selp") {
    PtxOperand x = operands[1], y = operands[2], c = operands[3];
    statement.alone = [=](PtxThread &thread) {
      thread.registers[to] = c.get(thread) & 1 ? x.get(thread) : y.get(thread);
    };
    return;
  }
  if (name == "cvt" && (words.has("f16x2") || words.has("bf16x2"))) {
    // The first source is the upper half.
    if (words.opcode.back() != "f32" || words.operands.size() != 3)
      throw std::runtime_error("unknown instruction: " + words.text);
    PtxType half = words.has("f16x2") ? PtxType{'f', 16} : PtxType{'h', 16};
    PtxOperand x = operands[1], y = operands[2];
    statement.alone = [=](PtxThread &thread) {
      thread.registers[to] = fromReal(toReal(y.get(thread), type), half) |
                             fromReal(toReal(x.get(thread), type), half) << 16;
    };
    return;
  }
  if (name == "cvta") {
    PtxOperand x = operands[1];
    statement.alone = [=](PtxThread &thread) {
      thread.registers[to] = x.get(thread);
    };
    return;
  }
  if (name == "cvt") {
    // cvt.to.from; packed pairs are not made by the compiler.
    auto convert = words.has("tf32") ? conversion(words, types[0], types[0])
                                     : conversion(words, types[0], types[1]);
    PtxOperand x = operands[1];
    statement.alone = [=](PtxThread &thread) {
      thread.registers[to] = convert(x.get(thread));
    };
    return;
  }
  if (name == "fma" || name == "mad") {
    PtxOperand x = operands[1], y = operands[2], z = operands[3];
    if (type.isFloat()) {
      statement.alone = [=](PtxThread &thread) {
        thread.registers[to] = fromReal(
            fusedReal(toReal(x.get(thread), type), toReal(y.get(thread), type),
                      toReal(z.get(thread), type), type),
            type);
      };
      return;
    }
    auto product = integerBinary(words, "mul", type);
    statement.alone = [=](PtxThread &thread) {
      thread.registers[to] =
          product(x.get(thread), y.get(thread)) + z.get(thread);
    };
    return;
  }
  if (name == "bfe") {
    PtxOperand x = operands[1], at = operands[2], length = operands[3];
    statement.alone = [=](PtxThread &thread) {
      uint64_t begin = at.get(thread) & 0xFF, count = length.get(thread) & 0xFF;
      uint64_t value = begin < uint64_t(type.bits)
                           ? masked(masked(x.get(thread), type.bits) >> begin,
                                    int(std::min<uint64_t>(count, 64)))
                           : 0;
      thread.registers[to] = type.kind == 's' && count
                                 ? uint64_t(extended(value, int(count)))
                                 : value;
    };
    return;
  }
  if (name == "bfi") {
    PtxOperand x = operands[1], y = operands[2], at = operands[3],
               length = operands[4];
    statement.alone = [=](PtxThread &thread) {
      uint64_t begin = at.get(thread) & 0xFF, count = length.get(thread) & 0xFF;
      uint64_t mask = masked(~uint64_t(0), int(count)) << begin;
      thread.registers[to] =
          (y.get(thread) & ~mask) | (x.get(thread) << begin & mask);
    };
    return;
  }
  if (name == "prmt") {
    PtxOperand x = operands[1], y = operands[2], selector = operands[3];
    statement.alone = [=](PtxThread &thread) {
      uint64_t bytes = masked(x.get(thread), 32) | masked(y.get(thread), 32)
                                                       << 32;
      uint64_t picks = selector.get(thread), result = 0;
      for (int i = 0; i < 4; ++i) {
        uint64_t pick = picks >> (4 * i) & 0xF;
        uint64_t byte = bytes >> (8 * (pick & 7)) & 0xFF;
        if (pick & 8)
          byte = byte & 0x80 ? 0xFF : 0;
        result |= byte << (8 * i);
      }
      thread.registers[to] = result;
    };
    return;
  }
  if (name == "shf") {
    PtxOperand low = operands[1], high = operands[2], amount = operands[3];
    bool left = words.has("l"), wraps = words.has("wrap");
    statement.alone = [=](PtxThread &thread) {
      uint64_t both = masked(low.get(thread), 32) | masked(high.get(thread), 32)
                                                        << 32;
      uint64_t n = uint32_t(amount.get(thread));
      n = wraps ? n & 31 : std::min<uint64_t>(n, 32);
      thread.registers[to] = masked(left ? both >> (32 - n) : both >> n, 32);
    };
    return;
  }
  if (name == "testp") {
    PtxOperand x = operands[1];
    std::string what = words.opcode[1];
    statement.alone = [=](PtxThread &thread) {
      double value = toReal(x.get(thread), type);
      thread.registers[to] =
          what == "finite"       ? std::isfinite(value)
          : what == "infinite"   ? std::isinf(value)
          : what == "notanumber" ? std::isnan(value)
          : what == "number"     ? !std::isnan(value)
          : what == "normal"
              ? std::fabs(value) >=
                    std::ldexp(1.0, type.bits == 64 ? -1022 : -126)
              : false;
    };
    return;
  }
  if (operands.size() == 2) {
    if (auto apply = unary(words, name, type)) {
      PtxOperand x = operands[1];
      statement.alone = [=](PtxThread &thread) {
        thread.registers[to] = apply(x.get(thread));
      };
      return;
    }
  }
  if (operands.size() == 3) {
    Binary apply = type.isFloat() ? floatBinary(words, name, type)
                                  : integerBinary(words, name, type);
    PtxOperand x = operands[1], y = operands[2];
    int bits = words.has("wide") ? 64 : type.bits;
    statement.alone = [=](PtxThread &thread) {
      uint64_t value = apply(x.get(thread), y.get(thread));
      thread.registers[to] = masked(value, bits);
    };
    return;
  }
  throw std::runtime_error("unknown instruction: " + words.text);
}
