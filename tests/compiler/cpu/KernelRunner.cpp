//===- KernelRunner.cpp - Compiles kernel text and runs it ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/KernelRunner.h"

#include "runtime/Float16.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <csetjmp>
#include <cstdlib>
#include <limits>
#include <thread>

using namespace flashtile;
using namespace flashtile::cputest;

static constexpr size_t kCanaryBytes = 4096;

const std::vector<std::string> &cputest::processors() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> list = {"host"};
    if (testTarget() != TestTarget::Cpu)
      return list;
#if defined(__x86_64__)
    bool wide = __builtin_cpu_supports("avx512f");
    bool v3 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    if (wide && v3)
      list.push_back("x86-64-v3");
    if (v3)
      list.push_back("x86-64");
#endif
    return list;
  }();
  return names;
}

std::string cputest::fill(
    std::string text,
    const std::vector<std::pair<std::string, std::string>> &replacements) {
  auto sorted = replacements;
  std::sort(sorted.begin(), sorted.end(), [](const auto &a, const auto &b) {
    return a.first.size() > b.first.size();
  });
  for (const auto &[name, value] : sorted) {
    std::string key = "$" + name;
    for (size_t at = text.find(key); at != std::string::npos;
         at = text.find(key, at + value.size()))
      text.replace(at, key.size(), value);
  }
  return text;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Memory::Memory(ElementType type, int64_t count)
    : elementType(type), count(count),
      bytes(count * elementSize(type) + kCanaryBytes, 0xFF) {
  registerMemory(bytes.data(), bytes.size());
}

Memory::~Memory() {
  if (bytes.empty())
    return; // moved from
  forgetMemory(bytes.data());
  auto canary = bytes.end() - kCanaryBytes;
  auto wrong = std::find_if(canary, bytes.end(),
                            [](uint8_t byte) { return byte != 0xFF; });
  EXPECT_TRUE(wrong == bytes.end())
      << "the kernel wrote " << wrong - canary << " bytes past the end of "
      << count << " elements of " << elementTypeName(elementType);
}

uint64_t Memory::bits(int64_t index) const {
  uint64_t pattern = 0;
  std::memcpy(&pattern, &bytes[index * elementSize(elementType)],
              elementSize(elementType));
  return pattern;
}

void Memory::setBits(int64_t index, uint64_t pattern) {
  std::memcpy(&bytes[index * elementSize(elementType)], &pattern,
              elementSize(elementType));
}

bool Memory::isUntouched(int64_t index) const {
  return bits(index) == ~uint64_t(0) >> (64 - 8 * elementSize(elementType));
}

/// Pattern of a number, rounded once.
static uint64_t encode(ElementType type, double value) {
  switch (type) {
  case ElementType::F64: {
    uint64_t pattern;
    std::memcpy(&pattern, &value, sizeof(value));
    return pattern;
  }
  case ElementType::F32: {
    float narrow = static_cast<float>(value);
    uint32_t pattern;
    std::memcpy(&pattern, &narrow, sizeof(narrow));
    return pattern;
  }
  case ElementType::F16:
    return Float16(value).bits();
  case ElementType::BF16:
    return BFloat16(value).bits();
  case ElementType::F8E4M3FN:
    return Float8E4M3FN(value).bits();
  case ElementType::F8E5M2:
    return Float8E5M2(value).bits();
  default:
    return wrapTo(type, static_cast<int64_t>(value));
  }
}

static double decode(ElementType type, uint64_t pattern) {
  switch (type) {
  case ElementType::F64: {
    double value;
    std::memcpy(&value, &pattern, sizeof(value));
    return value;
  }
  case ElementType::F32: {
    float value;
    std::memcpy(&value, &pattern, sizeof(value));
    return value;
  }
  case ElementType::F16:
    return Float16::fromBits(pattern);
  case ElementType::BF16:
    return BFloat16::fromBits(pattern);
  case ElementType::F8E4M3FN:
    return Float8E4M3FN::fromBits(pattern);
  case ElementType::F8E5M2:
    return Float8E5M2::fromBits(pattern);
  default:
    return static_cast<double>(wrapTo(type, pattern));
  }
}

void Memory::set(int64_t index, double value) {
  setBits(index, encode(elementType, value));
}

void Memory::setInteger(int64_t index, int64_t value) {
  if (isFloat(elementType))
    set(index, static_cast<double>(value));
  else
    setBits(index, wrapTo(elementType, value));
}

double Memory::get(int64_t index) const {
  return decode(elementType, bits(index));
}

int64_t Memory::getInteger(int64_t index) const {
  return isFloat(elementType) ? static_cast<int64_t>(get(index))
                              : wrapTo(elementType, bits(index));
}

double cputest::roundTo(ElementType type, double value) {
  return decode(type, encode(type, value));
}

int64_t cputest::wrapTo(ElementType type, int64_t value) {
  switch (type) {
  case ElementType::I1:
    return value & 1;
  case ElementType::I8:
    return static_cast<int8_t>(value);
  case ElementType::I16:
    return static_cast<int16_t>(value);
  case ElementType::I32:
    return static_cast<int32_t>(value);
  default:
    return value;
  }
}

uint64_t cputest::canonicalBits(ElementType type, double value) {
  return encode(type, std::isnan(value)
                          ? std::numeric_limits<double>::quiet_NaN()
                          : value);
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

namespace {
/// The context that callbacks get. An assertion leaves the program by a jump:
/// compiled kernels hold nothing that would need to be released.
struct LaunchContext {
  Outcome outcome;
  std::jmp_buf stop;
};
} // namespace

static LaunchContext &contextOf(void *context) {
  return *static_cast<LaunchContext *>(context);
}

static CpuCallbacks callbacks() {
  CpuCallbacks list;
  list.fail = [](void *context, const char *message) {
    contextOf(context).outcome.failure = message;
    std::longjmp(contextOf(context).stop, 1);
  };
  list.printBegin = [](void *context, const char *prefix, const char *type) {
    contextOf(context).outcome.printed.push_back(std::string(prefix) + "|" +
                                                 type + "|");
  };
  list.printFloat = [](void *context, double value) {
    char text[32];
    std::snprintf(text, sizeof(text), " %g", value);
    contextOf(context).outcome.printed.back() += text;
  };
  list.printInteger = [](void *context, int64_t value) {
    contextOf(context).outcome.printed.back() += " " + std::to_string(value);
  };
  list.printEnd = [](void *) {};
  return list;
}

Program::Program(const std::string &text, const std::string &cpu,
                 int64_t numWarps) {
  if (testTarget() != TestTarget::Cpu) {
    GpuProgramResult compiled = compileForGpuTests(text, numWarps);
    if (!compiled.error.empty()) {
      ADD_FAILURE() << compiled.error << "\n" << text;
      return;
    }
    gpu = std::move(compiled.program);
    if (gpu)
      return;
  }
  CompilerOptions options;
  options.cpu = cpu;
  options.verifyEach = true;
  CompileResult result = compileForCpu(text, "test", options, callbacks());
  if (!result.module)
    ADD_FAILURE() << "for " << cpu << ": " << result.error << "\n" << text;
  module = std::move(result.module);
}

std::string cputest::compileError(const std::string &text) {
  CompileResult result =
      compileForCpu(text, "test", CompilerOptions(), callbacks());
  EXPECT_FALSE(result.module) << "expected an error, but this compiles:\n"
                              << text;
  EXPECT_FALSE(result.internal) << result.error;
  return result.error;
}

/// Scratch memory with a canary after it.
class Arena {
public:
  explicit Arena(int64_t bytes) : size(bytes) {
    size_t total = (bytes + kCanaryBytes + 63) / 64 * 64;
    memory.reset(std::aligned_alloc(64, total));
    std::memset(memory.get(), 0xFF, total);
  }
  ~Arena() {
    auto *canary = static_cast<uint8_t *>(memory.get()) + size;
    EXPECT_TRUE(std::all_of(canary, canary + kCanaryBytes, [](uint8_t byte) {
      return byte == 0xFF;
    })) << "the kernel wrote past the end of its scratch memory";
  }
  void *get() { return memory.get(); }

private:
  struct Free {
    void operator()(void *pointer) const { std::free(pointer); }
  };
  int64_t size;
  std::unique_ptr<void, Free> memory;
};

static std::vector<const void *>
addresses(const std::vector<Argument> &arguments) {
  std::vector<const void *> list;
  for (const Argument &argument : arguments)
    list.push_back(argument.address());
  return list;
}

Outcome Program::launch(const CompiledKernel &kernel,
                        const std::vector<Argument> &arguments) const {
  EXPECT_EQ(kernel.info.arguments.size(), arguments.size());
  auto grid = gridOf(kernel.info, arguments);
  auto list = addresses(arguments);
  Arena arena(kernel.arenaBytes);
  LaunchContext context;
  int64_t count = int64_t(grid[0]) * grid[1] * grid[2];
  for (volatile int64_t number = count; number-- > 0;) {
    int64_t program = number;
    int32_t ids[6] = {int32_t(program % grid[0]),
                      int32_t(program / grid[0] % grid[1]),
                      int32_t(program / grid[0] / grid[1]),
                      grid[0],
                      grid[1],
                      grid[2]};
    if (setjmp(context.stop) != 0)
      break;
    kernel.entry(list.data(), ids, &context, arena.get());
  }
  return context.outcome;
}

Outcome Program::run(const std::string &kernel,
                     const std::vector<Argument> &arguments) const {
  if (gpu)
    return gpu->run(kernel, arguments);
  if (!module)
    return {"did not compile", {}};
  for (const CompiledKernel &candidate : module->kernels)
    if (candidate.info.name == kernel)
      return launch(candidate, arguments);
  ADD_FAILURE() << "no kernel @" << kernel;
  return {};
}

Outcome Program::run(const std::vector<Argument> &arguments) const {
  if (gpu)
    return gpu->run("", arguments);
  if (!module)
    return {"did not compile", {}};
  EXPECT_EQ(module->kernels.size(), 1u);
  return launch(module->kernels.front(), arguments);
}

void Program::runThreaded(const std::vector<Argument> &arguments,
                          unsigned threads) const {
  if (gpu)
    gpu->run("", arguments);
  if (!module)
    return;
  const CompiledKernel &kernel = module->kernels.front();
  auto grid = gridOf(kernel.info, arguments);
  auto list = addresses(arguments);
  int64_t count = int64_t(grid[0]) * grid[1] * grid[2];
  std::atomic<int64_t> next = 0;
  std::vector<std::thread> pool;
  for (unsigned thread = 0; thread < threads; ++thread)
    pool.emplace_back([&] {
      Arena arena(kernel.arenaBytes);
      LaunchContext context;
      for (int64_t program = next++; program < count; program = next++) {
        int32_t ids[6] = {int32_t(program % grid[0]),
                          int32_t(program / grid[0] % grid[1]),
                          int32_t(program / grid[0] / grid[1]),
                          grid[0],
                          grid[1],
                          grid[2]};
        kernel.entry(list.data(), ids, &context, arena.get());
      }
    });
  for (std::thread &thread : pool)
    thread.join();
}
