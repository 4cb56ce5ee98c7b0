//===- TestTarget.cpp - Kernels of the gpu targets in tests ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/TestTarget.h"

#include "compiler/Driver/PtxAssembler.h"
#include "compiler/Support/Error.h"
#include "runtime/Jit.h"
#include "runtime/Tensor.h"
#include "runtime/cuda/CudaDevice.h"
#include "tests/compiler/cpu/InterpretedProgram.h"
#include "tests/compiler/cpu/KernelRunner.h"

#include <cstdlib>
#include <cstring>
#include <map>
#include <stdexcept>

using namespace flashtile;
using namespace flashtile::cputest;

GpuProgram::~GpuProgram() = default;

TestTarget cputest::testTarget() {
  static const TestTarget target = [] {
    const char *variable = std::getenv("FLASHTILE_TEST_TARGET");
    const std::string name = variable ? variable : "cpu";
    if (name == "cpu" || name.empty())
      return TestTarget::Cpu;
    if (name == "ptx" || name == "ptx_sm_90a")
      return TestTarget::Ptx;
    if (name == "cuda")
      return TestTarget::Cuda;
    if (name == "sm_80")
      return TestTarget::Sm80;
    if (name == "sm_90a")
      return TestTarget::Sm90a;
    std::fprintf(stderr,
                 "FLASHTILE_TEST_TARGET: expected cpu, ptx, ptx_sm_90a, cuda, "
                 "sm_80 or sm_90a, but got '%s'\n",
                 variable);
    std::exit(2);
  }();
  return target;
}

/// The instruction family that is compiled for.
static std::string familyOfTarget() {
  const char *variable = std::getenv("FLASHTILE_TEST_TARGET");
  return testTarget() == TestTarget::Sm90a ||
                 (variable && std::string(variable) == "ptx_sm_90a")
             ? "sm_90a"
             : "sm_80";
}

/// A number from the environment, or what holds without it.
static unsigned numberOf(const char *variable, unsigned otherwise) {
  const char *text = std::getenv(variable);
  if (!text || !*text)
    return otherwise;
  char *end = nullptr;
  const unsigned long value = std::strtoul(text, &end, 10);
  if (*end || value < 1 || value > 16) {
    std::fprintf(stderr, "%s: expected a number from 1 to 16, but got '%s'\n",
                 variable, text);
    std::exit(2);
  }
  return static_cast<unsigned>(value);
}

/// How programs are compiled: by so many warps and stages as are asked for.
static CompilerOptions optionsOfTests(int64_t numWarps) {
  CompilerOptions options;
  options.numWarps = numberOf("FLASHTILE_TEST_WARPS", options.numWarps);
  options.numStages = numberOf("FLASHTILE_TEST_STAGES", options.numStages);
  if (numWarps)
    options.numWarps = numWarps;
  return options;
}

bool cputest::runsGpuCode() {
  return testTarget() == TestTarget::Ptx || testTarget() == TestTarget::Cuda;
}

bool cputest::seesAssertions() { return testTarget() != TestTarget::Cuda; }

