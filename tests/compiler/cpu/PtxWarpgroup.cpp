//===- PtxWarpgroup.cpp - Products of warpgroups --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// wgmma as the PTX ISA describes it, with fragments and descriptors. Each warp
// of a group computes its 16 rows by itself, at once.
//
//===----------------------------------------------------------------------===//

#include "runtime/DType.h"
#include "runtime/Float16.h"
#include "tests/compiler/cpu/PtxProgram.h"

#include <cmath>
#include <cstring>
#include <stdexcept>

using namespace flashtile;
using namespace flashtile::cputest;

static constexpr int kLanes = 32, kWarpRows = 16, kDepthBytes = 32;

static double fromBits(uint64_t word, int index, const std::string &type) {
  if (type == "tf32") {
    const uint32_t bits = uint32_t(word) & 0xFFFFE000;
    float value;
    std::memcpy(&value, &bits, 4);
    return value;
  }
  if (type == "bf16")
    return double(BFloat16::fromBits(uint16_t(word >> (16 * index))));
  if (type == "f16")
    return double(Float16::fromBits(uint16_t(word >> (16 * index))));
  // e4m3 has a NaN and no infinity, e5m2 is an f16 without its low half.
  const auto byte = uint8_t(word >> (8 * index));
  if (type == "e5m2")
    return double(Float16::fromBits(uint16_t(byte << 8)));
  if ((byte & 0x7F) == 0x7F)
    return std::nan("");
  const int exponent = byte >> 3 & 15, fraction = byte & 7;
  const double size = exponent ? std::ldexp(8 + fraction, exponent - 10)
                               : std::ldexp(fraction, -9);
  return byte & 0x80 ? -size : size;
}

static int bytesOf(const std::string &type) {
  return type == "tf32" ? 4 : type == "bf16" || type == "f16" ? 2 : 1;
}

namespace {
/// A matrix in shared memory, by its descriptor.
struct Descriptor {
  explicit Descriptor(uint64_t bits)
      : start(uint32_t(bits & 0x3FFF) << 4),
        leading(uint32_t(bits >> 16 & 0x3FFF) << 4),
        stride(uint32_t(bits >> 32 & 0x3FFF) << 4) {
    const int mode = int(bits >> 62);
    span = mode == 0 ? 0 : 256 >> mode;
    if (bits >> 49 & 7)
      throw std::runtime_error("a descriptor with an offset of its base");
  }

  /// Of row (or column) `index` and byte `depth` of the 32 along the depth.
  uint32_t depthInside(int index, int depth) const {
    if (span == 0)
      return start + index / 8 * stride + depth / 16 * leading +
             index % 8 * 16 + depth % 16;
    return ptxSwizzled(start + index / 8 * stride + index % 8 * span + depth,
                       span);
  }
  /// Of byte `index` along rows (or columns), and element `depth`.
  uint32_t depthOutside(int index, int depth) const {
    if (span == 0)
      return start + index / 16 * leading + depth / 8 * stride +
             depth % 8 * 16 + index % 16;
    return ptxSwizzled(start + index / int(span) * leading +
                           depth / 8 * stride + depth % 8 * span +
                           index % int(span),
                       span);
  }

  uint32_t start, leading, stride, span;
};

struct Product {
  int columns = 0, depth = 0;
  std::string typeA, typeB;
  std::vector<int> sums;
  std::vector<PtxOperand> a; ///< four registers, or a descriptor
  PtxOperand b, adds;
  bool transA = false, transB = false;

  std::vector<double> left(PtxThread *warp) const;
  std::vector<double> right(PtxThread *warp) const;
  void run(PtxThread *warp) const;
};
} // namespace

/// Reads an element of shared memory for a product of this warp.
static double elementAt(PtxThread *warp, uint32_t address,
                        const std::string &type) {
  PtxBlock &block = *warp->block;
  const int bytes = bytesOf(type);
  ptxBeginRead(block, address, bytes, warp->nextProducts);
  uint64_t word = 0;
  std::memcpy(&word, block.shared.data() + address, bytes);
  return fromBits(word, 0, type);
}

static uint64_t uniform(PtxThread *warp, const PtxOperand &operand) {
  const uint64_t value = operand.get(warp[0]);
  for (int lane = 1; lane < kLanes; ++lane)
    if (operand.get(warp[lane]) != value)
      throw std::runtime_error("lanes differ in what a product takes once");
  return value;
}

/// 16 rows of a.
std::vector<double> Product::left(PtxThread *warp) const {
  std::vector<double> rows(kWarpRows * depth);
  const int bytes = bytesOf(typeA), packed = 4 / bytes;
  if (a.size() == 4) {
    for (int lane = 0; lane < kLanes; ++lane)
      for (int word = 0; word < 4; ++word)
        for (int i = 0; i < packed; ++i)
          rows[(lane / 4 + 8 * (word % 2)) * depth + lane % 4 * packed + i +
               4 * packed * (word / 2)] =
              fromBits(a[word].get(warp[lane]), i, typeA);
    return rows;
  }
  const Descriptor memory(uniform(warp, a[0]));
  const int first = int(warp->number / kLanes % 4) * kWarpRows;
  for (int row = 0; row < kWarpRows; ++row)
    for (int k = 0; k < depth; ++k)
      rows[row * depth + k] =
          elementAt(warp,
                    transA ? memory.depthOutside((first + row) * bytes, k)
                           : memory.depthInside(first + row, k * bytes),
                    typeA);
  return rows;
}

