//===- AttentionCheck.cpp - Judges attention at any size ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows begin to end of causal attention see the keys before `end` only, and as
// the last rows of a problem of that many keys they see the right ones: the
// diagonal is aligned at the bottom right.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-bench/AttentionCheck.h"

#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

using namespace flashtile;
using namespace flashtile::tools;

CheckResult flashtile::tools::checkAttention(const Tensor &q, const Tensor &k,
                                             const Tensor &v, const Tensor &o,
                                             const Tensor &lse, bool causal,
                                             double factor) {
  constexpr int64_t kRows = 64;
  const int64_t heads = q.size(0) * q.size(1), rows = q.size(2);
  const int64_t group = q.size(1) / k.size(1), allKeys = k.size(2);
  auto headOf = [&](const Tensor &tensor, int64_t head) {
    const int64_t place = head % q.size(1);
    return tensor.select(0, head / q.size(1))
        .select(0, tensor.size(1) == q.size(1) ? place : place / group)
        .to(Device::cpu());
  };
  reference::JudgeRule rule, lseRule;
  rule.factor = lseRule.factor = factor;
  lseRule.headRank = 1;
  CheckResult result;
  for (const int64_t head : std::set<int64_t>{0, heads - 1})
    for (const int64_t begin :
         std::set<int64_t>{0, std::max<int64_t>(rows / 2 - kRows / 2, 0),
                           std::max<int64_t>(rows - kRows, 0)}) {
      const int64_t count = std::min(kRows, rows - begin);
      const int64_t keys =
          causal ? std::max<int64_t>(begin + count + allKeys - rows, 0)
                 : allKeys;
      const Tensor qRows = headOf(q, head).narrow(0, begin, count);
      const Tensor kRows = headOf(k, head).narrow(0, 0, keys);
      const Tensor vRows = headOf(v, head).narrow(0, 0, keys);
      reference::AttentionOptions options;
      options.causal = causal;
      const auto truth =
          reference::denseAttention(qRows, kRows, vRows, options);
      const auto plain =
          reference::plainAttention(qRows, kRows, vRows, q.dtype(), options);
      auto add = [&](const char *name, const reference::Verdict &verdict) {
        result.add(verdict.pass, verdict.error, verdict.limit,
                   verdict.pass
                       ? std::string()
                       : fmt::format("{} of head {}, from row {}: {}", name,
                                     head, begin, verdict.reason));
      };
      add("o", reference::judge(headOf(o, head).narrow(0, begin, count),
                                truth.o, plain.o, rule));
      if (lse.defined())
        add("lse", reference::judge(headOf(lse, head).narrow(0, begin, count),
                                    truth.lse, plain.lse, lseRule));
    }
  return result;
}
