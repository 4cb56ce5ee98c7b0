//===- AutogradGpuTest.cpp - The tape on a GPU ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the tests on the cpu cannot see: the kernels of the tape itself, and
// streams. Gradients are compared with those of the cpu.
//
//===----------------------------------------------------------------------===//

#include "kernels/FlashAttentionFunction.h"
#include "kernels/MatmulFunction.h"
#include "kernels/Reference/Judge.h"
#include "kernels/SoftmaxFunction.h"
#include "runtime/Autograd/GradientArithmetic.h"
#include "tests/gpu/GpuTest.h"

#include <gmock/gmock.h>

#include <functional>
#include <thread>

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

namespace {

class AutogradGpuTest : public GpuTest {
protected:
  using Body = std::function<Tensor(const TensorList &)>;

  /// The gradients of `body` by leaves of these shapes, on both devices.
  static void compare(const std::vector<Shape> &shapes, DType type,
                      double tolerance, const Body &body) {
    TensorList host, there;
    for (size_t i = 0; i < shapes.size(); ++i) {
      const Tensor values = Tensor::randn(shapes[i], type, i + 1);
      host.push_back(values.clone().setRequiresGrad());
      there.push_back(values.to(gpu0).setRequiresGrad());
    }
    const Tensor expected = body(host), actual = body(there);
    const Tensor gradient =
        Tensor::randn(expected.shape(), expected.dtype(), 99);
    expected.backward(gradient);
    actual.backward(gradient.to(gpu0));
    for (size_t i = 0; i < shapes.size(); ++i) {
      ASSERT_TRUE(there[i].grad().defined()) << i;
      EXPECT_EQ(there[i].grad().device(), gpu0);
      EXPECT_LE(reference::relativeError(there[i].grad().to(Device::cpu()),
                                         host[i].grad()),
                tolerance)
          << "input " << i;
    }
  }
};

} // namespace

TEST_F(AutogradGpuTest, SumsCopiesAndConversions) {
  const std::vector<std::function<Tensor(Tensor)>> views = {
      [](Tensor t) { return t; },
      [](Tensor t) { return t.transpose(0, 3); },
      [](Tensor t) { return t.permute({2, 0, 3, 1}).slice(0, 0, 5, 2); },
      [](Tensor t) { return t.narrow(1, 2, 1).expand({4, 7, 5, 3}); },
      [](Tensor t) { return t.select(3, 1); },
      [](Tensor t) { return t.narrow(2, 0, 0); },
      [](Tensor t) { return t.view({360}).narrow(0, 7, 300); },
      [](Tensor t) {
        return t.view({2, 2, 2, 3, 5, 3, 1}).permute({6, 5, 4, 3, 2, 1, 0});
      }};
  const Tensor base = Tensor::randn({4, 6, 5, 3}, DType::F32, 1);
  const Tensor moved = base.to(gpu0);
  for (DType type :
       {DType::F64, DType::F32, DType::F16, DType::BF16, DType::F8E4M3FN})
    for (const auto &view : views) {
      const Tensor host = view(base), there = view(moved);
      SCOPED_TRACE(there.describe() + " " + toString(type));
      const Tensor converted = host.to(type);
      EXPECT_EQ(autograd::convertTo(there, type).toVector<float>(),
                converted.toVector<float>());
      EXPECT_EQ(autograd::denseCopy(there).toVector<float>(),
                host.toVector<float>());
      const Tensor sum = Tensor::full(there.shape(), 1, type, gpu0);
      const Tensor expected = Tensor::full(host.shape(), 1, type);
      autograd::addInto(sum, autograd::convertTo(there, type));
      autograd::addInto(expected, converted);
      EXPECT_EQ(sum.toVector<float>(), expected.toVector<float>());
    }
  for (const Shape &shape :
       {Shape{1, 6, 5, 3}, Shape{5, 1}, Shape{}, Shape{4, 6, 1, 1},
        Shape{4, 1, 5, 1}, Shape{1, 1, 3}})
    EXPECT_LE(reference::relativeError(
                  autograd::sumTo(moved, shape).to(Device::cpu()),
                  autograd::sumTo(base, shape)),
              1e-5)
        << toString(shape);
}

TEST_F(AutogradGpuTest, ViewsAndCopies) {
  compare({{4, 6, 8}}, DType::F32, 1e-6, [](const TensorList &in) {
    const Tensor x = in[0];
    const Tensor a = x.permute({2, 0, 1}).slice(0, 1, 8, 3).reshape({3, 24});
    const Tensor b =
        x.narrow(1, 2, 3).select(0, 1).unsqueeze(0).expand({5, 3, 8});
    return matmul(
        a.transpose(0, 1).contiguous(),
        b.reshape({5, 24}).slice(1, 0, 24, 8).transpose(0, 1).clone());
  });
}

