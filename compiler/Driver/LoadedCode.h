//===- LoadedCode.h - Object code in this process -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links object code into this process. Works from bytes alone: no LLVM target
// is initialised and no TargetMachine made, so that code out of the kernel
// cache is ready within a millisecond or two.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_COMPILER_DRIVER_LOADEDCODE_H
#define FLASHTILE_COMPILER_DRIVER_LOADEDCODE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/Error.h"

#include <memory>
#include <utility>
#include <vector>

namespace flashtile {

/// Functions stay valid as long as it lives.
class LoadedCode {
public:
  /// Links `object`, whose undefined symbols are the callbacks or functions of
  /// this process (libm, memcpy).
  static llvm::Expected<std::unique_ptr<LoadedCode>>
  load(llvm::StringRef object,
       llvm::ArrayRef<std::pair<llvm::StringRef, void *>> callbacks);
  ~LoadedCode();

  /// Addresses of functions, in order.
  llvm::Expected<std::vector<void *>>
  lookup(llvm::ArrayRef<llvm::StringRef> names);

private:
  struct Implementation;
  explicit LoadedCode(std::unique_ptr<Implementation> implementation);
  std::unique_ptr<Implementation> implementation;
};

} // namespace flashtile

#endif // FLASHTILE_COMPILER_DRIVER_LOADEDCODE_H
