//===- PtxBarriers.cpp - Barriers of sm_90a -------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mbarriers, barriers with a number, proxy fences, and the bookkeeping of who
// reads shared memory in the background.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/PtxProgram.h"

#include <stdexcept>

using namespace flashtile::cputest;

//===----------------------------------------------------------------------===//
// Shared memory
//===----------------------------------------------------------------------===//

void flashtile::cputest::ptxCheckUnread(const PtxBlock &block, uint32_t address,
                                        int64_t bytes) {
  for (uint32_t chunk = address / 16; chunk <= (address + bytes - 1) / 16;
       ++chunk)
    if (block.readers.at(chunk) > 0)
      throw std::runtime_error("what something under way reads, shared memory "
                               "at " +
                               std::to_string(chunk * 16) + ", is overwritten");
}

void flashtile::cputest::ptxNoteWrite(PtxThread &thread, const uint8_t *place,
                                      int64_t bytes) {
  PtxBlock &block = *thread.block;
  const auto address = uint32_t(place - block.shared.data());
  ptxCheckUnread(block, address, bytes);
  thread.written.emplace_back(address, uint32_t(bytes));
  for (int64_t i = 0; i < bytes; ++i)
    block.unfenced[address + i] = uint16_t(thread.number + 1);
}

void flashtile::cputest::ptxBeginRead(PtxBlock &block, uint32_t address,
                                      int64_t bytes, PtxChunks &chunks) {
  if (int64_t(address) + bytes > block.sharedBytes)
    throw std::runtime_error("access to shared memory at " +
                             std::to_string(address) + " of " +
                             std::to_string(block.sharedBytes));
  for (int64_t i = 0; i < bytes; ++i)
    if (block.unfenced[address + i])
      throw std::runtime_error(
          "shared memory at " + std::to_string(address + i) +
          ", written by thread " +
          std::to_string(block.unfenced[address + i] - 1) +
          " without a proxy fence, is read by another proxy");
  for (uint32_t chunk = address / 16; chunk <= (address + bytes - 1) / 16;
       ++chunk)
    if (chunks.empty() || chunks.back() != chunk) {
      chunks.push_back(chunk);
      ++block.readers.at(chunk);
    }
}

void flashtile::cputest::ptxEndRead(PtxBlock &block, const PtxChunks &chunks) {
  for (uint32_t chunk : chunks)
    --block.readers.at(chunk);
}

static void fence(PtxThread &thread) {
  PtxBlock &block = *thread.block;
  for (auto [address, bytes] : thread.written)
    for (uint32_t i = 0; i < bytes; ++i)
      if (block.unfenced[address + i] == thread.number + 1)
        block.unfenced[address + i] = 0;
  thread.written.clear();
}

//===----------------------------------------------------------------------===//
// Barriers in memory
//===----------------------------------------------------------------------===//

static PtxMbarrier &barrierAt(PtxThread &thread, uint64_t address) {
  auto found = thread.block->mbarriers.find(uint32_t(address));
  if (found == thread.block->mbarriers.end())
    throw std::runtime_error("no mbarrier at " +
                             std::to_string(uint32_t(address)));
  return found->second;
}

static void completeIfDone(PtxMbarrier &barrier) {
  if (barrier.pending > 0 || barrier.bytes != 0)
    return;
  ++barrier.phase;
  barrier.pending = barrier.expected;
}

static void arrive(PtxMbarrier &barrier, int64_t bytes) {
  if (barrier.pending == 0)
    throw std::runtime_error("more arrivals than an mbarrier expects");
  barrier.bytes += bytes;
  --barrier.pending;
  completeIfDone(barrier);
}

namespace flashtile::cputest {
/// A copy has brought its bytes.
void ptxComplete(PtxBlock &block, uint32_t address, int64_t bytes) {
  auto found = block.mbarriers.find(address);
  if (found == block.mbarriers.end())
    throw std::runtime_error("a copy completes at no mbarrier");
  found->second.bytes -= bytes;
  completeIfDone(found->second);
}
} // namespace flashtile::cputest

