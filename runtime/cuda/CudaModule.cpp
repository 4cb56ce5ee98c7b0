//===- CudaModule.cpp - Code on a device ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/CudaModule.h"

#include "compiler/Support/Error.h"
#include "runtime/cuda/CudaModuleImpl.h"
#include "runtime/cuda/PtxVersion.h"

#include <chrono>
#include <cstring>

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

/// Options of the driver's compiler, in the form that it takes: a number goes
/// into the pointer itself.
class JitOptions {
public:
  JitOptions(const PtxOptions &options, std::vector<char> &infoLog,
             std::vector<char> &errorLog) {
    add(jitInfoLogBuffer, infoLog.data());
    add(jitInfoLogBufferBytes, infoLog.size());
    add(jitErrorLogBuffer, errorLog.data());
    add(jitErrorLogBufferBytes, errorLog.size());
    add(jitLogVerbose, size_t(1));
    add(jitOptimizationLevel, static_cast<size_t>(options.optimizationLevel));
    if (options.maxRegisters)
      add(jitMaxRegisters, static_cast<size_t>(options.maxRegisters));
    if (options.lineInfo)
      add(jitGenerateLineInfo, size_t(1));
  }

  unsigned count() const { return static_cast<unsigned>(keys.size()); }
  JitOption *options() { return keys.data(); }
  void **arguments() { return values.data(); }

private:
  void add(JitOption key, void *value) {
    keys.push_back(key);
    values.push_back(value);
  }
  void add(JitOption key, size_t value) {
    add(key, reinterpret_cast<void *>(value));
  }

  std::vector<JitOption> keys;
  std::vector<void *> values;
};

/// Ends the link, which owns the cubin, when it goes.
struct LinkState {
  explicit LinkState(CudaDevice &device) : device(device) {}
  ~LinkState() {
    if (handle)
      device.release(device.api().cuLinkDestroy, handle);
  }
  LinkState(const LinkState &) = delete;
  LinkState &operator=(const LinkState &) = delete;

  CudaDevice &device;
  LinkHandle handle = nullptr;
};

} // namespace

/// Of each of the driver's two logs.
static constexpr size_t logBytes = 32768;

/// A buffer of the driver's as text, without what surrounds it.
static std::string textOf(const std::vector<char> &log) {
  std::string text(log.data(), strnlen(log.data(), log.size()));
  const size_t end = text.find_last_not_of(" \t\r\n");
  text.resize(end == text.npos ? 0 : end + 1);
  return text;
}

static void checkOptions(const PtxOptions &options) {
  if (options.optimizationLevel < 0 || options.optimizationLevel > 4)
    throw Error(ErrorCode::InvalidArgument,
                "expected an optimisation level from 0 to 4, but got " +
                    std::to_string(options.optimizationLevel));
  if (options.maxRegisters < 0 || options.maxRegisters > 255)
    throw Error(ErrorCode::InvalidArgument,
                "expected a maximum of registers from 1 to 255, or 0 for "
                "none, but got " +
                    std::to_string(options.maxRegisters));
}

