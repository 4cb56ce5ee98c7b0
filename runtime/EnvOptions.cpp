//===- EnvOptions.cpp - The environment, read in one place ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/EnvOptions.h"

#include "compiler/Support/Error.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <initializer_list>
#include <string_view>

using namespace flashtile;

namespace {

/// How a value of each type of the table is read, written and described.
template <typename T>
struct EnvType;

template <>
struct EnvType<EnvCount> {
  static constexpr EnvCount maximum = 4096;
  static constexpr const char *description = "an integer from 0 to 4096";
  static bool parse(std::string_view text, EnvCount &value) {
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    return error == std::errc() && stop == end && value <= maximum;
  }
  static std::string print(EnvCount value) { return std::to_string(value); }
};

template <>
struct EnvType<EnvPrograms> {
  static constexpr unsigned maximum = 3;
  static constexpr const char *description = "0, 1, 2 or 3";
  static bool parse(std::string_view text, EnvPrograms &value) {
    return EnvType<EnvCount>::parse(text, value.count) &&
           value.count <= maximum;
  }
  static std::string print(EnvPrograms value) {
    return std::to_string(value.count);
  }
};

/// `words`: what is allowed.
template <typename Word>
static bool parseWord(std::initializer_list<std::string_view> words,
                      std::string_view text, Word &value) {
  value.text = text;
  return std::find(words.begin(), words.end(), text) != words.end();
}

template <>
struct EnvType<EnvPersistence> {
  static constexpr const char *description = "auto, off, static or dynamic";
  static bool parse(std::string_view text, EnvPersistence &value) {
    return parseWord({"auto", "off", "static", "dynamic"}, text, value);
  }
  static std::string print(const EnvPersistence &value) { return value.text; }
};

template <>
struct EnvType<EnvTarget> {
  static constexpr const char *description = "sm_80 or sm_90a";
  static bool parse(std::string_view text, EnvTarget &value) {
    return parseWord({"sm_80", "sm_90a"}, text, value);
  }
  static std::string print(const EnvTarget &value) { return value.text; }
};

template <>
struct EnvType<EnvBytes> {
  static constexpr const char *description =
      "a number of bytes, with K, M, G or T behind it for powers of 1024";
  static bool parse(std::string_view text, EnvBytes &value) {
    const char *end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || end - stop > 1)
      return false;
    if (stop == end)
      return true;
    const size_t unit = std::string_view("KMGT").find(*stop);
    if (unit == std::string_view::npos)
      return false;
    const unsigned shift = 10 * (static_cast<unsigned>(unit) + 1);
    const bool fits = value <= UINT64_MAX >> shift;
    value <<= shift;
    return fits;
  }
  static std::string print(EnvBytes value) { return std::to_string(value); }
};

template <>
struct EnvType<bool> {
  static constexpr const char *description =
      "1, on, true, yes, 0, off, false or no";
  static bool parse(std::string_view text, bool &value) {
    for (std::string_view yes : {"1", "on", "true", "yes"})
      if (text == yes)
        return value = true;
    value = false;
    for (std::string_view no : {"0", "off", "false", "no"})
      if (text == no)
        return true;
    return false;
  }
  static std::string print(bool value) { return value ? "1" : "0"; }
};

template <>
struct EnvType<std::string> {
  static constexpr const char *description = "any text";
  static bool parse(std::string_view text, std::string &value) {
    value = text;
    return true;
  }
  static std::string print(const std::string &value) { return value; }
};

} // namespace

template <typename T>
static void readVariable(const char *name, T &value) {
  const char *text = std::getenv(name);
  if (!text || !*text)
    return;
  if (!EnvType<T>::parse(text, value))
    throw Error(ErrorCode::InvalidArgument,
                "expected the environment variable " + std::string(name) +
                    " to be " + EnvType<T>::description + ", but got '" + text +
                    "'");
}

EnvOptions EnvOptions::read() {
  EnvOptions options;
#define FLASHTILE_ENV_OPTION(member, type, defaultValue, inCacheKey, name,     \
                             doc)                                              \
  readVariable(name, options.member);
#include "runtime/EnvOptions.def"
  return options;
}

std::string EnvOptions::kernelCacheFolder() const {
  if (!cache || !cacheDir.empty())
    return cache ? cacheDir : "";
  // As the XDG specification has it: a relative path is as good as none.
  if (const char *folder = std::getenv("XDG_CACHE_HOME"))
    if (*folder == '/')
      return std::string(folder) + "/flashtile";
  const char *home = std::getenv("HOME");
  return home && *home == '/' ? std::string(home) + "/.cache/flashtile" : "";
}

std::string EnvOptions::cacheKey() const {
  std::string key;
#define FLASHTILE_ENV_OPTION(member, type, defaultValue, inCacheKey, name,     \
                             doc)                                              \
  if (inCacheKey)                                                              \
    key += name "=" + EnvType<type>::print(member) + "\n";
#include "runtime/EnvOptions.def"
  return key;
}

const std::vector<EnvOptionInfo> &flashtile::envOptionTable() {
  static const std::vector<EnvOptionInfo> table = {
#define FLASHTILE_ENV_OPTION(member, type, defaultValue, inCacheKey, name,     \
                             doc)                                              \
  {name, EnvType<type>::description, #defaultValue, inCacheKey, doc},
#include "runtime/EnvOptions.def"
  };
  return table;
}
