//===- RandomProgramInterpret.cpp - The scalar reference ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Written from the dialect's text, one element at a time and without regard to
// speed.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/KernelRunner.h"
#include "tests/compiler/cpu/RandomProgram.h"

#include <algorithm>
#include <cstdlib>
#include <functional>

using namespace flashtile;
using namespace flashtile::cputest;

using Tile = std::vector<int64_t>;
using Index = std::vector<int64_t>;

int64_t TileType::elements() const {
  int64_t product = 1;
  for (int64_t extent : shape)
    product *= extent;
  return product;
}

static Index unravel(const std::vector<int64_t> &shape, int64_t position) {
  Index index(shape.size());
  for (size_t dim = shape.size(); dim-- > 0;) {
    index[dim] = position % shape[dim];
    position /= shape[dim];
  }
  return index;
}

static int64_t ravel(const std::vector<int64_t> &shape, const Index &index) {
  int64_t position = 0;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    position = position * shape[dim] + index[dim];
  return position;
}

static int64_t apply(const std::string &name, int64_t a, int64_t b,
                     ElementType type) {
  auto is = [&](const char *suffix) {
    return name.compare(name.find('.') + 1, std::string::npos, suffix) == 0;
  };
  if (is("addf") || is("addi"))
    return wrapTo(type, int64_t(uint64_t(a) + uint64_t(b)));
  if (is("subf") || is("subi"))
    return wrapTo(type, int64_t(uint64_t(a) - uint64_t(b)));
  if (is("mulf") || is("muli"))
    return wrapTo(type, int64_t(uint64_t(a) * uint64_t(b)));
  if (is("maximumf") || is("maxsi") || is("max"))
    return type == ElementType::I1 && is("maxsi") ? a & b : std::max(a, b);
  if (is("minimumf") || is("minsi") || is("min"))
    return type == ElementType::I1 && is("minsi") ? a | b : std::min(a, b);
  if (is("andi"))
    return a & b;
  if (is("ori"))
    return a | b;
  if (is("xori"))
    return a ^ b;
  if (is("negf"))
    return -a;
  if (is("absf"))
    return std::llabs(a);
  // The generator divides by small positive numbers only.
  if (is("divsi"))
    return a / b;
  if (is("remsi"))
    return a % b;
  if (is("cmpf olt,") || is("cmpi slt,"))
    return a < b;
  if (is("cmpf oge,") || is("cmpi sge,"))
    return a >= b;
  if (is("cmpf oeq,") || is("cmpi eq,"))
    return a == b;
  if (is("cmpf une,") || is("cmpi ne,"))
    return a != b;
  ADD_FAILURE() << "the interpreter does not know " << name;
  return 0;
}

namespace {
class Interpreter {
public:
  Interpreter(const RandomProgram &program, std::vector<Tile> &memories)
      : program(program), memories(memories), values(program.types.size()) {}

  void run(const Block &block) {
    for (const Node &node : block.nodes)
      run(node);
  }

private:
  void run(const Node &node);
  void view(const Node &node);
  void reduce(const Node &node);
  void scan(const Node &node);
  void dot(const Node &node);
  void access(const Node &node);
  void control(const Node &node);
  /// Gives `targets` the values that `sources` have now, all at once.
  void assign(const std::vector<int> &targets, const std::vector<int> &sources,
              size_t firstTarget = 0) {
    std::vector<Tile> moved;
    for (int source : sources)
      moved.push_back(values[source]);
    for (size_t i = 0; i < moved.size(); ++i)
      values[targets[firstTarget + i]] = moved[i];
  }
  const TileType &type(int value) const { return program.types[value]; }
  const TileType &resultType(const Node &node) const {
    return type(node.results.front());
  }
  Tile &result(const Node &node) { return values[node.results.front()]; }

  const RandomProgram &program;
  std::vector<Tile> &memories;
  std::vector<Tile> values;
};
} // namespace

