//===- ControlTest.cpp - Loops, branches, and what they carry -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/KernelRunner.h"

#include <cmath>
#include <limits>

using namespace flashtile;
using namespace flashtile::cputest;

namespace {
class Control : public OnEachProcessor {};

/// A kernel with a dense tile %t of 19 f32 from %x, a body that defines a tile
/// %r, which goes to %y, and a run-time %n.
std::string withTile(const std::string &body) {
  return R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %n: i32) grid(n) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %extent = arith.constant 19 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %wx = tile.make_block_ptr %x shape [%extent] strides [%one] offsets [%zero] : !tile.ptr<f32> -> !tile.block_ptr<19xf32>
  %wy = tile.make_block_ptr %y shape [%extent] strides [%one] offsets [%zero] : !tile.ptr<f32> -> !tile.block_ptr<19xf32>
  %t = tile.load %wx : !tile.block_ptr<19xf32>
  %ones = arith.constant dense<1.0> : tensor<19xf32>
  %twos = arith.constant dense<2.0> : tensor<19xf32>
)" + body +
         R"(
  tile.store %wy, %r : !tile.block_ptr<19xf32>
  tile.return
})";
}

template <typename Fn>
void expectTile(const Program &program, int32_t n, Fn expected) {
  Memory x = make(ElementType::F32, 19, [](int64_t i) { return i; });
  Memory y(ElementType::F32, 19);
  program.run({x, y, n});
  for (int64_t i = 0; i < 19; ++i)
    ASSERT_EQ(y.get(i), expected(i)) << "n = " << n << " at " << i;
}
} // namespace

FLASHTILE_ON_EACH_PROCESSOR(Control);

TEST_P(Control, ZeroTripLoopsGiveInitialValuesAndTouchNothing) {
  Program program(withTile(R"(
  %init = arith.constant dense<1.5> : tensor<19xf32>
  %seven = arith.constant 7 : i32
  %null64 = arith.constant 0 : i64
  %limit = arith.constant 5 : i32
  %huge = arith.constant 1000000000000 : i64
  %far = tile.addptr %x, %huge : !tile.ptr<f32>, i64
  %a, %b, %p = scf.for %i = %limit to %n step %c1 iter_args(%t0 = %init, %s = %seven, %q = %x) -> (tensor<19xf32>, i32, !tile.ptr<f32>) : i32 {
    %bad = tile.load %far : !tile.ptr<f32>
    %bads = tile.splat %bad : f32 -> tensor<19xf32>
    %t1 = arith.addf %t0, %bads : tensor<19xf32>
    %s1 = arith.addi %s, %c1 : i32
    %q1 = tile.addptr %q, %c1 : !tile.ptr<f32>, i32
    scf.yield %t1, %s1, %q1 : tensor<19xf32>, i32, !tile.ptr<f32>
  }
  %first = tile.load %p : !tile.ptr<f32>
  %bf = arith.sitofp %b : i32 to f32
  %sum = arith.addf %first, %bf : f32
  %sums = tile.splat %sum : f32 -> tensor<19xf32>
  %r = arith.addf %a, %sums : tensor<19xf32>)"),
                  GetParam());
  for (int32_t n : {5, 3, 0, -7})
    expectTile(program, n, [](int64_t) { return 8.5; });
}

TEST_P(Control, CarriedTilesAreSwappedAtOnce) {
  Program program(withTile(R"(
  %a, %b, %c = scf.for %i = %c0 to %n step %c1 iter_args(%p = %t, %q = %ones, %s = %twos) -> (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>) : i32 {
    scf.yield %q, %s, %p : tensor<19xf32>, tensor<19xf32>, tensor<19xf32>
  }
  %hundred = arith.constant dense<100.0> : tensor<19xf32>
  %tenk = arith.constant dense<10000.0> : tensor<19xf32>
  %b1 = arith.mulf %b, %hundred : tensor<19xf32>
  %c2 = arith.mulf %c, %tenk : tensor<19xf32>
  %ab = arith.addf %a, %b1 : tensor<19xf32>
  %r = arith.addf %ab, %c2 : tensor<19xf32>)"),
                  GetParam());
  for (int32_t n = 0; n < 7; ++n)
    expectTile(program, n, [&](int64_t i) {
      double list[] = {double(i), 1, 2};
      return list[n % 3] + 100 * list[(n + 1) % 3] + 10000 * list[(n + 2) % 3];
    });
}

