//===- FlashAttentionBackward.cpp - Gradients of attention ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Checks, picks a form, and launches its kernels one after the other. Compiled
// kernels are kept by configuration.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackward.h"

#include "kernels/DenseAttentionBackward.h"
#include "kernels/EnumChecks.h"
#include "kernels/FlashAttentionBackwardKernels.h"
#include "kernels/FlashAttentionBackwardSteps.h"
#include "kernels/FlashAttentionOperands.h"
#include "kernels/LookupTable.h"
#include "runtime/Autograd/GradMode.h"
#include "runtime/Jit.h"

#include <algorithm>
#include <memory>
#include <tuple>
#include <vector>

using namespace flashtile;
using namespace flashtile::kernels;

using Form = FlashAttentionBackwardForm;
using Config = FlashAttentionBackwardConfig;
using Operand = AttentionOperand;

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

static void checkEnums(const FlashAttentionBackwardOptions &options) {
  checkOption(options.alignment);
  checkOption(options.form);
}

static void checkLike(const char *name, const Tensor &tensor, DType type,
                      const Shape &shape, Device device) {
  if (!tensor.defined())
    refuseAttention(std::string("'") + name + "' is undefined");
  if (tensor.dtype() != type || tensor.shape() != shape ||
      tensor.device() != device)
    refuseAttention(std::string("expected '") + name + "' to be " +
                    toString(type) + toString(shape) + " on " +
                    device.toString() + ", but got " + tensor.describe());
}

