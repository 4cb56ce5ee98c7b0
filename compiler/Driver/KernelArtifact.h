//===- KernelArtifact.h - Compiled kernels as bytes -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All that a compilation leaves behind: the code of a module, what a launcher
// has to know of its kernels, and what the compiler remarked. An artifact can
// be loaded, or kept as bytes and loaded by a later process.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_KERNELARTIFACT_H
#define FLASHTILE_COMPILER_DRIVER_KERNELARTIFACT_H

#include "compiler/Driver/KernelInfo.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace flashtile {

/// What the bytes of `KernelArtifact::code` are.
enum class CodeFormat : uint8_t {
  Object, ///< relocatable ELF for the host; target "cpu"
  Ptx,    ///< text that the driver of a GPU translates
  Cubin,  ///< code for one architecture of GPUs
};

struct ArtifactKernel {
  KernelInfo info;
  /// Scratch memory of one program on the cpu.
  int64_t arenaBytes = 0;
  /// It may call CpuCallbacks::fail, which does not return.
  bool canFail = false;
  /// On a GPU: warps of a program, and bytes of dynamic shared memory. Threads
  /// take the arguments, then the three extents of the grid as i32.
  int64_t numWarps = 0;
  int64_t sharedBytes = 0;
};

struct KernelArtifact {
  std::string target; ///< as CompilerOptions::target
  CodeFormat format = CodeFormat::Object;
  std::string code;
  std::vector<ArtifactKernel> kernels; ///< at least one
  /// As in CompileReport.
  std::vector<std::string> remarks;
  std::vector<std::string> warnings;

  /// Part of the key of a cached artifact: raised whenever serialize() changes.
  static constexpr uint32_t formatVersion = 2;

  /// The same bytes on every machine.
  std::string serialize() const;

  /// The inverse. Nothing for bytes that serialize() does not write: a length
  /// beyond the end, an enumerator or a version that does not exist, a grid
  /// that cannot be evaluated, bytes left over. Memory use is proportional to
  /// the bytes given, whatever they say.
  static std::optional<KernelArtifact> parse(std::string_view bytes);
};

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_KERNELARTIFACT_H
