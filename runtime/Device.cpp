//===- Device.cpp - Reading and printing the name of a device -------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Device.h"

#include "compiler/Support/Error.h"

#include <charconv>

using namespace flashtile;

Device Device::cuda(int index) {
  if (index < 0)
    throw Error(
        ErrorCode::InvalidArgument,
        "expected the index of a cuda device to be 0 or more, but got " +
            std::to_string(index));
  return Device(Kind::Cuda, index);
}

Device Device::parse(std::string_view text) {
  constexpr std::string_view prefix = "cuda:";
  if (text == "cpu")
    return cpu();
  if (text == "cuda")
    return cuda();
  if (text.substr(0, prefix.size()) == prefix) {
    const char *begin = text.data() + prefix.size();
    const char *end = text.data() + text.size();
    int index = 0;
    const auto [stop, error] = std::from_chars(begin, end, index);
    // from_chars takes a minus sign, which no index has.
    if (error == std::errc() && stop == end && *begin != '-')
      return cuda(index);
  }
  throw Error(ErrorCode::InvalidArgument,
              "expected a device, 'cpu', 'cuda' or 'cuda:N', but got '" +
                  std::string(text) + "'");
}

std::string Device::toString() const {
  return isCpu() ? "cpu" : "cuda:" + std::to_string(deviceIndex);
}
