//===- PtxProgram.h - PTX, decoded ----------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_PTXPROGRAM_H
#define FLASHTILE_TESTS_COMPILER_CPU_PTXPROGRAM_H

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace flashtile::cputest {

/// A barrier in shared memory.
struct PtxMbarrier {
  int64_t expected = 0, pending = 0; ///< arrivals of a phase
  int64_t bytes = 0;                 ///< that copies still bring
  uint64_t phase = 0;
};

/// A barrier with a number, for a count of threads that the statement says.
struct PtxNamedBarrier {
  int64_t arrived = 0;
  bool any = false;          ///< of bar.red.or, so far
  std::vector<bool> results; ///< of each generation that is complete
};

/// A tensor map, in place of the 128 bytes that the driver would encode.
struct PtxTensorMap {
  static constexpr int64_t maxRank = 5;
  uint8_t *base;
  int64_t rank, elementBytes, swizzleBytes;
  uint64_t padding; ///< bits of an element outside of the tensor
  int64_t extents[maxRank], strideBytes[maxRank];
  int32_t box[maxRank];
};

/// What the threads of a block share.
struct PtxBlock {
  int64_t number = 0, blockCount = 1, threadCount = 0, sharedBytes = 0;
  std::vector<uint8_t> shared;
  std::vector<const void *> arguments;
  std::string *output = nullptr;

  std::map<uint32_t, PtxMbarrier> mbarriers;
  std::map<uint64_t, PtxNamedBarrier> namedBarriers;
  /// Copies under way, where these end late; the last one ends first.
  bool copiesEndLate = false;
  std::vector<std::function<void()>> copies;
  /// For each 16 bytes of shared memory: products and copies that read it.
  std::vector<uint16_t> readers;
  /// For each byte there: who wrote it without a proxy fence since, plus one.
  std::vector<uint16_t> unfenced;
};

/// Chunks of shared memory that something under way reads.
using PtxChunks = std::vector<uint32_t>;

struct PtxThread {
  PtxBlock *block = nullptr;
  int64_t number = 0;
  size_t at = 0; ///< the next statement
  bool waiting = false, ended = false;
  std::vector<uint64_t> registers;
  std::vector<uint8_t> local;

  /// At a named barrier, its generation.
  bool hasArrived = false;
  size_t generation = 0;
  /// Written since the last proxy fence: addresses and bytes.
  std::vector<std::pair<uint32_t, uint32_t>> written;
  /// Groups of products, of its warp (in lane 0), and of stores: those that are
  /// committed, and the one to come.
  std::deque<PtxChunks> products, stores;
  PtxChunks nextProducts, nextStores;
};

struct PtxStatement {
  enum Kind { Alone, Together, Barrier, Poll, Branch, End };
  Kind kind = Alone;
  int guard = -1; ///< register of the predicate
  bool guardInverted = false;
  size_t target = 0; ///< of a branch
  /// Of one by a number, which is in a register.
  std::vector<size_t> targets;
  int choice = -1;
  std::function<void(PtxThread &)> alone;
  /// On the threads of a warp, or of the block at a barrier.
  std::function<void(PtxThread *)> together;
  /// False while the thread has to wait.
  std::function<bool(PtxThread &)> poll;
  std::string text;
};

struct PtxKernel {
  std::vector<PtxStatement> statements;
  size_t registerCount = 0, localBytes = 0;
  /// Parameters of calls, which statements point to.
  std::vector<std::shared_ptr<std::vector<uint8_t>>> callData;
};

struct PtxText {
  std::map<std::string, PtxKernel> kernels;
  /// Global data by name.
  std::map<std::string, std::shared_ptr<std::vector<uint8_t>>> data;
};

/// Throws std::runtime_error.
PtxText parsePtx(const std::string &ptx);

/// An operand: a register or a constant.
struct PtxOperand {
  int slot = -1;
  uint64_t constant = 0;
  uint64_t get(const PtxThread &thread) const {
    return slot >= 0 ? thread.registers[slot] : constant;
  }
};

/// A statement in words: "ld.global.v2.b32" split at the dots, and its operands
/// as text; `resolve` makes operands of them.
struct PtxWords {
  std::vector<std::string> opcode;
  std::vector<std::string> operands;
  std::string text;
  std::function<PtxOperand(const std::string &)> resolve;
  /// "[%rd1+8]" to the base and the offset.
  std::function<std::pair<PtxOperand, int64_t>(const std::string &)> address;

  bool has(const std::string &word) const {
    for (const std::string &part : opcode)
      if (part == word)
        return true;
    return false;
  }
};

/// Fills in kind and functions. Throws std::runtime_error for what it does not
/// know.
void decodeStatement(const PtxWords &words, PtxStatement &statement);
/// Warp-wide and block-wide statements; false where it is none.
bool decodeTogether(const PtxWords &words, PtxStatement &statement);
/// Those that sm_90a has beyond sm_80; false where it is none.
bool decodeBarriers(const PtxWords &words, PtxStatement &statement);
bool decodeTensorCopy(const PtxWords &words, PtxStatement &statement);
bool decodeWarpgroup(const PtxWords &words, PtxStatement &statement);

/// The pointer of an access of `bytes`, checked where it is to shared memory.
uint8_t *ptxPointer(PtxThread &thread, const std::string &space,
                    uint64_t address, int64_t bytes);

/// Notes that a thread writes there by an ordinary store. Throws where
/// something under way reads it.
void ptxNoteWrite(PtxThread &thread, const uint8_t *place, int64_t bytes);
/// Throws where something under way reads these bytes of shared memory.
void ptxCheckUnread(const PtxBlock &block, uint32_t address, int64_t bytes);
/// Throws where an ordinary store without a proxy fence wrote these bytes;
/// notes their chunks as being read.
void ptxBeginRead(PtxBlock &block, uint32_t address, int64_t bytes,
                  PtxChunks &chunks);
void ptxEndRead(PtxBlock &block, const PtxChunks &chunks);

/// Where swizzling puts the byte at `address`.
inline uint32_t ptxSwizzled(uint32_t address, int64_t span) {
  return span == 0 ? address
                   : address ^ ((address >> 3) & uint32_t(span - 16) & 0x70);
}

/// "{%r1, %r2}" to its parts; others to themselves.
std::vector<std::string> ptxParts(const std::string &operand);

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_PTXPROGRAM_H
