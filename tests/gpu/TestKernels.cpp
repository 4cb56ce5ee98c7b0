//===- TestKernels.cpp - Hand-written PTX, numbers of repeats -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/gpu/GpuTest.h"

#include <algorithm>
#include <cstdlib>
#include <iostream>

using namespace flashtile;

int flashtile::repeatsOf(int wanted) {
  static const int most = [] {
    const char *text = std::getenv("FLASHTILE_GPU_TEST_REPEATS");
    const int limit = text ? std::max(std::atoi(text), 1) : 0;
    if (limit)
      std::cout << "Repeats limited to " << limit
                << " by FLASHTILE_GPU_TEST_REPEATS\n";
    return limit;
  }();
  return most ? std::min(wanted, most) : wanted;
}

CudaFunction GpuTest::load(const std::string &name) const {
  return CudaModule::loadPtx(device(), testKernels, {}, "test kernels")
      .function(name);
}

const char *const flashtile::testKernels = R"ptx(
.version 8.0
.target sm_80
.address_size 64

.visible .entry vector_add(.param .u64 x, .param .u64 y, .param .u64 z,
                           .param .s32 n)
{
  .reg .pred %p;
  .reg .s32 %i, %n, %thread, %cta, %threads;
  .reg .s64 %x, %y, %z, %offset;
  .reg .f32 %a, %b, %c;
  mov.u32 %thread, %tid.x;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mad.lo.s32 %i, %cta, %threads, %thread;
  ld.param.s32 %n, [n];
  setp.ge.s32 %p, %i, %n;
  @%p bra done;
  ld.param.u64 %x, [x];
  ld.param.u64 %y, [y];
  ld.param.u64 %z, [z];
  mul.wide.s32 %offset, %i, 4;
  add.s64 %x, %x, %offset;
  add.s64 %y, %y, %offset;
  add.s64 %z, %z, %offset;
  ld.global.f32 %a, [%x];
  ld.global.f32 %b, [%y];
  add.f32 %c, %a, %b;
  st.global.f32 [%z], %c;
done:
  ret;
}

.visible .entry increment(.param .u64 x, .param .s32 n)
{
  .reg .pred %p, %q;
  .reg .s32 %i, %n, %thread, %cta, %threads, %v, %k, %zero;
  .reg .s64 %x, %offset;
  mov.u32 %thread, %tid.x;
  mov.u32 %cta, %ctaid.x;
  mov.u32 %threads, %ntid.x;
  mad.lo.s32 %i, %cta, %threads, %thread;
  ld.param.s32 %n, [n];
  setp.ge.s32 %p, %i, %n;
  @%p bra done;
  ld.param.u64 %x, [x];
  mul.wide.s32 %offset, %i, 4;
  add.s64 %x, %x, %offset;
  mov.s32 %k, 0;
  mov.s32 %zero, 0;
loop:
  ld.volatile.global.s32 %v, [%x];
  // Adds 0 but in the last step, so that the time passes between a read and a
  // write that others could see.
  setp.eq.s32 %q, %k, 1999;
  selp.s32 %zero, 1, 0, %q;
  add.s32 %v, %v, %zero;
  st.volatile.global.s32 [%x], %v;
  add.s32 %k, %k, 1;
  setp.lt.s32 %q, %k, 2000;
  @%q bra loop;
done:
  ret;
}

.visible .entry where_am_i(.param .u64 out, .param .s32 grid_x,
                           .param .s32 grid_y, .param .s32 grid_z)
{
  .reg .u32 %i, %gx, %gy, %x, %y, %z, %rest, %v;
  .reg .u64 %out, %offset;
  mov.u32 %i, %ctaid.x;
  ld.param.u32 %gx, [grid_x];
  ld.param.u32 %gy, [grid_y];
  rem.u32 %x, %i, %gx;
  div.u32 %rest, %i, %gx;
  rem.u32 %y, %rest, %gy;
  div.u32 %z, %rest, %gy;
  mad.lo.u32 %v, %y, 3, %x;
  mad.lo.u32 %v, %z, 7, %v;
  ld.param.u64 %out, [out];
  mul.wide.u32 %offset, %i, 4;
  add.u64 %out, %out, %offset;
  st.global.u32 [%out], %v;
  ret;
}

.extern .shared .align 16 .b8 dynamic[];

.visible .entry big_shared(.param .u64 out, .param .s32 bytes)
{
  .reg .s32 %bytes, %v;
  .reg .u32 %base, %address;
  .reg .u64 %out;
  ld.param.s32 %bytes, [bytes];
  ld.param.u64 %out, [out];
  mov.u32 %base, dynamic;
  add.u32 %address, %base, %bytes;
  st.volatile.shared.s32 [%address+-4], 12345;
  ld.volatile.shared.s32 %v, [%address+-4];
  st.global.s32 [%out], %v;
  ret;
}

.visible .entry wild_store()
{
  .reg .u64 %address;
  .reg .u32 %v;
  mov.u64 %address, 16;
  mov.u32 %v, 1;
  st.global.u32 [%address], %v;
  ret;
}
)ptx";
