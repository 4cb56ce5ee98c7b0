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

#include <array>
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

/// A tensor map that the launcher encodes and passes by value: where a strided
/// tensor is, and which box of it a copy moves. Dimensions from the innermost,
/// whose elements follow each other, outwards.
struct TensorMapParameter {
  int64_t argument = 0; ///< the pointer, by its place among all arguments
  ElementType element = ElementType::BF16;
  int64_t swizzleBytes = 0; ///< 0, 32, 64 or 128
  bool fillsNaN = false;    ///< outside of the tensor; otherwise zero
  std::vector<int64_t> box; ///< elements of one copy
  std::vector<GridExpr> extents;
  /// In elements, of every dimension but the innermost.
  std::vector<GridExpr> strides;
  /// Elements from the pointer to the tensor; no steps: none.
  GridExpr offset;
};

/// A named part of a kernel's shared memory. Those that do not live at the same
/// time may overlap.
struct SharedBuffer {
  std::string name;
  int64_t offset = 0, bytes = 0;
};

/// What the assembler said of a function; -1: not known.
struct PtxResources {
  int64_t registers = -1; ///< of a thread
  int64_t stackBytes = -1, spillStoreBytes = -1, spillLoadBytes = -1;
};

/// A pointer (in bytes) or integer argument that has to be a multiple of
/// something.
struct DivisibleArgument {
  int64_t argument = 0; ///< by its place among all arguments
  int64_t divisor = 1;  ///< a power of two
};

/// A function for a GPU. Its parameters are the kernel's arguments, the tensor
/// maps, the address of a counter where it counts programs, and the three
/// extents of the grid as i32.
struct GpuEntry {
  static constexpr size_t maxTensorMaps = 16;

  static constexpr int64_t maxProgramsAtOnce = 64;

  std::string symbol;
  int64_t numThreads = 0;  ///< of a block
  int64_t sharedBytes = 0; ///< dynamic
  int64_t clusterBlocks = 1;
  /// Blocks for each multiprocessor where the function takes one program after
  /// the other; 0: a block for each program.
  int64_t persistentBlocks = 0;
  /// Blocks take programs from a counter: 32 bits in global memory, 0 before
  /// and after a launch, which no other launch uses meanwhile. Null will do
  /// where the launch has a block for each program.
  bool countsPrograms = false;
  /// Programs of the kernel's grid, along each axis, that one program of the
  /// function does; the grid that it gets has as many times fewer, rounded up.
  std::array<int64_t, 3> programsAtOnce = {1, 1, 1};
  std::vector<TensorMapParameter> tensorMaps;
  std::vector<DivisibleArgument> requirements;
  std::vector<SharedBuffer> sharedBuffers;
  PtxResources resources;
};

struct ArtifactKernel {
  KernelInfo info;
  /// Scratch memory of one program on the cpu.
  int64_t arenaBytes = 0;
  /// It may call CpuCallbacks::fail, which does not return.
  bool canFail = false;
  /// On a GPU: at least one. A launch takes the first whose requirements hold
  /// and whose tensor maps can all be encoded for its arguments.
  std::vector<GpuEntry> entries;
  /// There is a function that takes any arguments, in the artifact that
  /// CompilerOptions::plain asks for.
  bool hasPlainElsewhere = false;
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
  static constexpr uint32_t formatVersion = 7;

  /// The same bytes on every machine.
  std::string serialize() const;

  /// What launches rely on without asking again: that expressions can be
  /// evaluated, and that numbers are within the limits of any device.
  bool isValid() const;

  /// The inverse. Nothing for bytes that serialize() does not write: a length
  /// beyond the end, an enumerator or a version that does not exist,
  /// kernels that are not valid, bytes left over. Memory use is proportional to
  /// the bytes given, whatever they say.
  static std::optional<KernelArtifact> parse(std::string_view bytes);
};

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_KERNELARTIFACT_H
