//===- AttentionCommand.cpp - fa-run attention ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention of three .npy files, and its gradients. Every file is read and
// every shape checked before anything is written.
//
//===----------------------------------------------------------------------===//

#include "tools/Support/OutputFiles.h"
#include "tools/fa-run/BackwardForm.h"
#include "tools/fa-run/Commands.h"

#include "compiler/Support/Error.h"
#include "kernels/FlashAttentionBackward.h"
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
  std::string q, k, v, target, dtype, form;
  std::optional<std::string> out, lse, grad, gradLse, dq, dk, dv;
  std::optional<double> scale;
  bool causal = false, topLeft = false, check = false, report = false,
       asFloat32 = false;
  int64_t blockM = 0, blockN = 0;

  bool wantsGradients() const { return grad || gradLse; }
};

/// What --grad and --grad-lse name; undefined where they are not given.
struct Upstream {
  Tensor o, lse;
};
} // namespace

/// The element type that --dtype names; none for that of the files.
static std::optional<DType> typeOf(const AttentionArguments &arguments) {
  if (arguments.dtype.empty())
    return std::nullopt;
  auto type = parseElementType(arguments.dtype);
  if (!type || !isFloat(*type) || *type == DType::F64)
    throw Error(ErrorCode::InvalidArgument,
                "expected --dtype f32, f16, bf16, f8E4M3FN or f8E5M2, but got "
                "'" +
                    arguments.dtype + "'");
  return type;
}

static Tensor readOperand(const std::string &path, std::optional<DType> type) {
  try {
    NpyReadOptions options;
    options.dtype = type;
    return readNpy(path, options);
  } catch (const Error &error) {
    // Bits without a meaning, for example.
    if (error.code() != ErrorCode::InvalidArgument || type)
      throw;
    throw Error(error.code(), error.what() + std::string(" (--dtype)"));
  }
}

/// "f32[1, 2, 5, 8]"
static std::string describe(const Tensor &tensor) {
  return toString(tensor.dtype()) + toString(tensor.shape());
}

/// Shapes are checked here as well as in the library: only here the files'
/// names are known.
static void checkShapes(const AttentionArguments &arguments, const Tensor &q,
                        const Tensor &k, const Tensor &v) {
  auto refuse = [](const std::string &file, const Tensor &found,
                   const std::string &wanted) {
    throw Error(ErrorCode::InvalidArgument, "'" + file + "': expected " +
                                                wanted + ", but found " +
                                                describe(found));
  };
  const std::string asQ =
      ", as in '" + arguments.q + "', which is " + describe(q);
  if (q.rank() < 2)
    refuse(arguments.q, q,
           "[rows, d], [batch, rows, d] or [batch, heads, rows, d]");
  if (!isFloat(q.dtype()) || q.dtype() == DType::F64)
    refuse(arguments.q, q,
           "elements of type f32, f16, bf16, f8E4M3FN or f8E5M2");
  int64_t headDim = q.size(-1);
  if (headDim < 8 || headDim > 256 || headDim % 8)
    refuse(arguments.q, q, "a head dimension from 8 to 256 in steps of 8");
  if (k.dtype() != q.dtype())
    refuse(arguments.k, k, "elements of type " + toString(q.dtype()) + asQ);
  if (k.rank() != q.rank())
    refuse(arguments.k, k, std::to_string(q.rank()) + " dimensions" + asQ);
  if (k.size(-1) != headDim)
    refuse(arguments.k, k, "head dimension " + std::to_string(headDim) + asQ);
  // Heads, where there are any, come right before the rows.
  int64_t leading = q.rank() > 3 ? q.rank() - 3 : q.rank() - 2;
  for (int64_t dim = 0; dim < leading; ++dim)
    if (k.size(dim) != q.size(dim))
      refuse(arguments.k, k,
             "extent " + std::to_string(q.size(dim)) + " in dimension " +
                 std::to_string(dim) + asQ);
  if (q.rank() > 3 &&
      (k.size(-3) == 0 ? q.size(-3) != 0 : q.size(-3) % k.size(-3) != 0))
    refuse(arguments.k, k,
           "a number of heads that divides " + std::to_string(q.size(-3)) +
               asQ);
  if (v.dtype() != k.dtype() || v.shape() != k.shape())
    refuse(arguments.v, v, describe(k) + ", as in '" + arguments.k + "'");
}

/// The upstream gradients against what they are gradients of.
static Upstream readUpstream(const AttentionArguments &arguments,
                             const Tensor &q, std::optional<DType> type) {
  Upstream upstream;
  auto check = [&](const std::string &file, const Tensor &found,
                   const std::string &wanted) {
    if (describe(found) != wanted)
      throw Error(ErrorCode::InvalidArgument,
                  "'" + file + "': expected " + wanted + " for '" +
                      arguments.q + "', which is " + describe(q) +
                      ", but found " + describe(found));
  };
  if (elementSize(q.dtype()) == 1 && arguments.wantsGradients())
    throw Error(ErrorCode::InvalidArgument,
                "'" + arguments.q +
                    "': expected elements of type f32, f16 or bf16 with "
                    "--grad, but found " +
                    describe(q));
  if (arguments.grad) {
    upstream.o = readOperand(*arguments.grad, type);
    check(*arguments.grad, upstream.o, describe(q));
  }
  if (arguments.gradLse) {
    upstream.lse = readOperand(*arguments.gradLse, std::nullopt);
    Shape rows = q.shape();
    rows.pop_back();
    check(*arguments.gradLse, upstream.lse,
          toString(DType::F32) + toString(rows));
  }
  return upstream;
}

