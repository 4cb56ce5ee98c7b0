//===- PtxMachineTest.cpp - What the interpreter refuses ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Faults of sm_90a that a GPU may hide: each is an error here.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/PtxMachine.h"
#include "tests/compiler/cpu/PtxProgram.h"

#include "gmock/gmock.h"

using namespace flashtile::cputest;
using testing::HasSubstr;

/// What stops a warp that runs `body`; %rd1 is a tensor map of a row of 64
/// bytes, of which a copy moves all.
static std::string stopOf(const std::string &body, bool descending = false) {
  const std::string ptx = R"(
.visible .entry k(
	.param .align 128 .b8 k_param_0[128]
)
{
	mov.b64 	%rd1, k_param_0;
	mov.u32 	%r1, %tid.x;
	setp.eq.b32 	%p1, %r1, 0;
)" + body + "\n\tret;\n}\n";
  std::vector<uint32_t> memory(16);
  for (uint32_t i = 0; i < memory.size(); ++i)
    memory[i] = i;
  PtxTensorMap map = {};
  map.base = reinterpret_cast<uint8_t *>(memory.data());
  map.rank = 1;
  map.elementBytes = 4;
  map.extents[0] = 16;
  map.strideBytes[0] = 4;
  map.box[0] = 16;
  PtxLaunch launch;
  launch.threads = 32;
  launch.sharedBytes = 4096;
  launch.arguments = {&map};
  launch.descending = descending;
  std::string output;
  return PtxMachine(ptx).run("k", launch, output);
}

static const std::string init = R"(
	@%p1 mbarrier.init.shared::cta.b64 [1024], 1;
	bar.sync 	0;
)";
static const std::string load = R"(
	@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [1024], 64;
	@%p1 cp.async.bulk.tensor.1d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [0], [%rd1, {0}], [1024];
)";
static const std::string waiting = R"(
W_0:
	mbarrier.try_wait.parity.shared::cta.b64 p, [1024], 0;
	@!p bra W_0;
)";
static const std::string store = R"(
	@%p1 cp.async.bulk.tensor.1d.global.shared::cta.tile.bulk_group [%rd1, {0}], [0];
	@%p1 cp.async.bulk.commit_group;
)";
static const std::string stored = "\t@%p1 cp.async.bulk.wait_group.read 0;\n";
static const std::string fence = "\tfence.proxy.async.shared::cta;\n";

TEST(PtxMachineTest, CopiesComeAndGo) {
  for (const bool descending : {false, true})
    EXPECT_EQ(stopOf(init + load + waiting + store + stored, descending), "");
}

TEST(PtxMachineTest, WhoWaitsForNothingIsNamed) {
  EXPECT_THAT(stopOf(init + waiting), HasSubstr("threads wait for each other"));
  EXPECT_THAT(stopOf(init + load + R"(
	@%p1 mbarrier.arrive.expect_tx.shared::cta.b64 _, [1024], 64;
W_1:
	mbarrier.try_wait.parity.shared::cta.b64 p, [1024], 1;
	@!p bra W_1;
)"),
              HasSubstr("threads wait for each other"));
  EXPECT_THAT(stopOf(waiting), HasSubstr("no mbarrier at 1024"));
  EXPECT_THAT(stopOf("\tbar.sync 	1, 64;\n"),
              HasSubstr("threads wait for each other"));
}

TEST(PtxMachineTest, StoresNeedAProxyFence) {
  const std::string write = "\t@%p1 st.shared.b32 	[0], 7;\n";
  EXPECT_THAT(stopOf(write + store + stored),
              HasSubstr("written by thread 0 without a proxy fence"));
  EXPECT_EQ(stopOf(write + fence + store + stored), "");
  EXPECT_THAT(stopOf(store + write),
              HasSubstr("shared memory at 0, is overwritten"));
  EXPECT_EQ(stopOf(store + stored + write), "");
  EXPECT_THAT(stopOf(store), HasSubstr("ends before its copies have read"));
  EXPECT_THAT(stopOf(init + store + load),
              HasSubstr("shared memory at 0, is overwritten"));
}
