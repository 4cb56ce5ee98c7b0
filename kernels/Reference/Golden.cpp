//===- Golden.cpp - Stored cases with known results -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The manifest is checked in full before any array is read, so that a broken
// one is reported at once and not after a minute of passing cases.
//
//===----------------------------------------------------------------------===//

#include "kernels/Reference/Golden.h"

#include "compiler/Support/Error.h"
#include "runtime/Npy.h"
#include "runtime/Shape.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>
#include <optional>
#include <set>
#include <utility>

namespace flashtile::reference {

using Json = nlohmann::json;

[[noreturn]] static void fail(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, message);
}

/// Parses a file. nlohmann_json keeps the last of two equal keys; a manifest
/// that says two things is refused instead.
static Json parseFile(const std::filesystem::path &file) {
  std::ifstream stream(file);
  if (!stream)
    throw Error(ErrorCode::NotFound, file.string() + ": cannot open the file");

  std::vector<std::set<std::string>> keysOfOpenObjects;
  auto refuseDuplicates = [&](int, Json::parse_event_t event, Json &parsed) {
    if (event == Json::parse_event_t::object_start)
      keysOfOpenObjects.emplace_back();
    else if (event == Json::parse_event_t::object_end)
      keysOfOpenObjects.pop_back();
    else if (event == Json::parse_event_t::key &&
             !keysOfOpenObjects.back().insert(parsed).second)
      fail(file.string() + ": key " + parsed.dump() +
           " appears twice in one object");
    return true;
  };
  try {
    return Json::parse(stream, refuseDuplicates);
  } catch (const Json::exception &error) {
    fail(file.string() + ": not valid JSON: " + error.what());
  }
}

namespace {

/// The entry of one case, read key by key.
class CaseReader {
public:
  CaseReader(const Json &object, std::string where)
      : object(object), where(std::move(where)) {
    if (!object.is_object())
      fail(this->where + ": expected an object, but got " + dump(object));
  }

  /// From here on, messages name the case.
  void setName(const std::string &name) { where += " ('" + name + "')"; }

  std::string string(const char *key) const {
    const Json &value = find(key);
    if (!value.is_string())
      wrong(key, "a string");
    return value.get<std::string>();
  }

  bool boolean(const char *key) const {
    const Json &value = find(key);
    if (!value.is_boolean())
      wrong(key, "true or false");
    return value.get<bool>();
  }

  double number(const char *key) const {
    const Json &value = find(key);
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      wrong(key, "a finite number");
    return value.get<double>();
  }

  int64_t extent(const char *key) const {
    const Json &value = find(key);
    constexpr int64_t limit = int64_t(1) << 31;
    // Unsigned is what the parser makes of integers that are not negative.
    if (!value.is_number_unsigned() || value.get<uint64_t>() == 0 ||
        value.get<uint64_t>() > static_cast<uint64_t>(limit))
      wrong(key, "an integer from 1 to " + std::to_string(limit));
    return value.get<int64_t>();
  }

  /// The value that belongs to the string under `key`.
  template <typename Value>
  Value
  choice(const char *key,
         const std::vector<std::pair<const char *, Value>> &choices) const {
    const Json &found = find(key);
    std::string wanted;
    for (const auto &[text, value] : choices) {
      if (found == text)
        return value;
      wanted += (wanted.empty() ? "\"" : ", \"") + std::string(text) + "\"";
    }
    wrong(key, choices.size() > 1 ? "one of " + wanted : wanted);
  }

  [[noreturn]] void wrong(const char *key, const std::string &wanted) const {
    fail(where + ": key '" + key + "': expected " + wanted + ", but got " +
         dump(object.at(key)));
  }

private:
  const Json &find(const char *key) const {
    const auto found = object.find(key);
    if (found == object.end())
      fail(where + ": key '" + key + "' is missing");
    return *found;
  }

  /// Invalid UTF-8 is replaced, so that a message never throws itself.
  static std::string dump(const Json &value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }

  const Json &object;
  std::string where;
};

} // namespace

