//===- FakeModules.cpp - Modules and launches of the scripted libcuda -----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/cuda/FakeDriverState.h"

#include <algorithm>
#include <cstring>

using namespace flashtile;
using namespace flashtile::cuda;
using namespace flashtile::fake;

namespace {
struct Function {
  std::string name;
  int device;
};
/// Where a link writes its logs, and the cubin it gives.
struct Link {
  char *errorLog = nullptr;
  char *infoLog = nullptr;
  std::vector<char> cubin;
};
} // namespace

static std::vector<std::unique_ptr<Function>> functions;
static std::map<ModuleHandle, int> modules;

//===----------------------------------------------------------------------===//
// Links and modules
//===----------------------------------------------------------------------===//

Result fake::cuLinkCreate(unsigned count, JitOption *options, void **values,
                          LinkHandle *handle) {
  ENTER();
  auto *link = new Link;
  for (unsigned i = 0; i < count; ++i) {
    driver().jitOptions[options[i]] = reinterpret_cast<size_t>(values[i]);
    if (options[i] == jitInfoLogBuffer)
      link->infoLog = static_cast<char *>(values[i]);
    if (options[i] == jitErrorLogBuffer)
      link->errorLog = static_cast<char *>(values[i]);
  }
  *handle = track<LinkHandle>("link", link);
  return success;
}
static Result writeLogs(Link &link, Result result) {
  std::strcpy(link.infoLog, driver().infoLog.c_str());
  if (result)
    std::strcpy(link.errorLog, driver().errorLog.c_str());
  return result;
}
Result fake::cuLinkAddData(LinkHandle handle, JitInputType type, void *data,
                           size_t size, const char *, unsigned, JitOption *,
                           void **) {
  const Lock lock(driver().mutex);
  Link &link = *reinterpret_cast<Link *>(handle);
  if (Result failure = enter(__func__))
    return writeLogs(link, failure);
  const char *text = static_cast<const char *>(data);
  if (type != jitInputPtx || text[size - 1] != '\0')
    return invalidValue;
  link.cubin.assign(128, 0);
  std::memcpy(link.cubin.data(), "\177ELF", 4);
  link.cubin.insert(link.cubin.end(), text, text + size);
  return success;
}
Result fake::cuLinkComplete(LinkHandle handle, void **cubin, size_t *size) {
  const Lock lock(driver().mutex);
  Link &link = *reinterpret_cast<Link *>(handle);
  if (Result failure = enter(__func__))
    return writeLogs(link, failure);
  *cubin = link.cubin.data();
  *size = link.cubin.size();
  return writeLogs(link, success);
}
Result fake::cuLinkDestroy(LinkHandle handle) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  delete static_cast<Link *>(untrack("link", handle));
  return failure;
}
Result fake::cuModuleLoadDataEx(ModuleHandle *module, const void *,
                                unsigned count, JitOption *options,
                                void **values) {
  const Lock lock(driver().mutex);
  const Result failure = enter(__func__);
  // PTX is compiled here, and what was said of it written as by a link.
  for (unsigned i = 0; i < count; ++i) {
    if (options[i] == jitInfoLogBuffer)
      std::strcpy(static_cast<char *>(values[i]), driver().infoLog.c_str());
    if (options[i] == jitErrorLogBuffer && failure)
      std::strcpy(static_cast<char *>(values[i]), driver().errorLog.c_str());
  }
  if (failure)
    return failure;
  *module = makeHandle<ModuleHandle>("module");
  modules[*module] = driver().currentDevice();
  return success;
}
Result fake::cuModuleUnload(ModuleHandle module) {
  modules.erase(module);
  ENTER_DESTROY("module", module);
  return success;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

Result fake::cuModuleGetFunction(FunctionHandle *function, ModuleHandle module,
                                 const char *name) {
  ENTER();
  if (std::strcmp(name, "missing") == 0)
    return notFound;
  functions.push_back(
      std::make_unique<Function>(Function{name, modules.at(module)}));
  *function = reinterpret_cast<FunctionHandle>(functions.back().get());
  return success;
}
Result fake::cuFuncGetAttribute(int *value, FunctionAttribute attribute,
                                FunctionHandle) {
  ENTER();
  const auto scripted = [](const char *name, int otherwise) {
    const auto &all = driver().functionAttributes;
    const auto found = all.find(name);
    return found == all.end() ? otherwise : found->second;
  };
  switch (attribute) {
  case functionRegisters:
    *value = scripted("registers", 32);
    break;
  case functionLocalBytes:
    *value = scripted("localBytes", 0);
    break;
  case functionStaticSharedBytes:
    *value = scripted("staticSharedBytes", 0);
    break;
  case functionMaxThreadsPerBlock:
    *value = scripted("maxThreadsPerBlock", 1024);
    break;
  case functionMaxDynamicSharedBytes:
    *value = 49152 - scripted("staticSharedBytes", 0);
    break;
  default:
    return invalidValue;
  }
  return success;
}
Result fake::cuFuncGetParamInfo(FunctionHandle, size_t index, size_t *offset,
                                size_t *size) {
  ENTER();
  const std::vector<size_t> &sizes = driver().parameterSizes;
  if (index >= sizes.size())
    return invalidValue;
  *offset = 0;
  for (size_t i = 0; i <= index; ++i) {
    const size_t alignment = std::min<size_t>(sizes[i], 64);
    *offset = (*offset + alignment - 1) / alignment * alignment;
    if (i < index)
      *offset += sizes[i];
  }
  *size = sizes[index];
  return success;
}
Result fake::cuFuncSetAttribute(FunctionHandle, FunctionAttribute, int) {
  ENTER();
  return success;
}

//===----------------------------------------------------------------------===//
// Launches
//===----------------------------------------------------------------------===//

static Result doLaunch(FunctionHandle handle, std::array<unsigned, 3> grid,
                       std::array<unsigned, 3> block,
                       std::array<unsigned, 3> cluster, unsigned sharedBytes,
                       StreamHandle stream, void **arguments, void **extra) {
  const Function &function = *reinterpret_cast<Function *>(handle);
  if (function.device != driver().currentDevice())
    return invalidHandle;
  fake::Launch launch{function.name,   grid,        block,
                      cluster,         sharedBytes, stream,
                      function.device, arguments,   {}};
  if (extra) {
    if (arguments ||
        reinterpret_cast<uintptr_t>(extra[0]) != launchExtraBlock ||
        reinterpret_cast<uintptr_t>(extra[2]) != launchExtraBytes ||
        reinterpret_cast<uintptr_t>(extra[4]) != launchExtraEnd)
      return invalidValue;
    const auto *bytes = static_cast<const std::byte *>(extra[1]);
    launch.packed.assign(bytes, bytes + *static_cast<const size_t *>(extra[3]));
  }
  driver().launches.push_back(launch);
  queue(stream, [launch] {
    if (driver().onLaunch)
      driver().onLaunch(launch);
  });
  return success;
}
Result fake::cuLaunchKernel(FunctionHandle function, unsigned gx, unsigned gy,
                            unsigned gz, unsigned bx, unsigned by, unsigned bz,
                            unsigned sharedBytes, StreamHandle stream,
                            void **arguments, void **extra) {
  ENTER(stream);
  return doLaunch(function, {gx, gy, gz}, {bx, by, bz}, {1, 1, 1}, sharedBytes,
                  stream, arguments, extra);
}
Result fake::cuLaunchKernelEx(const DriverLaunchConfig *config,
                              FunctionHandle function, void **arguments,
                              void **extra) {
  ENTER(config->stream);
  const auto array = [](const unsigned *values) {
    return std::array<unsigned, 3>{values[0], values[1], values[2]};
  };
  if (config->attributeCount != 1 ||
      config->attributes->id != launchAttributeClusterDimension)
    return invalidValue;
  return doLaunch(function, array(config->grid), array(config->block),
                  array(config->attributes->clusterDimension),
                  config->dynamicSharedBytes, config->stream, arguments, extra);
}
Result fake::cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks,
                                                         FunctionHandle,
                                                         int threads, size_t) {
  ENTER();
  *blocks = 2048 / threads;
  return success;
}
