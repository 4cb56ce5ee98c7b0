//===- StorePlan.h - Results that TMA can store ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A tile that a program stores, converted from the layout of a product, can go
// through shared memory instead and from there to the tensor by TMA. Whoever
// counts shared memory asks before that is done.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_SCHEDULE_STOREPLAN_H
#define FLASHTILE_COMPILER_SCHEDULE_STOREPLAN_H

#include "compiler/Schedule/TmaWindow.h"

#include <optional>
#include <string>

namespace flashtile::gpu {

struct StorePlan {
  tilegpu::ConvertLayoutOp convert; ///< of the tile, which has no other use
  TmaWindow window;
  int64_t swizzle = 0; ///< of the buffer
};

/// How TMA stores the tile, or why it cannot.
std::optional<StorePlan> planStore(tilegpu::StoreOp store,
                                   tile::KernelOp kernel, std::string &whyNot);

} // namespace flashtile::gpu

#endif // FLASHTILE_COMPILER_SCHEDULE_STOREPLAN_H
