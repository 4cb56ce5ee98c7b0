//===- PtxTogether.cpp - Statements of a warp or a block ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fragments as the PTX ISA draws them for mma.m16n8k8 (tf32), m16n8k16 (f16,
// bf16) and m16n8k32 (s8).
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/PtxProgram.h"

#include "runtime/Float16.h"

#include <array>
#include <cmath>
#include <cstring>
#include <stdexcept>

using namespace flashtile;
using namespace flashtile::cputest;

static constexpr int kLanes = 32;

static float asFloat(uint64_t bits) {
  uint32_t low = uint32_t(bits);
  float value;
  std::memcpy(&value, &low, 4);
  return value;
}

static uint64_t asBits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, 4);
  return std::isnan(value) ? 0x7FFFFFFF : bits;
}

/// The operands of each of the statement's groups.
static std::vector<std::vector<PtxOperand>> groupsOf(const PtxWords &words) {
  std::vector<std::vector<PtxOperand>> groups;
  for (const std::string &operand : words.operands) {
    groups.emplace_back();
    for (const std::string &part : ptxParts(operand))
      groups.back().push_back(words.resolve(part));
  }
  return groups;
}

static void decodeShuffle(const PtxWords &words, PtxStatement &statement) {
  std::string first = words.operands[0];
  int valid = -1;
  if (size_t bar = first.find('|'); bar != std::string::npos) {
    valid = words.resolve(first.substr(bar + 1)).slot;
    first = first.substr(0, bar);
  }
  int to = words.resolve(first).slot;
  PtxOperand value = words.resolve(words.operands[1]),
             source = words.resolve(words.operands[2]);
  bool isButterfly = words.has("bfly"), isIndex = words.has("idx");
  if (!isButterfly && !isIndex)
    throw std::runtime_error("unknown instruction: " + words.text);
  statement.together = [=](PtxThread *threads) {
    std::array<uint64_t, kLanes> values;
    for (int lane = 0; lane < kLanes; ++lane)
      values[lane] = value.get(threads[lane]);
    for (int lane = 0; lane < kLanes; ++lane) {
      uint64_t from = source.get(threads[lane]) & 31;
      threads[lane].registers[to] = values[isButterfly ? lane ^ from : from];
      if (valid >= 0)
        threads[lane].registers[valid] = 1;
    }
  };
}

static void decodeVote(const PtxWords &words, PtxStatement &statement) {
  // vote.sync.any.pred p, q, -1
  const bool isAny = words.has("any");
  if ((!isAny && !words.has("all")) || !words.has("pred"))
    throw std::runtime_error("unknown instruction: " + words.text);
  int to = words.resolve(words.operands[0]).slot;
  PtxOperand value = words.resolve(words.operands[1]);
  statement.together = [=](PtxThread *threads) {
    bool result = !isAny;
    for (int lane = 0; lane < kLanes; ++lane) {
      bool own = value.get(threads[lane]) & 1;
      result = isAny ? result || own : result && own;
    }
    for (int lane = 0; lane < kLanes; ++lane)
      threads[lane].registers[to] = result;
  };
}

static void decodeMatrixLoad(const PtxWords &words, PtxStatement &statement) {
  std::vector<int> targets;
  for (const std::string &part : ptxParts(words.operands[0]))
    targets.push_back(words.resolve(part).slot);
  auto [base, offset] = words.address(words.operands[1]);
  bool transposed = words.has("trans");
  statement.together = [=, base = base, offset = offset](PtxThread *threads) {
    for (size_t matrix = 0; matrix < targets.size(); ++matrix) {
      uint16_t rows[8][8];
      for (int row = 0; row < 8; ++row) {
        PtxThread &thread = threads[8 * matrix + row];
        std::memcpy(rows[row],
                    ptxPointer(thread, "shared", base.get(thread) + offset, 16),
                    16);
      }
      for (int lane = 0; lane < kLanes; ++lane) {
        int row = lane / 4, column = lane % 4 * 2;
        uint64_t low = transposed ? rows[column][row] : rows[row][column];
        uint64_t high =
            transposed ? rows[column + 1][row] : rows[row][column + 1];
        threads[lane].registers[targets[matrix]] = low | high << 16;
      }
    }
  };
}

