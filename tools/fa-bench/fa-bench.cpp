//===- fa-bench.cpp - Measures kernels ------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fa-bench flash-attention, dense-attention, matmul: see --help of each.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/Commands.h"

using namespace flashtile::tools;

int main(int argc, char **argv) {
  CLI::App app("Measures kernels over types and sizes, and compares the rates "
               "with those of other systems.");
  app.name("fa-bench");
  app.require_subcommand(1);
  const std::map<std::string, Command> commands = {
      {"dense-attention", addDenseAttentionCommand(app)},
      {"flash-attention", addFlashAttentionCommand(app)},
      {"matmul", addMatmulCommand(app)},
  };
  return runTool(app, commands, argc, argv);
}
