//===- NpyHeader.cpp - The dictionary at the start of a .npy file ---------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/NpyHeader.h"

#include "compiler/Support/Error.h"

#include <charconv>

using namespace flashtile;

namespace {

/// A reader of the few Python literals that a header may hold.
class Parser {
public:
  explicit Parser(std::string_view text) : rest(text) {}

  NpyHeader parseHeader();

private:
  [[noreturn]] void fail(const std::string &expected) const;
  void skipSpace();
  /// Takes `token` if it is next.
  bool consume(std::string_view token);
  void expect(std::string_view token);
  std::string parseString();
  bool parseBool();
  int64_t parseExtent();
  Shape parseShape();

  std::string_view rest;
};

} // namespace

void Parser::fail(const std::string &expected) const {
  std::string found;
  for (char c : rest.substr(0, 20)) // the bytes may be anything
    found += c >= ' ' && c <= '~' ? c : '?';
  throw Error(ErrorCode::Io, "bad header: expected " + expected + ", but got " +
                                 (found.empty() ? "the end of the header"
                                                : "\"" + found + "\""));
}

void Parser::skipSpace() {
  const size_t begin = rest.find_first_not_of(" \t\r\n");
  rest.remove_prefix(begin == rest.npos ? rest.size() : begin);
}

bool Parser::consume(std::string_view token) {
  skipSpace();
  if (rest.substr(0, token.size()) != token)
    return false;
  rest.remove_prefix(token.size());
  return true;
}

void Parser::expect(std::string_view token) {
  if (!consume(token))
    fail("'" + std::string(token) + "'");
}

std::string Parser::parseString() {
  skipSpace();
  const char quote = rest.empty() ? '\0' : rest.front();
  const size_t end =
      quote == '\'' || quote == '"' ? rest.find(quote, 1) : rest.npos;
  if (end == rest.npos)
    fail("a string");
  std::string text(rest.substr(1, end - 1));
  rest.remove_prefix(end + 1);
  return text;
}

bool Parser::parseBool() {
  if (consume("True"))
    return true;
  if (consume("False"))
    return false;
  fail("True or False");
}

int64_t Parser::parseExtent() {
  skipSpace();
  int64_t value = 0;
  const auto [stop, error] =
      std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (error != std::errc() || value < 0)
    fail("an extent of 0 or more");
  rest.remove_prefix(static_cast<size_t>(stop - rest.data()));
  consume("L"); // Python 2 wrote long integers so
  return value;
}

Shape Parser::parseShape() {
  Shape shape;
  expect("(");
  while (!consume(")")) {
    shape.push_back(parseExtent());
    if (consume(","))
      continue;
    // "(2)" is a number in Python; a tuple of one has a comma.
    if (shape.size() == 1)
      fail("','");
    expect(")");
    break;
  }
  return shape;
}

NpyHeader Parser::parseHeader() {
  NpyHeader header;
  bool hasDescr = false, hasOrder = false, hasShape = false;
  expect("{");
  while (!consume("}")) {
    const std::string_view before = rest;
    const std::string key = parseString();
    expect(":");
    bool *isKnown = key == "descr"           ? &hasDescr
                    : key == "fortran_order" ? &hasOrder
                    : key == "shape"         ? &hasShape
                                             : nullptr;
    if (!isKnown || *isKnown) {
      rest = before;
      fail("each of 'descr', 'fortran_order' and 'shape' once");
    }
    *isKnown = true;
    if (key == "descr" && consume("["))
      fail("the type of a plain array, not that of a structured one");
    if (key == "descr")
      header.descr = parseString();
    else if (key == "fortran_order")
      header.isFortranOrder = parseBool();
    else
      header.shape = parseShape();
    if (!consume(",")) {
      expect("}");
      break;
    }
  }
  skipSpace();
  if (!rest.empty())
    fail("the end of the header");
  if (!hasDescr || !hasOrder || !hasShape)
    fail("the keys 'descr', 'fortran_order' and 'shape'");
  return header;
}

NpyHeader NpyHeader::parse(std::string_view text) {
  return Parser(text).parseHeader();
}

std::string NpyHeader::print() const {
  std::string tuple;
  for (size_t i = 0; i < shape.size(); ++i)
    tuple += (i ? ", " : "") + std::to_string(shape[i]);
  if (shape.size() == 1)
    tuple += ",";
  std::string dictionary = "{'descr': '" + descr + "', 'fortran_order': " +
                           (isFortranOrder ? "True" : "False") +
                           ", 'shape': (" + tuple + "), }";

  // Magic, version and a length of 2 bytes, or 4 in version 2.0.
  size_t prefix = 10;
  const auto padded = [&] {
    return (prefix + dictionary.size() + 1 + 63) / 64 * 64;
  };
  if (padded() - prefix > 0xFFFF)
    prefix = 12;
  dictionary.resize(padded() - prefix - 1, ' ');
  dictionary += '\n';

  std::string file = "\x93NUMPY";
  file += prefix == 10 ? '\1' : '\2';
  file += '\0';
  for (size_t i = 0; i < prefix - 8; ++i)
    file += static_cast<char>(dictionary.size() >> (8 * i) & 0xFF);
  return file + dictionary;
}
