# Finds LLVM/MLIR 22 and the libraries that FlashTile stands on, and fails
# early with the command that installs what is missing.

# MLIR's version file accepts only an exact major.minor, so "22" is refused.
find_package(MLIR 22.1 CONFIG HINTS /usr/lib/llvm-22)
if(NOT MLIR_FOUND)
  message(FATAL_ERROR "LLVM/MLIR 22.1 not found. On Debian: scripts/setup, or "
    "apt-get install llvm-22-dev libmlir-22-dev mlir-22-tools llvm-22-tools lld-22 clang-22")
endif()
message(STATUS "MLIR ${LLVM_PACKAGE_VERSION} in ${MLIR_DIR}; assertions=${LLVM_ENABLE_ASSERTIONS} rtti=${LLVM_ENABLE_RTTI} eh=${LLVM_ENABLE_EH}")

# add_mlir_doc and tablegen write below these; empty, they would name the root
# of the file system.
set(MLIR_BINARY_DIR ${CMAKE_BINARY_DIR})
set(LLVM_RUNTIME_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/bin)
set(LLVM_LIBRARY_OUTPUT_INTDIR ${CMAKE_BINARY_DIR}/lib)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
# llvm-lit is not packaged; `lit` is.
set(LLVM_EXTERNAL_LIT ${LLVM_TOOLS_BINARY_DIR}/lit CACHE FILEPATH "lit")

list(APPEND CMAKE_MODULE_PATH "${MLIR_CMAKE_DIR}" "${LLVM_CMAKE_DIR}")
include(TableGen)
include(AddLLVM)
include(AddMLIR)

find_package(Threads REQUIRED)
find_package(Eigen3 3.4 REQUIRED NO_MODULE)
find_package(fmt 9 REQUIRED)
set(FLASHTILE_FMT fmt::fmt)
find_package(CLI11 2.1 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
if(FLASHTILE_BUILD_TESTS)
  find_package(GTest 1.12 REQUIRED)
  include(GoogleTest)
endif()
if(FLASHTILE_BUILD_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()

if(FLASHTILE_SANITIZE)
  # -fsanitize=vptr and function need the RTTI of LLVM's own objects.
  add_compile_options(-fsanitize=${FLASHTILE_SANITIZE} -fno-sanitize=vptr,function -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${FLASHTILE_SANITIZE})
endif()
