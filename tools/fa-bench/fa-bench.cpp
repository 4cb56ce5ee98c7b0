//===- fa-bench.cpp - Measures kernels ------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fa-bench flash-attention, matmul and so on: see --help of each.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/Commands.h"

using namespace flashtile;
using namespace flashtile::tools;

int main(int argc, char **argv) {
  CLI::App app("Measures kernels over types and sizes, and compares the rates "
               "with those of other systems.");
  app.name("fa-bench");
  app.require_subcommand(1);
  auto variant = [&](AttentionVariant kind) {
    return addAttentionVariantCommand(app, kind);
  };
  const std::map<std::string, Command> commands = {
      {"alibi-attention", variant(AttentionVariant::Alibi)},
      {"dense-attention", addDenseAttentionCommand(app)},
      {"flash-attention", addFlashAttentionCommand(app)},
      {"launch", addLaunchCommand(app)},
      {"matmul", addMatmulCommand(app)},
      {"mlp", addMlpCommand(app)},
      {"sigmoid-attention", variant(AttentionVariant::Sigmoid)},
      {"sliding-window-attention", variant(AttentionVariant::SlidingWindow)},
      {"softcap-attention", variant(AttentionVariant::Softcap)},
  };
  return runTool(app, commands, argc, argv);
}
