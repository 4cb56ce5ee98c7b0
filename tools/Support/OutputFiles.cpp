//===- OutputFiles.cpp - Results that appear together ---------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/Support/OutputFiles.h"

#include "compiler/Support/Error.h"

using namespace flashtile;
using namespace flashtile::tools;

void OutputFiles::open(const std::string &name, const std::string &path) {
  namespace fs = std::filesystem;
  std::error_code ignored;
  fs::path place = fs::weakly_canonical(fs::absolute(path, ignored), ignored);
  for (const Output &output : outputs)
    if (output.place == place)
      throw Error(ErrorCode::InvalidArgument,
                  "expected different files for '" + output.name + "' and '" +
                      name + "', but got '" + path + "' for both");
  outputs.emplace_back(name, path, std::move(place));
}

void OutputFiles::write(const std::string &name, const Tensor &tensor,
                        const NpyWriteOptions &options) {
  for (Output &output : outputs)
    if (output.name == name)
      writeNpy(output.file, tensor, options);
}

void OutputFiles::writeText(const std::string &name, const std::string &text) {
  for (Output &output : outputs)
    if (output.name == name)
      output.file.write(text.data(), text.size());
}

void OutputFiles::commit() {
  for (Output &output : outputs)
    output.file.commit();
}
