//===- CudaHeaderTest.cpp - Our declarations against cuda.h ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Only where the toolkit is installed: cuda.h says what the driver expects.
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/DriverApi.h"

#include <cuda.h>
#include <cudaTypedefs.h>
#include <gtest/gtest.h>

#include <type_traits>

using namespace flashtile;

namespace {

template <typename T>
constexpr bool isNumber = std::is_arithmetic_v<T> || std::is_enum_v<T>;

/// Whether a value of one type is passed as one of the other.
template <typename A, typename B>
constexpr bool isSameParameter() {
  if constexpr (std::is_pointer_v<A> && std::is_pointer_v<B>) {
    using X = std::remove_cv_t<std::remove_pointer_t<A>>;
    using Y = std::remove_cv_t<std::remove_pointer_t<B>>;
    if constexpr (isNumber<X> && isNumber<Y>)
      return sizeof(X) == sizeof(Y);
    else if constexpr (std::is_pointer_v<X> || std::is_pointer_v<Y>)
      return std::is_same_v<X, Y>;
    else // structures are compared below
      return std::is_void_v<X> == std::is_void_v<Y>;
  } else {
    return isNumber<A> && isNumber<B> && sizeof(A) == sizeof(B) &&
           std::is_floating_point_v<A> == std::is_floating_point_v<B>;
  }
}

template <typename... As, typename... Bs>
constexpr bool isSameFunction(const cuda::DriverFunction<As...> *,
                              CUresult (*)(Bs...)) {
  if constexpr (sizeof...(As) == sizeof...(Bs))
    return (isSameParameter<As, Bs>() && ...);
  return false;
}

} // namespace

