//===- PtxParse.cpp - PTX text to statements ------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/PtxProgram.h"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <stdexcept>

using namespace flashtile::cputest;

static std::string trimmed(const std::string &text) {
  size_t from = text.find_first_not_of(" \t\n");
  if (from == std::string::npos)
    return {};
  return text.substr(from, text.find_last_not_of(" \t\n") - from + 1);
}

static bool startsWith(const std::string &text, const std::string &prefix) {
  return text.compare(0, prefix.size(), prefix) == 0;
}

static std::string withoutComments(const std::string &ptx) {
  std::string text;
  for (size_t at = 0; at < ptx.size();) {
    size_t end = ptx.find('\n', at);
    end = end == std::string::npos ? ptx.size() : end + 1;
    std::string line = ptx.substr(at, end - at);
    if (size_t comment = line.find("//"); comment != std::string::npos)
      line = line.substr(0, comment) + "\n";
    text += line;
    at = end;
  }
  return text;
}

std::vector<std::string>
flashtile::cputest::ptxParts(const std::string &operand) {
  if (operand.empty() || operand.front() != '{')
    return {operand};
  std::vector<std::string> parts;
  std::string inner = operand.substr(1, operand.size() - 2);
  for (size_t at = 0; at <= inner.size();) {
    size_t comma = inner.find(',', at);
    if (comma == std::string::npos)
      comma = inner.size();
    parts.push_back(trimmed(inner.substr(at, comma - at)));
    at = comma + 1;
  }
  return parts;
}

/// At commas outside of braces, brackets and parentheses.
static std::vector<std::string> splitOperands(const std::string &text) {
  std::vector<std::string> operands;
  std::string current;
  int depth = 0;
  for (char c : text) {
    depth += c == '{' || c == '[' || c == '(';
    depth -= c == '}' || c == ']' || c == ')';
    if (c == ',' && depth == 0) {
      operands.push_back(trimmed(current));
      current.clear();
    } else {
      current += c;
    }
  }
  if (!trimmed(current).empty())
    operands.push_back(trimmed(current));
  return operands;
}

namespace {
/// Decodes one kernel.
class KernelParser {
public:
  KernelParser(PtxText &text, std::vector<std::string> parameters)
      : text(text), parameters(std::move(parameters)) {}

  PtxKernel parse(const std::string &body);

private:
  PtxOperand resolve(const std::string &name);
  std::pair<PtxOperand, int64_t> address(const std::string &operand);
  int slotOf(const std::string &name) {
    auto [entry, isNew] = slots.try_emplace(name, int(slots.size()));
    return entry->second;
  }
  void statement(std::string line);
  std::string withoutLabels(std::string line);
  bool declare(const std::string &line);
  PtxWords wordsOf(const std::string &line);
  bool readsArgument(const PtxWords &words) const;
  void readArgument(const PtxWords &words, PtxStatement &next);

  PtxText &text;
  std::vector<std::string> parameters;
  PtxKernel kernel;
  std::map<std::string, int> slots;
  std::map<std::string, size_t> labels;
  std::vector<std::pair<size_t, std::string>> branches, choices;
  /// Labels of "name: .branchtargets a, b".
  std::map<std::string, std::vector<std::string>> tables;
  std::string lastLabel;
  std::map<std::string, std::shared_ptr<std::vector<uint8_t>>> callParameters;
};
} // namespace

