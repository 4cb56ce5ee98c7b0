//===- fa-run.cpp - Runs kernels on files and judges them -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// fa-run attention, fa-run kernel, fa-run golden: see --help of each.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-run/Commands.h"

#include "compiler/Support/Error.h"
#include "runtime/Device.h"

#include <cstdio>
#include <map>

using namespace flashtile;
using namespace flashtile::tools;

void flashtile::tools::addTargetOption(CLI::App &command, std::string &target) {
  target = "cpu";
  command.add_option("--target", target, "Where to run: cpu")
      ->capture_default_str();
}

void flashtile::tools::checkTarget(const std::string &target) {
  if (!Device::parse(target).isCpu())
    throw Error(ErrorCode::Unsupported,
                "target '" + target +
                    "' is not available in this build; the "
                    "cpu target works");
}

int main(int argc, char **argv) {
  CLI::App app("Runs tile kernels on .npy files and judges the results.");
  app.name("fa-run");
  app.require_subcommand(1);
  std::map<std::string, Command> commands = {
      {"attention", addAttentionCommand(app)},
      {"golden", addGoldenCommand(app)},
      {"kernel", addKernelCommand(app)},
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    // Help is a success; everything else is the one way a command fails.
    return app.exit(error) == 0 ? 0 : 1;
  }
  try {
    return commands.at(app.get_subcommands().front()->get_name())();
  } catch (const std::exception &error) {
    std::fprintf(stderr, "fa-run: error: %s\n", error.what());
    return 1;
  }
}