// The version and the parameters name one form of each function.
#define FLASHTILE_DRIVER_FUNCTION(name, version, ...)                          \
  static_assert(                                                               \
      isSameFunction(                                                          \
          static_cast<const decltype(cuda::DriverApi::name) *>(nullptr),       \
          static_cast<PFN_##name##_v##version>(nullptr)),                      \
      #name " has other parameters in cuda.h");
// The names of cuda.h are macros; these must stay as they are.
#undef cuDeviceTotalMem
#undef cuCtxPushCurrent
#undef cuCtxPopCurrent
#undef cuStreamDestroy
#undef cuEventDestroy
#undef cuEventElapsedTime
#undef cuMemAlloc
#undef cuMemFree
#undef cuMemGetInfo
#undef cuMemcpyHtoDAsync
#undef cuMemcpyDtoHAsync
#undef cuMemcpyDtoDAsync
#undef cuStreamBeginCapture
#undef cuStreamGetCaptureInfo
#undef cuStreamGetId
#undef cuThreadExchangeStreamCaptureMode
#undef cuLinkCreate
#undef cuLinkAddData
using namespace flashtile::cuda;
#include "runtime/cuda/DriverApi.def"

TEST(CudaHeaderTest, StructuresHaveTheSameLayout) {
  EXPECT_EQ(sizeof(DriverLaunchConfig), sizeof(CUlaunchConfig));
  EXPECT_EQ(offsetof(DriverLaunchConfig, block),
            offsetof(CUlaunchConfig, blockDimX));
  EXPECT_EQ(offsetof(DriverLaunchConfig, dynamicSharedBytes),
            offsetof(CUlaunchConfig, sharedMemBytes));
  EXPECT_EQ(offsetof(DriverLaunchConfig, stream),
            offsetof(CUlaunchConfig, hStream));
  EXPECT_EQ(offsetof(DriverLaunchConfig, attributes),
            offsetof(CUlaunchConfig, attrs));
  EXPECT_EQ(offsetof(DriverLaunchConfig, attributeCount),
            offsetof(CUlaunchConfig, numAttrs));
  EXPECT_EQ(sizeof(LaunchAttribute), sizeof(CUlaunchAttribute));
  EXPECT_EQ(offsetof(LaunchAttribute, clusterDimension),
            offsetof(CUlaunchAttribute, value.clusterDim));
  EXPECT_EQ(sizeof(DriverTensorMap), sizeof(CUtensorMap));
}

#define EXPECT_CONSTANT(ours, theirs)                                          \
  EXPECT_EQ(static_cast<unsigned>(ours), static_cast<unsigned>(theirs))

TEST(CudaHeaderTest, ResultsHaveTheSameValues) {
  EXPECT_CONSTANT(success, CUDA_SUCCESS);
  EXPECT_CONSTANT(invalidValue, CUDA_ERROR_INVALID_VALUE);
  EXPECT_CONSTANT(outOfMemory, CUDA_ERROR_OUT_OF_MEMORY);
  EXPECT_CONSTANT(notInitialized, CUDA_ERROR_NOT_INITIALIZED);
  EXPECT_CONSTANT(deinitialized, CUDA_ERROR_DEINITIALIZED);
  EXPECT_CONSTANT(stubLibrary, CUDA_ERROR_STUB_LIBRARY);
  EXPECT_CONSTANT(deviceUnavailable, CUDA_ERROR_DEVICE_UNAVAILABLE);
  EXPECT_CONSTANT(noDevice, CUDA_ERROR_NO_DEVICE);
  EXPECT_CONSTANT(invalidDevice, CUDA_ERROR_INVALID_DEVICE);
  EXPECT_CONSTANT(invalidImage, CUDA_ERROR_INVALID_IMAGE);
  EXPECT_CONSTANT(invalidContext, CUDA_ERROR_INVALID_CONTEXT);
  EXPECT_CONSTANT(noBinaryForGpu, CUDA_ERROR_NO_BINARY_FOR_GPU);
  EXPECT_CONSTANT(eccUncorrectable, CUDA_ERROR_ECC_UNCORRECTABLE);
  EXPECT_CONSTANT(invalidPtx, CUDA_ERROR_INVALID_PTX);
  EXPECT_CONSTANT(nvlinkUncorrectable, CUDA_ERROR_NVLINK_UNCORRECTABLE);
  EXPECT_CONSTANT(jitCompilerNotFound, CUDA_ERROR_JIT_COMPILER_NOT_FOUND);
  EXPECT_CONSTANT(unsupportedPtxVersion, CUDA_ERROR_UNSUPPORTED_PTX_VERSION);
#if CUDA_VERSION >= 13000
  EXPECT_CONSTANT(contained, CUDA_ERROR_CONTAINED);
  EXPECT_CONSTANT(tensorMemoryLeak, CUDA_ERROR_TENSOR_MEMORY_LEAK);
#endif
  EXPECT_CONSTANT(invalidHandle, CUDA_ERROR_INVALID_HANDLE);
  EXPECT_CONSTANT(notFound, CUDA_ERROR_NOT_FOUND);
  EXPECT_CONSTANT(notReady, CUDA_ERROR_NOT_READY);
  EXPECT_CONSTANT(illegalAddress, CUDA_ERROR_ILLEGAL_ADDRESS);
  EXPECT_CONSTANT(launchOutOfResources, CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES);
  EXPECT_CONSTANT(launchTimeout, CUDA_ERROR_LAUNCH_TIMEOUT);
  EXPECT_CONSTANT(contextIsDestroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
  EXPECT_CONSTANT(deviceAssert, CUDA_ERROR_ASSERT);
  EXPECT_CONSTANT(hardwareStackError, CUDA_ERROR_HARDWARE_STACK_ERROR);
  EXPECT_CONSTANT(illegalInstruction, CUDA_ERROR_ILLEGAL_INSTRUCTION);
  EXPECT_CONSTANT(misalignedAddress, CUDA_ERROR_MISALIGNED_ADDRESS);
  EXPECT_CONSTANT(invalidAddressSpace, CUDA_ERROR_INVALID_ADDRESS_SPACE);
  EXPECT_CONSTANT(invalidPc, CUDA_ERROR_INVALID_PC);
  EXPECT_CONSTANT(launchFailed, CUDA_ERROR_LAUNCH_FAILED);
  EXPECT_CONSTANT(notSupported, CUDA_ERROR_NOT_SUPPORTED);
}

TEST(CudaHeaderTest, AttributesAndFlagsHaveTheSameValues) {
  EXPECT_CONSTANT(attributeMaxThreadsPerBlock,
                  CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_CONSTANT(attributeMaxBlockX, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X);
  EXPECT_CONSTANT(attributeMaxBlockX + 2, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z);
  EXPECT_CONSTANT(attributeMaxGridX, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X);
  EXPECT_CONSTANT(attributeMaxGridX + 2, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_Z);
  EXPECT_CONSTANT(attributeSharedMemoryPerBlock,
                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK);
  EXPECT_CONSTANT(attributeWarpSize, CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  EXPECT_CONSTANT(attributeMultiprocessorCount,
                  CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  EXPECT_CONSTANT(attributeL2CacheSize, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
  EXPECT_CONSTANT(attributeComputeMajor,
                  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  EXPECT_CONSTANT(attributeComputeMinor,
                  CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  EXPECT_CONSTANT(attributeSharedMemoryPerMultiprocessor,
                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  EXPECT_CONSTANT(attributeSharedMemoryPerBlockOptIn,
                  CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN);
  EXPECT_CONSTANT(attributeMemoryPools,
                  CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED);
  EXPECT_CONSTANT(attributeClusterLaunch, CU_DEVICE_ATTRIBUTE_CLUSTER_LAUNCH);
  EXPECT_CONSTANT(functionMaxThreadsPerBlock,
                  CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  EXPECT_CONSTANT(functionStaticSharedBytes,
                  CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES);
  EXPECT_CONSTANT(functionLocalBytes, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES);
  EXPECT_CONSTANT(functionRegisters, CU_FUNC_ATTRIBUTE_NUM_REGS);
  EXPECT_CONSTANT(functionMaxDynamicSharedBytes,
                  CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
  EXPECT_CONSTANT(functionNonPortableClusterSize,
                  CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED);
  EXPECT_CONSTANT(jitMaxRegisters, CU_JIT_MAX_REGISTERS);
  EXPECT_CONSTANT(jitInfoLogBuffer, CU_JIT_INFO_LOG_BUFFER);
  EXPECT_CONSTANT(jitInfoLogBufferBytes, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
  EXPECT_CONSTANT(jitErrorLogBuffer, CU_JIT_ERROR_LOG_BUFFER);
  EXPECT_CONSTANT(jitErrorLogBufferBytes, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  EXPECT_CONSTANT(jitOptimizationLevel, CU_JIT_OPTIMIZATION_LEVEL);
  EXPECT_CONSTANT(jitLogVerbose, CU_JIT_LOG_VERBOSE);
  EXPECT_CONSTANT(jitGenerateLineInfo, CU_JIT_GENERATE_LINE_INFO);
  EXPECT_CONSTANT(jitInputPtx, CU_JIT_INPUT_PTX);
  EXPECT_CONSTANT(poolReleaseThreshold, CU_MEMPOOL_ATTR_RELEASE_THRESHOLD);
  EXPECT_CONSTANT(streamNonBlocking, CU_STREAM_NON_BLOCKING);
  EXPECT_CONSTANT(eventDefault, CU_EVENT_DEFAULT);
  EXPECT_CONSTANT(eventDisableTiming, CU_EVENT_DISABLE_TIMING);
  EXPECT_CONSTANT(hostMemoryPortable, CU_MEMHOSTALLOC_PORTABLE);
  EXPECT_CONSTANT(captureThreadLocal, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL);
  EXPECT_CONSTANT(captureRelaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
  EXPECT_CONSTANT(userObjectNoDestructorSync,
                  CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
  EXPECT_CONSTANT(graphUserObjectMove, CU_GRAPH_USER_OBJECT_MOVE);
  EXPECT_CONSTANT(captureNone, CU_STREAM_CAPTURE_STATUS_NONE);
  EXPECT_CONSTANT(launchAttributeClusterDimension,
                  CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION);
  EXPECT_EQ(CU_STREAM_LEGACY, reinterpret_cast<CUstream>(1));
  EXPECT_EQ(CU_STREAM_PER_THREAD, reinterpret_cast<CUstream>(2));
}

TEST(CudaHeaderTest, TensorMapsHaveTheSameValues) {
  EXPECT_CONSTANT(0, CU_TENSOR_MAP_DATA_TYPE_UINT8);
  EXPECT_CONSTANT(1, CU_TENSOR_MAP_DATA_TYPE_UINT16);
  EXPECT_CONSTANT(3, CU_TENSOR_MAP_DATA_TYPE_INT32);
  EXPECT_CONSTANT(5, CU_TENSOR_MAP_DATA_TYPE_INT64);
  EXPECT_CONSTANT(6, CU_TENSOR_MAP_DATA_TYPE_FLOAT16);
  EXPECT_CONSTANT(7, CU_TENSOR_MAP_DATA_TYPE_FLOAT32);
  EXPECT_CONSTANT(8, CU_TENSOR_MAP_DATA_TYPE_FLOAT64);
  EXPECT_CONSTANT(9, CU_TENSOR_MAP_DATA_TYPE_BFLOAT16);
  EXPECT_CONSTANT(3, CU_TENSOR_MAP_SWIZZLE_128B);
  EXPECT_CONSTANT(2, CU_TENSOR_MAP_L2_PROMOTION_L2_128B);
  EXPECT_CONSTANT(1, CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA);
}
