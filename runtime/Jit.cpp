//===- Jit.cpp - Compiles kernels in this process -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The compiler is built without exceptions and reports failures as text; here
// they become exceptions.
//
//===----------------------------------------------------------------------===//

#include "runtime/Jit.h"

#include "compiler/Frontend/KernelBuilder.h"
#include "compiler/Support/Error.h"
#include "runtime/EnvOptions.h"
#include "runtime/GpuModule.h"
#include "runtime/KernelCache.h"
#include "runtime/KernelCode.h"
#include "runtime/ModuleCache.h"
#include "runtime/NearestName.h"
#include "runtime/ProgramRunner.h"

#include <atomic>
#include <cctype>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <system_error>

using namespace flashtile;

//===----------------------------------------------------------------------===//
// Module
//===----------------------------------------------------------------------===//

static std::vector<std::string> namesOf(const std::vector<Kernel> &kernels) {
  std::vector<std::string> names;
  for (const Kernel &kernel : kernels)
    names.push_back(kernel.name());
  return names;
}

static std::string joined(const std::vector<std::string> &names) {
  std::string text;
  for (const std::string &name : names)
    text += (text.empty() ? "'" : ", '") + name + "'";
  return text;
}

const Kernel &Module::kernel(std::string_view name) const {
  for (const Kernel &kernel : *all)
    if (kernel.name() == name)
      return kernel;
  const std::vector<std::string> names = namesOf(*all);
  throw Error(ErrorCode::NotFound, "no kernel '" + std::string(name) + "'" +
                                       didYouMean(name, names) +
                                       "; the module has " + joined(names));
}

const Kernel &Module::kernel() const {
  if (all->size() != 1)
    throw Error(ErrorCode::InvalidArgument,
                "expected a module of one kernel, but it has " +
                    joined(namesOf(*all)) + "; name the one you mean");
  return all->front();
}

//===----------------------------------------------------------------------===//
// Jit
//===----------------------------------------------------------------------===//

Jit::Jit(Device device, CompilerOptions options)
    : target(device), compilerOptions(std::move(options)) {
  const EnvOptions environment = EnvOptions::read();
  if (compilerOptions.dumpFolder.empty())
    compilerOptions.dumpFolder = environment.dumpDir;
  if (compilerOptions.persistent == "auto")
    compilerOptions.persistent = environment.persistent;
  if (compilerOptions.programsAtOnce == 0)
    compilerOptions.programsAtOnce = environment.programsAtOnce;
  printsTiming = environment.timing;
  environmentKey = environment.cacheKey();
  if (device.isCuda()) {
    const CudaDevice &gpu = CudaDevice::get(device);
    if (compilerOptions.target == "cpu")
      compilerOptions.target = gpuTarget(gpu);
    environmentKey += gpuIdentity(gpu);
  } else if (compilerOptions.target != "cpu") {
    throw Error(ErrorCode::InvalidArgument,
                "expected target 'cpu' for device cpu, but got '" +
                    compilerOptions.target + "'");
  }
  if (compilerOptions.dumpFolder.empty())
    diskCache = KernelCache::open(environment.kernelCacheFolder(),
                                  environment.cacheSize);
  // The folder does not change the code, but a hit would write nothing to it.
  // Code loaded on one GPU is not on another.
  optionsKey = hexText(digest({compilerOptions.hash(), environmentKey,
                               device.toString(), compilerOptions.dumpFolder}));
}

/// "folder/007-name", a new number for each compilation of this process.
static std::string numberedFolder(const std::string &folder,
                                  std::string_view name) {
  static std::atomic<unsigned> counter{0};
  std::string number = std::to_string(counter.fetch_add(1));
  if (number.size() < 3)
    number.insert(0, 3 - number.size(), '0');
  std::string path = folder + "/" + number + "-";
  for (const char c : name)
    path += std::isalnum(static_cast<unsigned char>(c)) || c == '_' ? c : '-';
  return path;
}

