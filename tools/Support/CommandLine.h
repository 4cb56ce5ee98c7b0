//===- CommandLine.h - What tools with commands share -----------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each command adds its options to the parser and is run by runTool() when it
// was named. A command throws flashtile::Error; its result is the exit status.
// Whatever is wrong ends with one line on stderr and exit status 1.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_SUPPORT_COMMANDLINE_H
#define FLASHTILE_TOOLS_SUPPORT_COMMANDLINE_H

#include "runtime/Device.h"
#include "runtime/Kernel.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace flashtile::tools {

/// What runs once the command line is parsed.
using Command = std::function<int()>;

/// Parses the command line and runs the command that it names. `app` has a name
/// and requires one of the subcommands, which are those of `commands`.
int runTool(CLI::App &app, const std::map<std::string, Command> &commands,
            int argc, char **argv);

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
/// The device that a target names. Throws InvalidArgument for other text, and
/// Unsupported or NotFound where there is no driver or no such GPU.
Device targetDevice(const std::string &target);

/// Replaces the line of progress on a terminal; "" removes it.
void showProgress(const std::string &text);

/// What compiling warned of, on stderr.
void printWarnings(const std::string &tool, const Kernel &kernel);

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_SUPPORT_COMMANDLINE_H
