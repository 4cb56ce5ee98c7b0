//===- Dsl.h - The kernel DSL ---------------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Everything that a kernel author includes; free of MLIR and LLVM headers. The
// README of this folder shows a whole kernel.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_FRONTEND_DSL_H
#define FLASHTILE_COMPILER_FRONTEND_DSL_H

#include "compiler/Frontend/ControlFlow.h"
#include "compiler/Frontend/Functions.h"
#include "compiler/Frontend/KernelBuilder.h"
#include "compiler/Frontend/Memory.h"
#include "compiler/Frontend/Operators.h"

#endif // FLASHTILE_COMPILER_FRONTEND_DSL_H
