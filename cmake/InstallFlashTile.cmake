# What `cmake --install` gives an application: one shared library with the
# runtime, the compiler and the kernels, its headers, and a package for
# find_package(FlashTile). Nothing of MLIR shows: its archives are linked into
# the library, its symbols hidden, its headers not needed.
include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

# The libraries whose functions applications call. They go in whole; what they
# use of the others is pulled in by the linker.
set(FLASHTILE_PUBLIC_LIBRARIES
  TileAttention
  TileAutograd
  TileCuda
  TileDriver
  TileFrontend
  TileJit
  TileKernels
  TileRuntime
)

file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/flashtile.cpp
  CONTENT "// Everything is in the archives that this library is linked from.\n")
configure_file(cmake/flashtile.map.in flashtile.map @ONLY)

add_library(flashtile SHARED ${PROJECT_BINARY_DIR}/flashtile.cpp)
add_library(FlashTile::flashtile ALIAS flashtile)
# A shared library passes nothing PRIVATE on to its users.
target_link_libraries(flashtile PRIVATE ${FLASHTILE_PUBLIC_LIBRARIES})
# By path and not as $<LINK_LIBRARY:WHOLE_ARCHIVE,...>, with which CMake 3.25
# names some archives twice.
list(TRANSFORM FLASHTILE_PUBLIC_LIBRARIES REPLACE "(.+)" "$<TARGET_FILE:\\1>"
  OUTPUT_VARIABLE archives)
list(JOIN archives "," whole)
set_target_properties(flashtile PROPERTIES
  LINK_DEPENDS "${PROJECT_BINARY_DIR}/flashtile.map;${archives}"
  VERSION ${PROJECT_VERSION}
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR}
  # Where libLLVM.so is.
  INSTALL_RPATH_USE_LINK_PATH ON
)
target_link_options(flashtile PRIVATE
  LINKER:--whole-archive,${whole},--no-whole-archive
  LINKER:--version-script=${PROJECT_BINARY_DIR}/flashtile.map
  LINKER:--gc-sections
)
if(NOT FLASHTILE_SANITIZE) # whose functions the application's start brings
  target_link_options(flashtile PRIVATE LINKER:--no-undefined)
endif()
target_compile_features(flashtile INTERFACE cxx_std_17)
set(FLASHTILE_INCLUDE_DIR ${CMAKE_INSTALL_INCLUDEDIR}/flashtile)
target_include_directories(flashtile INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
  $<INSTALL_INTERFACE:${FLASHTILE_INCLUDE_DIR}>
)

install(TARGETS flashtile EXPORT FlashTileTargets LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

# Public headers: all but those named. They include each other as
# "runtime/Tensor.h", hence the tree.
install(DIRECTORY runtime DESTINATION ${FLASHTILE_INCLUDE_DIR}
  FILES_MATCHING PATTERN "*.h" PATTERN "EnvOptions.def" PATTERN "DriverApi.def"
  PATTERN "AutogradMeta.h" EXCLUDE
  PATTERN "BackwardPass.h" EXCLUDE
  PATTERN "BuildId.h" EXCLUDE
  PATTERN "CudaModuleImpl.h" EXCLUDE
  PATTERN "GpuKernel.h" EXCLUDE
  PATTERN "GpuModule.h" EXCLUDE
  PATTERN "GradientKernels.h" EXCLUDE
  PATTERN "KernelCache.h" EXCLUDE
  PATTERN "KernelCode.h" EXCLUDE
  PATTERN "LaunchArguments.h" EXCLUDE
  PATTERN "ModuleCache.h" EXCLUDE
  PATTERN "NearestName.h" EXCLUDE
  PATTERN "NpyHeader.h" EXCLUDE
  PATTERN "ProgramCounters.h" EXCLUDE
  PATTERN "ProgramRunner.h" EXCLUDE
  PATTERN "PtxVersion.h" EXCLUDE
  PATTERN "StridedLoop.h" EXCLUDE
  PATTERN "TensorAccess.h" EXCLUDE
  PATTERN "TensorImpl.h" EXCLUDE
  PATTERN "TuningRecord.h" EXCLUDE
  PATTERN "TensorMapCache.h" EXCLUDE
  PATTERN "Variable.h" EXCLUDE
  PATTERN "ViewNode.h" EXCLUDE
)
install(DIRECTORY compiler/Driver compiler/Frontend compiler/Support
  DESTINATION ${FLASHTILE_INCLUDE_DIR}/compiler
  FILES_MATCHING PATTERN "*.h"
  PATTERN "Emitter.h" EXCLUDE
  PATTERN "FrontendInternal.h" EXCLUDE
  PATTERN "GpuCompiler.h" EXCLUDE
  PATTERN "GpuEntries.h" EXCLUDE
  PATTERN "KernelState.h" EXCLUDE
  PATTERN "LoadedCode.h" EXCLUDE
  PATTERN "Session.h" EXCLUDE
)
install(DIRECTORY kernels DESTINATION ${FLASHTILE_INCLUDE_DIR}
  FILES_MATCHING PATTERN "*.h"
  PATTERN "ArgumentList.h" EXCLUDE
  PATTERN "DeviceScope.h" EXCLUDE
  PATTERN "LookupTable.h" EXCLUDE
  PATTERN "Reference" EXCLUDE
  PATTERN "TensorPair.h" EXCLUDE
  PATTERN "TensorStack.h" EXCLUDE
)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/FlashTile)
install(EXPORT FlashTileTargets NAMESPACE FlashTile:: DESTINATION ${package})
configure_package_config_file(cmake/FlashTileConfig.cmake.in FlashTileConfig.cmake
  INSTALL_DESTINATION ${package} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(FlashTileConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES
  ${PROJECT_BINARY_DIR}/FlashTileConfig.cmake
  ${PROJECT_BINARY_DIR}/FlashTileConfigVersion.cmake
  DESTINATION ${package})
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
