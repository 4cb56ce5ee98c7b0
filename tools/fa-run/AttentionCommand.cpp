//===- AttentionCommand.cpp - fa-run attention ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of three .npy files. Every file is read and every shape checked
// before anything is written.
//
//===----------------------------------------------------------------------===//

#include "tools/fa-run/Commands.h"

#include "compiler/Support/Error.h"
#include "kernels/FlashAttention.h"
#include "kernels/Reference/BlockwiseAttention.h"
#include "kernels/Reference/Judge.h"
#include "kernels/Reference/PlainAttention.h"
#include "runtime/Npy.h"

#include <fmt/core.h>

#include <chrono>
#include <memory>

using namespace flashtile;
using namespace flashtile::tools;

namespace {
struct AttentionArguments {
  std::string q, k, v, out, lse, target, dtype;
  std::optional<double> scale;
  bool causal = false, topLeft = false, check = false, report = false,
       asFloat32 = false;
  int64_t blockM = 0, blockN = 0;
};
} // namespace

static Tensor readOperand(const std::string &path, const std::string &dtype) {
  NpyReadOptions options;
  if (!dtype.empty()) {
    options.dtype = parseElementType(dtype);
    if (!options.dtype || !isFloat(*options.dtype))
      throw Error(ErrorCode::InvalidArgument,
                  "expected --dtype f32, f16, bf16, f8E4M3FN or f8E5M2, but "
                  "got '" +
                      dtype + "'");
  }
  return readNpy(path, options);
}

/// Shapes are checked here as well as in the library: only here the files'
/// names are known.
static void checkShapes(const AttentionArguments &arguments, const Tensor &q,
                        const Tensor &k, const Tensor &v) {
  auto refuse = [](const std::string &file, const Tensor &found,
                   const std::string &wanted) {
    throw Error(ErrorCode::InvalidArgument, "'" + file + "': expected " +
                                                wanted + ", but found " +
                                                found.describe());
  };
  if (q.rank() < 2)
    refuse(arguments.q, q,
           "[rows, d], [batch, rows, d] or [batch, heads, rows, d]");
  for (auto [file, tensor] :
       {std::pair(&arguments.k, &k), std::pair(&arguments.v, &v)}) {
    if (tensor->dtype() != q.dtype())
      refuse(*file, *tensor,
             "elements of type " + toString(q.dtype()) + ", as in '" +
                 arguments.q + "'");
    if (tensor->rank() != q.rank())
      refuse(*file, *tensor,
             std::to_string(q.rank()) + " dimensions, as in '" + arguments.q +
                 "'");
    if (tensor->size(tensor->rank() - 1) != q.size(q.rank() - 1))
      refuse(*file, *tensor,
             "head dimension " + std::to_string(q.size(q.rank() - 1)) +
                 ", as in '" + arguments.q + "'");
  }
  if (k.shape() != v.shape())
    refuse(arguments.v, v,
           "shape " + toString(k.shape()) + ", as in '" + arguments.k + "'");
}

static int checkResult(const FlashAttentionResult &result, const Tensor &q,
                       const Tensor &k, const Tensor &v,
                       const AttentionArguments &arguments) {
  reference::AttentionOptions options;
  options.scale = arguments.scale;
  options.causal = arguments.causal;
  if (arguments.topLeft)
    options.alignment = CausalAlignment::TopLeft;
  auto expected = reference::blockwiseAttention(q, k, v, options);
  auto plain = reference::plainAttention(q, k, v, q.dtype(), options);
  bool pass = true;
  reference::JudgeRule rows;
  rows.headRank = 1;
  for (auto [name, verdict] :
       {std::pair("o", reference::judge(result.o, expected.o, plain.o)),
        std::pair("lse", reference::judge(result.lse, expected.lse, plain.lse,
                                          rows))}) {
    fmt::print("check {:<4} error {:.3e}  limit {:.3e}  {}{}\n", name,
               verdict.error, verdict.limit,
               verdict.pass ? "ok" : "FAILED: ", verdict.reason);
    pass &= verdict.pass;
  }
  return pass ? 0 : 1;
}

