//===- MemoryTest.cpp - Loads, stores, pointers, atomics ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/KernelRunner.h"

#include <cmath>
#include <limits>
#include <sys/mman.h>
#include <unistd.h>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class MemoryAccess : public OnEachProcessor {};

const std::vector<ElementType> kAllTypes = {
    ElementType::F64,  ElementType::F32,      ElementType::F16,
    ElementType::BF16, ElementType::F8E4M3FN, ElementType::F8E5M2,
    ElementType::I1,   ElementType::I8,       ElementType::I16,
    ElementType::I32,  ElementType::I64};

std::string text(ElementType type) {
  return std::string(elementTypeName(type));
}

/// Small numbers that every type holds (i1: 0 and 1).
int64_t small(ElementType type, int64_t i) {
  return type == ElementType::I1 ? i * 5 % 3 % 2 : i * 7 % 13 - 6;
}

/// Copies a window of run-time shape, strides and offsets to a dense tile.
const char *const kWindowCopy = R"(
tile.kernel @k(%x: !tile.ptr<$E>, %y: !tile.ptr<$E>, %n0: i64, %n1: i64,
               %s0: i64, %s1: i64, %o0: i64, %o1: i64) grid(a, b, c, d, e, f) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = arith.constant $M : i64
  %n = arith.constant $N : i64
  %p = tile.make_block_ptr %x shape [%n0, %n1] strides [%s0, %s1]
      offsets [%zero, %zero] {order = array<i32: $order>} : !tile.ptr<$E> -> !tile.block_ptr<$Mx$Nx$E>
  %q = tile.advance %p, [%o0, %o1] : !tile.block_ptr<$Mx$Nx$E>
  %t = tile.load %q padding $pad : !tile.block_ptr<$Mx$Nx$E>
  %w = tile.make_block_ptr %y shape [%m, %n] strides [%n, %one]
      offsets [%zero, %zero] : !tile.ptr<$E> -> !tile.block_ptr<$Mx$Nx$E>
  tile.store %w, %t : !tile.block_ptr<$Mx$Nx$E>
  tile.return
})";

struct Window {
  int64_t n0, n1, s0, s1, o0, o1;
};
const Window kWindows[] = {
    {40, 50, 50, 1, 0, 0},  {40, 50, 50, 1, 3, 9},   {40, 50, 50, 1, -4, -9},
    {5, 9, 9, 1, 0, 0},     {5, 9, 9, 1, 2, -3},     {40, 50, 1, 40, 1, 2},
    {20, 25, 75, 3, -1, 4}, {40, 50, -50, -1, 0, 0}, {40, 50, 50, -1, 2, 30},
    {40, 50, 0, 1, 5, 5},   {40, 50, 0, 0, -2, -2},  {40, 50, 50, 1, 90, 0},
    {0, 50, 50, 1, 0, 0},   {40, -3, 50, 1, 0, 0},   {1, 1, 1, 1, 0, 0},
};
} // namespace

FLASHTILE_ON_EACH_PROCESSOR(MemoryAccess);