static bool show(const char *name, const reference::Verdict &verdict) {
  fmt::print("check {:<4} error {:.3e}  limit {:.3e}  {}{}\n", name,
             verdict.error, verdict.limit,
             verdict.pass ? "ok" : "FAILED: ", verdict.reason);
  return verdict.pass;
}

/// Judges everything that was computed.
static int checkResult(const FlashAttentionResult &result,
                       const FlashAttentionGradients &gradients,
                       const Tensor &q, const Tensor &k, const Tensor &v,
                       const Upstream &upstream,
                       const AttentionArguments &arguments) {
  reference::AttentionOptions options;
  options.scale = arguments.scale;
  options.causal = arguments.causal;
  if (arguments.topLeft)
    options.alignment = CausalAlignment::TopLeft;
  const int steps = arguments.wantsGradients() ? 4 : 2;
  int step = 0;
  auto progress = [&](const std::string &what) {
    showProgress(fmt::format("[{}/{}] {}", ++step, steps, what));
  };
  const std::string type = toString(q.dtype());
  progress("attention in float64");
  auto expected = reference::blockwiseAttention(q, k, v, options);
  progress("a plain implementation in " + type);
  auto plain = reference::plainAttention(q, k, v, q.dtype(), options);
  reference::JudgeRule rows;
  rows.headRank = 1;
  auto o = reference::judge(result.o, expected.o, plain.o);
  auto lse = reference::judge(result.lse, expected.lse, plain.lse, rows);
  if (!arguments.wantsGradients()) {
    showProgress("");
    bool pass = show("o", o);
    pass &= show("lse", lse);
    return pass ? 0 : 1;
  }
  const Tensor dO = upstream.o.defined()
                        ? upstream.o
                        : Tensor::zeros({}, q.dtype()).expand(q.shape());
  progress("gradients in float64");
  auto truth = reference::blockwiseAttentionBackward(q, k, v, expected, dO,
                                                     options, {}, upstream.lse);
  progress("plain gradients in " + type);
  auto yardstick = reference::plainAttentionBackward(q, k, v, dO, q.dtype(),
                                                     options, upstream.lse);
  showProgress("");
  bool pass = show("o", o);
  pass &= show("lse", lse);
  pass &= show("dq", reference::judge(gradients.q, truth.dq, yardstick.dq));
  pass &= show("dk", reference::judge(gradients.k, truth.dk, yardstick.dk));
  pass &= show("dv", reference::judge(gradients.v, truth.dv, yardstick.dv));
  return pass ? 0 : 1;
}

using Clock = std::chrono::steady_clock;

static double milliseconds(Clock::duration duration) {
  return std::chrono::duration<double, std::milli>(duration).count();
}

/// Forward for gradients, and the gradients, back on the host.
static FlashAttentionGradients
runBackward(const Tensor &q, const Tensor &k, const Tensor &v,
            const Upstream &upstream, const FlashAttentionOptions &forward,
            const AttentionArguments &arguments, FlashAttentionResult &result) {
  FlashAttentionBackwardOptions options(forward);
  options.form = parseBackwardForm(arguments.form);
  const Device device = q.device();
  auto onDevice = [&](const Tensor &tensor) {
    return tensor.defined() ? tensor.to(device) : tensor;
  };
  const Tensor dO = onDevice(upstream.o), dLse = onDevice(upstream.lse);
  const FlashAttentionSaved saved = flashAttentionSaved(q, k, v, forward);
  auto begin = Clock::now();
  const std::vector<Kernel> kernels =
      flashAttentionBackwardKernels(q, k, v, options);
  auto compiled = Clock::now();
  FlashAttentionGradients gradients =
      flashAttentionBackward(q, k, v, saved, dO, dLse, options);
  gradients = {gradients.q.to(Device::cpu()), gradients.k.to(Device::cpu()),
               gradients.v.to(Device::cpu())};
  auto done = Clock::now();
  result = {saved.o.to(Device::cpu()), saved.lse.to(Device::cpu())};
  fmt::print("gradients, {}: compiled in {:.1f} ms, ran in {:.2f} ms\n",
             toString(flashAttentionBackwardForm(q, k, v, options)),
             milliseconds(compiled - begin), milliseconds(done - compiled));
  for (const Kernel &kernel : kernels)
    if (arguments.report)
      fmt::print("{}", kernel.report().toString());
    else
      printWarnings("fa-run", kernel);
  return gradients;
}