/// Element `index` of a 32-bit word.
static double elementOf(uint64_t word, int index, const std::string &type) {
  if (type == "tf32")
    return asFloat(word & 0xFFFFE000);
  if (type == "s8")
    return int8_t(word >> (8 * index));
  uint16_t bits = uint16_t(word >> (16 * index));
  return type == "bf16" ? double(BFloat16::fromBits(bits))
                        : double(Float16::fromBits(bits));
}

static void decodeMma(const PtxWords &words, PtxStatement &statement) {
  // mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 d, a, b, c
  std::string shape = words.opcode[3], type = words.opcode[7];
  bool integer = type == "s8";
  int depth = shape == "m16n8k8" ? 8 : shape == "m16n8k16" ? 16 : 32;
  int packed = type == "tf32" ? 1 : integer ? 4 : 2;
  if (depth != 8 * packed)
    throw std::runtime_error("unknown instruction: " + words.text);
  auto groups = groupsOf(words);
  statement.together = [=](PtxThread *threads) {
    double a[16][32], b[32][8];
    for (int lane = 0; lane < kLanes; ++lane) {
      int group = lane / 4, place = lane % 4;
      for (int word = 0; word < 4; ++word)
        for (int i = 0; i < packed; ++i)
          a[group + 8 * (word % 2)]
           [place * packed + i + 4 * packed * (word / 2)] =
               elementOf(groups[1][word].get(threads[lane]), i, type);
      for (int word = 0; word < 2; ++word)
        for (int i = 0; i < packed; ++i)
          b[place * packed + i + 4 * packed * word][group] =
              elementOf(groups[2][word].get(threads[lane]), i, type);
    }
    for (int lane = 0; lane < kLanes; ++lane)
      for (int word = 0; word < 4; ++word) {
        int row = lane / 4 + 8 * (word / 2), column = lane % 4 * 2 + word % 2;
        double sum = 0;
        for (int k = 0; k < depth; ++k)
          sum += a[row][k] * b[k][column];
        uint64_t c = groups[3][word].get(threads[lane]);
        threads[lane].registers[groups[0][word].slot] =
            integer ? uint32_t(uint32_t(c) + uint32_t(int32_t(sum)))
                    : asBits(float(sum + asFloat(c)));
      }
  };
}

static void decodeBarrier(const PtxWords &words, PtxStatement &statement) {
  statement.kind = PtxStatement::Barrier;
  if (!words.has("red"))
    return;
  // barrier.cta.red.or.pred p, a, {b,} q
  bool isOr = words.has("or");
  if (!isOr && !words.has("and"))
    throw std::runtime_error("unknown instruction: " + words.text);
  int to = words.resolve(words.operands.front()).slot;
  PtxOperand value = words.resolve(words.operands.back());
  statement.together = [=](PtxThread *threads) {
    bool result = !isOr;
    int64_t count = threads[0].block->threadCount;
    for (int64_t i = 0; i < count; ++i) {
      bool own = value.get(threads[i]) & 1;
      result = isOr ? result || own : result && own;
    }
    for (int64_t i = 0; i < count; ++i)
      threads[i].registers[to] = result;
  };
}

bool flashtile::cputest::decodeTogether(const PtxWords &words,
                                        PtxStatement &statement) {
  const std::string &name = words.opcode[0];
  if (name == "bar" && words.has("warp")) {
    statement.kind = PtxStatement::Together;
    statement.together = [](PtxThread *) {};
    return true;
  }
  if (name == "bar" || name == "barrier") {
    decodeBarrier(words, statement);
    return true;
  }
  if (name == "shfl")
    decodeShuffle(words, statement);
  else if (name == "vote")
    decodeVote(words, statement);
  else if (name == "ldmatrix")
    decodeMatrixLoad(words, statement);
  else if (name == "mma")
    decodeMma(words, statement);
  else
    return false;
  statement.kind = PtxStatement::Together;
  return true;
}
