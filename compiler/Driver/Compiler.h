//===- Compiler.h - From kernels as text to code that runs ----------- ===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one entry to the compiler for tools and the runtime. Headers of MLIR and
// LLVM stay behind it, and so do exceptions: failures come back as text.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_COMPILER_H
#define FLASHTILE_COMPILER_DRIVER_COMPILER_H

#include "compiler/Driver/CompilerOptions.h"
#include "compiler/Driver/KernelArtifact.h"
#include "compiler/Driver/KernelInfo.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flashtile {

struct StageTime {
  std::string stage;
  double milliseconds = 0;
};

struct CompileReport {
  std::vector<StageTime> stages;
  /// "file:line:col: remark: ...", in the order of compilation.
  std::vector<std::string> remarks;
  /// Warnings, in the same form.
  std::vector<std::string> warnings;
  /// Bytes of the object code.
  size_t codeBytes = 0;
  /// The code was compiled by an earlier process and kept on disk: the stages
  /// are those of reading and loading it.
  bool fromCache = false;

  double totalMilliseconds() const;
  /// Stages, warnings and remarks, a line each, indented by two blanks.
  std::string toString() const;
};

/// Entry point of a kernel on the cpu: `arguments[i]` points to the value of
/// argument i (for pointers, to the pointer); `ids` holds three program ids and
/// three grid extents; `context` goes to the callbacks; `arena` is scratch
/// memory of `arenaBytes`, aligned to 64 bytes.
using CpuEntry = void (*)(const void *const *arguments, const int32_t *ids,
                          void *context, void *arena);

/// A kernel of an artifact, loaded.
struct CompiledKernel : ArtifactKernel {
  CpuEntry entry = nullptr;
};

/// Functions that kernels call for `tile.assert` and `tile.print`.
struct CpuCallbacks {
  void (*fail)(void *context, const char *message) = nullptr;
  void (*printBegin)(void *context, const char *prefix,
                     const char *type) = nullptr;
  void (*printFloat)(void *context, double value) = nullptr;
  void (*printInteger)(void *context, int64_t value) = nullptr;
  void (*printEnd)(void *context) = nullptr;
};

/// Kernels loaded into this process; their code lives as long as it does.
class CompiledModule {
public:
  virtual ~CompiledModule();
  std::vector<CompiledKernel> kernels;
  CompileReport report;
};

/// Either a module or what was wrong, as diagnostics one per line. `internal`
/// says that the fault is the compiler's and not the program's.
struct CompileResult {
  std::unique_ptr<CompiledModule> module;
  std::string error;
  bool internal = false;
};

/// Either an artifact or what was wrong, as in CompileResult.
struct ArtifactResult {
  std::optional<KernelArtifact> artifact;
  /// Without remarks and warnings, which are in the artifact.
  CompileReport report;
  std::string error;
  bool internal = false;
};

/// Compiles every kernel of a module given as text: to object code for the cpu,
/// to PTX for "sm_80" and "sm_90a". `fileName` stands in diagnostics. Safe to
/// call from several threads.
ArtifactResult compileToArtifact(std::string_view text,
                                 std::string_view fileName,
                                 const CompilerOptions &options);

/// Loads an artifact for the cpu. `report` is of what came before: of the
/// compilation, say. Any failure is internal.
CompileResult loadArtifact(KernelArtifact artifact,
                           const CpuCallbacks &callbacks,
                           CompileReport report = {});

/// Compiles every kernel of a module given as text and loads it. `fileName`
/// stands in diagnostics. Safe to call from several threads.
CompileResult compileForCpu(std::string_view text, std::string_view fileName,
                            const CompilerOptions &options,
                            const CpuCallbacks &callbacks);

/// Forms of output that translate() knows.
enum class OutputKind { LLVMDialect, LLVMIR, Assembly, Object, Ptx };

/// Compiles to text or object code. An empty `error` means success.
struct TranslateResult {
  std::string output;
  CompileReport report;
  std::vector<ArtifactKernel> kernels;
  std::string error;
};
TranslateResult translateForCpu(std::string_view text,
                                std::string_view fileName,
                                const CompilerOptions &options,
                                OutputKind kind);

/// The same for "sm_80" and "sm_90a": LLVMDialect, LLVMIR or Ptx. Operations
/// that these targets do not compile yet are errors that name them.
TranslateResult translateForGpu(std::string_view text,
                                std::string_view fileName,
                                const CompilerOptions &options,
                                OutputKind kind);

/// Names, arguments and grids of the kernels of a module, without compiling.
struct InspectResult {
  std::vector<KernelInfo> kernels;
  std::string error;
};
InspectResult inspectKernels(std::string_view text, std::string_view fileName);

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_COMPILER_H
