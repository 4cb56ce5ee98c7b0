//===- Kernel.cpp - A compiled kernel that can be launched ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Kernel.h"

#include "runtime/KernelCode.h"
#include "runtime/LaunchArguments.h"
#include "runtime/ProgramRunner.h"

using namespace flashtile;

const std::string &Kernel::name() const { return code->kernel.info.name; }

const std::vector<KernelArgument> &Kernel::arguments() const {
  return code->kernel.info.arguments;
}

std::string Kernel::signature() const { return code->kernel.info.signature(); }

KernelReport Kernel::report() const {
  KernelReport report;
  static_cast<CompileReport &>(report) = code->module->report;
  report.kernel = name();
  report.arenaBytes = code->kernel.arenaBytes;
  if (code->gpu)
    code->gpu->describe(report);
  return report;
}

std::string KernelReport::toString() const {
  std::string text = "kernel " + kernel + ": " + std::to_string(codeBytes) +
                     " bytes of object code";
  if (!onGpu)
    text += ", " + std::to_string(arenaBytes) + " bytes of scratch memory";
  text += fromCache ? ", from cache\n" : "\n";
  for (const GpuEntryReport &entry : entries)
    text += entry.toString();
  return text + CompileReport::toString();
}

static Kernel::Grid gridOf(const detail::KernelCode &code,
                           const NamedArgument *named, size_t count) {
  return LaunchArguments(code.kernel.info, code.device, named, count,
                         /*gridOnly=*/true)
      .grid();
}

Kernel::Grid
Kernel::grid(std::initializer_list<NamedArgument> arguments) const {
  return gridOf(*code, arguments.begin(), arguments.size());
}

Kernel::Grid Kernel::grid(const std::vector<NamedArgument> &arguments) const {
  return gridOf(*code, arguments.data(), arguments.size());
}

static void run(const detail::KernelCode &code,
                const LaunchArguments &arguments) {
  const Kernel::Grid grid = arguments.grid();
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return;
  // Before the programs run: a failed one may have stored something, too.
  arguments.bumpVersions();
  if (code.gpu)
    code.gpu->launch(grid, arguments);
  else
    runPrograms(code.kernel, grid, arguments.pointers());
}

void Kernel::launch(std::initializer_list<NamedArgument> arguments) const {
  run(*code, LaunchArguments(code->kernel.info, code->device, arguments.begin(),
                             arguments.size()));
}

void Kernel::launch(const std::vector<NamedArgument> &arguments) const {
  run(*code, LaunchArguments(code->kernel.info, code->device, arguments.data(),
                             arguments.size()));
}

void Kernel::launchPositional(const ArgumentValue *values, size_t count) const {
  run(*code, LaunchArguments(code->kernel.info, code->device, values, count));
}
