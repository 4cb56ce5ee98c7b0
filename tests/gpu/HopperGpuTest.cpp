//===- HopperGpuTest.cpp - Operations of sm_90a on a GPU ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels written with layouts: every form of the product of warpgroups, with
// operands that are small integers, so that sums are exact; and a matrix
// product by TMA and roles, again and again at sizes that leave tiles ragged,
// which is what finds races.
//
//===----------------------------------------------------------------------===//

#include "HopperKernels.h"
#include "compiler/Driver/Compiler.h"
#include "runtime/Jit.h"
#include "tests/gpu/GpuTest.h"

#include <array>
#include <cmath>
#include <ostream>

using namespace flashtile;

static const Device gpu0 = Device::cuda(0);

namespace {
struct ProductCase {
  DType a, b;
  int64_t m, n, k, warpgroups;
  int64_t swizzleA; ///< -1 for registers
  int64_t swizzleB;
  bool transA, transB; ///< as the attributes of tilegpu.wgmma
  bool adds;

  friend std::ostream &operator<<(std::ostream &os, const ProductCase &c) {
    return os << toString(c.a) << " x " << toString(c.b) << " " << c.m << "x"
              << c.n << "x" << c.k << " warpgroups " << c.warpgroups
              << " swizzles " << c.swizzleA << " " << c.swizzleB
              << (c.transA ? " trans_a" : "") << (c.transB ? " trans_b" : "")
              << (c.adds ? " adds" : "");
  }
};

class HopperGpuTest : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && device().properties().architecture() != "sm_90")
      GTEST_SKIP() << "needs sm_90, but the GPU is "
                   << device().properties().architecture();
  }
};

class ProductGpuTest : public HopperGpuTest,
                       public testing::WithParamInterface<ProductCase> {};

/// The text of a kernel that multiplies two matrices, each in memory as the
/// instruction wants it, with one `tilegpu.wgmma`.
class ProductKernel {
public:
  explicit ProductKernel(const ProductCase &c) : c(c) {}

  std::string text();

private:
  /// Defines %<name>, a window of the whole matrix.
  void window(const std::string &name, int64_t rows, int64_t columns,
              const std::string &element);
  /// Defines %<name>s, that matrix in shared memory; its type.
  std::string toShared(const std::string &name, int64_t rows, int64_t columns,
                       const std::string &element, int64_t swizzle);
  /// Defines %<name>t, that matrix in a layout; its type.
  std::string toRegisters(const std::string &name, int64_t rows,
                          int64_t columns, const std::string &element,
                          const std::string &layout);

  const ProductCase &c;
  std::string layouts, body;
};
} // namespace

/// "[4:(16, 0)]" and so on, without digits of extent 1.
static std::string digits(const std::vector<std::array<int64_t, 3>> &list) {
  std::string text;
  for (auto [extent, row, column] : list)
    if (extent != 1)
      text += (text.empty() ? "" : ", ") + std::to_string(extent) + ":(" +
              std::to_string(row) + ", " + std::to_string(column) + ")";
  return "[" + text + "]";
}

static std::string layoutText(int64_t rows, int64_t columns,
                              const std::string &registers,
                              const std::string &lanes,
                              const std::string &warps) {
  return "<[" + std::to_string(rows) + ", " + std::to_string(columns) +
         "], reg = " + registers + ", lane = " + lanes + ", warp = " + warps +
         ">";
}

/// As gpu::wgmmaAccumulator; its header is of LLVM.
static std::string accumulator(int64_t m, int64_t n, int64_t groups) {
  const int64_t blocks = m / (64 * groups);
  return layoutText(
      m, n, digits({{2, 0, 1}, {2, 8, 0}, {n / 8, 0, 8}, {blocks, 64, 0}}),
      digits({{4, 0, 2}, {8, 1, 0}}),
      digits({{4, 16, 0}, {groups, 64 * blocks, 0}}));
}