/// "add" of "kernels/add.mlir".
static std::string_view stem(std::string_view fileName) {
  fileName.remove_prefix(fileName.find_last_of('/') + 1);
  return fileName.substr(0, fileName.find_last_of('.'));
}

static std::string reportText(const std::vector<Kernel> &kernels) {
  std::string text;
  for (const Kernel &kernel : kernels)
    text += kernel.report().toString();
  return text;
}

/// Throws where compiling or loading failed.
[[noreturn]] static void fail(std::string_view fileName,
                              const std::string &error, bool internal) {
  throw Error(internal ? ErrorCode::Internal : ErrorCode::Compile,
              internal ? "the compiler failed on '" + std::string(fileName) +
                             "': " + error
                       : error);
}

/// The module, or null where the driver refuses the code: whatever the reason,
/// what it assembles itself it also loads.
static std::unique_ptr<CompiledModule>
tryLoadOnGpu(KernelArtifact artifact, CudaDevice &device, CompileReport report,
             const PlainModule::Compile &compilePlain) {
  try {
    return loadOnGpu(std::move(artifact), device, std::move(report),
                     compilePlain);
  } catch (const Error &error) {
    device.throwIfLost();
    if (error.code() == ErrorCode::OutOfMemory)
      throw;
    return nullptr;
  }
}

/// The module kept on disk for `key`, or null. Bytes that cannot be loaded are
/// those of no entry: it is written anew.
static std::unique_ptr<CompiledModule>
loadFrom(KernelCache &cache, const Digest &key, Device device,
         const PlainModule::Compile &compilePlain) {
  const auto begin = std::chrono::steady_clock::now();
  const std::optional<std::string> bytes = cache.find(key);
  std::optional<KernelArtifact> artifact;
  if (bytes)
    artifact = KernelArtifact::parse(*bytes);
  if (!artifact)
    return nullptr;
  CompileReport report;
  report.fromCache = true;
  const std::chrono::duration<double, std::milli> elapsed =
      std::chrono::steady_clock::now() - begin;
  report.stages.push_back({"read", elapsed.count()});
  if (device.isCuda())
    return tryLoadOnGpu(std::move(*artifact), CudaDevice::get(device),
                        std::move(report), compilePlain);
  return loadArtifact(std::move(*artifact), cpuCallbacks(), std::move(report))
      .module;
}

/// Compiles, and keeps the result in `cache` unless that is null.
static std::unique_ptr<CompiledModule>
compileInto(KernelCache *cache, const Digest &key, std::string_view text,
            std::string_view fileName, const CompilerOptions &options,
            Device device, const PlainModule::Compile &compilePlain) {
  ArtifactResult compiled = compileToArtifact(text, fileName, options);
  if (!compiled.artifact)
    fail(fileName, compiled.error, compiled.internal);
  if (device.isCuda())
    assemble(*compiled.artifact, CudaDevice::get(device), compiled.report);
  const std::string bytes =
      cache ? compiled.artifact->serialize() : std::string();
  if (device.isCuda()) {
    auto module =
        loadOnGpu(std::move(*compiled.artifact), CudaDevice::get(device),
                  std::move(compiled.report), compilePlain);
    if (cache)
      cache->store(key, bytes);
    return module;
  }
  CompileResult loaded =
      loadArtifact(std::move(*compiled.artifact), cpuCallbacks(),
                   std::move(compiled.report));
  if (!loaded.module)
    fail(fileName, loaded.error, loaded.internal);
  if (cache)
    cache->store(key, bytes);
  return std::move(loaded.module);
}

