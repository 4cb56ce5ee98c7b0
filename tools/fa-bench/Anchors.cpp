//===- Anchors.cpp - What other systems reach -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/Anchors.h"

#include "compiler/Support/Error.h"
#include "tools/Support/CommandLine.h"
#include "tools/fa-bench/Csv.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <map>

using namespace flashtile;
using namespace flashtile::tools;

/// A type by MLIR's name, or by that of PyTorch.
static std::optional<DType> typeNamed(const std::string &name) {
  static const std::map<std::string, DType> others = {
      {"float32", DType::F32},
      {"fp32", DType::F32},
      {"float16", DType::F16},
      {"fp16", DType::F16},
      {"half", DType::F16},
      {"bfloat16", DType::BF16},
      {"float8_e4m3fn", DType::F8E4M3FN},
      {"float8_e5m2", DType::F8E5M2},
  };
  const auto it = others.find(name);
  return it != others.end() ? it->second : parseElementType(name);
}

class Anchors::Parser {
public:
  explicit Parser(const std::string &path) : path(path) {}

  std::vector<Anchor> parse(std::istream &stream) {
    std::vector<Anchor> anchors;
    std::string text;
    while (std::getline(stream, text)) {
      ++line;
      const std::vector<std::string> fields = csvFields(text);
      if (fields.size() == 1 && fields[0].empty())
        continue;
      std::optional<Anchor> anchor;
      if (isCeiling(fields[0]))
        anchor = ceiling(fields);
      else if (header.empty())
        readHeader(fields, text);
      else
        anchor = row(fields);
      if (anchor)
        anchors.push_back(*anchor);
    }
    if (line == 0)
      throw Error(ErrorCode::InvalidArgument,
                  "'" + path + "': expected rows of results, but it is empty");
    return anchors;
  }

private:
  [[noreturn]] void refuse(const std::string &wanted,
                           const std::string &got) const {
    throw Error(ErrorCode::InvalidArgument,
                "'" + path + "', line " + std::to_string(line) + ": expected " +
                    wanted + ", but got '" + got + "'");
  }

  static bool isCeiling(const std::string &first) {
    return first == "ceiling" || first == "launch" || first == "jit_cold";
  }

  std::optional<Anchor> ceiling(const std::vector<std::string> &fields) const {
    const std::string prefix = "cublas_";
    if (fields[0] != "ceiling" || fields.size() < 2 ||
        fields[1].rfind(prefix, 0) != 0)
      return std::nullopt;
    if (fields.size() < 4)
      refuse("ceiling, system, size and TFLOP/s",
             std::to_string(fields.size()) + " fields");
    const int64_t size = integer("a size of matrices", fields[2]);
    return Anchor{"cublas",
                  type(fields[1].substr(prefix.size())),
                  "",
                  {{"m", size}, {"n", size}, {"k", size}},
                  rate(fields[3])};
  }

  void readHeader(const std::vector<std::string> &fields,
                  const std::string &text) {
    header = fields;
    auto has = [&](std::initializer_list<const char *> names) {
      return std::all_of(names.begin(), names.end(), [&](const char *name) {
        return std::count(header.begin(), header.end(), name) > 0;
      });
    };
    if (has({"head_dim", "causal", "pass", "seq_len"}))
      keys = {"head_dim", "causal", "seq_len", "batch", "heads"};
    else if (has({"m", "n", "k"}))
      keys = {"m", "n", "k", "batch", "transpose_b"};
    if (keys.empty() || !has({"system", "dtype", "tflops"}))
      refuse("a header with system, dtype, head_dim, causal, pass, seq_len and "
             "tflops, or with system, dtype, m, n, k and tflops",
             text);
  }

  /// The field of a column; empty where the header or the row has none.
  std::string field(const std::vector<std::string> &fields,
                    const std::string &column) const {
    for (size_t i = 0; i < header.size() && i < fields.size(); ++i)
      if (header[i] == column)
        return fields[i];
    return {};
  }

  std::optional<Anchor> row(const std::vector<std::string> &fields) const {
    // Columns behind the rate may be missing; a rate that is not there would
    // be a comparison that silently is not made.
    const size_t rateColumn =
        std::find(header.begin(), header.end(), "tflops") - header.begin();
    if (fields.size() <= rateColumn)
      refuse("at least " + std::to_string(rateColumn + 1) +
                 " fields, up to tflops",
             std::to_string(fields.size()) + " fields");
    const std::string tflops = field(fields, "tflops");
    if (tflops.empty() || tflops == "FAIL")
      return std::nullopt;
    Anchor anchor;
    anchor.system = field(fields, "system");
    anchor.dtype = type(field(fields, "dtype"));
    anchor.pass = field(fields, "pass");
    for (const std::string &key : keys) {
      const std::string text = field(fields, key);
      const bool isOptional =
          key == "batch" || key == "heads" || key == "transpose_b";
      if (!text.empty() || !isOptional)
        anchor.parameters.emplace_back(key,
                                       integer("an integer as " + key, text));
    }
    anchor.tflops = rate(tflops);
    return anchor;
  }

  DType type(const std::string &name) const {
    if (std::optional<DType> type = typeNamed(name))
      return *type;
    refuse("a type such as bf16 or bfloat16", name);
  }
  int64_t integer(const std::string &wanted, const std::string &text) const {
    if (std::optional<int64_t> value = parseInteger(text))
      return *value;
    refuse(wanted, text);
  }
  double rate(const std::string &text) const {
    const std::optional<double> value = parseReal(text);
    if (!value || !(*value > 0))
      refuse("TFLOP/s above 0, or FAIL", text);
    return *value;
  }

  const std::string path;
  int line = 0;
  std::vector<std::string> header, keys;
};

void Anchors::read(const std::string &path) {
  errno = 0;
  std::ifstream stream(path);
  std::string reason = std::strerror(errno);
  // A folder can be opened, but not read.
  if (stream && stream.peek() == std::char_traits<char>::eof() && errno) {
    reason = std::strerror(errno);
    stream.setstate(std::ios::badbit);
  }
  if (stream.bad() || !stream.is_open())
    throw Error(ErrorCode::Io, "cannot read '" + path + "': " + reason);
  for (Anchor &anchor : Parser(path).parse(stream))
    rows.push_back(std::move(anchor));
}

std::vector<AnchorRatio> Anchors::compare(const BenchRow &row) const {
  const std::string &pass = row.point.pass;
  std::vector<AnchorRatio> ratios;
  for (const Anchor &anchor : rows) {
    bool matches = anchor.dtype == row.point.dtype &&
                   (anchor.pass.empty() || pass.empty() || anchor.pass == pass);
    const auto &own = row.point.parameters;
    for (const auto &parameter : anchor.parameters)
      matches &= std::count(own.begin(), own.end(), parameter) > 0;
    if (matches)
      ratios.push_back(
          {anchor.system, anchor.tflops, row.tflops() / anchor.tflops});
  }
  return ratios;
}
