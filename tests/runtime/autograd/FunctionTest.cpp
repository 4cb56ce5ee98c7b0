//===- FunctionTest.cpp - Differentiable calls of one's own ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/autograd/TestFunctions.h"

#include <array>

using namespace flashtile;
using autograd::Context;
using autograd::Function;
using testing::ElementsAre;

namespace {

/// Everything that apply() may get, and notes what backward sees.
struct Arguments : Function<Arguments> {
  struct Options {
    int number = 0;
    std::string text;
  };
  static Tensor forward(Context &ctx, const Options &options, const Tensor &a,
                        const TensorList &list,
                        const std::optional<Tensor> &maybe, const Tensor &none,
                        const char *text) {
    ctx.savedData["options"] = options;
    ctx.savedData["text"] = text;
    EXPECT_EQ(ctx.needsInputGrad(1), a.requiresGrad());
    EXPECT_FALSE(ctx.needsInputGrad(0));
    EXPECT_FALSE(none.defined());
    EXPECT_FALSE(GradMode::isEnabled());
    Tensor sum = a;
    for (const Tensor &tensor : list)
      sum = zip(sum, tensor, [](double x, double y) { return x + y; });
    return maybe ? times(sum, *maybe) : sum.clone();
  }
  static TensorList backward(Context &ctx, const TensorList &gradOutputs) {
    EXPECT_FALSE(GradMode::isEnabled());
    const auto &options = ctx.savedData.at("options").to<Options>();
    EXPECT_EQ(options.number, 7);
    EXPECT_EQ(options.text, "seven");
    EXPECT_EQ(ctx.savedData["text"].to<std::string>(), "literal");
    EXPECT_FALSE(ctx.needsInputGrad(0));
    EXPECT_TRUE(ctx.needsInputGrad(1));
    EXPECT_FALSE(ctx.needsInputGrad(2)) << "the first of the list";
    EXPECT_TRUE(ctx.needsInputGrad(3));
    EXPECT_FALSE(ctx.needsInputGrad(4));
    EXPECT_FALSE(ctx.needsInputGrad(6));
    EXPECT_ERROR(InvalidArgument, "expected an argument below 7, but got 7",
                 ctx.needsInputGrad(7));
    // The last three are left out.
    return {Tensor(), gradOutputs[0], Tensor(), gradOutputs[0]};
  }
};

} // namespace

TEST(FunctionTest, AnyArguments) {
  const Tensor a = leaf({1, 2}), b = leaf({3, 4});
  const Tensor plain = Tensor::full({2}, 1, DType::F64);
  const Arguments::Options options = {7, "seven"};
  const Tensor sum = Arguments::apply(options, a, TensorList{plain, b},
                                      std::nullopt, Tensor(), "literal");
  EXPECT_THAT(sum.toVector<double>(), ElementsAre(5, 7));
  Sum::apply(sum).backward();
  EXPECT_THAT(gradOf(a), ElementsAre(1, 1));
  EXPECT_THAT(gradOf(b), ElementsAre(1, 1));
  EXPECT_FALSE(plain.grad().defined());
}

namespace {
/// Tensors in pairs, tuples and arrays count one by one.
struct Bundles : Function<Bundles> {
  static Tensor forward(Context &ctx, const std::pair<Tensor, Tensor> &pair,
                        const std::array<Tensor, 2> &array,
                        const std::tuple<Tensor, const Tensor &> &tuple,
                        std::pair<int, Tensor>) {
    EXPECT_TRUE(ctx.needsInputGrad(0));
    EXPECT_FALSE(ctx.needsInputGrad(1));
    EXPECT_TRUE(ctx.needsInputGrad(2));
    EXPECT_ERROR(InvalidArgument, "expected an argument below 7",
                 ctx.needsInputGrad(7));
    return times(times(pair.first, array[0]), std::get<1>(tuple));
  }
  static TensorList backward(Context &, const TensorList &g) {
    return {times(g[0], 1), Tensor(), times(g[0], 2),
            Tensor(),       Tensor(), times(g[0], 3)};
  }
};
} // namespace

TEST(FunctionTest, TensorsInBundles) {
  const Tensor a = leaf({1}), b = leaf({2}), c = leaf({3});
  const Tensor plain = c.detach();
  Bundles::apply(std::pair(a, plain), std::array<Tensor, 2>{b, Tensor()},
                 std::tuple<Tensor, const Tensor &>(plain, c),
                 std::pair(1, plain))
      .backward();
  EXPECT_THAT(gradOf(a), ElementsAre(1));
  EXPECT_THAT(gradOf(b), ElementsAre(2));
  EXPECT_THAT(gradOf(c), ElementsAre(3));
}

