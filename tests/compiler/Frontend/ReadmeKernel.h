//===- ReadmeKernel.h - The kernel of the README --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_FRONTEND_READMEKERNEL_H
#define FLASHTILE_TESTS_COMPILER_FRONTEND_READMEKERNEL_H

#include "compiler/Frontend/Dsl.h"

flashtile::dsl::KernelModule buildRowSoftmax(flashtile::ElementType type,
                                             int64_t block);

#endif // FLASHTILE_TESTS_COMPILER_FRONTEND_READMEKERNEL_H
