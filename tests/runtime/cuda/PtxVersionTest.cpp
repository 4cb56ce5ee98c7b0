//===- PtxVersionTest.cpp - Versions of PTX and tensor maps ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/cuda/PtxVersion.h"

#include "runtime/cuda/TensorMap.h"
#include "tests/runtime/cuda/CudaTest.h"

#include <cstring>

using namespace flashtile;
using Map = TensorMapDescription;

TEST(PtxVersionTest, FollowsTheDriver) {
  EXPECT_EQ(maxPtxVersion(12000), 80);
  EXPECT_EQ(maxPtxVersion(12040), 84);
  EXPECT_EQ(maxPtxVersion(12060), 85) << "12.6 brought none of its own";
  EXPECT_EQ(maxPtxVersion(13000), 90);
  EXPECT_EQ(maxPtxVersion(10020), 0);
  EXPECT_EQ(minDriverVersion(80), 12000);
  EXPECT_EQ(minDriverVersion(86), 12070);
  EXPECT_EQ(minDriverVersion(99), 0);
  EXPECT_EQ(ptxVersionText(87), "8.7");
}

TEST(PtxVersionTest, ReadsTheHeaderOfAText) {
  PtxHeader header = PtxHeader::parse(
      "//\n// .version 1.0\n\n.version 8.6\n\t.target sm_90a, debug\n");
  EXPECT_EQ(header.version, 86);
  EXPECT_EQ(header.target, "sm_90a");
  for (const char *text : {"", ".version", ".version x", ".versions 8.6",
                           ".version 8", ".version 8.66", "\n\n"})
    EXPECT_EQ(PtxHeader::parse(text).version, 0) << text;
}

namespace {

class TensorMapTest : public CudaTest {
protected:
  /// 64 x 128 of a bf16 matrix of 1000 rows.
  static Map matrix() {
    Map map;
    map.base = 0x1000;
    map.shape = {64, 1000};
    map.strideBytes = {128};
    map.box = {64, 128};
    return map;
  }
  template <typename Change>
  static std::string whyNot(Change change) {
    Map map = matrix();
    change(map);
    return map.whyNot();
  }
};

} // namespace

TEST_F(TensorMapTest, EncodesWhatQualifies) {
  const TensorMap map = TensorMap::encode(CudaDevice::get(0), matrix());
  uint64_t words[8];
  std::memcpy(words, map.data(), sizeof words);
  EXPECT_THAT(words, testing::ElementsAre(0x1000, 9, 2, 64, 128, 64, 3, 0));
  EXPECT_EQ(TensorMap::numBytes, 128u);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(map.data()) % 64, 0u);
}

TEST_F(TensorMapTest, SaysWhyNot) {
  EXPECT_EQ(matrix().whyNot(), "");
  EXPECT_EQ(whyNot([](Map &m) { m.base += 2; }),
            "the base address is 2 bytes past a multiple of 16");
  EXPECT_EQ(whyNot([](Map &m) { m.strideBytes[0] = 1022; }),
            "stride 1022 bytes of dimension 1 is not a multiple of 16");
  EXPECT_EQ(whyNot([](Map &m) { m.strideBytes[0] = int64_t(1) << 40; }),
            "stride 1099511627776 bytes of dimension 1 is not from 0 to 2^40 - "
            "1");
  EXPECT_EQ(whyNot([](Map &m) { m.shape[1] = 0; }),
            "extent 0 of dimension 1 is not from 1 to 2^32");
  EXPECT_EQ(whyNot([](Map &m) { m.shape[0] = (int64_t(1) << 32) + 1; }),
            "extent 4294967297 of dimension 0 is not from 1 to 2^32");
  EXPECT_EQ(whyNot([](Map &m) { m.box[1] = 257; }),
            "extent 257 of the box in dimension 1 is not from 1 to 256");
  EXPECT_EQ(whyNot([](Map &m) { m.box[0] = 128; }),
            "a row of the box has 256 bytes, more than the swizzle's 128");
  EXPECT_EQ(whyNot([](Map &m) {
              m.box[0] = 32;
              m.swizzle = Map::Swizzle::Bytes32;
            }),
            "a row of the box has 64 bytes, more than the swizzle's 32");
  EXPECT_EQ(whyNot([](Map &m) {
              m.box[0] = 256;
              m.swizzle = Map::Swizzle::None;
            }),
            "");
  EXPECT_EQ(whyNot([](Map &m) { m.box[0] = 4; }),
            "a row of the box has 8 bytes, which is not a multiple of 16");
  EXPECT_EQ(whyNot([](Map &m) { m = Map(); }), "rank 0 is not from 1 to 5");
  EXPECT_EQ(whyNot([](Map &m) { m.shape.assign(6, 1); }),
            "rank 6 is not from 1 to 5");
  EXPECT_EQ(whyNot([](Map &m) { m.box.pop_back(); }),
            "rank 2 needs 1 strides and 2 extents of the box, but there are 1 "
            "and 1");
  EXPECT_EQ(whyNot([](Map &m) {
              m.type = DType::I16;
              m.fill = Map::Fill::NaN;
            }),
            "elements of type i16 cannot be filled with NaN outside of the "
            "tensor");
}

TEST_F(TensorMapTest, RefusesByError) {
  Map map = matrix();
  EXPECT_ERROR(Unsupported, "need sm_90 or later",
               TensorMap::encode(CudaDevice::get(1), map));
  driver.failOnce["cuTensorMapEncodeTiled"] = cuda::invalidValue;
  EXPECT_ERROR(Device, "cuTensorMapEncodeTiled",
               TensorMap::encode(CudaDevice::get(0), map));
  map.strideBytes = {8};
  EXPECT_ERROR(InvalidArgument, "no tensor map: stride 8 bytes",
               TensorMap::encode(CudaDevice::get(0), map));
}
