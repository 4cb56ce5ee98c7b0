//===- ProgramRunner.cpp - Runs the programs of a launch on the CPU -------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels are compiled without unwind tables, so a failed assertion leaves
// its program by longjmp, over frames of generated code only: `fail` keeps the
// message in the ProgramContext first and owns nothing when it jumps. The point
// to return to is set once for each chunk of programs.
//
//===----------------------------------------------------------------------===//

#include "runtime/ProgramRunner.h"

#include "compiler/Support/Error.h"
#include "runtime/ThreadPool.h"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csetjmp>
#include <cstdlib>
#include <memory>
#include <mutex>
#include <new>
#include <string>

#include <unistd.h>

using namespace flashtile;

namespace {

/// What the callbacks of a running program find. It lives in the frame below
/// the one that calls setjmp, so that its members survive a longjmp.
struct ProgramContext {
  /// Program ids x, y, z; then extents of the grid.
  std::array<int32_t, 6> ids;
  std::jmp_buf failure;
  std::string message; ///< of the assertion that failed
  std::string line;    ///< being printed
  bool isFirstNumber = false;
  bool printsDoubles = false; ///< else numbers came from narrower types
};

} // namespace

static std::string programText(const std::array<int32_t, 6> &ids) {
  return "(" + std::to_string(ids[0]) + ", " + std::to_string(ids[1]) + ", " +
         std::to_string(ids[2]) + ")";
}

//===----------------------------------------------------------------------===//
// Callbacks. Nothing may be thrown through the frames of a kernel: noexcept
// ends the process where the text of an error or a line finds no memory.
//===----------------------------------------------------------------------===//

static void failProgram(void *opaque, const char *message) noexcept {
  auto *context = static_cast<ProgramContext *>(opaque);
  context->message = message;
  std::longjmp(context->failure, 1);
}

static void beginLine(void *opaque, const char *prefix,
                      const char *type) noexcept {
  auto *context = static_cast<ProgramContext *>(opaque);
  const std::string_view typeName(type);
  context->line = prefix;
  context->line += " " + programText(context->ids);
  if (!typeName.empty())
    context->line.append(" ").append(type).append(":");
  context->isFirstNumber = true;
  context->printsDoubles = typeName.find("f64") != std::string_view::npos;
}

template <typename Number>
static void appendNumber(ProgramContext &context, Number value) {
  char text[64];
  const std::to_chars_result end =
      std::to_chars(text, text + sizeof text, value);
  context.line += context.isFirstNumber ? " " : ", ";
  context.line.append(text, end.ptr);
  context.isFirstNumber = false;
}

static void addFloat(void *opaque, double value) noexcept {
  auto *context = static_cast<ProgramContext *>(opaque);
  // The shortest text that names the number among those of its type.
  if (context->printsDoubles)
    appendNumber(*context, value);
  else
    appendNumber(*context, static_cast<float>(value));
}

static void addInteger(void *opaque, int64_t value) noexcept {
  appendNumber(*static_cast<ProgramContext *>(opaque), value);
}

static void endLine(void *opaque) noexcept {
  auto *context = static_cast<ProgramContext *>(opaque);
  context->line += '\n';
  // A long line takes several calls, and others must not come between them.
  static std::mutex mutex;
  std::lock_guard<std::mutex> lock(mutex);
  const char *next = context->line.data();
  size_t left = context->line.size();
  while (left > 0) {
    const ssize_t written = write(STDERR_FILENO, next, left);
    if (written < 0 && errno != EINTR)
      return; // there is no better place to report it to
    if (written > 0) {
      next += written;
      left -= static_cast<size_t>(written);
    }
  }
}

//===----------------------------------------------------------------------===//
// Scratch memory
//===----------------------------------------------------------------------===//

namespace {

struct FreeMemory {
  void operator()(void *memory) const { std::free(memory); }
};
using Memory = std::unique_ptr<void, FreeMemory>;

} // namespace

static Memory allocateScratch(size_t numBytes) {
  constexpr size_t alignment = 64;
  void *memory = std::aligned_alloc(alignment, (numBytes + alignment - 1) /
                                                   alignment * alignment);
  if (!memory)
    throw Error(ErrorCode::OutOfMemory,
                "cannot allocate " + std::to_string(numBytes) +
                    " bytes of scratch memory for a kernel");
  return Memory(memory);
}