PtxOperand KernelParser::resolve(const std::string &name) {
  auto constant = [](uint64_t value) { return PtxOperand{-1, value}; };
  if (name.empty())
    throw std::runtime_error("empty operand");
  if (startsWith(name, "%tid") || startsWith(name, "%ctaid") ||
      startsWith(name, "%ntid") || startsWith(name, "%nctaid") ||
      name == "%laneid")
    return {slotOf(name), 0};
  if (startsWith(name, "0f") && name.size() == 10)
    return constant(std::stoull(name.substr(2), nullptr, 16));
  if (startsWith(name, "0d") && name.size() == 18)
    return constant(std::stoull(name.substr(2), nullptr, 16));
  if (std::isdigit(name[0]) ||
      (name[0] == '-' && name.size() > 1 && std::isdigit(name[1]))) {
    std::string digits = name;
    if (digits.back() == 'U')
      digits.pop_back();
    return constant(name[0] == '-' ? uint64_t(std::stoll(digits, nullptr, 0))
                                   : std::stoull(digits, nullptr, 0));
  }
  if (name == "__flashtile_shared")
    return constant(0);
  if (auto data = text.data.find(name); data != text.data.end())
    return constant(reinterpret_cast<uint64_t>(data->second->data()));
  if (auto data = callParameters.find(name); data != callParameters.end())
    return constant(reinterpret_cast<uint64_t>(data->second->data()));
  if (startsWith(name, "__flashtile"))
    throw std::runtime_error("unknown name " + name);
  return {slotOf(name), 0};
}

std::pair<PtxOperand, int64_t>
KernelParser::address(const std::string &operand) {
  std::string inner = trimmed(operand.substr(1, operand.size() - 2));
  size_t plus = inner.find('+');
  int64_t offset = 0;
  if (plus != std::string::npos) {
    offset = std::stoll(inner.substr(plus + 1), nullptr, 0);
    inner = trimmed(inner.substr(0, plus));
  }
  return {resolve(inner), offset};
}

static std::string withoutBraces(std::string line) {
  line = trimmed(line);
  while (!line.empty() && (line.front() == '{' || line.front() == '}'))
    line = trimmed(line.substr(1));
  return line;
}

/// Labels come before a statement: notes where they are.
std::string KernelParser::withoutLabels(std::string line) {
  line = withoutBraces(line);
  for (;;) {
    size_t colon = line.find(':');
    if (colon == std::string::npos || line.find_first_of(" \t") < colon ||
        line.compare(colon, 2, "::") == 0)
      return line;
    lastLabel = trimmed(line.substr(0, colon));
    labels[lastLabel] = kernel.statements.size();
    line = withoutBraces(line.substr(colon + 1));
  }
}

/// False for what is an instruction.
bool KernelParser::declare(const std::string &line) {
  if (line.empty() || startsWith(line, ".reg") || startsWith(line, ".pragma") ||
      startsWith(line, ".loc "))
    return true;
  if (startsWith(line, ".local")) {
    // .local .align 8 .b8 __local_depot0[256]
    size_t open = line.find('[');
    kernel.localBytes = std::stoull(line.substr(open + 1));
    return true;
  }
  if (!startsWith(line, ".param"))
    return false;
  std::string name = line.substr(line.find_last_of(" \t") + 1);
  if (size_t open = name.find('['); open != std::string::npos)
    name = name.substr(0, open);
  auto &data = callParameters[name];
  if (!data)
    data = std::make_shared<std::vector<uint8_t>>(64);
  kernel.callData.push_back(data);
  return true;
}

PtxWords KernelParser::wordsOf(const std::string &line) {
  PtxWords words;
  words.text = line;
  size_t blank = line.find_first_of(" \t");
  std::string opcode = line.substr(0, blank);
  for (size_t at = 0; at <= opcode.size();) {
    size_t dot = opcode.find('.', at);
    if (dot == std::string::npos)
      dot = opcode.size();
    words.opcode.push_back(opcode.substr(at, dot - at));
    at = dot + 1;
  }
  if (blank != std::string::npos)
    words.operands = splitOperands(line.substr(blank));
  words.resolve = [this](const std::string &name) { return resolve(name); };
  words.address = [this](const std::string &name) { return address(name); };
  return words;
}

