//===- FuzzTest.cpp - Random programs against the scalar reference --------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// By hand, for longer: FLASHTILE_FUZZ_SEEDS=1000:2000 cpu-fuzz-tests
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/KernelRunner.h"
#include "tests/compiler/cpu/RandomProgram.h"

#include <cstdio>
#include <cstdlib>
#include <random>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class Fuzz : public OnTheTarget {};
} // namespace

/// Numbers for every memory: small, so that float arithmetic stays exact.
static std::vector<std::vector<int64_t>>
initialContents(const RandomProgram &program, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<std::vector<int64_t>> contents;
  for (const MemorySpec &memory : program.memories) {
    std::vector<int64_t> values(memory.elements);
    for (int64_t &value : values) {
      int64_t number = int64_t(random() % 9) - 4;
      if (memory.name[0] == 'i' && !isFloat(memory.element))
        number = int64_t(random()) >> (random() % 64);
      value = wrapTo(memory.element, number);
    }
    contents.push_back(std::move(values));
  }
  return contents;
}

/// Whether the program ran as the reference does.
static bool runProgram(uint64_t seed, ProgramFlavour flavour,
                       const std::string &cpu) {
  RandomProgram random = generateProgram(seed, flavour);
  std::string text = random.text();
  Program compiled(text, cpu);
  if (!compiled)
    return false;
  auto contents = initialContents(random, seed);
  std::vector<Memory> memories;
  for (size_t i = 0; i < random.memories.size(); ++i)
    memories.push_back(make(random.memories[i].element,
                            random.memories[i].elements,
                            [&](int64_t p) { return contents[i][p]; }));
  std::vector<Argument> arguments(memories.begin(), memories.end());
  arguments.push_back(int32_t(0));
  compiled.run(arguments);
  random.interpret(contents);
  for (size_t i = 0; i < memories.size(); ++i)
    for (int64_t p = 0; p < memories[i].size(); ++p) {
      bool equal = isFloat(memories[i].type())
                       ? memories[i].get(p) == double(contents[i][p])
                       : memories[i].getInteger(p) == contents[i][p];
      if (equal)
        continue;
      ADD_FAILURE() << "%" << random.memories[i].name << "[" << p << "] is "
                    << memories[i].get(p) << ", expected " << contents[i][p]
                    << "\n"
                    << text;
      return false;
    }
  return true;
}

static std::pair<uint64_t, uint64_t> seeds(uint64_t begin, uint64_t end) {
  unsigned long long from, to;
  if (const char *range = std::getenv("FLASHTILE_FUZZ_SEEDS"))
    if (std::sscanf(range, "%llu:%llu", &from, &to) == 2)
      return {from, to};
  return {begin, end};
}

static void fuzz(ProgramFlavour flavour, uint64_t count) {
  auto [begin, end] = seeds(0, count);
  for (uint64_t seed = begin; seed < end; ++seed) {
    const auto &list = processors();
    const std::string &cpu = list[seed % list.size()];
    SCOPED_TRACE("seed " + std::to_string(seed) + " for " + cpu);
    if (!runProgram(seed, flavour, cpu))
      return;
  }
}

TEST_F(Fuzz, ShapesAgreeWithTheReference) { fuzz(ProgramFlavour::Shapes, 60); }

TEST_F(Fuzz, ProgramsAgreeWithTheReference) {
  fuzz(ProgramFlavour::Everything, 60);
}
