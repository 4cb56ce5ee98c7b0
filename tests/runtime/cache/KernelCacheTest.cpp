//===- KernelCacheTest.cpp - The folder of compiled code ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/KernelCache.h"

#include "tests/runtime/TemporaryFolder.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace flashtile;
using testing::Optional;
namespace fs = std::filesystem;

namespace {

constexpr uint64_t mebibyte = 1 << 20;
constexpr uint64_t headerBytes = 84;

class KernelCacheTest : public testing::Test {
protected:
  KernelCache make(uint64_t capacity = mebibyte) {
    return KernelCache(folder.file("cache"), capacity,
                       [this](const std::string &text) { warning += text; });
  }
  size_t files() const {
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder.file("cache")), {}));
  }

  TemporaryFolder folder;
  std::string warning;
};

Digest keyOf(int number) { return digest({std::to_string(number)}); }

std::string contentOf(const std::string &path) {
  std::ifstream stream(path, std::ios::binary);
  return std::string(std::istreambuf_iterator<char>(stream), {});
}

void setContent(const std::string &path, const std::string &content) {
  fs::remove(path); // file systems flush a file that is cut and written again
  std::ofstream(path, std::ios::binary) << content;
}

/// Makes a file look as if it was last used `seconds` ago.
void age(const std::string &path, int seconds) {
  const timespec time = {std::time(nullptr) - seconds, 0};
  const timespec times[2] = {time, time};
  ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW), 0);
}

time_t lastUse(const std::string &path) {
  struct stat status = {};
  stat(path.c_str(), &status);
  return status.st_mtime;
}

} // namespace

TEST_F(KernelCacheTest, KeepsWhatIsStored) {
  KernelCache cache = make();
  EXPECT_EQ(cache.find(keyOf(1)), std::nullopt);
  for (const std::string &payload :
       {std::string("payload"), std::string(), std::string("\0\n\xff", 3),
        std::string(100000, 'x')}) {
    EXPECT_TRUE(cache.store(keyOf(1), payload));
    EXPECT_THAT(cache.find(keyOf(1)), Optional(payload));
    EXPECT_EQ(make().find(keyOf(2)), std::nullopt);
  }
  EXPECT_EQ(files(), 1u);
  EXPECT_EQ(warning, "");
}

