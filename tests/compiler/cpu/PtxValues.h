//===- PtxValues.h - Registers of PTX as numbers
//----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A register is 64 bits; the type of an instruction says what they mean.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_COMPILER_CPU_PTXVALUES_H
#define FLASHTILE_TESTS_COMPILER_CPU_PTXVALUES_H

#include "tests/compiler/cpu/PtxProgram.h"

namespace flashtile::cputest {

struct PtxType {
  char kind = 'b'; ///< b, s, u, f; 'h' for bf16; 'p' for predicates
  int bits = 32;
  bool isFloat() const { return kind == 'f' || kind == 'h'; }
};

/// False for a word that names no type.
bool parseType(const std::string &word, PtxType &type);
/// The types among the words of an opcode, in order.
std::vector<PtxType> typesOf(const PtxWords &words);

/// The lowest bits, the others zero, or copies of the highest.
uint64_t masked(uint64_t value, int bits);
int64_t extended(uint64_t value, int bits);

double toReal(uint64_t bits, PtxType type);
/// Rounded to nearest even; NaN as the hardware writes it.
uint64_t fromReal(double value, PtxType type);

/// Subnormal numbers of f32 as zeros of their sign.
double flushed(double value);
/// a * b + c, rounded once.
double fusedReal(double a, double b, double c, PtxType type);

} // namespace flashtile::cputest

#endif // FLASHTILE_TESTS_COMPILER_CPU_PTXVALUES_H
