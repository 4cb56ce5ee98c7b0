//===- PersistentPrograms.cpp - Blocks that take many programs ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Schedule/PersistentPrograms.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Interfaces/LoopLikeInterface.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace flashtile;
using namespace flashtile::gpu;
using namespace flashtile::tile;

static Value i32(ImplicitLocOpBuilder &b, int64_t value) {
  return arith::ConstantOp::create(b, b.getI32IntegerAttr(value));
}

std::optional<Persistence> flashtile::gpu::parsePersistence(StringRef text) {
  return llvm::StringSwitch<std::optional<Persistence>>(text)
      .Case("auto", Persistence::Auto)
      .Cases({"off", "false"}, Persistence::Never)
      .Cases({"static", "true"}, Persistence::Fixed)
      .Case("dynamic", Persistence::Counter)
      .Default(std::nullopt);
}

static Value allPrograms(ImplicitLocOpBuilder &b) {
  Value programs = NumProgramsOp::create(b, ProgramAxis::X);
  for (ProgramAxis axis : {ProgramAxis::Y, ProgramAxis::Z})
    programs =
        arith::MulIOp::create(b, programs, NumProgramsOp::create(b, axis));
  return programs;
}

//===----------------------------------------------------------------------===//
// Fixed shares
//===----------------------------------------------------------------------===//

ProgramShare flashtile::gpu::shareOfPrograms(ImplicitLocOpBuilder &b,
                                             bool turns) {
  ProgramShare share;
  share.turns = turns;
  share.block = tilegpu::BlockIdOp::create(b);
  share.blocks = tilegpu::NumBlocksOp::create(b);
  Value programs = allPrograms(b);
  // The last round may have fewer programs than blocks.
  Value whole = arith::DivUIOp::create(b, programs, share.blocks);
  Value rest = arith::RemUIOp::create(b, programs, share.blocks);
  Value number = share.block;
  if (turns) {
    Value last = arith::SubIOp::create(b, share.blocks, i32(b, 1));
    Value odd = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, whole, i32(b, 1)),
        i32(b, 0));
    number = arith::SelectOp::create(
        b, odd, arith::SubIOp::create(b, last, number), number);
  }
  Value more =
      arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number, rest);
  share.rounds = arith::AddIOp::create(
      b, whole, arith::ExtUIOp::create(b, b.getI32Type(), more));
  return share;
}

static ProgramLoop openFixedLoop(ImplicitLocOpBuilder &b,
                                 const ProgramShare &share, ValueRange inits) {
  auto loop = scf::ForOp::create(b, i32(b, 0), share.rounds, i32(b, 1), inits);
  b.setInsertionPointToStart(loop.getBody());
  Value round = loop.getInductionVar(), number = share.block;
  if (share.turns) {
    Value last = arith::SubIOp::create(b, share.blocks, i32(b, 1));
    Value odd = arith::CmpIOp::create(
        b, arith::CmpIPredicate::ne, arith::AndIOp::create(b, round, i32(b, 1)),
        i32(b, 0));
    number = arith::SelectOp::create(
        b, odd, arith::SubIOp::create(b, last, number), number);
  }
  Value place = arith::AddIOp::create(
      b, arith::MulIOp::create(b, round, share.blocks), number);
  return {loop,
          round,
          place,
          {},
          llvm::to_vector_of<Value>(loop.getRegionIterArgs())};
}

//===----------------------------------------------------------------------===//
// Programs by a counter
//===----------------------------------------------------------------------===//

/// Two programs are on the way: the one who counts tells the second while
/// somebody has yet to read the first.
static constexpr int64_t kPrograms = 2;