TEST_P(Control, AReadAfterAnUpdateInPlaceSeesTheOldValue) {
  // %new depends on nothing carried; %old * 2 is computed by the same loops.
  Program program(withTile(R"(
  %a, %r = scf.for %i = %c0 to %n step %c1 iter_args(%old = %t, %sum = %ones) -> (tensor<19xf32>, tensor<19xf32>) : i32 {
    %f = arith.sitofp %i : i32 to f32
    %fs = tile.splat %f : f32 -> tensor<19xf32>
    %new = arith.addf %t, %fs : tensor<19xf32>
    %double = arith.mulf %old, %twos : tensor<19xf32>
    %next = arith.addf %sum, %double : tensor<19xf32>
    scf.yield %new, %next : tensor<19xf32>, tensor<19xf32>
  })"),
                  GetParam());
  for (int32_t n : {0, 1, 2, 5})
    expectTile(program, n, [&](int64_t i) {
      double old = i, sum = 1;
      for (int32_t k = 0; k < n; ++k) {
        sum += 2 * old;
        old = i + k;
      }
      return sum;
    });
}

TEST_P(Control, OneValueYieldedTwiceAndOneUnchanged) {
  Program program(withTile(R"(
  %a, %b, %c = scf.for %i = %c0 to %n step %c1 iter_args(%p = %t, %q = %ones, %s = %t) -> (tensor<19xf32>, tensor<19xf32>, tensor<19xf32>) : i32 {
    %v = arith.addf %p, %q : tensor<19xf32>
    scf.yield %v, %v, %s : tensor<19xf32>, tensor<19xf32>, tensor<19xf32>
  }
  %ab = arith.subf %a, %b : tensor<19xf32>
  %ac = arith.addf %ab, %c : tensor<19xf32>
  %r = arith.addf %ac, %a : tensor<19xf32>)"),
                  GetParam());
  for (int32_t n : {0, 1, 4})
    expectTile(program, n, [&](int64_t i) {
      double a = i, b = 1;
      for (int32_t k = 0; k < n; ++k)
        a = b = a + b;
      return a - b + i + a;
    });
}

TEST_P(Control, NestedLoopsAndReversedTiles) {
  // The inner loop carries the outer one's tile; the tile is reversed by a
  // gather between.
  Program program(withTile(R"(
  %r = scf.for %i = %c0 to %n step %c1 iter_args(%p = %t) -> (tensor<19xf32>) : i32 {
    %q = scf.for %j = %c0 to %i step %c1 iter_args(%s = %p) -> (tensor<19xf32>) : i32 {
      %u = arith.addf %s, %p : tensor<19xf32>
      scf.yield %u : tensor<19xf32>
    }
    %sum = tile.scan(%q) axis 0 reverse {
    ^bb0(%a: f32, %b: f32):
      %m = arith.maximumf %a, %b : f32
      tile.yield %m : f32
    } : tensor<19xf32>
    scf.yield %sum : tensor<19xf32>
  })"),
                  GetParam());
  for (int32_t n : {0, 1, 3})
    expectTile(program, n, [&](int64_t i) {
      double factor = 1;
      for (int32_t k = 0; k < n; ++k)
        factor *= k + 1;
      return n == 0 ? double(i) : 18 * factor;
    });
}

