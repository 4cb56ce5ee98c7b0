//===- AtomicFile.h - A file that appears whole or not at all -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes to a temporary file in the folder of the target and renames it at the
// end. Whoever reads the target sees the old content or the new one, also if
// the writer fails, is killed, or races with another writer.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_ATOMICFILE_H
#define FLASHTILE_RUNTIME_ATOMICFILE_H

#include <cstddef>
#include <string>

namespace flashtile {

class AtomicFile {
public:
  struct Options {
    /// For files that are the program's own: a link at the path is replaced,
    /// where otherwise it is followed.
    bool replacesLink = false;
    /// No other user may read or write the file.
    bool isPrivate = false;
    /// On the disk before it is in its place: after a loss of power, too, the
    /// file is whole or not there.
    bool isDurable = false;
  };

  /// Creates the temporary file, by the name of the target followed by `.tmp-`
  /// and numbers. A link is followed; the target itself must be a regular file
  /// or absent. Throws Io, with the path of the target, as the other functions
  /// do.
  explicit AtomicFile(const std::string &path) : AtomicFile(path, Options()) {}
  AtomicFile(const std::string &path, const Options &options);
  AtomicFile(const AtomicFile &) = delete;
  AtomicFile &operator=(const AtomicFile &) = delete;
  /// Removes the temporary file, unless it was committed.
  ~AtomicFile();

  void write(const void *data, size_t size);
  /// Moves the file to its place. Nothing may be written afterwards.
  void commit();

private:
  [[noreturn]] void fail(const char *action, int errorNumber) const;

  std::string path;          ///< as the caller knows it
  std::string target;        ///< with links followed
  std::string temporaryPath; ///< empty once committed
  Options options;
  int descriptor = -1;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_ATOMICFILE_H
