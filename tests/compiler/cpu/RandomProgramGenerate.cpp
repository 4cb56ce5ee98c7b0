//===- RandomProgramGenerate.cpp - Makes tile programs at random ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every value has a bound on its magnitude, and a float operation is only made
// where all its results are integers that the type holds exactly; values that
// grew too large are clamped first.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/RandomProgram.h"

#include <algorithm>
#include <functional>
#include <numeric>
#include <optional>
#include <random>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {

constexpr int64_t kMaxElements = 3000;
/// Magnitude of floats that loops carry and memories hold.
constexpr int64_t kSmall = 8;
/// Elements that each memory has.
constexpr int64_t kMemory = 4096;

/// Integers of the type up to here are exact, with room for a product by
/// kSmall. Integer types wrap and need none.
int64_t exactLimit(ElementType type) {
  switch (type) {
  case ElementType::F16:
    return 2048;
  case ElementType::BF16:
    return 256;
  case ElementType::F32:
    return 1 << 22;
  default:
    return INT64_MAX;
  }
}

class Generator {
public:
  Generator(uint64_t seed, ProgramFlavour flavour)
      : random(seed), flavour(flavour) {}
  RandomProgram generate();

private:
  int64_t upTo(int64_t end) { // 0 <= result < end
    return std::uniform_int_distribution<int64_t>(0, end - 1)(random);
  }
  bool chance(int percent) { return upTo(100) < percent; }
  template <typename T>
  const T &anyOf(const std::vector<T> &list) {
    return list[upTo(list.size())];
  }
  int64_t extent() { return anyOf(extents); }

  int newValue(TileType type, int64_t bound) {
    program.types.push_back(std::move(type));
    bounds.push_back(bound);
    return program.types.size() - 1;
  }
  const TileType &type(int value) const { return program.types[value]; }
  bool isReal(int value) const { return isFloat(type(value).element); }

  /// Adds a node with one result to the current block.
  int add(NodeKind kind, TileType type, int64_t bound,
          std::vector<int> operands, std::vector<int64_t> integers = {},
          std::string name = "") {
    Node node;
    node.kind = kind;
    node.name = std::move(name);
    node.operands = std::move(operands);
    node.integers = std::move(integers);
    node.results = {newValue(std::move(type), bound)};
    int result = node.results[0];
    current->nodes.push_back(std::move(node));
    visible.push_back(result);
    return result;
  }

  /// A visible value, preferably a recent one.
  std::optional<int> pick(const std::function<bool(int)> &wanted) {
    std::vector<int> list;
    for (int value : visible)
      if (wanted(value))
        list.push_back(value);
    if (list.empty())
      return std::nullopt;
    size_t recent = std::min<size_t>(list.size(), 6);
    return chance(60) ? list[list.size() - 1 - upTo(recent)] : anyOf(list);
  }
  std::optional<int> pickTile() {
    return pick([&](int value) { return !type(value).isScalar(); });
  }

  int create(TileType type);
  int valueOf(TileType type);
  int load(TileType type);
  int clamped(int value, int64_t limit);

  void step();
  void elementwise();
  void compareOrSelect();
  void convert();
  void shape();
  void reduce();
  void dot();
  void store();
  void loop();
  void branch();
  Access access(const TileType &type, bool isStore);
  std::vector<int> carriedValues();
  void fillBody(Block &block, const std::vector<int> &carried, int64_t steps);
  void yieldAll();