/// Throws for a failed link. The driver's own words come last.
[[noreturn]] static void failLink(CudaDevice &device, std::string_view ptx,
                                  const std::string &name, Result result,
                                  const std::string &log) {
  if (device.isLost())
    device.throwIfLost();
  const PtxHeader header = PtxHeader::parse(ptx);
  const int driver = device.driverVersion();
  const PtxVersion readable = maxPtxVersion(driver);
  const std::string words =
      ": " + device.api().describe(result) + (log.empty() ? "" : "\n" + log);
  const bool isTooNew = result == unsupportedPtxVersion ||
                        log.find("Unsupported .version") != log.npos ||
                        (result == invalidPtx && header.version > readable);
  if (isTooNew) {
    const int needed = minDriverVersion(header.version);
    throw Error(
        ErrorCode::Unsupported,
        "'" + name + "' is PTX of version " + ptxVersionText(header.version) +
            ", but the driver (CUDA " + versionText(driver) +
            ") reads versions up to " + ptxVersionText(readable) +
            "; compile for PTX " + ptxVersionText(readable) +
            ", or install a driver for CUDA " +
            (needed ? versionText(needed) : std::string("of a newer release")) +
            " or later" + words);
  }
  if (result == jitCompilerNotFound)
    throw Error(ErrorCode::Unsupported,
                "the driver finds no PTX compiler: "
                "libnvidia-ptxjitcompiler.so.1 must be beside libcuda.so.1" +
                    words);
  if (result == noBinaryForGpu || result == invalidPtx ||
      result == invalidImage || result == invalidValue)
    throw Error(ErrorCode::Compile,
                "the driver cannot compile '" + name + "' (PTX " +
                    ptxVersionText(header.version) + " for " +
                    (header.target.empty() ? "no target" : header.target) +
                    ") for device " + device.describe() + words);
  device.fail("compiling PTX '" + name + "'", result,
              log.empty() ? "" : "\n" + log);
}

LinkedCode flashtile::linkPtx(CudaDevice &device, std::string_view ptx,
                              const PtxOptions &options,
                              const std::string &name) {
  checkOptions(options);
  const auto start = std::chrono::steady_clock::now();
  std::vector<char> infoLog(logBytes), errorLog(logBytes);
  // The buffers must outlive the link: its destruction may write to them.
  JitOptions jit(options, infoLog, errorLog);
  // The driver wants an end of text.
  std::string text(ptx);
  ContextGuard guard(device);
  LinkState link(device);
  const DriverApi &api = device.api();
  device.call(api.cuLinkCreate, jit.count(), jit.options(), jit.arguments(),
              &link.handle);
  Result result = device.tryCall(
      api.cuLinkAddData, link.handle, jitInputPtx,
      static_cast<void *>(text.data()), text.size() + 1, name.c_str(), 0u,
      static_cast<JitOption *>(nullptr), static_cast<void **>(nullptr));
  void *cubin = nullptr;
  size_t cubinBytes = 0;
  if (result == success)
    result =
        device.tryCall(api.cuLinkComplete, link.handle, &cubin, &cubinBytes);
  if (result != success)
    failLink(device, ptx, name, result, textOf(errorLog));

  LinkedCode code;
  const char *bytes = static_cast<const char *>(cubin);
  code.cubin.assign(bytes, bytes + cubinBytes);
  code.log = textOf(infoLog);
  code.milliseconds = std::chrono::duration<double, std::milli>(
                          std::chrono::steady_clock::now() - start)
                          .count();
  return code;
}

//===----------------------------------------------------------------------===//
// Modules.
//===----------------------------------------------------------------------===//

CudaModule CudaModule::loadCubin(CudaDevice &device, const void *image,
                                 size_t numBytes, const std::string &name) {
  // The driver is not told where the image ends.
  if (numBytes < 64 || std::memcmp(image, "\177ELF", 4) != 0)
    throw Error(ErrorCode::InvalidArgument,
                "expected a cubin of '" + name +
                    "', an ELF file, but got other data of " +
                    std::to_string(numBytes) + " bytes");
  auto impl = std::make_shared<Impl>(device);
  const Result result = device.tryCall(
      device.api().cuModuleLoadDataEx, &impl->handle, image, 0u,
      static_cast<JitOption *>(nullptr), static_cast<void **>(nullptr));
  if (result == noBinaryForGpu || result == invalidImage)
    throw Error(ErrorCode::Device,
                "the code of '" + name + "' is not for device " +
                    device.describe() +
                    ", or is damaged: " + device.api().describe(result) +
                    "; compile it for " + device.properties().architecture());
  if (result != success)
    device.fail("loading '" + name + "'", result);
  return CudaModule(std::move(impl));
}

