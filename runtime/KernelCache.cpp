//===- KernelCache.cpp - Compiled code on disk ----------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A file: header, payload. The header holds a magic text, the version, the key,
// the length of the payload and a digest of all that, so that no byte of a file
// can change unnoticed, and a file under the name of another is found out.
//
//===----------------------------------------------------------------------===//

#include "runtime/KernelCache.h"

#include "compiler/Driver/CompilerOptions.h"
#include "compiler/Driver/KernelArtifact.h"
#include "compiler/Support/Error.h"
#include "runtime/AtomicFile.h"
#include "runtime/BuildId.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <map>
#include <utility>
#include <vector>

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace flashtile;
namespace fs = std::filesystem;

//===----------------------------------------------------------------------===//
// Names and headers
//===----------------------------------------------------------------------===//

static constexpr std::string_view magic = "FTCache\n";
static constexpr std::string_view suffix = ".kernel";
static constexpr size_t headerSize = 8 + 4 + 32 + 8 + 32;
/// A header that says more is not believed. The largest kernels so far have
/// some hundred KiB.
static constexpr uint64_t maxPayload = 256 << 20;

template <typename Integer>
static void append(std::string &bytes, Integer value) {
  for (size_t i = 0; i < sizeof value; ++i)
    bytes.push_back(static_cast<char>(value >> 8 * i));
}

static std::string makeHeader(const Digest &key, std::string_view payload) {
  std::string header(magic);
  append(header, KernelCache::formatVersion);
  header += bytesOf(key);
  append(header, static_cast<uint64_t>(payload.size()));
  header += bytesOf(digest({header, payload}));
  return header;
}

/// Whether a file of this name is an entry, or the temporary file of one.
/// Nothing else in the folder is ever removed.
enum class FileKind { Entry, Temporary, Foreign };
static FileKind kindOf(std::string_view name) {
  const std::string_view digits = name.substr(0, 64);
  const bool isKey =
      digits.size() == 64 &&
      digits.find_first_not_of("0123456789abcdef") == std::string_view::npos;
  if (!isKey || name.substr(64, suffix.size()) != suffix)
    return FileKind::Foreign;
  const std::string_view rest = name.substr(64 + suffix.size());
  if (rest.empty())
    return FileKind::Entry;
  return rest.substr(0, 5) == ".tmp-" ? FileKind::Temporary : FileKind::Foreign;
}

namespace {
class Descriptor {
public:
  explicit Descriptor(int number) : number(number) {}
  Descriptor(const Descriptor &) = delete;
  Descriptor &operator=(const Descriptor &) = delete;
  ~Descriptor() {
    if (number >= 0)
      close(number);
  }
  operator int() const { return number; }

private:
  const int number;
};
} // namespace

//===----------------------------------------------------------------------===//
// Opening
//===----------------------------------------------------------------------===//

static void warnOncePerProcess(const std::string &text) {
  static std::once_flag once;
  std::call_once(once, [&] {
    std::fprintf(stderr, "flashtile: warning: %s\n", text.c_str());
  });
}

static std::string absolutePath(const std::string &folder) {
  // The current folder may change while the cache is in use.
  std::error_code error;
  const fs::path absolute = fs::absolute(folder, error);
  return error ? folder : absolute.string();
}

KernelCache::KernelCache(std::string folder, uint64_t capacity, Warn warn)
    : folder(absolutePath(folder)), capacity(capacity),
      warn(warn ? std::move(warn) : warnOncePerProcess) {}

std::shared_ptr<KernelCache> KernelCache::open(const std::string &folder,
                                               uint64_t capacity) {
  if (folder.empty())
    return nullptr;
  static std::mutex mutex;
  static auto *caches = new std::map<std::pair<std::string, uint64_t>,
                                     std::shared_ptr<KernelCache>>();
  std::lock_guard<std::mutex> lock(mutex);
  std::shared_ptr<KernelCache> &cache =
      (*caches)[{absolutePath(folder), capacity}];
  if (!cache)
    cache = std::make_shared<KernelCache>(folder, capacity);
  return cache;
}