/// A parameter of the kernel, and not of a call.
bool KernelParser::readsArgument(const PtxWords &words) const {
  if (words.opcode[0] != "ld" || !words.has("param"))
    return false;
  const std::string &operand = words.operands[1];
  return callParameters.count(
             trimmed(operand.substr(1, operand.find_first_of("+]") - 1))) == 0;
}

/// The number of the parameter is in its name.
void KernelParser::readArgument(const PtxWords &words, PtxStatement &next) {
  std::string inner = words.operands[1].substr(1, words.operands[1].size() - 2);
  int64_t offset = 0;
  if (size_t plus = inner.find('+'); plus != std::string::npos) {
    offset = std::stoll(inner.substr(plus + 1));
    inner = inner.substr(0, plus);
  }
  size_t number = 0;
  while (number < parameters.size() && parameters[number] != inner)
    ++number;
  if (number == parameters.size())
    throw std::runtime_error("unknown parameter in " + next.text);
  std::string type = words.opcode.back();
  int64_t bytes = std::stoll(type.substr(1)) / 8;
  bool isSigned = type[0] == 's';
  int slot = slotOf(words.operands[0]);
  next.alone = [=](PtxThread &thread) {
    uint64_t value = 0;
    std::memcpy(
        &value,
        static_cast<const uint8_t *>(thread.block->arguments.at(number)) +
            offset,
        bytes);
    if (isSigned)
      value = uint64_t(int64_t(value << (64 - 8 * bytes)) >> (64 - 8 * bytes));
    thread.registers[slot] = value;
  };
}

void KernelParser::statement(std::string line) {
  line = withoutLabels(line);
  if (declare(line))
    return;
  PtxStatement next;
  next.text = line;
  if (line[0] == '@') {
    size_t blank = line.find_first_of(" \t");
    std::string guard = line.substr(1, blank - 1);
    next.guardInverted = guard[0] == '!';
    if (next.guardInverted)
      guard = guard.substr(1);
    next.guard = slotOf(guard);
    line = trimmed(line.substr(blank));
  }
  if (startsWith(line, ".branchtargets")) {
    tables[lastLabel] = splitOperands(line.substr(line.find_first_of(" \t\n")));
    return;
  }
  PtxWords words = wordsOf(line);
  const std::string &name = words.opcode[0];
  if (name == "brx") {
    // brx.idx %r1, table
    next.kind = PtxStatement::Branch;
    next.choice = slotOf(words.operands[0]);
    choices.emplace_back(kernel.statements.size(), words.operands[1]);
  } else if (name == "bra") {
    next.kind = PtxStatement::Branch;
    branches.emplace_back(kernel.statements.size(), words.operands[0]);
  } else if (name == "ret" || name == "exit") {
    next.kind = PtxStatement::End;
  } else if (readsArgument(words)) {
    readArgument(words, next);
  } else {
    decodeStatement(words, next);
  }
  kernel.statements.push_back(std::move(next));
}

