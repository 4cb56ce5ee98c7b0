//===- CompileReport.cpp - What a compilation took, as text ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/Compiler.h"

#include <cstdio>

using namespace flashtile;

double CompileReport::totalMilliseconds() const {
  double total = 0;
  for (const StageTime &stage : stages)
    total += stage.milliseconds;
  return total;
}

static std::string line(const std::string &label, double milliseconds) {
  char text[128];
  std::snprintf(text, sizeof text, "  %-16.64s %9.3f ms\n", label.c_str(),
                milliseconds);
  return text;
}

std::string CompileReport::toString() const {
  std::string text;
  for (const StageTime &stage : stages)
    text += line(stage.stage, stage.milliseconds);
  text += line("total", totalMilliseconds());
  for (const std::string &warning : warnings)
    text += "  " + warning + "\n";
  for (const std::string &remark : remarks)
    text += "  " + remark + "\n";
  return text;
}