TEST_P(MemoryAccess, WindowsLoadWhatLiesInBoundsAndPadTheRest) {
  const std::pair<int64_t, int64_t> tiles[] = {
      {7, 33}, {16, 16}, {1, 3}, {33, 1}};
  for (ElementType type : kAllTypes)
    for (auto [m, n] : tiles)
      for (const char *padding : {"zero", "nan", "neg_inf"}) {
        bool nan = padding[1] == 'a',
             infinite = padding[1] == 'e' && padding[0] == 'n';
        if ((nan || infinite) &&
            (!isFloat(type) || elementSize(type) == 1 || m != 7))
          continue;
        Program program(fill(kWindowCopy, {{"E", text(type)},
                                           {"M", std::to_string(m)},
                                           {"N", std::to_string(n)},
                                           {"order", n == 1 ? "0, 1" : "1, 0"},
                                           {"pad", padding}}),
                        GetParam());
        Memory x = make(type, 4000, [&](int64_t i) { return small(type, i); });
        for (const Window &w : kWindows) {
          Memory y(type, m * n);
          auto *base = static_cast<uint8_t *>(x.data());
          int64_t origin = 2000;
          program.run({base + origin * elementSize(type), y, w.n0, w.n1, w.s0,
                       w.s1, w.o0, w.o1});
          for (int64_t i = 0; i < m * n; ++i) {
            int64_t row = w.o0 + i / n, column = w.o1 + i % n;
            bool inside =
                row >= 0 && row < w.n0 && column >= 0 && column < w.n1;
            double expected = inside
                                  ? x.get(origin + row * w.s0 + column * w.s1)
                              : nan      ? std::nan("")
                              : infinite ? -HUGE_VAL
                                         : 0.0;
            ASSERT_EQ(canonicalBits(type, y.get(i)),
                      canonicalBits(type, expected))
                << text(type) << " " << padding << " at " << i << " of window "
                << &w - kWindows;
          }
        }
      }
}

TEST_P(MemoryAccess, WindowsStoreOnlyWhatLiesInBounds) {
  const char *kernel = R"(
tile.kernel @k(%x: !tile.ptr<$E>, %y: !tile.ptr<$E>, %n0: i64, %n1: i64,
               %s0: i64, %s1: i64, %o0: i64, %o1: i64) grid(a, b, c, d, e, f) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %m = arith.constant 7 : i64
  %n = arith.constant 33 : i64
  %w = tile.make_block_ptr %x shape [%m, %n] strides [%n, %one]
      offsets [%zero, %zero] : !tile.ptr<$E> -> !tile.block_ptr<7x33x$E>
  %t = tile.load %w {in_bounds = array<i1: true, true>} : !tile.block_ptr<7x33x$E>
  %p = tile.make_block_ptr %y shape [%n0, %n1] strides [%s0, %s1]
      offsets [%o0, %o1] : !tile.ptr<$E> -> !tile.block_ptr<7x33x$E>
  tile.store %p, %t : !tile.block_ptr<7x33x$E>
  tile.return
})";
  for (ElementType type : kAllTypes) {
    Program program(fill(kernel, {{"E", text(type)}}), GetParam());
    Memory x = make(type, 231, [&](int64_t i) { return small(type, i); });
    for (const Window &w : kWindows) {
      if (w.s0 == 0 || w.s1 == 0)
        continue; // several elements at one place: any of them
      Memory y(type, 4000);
      auto *base = static_cast<uint8_t *>(y.data());
      program.run({x, base + 2000 * elementSize(type), w.n0, w.n1, w.s0, w.s1,
                   w.o0, w.o1});
      std::vector<int64_t> source(4000, -1);
      for (int64_t i = 0; i < 231; ++i) {
        int64_t row = w.o0 + i / 33, column = w.o1 + i % 33;
        if (row >= 0 && row < w.n0 && column >= 0 && column < w.n1)
          source[2000 + row * w.s0 + column * w.s1] = i;
      }
      for (int64_t i = 0; i < 4000; ++i) {
        if (source[i] < 0)
          ASSERT_TRUE(y.isUntouched(i)) << text(type) << " at " << i;
        else
          ASSERT_EQ(y.bits(i), x.bits(source[i])) << text(type) << " at " << i;
      }
    }
  }
}

