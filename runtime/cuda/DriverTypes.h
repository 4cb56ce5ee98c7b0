//===- DriverTypes.h - The part of cuda.h that we use ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handles, constants and structures of the NVIDIA driver API, declared here so
// that a build needs no CUDA toolkit. Handles point to the structures that
// cuda.h names, so a CUstream or a cudaStream_t of the caller is a StreamHandle
// as it stands, and both headers may be included together. Enumerations are
// integers with named constants. DriverApiTest compares all of it with cuda.h
// where that exists.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_CUDA_DRIVERTYPES_H
#define FLASHTILE_RUNTIME_CUDA_DRIVERTYPES_H

#include <cstddef>
#include <cstdint>

struct CUctx_st;
struct CUmod_st;
struct CUfunc_st;
struct CUstream_st;
struct CUevent_st;
struct CUgraph_st;
struct CUgraphExec_st;
struct CUgraphNode_st;
struct CUlinkState_st;
struct CUmemPoolHandle_st;
struct CUuserObject_st;

namespace flashtile::cuda {

using ContextHandle = ::CUctx_st *;
using ModuleHandle = ::CUmod_st *;
using FunctionHandle = ::CUfunc_st *;
using StreamHandle = ::CUstream_st *;
using EventHandle = ::CUevent_st *;
using GraphHandle = ::CUgraph_st *;
using GraphExecHandle = ::CUgraphExec_st *;
using GraphNodeHandle = ::CUgraphNode_st *;
using LinkHandle = ::CUlinkState_st *;
using PoolHandle = ::CUmemPoolHandle_st *;
using UserObjectHandle = ::CUuserObject_st *;
using DeviceHandle = int;
/// An address on the device.
using DevicePointer = unsigned long long;

/// CUhostFn.
using HostFunction = void (*)(void *);

/// CUresult.
using Result = int;
inline constexpr Result success = 0;
inline constexpr Result invalidValue = 1;
inline constexpr Result outOfMemory = 2;
inline constexpr Result notInitialized = 3;
inline constexpr Result deinitialized = 4;
inline constexpr Result stubLibrary = 34;
inline constexpr Result deviceUnavailable = 46;
inline constexpr Result noDevice = 100;
inline constexpr Result invalidDevice = 101;
inline constexpr Result invalidImage = 200;
inline constexpr Result invalidContext = 201;
inline constexpr Result noBinaryForGpu = 209;
inline constexpr Result eccUncorrectable = 214;
inline constexpr Result invalidPtx = 218;
inline constexpr Result nvlinkUncorrectable = 220;
inline constexpr Result jitCompilerNotFound = 221;
inline constexpr Result unsupportedPtxVersion = 222;
inline constexpr Result contained = 226;
inline constexpr Result invalidHandle = 400;
inline constexpr Result notFound = 500;
inline constexpr Result notReady = 600;
inline constexpr Result illegalAddress = 700;
inline constexpr Result launchOutOfResources = 701;
inline constexpr Result launchTimeout = 702;
inline constexpr Result contextIsDestroyed = 709;
inline constexpr Result deviceAssert = 710;
inline constexpr Result hardwareStackError = 714;
inline constexpr Result illegalInstruction = 715;
inline constexpr Result misalignedAddress = 716;
inline constexpr Result invalidAddressSpace = 717;
inline constexpr Result invalidPc = 718;
inline constexpr Result launchFailed = 719;
inline constexpr Result tensorMemoryLeak = 721;
inline constexpr Result notSupported = 801;

/// CUdevice_attribute.
using DeviceAttribute = int;
inline constexpr DeviceAttribute attributeMaxThreadsPerBlock = 1;
inline constexpr DeviceAttribute attributeMaxBlockX = 2;
inline constexpr DeviceAttribute attributeMaxGridX = 5;
inline constexpr DeviceAttribute attributeSharedMemoryPerBlock = 8;
inline constexpr DeviceAttribute attributeWarpSize = 10;
inline constexpr DeviceAttribute attributeMultiprocessorCount = 16;
inline constexpr DeviceAttribute attributeL2CacheSize = 38;
inline constexpr DeviceAttribute attributeComputeMajor = 75;
inline constexpr DeviceAttribute attributeComputeMinor = 76;
inline constexpr DeviceAttribute attributeThreadsPerMultiprocessor = 39;
inline constexpr DeviceAttribute attributeSharedMemoryPerMultiprocessor = 81;
inline constexpr DeviceAttribute attributeRegistersPerMultiprocessor = 82;
inline constexpr DeviceAttribute attributeSharedMemoryPerBlockOptIn = 97;
inline constexpr DeviceAttribute attributeBlocksPerMultiprocessor = 106;
inline constexpr DeviceAttribute attributeMemoryPools = 115;
inline constexpr DeviceAttribute attributeClusterLaunch = 120;

/// CUfunction_attribute.
using FunctionAttribute = int;
inline constexpr FunctionAttribute functionMaxThreadsPerBlock = 0;
inline constexpr FunctionAttribute functionStaticSharedBytes = 1;
inline constexpr FunctionAttribute functionLocalBytes = 3;
inline constexpr FunctionAttribute functionRegisters = 4;
inline constexpr FunctionAttribute functionMaxDynamicSharedBytes = 8;
inline constexpr FunctionAttribute functionNonPortableClusterSize = 14;

/// CUjit_option and CUjitInputType.
using JitOption = int;
inline constexpr JitOption jitMaxRegisters = 0;
inline constexpr JitOption jitInfoLogBuffer = 3;
inline constexpr JitOption jitInfoLogBufferBytes = 4;
inline constexpr JitOption jitErrorLogBuffer = 5;
inline constexpr JitOption jitErrorLogBufferBytes = 6;
inline constexpr JitOption jitOptimizationLevel = 7;
inline constexpr JitOption jitLogVerbose = 12;
inline constexpr JitOption jitGenerateLineInfo = 13;
using JitInputType = int;
inline constexpr JitInputType jitInputPtx = 1;

/// CUmemPool_attribute.
using PoolAttribute = int;
inline constexpr PoolAttribute poolReleaseThreshold = 4;

/// CUstream_flags, CUevent_flags and the flags of host memory.
inline constexpr unsigned streamNonBlocking = 1;
inline constexpr unsigned eventDefault = 0;
inline constexpr unsigned eventDisableTiming = 2;
inline constexpr unsigned hostMemoryPortable = 1;

/// CUstreamCaptureMode and CUstreamCaptureStatus.
using CaptureMode = int;
inline constexpr CaptureMode captureThreadLocal = 1;
inline constexpr CaptureMode captureRelaxed = 2;
using CaptureStatus = int;
inline constexpr CaptureStatus captureNone = 0;

/// CUuserObject_flags and CUuserObjectRetain_flags.
inline constexpr unsigned userObjectNoDestructorSync = 1;
inline constexpr unsigned graphUserObjectMove = 1;

/// CUlaunchAttributeID, CUlaunchAttribute and CUlaunchConfig.
inline constexpr int launchAttributeClusterDimension = 4;

/// What stands before the parts of a launch's list of extra arguments:
/// CU_LAUNCH_PARAM_BUFFER_POINTER, _BUFFER_SIZE and _END.
inline constexpr uintptr_t launchExtraBlock = 1;
inline constexpr uintptr_t launchExtraBytes = 2;
inline constexpr uintptr_t launchExtraEnd = 0;

struct LaunchAttribute {
  int id;
  char padding[4];
  union {
    char bytes[64];
    unsigned clusterDimension[3];
  };
};

struct DriverLaunchConfig {
  unsigned grid[3];
  unsigned block[3];
  unsigned dynamicSharedBytes;
  StreamHandle stream;
  LaunchAttribute *attributes;
  unsigned attributeCount;
};

/// CUtensorMap, filled by the driver and read by the TMA unit.
struct alignas(64) DriverTensorMap {
  uint64_t opaque[16];
};

} // namespace flashtile::cuda

#endif // FLASHTILE_RUNTIME_CUDA_DRIVERTYPES_H