/// As gpu::wgmmaOperandA.
static std::string operandA(int64_t m, int64_t k, int64_t bytes,
                            int64_t groups) {
  const int64_t blocks = m / (64 * groups), packed = 4 / bytes;
  return layoutText(m, k,
                    digits({{packed, 0, 1},
                            {2, 8, 0},
                            {2, 0, 4 * packed},
                            {k / (8 * packed), 0, 8 * packed},
                            {blocks, 64, 0}}),
                    digits({{4, 0, packed}, {8, 1, 0}}),
                    digits({{4, 16, 0}, {groups, 64 * blocks, 0}}));
}

/// Eight neighbours in a thread, 32 columns and 8 rows in a warp.
static std::string rowMajor(int64_t rows, int64_t columns, int64_t groups) {
  const int64_t rowsAtOnce = 32 * groups;
  return layoutText(
      rows, columns,
      digits({{8, 0, 1},
              {(columns + 31) / 32, 0, 32},
              {(rows + rowsAtOnce - 1) / rowsAtOnce, rowsAtOnce, 0}}),
      digits({{4, 0, 8}, {8, 1, 0}}), digits({{4 * groups, 8, 0}}));
}

static std::string tileText(int64_t rows, int64_t columns,
                            const std::string &element) {
  return std::to_string(rows) + "x" + std::to_string(columns) + "x" + element;
}

void ProductKernel::window(const std::string &name, int64_t rows,
                           int64_t columns, const std::string &element) {
  body += "  %" + name + "r = arith.constant " + std::to_string(rows) +
          " : i64\n  %" + name + "c = arith.constant " +
          std::to_string(columns) + " : i64\n  %" + name +
          "w = tile.make_block_ptr %" + name + " shape[%" + name + "r, %" +
          name + "c] strides[%" + name +
          "c, %one] offsets[%zero, %zero] : !tile.ptr<" + element +
          "> -> !tile.block_ptr<" + tileText(rows, columns, element) + ">\n";
}

std::string ProductKernel::toRegisters(const std::string &name, int64_t rows,
                                       int64_t columns,
                                       const std::string &element,
                                       const std::string &layout) {
  window(name, rows, columns, element);
  layouts += "#" + name + " = #tilegpu.layout" + layout + "\n";
  std::string tile = tileText(rows, columns, element);
  std::string type = "tensor<" + tile + ", #" + name + ">";
  body += "  %" + name + "t = tilegpu.load %" + name + "w : !tile.block_ptr<" +
          tile + "> -> " + type + "\n";
  return type;
}

std::string ProductKernel::toShared(const std::string &name, int64_t rows,
                                    int64_t columns, const std::string &element,
                                    int64_t swizzle) {
  std::string type = toRegisters(name, rows, columns, element,
                                 rowMajor(rows, columns, c.warpgroups));
  std::string memory = tileText(rows, columns, element) +
                       ", swizzle = " + std::to_string(swizzle) + ">";
  body += "  %" + name + "m = tilegpu.alloc : !tilegpu.ring<1 x " + memory +
          "\n  %" + name + "s = tilegpu.slot %" + name +
          "m[%first] : !tilegpu.ring<1 x " + memory + "\n";
  body += "  tilegpu.store_shared %" + name + "t to %" + name + "s : " + type +
          ", !tilegpu.smem<" + memory + "\n";
  return "!tilegpu.smem<" + memory;
}