namespace {

/// Scratch memory of one chunk of programs: from what the thread keeps between
/// launches, unless it is too large to be kept.
class Scratch {
public:
  explicit Scratch(int64_t wanted) {
    const auto numBytes = static_cast<size_t>(wanted);
    if (numBytes > largestKept) {
      own = allocateScratch(numBytes);
      memory = own.get();
      return;
    }
    static thread_local Memory kept;
    static thread_local size_t keptBytes = 0;
    if (numBytes > keptBytes) {
      kept.reset();
      keptBytes = 0;
      kept = allocateScratch(numBytes);
      keptBytes = numBytes;
    }
    memory = kept.get();
  }

  void *get() const { return memory; }

private:
  /// Tiles of any kernel that is fast stay in the caches, and this is more than
  /// any of those: a thread keeps little.
  static constexpr size_t largestKept = size_t(16) << 20;

  Memory own;
  void *memory = nullptr;
};

//===----------------------------------------------------------------------===//
// The loop over the grid
//===----------------------------------------------------------------------===//

struct Launch {
  const CompiledKernel &kernel;
  const std::array<int64_t, 3> &grid;
  const void *const *arguments;

  void runChunk(int64_t begin, int64_t end) const;

private:
  void runAll(ProgramContext &context, int64_t count, void *scratch) const;
  bool runGuarded(ProgramContext &context, int64_t count, void *scratch) const;
};

} // namespace

/// `count` programs from the one whose ids `context` holds.
void Launch::runAll(ProgramContext &context, int64_t count,
                    void *scratch) const {
  std::array<int32_t, 6> &ids = context.ids;
  while (true) {
    kernel.entry(arguments, ids.data(), &context, scratch);
    if (--count == 0)
      return;
    if (++ids[0] < ids[3])
      continue;
    ids[0] = 0;
    if (++ids[1] < ids[4])
      continue;
    ids[1] = 0;
    ++ids[2];
  }
}

/// False where a program failed, which context.ids and message then describe.
/// _setjmp leaves the signal mask alone, which would cost a system call.
bool Launch::runGuarded(ProgramContext &context, int64_t count,
                        void *scratch) const {
  if (_setjmp(context.failure))
    return false;
  runAll(context, count, scratch);
  return true;
}

void Launch::runChunk(int64_t begin, int64_t end) const {
  ProgramContext context;
  const int64_t row = begin / grid[0];
  context.ids = {static_cast<int32_t>(begin % grid[0]),
                 static_cast<int32_t>(row % grid[1]),
                 static_cast<int32_t>(row / grid[1]),
                 static_cast<int32_t>(grid[0]),
                 static_cast<int32_t>(grid[1]),
                 static_cast<int32_t>(grid[2])};
  const Scratch scratch(kernel.arenaBytes);
  if (!kernel.canFail)
    runAll(context, end - begin, scratch.get());
  else if (!runGuarded(context, end - begin, scratch.get()))
    throw Error(ErrorCode::Assertion, "assertion failed in program " +
                                          programText(context.ids) +
                                          " of kernel '" + kernel.info.name +
                                          "': " + context.message);
}

CpuCallbacks flashtile::cpuCallbacks() {
  CpuCallbacks callbacks;
  callbacks.fail = failProgram;
  callbacks.printBegin = beginLine;
  callbacks.printFloat = addFloat;
  callbacks.printInteger = addInteger;
  callbacks.printEnd = endLine;
  return callbacks;
}

void flashtile::runPrograms(const CompiledKernel &kernel,
                            const std::array<int64_t, 3> &grid,
                            const void *const *arguments) {
  if (grid[0] == 0 || grid[1] == 0 || grid[2] == 0)
    return;
  int64_t programs = grid[0];
  if (__builtin_mul_overflow(programs, grid[1], &programs) ||
      __builtin_mul_overflow(programs, grid[2], &programs))
    throw Error(ErrorCode::InvalidArgument,
                "kernel '" + kernel.info.name +
                    "': expected a grid of at most "
                    "9223372036854775807 programs, but got " +
                    std::to_string(grid[0]) + " x " + std::to_string(grid[1]) +
                    " x " + std::to_string(grid[2]));
  const Launch launch{kernel, grid, arguments};
  if (programs == 1)
    return launch.runChunk(0, 1);

  ThreadPool &pool = ThreadPool::global();
  const int64_t workers = pool.workerCount();
  // Several chunks for each thread even out programs that take unequal time.
  const int64_t chunks = workers == 1 ? 1 : std::min(programs, workers * 16);
  const int64_t size = programs / chunks, longer = programs % chunks;
  pool.parallelFor(chunks, [&](int64_t index, unsigned) {
    const int64_t begin = index * size + std::min(index, longer);
    launch.runChunk(begin, begin + size + (index < longer ? 1 : 0));
  });
}
