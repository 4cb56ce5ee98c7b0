# Checks what the shared library shows: cmake -DTOOLS=<folder of llvm-nm>
# -DLIBRARY=... -DSCRATCH=<file> -P CheckSymbols.cmake. A symbol of LLVM or MLIR
# would meet another copy of it in the application.
execute_process(COMMAND ${TOOLS}/llvm-nm --dynamic --defined-only --format=just-symbols ${LIBRARY}
  OUTPUT_VARIABLE mangled COMMAND_ERROR_IS_FATAL ANY)
# With their versions, names are not demangled.
string(REGEX REPLACE "@[^\n]*" "" mangled "${mangled}")
file(WRITE ${SCRATCH} "${mangled}")
execute_process(COMMAND ${TOOLS}/llvm-cxxfilt INPUT_FILE ${SCRATCH}
  OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
string(REPLACE ";" "," output "${output}")
string(REGEX REPLACE "\n$" "" output "${output}")
string(REPLACE "\n" ";" symbols "${output}")
set(foreign ${symbols})
list(FILTER foreign EXCLUDE REGEX
  "^(typeinfo for |typeinfo name for |vtable for )?flashtile::|^flashtile_|^FLASHTILE_")
set(internal ${symbols})
list(FILTER internal INCLUDE REGEX "mlir::|llvm::|flashtile::((tile|tilegpu|cpu)::|Session|TilePipelineOptions)")
foreach(symbol IN LISTS foreign internal)
  message(SEND_ERROR "should not be visible: ${symbol}")
endforeach()
foreach(wanted "flashtile::Jit::compile\\(" "flashtile::Kernel::launch\\("
    "flashtile::Tensor::empty\\(" "flashtile::dsl::KernelBuilder::build\\("
    "flashtile::flashAttention\\(" "flashtile::CudaStream::create\\("
    "flashtile::CudaEvent::record\\(" "flashtile::cuda::DriverApi::get\\(" "flashtile::assemblePtx\\(")
  if(NOT output MATCHES "${wanted}")
    message(SEND_ERROR "should be visible: ${wanted}")
  endif()
endforeach()
list(LENGTH symbols count)
message(STATUS "${count} symbols are visible")