ProgramShare flashtile::gpu::countPrograms(ImplicitLocOpBuilder &b,
                                           int64_t readers,
                                           ValueRange position) {
  MLIRContext *context = b.getContext();
  ProgramShare share;
  share.counts = true;
  share.firstPosition = llvm::to_vector(position);
  share.block = tilegpu::BlockIdOp::create(b);
  share.blocks = tilegpu::NumBlocksOp::create(b);
  share.programs = allPrograms(b);
  share.words = tilegpu::WordsOp::create(
      b, tilegpu::WordsType::get(context,
                                 kPrograms * int64_t(1 + position.size())));
  auto barriers = tilegpu::MbarriersType::get(context, kPrograms);
  share.full = tilegpu::MbarriersOp::create(b, barriers, 1);
  share.empty = tilegpu::MbarriersOp::create(b, barriers, readers);
  return share;
}

namespace {
/// How the block's programs go from the one who takes them to the others: each
/// as its number and position.
class Messages {
public:
  /// Of the program behind number `round` of the block.
  Messages(ImplicitLocOpBuilder &b, const ProgramShare &share, Value round)
      : b(b), share(share) {
    index = arith::RemUIOp::create(b, round, i32(b, kPrograms));
    phase = arith::RemUIOp::create(
        b, arith::DivUIOp::create(b, round, i32(b, kPrograms)), i32(b, 2));
    start = arith::MulIOp::create(b, index, i32(b, size()));
  }

  /// Waits until all have read the program before the last, which they did
  /// before they began it.
  void tell(ValueRange program) {
    Value freed = arith::SubIOp::create(b, i32(b, 1), phase);
    tilegpu::MbarrierWaitOp::create(b, share.empty, index, freed);
    for (auto [number, value] : llvm::enumerate(program))
      tilegpu::WriteWordOp::create(b, value, share.words, word(number));
    tilegpu::MbarrierArriveOp::create(b, share.full, index);
  }

  SmallVector<Value> hear() {
    SmallVector<Value> program;
    tilegpu::MbarrierWaitOp::create(b, share.full, index, phase);
    for (int64_t number = 0; number < size(); ++number)
      program.push_back(tilegpu::ReadWordOp::create(b, b.getI32Type(),
                                                    share.words, word(number)));
    tilegpu::MbarrierArriveOp::create(b, share.empty, index);
    return program;
  }

private:
  /// Words of a program.
  int64_t size() const { return 1 + int64_t(share.firstPosition.size()); }
  Value word(int64_t number) {
    return arith::AddIOp::create(b, start, i32(b, number));
  }

  ImplicitLocOpBuilder &b;
  const ProgramShare &share;
  Value index, phase, start;
};
} // namespace

/// What is told where there is no further program: who hears it need not know
/// how many there are.
static constexpr int64_t kNoProgram = -1;

static Value numberOrNone(ImplicitLocOpBuilder &b, const ProgramShare &share,
                          Value number) {
  Value isProgram = arith::CmpIOp::create(b, arith::CmpIPredicate::ult, number,
                                          share.programs);
  return arith::SelectOp::create(b, isProgram, number, i32(b, kNoProgram));
}

/// Carries the number of a program, its position, how many the block had before
/// and `inits`.
static ProgramLoop openCountedLoop(ImplicitLocOpBuilder &b,
                                   const ProgramShare &share,
                                   ValueRange inits) {
  SmallVector<Value> first = {numberOrNone(b, share, share.block)};
  llvm::append_range(first, share.firstPosition);
  first.push_back(i32(b, 0));
  llvm::append_range(first, inits);
  SmallVector<Type> types(first.size(), b.getI32Type());
  SmallVector<Location> locations(first.size(), b.getLoc());
  auto loop = scf::WhileOp::create(b, types, first);
  Block *before = b.createBlock(&loop.getBefore(), {}, types, locations);
  Value isProgram = arith::CmpIOp::create(
      b, arith::CmpIPredicate::ne, before->getArgument(0), i32(b, kNoProgram));
  scf::ConditionOp::create(b, isProgram, before->getArguments());
  Block *body = b.createBlock(&loop.getAfter(), {}, types, locations);
  ArrayRef<BlockArgument> arguments = body->getArguments();
  size_t told = 1 + share.firstPosition.size();
  return {loop, arguments[told], arguments.front(),
          llvm::to_vector_of<Value>(arguments.slice(1, told - 1)),
          llvm::to_vector_of<Value>(arguments.drop_front(told + 1))};
}