void Interpreter::view(const Node &node) {
  const auto &to = resultType(node).shape;
  const auto &from = type(node.operands.front()).shape;
  Tile &out = result(node);
  for (int64_t p = 0; p < resultType(node).elements(); ++p) {
    Index at = unravel(to, p), source = at;
    int operand = node.operands.front();
    const auto *shape = &from;
    switch (node.kind) {
    case NodeKind::ExpandDims:
      source.erase(source.begin() + node.integers[0]);
      break;
    case NodeKind::Broadcast:
      for (size_t dim = 0; dim < from.size(); ++dim)
        source[dim] = from[dim] == 1 ? 0 : at[dim];
      break;
    case NodeKind::Trans:
      for (size_t dim = 0; dim < at.size(); ++dim)
        source[node.integers[dim]] = at[dim];
      break;
    case NodeKind::Reshape:
      source = unravel(from, p);
      break;
    case NodeKind::Cat: {
      int64_t axis = node.integers[0];
      if (at[axis] >= from[axis]) {
        source[axis] -= from[axis];
        operand = node.operands[1];
        shape = &type(operand).shape;
      }
      break;
    }
    default: // Join
      source.pop_back();
      operand = node.operands[at.back()];
    }
    out[p] = values[operand][ravel(*shape, source)];
  }
}

void Interpreter::reduce(const Node &node) {
  const auto &from = type(node.operands.front());
  int64_t axis = node.integers[0];
  const Tile &in = values[node.operands.front()];
  std::vector<int64_t> outer = from.shape;
  outer.erase(outer.begin() + axis);
  for (int64_t p = 0; p < resultType(node).elements(); ++p) {
    Index at = unravel(outer, p);
    at.insert(at.begin() + axis, 0);
    int64_t total = in[ravel(from.shape, at)], where = 0;
    if (node.kind == NodeKind::ArgMax)
      where = values[node.operands[1]][ravel(from.shape, at)];
    for (int64_t i = 1; i < from.shape[axis]; ++i) {
      at[axis] = i;
      int64_t q = ravel(from.shape, at);
      if (node.kind == NodeKind::ArgMax) {
        int64_t position = values[node.operands[1]][q];
        if (in[q] > total || (in[q] == total && position < where)) {
          total = in[q];
          where = position;
        }
        continue;
      }
      const std::string &name = node.name;
      total = apply(name == "tile.sum" ? "arith.addi" : name, total, in[q],
                    from.element);
    }
    result(node)[p] = total;
    if (node.kind == NodeKind::ArgMax)
      values[node.results[1]][p] = where;
  }
}

void Interpreter::scan(const Node &node) {
  const auto &from = type(node.operands.front());
  int64_t axis = node.integers[0], extent = from.shape[axis];
  const Tile &in = values[node.operands.front()];
  for (int64_t p = 0; p < from.elements(); ++p) {
    Index at = unravel(from.shape, p);
    if (at[axis] != 0)
      continue;
    int64_t prefix = 0;
    for (int64_t i = 0; i < extent; ++i) {
      at[axis] = node.integers[1] ? extent - 1 - i : i;
      int64_t q = ravel(from.shape, at);
      prefix = i == 0 ? in[q] : apply(node.name, prefix, in[q], from.element);
      result(node)[q] = prefix;
    }
  }
}

void Interpreter::dot(const Node &node) {
  int64_t m = resultType(node).shape[0], n = resultType(node).shape[1];
  int64_t depth = type(node.operands[0]).shape[1];
  const Tile &a = values[node.operands[0]], &b = values[node.operands[1]],
             &c = values[node.operands[2]];
  for (int64_t i = 0; i < m; ++i)
    for (int64_t j = 0; j < n; ++j) {
      int64_t sum = c[i * n + j];
      for (int64_t k = 0; k < depth; ++k)
        sum += a[i * depth + k] * b[k * n + j];
      result(node)[i * n + j] = wrapTo(resultType(node).element, sum);
    }
}

