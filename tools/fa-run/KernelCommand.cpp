//===- KernelCommand.cpp - fa-run kernel ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Any kernel of a file on any arguments:
//   fa-run kernel add.mlir --arg x=x.npy --arg y=zeros:f32[1000] --arg n=1000
//       --save y=y.npy
//
//===----------------------------------------------------------------------===//

#include "tools/fa-run/Commands.h"

#include "compiler/Support/Error.h"
#include "runtime/Jit.h"
#include "runtime/Npy.h"

#include <fmt/core.h>

#include <chrono>
#include <cstdlib>
#include <map>
#include <memory>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct KernelArguments {
  std::string file, name, target;
  std::vector<std::string> values, saves;
  bool report = false, asFloat32 = false;
};
} // namespace

[[noreturn]] static void refuse(const std::string &message) {
  throw Error(ErrorCode::InvalidArgument, message);
}

/// "name=value" as a pair.
static std::pair<std::string, std::string> splitPair(const std::string &option,
                                                     const std::string &text) {
  size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos)
    refuse("expected " + option + " NAME=VALUE, but got '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

static int64_t parseInteger(const std::string &name, const std::string &text) {
  size_t used = 0;
  try {
    int64_t value = std::stoll(text, &used, 0);
    if (used == text.size())
      return value;
  } catch (const std::exception &) {
  }
  refuse("argument '" + name + "': expected an integer, but got '" + text +
         "'");
}

static double parseReal(const std::string &name, const std::string &text) {
  char *end = nullptr;
  double value = std::strtod(text.c_str(), &end);
  if (text.empty() || *end != '\0')
    refuse("argument '" + name + "': expected a number, but got '" + text +
           "'");
  return value;
}

/// "f32[2, 3]" after "zeros:" as a tensor of zeros.
static Tensor parseZeros(const std::string &name, const std::string &text) {
  size_t open = text.find('[');
  if (open == std::string::npos || text.back() != ']')
    refuse("argument '" + name +
           "': expected zeros:TYPE[EXTENT, ...], but got "
           "'zeros:" +
           text + "'");
  auto type = parseElementType(text.substr(0, open));
  if (!type)
    refuse("argument '" + name + "': unknown element type '" +
           text.substr(0, open) + "'");
  Shape shape;
  std::string extents = text.substr(open + 1, text.size() - open - 2);
  for (size_t begin = 0; begin < extents.size();) {
    size_t comma = std::min(extents.find(',', begin), extents.size());
    std::string extent = extents.substr(begin, comma - begin);
    extent.erase(0, extent.find_first_not_of(' '));
    shape.push_back(parseInteger(name, extent));
    begin = comma + 1;
  }
  return Tensor::zeros(shape, *type);
}

static ArgumentValue parseValue(const KernelArgument &argument,
                                const std::string &text,
                                std::map<std::string, Tensor> &tensors) {
  if (argument.isPointer) {
    Tensor tensor;
    if (text.rfind("zeros:", 0) == 0) {
      tensor = parseZeros(argument.name, text.substr(6));
    } else {
      NpyReadOptions options;
      options.dtype = argument.type;
      tensor = readNpy(text, options);
    }
    tensors[argument.name] = tensor;
    return tensor;
  }
  if (isFloat(argument.type))
    return parseReal(argument.name, text);
  return parseInteger(argument.name, text);
}

static int runKernel(const KernelArguments &arguments) {
  checkTarget(arguments.target);
  Module module = Jit().load(arguments.file);
  Kernel kernel =
      arguments.name.empty() ? module.kernel() : module.kernel(arguments.name);
  std::map<std::string, std::string> texts;
  for (const std::string &value : arguments.values) {
    auto [name, text] = splitPair("--arg", value);
    if (!texts.emplace(name, text).second)
      refuse("argument '" + name + "' is given twice");
  }
  std::map<std::string, Tensor> tensors;
  std::vector<NamedArgument> launch;
  for (const KernelArgument &argument : kernel.arguments()) {
    auto it = texts.find(argument.name);
    if (it == texts.end())
      refuse("argument '" + argument.name + "' is missing; " +
             kernel.signature());
    launch.push_back(
        {argument.name, parseValue(argument, it->second, tensors)});
    texts.erase(it);
  }
  if (!texts.empty())
    refuse("no argument '" + texts.begin()->first + "'; " + kernel.signature());
  std::vector<std::pair<std::string, std::string>> saves;
  for (const std::string &save : arguments.saves) {
    saves.push_back(splitPair("--save", save));
    if (!tensors.count(saves.back().first))
      refuse("--save: no tensor argument '" + saves.back().first + "'; " +
             kernel.signature());
  }

  auto begin = std::chrono::steady_clock::now();
  kernel.launch(launch);
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  Kernel::Grid grid = kernel.grid(launch);
  fmt::print("{} on {}: grid {} x {} x {}, ran in {:.3f} ms\n",
             kernel.signature(), arguments.target, grid[0], grid[1], grid[2],
             elapsed.count());
  if (arguments.report)
    fmt::print("{}", kernel.report().toString());
  NpyWriteOptions write;
  if (arguments.asFloat32)
    write.narrow = NpyNarrow::AsFloat32;
  for (const auto &[name, path] : saves)
    writeNpy(path, tensors.at(name), write);
  return 0;
}

Command flashtile::tools::addKernelCommand(CLI::App &app) {
  auto arguments = std::make_shared<KernelArguments>();
  CLI::App *command =
      app.add_subcommand("kernel", "Run a kernel of a .mlir file");
  command->add_option("file", arguments->file, "Tile kernels as text")
      ->required();
  command->add_option("--name", arguments->name,
                      "Which kernel, where the file has several");
  command
      ->add_option("--arg", arguments->values,
                   "NAME=VALUE: a number, or for a pointer a .npy file or "
                   "zeros:TYPE[EXTENT, ...]")
      ->take_all();
  command
      ->add_option("--save", arguments->saves,
                   "NAME=FILE.npy: write a tensor argument afterwards")
      ->take_all();
  command->add_flag("--float32", arguments->asFloat32,
                    "Write bf16 and fp8 as float32, not as bits");
  command->add_flag("--report", arguments->report,
                    "Print what compiling took and decided");
  addTargetOption(*command, arguments->target);
  return [arguments] { return runKernel(*arguments); };
}