static int runAttention(const AttentionArguments &arguments) {
  Device device = targetDevice(arguments.target);
  std::optional<DType> type = typeOf(arguments);
  Tensor q = readOperand(arguments.q, type);
  Tensor k = readOperand(arguments.k, type);
  Tensor v = readOperand(arguments.v, type);
  checkShapes(arguments, q, k, v);
  parseBackwardForm(arguments.form);
  const Upstream upstream = readUpstream(arguments, q, type);
  OutputFiles outputs;
  for (auto [name, path] : {std::pair("--out", &arguments.out),
                            {"--lse", &arguments.lse},
                            {"--dq", &arguments.dq},
                            {"--dk", &arguments.dk},
                            {"--dv", &arguments.dv}})
    if (*path)
      outputs.open(name, **path);

  FlashAttentionOptions options;
  options.causal = arguments.causal;
  if (arguments.topLeft)
    options.alignment = CausalAlignment::TopLeft;
  options.scale = arguments.scale;
  options.blockM = arguments.blockM;
  options.blockN = arguments.blockN;
  auto begin = Clock::now();
  Tensor deviceQ = q.to(device), deviceK = k.to(device), deviceV = v.to(device);
  Kernel kernel = flashAttentionKernel(deviceQ, deviceK, deviceV, options);
  auto compiled = Clock::now();
  FlashAttentionResult result =
      flashAttention(deviceQ, deviceK, deviceV, options);
  // Waits for a GPU, and counts the way back.
  result = {result.o.to(Device::cpu()), result.lse.to(Device::cpu())};
  auto done = Clock::now();
  fmt::print("attention {}{} on {}: q {}, k {}; compiled in {:.1f} ms, ran in "
             "{:.2f} ms\n",
             toString(q.dtype()), arguments.causal ? " causal" : "",
             arguments.target, toString(q.shape()), toString(k.shape()),
             milliseconds(compiled - begin), milliseconds(done - compiled));
  if (arguments.report)
    fmt::print("{}", kernel.report().toString());
  else
    printWarnings("fa-run", kernel);

  FlashAttentionGradients gradients;
  if (arguments.wantsGradients())
    gradients = runBackward(deviceQ, deviceK, deviceV, upstream, options,
                            arguments, result);
  int status = arguments.check ? checkResult(result, gradients, q, k, v,
                                             upstream, arguments)
                               : 0;
  NpyWriteOptions write;
  if (arguments.asFloat32)
    write.narrow = NpyNarrow::AsFloat32;
  outputs.write("--out", result.o, write);
  outputs.write("--lse", result.lse, write);
  if (arguments.wantsGradients()) {
    outputs.write("--dq", gradients.q, write);
    outputs.write("--dk", gradients.k, write);
    outputs.write("--dv", gradients.v, write);
  }
  outputs.commit();
  return status;
}

Command flashtile::tools::addAttentionCommand(CLI::App &app) {
  auto arguments = std::make_shared<AttentionArguments>();
  CLI::App *command = app.add_subcommand(
      "attention", "o = softmax(scale * q k^T) v of .npy files, and gradients");
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
  CLI::Option *grad = command->add_option(
      "--grad", arguments->grad,
      "Gradient by o, of the shape of the queries: computes dq, dk and dv");
  command
      ->add_option("--grad-lse", arguments->gradLse,
                   "With --grad: gradient by the log-sum-exp (f32)")
      ->needs(grad);
  for (auto [name, path, what] :
       {std::tuple("--dq", &arguments->dq, "With --grad: where to write dq"),
        {"--dk", &arguments->dk, "With --grad: where to write dk"},
        {"--dv", &arguments->dv, "With --grad: where to write dv"}})
    command->add_option(name, *path, what)->needs(grad);
  addBackwardFormOption(*command, arguments->form)->needs(grad);
  command->add_option(
      "--dtype", arguments->dtype,
      "Compute in this type: float32 files are rounded to it, uint16 and "
      "uint8 files are its bits");
  command
      ->add_option("--scale", arguments->scale,
                   "Factor of the scores (1/sqrt(d))")
      ->check(realNumber());
  command->add_flag("--causal", arguments->causal,
                    "Row i sees key j iff j <= i + seq_k - seq_q");
  command
      ->add_flag("--top-left", arguments->topLeft,
                 "With --causal: row i sees key j iff j <= i")
      ->needs("--causal");
  command->add_option("--block-m", arguments->blockM, "Rows of a query tile")
      ->check(positiveInteger());
  command->add_option("--block-n", arguments->blockN, "Rows of a key tile")
      ->check(positiveInteger());
  command->add_flag("--float32", arguments->asFloat32,
                    "Write bf16 and fp8 results as float32, not as bits");
  command->add_flag("--check", arguments->check,
                    "Judge the result against float64; exit 1 if it fails");
  command->add_flag("--report", arguments->report,
                    "Print what compiling took and decided");
  addTargetOption(*command, arguments->target);
  return [arguments] { return runAttention(*arguments); };
}
