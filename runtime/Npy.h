//===- Npy.h - Tensors in NumPy's files -----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads .npy files of the formats 1.0, 2.0 and 3.0 and writes 1.0. NumPy has no
// bf16 and no fp8, so those travel either as their bits in an unsigned integer
// or, readable for everybody, as float32; both ways are exact.
//
// Every error names the file. A file that claims more data than it has is
// refused before anything of that size is allocated.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_NPY_H
#define FLASHTILE_RUNTIME_NPY_H

#include "runtime/Tensor.h"

#include <optional>
#include <string>

namespace flashtile {

class AtomicFile;

/// How an element type that NumPy does not know is stored.
enum class NpyNarrow {
  AsBits,    ///< bf16 as uint16, fp8 as uint8
  AsFloat32, ///< as float32
};

struct NpyWriteOptions {
  NpyNarrow narrow = NpyNarrow::AsBits;
};

struct NpyReadOptions {
  /// The element type of the result; unset, that of the file. A file of
  /// another type is an error, with two exceptions. To any narrower float
  /// type, float32 is rounded. To bf16 and fp8, an unsigned integer (or
  /// NumPy's void) of that size is taken as bits.
  std::optional<DType> dtype;
};

/// Reads `path` into a new contiguous tensor. Throws NotFound for a file that
/// does not exist, InvalidArgument for the wrong element type, and Io for what
/// is no .npy file, is cut short or cannot be read.
Tensor readNpy(const std::string &path, const NpyReadOptions &options = {});

/// Writes `tensor`, of any strides, to `path`, which is replaced as a whole or,
/// if this throws, not at all.
void writeNpy(const std::string &path, const Tensor &tensor,
              const NpyWriteOptions &options = {});

/// The same into a file that the caller commits, perhaps with others.
void writeNpy(AtomicFile &file, const Tensor &tensor,
              const NpyWriteOptions &options = {});

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_NPY_H
