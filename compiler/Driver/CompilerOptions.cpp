//===- CompilerOptions.cpp - The digest of what decides code --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CompilerOptions.h"

#include "compiler/Driver/CodeGenerator.h"
#include "compiler/Driver/Digest.h"

using namespace flashtile;

std::string CompilerOptions::hash() const {
  // Names every field, so that a new one does not compile until someone has
  // decided whether it changes code.
  const auto &[targetName, processor, verifies, warps, stages, isPlain,
               persistence, atOnce, /*not hashed:*/ folder] = *this;
  (void)folder;
  const bool isHost = targetName == "cpu" && processor == "host";
  return hexText(digest({targetName, processor, isHost ? hostProcessor() : "",
                         verifies ? "verify" : "", std::to_string(warps),
                         std::to_string(stages), isPlain ? "plain" : "",
                         persistence, std::to_string(atOnce), llvmIdentity()}));
}
