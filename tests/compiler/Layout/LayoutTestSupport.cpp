//===- LayoutTestSupport.cpp - Layouts to try -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include <algorithm>

using namespace flashtile::gpu;

static RegisterFile emptyFile(const DistributedLayout &layout) {
  return RegisterFile(
      layout.warpCount(),
      std::vector<std::vector<Value>>(
          lanesPerWarp, std::vector<Value>(layout.registersPerThread(), -1)));
}

RegisterFile flashtile::gpu::fill(const DistributedLayout &layout) {
  RegisterFile file = emptyFile(layout);
  Value junk = -2;
  forEachThreadRegister(layout, [&](int64_t index, int64_t lane, int64_t warp) {
    Coordinates at = layout.coordinates(index, lane, warp);
    file[warp][lane][index] = layout.isInBounds(at) ? valueOf(at) : junk--;
  });
  return file;
}

static RegisterFile playRounds(const LayoutConversion &conversion,
                               const RegisterFile &before,
                               const DistributedLayout &to) {
  RegisterFile after = emptyFile(to);
  for (const ShuffleRound &round : conversion.rounds) {
    for (int64_t warp = 0; warp < to.warpCount(); ++warp) {
      std::array<Value, lanesPerWarp> offered;
      for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
        offered[lane] = before[warp][lane].at(round.send.evaluate(lane, warp));
      for (int64_t lane = 0; lane < lanesPerWarp; ++lane)
        after[warp][lane].at(round.receive.evaluate(lane, warp)) =
            offered.at(round.source.evaluate(lane, warp));
    }
  }
  return after;
}

/// Addresses come from the first register of a group, as a kernel would
/// compute them: the others follow.
template <typename Move>
static void accessMemory(const DistributedLayout &layout,
                         const VectorAccess &access, const SharedLayout &memory,
                         Move move) {
  int64_t bytes = access.width * memory.elementBytes;
  for (const auto &group : access.groups) {
    ASSERT_EQ(static_cast<int64_t>(group.size()), access.width);
    for (int64_t warp = 0; warp < layout.warpCount(); ++warp) {
      for (int64_t lane = 0; lane < lanesPerWarp; ++lane) {
        int64_t at =
            memory.offset(layout.coordinates(group.front(), lane, warp));
        ASSERT_EQ(at % bytes, 0) << layout.str();
        ASSERT_LE(at + bytes, memory.bytes()) << layout.str();
        for (int64_t i = 0; i < access.width; ++i)
          move(at + i * memory.elementBytes, group[i], lane, warp);
      }
    }
  }
}

static RegisterFile playMemory(const SharedMemoryTrip &trip,
                               const RegisterFile &before,
                               const DistributedLayout &from,
                               const DistributedLayout &to) {
  EXPECT_FALSE(trip.memory.verify());
  std::map<int64_t, Value> memory;
  accessMemory(from, trip.store, trip.memory,
               [&](int64_t at, int64_t index, int64_t lane, int64_t warp) {
                 Value value = before[warp][lane].at(index);
                 auto [cell, isNew] = memory.try_emplace(at, value);
                 EXPECT_TRUE(isNew || cell->second == value || value < 0)
                     << "two values at " << at;
               });
  RegisterFile after = emptyFile(to);
  accessMemory(to, trip.load, trip.memory,
               [&](int64_t at, int64_t index, int64_t lane, int64_t warp) {
                 auto found = memory.find(at);
                 after[warp][lane].at(index) =
                     found == memory.end() ? -1 : found->second;
               });
  return after;
}

RegisterFile flashtile::gpu::play(const LayoutConversion &conversion,
                                  const RegisterFile &before,
                                  const DistributedLayout &from,
                                  const DistributedLayout &to) {
  switch (conversion.kind) {
  case LayoutConversion::Kind::None:
    return before;
  case LayoutConversion::Kind::Registers: {
    RegisterFile after = emptyFile(to);
    forEachThreadRegister(to, [&](int64_t index, int64_t lane, int64_t warp) {
      int64_t source = conversion.registerMap[index];
      if (source >= 0)
        after[warp][lane][index] = before[warp][lane].at(source);
    });
    return after;
  }
  case LayoutConversion::Kind::Lanes:
    return playRounds(conversion, before, to);
  case LayoutConversion::Kind::SharedMemory:
    return playMemory(*conversion.trip, before, from, to);
  }
  return before;
}

void flashtile::gpu::expectHolds(const RegisterFile &registers,
                                 const DistributedLayout &layout) {
  int64_t wrong = 0;
  forEachThreadRegister(layout, [&](int64_t index, int64_t lane, int64_t warp) {
    Coordinates at = layout.coordinates(index, lane, warp);
    if (layout.isInBounds(at))
      wrong += registers[warp][lane].at(index) != valueOf(at);
  });
  EXPECT_EQ(wrong, 0) << "under " << layout.str();
}

namespace {
/// A prime piece of one dimension.
struct Piece {
  int64_t extent;
  Coordinates step;
};
} // namespace

static std::vector<Piece> primePieces(std::mt19937 &random,
                                      llvm::ArrayRef<int64_t> shape) {
  std::vector<Piece> pieces;
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    std::vector<int64_t> primes;
    int64_t rest = shape[dim];
    for (int64_t factor = 2; rest > 1; ++factor)
      for (; rest % factor == 0; rest /= factor)
        primes.push_back(factor);
    std::shuffle(primes.begin(), primes.end(), random);
    int64_t step = 1;
    for (int64_t prime : primes) {
      pieces.push_back({prime, Coordinates(shape.size(), 0)});
      pieces.back().step[dim] = step;
      step *= prime;
    }
  }
  std::shuffle(pieces.begin(), pieces.end(), random);
  return pieces;
}

/// Moves pieces that multiply to `size` (as far as there are) into digits.
static DigitList takePieces(std::mt19937 &random, std::vector<Piece> &pieces,
                            int64_t size, unsigned rank) {
  DigitList digits;
  std::vector<Piece> left;
  for (const Piece &piece : pieces) {
    if (size % piece.extent == 0) {
      digits.push_back({piece.extent, piece.step});
      size /= piece.extent;
    } else {
      left.push_back(piece);
    }
  }
  if (size > 1)
    digits.push_back({size, Coordinates(rank, 0)});
  pieces = left;
  std::shuffle(digits.begin(), digits.end(), random);
  return digits;
}

DistributedLayout flashtile::gpu::randomLayout(std::mt19937 &random,
                                               llvm::ArrayRef<int64_t> shape,
                                               int64_t warps) {
  std::vector<Piece> pieces = primePieces(random, shape);
  DigitList warpDigits = takePieces(random, pieces, warps, shape.size());
  // Sometimes fewer lanes move than could.
  int64_t moving = int64_t(1) << (random() % 6);
  DigitList lanes = takePieces(random, pieces, moving, shape.size());
  if (moving < lanesPerWarp)
    lanes.push_back({lanesPerWarp / moving, Coordinates(shape.size(), 0)});
  std::shuffle(lanes.begin(), lanes.end(), random);
  DigitList registers;
  for (const Piece &piece : pieces)
    registers.push_back({piece.extent, piece.step});
  if (random() % 8 == 0)
    registers.push_back({2, Coordinates(shape.size(), 0)});
  return {shape, registers, lanes, warpDigits};
}