TEST_P(MemoryAccess, PointersLoadAndStoreUnderMasks) {
  // y[i] = i % 3 != 0 ? x[a * i + b] : other, stored where i < limit.
  const char *kernel = R"(
tile.kernel @k(%x: !tile.ptr<$E>, %o: !tile.ptr<$E>, %y: !tile.ptr<$E>,
               %a: i32, %b: i64, %limit: i32) grid(a, b, c) -> (1) {
  %other0 = tile.load %o : !tile.ptr<$E>
  %other = tile.splat %other0 : $E -> tensor<45x$E>
  %i = tile.arange 0 to 45 : tensor<45xi32>
  %as = tile.splat %a : i32 -> tensor<45xi32>
  %ai = arith.muli %i, %as : tensor<45xi32>
  %p0 = tile.addptr %x, %b : !tile.ptr<$E>, i64
  %p1 = tile.splat %p0 : !tile.ptr<$E> -> tensor<45x!tile.ptr<$E>>
  %p = tile.addptr %p1, %ai : tensor<45x!tile.ptr<$E>>, tensor<45xi32>
  %three = arith.constant dense<3> : tensor<45xi32>
  %zero = arith.constant dense<0> : tensor<45xi32>
  %rest = arith.remsi %i, %three : tensor<45xi32>
  %mask = arith.cmpi ne, %rest, %zero : tensor<45xi32>
  %v = tile.load %p mask %mask other %other : tensor<45x!tile.ptr<$E>>
  %q1 = tile.splat %y : !tile.ptr<$E> -> tensor<45x!tile.ptr<$E>>
  %q = tile.addptr %q1, %i : tensor<45x!tile.ptr<$E>>, tensor<45xi32>
  %ls = tile.splat %limit : i32 -> tensor<45xi32>
  %some = arith.cmpi slt, %i, %ls : tensor<45xi32>
  tile.store %q, %v mask %some : tensor<45x!tile.ptr<$E>>
  tile.return
})";
  for (ElementType type : kAllTypes) {
    Program program(fill(kernel, {{"E", text(type)}}), GetParam());
    Memory x = make(type, 300, [&](int64_t i) { return small(type, i); });
    Memory other = make(type, 1, [](int64_t) { return 1; });
    for (auto [a, b, limit] : {std::tuple(1, 0, 45),
                               {1, 5, 31},
                               {-1, 50, 45},
                               {3, 2, 17},
                               {0, 4, 1},
                               {1, 0, 0}}) {
      Memory y(type, 45);
      program.run({x, other, y, int32_t(a), int64_t(b), int32_t(limit)});
      for (int64_t i = 0; i < 45; ++i) {
        if (i >= limit)
          ASSERT_TRUE(y.isUntouched(i));
        else
          ASSERT_EQ(y.bits(i), i % 3 ? x.bits(a * i + b) : other.bits(0))
              << text(type) << " at " << i;
      }
    }
  }
}

