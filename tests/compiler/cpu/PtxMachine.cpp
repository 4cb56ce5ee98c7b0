//===- PtxMachine.cpp - Runs PTX on this machine --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Statements are decoded once into functions on a thread's registers, 64 bits
// each (PtxDecode.cpp); here threads are scheduled and meet.
//
//===----------------------------------------------------------------------===//

#include "tests/compiler/cpu/PtxMachine.h"

#include "tests/compiler/cpu/PtxProgram.h"

#include <algorithm>
#include <stdexcept>

using namespace flashtile::cputest;

struct PtxMachine::Impl {
  PtxText text;
};

PtxMachine::PtxMachine(const std::string &ptx)
    : impl(new Impl{parsePtx(ptx)}) {}
PtxMachine::~PtxMachine() = default;

/// Runs until the thread meets others, or ends.
static void runAlone(const PtxKernel &kernel, PtxThread &thread) {
  while (true) {
    const PtxStatement &next = kernel.statements[thread.at];
    if (next.guard >= 0 &&
        (thread.registers[next.guard] & 1) == uint64_t(next.guardInverted)) {
      ++thread.at;
      continue;
    }
    if (next.kind == PtxStatement::Together ||
        next.kind == PtxStatement::Barrier) {
      thread.waiting = true;
      return;
    }
    if (next.kind == PtxStatement::End) {
      if (!thread.stores.empty() || !thread.nextStores.empty())
        throw std::runtime_error("thread " + std::to_string(thread.number) +
                                 " ends before its copies have read");
      thread.ended = true;
      return;
    }
    if (next.kind == PtxStatement::Branch) {
      thread.at =
          next.targets.empty()
              ? next.target
              : next.targets.at(uint32_t(thread.registers[next.choice]));
      continue;
    }
    try {
      if (next.kind == PtxStatement::Poll) {
        if (!next.poll(thread)) {
          thread.waiting = true;
          return;
        }
        ++thread.at;
        continue;
      }
      ++thread.at;
      next.alone(thread);
    } catch (const std::runtime_error &error) {
      if (std::string(error.what()) == "trap")
        throw;
      throw std::runtime_error(std::string(error.what()) + " at '" + next.text +
                               "' of thread " + std::to_string(thread.number));
    }
  }
}

/// Lets a warp whose threads all wait at one statement execute it.
static bool runWarp(const PtxKernel &kernel, std::vector<PtxThread> &threads,
                    size_t first) {
  size_t at = threads[first].at;
  for (size_t lane = 0; lane < 32; ++lane) {
    PtxThread &thread = threads[first + lane];
    if (thread.ended || !thread.waiting || thread.at != at)
      return false;
  }
  const PtxStatement &next = kernel.statements[at];
  if (next.kind != PtxStatement::Together)
    return false;
  next.together(&threads[first]);
  for (size_t lane = 0; lane < 32; ++lane) {
    threads[first + lane].waiting = false;
    ++threads[first + lane].at;
  }
  return true;
}

static bool runBarrier(const PtxKernel &kernel,
                       std::vector<PtxThread> &threads) {
  size_t at = threads.front().at;
  for (const PtxThread &thread : threads)
    if (thread.ended || !thread.waiting || thread.at != at)
      return false;
  const PtxStatement &next = kernel.statements[at];
  if (next.kind != PtxStatement::Barrier)
    return false;
  if (next.together)
    next.together(threads.data());
  for (PtxThread &thread : threads) {
    thread.waiting = false;
    ++thread.at;
  }
  return true;
}

/// Where the first thread of each warp is.
static std::string placesOf(const PtxKernel &kernel,
                            const std::vector<PtxThread> &threads) {
  std::string text;
  for (size_t first = 0; first < threads.size(); first += 32) {
    const std::string &statement = kernel.statements[threads[first].at].text;
    text += "\n  warp " + std::to_string(first / 32) + ": '" +
            statement.substr(0, 100) + "', statement " +
            std::to_string(threads[first].at);
  }
  return text;
}

static void runBlock(const PtxKernel &kernel, std::vector<PtxThread> &threads,
                     bool descending) {
  while (true) {
    bool moved = false, done = true;
    for (size_t i = 0; i < threads.size(); ++i) {
      PtxThread &thread = threads[descending ? threads.size() - 1 - i : i];
      if (thread.ended)
        continue;
      const size_t at = thread.at;
      if (thread.waiting && kernel.statements[at].kind != PtxStatement::Poll)
        continue;
      const bool waited = thread.waiting;
      thread.waiting = false;
      runAlone(kernel, thread);
      moved |= !waited || thread.at != at || thread.ended;
    }
    for (size_t first = 0; first < threads.size(); first += 32)
      moved |= runWarp(kernel, threads, first);
    moved |= runBarrier(kernel, threads);
    for (const PtxThread &thread : threads)
      done &= thread.ended;
    if (done)
      return;
    std::vector<std::function<void()>> &copies = threads.front().block->copies;
    if (!moved && !copies.empty()) {
      const std::function<void()> last = std::move(copies.back());
      copies.pop_back();
      last();
      moved = true;
    }
    if (!moved)
      throw std::runtime_error("threads wait for each other at" +
                               placesOf(kernel, threads));
  }
}

std::string PtxMachine::run(const std::string &name, const PtxLaunch &launch,
                            std::string &output) {
  auto kernel = impl->text.kernels.find(name);
  if (kernel == impl->text.kernels.end())
    return "no kernel " + name;
  PtxBlock block;
  block.arguments = launch.arguments;
  block.threadCount = launch.threads;
  block.blockCount = launch.blocks;
  block.output = &output;
  try {
    for (int64_t number = launch.blocks; number-- > 0;) {
      block.number = number;
      block.shared.assign(launch.sharedBytes + 16, 0xCD);
      block.sharedBytes = launch.sharedBytes;
      block.mbarriers.clear();
      block.namedBarriers.clear();
      block.copies.clear();
      block.copiesEndLate = launch.descending;
      block.readers.assign(launch.sharedBytes / 16 + 1, 0);
      block.unfenced.assign(launch.sharedBytes + 16, 0);
      std::vector<PtxThread> threads(launch.threads);
      for (int64_t i = 0; i < launch.threads; ++i) {
        threads[i].block = &block;
        threads[i].number = i;
        threads[i].registers.assign(kernel->second.registerCount,
                                    0xABABABABABABABABu);
        threads[i].local.assign(kernel->second.localBytes + 16, 0xCD);
      }
      runBlock(kernel->second, threads, launch.descending);
    }
  } catch (const std::runtime_error &error) {
    return error.what();
  }
  return {};
}
