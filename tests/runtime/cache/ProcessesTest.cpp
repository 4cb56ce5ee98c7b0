//===- ProcessesTest.cpp - Several processes and one cache ----------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tests/runtime/TemporaryFolder.h"

#include <gmock/gmock.h>

#include <csignal>
#include <functional>
#include <vector>

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace flashtile;
using testing::HasSubstr;
using testing::Not;
namespace fs = std::filesystem;

namespace {

/// A run of cache-compile, started by the constructor.
class Process {
public:
  /// `prepare` runs in the child before the program.
  Process(const TemporaryFolder &outputs, const std::string &cache,
          std::vector<std::string> arguments,
          const std::function<void()> &prepare = {})
      : outputs(outputs), name("process-" + std::to_string(outputs.size())) {
    // Allocated before the fork, and files there for size() to count.
    const std::string out = outputs.file(name + ".out");
    const std::string err = outputs.file(name + ".err");
    outputs.write(name + ".out", "");
    std::vector<char *> argv = {program.data()};
    for (std::string &argument : arguments)
      argv.push_back(argument.data());
    argv.push_back(nullptr);
    child = fork();
    if (child != 0)
      return;
    dup2(open(out.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 1);
    dup2(open(err.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600), 2);
    setenv("FLASHTILE_CACHE_DIR", cache.c_str(), 1);
    if (prepare)
      prepare();
    execv(argv[0], argv.data());
    _exit(127);
  }

  /// Waits for the end, however it comes.
  void waitForAnyEnd() const {
    int status = -1;
    waitpid(child, &status, 0);
  }
  /// Waits for the end and expects success. Gives back the output.
  std::string finish() {
    int status = -1;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), 0);
    return outputs.read(name + ".out");
  }
  std::string errors() const { return outputs.read(name + ".err"); }

private:
  std::string program = FLASHTILE_CACHE_COMPILE;
  const TemporaryFolder &outputs;
  const std::string name;
  pid_t child = -1;
};

class ProcessesTest : public testing::Test {
protected:
  Process start(std::vector<std::string> arguments,
                const std::function<void()> &prepare = {}) {
    return Process(outputs, cache.file("below/cache"), std::move(arguments),
                   prepare);
  }
  /// Files of the cache; fails for any that is no entry.
  size_t entries() const {
    size_t count = 0;
    for (const auto &file : fs::directory_iterator(cache.file("below/cache"))) {
      EXPECT_EQ(file.path().extension(), ".kernel") << file.path();
      ++count;
    }
    return count;
  }

  TemporaryFolder outputs, cache;
};

size_t occurrences(const std::string &text, const std::string &part) {
  size_t count = 0;
  for (size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at)
    ++count;
  return count;
}

} // namespace

TEST_F(ProcessesTest, TheSecondLoadsWhatTheFirstCompiled) {
  Process first = start({"1", "2"});
  EXPECT_EQ(occurrences(first.finish(), " compiled "), 2u);
  Process second = start({"1", "2", "3"});
  const std::string output = second.finish();
  EXPECT_THAT(output, HasSubstr("1 cached "));
  EXPECT_THAT(output, HasSubstr("2 cached "));
  EXPECT_THAT(output, HasSubstr("3 compiled "));
  EXPECT_EQ(first.errors() + second.errors(), "");
  EXPECT_EQ(entries(), 3u);
}

TEST_F(ProcessesTest, EightAtOnce) {
  // The same kernel first, then each its own, then those of the others.
  for (int round = 0; round < 2; ++round) {
    std::vector<Process> all;
    all.reserve(8);
    for (int i = 0; i < 8; ++i) {
      std::vector<std::string> arguments = {"100"};
      for (int k = 0; k < 8; ++k)
        arguments.push_back(std::to_string((i + k) % 8));
      all.push_back(start(arguments));
    }
    for (Process &process : all) {
      const std::string output = process.finish();
      EXPECT_EQ(occurrences(output, " ms\n"), 9u);
      EXPECT_EQ(process.errors(), "");
      if (round == 1)
        EXPECT_THAT(output, Not(HasSubstr("compiled")));
    }
    EXPECT_EQ(entries(), 9u);
  }
}

TEST_F(ProcessesTest, EightAtOnceInASmallCache) {
  std::vector<Process> all;
  all.reserve(8);
  for (int i = 0; i < 8; ++i) {
    std::vector<std::string> arguments;
    for (int k = 0; k < 12; ++k)
      arguments.push_back(std::to_string((i + k) % 6));
    all.push_back(
        start(arguments, [] { setenv("FLASHTILE_CACHE_SIZE", "7K", 1); }));
  }
  for (Process &process : all) {
    process.finish();
    EXPECT_EQ(process.errors(), "");
  }
  EXPECT_LE(entries(), 6u);
}