namespace {
/// A page of memory between two that must not be touched.
class GuardedPage {
public:
  GuardedPage() : page(sysconf(_SC_PAGESIZE)) {
    all = static_cast<uint8_t *>(
        mmap(nullptr, 3 * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(all + page, page, PROT_READ | PROT_WRITE);
    registerMemory(begin(), page);
  }
  ~GuardedPage() {
    forgetMemory(begin());
    munmap(all, 3 * page);
  }
  uint8_t *begin() { return all + page; }
  uint8_t *end() { return all + 2 * page; }

private:
  size_t page;
  uint8_t *all;
};
} // namespace

TEST_P(MemoryAccess, MaskedLanesTouchNoMemory) {
  const char *kernel = R"(
tile.kernel @k(%x: !tile.ptr<$E>, %y: !tile.ptr<$E>, %from: i32, %to: i32) grid(a, b) -> (1) {
  %i = tile.arange -32 to 41 : tensor<73xi32>
  %lo = tile.splat %from : i32 -> tensor<73xi32>
  %hi = tile.splat %to : i32 -> tensor<73xi32>
  %m0 = arith.cmpi sge, %i, %lo : tensor<73xi32>
  %m1 = arith.cmpi slt, %i, %hi : tensor<73xi32>
  %m = arith.andi %m0, %m1 : tensor<73xi1>
  %p0 = tile.splat %x : !tile.ptr<$E> -> tensor<73x!tile.ptr<$E>>
  %p = tile.addptr %p0, %i : tensor<73x!tile.ptr<$E>>, tensor<73xi32>
  %other = tile.full $seven -> tensor<73x$E>
  %v = tile.load %p mask %m other %other : tensor<73x!tile.ptr<$E>>
  tile.store %p, %v mask %m : tensor<73x!tile.ptr<$E>>
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %n = arith.constant 73 : i64
  %w = tile.make_block_ptr %y shape [%n] strides [%one] offsets [%zero] : !tile.ptr<$E> -> !tile.block_ptr<73x$E>
  tile.store %w, %v : !tile.block_ptr<73x$E>
  tile.return
})";
  GuardedPage page;
  for (ElementType type : {ElementType::F32, ElementType::I8, ElementType::BF16,
                           ElementType::I64, ElementType::F16}) {
    Program program(
        fill(kernel, {{"E", text(type)},
                      {"seven", isFloat(type) ? "7.0 : " + text(type)
                                              : "7 : " + text(type)}}),
        GetParam());
    int64_t size = elementSize(type);
    for (auto [base, from, to] : {std::tuple(page.begin(), 0, 41),
                                  {page.end(), -32, 0},
                                  {page.end() - 5 * size, -32, 5},
                                  {page.begin() + 3 * size, -3, 41},
                                  {static_cast<uint8_t *>(nullptr), 3, 3}}) {
      Memory y(type, 73);
      if (base)
        for (int64_t i = from; i < to; ++i) {
          Memory value = make(type, 1, [&](int64_t) { return i % 5; });
          std::memcpy(base + i * size, value.data(), size);
        }
      program.run({base, y, int32_t(from), int32_t(to)});
      for (int64_t i = -32; i < 41; ++i)
        ASSERT_EQ(y.get(i + 32), i >= from && i < to ? i % 5 : 7) << i;
    }
  }
}

TEST_P(MemoryAccess, WindowsTouchNothingOutOfBounds) {
  // Rows of 17 elements that end with the page, or begin with it; tiles of
  // more elements in each dimension.
  const char *kernel = R"(
tile.kernel @k(%x: !tile.ptr<$E>, %rows: i64, %o0: i64, %o1: i64) grid(a, b, c) -> (1) {
  %one = arith.constant 1 : i64
  %n = arith.constant 17 : i64
  %w = tile.make_block_ptr %x shape [%rows, %n] strides [%n, %one] offsets [%o0, %o1] : !tile.ptr<$E> -> !tile.block_ptr<9x36x$E>
  %v = tile.load %w : !tile.block_ptr<9x36x$E>
  %u = arith.$add %v, %v : tensor<9x36x$E>
  tile.store %w, %u : !tile.block_ptr<9x36x$E>
  tile.return
})";
  GuardedPage page;
  for (ElementType type :
       {ElementType::F32, ElementType::F64, ElementType::F16, ElementType::BF16,
        ElementType::I8, ElementType::I64}) {
    Program program(fill(kernel, {{"E", text(type)},
                                  {"add", isFloat(type) ? "addf" : "addi"}}),
                    GetParam());
    int64_t bytes = 4 * 17 * elementSize(type);
    for (uint8_t *base : {page.begin(), page.end() - bytes})
      for (auto [o0, o1] :
           {std::pair(0, 0), {-5, -19}, {2, 3}, {4, 0}, {0, 17}}) {
        Memory value = make(type, 68, [](int64_t i) { return i % 7; });
        std::memcpy(base, value.data(), bytes);
        program.run({base, int64_t(4), int64_t(o0), int64_t(o1)});
        Memory result(type, 68);
        std::memcpy(result.data(), base, bytes);
        for (int64_t i = 0; i < 68; ++i) {
          bool inside = i / 17 >= o0 && i / 17 < o0 + 9 && i % 17 >= o1 &&
                        i % 17 < o1 + 36;
          ASSERT_EQ(result.get(i), (i % 7) * (inside ? 2 : 1)) << i;
        }
      }
  }
}