TEST_P(Control, InductionVariablesOfEachType) {
  for (const char *type : {"i32", "i64", "index"}) {
    bool same = std::string(type) == "i32";
    std::string cast =
        std::string(type) == "index" ? "arith.index_cast" : "arith.extsi";
    std::string back =
        std::string(type) == "index" ? "arith.index_cast" : "arith.trunci";
    auto widen = [&](const char *name) {
      return same ? std::string()
                  : "  %w" + std::string(name) + " = " + cast + " %" + name +
                        " : i32 to " + type + "\n";
    };
    std::string prefix = same ? "%" : "%w";
    Program program(
        withTile(
            widen("c0") + widen("c1") + widen("n") +
            "  %r = scf.for %i = " + prefix + "c0 to " + prefix + "n step " +
            prefix + "c1 iter_args(%p = %t) -> (tensor<19xf32>) " +
            (std::string(type) == "index" ? "" : ": " + std::string(type)) +
            " {\n" +
            (same ? "    %k = arith.addi %i, %c0 : i32\n"
                  : "    %k = " + back + " %i : " + type + " to i32\n") +
            R"(    %f = arith.sitofp %k : i32 to f32
    %fs = tile.splat %f : f32 -> tensor<19xf32>
    %q = arith.addf %p, %fs : tensor<19xf32>
    scf.yield %q : tensor<19xf32>
  })"),
        GetParam());
    for (int32_t n : {0, 1, 5})
      expectTile(program, n, [&](int64_t i) { return i + n * (n - 1) / 2; });
  }
}

TEST_P(Control, LoopsEndAtTheLargestBounds) {
  auto counting = [](const std::string &bounds) {
    return withTile(R"(
  %large = arith.constant 1073741824 : i32
  %most = arith.constant 2147483647 : i32
  %r = scf.for %i = %c1 to )" +
                    bounds +
                    R"( iter_args(%p = %t) -> (tensor<19xf32>) : i32 {
    %q = arith.addf %p, %ones : tensor<19xf32>
    scf.yield %q : tensor<19xf32>
  })");
  };
  auto plusTwo = [](int64_t i) { return i + 2; };
  const int32_t most = std::numeric_limits<int32_t>::max();
  expectTile(Program(counting("%n step %large"), GetParam()), most, plusTwo);
  expectTile(Program(counting("%most step %n"), GetParam()), 2000000000,
             plusTwo);
  expectTile(Program(counting("%most step %large"), GetParam()), 0, plusTwo);
}

TEST_P(Control, StepsAreCheckedOrRefused) {
  const char *sum = R"(
  %lb = arith.constant 3 : i32
  %r = scf.for %i = %lb to %c88 step %n iter_args(%p = %t) -> (tensor<19xf32>) : i32 {
    %q = arith.addf %p, %ones : tensor<19xf32>
    scf.yield %q : tensor<19xf32>
  })";
  Program program(
      withTile("  %c88 = arith.constant 88 : i32" + std::string(sum)),
      GetParam());
  expectTile(program, 10, [](int64_t i) { return i + 9; });
  for (int32_t step : {0, -8}) {
    if (!seesAssertions())
      break;
    Memory x = make(ElementType::F32, 19, [](int64_t i) { return i; });
    Memory y(ElementType::F32, 19);
    Outcome outcome = program.run({x, y, step});
    EXPECT_NE(outcome.failure.find("step"), std::string::npos)
        << outcome.failure;
  }
  for (const char *step : {"0", "-8"}) {
    std::string text =
        withTile("  %c88 = arith.constant 88 : i32\n  %bad = arith.constant " +
                 std::string(step) + " : i32" + fill(sum, {}));
    text.replace(text.find("step %n"), 7, "step %bad");
    EXPECT_NE(compileError(text).find("expected a positive step, but got " +
                                      std::string(step)),
              std::string::npos);
  }
}

