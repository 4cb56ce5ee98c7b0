//===- Shuffles.cpp - Conversions within a warp ---------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Both layouts are cut into common digits, each of which sits at some place of
// a hardware index in the old layout and at some place in the new one. Digits
// that stay in the registers or in the lanes are renaming. What has to move are
// bits that change between lane and register:
//
//   incoming: a bit of the register before, of the lane after
//   outgoing: a bit of the lane before, of the register after
//
// In one round each lane offers one register and reads one lane. Paired with an
// incoming bit, an outgoing one makes a butterfly: in round v the lane with
// incoming bit a reads the lane whose outgoing bit is a ^ v; that one knows
// from its own bit b which register is wanted, the one with incoming bit b ^ v.
// a ^ v is a + v - 2av, so every function is affine in the bits of the lane.
//
//===----------------------------------------------------------------------===//

#include "compiler/Analysis/Layout/LayoutConversion.h"
#include "compiler/Analysis/Layout/OffsetTables.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <numeric>

using namespace flashtile::gpu;

static constexpr unsigned laneBits = 5;

namespace {
/// A digit with its place: it counts in units of `stride` of the index and
/// moves by `step` in the packed tile; 0 replicates.
struct PlacedDigit {
  HardwareIndex index;
  int64_t stride;
  int64_t extent;
  int64_t step;
};

/// The same digit before and after.
struct Movement {
  PlacedDigit from;
  PlacedDigit to;
};

class ShufflePlanner {
public:
  ShufflePlanner(const DistributedLayout &from, const DistributedLayout &to)
      : from(from), to(to),
        packing(maxExtents(from.paddedShape(), to.paddedShape())) {}

  std::optional<LayoutConversion> plan(int64_t elementBytes);

private:
  /// What a bit of the old lane index is in the new layout.
  enum class Role { Free, Lane, Register, Warp };
  struct OldLaneBit {
    Role role = Role::Free;
    int64_t stride = 1; ///< of the new lane, register or warp
    int incoming = -1;  ///< the incoming bit it carries
  };
  struct IncomingBit {
    unsigned lane;        ///< position in the new lane index
    int64_t fromRegister; ///< stride in the old register index
  };
  struct RegisterDigit {
    int64_t extent;
    int64_t fromStride;
    int64_t toStride;
  };
  struct WarpSelect {
    DigitPosition warp;
    int64_t fromRegister;
  };

  bool classify(const Movement &movement);
  bool pairIncoming();
  void addRegisterDigit(ShuffleRound &round, int64_t &choice,
                        const RegisterDigit &digit) const;
  ShuffleRound round(int64_t choice) const;
  bool holds(const std::vector<ShuffleRound> &rounds) const;

  const DistributedLayout &from;
  const DistributedLayout &to;
  Packing packing;
  std::array<OldLaneBit, laneBits> oldLane;
  std::vector<IncomingBit> incoming;
  std::vector<RegisterDigit> registers;
  std::vector<WarpSelect> warpSelects;
};
} // namespace

/// Digits that move, and those that replicate.
static void place(const DistributedLayout &layout, const Packing &packing,
                  std::vector<PlacedDigit> &moving,
                  std::vector<PlacedDigit> &still) {
  for (HardwareIndex index :
       {HardwareIndex::Register, HardwareIndex::Lane, HardwareIndex::Warp}) {
    int64_t stride = 1;
    for (const Digit &digit : layout.digits(index)) {
      int64_t step = packing.pack(digit.step);
      if (digit.extent > 1)
        (step ? moving : still).push_back({index, stride, digit.extent, step});
      stride *= digit.extent;
    }
  }
}

static PlacedDigit takeSmallest(std::vector<PlacedDigit> &digits) {
  auto smallest = llvm::min_element(
      digits, [](const auto &a, const auto &b) { return a.step < b.step; });
  PlacedDigit digit = *smallest;
  digits.erase(smallest);
  return digit;
}

/// Keeps the lowest `extent` of `digit`, puts the rest back.
static void cutDigit(PlacedDigit &digit, int64_t extent,
                     std::vector<PlacedDigit> &rest) {
  if (digit.extent > extent)
    rest.push_back({digit.index, digit.stride * extent, digit.extent / extent,
                    digit.step * extent});
  digit.extent = extent;
}

/// Common digits of both lists, smallest step first. A digit that is a lane's
/// before or after is cut into bits.
static std::optional<std::vector<Movement>>
refine(std::vector<PlacedDigit> before, std::vector<PlacedDigit> after) {
  std::vector<Movement> movements;
  while (!before.empty() && !after.empty()) {
    PlacedDigit a = takeSmallest(before), b = takeSmallest(after);
    int64_t extent = std::gcd(a.extent, b.extent);
    if (a.step != b.step || extent == 1)
      return std::nullopt;
    if (a.index == HardwareIndex::Lane || b.index == HardwareIndex::Lane)
      extent = 2;
    cutDigit(a, extent, before);
    cutDigit(b, extent, after);
    movements.push_back({a, b});
  }
  if (!before.empty() || !after.empty())
    return std::nullopt;
  return movements;
}

static unsigned bitOf(int64_t stride) {
  unsigned bit = 0;
  while (int64_t(1) << bit < stride)
    ++bit;
  return bit;
}

bool ShufflePlanner::classify(const Movement &movement) {
  const auto &[before, after] = movement;
  switch (before.index) {
  case HardwareIndex::Warp:
    // Other warps are out of reach.
    return after.index == HardwareIndex::Warp &&
           after.stride == before.stride && after.extent == before.extent;
  case HardwareIndex::Lane: {
    OldLaneBit &bit = oldLane[bitOf(before.stride)];
    bit.stride = after.stride;
    bit.role = after.index == HardwareIndex::Lane       ? Role::Lane
               : after.index == HardwareIndex::Register ? Role::Register
                                                        : Role::Warp;
    return true;
  }
  case HardwareIndex::Register:
    if (after.index == HardwareIndex::Register)
      registers.push_back({after.extent, before.stride, after.stride});
    else if (after.index == HardwareIndex::Lane)
      incoming.push_back({bitOf(after.stride), before.stride});
    else
      warpSelects.push_back({{after.stride, after.extent}, before.stride});
    return true;
  }
  return false;
}

/// Gives each incoming bit a bit of the old lane that tells the offering lane
/// what is wanted: at its own place if possible, rather a free bit (no select
/// on receipt) than an outgoing one.
bool ShufflePlanner::pairIncoming() {
  auto pair = [&](size_t index, bool inPlace, Role role) {
    for (unsigned bit = 0; bit < laneBits; ++bit) {
      OldLaneBit &carrier = oldLane[bit];
      if (carrier.role != role || carrier.incoming >= 0 ||
          (inPlace && bit != incoming[index].lane))
        continue;
      carrier.incoming = index;
      return true;
    }
    return false;
  };
  std::vector<size_t> elsewhere;
  for (size_t index = 0; index < incoming.size(); ++index)
    if (!pair(index, true, Role::Free) && !pair(index, true, Role::Register))
      elsewhere.push_back(index);
  for (size_t index : elsewhere)
    if (!pair(index, false, Role::Free) && !pair(index, false, Role::Register))
      return false;
  return true;
}

/// weight * (bit ^ flip), for a bit of the lane.
static void addLaneBit(ThreadFunction &function, unsigned bit, int64_t weight,
                       bool flip) {
  function.base += flip ? weight : 0;
  function.terms.push_back(
      {HardwareIndex::Lane, {int64_t(1) << bit, 2}, flip ? -weight : weight});
}

void ShufflePlanner::addRegisterDigit(ShuffleRound &round, int64_t &choice,
                                      const RegisterDigit &digit) const {
  int64_t value = choice % digit.extent;
  choice /= digit.extent;
  round.send.base += value * digit.fromStride;
  round.receive.base += value * digit.toStride;
}

/// `choice` counts the new registers: those that stay registers fastest, so
/// that rounds which read the same lanes are adjacent.
ShuffleRound ShufflePlanner::round(int64_t choice) const {
  ShuffleRound round;
  for (const RegisterDigit &digit : registers)
    addRegisterDigit(round, choice, digit);
  for (unsigned bit = 0; bit < laneBits; ++bit) {
    const OldLaneBit &old = oldLane[bit];
    int64_t weight = int64_t(1) << bit;
    const IncomingBit *carried =
        old.incoming >= 0 ? &incoming[old.incoming] : nullptr;
    bool flip = false;
    if (old.role == Role::Register) {
      flip = choice % 2;
      choice /= 2;
    }
    if (carried) {
      addLaneBit(round.source, carried->lane, weight, flip);
      addLaneBit(round.send, bit, carried->fromRegister, flip);
      if (old.role == Role::Register)
        addLaneBit(round.receive, carried->lane, old.stride, flip);
      continue;
    }
    switch (old.role) {
    case Role::Free:
      addLaneBit(round.source, bit, weight, false);
      break;
    case Role::Lane:
      addLaneBit(round.source, bitOf(old.stride), weight, false);
      break;
    case Role::Register:
      round.source.base += flip ? weight : 0;
      round.receive.base += flip ? old.stride : 0;
      break;
    case Role::Warp:
      round.source.terms.push_back(
          {HardwareIndex::Warp, {old.stride, 2}, weight});
      break;
    }
  }
  for (const WarpSelect &select : warpSelects)
    round.send.terms.push_back(
        {HardwareIndex::Warp, select.warp, select.fromRegister});
  return round;
}

