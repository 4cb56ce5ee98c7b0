//===- OutputFiles.h - Results that appear together -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files that a command writes. They are opened before it computes, so that
// a folder that does not exist is refused at once, and are moved to their
// places after all of them have been written: a command that fails leaves none.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TOOLS_SUPPORT_OUTPUTFILES_H
#define FLASHTILE_TOOLS_SUPPORT_OUTPUTFILES_H

#include "runtime/AtomicFile.h"
#include "runtime/Npy.h"

#include <filesystem>
#include <list>
#include <string>

namespace flashtile::tools {

class OutputFiles {
public:
  /// Opens `path` for what is written by `name`. Throws Io if it
  /// cannot be written, InvalidArgument if an earlier output has it.
  void open(const std::string &name, const std::string &path);
  /// Writes `tensor` to the files opened as `name`; perhaps there are none.
  void write(const std::string &name, const Tensor &tensor,
             const NpyWriteOptions &options);
  /// Writes `text` to the files opened as `name`.
  void writeText(const std::string &name, const std::string &text);
  /// Moves all files to their places.
  void commit();

private:
  struct Output {
    Output(const std::string &name, const std::string &path,
           std::filesystem::path place)
        : name(name), place(std::move(place)), file(path) {}
    std::string name;
    std::filesystem::path place; ///< to tell whether two paths are one
    AtomicFile file;
  };
  std::list<Output> outputs;
};

} // namespace flashtile::tools

#endif // FLASHTILE_TOOLS_SUPPORT_OUTPUTFILES_H
