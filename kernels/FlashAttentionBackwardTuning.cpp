//===- FlashAttentionBackwardTuning.cpp - The fastest gradients -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are tuned one by one: the fastest of each makes the fastest pass, and
// as many configurations as all combinations have would take minutes. Then the
// forms compete with their best tiles.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionBackwardSteps.h"
#include "kernels/LookupTable.h"

#include <utility>

using namespace flashtile;
using namespace flashtile::kernels;

using Form = FlashAttentionBackwardForm;

static void append(TuningConfig &config, const TuningConfig &more) {
  for (const auto &[name, value] : more.entries())
    config.set(name, value);
}

namespace {
class BackwardTuning {
public:
  explicit BackwardTuning(const BackwardCall &call)
      : call(call), q(call.operands.q), k(call.operands.k) {
    kind = flashAttentionClassOf(q.tensor.device(), q.tensor.dtype(), q.headDim,
                                 call.options.causal, q.rows, k.rows,
                                 q.heads * q.batch);
  }

  FlashAttentionBackwardChoice choose();
  /// Everything that the choice depends on, but the programs.
  std::string className() const;

private:
  struct Candidate {
    Form form;
    FlashAttentionBackwardTiles tiles;
  };
  /// The forms that differ for what is wanted.
  std::vector<Form> forms() const;
  bool wantsKeys() const { return call.options.wantsK || call.options.wantsV; }
  bool addsDq(Form form) const {
    return form == Form::Fused && call.options.wantsQ && wantsKeys();
  }
  TuningProblem problemOf(const std::string &what, Form form) const;
  void tuneStep(BackwardStep step, Candidate &candidate);
  const Candidate &fasterOf(const std::vector<Candidate> &candidates);
  /// The result, whose trials are kept with names that begin with `prefix`.
  TuningResult tune(const TuningProblem &problem, const std::string &prefix);

  const BackwardCall &call;
  const AttentionOperand &q, &k;
  FlashAttentionClass kind;
  std::vector<TuningTrial> trials;
};
} // namespace

std::vector<Form> BackwardTuning::forms() const {
  if (call.options.form != Form::Default)
    return {call.options.form};
  if (!addsDq(Form::Fused))
    return {Form::FusedDeterministic};
  return {Form::Fused, Form::FusedDeterministic};
}

std::string BackwardTuning::className() const {
  std::string name = toString(kind.dtype);
  const auto add = [&](const char *what, int64_t value) {
    name += std::string(" ") + what + "=" + std::to_string(value);
  };
  add("d", kind.headDim);
  add("queries", kind.queries);
  add("keys", kind.keys);
  add("heads", kind.heads);
  add("group", k.heads ? q.heads / k.heads : 1);
  if (kind.causal)
    name += call.options.alignment == CausalAlignment::TopLeft
                ? " causal top_left"
                : " causal";
  add("wants_q", call.options.wantsQ);
  add("wants_keys", wantsKeys());
  return name;
}

TuningProblem BackwardTuning::problemOf(const std::string &what,
                                        Form form) const {
  TuningProblem problem;
  problem.device = q.tensor.device();
  problem.key = "flash_attention_backward " + what + " " + className();
  problem.program = backwardProgram(call, form);
  return problem;
}

TuningResult BackwardTuning::tune(const TuningProblem &problem,
                                  const std::string &prefix) {
  TuningResult result = autotune(problem);
  for (TuningTrial trial : result.trials) {
    TuningConfig named;
    for (const auto &[name, value] : trial.config.entries())
      named.set(prefix + name, value);
    trial.config = named;
    trials.push_back(std::move(trial));
  }
  return result;
}

void BackwardTuning::tuneStep(BackwardStep step, Candidate &candidate) {
  const bool isKeys = step == BackwardStep::Keys;
  const bool isFused = addsDq(candidate.form);
  const TileWork work = !isKeys   ? TileWork::QueryGradients
                        : isFused ? TileWork::KeyGradientsAndDq
                                  : TileWork::KeyGradients;
  const std::string what = !isKeys   ? "queries"
                           : isFused ? "keys_and_dq"
                                     : "keys";
  FlashAttentionTiles &chosen =
      isKeys ? candidate.tiles.keys : candidate.tiles.queries;
  const FlashAttentionTiles &asked =
      isKeys ? call.options.tiles.keys : call.options.tiles.queries;
  TuningProblem problem = problemOf(what, candidate.form);
  for (FlashAttentionTiles tiles :
       flashAttentionBackwardCandidates(kind, work, chosen)) {
    completeTiles(tiles, asked);
    // The first is what would run without tuning, and says what is wrong with
    // the options where something is.
    if (problem.configs.empty() ||
        flashAttentionDemand(kind, tiles, work).isFeasible())
      problem.configs.push_back(tuningConfigOf(tiles));
  }
  problem.build = [&](const TuningConfig &config) {
    FlashAttentionBackwardTiles tiles = candidate.tiles;
    (isKeys ? tiles.keys : tiles.queries) = flashAttentionTilesOf(config);
    return backwardStep(call, candidate.form, tiles, step);
  };
  chosen = flashAttentionTilesOf(tune(problem, what + "_").best);
}

