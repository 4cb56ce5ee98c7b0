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

#include "tools/Support/OutputFiles.h"
#include "tools/fa-run/Commands.h"

#include "compiler/Support/Error.h"
#include "runtime/Jit.h"
#include "runtime/Npy.h"

#include <fmt/core.h>

#include <algorithm>
#include <chrono>
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
    refuse("expected " + option + ", but got '" + text + "'");
  return {text.substr(0, equals), text.substr(equals + 1)};
}

static int64_t integerOf(const std::string &name, const std::string &text) {
  if (std::optional<int64_t> value = parseInteger(text))
    return *value;
  refuse("argument '" + name + "': expected an integer of 64 bits, but got '" +
         text + "'");
}

/// "f32[2, 3]" after "zeros:" as a tensor of zeros.
static Tensor parseZeros(const std::string &text) {
  size_t open = text.find('[');
  if (open == std::string::npos || text.back() != ']')
    refuse("expected zeros:TYPE[EXTENT, ...], but got 'zeros:" + text + "'");
  auto type = parseElementType(text.substr(0, open));
  if (!type)
    refuse("unknown element type '" + text.substr(0, open) + "'");
  Shape shape;
  std::string extents = text.substr(open + 1, text.size() - open - 2);
  for (size_t begin = 0; begin <= extents.size() && !extents.empty();) {
    size_t comma = std::min(extents.find(',', begin), extents.size());
    std::string extent = extents.substr(begin, comma - begin);
    extent.erase(0, extent.find_first_not_of(' '));
    std::optional<int64_t> value = parseInteger(extent);
    if (!value || *value < 0)
      refuse("expected extents of 0 or more, but got '" + extent +
             "' in 'zeros:" + text + "'");
    shape.push_back(*value);
    begin = comma + 1;
  }
  return Tensor::zeros(shape, *type);
}

static Tensor parseTensor(const KernelArgument &argument,
                          const std::string &text) {
  try {
    if (text.rfind("zeros:", 0) == 0) {
      Tensor tensor = parseZeros(text.substr(6));
      if (tensor.dtype() != argument.type)
        refuse("expected zeros of type " + toString(argument.type) +
               ", but got '" + text + "'");
      return tensor;
    }
    NpyReadOptions options;
    options.dtype = argument.type;
    return readNpy(text, options);
  } catch (const Error &error) {
    throw Error(error.code(),
                "argument '" + argument.name + "': " + error.what());
  }
}

static ArgumentValue parseValue(const KernelArgument &argument,
                                const std::string &text, Device device,
                                std::map<std::string, Tensor> &tensors) {
  if (argument.isPointer)
    return tensors[argument.name] = parseTensor(argument, text).to(device);
  if (!isFloat(argument.type))
    return integerOf(argument.name, text);
  if (std::optional<double> value = parseReal(text))
    return *value;
  refuse("argument '" + argument.name + "': expected a number, but got '" +
         text + "'");
}

/// The arguments of the launch in the kernel's order; `tensors` gets those that
/// are pointers.
static std::vector<NamedArgument>
parseArguments(const Kernel &kernel, const std::vector<std::string> &values,
               Device device, std::map<std::string, Tensor> &tensors) {
  std::map<std::string, std::string> texts;
  for (const std::string &value : values) {
    auto [name, text] = splitPair("--arg NAME=VALUE", value);
    if (!texts.emplace(name, text).second)
      refuse("argument '" + name + "' is given twice");
  }
  std::vector<NamedArgument> launch;
  for (const KernelArgument &argument : kernel.arguments()) {
    auto it = texts.find(argument.name);
    if (it == texts.end())
      refuse("argument '" + argument.name + "' is missing; " +
             kernel.signature());
    launch.push_back(
        {argument.name, parseValue(argument, it->second, device, tensors)});
    texts.erase(it);
  }
  if (!texts.empty())
    refuse("no argument '" + texts.begin()->first + "'; " + kernel.signature());
  return launch;
}

static Module loadModule(const std::string &file, Device device) {
  try {
    return Jit(device).load(file);
  } catch (const Error &error) {
    // What is wrong with the file as a whole has no place in it.
    if (std::string(error.what()).find(file) != std::string::npos)
      throw;
    throw Error(error.code(), "'" + file + "': " + error.what());
  }
}

static Kernel loadKernel(const KernelArguments &arguments, Device device) {
  Module module = loadModule(arguments.file, device);
  if (!arguments.name.empty())
    return module.kernel(arguments.name);
  if (module.kernels().size() == 1)
    return module.kernel();
  std::string names;
  for (const Kernel &kernel : module.kernels())
    names += (names.empty() ? "'" : ", '") + kernel.name() + "'";
  refuse("expected --name for one of the kernels of '" + arguments.file +
         "', which are " + names);
}

static int runKernel(const KernelArguments &arguments) {
  Device device = targetDevice(arguments.target);
  Kernel kernel = loadKernel(arguments, device);
  std::map<std::string, Tensor> tensors;
  std::vector<NamedArgument> launch =
      parseArguments(kernel, arguments.values, device, tensors);
  OutputFiles outputs;
  for (const std::string &save : arguments.saves) {
    auto [name, path] = splitPair("--save NAME=FILE", save);
    if (!tensors.count(name))
      refuse("--save: no tensor argument '" + name + "'; " +
             kernel.signature());
    outputs.open(name, path);
  }

  auto begin = std::chrono::steady_clock::now();
  kernel.launch(launch);
  // Waits for a GPU, and counts the way back.
  for (auto &[name, tensor] : tensors)
    tensor = tensor.to(Device::cpu());
  std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  Kernel::Grid grid = kernel.grid(launch);
  fmt::print("{} on {}: grid {} x {} x {}, ran in {:.3f} ms\n",
             kernel.signature(), arguments.target, grid[0], grid[1], grid[2],
             elapsed.count());
  if (arguments.report)
    fmt::print("{}", kernel.report().toString());
  else
    printWarnings("fa-run", kernel);
  NpyWriteOptions write;
  if (arguments.asFloat32)
    write.narrow = NpyNarrow::AsFloat32;
  for (const auto &[name, tensor] : tensors)
    outputs.write(name, tensor, write);
  outputs.commit();
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
