//===- Jit.h - Compiles kernels in this process ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From text in the tile dialect, or from the C++ kernel DSL, to kernels that
// run:
//
//   Jit jit;
//   Kernel add = jit.compile(text).kernel("vector_add");
//   add(x, y, z, 1000);
//
// Thread safety: any number of threads may compile at once, with one Jit or
// with several.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_JIT_H
#define FLASHTILE_RUNTIME_JIT_H

#include "compiler/Driver/CompilerOptions.h"
#include "runtime/Device.h"
#include "runtime/Kernel.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flashtile {

namespace dsl {
class KernelModule;
} // namespace dsl

class KernelCache;

/// The kernels of one compiled text. A handle: copies share the code.
class Module {
public:
  explicit Module(std::shared_ptr<const std::vector<Kernel>> kernels)
      : all(std::move(kernels)) {}

  /// In the order of the text; at least one.
  const std::vector<Kernel> &kernels() const { return *all; }
  /// Throws NotFound, with the names that exist.
  const Kernel &kernel(std::string_view name) const;
  /// The only kernel; throws InvalidArgument where there are several.
  const Kernel &kernel() const;

private:
  std::shared_ptr<const std::vector<Kernel>> all;
};

class Jit {
public:
  /// A compiler for `device`. An empty `options.dumpFolder` takes
  /// FLASHTILE_DUMP_DIR; each compilation writes to a folder of its own in it.
  /// For a cuda device, a target of "cpu" becomes the
  /// GPU's instruction family. Throws Unsupported where there is no driver or
  /// GPU, or one older than sm_80; InvalidArgument for a processor that is not
  /// known.
  explicit Jit(Device device = Device::cpu(), CompilerOptions options = {});

  const Device &device() const { return target; }
  const CompilerOptions &options() const { return compilerOptions; }

  /// Compiles a module of `tile.kernel`s; `fileName` stands in diagnostics.
  /// The same text with the same name and options gives the same code without
  /// compiling again: in this process, and in later ones out of the cache on
  /// disk (KernelCache.h). Throws Compile with all diagnostics, one per line.
  Module compile(std::string_view text,
                 std::string_view fileName = "kernel.mlir") const;
  /// Compiles kernels written in C++; diagnostics name the C++ lines.
  Module compile(const dsl::KernelModule &module) const;
  /// Compiles a file. Throws Io if it cannot be read.
  Module load(const std::string &path) const;

  /// Forgets compiled code of this process. Kernels in use keep theirs, and so
  /// does the disk: to measure compiling, set FLASHTILE_CACHE=off as well.
  static void clearCache();

private:
  Module compileAs(std::string_view text, std::string_view fileName,
                   std::string_view dumpName) const;

  Device target;
  CompilerOptions compilerOptions;
  std::string optionsKey; ///< what a cache must compare besides the text
  /// Null where the environment has it off, and for compilations that are
  /// dumped, since a hit has nothing to dump.
  std::shared_ptr<KernelCache> diskCache;
  std::string environmentKey;
  bool printsTiming;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_JIT_H