TEST_P(Control, BranchesGiveTilesScalarsAndPointers) {
  Program program(withTile(R"(
  %p = arith.cmpi sgt, %n, %c0 : i32
  %a, %s, %w, %q = scf.if %p -> (tensor<19xf32>, f32, !tile.block_ptr<19xf32>, !tile.ptr<f32>) {
    %u = arith.addf %t, %ones : tensor<19xf32>
    %h = arith.constant 0.5 : f32
    %m = tile.advance %wx, [%one] : !tile.block_ptr<19xf32>
    scf.yield %u, %h, %m, %x : tensor<19xf32>, f32, !tile.block_ptr<19xf32>, !tile.ptr<f32>
  } else {
    %h = arith.constant 0.25 : f32
    %next = tile.addptr %x, %c1 : !tile.ptr<f32>, i32
    scf.yield %t, %h, %wx, %next : tensor<19xf32>, f32, !tile.block_ptr<19xf32>, !tile.ptr<f32>
  }
  %l = tile.load %w : !tile.block_ptr<19xf32>
  %first = tile.load %q : !tile.ptr<f32>
  %sf = arith.addf %s, %first : f32
  %ss = tile.splat %sf : f32 -> tensor<19xf32>
  %al = arith.addf %a, %l : tensor<19xf32>
  %r = arith.addf %al, %ss : tensor<19xf32>)"),
                  GetParam());
  expectTile(program, 1, [](int64_t i) {
    return (i + 1) + (i + 1 < 19 ? i + 1 : 0) + 0.5;
  });
  expectTile(program, 0, [](int64_t i) { return i + i + 1.25; });
}

TEST_P(Control, SelectedPointers) {
  Program program(withTile(R"(
  %p = arith.cmpi sgt, %n, %c0 : i32
  %m = tile.advance %wx, [%one] : !tile.block_ptr<19xf32>
  %w = arith.select %p, %m, %wx : !tile.block_ptr<19xf32>
  %next = tile.addptr %x, %c1 : !tile.ptr<f32>, i32
  %q = arith.select %p, %x, %next : !tile.ptr<f32>
  %l = tile.load %w : !tile.block_ptr<19xf32>
  %first = tile.load %q : !tile.ptr<f32>
  %ss = tile.splat %first : f32 -> tensor<19xf32>
  %i = tile.arange 0 to 19 : tensor<19xi32>
  %even0 = arith.constant dense<1> : tensor<19xi32>
  %even1 = arith.andi %i, %even0 : tensor<19xi32>
  %odd = arith.trunci %even1 : tensor<19xi32> to tensor<19xi1>
  %p0 = tile.splat %x : !tile.ptr<f32> -> tensor<19x!tile.ptr<f32>>
  %p1 = tile.addptr %p0, %i : tensor<19x!tile.ptr<f32>>, tensor<19xi32>
  %p2 = arith.select %odd, %p0, %p1 : tensor<19xi1>, tensor<19x!tile.ptr<f32>>
  %g = tile.load %p2 : tensor<19x!tile.ptr<f32>>
  %lg = arith.addf %l, %g : tensor<19xf32>
  %r = arith.addf %lg, %ss : tensor<19xf32>)"),
                  GetParam());
  for (int32_t n : {0, 1})
    expectTile(program, n, [&](int64_t i) {
      double window = n ? (i + 1 < 19 ? i + 1 : 0) : i;
      return window + (i % 2 ? 0 : i) + (n ? 0 : 1);
    });
}

TEST_P(Control, WhileLoopsCarryTilesAndWindows) {
  Program program(withTile(R"(
  %k, %r, %w = scf.while (%i = %c0, %p = %t, %v = %wx) : (i32, tensor<19xf32>, !tile.block_ptr<19xf32>) -> (i32, tensor<19xf32>, !tile.block_ptr<19xf32>) {
    %more = arith.cmpi slt, %i, %n : i32
    %q = arith.addf %p, %ones : tensor<19xf32>
    scf.condition(%more) %i, %q, %v : i32, tensor<19xf32>, !tile.block_ptr<19xf32>
  } do {
  ^bb0(%i: i32, %q: tensor<19xf32>, %v: !tile.block_ptr<19xf32>):
    %l = tile.load %v : !tile.block_ptr<19xf32>
    %s = arith.addf %q, %l : tensor<19xf32>
    %m = tile.advance %v, [%one] : !tile.block_ptr<19xf32>
    %j = arith.addi %i, %c1 : i32
    scf.yield %j, %s, %m : i32, tensor<19xf32>, !tile.block_ptr<19xf32>
  })"),
                  GetParam());
  for (int32_t n : {0, 1, 3})
    expectTile(program, n, [&](int64_t i) {
      double p = i;
      for (int32_t k = 0;; ++k) {
        p += 1;
        if (k >= n)
          return p;
        p += i + k < 19 ? i + k : 0;
      }
    });
}

