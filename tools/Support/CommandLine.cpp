//===- CommandLine.cpp - What tools with commands share -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/Support/CommandLine.h"

#include "compiler/Support/Error.h"
#include "runtime/cuda/CudaDevice.h"

#include <cctype>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <regex>
#include <unistd.h>

using namespace flashtile;
using namespace flashtile::tools;

void flashtile::tools::addTargetOption(CLI::App &command, std::string &target) {
  target = "cpu";
  command.add_option("--target", target, "Where to run: cpu, cuda or cuda:N")
      ->capture_default_str();
}

Device flashtile::tools::targetDevice(const std::string &target) {
  Device device = Device::parse(target);
  if (device.isCuda())
    CudaDevice::get(device);
  return device;
}

void flashtile::tools::showProgress(const std::string &text) {
  if (isatty(STDERR_FILENO))
    std::fprintf(stderr, "\r%s\033[K", text.c_str());
}

void flashtile::tools::printWarnings(const std::string &tool,
                                     const Kernel &kernel) {
  const std::vector<std::string> warnings = kernel.report().warnings;
  for (const std::string &warning : warnings)
    std::fprintf(stderr, "%s: %s\n", tool.c_str(), warning.c_str());
}

std::optional<int64_t> flashtile::tools::parseInteger(const std::string &text) {
  // strtoll alone would take spaces, a plus sign, and 010 for 8.
  static const std::regex form("-?(0x[0-9a-fA-F]+|[0-9]+)");
  if (!std::regex_match(text, form))
    return std::nullopt;
  bool isHex = text.find('x') != std::string::npos;
  errno = 0;
  int64_t value = std::strtoll(text.c_str(), nullptr, isHex ? 16 : 10);
  if (errno == ERANGE)
    return std::nullopt;
  return value;
}

std::optional<double> flashtile::tools::parseReal(const std::string &text) {
  char *end = nullptr;
  errno = 0;
  double value = std::strtod(text.c_str(), &end);
  bool isWhole = end == text.c_str() + text.size();
  if (text.empty() || std::isspace(static_cast<unsigned char>(text[0])) ||
      !isWhole || (errno == ERANGE && std::isinf(value)))
    return std::nullopt;
  return value;
}

CLI::Validator flashtile::tools::positiveInteger() {
  return CLI::Validator(
      [](std::string &text) -> std::string {
        std::optional<int64_t> value = parseInteger(text);
        if (value && *value > 0)
          return {};
        return "expected a positive integer, but got '" + text + "'";
      },
      "POSITIVE");
}

CLI::Validator flashtile::tools::realNumber() {
  return CLI::Validator(
      [](std::string &text) -> std::string {
        if (parseReal(text))
          return {};
        return "expected a number, but got '" + text + "'";
      },
      "NUMBER");
}

/// What CLI11 found wrong with the command line, as one line.
static std::string describe(const CLI::ParseError &error, const CLI::App &app,
                            const std::map<std::string, Command> &commands,
                            const char *firstArgument) {
  std::string message = error.what();
  auto chosen = app.get_subcommands();
  if (chosen.empty()) {
    std::string names;
    for (const auto &[name, command] : commands)
      names += (names.empty() ? "" : ", ") + name;
    message = "expected a command, one of " + names;
    if (firstArgument)
      message += ", but got '" + std::string(firstArgument) + "'";
  }
  // "--q: At Most 1 required but received 2"
  size_t repeated = message.find(": At Most 1 required but received");
  if (repeated != std::string::npos)
    message = message.substr(0, repeated) + " is given more than once";
  std::string command = chosen.empty() ? "" : " " + chosen.front()->get_name();
  return message + "; see '" + app.get_name() + command + " --help'";
}

static std::string trimmed(std::string text) {
  while (!text.empty() && text.back() == '\n')
    text.pop_back();
  return text;
}

/// Whether a message begins like "file.mlir:3:5: error: ".
static bool startsWithPlace(const std::string &message) {
  static const std::regex place("^[^\n]*:[0-9]+:[0-9]+: error: ");
  return std::regex_search(message, place);
}

int flashtile::tools::runTool(CLI::App &app,
                              const std::map<std::string, Command> &commands,
                              int argc, char **argv) {
  // A write beyond the limit of file sizes fails like any other.
  std::signal(SIGXFSZ, SIG_IGN);
  auto fail = [&](const std::string &message) {
    std::fprintf(stderr, "%s: error: %s\n", app.get_name().c_str(),
                 trimmed(message).c_str());
    return 1;
  };
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success &help) {
    return app.exit(help);
  } catch (const CLI::ParseError &error) {
    return fail(describe(error, app, commands, argc > 1 ? argv[1] : nullptr));
  }
  try {
    int status = commands.at(app.get_subcommands().front()->get_name())();
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
      return fail(std::string("cannot write to stdout: ") +
                  std::strerror(errno));
    return status;
  } catch (const Error &error) {
    // Diagnostics of the compiler begin with their place in the source.
    if (error.code() != ErrorCode::Compile || !startsWithPlace(error.what()))
      return fail(error.what());
    std::fprintf(stderr, "%s\n", trimmed(error.what()).c_str());
    return 1;
  } catch (const std::exception &error) {
    return fail(error.what());
  }
}
