//===- EnvOptionsTest.cpp - The environment variables ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/EnvOptions.h"

#include "runtime/ThreadPool.h"
#include "tests/runtime/ExpectError.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

using namespace flashtile;

namespace {

class EnvOptionsTest : public testing::Test {
protected:
  void SetUp() override { clear(); }
  void TearDown() override { clear(); }
  static void clear() {
    for (const EnvOptionInfo &option : envOptionTable())
      unsetenv(option.name);
  }
};

} // namespace

TEST_F(EnvOptionsTest, UnsetOrEmptyMeansTheDefault) {
  setenv("FLASHTILE_NUM_THREADS", "", 1);
  setenv("FLASHTILE_TIMING", "", 1);
  const EnvOptions options = EnvOptions::read();
  EXPECT_EQ(options.numThreads, 0u);
  EXPECT_FALSE(options.timing);
  EXPECT_EQ(options.dumpDir, "");
  EXPECT_EQ(options.cacheDir, "");
  EXPECT_TRUE(options.cache);
  EXPECT_EQ(options.cacheSize, uint64_t{1} << 30);
}

TEST_F(EnvOptionsTest, ReadsValues) {
  setenv("FLASHTILE_NUM_THREADS", "3", 1);
  setenv("FLASHTILE_DUMP_DIR", "/tmp/a b", 1);
  setenv("FLASHTILE_CACHE_DIR", "cache", 1);
  setenv("FLASHTILE_TIMING", "on", 1);
  const EnvOptions options = EnvOptions::read();
  EXPECT_EQ(options.numThreads, 3u);
  EXPECT_EQ(options.dumpDir, "/tmp/a b");
  EXPECT_EQ(options.cacheDir, "cache");
  EXPECT_TRUE(options.timing);
  EXPECT_EQ(ThreadPool::defaultWorkerCount(), 3u);
}

TEST_F(EnvOptionsTest, BadCountNamesVariableValueAndRange) {
  for (const char *value :
       {"-1", "4097", "two", "2x", " 2", "1e3", "99999999999999999999"}) {
    setenv("FLASHTILE_NUM_THREADS", value, 1);
    EXPECT_ERROR(InvalidArgument,
                 "FLASHTILE_NUM_THREADS to be an integer from 0 to 4096, but "
                 "got '" +
                     std::string(value) + "'",
                 EnvOptions::read());
  }
}

TEST_F(EnvOptionsTest, NumbersOfBytesHaveUnits) {
  const std::pair<const char *, uint64_t> good[] = {
      {"0", 0},
      {"1000", 1000},
      {"7K", 7 << 10},
      {"16M", 16 << 20},
      {"3G", uint64_t{3} << 30},
      {"2T", uint64_t{2} << 40},
      {"18446744073709551615", UINT64_MAX},
      {"16777215T", uint64_t{16777215} << 40},
  };
  for (const auto &[text, bytes] : good) {
    setenv("FLASHTILE_CACHE_SIZE", text, 1);
    EXPECT_EQ(EnvOptions::read().cacheSize, bytes) << text;
  }
  for (const char *text : {"K", "1KB", "1k", "-1", "1.5G", " 1", "much",
                           "18446744073709551616", "16777216T"}) {
    setenv("FLASHTILE_CACHE_SIZE", text, 1);
    EXPECT_ERROR(InvalidArgument,
                 "FLASHTILE_CACHE_SIZE to be a number of bytes, with K, M, G "
                 "or T behind it for powers of 1024, but got '" +
                     std::string(text) + "'",
                 EnvOptions::read());
  }
}

TEST_F(EnvOptionsTest, BadSwitchNamesWhatIsAllowed) {
  setenv("FLASHTILE_TIMING", "2", 1);
  EXPECT_ERROR(InvalidArgument, "FLASHTILE_TIMING to be 1, on,",
               EnvOptions::read());
  for (const char *value : {"0", "off", "false", "no"}) {
    setenv("FLASHTILE_TIMING", value, 1);
    EXPECT_FALSE(EnvOptions::read().timing) << value;
  }
}

TEST_F(EnvOptionsTest, WordsAreOfAList) {
  for (auto [name, message] :
       {std::pair("FLASHTILE_PERSISTENT",
                  "FLASHTILE_PERSISTENT to be auto, off, static or dynamic, "
                  "but got 'foo'"),
        std::pair("FLASHTILE_CUDA_TARGET",
                  "FLASHTILE_CUDA_TARGET to be sm_80 or sm_90a, but got "
                  "'foo'"),
        std::pair("FLASHTILE_PROGRAMS_AT_ONCE",
                  "FLASHTILE_PROGRAMS_AT_ONCE to be 0, 1, 2 or 3, but got "
                  "'foo'")}) {
    setenv(name, "foo", 1);
    EXPECT_ERROR(InvalidArgument, message, EnvOptions::read());
    unsetenv(name);
  }
  setenv("FLASHTILE_PROGRAMS_AT_ONCE", "4", 1);
  EXPECT_ERROR(InvalidArgument, "0, 1, 2 or 3, but got '4'",
               EnvOptions::read());
  setenv("FLASHTILE_PROGRAMS_AT_ONCE", "3", 1);
  setenv("FLASHTILE_PERSISTENT", "dynamic", 1);
  EXPECT_EQ(EnvOptions::read().programsAtOnce.count, 3u);
  EXPECT_EQ(EnvOptions::read().persistent.text, "dynamic");
}

TEST_F(EnvOptionsTest, TableIsSortedAndDocumented) {
  const auto &table = envOptionTable();
  EXPECT_TRUE(std::is_sorted(table.begin(), table.end(), [](auto &a, auto &b) {
    return std::strcmp(a.name, b.name) < 0;
  }));
  for (const EnvOptionInfo &option : table) {
    EXPECT_EQ(std::string(option.name).rfind("FLASHTILE_", 0), 0u);
    EXPECT_EQ(std::string(option.doc).back(), '.') << option.name;
  }
}

TEST_F(EnvOptionsTest, CacheKeyHoldsWhatChangesCode) {
  const auto &table = envOptionTable();
  const auto lines =
      std::count_if(table.begin(), table.end(),
                    [](auto &option) { return option.isInCacheKey; });
  const std::string key = EnvOptions::read().cacheKey();
  EXPECT_EQ(std::count(key.begin(), key.end(), '\n'), lines);
  setenv("FLASHTILE_NUM_THREADS", "5", 1);
  EXPECT_EQ(EnvOptions::read().cacheKey(), key);
}
