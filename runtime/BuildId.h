//===- BuildId.h - Which build of the compiler this is --------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to KernelCache: code that another compiler made is not used. Defined
// by a file that the build writes (cmake/WriteBuildId.cmake).
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_BUILDID_H
#define FLASHTILE_RUNTIME_BUILDID_H

namespace flashtile {

/// Digest of all libraries of the compiler. The same in every program that is
/// linked with them.
extern const char *const compilerBuildId;

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_BUILDID_H
