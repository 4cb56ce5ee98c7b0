//===- TensorMapGpuTest.cpp - Tensor maps as parameters of a kernel -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An artifact by hand, whose kernel copies boxes of a matrix with the TMA: what
// the launcher encodes and where it passes it is what the hardware reads.
//
//===----------------------------------------------------------------------===//

#include "runtime/GpuModule.h"
#include "runtime/KernelCode.h"
#include "tests/gpu/GpuTest.h"

#include <gmock/gmock.h>

#include <cstring>

using namespace flashtile;
using testing::HasSubstr;

namespace {

/// copy_box(x: ptr<bf16>, out: ptr<bf16>, rows: i64, stride: i64): program i
/// writes the 64x64 elements of x from row 64 i on to out, in the order in
/// which they lie in shared memory. copy_box__plain writes 1 everywhere.
constexpr const char *ptx = R"(
.version 8.0
.target sm_90a
.address_size 64

.extern .shared .align 1024 .b8 memory[];

.visible .entry copy_box(
  .param .u64 x, .param .u64 out, .param .u64 rows, .param .u64 stride,
  .param .align 64 .b8 map[128],
  .param .u32 grid_x, .param .u32 grid_y, .param .u32 grid_z)
.maxntid 128, 1, 1
{
  .reg .pred %p;
  .reg .b32 %thread, %block, %buffer, %barrier, %row, %from, %end, %step;
  .reg .b32 %a, %b, %c, %d;
  .reg .b64 %state, %map, %to, %offset;
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %buffer, memory;
  add.u32 %barrier, %buffer, 8192;
  setp.ne.u32 %p, %thread, 0;
  @%p bra wait;
  mbarrier.init.shared::cta.b64 [%barrier], 1;
  fence.proxy.async.shared::cta;
  mbarrier.arrive.expect_tx.shared::cta.b64 %state, [%barrier], 8192;
  mov.b64 %map, map;
  cvta.param.u64 %map, %map;
  shl.b32 %row, %block, 6;
  cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%buffer], [%map, {0, %row}], [%barrier];
wait:
  bar.sync 0;
again:
  mbarrier.try_wait.parity.shared::cta.b64 %p, [%barrier], 0;
  @!%p bra again;
  ld.param.u64 %to, [out];
  cvta.to.global.u64 %to, %to;
  mul.wide.u32 %offset, %block, 8192;
  add.u64 %to, %to, %offset;
  mul.wide.u32 %offset, %thread, 16;
  add.u64 %to, %to, %offset;
  shl.b32 %from, %thread, 4;
  add.u32 %from, %buffer, %from;
  mov.u32 %step, 0;
copy:
  ld.shared.v4.b32 {%a, %b, %c, %d}, [%from];
  st.global.v4.b32 [%to], {%a, %b, %c, %d};
  add.u32 %from, %from, 2048;
  add.u64 %to, %to, 2048;
  add.u32 %step, %step, 1;
  setp.lt.u32 %p, %step, 4;
  @%p bra copy;
  ret;
}

.visible .entry copy_box__plain(
  .param .u64 x, .param .u64 out, .param .u64 rows, .param .u64 stride,
  .param .u32 grid_x, .param .u32 grid_y, .param .u32 grid_z)
.maxntid 128, 1, 1
{
  .reg .b32 %thread, %ones;
  .reg .b64 %to, %offset;
  .reg .b32 %block, %step;
  .reg .pred %p;
  mov.u32 %thread, %tid.x;
  mov.u32 %block, %ctaid.x;
  mov.u32 %ones, 0x3f803f80;
  ld.param.u64 %to, [out];
  cvta.to.global.u64 %to, %to;
  mul.wide.u32 %offset, %block, 8192;
  add.u64 %to, %to, %offset;
  mul.wide.u32 %offset, %thread, 16;
  add.u64 %to, %to, %offset;
  mov.u32 %step, 0;
fill:
  st.global.v4.b32 [%to], {%ones, %ones, %ones, %ones};
  add.u64 %to, %to, 2048;
  add.u32 %step, %step, 1;
  setp.lt.u32 %p, %step, 4;
  @%p bra fill;
  ret;
}
)";

using Op = GridExpr::Op;

