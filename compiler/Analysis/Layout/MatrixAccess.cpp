//===- MatrixAccess.cpp - ldmatrix and stmatrix ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A matrix is eight rows of 16 contiguous bytes. Lane l of the warp holds, in
// one 32-bit register, bytes 4 * (l % 4) of row l / 4; transposed, elements
// 2 * (l % 4) and the next along the rows of column l / 4. Which tile rows the
// eight are is free: each is an address of its own.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/OffsetTables.h"
#include "compiler/Analysis/Layout/SharedLayout.h"

#include <cassert>

using namespace flashtile::gpu;

static constexpr int64_t matrixRowBytes = 16;

/// Digits of an index below and from `stride`.
static std::optional<std::pair<DigitList, DigitList>>
cutAt(llvm::ArrayRef<Digit> digits, int64_t stride) {
  std::optional<DigitList> split = splitAt(canonicalDigits(digits), stride);
  if (!split)
    return std::nullopt;
  std::pair<DigitList, DigitList> parts;
  int64_t position = 1;
  for (const Digit &digit : *split) {
    (position < stride ? parts.first : parts.second).push_back(digit);
    position *= digit.extent;
  }
  return parts;
}

/// Steps 1, 2, ... elements along `dim` and nowhere else.
static bool isRun(llvm::ArrayRef<Digit> digits, unsigned dim, int64_t step,
                  unsigned rank) {
  DigitList merged = canonicalDigits(digits);
  if (merged.empty())
    return true;
  Coordinates expected(rank, 0);
  expected[dim] = step;
  return merged.size() == 1 && merged.front().step == expected;
}

/// Moves by whole matrix rows along `dim`.
static bool staysAligned(llvm::ArrayRef<Digit> digits, unsigned dim,
                         int64_t elements) {
  for (const Digit &digit : digits)
    if (digit.extent > 1 && digit.step[dim] % elements != 0)
      return false;
  return true;
}

namespace {
/// A fragment's digits in the roles that an instruction gives them.
struct Roles {
  DigitList packed;   ///< registers within 32 bits
  DigitList matrices; ///< the other registers
  DigitList quad;     ///< lanes that share a row (not transposed)
  DigitList octet;    ///< the eight groups of four lanes
};
} // namespace

static std::optional<Roles> findRoles(const DistributedLayout &fragment,
                                      int64_t packed) {
  auto registers = cutAt(fragment.registers(), packed);
  auto lanes = cutAt(fragment.lanes(), 4);
  if (!registers || !lanes)
    return std::nullopt;
  return Roles{registers->first, registers->second, lanes->first,
               lanes->second};
}

/// The lanes' digits for row addresses: eight rows, then `count` matrices.
static MatrixAccess buildAccess(const DistributedLayout &fragment,
                                const DigitList &rowDigits,
                                const DigitList &matrixDigits, bool transposed,
                                int64_t packed) {
  MatrixAccess access;
  access.transposed = transposed;
  access.elementsPerRegister = packed;
  DigitList lanes = rowDigits, registers;
  for (int64_t count : {4, 2, 1}) {
    auto parts = cutAt(matrixDigits, count);
    if (!parts)
      continue;
    access.count = count;
    lanes.append(parts->first.begin(), parts->first.end());
    registers = parts->second;
    break;
  }
  if (access.count < 4)
    lanes.push_back({4 / access.count, Coordinates(fragment.rank(), 0)});
  access.rows = DistributedLayout(fragment.shape(), std::move(registers),
                                  std::move(lanes), fragment.warps());
  return access;
}

std::optional<MatrixAccess>
flashtile::gpu::planMatrixAccess(const DistributedLayout &fragment,
                                 const SharedLayout &shared) {
  assert(fragment.rank() == shared.shape.size() && "tiles of different rank");
  if (shared.elementBytes > 4 || shared.order.empty() ||
      shared.rowStride() % matrixRowBytes != 0 ||
      maxExtents(fragment.paddedShape(), shared.shape) != shared.shape)
    return std::nullopt;
  unsigned fastest = shared.order.front(), rank = fragment.rank();
  int64_t packed = 4 / shared.elementBytes;
  int64_t rowElements = matrixRowBytes / shared.elementBytes;
  std::optional<Roles> roles = findRoles(fragment, packed);
  if (!roles || !staysAligned(roles->matrices, fastest, rowElements) ||
      !staysAligned(fragment.warps(), fastest, rowElements))
    return std::nullopt;

  if (isRun(roles->packed, fastest, 1, rank) &&
      isRun(roles->quad, fastest, packed, rank) &&
      staysAligned(roles->octet, fastest, rowElements))
    return buildAccess(fragment, roles->octet, roles->matrices,
                       /*transposed=*/false, packed);

  // Transposed: the eight groups of lanes run along the memory's rows, and the
  // packed pair and the quad number the rows.
  if (shared.elementBytes == 2 && isRun(roles->octet, fastest, 1, rank) &&
      staysAligned(roles->packed, fastest, rowElements) &&
      staysAligned(roles->quad, fastest, rowElements)) {
    DigitList rows = roles->packed;
    rows.append(roles->quad.begin(), roles->quad.end());
    return buildAccess(fragment, rows, roles->matrices, /*transposed=*/true,
                       packed);
  }
  return std::nullopt;
}
