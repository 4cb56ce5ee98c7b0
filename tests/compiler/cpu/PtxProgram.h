//===- PtxProgram.h - PTX, decoded ----------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_PTXPROGRAM_H
#define FLASHTILE_TESTS_COMPILER_CPU_PTXPROGRAM_H

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace flashtile::cputest {

/// What the threads of a block share.
struct PtxBlock {
  int64_t number = 0, blockCount = 1, threadCount = 0, sharedBytes = 0;
  std::vector<uint8_t> shared;
  std::vector<const void *> arguments;
  std::string *output = nullptr;
};

struct PtxThread {
  PtxBlock *block = nullptr;
  int64_t number = 0;
  size_t at = 0; ///< the next statement
  bool waiting = false, ended = false;
  std::vector<uint64_t> registers;
  std::vector<uint8_t> local;
};

struct PtxStatement {
  enum Kind { Alone, Together, Barrier, Branch, End };
  Kind kind = Alone;
  int guard = -1; ///< register of the predicate
  bool guardInverted = false;
  size_t target = 0; ///< of a branch
  std::function<void(PtxThread &)> alone;
  /// On the threads of a warp, or of the block at a barrier.
  std::function<void(PtxThread *)> together;
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

/// The pointer of an access of `bytes`, checked where it is to shared memory.
uint8_t *ptxPointer(PtxThread &thread, const std::string &space,
                    uint64_t address, int64_t bytes);

/// "{%r1, %r2}" to its parts; others to themselves.
std::vector<std::string> ptxParts(const std::string &operand);

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_PTXPROGRAM_H
