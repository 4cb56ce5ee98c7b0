//===- StreamTest.cpp - In which streams the way back runs ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the scripted driver: what is queued where, and what waits for what.
//
//===----------------------------------------------------------------------===//

#include "compiler/Support/Error.h"
#include "runtime/Autograd/Autograd.h"
#include "runtime/cuda/CudaStream.h"
#include "tests/runtime/cuda/FakeDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

using namespace flashtile;
using cuda::StreamHandle;
using testing::AllOf;
using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

namespace {

const Device gpu = Device::cuda(0);

Tensor onGpu(double value) { return Tensor::full({4}, value, DType::F32, gpu); }

/// Fills a tensor on the way there, and one on the way back.
struct Fills : autograd::Function<Fills> {
  static Tensor forward(autograd::Context &, const Tensor &) {
    return onGpu(1);
  }
  static TensorList backward(autograd::Context &, const TensorList &) {
    return {onGpu(2)};
  }
};

class StreamTest : public testing::Test {
protected:
  void SetUp() override {
    CudaDevice::get(0);
    driver.reset();
  }
  void TearDown() override {
    EXPECT_EQ(driver.alive["memory"], 0);
    EXPECT_EQ(driver.alive["event"], 0);
    EXPECT_EQ(driver.contextDepth(), 0);
    driver.reset();
  }

  /// Runs `call` with `stream` as the current one.
  template <typename Call>
  static auto in(const CudaStream &stream, Call call) {
    const CudaStreamGuard guard(stream);
    return call();
  }
  std::vector<StreamHandle> fills() const {
    return driver.streamsOf("cuMemsetD32Async");
  }
  std::vector<StreamHandle> waits() const {
    return driver.streamsOf("cuStreamWaitEvent");
  }

  fake::FakeDriver &driver = fake::FakeDriver::get();
  CudaDevice &device = CudaDevice::get(0);
  const CudaStream first = CudaStream::create(device);
  const CudaStream second = CudaStream::create(device);
  const StreamHandle legacy = CudaStream::legacy(device).handle();
};

} // namespace

TEST_F(StreamTest, BackwardOfAFreshThreadRunsWhereForwardRan) {
  const Tensor x = onGpu(0).setRequiresGrad();
  Tensor y = in(first, [&] { return Fills::apply(x); });
  const Tensor gradient = onGpu(1);
  driver.calls.clear();
  std::thread([&, y = std::move(y)]() mutable {
    y.backward(gradient);
    y = {};
    EXPECT_EQ(driver.contextDepth(), 0) << "of this thread";
    EXPECT_EQ(CudaStream::current(device), CudaStream::legacy(device));
  }).join();
  EXPECT_THAT(fills(), ElementsAre(first.handle()));
  // The node waits for the gradient, and the caller for the result.
  EXPECT_THAT(waits(), ElementsAre(first.handle(), legacy));
  for (const fake::Call &call : driver.calls)
    EXPECT_TRUE(call.device == 0 || call.name.find("Ctx") != std::string::npos)
        << call.name << " without the context";
  EXPECT_THAT(x.grad().toVector<float>(), Each(2));
}

TEST_F(StreamTest, OneStreamWaitsForNothing) {
  in(first, [&] {
    const Tensor x = onGpu(0).setRequiresGrad();
    Fills::apply(Fills::apply(x)).backward(onGpu(1));
    EXPECT_THAT(x.grad().toVector<float>(), Each(2));
    return 0;
  });
  EXPECT_THAT(waits(), IsEmpty());
  EXPECT_THAT(fills(), Each(first.handle()));
}

TEST_F(StreamTest, NodesOfTwoStreamsWaitForEachOther) {
  const Tensor x = onGpu(0).setRequiresGrad();
  const Tensor a = in(first, [&] { return Fills::apply(x); });
  const Tensor b = in(second, [&] { return Fills::apply(a); });
  const Tensor gradient = onGpu(1);
  driver.calls.clear();
  b.backward(gradient);
  EXPECT_THAT(fills(), ElementsAre(second.handle(), first.handle()));
  // For the gradient of the caller, and that of the node above; then the memory
  // of the latter is given back, in its own stream, and the caller goes on.
  EXPECT_THAT(waits(), ElementsAre(second.handle(), first.handle(),
                                   second.handle(), legacy));
}

// Of three leaves that have gradients, none is added to, or all are; or else
// the error says how many.
TEST_F(StreamTest, FaultsChangeNothingOrTellWhatTheyChanged) {
  const TensorList leaves = {onGpu(0).setRequiresGrad(),
                             onGpu(0).setRequiresGrad(),
                             onGpu(0).setRequiresGrad()};
  int additions = 0;
  const auto pass = [&](bool namesInputs) {
    TensorList results;
    for (const Tensor &leaf : leaves) {
      leaf.setGrad(onGpu(1));
      results.push_back(in(first, [&] { return Fills::apply(leaf); }));
    }
    const TensorList gradients(3, onGpu(1));
    driver.reset();
    additions = 0;
    driver.onLaunch = [&](const fake::Launch &launch) {
      additions += launch.kernel == "gradient_add";
    };
    return [=] {
      autograd::backward(results, gradients, false,
                         namesInputs ? leaves : TensorList());
    };
  };
  for (const bool namesInputs : {false, true}) {
    pass(namesInputs)();
    ASSERT_EQ(additions, 3);
    const int numCalls = static_cast<int>(driver.calls.size());
    std::set<int> partial;
    for (int i = 0; i < numCalls; ++i) {
      auto run = pass(namesInputs);
      driver.failAfter = i;
      try {
        run();
        EXPECT_EQ(additions, 3) << driver.lastFailed;
      } catch (const Error &error) {
        const std::string what = error.what();
        if (additions == 3)
          EXPECT_THAT(what, testing::HasSubstr("of the pass are complete"));
        else if (additions > 0)
          EXPECT_THAT(what,
                      testing::HasSubstr(
                          "the gradients of " + std::to_string(additions) +
                          " tensors of 3 have been added to already"));
        else
          EXPECT_THAT(what, testing::Not(testing::HasSubstr("already")));
        if (additions == 1 || additions == 2)
          partial.insert(additions);
      }
      driver.failAfter = -1;
      EXPECT_EQ(driver.contextDepth(), 0) << driver.lastFailed;
    }
    // Only where a launch itself was refused.
    EXPECT_THAT(partial, testing::UnorderedElementsAre(1, 2));
  }
  for (const Tensor &leaf : leaves)
    leaf.setGrad();
}