namespace {

/// Quotient and remainder, and how often each was asked for.
struct Several : Function<Several> {
  static inline bool materializes = true;
  static inline std::vector<bool> defined;

  static std::tuple<Tensor, Tensor, Tensor> forward(Context &ctx,
                                                    const Tensor &a) {
    ctx.setMaterializeGrads(materializes);
    const Tensor doubled = times(a, 2), tripled = times(a, 3);
    const Tensor count = Tensor::full({}, a.numel(), DType::I64);
    return {doubled, tripled, count};
  }
  static TensorList backward(Context &, const TensorList &gradOutputs) {
    EXPECT_EQ(gradOutputs.size(), 3u);
    defined.clear();
    Tensor sum;
    for (size_t i = 0; i < 3; ++i) {
      defined.push_back(gradOutputs[i].defined());
      if (!defined[i])
        continue;
      const Tensor part = times(gradOutputs[i], i == 0 ? 2 : 3);
      sum = sum.defined()
                ? zip(sum, part, [](double x, double y) { return x + y; })
                : part;
    }
    return {sum};
  }
};

} // namespace

TEST(FunctionTest, SeveralResults) {
  const Tensor x = leaf({1, 2});
  const auto [doubled, tripled, count] = Several::apply(x);
  EXPECT_TRUE(doubled.requiresGrad());
  EXPECT_TRUE(tripled.requiresGrad());
  EXPECT_FALSE(count.requiresGrad()) << "no float";
  EXPECT_EQ(doubled.gradFn(), tripled.gradFn());
  EXPECT_EQ(tripled.outputNr(), 1);
  Add::apply(doubled, tripled).backward(Tensor::full({2}, 1, DType::F64));
  EXPECT_THAT(gradOf(x), ElementsAre(5, 5));
  EXPECT_THAT(Several::defined, ElementsAre(true, true, false));
}

TEST(FunctionTest, UndefinedGradients) {
  const Tensor x = leaf({1, 2});
  for (bool materializes : {true, false}) {
    Several::materializes = materializes;
    x.setGrad();
    const auto results = Several::apply(x);
    Sum::apply(std::get<1>(results)).backward();
    EXPECT_THAT(gradOf(x), ElementsAre(3, 3));
    EXPECT_THAT(Several::defined, ElementsAre(materializes, true, false));
  }
  Several::materializes = true;
}

namespace {

struct NoGradient : Function<NoGradient> {
  static TensorList forward(Context &ctx, const Tensor &a) {
    const Tensor value = times(a, 2), index = times(a, 0);
    ctx.markNonDifferentiable({index});
    return {value, index, Tensor()};
  }
  static TensorList backward(Context &, const TensorList &gradOutputs) {
    EXPECT_TRUE(gradOutputs[0].defined());
    EXPECT_FALSE(gradOutputs[1].defined());
    EXPECT_FALSE(gradOutputs[2].defined());
    return {times(gradOutputs[0], 2)};
  }
};

/// Gives back what it got, and the same tensor twice.
struct Through : Function<Through> {
  static std::array<Tensor, 3> forward(Context &ctx, const Tensor &a) {
    const Tensor made = times(a, 2);
    ctx.saveForBackward({a, made});
    return {a, made, made};
  }
  static TensorList backward(Context &ctx, const TensorList &gradOutputs) {
    EXPECT_EQ(ctx.savedTensors().size(), 2u);
    return {zip(gradOutputs[0],
                zip(gradOutputs[1], gradOutputs[2],
                    [](double x, double y) { return 2 * (x + y); }),
                [](double x, double y) { return x + y; })};
  }
};

/// A gradient whose use must be free of charge: never computed.
struct Undefined : Function<Undefined> {
  static Tensor forward(Context &, const Tensor &a) { return times(a, 1); }
  static TensorList backward(Context &, const TensorList &) {
    return {Tensor()};
  }
};

} // namespace

TEST(FunctionTest, MarkedResults) {
  const Tensor x = leaf({1});
  const TensorList results = NoGradient::apply(x);
  EXPECT_TRUE(results[0].requiresGrad());
  EXPECT_FALSE(results[1].requiresGrad());
  EXPECT_TRUE(results[1].isLeaf());
  EXPECT_FALSE(results[2].defined());
  results[0].backward();
  EXPECT_THAT(gradOf(x), ElementsAre(2));
}