TEST_F(AutogradGpuTest, Products) {
  compare({{2, 3, 40, 24}, {24, 50}}, DType::F32, 1e-5,
          [](const TensorList &in) { return matmul(in[0], in[1]); });
  compare({{2, 1, 40, 24}, {3, 24, 50}}, DType::F32, 1e-5,
          [](const TensorList &in) { return matmul(in[0], in[1]); });
  MatmulOptions grouped;
  grouped.group = 2;
  compare({{2, 4, 33, 24}, {2, 2, 24, 17}}, DType::BF16, 1e-2,
          [&](const TensorList &in) { return matmul(in[0], in[1], grouped); });
}

TEST_F(AutogradGpuTest, Softmax) {
  for (int64_t columns : {int64_t(70), int64_t(3000)})
    for (bool causal : {false, true})
      compare({{2, 40, columns}}, DType::F32, 1e-5, [&](const TensorList &in) {
        SoftmaxOptions options;
        options.causal = causal;
        options.scale = 0.5;
        return softmax(in[0], options);
      });
}

TEST_F(AutogradGpuTest, Attention) {
  for (DType type : {DType::F32, DType::BF16})
    for (bool causal : {false, true}) {
      const double tolerance = type == DType::F32 ? 1e-4 : 3e-2;
      SCOPED_TRACE(toString(type) + (causal ? " causal" : ""));
      compare({{2, 4, 200, 64}, {2, 2, 230, 64}, {2, 2, 230, 64}}, type,
              tolerance, [&](const TensorList &in) {
                FlashAttentionOptions options;
                options.causal = causal;
                return flashAttention(in[0], in[1], in[2], options).o;
              });
      compare({{2, 4, 100, 64}, {2, 2, 130, 64}, {2, 2, 130, 64}}, type,
              tolerance, [&](const TensorList &in) {
                DenseAttentionOptions options;
                options.causal = causal;
                return denseAttention(in[0], in[1], in[2], options).o;
              });
    }
}

TEST_F(AutogradGpuTest, UpstreamGradientWithStridesOfZero) {
  const Shape shape = {1, 2, 150, 64};
  const auto gradients = [&](const Tensor &upstream) {
    TensorList leaves;
    for (uint64_t seed : {1, 2, 3})
      leaves.push_back(
          Tensor::randn(shape, DType::BF16, seed, gpu0).setRequiresGrad());
    flashAttention(leaves[0], leaves[1], leaves[2]).o.backward(upstream);
    std::vector<std::vector<float>> values;
    for (const Tensor &leaf : leaves)
      values.push_back(leaf.grad().toVector<float>());
    return values;
  };
  const Tensor one = Tensor::full({}, 1, DType::BF16, gpu0);
  const auto strided = gradients(one.expand(shape));
  const auto dense = gradients(Tensor::full(shape, 1, DType::BF16, gpu0));
  for (size_t i = 0; i < 3; ++i)
    for (size_t j = 0; j < dense[i].size(); j += 97)
      EXPECT_NEAR(strided[i][j], dense[i][j], 2e-2) << i << " " << j;
}

TEST_F(AutogradGpuTest, BackwardOnAThreadThatNeverSawTheDevice) {
  const CudaStream stream = CudaStream::create(device());
  const Shape shape = {2, 8, 1024, 64};
  TensorList leaves;
  Tensor o;
  {
    const CudaStreamGuard guard(stream);
    for (uint64_t seed : {1, 2, 3})
      leaves.push_back(
          Tensor::randn(shape, DType::BF16, seed, gpu0).setRequiresGrad());
    // Some work before, so that a missing wait would show.
    Tensor x = leaves[0];
    for (int i = 0; i < 4; ++i)
      x = flashAttention(x, leaves[1], leaves[2]).o;
    o = x;
  }
  const Tensor gradient = Tensor::full(shape, 1, DType::BF16, gpu0);
  std::thread([&] { o.backward(gradient, /*retainGraph=*/true); }).join();
  const auto first = leaves[2].grad().toVector<float>();
  leaves[2].setGrad();
  {
    const CudaStreamGuard guard(stream);
    o.backward(gradient);
  }
  stream.synchronize();
  const auto second = leaves[2].grad().toVector<float>();
  double difference = 0, norm = 0;
  for (size_t i = 0; i < first.size(); ++i) {
    difference += (first[i] - second[i]) * (first[i] - second[i]);
    norm += second[i] * second[i];
  }
  EXPECT_GT(norm, 0);
  EXPECT_LE(difference, 1e-4 * norm);
}

TEST_F(AutogradGpuTest, ThreadsWithStreamsOfTheirOwn) {
  const Tensor w =
      Tensor::full({64, 64}, 0.5, DType::F32, gpu0).setRequiresGrad();
  CudaStream::legacy(device()).synchronize();
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      const CudaStreamGuard guard(CudaStream::create(device()));
      const Tensor x = Tensor::full({64, 64}, 1, DType::F32, gpu0);
      const Tensor gradient = Tensor::full({64, 64}, 1, DType::F32, gpu0);
      for (int step = 0; step < 10; ++step)
        matmul(x, w).backward(gradient);
    });
  for (std::thread &thread : threads)
    thread.join();
  device().synchronize();
  EXPECT_THAT(w.grad().toVector<float>(), testing::Each(64 * 4 * 10));
}
