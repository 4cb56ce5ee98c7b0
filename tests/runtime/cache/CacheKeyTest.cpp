//===- CacheKeyTest.cpp - What tells compiled code apart ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/CodeGenerator.h"
#include "compiler/Driver/CompilerOptions.h"
#include "compiler/Driver/Digest.h"
#include "runtime/BuildId.h"
#include "runtime/EnvOptions.h"
#include "runtime/KernelCache.h"

#include <gmock/gmock.h>
#include <set>

using namespace flashtile;

TEST(DigestTest, KnownValue) {
  // BLAKE3 of the empty input, from its specification.
  EXPECT_EQ(hexText(digest({})),
            "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
}

TEST(DigestTest, FieldsDoNotRunTogether) {
  const std::string zeros(8, '\0');
  const std::set<Digest> digests = {
      digest({}),
      digest({""}),
      digest({"", ""}),
      digest({"abc"}),
      digest({"a", "bc"}),
      digest({"ab", "c"}),
      digest({"abc", ""}),
      digest({"", "abc"}),
      digest({zeros}),
      digest({zeros, ""}),
      digest({"1:a"}),
      digest({"1", "a"}),
      digest({"a", "b", "c"}),
  };
  EXPECT_EQ(digests.size(), 13u);
}

/// Options that differ from the default in one field each.
static std::vector<CompilerOptions> variants() {
  std::vector<CompilerOptions> all(10);
  for (CompilerOptions &options : all) {
    // A field that is added does not compile here: vary it below if it changes
    // code.
    auto &[target, cpu, verifyEach, numWarps, numStages, plain, persistent,
           programsAtOnce, dumpFolder] = options;
    switch (&options - all.data()) {
    case 1:
      target = "cuda";
      break;
    case 2:
      cpu = "x86-64-v3";
      break;
    case 3:
      verifyEach = !verifyEach;
      break;
    case 4:
      cpu = "x86-64-v2";
      break;
    case 5:
      numWarps = 8;
      break;
    case 6:
      numStages = 3;
      break;
    case 7:
      plain = true;
      break;
    case 8:
      persistent = "off";
      break;
    case 9:
      programsAtOnce = 2;
      break;
    }
    dumpFolder = "changes no code";
  }
  return all;
}

TEST(CacheKeyTest, EveryOptionChangesTheKey) {
  std::set<std::string> hashes;
  std::set<Digest> keys;
  for (const CompilerOptions &options : variants()) {
    hashes.insert(options.hash());
    keys.insert(kernelCacheKey(options, "", "a.mlir", "text"));
  }
  EXPECT_EQ(hashes.size(), variants().size());
  EXPECT_EQ(keys.size(), variants().size());
  EXPECT_EQ(CompilerOptions().hash(), variants()[0].hash());
}

TEST(CacheKeyTest, OptionsDoNotRunTogether) {
  auto hash = [](const char *target, const char *cpu) {
    CompilerOptions options;
    options.target = target;
    options.cpu = cpu;
    return options.hash();
  };
  EXPECT_NE(hash("a", "bc"), hash("ab", "c"));
  EXPECT_NE(hash("abc", ""), hash("", "abc"));
  // The host under its own name is compiled without its list of features.
  const std::string host = hostProcessor();
  EXPECT_NE(hash("cpu", "host"), hash("cpu", host.c_str()));
  EXPECT_NE(hash("cpu", "host"),
            hash("cpu", host.substr(0, host.find(' ')).c_str()));
}

TEST(CacheKeyTest, EveryPartChangesTheKey) {
  const CompilerOptions options;
  const std::set<Digest> keys = {
      kernelCacheKey(options, "", "a", "bc"),
      kernelCacheKey(options, "", "ab", "c"),
      kernelCacheKey(options, "a", "", "bc"),
      kernelCacheKey(options, "a", "b", "c"),
      kernelCacheKey(options, "", "", "abc"),
      kernelCacheKey(options, "", "", "abc "),
  };
  EXPECT_EQ(keys.size(), 6u);
  EXPECT_EQ(kernelCacheKey(options, "a", "b", "c"),
            kernelCacheKey(CompilerOptions(), "a", "b", "c"));
}

TEST(CacheKeyTest, TheCompilerIsIdentified) {
  EXPECT_EQ(std::string(compilerBuildId).size(), 64u);
  // A version, and the build id that linkers give to libraries by default.
  EXPECT_THAT(llvmIdentity(),
              testing::MatchesRegex("[0-9]+\\.[0-9.]+ [0-9A-F]+"));
  EXPECT_THAT(hostProcessor(), testing::MatchesRegex("[^ ]+ .*[+].*"));
}

TEST(CacheKeyTest, FolderOfTheCache) {
  auto folder = [](bool on, const char *given, const char *xdg,
                   const char *home) {
    auto set = [](const char *name, const char *value) {
      value ? setenv(name, value, 1) : unsetenv(name);
    };
    const char *before = std::getenv("HOME");
    const std::string savedHome = before ? before : "";
    set("FLASHTILE_CACHE", on ? "on" : "off");
    set("FLASHTILE_CACHE_DIR", given);
    set("XDG_CACHE_HOME", xdg);
    set("HOME", home);
    const std::string result = EnvOptions::read().kernelCacheFolder();
    set("FLASHTILE_CACHE", "off");
    set("FLASHTILE_CACHE_DIR", nullptr);
    set("XDG_CACHE_HOME", nullptr);
    set("HOME", savedHome.c_str());
    return result;
  };
  EXPECT_EQ(folder(true, "/given", "/xdg", "/home/me"), "/given");
  EXPECT_EQ(folder(true, nullptr, "/xdg", "/home/me"), "/xdg/flashtile");
  EXPECT_EQ(folder(true, nullptr, nullptr, "/home/me"),
            "/home/me/.cache/flashtile");
  EXPECT_EQ(folder(true, nullptr, "not/absolute", "/home/me"),
            "/home/me/.cache/flashtile");
  EXPECT_EQ(folder(true, nullptr, nullptr, nullptr), "");
  EXPECT_EQ(folder(true, nullptr, "", ""), "");
  EXPECT_EQ(folder(false, "/given", "/xdg", "/home/me"), "");
}
