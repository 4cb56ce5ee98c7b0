//===- RandomProgramText.cpp - Random programs as kernels -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/RandomProgram.h"

#include <sstream>

using namespace flashtile;
using namespace flashtile::cputest;

static std::string tileText(const std::vector<int64_t> &shape,
                            const std::string &element) {
  if (shape.empty())
    return element;
  std::string text = "tensor<";
  for (int64_t extent : shape)
    text += std::to_string(extent) + "x";
  return text + element + ">";
}

std::string TileType::text() const {
  return tileText(shape, std::string(elementTypeName(element)));
}

namespace {
class Printer {
public:
  explicit Printer(const RandomProgram &program) : program(program) {}
  std::string print();

private:
  void print(const Block &block);
  void print(const Node &node);
  void printConstant(const Node &node);
  void printView(const Node &node);
  void printReduction(const Node &node);
  void printAccess(const Node &node);
  void printPointerAccess(const Node &node, int value);
  void printFor(const Node &node);
  void printIf(const Node &node);
  void printWhile(const Node &node);
  /// scf.yield or its like, where there is something to yield.
  void terminate(const char *name, const Block &block,
                 const std::string &first = "", const char *firstType = "");

  std::string v(int value) const { return "%v" + std::to_string(value); }
  std::string t(int value) const { return program.types[value].text(); }
  std::string fresh(const char *stem) {
    return "%" + std::string(stem) + std::to_string(counter++);
  }
  /// Defines an i64 constant, or the same as a run-time value.
  std::string i64(int64_t value);
  std::string number(ElementType type, int64_t value) const {
    if (type == ElementType::I1)
      return value ? "true" : "false";
    return std::to_string(value) + (isFloat(type) ? ".0" : "");
  }
  std::string list(const std::vector<int> &values, bool types,
                   size_t from = 0) const {
    std::string text;
    for (size_t i = from; i < values.size(); ++i)
      text += (i > from ? ", " : "") + (types ? t(values[i]) : v(values[i]));
    return text;
  }
  std::ostringstream &line() {
    out << "  ";
    return out;
  }

  const RandomProgram &program;
  std::ostringstream out;
  unsigned counter = 0;
};
} // namespace

std::string Printer::i64(int64_t value) {
  std::string name = fresh("c");
  line() << name << " = arith.constant " << value << " : i64\n";
  return name;
}

/// Elements of a dense constant, with brackets for each dimension.
static void nest(std::ostringstream &out, const std::vector<int64_t> &shape,
                 size_t dim, size_t &position,
                 const std::vector<std::string> &elements) {
  if (dim == shape.size()) {
    out << elements[position++];
    return;
  }
  out << "[";
  for (int64_t i = 0; i < shape[dim]; ++i) {
    out << (i ? ", " : "");
    nest(out, shape, dim + 1, position, elements);
  }
  out << "]";
}

void Printer::printConstant(const Node &node) {
  const TileType &type = program.types[node.results[0]];
  std::vector<std::string> elements;
  for (int64_t value : node.integers)
    elements.push_back(number(type.element, value));
  line() << v(node.results[0]) << " = arith.constant ";
  if (type.isScalar()) {
    out << elements[0];
    if (type.element != ElementType::I1)
      out << " : " << type.text();
    out << "\n";
    return;
  }
  out << "dense<";
  if (elements.size() == 1) {
    out << elements[0];
  } else {
    size_t position = 0;
    nest(out, type.shape, 0, position, elements);
  }
  out << "> : " << type.text() << "\n";
}

void Printer::printView(const Node &node) {
  int result = node.results[0], operand = node.operands[0];
  line() << v(result) << " = ";
  switch (node.kind) {
  case NodeKind::ExpandDims:
    out << "tile.expand_dims " << v(operand) << " axis " << node.integers[0];
    break;
  case NodeKind::Broadcast:
    out << "tile.broadcast " << v(operand);
    break;
  case NodeKind::Reshape:
    out << "tile.reshape " << v(operand);
    break;
  case NodeKind::Trans:
    out << "tile.trans " << v(operand) << " order [";
    for (size_t i = 0; i < node.integers.size(); ++i)
      out << (i ? ", " : "") << node.integers[i];
    out << "]";
    break;
  case NodeKind::Cat:
    out << "tile.cat " << list(node.operands, false) << " axis "
        << node.integers[0] << " : " << list(node.operands, true) << " -> "
        << t(result) << "\n";
    return;
  default:
    out << "tile.join " << list(node.operands, false);
  }
  out << " : " << t(operand) << " -> " << t(result) << "\n";
}

