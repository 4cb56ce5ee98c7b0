//===- AtomicFile.cpp - A file that appears whole or not at all -----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/AtomicFile.h"

#include "compiler/Support/Error.h"

#include <atomic>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

using namespace flashtile;
namespace fs = std::filesystem;

void AtomicFile::fail(const char *action, int errorNumber) const {
  throw Error(ErrorCode::Io,
              "cannot " + std::string(action) + " '" + path +
                  "': " + std::generic_category().message(errorNumber));
}

AtomicFile::AtomicFile(const std::string &path, const Options &options)
    : path(path), target(path), options(options) {
  if (path.empty())
    fail("write", ENOENT);
  std::error_code error;
  const fs::file_status status = options.replacesLink
                                     ? fs::symlink_status(path, error)
                                     : fs::status(path, error);
  if (fs::exists(status) && !fs::is_symlink(status)) {
    // A rename would replace the device node or the link itself.
    if (!fs::is_regular_file(status))
      throw Error(ErrorCode::Io,
                  "cannot write '" + path + "': it is not a regular file");
    if (!options.replacesLink)
      target = fs::canonical(path, error).string();
    if (error)
      fail("write", error.value());
  }
  static std::atomic<unsigned> counter{0};
  // Exclusive creation; the number differs within the process and the process
  // id between processes, so a clash is a leftover of an earlier process.
  for (int attempt = 0; descriptor < 0 && attempt < 100; ++attempt) {
    temporaryPath = target + ".tmp-" + std::to_string(getpid()) + "-" +
                    std::to_string(counter.fetch_add(1));
    descriptor =
        open(temporaryPath.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC,
             options.isPrivate ? 0600 : 0666);
    if (descriptor < 0 && errno != EEXIST)
      break;
  }
  if (descriptor < 0)
    fail("write", errno);
}

AtomicFile::~AtomicFile() {
  if (descriptor >= 0)
    close(descriptor);
  if (!temporaryPath.empty())
    unlink(temporaryPath.c_str());
}

void AtomicFile::write(const void *data, size_t size) {
  const char *next = static_cast<const char *>(data);
  while (size > 0) {
    // One call moves at most 2 GiB anyway.
    const ssize_t written =
        ::write(descriptor, next, size < (1u << 30) ? size : 1u << 30);
    if (written < 0 && errno == EINTR)
      continue;
    if (written < 0)
      fail("write", errno);
    next += written;
    size -= static_cast<size_t>(written);
  }
}

void AtomicFile::commit() {
  // Some file systems cannot (EINVAL); those keep nothing over a loss of power.
  if (options.isDurable && fsync(descriptor) != 0 && errno != EINVAL)
    fail("write", errno);
  const int closed = close(descriptor);
  descriptor = -1;
  if (closed != 0)
    fail("write", errno);
  if (rename(temporaryPath.c_str(), target.c_str()) != 0)
    fail("write", errno);
  temporaryPath.clear();
}
