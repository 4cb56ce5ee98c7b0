//===- TestTarget.h - Where the numeric tests run their kernels -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FLASHTILE_TEST_TARGET chooses, for all tests of the program:
//   cpu (or unset)   the cpu target
//   ptx              code for sm_80, interpreted (PtxMachine.h)
//   ptx_sm_90a       code for sm_90a, interpreted
//   cuda             the first GPU, through the runtime
//   sm_80, sm_90a    kernels are compiled for it, and assembled where there is
//                    a ptxas; results are those of the cpu target
// On all but the cpu, FLASHTILE_TEST_WARPS and FLASHTILE_TEST_STAGES say by how
// many warps and stages; unset: as CompilerOptions has it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_TESTTARGET_H
#define FLASHTILE_TESTS_COMPILER_CPU_TESTTARGET_H

#include "compiler/Driver/Compiler.h"

#include <array>

#include <memory>
#include <string>
#include <vector>

namespace flashtile::cputest {

class Argument;
struct Outcome;

enum class TestTarget { Cpu, Ptx, Cuda, Sm80, Sm90a };
TestTarget testTarget();
/// The code that runs is the gpu targets'.
bool runsGpuCode();
/// A failed assertion can be seen, and the tests go on: on a GPU it ends the
/// context, and its message goes to the standard output, as printing does.
bool seesAssertions();
/// Why tests cannot run on the target; empty where they can.
std::string whyTargetIsMissing();
/// `many` on the cpu and on a GPU, `few` where code is interpreted.
template <typename T>
T unlessInterpreted(T many, T few) {
  return testTarget() == TestTarget::Ptx ? few : many;
}

/// Memory that kernels get pointers to: a GPU works on copies of it, which are
/// written back.
void registerMemory(void *begin, size_t bytes);
void forgetMemory(void *begin);

/// Kernels for a gpu target.
class GpuProgram {
public:
  virtual ~GpuProgram();
  virtual Outcome run(const std::string &kernel,
                      const std::vector<Argument> &arguments) const = 0;
  CompileReport report;
};

/// Compiles for the test's target, which is not the cpu. An empty `error` means
/// success; for Sm80 and Sm90a there is no program.
struct GpuProgramResult {
  std::unique_ptr<GpuProgram> program;
  std::string error;
};
/// By as many warps as the tests are asked for where `numWarps` is 0.
GpuProgramResult compileForGpuTests(const std::string &text,
                                    int64_t numWarps = 0);

/// Extents of the grid, x first.
std::array<int32_t, 3> gridOf(const KernelInfo &info,
                              const std::vector<Argument> &arguments);

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_TESTTARGET_H
