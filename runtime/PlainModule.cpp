//===- PlainModule.cpp - Functions that few launches need -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/PlainModule.h"

#include "compiler/Support/Error.h"
#include "runtime/GpuModule.h"

using namespace flashtile;

PlainModule::~PlainModule() = default;

const GpuKernel &PlainModule::kernel(const std::string &name) {
  const GpuModule *module = ifLoaded();
  if (!module) {
    const std::lock_guard<std::mutex> lock(mutex);
    module = ifLoaded();
    if (!module) {
      storage = compile();
      module = dynamic_cast<const GpuModule *>(storage.get());
      if (!module)
        throw Error(ErrorCode::Internal, "plain functions of kernel '" + name +
                                             "' were not compiled for a GPU");
      loaded.store(module, std::memory_order_release);
    }
  }
  if (const GpuKernel *found = module->find(name))
    return *found;
  throw Error(ErrorCode::Internal,
              "no plain function of kernel '" + name + "' was compiled");
}
