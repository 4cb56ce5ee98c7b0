//===- GradientStreamTest.cpp - Gradients of kernels on a scripted GPU ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are compiled and queued, but nothing runs: what is tested is that a
// backward on another thread stays in the stream of its forward, and on the
// device.
//
//===----------------------------------------------------------------------===//

#include "compiler/Support/Error.h"
#include "kernels/FlashAttentionFunction.h"
#include "kernels/Matmul.h"
#include "kernels/Mlp.h"
#include "kernels/Softmax.h"
#include "runtime/cuda/CudaStream.h"
#include "runtime/cuda/ProgramCounters.h"
#include "tests/runtime/cuda/FakeDriver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

using namespace flashtile;
using testing::Contains;

namespace {

const Device gpu = Device::cuda(0);

class GradientStreamTest : public testing::Test {
protected:
  using Body = std::function<Tensor(const TensorList &)>;

  void SetUp() override {
    // Counters of programs stay: they are there before anything is counted.
    ProgramCounters::of(CudaDevice::get(gpu));
    driver.reset();
    kept = driver.alive["memory"];
  }
  void TearDown() override {
    EXPECT_EQ(driver.alive["memory"], kept);
    driver.reset();
  }

  /// Goes back through `body` of leaves of these shapes on a thread of its own.
  /// Gives the names of the kernels of the way back.
  std::vector<std::string> goBack(const std::vector<Shape> &shapes, DType type,
                                  const Body &body) {
    const CudaStream stream = CudaStream::create(CudaDevice::get(gpu));
    TensorList leaves;
    Tensor result, gradient;
    {
      const CudaStreamGuard guard(stream);
      for (const Shape &shape : shapes)
        leaves.push_back(Tensor::zeros(shape, type, gpu).setRequiresGrad());
      result = body(leaves);
      // As a sum gives it.
      gradient = Tensor::zeros({}, result.dtype(), gpu).expand(result.shape());
    }
    // Compiles, so that what follows is the way back alone.
    result.backward(gradient, /*retainGraph=*/true);
    driver.calls.clear();
    driver.launches.clear();
    std::thread([&] { result.backward(gradient); }).join();

    std::vector<std::string> names;
    for (const fake::Launch &launch : driver.launches) {
      names.push_back(launch.kernel);
      EXPECT_EQ(launch.stream, stream.handle()) << launch.kernel;
      EXPECT_EQ(launch.device, 0) << launch.kernel;
    }
    for (const char *copy : {"cuMemcpyDtoHAsync", "cuMemcpyHtoDAsync",
                             "cuStreamSynchronize", "cuCtxSynchronize"})
      EXPECT_EQ(driver.count(copy), 0) << copy;
    for (const Tensor &leaf : leaves) {
      EXPECT_EQ(leaf.grad().device(), gpu);
      EXPECT_EQ(leaf.grad().shape(), leaf.shape());
      EXPECT_EQ(leaf.grad().dtype(), type);
    }
    return names;
  }

  fake::FakeDriver &driver = fake::FakeDriver::get();

private:
  int64_t kept = 0; ///< allocations before the test
};

} // namespace

TEST_F(GradientStreamTest, FlashAttention) {
  for (auto form : {FlashAttentionBackwardForm::Fused,
                    FlashAttentionBackwardForm::FusedDeterministic,
                    FlashAttentionBackwardForm::Dense}) {
    const auto names = goBack({{2, 4, 100, 64}, {2, 2, 90, 64}, {2, 2, 90, 64}},
                              DType::BF16, [&](const TensorList &in) {
                                FlashAttentionOptions options;
                                options.causal = true;
                                return FlashAttention::apply(
                                           in[0], in[1], in[2], options, form)
                                    .first;
                              });
    EXPECT_FALSE(names.empty());
    EXPECT_THAT(names, Contains("gradient_add")) << "to those of the first";
  }
}