TEST_P(Control, WindowsThatLoopsMove) {
  // y = sum over trips of x shifted by +16, -16, ..., and back.
  Program program(withTile(R"(
  %sixteen = arith.constant 16 : i64
  %back = arith.constant -16 : i64
  %r, %w = scf.for %i = %c0 to %n step %c1 iter_args(%p = %ones, %v = %wx) -> (tensor<19xf32>, !tile.block_ptr<19xf32>) : i32 {
    %m = tile.advance %v, [%sixteen] : !tile.block_ptr<19xf32>
    %far = tile.load %m : !tile.block_ptr<19xf32>
    %home = tile.advance %m, [%back] : !tile.block_ptr<19xf32>
    %near = tile.load %home : !tile.block_ptr<19xf32>
    %a = arith.addf %p, %far : tensor<19xf32>
    %b = arith.addf %a, %near : tensor<19xf32>
    %next = tile.advance %home, [%one] : !tile.block_ptr<19xf32>
    scf.yield %b, %next : tensor<19xf32>, !tile.block_ptr<19xf32>
  })"),
                  GetParam());
  for (int32_t n : {0, 1, 3})
    expectTile(program, n, [&](int64_t i) {
      double sum = 1;
      for (int32_t k = 0; k < n; ++k) {
        sum += i + k + 16 < 19 ? i + k + 16 : 0;
        sum += i + k < 19 ? i + k : 0;
      }
      return sum;
    });
}

/// Online softmax over 24 columns in tiles of 4, in one loop and in two that
/// share their carried tiles.
TEST_P(Control, ASecondLoopContinuesTheFirst) {
  const char *loop = R"(
  $names = scf.for %i = $lb to $ub step %c1 iter_args(%m = $m, %l = $l, %v = $w) -> (tensor<5xf32>, tensor<5xf32>, !tile.block_ptr<5x4xf32>) : i32 {
    %s = tile.load %v : !tile.block_ptr<5x4xf32>
    %rowmax = tile.max %s axis 1 : tensor<5x4xf32> -> tensor<5xf32>
    %mn = arith.maximumf %m, %rowmax : tensor<5xf32>
    %old = arith.subf %m, %mn : tensor<5xf32>
    %alpha = tile.exp2 %old : tensor<5xf32>
    %e = tile.expand_dims %mn axis 1 : tensor<5xf32> -> tensor<5x1xf32>
    %eb = tile.broadcast %e : tensor<5x1xf32> -> tensor<5x4xf32>
    %d = arith.subf %s, %eb : tensor<5x4xf32>
    %p = tile.exp2 %d : tensor<5x4xf32>
    %sum = tile.sum %p axis 1 : tensor<5x4xf32> -> tensor<5xf32>
    %scaled = arith.mulf %l, %alpha : tensor<5xf32>
    %ln = arith.addf %scaled, %sum : tensor<5xf32>
    %next = tile.advance %v, [%zero, %four] : !tile.block_ptr<5x4xf32>
    scf.yield %mn, %ln, %next : tensor<5xf32>, tensor<5xf32>, !tile.block_ptr<5x4xf32>
  }
)";
  auto instance = [&](const char *names, const char *lb, const char *ub,
                      const char *m, const char *l, const char *w) {
    return fill(loop, {{"names", names},
                       {"lb", lb},
                       {"ub", ub},
                       {"m", m},
                       {"l", l},
                       {"w", w}});
  };
  std::string kernel =
      R"(