static GoldenCase readCase(const Json &object, const std::string &where,
                           const std::filesystem::path &directory) {
  CaseReader reader(object, where);
  GoldenCase result;
  result.directory = directory;
  result.name = reader.string("name");
  // The name becomes part of a path: it must not lead out of the folder.
  if (result.name.empty() ||
      result.name.find_first_of(std::string("/\\:\0", 4)) != std::string::npos)
    reader.wrong("name", "a file name without separators");
  reader.setName(result.name);

  result.dtype =
      reader.choice<DType>("dtype", {{"float32", DType::F32},
                                     {"float16", DType::F16},
                                     {"bfloat16", DType::BF16},
                                     {"float64", DType::F64},
                                     {"float8_e4m3fn", DType::F8E4M3FN},
                                     {"float8_e5m2", DType::F8E5M2}});
  result.batch = reader.extent("batch");
  result.headsQ = reader.extent("heads_q");
  result.headsKv = reader.extent("heads_kv");
  if (result.headsQ % result.headsKv != 0)
    reader.wrong("heads_kv", "a divisor of 'heads_q', which is " +
                                 std::to_string(result.headsQ));
  result.seqQ = reader.extent("seq_q");
  result.seqK = reader.extent("seq_k");
  result.headDim = reader.extent("head_dim");
  result.causal = reader.boolean("causal");
  result.scale = reader.number("scale");
  reader.choice<bool>("layout", {{"b h n d", true}});
  result.alignment = reader.choice<CausalAlignment>(
      "causal_alignment", {{"bottom-right", CausalAlignment::BottomRight},
                           {"top-left", CausalAlignment::TopLeft}});
  return result;
}

/// Loads one array of a case, as `dtype` or as it is stored.
static Tensor loadArray(const GoldenCase &goldenCase, const char *suffix,
                        const Shape &wanted, std::optional<DType> dtype = {}) {
  const std::filesystem::path file =
      goldenCase.directory / (goldenCase.name + "." + suffix + ".npy");
  NpyReadOptions options;
  options.dtype = dtype;
  const Tensor tensor = readNpy(file.string(), options);
  if (!isFloat(tensor.dtype()))
    fail(file.string() + ": expected floats, but got " +
         toString(tensor.dtype()));
  if (tensor.shape() != wanted)
    fail(file.string() + ": expected shape " + toString(wanted) + ", but got " +
         toString(tensor.shape()));
  return tensor;
}

AttentionOptions GoldenCase::options() const {
  AttentionOptions result;
  result.scale = scale;
  result.causal = causal;
  result.alignment = alignment;
  return result;
}

std::vector<GoldenCase>
readGoldenManifest(const std::filesystem::path &directory) {
  const std::filesystem::path file = directory / "manifest.json";
  const Json manifest = parseFile(file);
  if (!manifest.is_array())
    fail(file.string() + ": expected an array of cases, but got " +
         std::string(manifest.type_name()));
  // Whoever runs no case at all would otherwise report success.
  if (manifest.empty())
    fail(file.string() + ": expected at least one case, but got none");

  std::vector<GoldenCase> cases;
  std::set<std::string> names;
  for (const Json &object : manifest) {
    const std::string where =
        file.string() + ": case " + std::to_string(cases.size());
    cases.push_back(readCase(object, where, directory));
    if (!names.insert(cases.back().name).second)
      fail(where + ": key 'name': '" + cases.back().name +
           "' names an earlier case, but names must differ");
  }
  return cases;
}

GoldenTensors loadGolden(const GoldenCase &c) {
  const Shape qShape = {c.batch, c.headsQ, c.seqQ, c.headDim};
  const Shape kvShape = {c.batch, c.headsKv, c.seqK, c.headDim};
  const Shape rows = {c.batch, c.headsQ, c.seqQ};
  GoldenTensors result;
  result.q = loadArray(c, "q", qShape, c.dtype);
  result.k = loadArray(c, "k", kvShape, c.dtype);
  result.v = loadArray(c, "v", kvShape, c.dtype);
  result.dO = loadArray(c, "do", qShape, c.dtype);
  result.forward = {loadArray(c, "o", qShape), loadArray(c, "lse", rows)};
  result.gradients = {loadArray(c, "dq", qShape), loadArray(c, "dk", kvShape),
                      loadArray(c, "dv", kvShape)};
  return result;
}

} // namespace flashtile::reference