KernelArtifact copyArtifact() {
  KernelArtifact artifact;
  artifact.target = "sm_90a";
  artifact.format = CodeFormat::Ptx;
  artifact.code = ptx;
  ArtifactKernel &kernel = artifact.kernels.emplace_back();
  kernel.info.name = "copy_box";
  kernel.info.arguments = {{"x", true, ElementType::BF16, false},
                           {"out", true, ElementType::BF16, true},
                           {"rows", false, ElementType::I64, false},
                           {"stride", false, ElementType::I64, false}};
  kernel.info.grid = {
      {{{Op::Argument, 0}, {Op::Constant, 64}, {Op::CeilDiv, 0}}}};
  GpuEntry &entry = kernel.entries.emplace_back();
  entry.symbol = "copy_box";
  entry.numThreads = 128;
  entry.sharedBytes = 8192 + 8;
  TensorMapParameter &map = entry.tensorMaps.emplace_back();
  map.element = ElementType::BF16;
  map.swizzleBytes = 128;
  map.box = {64, 64};
  map.extents = {{{{Op::Constant, 64}}}, {{{Op::Argument, 0}}}};
  map.strides = {{{{Op::Argument, 1}}}};
  GpuEntry &plain = kernel.entries.emplace_back();
  plain.symbol = "copy_box__plain";
  plain.numThreads = 128;
  return artifact;
}

class TensorMapGpuTest : public GpuTest {
protected:
  void SetUp() override {
    GpuTest::SetUp();
    if (!IsSkipped() && gpuTarget(device()) != "sm_90a")
      GTEST_SKIP() << "needs sm_90a, but there is " << device().describe();
  }

  Kernel load() {
    KernelArtifact artifact = copyArtifact();
    CompileReport report;
    assemble(artifact, device(), report);
    std::shared_ptr<const GpuModule> module =
        loadOnGpu(std::move(artifact), device(), report);
    return Kernel(std::make_shared<const detail::KernelCode>(detail::KernelCode{
        module, module->kernels[0], device().device(), module->gpuKernels[0]}));
  }
};

} // namespace

TEST_F(TensorMapGpuTest, TheHardwareReadsWhatTheLauncherEncodes) {
  const Kernel kernel = load();
  const Device gpu = device().device();
  for (const auto &[rows, stride] :
       {std::pair<int64_t, int64_t>{100, 72}, {64, 64}, {1, 64}, {129, 1024}}) {
    const Tensor x = Tensor::randn({rows, stride}, DType::BF16, 1);
    const int64_t tiles = (rows + 63) / 64;
    const Tensor out = Tensor::full({tiles, 64, 64}, 7, DType::BF16, gpu);
    const Tensor there = x.to(gpu);
    // The second launch finds the map.
    for (int i = 0; i < 2; ++i)
      kernel(there, out, rows, stride);
    const std::vector<float> values = out.toVector<float>();
    const std::vector<float> given = x.toVector<float>();
    for (int64_t row = 0; row < tiles * 64; ++row)
      for (int64_t column = 0; column < 64; ++column) {
        // Chunks of 16 bytes change places within 128 bytes.
        const int64_t at = (column / 8 ^ row % 8) * 8 + column % 8;
        const float expected =
            row < rows ? given[static_cast<size_t>(row * stride + column)] : 0;
        ASSERT_EQ(values[static_cast<size_t>(row * 64 + at)], expected)
            << rows << " rows, stride " << stride << " at " << row << ", "
            << column;
      }
  }
  EXPECT_TRUE(kernel.report().remarks.empty());
}

TEST_F(TensorMapGpuTest, WhatDoesNotQualifyRunsThePlainFunction) {
  const Kernel kernel = load();
  const Device gpu = device().device();
  const Tensor x = Tensor::zeros({100, 68}, DType::BF16, gpu);
  const Tensor out = Tensor::zeros({2, 64, 64}, DType::BF16, gpu);
  kernel(x, out, 100, 68);
  EXPECT_THAT(out.toVector<float>(), testing::Each(1.0f));
  const std::string report = kernel.report().toString();
  EXPECT_THAT(report, HasSubstr("argument 'x': stride 136 bytes of dimension 1 "
                                "is not a multiple of 16"));
  EXPECT_THAT(report, HasSubstr("1 tensor map"));

  const Tensor again = Tensor::zeros({2, 64, 64}, DType::BF16, gpu);
  kernel(static_cast<char *>(x.rawData()) + 2, again, 90, 72);
  EXPECT_THAT(again.toVector<float>(), testing::Each(1.0f));
  EXPECT_THAT(kernel.report().toString(),
              HasSubstr("the base address is 2 bytes past a multiple of 16"));
}
