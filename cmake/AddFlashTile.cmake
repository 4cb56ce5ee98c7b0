# Wrappers that give every target of a kind the same settings. Leaf
# CMakeLists.txt files are sorted lists of files and of libraries.

# Settings for code that includes MLIR or LLVM headers. A macro: it sets
# variables and directory properties of the calling folder, so that runtime/
# does not inherit LLVM's flags.
macro(flashtile_llvm_scope)
  set(LLVM_ENABLE_ASSERTIONS ON) # ours only; Debian's libraries are NDEBUG
  include(HandleLLVMOptions)
  separate_arguments(FLASHTILE_LLVM_DEFINITIONS NATIVE_COMMAND "${LLVM_DEFINITIONS}")
  add_definitions(${FLASHTILE_LLVM_DEFINITIONS})
  include_directories(SYSTEM ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
  include_directories(${PROJECT_SOURCE_DIR} ${PROJECT_BINARY_DIR})
  add_compile_options(-Wno-unused-parameter -include ${PROJECT_SOURCE_DIR}/cmake/LlvmAbi.h)
  if(FLASHTILE_WERROR)
    add_compile_options(-Werror)
  endif()
endmacro()

function(_flashtile_split_pch out_args out_pch)
  cmake_parse_arguments(ARG "" "PCH" "" ${ARGN})
  set(${out_args} ${ARG_UNPARSED_ARGUMENTS} PARENT_SCOPE)
  set(${out_pch} "${ARG_PCH}" PARENT_SCOPE)
endfunction()

# A library that uses MLIR. PCH names the target whose precompiled header it
# reuses: TilePch (IR, arith, scf) or LoweringPch (the LLVM side as well).
function(add_flashtile_library name)
  _flashtile_split_pch(args pch ${ARGN})
  add_mlir_library(${name} ${args} EXCLUDE_FROM_LIBMLIR DISABLE_INSTALL)
  set_property(GLOBAL APPEND PROPERTY FLASHTILE_LIBRARIES ${name})
  if(pch AND FLASHTILE_PCH)
    target_precompile_headers(${name} REUSE_FROM ${pch})
  endif()
endfunction()

# Generates ops, types, enums and the dialect of `${td_prefix}Ops.td` in the
# calling folder: add_flashtile_dialect(Tile tile).
function(add_flashtile_dialect prefix mnemonic)
  set(LLVM_TARGET_DEFINITIONS ${prefix}Ops.td)
  mlir_tablegen(${prefix}Ops.h.inc -gen-op-decls)
  mlir_tablegen(${prefix}Ops.cpp.inc -gen-op-defs)
  mlir_tablegen(${prefix}Types.h.inc -gen-typedef-decls -typedefs-dialect=${mnemonic})
  mlir_tablegen(${prefix}Types.cpp.inc -gen-typedef-defs -typedefs-dialect=${mnemonic})
  mlir_tablegen(${prefix}Dialect.h.inc -gen-dialect-decls -dialect=${mnemonic})
  mlir_tablegen(${prefix}Dialect.cpp.inc -gen-dialect-defs -dialect=${mnemonic})
  # Enumerations come from the file of types: the ops include arith's too.
  set(LLVM_TARGET_DEFINITIONS ${prefix}Types.td)
  mlir_tablegen(${prefix}Enums.h.inc -gen-enum-decls)
  mlir_tablegen(${prefix}Enums.cpp.inc -gen-enum-defs)
  mlir_tablegen(${prefix}AttrInterfaces.h.inc -gen-attr-interface-decls)
  mlir_tablegen(${prefix}AttrInterfaces.cpp.inc -gen-attr-interface-defs)
  mlir_tablegen(${prefix}Attributes.h.inc -gen-attrdef-decls -attrdefs-dialect=${mnemonic})
  mlir_tablegen(${prefix}Attributes.cpp.inc -gen-attrdef-defs -attrdefs-dialect=${mnemonic})
  add_public_tablegen_target(${prefix}OpsIncGen)
  add_flashtile_doc(${prefix}Dialect ${prefix}Ops.td -gen-dialect-doc -dialect=${mnemonic})
endfunction()

function(add_flashtile_passes prefix)
  set(LLVM_TARGET_DEFINITIONS Passes.td)
  mlir_tablegen(Passes.h.inc -gen-pass-decls -name ${prefix})
  add_public_tablegen_target(${prefix}PassesIncGen)
  add_flashtile_doc(${prefix}Passes Passes.td -gen-pass-doc)
endfunction()

# A command-line tool that links MLIR.
function(add_flashtile_tool name)
  _flashtile_split_pch(args pch ${ARGN})
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${args})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  llvm_update_compile_flags(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS})
  if(NOT FLASHTILE_STATIC_LLVM)
    target_link_libraries(${name} PRIVATE LLVM)
  endif()
  if(pch AND FLASHTILE_PCH)
    target_precompile_headers(${name} REUSE_FROM ${pch})
  endif()
  install(TARGETS ${name} RUNTIME DESTINATION bin)