TEST_F(ProcessesTest, AFullDiskIsOneWarning) {
  // Files may have half a KiB: each write to an entry fails in the middle.
  Process process = start({"1", "2", "3"}, [] {
    std::signal(SIGXFSZ, SIG_IGN);
    const rlimit limit = {512, 512};
    setrlimit(RLIMIT_FSIZE, &limit);
  });
  EXPECT_EQ(occurrences(process.finish(), " compiled "), 3u);
  EXPECT_EQ(occurrences(process.errors(), "warning"), 1u);
  EXPECT_THAT(process.errors(), HasSubstr("kernels are not kept on disk"));
  EXPECT_EQ(entries(), 0u);
}

TEST_F(ProcessesTest, AFullFileSystemIsOneWarning) {
  // 1 MiB, all but filled; in a mount namespace of the child's own.
  const std::string folder = cache.file("below/cache");
  fs::create_directories(folder);
  outputs.write("mounted", "");
  const std::string mark = outputs.file("mounted");
  Process process = start({"1", "2"}, [&] {
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
        mount("tmpfs", folder.c_str(), "tmpfs", 0, "size=1m,mode=700") != 0)
      return;
    const int filler =
        open((folder + "/filler").c_str(), O_WRONLY | O_CREAT, 0600);
    const std::vector<char> block(4096);
    while (write(filler, block.data(), block.size()) > 0) {
    }
    close(filler);
    close(open(mark.c_str(), O_WRONLY | O_TRUNC));
    if (truncate(mark.c_str(), 1) != 0)
      _exit(126);
  });
  const std::string output = process.finish();
  if (outputs.read("mounted").empty())
    GTEST_SKIP() << "no right to mount";
  EXPECT_EQ(occurrences(output, " compiled "), 2u);
  EXPECT_EQ(occurrences(process.errors(), "warning"), 1u);
  EXPECT_THAT(process.errors(), HasSubstr("No space left on device"));
}

TEST_F(ProcessesTest, AReadOnlyFolderIsReadAndWarnsOnce) {
  start({"1"}).finish();
  const std::string folder = cache.file("below/cache");
  outputs.write("mounted", "");
  const std::string mark = outputs.file("mounted");
  // Root writes to any folder, but not to a file system mounted read-only.
  Process process = start({"1", "2", "3"}, [&] {
    if (geteuid() != 0) {
      chmod(folder.c_str(), 0500);
    } else if (unshare(CLONE_NEWNS) != 0 ||
               mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0 ||
               mount(folder.c_str(), folder.c_str(), nullptr, MS_BIND,
                     nullptr) != 0 ||
               mount("none", folder.c_str(), nullptr,
                     MS_REMOUNT | MS_BIND | MS_RDONLY, nullptr) != 0) {
      return;
    }
    if (truncate(mark.c_str(), 1) != 0)
      _exit(126);
  });
  const std::string output = process.finish();
  chmod(folder.c_str(), 0700);
  if (outputs.read("mounted").empty())
    GTEST_SKIP() << "no right to mount";
  EXPECT_THAT(output, HasSubstr("1 cached "));
  EXPECT_EQ(occurrences(output, " compiled "), 2u);
  EXPECT_EQ(occurrences(process.errors(), "warning"), 1u);
}

TEST_F(ProcessesTest, NoHomeIsNoCache) {
  Process process = start({"1"}, [] {
    unsetenv("FLASHTILE_CACHE_DIR");
    unsetenv("XDG_CACHE_HOME");
    unsetenv("HOME");
  });
  EXPECT_THAT(process.finish(), HasSubstr("1 compiled "));
  EXPECT_EQ(process.errors(), "");
}

TEST_F(ProcessesTest, AKilledWriterHarmsNobody) {
  for (int round = 0; round < 5; ++round) {
    std::vector<Process> all;
    all.reserve(3);
    for (int i = 0; i < 3; ++i)
      all.push_back(start({std::to_string(round), "50", "51"}, [&] {
        // A write beyond the limit kills: SIGXFSZ is not ignored.
        const rlimit size = {700, 700};
        if (i == 0)
          setrlimit(RLIMIT_FSIZE, &size);
      }));
    for (size_t i = 0; i < all.size(); ++i)
      if (i > 0)
        all[i].finish();
      else
        all[i].waitForAnyEnd();
  }
  Process last = start({"0", "1", "2", "3", "4", "50", "51"});
  EXPECT_EQ(occurrences(last.finish(), " cached "), 7u);
}