  std::mt19937_64 random;
  ProgramFlavour flavour;
  RandomProgram program;
  std::vector<int64_t> bounds;
  std::vector<int> visible;
  Block *current = nullptr;
  std::vector<int64_t> extents;
  unsigned depth = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// Sources
//===----------------------------------------------------------------------===//

static std::string floatOrInt(bool real, const char *real_, const char *whole) {
  return std::string("arith.") + (real ? real_ : whole);
}

int Generator::clamped(int value, int64_t limit) {
  if (!isReal(value) || bounds[value] <= limit)
    return value;
  TileType t = type(value);
  int high = add(NodeKind::Constant, t, limit, {}, {limit});
  int low = add(NodeKind::Constant, t, limit, {}, {-limit});
  int below = add(NodeKind::Elementwise, t, bounds[value], {value, high}, {},
                  "arith.minimumf");
  return add(NodeKind::Elementwise, t, limit, {below, low}, {},
             "arith.maximumf");
}

Access Generator::access(const TileType &type, bool isStore) {
  Access result;
  size_t rank = type.shape.size();
  std::vector<size_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (chance(50))
    std::shuffle(order.begin(), order.end(), random);
  result.strides.resize(rank);
  result.offsets.resize(rank);
  result.shape = type.shape;
  // Dimensions from the fastest in memory; now and then with gaps.
  int64_t stride = chance(80) ? 1 : 1 + upTo(3);
  int64_t lowest = 0, highest = 0;
  for (size_t i = rank; i-- > 0;) {
    size_t dim = order[i];
    int64_t extent = type.shape[dim];
    result.offsets[dim] = chance(70) ? 0 : upTo(9) - 4;
    if (chance(30))
      result.shape[dim] = std::max<int64_t>(1, extent + upTo(7) - 3);
    if (!isStore && chance(8))
      stride = -stride;
    result.strides[dim] = !isStore && chance(5) ? 0 : stride;
    int64_t reach = result.strides[dim] * (result.shape[dim] - 1);
    (reach < 0 ? lowest : highest) += reach;
    stride = std::abs(stride) * result.shape[dim];
  }
  int64_t room = kMemory - (highest - lowest) - 1;
  if (room < 0)
    return access(type, isStore); // gaps made it too large
  result.base = upTo(std::min<int64_t>(room + 1, 40)) - lowest;
  result.throughPointers = chance(35);
  return result;
}

int Generator::load(TileType t) {
  Node node;
  node.kind = NodeKind::Load;
  node.access = access(t, /*isStore=*/false);
  for (size_t i = 0; i < program.memories.size(); ++i)
    if (program.memories[i].element == t.element &&
        (program.memories[i].name[0] == 'i' ||
         (program.memories[i].name[0] == 's' && chance(50))))
      node.access.memory = i;
  node.results = {newValue(t, kSmall)};
  int result = node.results[0];
  current->nodes.push_back(std::move(node));
  visible.push_back(result);
  return result;
}

int Generator::create(TileType t) {
  bool real = isFloat(t.element);
  auto number = [&] {
    return t.element == ElementType::I1 ? upTo(2) : upTo(9) - 4;
  };
  if (t.isScalar())
    return add(NodeKind::Constant, t, 4, {}, {number()});
  if (t.element == ElementType::I32 && t.shape.size() == 1 && chance(40))
    return add(NodeKind::Arange, t, INT64_MAX, {}, {upTo(20) - 10});
  switch (upTo(5)) {
  case 0:
    return add(NodeKind::Constant, t, 4, {}, {number()});
  case 1: {
    std::vector<int64_t> elements(t.elements());
    for (int64_t &element : elements)
      element = number();
    return t.elements() > 600 ? load(t)
                              : add(NodeKind::Constant, t, 4, {}, elements);
  }
  case 2:
    if (auto scalar =
            pick([&](int v) { return type(v) == TileType{{}, t.element}; }))
      return add(NodeKind::Splat, t, bounds[*scalar], {*scalar});
    [[fallthrough]];
  default:
    (void)real;
    return load(t);
  }
}

/// A visible value of the type, or a new one.
int Generator::valueOf(TileType t) {
  if (chance(80))
    if (auto found = pick([&](int value) { return type(value) == t; }))
      return *found;
  return create(t);
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

void Generator::elementwise() {
  auto first = chance(85) ? pickTile() : pick([](int) { return true; });
  if (!first || type(*first).element == ElementType::F8E4M3FN)
    return;
  TileType t = type(*first);
  bool real = isFloat(t.element), boolean = t.element == ElementType::I1;
  int a = *first, b = valueOf(t);
  if (boolean) {
    add(NodeKind::Elementwise, t, 1, {a, b}, {},
        anyOf<std::string>({"arith.andi", "arith.ori", "arith.xori"}));
    return;
  }
  int64_t limit = exactLimit(t.element);
  switch (upTo(real ? 7 : 9)) {
  case 0:
  case 1: {
    a = clamped(a, limit / 2);
    b = clamped(b, limit / 2);
    std::string name = chance(50) ? floatOrInt(real, "addf", "addi")
                                  : floatOrInt(real, "subf", "subi");
    int64_t bound = real ? bounds[a] + bounds[b] : INT64_MAX;
    add(NodeKind::Elementwise, t, bound, {a, b}, {}, name);
    return;
  }
  case 2: {
    a = clamped(a, limit / kSmall);
    b = clamped(b, kSmall);
    int64_t bound = real ? bounds[a] * bounds[b] : INT64_MAX;
    add(NodeKind::Elementwise, t, bound, {a, b}, {},
        floatOrInt(real, "mulf", "muli"));
    return;
  }
  case 3:
    add(NodeKind::Elementwise, t, std::max(bounds[a], bounds[b]), {a, b}, {},
        floatOrInt(real, "maximumf", "maxsi"));
    return;
  case 4:
    add(NodeKind::Elementwise, t, std::max(bounds[a], bounds[b]), {a, b}, {},
        floatOrInt(real, "minimumf", "minsi"));
    return;
  case 5:
    add(NodeKind::Elementwise, t, bounds[a],
        real ? std::vector<int>{a} : std::vector<int>{a, b}, {},
        real ? "arith.negf" : "arith.xori");
    return;
  case 6:
    add(NodeKind::Elementwise, t, bounds[a],
        real ? std::vector<int>{a} : std::vector<int>{a, b}, {},
        real ? "math.absf" : "arith.andi");
    return;
  default: {
    // Divisors from 1 to 8.
    int seven = add(NodeKind::Constant, t, 7, {}, {7});
    int one = add(NodeKind::Constant, t, 1, {}, {1});
    int low = add(NodeKind::Elementwise, t, 7, {b, seven}, {}, "arith.andi");
    int divisor =
        add(NodeKind::Elementwise, t, 8, {low, one}, {}, "arith.addi");
    add(NodeKind::Elementwise, t, INT64_MAX, {a, divisor}, {},
        chance(50) ? "arith.divsi" : "arith.remsi");
  }
  }
}

void Generator::compareOrSelect() {
  auto first = pickTile();
  if (!first)
    return;
  TileType t = type(*first);
  int other = valueOf(t);
  if (chance(50) && t.element != ElementType::I1) {
    std::string name = isFloat(t.element)
                           ? anyOf<std::string>({"cmpf olt,", "cmpf oge,",
                                                 "cmpf oeq,", "cmpf une,"})
                           : anyOf<std::string>({"cmpi slt,", "cmpi sge,",
                                                 "cmpi eq,", "cmpi ne,"});
    add(NodeKind::Elementwise, {t.shape, ElementType::I1}, 1, {*first, other},
        {}, "arith." + name);
    return;
  }
  int condition =
      valueOf({chance(20) ? std::vector<int64_t>() : t.shape, ElementType::I1});
  add(NodeKind::Select, t, std::max(bounds[*first], bounds[other]),
      {condition, *first, other});
}

void Generator::convert() {
  auto first = pick([](int) { return true; });
  if (!first)
    return;
  ElementType from = type(*first).element;
  auto to = [&](ElementType element) {
    return TileType{type(*first).shape, element};
  };
  if (isFloat(from)) {
    ElementType target = anyOf<ElementType>(
        {ElementType::F32, ElementType::F16, ElementType::BF16,
         ElementType::I32, ElementType::I16});
    if (!isFloat(target)) {
      int small = clamped(*first, 1000);
      add(NodeKind::Convert, to(target), bounds[small], {small}, {},
          "arith.fptosi");
      return;
    }
    int small = clamped(*first, exactLimit(target));
    add(NodeKind::Convert, to(target), bounds[small], {small}, {}, "tile.cast");
    return;
  }
  if (from == ElementType::I1) {
    bool real = chance(50);
    add(NodeKind::Convert,
        to(real ? ElementType::F32
                : anyOf<ElementType>({ElementType::I8, ElementType::I32})),
        1, {*first}, {},
        real         ? "arith.uitofp"
        : chance(50) ? "arith.extui"
                     : "arith.extsi");
    return;
  }
  if (from == ElementType::I8) {
    if (chance(50))
      add(NodeKind::Convert, to(ElementType::F32), 128, {*first}, {},
          "arith.sitofp");
    else
      add(NodeKind::Convert,
          to(anyOf<ElementType>(
              {ElementType::I16, ElementType::I32, ElementType::I64})),
          INT64_MAX, {*first}, {}, "arith.extsi");
    return;
  }
  add(NodeKind::Convert,
      to(from == ElementType::I64 && chance(50) ? ElementType::I32
                                                : ElementType::I8),
      INT64_MAX, {*first}, {}, "arith.trunci");
}

/// A random shape with this many elements.
static std::vector<int64_t> factorised(int64_t elements,
                                       std::mt19937_64 &random) {
  std::vector<int64_t> shape = {elements};
  for (int split = random() % 4; split-- > 0;) {
    size_t dim = random() % shape.size();
    std::vector<int64_t> divisors;
    for (int64_t d = 1; d <= shape[dim]; ++d)
      if (shape[dim] % d == 0)
        divisors.push_back(d);
    int64_t d = divisors[random() % divisors.size()];
    shape[dim] /= d;
    shape.insert(shape.begin() + dim, d);
  }
  return shape;
}

void Generator::shape() {
  auto first = pickTile();
  if (!first)
    return;
  int a = *first;
  TileType t = type(a);
  int64_t bound = bounds[a];
  size_t rank = t.shape.size();
  switch (upTo(6)) {
  case 0: {
    if (rank >= 4)
      return;
    int64_t axis = upTo(rank + 1);
    t.shape.insert(t.shape.begin() + axis, 1);
    add(NodeKind::ExpandDims, t, bound, {a}, {axis});
    return;
  }
  case 1: {
    TileType wide = t;
    for (int64_t &dim : wide.shape)
      if (dim == 1 && chance(80))
        dim = extent();
    if (wide.elements() <= kMaxElements)
      add(NodeKind::Broadcast, wide, bound, {a});
    return;
  }
  case 2: {
    std::vector<int64_t> order(rank), shape;
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random);
    for (int64_t dim : order)
      shape.push_back(t.shape[dim]);
    add(NodeKind::Trans, {shape, t.element}, bound, {a}, order);
    return;
  }
  case 3:
    add(NodeKind::Reshape, {factorised(t.elements(), random), t.element}, bound,
        {a});
    return;
  case 4: {
    int64_t axis = upTo(rank);
    TileType other = t;
    if (chance(50))
      other.shape[axis] = extent();
    if (other.elements() + t.elements() > kMaxElements)
      return;
    int b = valueOf(other);
    TileType both = t;
    both.shape[axis] += other.shape[axis];
    add(NodeKind::Cat, both, std::max(bound, bounds[b]), {a, b}, {axis});
    return;
  }
  default: {
    if (rank >= 4 || t.elements() * 2 > kMaxElements)
      return;
    int b = valueOf(t);
    TileType pair = t;
    pair.shape.push_back(2);
    add(NodeKind::Join, pair, std::max(bound, bounds[b]), {a, b});
  }
  }
}

void Generator::reduce() {
  auto first = pickTile();
  if (!first)
    return;
  int a = *first;
  TileType t = type(a);
  bool real = isFloat(t.element), boolean = t.element == ElementType::I1;
  int64_t axis = upTo(t.shape.size());
  TileType outer = t;
  outer.shape.erase(outer.shape.begin() + axis);
  int64_t limit = exactLimit(t.element) / t.shape[axis];
  auto sumBound = [&](int value) {
    return real ? bounds[value] * t.shape[axis] : INT64_MAX;
  };
  switch (upTo(boolean ? 2 : 6)) {
  case 0:
  case 1: {
    std::string name = chance(50) ? "tile.max" : "tile.min";
    add(NodeKind::AxisReduce, outer, bounds[a], {a}, {axis}, name);
    return;
  }
  case 2:
    if (limit == 0)
      return;
    a = clamped(a, limit);
    add(NodeKind::AxisReduce, outer, sumBound(a), {a}, {axis}, "tile.sum");
    return;
  case 3: {
    if (limit == 0)
      return;
    a = clamped(a, limit);
    bool sum = chance(50);
    add(NodeKind::Scan, t, sum ? sumBound(a) : bounds[a], {a},
        {axis, int64_t(chance(50))},
        sum ? floatOrInt(real, "addf", "addi")
            : floatOrInt(real, "maximumf", "maxsi"));
    return;
  }
  case 4: {
    TileType positions = {t.shape, ElementType::I32};
    int p = valueOf(positions);
    Node node;
    node.kind = NodeKind::ArgMax;
    node.operands = {a, p};
    node.integers = {axis};
    node.results = {newValue(outer, bounds[a]),
                    newValue({outer.shape, ElementType::I32}, INT64_MAX)};
    visible.insert(visible.end(), node.results.begin(), node.results.end());
    current->nodes.push_back(std::move(node));
    return;
  }
  default:
    if (limit == 0)
      return;
    a = clamped(a, limit);
    add(NodeKind::Reduce, outer, sumBound(a), {a}, {axis},
        floatOrInt(real, "addf", "addi"));
  }
}

void Generator::dot() {
  auto matrix = [&](int value) {
    const TileType &t = type(value);
    return t.shape.size() == 2 &&
           (t.element == ElementType::I8 || isFloat(t.element));
  };
  auto first = pick(matrix);
  int a = first && chance(85)
              ? *first
              : create({{extent(), extent()},
                        chance(50) ? ElementType::F32 : ElementType::I8});
  TileType t = type(a);
  int64_t depth = t.shape[1], columns = extent();
  int b = -1;
  if (auto found = pick([&](int value) {
        return matrix(value) && type(value).element == t.element &&
               type(value).shape[0] == depth;
      }))
    b = *found;
  else if (auto found = pick([&](int value) {
             return matrix(value) && type(value).element == t.element &&
                    type(value).shape[1] == depth;
           });
           found && chance(70)) {
    TileType turned = type(*found);
    std::swap(turned.shape[0], turned.shape[1]);
    b = add(NodeKind::Trans, turned, bounds[*found], {*found}, {1, 0});
  } else {
    b = create({{depth, columns}, t.element});
  }
  columns = type(b).shape[1];
  a = clamped(a, kSmall);
  b = clamped(b, kSmall);
  bool real = isFloat(t.element);
  TileType sum = {{t.shape[0], columns},
                  real ? ElementType::F32 : ElementType::I32};
  if (sum.elements() > kMaxElements)
    return;
  int c = chance(40) ? add(NodeKind::Constant, sum, 0, {}, {0})
                     : clamped(valueOf(sum), 100000);
  add(NodeKind::Dot, sum,
      real ? bounds[c] + bounds[a] * bounds[b] * depth : INT64_MAX, {a, b, c});
}

void Generator::store() {
  auto value = pick([&](int v) {
    return !type(v).isScalar() && (type(v).element == ElementType::F32 ||
                                   type(v).element == ElementType::I32);
  });
  if (!value)
    return;
  int small = clamped(*value, kSmall);
  Node node;
  node.kind = NodeKind::Store;
  node.access = access(type(small), /*isStore=*/true);
  for (size_t i = 0; i < program.memories.size(); ++i)
    if (program.memories[i].name[0] == 's' &&
        program.memories[i].element == type(small).element)
      node.access.memory = i;
  node.operands = {small};
  current->nodes.push_back(std::move(node));
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Values for a loop to carry, small enough to stay exact.
std::vector<int> Generator::carriedValues() {
  std::vector<int> values;
  for (int64_t count = upTo(4); count > 0; --count) {
    auto value = pick([](int) { return true; });
    if (!value)
      break;
    values.push_back(clamped(*value, kSmall));
    if (chance(30)) // twins can be swapped
      values.push_back(clamped(valueOf(type(values.back())), kSmall));
  }
  return values;
}

/// Fills a block with steps and yields a value for each of `carried`.
void Generator::fillBody(Block &block, const std::vector<int> &carried,
                         int64_t steps) {
  Block *outer = current;
  size_t scope = visible.size();
  current = &block;
  visible.insert(visible.end(), block.arguments.begin(), block.arguments.end());
  ++depth;
  for (int64_t i = 0; i < steps; ++i)
    step();
  for (int value : carried) {
    int yielded = valueOf(type(value));
    block.yields.push_back(clamped(yielded, kSmall));
  }
  --depth;
  visible.resize(scope);
  current = outer;
}

void Generator::loop() {
  Node node;
  bool isWhile = chance(25);
  node.kind = isWhile ? NodeKind::While : NodeKind::For;
  node.operands = carriedValues();
  auto arguments = [&](Block &block) {
    block.arguments.push_back(newValue({{}, ElementType::I32}, INT64_MAX));
    for (int value : node.operands)
      block.arguments.push_back(newValue(type(value), kSmall));
  };
  node.blocks.resize(isWhile ? 2 : 1);
  for (Block &block : node.blocks)
    arguments(block);
  if (isWhile) {
    node.integers = {upTo(4)};
    fillBody(node.blocks[0], node.operands, upTo(3));
    fillBody(node.blocks[1], node.operands, upTo(5));
  } else {
    int64_t begin = upTo(5) - 2, step = 1 + upTo(3);
    int64_t end = begin + (chance(15) ? -upTo(3) : upTo(4) * step + upTo(2));
    node.integers = {begin, end, step, int64_t(chance(60))};
    fillBody(node.blocks[0], node.operands, 1 + upTo(6));
  }
  for (int value : node.operands)
    node.results.push_back(newValue(type(value), kSmall));
  visible.insert(visible.end(), node.results.begin(), node.results.end());
  current->nodes.push_back(std::move(node));
}

void Generator::branch() {
  int condition = valueOf({{}, ElementType::I1});
  std::vector<int> like = carriedValues();
  Node node;
  node.kind = NodeKind::If;
  node.operands = {condition};
  node.blocks.resize(2);
  for (Block &block : node.blocks)
    fillBody(block, like, upTo(4));
  for (int value : like)
    node.results.push_back(newValue(type(value), kSmall));
  visible.insert(visible.end(), node.results.begin(), node.results.end());
  current->nodes.push_back(std::move(node));
}

void Generator::step() {
  if (flavour == ProgramFlavour::Shapes)
    return chance(85) ? shape() : elementwise();
  int64_t kind = upTo(100);
  if (kind < 28)
    return elementwise();
  if (kind < 38)
    return compareOrSelect();
  if (kind < 46)
    return convert();
  if (kind < 64)
    return shape();
  if (kind < 76)
    return reduce();
  if (kind < 84)
    return dot();
  if (kind < 88)
    return store();
  if (depth < 2)
    return kind < 96 ? loop() : branch();
  elementwise();
}

/// Stores every value that the end of the kernel sees into the output of its
/// type, one after the other.
void Generator::yieldAll() {
  std::vector<int> all = visible;
  for (int value : all) {
    TileType t = type(value);
    if (t.isScalar()) {
      t.shape = {1};
      value = add(NodeKind::Splat, t, bounds[value], {value});
    }
    for (size_t i = 0; i < program.memories.size(); ++i) {
      MemorySpec &memory = program.memories[i];
      if (memory.name[0] != 'o' || memory.element != t.element)
        continue;
      Node node;
      node.kind = NodeKind::Store;
      node.access.memory = i;
      node.access.base = memory.elements;
      node.access.shape = t.shape;
      node.access.offsets.assign(t.shape.size(), 0);
      node.access.strides.assign(t.shape.size(), 1);
      for (size_t dim = t.shape.size() - 1; dim-- > 0;)
        node.access.strides[dim] =
            node.access.strides[dim + 1] * t.shape[dim + 1];
      node.operands = {value};
      memory.elements += t.elements();
      current->nodes.push_back(std::move(node));
    }
  }
}

RandomProgram Generator::generate() {
  const std::vector<ElementType> elements = {
      ElementType::F32, ElementType::F16, ElementType::BF16, ElementType::I64,
      ElementType::I32, ElementType::I16, ElementType::I8,   ElementType::I1};
  for (ElementType element : elements) {
    std::string suffix = "_" + std::string(elementTypeName(element));
    program.memories.push_back({"in" + suffix, element, kMemory});
    program.memories.push_back({"out" + suffix, element, 0});
  }
  program.memories.push_back({"scratch_f32", ElementType::F32, kMemory});
  program.memories.push_back({"scratch_i32", ElementType::I32, kMemory});
  const std::vector<int64_t> pool = {1, 2, 3, 4, 5, 7, 8, 16, 17, 20, 33};
  for (int i = 0; i < 3; ++i)
    extents.push_back(anyOf(pool));
  current = &program.body;
  for (int64_t sources = 2 + upTo(3); sources > 0; --sources) {
    TileType t = {{}, anyOf(elements)};
    if (chance(50))
      t.element = ElementType::F32;
    for (int64_t rank = 1 + upTo(3); rank > 0; --rank) {
      int64_t next = extent();
      if (t.elements() * next <= kMaxElements / 2)
        t.shape.push_back(next);
    }
    create(t);
  }
  for (int64_t steps = 4 + upTo(14); steps > 0; --steps)
    step();
  yieldAll();
  return std::move(program);
}

RandomProgram cputest::generateProgram(uint64_t seed, ProgramFlavour flavour) {
  return Generator(seed, flavour).generate();
}
