//===- PtxMachine.h - Runs PTX on this machine ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An interpreter for what the gpu targets emit, so that their code is tested
// where there is no GPU. Each thread of a block runs on its own until it meets
// others: at barriers, shuffles, matrix instructions. Threads that do not meet
// there, an instruction that is not known, and addresses outside shared memory
// are errors. Global addresses are those of this process.
//
// Of sm_90a: copies by TMA (a tensor map is a PtxTensorMap) end at once or,
// with `descending`, as late as can be and in the opposite order; what they
// will write is undefined meanwhile. Products of warpgroups are made at once.
// An error is what overwrites memory that a product or a copy under way reads,
// and what these read that a thread wrote without a proxy fence since.
//
// It says nothing about speed, nor about other races between threads that it
// happens to run in the right order; `descending` runs them in the other one.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_PTXMACHINE_H
#define FLASHTILE_TESTS_COMPILER_CPU_PTXMACHINE_H

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace flashtile::cputest {

struct PtxLaunch {
  int64_t blocks = 1;
  int64_t threads = 128;
  int64_t sharedBytes = 0;
  /// Where the value of each parameter is.
  std::vector<const void *> arguments;
  bool descending = false;
};

class PtxMachine {
public:
  /// Throws std::runtime_error for text that it does not understand.
  explicit PtxMachine(const std::string &ptx);
  ~PtxMachine();

  /// Runs a kernel. Returns what stopped it: "trap", or what was wrong, or
  /// nothing. Lines written by vprintf are appended to `output`.
  std::string run(const std::string &kernel, const PtxLaunch &launch,
                  std::string &output);

private:
  struct Impl;
  std::unique_ptr<Impl> impl;
};

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_PTXMACHINE_H