std::string ProductKernel::text() {
  std::string elementA = toString(c.a), elementB = toString(c.b);
  body = "  %zero = arith.constant 0 : i64\n  %one = arith.constant 1 : i64\n"
         "  %first = arith.constant 0 : i32\n";
  bool inRegisters = c.swizzleA < 0;
  std::string typeA =
      inRegisters
          ? toRegisters("a", c.m, c.k, elementA,
                        operandA(c.m, c.k, elementSize(c.a), c.warpgroups))
          : toShared("a", c.transA ? c.k : c.m, c.transA ? c.m : c.k, elementA,
                     c.swizzleA);
  std::string typeB = toShared("b", c.transB ? c.n : c.k, c.transB ? c.k : c.n,
                               elementB, c.swizzleB);
  std::string typeC =
      toRegisters("c", c.m, c.n, "f32", accumulator(c.m, c.n, c.warpgroups));
  body += "  tilegpu.fence_proxy\n  tilegpu.barrier\n";
  body += "  %s = tilegpu.wgmma " + std::string(inRegisters ? "%at" : "%as") +
          ", %bs" + (c.adds ? ", %ct" : "") + " {" +
          (c.transA ? "trans_a, " : "") + (c.transB ? "trans_b, " : "") +
          "warpgroups = " + std::to_string(c.warpgroups) +
          " : i32} : " + typeA + ", " + typeB + " -> " + typeC + "\n";
  body += "  %d = tilegpu.wgmma_wait %s {pending = 0 : i32} : " + typeC + "\n";
  body += "  tilegpu.store %cw, %d : !tile.block_ptr<" +
          tileText(c.m, c.n, "f32") + ">, " + typeC + "\n";
  return layouts + "tile.kernel @product(%a: !tile.ptr<" + elementA +
         ">, %b: !tile.ptr<" + elementB +
         ">, %c: !tile.ptr<f32>) grid() -> (1)\n    attributes "
         "{tilegpu.target = \"sm_90a\", tilegpu.num_warps = " +
         std::to_string(4 * c.warpgroups) + " : i32} {\n" + body +
         "  tile.return\n}\n";
}

/// Integers from -2 to 2 that no two neighbours, rows or columns share a
/// pattern of.
static std::vector<float> integers(int64_t rows, int64_t columns,
                                   int64_t seed) {
  std::vector<float> values;
  for (int64_t row = 0; row < rows; ++row)
    for (int64_t column = 0; column < columns; ++column)
      values.push_back(
          float(((row * 7919 + column * 104729 + seed) % 1009) % 5 - 2));
  return values;
}

TEST_P(ProductGpuTest, IsExact) {
  const ProductCase &c = GetParam();
  const std::vector<float> a = integers(c.m, c.k, 1), b = integers(c.k, c.n, 2);
  const std::vector<float> start = integers(c.m, c.n, 3);
  std::vector<float> expected(c.m * c.n), aMemory(a.size()), bMemory(b.size());
  for (int64_t row = 0; row < c.m; ++row)
    for (int64_t column = 0; column < c.n; ++column) {
      float sum = c.adds ? start[row * c.n + column] : 0;
      for (int64_t k = 0; k < c.k; ++k)
        sum += a[row * c.k + k] * b[k * c.n + column];
      expected[row * c.n + column] = sum;
    }
  for (int64_t row = 0; row < c.m; ++row)
    for (int64_t k = 0; k < c.k; ++k)
      aMemory[c.transA ? k * c.m + row : row * c.k + k] = a[row * c.k + k];
  for (int64_t k = 0; k < c.k; ++k)
    for (int64_t column = 0; column < c.n; ++column)
      bMemory[c.transB ? column * c.k + k : k * c.n + column] =
          b[k * c.n + column];
  const Tensor aThere = Tensor::fromData(aMemory, {c.m * c.k}).to(c.a).to(gpu0);
  const Tensor bThere = Tensor::fromData(bMemory, {c.k * c.n}).to(c.b).to(gpu0);
  const Tensor cThere = Tensor::fromData(start, {c.m * c.n}).to(gpu0);
  const std::string text = ProductKernel(c).text();
  Jit(gpu0).compile(text).kernel()(aThere, bThere, cThere);
  const std::vector<float> result = cThere.toVector<float>();
  for (int64_t i = 0; i < c.m * c.n; ++i)
    ASSERT_EQ(result[i], expected[i])
        << "row " << i / c.n << " column " << i % c.n << "\n"
        << text;
}

