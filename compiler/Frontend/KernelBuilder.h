//===- KernelBuilder.h - Builds kernels from C++ --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A KernelBuilder opens a kernel; whatever the thread writes until build() goes
// into it. Functions without operands (arange, zeros, programId, ...) go to the
// thread's innermost open builder, all others to the kernel of their operands.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_KERNELBUILDER_H
#define FLASHTILE_COMPILER_FRONTEND_KERNELBUILDER_H

#include "compiler/Frontend/Value.h"

#include <initializer_list>
#include <string>

namespace flashtile::dsl {

namespace detail {
class ModuleState;
struct ModuleAccess;
} // namespace detail

/// Kernels that are compiled together. Copies share the module. Modules are
/// independent: several threads may build into different modules at once, but
/// only one at a time into the same.
class KernelModule {
public:
  /// An empty module.
  KernelModule();

  /// A module from its text. Throws Error (Compile) with all diagnostics, each
  /// with its line of `source`, the name that they give the text.
  static KernelModule parse(const std::string &text,
                            const std::string &source = "kernel.mlir");

  /// The module in the tile dialect; `withLocations` adds the C++ lines.
  std::string text(bool withLocations = false) const;
  /// Names of the kernels, in the order in which they were built.
  std::vector<std::string> kernelNames() const;

private:
  friend struct detail::ModuleAccess;
  std::shared_ptr<detail::ModuleState> state;
};

class KernelBuilder {
public:
  /// Opens a kernel in a module of its own.
  explicit KernelBuilder(const std::string &name,
                         SourceLocation location = SourceLocation::current());
  /// Opens a kernel that build() adds to `module`.
  KernelBuilder(const KernelModule &module, const std::string &name,
                SourceLocation location = SourceLocation::current());
  KernelBuilder(const KernelBuilder &) = delete;
  KernelBuilder &operator=(const KernelBuilder &) = delete;
  /// Gives the kernel up unless it was built.
  ~KernelBuilder();

  /// Declares the next argument. A launch passes arguments by these names.
  Value pointer(const std::string &name, ElementType type,
                SourceLocation location = SourceLocation::current());
  /// i1 to i64, f32 or f64.
  Value scalar(const std::string &name, ElementType type,
               SourceLocation location = SourceLocation::current());
  Value i32(const std::string &name,
            SourceLocation location = SourceLocation::current()) {
    return scalar(name, ElementType::I32, location);
  }
  Value i64(const std::string &name,
            SourceLocation location = SourceLocation::current()) {
    return scalar(name, ElementType::I64, location);
  }
  Value f32(const std::string &name,
            SourceLocation location = SourceLocation::current()) {
    return scalar(name, ElementType::F32, location);
  }

  /// One to three extents, computed from integer arguments by +, -, products
  /// with a literal, and ceilDiv, floorDiv and floorMod by a positive one: a
  /// launch evaluates them as an affine map. Without a call the grid is one
  /// program.
  void grid(const std::vector<Operand> &extents,
            SourceLocation location = SourceLocation::current());

  /// Closes the kernel, verifies it and gives its module.
  KernelModule build(SourceLocation location = SourceLocation::current());

private:
  std::shared_ptr<detail::KernelState> state;
};

} // namespace flashtile::dsl

#endif // FLASHTILE_COMPILER_FRONTEND_KERNELBUILDER_H