static void checkProblem(const Tensor &q, const FlashAttentionSaved &saved,
                         const Tensor &gradO, const Tensor &gradLse) {
  const DType type = q.dtype();
  if (elementSize(type) == 1)
    refuseAttention("expected 'q' of type f64, f32, f16 or bf16 where "
                    "gradients are wanted, but got " +
                    toString(type));
  const Shape rows = attentionRowShape(q);
  checkLike("o", saved.o, type, q.shape(), q.device());
  checkLike("lse", saved.lse, attentionRealType(type), rows, q.device());
  if (saved.oRest.defined())
    checkLike("oRest", saved.oRest, type, q.shape(), q.device());
  if (saved.lseRest.defined())
    checkLike("lseRest", saved.lseRest, attentionRealType(type), rows,
              q.device());
  if (gradO.defined())
    checkLike("gradO", gradO, type, q.shape(), q.device());
  if (gradLse.defined())
    checkLike("gradLse", gradLse, attentionRealType(type), rows, q.device());
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

static Kernel kernelFor(const std::string &part, Config config,
                        const FlashAttentionTiles &tiles, Device device) {
  using Key =
      std::tuple<int, int, std::string, ElementType, int64_t, int64_t, int64_t,
                 int64_t, int64_t, bool, int, bool, bool, bool, bool, bool,
                 bool, bool, bool, bool, int64_t, int64_t, int64_t>;
  config.blockM = tiles.blockM;
  config.blockN = tiles.blockN;
  const Key key = {static_cast<int>(device.kind()),
                   device.index(),
                   part,
                   config.dtype,
                   config.headDim,
                   config.blockM,
                   config.blockN,
                   tiles.numWarps,
                   tiles.numStages,
                   config.causal,
                   static_cast<int>(config.alignment),
                   config.unitInnerStride,
                   config.grouped,
                   config.countsHeads,
                   config.addsDq,
                   config.packsDq,
                   config.packsRows,
                   config.hasORest,
                   config.hasLseRest,
                   config.hasGradLse,
                   config.keysBlockM,
                   config.keysBlockN,
                   config.width};
  static LookupTable<Key, Kernel> table;
  return table.get(key, [&] {
    CompilerOptions compiler;
    compiler.numWarps = tiles.numWarps;
    compiler.numStages = tiles.numStages;
    const auto build = part == "finish" && config.causal
                           ? buildFlashAttentionBackwardFinishCausal
                       : part == "rows"    ? buildFlashAttentionBackwardRows
                       : part == "keys"    ? buildFlashAttentionBackwardKeys
                       : part == "mend"    ? buildFlashAttentionBackwardMend
                       : part == "queries" ? buildFlashAttentionBackwardQueries
                                           : buildFlashAttentionBackwardFinish;
    return Jit(device, compiler).compile(build(config)).kernel();
  });
}

namespace {
/// The arguments of a launch, in order.
class Arguments {
public:
  explicit Arguments(const Config &config) : config(config) {}

  Arguments &add(const Tensor &tensor) {
    values.push_back(tensor);
    return *this;
  }
  Arguments &addIf(bool wanted, const Tensor &tensor) {
    return wanted ? add(tensor) : *this;
  }
  Arguments &add(const Operand &operand) { return add(operand.tensor); }
  Arguments &addExtent(int64_t extent) {
    values.push_back(static_cast<int32_t>(extent));
    return *this;
  }
  Arguments &addStrides(const Operand &operand) {
    const int count = config.unitInnerStride ? 3 : 4;
    for (int dim = 0; dim < count; ++dim)
      values.push_back(operand.tensor.stride(dim));
    return *this;
  }
  Arguments &addScale(double scale) {
    if (config.dtype == ElementType::F64)
      values.push_back(scale);
    else
      values.push_back(static_cast<float>(scale));
    return *this;
  }
  std::vector<ArgumentValue> values;

  void launch(const Kernel &kernel) const {
    kernel.launchPositional(values.data(), values.size());
  }

private:
  const Config &config;
};

/// One call of the fused forms.
class FusedBackward {
public:
  FusedBackward(const AttentionOperands &operands,
                const FlashAttentionSaved &saved, const Tensor &gradO,
                const Tensor &gradLse,
                const FlashAttentionBackwardOptions &options, Form form,
                const FlashAttentionBackwardTiles &tiles)
      : q(operands.q), k(operands.k), v(operands.v), tiles(tiles) {
    device = q.tensor.device();
    kind = {deviceClassOf(device), q.tensor.dtype(), q.headDim, options.causal};
    scale = attentionScale(q, options.scale);
    o = asAttentionOperand(saved.o);
    const Tensor upstream = gradO.defined()
                                ? gradO
                                : Tensor::zeros({}, saved.o.dtype(), device)
                                      .expand(saved.o.shape());
    dO = asAttentionOperand(upstream);
    lse = saved.lse.contiguous();
    config.dtype = q.tensor.dtype();
    config.headDim = q.headDim;
    config.causal = options.causal;
    config.alignment = options.alignment;
    config.grouped = k.heads != q.heads;
    config.countsHeads =
        config.grouped && flashAttentionBackwardCountsHeads(kind);
    // With one product per tile less, dq alone is cheaper by `queries`.
    const bool wantsKeys = options.wantsK || options.wantsV;
    config.addsDq = form == Form::Fused && options.wantsQ && wantsKeys;
    config.width = flashAttentionBackwardWidth(kind, tiles.keys, config.addsDq);
    // As the threads of warpgroups take them, four numbers at a time.
    constexpr int64_t kPackedRows = 16;
    config.packsRows = kind.device == DeviceClass::Sm90a &&
                       elementSize(kind.dtype) == 2 &&
                       tiles.keys.blockM % kPackedRows == 0 &&
                       tiles.queries.blockM % kPackedRows == 0;
    config.packsDq = config.addsDq && config.packsRows;
    config.hasORest = saved.oRest.defined();
    config.hasLseRest = saved.lseRest.defined();
    config.hasGradLse = gradLse.defined();
    if (config.hasORest)
      oRest = asAttentionOperand(saved.oRest);
    if (config.hasLseRest)
      lseRest = saved.lseRest.contiguous();
    if (config.hasGradLse)
      dLse = asAttentionOperand(gradLse.unsqueeze(-1));
    config.unitInnerStride = hasUnitInnerStride(q) && hasUnitInnerStride(k) &&
                             hasUnitInnerStride(v) && hasUnitInnerStride(o) &&
                             hasUnitInnerStride(dO) &&
                             (!config.hasORest || hasUnitInnerStride(oRest));
    // Whole tiles, and rows that are aligned for every copy.
    constexpr int64_t kPitchStep = 128;
    pitch = (q.rows + kPitchStep - 1) / kPitchStep * kPitchStep;
  }

  FlashAttentionGradients run(const FlashAttentionBackwardOptions &options) {
    const bool wantsKeys = options.wantsK || options.wantsV;
    FlashAttentionGradients result;
    runRows();
    if (wantsKeys)
      runKeys();
    if (options.wantsQ)
      config.addsDq ? runFinish() : runQueries();
    if (options.wantsQ)
      result.q = dq;
    if (options.wantsK)
      result.k = dk;
    if (options.wantsV)
      result.v = dv;
    return result;
  }

  /// Keys or Queries alone, after what comes before it, once.
  void run(BackwardStep step) {
    if (!shift.defined())
      runRows();
    step == BackwardStep::Keys ? runKeys() : runQueries();
  }
  void compile(BackwardStep step) const {
    rowsKernel();
    if (step == BackwardStep::Queries)
      queriesKernel();
    else
      keysKernel();
    if (step == BackwardStep::Keys && config.causal)
      mendKernel();
  }
  std::string program() const {
    return buildFlashAttentionBackwardKeys(config).text() +
           buildFlashAttentionBackwardQueries(config).text();
  }

  /// What run() launches.
  std::vector<Kernel>
  kernels(const FlashAttentionBackwardOptions &options) const {
    std::vector<Kernel> result = {rowsKernel()};
    if (options.wantsK || options.wantsV)
      result.push_back(keysKernel());
    if (config.causal && (options.wantsK || options.wantsV))
      result.push_back(mendKernel());
    if (options.wantsQ)
      result.push_back(config.addsDq ? finishKernel() : queriesKernel());
    return result;
  }

private:
  // Each kernel without what makes no difference to it: fewer are compiled.
  Kernel rowsKernel() const {
    Config part = config;
    part.grouped = part.countsHeads = false;
    part.hasLseRest = part.packsDq = false;
    return kernelFor("rows", part, rowTiles(), device);
  }
  Kernel keysKernel() const {
    Config part = config;
    part.hasORest = part.hasGradLse = false;
    return kernelFor("keys", part, tiles.keys, device);
  }
  Kernel mendKernel() const {
    Config part = config;
    part.hasORest = part.hasGradLse = false;
    part.addsDq = part.packsDq = false;
    part.countsHeads = false;
    part.mends = true;
    part.keysBlockM = tiles.keys.blockM;
    part.keysBlockN = tiles.keys.blockN;
    part.width = q.headDim;
    return kernelFor("mend", part, mendTiles(), device);
  }
  Kernel queriesKernel() const {
    Config part = config;
    part.hasORest = part.hasGradLse = false;
    part.grouped = part.countsHeads = false;
    part.addsDq = part.packsDq = false;
    part.width = q.headDim;
    return kernelFor("queries", part, tiles.queries, device);
  }
  Kernel finishKernel() const {
    Config part = config;
    part.hasORest = part.hasGradLse = false;
    part.grouped = part.countsHeads = false;
    if (!config.causal)
      part.hasLseRest = part.addsDq = false;
    return kernelFor("finish", part, flashAttentionBackwardFinishTiles(kind),
                     device);
  }

  FlashAttentionTiles rowTiles() const {
    return flashAttentionBackwardRowTiles(kind);
  }
  FlashAttentionTiles mendTiles() const {
    return flashAttentionBackwardMendTiles(kind, tiles.keys.blockN);
  }

  Tensor rowVectors() const {
    return Tensor::empty({q.batch, q.heads, pitch},
                         attentionRealType(config.dtype), device);
  }
  Tensor gradientOf(const Operand &operand) const {
    return Tensor::empty(
        {operand.batch, operand.heads, operand.rows, operand.headDim},
        config.dtype, device);
  }

  void runRows() {
    shift = rowVectors();
    delta = rowVectors();
    if (config.addsDq)
      dqSum = Tensor::empty({q.batch, q.heads, pitch, config.width},
                            attentionRealType(config.dtype), device);
    Arguments arguments(config);
    arguments.add(q).add(o).addIf(config.hasORest, oRest.tensor).add(dO);
    arguments.add(lse).addIf(config.hasGradLse, dLse.tensor);
    arguments.add(shift).add(delta).addIf(config.addsDq, dqSum);
    arguments.addExtent(q.heads).addExtent(q.rows).addExtent(k.rows);
    arguments.addExtent(pitch).addExtent(q.batch).addStrides(q).addStrides(o);
    if (config.hasORest)
      arguments.addStrides(oRest);
    arguments.addStrides(dO);
    for (int dim = 0; config.hasGradLse && dim < 3; ++dim)
      arguments.values.push_back(dLse.tensor.stride(dim));
    arguments.launch(rowsKernel());
  }

  /// What `keys` and `queries` read.
  void addInputs(Arguments &arguments) const {
    arguments.add(q).add(k).add(v).add(dO).add(shift).add(delta);
    arguments.addIf(config.hasLseRest, lseRest);
  }
  void addExtents(Arguments &arguments) const {
    arguments.addExtent(q.heads).addExtent(k.heads).addExtent(q.rows);
    arguments.addExtent(k.rows).addExtent(pitch).addExtent(q.batch);
    arguments.addStrides(q).addStrides(k).addStrides(v).addStrides(dO);
  }

  void runKeys() {
    dk = gradientOf(k);
    dv = gradientOf(v);
    Arguments arguments(config);
    addInputs(arguments);
    arguments.add(dk).add(dv);
    const auto dqSumAt = static_cast<int64_t>(arguments.values.size());
    arguments.addIf(config.addsDq, dqSum);
    addExtents(arguments);
    arguments.addStrides(asAttentionOperand(dk));
    arguments.addStrides(asAttentionOperand(dv)).addScale(scale);
    arguments.launch(keysKernel());
    if (!config.causal)
      return;
    // The same without dq_sum.
    if (config.addsDq)
      arguments.values.erase(arguments.values.begin() + dqSumAt);
    arguments.launch(mendKernel());
  }

  void runQueries() {
    dq = gradientOf(q);
    Arguments arguments(config);
    addInputs(arguments);
    arguments.addIf(config.addsDq, dqSum).add(dq);
    addExtents(arguments);
    arguments.addStrides(asAttentionOperand(dq)).addScale(scale);
    arguments.launch(config.addsDq ? finishKernel() : queriesKernel());
  }

  void runFinish() {
    if (config.causal)
      return runQueries();
    dq = gradientOf(q);
    Arguments arguments(config);
    arguments.add(dqSum).add(dq).addExtent(q.heads).addExtent(q.rows);
    arguments.addExtent(pitch).addExtent(q.batch);
    arguments.addStrides(asAttentionOperand(dq)).addScale(scale);
    arguments.launch(finishKernel());
  }

  const Operand q, k, v;
  Operand o, oRest, dO, dLse;
  Tensor lse, lseRest;
  Device device = Device::cpu();
  double scale = 1;
  Config config;
  const FlashAttentionBackwardTiles tiles;
  FlashAttentionClass kind;
  int64_t pitch = 0;

  Tensor shift, delta, dqSum, dq, dk, dv;
};
} // namespace

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

static FlashAttentionClass
classOf(const Tensor &q, const FlashAttentionBackwardOptions &options) {
  return {deviceClassOf(q.device()), q.dtype(), q.size(-1), options.causal};
}

static FlashAttentionBackwardTiles
tilesOf(const Tensor &q, const FlashAttentionBackwardOptions &options,
        Form form) {
  FlashAttentionBackwardTiles tiles =
      defaultFlashAttentionBackwardTiles(classOf(q, options), form);
  completeTiles(tiles.keys, options.tiles.keys);
  completeTiles(tiles.queries, options.tiles.queries);
  return tiles;
}

Form flashtile::flashAttentionBackwardForm(
    const Tensor &q, const Tensor &k, const Tensor &v,
    const FlashAttentionBackwardOptions &options) {
  checkedAttentionOperands(q, k, v);
  checkEnums(options);
  return options.form == Form::Default
             ? defaultFlashAttentionBackwardForm(classOf(q, options))
             : options.form;
}

/// Explicit options count most, then tuning if asked for, then the tables.
static std::pair<Form, FlashAttentionBackwardTiles>
choose(const BackwardCall &call, const Tensor &q, const Tensor &k,
       const Tensor &v) {
  const FlashAttentionBackwardOptions &options = call.options;
  if (options.tune && options.form != Form::Dense &&
      hasAttentionWork(call.operands)) {
    const FlashAttentionBackwardChoice best = knownOrTunedBackward(call);
    return {best.form, best.tiles};
  }
  const Form form = flashAttentionBackwardForm(q, k, v, options);
  return {form, tilesOf(q, options, form)};
}

static FlashAttentionGradients
denseGradients(const Tensor &q, const Tensor &k, const Tensor &v,
               const Tensor &gradO, const Tensor &gradLse,
               const FlashAttentionBackwardOptions &options) {
  DenseAttentionOptions dense;
  dense.causal = options.causal;
  dense.alignment = options.alignment;
  dense.scale = options.scale;
  FlashAttentionGradients result =
      denseAttentionBackward(q, k, v, gradO, gradLse, dense);
  if (!options.wantsQ)
    result.q = {};
  if (!options.wantsK)
    result.k = {};
  if (!options.wantsV)
    result.v = {};
  return result;
}

FlashAttentionGradients flashtile::flashAttentionBackward(
    const Tensor &q, const Tensor &k, const Tensor &v,
    const FlashAttentionSaved &saved, const Tensor &gradO,
    const Tensor &gradLse, const FlashAttentionBackwardOptions &options) {
  const AttentionOperands operands = checkedAttentionOperands(q, k, v);
  checkProblem(q, saved, gradO, gradLse);
  checkEnums(options);
  const NoGradGuard noGrad;
  const auto [form, tiles] =
      choose({operands, saved, gradO, gradLse, options}, q, k, v);
  if (form == Form::Dense)
    return denseGradients(q, k, v, gradO, gradLse, options);
  FlashAttentionGradients result =
      FusedBackward(operands, saved, gradO, gradLse, options, form, tiles)
          .run(options);
  for (auto [gradient, operand] :
       {std::pair(&result.q, &q), {&result.k, &k}, {&result.v, &v}})
    if (gradient->defined())
      *gradient = gradient->view(operand->shape());
  return result;
}

std::vector<Kernel> flashtile::flashAttentionBackwardKernels(
    const Tensor &q, const Tensor &k, const Tensor &v,
    const FlashAttentionBackwardOptions &options) {
  const AttentionOperands operands = checkedAttentionOperands(q, k, v);
  const Form form = flashAttentionBackwardForm(q, k, v, options);
  if (form == Form::Dense)
    return {};
  FlashAttentionSaved saved;
  saved.o = Tensor::empty(q.shape(), q.dtype(), q.device());
  saved.lse = Tensor::empty(attentionRowShape(q), attentionRealType(q.dtype()),
                            q.device());
  if (elementSize(q.dtype()) == 2)
    saved.oRest = saved.o;
  if (q.dtype() == DType::F32)
    saved.lseRest = saved.lse;
  checkProblem(q, saved, saved.o, {});
  return FusedBackward(operands, saved, saved.o, {}, options, form,
                       tilesOf(q, options, form))
      .kernels(options);
}

//===----------------------------------------------------------------------===//
// Tuning
//===----------------------------------------------------------------------===//

static FusedBackward fusedBackward(const BackwardCall &call, Form form,
                                   const FlashAttentionBackwardTiles &tiles) {
  return FusedBackward(call.operands, call.saved, call.gradO, call.gradLse,
                       call.options, form, tiles);
}

std::string kernels::backwardProgram(const BackwardCall &call, Form form) {
  return fusedBackward(call, form, FlashAttentionBackwardTiles()).program();
}

std::function<void()>
kernels::backwardStep(const BackwardCall &call, Form form,
                      const FlashAttentionBackwardTiles &tiles,
                      BackwardStep step) {
  const FlashAttentionBackwardOptions &options = call.options;
  const auto pass =
      std::make_shared<FusedBackward>(fusedBackward(call, form, tiles));
  if (step == BackwardStep::All) {
    pass->kernels(options);
    return [pass, &options] { pass->run(options); };
  }
  pass->compile(step);
  return [pass, step] { pass->run(step); };
}

FlashAttentionBackwardChoice flashtile::flashAttentionBackwardTuning(
    const Tensor &q, const Tensor &k, const Tensor &v,
    const FlashAttentionSaved &saved, const Tensor &gradO,
    const Tensor &gradLse, const FlashAttentionBackwardOptions &options) {
  const AttentionOperands operands = checkedAttentionOperands(q, k, v);
  checkProblem(q, saved, gradO, gradLse);
  checkEnums(options);
  checkAttentionWork(operands);
  return tuneBackward({operands, saved, gradO, gradLse, options});
}
