//===- CodeGenerator.h - Which LLVM generates code, and for what ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What decides generated code besides a module and its options. Found without
// initialising any target of LLVM: keys of the kernel cache need it before it
// is known that anything has to be compiled.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_CODEGENERATOR_H
#define FLASHTILE_COMPILER_DRIVER_CODEGENERATOR_H

#include <string>

namespace flashtile {

/// Version of LLVM, and the build id of the library or program that it is
/// linked into: an update of libLLVM.so changes it without a rebuild of ours.
const std::string &llvmIdentity();

/// The processor of this machine with all of its features, as text.
const std::string &hostProcessor();

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_CODEGENERATOR_H