endfunction()

# A library free of LLVM flags (runtime/, kernels/, plain tools).
function(add_flashtile_plain_library name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS" ${ARGN})
  add_library(${name} STATIC ${ARG_UNPARSED_ARGUMENTS})
  flashtile_plain_settings(${name})
  target_link_libraries(${name} PUBLIC ${ARG_LINK_LIBS})
endfunction()

function(flashtile_plain_settings name)
  target_include_directories(${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  # In one piece: where the last one was given before, CMake would leave it out
  # here, and -Wextra would bring the warning back.
  target_compile_options(${name} PRIVATE "SHELL:-Wall -Wextra -Wno-unused-parameter")
  if(FLASHTILE_WERROR)
    target_compile_options(${name} PRIVATE -Werror)
  endif()
endfunction()

# A GoogleTest program without LLVM flags: one executable per folder of tests.
function(add_flashtile_unittest name)
  cmake_parse_arguments(ARG "" "" "LINK_LIBS;LABELS" ${ARGN})
  add_executable(${name} ${ARG_UNPARSED_ARGUMENTS})
  flashtile_plain_settings(${name})
  target_link_libraries(${name} PRIVATE ${ARG_LINK_LIBS} GTest::gtest GTest::gmock GTest::gtest_main)
  if(NOT ARG_LABELS)
    set(ARG_LABELS unit)
  endif()
  gtest_discover_tests(${name} PROPERTIES LABELS "${ARG_LABELS}" DISCOVERY_TIMEOUT 120)
endfunction()

# The lit tests below tests/<folder>, as one ctest `lit-<name>`: lit takes 0.2 s
# to start, so one ctest for each file would cost minutes. ROUNDTRIP adds a
# second, `lit-<name>-roundtrip`, in which every fa-opt also checks that what it
# read survives printing and reading. tests/CMakeLists.txt has configured
# lit.site.cfg.py.
function(add_flashtile_lit_suite name folder)
  cmake_parse_arguments(ARG "ROUNDTRIP" "" "LABELS" ${ARGN})
  set(command ${LLVM_EXTERNAL_LIT} -sv --order=lexical ${PROJECT_BINARY_DIR}/tests/${folder})
  add_test(NAME lit-${name} COMMAND ${command})
  set_tests_properties(lit-${name} PROPERTIES LABELS "lit;${ARG_LABELS}")
  if(ARG_ROUNDTRIP)
    add_test(NAME lit-${name}-roundtrip COMMAND ${command})
    set_tests_properties(lit-${name}-roundtrip PROPERTIES
      LABELS "lit;${ARG_LABELS}" ENVIRONMENT FLASHTILE_CHECK_ROUNDTRIP=1)
  endif()
endfunction()

# Reference pages from a .td file of the calling folder, as build/docs/<name>.md:
# add_flashtile_doc(TileDialect TileOps.td -gen-dialect-doc -dialect=tile).
# Target tile-doc writes all of them. (add_mlir_doc writes to /docs where
# MLIR_BINARY_DIR is empty, and adds to a target that only LLVM's tree has.)
function(add_flashtile_doc name td)
  if(NOT TARGET tile-doc)
    add_custom_target(tile-doc)
  endif()
  set(LLVM_TARGET_DEFINITIONS ${td})
  mlir_tablegen(${name}.md ${ARGN})
  set(page ${PROJECT_BINARY_DIR}/docs/${name}.md)
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E copy ${CMAKE_CURRENT_BINARY_DIR}/${name}.md ${page}
    DEPENDS ${CMAKE_CURRENT_BINARY_DIR}/${name}.md)
  add_custom_target(${name}Doc DEPENDS ${page})
  add_dependencies(tile-doc ${name}Doc)
endfunction()
