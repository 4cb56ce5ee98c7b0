//===- GradMode.h - Whether this thread records gradients -----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A switch of each thread, on when the thread starts. Scopes nest and end on
// the thread where they began.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_AUTOGRAD_GRADMODE_H
#define FLASHTILE_RUNTIME_AUTOGRAD_GRADMODE_H

namespace flashtile {

class GradMode {
public:
  static bool isEnabled();
  static void setEnabled(bool enabled);
};

/// Sets the switch until the end of the scope.
class AutoGradMode {
public:
  explicit AutoGradMode(bool enabled) : previous(GradMode::isEnabled()) {
    GradMode::setEnabled(enabled);
  }
  ~AutoGradMode() { GradMode::setEnabled(previous); }
  AutoGradMode(const AutoGradMode &) = delete;
  AutoGradMode &operator=(const AutoGradMode &) = delete;

private:
  bool previous;
};

/// Records nothing until the end of the scope: results do not require
/// gradients, and tensors that do may be written to.
class NoGradGuard : public AutoGradMode {
public:
  NoGradGuard() : AutoGradMode(false) {}
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_AUTOGRAD_GRADMODE_H
