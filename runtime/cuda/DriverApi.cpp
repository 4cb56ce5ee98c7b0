//===- DriverApi.cpp - The NVIDIA driver, found at run time ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/DriverApi.h"

#include "compiler/Support/Error.h"
#include "runtime/EnvOptions.h"

#include <atomic>
#include <cstdlib>
#include <optional>

#include <dlfcn.h>

using namespace flashtile;
using namespace flashtile::cuda;

namespace {

constexpr const char *remedy = "; the cpu target works";

/// cuGetProcAddress_v2, which CUDA 12.0 introduced. `status` of 0 is success.
using ResolveFunction = Result (*)(const char *symbol, void **address,
                                   int version, uint64_t flags, int *status);
/// Default streams keep their traditional meaning.
constexpr uint64_t resolveLegacyStream = 1;

std::atomic<bool> exiting{false};

struct Library {
  void *handle = nullptr;
  std::string path;
};

} // namespace

bool cuda::isExiting() { return exiting.load(std::memory_order_relaxed); }

std::string cuda::versionText(int driverVersion) {
  return std::to_string(driverVersion / 1000) + "." +
         std::to_string(driverVersion % 1000 / 10);
}

std::vector<std::string> DriverApi::searchPaths(const std::string &libcuda) {
  std::vector<std::string> paths = {
      "libcuda.so.1",
      "libcuda.so",
      "/usr/lib/x86_64-linux-gnu/libcuda.so.1",
      "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
      "/usr/lib64/libcuda.so.1",
      "/usr/lib/wsl/lib/libcuda.so.1",
      "/usr/local/nvidia/lib64/libcuda.so.1",
      "/usr/local/cuda/compat/libcuda.so.1",
  };
  if (!libcuda.empty())
    paths.insert(paths.begin(), libcuda);
  return paths;
}

static Library openLibrary(const std::vector<std::string> &paths) {
  std::string tried;
  for (const std::string &path : paths) {
    if (void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL))
      return {handle, path};
    const char *reason = dlerror();
    tried += (tried.empty() ? "" : "; ") + path + " (" +
             (reason ? reason : "unknown reason") + ")";
  }
  throw Error(ErrorCode::Unsupported,
              "no CUDA driver found: tried " + tried +
                  "; FLASHTILE_LIBCUDA may name another" + remedy);
}

template <typename... Parameters>
static void resolve(DriverFunction<Parameters...> &function, int version,
                    ResolveFunction getAddress, std::string &missing) {
  void *address = nullptr;
  int status = 0;
  const Result result = getAddress(function.name, &address, version,
                                   resolveLegacyStream, &status);
  if (result == success && status == 0 && address)
    function.address = reinterpret_cast<Result (*)(Parameters...)>(address);
  else
    missing += (missing.empty() ? "" : ", ") + std::string(function.name);
}

/// The version according to the library itself, 0 if it does not say.
static int queryVersion(void *handle) {
  int version = 0;
  if (auto query = reinterpret_cast<Result (*)(int *)>(
          dlsym(handle, "cuDriverGetVersion")))
    query(&version);
  return version;
}

static std::string driverName(const DriverApi &api) {
  std::string text = "the CUDA driver " + api.libraryPath;
  if (api.driverVersion)
    text += " (CUDA " + versionText(api.driverVersion) + ")";
  return text;
}

static void resolveAll(DriverApi &api, void *handle) {
  const auto getAddress =
      reinterpret_cast<ResolveFunction>(dlsym(handle, "cuGetProcAddress_v2"));
  if (!getAddress)
    throw Error(ErrorCode::Unsupported,
                driverName(api) +
                    " is too old: it lacks cuGetProcAddress_v2; install a "
                    "driver for CUDA 12.0 or later (R525)" +
                    remedy);
  std::string missing, optional;
#define FLASHTILE_OPTIONAL_DRIVER_FUNCTION(name, version, ...)                 \
  resolve(api.name, version, getAddress, optional);
#define FLASHTILE_DRIVER_FUNCTION(name, version, ...)                          \
  resolve(api.name, version, getAddress, missing);
#include "runtime/cuda/DriverApi.def"
  if (!missing.empty())
    throw Error(ErrorCode::Unsupported,
                driverName(api) + " lacks " + missing +
                    "; install a driver for CUDA 12.0 or later (R525)" +
                    remedy);
}

static void initialize(const DriverApi &api) {
  const Result result = api.cuInit(0);
  if (result == success)
    return;
  std::string hint;
  if (result == noDevice)
    hint = "; check that nvidia-smi lists a GPU and that CUDA_VISIBLE_DEVICES "
           "does not hide it";
  else if (result == stubLibrary)
    hint = "; this is the toolkit's stub for linking, not a driver";
  const bool isAbsent = result == noDevice || result == stubLibrary;
  throw Error(isAbsent ? ErrorCode::Unsupported : ErrorCode::Device,
              driverName(api) + " does not start: cuInit returned " +
                  api.describe(result) + hint + remedy);
}

DriverApi DriverApi::load(const std::vector<std::string> &paths) {
  const Library library = openLibrary(paths);
  DriverApi api;
  api.libraryPath = library.path;
  api.driverVersion = queryVersion(library.handle);
  resolveAll(api, library.handle);
  initialize(api);
  return api;
}

const DriverApi &DriverApi::get() {
  struct Outcome {
    std::optional<DriverApi> api;
    std::optional<Error> error;
  };
  // Never destroyed: objects with static lifetime use it at exit.
  static const Outcome *const outcome = [] {
    auto *result = new Outcome;
    try {
      result->api = load(searchPaths(EnvOptions::read().libcuda));
      // Runs before what the driver itself registered in cuInit.
      std::atexit([] { exiting = true; });
    } catch (const Error &error) {
      result->error = error;
    }
    return result;
  }();
  if (outcome->error)
    throw Error(*outcome->error);
  return *outcome->api;
}

std::string DriverApi::describe(Result result) const {
  const char *name = nullptr, *text = nullptr;
  if (cuGetErrorName(result, &name) != success || !name)
    return "error " + std::to_string(result);
  if (cuGetErrorString(result, &text) != success || !text)
    return name;
  return name + (" (" + std::string(text)) + ")";
}