std::string KernelCache::path(const Digest &key) const {
  return folder + "/" + hexText(key) + std::string(suffix);
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static bool readExactly(int file, char *data, size_t size) {
  while (size > 0) {
    const ssize_t count = read(file, data, size);
    if (count < 0 && errno == EINTR)
      continue;
    if (count <= 0)
      return false;
    data += count;
    size -= static_cast<size_t>(count);
  }
  return true;
}

/// The bytes that `size` of a header says its payload has.
static uint64_t payloadSize(const std::string &header) {
  uint64_t size = 0;
  for (size_t i = 0; i < sizeof size; ++i)
    size |= uint64_t{static_cast<uint8_t>(header[44 + i])} << 8 * i;
  return size;
}

/// Marks the entry as used now. At most once a minute, since it writes to the
/// disk; also where the time of the file lies in the future and the entry would
/// never become an old one.
static void touch(int file, const struct stat &status) {
  const time_t age = std::time(nullptr) - status.st_mtime;
  if (age >= -60 && age <= 60)
    return;
  const timespec times[2] = {{0, UTIME_OMIT}, {0, UTIME_NOW}};
  (void)futimens(file, times); // on a read-only disk, nothing is pruned either
}

std::optional<std::string> KernelCache::find(const Digest &key) {
  // A pipe would block without O_NONBLOCK; a link is never ours.
  const Descriptor file(::open(path(key).c_str(),
                               O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  struct stat status;
  if (file < 0 || fstat(file, &status) != 0 || !S_ISREG(status.st_mode))
    return std::nullopt;
  const bool isOurs = status.st_uid == geteuid() || status.st_uid == 0;
  if (!isOurs || (status.st_mode & (S_IWGRP | S_IWOTH)) != 0)
    return std::nullopt;
  std::string header(headerSize, '\0');
  if (!readExactly(file, header.data(), header.size()))
    return std::nullopt;
  const uint64_t size = payloadSize(header);
  if (size > maxPayload ||
      static_cast<uint64_t>(status.st_size) != headerSize + size)
    return std::nullopt;
  std::string payload(size, '\0');
  if (!readExactly(file, payload.data(), payload.size()) ||
      header != makeHeader(key, payload))
    return std::nullopt;
  touch(file, status);
  return payload;
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

void KernelCache::write(const std::string &file, const std::string &header,
                        std::string_view payload) const {
  std::error_code ignored; // what matters is whether the file can be written
  if (!fs::exists(folder, ignored)) {
    fs::create_directories(fs::path(folder).parent_path(), ignored);
    mkdir(folder.c_str(), 0700);
  }
  rmdir(file.c_str()); // an empty folder in the place of the entry
  AtomicFile::Options options;
  options.replacesLink = true;
  options.isPrivate = true;
  options.isDurable = true;
  AtomicFile output(file, options);
  output.write(header.data(), header.size());
  output.write(payload.data(), payload.size());
  output.commit();
}

bool KernelCache::store(const Digest &key, std::string_view payload) {
  const uint64_t bytes = headerSize + payload.size();
  if (payload.size() > maxPayload || bytes > capacity)
    return false;
  try {
    write(path(key), makeHeader(key, payload), payload);
  } catch (const Error &error) {
    std::call_once(warned, [&] {
      warn("kernels are not kept on disk: " + std::string(error.what()) +
           "; FLASHTILE_CACHE_DIR names another folder, FLASHTILE_CACHE=off "
           "does without");
    });
    return false;
  }
  account(bytes);
  return true;
}

void KernelCache::account(uint64_t bytes) {
  std::lock_guard<std::mutex> lock(mutex);
  knownBytes += bytes;
  if (storesUntilPrune > 0 && knownBytes <= capacity) {
    --storesUntilPrune;
    return;
  }
  knownBytes = prune();
  storesUntilPrune = 64;
}

//===----------------------------------------------------------------------===//
// Pruning
//===----------------------------------------------------------------------===//

namespace {
struct OldEntry {
  int64_t seconds, nanoseconds; ///< when it was last used
  std::string name;
  uint64_t bytes;

  bool operator<(const OldEntry &other) const {
    return std::tie(seconds, nanoseconds, name) <
           std::tie(other.seconds, other.nanoseconds, other.name);
  }
};
} // namespace

/// The entries of a folder. Removes temporary files that no writer can still be
/// busy with.
static std::vector<OldEntry> listEntries(int folder, DIR *listing) {
  std::vector<OldEntry> entries;
  const time_t now = std::time(nullptr);
  while (const dirent *item = readdir(listing)) {
    const FileKind kind = kindOf(item->d_name);
    struct stat status;
    if (kind == FileKind::Foreign ||
        fstatat(folder, item->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode))
      continue;
    if (kind == FileKind::Entry)
      entries.push_back({status.st_mtim.tv_sec, status.st_mtim.tv_nsec,
                         item->d_name, static_cast<uint64_t>(status.st_size)});
    else if (now - status.st_mtime > 3600)
      unlinkat(folder, item->d_name, 0);
  }
  return entries;
}

uint64_t KernelCache::prune() const {
  // The lock is on the folder itself. It only spares work: two processes that
  // prune at once would remove the same old entries.
  const int descriptor =
      ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0)
    return 0;
  const std::unique_ptr<DIR, int (*)(DIR *)> listing(fdopendir(descriptor),
                                                     closedir);
  if (!listing) {
    close(descriptor);
    return 0;
  }
  const bool isBusy =
      flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  std::vector<OldEntry> entries = listEntries(descriptor, listing.get());
  uint64_t bytes = 0;
  for (const OldEntry &entry : entries)
    bytes += entry.bytes;
  if (bytes <= capacity || isBusy)
    return bytes;
  // Room for some more stores, or each would have to prune again.
  const uint64_t wanted = capacity / 8 * 7;
  std::sort(entries.begin(), entries.end());
  for (const OldEntry &entry : entries) {
    if (bytes <= wanted)
      break;
    if (unlinkat(descriptor, entry.name.c_str(), 0) == 0 || errno == ENOENT)
      bytes -= entry.bytes;
  }
  return bytes;
}

//===----------------------------------------------------------------------===//
// Keys
//===----------------------------------------------------------------------===//

Digest flashtile::kernelCacheKey(const CompilerOptions &options,
                                 std::string_view environment,
                                 std::string_view fileName,
                                 std::string_view text) {
  return digest({"kernel", std::to_string(KernelArtifact::formatVersion),
                 compilerBuildId, options.hash(), environment, fileName, text});
}
