//===- HostTarget.cpp - The processor that code is generated for ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Vector shape: 16 lanes and 32 registers with AVX-512, 8 and 16 with AVX2 and
// FMA, 4 lanes otherwise (32 registers on AArch64).
//
//===----------------------------------------------------------------------===//

#include "compiler/Target/CPU/HostTarget.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

#include <mutex>

using namespace llvm;

namespace flashtile::cpu {

static const Target *nativeTarget(std::string &error) {
  static std::once_flag once;
  std::call_once(once, [] {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    InitializeNativeTargetAsmParser();
  });
  return TargetRegistry::lookupTarget(Triple(sys::getProcessTriple()), error);
}

/// The vector shape of a subtarget, read off its features.
static VectorShape vectorShape(const MCSubtargetInfo &subtarget) {
  if (Triple(sys::getProcessTriple()).isAArch64())
    return {4, 32};
  auto has = [&](StringRef feature) {
    return subtarget.checkFeatures(("+" + feature).str());
  };
  if (has("avx512f") && has("avx512vl") && has("avx512dq") && has("avx512bw"))
    return {16, 32};
  if (has("avx2") && has("fma"))
    return {8, 16};
  return {4, 16};
}

CpuTarget hostTarget() {
  // Feature detection asks the processor; its answer does not change.
  static const CpuTarget host = [] {
    CpuTarget target;
    target.cpu = sys::getHostCPUName().str();
    SubtargetFeatures features;
    for (const auto &feature : sys::getHostCPUFeatures())
      features.AddFeature(feature.first(), feature.second);
    target.features = features.getString();
    std::string error;
    if (const Target *native = nativeTarget(error)) {
      std::unique_ptr<MCSubtargetInfo> subtarget(native->createMCSubtargetInfo(
          Triple(sys::getProcessTriple()), target.cpu, target.features));
      if (subtarget)
        target.vectors = vectorShape(*subtarget);
    }
    return target;
  }();
  return host;
}

Expected<CpuTarget> targetByName(StringRef cpu) {
  if (cpu == "host")
    return hostTarget();
  std::string error;
  const Target *native = nativeTarget(error);
  if (!native)
    return createStringError(error);
  CpuTarget target;
  target.cpu = cpu.str();
  Triple triple(sys::getProcessTriple());
  std::unique_ptr<MCSubtargetInfo> generic(
      native->createMCSubtargetInfo(triple, "", ""));
  if (!generic->isCPUStringValid(cpu))
    return createStringError("unknown processor '" + cpu +
                             "'; use 'host' or a name of `llc -mcpu=help`");
  std::unique_ptr<MCSubtargetInfo> subtarget(
      native->createMCSubtargetInfo(triple, cpu, ""));
  target.vectors = vectorShape(*subtarget);
  return target;
}

Expected<std::unique_ptr<TargetMachine>>
createTargetMachine(const CpuTarget &target) {
  std::string error;
  const Target *native = nativeTarget(error);
  if (!native)
    return createStringError(error);
  TargetOptions options;
  std::unique_ptr<TargetMachine> machine(native->createTargetMachine(
      Triple(sys::getProcessTriple()), target.cpu, target.features, options,
      Reloc::PIC_, std::nullopt, CodeGenOptLevel::Less, /*JIT=*/true));
  if (!machine)
    return createStringError("cannot generate code for processor '" +
                             target.cpu + "'");
  return machine;
}

} // namespace flashtile::cpu
