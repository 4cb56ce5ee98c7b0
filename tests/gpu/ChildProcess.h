//===- ChildProcess.h - Processes for what ends a process -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A process that was forked after CUDA had started cannot use it, so that
// GoogleTest's death tests have to start the program again, by its name: where
// it was started through a loader, there is no such name. Here, main() forks a
// server before anything else, and children are forked from that.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_GPU_CHILDPROCESS_H
#define FLASHTILE_TESTS_GPU_CHILDPROCESS_H

#include <string>

namespace flashtile {

struct ChildResult {
  int exitCode = -1;  ///< of exit(); minus the number of a signal
  std::string errors; ///< what it wrote to stderr
};

/// Before any other thread and any call of the driver.
void startChildServer();

/// Runs `scenario`, which may end the process as it likes, in a process of its
/// own, with the environment of startChildServer(). Returns when that process
/// and all that it started have closed stderr.
ChildResult runInChild(void (*scenario)());

} // namespace flashtile

#endif // FLASHTILE_TESTS_GPU_CHILDPROCESS_H