TEST_F(StreamTest, SumsRunWhereTheyAreTaken) {
  const Tensor x = onGpu(0).setRequiresGrad();
  const Tensor shared = in(first, [&] { return Fills::apply(x); });
  const Tensor a = in(second, [&] { return Fills::apply(shared); });
  const Tensor b = in(first, [&] { return Fills::apply(shared); });
  const Tensor gradient = onGpu(1);
  driver.launches.clear();
  autograd::backward({a, b}, {gradient, gradient});
  std::vector<std::string> names;
  for (const fake::Launch &launch : driver.launches) {
    names.push_back(launch.kernel);
    EXPECT_EQ(launch.stream, first.handle()) << launch.kernel;
  }
  EXPECT_THAT(names, ElementsAre("gradient_copy", "gradient_add"));
}

TEST_F(StreamTest, GradientsOfALeafAddUpAcrossStreams) {
  const Tensor x = onGpu(0).setRequiresGrad();
  for (const CudaStream &stream : {first, second})
    in(stream, [&] {
      Fills::apply(x).backward(onGpu(1));
      return 0;
    });
  ASSERT_THAT(driver.launches, SizeIs(1));
  EXPECT_EQ(driver.launches[0].kernel, "gradient_add");
  EXPECT_EQ(driver.launches[0].stream, second.handle());
  EXPECT_THAT(waits(), ElementsAre(second.handle()))
      << "for the first gradient, in the first stream";
}

TEST_F(StreamTest, CapturedGradientsAreReadyForTheCaller) {
  const Tensor x = onGpu(0).setRequiresGrad();
  const Tensor y = in(first, [&] { return Fills::apply(x); });
  const Tensor gradient = onGpu(1);
  driver.calls.clear();
  const TensorList found =
      in(second, [&] { return autograd::grad({y}, {x}, {gradient}); });
  EXPECT_THAT(fills(), ElementsAre(first.handle()));
  EXPECT_THAT(waits(), ElementsAre(first.handle(), second.handle()));
}

TEST_F(StreamTest, AThreadsOwnDefaultStreamMeansTheLegacyOneLater) {
  const Tensor x = onGpu(0).setRequiresGrad();
  const Tensor y =
      in(CudaStream::perThread(device), [&] { return Fills::apply(x); });
  const Tensor gradient = onGpu(1);
  driver.calls.clear();
  std::thread([&] { y.backward(gradient); }).join();
  EXPECT_THAT(fills(), ElementsAre(legacy));
}

namespace {
/// Saves its operand.
struct Saves : autograd::Function<Saves> {
  static Tensor forward(autograd::Context &ctx, const Tensor &x,
                        const Tensor &w) {
    ctx.saveForBackward({w});
    return x.detach();
  }
  static TensorList backward(autograd::Context &ctx,
                             const TensorList &gradOutputs) {
    EXPECT_TRUE(ctx.savedTensors()[0].defined());
    return {gradOutputs[0]};
  }
};
} // namespace

TEST_F(StreamTest, SavedOperandsOfOtherStreamsLiveUntilTheyAreRead) {
  const Tensor x = in(first, [&] { return onGpu(0); }).setRequiresGrad();
  Tensor w = in(second, [&] { return onGpu(3); });
  const Tensor y = in(first, [&] { return Saves::apply(x, w); });
  w = {};
  in(first, [&] {
    const Tensor gradient = onGpu(1);
    driver.calls.clear();
    y.backward(gradient); // frees w at its end
    return 0;
  });
  EXPECT_THAT(waits(), ElementsAre(second.handle()));
}

TEST_F(StreamTest, AFailureOfTheDriverLeavesTheGraphUsable) {
  const Tensor x = onGpu(0).setRequiresGrad();
  const Tensor y = in(first, [&] { return Fills::apply(x); });
  const Tensor gradient = onGpu(1);
  driver.failOnce["cuMemsetD32Async"] = cuda::invalidValue;
  EXPECT_THROW(y.backward(gradient), Error);
  EXPECT_FALSE(x.grad().defined());
  EXPECT_EQ(CudaStream::current(device), CudaStream::legacy(device));
  y.backward(gradient);
  EXPECT_THAT(x.grad().toVector<float>(), Each(2));
}

TEST_F(StreamTest, CopiesBetweenDevicesGoBack) {
  const Tensor x = Tensor::full({4}, 1, DType::F32).setRequiresGrad();
  const Tensor there = in(first, [&] { return Fills::apply(x.to(gpu)); });
  there.backward(onGpu(1));
  EXPECT_EQ(x.grad().device(), Device::cpu());
  EXPECT_THAT(x.grad().toVector<float>(), Each(2));
}
