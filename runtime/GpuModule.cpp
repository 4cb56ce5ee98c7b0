//===- GpuModule.cpp - Compiled kernels on a GPU --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/GpuModule.h"

#include "compiler/Driver/PtxLog.h"
#include "compiler/Support/Error.h"
#include "runtime/EnvOptions.h"

using namespace flashtile;

std::string flashtile::gpuTarget(const CudaDeviceProperties &properties,
                                 int driverVersion, const std::string &asked,
                                 const std::string &description) {
  if (properties.computeMajor < 8)
    throw Error(ErrorCode::Unsupported,
                "expected a GPU of architecture sm_80 or newer, but " +
                    description + " is older; the cpu target works");
  const bool isHopper =
      properties.computeMajor == 9 && properties.computeMinor == 0;
  // Code for Hopper is PTX 8.1, that for all others 8.0.
  constexpr int hopperDriver = 12010;
  const bool isNewDriver = driverVersion >= hopperDriver;
  if (asked == "sm_90a" && !isHopper)
    throw Error(ErrorCode::Unsupported,
                "FLASHTILE_CUDA_TARGET=sm_90a needs a GPU of architecture "
                "sm_90, but " +
                    description + " is another one");
  if (asked == "sm_90a" && !isNewDriver)
    throw Error(ErrorCode::Unsupported,
                "FLASHTILE_CUDA_TARGET=sm_90a needs a driver for CUDA " +
                    cuda::versionText(hopperDriver) +
                    " or later, which reads PTX 8.1, but this one is for "
                    "CUDA " +
                    cuda::versionText(driverVersion));
  if (!asked.empty())
    return asked;
  return isHopper && isNewDriver ? "sm_90a" : "sm_80";
}

std::string flashtile::gpuTarget(const CudaDevice &device) {
  static const std::string asked = EnvOptions::read().cudaTarget;
  return gpuTarget(device.properties(), device.driverVersion(), asked,
                   device.describe());
}

std::string flashtile::gpuIdentity(const CudaDevice &device) {
  return device.properties().architecture() + " driver " +
         std::to_string(device.driverVersion());
}

const GpuKernel *GpuModule::find(const std::string &name) const {
  for (size_t i = 0; i < kernels.size(); ++i)
    if (kernels[i].info.name == name)
      return gpuKernels[i].get();
  return nullptr;
}

void flashtile::assemble(KernelArtifact &artifact, CudaDevice &device,
                         CompileReport &report) {
  if (artifact.target == "sm_90a")
    return; // loaded as it is, see loadWholePtx
  LinkedCode code =
      linkPtx(device, artifact.code, {}, artifact.kernels.front().info.name);
  report.stages.push_back({"driver", code.milliseconds});
  const PtxLog log = PtxLog::parse(code.log);
  log.addTo(artifact.kernels);
  artifact.warnings.insert(artifact.warnings.end(), log.advice.begin(),
                           log.advice.end());
  artifact.code.assign(code.cubin.begin(), code.cubin.end());
  artifact.format = CodeFormat::Cubin;
}

/// The artifact's code on the device. PTX is compiled here, and what the
/// assembler says of it goes to the report.
static CudaModule loadCode(KernelArtifact &artifact, CudaDevice &device,
                           CompileReport &report) {
  const std::string &name = artifact.kernels.front().info.name;
  if (artifact.format == CodeFormat::Cubin)
    return CudaModule::loadCubin(device, artifact.code.data(),
                                 artifact.code.size(), name);
  CudaModule module = CudaModule::loadWholePtx(device, artifact.code, {}, name);
  report.stages.push_back({"driver", module.linkMilliseconds()});
  const PtxLog log = PtxLog::parse(module.linkLog());
  log.addTo(artifact.kernels);
  artifact.warnings.insert(artifact.warnings.end(), log.advice.begin(),
                           log.advice.end());
  return module;
}

std::unique_ptr<GpuModule> flashtile::loadOnGpu(KernelArtifact artifact,
                                                CudaDevice &device,
                                                CompileReport report,
                                                PlainModule::Compile plain) {
  auto module = std::make_unique<GpuModule>();
  std::shared_ptr<PlainModule> elsewhere;
  if (plain)
    elsewhere = std::make_shared<PlainModule>(std::move(plain));
  const CudaModule loaded = loadCode(artifact, device, report);
  report.codeBytes = artifact.code.size();
  report.remarks = std::move(artifact.remarks);
  report.warnings = std::move(artifact.warnings);
  module->report = std::move(report);
  module->kernels.reserve(artifact.kernels.size());
  for (ArtifactKernel &kernel : artifact.kernels) {
    CompiledKernel &added = module->kernels.emplace_back();
    static_cast<ArtifactKernel &>(added) = std::move(kernel);
    module->gpuKernels.push_back(std::make_shared<GpuKernel>(
        loaded, added,
        added.hasPlainElsewhere ? elsewhere : std::shared_ptr<PlainModule>()));
  }
  return module;
}