std::vector<double> Product::right(PtxThread *warp) const {
  std::vector<double> values(size_t(columns) * depth);
  const Descriptor memory(uniform(warp, b));
  const int bytes = bytesOf(typeB);
  for (int column = 0; column < columns; ++column)
    for (int k = 0; k < depth; ++k)
      values[column * depth + k] =
          elementAt(warp,
                    transB ? memory.depthOutside(column * bytes, k)
                           : memory.depthInside(column, k * bytes),
                    typeB);
  return values;
}

void Product::run(PtxThread *warp) const {
  const std::vector<double> rows = left(warp), values = right(warp);
  const bool isSum = uniform(warp, adds) & 1;
  for (int lane = 0; lane < kLanes; ++lane)
    for (size_t i = 0; i < sums.size(); ++i) {
      const size_t row = lane / 4 + 8 * (i / 2 % 2);
      const size_t column = 8 * (i / 4) + 2 * (lane % 4) + i % 2;
      float start = 0;
      if (isSum) {
        const auto bits = uint32_t(warp[lane].registers[sums[i]]);
        std::memcpy(&start, &bits, 4);
      }
      double sum = start;
      for (int k = 0; k < depth; ++k)
        sum += rows[row * depth + k] * values[column * depth + k];
      const auto rounded = float(sum);
      uint32_t bits;
      std::memcpy(&bits, &rounded, 4);
      warp[lane].registers[sums[i]] = std::isnan(rounded) ? 0x7FFFFFFF : bits;
    }
}

static void decodeProduct(const PtxWords &words, PtxStatement &statement) {
  // wgmma.mma_async.sync.aligned.m64n128k16.f32.bf16.bf16 {sums}, a, b, adds,
  // 1, 1{, transA}{, transB}
  Product product;
  const std::string &shape = words.opcode[4];
  product.columns = std::stoi(shape.substr(4));
  product.depth = std::stoi(shape.substr(shape.find('k') + 1));
  product.typeA = words.opcode[6];
  product.typeB = words.opcode[7];
  if (shape.compare(0, 4, "m64n") != 0 || words.opcode[5] != "f32" ||
      product.depth * bytesOf(product.typeA) != kDepthBytes ||
      words.operands[4] != "1" || words.operands[5] != "1")
    throw std::runtime_error("unknown instruction: " + words.text);
  for (const std::string &part : ptxParts(words.operands[0]))
    product.sums.push_back(words.resolve(part).slot);
  for (const std::string &part : ptxParts(words.operands[1]))
    product.a.push_back(words.resolve(part));
  product.b = words.resolve(words.operands[2]);
  product.adds = words.resolve(words.operands[3]);
  const bool inMemory = product.a.size() == 1;
  if (int(product.sums.size()) * 2 != product.columns)
    throw std::runtime_error("sums are not half the columns: " + words.text);
  if (bytesOf(product.typeA) == 2) {
    product.transA = inMemory && words.operands.at(6) == "1";
    product.transB = words.operands.at(inMemory ? 7 : 6) == "1";
  }
  statement.together = [=](PtxThread *warp) { product.run(warp); };
}

static void decodeMatrixStore(const PtxWords &words, PtxStatement &statement) {
  auto [base, offset] = words.address(words.operands[0]);
  std::vector<PtxOperand> values;
  for (const std::string &part : ptxParts(words.operands[1]))
    values.push_back(words.resolve(part));
  const bool transposed = words.has("trans");
  statement.together = [=, base = base, offset = offset](PtxThread *warp) {
    for (size_t matrix = 0; matrix < values.size(); ++matrix) {
      uint16_t rows[8][8];
      for (int lane = 0; lane < kLanes; ++lane)
        for (int half = 0; half < 2; ++half) {
          const int row = lane / 4, column = lane % 4 * 2 + half;
          const auto value =
              uint16_t(values[matrix].get(warp[lane]) >> (16 * half));
          (transposed ? rows[column][row] : rows[row][column]) = value;
        }
      for (int row = 0; row < 8; ++row) {
        PtxThread &thread = warp[8 * matrix + row];
        uint8_t *place =
            ptxPointer(thread, "shared", base.get(thread) + offset, 16);
        ptxNoteWrite(thread, place, 16);
        std::memcpy(place, rows[row], 16);
      }
    }
  };
}

bool flashtile::cputest::decodeWarpgroup(const PtxWords &words,
                                         PtxStatement &statement) {
  const std::string &name = words.opcode[0];
  if (name == "stmatrix") {
    decodeMatrixStore(words, statement);
  } else if (name == "elect") {
    // elect.sync leader|isLeader, mask
    const std::string &operand = words.operands[0];
    const size_t bar = operand.find('|');
    const int to = words.resolve(operand.substr(0, bar)).slot;
    const int isLeader = words.resolve(operand.substr(bar + 1)).slot;
    statement.together = [=](PtxThread *warp) {
      for (int lane = 0; lane < kLanes; ++lane) {
        warp[lane].registers[to] = 0;
        warp[lane].registers[isLeader] = lane == 0;
      }
    };
  } else if (name != "wgmma") {
    return false;
  } else if (words.has("mma_async")) {
    decodeProduct(words, statement);
  } else if (words.has("commit_group")) {
    statement.together = [](PtxThread *warp) {
      warp->products.push_back(std::move(warp->nextProducts));
      warp->nextProducts.clear();
    };
  } else if (words.has("wait_group")) {
    PtxOperand pending = words.resolve(words.operands[0]);
    statement.together = [=](PtxThread *warp) {
      while (warp->products.size() > pending.get(*warp)) {
        ptxEndRead(*warp->block, warp->products.front());
        warp->products.pop_front();
      }
    };
  } else {
    statement.together = [](PtxThread *) {}; // a fence
  }
  statement.kind = PtxStatement::Together;
  return true;
}
