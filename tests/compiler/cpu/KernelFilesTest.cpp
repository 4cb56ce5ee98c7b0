//===- KernelFilesTest.cpp - Kernels in files, on two targets -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each file of the folder `kernels` has a kernel and says how to launch it:
//
//   // compile: warps=8 stages=3 persistent=dynamic
//   // launch: a=f16[4096] o=f32[64]! n=64 s=64:i64 x=0.5:f32 p=null
//
// A tensor has small integers as elements; one with `!` is compared behind the
// launch: what the code of sm_90a and of sm_80 writes there, interpreted
// (PtxMachine.h) in both orders of threads and copies, has to be what the cpu
// target writes, bit for bit. `+2` behind a tensor moves the pointer by that
// many elements. Every `compile` line is tried with every `launch` line, and
// without one, four warps.
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compiler.h"
#include "tests/compiler/cpu/InterpretedProgram.h"
#include "tests/compiler/cpu/KernelRunner.h"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <fstream>
#include <sstream>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
struct KernelFile {
  std::string text;
  std::vector<std::string> compiles, launches;
};

/// The arguments of a launch.
struct Launch {
  std::deque<Memory> memories;
  std::vector<Argument> arguments;
  std::vector<Memory *> results;
};

class KernelFiles : public testing::TestWithParam<std::string> {};
} // namespace

static KernelFile readKernelFile(const std::string &name) {
  KernelFile file;
  std::ifstream stream(std::string(FLASHTILE_KERNEL_FILES) + "/" + name);
  for (std::string line; std::getline(stream, line);) {
    file.text += line + "\n";
    for (auto [key, list] : {std::pair("// compile:", &file.compiles),
                             std::pair("// launch:", &file.launches)})
      if (line.rfind(key, 0) == 0)
        list->push_back(line.substr(std::string(key).size()));
  }
  if (file.compiles.empty())
    file.compiles.emplace_back();
  return file;
}

static ElementType typeNamed(const std::string &name) {
  for (int i = 0; i <= int(ElementType::I64); ++i)
    if (elementTypeName(ElementType(i)) == name)
      return ElementType(i);
  throw std::runtime_error("no element type " + name);
}

template <typename Fn>
static void forWords(const std::string &line, Fn fn) {
  std::istringstream words(line);
  for (std::string word; words >> word;) {
    const size_t equals = word.find('=');
    fn(word.substr(0, equals), word.substr(equals + 1));
  }
}

static CompilerOptions compilerOptions(const std::string &line) {
  CompilerOptions options;
  options.verifyEach = true;
  forWords(line, [&](const std::string &name, const std::string &value) {
    if (name == "warps")
      options.numWarps = std::stoll(value);
    else if (name == "stages")
      options.numStages = std::stoll(value);
    else if (name == "persistent")
      options.persistent = value;
    else
      throw std::runtime_error("no option " + name);
  });
  return options;
}

static void addArgument(const std::string &value, Launch &launch) {
  if (value == "null") {
    launch.arguments.emplace_back(static_cast<void *>(nullptr));
    return;
  }
  const size_t open = value.find('['), colon = value.find(':');
  if (open != std::string::npos) {
    const ElementType type = typeNamed(value.substr(0, open));
    const int64_t count = std::stoll(value.substr(open + 1));
    const std::string rest = value.substr(value.find(']') + 1);
    const int64_t moved = rest.find('+') == std::string::npos
                              ? 0
                              : std::stoll(rest.substr(rest.find('+') + 1));
    const auto seed = int64_t(launch.memories.size());
    Memory &memory =
        launch.memories.emplace_back(make(type, count + moved, [=](int64_t i) {
          return (i * 7919 + i / 61 * 31 + seed * 17) % 1009 % 5 - 2;
        }));
    launch.arguments.emplace_back(static_cast<uint8_t *>(memory.data()) +
                                  moved * int64_t(elementSize(type)));
    if (rest.find('!') != std::string::npos)
      launch.results.push_back(&memory);
    return;
  }
  const std::string type =
      colon == std::string::npos ? "i32" : value.substr(colon + 1);
  if (type == "i32")
    launch.arguments.emplace_back(int32_t(std::stoll(value)));
  else if (type == "i64")
    launch.arguments.emplace_back(int64_t(std::stoll(value)));
  else if (type == "f32")
    launch.arguments.emplace_back(std::stof(value));
  else if (type == "i1")
    launch.arguments.emplace_back(std::stoll(value) != 0);
  else
    throw std::runtime_error("no number of type " + type);
}

/// The elements of the results behind a launch.
template <typename Run>
static std::vector<std::vector<uint64_t>> resultsOf(const std::string &line,
                                                    Run run) {
  Launch launch;
  forWords(line, [&](const std::string &, const std::string &value) {
    addArgument(value, launch);
  });
  run(launch.arguments);
  std::vector<std::vector<uint64_t>> all;
  for (Memory *memory : launch.results) {
    std::vector<uint64_t> &bits = all.emplace_back();
    for (int64_t i = 0; i < memory->size(); ++i)
      bits.push_back(memory->bits(i));
  }
  return all;
}

static bool hasPlainElsewhere(const KernelArtifact &artifact) {
  return std::any_of(
      artifact.kernels.begin(), artifact.kernels.end(),
      [](const ArtifactKernel &kernel) { return kernel.hasPlainElsewhere; });
}

static std::unique_ptr<GpuProgram> interpret(const KernelFile &file,
                                             CompilerOptions options,
                                             const std::string &target) {
  options.target = target;
  ArtifactResult compiled = compileToArtifact(file.text, "test", options);
  ArtifactResult plain;
  if (compiled.artifact && hasPlainElsewhere(*compiled.artifact)) {
    options.plain = true;
    plain = compileToArtifact(file.text, "test", options);
  }
  if (!compiled.artifact || !plain.error.empty()) {
    ADD_FAILURE() << target << ": " << compiled.error << plain.error;
    return nullptr;
  }
  if (std::getenv("FLASHTILE_TEST_REMARKS"))
    for (const std::string &remark : compiled.report.remarks)
      std::printf("%s\n", remark.c_str());
  return interpretProgram(std::move(*compiled.artifact),
                          std::move(plain.artifact));
}

TEST_P(KernelFiles, GiveTheSameBits) {
  const KernelFile file = readKernelFile(GetParam());
  ASSERT_FALSE(file.launches.empty());
  const Program reference(file.text);
  for (const std::string &compile : file.compiles)
    for (const char *target : {"sm_90a", "sm_80"}) {
      const std::unique_ptr<GpuProgram> program =
          interpret(file, compilerOptions(compile), target);
      if (!program)
        continue;
      for (const std::string &line : file.launches) {
        const auto expected = resultsOf(
            line, [&](const auto &arguments) { reference.run(arguments); });
        for (int order = 0; order < 2; ++order) {
          const auto actual = resultsOf(line, [&](const auto &arguments) {
            program->run("", arguments);
          });
          for (size_t number = 0; number < expected.size(); ++number)
            for (size_t i = 0; i < expected[number].size(); ++i)
              ASSERT_EQ(actual[number][i], expected[number][i])
                  << target << compile << ";" << line << "; result " << number
                  << ", element " << i;
        }
      }
    }
}

static std::vector<std::string> kernelFiles() {
  std::vector<std::string> names;
  for (const auto &entry :
       std::filesystem::directory_iterator(FLASHTILE_KERNEL_FILES))
    if (entry.path().extension() == ".mlir")
      names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(, KernelFiles, testing::ValuesIn(kernelFiles()),
                         [](const auto &info) {
                           std::string name = info.param;
                           name.resize(name.size() - 5);
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });
