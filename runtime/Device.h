//===- Device.h - Where a tensor lives and a kernel runs ------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A Device is only a name: the host, or the GPU with an index. It can be
// created, parsed and compared on a machine without that device; using it is
// what fails there.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_DEVICE_H
#define FLASHTILE_RUNTIME_DEVICE_H

#include <string>
#include <string_view>

namespace flashtile {

class Device {
public:
  enum class Kind { Cpu, Cuda };

  static Device cpu() { return Device(Kind::Cpu, 0); }
  /// The CUDA device with this index, in the driver's order. Throws
  /// InvalidArgument for a negative index.
  static Device cuda(int index = 0);

  /// Reads "cpu", "cuda" (the same as "cuda:0") or "cuda:N". Throws
  /// InvalidArgument for any other text.
  static Device parse(std::string_view text);

  Kind kind() const { return deviceKind; }
  int index() const { return deviceIndex; }
  bool isCpu() const { return deviceKind == Kind::Cpu; }
  bool isCuda() const { return deviceKind == Kind::Cuda; }

  /// "cpu" or "cuda:N"; parse() reads it back.
  std::string toString() const;

  friend bool operator==(Device a, Device b) {
    return a.deviceKind == b.deviceKind && a.deviceIndex == b.deviceIndex;
  }
  friend bool operator!=(Device a, Device b) { return !(a == b); }

private:
  Device(Kind kind, int index) : deviceKind(kind), deviceIndex(index) {}

  Kind deviceKind;
  int deviceIndex;
};

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_DEVICE_H
