//===- Kernel.h - A compiled kernel that can be launched ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What Jit gives back. Launch it with arguments by name or in order:
//
//   kernel.launch({{"x", x}, {"y", y}, {"n", 1000}});
//   kernel(x, y, 1000);
//
// The kernel says how many programs that takes; a launch returns when all of
// them have run.
//
// Thread safety: any number of threads may launch the same kernel at once.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_KERNEL_H
#define FLASHTILE_RUNTIME_KERNEL_H

#include "compiler/Driver/Compiler.h"
#include "compiler/Driver/GpuReport.h"
#include "runtime/ArgumentValue.h"

#include <array>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flashtile {

namespace detail {
struct KernelCode;
} // namespace detail

/// What compiling a kernel took and decided. Stages, remarks and code size are
/// those of its module.
struct KernelReport : CompileReport {
  std::string kernel;
  /// Scratch memory of one program on the cpu.
  int64_t arenaBytes = 0;
  /// On a GPU: its functions, in the order in which launches try them.
  bool onGpu = false;
  std::vector<GpuEntryReport> entries;

  /// All of it as lines of text.
  std::string toString() const;
};

/// A handle: copies share the code, which lives as long as one of them.
class Kernel {
public:
  using Grid = std::array<int64_t, 3>;

  explicit Kernel(std::shared_ptr<const detail::KernelCode> code)
      : code(std::move(code)) {}

  const std::string &name() const;
  const std::vector<KernelArgument> &arguments() const;
  /// "vector_add(x: ptr<f32>, y: ptr<f32>, n: i32)".
  std::string signature() const;
  KernelReport report() const;

  /// The extents of the launch for these arguments, 1 where the kernel has
  /// fewer than three. Only integer arguments that the grid depends on are
  /// needed, and all are checked. Throws as launch() does.
  Grid grid(std::initializer_list<NamedArgument> arguments) const;
  Grid grid(const std::vector<NamedArgument> &arguments) const;

  /// Runs the kernel over its grid: on the cpu until it is done, on a GPU by
  /// queueing it in the device's current stream. An empty grid is fine and runs
  /// nothing. Counts as a write (Tensor::version) to every
  /// tensor that the kernel may store to.
  ///
  /// Throws InvalidArgument, before anything runs, for an argument that is
  /// missing, unknown, given twice, of the wrong type or out of range, for a
  /// tensor that requires a gradient and is written to outside of a
  /// NoGradGuard, and for a grid with an extent that is negative or above 2^31
  /// - 1; on a GPU, where no function of the kernel can run with these
  /// arguments; Assertion, with the program, where a `tile.assert` failed:
  /// other programs may or may not have run.
  void launch(std::initializer_list<NamedArgument> arguments) const;
  void launch(const std::vector<NamedArgument> &arguments) const;

  /// The same with arguments in the order of the kernel.
  void launchPositional(const ArgumentValue *values, size_t count) const;
  template <typename... Values>
  void operator()(const Values &...values) const {
    const std::array<ArgumentValue, sizeof...(Values)> list = {
        ArgumentValue(values)...};
    launchPositional(list.data(), list.size());
  }

private:
  std::shared_ptr<const detail::KernelCode> code;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_KERNEL_H