TEST_P(MemoryAccess, TailsOfEveryLengthStayWithinTheirMemory) {
  // Shapes known when compiling, so that masks are constants; both memories
  // end where their page does.
  const std::tuple<ElementType, ElementType, const char *> casts[] = {
      {ElementType::I32, ElementType::I8, "arith.trunci %t : $S to $D"},
      {ElementType::I64, ElementType::I16, "arith.trunci %t : $S to $D"},
      {ElementType::F32, ElementType::BF16, "tile.cast %t : $S -> $D"},
      {ElementType::I64, ElementType::I64, "arith.addi %t, %t : $D"},
      {ElementType::F64, ElementType::F32, "tile.cast %t : $S -> $D"}};
  GuardedPage in, out;
  for (auto [from, to, cast] : casts)
    for (int64_t n = 1; n <= 35; ++n) {
      std::string kernel =
          fill(R"(
tile.kernel @k(%x: !tile.ptr<$A>, %y: !tile.ptr<$B>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 3 : i64
  %n = arith.constant $n : i64
  %w = tile.make_block_ptr %x shape [%rows, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<$A> -> !tile.block_ptr<4x$nx$A>
  %v = tile.make_block_ptr %y shape [%rows, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<$B> -> !tile.block_ptr<4x$nx$B>
  %t = tile.load %w : !tile.block_ptr<4x$nx$A>
  %r = )" + std::string(cast) +
                   R"(
  tile.store %v, %r : !tile.block_ptr<4x$nx$B>
  tile.return
})",
               {{"S", "tensor<4x$nx$A>"}, {"D", "tensor<4x$nx$B>"}});
      kernel =
          fill(kernel,
               {{"A", text(from)}, {"B", text(to)}, {"n", std::to_string(n)}});
      Program program(kernel, GetParam());
      Memory source = make(from, 3 * n, [](int64_t i) { return i - 20; });
      size_t inBytes = 3 * n * elementSize(from);
      size_t outBytes = 3 * n * elementSize(to);
      std::memcpy(in.end() - inBytes, source.data(), inBytes);
      std::memset(out.begin(), 0xFF, out.end() - out.begin());
      program.run({in.end() - inBytes, out.end() - outBytes});
      Memory result(to, 3 * n);
      std::memcpy(result.data(), out.end() - outBytes, outBytes);
      for (int64_t i = 0; i < 3 * n; ++i)
        ASSERT_EQ(result.get(i), (i - 20) * (from == to ? 2 : 1)) << n;
      for (uint8_t *byte = out.begin(); byte < out.end() - outBytes; ++byte)
        ASSERT_EQ(*byte, 0xFF) << n;
    }
}

TEST_P(MemoryAccess, ReversedAddresses) {
  for (ElementType type :
       {ElementType::I16, ElementType::F16, ElementType::F32}) {
    Program program(fill(R"(
tile.kernel @k(%x: !tile.ptr<$E>, %y: !tile.ptr<$E>) grid() -> (1) {
  %i = tile.arange 0 to 128 : tensor<128xi32>
  %last = arith.constant dense<127> : tensor<128xi32>
  %r = arith.subi %last, %i : tensor<128xi32>
  %p0 = tile.splat %x : !tile.ptr<$E> -> tensor<128x!tile.ptr<$E>>
  %p = tile.addptr %p0, %r : tensor<128x!tile.ptr<$E>>, tensor<128xi32>
  %v = tile.load %p : tensor<128x!tile.ptr<$E>>
  %q0 = tile.splat %y : !tile.ptr<$E> -> tensor<128x!tile.ptr<$E>>
  %q = tile.addptr %q0, %i : tensor<128x!tile.ptr<$E>>, tensor<128xi32>
  tile.store %q, %v : tensor<128x!tile.ptr<$E>>
  tile.return
})",
                         {{"E", text(type)}}),
                    GetParam());
    Memory x = make(type, 128, [](int64_t i) { return i; }), y(type, 128);
    program.run({x, y});
    for (int64_t i = 0; i < 128; ++i)
      ASSERT_EQ(y.getInteger(i), 127 - i);
  }
}

