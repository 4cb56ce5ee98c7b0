//===- GpuModule.h - Compiled kernels on a GPU ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to Jit and Kernel: from PTX to kernels that can be launched. The
// driver's own compiler makes code of PTX, which takes most of the time; what
// it made is kept in the artifact in place of the PTX.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_GPUMODULE_H
#define FLASHTILE_RUNTIME_GPUMODULE_H

#include "compiler/Driver/Compiler.h"
#include "runtime/GpuKernel.h"
#include "runtime/PlainModule.h"

#include <memory>
#include <string>
#include <vector>

namespace flashtile {

/// Compiled kernels and what launches them, in the same order.
class GpuModule : public CompiledModule {
public:
  std::vector<std::shared_ptr<const GpuKernel>> gpuKernels;

  /// The kernel of this name, or null.
  const GpuKernel *find(const std::string &name) const;
};

/// The instruction family for a GPU: "sm_90a" on Hopper, "sm_80" on every other
/// since Ampere; FLASHTILE_CUDA_TARGET asks for another one. Throws Unsupported
/// for older GPUs and where the GPU or the driver does not run what is asked
/// for. A driver for CUDA 12.0 does not read what sm_90a takes: sm_80 there.
std::string gpuTarget(const CudaDevice &device);

/// The same for any device, named `description` in errors, any driver, and
/// what is asked for; "": nothing.
std::string gpuTarget(const CudaDeviceProperties &properties, int driverVersion,
                      const std::string &asked, const std::string &description);

/// What code for this GPU depends on besides the options: its architecture and
/// the driver, whose compiler made it.
std::string gpuIdentity(const CudaDevice &device);

/// Replaces the PTX of `artifact` by code for the device, with what the driver
/// said of its functions, and adds the time to the report. Throws Compile with
/// the driver's log.
void assemble(KernelArtifact &artifact, CudaDevice &device,
              CompileReport &report);

/// Loads code made by assemble(). Throws Device where the driver refuses it.
/// `compilePlain` makes the module of the functions that the artifact says to
/// be elsewhere, once a launch needs one.
std::unique_ptr<GpuModule> loadOnGpu(KernelArtifact artifact,
                                     CudaDevice &device, CompileReport report,
                                     PlainModule::Compile compilePlain = {});

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_GPUMODULE_H