void Interpreter::access(const Node &node) {
  const Access &access = node.access;
  bool isLoad = node.kind == NodeKind::Load;
  int value = isLoad ? node.results.front() : node.operands.front();
  for (int64_t p = 0; p < type(value).elements(); ++p) {
    Index at = unravel(type(value).shape, p);
    int64_t address = access.base;
    bool inside = true;
    for (size_t dim = 0; dim < at.size(); ++dim) {
      int64_t position = access.offsets[dim] + at[dim];
      inside &= position >= 0 && position < access.shape[dim];
      address += position * access.strides[dim];
    }
    if (isLoad)
      values[value][p] = inside ? memories[access.memory].at(address) : 0;
    else if (inside)
      memories[access.memory].at(address) = values[value][p];
  }
}

void Interpreter::control(const Node &node) {
  if (node.kind == NodeKind::If) {
    const Block &block = node.blocks[values[node.operands[0]][0] ? 0 : 1];
    run(block);
    assign(node.results, block.yields);
    return;
  }
  if (node.kind == NodeKind::For) {
    const Block &body = node.blocks[0];
    assign(body.arguments, node.operands, 1);
    for (int64_t i = node.integers[0]; i < node.integers[1];
         i += node.integers[2]) {
      values[body.arguments[0]] = {i};
      run(body);
      assign(body.arguments, body.yields, 1);
    }
    for (size_t i = 0; i < node.results.size(); ++i)
      values[node.results[i]] = values[body.arguments[1 + i]];
    return;
  }
  // While: both blocks have the trip count as their first argument.
  const Block &before = node.blocks[0], &after = node.blocks[1];
  assign(before.arguments, node.operands, 1);
  for (int64_t trip = 0;; ++trip) {
    values[before.arguments[0]] = {trip};
    run(before);
    assign(node.results, before.yields);
    if (trip >= node.integers[0])
      return;
    values[after.arguments[0]] = {trip};
    assign(after.arguments, node.results, 1);
    run(after);
    assign(before.arguments, after.yields, 1);
  }
}

void Interpreter::run(const Node &node) {
  for (int value : node.results)
    values[value].assign(type(value).elements(), 0);
  auto operand = [&](size_t i, int64_t p) {
    const Tile &tile = values[node.operands[i]];
    return tile[tile.size() == 1 ? 0 : p];
  };
  auto forEach = [&](const std::function<int64_t(int64_t)> &element) {
    for (int64_t p = 0; p < resultType(node).elements(); ++p)
      result(node)[p] = element(p);
  };
  switch (node.kind) {
  case NodeKind::Constant:
    return forEach([&](int64_t p) {
      return node.integers[node.integers.size() == 1 ? 0 : p];
    });
  case NodeKind::Arange:
    return forEach([&](int64_t p) { return node.integers[0] + p; });
  case NodeKind::Splat:
    return forEach([&](int64_t) { return values[node.operands[0]][0]; });
  case NodeKind::Elementwise:
    return forEach([&](int64_t p) {
      int64_t second = node.operands.size() > 1 ? operand(1, p) : 0;
      return apply(node.name, operand(0, p), second,
                   type(node.operands[0]).element);
    });
  case NodeKind::Convert:
    return forEach([&](int64_t p) {
      int64_t value = operand(0, p);
      bool signedBit = type(node.operands[0]).element == ElementType::I1 &&
                       (node.name == "arith.extsi");
      return wrapTo(resultType(node).element, signedBit ? -value : value);
    });
  case NodeKind::Select:
    return forEach([&](int64_t p) {
      return operand(0, p) ? operand(1, p) : operand(2, p);
    });
  case NodeKind::AxisReduce:
  case NodeKind::ArgMax:
  case NodeKind::Reduce:
    return reduce(node);
  case NodeKind::Scan:
    return scan(node);
  case NodeKind::Dot:
    return dot(node);
  case NodeKind::Load:
  case NodeKind::Store:
    return access(node);
  case NodeKind::For:
  case NodeKind::If:
  case NodeKind::While:
    return control(node);
  default:
    return view(node);
  }
}

void RandomProgram::interpret(std::vector<Tile> &contents) const {
  Interpreter(*this, contents).run(body);
}
