//===- PtxAssemblerTest.cpp - PTX through ptxas ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/ptx/PtxasTest.h"

#include <gmock/gmock.h>

using namespace flashtile;
using testing::HasSubstr;

namespace {

class PtxAssemblerTest : public PtxasTest {};

constexpr const char *nothing = R"(.version 8.0
.target sm_80
.address_size 64
.visible .entry nothing()
{
  ret;
}
)";

} // namespace

TEST_F(PtxAssemblerTest, GivesCodeAndWhatItTakes) {
  const AssembledPtx result = assemblePtx(nothing, "sm_80", ptxas);
  EXPECT_EQ(result.error, "");
  EXPECT_EQ(result.cubin.substr(0, 4), "\177ELF");
  ASSERT_EQ(result.log.functions.count("nothing"), 1u) << result.text;
  const PtxResources &taken = result.log.functions.at("nothing");
  EXPECT_GT(taken.registers, 0);
  EXPECT_EQ(taken.spillStoreBytes, 0);
  EXPECT_EQ(taken.spillLoadBytes, 0);
  EXPECT_EQ(taken.stackBytes, 0);
  EXPECT_GT(result.milliseconds, 0);
}

TEST_F(PtxAssemblerTest, QuotesItsErrors) {
  const AssembledPtx result =
      assemblePtx(".version 8.0\n.target sm_80\nnonsense\n", "sm_80", ptxas);
  EXPECT_EQ(result.cubin, "");
  EXPECT_THAT(result.error, HasSubstr("failed for sm_80:\n"));
  EXPECT_THAT(result.error, HasSubstr("kernel.ptx, line 3"));
}

TEST_F(PtxAssemblerTest, SpillsAreSeen) {
  // Two registers a thread cannot hold eight values that all live.
  std::string ptx = ".version 8.0\n.target sm_80\n.address_size 64\n"
                    ".visible .entry spill(.param .u64 p)\n.maxnreg 24\n{\n"
                    ".reg .u64 %a;\n.reg .f32 %f<64>;\n"
                    "ld.param.u64 %a, [p];\n";
  for (int i = 0; i < 64; ++i)
    ptx += "ld.volatile.global.f32 %f" + std::to_string(i) + ", [%a+" +
           std::to_string(4 * i) + "];\n";
  for (int i = 63; i >= 0; --i)
    ptx += "st.volatile.global.f32 [%a+" + std::to_string(4 * i) + "], %f" +
           std::to_string(i) + ";\n";
  ptx += "ret;\n}\n";
  const AssembledPtx result = assemblePtx(ptx, "sm_80", ptxas);
  EXPECT_EQ(result.error, "");
  EXPECT_GT(result.log.functions.at("spill").spillStoreBytes, 0);
  EXPECT_GT(result.log.functions.at("spill").spillLoadBytes, 0);
}

TEST(PtxAssemblerSearch, NamesWhatIsWrong) {
  std::string error;
  EXPECT_EQ(findPtxas("/no/such/ptxas", error), "");
  EXPECT_THAT(error, HasSubstr("FLASHTILE_PTXAS names '/no/such/ptxas'"));
}