/// Where the program behind `body`'s is told: in front of the last of several
/// loops, so that those who hear it do not wait; else at the end.
static void goWhereToTell(ImplicitLocOpBuilder &b, Block &body) {
  SmallVector<scf::ForOp> loops(body.getOps<scf::ForOp>());
  if (loops.size() > 1)
    b.setInsertionPoint(loops.back());
  else
    b.setInsertionPointToEnd(&body);
}

/// Where the next program is heard of: behind the last operation of `body` that
/// waits for others. All copies of this program are started by then, so that it
/// has been told or will be, and the answer comes beside what is left to do.
/// Behind loops, too, which need their registers.
static void goWhereToHear(ImplicitLocOpBuilder &b, Block &body) {
  Operation *last = nullptr;
  for (Operation &op : body)
    op.walk([&](Operation *inner) {
      if (isa<tilegpu::MbarrierWaitOp, LoopLikeOpInterface>(inner))
        last = &op;
    });
  if (last)
    b.setInsertionPointAfter(last);
}

/// The number of the next program and its position: from the counter, for all
/// others to hear, or from who did that.
///
/// The one who takes it does so before the copies of this program, which hide
/// how long the answer takes; behind them where loops in loops make programs
/// long and few, so that a block is not bound to one long before it begins it.
static SmallVector<Value> nextProgram(ImplicitLocOpBuilder &b,
                                      const ProgramShare &share,
                                      const ProgramLoop &programs,
                                      PositionFunction positionOf) {
  OpBuilder::InsertionGuard guard(b);
  Block &body = programs.loop->getRegions().back().front();
  if (!positionOf) {
    goWhereToHear(b, body);
    return Messages(b, share, programs.round).hear();
  }
  if (share.areLong)
    goWhereToTell(b, body);
  else
    b.setInsertionPointToStart(&body);
  Value taken =
      tilegpu::TakeProgramOp::create(b, b.getI32Type(), share.programs);
  goWhereToTell(b, body);
  // Read again: producers have few registers.
  Value blocks = tilegpu::NumBlocksOp::create(b);
  Value number = arith::AddIOp::create(b, blocks, taken);
  SmallVector<Value> program = {numberOrNone(b, share, number)};
  // What is no program has no position.
  Value last = arith::SubIOp::create(b, share.programs, i32(b, 1));
  llvm::append_range(program,
                     positionOf(arith::MinUIOp::create(b, number, last)));
  Messages(b, share, programs.round).tell(program);
  return program;
}

ProgramLoop flashtile::gpu::openProgramLoop(ImplicitLocOpBuilder &b,
                                            const ProgramShare &share,
                                            ValueRange inits) {
  ProgramLoop programs = share.counts ? openCountedLoop(b, share, inits)
                                      : openFixedLoop(b, share, inits);
  programs.loop->setAttr(tilegpu::TileGPUDialect::kProgramsAttr,
                         b.getUnitAttr());
  return programs;
}

void flashtile::gpu::closeProgramLoop(ImplicitLocOpBuilder &b,
                                      const ProgramShare &share,
                                      const ProgramLoop &programs,
                                      ValueRange carried,
                                      PositionFunction positionOf) {
  SmallVector<Value> yielded;
  b.setInsertionPointToEnd(&programs.loop->getRegions().back().front());
  if (share.counts) {
    yielded = nextProgram(b, share, programs, positionOf);
    yielded.push_back(arith::AddIOp::create(b, programs.round, i32(b, 1)));
  }
  llvm::append_range(yielded, carried);
  scf::YieldOp::create(b, yielded);
  b.setInsertionPointAfter(programs.loop);
}
