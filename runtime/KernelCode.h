//===- KernelCode.h - What is behind a Kernel -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to Kernel and Jit.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_KERNELCODE_H
#define FLASHTILE_RUNTIME_KERNELCODE_H

#include "compiler/Driver/Compiler.h"
#include "runtime/Device.h"
#include "runtime/GpuKernel.h"

#include <memory>

namespace flashtile::detail {

/// One kernel of a module, which it keeps loaded.
struct KernelCode {
  std::shared_ptr<const CompiledModule> module;
  const CompiledKernel &kernel; ///< in `module`
  Device device;
  std::shared_ptr<const GpuKernel> gpu; ///< null on the cpu
};

} // namespace flashtile::detail

#endif // FLASHTILE_RUNTIME_KERNELCODE_H