void Printer::printReduction(const Node &node) {
  std::string e(elementTypeName(program.types[node.operands[0]].element));
  line() << list(node.results, false) << " = "
         << (node.kind == NodeKind::Scan ? "tile.scan(" : "tile.reduce(")
         << list(node.operands, false) << ") axis " << node.integers[0];
  if (node.kind == NodeKind::Scan && node.integers[1])
    out << " reverse";
  out << " {\n";
  if (node.kind == NodeKind::ArgMax) {
    const char *prefix =
        isFloat(program.types[node.operands[0]].element) ? "f o" : "i ";
    const char *greater =
        isFloat(program.types[node.operands[0]].element) ? "gt" : "sgt";
    out << "  ^bb0(%a: " << e << ", %ai: i32, %b: " << e << ", %bi: i32):\n"
        << "    %gt = arith.cmp" << prefix << greater << ", %a, %b : " << e
        << "\n    %eq = arith.cmp" << prefix << "eq, %a, %b : " << e
        << "\n    %first = arith.cmpi slt, %ai, %bi : i32\n"
        << "    %tie = arith.andi %eq, %first : i1\n"
        << "    %take = arith.ori %gt, %tie : i1\n"
        << "    %m = arith.select %take, %a, %b : " << e << "\n"
        << "    %mi = arith.select %take, %ai, %bi : i32\n"
        << "    tile.yield %m, %mi : " << e << ", i32\n";
  } else {
    out << "  ^bb0(%a: " << e << ", %b: " << e << "):\n    %s = " << node.name
        << " %a, %b : " << e << "\n    tile.yield %s : " << e << "\n";
  }
  out << "  } : ";
  if (node.kind == NodeKind::Scan)
    out << t(node.operands[0]) << "\n";
  else
    out << "(" << list(node.operands, true) << ") -> ("
        << list(node.results, true) << ")\n";
}

void Printer::printPointerAccess(const Node &node, int value) {
  const Access &access = node.access;
  const MemorySpec &memory = program.memories[access.memory];
  const auto &shape = program.types[value].shape;
  std::string offsetType = tileText(shape, "i64"),
              maskType = tileText(shape, "i1"),
              pointer = "!tile.ptr<" +
                        std::string(elementTypeName(memory.element)) + ">",
              pointerType = tileText(shape, pointer);
  std::string base = i64(access.base), sum = fresh("o"), mask;
  line() << sum << " = tile.splat " << base << " : i64 -> " << offsetType
         << "\n";
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::string tile = fresh("o"), element = "i32";
    std::vector<int64_t> current = {shape[dim]};
    line() << tile << " = tile.arange 0 to " << shape[dim] << " : "
           << tileText(current, "i32") << "\n";
    auto step = [&](const std::string &text, const std::string &to) {
      std::string next = fresh("o");
      line() << next << " = " << text << " : " << tileText(current, element)
             << to << "\n";
      tile = next;
    };
    step("arith.extsi " + tile, " to " + tileText(current, "i64"));
    element = "i64";
    for (size_t other = 0; other < shape.size(); ++other) {
      if (other == dim)
        continue;
      std::vector<int64_t> wider = current;
      wider.insert(wider.begin() + other, 1);
      step("tile.expand_dims " + tile + " axis " + std::to_string(other),
           " -> " + tileText(wider, "i64"));
      current = wider;
    }
    step("tile.broadcast " + tile, " -> " + offsetType);
    current = shape;
    auto splat = [&](int64_t constant) {
      std::string name = fresh("s");
      line() << name << " = arith.constant dense<" << constant
             << "> : " << offsetType << "\n";
      return name;
    };
    step("arith.addi " + tile + ", " + splat(access.offsets[dim]), "");
    for (auto [predicate, bound] :
         {std::pair("sge", int64_t(0)), std::pair("slt", access.shape[dim])}) {
      std::string inside = fresh("m"), limit = splat(bound);
      line() << inside << " = arith.cmpi " << predicate << ", " << tile << ", "
             << limit << " : " << offsetType << "\n";
      if (!mask.empty()) {
        std::string both = fresh("m");
        line() << both << " = arith.andi " << mask << ", " << inside << " : "
               << maskType << "\n";
        inside = both;
      }
      mask = inside;
    }
    step("arith.muli " + tile + ", " + splat(access.strides[dim]), "");
    step("arith.addi " + sum + ", " + tile, "");
    sum = tile;
  }
  std::string bases = fresh("p"), pointers = fresh("p");
  line() << bases << " = tile.splat %" << memory.name << " : " << pointer
         << " -> " << pointerType << "\n";
  line() << pointers << " = tile.addptr " << bases << ", " << sum << " : "
         << pointerType << ", " << offsetType << "\n";
  if (node.kind == NodeKind::Load)
    line() << v(value) << " = tile.load " << pointers << " mask " << mask
           << " : " << pointerType << "\n";
  else
    line() << "tile.store " << pointers << ", " << v(value) << " mask " << mask
           << " : " << pointerType << "\n";
}