TEST_P(MemoryAccess, AStoreIsSeenByLaterLoads) {
  Program program(R"(
tile.kernel @k(%x: !tile.ptr<f32>, %s: !tile.ptr<f32>, %y: !tile.ptr<f32>) grid() -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %rows = arith.constant 8 : i64
  %n = arith.constant 256 : i64
  %wx = tile.make_block_ptr %x shape [%rows, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<8x256xf32>
  %ws = tile.make_block_ptr %s shape [%rows, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<8x256xf32>
  %wt = tile.make_block_ptr %s shape [%n, %rows] strides [%one, %n] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<256x8xf32>
  %wy = tile.make_block_ptr %y shape [%n, %rows] strides [%rows, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<256x8xf32>
  %before = tile.load %wt : !tile.block_ptr<256x8xf32>
  %v = tile.load %wx : !tile.block_ptr<8x256xf32>
  tile.store %ws, %v : !tile.block_ptr<8x256xf32>
  %after = tile.load %wt : !tile.block_ptr<256x8xf32>
  tile.store %ws, %v : !tile.block_ptr<8x256xf32>
  %sum = arith.addf %before, %after : tensor<256x8xf32>
  tile.store %wy, %sum : !tile.block_ptr<256x8xf32>
  tile.return
})",
                  GetParam());
  Memory x = make(ElementType::F32, 2048, [](int64_t i) { return i; });
  Memory s = make(ElementType::F32, 2048, [](int64_t) { return 0.5; });
  Memory y(ElementType::F32, 2048);
  program.run({x, s, y});
  for (int64_t r = 0; r < 256; ++r)
    for (int64_t c = 0; c < 8; ++c)
      ASSERT_EQ(y.get(8 * r + c), 256 * c + r + 0.5);
}

TEST_P(MemoryAccess, ScalarsOfEveryType) {
  for (ElementType type : kAllTypes) {
    Program program(fill(R"(
tile.kernel @k(%x: !tile.ptr<$E>, %y: !tile.ptr<$E>, %take: i1, %at: i32) grid(a, b) -> (1) {
  %one = arith.constant 1 : i64
  %p = tile.addptr %x, %at : !tile.ptr<$E>, i32
  %a = tile.load %p : !tile.ptr<$E>
  %b = tile.load %p mask %take other %a : !tile.ptr<$E>
  %c = tile.load %p mask %take : !tile.ptr<$E>
  tile.store %y, %b : !tile.ptr<$E>
  %q = tile.addptr %y, %one : !tile.ptr<$E>, i64
  tile.store %q, %c : !tile.ptr<$E>
  %r = tile.addptr %q, %one : !tile.ptr<$E>, i64
  tile.store %r, %a mask %take : !tile.ptr<$E>
  tile.return
})",
                         {{"E", text(type)}}),
                    GetParam());
    Memory x = make(type, 8, [&](int64_t i) { return small(type, i); });
    for (bool take : {false, true}) {
      Memory y(type, 3);
      auto *middle = static_cast<uint8_t *>(x.data()) + 4 * elementSize(type);
      program.run({middle, y, take, int32_t(-3)});
      EXPECT_EQ(y.bits(0), x.bits(1));
      EXPECT_EQ(y.get(1), take ? x.get(1) : 0.0);
      EXPECT_TRUE(take ? y.bits(2) == x.bits(1) : y.isUntouched(2));
    }
  }
}

