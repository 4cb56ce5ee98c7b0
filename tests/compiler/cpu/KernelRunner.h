//===- KernelRunner.h - Compiles kernel text and runs it ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the numeric tests share. They call the compiler's entry points directly,
// below the runtime, so that a fault is the compiler's. TestTarget.h says which
// target they test.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_KERNELRUNNER_H
#define FLASHTILE_TESTS_COMPILER_CPU_KERNELRUNNER_H

#include "compiler/Driver/Compiler.h"
#include "tests/compiler/cpu/TestTarget.h"

#include "gtest/gtest.h"

#include <array>
#include <cstring>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace flashtile::cputest {

/// Processors to compile for that this machine can run: vectors of 16 (where
/// it has AVX-512), 8 and 4 lanes on x86-64. Only "host" for gpu targets.
const std::vector<std::string> &processors();

/// `text` with each "$name" replaced. The longest name wins.
std::string
fill(std::string text,
     const std::vector<std::pair<std::string, std::string>> &replacements);

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

/// Elements of one type as kernels see them: prefilled with 0xFF, with 4 KiB
/// after it that nobody may write.
class Memory {
public:
  Memory(ElementType type, int64_t count);
  ~Memory();
  Memory(const Memory &) = delete;
  Memory(Memory &&other) = default; // the same bytes stay where they are

  ElementType type() const { return elementType; }
  int64_t size() const { return count; }
  void *data() { return bytes.data(); }

  /// Floats, rounded to the element type; integers keep their low bits.
  void set(int64_t index, double value);
  void setInteger(int64_t index, int64_t value);
  double get(int64_t index) const;
  int64_t getInteger(int64_t index) const;
  /// The stored pattern, zero-extended.
  uint64_t bits(int64_t index) const;
  void setBits(int64_t index, uint64_t pattern);
  /// Whether nothing was written at `index` since construction.
  bool isUntouched(int64_t index) const;

private:
  ElementType elementType;
  int64_t count;
  std::vector<uint8_t> bytes;
};

/// Memory of `count` elements, element i being `value(i)`.
template <typename Fn>
Memory make(ElementType type, int64_t count, Fn value) {
  Memory memory(type, count);
  for (int64_t i = 0; i < count; ++i) {
    if constexpr (std::is_integral_v<decltype(value(i))>)
      memory.setInteger(i, value(i));
    else
      memory.set(i, value(i));
  }
  return memory;
}

/// `value` rounded to the float type, as a double.
double roundTo(ElementType type, double value);
/// The low bits of `value` as a signed number (i1: 0 or 1).
int64_t wrapTo(ElementType type, int64_t value);

/// Pattern of `value` in the type; every NaN gives the same one.
uint64_t canonicalBits(ElementType type, double value);

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

/// The value of one kernel argument.
class Argument {
public:
  Argument(Memory &memory) : Argument(memory.data()) {}
  template <typename T>
  Argument(T value) {
    static_assert(sizeof(T) <= sizeof(storage));
    std::memcpy(storage.data(), &value, sizeof(T));
  }
  const void *address() const { return storage.data(); }

private:
  alignas(8) std::array<uint8_t, 8> storage = {};
};

/// What a launch left behind.
struct Outcome {
  /// Message of the `tile.assert` that stopped it, or empty.
  std::string failure;
  /// Lines of `tile.print`: "prefix|type|value value ...".
  std::vector<std::string> printed;
};

/// The kernels of one text, compiled. A text that does not compile is a
/// failure of the test, and its runs do nothing.
class Program {
public:
  /// `numWarps` are of the gpu targets.
  explicit Program(const std::string &text, const std::string &cpu = "host",
                   int64_t numWarps = 0);

  explicit operator bool() const { return module || gpu; }
  const CompileReport &report() const {
    return module ? module->report : gpu->report;
  }

  /// Runs every program of the grid, one after the other, the last first.
  Outcome run(const std::string &kernel,
              const std::vector<Argument> &arguments) const;
  /// The only kernel.
  Outcome run(const std::vector<Argument> &arguments) const;
  /// Runs the grid with that many threads at once.
  void runThreaded(const std::vector<Argument> &arguments,
                   unsigned threads) const;

private:
  Outcome launch(const CompiledKernel &kernel,
                 const std::vector<Argument> &arguments) const;

  std::unique_ptr<CompiledModule> module;
  std::unique_ptr<GpuProgram> gpu;
};

/// The diagnostics of a text that must not compile; fails where it does.
std::string compileError(const std::string &text);

/// Base of tests that run once for each vector shape.
class OnEachProcessor : public testing::TestWithParam<std::string> {
protected:
  void SetUp() override {
    if (std::string reason = whyTargetIsMissing(); !reason.empty())
      GTEST_SKIP() << reason;
  }
};

/// The same for tests that run once.
class OnTheTarget : public testing::Test {
protected:
  void SetUp() override {
    if (std::string reason = whyTargetIsMissing(); !reason.empty())
      GTEST_SKIP() << reason;
  }
};

#define FLASHTILE_ON_EACH_PROCESSOR(suite)                                     \
  INSTANTIATE_TEST_SUITE_P(                                                    \
      Cpu, suite, testing::ValuesIn(flashtile::cputest::processors()),         \
      [](const testing::TestParamInfo<std::string> &info) {                    \
        std::string name = info.param;                                         \
        for (char &c : name)                                                   \
          c = c == '-' ? '_' : c;                                              \
        return name;                                                           \
      })

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_KERNELRUNNER_H