tile.kernel @k(%x: !tile.ptr<f32>, %y: !tile.ptr<f32>, %a: i32) grid(a) -> (1) {
  %zero = arith.constant 0 : i64
  %one = arith.constant 1 : i64
  %four = arith.constant 4 : i64
  %rows = arith.constant 5 : i64
  %n = arith.constant 24 : i64
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c6 = arith.constant 6 : i32
  %w = tile.make_block_ptr %x shape [%rows, %n] strides [%n, %one] offsets [%zero, %zero] : !tile.ptr<f32> -> !tile.block_ptr<5x4xf32>
  %wy = tile.make_block_ptr %y shape [%rows] strides [%one] offsets [%zero] : !tile.ptr<f32> -> !tile.block_ptr<5xf32>
  %m0 = tile.full 0xFF800000 : f32 -> tensor<5xf32>
  %l0 = tile.full 0.0 : f32 -> tensor<5xf32>
)" + instance("%m1, %l1, %w1", "%c0", "%a", "%m0", "%l0", "%w") +
      instance("%m2, %l2, %w2", "%a", "%c6", "%m1", "%l1", "%w1") +
      R"(
  %log = tile.log2 %l2 : tensor<5xf32>
  %r = arith.addf %m2, %log : tensor<5xf32>
  tile.store %wy, %r : !tile.block_ptr<5xf32>
  tile.return
})";
  Program program(kernel, GetParam());
  Memory x =
      make(ElementType::F32, 120, [](int64_t i) { return i * 7 % 19 - 9; });
  std::vector<double> whole;
  for (int32_t a : {0, 1, 3, 6}) {
    Memory y(ElementType::F32, 5);
    program.run({x, y, a});
    for (int64_t row = 0; row < 5; ++row) {
      double sum = 0;
      for (int64_t k = 0; k < 24; ++k)
        sum += std::exp2(x.get(24 * row + k));
      EXPECT_NEAR(y.get(row), std::log2(sum), 1e-5);
      if (a == 0)
        whole.push_back(y.get(row));
      EXPECT_EQ(y.get(row), whole[row]); // the same operations in order
    }
  }
}

TEST_P(Control, ProgramsOfDifferentLengthAllRunOnce) {
  // The number of iterations grows along one axis, which the gpu targets start
  // from its end, and shrinks along another.
  const std::string text = R"(
tile.kernel @k(%y: !tile.ptr<i32>, %nx: i32, %ny: i32, %nz: i32) grid(nx, ny, nz) -> (nx, ny, nz) {
  %c0 = arith.constant 0 : i32
  %c1 = arith.constant 1 : i32
  %c1000 = arith.constant 1000 : i32
  %x = tile.program_id x
  %row = tile.program_id y
  %z = tile.program_id z
  %end = $END
  %sum = scf.for %j = %c0 to %end step %c1 iter_args(%s = %c1000) -> (i32) : i32 {
    %t = arith.addi %s, %c1 : i32
    scf.yield %t : i32
  }
  %p = arith.muli %z, %ny : i32
  %q = arith.addi %p, %row : i32
  %r = arith.muli %q, %nx : i32
  %at = arith.addi %r, %x : i32
  %w = tile.addptr %y, %at : !tile.ptr<i32>, i32
  %old = tile.atomic_add %w, %sum : !tile.ptr<i32>
  tile.return
})";
  const std::vector<std::array<int32_t, 3>> grids = {
      {1, 1, 1}, {5, 3, 2}, {30, 19, 1}, {300, 1, 2}, {2, 80, 3}};
  for (const bool grows : {true, false}) {
    Program program(fill(text, {{"END", grows ? "arith.addi %x, %c1 : i32"
                                              : "arith.subi %ny, %row : i32"}}),
                    GetParam());
    for (auto [nx, ny, nz] : grids) {
      Memory y = make(ElementType::I32, int64_t(nx) * ny * nz,
                      [](int64_t) { return int64_t(0); });
      program.run({y, nx, ny, nz});
      for (int64_t i = 0; i < y.size(); ++i)
        ASSERT_EQ(y.getInteger(i),
                  1000 + (grows ? i % nx + 1 : ny - i / nx % ny))
            << nx << " x " << ny << " x " << nz << " at " << i;
    }
  }
}