TEST_P(MemoryAccess, AtomicAddsOfManyProgramsAllCount) {
  for (ElementType type :
       {ElementType::F64, ElementType::F32, ElementType::F16, ElementType::BF16,
        ElementType::I32, ElementType::I64}) {
    // Each program adds 1 to 21 elements, of which 20 lie in bounds, to the
    // even ones through pointers, and 1 to a scalar.
    Program program(
        fill(R"(
tile.kernel @k(%x: !tile.ptr<$E>, %y: !tile.ptr<$E>, %z: !tile.ptr<$E>, %n: i32) grid(n) -> (n, 2) {
  %zero = arith.constant 0 : i64
  %c1 = arith.constant 1 : i64
  %twenty = arith.constant 20 : i64
  %one = arith.constant $one : $E
  %ones = tile.splat %one : $E -> tensor<21x$E>
  %w = tile.make_block_ptr %x shape [%twenty] strides [%c1] offsets [%zero] : !tile.ptr<$E> -> !tile.block_ptr<21x$E>
  %old = tile.atomic_add %w, %ones : !tile.block_ptr<21x$E>
  %i = tile.arange 0 to 21 : tensor<21xi32>
  %bits = arith.constant dense<1> : tensor<21xi32>
  %low = arith.andi %i, %bits : tensor<21xi32>
  %mask = arith.cmpi ne, %low, %bits : tensor<21xi32>
  %p0 = tile.splat %y : !tile.ptr<$E> -> tensor<21x!tile.ptr<$E>>
  %p = tile.addptr %p0, %i : tensor<21x!tile.ptr<$E>>, tensor<21xi32>
  %old2 = tile.atomic_add %p, %ones mask %mask : tensor<21x!tile.ptr<$E>>
  %old3 = tile.atomic_add %z, %one : !tile.ptr<$E>
  tile.return
})",
             {{"E", text(type)}, {"one", isFloat(type) ? "1.0" : "1"}}),
        GetParam());
    auto zeros = [&](int64_t count) {
      return make(type, count, [](int64_t) { return 0; });
    };
    Memory x = zeros(21), y = zeros(21), z = zeros(1);
    program.runThreaded({x, y, z, int32_t(100)}, 4);
    for (int64_t i = 0; i < 21; ++i) {
      EXPECT_EQ(x.get(i), i < 20 ? 200 : 0) << text(type);
      EXPECT_EQ(y.get(i), i % 2 == 0 ? 200 : 0) << text(type);
    }
    EXPECT_EQ(z.get(0), 200) << text(type);
  }
}

TEST_P(MemoryAccess, AtomicAddGivesWhatWasThere) {
  Program program(R"(
tile.kernel @k(%x: !tile.ptr<i32>, %y: !tile.ptr<i32>) grid() -> (1) {
  %i = tile.arange 0 to 19 : tensor<19xi32>
  %seven = arith.constant dense<7> : tensor<19xi32>
  %mask = arith.cmpi ne, %i, %seven : tensor<19xi32>
  %p0 = tile.splat %x : !tile.ptr<i32> -> tensor<19x!tile.ptr<i32>>
  %p = tile.addptr %p0, %i : tensor<19x!tile.ptr<i32>>, tensor<19xi32>
  %old = tile.atomic_add %p, %i mask %mask : tensor<19x!tile.ptr<i32>>
  %q0 = tile.splat %y : !tile.ptr<i32> -> tensor<19x!tile.ptr<i32>>
  %q = tile.addptr %q0, %i : tensor<19x!tile.ptr<i32>>, tensor<19xi32>
  tile.store %q, %old : tensor<19x!tile.ptr<i32>>
  tile.return
})",
                  GetParam());
  Memory x = make(ElementType::I32, 19, [](int64_t i) { return 100 + i; });
  Memory y(ElementType::I32, 19);
  program.run({x, y});
  for (int64_t i = 0; i < 19; ++i) {
    EXPECT_EQ(y.getInteger(i), i == 7 ? 0 : 100 + i);
    EXPECT_EQ(x.getInteger(i), i == 7 ? 107 : 100 + 2 * i);
  }
}
