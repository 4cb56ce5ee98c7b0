//===- DeviceTest.cpp - Names of devices ----------------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Device.h"

#include "tests/runtime/ExpectError.h"

using namespace flashtile;

TEST(DeviceTest, ParsesWhatItPrints) {
  for (const char *name : {"cpu", "cuda:0", "cuda:7"})
    EXPECT_EQ(Device::parse(name).toString(), name);
  EXPECT_EQ(Device::parse("cuda"), Device::cuda(0));
}

TEST(DeviceTest, ComparesKindAndIndex) {
  EXPECT_EQ(Device::cuda(1), Device::cuda(1));
  EXPECT_NE(Device::cuda(1), Device::cuda(2));
  EXPECT_NE(Device::cuda(0), Device::cpu());
  EXPECT_TRUE(Device::cpu().isCpu());
  EXPECT_TRUE(Device::cuda().isCuda());
}

TEST(DeviceTest, RefusesOtherNames) {
  for (const char *name :
       {"", "CPU", "cpu:0", "gpu", "cuda:", "cuda:x", "cuda:1x", "cuda:-1",
        "cuda: 1", "cuda:+1", "cuda:99999999999", "cudax", " cpu"})
    EXPECT_ERROR(InvalidArgument, "'" + std::string(name) + "'",
                 Device::parse(name));
  EXPECT_ERROR(InvalidArgument, "-3", Device::cuda(-3));
}
