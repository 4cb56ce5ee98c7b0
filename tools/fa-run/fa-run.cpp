//===- fa-run.cpp - Runs kernels on files and judges them -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fa-run attention, fa-run kernel, fa-run golden: see --help of each.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-run/Commands.h"

using namespace flashtile::tools;

int main(int argc, char **argv) {
  CLI::App app("Runs tile kernels on .npy files and judges the results.");
  app.name("fa-run");
  app.require_subcommand(1);
  const std::map<std::string, Command> commands = {
      {"attention", addAttentionCommand(app)},
      {"golden", addGoldenCommand(app)},
      {"kernel", addKernelCommand(app)},
  };
  return runTool(app, commands, argc, argv);
}