static std::vector<ProductCase> productCases() {
  constexpr DType bf16 = DType::BF16, f16 = DType::F16, f32 = DType::F32;
  constexpr DType e4m3 = DType::F8E4M3FN, e5m2 = DType::F8E5M2;
  std::vector<ProductCase> cases;
  // Every swizzle with the depth inside and outside, narrower and wider than
  // the span.
  for (int64_t swizzle : {32, 64, 128})
    for (int64_t k : {16, 64, 96})
      for (bool trans : {false, true}) {
        cases.push_back(
            {bf16, bf16, 64, 72, k, 1, swizzle, swizzle, trans, !trans, false});
        cases.push_back(
            {f16, f16, 128, 64, k, 2, swizzle, 128, !trans, !trans, true});
        cases.push_back(
            {bf16, bf16, 128, 128, k, 2, -1, swizzle, false, trans, true});
      }
  // Widths that the fastest kernels use, several blocks and instructions.
  for (int64_t n : {8, 24, 80, 96, 112, 144, 176, 192, 256, 264, 320})
    for (bool trans : {false, true})
      cases.push_back({bf16, bf16, 64, n, 32, 1, 64, 128, false, trans, false});
  for (bool trans : {false, true}) {
    cases.push_back({bf16, bf16, 128, 32, 64, 1, 128, 128, trans, true, true});
    cases.push_back({bf16, bf16, 256, 32, 64, 2, 128, 128, trans, true, false});
    cases.push_back({bf16, bf16, 256, 64, 64, 2, -1, 128, false, trans, true});
    cases.push_back({f16, f16, 192, 128, 64, 3, 128, 128, trans, trans, false});
  }
  cases.push_back({f16, f16, 64, 8, 64, 1, -1, 0, false, false, true});
  for (int64_t swizzle : {32, 64, 128}) {
    cases.push_back(
        {e4m3, e5m2, 64, 40, 128, 1, swizzle, swizzle, false, true, false});
    cases.push_back(
        {e5m2, e4m3, 128, 64, 64, 2, -1, swizzle, false, true, true});
    cases.push_back(
        {f32, f32, 64, 24, 32, 1, swizzle, swizzle, false, true, false});
    cases.push_back({f32, f32, 128, 64, 16, 2, -1, swizzle, false, true, true});
  }
  return cases;
}

// This needs no GPU.
TEST(HopperKernelTest, Compile) {
  CompilerOptions options;
  options.target = "sm_90a";
  std::vector<std::string> texts = {hopperMatmul, hopperAttention};
  for (const ProductCase &c : productCases())
    texts.push_back(ProductKernel(c).text());
  for (const std::string &text : texts) {
    const ArtifactResult result =
        compileToArtifact(text, "hopper.mlir", options);
    ASSERT_TRUE(result.artifact) << result.error << text;
    // The last tensor is what the kernel writes, also where TMA does.
    const std::vector<KernelArgument> &arguments =
        result.artifact->kernels[0].info.arguments;
    const size_t last = text == hopperAttention ? 3 : 2;
    for (size_t position = 0; position <= last; ++position)
      EXPECT_EQ(arguments[position].isWritten, position == last) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, ProductGpuTest,
                         testing::ValuesIn(productCases()));

TEST_F(HopperGpuTest, MultipliesByTmaAndRoles) {
  const Kernel matmul = Jit(gpu0).compile(hopperMatmul).kernel();
  // Fewer steps than the ring has buffers, and many more; ragged edges.
  for (auto [m, n, k] :
       std::vector<std::array<int64_t, 3>>{{128, 128, 64},
                                           {130, 136, 72},
                                           {200, 264, 8},
                                           {64, 16, 1000},
                                           {1000, 520, 2048}}) {
    const std::vector<float> a = integers(m, k, 1), b = integers(n, k, 2);
    std::vector<float> expected(m * n);
    for (int64_t row = 0; row < m; ++row)
      for (int64_t column = 0; column < n; ++column) {
        float sum = 0;
        for (int64_t at = 0; at < k; ++at)
          sum += a[row * k + at] * b[column * k + at];
        expected[row * n + column] = sum;
      }
    // As the kernel rounds.
    expected = Tensor::fromData(expected, {m, n})
                   .to(DType::BF16)
                   .to(DType::F32)
                   .toVector<float>();
    const Tensor aThere = Tensor::fromData(a, {m, k}).to(DType::BF16).to(gpu0);
    const Tensor bThere = Tensor::fromData(b, {n, k}).to(DType::BF16).to(gpu0);
    const int repeats = repeatsOf(40);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const Tensor there = Tensor::full({m, n}, 7, DType::BF16, gpu0);
      matmul(aThere, bThere, there, m, n, k);
      const std::vector<float> result =
          there.to(Device::cpu()).to(DType::F32).toVector<float>();
      for (int64_t i = 0; i < m * n; ++i)
        ASSERT_EQ(result[i], expected[i])
            << m << " x " << n << " x " << k << ", repeat " << repeat
            << ", row " << i / n << " column " << i % n;
    }
  }
}

