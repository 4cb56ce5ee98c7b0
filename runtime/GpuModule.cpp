//===- GpuModule.cpp - Compiled kernels on a GPU --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/GpuModule.h"

#include "compiler/Support/Error.h"
#include "runtime/cuda/CudaBackend.h"

using namespace flashtile;

std::string flashtile::gpuTarget(const CudaDevice &device) {
  const CudaDeviceProperties &properties = device.properties();
  if (properties.computeMajor < 8)
    throw Error(ErrorCode::Unsupported,
                "expected a GPU of architecture sm_80 or newer, but " +
                    device.describe() + " is older; the cpu target works");
  const bool isHopper =
      properties.computeMajor == 9 && properties.computeMinor == 0;
  return isHopper ? "sm_90a" : "sm_80";
}

std::string flashtile::gpuIdentity(const CudaDevice &device) {
  return device.properties().architecture() + " driver " +
         std::to_string(device.driverVersion());
}

void flashtile::assemble(KernelArtifact &artifact, CudaDevice &device,
                         CompileReport &report) {
  LinkedCode code =
      linkPtx(device, artifact.code, {}, artifact.kernels.front().info.name);
  report.stages.push_back({"driver", code.milliseconds});
  artifact.code.assign(code.cubin.begin(), code.cubin.end());
  artifact.format = CodeFormat::Cubin;
}

std::unique_ptr<GpuModule> flashtile::loadOnGpu(KernelArtifact artifact,
                                                CudaDevice &device,
                                                CompileReport report) {
  auto module = std::make_unique<GpuModule>();
  const CudaModule loaded =
      CudaModule::loadCubin(device, artifact.code.data(), artifact.code.size(),
                            artifact.kernels.front().info.name);
  report.codeBytes = artifact.code.size();
  report.remarks = std::move(artifact.remarks);
  report.warnings = std::move(artifact.warnings);
  module->report = std::move(report);
  for (ArtifactKernel &kernel : artifact.kernels) {
    module->functions.push_back(loaded.function(kernel.info.name));
    static_cast<ArtifactKernel &>(module->kernels.emplace_back()) =
        std::move(kernel);
  }
  return module;
}

void flashtile::launchOnGpu(const CudaFunction &function,
                            const CompiledKernel &kernel,
                            const Kernel::Grid &grid,
                            const LaunchArguments &arguments) {
  const CudaStream stream = CudaStream::current(function.device());
  constexpr int64_t threadsPerWarp = 32;
  CudaLaunchConfig config;
  config.block = {kernel.numWarps * threadsPerWarp, 1, 1};
  config.dynamicSharedBytes = kernel.sharedBytes;
  function.launch(stream, FlattenedGrid(grid), config, arguments.pointers(),
                  kernel.info.arguments.size());
  arguments.forEachTensor(
      [&](const Tensor &tensor) { recordUse(tensor, stream); });
}