TEST(FunctionTest, ArgumentsHandedThrough) {
  const Tensor x = leaf({1});
  std::weak_ptr<autograd::Node> node;
  {
    const auto results = Through::apply(x);
    node = results[0].gradFn();
    EXPECT_TRUE(x.isLeaf()) << "still a leaf";
    EXPECT_TRUE(results[0].sharesStorageWith(x));
    EXPECT_FALSE(results[0].isLeaf());
    Add::apply(results[0], Add::apply(results[1], results[2])).backward();
    EXPECT_THAT(gradOf(x), ElementsAre(5));
  }
  EXPECT_TRUE(node.expired());
  const auto plain = Through::apply(x.detach());
  EXPECT_FALSE(plain[0].requiresGrad());
  const NoGradGuard noGrad;
  const auto results = Through::apply(x);
  EXPECT_FALSE(results[0].requiresGrad());
  EXPECT_TRUE(x.requiresGrad());
}

TEST(FunctionTest, UndefinedFromBackward) {
  const Tensor x = leaf({1}), y = leaf({2});
  Multiply::apply(Undefined::apply(x), y).backward();
  EXPECT_FALSE(x.grad().defined());
  EXPECT_THAT(gradOf(y), ElementsAre(1));
  // On top of another call, which gets zeros.
  Multiply::apply(Undefined::apply(Scale::apply(x, 2.0)), y).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(0));
}

namespace {

/// needsInputGrad in backward, as the pass wants it.
struct Needs : Function<Needs> {
  static inline std::vector<bool> asked;
  static Tensor forward(Context &ctx, const Tensor &a, const Tensor &b) {
    ctx.saveForBackward({a, b});
    return times(a, b);
  }
  static TensorList backward(Context &ctx, const TensorList &gradOutputs) {
    asked = {ctx.needsInputGrad(0), ctx.needsInputGrad(1)};
    const TensorList saved = ctx.savedTensors();
    return {asked[0] ? times(gradOutputs[0], saved[1]) : Tensor(),
            asked[1] ? times(gradOutputs[0], saved[0]) : Tensor()};
  }
};

} // namespace

namespace {
/// x * w, whose gradient by x is w itself.
struct GivesAway : Function<GivesAway> {
  static Tensor forward(Context &ctx, const Tensor &x, const Tensor &w) {
    ctx.saveForBackward({w});
    return times(x, w);
  }
  static TensorList backward(Context &ctx, const TensorList &) {
    return {ctx.savedTensors()[0], Tensor()};
  }
};
} // namespace

TEST(FunctionTest, ParametersAsGradients) {
  const Tensor x = leaf({2}), w = leaf({5});
  for (int i = 0; i < 2; ++i) {
    Sum::apply(GivesAway::apply(x, w)).backward();
    GivesAway::apply(x, w).backward();
  }
  EXPECT_THAT(gradOf(x), ElementsAre(20));
  EXPECT_THAT(w.toVector<double>(), ElementsAre(5)) << "nobody added to it";
  const Tensor found = autograd::grad({GivesAway::apply(x, w)}, {x})[0];
  EXPECT_FALSE(found.requiresGrad());
}

TEST(FunctionTest, NeedsInputGrad) {
  const Tensor a = leaf({2}), b = leaf({5});
  Needs::apply(a, b.detach()).backward();
  EXPECT_THAT(Needs::asked, ElementsAre(true, false));
  Needs::apply(a, b).backward();
  EXPECT_THAT(Needs::asked, ElementsAre(true, true));
  EXPECT_EQ(autograd::grad({Needs::apply(a, b)}, {b})[0].item<double>(), 2);
  EXPECT_THAT(Needs::asked, ElementsAre(false, true)) << "of this pass";
  EXPECT_THAT(gradOf(a), ElementsAre(10));
}

namespace {

struct WrongResults : Function<WrongResults> {
  static inline std::function<TensorList(const Tensor &)> result;
  static Tensor forward(Context &, const Tensor &a, const Tensor &, int) {
    return times(a, 1);
  }
  static TensorList backward(Context &, const TensorList &gradOutputs) {
    return result(gradOutputs[0]);
  }
};

} // namespace

