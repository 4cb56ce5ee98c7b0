//===----------------------------------------------------------------------===//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes on tile programs. Descriptions state purpose, Input, Output,
// Example and Order. `buildTilePipeline` puts them in sequence.
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_DIALECTS_TILE_TRANSFORMS_PASSES_TD
#define FLASHTILE_DIALECTS_TILE_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

class Tile_Pass<string argument> : Pass<argument, "::flashtile::tile::KernelOp">;

def NormalizeBlockPtrsPass : Tile_Pass<"tile-normalize-block-ptrs"> {
  let summary = "make block pointers functions of the induction variable";
  let description = [{
    A window that a loop moves along is expressed by its position at the loop's
    induction variable, so that targets see base, extents and strides as
    functions of the kernel's arguments and offsets as affine in the induction
    variable.

    Input: any kernel.

    Output: no block pointer is carried by an `scf.for` whose body moves it by
    loop-invariant distances, and none is chosen by an `scf.if` or
    `arith.select` between windows of one tensor. Distances that are
    multiples of the loop's step give offsets without division.

    Example: tests/dialects/Tile/Transforms/normalize-block-ptrs.mlir

    Order: after canonicalisation; before `tile-split-loops`, which reads the
    offsets.

    A remark says where a pointer stays carried: the body replaces it by
    another window or moves it by distances that change in the loop.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let statistics = [
    Statistic<"numCarried", "carried-pointers", "loop-carried pointers removed">,
    Statistic<"numChosen", "chosen-pointers", "conditional pointers removed">,
    Statistic<"numKept", "kept-pointers", "loop-carried pointers left">];
}

def SplitLoopsPass : Tile_Pass<"tile-split-loops"> {
  let summary = "separate masked iterations from unmasked ones";
  let description = [{
    A loop whose masks change with its induction variable becomes up to three
    loops, one after the other, that pass the carried values on:

    - `masked` head: iterations before the masks are all true;
    - `interior`: every mask is true in every lane; selects and masks are gone
      and block pointers are known to be in bounds. Comparisons of scalars that
      this decides are constants, so that branches for masked iterations go;
    - `masked` tail: iterations after.

    Iterations in which a mask is false in every lane are not visited at all
    where it is proven (NeutralIteration.h) that they leave every carried
    value as it is: the future of causal attention, or keys behind a sliding
    window. Otherwise they stay in the masked loops.

    Input: masks are conjunctions of signed comparisons between functions
    affine in the induction variable, lane numbers (`tile.arange`) and
    scalars that the loop does not change. The step is positive, and the index
    arithmetic that feeds masks and offsets does not overflow its type. New
    bounds are computed in i64, then converted to the induction variable's
    type; they lie between the old ones, and a loop that ran zero times still
    does.

    Output: as above; the new loops carry `tile.part` = "interior" or "masked"
    and are never split again.

    Example: tests/dialects/Tile/Transforms/split-loops.mlir

    Order: after `tile-normalize-block-ptrs` and loop-invariant code motion;
    before `tile-sink-scale` and `tile-exp-to-exp2`: the proof reads the
    recurrence as authors write it, without the products that may overflow.

    Remarks name every mask that could not be used, and why, and every loop
    whose all-false iterations had to stay.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::scf::SCFDialect"];
  let options = [
    Option<"maxCopies", "max-copies", "int64_t", "3",
           "largest number of loops made of one: 3 allows all; 2 leaves loops "
           "that need a masked part at both ends; 1 only drops iterations">];
  let statistics = [
    Statistic<"numSplit", "loops-split", "loops that got an interior">,
    Statistic<"numTrimmed", "loops-trimmed", "loops whose all-false iterations are dropped">];
}

def SinkScalePass : Tile_Pass<"tile-sink-scale"> {
  let summary = "take maxima before a positive scale";
  let description = [{
    Multiplying by a positive factor keeps the order, also after rounding, so
    `max(s * c) = max(s) * c` to the bit. The factor moves past masking with
    -inf, past `tile.max`, and out of loop-carried running maxima, which are
    then carried unscaled (-inf stays -inf); readers get `maximum * c`. What is
    left of the factor stands directly before the exponential, where
    `tile-exp-to-exp2` folds it into one multiply-add.

    Input: `s * c` with c a scalar (splat) that is provably positive and not
    subnormal: a constant, a `tile.assume` with such a `min`, or a product of
    those with constants of at least 1. The factor is taken to be finite.

    Output: no factor with that fact stands between scores and their maximum.
    Where the sign is unknown nothing changes: 0 * -inf and -1 * -inf would
    turn masked scores into NaN and +inf.

    Example: tests/dialects/Tile/Transforms/sink-scale.mlir

    Order: after `tile-split-loops`, before `tile-exp-to-exp2`.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let statistics = [
    Statistic<"numMaxima", "maxima", "maxima taken before the factor">,
    Statistic<"numRecurrences", "recurrences", "running maxima carried unscaled">];
}

def CombineBoundsPass : Tile_Pass<"tile-combine-bounds"> {
  let summary = "bound the counter of a mask once";
  let description = [{
    Masks in loops compare consecutive positions with a length and with rows:
    `(start + i < length) & (start + i <= row)`. One limit for each row,
    `min(length, row + 1) - start`, with which `i` is compared, costs one
    comparison for each element, and its operand is a constant.

    Input: conjunctions of signed comparisons of one tile, computed in the loop,
    with scalars or with tiles that vary along other dimensions; and of
    conditions that vary along those only, which become part of the limit.

    Output: one comparison for each direction. A single bound stays as it is,
    unless several numbers are added to its positions, `start + i + offset`.
    Index arithmetic is taken not to overflow, as in `tile-split-loops`.

    Example: tests/dialects/Tile/Transforms/combine-bounds.mlir

    Order: last, as other passes recognise masks by their bounds; for targets on
    which a comparison costs as much as the arithmetic it is for (GPUs).
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"];
  let options = [
    Option<"narrowProducts", "narrow-products", "bool", "false",
           "only in kernels with products of at most 16 bits: elsewhere the "
           "limits cost registers, and comparisons are little of the work">,
    Option<"mostProducts", "most-products", "int64_t", "0",
           "only in loops with so many products at most, for the same reason; "
           "0: in all">];
  let statistics = [
    Statistic<"numCombined", "combined", "masks with fewer comparisons">];
}

def ExpToExp2Pass : Tile_Pass<"tile-exp-to-exp2"> {
  let summary = "exponentials by exp2 with one multiply-add";
  let description = [{
    `exp(x) = exp2(x * log2(e))`, with log2(e) and a scalar factor of x
    gathered into one scalar outside the loops:

    - `exp(s * c - m)` -> `exp2(fma(s, c * log2e, -m * log2e))` where m is
      smaller than s and repeated (a row's maximum): one multiply-add and one
      exp2 per element;
    - `exp(a - b)` of equal sizes -> `exp2(a * log2e - b * log2e)`, so that a
      rescaling by `exp(m_old - m_new)` uses the very roundings that the
      multiply-add subtracted;
    - other x -> `exp2(x * (c * log2e))`;
    - `exp2(s * c - m)`, where an author did the above by hand, ->
      `exp2(fma(s, c, -m))`.

    Input: `tile.exp` (`tile.exp2`) of f32 with the fast-math flag `afn`, which licenses both
    the second rounding of the argument and the contraction (or option
    `assume-afn`). f64 stays as it is, and so do f16 and bf16, whose log2(e) is
    too coarse.

    Output: no such `tile.exp`. Edges hold: -inf gives 0, +inf gives +inf, NaN
    gives NaN. A factor is multiplied into scores only where the program
    multiplied by it, so no 0 * -inf appears. Products with log2(e) overflow
    where a score or maximum exceeds 2.3e38 in magnitude, the original's at
    3.4e38.

    Example: tests/dialects/Tile/Transforms/exp-to-exp2.mlir

    Order: after `tile-sink-scale`; canonicalisation, CSE and loop-invariant
    code motion afterwards share the products.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::math::MathDialect"];
  let options = [
    Option<"assumeAfn", "assume-afn", "bool", "false",
           "treat every f32 exponential as if it carried afn">];
  let statistics = [
    Statistic<"numExp", "exponentials", "exponentials rewritten">,
    Statistic<"numFma", "multiply-adds", "exponentials that got a multiply-add">];
}

#endif // FLASHTILE_DIALECTS_TILE_TRANSFORMS_PASSES_TD