/// Plays the rounds on all threads.
bool ShufflePlanner::holds(const std::vector<ShuffleRound> &rounds) const {
  OffsetTables old(from, packing), wanted(to, packing);
  int64_t oldRegisters = from.registersPerThread();
  int64_t newRegisters = to.registersPerThread();
  std::vector<int64_t> held(newRegisters);
  // Where warps differ only by what they add to both layouts, the first one
  // stands for all: what is in bounds elsewhere is so there.
  bool alike = warpSelects.empty() && old.warps == wanted.warps &&
               llvm::none_of(oldLane, [](const OldLaneBit &bit) {
                 return bit.role == Role::Warp;
               });
  int64_t warps = alike ? 1 : to.warpCount();
  for (int64_t warp = 0; warp < warps; ++warp) {
    for (int64_t lane = 0; lane < lanesPerWarp; ++lane) {
      llvm::fill(held, -1);
      for (const ShuffleRound &round : rounds) {
        int64_t source = round.source.evaluate(lane, warp);
        if (source < 0 || source >= lanesPerWarp)
          return false;
        int64_t send = round.send.evaluate(source, warp);
        int64_t receive = round.receive.evaluate(lane, warp);
        if (send < 0 || send >= oldRegisters || receive < 0 ||
            receive >= newRegisters)
          return false;
        held[receive] = old.at(send, source, warp);
      }
      for (int64_t index = 0; index < newRegisters; ++index) {
        int64_t element = wanted.at(index, lane, warp);
        if (held[index] != element && to.isInBounds(packing.unpack(element)))
          return false;
      }
    }
  }
  return true;
}

/// Selects that pick one register out of those a function may name.
static int64_t selectCost(const ThreadFunction &function) {
  int64_t alternatives = 1;
  for (const ThreadFunction::Term &term : function.terms)
    alternatives *= term.position.extent;
  return alternatives - 1;
}

/// Shuffles and selects, narrow elements packed where rounds share.
static int64_t costOf(const std::vector<ShuffleRound> &rounds,
                      int64_t elementBytes) {
  int64_t cost = 0;
  for (size_t first = 0, next; first < rounds.size(); first = next) {
    const ShuffleRound &round = rounds[first];
    for (next = first + 1; next < rounds.size(); ++next)
      if (!round.sharesWith(rounds[next]))
        break;
    int64_t words = (int64_t(next - first) * elementBytes + 3) / 4;
    cost += words * ((round.source.isLane() ? 0 : 4) + selectCost(round.send) +
                     selectCost(round.receive));
  }
  return cost;
}

std::optional<LayoutConversion> ShufflePlanner::plan(int64_t elementBytes) {
  std::vector<PlacedDigit> before, after, stillBefore, stillAfter;
  place(from, packing, before, stillBefore);
  place(to, packing, after, stillAfter);
  auto movements = refine(std::move(before), std::move(after));
  if (!movements)
    return std::nullopt;
  // Copies among the new registers each take their own round.
  for (const PlacedDigit &digit : stillAfter)
    if (digit.index == HardwareIndex::Register)
      registers.push_back({digit.extent, 0, digit.stride});
  if (!llvm::all_of(*movements,
                    [&](const Movement &m) { return classify(m); }) ||
      !pairIncoming())
    return std::nullopt;
  LayoutConversion conversion;
  conversion.kind = LayoutConversion::Kind::Lanes;
  for (int64_t choice = 0; choice < to.registersPerThread(); ++choice)
    conversion.rounds.push_back(round(choice));
  conversion.cost = costOf(conversion.rounds, elementBytes);
  if (!holds(conversion.rounds))
    return std::nullopt;
  return conversion;
}

std::optional<LayoutConversion>
flashtile::gpu::planShuffles(const DistributedLayout &from,
                             const DistributedLayout &to,
                             int64_t elementBytes) {
  if (from.shape() != to.shape() || from.warpCount() != to.warpCount())
    return std::nullopt;
  return ShufflePlanner(from, to).plan(elementBytes);
}
