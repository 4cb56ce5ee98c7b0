//===- CudaModule.h - Code on a device ------------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From PTX or a cubin to functions that can be launched. A module belongs to
// one device: for another, load it again. Handles: copies share the code, and a
// function keeps its module loaded.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_CUDAMODULE_H
#define FLASHTILE_RUNTIME_CUDA_CUDAMODULE_H

#include "runtime/cuda/CudaLaunch.h"
#include "runtime/cuda/CudaStream.h"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace flashtile {

/// How the driver's compiler turns PTX into code.
struct PtxOptions {
  int maxRegisters = 0;      ///< per thread; 0: as the kernel says
  int optimizationLevel = 4; ///< 0 to 4
  bool lineInfo = false;     ///< for profilers
};

struct LinkedCode {
  std::vector<char> cubin;
  /// What the compiler said: registers, spills, warnings.
  std::string log;
  double milliseconds = 0;
};

/// Compiles PTX for `device`. The cubin can be kept for loadCubin, on a GPU of
/// the same architecture. `name` stands in messages. Throws Compile with the
/// compiler's log; Unsupported, with both versions and what to do, for PTX that
/// is newer than the driver.
LinkedCode linkPtx(CudaDevice &device, std::string_view ptx,
                   const PtxOptions &options = {},
                   const std::string &name = "kernel");

class CudaFunction {
public:
  struct Attributes {
    int registers = 0;
    int localBytes = 0; ///< per thread: spills and stack
    int staticSharedBytes = 0;
    int maxThreadsPerBlock = 0;
  };

  const std::string &name() const;
  CudaDevice &device() const;
  cuda::FunctionHandle handle() const;
  const Attributes &attributes() const;

  /// Queues the kernel. `arguments` has, for each parameter of the kernel,
  /// where its value is; the values are copied before this returns. Throws
  /// InvalidArgument, with the value and the limit, for a grid, a block, a
  /// cluster or shared memory that the device does not allow, and Device, with
  /// the name of the kernel, for what the driver refuses. An empty grid runs
  /// nothing.
  void launch(const CudaStream &stream, const CudaLaunchConfig &config,
              const void *const *arguments) const;

  /// Launches a kernel that decodes its program from FlattenedGrid's hidden
  /// arguments, which are appended to the `count` of `arguments`.
  /// `config.grid` is ignored.
  void launch(const CudaStream &stream, const FlattenedGrid &grid,
              CudaLaunchConfig config, const void *const *arguments,
              size_t count) const;

  /// Blocks of this size that fit on one multiprocessor at once.
  int maxBlocksPerMultiprocessor(int threads, size_t dynamicSharedBytes) const;

private:
  friend class CudaModule;
  class PackedParameters;
  struct Impl;
  explicit CudaFunction(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  void checkConfig(const CudaStream &stream,
                   const CudaLaunchConfig &config) const;
  void allowSharedMemory(size_t dynamicBytes) const;
  void launch(const CudaStream &stream, const CudaLaunchConfig &config,
              void **arguments, void **extra) const;
  void synchronizeForErrors(const CudaStream &stream) const;

  std::shared_ptr<Impl> impl;
};

class CudaModule {
public:
  /// Copies nothing of `image` after it returns. Throws Device for code of
  /// another architecture or a broken image.
  static CudaModule loadCubin(CudaDevice &device, const void *image,
                              size_t numBytes,
                              const std::string &name = "kernel");
  /// linkPtx and loadCubin in one.
  static CudaModule loadPtx(CudaDevice &device, std::string_view ptx,
                            const PtxOptions &options = {},
                            const std::string &name = "kernel");

  /// Compiles and loads PTX as a whole program. The driver's linker compiles
  /// units of a program, which costs Hopper's kernels their budgets of
  /// registers and lets every `wgmma` wait for the one before (C7504 and C7509
  /// of ptxas). There is no cubin to keep: the driver keeps its own cache.
  static CudaModule loadWholePtx(CudaDevice &device, std::string_view ptx,
                                 const PtxOptions &options = {},
                                 const std::string &name = "kernel");

  CudaDevice &device() const;
  /// Of loadPtx and loadWholePtx; empty and 0 after loadCubin.
  const std::string &linkLog() const;
  double linkMilliseconds() const;

  /// Throws NotFound if the module has no kernel of this name.
  CudaFunction function(const std::string &name) const;

private:
  friend class CudaFunction;
  struct Impl;
  explicit CudaModule(std::shared_ptr<Impl> impl) : impl(std::move(impl)) {}
  std::shared_ptr<Impl> impl;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_CUDA_CUDAMODULE_H
