# Two precompiled headers. Parsing MLIR headers is what costs in this code
# base; clang with a PCH compiles one pattern file in about a second.
# ccache needs the sloppiness that the presets set.
if(FLASHTILE_PCH)
  add_compile_options($<$<CXX_COMPILER_ID:Clang>:-Xclang> $<$<CXX_COMPILER_ID:Clang>:-fno-pch-timestamp>)
  add_subdirectory(cmake/pch)
endif()