void Printer::printAccess(const Node &node) {
  const Access &access = node.access;
  int value = node.kind == NodeKind::Load ? node.results[0] : node.operands[0];
  if (access.throughPointers)
    return printPointerAccess(node, value);
  const MemorySpec &memory = program.memories[access.memory];
  std::string e(elementTypeName(memory.element));
  auto constants = [&](const std::vector<int64_t> &values) {
    std::string text;
    for (int64_t constant : values)
      text += (text.empty() ? "" : ", ") + i64(constant);
    return "[" + text + "]";
  };
  std::string base = i64(access.base), start = fresh("p"), window = fresh("p");
  line() << start << " = tile.addptr %" << memory.name << ", " << base
         << " : !tile.ptr<" << e << ">, i64\n";
  std::string shape = constants(access.shape),
              strides = constants(access.strides),
              offsets = constants(access.offsets);
  std::string type = t(value);
  std::string windowType =
      "!tile.block_ptr" + type.substr(std::string("tensor").size());
  line() << window << " = tile.make_block_ptr " << start << " shape " << shape
         << " strides " << strides << " offsets " << offsets << " : !tile.ptr<"
         << e << "> -> " << windowType << "\n";
  if (node.kind == NodeKind::Load)
    line() << v(value) << " = tile.load " << window << " : " << windowType
           << "\n";
  else
    line() << "tile.store " << window << ", " << v(value) << " : " << windowType
           << "\n";
}

void Printer::terminate(const char *name, const Block &block,
                        const std::string &first, const char *firstType) {
  bool hasFirst = !first.empty();
  if (!hasFirst && block.yields.empty())
    return;
  const char *comma = hasFirst && !block.yields.empty() ? ", " : "";
  line() << name << " " << first << comma << list(block.yields, false) << " : "
         << firstType << comma << list(block.yields, true) << "\n";
}

void Printer::printFor(const Node &node) {
  const Block &body = node.blocks[0];
  std::string bounds[3];
  for (int i = 0; i < 3; ++i) {
    std::string constant = fresh("b");
    line() << constant << " = arith.constant " << node.integers[i]
           << " : i32\n";
    bounds[i] = constant;
    if (node.integers[3]) {
      bounds[i] = fresh("b");
      line() << bounds[i] << " = arith.addi " << constant << ", %zero : i32\n";
    }
  }
  line();
  if (!node.results.empty())
    out << list(node.results, false) << " = ";
  out << "scf.for " << v(body.arguments[0]) << " = " << bounds[0] << " to "
      << bounds[1] << " step " << bounds[2];
  if (!node.results.empty()) {
    out << " iter_args(";
    for (size_t i = 0; i < node.operands.size(); ++i)
      out << (i ? ", " : "") << v(body.arguments[1 + i]) << " = "
          << v(node.operands[i]);
    out << ") -> (" << list(node.results, true) << ")";
  }
  out << " : i32 {\n";
  print(body);
  terminate("scf.yield", body);
  line() << "}\n";
}

void Printer::printIf(const Node &node) {
  line();
  if (!node.results.empty())
    out << list(node.results, false) << " = ";
  out << "scf.if " << v(node.operands[0]);
  if (!node.results.empty())
    out << " -> (" << list(node.results, true) << ")";
  out << " {\n";
  print(node.blocks[0]);
  terminate("scf.yield", node.blocks[0]);
  line() << "} else {\n";
  print(node.blocks[1]);
  terminate("scf.yield", node.blocks[1]);
  line() << "}\n";
}

