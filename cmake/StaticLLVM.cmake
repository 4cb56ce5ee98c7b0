# FLASHTILE_STATIC_LLVM: LLVM's archives in place of libLLVM.so, so that programs
# need nothing but the C library, and libflashtile.so the C++ library as well.
# Included after FindDependencies, before any target.
#
# Debian's package says that each imported MLIR archive depends on the target
# LLVM, the shared library. Two copies of LLVM in a process do not work, so that
# name is replaced in every interface.

# LINK_COMPONENTS of our own libraries become archives, too.
set(LLVM_LINK_LLVM_DYLIB OFF)

# What MLIR's archives use and what the targets need. The linker takes what is
# used, so a name too many costs nothing.
llvm_map_components_to_libnames(FLASHTILE_LLVM_ARCHIVES
  AsmParser
  BitReader
  BitWriter
  Core
  FrontendOpenMP
  IRReader
  MC
  OrcJIT
  Passes
  Support
  SupportLSP
  Target
  TargetParser
  TransformUtils
  native
  NVPTXCodeGen
  NVPTXDesc
  NVPTXInfo
)
add_library(FlashTileLLVM INTERFACE)
target_link_libraries(FlashTileLLVM INTERFACE ${FLASHTILE_LLVM_ARCHIVES})

get_property(imported DIRECTORY PROPERTY IMPORTED_TARGETS)
list(FILTER imported INCLUDE REGEX "^MLIR")
foreach(target IN LISTS imported)
  get_target_property(libraries ${target} INTERFACE_LINK_LIBRARIES)
  if(libraries)
    list(TRANSFORM libraries REPLACE "^LLVM$" FlashTileLLVM)
    list(TRANSFORM libraries REPLACE "^.<LINK_ONLY:LLVM>$" "$<LINK_ONLY:FlashTileLLVM>")
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${libraries}")
  endif()
endforeach()

# Archives hold far more than one tool uses, and name libraries for that (Z3).
add_link_options(LINKER:--gc-sections LINKER:--as-needed)

# Programs run on machines where nothing is installed. The library does not bring
# a C++ library of its own: its exceptions are the application's.
string(APPEND CMAKE_EXE_LINKER_FLAGS " -static-libstdc++ -static-libgcc -s")
set(FLASHTILE_FMT fmt::fmt-header-only)
# What compresses debug information, by archive where there is one.
function(flashtile_link_archive target name)
  find_library(FLASHTILE_${name}_ARCHIVE lib${name}.a)
  mark_as_advanced(FLASHTILE_${name}_ARCHIVE)
  if(TARGET ${target} AND FLASHTILE_${name}_ARCHIVE)
    get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
    set(suffixes "")
    if(configurations)
      list(TRANSFORM configurations PREPEND _ OUTPUT_VARIABLE suffixes)
    endif()
    foreach(suffix IN LISTS suffixes ITEMS "")
      set_target_properties(${target} PROPERTIES
        IMPORTED_LOCATION${suffix} ${FLASHTILE_${name}_ARCHIVE})
    endforeach()
  endif()
endfunction()
flashtile_link_archive(ZLIB::ZLIB z)
flashtile_link_archive(zstd::libzstd_shared zstd)