PtxKernel KernelParser::parse(const std::string &body) {
  std::string current;
  int depth = 0;
  for (char c : body) {
    // Lists of registers are in braces, too, but without semicolons.
    depth += c == '(';
    depth -= c == ')';
    if (c == ';' && depth == 0) {
      statement(current);
      current.clear();
    } else {
      current += c;
    }
  }
  statement(current);
  PtxStatement end;
  end.kind = PtxStatement::End;
  end.text = "end";
  kernel.statements.push_back(end);
  for (const auto &[at, label] : branches) {
    auto target = labels.find(label);
    if (target == labels.end())
      throw std::runtime_error("unknown label " + label);
    kernel.statements[at].target = target->second;
  }
  for (const auto &[at, table] : choices)
    for (const std::string &label : tables.at(table))
      kernel.statements[at].targets.push_back(labels.at(label));
  kernel.registerCount = slots.size();
  // Special registers are read through moves: they are set when a block starts,
  // by statements in front.
  std::vector<PtxStatement> setup;
  for (const auto &[name, slot] : slots) {
    PtxStatement set;
    set.text = name;
    int at = slot;
    if (name == "%tid.x")
      set.alone = [at](PtxThread &t) { t.registers[at] = t.number; };
    else if (name == "%laneid")
      set.alone = [at](PtxThread &t) { t.registers[at] = t.number % 32; };
    else if (name == "%ctaid.x")
      set.alone = [at](PtxThread &t) { t.registers[at] = t.block->number; };
    else if (name == "%nctaid.x")
      set.alone = [at](PtxThread &t) { t.registers[at] = t.block->blockCount; };
    else if (name == "%ntid.x")
      set.alone = [at](PtxThread &t) {
        t.registers[at] = t.block->threadCount;
      };
    else if (auto parameter =
                 std::find(parameters.begin(), parameters.end(), name);
             parameter != parameters.end()) {
      // Its address.
      size_t number = size_t(parameter - parameters.begin());
      set.alone = [at, number](PtxThread &t) {
        t.registers[at] =
            reinterpret_cast<uint64_t>(t.block->arguments.at(number));
      };
    } else if (startsWith(name, "__local_depot"))
      set.alone = [at](PtxThread &t) {
        uint64_t base = reinterpret_cast<uint64_t>(t.local.data());
        t.registers[at] = (base + 15) / 16 * 16;
      };
    else
      continue;
    setup.push_back(set);
  }
  for (PtxStatement &statement : kernel.statements)
    if (statement.kind == PtxStatement::Branch) {
      statement.target += setup.size();
      for (size_t &target : statement.targets)
        target += setup.size();
    }
  kernel.statements.insert(kernel.statements.begin(), setup.begin(),
                           setup.end());
  return std::move(kernel);
}

/// ".global .align 8 .b8 name[3] = {1, 2, 3};"
static void parseData(const std::string &line, PtxText &text) {
  size_t open = line.find('[');
  size_t begin = line.find_last_of(" \t", open) + 1;
  auto bytes = std::make_shared<std::vector<uint8_t>>(
      std::stoull(line.substr(open + 1)) + 8);
  if (size_t brace = line.find('{'); brace != std::string::npos) {
    size_t index = 0;
    for (const std::string &part :
         ptxParts(line.substr(brace, line.find('}') - brace + 1)))
      (*bytes)[index++] = uint8_t(std::stoul(part, nullptr, 0));
  }
  text.data[line.substr(begin, open - begin)] = bytes;
}

PtxText flashtile::cputest::parsePtx(const std::string &ptx) {
  PtxText result;
  std::string text = withoutComments(ptx);
  for (size_t at = text.find(".global "); at != std::string::npos;
       at = text.find(".global ", at + 1)) {
    // Not those within a statement or a parameter.
    size_t line = text.rfind('\n', at);
    if (!trimmed(text.substr(line + 1, at - line - 1)).empty())
      continue;
    parseData(text.substr(at, text.find(';', at) - at), result);
  }
  for (size_t at = text.find(".entry "); at != std::string::npos;
       at = text.find(".entry ", at + 1)) {
    size_t open = text.find('(', at), close = text.find(')', open);
    std::string name = trimmed(text.substr(at + 7, open - at - 7));
    std::vector<std::string> parameters;
    for (const std::string &part :
         splitOperands(text.substr(open + 1, close - open - 1))) {
      std::string parameter = part.substr(part.find_last_of(" \t") + 1);
      parameters.push_back(parameter.substr(0, parameter.find('[')));
    }
    size_t brace = text.find('{', close);
    int depth = 0;
    size_t end = brace;
    for (; end < text.size(); ++end) {
      depth += text[end] == '{';
      depth -= text[end] == '}';
      if (depth == 0)
        break;
    }
    result.kernels[name] = KernelParser(result, parameters)
                               .parse(text.substr(brace + 1, end - brace - 1));
  }
  return result;
}
