//===- Commands.h - The commands of fa-run ---------------------*- C++ -*-===//
//===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each command adds its options to the parser and is run by main() when it was
// named. A command throws flashtile::Error; its result is the exit status.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_RUN_COMMANDS_H
#define FLASHTILE_TOOLS_FA_RUN_COMMANDS_H

#include "runtime/Device.h"
#include "runtime/Kernel.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace flashtile::tools {

/// What main() runs once the command line is parsed.
using Command = std::function<int()>;

Command addAttentionCommand(CLI::App &app);
Command addGoldenCommand(CLI::App &app);
Command addKernelCommand(CLI::App &app);

/// Whether the text of an option is an integer above 0, or a number: validators
/// whose messages say what is wrong with the text.
CLI::Validator positiveInteger();
CLI::Validator realNumber();

/// All of `text` as a number, in decimal or with 0x; nothing for anything else
/// and for what the type cannot hold.
std::optional<int64_t> parseInteger(const std::string &text);
std::optional<double> parseReal(const std::string &text);

/// Adds `--target`, which goes to `target`.
void addTargetOption(CLI::App &command, std::string &target);
/// Replaces the line of progress on a terminal; "" removes it.
void showProgress(const std::string &text);

/// What compiling warned of, on stderr.
void printWarnings(const Kernel &kernel);

/// The device that a target names. Throws InvalidArgument for other text, and
/// Unsupported or NotFound where there is no driver or no such GPU.
Device targetDevice(const std::string &target);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_RUN_COMMANDS_H
