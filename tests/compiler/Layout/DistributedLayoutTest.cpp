//===- DistributedLayoutTest.cpp - Digits and their queries ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LayoutTestSupport.h"

#include <set>

using namespace flashtile::gpu;

namespace {

TEST(DistributedLayout, AddsWhatDigitsContribute) {
  DistributedLayout layout({12, 64}, {{2, {0, 1}}, {3, {4, 0}}},
                           {{4, {1, 0}}, {8, {0, 2}}}, {{4, {0, 16}}});
  EXPECT_FALSE(layout.verify());
  EXPECT_EQ(layout.registersPerThread(), 6);
  EXPECT_EQ(layout.threadCount(), 128);
  // register 5 = (1, 2), lane 14 = (2, 3), warp 3
  EXPECT_EQ(layout.coordinates(5, 14, 3), (Coordinates{8 + 2, 1 + 6 + 48}));
  EXPECT_FALSE(layout.isReplicated());
  EXPECT_FALSE(layout.isPadded());
}

TEST(DistributedLayout, MergesAndDropsDigitsToCompare) {
  DistributedLayout split({64}, {{1, {7}}, {2, {1}}},
                          {{2, {2}}, {4, {4}}, {4, {16}}}, {{1, {0}}});
  DistributedLayout merged({64}, {{2, {1}}}, {{32, {2}}}, {});
  EXPECT_EQ(split, merged);
  EXPECT_EQ(hash_value(split), hash_value(merged));
  EXPECT_EQ(split.canonical().lanes().size(), 1u);
  DistributedLayout other({64}, {{2, {32}}}, {{32, {1}}}, {});
  EXPECT_NE(split, other);
}

TEST(DistributedLayout, EqualCanonicalFormsMeanEqualPlacement) {
  std::mt19937 random(1);
  for (int trial = 0; trial < 200; ++trial) {
    DistributedLayout a = randomLayout(random, {4, 6}, 2);
    DistributedLayout b = randomLayout(random, {4, 6}, 2);
    bool same = a.registersPerThread() == b.registersPerThread();
    if (same)
      forEachThreadRegister(a, [&](int64_t index, int64_t lane, int64_t warp) {
        same &= a.coordinates(index, lane, warp) ==
                b.coordinates(index, lane, warp);
      });
    EXPECT_EQ(a == b, same) << a.str() << " " << b.str();
  }
}

TEST(DistributedLayout, FindsOwnersAndCopies) {
  std::mt19937 random(2);
  for (int trial = 0; trial < 60; ++trial) {
    Coordinates shape = {int64_t(1 + random() % 12),
                         int64_t(1 + random() % 40)};
    int64_t warps = 1 + random() % 8;
    DistributedLayout layout =
        trial % 2 ? randomLayout(random, shape, warps)
                  : blocked(shape, 1 + random() % 8, {1, 0}, warps);
    ASSERT_FALSE(layout.verify()) << *layout.verify() << layout.str();
    std::map<Value, Owner> first;
    std::map<Value, int> copies;
    forEachThreadRegister(
        layout, [&](int64_t index, int64_t lane, int64_t warp) {
          Coordinates at = layout.coordinates(index, lane, warp);
          if (!layout.isInBounds(at))
            return;
          first.try_emplace(valueOf(at), Owner{index, lane, warp});
          ++copies[valueOf(at)];
        });
    std::vector<Owner> owners = layout.inverse();
    ASSERT_EQ(static_cast<int64_t>(owners.size()), shape[0] * shape[1]);
    bool shared = false;
    for (int64_t i = 0; i < shape[0]; ++i) {
      for (int64_t j = 0; j < shape[1]; ++j) {
        Owner expected = first.at(valueOf({i, j}));
        EXPECT_EQ(owners[i * shape[1] + j], expected);
        EXPECT_EQ(*layout.owner({i, j}), expected);
        shared |= copies[valueOf({i, j})] > 1;
      }
    }
    EXPECT_EQ(layout.isReplicated(), shared) << layout.str();
    EXPECT_FALSE(layout.owner({shape[0], 0}));
  }
}

TEST(DistributedLayout, NamesTheThreadsThatHoldFirstCopies) {
  DistributedLayout row({16}, {{2, {1}}}, {{4, {0}}, {8, {2}}},
                        {{3, {0}}, {2, {0}}});
  EXPECT_FALSE(row.verify());
  llvm::SmallVector<DigitPosition> lanes = row.replication(HardwareIndex::Lane);
  ASSERT_EQ(lanes.size(), 1u);
  EXPECT_EQ(lanes[0], (DigitPosition{1, 4}));
  llvm::SmallVector<DigitPosition> warps = row.replication(HardwareIndex::Warp);
  ASSERT_EQ(warps.size(), 1u);
  EXPECT_EQ(warps[0], (DigitPosition{1, 6}));
  EXPECT_TRUE(row.isReplicated());
  EXPECT_FALSE(row.hasOverlap());
  DistributedLayout overlapping({33}, {{2, {1}}}, {{32, {1}}}, {});
  EXPECT_FALSE(overlapping.verify());
  EXPECT_TRUE(overlapping.hasOverlap());
}

TEST(DistributedLayout, RejectsWhatIsNoLayout) {
  auto fault = [](const DistributedLayout &layout) {
    return layout.verify().value_or("none");
  };
  EXPECT_EQ(fault({{16}, {}, {{16, {1}}}, {}}),
            "expected 'lane' digits that multiply to 32, but got 16");
  EXPECT_EQ(fault({{64}, {}, {{32, {1}}}, {}}), "nobody owns element [32]");
  EXPECT_EQ(fault({{4, 9}, {}, {{8, {0, 1}}, {4, {1, 0}}}, {}}),
            "nobody owns element [0, 8]");
  // A digit that moves along two dimensions: only a diagonal is owned.
  EXPECT_EQ(fault({{32, 32}, {}, {{32, {1, 1}}}, {}}),
            "nobody owns element [0, 1]");
  EXPECT_EQ(fault({{4, 8}, {}, {{32, {1}}}, {}}),
            "expected steps of rank 2 in 'lane', but got [1]");
  EXPECT_EQ(fault({{32}, {{2, {-1}}}, {{32, {1}}}, {}}),
            "expected steps that are not negative in 'reg', but got [-1]");
  EXPECT_EQ(fault({{0}, {}, {{32, {1}}}, {}}),
            "expected positive extents, but got shape [0]");
  EXPECT_EQ(fault({{32}, {{0, {0}}}, {{32, {1}}}, {}}),
            "'reg' has a digit of extent 0");
  EXPECT_EQ(fault({{32}, {}, {{32, {1}}}, {{33, {0}}}}),
            "expected at most 32 warps, but got 33");
  EXPECT_NE(fault({{32}, {{1 << 23, {1 << 23}}}, {{32, {1}}}, {}}), "none");
}

TEST(DistributedLayout, PrintsAndReadsBack) {
  EXPECT_EQ(wgmmaAccumulator(64, 128, 1).str(),
            "<[64, 128], reg = [2:(0,1), 2:(8,0), 16:(0,8), 1:(64,0)], lane = "
            "[4:(0,2), 8:(1,0)], warp = [4:(16,0), 1:(64,0)]>");
  std::string error;
  auto read = DistributedLayout::parse(
      "<[64, 128], reg = [2:(0,1), 2:(8,0), 16:(0,8)], lane = [4:(0,2), "
      "8:(1,0)], warp = [4:(16,0)]>",
      error);
  ASSERT_TRUE(read) << error;
  EXPECT_EQ(*read, wgmmaAccumulator(64, 128, 1));
  auto scalar = DistributedLayout::parse(
      " < [ ] ,reg=[],lane=[ 32 : ( ) ],warp=[4:()]> ", error);
  ASSERT_TRUE(scalar) << error;
  EXPECT_EQ(*scalar, replicated({}, 4));
  std::mt19937 random(3);
  for (int trial = 0; trial < 100; ++trial) {
    DistributedLayout layout = randomLayout(random, {3, 20, 7}, 1 + trial % 8);
    auto again = DistributedLayout::parse(layout.str(), error);
    ASSERT_TRUE(again) << error;
    EXPECT_EQ(again->str(), layout.str());
  }
}

TEST(DistributedLayout, SaysWhatIsWrongInText) {
  auto fault = [](llvm::StringRef text) {
    std::string error;
    EXPECT_FALSE(DistributedLayout::parse(text, error)) << text.str();
    return error;
  };
  EXPECT_EQ(fault(""), "expected '<' in a layout, but got its end");
  EXPECT_EQ(fault("<[32], lane = []>"),
            "expected 'reg' in a layout, but got 'lane = []>'");
  EXPECT_EQ(fault("<[32], reg = [2(1)], "),
            "expected ':' in a layout, but got '(1)], '");
  EXPECT_EQ(fault("<[99999999999999999999], reg = []"),
            "expected a number in a layout, but got '9999999999999999'");
  EXPECT_EQ(fault("<[32], reg = [], lane = [32:(1)], warp = []> x"),
            "expected the end in a layout, but got 'x'");
  EXPECT_EQ(fault("<[33], reg = [], lane = [32:(1)], warp = []>"),
            "nobody owns element [32]");
  EXPECT_EQ(fault("<[32], reg = [], lane = [32:(1,0)], warp = []>"),
            "expected steps of rank 1 in 'lane', but got [1, 0]");
}

} // namespace
