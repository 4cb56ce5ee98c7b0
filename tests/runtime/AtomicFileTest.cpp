//===- AtomicFileTest.cpp - Files appear whole or not at all --------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/AtomicFile.h"

#include "tests/runtime/ExpectError.h"
#include "tests/runtime/TemporaryFolder.h"

#include <csignal>

#include <sys/resource.h>

using namespace flashtile;
namespace fs = std::filesystem;

TEST(AtomicFileTest, AppearsOnCommit) {
  TemporaryFolder folder;
  {
    AtomicFile file(folder.file("a"));
    file.write("hello ", 6);
    file.write("world", 5);
    EXPECT_FALSE(fs::exists(folder.file("a")));
    file.commit();
    EXPECT_EQ(folder.read("a"), "hello world");
  }
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFileTest, WithoutCommitNothingRemains) {
  TemporaryFolder folder;
  folder.write("a", "old");
  {
    AtomicFile file(folder.file("a"));
    file.write("new", 3);
  }
  EXPECT_EQ(folder.read("a"), "old");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFileTest, TwoWritersDoNotMeet) {
  TemporaryFolder folder;
  AtomicFile first(folder.file("a")), second(folder.file("a"));
  first.write("first", 5);
  second.write("second", 6);
  second.commit();
  first.commit();
  EXPECT_EQ(folder.read("a"), "first");
  EXPECT_EQ(folder.size(), 1u);
}

TEST(AtomicFileTest, ReplacesLinksIfAsked) {
  TemporaryFolder folder;
  folder.write("real", "old");
  AtomicFile::Options options;
  options.replacesLink = true;
  for (const char *leadsTo : {"real", "nowhere"}) {
    fs::remove(folder.file("link"));
    fs::create_symlink(leadsTo, folder.file("link"));
    AtomicFile file(folder.file("link"), options);
    file.write("new", 3);
    file.commit();
    EXPECT_FALSE(fs::is_symlink(folder.file("link")));
    EXPECT_EQ(folder.read("link"), "new");
    EXPECT_EQ(folder.read("real"), "old");
    EXPECT_FALSE(fs::exists(folder.file("nowhere")));
  }
  fs::create_directory(folder.file("folder"));
  EXPECT_ERROR(Io, "it is not a regular file",
               AtomicFile(folder.file("folder"), options));
}

TEST(AtomicFileTest, PrivateAndDurable) {
  TemporaryFolder folder;
  AtomicFile::Options options;
  options.isPrivate = options.isDurable = true;
  AtomicFile file(folder.file("a"), options);
  file.write("new", 3);
  file.commit();
  EXPECT_EQ(folder.read("a"), "new");
  EXPECT_EQ(fs::status(folder.file("a")).permissions(),
            fs::perms::owner_read | fs::perms::owner_write);
}

TEST(AtomicFileTest, FollowsLinks) {
  TemporaryFolder folder;
  folder.write("real", "old");
  fs::create_symlink("real", folder.file("link"));
  AtomicFile file(folder.file("link"));
  file.write("new", 3);
  file.commit();
  EXPECT_TRUE(fs::is_symlink(folder.file("link")));
  EXPECT_EQ(folder.read("real"), "new");
}

TEST(AtomicFileTest, RefusesWhatIsNoFile) {
  TemporaryFolder folder;
  EXPECT_ERROR(Io, "cannot write '" + folder.file("no/a") + "': No such file",
               AtomicFile(folder.file("no/a")));
  EXPECT_ERROR(Io, "not a regular file", AtomicFile(folder.file("")));
  // A rename would turn the device into a file for everybody.
  EXPECT_ERROR(Io, "'/dev/null': it is not a regular file",
               AtomicFile("/dev/null"));
  EXPECT_ERROR(Io, "cannot write ''", AtomicFile(""));
}

TEST(AtomicFileTest, FullDiskLeavesTheOldContent) {
  TemporaryFolder folder;
  folder.write("a", "old");
  rlimit before;
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  signal(SIGXFSZ, SIG_IGN);
  setrlimit(RLIMIT_FSIZE, &small);
  const std::string large(5000, 'x');
  {
    AtomicFile file(folder.file("a"));
    EXPECT_ERROR(Io, "File too large", file.write(large.data(), large.size()));
  }
  setrlimit(RLIMIT_FSIZE, &before);
  signal(SIGXFSZ, SIG_DFL);
  EXPECT_EQ(folder.read("a"), "old");
  EXPECT_EQ(folder.size(), 1u);
}
