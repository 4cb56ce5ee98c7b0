//===- Commands.h - The commands of fa-bench --------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_COMMANDS_H
#define FLASHTILE_TOOLS_FA_BENCH_COMMANDS_H

#include "kernels/AttentionVariant.h"
#include "tools/Support/CommandLine.h"

namespace flashtile::tools {

Command addFlashAttentionCommand(CLI::App &app);
Command addDenseAttentionCommand(CLI::App &app);
/// softcap-attention, alibi-attention, sliding-window-attention or
/// sigmoid-attention.
Command addAttentionVariantCommand(CLI::App &app, AttentionVariant variant);
Command addLaunchCommand(CLI::App &app);
Command addMatmulCommand(CLI::App &app);
Command addMlpCommand(CLI::App &app);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_COMMANDS_H