TEST_F(KernelCacheTest, FilesAreTheUsersAlone) {
  KernelCache cache = make();
  const mode_t mask = umask(0);
  cache.store(keyOf(1), "payload");
  umask(mask);
  struct stat status = {};
  ASSERT_EQ(stat(cache.path(keyOf(1)).c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  ASSERT_EQ(stat(folder.file("cache").c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST_F(KernelCacheTest, AnyChangeOfTheFileIsAMissThatHeals) {
  KernelCache cache = make();
  const std::string payload = "some payload";
  cache.store(keyOf(1), payload);
  const std::string path = cache.path(keyOf(1));
  const std::string whole = contentOf(path);
  ASSERT_EQ(whole.size(), headerBytes + payload.size());
  auto expectMiss = [&](const std::string &content) {
    setContent(path, content);
    EXPECT_EQ(cache.find(keyOf(1)), std::nullopt) << content;
  };
  for (size_t size = 0; size < whole.size(); ++size)
    expectMiss(whole.substr(0, size));
  for (size_t at = 0; at < whole.size(); ++at)
    for (int bit = 0; bit < 8; ++bit) {
      std::string flipped = whole;
      flipped[at] ^= static_cast<char>(1 << bit);
      expectMiss(flipped);
    }
  for (const std::string &content :
       {std::string(), whole.substr(0, whole.size() / 2), whole + '\0',
        std::string("#!/bin/sh\nfrom elsewhere\n"),
        std::string(whole.size(), '\0')}) {
    expectMiss(content);
    EXPECT_TRUE(cache.store(keyOf(1), payload));
    EXPECT_THAT(cache.find(keyOf(1)), Optional(payload));
  }
  EXPECT_EQ(warning, "");
}

TEST_F(KernelCacheTest, AHugeLengthIsNotBelieved) {
  KernelCache cache = make();
  cache.store(keyOf(1), "payload");
  const std::string path = cache.path(keyOf(1));
  std::string content = contentOf(path);
  const uint64_t size = uint64_t{1} << 40;
  for (size_t i = 0; i < 8; ++i)
    content[44 + i] = static_cast<char>(size >> 8 * i);
  setContent(path, content);
  // A file with a hole, as long as the header says.
  if (truncate(path.c_str(), static_cast<off_t>(headerBytes + size)) != 0)
    GTEST_SKIP() << "no files of a TiB here";
  EXPECT_EQ(cache.find(keyOf(1)), std::nullopt);
}

TEST_F(KernelCacheTest, ARenamedEntryIsAMiss) {
  KernelCache cache = make();
  cache.store(keyOf(1), "one");
  fs::rename(cache.path(keyOf(1)), cache.path(keyOf(2)));
  EXPECT_EQ(cache.find(keyOf(2)), std::nullopt);
}

TEST_F(KernelCacheTest, WhatIsNoFileIsAMissThatHeals) {
  KernelCache cache = make();
  const std::string path = cache.path(keyOf(1));
  auto expectMissThatHeals = [&] {
    EXPECT_EQ(cache.find(keyOf(1)), std::nullopt);
    EXPECT_TRUE(cache.store(keyOf(1), "payload"));
    EXPECT_THAT(cache.find(keyOf(1)), Optional(std::string("payload")));
    fs::remove(path);
  };
  fs::create_directories(path);
  expectMissThatHeals();
  fs::create_symlink("nowhere", path);
  expectMissThatHeals();
  // The link goes, and what it leads to stays as it was.
  folder.write("precious", "content");
  fs::create_symlink(folder.file("precious"), path);
  expectMissThatHeals();
  EXPECT_EQ(folder.read("precious"), "content");
  EXPECT_EQ(warning, "");
}

TEST_F(KernelCacheTest, APipeNeitherBlocksNorWarnsTwice) {
  KernelCache cache = make();
  cache.store(keyOf(2), "other");
  ASSERT_EQ(mkfifo(cache.path(keyOf(1)).c_str(), 0600), 0);
  EXPECT_EQ(cache.find(keyOf(1)), std::nullopt);
  EXPECT_FALSE(cache.store(keyOf(1), "payload"));
  EXPECT_THAT(warning, testing::HasSubstr("not a regular file"));
}

TEST_F(KernelCacheTest, AFolderWithContentIsLeftAlone) {
  KernelCache cache = make();
  const std::string path = cache.path(keyOf(1));
  fs::create_directories(path + "/content");
  EXPECT_EQ(cache.find(keyOf(1)), std::nullopt);
  EXPECT_FALSE(cache.store(keyOf(1), "payload"));
  EXPECT_TRUE(fs::exists(path + "/content"));
  EXPECT_THAT(warning, testing::HasSubstr("kernels are not kept on disk"));
}

TEST_F(KernelCacheTest, CodeThatOthersCouldHaveWrittenIsAMiss) {
  KernelCache cache = make();
  const std::string path = cache.path(keyOf(1));
  for (const mode_t mode : {0620u, 0602u, 0666u}) {
    cache.store(keyOf(1), "payload");
    ASSERT_EQ(chmod(path.c_str(), mode), 0);
    EXPECT_EQ(cache.find(keyOf(1)), std::nullopt) << mode;
  }
  cache.store(keyOf(1), "payload");
  chmod(path.c_str(), 0644);
  EXPECT_THAT(cache.find(keyOf(1)), Optional(std::string("payload")));
  if (chown(path.c_str(), 12345, static_cast<gid_t>(-1)) == 0 &&
      geteuid() != 12345) {
    EXPECT_EQ(cache.find(keyOf(1)), std::nullopt);
    EXPECT_TRUE(cache.store(keyOf(1), "mine"));
    EXPECT_THAT(cache.find(keyOf(1)), Optional(std::string("mine")));
  }
}

TEST_F(KernelCacheTest, AFolderThatCannotBeWrittenWarnsOnce) {
  folder.write("file", "");
  int warnings = 0;
  KernelCache cache(
      folder.file("file/below"), mebibyte, [&](const std::string &text) {
        ++warnings;
        EXPECT_THAT(text, testing::HasSubstr("Not a directory"));
        EXPECT_THAT(text, testing::HasSubstr("FLASHTILE_CACHE_DIR"));
      });
  for (int i = 0; i < 3; ++i) {
    EXPECT_FALSE(cache.store(keyOf(i), "payload"));
    EXPECT_EQ(cache.find(keyOf(i)), std::nullopt);
  }
  EXPECT_EQ(warnings, 1);
}

TEST_F(KernelCacheTest, AFailedWriteLeavesNothing) {
  KernelCache cache = make();
  cache.store(keyOf(2), "other");
  fs::create_directories(cache.path(keyOf(1)) + "/content");
  cache.store(keyOf(1), "payload");
  EXPECT_EQ(files(), 2u);
}

TEST_F(KernelCacheTest, ARelativeFolderStaysWhereItWas) {
  const fs::path before = fs::current_path();
  fs::current_path(folder.file(""));
  KernelCache cache("cache", mebibyte);
  fs::current_path(before);
  cache.store(keyOf(1), "payload");
  EXPECT_EQ(files(), 1u);
}

TEST_F(KernelCacheTest, OneCacheForEachFolder) {
  EXPECT_EQ(KernelCache::open("", 1), nullptr);
  const auto cache = KernelCache::open(folder.file("a"), 1);
  EXPECT_EQ(KernelCache::open(folder.file("a"), 1), cache);
  EXPECT_NE(KernelCache::open(folder.file("b"), 1), cache);
  EXPECT_NE(KernelCache::open(folder.file("a"), 2), cache);
}

//===----------------------------------------------------------------------===//
// Size
//===----------------------------------------------------------------------===//

TEST_F(KernelCacheTest, AHitMakesAnEntryNewAtMostOnceAMinute) {
  KernelCache cache = make();
  cache.store(keyOf(1), "payload");
  const std::string path = cache.path(keyOf(1));
  const time_t now = std::time(nullptr);
  age(path, 30);
  cache.find(keyOf(1));
  EXPECT_LE(lastUse(path), now - 29);
  age(path, 100);
  cache.find(keyOf(1));
  EXPECT_GE(lastUse(path), now);
  age(path, -1000); // in the future, it would never become old
  cache.find(keyOf(1));
  EXPECT_LE(lastUse(path), std::time(nullptr));
}

TEST_F(KernelCacheTest, RemovesWhatWasUnusedForLongest) {
  const std::string payload(1000 - headerBytes, 'x');
  KernelCache cache = make(10000);
  for (int i = 0; i < 10; ++i) {
    EXPECT_TRUE(cache.store(keyOf(i), payload));
    age(cache.path(keyOf(i)), 1000 - i);
  }
  EXPECT_EQ(files(), 10u);
  cache.find(keyOf(0)); // and so is the one used last
  EXPECT_TRUE(cache.store(keyOf(10), payload));
  EXPECT_EQ(files(), 8u);
  for (const int kept : {0, 4, 5, 6, 7, 8, 9, 10})
    EXPECT_NE(cache.find(keyOf(kept)), std::nullopt) << kept;
}

TEST_F(KernelCacheTest, NeverGrowsBeyondItsCapacity) {
  KernelCache cache = make(10000);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(cache.store(keyOf(i), std::string(100 + 37 * (i % 13), 'x')));
    uint64_t bytes = 0;
    for (const auto &entry : fs::directory_iterator(folder.file("cache")))
      bytes += entry.file_size();
    EXPECT_LE(bytes, 10000u);
    EXPECT_NE(cache.find(keyOf(i)), std::nullopt);
  }
}

TEST_F(KernelCacheTest, WhatOthersStoredCountsToo) {
  const std::string payload(1000 - headerBytes, 'x');
  for (int i = 0; i < 20; ++i)
    make(100000).store(keyOf(i), payload);
  make(10000).store(keyOf(20), payload);
  EXPECT_EQ(files(), 8u);
}

TEST_F(KernelCacheTest, AnEntryLargerThanTheCacheIsNotStored) {
  EXPECT_FALSE(make(100).store(keyOf(1), std::string(100, 'x')));
  EXPECT_FALSE(make(0).store(keyOf(1), ""));
  EXPECT_EQ(warning, "");
}

TEST_F(KernelCacheTest, ForeignFilesAreNeitherCountedNorRemoved) {
  KernelCache cache = make(2000);
  const std::string name = fs::path(cache.path(keyOf(1))).filename().string();
  const std::vector<std::string> foreign = {
      "notes.txt",          "x.kernel",     name + ".bak",
      "x" + name.substr(1), name.substr(1), "." + name};
  fs::create_directories(folder.file("cache"));
  for (const std::string &file : foreign) {
    folder.write("cache/" + file, std::string(5000, 'x'));
    age(folder.file("cache/" + file), 100000);
  }
  for (int i = 0; i < 10; ++i)
    EXPECT_TRUE(cache.store(keyOf(i), std::string(500, 'x')));
  for (const std::string &file : foreign)
    EXPECT_TRUE(fs::exists(folder.file("cache/" + file))) << file;
}

TEST_F(KernelCacheTest, LeftoversOfKilledWritersGoAfterAnHour) {
  KernelCache cache = make();
  fs::create_directories(folder.file("cache"));
  const std::string old = cache.path(keyOf(1)) + ".tmp-123-4";
  const std::string young = cache.path(keyOf(1)) + ".tmp-123-5";
  setContent(old, "half");
  setContent(young, "half");
  age(old, 4000);
  age(young, 3000);
  cache.store(keyOf(2), "payload");
  EXPECT_FALSE(fs::exists(old));
  EXPECT_TRUE(fs::exists(young));
}

TEST_F(KernelCacheTest, PruningIsLeftToWhoeverIsAtIt) {
  make().store(keyOf(0), "x");
  const int other = open(folder.file("cache").c_str(), O_RDONLY);
  ASSERT_EQ(flock(other, LOCK_EX), 0);
  const std::string payload(1000 - headerBytes, 'x');
  KernelCache cache = make(5000);
  for (int i = 1; i <= 10; ++i)
    EXPECT_TRUE(cache.store(keyOf(i), payload));
  EXPECT_EQ(files(), 11u);
  close(other);
  EXPECT_TRUE(cache.store(keyOf(11), payload));
  EXPECT_LE(files(), 5u);
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

TEST_F(KernelCacheTest, ReadersSeeWholeEntriesWhileOthersWriteAndPrune) {
  // Each payload says whose it is: a reader can tell a mixture.
  auto payload = [](int key, int version) {
    return std::string(200 + 100 * static_cast<size_t>(version),
                       static_cast<char>('a' + key));
  };
  std::atomic<bool> stop{false};
  std::atomic<int> hits{0}, wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&, thread] {
      KernelCache cache(folder.file("cache"), 3000); // room for some
      for (int i = 0; i < 100; ++i)
        if (!cache.store(keyOf((i + thread) % 8),
                         payload((i + thread) % 8, i % 5)))
          ++wrong;
    });
  for (int thread = 0; thread < 3; ++thread)
    threads.emplace_back([&] {
      KernelCache cache(folder.file("cache"), 3000);
      for (int i = 0; !stop; ++i) {
        const auto found = cache.find(keyOf(i % 8));
        hits += found.has_value();
        if (found && found->find_first_not_of(static_cast<char>('a' + i % 8)) !=
                         std::string::npos)
          ++wrong;
      }
    });
  for (int thread = 0; thread < 3; ++thread)
    threads[static_cast<size_t>(thread)].join();
  stop = true;
  for (size_t thread = 3; thread < threads.size(); ++thread)
    threads[thread].join();
  EXPECT_EQ(wrong, 0);
  EXPECT_GT(hits, 0);
  for (const auto &entry : fs::directory_iterator(folder.file("cache")))
    EXPECT_EQ(entry.path().extension(), ".kernel") << entry.path();
}
