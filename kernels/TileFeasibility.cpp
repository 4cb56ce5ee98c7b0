//===- TileFeasibility.cpp - Which tiles a kernel can have on a device ----===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "kernels/TileFeasibility.h"

#include "compiler/Driver/GpuReport.h"
#include "compiler/Support/RegisterBudget.h"
#include "runtime/cuda/CudaDevice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

using namespace flashtile;

static constexpr int64_t kLanes = 32, kRowsOfWarp = 16, kWarpsOfGroup = 4;

/// Barriers of rings, and what their alignment takes.
static constexpr int64_t kBarrierBytes = 1024;

TileLimits TileLimits::of(DeviceClass device) {
  if (device == DeviceClass::Cpu)
    return {device, 0};
  return {device, MultiprocessorLimits::ofTarget(
                      device == DeviceClass::Sm90a ? "sm_90a" : "sm_80")
                      .sharedBytesPerBlock};
}

TileLimits TileLimits::of(Device device) {
  const DeviceClass kind = deviceClassOf(device);
  if (kind == DeviceClass::Cpu)
    return of(kind);
  return {kind, CudaDevice::get(device).properties().sharedBytesPerBlockOptIn};
}

//===----------------------------------------------------------------------===//
// What a shape takes
//===----------------------------------------------------------------------===//

static bool isBackward(TileWork work) {
  return work != TileWork::Attention && work != TileWork::Product;
}

static int64_t bytesOfElement(const TileShape &shape) {
  return static_cast<int64_t>(elementSize(shape.dtype));
}

/// f32 and integers of 32 bits of a tile, as registers of a thread.
static int64_t wordsOf(int64_t rows, int64_t columns, const TileShape &shape) {
  return rows * columns / (kLanes * shape.numWarps);
}

/// Of a thread: the sums and operands that are there at once.
/// Whether two warpgroups share the columns of the same 64 rows: where tiles
/// have whole spans of memory for each, to which wide ones are filled up.
static bool sharesColumns(const TileShape &shape) {
  constexpr int64_t kSpan = 32, kWarps = 2 * kWarpsOfGroup, kNarrow = 128;
  const bool ownsKeys = shape.work == TileWork::KeyGradients ||
                        shape.work == TileWork::KeyGradientsAndDq;
  return ownsKeys && shape.numWarps == kWarps &&
         shape.rows == kRowsOfWarp * kWarpsOfGroup &&
         (shape.depth > kNarrow || shape.depth % (2 * kSpan) == 0);
}

/// With the columns that tiles are filled up to.
static TileShape filledUp(TileShape shape) {
  constexpr int64_t kParts = 64;
  if (sharesColumns(shape))
    shape.depth = (shape.depth + kParts - 1) / kParts * kParts;
  return shape;
}

static int64_t registersOf(const TileShape &shape, bool usesWarpgroups) {
  const int64_t tile = wordsOf(shape.rows, shape.columns, shape);
  const int64_t sums = wordsOf(shape.rows, shape.depth, shape);
  const int64_t elements = 4 / bytesOfElement(shape);
  // A row of the columns' tile that comes by cp.async has its address in each
  // thread that copies 16 bytes of it.
  constexpr int64_t kCopyBytes = 16, kWordsOfAddress = 2;
  const int64_t copied = shape.columns * shape.depth * bytesOfElement(shape) /
                         (kCopyBytes * kLanes * shape.numWarps) *
                         kWordsOfAddress;
  const int64_t addresses = usesWarpgroups ? 0 : 2 * copied;
  switch (shape.work) {
  case TileWork::Attention:
    // The scores of the next tile are there beside the weights of this one.
    return tile + sums +
           (usesWarpgroups ? tile / std::max<int64_t>(elements, 1) : addresses);
  case TileWork::KeyGradientsAndDq:
    // A tile of dq takes the place of the scores.
    if (usesWarpgroups && sharesColumns(shape))
      return std::max(2 * tile, wordsOf(shape.columns, shape.depth, shape)) +
             2 * sums;
    return 2 * tile + 2 * sums + addresses;
  case TileWork::KeyGradients:
    return 2 * tile + 2 * sums + addresses;
  case TileWork::QueryGradients:
    return 2 * tile + sums + addresses;
  case TileWork::Product:
    return tile + (usesWarpgroups ? 0 : addresses);
  }
  return 0;
}

