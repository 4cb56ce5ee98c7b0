//===- PtxAssembler.cpp - PTX to code by NVIDIA's ptxas -------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/PtxAssembler.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/raw_ostream.h"

#include <chrono>

using namespace llvm;

namespace flashtile {

std::string findPtxas(const std::string &wanted, std::string &error) {
  if (!wanted.empty()) {
    if (sys::fs::can_execute(wanted))
      return wanted;
    error =
        "no ptxas: FLASHTILE_PTXAS names '" + wanted + "', which is no program";
    return {};
  }
  constexpr const char *kToolkit = "/usr/local/cuda/bin";
  if (auto found = sys::findProgramByName("ptxas"))
    return *found;
  if (auto found = sys::findProgramByName("ptxas", {kToolkit}))
    return *found;
  error = std::string("no ptxas on PATH or in ") + kToolkit +
          ": install a CUDA toolkit, or have FLASHTILE_PTXAS name it";
  return {};
}

/// The content of a file; empty where it cannot be read.
static std::string contentOf(StringRef path) {
  auto buffer = MemoryBuffer::getFile(path);
  return buffer ? (*buffer)->getBuffer().str() : std::string();
}

AssembledPtx assemblePtx(std::string_view ptx, std::string_view target,
                         const std::string &ptxas) {
  AssembledPtx result;
  const auto begin = std::chrono::steady_clock::now();
  SmallString<128> folder;
  if (std::error_code failed =
          sys::fs::createUniqueDirectory("flashtile-ptxas", folder)) {
    result.error = "cannot make a temporary folder: " + failed.message();
    return result;
  }
  scope_exit cleanUp([&] { sys::fs::remove_directories(folder); });
  const std::string input = (folder + "/kernel.ptx").str();
  const std::string output = (folder + "/kernel.cubin").str();
  const std::string words = (folder + "/log").str();
  std::error_code failed;
  {
    raw_fd_ostream stream(input, failed);
    if (!failed) {
      stream << StringRef(ptx.data(), ptx.size());
      stream.flush();
      failed = stream.error();
      stream.clear_error();
    }
  }
  if (failed) {
    result.error = "cannot write '" + input + "': " + failed.message();
    return result;
  }
  const std::string architecture = "-arch=" + std::string(target);
  std::string problem;
  const int status = sys::ExecuteAndWait(
      ptxas, {ptxas, "-v", architecture, "-o", output, input}, std::nullopt,
      {StringRef(""), StringRef(words), StringRef(words)},
      /*SecondsToWait=*/0, /*MemoryLimit=*/0, &problem);
  result.text = StringRef(contentOf(words)).rtrim().str();
  result.log = PtxLog::parse(result.text);
  result.milliseconds = std::chrono::duration<double, std::milli>(
                            std::chrono::steady_clock::now() - begin)
                            .count();
  if (status == 0)
    result.cubin = contentOf(output);
  if (!result.cubin.empty())
    return result;
  result.error = "'" + ptxas + "' failed for " + std::string(target);
  if (!problem.empty())
    result.error += ": " + problem;
  result.error +=
      result.text.empty() ? " without a message" : ":\n" + result.text;
  return result;
}

} // namespace flashtile
