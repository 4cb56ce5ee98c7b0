//===- LaunchAttributes.h - What a function tells its launcher ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes of the `llvm.func` that a kernel becomes on a GPU, for the driver
// stage (compiler/Driver/GpuEntries.h), which makes them part of the artifact.
// Allowed on a `tile.kernel`, too, for passes to hand on. A second function
// named `<kernel>__plain` has the same arguments and no tensor maps; launches
// take it where a tensor map cannot be encoded or a requirement does not hold.
// It is seldom needed and therefore compiled at the first launch that does.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILEGPU_IR_LAUNCHATTRIBUTES_H
#define FLASHTILE_DIALECTS_TILEGPU_IR_LAUNCHATTRIBUTES_H

#include "llvm/ADT/StringRef.h"

namespace flashtile::tilegpu {

/// Array of dictionaries, one for each parameter that is a tensor map, in
/// order; those parameters stand between the arguments and the extents of the
/// grid. Dimensions from the innermost outwards:
///   argument  integer: place of the pointer among all arguments of the kernel
///   element   type of the elements
///   swizzle   integer: 0, 32, 64 or 128
///   box       array<i64>: elements of one copy
///   extents   array of expressions, as many as in box
///   strides   array of expressions in elements, one fewer: not the innermost
///   offset    optional expression: elements from the pointer to the tensor
///   padding   optional: "zero" (also where absent) or "nan"
/// An expression is an integer attribute, or an affine map of one result whose
/// inputs, dimensions before symbols, are the kernel's integer arguments in
/// order. As a product of two arguments needs symbols, it is best to use
/// symbols only: affine_map<()[heads, d] -> (heads * d)>.
inline constexpr char kTensorMapsAttr[] = "tilegpu.tensor_maps";

/// Integer: threads of a block. By default those of nvvm.maxntid, else 32 for
/// each warp.
inline constexpr char kNumThreadsAttr[] = "tilegpu.num_threads";

/// Integer: blocks of a cluster along x. By default 1.
inline constexpr char kClusterAttr[] = "tilegpu.cluster";

/// Integer: blocks for each multiprocessor. The grid then has at most so many
/// blocks in all, and each takes one program after the other; the extents that
/// the function gets are those of the whole grid.
inline constexpr char kPersistentAttr[] = "tilegpu.persistent";

/// Unit: blocks take programs from a counter, a parameter of the function
/// between the tensor maps and the extents of the grid: the address of 32 bits
/// in global memory that are 0 when the launch starts and again when it ends,
/// and that no other launch uses meanwhile. May be null where the launch has a
/// block for each program.
inline constexpr char kProgramCounterAttr[] = "tilegpu.program_counter";

/// array<i64: x, y, z>: programs of the kernel as it was written, along each
/// axis, that one program of the function does. The grid that the function is
/// launched with has as many times fewer, rounded up. By default 1.
inline constexpr char kProgramsAtOnceAttr[] = "tilegpu.programs_at_once";

/// Array of dictionaries {argument, divisor}: launches take the function only
/// where the argument (by its place among all) is a multiple of the divisor;
/// pointers count bytes.
inline constexpr char kRequiresAttr[] = "tilegpu.requires";

/// Unit: the kernel is the one for arguments that fit no other; its code is
/// short rather than fast.
inline constexpr char kPlainAttr[] = "tilegpu.plain";

/// Unit: there is a plain function, too, but not in this module: another
/// compilation makes it.
inline constexpr char kPlainElsewhereAttr[] = "tilegpu.plain_elsewhere";

/// Suffix of the function without tensor maps and requirements.
inline constexpr char kPlainSuffix[] = "__plain";

inline bool isLaunchAttribute(llvm::StringRef name) {
  return name == kTensorMapsAttr || name == kNumThreadsAttr ||
         name == kClusterAttr || name == kPersistentAttr ||
         name == kProgramsAtOnceAttr || name == kProgramCounterAttr ||
         name == kRequiresAttr || name == kPlainAttr ||
         name == kPlainElsewhereAttr;
}

} // namespace flashtile::tilegpu

#endif // FLASHTILE_DIALECTS_TILEGPU_IR_LAUNCHATTRIBUTES_H