static int64_t registerLimitOf(const TileShape &shape, bool usesWarpgroups) {
  constexpr int64_t kMostOfThread = 255, kAll = 65536;
  if (!usesWarpgroups) {
    // For fragments of operands, and the addresses of everything else.
    constexpr int64_t kRest = 15;
    return std::min(kMostOfThread, kAll / (kLanes * shape.numWarps)) - kRest;
  }
  const int64_t groups = shape.numWarps / kWarpsOfGroup;
  const int64_t budget = registersOfRoles(groups).consumer;
  // Row maxima and sums, masks, counters, descriptors. Of the gradients of
  // keys, also a row of numbers for each of two tiles, which three warpgroups,
  // whose tiles are smaller, need less of; and of dq by a warpgroup alone, a
  // tile that is larger than its scores.
  constexpr int64_t kRest = 28, kRestOfKeys = 48, kRestWithDq = 64;
  if (shape.work == TileWork::KeyGradientsAndDq && groups == 1)
    return budget - kRestWithDq;
  const bool ownsKeys = shape.work == TileWork::KeyGradients ||
                        shape.work == TileWork::KeyGradientsAndDq;
  return budget - (ownsKeys && groups == 2 ? kRestOfKeys : kRest);
}

namespace {
/// Bytes of shared memory of a block.
struct SharedBytes {
  int64_t resident = 0; ///< all the time
  int64_t ofStage = 0;  ///< a buffer of each operand that goes by
  int64_t beside = 0;   ///< what is exchanged between warps, and barriers
};
} // namespace

static SharedBytes sharedBytesOf(const TileShape &shape, bool usesWarpgroups) {
  const int64_t bytes = bytesOfElement(shape);
  const int64_t rows = shape.rows * shape.depth * bytes;
  const int64_t columns = shape.columns * shape.depth * bytes;
  const int64_t tile = shape.rows * shape.columns * bytes;
  SharedBytes result;
  if (usesWarpgroups)
    result.beside = kBarrierBytes;
  if (shape.work == TileWork::Product) {
    result.ofStage = rows + columns;
    return result;
  }
  result.resident = isBackward(shape.work) ? 2 * rows : rows;
  result.ofStage = 2 * columns;
  // Where several warps have parts of the same rows, what becomes an operand
  // goes through shared memory; so do the gradients of scores for dq, a product
  // along the rows.
  const bool sharesRows = shape.rows < kRowsOfWarp * shape.numWarps;
  if (usesWarpgroups && sharesColumns(shape))
    result.beside += 2 * tile;
  else if ((sharesRows && !usesWarpgroups) ||
           shape.work == TileWork::KeyGradientsAndDq)
    result.beside += tile;
  return result;
}

//===----------------------------------------------------------------------===//
// Verdict
//===----------------------------------------------------------------------===//

static std::string but(const std::string &expected, int64_t value) {
  return "expected " + expected + ", but got " + std::to_string(value);
}

/// Empty where warpgroups multiply, as far as the extents go.
static std::string whyNoWarpgroups(const TileLimits &limits,
                                   const TileShape &shape) {
  constexpr int64_t kMaxColumns = 256, kColumns = 16, kDepth = 8;
  if (limits.device != DeviceClass::Sm90a)
    return "the device has none";
  if (bytesOfElement(shape) != 2)
    return "they multiply 16-bit types, and not " + toString(shape.dtype);
  if (shape.numWarps % kWarpsOfGroup != 0)
    return but("a multiple of 4 warps", shape.numWarps);
  if (shape.rows % (kRowsOfWarp * shape.numWarps) != 0 && !sharesColumns(shape))
    return but("64 rows for each of " +
                   std::to_string(shape.numWarps / kWarpsOfGroup) +
                   " warpgroups",
               shape.rows);
  if (shape.columns % kColumns != 0 || shape.columns > kMaxColumns)
    return but("at most 256 columns in steps of 16", shape.columns);
  if (shape.depth % kDepth != 0)
    return but("a depth in steps of 8", shape.depth);
  if (shape.numStages < 2)
    return but("two stages or more", shape.numStages);
  return {};
}

