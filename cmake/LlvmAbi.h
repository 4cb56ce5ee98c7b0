//===- LlvmAbi.h - Keeps our view of LLVM's classes as it was built -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Included before everything else by code that uses LLVM. Assertions are on in
// our code and off in Debian's libraries; llvm::Statistic is another class in
// each case, and passes made by MLIR would leave ours uninitialised.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_CMAKE_LLVMABI_H
#define FLASHTILE_CMAKE_LLVMABI_H

#ifdef __cplusplus
#define NDEBUG
#include "llvm/ADT/Statistic.h"
#undef NDEBUG
#include <cassert>
#endif

#endif // FLASHTILE_CMAKE_LLVMABI_H
