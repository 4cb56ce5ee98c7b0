//===- FlashAttentionBackwardConfigs.cpp - Good tiles for gradients -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardConfigs.h"

#include <optional>

using namespace flashtile;

using Form = FlashAttentionBackwardForm;

std::string flashtile::toString(Form form) {
  switch (form) {
  case Form::Default:
    return "default";
  case Form::Fused:
    return "fused";
  case Form::FusedDeterministic:
    return "deterministic";
  case Form::Dense:
    return "dense";
  }
  return {};
}

FlashAttentionBackwardTiles
flashtile::defaultFlashAttentionBackwardTiles(const FlashAttentionClass &kind,
                                              Form form) {
  (void)form;
  if (kind.device == DeviceClass::Cpu)
    return {{64, 64, 4, 2}, {64, 64, 4, 2}};
  if (kind.device == DeviceClass::Sm90a)
    return {{64, 128, 8, 2}, {128, 64, 8, 2}};
  return {{64, 64, 8, 2}, {64, 64, 8, 2}};
}

Form flashtile::defaultFlashAttentionBackwardForm(
    const FlashAttentionClass &kind) {
  return kind.device == DeviceClass::Sm90a ? Form::Fused
                                           : Form::FusedDeterministic;
}
