//===- TuningRecordTest.cpp - Configurations and records as text ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/TuningRecord.h"

#include "tests/runtime/ExpectError.h"

#include <gmock/gmock.h>

using namespace flashtile;

TEST(TuningConfigTest, IsAListOfNamedIntegers) {
  TuningConfig config = {{"block_m", 64}, {"offset", -3}};
  EXPECT_EQ(config.at("block_m"), 64);
  EXPECT_EQ(config.toString(), "block_m=64 offset=-3");
  config.set("offset", 5);
  config.set("numWarps", 8);
  EXPECT_EQ(config.toString(), "block_m=64 offset=5 numWarps=8");
  EXPECT_EQ(TuningConfig::parse(config.toString()), config);
  EXPECT_EQ(TuningConfig::parse(""), TuningConfig());
  EXPECT_ERROR(NotFound, "no 'depth' in the configuration 'block_m=64",
               config.at("depth"));
}

TEST(TuningConfigTest, RefusesNames) {
  EXPECT_ERROR(InvalidArgument, "but got 'two words'",
               TuningConfig({{"two words", 1}}));
  EXPECT_ERROR(InvalidArgument, "but got ''", TuningConfig({{"", 1}}));
  EXPECT_ERROR(InvalidArgument, "'a' is given twice",
               TuningConfig({{"a", 1}, {"a", 1}}));
}

TEST(TuningConfigTest, ParsesNothingElse) {
  for (const char *text :
       {" ", "a", "a=", "=1", "a=1 ", " a=1", "a=1  b=2", "a=1 a=1", "a=01",
        "a=1x", "a=99999999999999999999", "a=+1", "a b=1"})
    EXPECT_EQ(TuningConfig::parse(text), std::nullopt) << text;
}

static TuningResult someResult() {
  TuningResult result;
  TuningTrial slow, failed, fast;
  slow.config = {{"block", 64}};
  slow.milliseconds = 0.1 + 0.2;
  slow.firstMilliseconds = 7;
  failed.config = {{"block", 1 << 20}};
  failed.failure = "k.mlir:1:2: error:\n\ttoo \\large";
  failed.buildMilliseconds = 12.5;
  fast.config = {{"block", 128}};
  fast.milliseconds = 1e-3;
  result.trials = {slow, failed, fast};
  result.best = fast.config;
  result.milliseconds = fast.milliseconds;
  return result;
}

static std::vector<TuningConfig> configsOf(const TuningResult &result) {
  std::vector<TuningConfig> configs;
  for (const TuningTrial &trial : result.trials)
    configs.push_back(trial.config);
  return configs;
}

TEST(TuningRecordTest, RoundTrip) {
  const TuningResult result = someResult();
  const auto read =
      readTuningRecord(writeTuningRecord(result), configsOf(result));
  ASSERT_TRUE(read);
  EXPECT_EQ(read->best, result.best);
  EXPECT_EQ(read->milliseconds, result.milliseconds);
  EXPECT_TRUE(read->fromCache);
  for (size_t i = 0; i < result.trials.size(); ++i) {
    EXPECT_EQ(read->trials[i].failure, result.trials[i].failure);
    EXPECT_EQ(read->trials[i].milliseconds, result.trials[i].milliseconds);
    EXPECT_EQ(read->trials[i].firstMilliseconds,
              result.trials[i].firstMilliseconds);
    EXPECT_EQ(read->trials[i].buildMilliseconds,
              result.trials[i].buildMilliseconds);
  }
}

TEST(TuningRecordTest, AnyOtherTextIsNone) {
  const TuningResult result = someResult();
  const std::string text = writeTuningRecord(result);
  const auto configs = configsOf(result);
  for (size_t length = 0; length < text.size(); ++length)
    EXPECT_FALSE(readTuningRecord(text.substr(0, length), configs)) << length;
  EXPECT_FALSE(readTuningRecord(text + "\n", configs));
  auto fewer = configs;
  fewer.pop_back();
  EXPECT_FALSE(readTuningRecord(text, fewer));
  auto others = configs;
  others[0] = {{"block", 65}};
  EXPECT_FALSE(readTuningRecord(text, others));
  std::string negative = text;
  negative.replace(negative.find("0.3"), 1, "-");
  EXPECT_FALSE(readTuningRecord(negative, configs));
  TuningResult none = result;
  for (TuningTrial &trial : none.trials)
    trial.failure = "broken";
  EXPECT_FALSE(readTuningRecord(writeTuningRecord(none), configs));
}

TEST(TuningResultTest, TextIsSortedByTime) {
  const std::string text = someResult().toString();
  EXPECT_LT(text.find("block=128"), text.find("block=64"));
  EXPECT_LT(text.find("block=64"), text.find("failed"));
  EXPECT_THAT(text, testing::HasSubstr("too \\large"));
}