const BackwardTuning::Candidate &
BackwardTuning::fasterOf(const std::vector<Candidate> &candidates) {
  if (candidates.size() == 1)
    return candidates.front();
  TuningProblem problem = problemOf("form", Form::Fused);
  for (size_t i = 0; i < candidates.size(); ++i) {
    TuningConfig config = {{"form", static_cast<int64_t>(i)}};
    append(config, tuningConfigOf(candidates[i].tiles.keys, "keys_"));
    append(config, tuningConfigOf(candidates[i].tiles.queries, "queries_"));
    problem.configs.push_back(config);
  }
  problem.build = [&](const TuningConfig &config) {
    const Candidate &each = candidates[static_cast<size_t>(config.at("form"))];
    return backwardStep(call, each.form, each.tiles, BackwardStep::All);
  };
  return candidates[static_cast<size_t>(tune(problem, "").best.at("form"))];
}

FlashAttentionBackwardChoice BackwardTuning::choose() {
  std::vector<Candidate> candidates;
  for (const Form form : forms()) {
    Candidate candidate = {form,
                           defaultFlashAttentionBackwardTiles(kind, form)};
    completeTiles(candidate.tiles.keys, call.options.tiles.keys);
    completeTiles(candidate.tiles.queries, call.options.tiles.queries);
    if (wantsKeys())
      tuneStep(BackwardStep::Keys, candidate);
    if (call.options.wantsQ && !addsDq(form))
      tuneStep(BackwardStep::Queries, candidate);
    candidates.push_back(candidate);
  }
  const Candidate &best = fasterOf(candidates);
  return {best.form, best.tiles, std::move(trials)};
}

FlashAttentionBackwardChoice
flashtile::kernels::knownOrTunedBackward(const BackwardCall &call) {
  const FlashAttentionBackwardOptions &options = call.options;
  std::string key = call.operands.q.tensor.device().toString() + " " +
                    BackwardTuning(call).className() + " " +
                    toString(options.form) +
                    " rest=" + std::to_string(call.saved.oRest.defined()) +
                    std::to_string(call.saved.lseRest.defined());
  for (const FlashAttentionTiles *asked :
       {&options.tiles.keys, &options.tiles.queries})
    key += " " + tuningConfigOf(*asked).toString();
  static LookupTable<std::string, FlashAttentionBackwardChoice> table;
  return table.get(key, [&] { return tuneBackward(call); });
}

/// What a step would copy or fill is copied and filled here: steps are made on
/// other threads, and so beside the stream that launches them.
static Tensor settled(const Tensor &tensor, bool isVector, int64_t rank) {
  constexpr int64_t kViewed = 4; // dimensions of what is seen without a copy
  const bool isCopied = tensor.defined() && (isVector || rank > kViewed);
  return isCopied ? tensor.contiguous() : tensor;
}

FlashAttentionBackwardChoice
flashtile::kernels::tuneBackward(const BackwardCall &call) {
  if (call.options.form == Form::Dense)
    return {Form::Dense, {}, {}};
  const auto &[o, lse, oRest, lseRest] = call.saved;
  const int64_t rank = o.rank();
  const FlashAttentionSaved saved = {
      settled(o, false, rank), settled(lse, true, rank),
      settled(oRest, false, rank), settled(lseRest, true, rank)};
  const Tensor upstream =
      call.gradO.defined()
          ? call.gradO
          : Tensor::zeros({}, o.dtype(), o.device()).expand(o.shape());
  const Tensor gradO = settled(upstream, false, rank);
  const Tensor gradLse = settled(call.gradLse, false, rank);
  return BackwardTuning(
             BackwardCall{call.operands, saved, gradO, gradLse, call.options})
      .choose();
}