// Memory of the fused forms grows with the rows, not with their square: a step
// takes less than 16 times an operand. The dense form does not get away with
// that, and says so; nothing has changed then.
TEST_F(GradientStreamTest, MemoryOfAttention) {
  using Form = FlashAttentionBackwardForm;
  for (const int64_t n : {2048, 8192}) {
    const Shape shape = {1, 2, n, 64};
    const size_t operand = static_cast<size_t>(2 * n * 64 * 2);
    const auto step = [&](Form form) {
      TensorList leaves;
      for (int i = 0; i < 3; ++i)
        leaves.push_back(
            Tensor::zeros(shape, DType::BF16, gpu).setRequiresGrad());
      FlashAttentionOptions options;
      options.causal = true;
      const auto [o, lse] =
          FlashAttention::apply(leaves[0], leaves[1], leaves[2], options, form);
      const Tensor gradient =
          Tensor::zeros({}, DType::BF16, gpu).expand(o.shape());
      try {
        o.backward(gradient);
      } catch (const Error &) {
        EXPECT_FALSE(leaves[0].grad().defined());
        throw;
      }
      EXPECT_TRUE(leaves[0].grad().defined());
    };
    driver.memoryLimit = driver.allocatedBytes + 16 * operand;
    for (const Form form : {Form::Fused, Form::FusedDeterministic})
      EXPECT_NO_THROW(step(form)) << toString(form) << " " << n;
    try {
      step(Form::Dense);
      ADD_FAILURE() << "expected too little memory, " << n;
    } catch (const Error &error) {
      EXPECT_EQ(error.code(), ErrorCode::OutOfMemory) << error.what();
    }
  }
}

// Whatever call of the driver fails in a pass: it is told, no gradient has
// changed, and the graph can be gone through again.
TEST_F(GradientStreamTest, FailuresOfTheDriver) {
  TensorList leaves;
  for (int i = 0; i < 3; ++i)
    leaves.push_back(
        Tensor::zeros({1, 2, 70, 64}, DType::BF16, gpu).setRequiresGrad());
  const Tensor o = FlashAttention::apply(leaves[0], leaves[1], leaves[2],
                                         /*causal=*/true);
  const Tensor gradient = Tensor::zeros({1, 2, 70, 64}, DType::BF16, gpu);
  o.backward(gradient, /*retainGraph=*/true); // compiles
  int told = 0;
  for (int call = 0;; ++call) {
    SCOPED_TRACE(call);
    for (const Tensor &leaf : leaves)
      leaf.setGrad();
    const auto before = driver.alive;
    driver.failAfter = call;
    bool isTold = false;
    try {
      o.backward(gradient, /*retainGraph=*/true);
    } catch (const Error &) {
      isTold = true;
    }
    const bool isOver = driver.failAfter >= 0;
    driver.failAfter = -1;
    for (const Tensor &leaf : leaves)
      EXPECT_NE(leaf.grad().defined(), isTold) << driver.lastFailed;
    if (isOver)
      break;
    if (isTold)
      EXPECT_EQ(driver.alive, before) << driver.lastFailed;
    told += isTold;
  }
  EXPECT_GT(told, 10);
}

TEST_F(GradientStreamTest, DenseAttention) {
  goBack({{2, 4, 100, 64}, {2, 2, 90, 64}, {2, 2, 90, 64}}, DType::BF16,
         [&](const TensorList &in) {
           return denseAttention(in[0], in[1], in[2]).o;
         });
}

TEST_F(GradientStreamTest, ProductsAndLayers) {
  for (DType type : {DType::F32, DType::BF16}) {
    goBack({{2, 3, 40, 32}, {32, 24}}, type,
           [](const TensorList &in) { return matmul(in[0], in[1]); });
    goBack({{2, 4, 40, 32}, {2, 2, 32, 24}}, type, [](const TensorList &in) {
      MatmulOptions options;
      options.group = 2;
      return matmul(in[0].transpose(0, 1).transpose(0, 1), in[1], options);
    });
    goBack({{3, 40, 32}, {32, 64}, {64, 16}, {64}, {16}}, type,
           [](const TensorList &in) {
             MlpOptions options;
             options.activation = Activation::Gelu;
             options.b1 = in[3];
             options.b2 = in[4];
             return mlp(in[0], in[1], in[2], options);
           });
  }
}

TEST_F(GradientStreamTest, SoftmaxAndViews) {
  const auto names =
      goBack({{4, 30, 50}}, DType::F32, [](const TensorList &in) {
        const Tensor part = in[0].permute({1, 0, 2}).slice(0, 0, 30, 2);
        return softmax(part)
            .transpose(0, 1)
            .narrow(2, 3, 20)
            .unsqueeze(0)
            .expand({3, 4, 15, 20});
      });
  for (const char *kernel :
       {"softmax_backward", "gradient_sum", "gradient_copy", "gradient_add"})
    EXPECT_THAT(names, Contains(testing::HasSubstr(kernel)));
}
