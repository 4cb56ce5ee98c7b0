//===- ChildProcess.cpp - Processes for what ends a process ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A scenario is named by its address, which is the same in all processes. The
// server ends when the pipe of requests does, and so with the tests.
//
//===----------------------------------------------------------------------===//

#include "tests/gpu/ChildProcess.h"

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <sys/wait.h>
#include <unistd.h>

using namespace flashtile;

using Scenario = void (*)();

namespace {
struct Pipe {
  int from = -1, to = -1;

  Pipe() {
    std::array<int, 2> ends{};
    if (pipe(ends.data()) != 0) {
      std::perror("pipe");
      std::abort();
    }
    from = ends[0];
    to = ends[1];
  }
};

/// Of a child, as the server reports it; the text follows.
struct Reply {
  int exitCode;
  size_t textSize;
};
} // namespace

/// To the server and back, in the process of the tests.
static int requests = -1, replies = -1;

/// Reads or writes until all is done; false where the other end is closed
/// before that.
template <typename Byte, typename Call>
static bool transferAll(Call call, int file, Byte *at, size_t size) {
  while (size > 0) {
    const ssize_t count = call(file, at, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    at += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

static bool readAll(int file, void *data, size_t size) {
  return transferAll(read, file, static_cast<char *>(data), size);
}

static bool writeAll(int file, const void *data, size_t size) {
  return transferAll(write, file, static_cast<const char *>(data), size);
}

static ChildResult forkAndWait(Scenario scenario, int request, int reply) {
  const Pipe text;
  const pid_t child = fork();
  if (child == 0) {
    close(request);
    close(reply);
    close(text.from);
    dup2(text.to, STDERR_FILENO);
    close(text.to);
    scenario();
    std::exit(0);
  }
  close(text.to);
  ChildResult result;
  char next = 0;
  while (readAll(text.from, &next, 1))
    result.errors += next;
  close(text.from);
  int status = 0;
  if (child > 0 && waitpid(child, &status, 0) == child)
    result.exitCode =
        WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  return result;
}

[[noreturn]] static void serve(int request, int reply) {
  Scenario scenario = nullptr;
  while (readAll(request, &scenario, sizeof scenario)) {
    const ChildResult result = forkAndWait(scenario, request, reply);
    const Reply header = {result.exitCode, result.errors.size()};
    if (!writeAll(reply, &header, sizeof header) ||
        !writeAll(reply, result.errors.data(), result.errors.size()))
      break;
  }
  _exit(0);
}

void flashtile::startChildServer() {
  const Pipe request, reply;
  const pid_t server = fork();
  if (server < 0) {
    std::perror("fork");
    std::abort();
  }
  if (server == 0) {
    close(request.to);
    close(reply.from);
    serve(request.from, reply.to);
  }
  close(request.from);
  close(reply.to);
  requests = request.to;
  replies = reply.from;
}

ChildResult flashtile::runInChild(Scenario scenario) {
  static std::mutex mutex;
  const std::lock_guard<std::mutex> lock(mutex);
  ChildResult result;
  Reply header{};
  if (!writeAll(requests, &scenario, sizeof scenario) ||
      !readAll(replies, &header, sizeof header)) {
    result.errors = "the server of child processes is gone";
    return result;
  }
  result.exitCode = header.exitCode;
  result.errors.resize(header.textSize);
  if (!readAll(replies, result.errors.data(), header.textSize))
    result.errors = "the server of child processes is gone";
  return result;
}