CudaModule CudaModule::loadPtx(CudaDevice &device, std::string_view ptx,
                               const PtxOptions &options,
                               const std::string &name) {
  LinkedCode code = linkPtx(device, ptx, options, name);
  CudaModule module =
      loadCubin(device, code.cubin.data(), code.cubin.size(), name);
  module.impl->linkLog = std::move(code.log);
  module.impl->linkMilliseconds = code.milliseconds;
  return module;
}

CudaModule CudaModule::loadWholePtx(CudaDevice &device, std::string_view ptx,
                                    const PtxOptions &options,
                                    const std::string &name) {
  checkOptions(options);
  const auto start = std::chrono::steady_clock::now();
  std::vector<char> infoLog(logBytes), errorLog(logBytes);
  JitOptions jit(options, infoLog, errorLog);
  const std::string text(ptx); // the driver wants an end of text
  auto impl = std::make_shared<Impl>(device);
  const Result result =
      device.tryCall(device.api().cuModuleLoadDataEx, &impl->handle,
                     static_cast<const void *>(text.c_str()), jit.count(),
                     jit.options(), jit.arguments());
  if (result != success)
    failLink(device, ptx, name, result, textOf(errorLog));
  impl->linkLog = textOf(infoLog);
  impl->linkMilliseconds = std::chrono::duration<double, std::milli>(
                               std::chrono::steady_clock::now() - start)
                               .count();
  return CudaModule(std::move(impl));
}

CudaDevice &CudaModule::device() const { return impl->device; }
const std::string &CudaModule::linkLog() const { return impl->linkLog; }
double CudaModule::linkMilliseconds() const { return impl->linkMilliseconds; }

CudaFunction CudaModule::function(const std::string &name) const {
  auto function = std::make_shared<CudaFunction::Impl>(impl, name);
  CudaDevice &device = impl->device;
  const DriverApi &api = device.api();
  const Result result = device.tryCall(
      api.cuModuleGetFunction, &function->handle, impl->handle, name.c_str());
  if (result == notFound)
    throw Error(ErrorCode::NotFound, "the module has no kernel '" + name + "'");
  if (result != success)
    device.fail("looking for kernel '" + name + "'", result);
  const auto attribute = [&](FunctionAttribute which) {
    int value = 0;
    device.call(api.cuFuncGetAttribute, &value, which, function->handle);
    return value;
  };
  function->attributes = {attribute(functionRegisters),
                          attribute(functionLocalBytes),
                          attribute(functionStaticSharedBytes),
                          attribute(functionMaxThreadsPerBlock)};
  function->allowedDynamicBytes =
      static_cast<size_t>(attribute(functionMaxDynamicSharedBytes));
  return CudaFunction(std::move(function));
}

//===----------------------------------------------------------------------===//
// Functions.
//===----------------------------------------------------------------------===//

const std::string &CudaFunction::name() const { return impl->name; }
CudaDevice &CudaFunction::device() const { return impl->module->device; }
FunctionHandle CudaFunction::handle() const { return impl->handle; }
const CudaFunction::Attributes &CudaFunction::attributes() const {
  return impl->attributes;
}

const std::vector<CudaFunction::Impl::Parameter> &
CudaFunction::Impl::parametersOf(size_t count) {
  std::call_once(parametersRead, [&] {
    CudaDevice &device = module->device;
    const auto &query = device.api().cuFuncGetParamInfo;
    if (!query) // before CUDA 12.4
      return;
    const ContextGuard guard(device);
    std::vector<Parameter> all(count);
    for (size_t i = 0; i < count; ++i)
      if (device.tryCall(query, handle, i, &all[i].offset, &all[i].numBytes) !=
          success)
        return;
    parameters = std::move(all);
  });
  return parameters;
}

void CudaFunction::Impl::allowLargeClusters() {
  if (allowsLargeClusters.load(std::memory_order_acquire))
    return;
  CudaDevice &device = module->device;
  device.call(device.api().cuFuncSetAttribute, handle,
              functionNonPortableClusterSize, 1);
  allowsLargeClusters.store(true, std::memory_order_release);
}
