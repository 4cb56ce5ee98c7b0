//===- GradMode.cpp - Whether this thread records gradients ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Autograd/GradMode.h"

using namespace flashtile;

static thread_local bool isRecording = true;

bool GradMode::isEnabled() { return isRecording; }
void GradMode::setEnabled(bool enabled) { isRecording = enabled; }
