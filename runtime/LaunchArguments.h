//===- LaunchArguments.h - Values in the form that kernels read -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the launch. Checks each value against the type of its argument
// and lays it out for the entry point: a pointer per argument to its value.
// Lives on the stack of the launch, on one thread; up to `inlineCount`
// arguments need no allocation, but for the first launch of a thread.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_LAUNCHARGUMENTS_H
#define FLASHTILE_RUNTIME_LAUNCHARGUMENTS_H

#include "compiler/Driver/KernelInfo.h"
#include "runtime/ArgumentValue.h"
#include "runtime/Device.h"

#include <array>
#include <vector>

namespace flashtile {

class LaunchArguments {
public:
  /// Binds values in order, or by name, for a kernel on `device`. Throws
  /// InvalidArgument. The values must outlive this.
  LaunchArguments(const KernelInfo &info, Device device,
                  const ArgumentValue *values, size_t count);
  /// With `gridOnly`, arguments that the grid does not depend on may be
  /// missing.
  LaunchArguments(const KernelInfo &info, Device device,
                  const NamedArgument *named, size_t count,
                  bool gridOnly = false);
  ~LaunchArguments();
  LaunchArguments(const LaunchArguments &) = delete;
  LaunchArguments &operator=(const LaunchArguments &) = delete;

  /// What the entry point takes: for each argument, where its value is.
  const void *const *pointers() const { return pointerData; }

  /// The values of the integer arguments, in order.
  const std::vector<int64_t> &integerValues() const { return integers; }

  /// The value of a pointer argument.
  uint64_t address(size_t position) const { return slots[position]; }

  /// The extents of the grid. Throws InvalidArgument for one that is negative,
  /// above 2^31 - 1, or does not fit 64 bits.
  std::array<int64_t, 3> grid() const;

  /// Counts a write to each tensor that the kernel may store to. Throws
  /// InvalidArgument, before that, for one whose gradients are being recorded.
  void bumpVersions() const;

  /// Calls `function` with every argument that is a tensor.
  template <typename Function>
  void forEachTensor(Function &&function) const {
    for (size_t i = 0; i < numTensors; ++i)
      function(sources[tensors[i]]->tensor());
  }

private:
  /// A value as the kernel reads it.
  using Slot = uint64_t;
  static constexpr size_t inlineCount = 32;

  void allocate();
  void bind(size_t position, const ArgumentValue &value);
  void bindPointer(size_t position, const ArgumentValue &value);
  void bindInteger(size_t position, const ArgumentValue &value);
  void bindFloat(size_t position, const ArgumentValue &value);
  [[noreturn]] void failType(size_t position, const ArgumentValue &value,
                             const std::string &hint = {}) const;
  [[noreturn]] void failRange(size_t position, const ArgumentValue &value,
                              const std::string &limits) const;
  [[noreturn]] void failNames(const NamedArgument *named, size_t count,
                              bool gridOnly) const;
  std::vector<bool> usedByGrid() const;
  bool bindByName(const NamedArgument *named, size_t count);
  [[noreturn]] void failExtent(size_t axis, const std::string &problem) const;

  const KernelInfo &info;
  const Device device;
  const ArgumentValue **sources = nullptr; ///< by position; null: missing
  Slot *slots = nullptr;
  const void **pointerData = nullptr;
  size_t *tensors = nullptr; ///< positions of those that are tensors
  size_t numTensors = 0;
  std::vector<int64_t> integers; ///< of the integer arguments, in order

  std::array<const ArgumentValue *, inlineCount> inlineSources;
  std::array<Slot, inlineCount> inlineSlots;
  std::array<const void *, inlineCount> inlinePointers;
  std::array<size_t, inlineCount> inlineTensors;
  std::vector<const ArgumentValue *> moreSources;
  std::vector<Slot> moreSlots;
  std::vector<const void *> morePointers;
  std::vector<size_t> moreTensors;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_LAUNCHARGUMENTS_H
