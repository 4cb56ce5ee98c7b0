//===- LayoutText.cpp - Printing and reading layouts ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/DistributedLayout.h"

#include "llvm/ADT/StringExtras.h"

using namespace flashtile::gpu;

static std::string listText(llvm::ArrayRef<int64_t> values,
                            const char *separator) {
  std::string text;
  for (size_t i = 0; i < values.size(); ++i)
    text += (i ? separator : "") + std::to_string(values[i]);
  return text;
}

static std::string digitsText(llvm::ArrayRef<Digit> digits) {
  std::string text = "[";
  for (size_t i = 0; i < digits.size(); ++i)
    text += (i ? ", " : "") + std::to_string(digits[i].extent) + ":(" +
            listText(digits[i].step, ",") + ")";
  return text + "]";
}

std::string DistributedLayout::str() const {
  return "<[" + listText(tileShape, ", ") +
         "], reg = " + digitsText(registers()) +
         ", lane = " + digitsText(lanes()) + ", warp = " + digitsText(warps()) +
         ">";
}

namespace {
/// Recursive descent over the text; the first fault stays in `error`.
class Reader {
public:
  Reader(llvm::StringRef text, std::string &error) : rest(text), error(error) {}

  bool expect(llvm::StringRef token) {
    if (consume(token))
      return true;
    return fail("'" + token.str() + "'");
  }

  bool readInteger(int64_t &value) {
    rest = rest.ltrim();
    llvm::StringRef digits = rest.take_while(llvm::isDigit);
    // Twelve digits are beyond every limit of verify() and fit an int64_t.
    if (digits.empty() || digits.size() > 12)
      return fail("a number");
    rest = rest.drop_front(digits.size());
    return !digits.getAsInteger(10, value);
  }

  /// Integers between `open` and `close`.
  bool readIntegers(llvm::StringRef open, llvm::StringRef close,
                    Coordinates &values) {
    if (!expect(open))
      return false;
    if (consume(close))
      return true;
    do {
      if (!readInteger(values.emplace_back()))
        return false;
    } while (consume(","));
    return expect(close);
  }

  bool readDigits(llvm::StringRef name, DigitList &digits) {
    if (!expect(name) || !expect("=") || !expect("["))
      return false;
    if (consume("]"))
      return true;
    do {
      Digit &digit = digits.emplace_back();
      if (!readInteger(digit.extent) || !expect(":") ||
          !readIntegers("(", ")", digit.step))
        return false;
    } while (consume(","));
    return expect("]");
  }

  bool atEnd() {
    rest = rest.ltrim();
    return rest.empty() || fail("the end");
  }

private:
  bool consume(llvm::StringRef token) {
    rest = rest.ltrim();
    return rest.consume_front(token);
  }

  bool fail(const std::string &expected) {
    error = "expected " + expected + " in a layout, but got " +
            (rest.empty() ? "its end" : "'" + rest.take_front(16).str() + "'");
    return false;
  }

  llvm::StringRef rest;
  std::string &error;
};
} // namespace

std::optional<DistributedLayout> DistributedLayout::parse(llvm::StringRef text,
                                                          std::string &error) {
  Reader reader(text, error);
  Coordinates shape;
  DigitList registers, lanes, warps;
  if (!reader.expect("<") || !reader.readIntegers("[", "]", shape) ||
      !reader.expect(",") || !reader.readDigits("reg", registers) ||
      !reader.expect(",") || !reader.readDigits("lane", lanes) ||
      !reader.expect(",") || !reader.readDigits("warp", warps) ||
      !reader.expect(">") || !reader.atEnd())
    return std::nullopt;
  DistributedLayout layout(shape, std::move(registers), std::move(lanes),
                           std::move(warps));
  if (std::optional<std::string> fault = layout.verify()) {
    error = *fault;
    return std::nullopt;
  }
  return layout;
}
