//===- DriverFloor.cpp - What the driver takes by itself ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/DriverFloor.h"

#include "runtime/cuda/CudaMemory.h"
#include "runtime/cuda/CudaModule.h"
#include "tools/fa-bench/DriverWatch.h"

#include <array>
#include <cstddef>
#include <vector>

using namespace flashtile;
using namespace flashtile::cuda;
using namespace flashtile::tools;

/// The list of addresses in place of the block that `launch` has.
static std::vector<void *> argumentsOf(const DriverApi &api,
                                       const DriverLaunch &launch) {
  auto *block = static_cast<std::byte *>(launch.extra[1]);
  std::vector<void *> list;
  size_t offset = 0, size = 0;
  while (api.cuFuncGetParamInfo(launch.function, list.size(), &offset, &size) ==
         success)
    list.push_back(block + offset);
  return list;
}

void tools::measureBareLaunch(CudaDevice &device,
                              const std::function<void()> &launch,
                              const MeasureFunction &measure) {
  const CudaStream own = CudaStream::create(device);
  DriverWatch watch(device.api());
  watch.onLaunch = [&](const DriverLaunch &shown, const DriverApi &api) {
    measure("bare launch of it",
            [&](Result &result) { result = shown.repeat(api); });
    DriverLaunch other = shown;
    other.config.stream = own.handle();
    measure("bare launch of it in another stream",
            [&](Result &result) { result = other.repeat(api); });
    if (!shown.extra)
      return;
    std::vector<void *> arguments = argumentsOf(api, shown);
    other = shown;
    other.arguments = arguments.data();
    other.extra = nullptr;
    measure("bare launch of it with a list of arguments",
            [&](Result &result) { result = other.repeat(api); });
  };
  launch();
}

/// A kernel that does nothing, with parameters like those of `count` arguments.
static CudaFunction emptyKernel(CudaDevice &device, size_t count,
                                const std::string &type) {
  std::string ptx = ".version 7.0\n.target sm_80\n.address_size 64\n"
                    ".visible .entry empty(";
  for (size_t i = 0; i < count; ++i) {
    const std::string name = "p" + std::to_string(i);
    ptx += (i ? ", .param " : ".param ") +
           (type == "map" ? ".align 64 .b8 " + name + "[128]" : type + name);
  }
  return CudaModule::loadPtx(device, ptx + ") {\n  ret;\n}\n")
      .function("empty");
}

static void measureEmptyKernels(CudaDevice &device,
                                const MeasureFunction &measure) {
  const CudaStream own = CudaStream::create(device);
  const DriverTensorMap value{};
  std::array<void *, 32> arguments;
  arguments.fill(const_cast<DriverTensorMap *>(&value));
  struct {
    const char *name;
    size_t count;
    const char *type;
    StreamHandle stream;
  } cases[] = {
      {"bare launch of a kernel with one pointer", 1, ".u64 ", nullptr},
      {"the same in another stream", 1, ".u64 ", own.handle()},
      {"bare launch of one with 32 integers", 32, ".u64 ", nullptr},
      {"bare launch of one with 4 tensor maps", 4, "map", nullptr},
  };
  for (const auto &each : cases) {
    const CudaFunction function = emptyKernel(device, each.count, each.type);
    measure(each.name, [&](Result &result) {
      result =
          device.api().cuLaunchKernel(function.handle(), 1, 1, 1, 32, 1, 1, 0,
                                      each.stream, arguments.data(), nullptr);
    });
  }
}

void tools::measureBareCalls(CudaDevice &device,
                             const MeasureFunction &measure) {
  const DriverApi &api = device.api();
  measure("cuCtxPushCurrent and cuCtxPopCurrent", [&](Result &result) {
    ContextHandle popped = nullptr;
    result = api.cuCtxPushCurrent(device.context());
    if (result == success)
      result = api.cuCtxPopCurrent(&popped);
  });
  const ContextGuard guard(device);
  measureEmptyKernels(device, measure);
  measure("cuCtxGetCurrent", [&](Result &result) {
    ContextHandle current = nullptr;
    result = api.cuCtxGetCurrent(&current);
  });
  if (device.memoryPool())
    measure("cuMemAllocAsync and cuMemFreeAsync", [&](Result &result) {
      DevicePointer pointer = 0;
      result = api.cuMemAllocAsync(&pointer, 16384, nullptr);
      if (result == success)
        result = api.cuMemFreeAsync(pointer, nullptr);
    });
  if (device.properties().computeMajor < 9)
    return;
  const DeviceMemory memory(CudaStream::legacy(device), 16384);
  measure("cuTensorMapEncodeTiled", [&](Result &result) {
    const uint64_t shape[] = {64, 128}, strides[] = {128};
    const uint32_t box[] = {64, 64}, steps[] = {1, 1};
    constexpr int bf16 = 9, swizzle128 = 3, promotion256 = 3;
    DriverTensorMap map;
    result = api.cuTensorMapEncodeTiled(
        &map, bf16, 2, reinterpret_cast<void *>(memory.address()), shape,
        strides, box, steps, /*interleave=*/0, swizzle128, promotion256,
        /*fill=*/0);
  });
}
