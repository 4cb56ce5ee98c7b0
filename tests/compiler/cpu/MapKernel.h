//===- MapKernel.h - Kernels that apply an expression to every element ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_MAPKERNEL_H
#define FLASHTILE_TESTS_COMPILER_CPU_MAPKERNEL_H

#include "tests/compiler/cpu/KernelRunner.h"

namespace flashtile::cputest {

/// Elements that a program of a map kernel handles: whole vectors of each
/// shape and a rest.
constexpr int64_t kMapTile = 53;

/// A kernel that loads tiles %x0, %x1, ... of the given types, runs `body`,
/// and stores its tile %r. In the body, $Ti is the tile type of %xi, $R that
/// of %r, and $N the extent.
inline std::string mapKernel(const std::vector<ElementType> &inputs,
                             ElementType output, const std::string &body,
                             const std::string &name = "k") {
  auto text = [](ElementType type) {
    return std::string(elementTypeName(type));
  };
  std::string extent = std::to_string(kMapTile);
  std::string kernel = "tile.kernel @" + name + "(";
  for (size_t i = 0; i < inputs.size(); ++i)
    kernel +=
        "%p" + std::to_string(i) + ": !tile.ptr<" + text(inputs[i]) + ">, ";
  kernel += "%pr: !tile.ptr<" + text(output) +
            ">, %n: i64) grid(n) -> (n ceildiv " + extent + ") {\n" +
            "  %one = arith.constant 1 : i64\n  %extent = arith.constant " +
            extent +
            " : i64\n  %id32 = tile.program_id x\n"
            "  %id = arith.extsi %id32 : i32 to i64\n"
            "  %at = arith.muli %id, %extent : i64\n";
  auto window = [&](const std::string &suffix, ElementType type) {
    kernel += "  %w" + suffix + " = tile.make_block_ptr %p" + suffix +
              " shape [%n] strides [%one] offsets [%at] : !tile.ptr<" +
              text(type) + "> -> !tile.block_ptr<" + extent + "x" + text(type) +
              ">\n";
  };
  std::vector<std::pair<std::string, std::string>> names = {
      {"R", "tensor<" + extent + "x" + text(output) + ">"}, {"N", extent}};
  for (size_t i = 0; i < inputs.size(); ++i) {
    std::string suffix = std::to_string(i);
    window(suffix, inputs[i]);
    kernel += "  %x" + suffix + " = tile.load %w" + suffix +
              " : !tile.block_ptr<" + extent + "x" + text(inputs[i]) + ">\n";
    names.push_back(
        {"T" + suffix, "tensor<" + extent + "x" + text(inputs[i]) + ">"});
  }
  window("r", output);
  kernel += fill(body, names) + "\n  tile.store %wr, %r : !tile.block_ptr<" +
            extent + "x" + text(output) + ">\n  tile.return\n}\n";
  return kernel;
}

/// Results of a map kernel for these inputs, all of one length.
inline Memory runMap(const Program &program, ElementType output,
                     std::vector<Memory *> inputs,
                     const std::string &name = "k") {
  int64_t count = inputs.front()->size();
  Memory result(output, count);
  std::vector<Argument> arguments;
  for (Memory *input : inputs)
    arguments.push_back(*input);
  arguments.push_back(result);
  arguments.push_back(count);
  program.run(name, arguments);
  return result;
}

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_MAPKERNEL_H
