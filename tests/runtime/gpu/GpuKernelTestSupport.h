//===- GpuKernelTestSupport.h - Artifacts by hand for a scripted driver ---===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_GPU_GPUKERNELTESTSUPPORT_H
#define FLASHTILE_TESTS_RUNTIME_GPU_GPUKERNELTESTSUPPORT_H

#include "runtime/GpuModule.h"
#include "runtime/KernelCode.h"
#include "tests/runtime/cuda/CudaTest.h"

namespace flashtile {

using Op = GridExpr::Op;

inline GridExpr constant(int64_t value) { return {{{Op::Constant, value}}}; }
inline GridExpr argument(int64_t number) { return {{{Op::Argument, number}}}; }
inline GridExpr product(int64_t a, int64_t b) {
  return {{{Op::Argument, a}, {Op::Argument, b}, {Op::Multiply, 0}}};
}

/// k(x: ptr<bf16>, y: ptr<bf16>, rows: i64, stride: i64, batch: i32), whose
/// grid is (rows ceildiv 64, batch). x has a tensor map of three dimensions,
/// 64, rows and batch; the last has stride rows * stride. `k__plain` has none.
inline KernelArtifact mappedArtifact() {
  KernelArtifact artifact;
  artifact.target = "sm_90a";
  artifact.format = CodeFormat::Cubin;
  artifact.code = "\177ELF" + std::string(100, 'x');
  ArtifactKernel &kernel = artifact.kernels.emplace_back();
  kernel.info.name = "k";
  kernel.info.arguments = {{"x", true, ElementType::BF16, false},
                           {"y", true, ElementType::BF16, true},
                           {"rows", false, ElementType::I64, false},
                           {"stride", false, ElementType::I64, false},
                           {"batch", false, ElementType::I32, false}};
  kernel.info.grid = {
      {{{Op::Argument, 0}, {Op::Constant, 64}, {Op::CeilDiv, 0}}}, argument(2)};
  GpuEntry &entry = kernel.entries.emplace_back();
  entry.symbol = "k";
  entry.numThreads = 160;
  entry.sharedBytes = 100000;
  entry.sharedBuffers = {{"ring of x", 0, 98304}, {"barriers", 98304, 1696}};
  TensorMapParameter &map = entry.tensorMaps.emplace_back();
  map.element = ElementType::BF16;
  map.swizzleBytes = 128;
  map.box = {64, 64, 1};
  map.extents = {constant(64), argument(0), argument(2)};
  map.strides = {argument(1), product(0, 1)};
  GpuEntry &plain = kernel.entries.emplace_back();
  plain.symbol = "k__plain";
  plain.numThreads = 128;
  plain.sharedBytes = 4096;
  return artifact;
}

/// The kernel of an artifact on device 0.
inline Kernel kernelOf(KernelArtifact artifact) {
  CudaDevice &device = CudaDevice::get(0);
  std::shared_ptr<const GpuModule> module =
      loadOnGpu(std::move(artifact), device, {});
  return Kernel(std::make_shared<const detail::KernelCode>(detail::KernelCode{
      module, module->kernels[0], device.device(), module->gpuKernels[0]}));
}

} // namespace flashtile

#endif // FLASHTILE_TESTS_RUNTIME_GPU_GPUKERNELTESTSUPPORT_H
