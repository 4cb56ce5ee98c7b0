//===- PtxTensorCopy.cpp - Copies by TMA ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/PtxProgram.h"

#include <array>
#include <cstring>
#include <stdexcept>
#include <tuple>

using namespace flashtile::cputest;

namespace flashtile::cputest {
void ptxComplete(PtxBlock &block, uint32_t address, int64_t bytes);
} // namespace flashtile::cputest

using Coordinates = std::array<int64_t, PtxTensorMap::maxRank>;

namespace {
struct TensorCopy {
  PtxOperand shared, map, barrier;
  int64_t sharedOffset = 0, barrierOffset = 0;
  std::vector<PtxOperand> at;

  const PtxTensorMap &mapFor(const PtxThread &thread) const {
    const auto &found =
        *reinterpret_cast<const PtxTensorMap *>(map.get(thread));
    if (found.rank != int64_t(at.size()))
      throw std::runtime_error("a copy with " + std::to_string(at.size()) +
                               " coordinates of a tensor with " +
                               std::to_string(found.rank) + " dimensions");
    return found;
  }
  Coordinates coordinates(const PtxThread &thread) const {
    Coordinates result{};
    for (size_t dim = 0; dim < at.size(); ++dim)
      result[dim] = int32_t(at[dim].get(thread));
    return result;
  }
};
} // namespace

static int64_t bytesOf(const PtxTensorMap &map) {
  int64_t bytes = map.elementBytes;
  for (int64_t dim = 0; dim < map.rank; ++dim)
    bytes *= map.box[dim];
  return bytes;
}

/// Calls `fn` with where each element of the box is in memory, null outside of
/// the tensor, and in shared memory.
template <typename Fn>
static void forElements(const PtxTensorMap &map, Coordinates first,
                        uint32_t shared, Fn fn) {
  Coordinates index{};
  const int64_t count = bytesOf(map) / map.elementBytes;
  for (int64_t i = 0; i < count; ++i) {
    uint8_t *place = map.base;
    for (int64_t dim = 0; dim < map.rank; ++dim) {
      const int64_t position = first[dim] + index[dim];
      if (position < 0 || position >= map.extents[dim])
        place = nullptr;
      if (place)
        place += position * (dim ? map.strideBytes[dim] : map.elementBytes);
    }
    fn(place,
       ptxSwizzled(shared + uint32_t(i * map.elementBytes), map.swizzleBytes));
    for (int64_t dim = 0; dim < map.rank && ++index[dim] == map.box[dim]; ++dim)
      index[dim] = 0;
  }
}

static void checkShared(const PtxBlock &block, const PtxTensorMap &map,
                        uint32_t address) {
  const int64_t bytes = bytesOf(map);
  if (int64_t(address) + bytes > block.sharedBytes)
    throw std::runtime_error("access to shared memory at " +
                             std::to_string(address) + " of " +
                             std::to_string(block.sharedBytes));
  if (address % 128)
    throw std::runtime_error("a copy's shared memory at " +
                             std::to_string(address) +
                             " is not a multiple of 128");
  if (map.swizzleBytes && map.box[0] * map.elementBytes != map.swizzleBytes)
    throw std::runtime_error("a row of the box is not the swizzle's span");
}

static void load(const TensorCopy &copy, PtxThread &thread) {
  PtxBlock &block = *thread.block;
  const PtxTensorMap map = copy.mapFor(thread);
  const auto shared = uint32_t(copy.shared.get(thread) + copy.sharedOffset);
  const auto barrier = uint32_t(copy.barrier.get(thread) + copy.barrierOffset);
  const Coordinates at = copy.coordinates(thread);
  const int64_t bytes = bytesOf(map);
  checkShared(block, map, shared);
  ptxCheckUnread(block, shared, bytes);
  std::memset(block.shared.data() + shared, 0xFF, bytes);
  std::fill_n(block.unfenced.begin() + shared, bytes, uint16_t(0));
  auto finish = [=, &block] {
    ptxCheckUnread(block, shared, bytes);
    forElements(map, at, shared, [&](const uint8_t *place, uint32_t to) {
      std::memcpy(block.shared.data() + to,
                  place ? place
                        : reinterpret_cast<const uint8_t *>(&map.padding),
                  map.elementBytes);
    });
    ptxComplete(block, barrier, bytes);
  };
  if (block.copiesEndLate)
    block.copies.push_back(finish);
  else
    finish();
}

static void store(const TensorCopy &copy, PtxThread &thread) {
  PtxBlock &block = *thread.block;
  const PtxTensorMap &map = copy.mapFor(thread);
  const auto shared = uint32_t(copy.shared.get(thread) + copy.sharedOffset);
  checkShared(block, map, shared);
  // It writes whole chunks of 16 bytes.
  if (map.extents[0] * map.elementBytes % 16)
    throw std::runtime_error("a copy writes beyond rows of " +
                             std::to_string(map.extents[0]) + " elements");
  ptxBeginRead(block, shared, bytesOf(map), thread.nextStores);
  forElements(map, copy.coordinates(thread), shared,
              [&](uint8_t *place, uint32_t from) {
                if (place)
                  std::memcpy(place, block.shared.data() + from,
                              map.elementBytes);
              });
}

static void decodeTensor(const PtxWords &words, PtxStatement &statement) {
  TensorCopy copy;
  // cp.async.bulk.tensor.2d.shared::cluster... [to], [map, {x, y}], [barrier]
  // cp.async.bulk.tensor.2d.global.shared::cta... [map, {x, y}], [from]
  const bool isLoad = words.opcode[5] == "shared::cluster";
  const std::string &tensor = words.operands[isLoad ? 1 : 0];
  const size_t comma = tensor.find(','), brace = tensor.find('{');
  copy.map = words.resolve(tensor.substr(1, comma - 1));
  for (const std::string &part :
       ptxParts(tensor.substr(brace, tensor.find('}') - brace + 1)))
    copy.at.push_back(words.resolve(part));
  std::tie(copy.shared, copy.sharedOffset) =
      words.address(words.operands[isLoad ? 0 : 1]);
  if (isLoad)
    std::tie(copy.barrier, copy.barrierOffset) =
        words.address(words.operands[2]);
  statement.alone = [=](PtxThread &thread) {
    if (isLoad)
      load(copy, thread);
    else
      store(copy, thread);
  };
}

bool flashtile::cputest::decodeTensorCopy(const PtxWords &words,
                                          PtxStatement &statement) {
  if (words.opcode[0] != "cp" || !words.has("bulk"))
    return false;
  if (words.has("tensor")) {
    decodeTensor(words, statement);
    return true;
  }
  if (words.has("commit_group")) {
    statement.alone = [](PtxThread &thread) {
      thread.stores.push_back(std::move(thread.nextStores));
      thread.nextStores.clear();
    };
    return true;
  }
  if (!words.has("wait_group"))
    throw std::runtime_error("unknown instruction: " + words.text);
  PtxOperand pending = words.resolve(words.operands[0]);
  statement.alone = [=](PtxThread &thread) {
    while (thread.stores.size() > pending.get(thread)) {
      ptxEndRead(*thread.block, thread.stores.front());
      thread.stores.pop_front();
    }
  };
  return true;
}
