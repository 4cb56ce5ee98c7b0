//===- TemporaryFolder.h - A folder for one test --------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_TESTS_RUNTIME_TEMPORARYFOLDER_H
#define FLASHTILE_TESTS_RUNTIME_TEMPORARYFOLDER_H

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>

namespace flashtile {

/// A new folder, removed with all that is in it at the end of its scope.
class TemporaryFolder {
public:
  TemporaryFolder() {
    std::string name =
        (std::filesystem::temp_directory_path() / "flashtile-XXXXXX").string();
    if (!mkdtemp(name.data()))
      throw std::runtime_error("cannot create " + name);
    folder = name;
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;
  ~TemporaryFolder() { std::filesystem::remove_all(folder); }

  std::string file(const std::string &name) const {
    return (folder / name).string();
  }
  /// Number of entries.
  size_t size() const {
    return static_cast<size_t>(
        std::distance(std::filesystem::directory_iterator(folder), {}));
  }
  void write(const std::string &name, const std::string &content) const {
    std::ofstream(folder / name, std::ios::binary) << content;
  }
  std::string read(const std::string &name) const {
    std::ifstream stream(folder / name, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(stream), {});
  }

private:
  std::filesystem::path folder;
};

} // namespace flashtile

#endif // FLASHTILE_TESTS_RUNTIME_TEMPORARYFOLDER_H
