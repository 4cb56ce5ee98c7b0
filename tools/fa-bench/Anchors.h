//===- Anchors.h - What other systems reach ---------------------*- C++ -*-===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files of results to compare with, as CSV with a header. The columns, in any
// order and with others among them:
//
//   system, dtype, head_dim, causal, pass, seq_len, tflops      attention
//   system, dtype, m, n, k, tflops                              products
//
// A row counts for a case with the same values; batch and heads are compared
// where the file has them. So a file that fa-bench wrote is one, too. Rows
// whose tflops is empty or FAIL do not count. A file without a header has lines
// "ceiling,cublas_<dtype>,<n>,<tflops>", for products of n by n matrices, and
// others that begin with ceiling, launch or jit_cold and are not compared.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_FA_BENCH_ANCHORS_H
#define FLASHTILE_TOOLS_FA_BENCH_ANCHORS_H

#include "tools/fa-bench/Benchmark.h"

namespace flashtile::tools {

class Anchors {
public:
  /// Adds the rows of a file. Throws Io if it cannot be read, InvalidArgument,
  /// with the line, for what is none of the above.
  void read(const std::string &path);

  /// The ratios of `row`, which has numbers, to the rows that match.
  std::vector<AnchorRatio> compare(const BenchRow &row) const;

  bool empty() const { return rows.empty(); }

private:
  struct Anchor {
    std::string system;
    DType dtype;
    std::string pass; ///< empty: any
    std::vector<std::pair<std::string, int64_t>> parameters;
    double tflops;
  };
  class Parser;
  std::vector<Anchor> rows;
};

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_FA_BENCH_ANCHORS_H