static ModuleCache::Kernels
kernelsOf(std::shared_ptr<const CompiledModule> module, Device device) {
  std::vector<Kernel> kernels;
  const auto *gpu = dynamic_cast<const GpuModule *>(module.get());
  for (size_t i = 0; i < module->kernels.size(); ++i) {
    kernels.emplace_back(
        std::make_shared<const detail::KernelCode>(detail::KernelCode{
            module, module->kernels[i], device,
            gpu ? gpu->gpuKernels[i] : std::shared_ptr<const GpuKernel>()}));
  }
  return std::make_shared<const std::vector<Kernel>>(std::move(kernels));
}

namespace {
/// A compilation, as it can be made now or at a launch.
struct Recipe {
  std::unique_ptr<CompiledModule> run() const;

  std::string text, fileName, dumpName;
  CompilerOptions options;
  std::string environmentKey;
  std::shared_ptr<KernelCache> cache; ///< null: keep nothing on disk
  Device device;
  bool printsTiming;
};
} // namespace

/// How the plain functions of the same kernels are made.
static PlainModule::Compile plainOf(const Recipe &recipe) {
  if (!recipe.device.isCuda() || recipe.options.plain)
    return {};
  Recipe plain = recipe;
  plain.options.plain = true;
  plain.dumpName += "-plain";
  return [plain] {
    std::unique_ptr<CompiledModule> module = plain.run();
    if (plain.printsTiming) {
      const std::string report = module->report.toString();
      std::fwrite(report.data(), 1, report.size(), stderr);
    }
    return module;
  };
}

std::unique_ptr<CompiledModule> Recipe::run() const {
  const PlainModule::Compile compilePlain = plainOf(*this);
  CompilerOptions compilerOptions = options;
  if (!options.dumpFolder.empty())
    compilerOptions.dumpFolder = numberedFolder(options.dumpFolder, dumpName);
  Digest key = {};
  if (cache) {
    key = kernelCacheKey(options, environmentKey, fileName, text);
    if (auto module = loadFrom(*cache, key, device, compilePlain))
      return module;
  }
  return compileInto(cache.get(), key, text, fileName, compilerOptions, device,
                     compilePlain);
}

Module Jit::compileAs(std::string_view text, std::string_view fileName,
                      std::string_view dumpName) const {
  // Each part with its length: no two lists of parts give one key.
  std::string key;
  key.reserve(text.size() + fileName.size() + optionsKey.size() + 32);
  for (const std::string_view part : {std::string_view(optionsKey), fileName})
    key.append(std::to_string(part.size())).append(":").append(part);
  key += text;
  return Module(ModuleCache::global().get(key, [&] {
    const Recipe recipe = {std::string(text),
                           std::string(fileName),
                           std::string(dumpName),
                           compilerOptions,
                           environmentKey,
                           diskCache,
                           target,
                           printsTiming};
    ModuleCache::Kernels kernels = kernelsOf(recipe.run(), target);
    if (printsTiming) {
      const std::string report = reportText(*kernels);
      std::fwrite(report.data(), 1, report.size(), stderr);
    }
    return kernels;
  }));
}

Module Jit::compile(std::string_view text, std::string_view fileName) const {
  return compileAs(text, fileName, stem(fileName));
}

Module Jit::compile(const dsl::KernelModule &module) const {
  const std::vector<std::string> names = module.kernelNames();
  return compileAs(module.text(/*withLocations=*/true), "<kernel builder>",
                   names.empty() ? "empty" : names.front());
}

Module Jit::load(const std::string &path) const {
  auto fail = [&](int errorNumber) {
    throw Error(ErrorCode::Io,
                "cannot read '" + path +
                    "': " + std::generic_category().message(errorNumber));
  };
  std::FILE *file = std::fopen(path.c_str(), "rb");
  if (!file)
    fail(errno);
  std::string text;
  char block[1 << 14];
  size_t count;
  while ((count = std::fread(block, 1, sizeof block, file)) > 0)
    text.append(block, count);
  const int failure = std::ferror(file) ? errno : 0;
  std::fclose(file);
  if (failure)
    fail(failure);
  return compile(text, path);
}

void Jit::clearCache() { ModuleCache::global().clear(); }
