//===- DriverApi.h - The NVIDIA driver, found at run time -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The functions of DriverApi.def, resolved in libcuda when the first of them is
// needed. Nothing links libcuda, so a program starts and its cpu target works
// where there is no driver. The library is never unloaded.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_DRIVERAPI_H
#define FLASHTILE_RUNTIME_CUDA_DRIVERAPI_H

#include "runtime/cuda/DriverTypes.h"

#include <string>
#include <vector>

namespace flashtile::cuda {

/// A function of the driver, which knows its name.
template <typename... Parameters>
struct DriverFunction {
  const char *name;
  Result (*address)(Parameters...) = nullptr;

  Result operator()(Parameters... arguments) const {
    return address(arguments...);
  }
  /// False for an optional one that this driver lacks.
  explicit operator bool() const { return address != nullptr; }
};

struct DriverApi {
#define FLASHTILE_DRIVER_FUNCTION(name, version, ...)                          \
  DriverFunction<__VA_ARGS__> name{#name};
#include "runtime/cuda/DriverApi.def"

  std::string libraryPath;
  int driverVersion = 0; ///< 1000 * major + 10 * minor, as 12040

  /// The driver of this process, loaded and initialised by the first call; any
  /// thread may call. Throws Unsupported where there is no driver, one that is
  /// too old, or no device, and Device where cuInit fails otherwise. A failure
  /// stays: later calls throw the same error at once.
  static const DriverApi &get();

  /// Where get() looks, in order: `libcuda`, which is FLASHTILE_LIBCUDA, unless
  /// it is empty, and the usual places.
  static std::vector<std::string> searchPaths(const std::string &libcuda);
  /// Loads and initialises, apart from get(), the first library of `paths` that
  /// can be opened.
  static DriverApi load(const std::vector<std::string> &paths);

  /// "CUDA_ERROR_NO_DEVICE (no CUDA-capable device is detected)".
  std::string describe(Result result) const;
};

/// Whether the process is in exit(): the driver may be gone then, and with it
/// all that it owned. Destructors make no more calls.
bool isExiting();

/// "12.4" for 12040.
std::string versionText(int driverVersion);

} // namespace flashtile::cuda

#endif // FLASHTILE_RUNTIME_CUDA_DRIVERAPI_H
