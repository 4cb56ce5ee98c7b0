//===- NpyHeader.h - The dictionary at the start of a .npy file -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The header of a .npy file is a Python literal:
//   {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
// This reads exactly that and nothing else: three keys, once each, in any
// order.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_NPYHEADER_H
#define FLASHTILE_RUNTIME_NPYHEADER_H

#include "runtime/Shape.h"

#include <string>
#include <string_view>

namespace flashtile {

struct NpyHeader {
  std::string descr; ///< byte order, kind and size: "<f4"
  bool isFortranOrder = false;
  Shape shape;

  /// Reads the dictionary. Throws Io with what was expected and what is there;
  /// extents are 0 or more and fit into int64_t, their product may not.
  static NpyHeader parse(std::string_view text);

  /// The start of a file of format 1.0, or 2.0 for a very long shape: magic,
  /// version, length and dictionary, padded so that the data is aligned to 64.
  std::string print() const;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_NPYHEADER_H