static void decodeMbarrier(const PtxWords &words, PtxStatement &statement) {
  const std::string &what = words.opcode[1];
  if (what == "init") {
    auto [base, offset] = words.address(words.operands[0]);
    PtxOperand count = words.resolve(words.operands[1]);
    statement.alone = [=, base = base, offset = offset](PtxThread &thread) {
      const uint64_t address = base.get(thread) + offset;
      const uint8_t *place = ptxPointer(thread, "shared", address, 8);
      ptxCheckUnread(*thread.block,
                     uint32_t(place - thread.block->shared.data()), 8);
      const auto arrivals = int64_t(count.get(thread));
      thread.block->mbarriers[uint32_t(address)] = {arrivals, arrivals, 0, 0};
    };
    return;
  }
  auto [base, offset] = words.address(words.operands[1]);
  if (what == "arrive") {
    // mbarrier.arrive{.expect_tx} _, [address]{, bytes}
    PtxOperand bytes = words.has("expect_tx") ? words.resolve(words.operands[2])
                                              : PtxOperand();
    statement.alone = [=, base = base, offset = offset](PtxThread &thread) {
      arrive(barrierAt(thread, base.get(thread) + offset),
             int64_t(bytes.get(thread)));
    };
    return;
  }
  if (what == "try_wait" && words.has("parity")) {
    // Waits until it can say yes.
    int to = words.resolve(words.operands[0]).slot;
    PtxOperand parity = words.resolve(words.operands[2]);
    statement.kind = PtxStatement::Poll;
    statement.poll = [=, base = base, offset = offset](PtxThread &thread) {
      const PtxMbarrier &barrier = barrierAt(thread, base.get(thread) + offset);
      if ((barrier.phase & 1) == (parity.get(thread) & 1))
        return false;
      thread.registers[to] = 1;
      return true;
    };
    return;
  }
  throw std::runtime_error("unknown instruction: " + words.text);
}

//===----------------------------------------------------------------------===//
// Barriers with a number
//===----------------------------------------------------------------------===//

static size_t arriveNamed(PtxNamedBarrier &barrier, int64_t count, bool value) {
  const size_t generation = barrier.results.size();
  barrier.any |= value;
  if (++barrier.arrived >= count) {
    barrier.results.push_back(barrier.any);
    barrier.any = false;
    barrier.arrived = 0;
  }
  return generation;
}

/// bar.sync a, count; bar.arrive a, count; bar.red.or.pred p, a, count, q.
static bool decodeNamed(const PtxWords &words, PtxStatement &statement) {
  const bool reduces = words.has("red"), arrives = words.has("arrive");
  const size_t first = reduces ? 1 : 0, plain = reduces ? 3 : 1;
  if (words.operands.size() <= plain)
    return false;
  if (reduces && !words.has("or"))
    throw std::runtime_error("unknown instruction: " + words.text);
  PtxOperand number = words.resolve(words.operands[first]);
  PtxOperand count = words.resolve(words.operands[first + 1]);
  if (arrives) {
    statement.alone = [=](PtxThread &thread) {
      arriveNamed(thread.block->namedBarriers[number.get(thread)],
                  int64_t(count.get(thread)), false);
    };
    return true;
  }
  PtxOperand value =
      reduces ? words.resolve(words.operands.back()) : PtxOperand();
  int to = reduces ? words.resolve(words.operands[0]).slot : -1;
  statement.kind = PtxStatement::Poll;
  statement.poll = [=](PtxThread &thread) {
    PtxNamedBarrier &barrier = thread.block->namedBarriers[number.get(thread)];
    if (!thread.hasArrived) {
      thread.generation = arriveNamed(barrier, int64_t(count.get(thread)),
                                      value.get(thread) & 1);
      thread.hasArrived = true;
    }
    if (barrier.results.size() <= thread.generation)
      return false;
    thread.hasArrived = false;
    if (to >= 0)
      thread.registers[to] = barrier.results[thread.generation];
    return true;
  };
  return true;
}

bool flashtile::cputest::decodeBarriers(const PtxWords &words,
                                        PtxStatement &statement) {
  const std::string &name = words.opcode[0];
  if (name == "mbarrier") {
    decodeMbarrier(words, statement);
    return true;
  }
  if (name == "fence" && words.has("proxy")) {
    statement.alone = fence;
    return true;
  }
  return (name == "bar" || name == "barrier") && !words.has("warp") &&
         decodeNamed(words, statement);
}
