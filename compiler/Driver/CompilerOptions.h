//===- CompilerOptions.h - What decides the code of a kernel --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every option that changes generated code is a field here and enters hash():
// a cache keyed by it never returns code for other options.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_COMPILEROPTIONS_H
#define FLASHTILE_COMPILER_DRIVER_COMPILEROPTIONS_H

#include <cstdint>
#include <string>

namespace flashtile {

struct CompilerOptions {
  /// "cpu", the one target that code can be loaded for, or "sm_80" or "sm_90a",
  /// which translate to PTX.
  std::string target = "cpu";
  /// Processor of the cpu target: "host" or a name that LLVM knows.
  std::string cpu = "host";
  /// Run the verifier after each pass.
  bool verifyEach = false;
  /// Warps of a program on the gpu targets, 1 to 16.
  int64_t numWarps = 4;
  /// Buffers that a loop's loads go through on the gpu targets: how far they
  /// run ahead of their use.
  int64_t numStages = 2;
  /// On the gpu targets: instead of the functions that launches try first,
  /// those named `<kernel>__plain`, which take any arguments.
  bool plain = false;
  /// How blocks take one program after the other on sm_90a: "auto" (by a fixed
  /// share where programs take equally long, otherwise by a counter), "off",
  /// "static" (a fixed share) or "dynamic" (a counter).
  std::string persistent = "auto";
  /// Programs of one warpgroup that may run as one block on sm_90a: 0 (as
  /// registers allow), 1 (each by itself), 2 or 3.
  int64_t programsAtOnce = 0;

  // What follows does not change the code and is no part of the hash.

  /// Folder that gets the IR of each stage, numbered; nothing where empty.
  std::string dumpFolder;

  /// Digest of everything above that changes code.
  std::string hash() const;
};

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_COMPILEROPTIONS_H