TEST_F(HopperGpuTest, AttendsByTmaAndRoles) {
  const Kernel attend = Jit(gpu0).compile(hopperAttention).kernel();
  constexpr int64_t headDim = 128;
  const double scale = 1 / std::sqrt(double(headDim));
  for (auto [heads, rows] : std::vector<std::array<int64_t, 2>>{
           {1, 128}, {2, 256}, {3, 384}, {2, 1024}}) {
    const Shape shape = {heads, rows, headDim};
    const Tensor q = Tensor::randn(shape, DType::BF16, 1);
    const Tensor k = Tensor::randn(shape, DType::BF16, 2);
    const Tensor v = Tensor::randn(shape, DType::BF16, 3);
    // In f32, from the same rounded inputs.
    const std::vector<float> qs = q.to(DType::F32).toVector<float>();
    const std::vector<float> ks = k.to(DType::F32).toVector<float>();
    const std::vector<float> vs = v.to(DType::F32).toVector<float>();
    std::vector<double> expected(qs.size());
    for (int64_t head = 0; head < heads; ++head)
      for (int64_t row = 0; row < rows; ++row) {
        const float *qRow = &qs[(head * rows + row) * headDim];
        std::vector<double> scores(rows);
        double most = -1e30, sum = 0;
        for (int64_t key = 0; key < rows; ++key) {
          const float *kRow = &ks[(head * rows + key) * headDim];
          for (int64_t d = 0; d < headDim; ++d)
            scores[key] += double(qRow[d]) * kRow[d];
          most = std::max(most, scores[key]);
        }
        double *out = &expected[(head * rows + row) * headDim];
        for (int64_t key = 0; key < rows; ++key) {
          const double weight = std::exp((scores[key] - most) * scale);
          sum += weight;
          for (int64_t d = 0; d < headDim; ++d)
            out[d] += weight * vs[(head * rows + key) * headDim + d];
        }
        for (int64_t d = 0; d < headDim; ++d)
          out[d] /= sum;
      }
    const Tensor qThere = q.to(gpu0), kThere = k.to(gpu0), vThere = v.to(gpu0);
    std::vector<float> first;
    const int repeats = repeatsOf(40);
    for (int repeat = 0; repeat < repeats; ++repeat) {
      const Tensor o = Tensor::full(shape, 7, DType::BF16, gpu0);
      attend(qThere, kThere, vThere, o, rows, heads,
             float(scale * std::log2(std::exp(1.0))));
      const std::vector<float> result =
          o.to(Device::cpu()).to(DType::F32).toVector<float>();
      double difference = 0, norm = 0;
      for (size_t i = 0; i < result.size(); ++i) {
        difference += (result[i] - expected[i]) * (result[i] - expected[i]);
        norm += expected[i] * expected[i];
      }
      ASSERT_LT(std::sqrt(difference / norm), 5e-3) << heads << " x " << rows;
      if (repeat == 0)
        first = result;
      ASSERT_EQ(result, first) << "repeat " << repeat;
    }
  }
}
