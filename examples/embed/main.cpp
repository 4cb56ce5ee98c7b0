//===- main.cpp - FlashTile in an application -----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attention on random tensors, and a kernel of one's own, each checked against
// a plain loop; and the same attention in a stream of a GPU, if there is one.
//
//===----------------------------------------------------------------------===//

#include "compiler/Frontend/Dsl.h"
#include "compiler/Support/Error.h"
#include "kernels/FlashAttention.h"
#include "runtime/Jit.h"
#include "runtime/Tensor.h"
#include "runtime/cuda/CudaStream.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

using namespace flashtile;

/// softmax(q k^T / sqrt(d)) v of one head, in double precision.
static std::vector<double> plainAttention(const Tensor &q, const Tensor &k,
                                          const Tensor &v) {
  const int64_t rows = q.size(0), keys = k.size(0), d = q.size(1);
  std::vector<double> out;
  for (int64_t i = 0; i < rows; ++i) {
    std::vector<double> weights(keys), row(d);
    double sum = 0;
    for (int64_t j = 0; j < keys; ++j) {
      double score = 0;
      for (int64_t c = 0; c < d; ++c)
        score += double(q.at<float>({i, c})) * k.at<float>({j, c});
      sum += weights[j] = std::exp(score / std::sqrt(double(d)));
    }
    for (int64_t j = 0; j < keys; ++j)
      for (int64_t c = 0; c < d; ++c)
        row[c] += weights[j] / sum * v.at<float>({j, c});
    out.insert(out.end(), row.begin(), row.end());
  }
  return out;
}

static double largestDifference(const Tensor &a, const std::vector<double> &b) {
  const std::vector<double> values = a.toVector<double>();
  double largest = 0;
  for (size_t i = 0; i < b.size(); ++i)
    largest = std::max(largest, std::abs(values[i] - b[i]));
  return largest;
}

/// x = x * factor + 1 for n elements.
static dsl::KernelModule buildScaleAndShift() {
  using namespace flashtile::dsl;
  KernelBuilder kernel("scale_and_shift");
  Value x = kernel.pointer("x", f32), n = kernel.i32("n");
  Value factor = kernel.f32("factor");
  kernel.grid({ceilDiv(n, 256)});
  Value window = makeBlockPtr(x, {n}, {1}, {programId(0) * 256}, {256});
  store(window, load(window) * factor + 1.0);
  return kernel.build();
}

/// Attention in a stream of its own, timed by events. Whether it agrees.
static bool attendOnGpu(const Tensor &q, const Tensor &k, const Tensor &v,
                        const std::vector<double> &expected) {
  std::string reason;
  if (!CudaDevice::isAvailable(&reason)) {
    std::printf("no GPU: %s\n", reason.c_str());
    return true;
  }
  CudaDevice &gpu = CudaDevice::get(0);
  const CudaStream stream = CudaStream::create(gpu);
  const CudaStreamGuard guard(stream);
  const Tensor there[] = {q.to(gpu.device()), k.to(gpu.device()),
                          v.to(gpu.device())};
  flashAttention(there[0], there[1], there[2]); // compiles
  const CudaEvent start(gpu, CudaEvent::Timing::On);
  const CudaEvent end(gpu, CudaEvent::Timing::On);
  start.record(stream);
  const Tensor o = flashAttention(there[0], there[1], there[2]).o;
  end.record(stream);
  end.synchronize();
  const double difference = largestDifference(o.to(Device::cpu()), expected);
  std::printf("attention on %s: %.3f ms, differs from a plain loop by %.2g\n",
              gpu.describe().c_str(), end.millisecondsSince(start), difference);
  return difference < 1e-5;
}

int main() {
  try {
    const Tensor q = Tensor::randn({100, 64}, DType::F32, 1);
    const Tensor k = Tensor::randn({150, 64}, DType::F32, 2);
    const Tensor v = Tensor::randn({150, 64}, DType::F32, 3);
    const Tensor o = flashAttention(q, k, v).o;
    const std::vector<double> plain = plainAttention(q, k, v);
    const double attention = largestDifference(o, plain);
    std::printf("attention of %s: differs from a plain loop by %.2g\n",
                q.describe().c_str(), attention);

    const Tensor x = Tensor::uniform({1000}, DType::F32, 4);
    std::vector<double> expected = x.toVector<double>();
    for (double &value : expected)
      value = value * 0.5 + 1;
    const Kernel kernel = Jit().compile(buildScaleAndShift()).kernel();
    kernel.launch({{"x", x}, {"n", 1000}, {"factor", 0.5}});
    const double own = largestDifference(x, expected);
    std::printf("%s: differs from a plain loop by %.2g\n",
                kernel.signature().c_str(), own);
    const bool agrees = attendOnGpu(q, k, v, plain);
    return attention < 1e-5 && own < 1e-6 && agrees ? 0 : 1;
  } catch (const Error &error) {
    std::fprintf(stderr, "%s: %s\n", errorCodeName(error.code()), error.what());
    return 1;
  }
}
