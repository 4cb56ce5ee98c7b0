//===- ArgumentList.h - Arguments of a launch -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the functions on tensors: a list that is filled, launched and
// forgotten, without memory of the heap.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ARGUMENTLIST_H
#define FLASHTILE_KERNELS_ARGUMENTLIST_H

#include "runtime/ArgumentValue.h"

#include <array>
#include <cassert>
#include <cstddef>
#include <new>
#include <utility>

namespace flashtile::kernels {

/// Up to `most` arguments.
template <size_t most>
class ArgumentList {
public:
  ArgumentList() = default;
  ~ArgumentList() {
    while (count > 0)
      data()[--count].~ArgumentValue();
  }
  ArgumentList(const ArgumentList &) = delete;
  ArgumentList &operator=(const ArgumentList &) = delete;

  void push_back(ArgumentValue value) {
    assert(count < most && "a kernel with more arguments than were counted");
    new (&memory[count * sizeof(ArgumentValue)])
        ArgumentValue(std::move(value));
    ++count;
  }

  ArgumentValue *data() {
    return std::launder(reinterpret_cast<ArgumentValue *>(memory.data()));
  }
  size_t size() const { return count; }

private:
  alignas(
      ArgumentValue) std::array<std::byte, most * sizeof(ArgumentValue)> memory;
  size_t count = 0;
};

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_ARGUMENTLIST_H