void Printer::printWhile(const Node &node) {
  const Block &before = node.blocks[0], &after = node.blocks[1];
  std::string zero = fresh("w"), one = fresh("w"), limit = fresh("w"),
              more = fresh("w"), next = fresh("w"), last = fresh("w");
  line() << zero << " = arith.constant 0 : i32\n";
  line() << one << " = arith.constant 1 : i32\n";
  line() << limit << " = arith.constant " << node.integers[0] << " : i32\n";
  line() << last;
  out << (node.results.empty() ? "" : ", ") << list(node.results, false)
      << " = scf.while (" << v(before.arguments[0]) << " = " << zero;
  for (size_t i = 0; i < node.operands.size(); ++i)
    out << ", " << v(before.arguments[1 + i]) << " = " << v(node.operands[i]);
  std::string types = "i32";
  if (!node.operands.empty())
    types += ", " + list(node.operands, true);
  out << ") : (" << types << ") -> (" << types << ") {\n";
  print(before);
  line() << more << " = arith.cmpi slt, " << v(before.arguments[0]) << ", "
         << limit << " : i32\n";
  line() << "scf.condition(" << more << ") " << v(before.arguments[0])
         << (before.yields.empty() ? "" : ", ") << list(before.yields, false)
         << " : " << types << "\n";
  line() << "} do {\n  ^bb0(";
  for (size_t i = 0; i < after.arguments.size(); ++i)
    out << (i ? ", " : "") << v(after.arguments[i]) << ": "
        << t(after.arguments[i]);
  out << "):\n";
  print(after);
  line() << next << " = arith.addi " << v(after.arguments[0]) << ", " << one
         << " : i32\n";
  terminate("scf.yield", after, next, "i32");
  line() << "}\n";
}

void Printer::print(const Node &node) {
  switch (node.kind) {
  case NodeKind::Constant:
    return printConstant(node);
  case NodeKind::Arange:
    line() << v(node.results[0]) << " = tile.arange " << node.integers[0]
           << " to "
           << node.integers[0] + program.types[node.results[0]].elements()
           << " : " << t(node.results[0]) << "\n";
    return;
  case NodeKind::Splat:
    line() << v(node.results[0]) << " = tile.splat " << v(node.operands[0])
           << " : " << t(node.operands[0]) << " -> " << t(node.results[0])
           << "\n";
    return;
  case NodeKind::Elementwise:
    line() << v(node.results[0]) << " = " << node.name << " "
           << list(node.operands, false) << " : " << t(node.operands[0])
           << "\n";
    return;
  case NodeKind::Convert:
    line() << v(node.results[0]) << " = " << node.name << " "
           << v(node.operands[0]) << " : " << t(node.operands[0])
           << (node.name == "tile.cast" ? " -> " : " to ") << t(node.results[0])
           << "\n";
    return;
  case NodeKind::Select:
    line() << v(node.results[0]) << " = arith.select "
           << list(node.operands, false) << " : ";
    if (!program.types[node.operands[0]].isScalar())
      out << t(node.operands[0]) << ", ";
    out << t(node.operands[1]) << "\n";
    return;
  case NodeKind::AxisReduce:
    line() << v(node.results[0]) << " = " << node.name << " "
           << v(node.operands[0]) << " axis " << node.integers[0] << " : "
           << t(node.operands[0]) << " -> " << t(node.results[0]) << "\n";
    return;
  case NodeKind::ArgMax:
  case NodeKind::Reduce:
  case NodeKind::Scan:
    return printReduction(node);
  case NodeKind::Dot:
    line() << v(node.results[0]) << " = tile.dot " << list(node.operands, false)
           << " : " << list(node.operands, true) << "\n";
    return;
  case NodeKind::Load:
  case NodeKind::Store:
    return printAccess(node);
  case NodeKind::For:
    return printFor(node);
  case NodeKind::If:
    return printIf(node);
  case NodeKind::While:
    return printWhile(node);
  default:
    return printView(node);
  }
}

void Printer::print(const Block &block) {
  for (const Node &node : block.nodes)
    print(node);
}

std::string Printer::print() {
  out << "tile.kernel @k(";
  for (const MemorySpec &memory : program.memories)
    out << "%" << memory.name << ": !tile.ptr<"
        << elementTypeName(memory.element) << ">, ";
  out << "%zero: i32) grid(zero) -> (1) {\n";
  print(program.body);
  out << "  tile.return\n}\n";
  return out.str();
}

std::string RandomProgram::text() const { return Printer(*this).print(); }
