//===- FakeTensorMaps.cpp - Tensor maps of the scripted libcuda -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Not what the hardware reads, but what a test can.
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/FakeDriverState.h"

using namespace flashtile;
using namespace flashtile::cuda;
using namespace flashtile::fake;

Result fake::cuTensorMapEncodeTiled(DriverTensorMap *map, int type,
                                    uint32_t rank, void *base,
                                    const uint64_t *shape,
                                    const uint64_t *strides,
                                    const uint32_t *box, const uint32_t *, int,
                                    int swizzle, int, int fill) {
  ENTER();
  map->opaque[0] = reinterpret_cast<uint64_t>(base);
  map->opaque[1] = static_cast<uint64_t>(type);
  map->opaque[2] = rank;
  map->opaque[3] = shape[0];
  map->opaque[4] = rank > 1 ? strides[0] : 0;
  map->opaque[5] = box[0];
  map->opaque[6] = static_cast<uint64_t>(swizzle);
  map->opaque[7] = static_cast<uint64_t>(fill);
  return success;
}