static std::string whyRefused(const TileShape &shape,
                              const TileDemand &demand) {
  if (demand.registers > demand.registerLimit)
    return "a thread holds " + std::to_string(demand.registers) +
           " registers of tiles, more than " +
           std::to_string(demand.registerLimit) + " of " +
           std::to_string(shape.numWarps) + " warps";
  if (demand.sharedBytes > demand.sharedLimit)
    return "a block takes " + std::to_string(demand.sharedBytes) +
           " bytes of shared memory, more than " +
           std::to_string(demand.sharedLimit);
  return {};
}

TileDemand flashtile::tileDemand(const TileLimits &limits,
                                 const TileShape &given) {
  constexpr int64_t kMostWarps = 16;
  const TileShape shape =
      limits.device == DeviceClass::Sm90a ? filledUp(given) : given;
  TileDemand demand;
  if (limits.device == DeviceClass::Cpu)
    return demand;
  if (shape.numWarps < 1 || shape.numWarps > kMostWarps)
    demand.whyNot = but("1 to 16 warps", shape.numWarps);
  else if (shape.numStages < 1)
    demand.whyNot = but("a stage or more", shape.numStages);
  else if (shape.rows < 1 || shape.rows % kRowsOfWarp != 0)
    demand.whyNot = but("rows in steps of 16", shape.rows);
  else if (shape.columns < 1 || shape.depth < 1)
    demand.whyNot = but("columns and a depth", shape.columns);
  if (!demand.whyNot.empty())
    return demand;
  demand.whyNoWarpgroups = whyNoWarpgroups(limits, shape);
  demand.usesWarpgroups = demand.whyNoWarpgroups.empty();
  demand.registers = registersOf(shape, demand.usesWarpgroups);
  demand.registerLimit = registerLimitOf(shape, demand.usesWarpgroups);
  const SharedBytes shared = sharedBytesOf(shape, demand.usesWarpgroups);
  const int64_t ofCompiler = TileLimits::of(limits.device).sharedBytes;
  demand.numStages = shape.numStages;
  while (!demand.usesWarpgroups && demand.numStages > 1 &&
         shared.resident + demand.numStages * shared.ofStage > ofCompiler)
    --demand.numStages;
  demand.sharedBytes =
      shared.resident + shared.beside + demand.numStages * shared.ofStage;
  demand.sharedLimit = limits.sharedBytes;
  demand.whyNot = whyRefused(shape, demand);
  return demand;
}

//===----------------------------------------------------------------------===//
// Estimate
//===----------------------------------------------------------------------===//

static int64_t ceilDiv(int64_t value, int64_t divisor) {
  return (value + divisor - 1) / divisor;
}

/// Products of two tiles in an iteration, each of rows, columns and depth.
static double productsOf(TileWork work) {
  switch (work) {
  case TileWork::Attention:
    return 2;
  case TileWork::KeyGradients:
    return 4;
  case TileWork::KeyGradientsAndDq:
    return 5;
  case TileWork::QueryGradients:
    return 3;
  case TileWork::Product:
    return 1;
  }
  return 0;
}

