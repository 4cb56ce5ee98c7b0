//===- BackwardForm.h - How gradients are computed --------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_RUN_BACKWARDFORM_H
#define FLASHTILE_TOOLS_FA_RUN_BACKWARDFORM_H

#include "kernels/FlashAttentionBackwardConfigs.h"
#include "tools/Support/CommandLine.h"

#include <string>

namespace flashtile::tools {

/// Adds --form.
CLI::Option *addBackwardFormOption(CLI::App &command, std::string &form);

/// Throws InvalidArgument for what names none; empty stands for the default.
FlashAttentionBackwardForm parseBackwardForm(const std::string &form);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_RUN_BACKWARDFORM_H