TEST(FunctionTest, WrongResultsOfBackward) {
  const Tensor a = leaf({2, 3}), b = leaf({5});
  const Tensor y = Sum::apply(WrongResults::apply(a, b, 1));
  const auto expectFailure = [&](const std::string &part, auto result) {
    WrongResults::result = result;
    EXPECT_ERROR(InvalidArgument, part, y.backward({}, /*retainGraph=*/true));
  };
  expectFailure("expected backward to give 3 gradients, one for each argument, "
                "but got 1",
                [](const Tensor &g) { return TensorList{g}; });
  expectFailure("backward gave a gradient at position 2, where apply() got no "
                "tensor",
                [](const Tensor &g) { return TensorList{g, Tensor(), g}; });
  expectFailure("position 3, but apply() got 3 arguments", [](const Tensor &g) {
    return TensorList{g, Tensor(), Tensor(), g};
  });
  expectFailure("gradient 0 of backward: expected a gradient of the shape of "
                "f64[2] on cpu, but got f64[3] on cpu",
                [](const Tensor &) {
                  return TensorList{Tensor::zeros({3}, DType::F64), Tensor()};
                });
  expectFailure("but got i32[2] on cpu", [](const Tensor &) {
    return TensorList{Tensor::zeros({2}, DType::I32), Tensor()};
  });
  EXPECT_FALSE(a.grad().defined());
  // What was broadcast is summed, and types are converted.
  WrongResults::result = [](const Tensor &g) {
    return TensorList{g.expand({4, 2}).to(DType::F32), g};
  };
  y.backward();
  EXPECT_THAT(gradOf(a), ElementsAre(4, 4));
  EXPECT_THAT(gradOf(b), ElementsAre(2));
}

namespace {

struct WritesArgument : Function<WritesArgument> {
  static Tensor forward(Context &, const Tensor &a, const Tensor &scratch) {
    scratch.fill(1);
    a.fill(1);
    return times(a, 1);
  }
  static TensorList backward(Context &, const TensorList &gradOutputs) {
    return {gradOutputs[0], Tensor()};
  }
};

struct Throws : Function<Throws> {
  static inline int stage = 0;
  static Tensor forward(Context &, const Tensor &a) {
    if (stage == 1)
      throw std::runtime_error("in forward");
    return times(a, 1);
  }
  static TensorList backward(Context &, const TensorList &gradOutputs) {
    if (stage == 2)
      throw std::runtime_error("in backward");
    if (stage == 3)
      throw 42;
    return {gradOutputs[0]};
  }
};

/// Differentiates something else in the middle of its own backward.
struct Reenters : Function<Reenters> {
  static Tensor forward(Context &ctx, const Tensor &a) {
    ctx.saveForBackward({a});
    return times(times(a, a), a);
  }
  static TensorList backward(Context &ctx, const TensorList &gradOutputs) {
    const AutoGradMode records(true);
    const Tensor x = ctx.savedTensors()[0].detach().setRequiresGrad();
    const Tensor cube = Multiply::apply(Multiply::apply(x, x), x);
    const TensorList found = autograd::grad({cube}, {x}, {gradOutputs[0]});
    return found;
  }
};

} // namespace

TEST(FunctionTest, WritingToArguments) {
  const Tensor a = leaf({2}), scratch = Tensor::zeros({1}, DType::F64);
  EXPECT_ERROR(InvalidArgument,
               "WritesArgument: forward wrote to argument 0, f64[1] on cpu, "
               "which requires a gradient",
               WritesArgument::apply(a, scratch));
  EXPECT_FALSE(WritesArgument::apply(a.detach(), scratch).requiresGrad());
}

TEST(FunctionTest, ExceptionsReachTheCaller) {
  const Tensor x = leaf({1}), w = leaf({2});
  Throws::stage = 1;
  EXPECT_THROW(Throws::apply(x), std::runtime_error);
  EXPECT_TRUE(GradMode::isEnabled());
  Throws::stage = 0;
  // Above the call that throws lies one whose gradient reaches w first.
  const Tensor y = Multiply::apply(Throws::apply(Multiply::apply(x, x)), w);
  Throws::stage = 2;
  for (int i = 0; i < 3; ++i) {
    try {
      y.backward();
      ADD_FAILURE() << "expected an exception";
    } catch (const std::runtime_error &error) {
      EXPECT_STREQ(error.what(), "in backward");
    }
    EXPECT_TRUE(GradMode::isEnabled());
    EXPECT_FALSE(w.grad().defined()) << "nothing has changed";
  }
  Throws::stage = 3;
  EXPECT_THROW(y.backward(), int);
  // The same graph still works, and was not freed in part.
  Throws::stage = 0;
  y.backward();
  EXPECT_THAT(gradOf(x), ElementsAre(4));
  EXPECT_THAT(gradOf(w), ElementsAre(1));
}

