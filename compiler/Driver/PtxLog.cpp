//===- PtxLog.cpp - What NVIDIA's assembler said --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Not a documented format: whatever is not recognised is passed over, and what
// is not found stays unknown.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/PtxLog.h"

#include <cctype>

using namespace flashtile;

static bool isDigit(char c) { return c >= '0' && c <= '9'; }

/// The number in front of `words`, as in "12 bytes spill stores"; -1 without.
static int64_t numberBefore(std::string_view line, std::string_view words) {
  const size_t end = line.find(words);
  if (end == line.npos)
    return -1;
  size_t begin = end;
  while (begin > 0 && isDigit(line[begin - 1]))
    --begin;
  constexpr size_t mostDigits = 18;
  if (begin == end || end - begin > mostDigits)
    return -1;
  return std::stoll(std::string(line.substr(begin, end - begin)));
}

/// The name behind "Function properties for ", which the driver quotes.
static std::string functionName(std::string_view line) {
  constexpr std::string_view words = "Function properties for ";
  const size_t at = line.find(words);
  if (at == line.npos)
    return {};
  std::string_view name = line.substr(at + words.size());
  while (!name.empty() && (name.front() == '\'' || name.front() == ' '))
    name.remove_prefix(1);
  return std::string(name.substr(0, name.find_first_of("': \r\t")));
}

/// Whether "C7510" or the like occurs.
static bool hasAdviceNumber(std::string_view line) {
  for (size_t i = 0; i + 5 <= line.size(); ++i)
    if (line[i] == 'C' && line[i + 1] == '7' && isDigit(line[i + 2]) &&
        isDigit(line[i + 3]) && isDigit(line[i + 4]) &&
        (i == 0 || !std::isalnum(static_cast<unsigned char>(line[i - 1]))))
      return true;
  return false;
}

static void take(int64_t &value, int64_t found) {
  if (found >= 0)
    value = found;
}

PtxLog PtxLog::parse(std::string_view text) {
  PtxLog log;
  PtxResources *current = nullptr;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    if (hasAdviceNumber(line))
      log.advice.emplace_back(line);
    if (const std::string name = functionName(line); !name.empty())
      current = &log.functions[name];
    if (!current)
      continue;
    take(current->stackBytes, numberBefore(line, " bytes stack frame"));
    take(current->spillStoreBytes, numberBefore(line, " bytes spill stores"));
    take(current->spillLoadBytes, numberBefore(line, " bytes spill loads"));
    take(current->registers, numberBefore(line, " registers"));
    take(current->stackBytes, numberBefore(line, " stack,"));
  }
  return log;
}

void PtxLog::addTo(std::vector<ArtifactKernel> &kernels) const {
  for (ArtifactKernel &kernel : kernels)
    for (GpuEntry &entry : kernel.entries) {
      const auto found = functions.find(entry.symbol);
      if (found != functions.end())
        entry.resources = found->second;
    }
}
