//===- DLPackTest.cpp - Exchange of tensors through DLPack ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/DLPack.h"

#include "tests/runtime/ExpectError.h"

using namespace flashtile;
using testing::ElementsAre;

namespace {

/// A tensor of another framework, which counts how often it was released.
struct Foreign {
  float values[12] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  int64_t shape[2] = {2, 3};
  int64_t strides[2] = {6, 2};
  int releases = 0;
  DLManagedTensor managed{};

  Foreign() {
    managed.dl_tensor.data = values;
    managed.dl_tensor.device = {kDLCPU, 0};
    managed.dl_tensor.ndim = 2;
    managed.dl_tensor.dtype = {kDLFloat, 32, 1};
    managed.dl_tensor.shape = shape;
    managed.manager_ctx = this;
    managed.deleter = [](DLManagedTensor *self) {
      static_cast<Foreign *>(self->manager_ctx)->releases++;
    };
  }
};

} // namespace

TEST(DLPackTest, ImportsWithoutACopyAndReleasesOnce) {
  Foreign foreign;
  {
    Tensor part;
    {
      const Tensor t = fromDLPack(&foreign.managed);
      EXPECT_EQ(t.rawData(), foreign.values);
      EXPECT_TRUE(t.isContiguous()) << "null strides mean row-major";
      EXPECT_THAT(t.toVector<int>(), ElementsAre(0, 1, 2, 3, 4, 5));
      part = t.select(0, 1);
    }
    EXPECT_EQ(foreign.releases, 0);
    part.fill(9);
    EXPECT_EQ(foreign.values[4], 9);
  }
  EXPECT_EQ(foreign.releases, 1);
}

TEST(DLPackTest, RespectsStridesAndOffset) {
  Foreign foreign;
  foreign.managed.dl_tensor.strides = foreign.strides;
  foreign.managed.dl_tensor.byte_offset = 4;
  EXPECT_THAT(fromDLPack(&foreign.managed).toVector<int>(),
              ElementsAre(1, 3, 5, 7, 9, 11));
}

TEST(DLPackTest, ImportsPinnedMemoryScalarsAndNothing) {
  Foreign foreign;
  foreign.managed.dl_tensor.device = {kDLCUDAHost, 0};
  EXPECT_EQ(fromDLPack(&foreign.managed).device(), Device::cpu());
  foreign.managed.dl_tensor.ndim = 0;
  foreign.managed.dl_tensor.shape = nullptr;
  EXPECT_EQ(fromDLPack(&foreign.managed).item<float>(), 0);
  Foreign empty;
  empty.shape[1] = 0;
  empty.managed.dl_tensor.data = nullptr;
  empty.managed.deleter = nullptr;
  EXPECT_EQ(fromDLPack(&empty.managed).numel(), 0);
}

TEST(DLPackTest, RefusesWhatItCannotHold) {
  const auto refuse = [](ErrorCode code, const char *part, auto change) {
    Foreign foreign;
    change(foreign.managed.dl_tensor, foreign);
    expectError(__FILE__, __LINE__, code, part,
                [&] { fromDLPack(&foreign.managed); });
    EXPECT_EQ(foreign.releases, 0)
        << "it still belongs to the caller: " << part;
  };
  using View = DLTensor;
  const auto unsupported = ErrorCode::Unsupported;
  const auto invalid = ErrorCode::InvalidArgument;
  refuse(unsupported, "1 lane, but got 4",
         [](View &view, Foreign &) { view.dtype.lanes = 4; });
  refuse(unsupported, "type code 1 with 8 bits",
         [](View &view, Foreign &) { view.dtype = {kDLUInt, 8, 1}; });
  refuse(unsupported, "type code 5 with 64 bits",
         [](View &view, Foreign &) { view.dtype = {kDLComplex, 64, 1}; });
  refuse(unsupported, "type code 2 with 8 bits",
         [](View &view, Foreign &) { view.dtype = {kDLFloat, 8, 1}; });
  refuse(unsupported, "type code 77",
         [](View &view, Foreign &) { view.dtype.code = 77; });
  refuse(unsupported, "device type 10",
         [](View &view, Foreign &) { view.device = {kDLROCM, 0}; });
  refuse(unsupported, "'cuda:3'",
         [](View &view, Foreign &) { view.device = {kDLCUDA, 3}; });
  refuse(invalid, "got -1",
         [](View &view, Foreign &) { view.device = {kDLCUDA, -1}; });
  refuse(invalid, "rank -1", [](View &view, Foreign &) { view.ndim = -1; });
  refuse(invalid, "null pointer",
         [](View &view, Foreign &) { view.shape = nullptr; });
  refuse(invalid, "null pointer",
         [](View &view, Foreign &) { view.data = nullptr; });
  refuse(invalid, "aligned to the 4 bytes",
         [](View &view, Foreign &) { view.byte_offset = 2; });
  refuse(invalid, "got -2 for dimension 1",
         [](View &, Foreign &foreign) { foreign.shape[1] = -2; });
  refuse(invalid, "got -6 for dimension 0", [](View &view, Foreign &foreign) {
    foreign.strides[0] = -6;
    view.strides = foreign.strides;
  });
  EXPECT_ERROR(InvalidArgument, "null pointer", fromDLPack(nullptr));
}

TEST(DLPackTest, ExportKeepsTheMemoryAlive) {
  DLManagedTensor *managed;
  const void *data;
  {
    const Tensor t = Tensor::fromData<float>({0, 1, 2, 3, 4, 5}, {2, 3})
                         .transpose(0, 1)
                         .slice(0, 1, 3);
    data = t.rawData();
    managed = toDLPack(t);
  }
  const DLTensor &view = managed->dl_tensor;
  EXPECT_EQ(static_cast<char *>(view.data) + view.byte_offset, data);
  EXPECT_EQ(view.ndim, 2);
  EXPECT_EQ(Shape(view.shape, view.shape + 2), (Shape{2, 2}));
  EXPECT_EQ(Shape(view.strides, view.strides + 2), (Shape{1, 3}));
  EXPECT_EQ(view.device.device_type, kDLCPU);
  EXPECT_EQ(static_cast<const float *>(data)[3], 4);
  managed->deleter(managed);
}

TEST(DLPackTest, EveryTypeComesBack) {
  for (DType dtype : {DType::F64, DType::F32, DType::F16, DType::BF16,
                      DType::I8, DType::I16, DType::I32, DType::I64}) {
    const Tensor t = Tensor::full({2, 3}, 5, dtype);
    const Tensor back = fromDLPack(toDLPack(t));
    EXPECT_EQ(back.dtype(), dtype);
    EXPECT_EQ(back.rawData(), t.rawData());
    EXPECT_EQ(back.shape(), t.shape());
  }
}

TEST(DLPackTest, TypesWithoutACodeAreErrors) {
  for (DType dtype : {DType::I1, DType::F8E4M3FN, DType::F8E5M2})
    EXPECT_ERROR(Unsupported, "no element type for " + toString(dtype),
                 toDLPack(Tensor::zeros({1}, dtype)));
  EXPECT_ERROR(InvalidArgument, "undefined", toDLPack(Tensor()));
}