TEST(FunctionTest, ExceptionsOfHooksReachTheCaller) {
  const Tensor x = leaf({1}), y = Multiply::apply(x, x);
  const auto id = x.registerHook(
      [](const Tensor &) { throw std::runtime_error("in a hook"); });
  EXPECT_THROW(y.backward(), std::runtime_error);
  EXPECT_FALSE(x.grad().defined());
  x.removeHook(id);
  y.backward();
  EXPECT_THAT(gradOf(x), ElementsAre(2));
}

TEST(FunctionTest, BackwardWithinBackward) {
  const Tensor x = leaf({2, 3});
  Sum::apply(Reenters::apply(Scale::apply(x, 1.0))).backward();
  EXPECT_THAT(gradOf(x), ElementsAre(12, 27));
}

TEST(FunctionTest, SavedValues) {
  autograd::SavedValue value;
  EXPECT_FALSE(value.hasValue());
  EXPECT_ERROR(InvalidArgument, "of type int, but got none", value.to<int>());
  value = 5;
  EXPECT_EQ(value.to<int>(), 5);
  EXPECT_ERROR(InvalidArgument, "of type double, but got one of type int",
               value.to<double>());
  autograd::SavedData data;
  data["there"] = 5;
  const autograd::SavedData &same = data;
  EXPECT_EQ(same.at("there").to<int>(), 5);
  EXPECT_ERROR(InvalidArgument,
               "expected a saved value 'other', but forward saved none",
               data.at("other"));
}

namespace {
/// Does in one function what is for the other.
struct Confused : Function<Confused> {
  static inline std::function<void(Context &)> inForward, inBackward;
  static Tensor forward(Context &ctx, const Tensor &a) {
    ctx.saveForBackward({a});
    inForward(ctx);
    return times(a, 1);
  }
  static TensorList backward(Context &ctx, const TensorList &gradOutputs) {
    inBackward(ctx);
    return {gradOutputs[0]};
  }
};
} // namespace

TEST(FunctionTest, WhatIsForTheOtherFunction) {
  const auto nothing = [](Context &) {};
  const Tensor x = leaf({1});
  Confused::inForward = [](Context &ctx) { ctx.savedTensors(); };
  EXPECT_ERROR(InvalidArgument,
               "expected a call of savedTensors() in backward, but forward has "
               "not returned",
               Confused::apply(x));
  Confused::inForward = nothing;
  const Tensor y = Confused::apply(x);
  for (const auto &[name, call] :
       {std::pair<std::string, std::function<void(Context &)>>(
            "saveForBackward",
            [](Context &ctx) { ctx.saveForBackward({Tensor()}); }),
        {"markNonDifferentiable",
         [](Context &ctx) { ctx.markNonDifferentiable({}); }},
        {"setMaterializeGrads",
         [](Context &ctx) { ctx.setMaterializeGrads(false); }}}) {
    Confused::inBackward = call;
    EXPECT_ERROR(InvalidArgument,
                 "expected a call of " + name +
                     "() in forward, but it has returned",
                 y.backward());
  }
  Confused::inBackward = nothing;
  y.backward();
  EXPECT_THAT(gradOf(x), ElementsAre(1));
}

TEST(FunctionTest, NoGradGuardsNest) {
  const Tensor x = leaf({1});
  const auto isRecorded = [&] { return Scale::apply(x, 2.0).requiresGrad(); };
  EXPECT_TRUE(isRecorded());
  {
    const NoGradGuard outer;
    EXPECT_FALSE(isRecorded());
    EXPECT_FALSE(x.unsqueeze(0).requiresGrad());
    {
      const AutoGradMode inner(true);
      EXPECT_TRUE(isRecorded());
      const NoGradGuard innermost;
      EXPECT_FALSE(isRecorded());
    }
    EXPECT_FALSE(isRecorded());
    EXPECT_TRUE(leaf({1}).requiresGrad()) << "leaves are what they are";
  }
  EXPECT_TRUE(isRecorded());
  try {
    const NoGradGuard guard;
    throw 1;
  } catch (int) {
  }
  EXPECT_TRUE(isRecorded());
}

TEST(FunctionTest, IsRecorded) {
  const Tensor x = leaf({1}), plain = x.detach();
  EXPECT_TRUE(autograd::isRecorded({plain, Tensor(), x}));
  EXPECT_FALSE(autograd::isRecorded({plain, Tensor()}));
  const NoGradGuard noGrad;
  EXPECT_FALSE(autograd::isRecorded({x}));
}