static int runAttention(const AttentionArguments &arguments) {
  checkTarget(arguments.target);
  Tensor q = readOperand(arguments.q, arguments.dtype);
  Tensor k = readOperand(arguments.k, arguments.dtype);
  Tensor v = readOperand(arguments.v, arguments.dtype);
  checkShapes(arguments, q, k, v);

  FlashAttentionOptions options;
  options.causal = arguments.causal;
  if (arguments.topLeft)
    options.alignment = CausalAlignment::TopLeft;
  options.scale = arguments.scale;
  options.blockM = arguments.blockM;
  options.blockN = arguments.blockN;
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  Kernel kernel = flashAttentionKernel(q, k, v, options);
  auto compiled = Clock::now();
  FlashAttentionResult result = flashAttention(q, k, v, options);
  auto done = Clock::now();
  auto milliseconds = [](auto duration) {
    return std::chrono::duration<double, std::milli>(duration).count();
  };
  fmt::print("attention {}{} on {}: q {}, k {}; compiled in {:.1f} ms, ran in "
             "{:.2f} ms\n",
             toString(q.dtype()), arguments.causal ? " causal" : "",
             arguments.target, toString(q.shape()), toString(k.shape()),
             milliseconds(compiled - begin), milliseconds(done - compiled));
  if (arguments.report)
    fmt::print("{}", kernel.report().toString());

  int status = arguments.check ? checkResult(result, q, k, v, arguments) : 0;
  NpyWriteOptions write;
  if (arguments.asFloat32)
    write.narrow = NpyNarrow::AsFloat32;
  if (!arguments.out.empty())
    writeNpy(arguments.out, result.o, write);
  if (!arguments.lse.empty())
    writeNpy(arguments.lse, result.lse, write);
  return status;
}

Command flashtile::tools::addAttentionCommand(CLI::App &app) {
  auto arguments = std::make_shared<AttentionArguments>();
  CLI::App *command = app.add_subcommand(
      "attention", "o = softmax(scale * q k^T) v of .npy files");
  command
      ->add_option("--q", arguments->q,
                   "Queries: [n, d], [batch, n, d] or [batch, heads, n, d]")
      ->required();
  command->add_option("--k", arguments->k, "Keys; may have fewer heads")
      ->required();
  command->add_option("--v", arguments->v, "Values, of the shape of the keys")
      ->required();
  command->add_option("--out", arguments->out, "Where to write o");
  command->add_option("--lse", arguments->lse,
                      "Where to write the log-sum-exp of each row (f32)");
  command->add_option(
      "--dtype", arguments->dtype,
      "Compute in this type: float32 files are rounded to it, uint16 and "
      "uint8 files are its bits");
  command->add_option("--scale", arguments->scale,
                      "Factor of the scores (1/sqrt(d))");
  command->add_flag("--causal", arguments->causal,
                    "Row i sees key j iff j <= i + seq_k - seq_q");
  command
      ->add_flag("--top-left", arguments->topLeft,
                 "With --causal: row i sees key j iff j <= i")
      ->needs("--causal");
  command->add_option("--block-m", arguments->blockM, "Rows of a query tile")
      ->check(CLI::PositiveNumber);
  command->add_option("--block-n", arguments->blockN, "Rows of a key tile")
      ->check(CLI::PositiveNumber);
  command->add_flag("--float32", arguments->asFloat32,
                    "Write bf16 and fp8 results as float32, not as bits");
  command->add_flag("--check", arguments->check,
                    "Judge the result against float64; exit 1 if it fails");
  command->add_flag("--report", arguments->report,
                    "Print what compiling took and decided");
  addTargetOption(*command, arguments->target);
  return [arguments] { return runAttention(*arguments); };
}