std::string cputest::whyTargetIsMissing() {
  std::string reason;
  if (testTarget() == TestTarget::Cuda && !CudaDevice::isAvailable(&reason))
    return reason;
  return {};
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static std::map<uint8_t *, size_t> &memories() {
  static std::map<uint8_t *, size_t> list;
  return list;
}

void cputest::registerMemory(void *begin, size_t bytes) {
  memories()[static_cast<uint8_t *>(begin)] = bytes;
}

void cputest::forgetMemory(void *begin) {
  memories().erase(static_cast<uint8_t *>(begin));
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

std::array<int32_t, 3> cputest::gridOf(const KernelInfo &info,
                                       const std::vector<Argument> &arguments) {
  std::vector<int64_t> integers;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const KernelArgument &argument = info.arguments[i];
    if (argument.isPointer || isFloat(argument.type))
      continue;
    int64_t value = 0;
    std::memcpy(&value, arguments[i].address(), elementSize(argument.type));
    integers.push_back(wrapTo(argument.type, value));
  }
  std::array<int32_t, 3> grid = {1, 1, 1};
  for (size_t axis = 0; axis < info.grid.size(); ++axis) {
    int64_t extent = 0;
    EXPECT_TRUE(info.grid[axis].evaluate(integers, extent));
    grid[axis] = static_cast<int32_t>(extent);
  }
  return grid;
}

namespace {
/// On a GPU, through the runtime.
class CudaProgram : public GpuProgram {
public:
  CudaProgram(const std::string &text, int64_t numWarps)
      : module(Jit(Device::cuda(0), optionsOfTests(numWarps))
                   .compile(text, "test")) {}

  Outcome run(const std::string &name,
              const std::vector<Argument> &arguments) const override {
    const Kernel &kernel = name.empty() ? module.kernel() : module.kernel(name);
    // Each registered memory once, however many arguments point to it.
    std::map<uint8_t *, Tensor> copies;
    std::vector<ArgumentValue> values;
    for (size_t i = 0; i < arguments.size(); ++i) {
      const KernelArgument &argument = kernel.arguments()[i];
      if (argument.isPointer)
        values.push_back(pointerOnDevice(arguments[i], copies));
      else
        values.push_back(number(argument.type, arguments[i]));
    }
    Outcome outcome;
    try {
      kernel.launchPositional(values.data(), values.size());
      for (auto &[begin, copy] : copies) {
        const Tensor back = copy.to(Device::cpu());
        std::memcpy(begin, back.rawData(), back.numel());
      }
    } catch (const Error &error) {
      outcome.failure = error.what();
    }
    return outcome;
  }

private:
  static ArgumentValue pointerOnDevice(const Argument &argument,
                                       std::map<uint8_t *, Tensor> &copies) {
    uint8_t *pointer;
    std::memcpy(&pointer, argument.address(), sizeof(pointer));
    auto memory = memories().upper_bound(pointer);
    if (memory == memories().begin())
      return nullptr;
    --memory;
    // One past the end belongs to the memory before it.
    if (pointer > memory->first + memory->second)
      return nullptr;
    auto copy = copies.find(memory->first);
    if (copy == copies.end()) {
      Tensor host =
          Tensor::empty({int64_t(memory->second)}, DType::I8, Device::cpu());
      std::memcpy(host.rawData(), memory->first, memory->second);
      copy = copies.emplace(memory->first, host.to(Device::cuda(0))).first;
    }
    return static_cast<uint8_t *>(copy->second.rawData()) +
           (pointer - memory->first);
  }

  static ArgumentValue number(ElementType type, const Argument &argument) {
    if (type == ElementType::F32) {
      float value;
      std::memcpy(&value, argument.address(), sizeof(value));
      return value;
    }
    if (type == ElementType::F64) {
      double value;
      std::memcpy(&value, argument.address(), sizeof(value));
      return value;
    }
    int64_t value = 0;
    std::memcpy(&value, argument.address(), elementSize(type));
    value = wrapTo(type, value);
    if (type == ElementType::I1)
      return value != 0;
    return value;
  }

  Module module;
};
} // namespace

//===----------------------------------------------------------------------===//
// Compilation
//===----------------------------------------------------------------------===//

GpuProgramResult cputest::compileForGpuTests(const std::string &text,
                                             int64_t numWarps) {
  GpuProgramResult result;
  if (testTarget() == TestTarget::Cuda) {
    try {
      result.program = std::make_unique<CudaProgram>(text, numWarps);
    } catch (const Error &error) {
      result.error = error.what();
    }
    return result;
  }
  CompilerOptions options = optionsOfTests(numWarps);
  options.target = familyOfTarget();
  options.verifyEach = true;
  ArtifactResult compiled = compileToArtifact(text, "test", options);
  if (!compiled.artifact) {
    result.error = "for " + options.target + ": " + compiled.error;
    return result;
  }
  ArtifactResult plain;
  for (const ArtifactKernel &kernel : compiled.artifact->kernels)
    if (kernel.hasPlainElsewhere && !plain.artifact) {
      options.plain = true;
      plain = compileToArtifact(text, "test", options);
      if (!plain.artifact) {
        result.error = "for " + options.target + ", plain: " + plain.error;
        return result;
      }
    }
  if (testTarget() != TestTarget::Ptx) {
    std::string missing;
    const std::string ptxas = findPtxas("", missing);
    for (const ArtifactResult *each : {&compiled, &plain})
      if (!ptxas.empty() && each->artifact && result.error.empty())
        result.error =
            assemblePtx(each->artifact->code, options.target, ptxas).error;
    return result;
  }
  try {
    result.program = interpretProgram(std::move(*compiled.artifact),
                                      std::move(plain.artifact));
    result.program->report = compiled.report;
  } catch (const std::exception &error) {
    result.error = error.what();
  }
  return result;
}