double flashtile::estimatedClocks(const TileLimits &limits,
                                  const TileShape &shape,
                                  const TileProblem &problem) {
  const TileDemand demand = tileDemand(limits, shape);
  const bool isProduct = shape.work == TileWork::Product;
  // Of a multiprocessor, in a clock: FLOPs (what warps reach by mma.sync is
  // half of what warpgroups do), exponentials, and bytes from the L2 cache.
  const double flops = demand.usesWarpgroups ? 4096 : 2048;
  constexpr double kExponentials = 16, kBytes = 40;
  const auto rows = static_cast<double>(shape.rows);
  const auto columns = static_cast<double>(shape.columns);
  const auto depth = static_cast<double>(shape.depth);
  const auto bytes = static_cast<double>(bytesOfElement(shape));
  const double products =
      productsOf(shape.work) * 2 * rows * columns * depth / flops;
  const double copies =
      (isProduct ? rows + columns : 2 * columns) * depth * bytes / kBytes;
  const double others = isProduct ? 0 : rows * columns / kExponentials;

  constexpr int64_t kManyWarps = 16;
  // Two warpgroups hide half of the shorter part behind each other, and so on;
  // one hides half behind its own products.
  const int64_t blocks =
      demand.usesWarpgroups
          ? 1
          : std::clamp<int64_t>(
                limits.sharedBytes / demand.sharedBytes, 1,
                std::max(kManyWarps / shape.numWarps, int64_t(1)));
  const int64_t groups =
      std::max<int64_t>(1, shape.numWarps * blocks / kWarpsOfGroup);
  const bool overlaps =
      demand.usesWarpgroups && shape.work == TileWork::Attention;
  const double shown = std::pow(0.5, double(groups - 1)) * (overlaps ? 0.5 : 1);
  // By the difference between widths that was measured.
  constexpr double kOfIteration = 350, kOfProgram = 1500;
  const double iteration = std::max({products, others, copies}) +
                           shown * std::min(products, others) + kOfIteration;

  const int64_t length = isProduct ? problem.depth : problem.columns;
  auto iterations = static_cast<double>(
      ceilDiv(length, isProduct ? shape.depth : shape.columns));
  int64_t programs = ceilDiv(problem.rows, shape.rows) * problem.batch;
  if (isProduct)
    programs *= ceilDiv(problem.columns, shape.columns);
  const auto places = static_cast<double>(problem.multiprocessors);
  double rounds = std::ceil(static_cast<double>(programs) / places);
  if (problem.causal) {
    // Programs are of all lengths, the long ones first: the last of them end
    // together, give or take a tile.
    iterations = iterations / 2 + 1;
    rounds = std::max(static_cast<double>(programs) / places, 1.0) + 0.25;
  }
  // A last tile that is not whole has a mask, in a loop of its own.
  const bool isRagged =
      !isProduct && (problem.causal || length % shape.columns != 0);
  return rounds *
         (iterations * iteration + kOfProgram + (isRagged ? kOfIteration : 0));
}

std::vector<TileShape> flashtile::bestShapes(
    const TileLimits &limits, const std::vector<TileShape> &shapes,
    const TileProblem &problem, size_t most, size_t mostOfRows) {
  struct Rated {
    double clocks;
    bool usesWarpgroups;
    TileShape shape;
  };
  std::vector<Rated> rated;
  bool anyWarpgroups = false;
  for (const TileShape &shape : shapes) {
    const TileDemand demand = tileDemand(limits, shape);
    if (!demand.isFeasible())
      continue;
    anyWarpgroups |= demand.usesWarpgroups;
    rated.push_back({estimatedClocks(limits, shape, problem),
                     demand.usesWarpgroups, shape});
  }
  const auto orderOf = [](const Rated &each) {
    const TileShape &shape = each.shape;
    return std::tuple(each.clocks, shape.rows, shape.columns, shape.depth,
                      shape.numWarps, shape.numStages);
  };
  std::sort(rated.begin(), rated.end(), [&](const Rated &a, const Rated &b) {
    return orderOf(a) < orderOf(b);
  });
  std::vector<TileShape> best;
  std::map<int64_t, size_t> ofRows;
  for (const Rated &each : rated)
    if (best.size() < most && each.usesWarpgroups == anyWarpgroups &&
        ofRows[each.shape.rows]++ < mostOfRows)
      best.push_back(each.shape);
  return best;
}
