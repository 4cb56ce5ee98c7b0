//===- TensorMapCache.cpp - Tensor maps of a kernel's launches ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/TensorMapCache.h"

#include <algorithm>
#include <memory>
#include <utility>

using namespace flashtile;

using Swizzle = TensorMapDescription::Swizzle;

/// Places that one hash picks.
static constexpr size_t numWays = 4;

static bool dependsOn(const TensorMapParameter &map, size_t integer) {
  const auto occurs = [&](const GridExpr &e) { return e.dependsOn(integer); };
  return occurs(map.offset) ||
         std::any_of(map.extents.begin(), map.extents.end(), occurs) ||
         std::any_of(map.strides.begin(), map.strides.end(), occurs);
}

static Swizzle swizzleOf(int64_t bytes) {
  return bytes == 128  ? Swizzle::Bytes128
         : bytes == 64 ? Swizzle::Bytes64
         : bytes == 32 ? Swizzle::Bytes32
                       : Swizzle::None;
}

/// What does not depend on a launch; the rest has room.
static TensorMapDescription describeBox(const TensorMapParameter &map) {
  TensorMapDescription description;
  description.type = map.element;
  description.box = map.box;
  description.swizzle = swizzleOf(map.swizzleBytes);
  description.fill = map.fillsNaN ? TensorMapDescription::Fill::NaN
                                  : TensorMapDescription::Fill::Zero;
  description.shape.resize(map.extents.size());
  description.strideBytes.resize(map.strides.size());
  return description;
}

TensorMapCache::TensorMapCache(CudaDevice &device, const GpuEntry &entry,
                               const KernelInfo &info)
    : device(device), info(info) {
  const size_t numIntegers = info.integerNames().size();
  std::vector<bool> isInput(numIntegers);
  for (const TensorMapParameter &parameter : entry.tensorMaps) {
    const auto argument = static_cast<size_t>(parameter.argument);
    if (std::find(pointers.begin(), pointers.end(), argument) == pointers.end())
      pointers.push_back(argument);
    Map &map = all.emplace_back();
    map.parameter = &parameter;
    map.description = describeBox(parameter);
    for (size_t i = 0; i < numIntegers; ++i)
      if (dependsOn(parameter, i)) {
        map.integers.push_back(i);
        isInput[i] = true;
      }
    map.values.resize(map.integers.size());
  }
  for (size_t i = 0; i < numIntegers; ++i)
    if (isInput[i])
      integers.push_back(i);
  key.resize(pointers.size() + integers.size());
}

//===----------------------------------------------------------------------===//
// The table
//===----------------------------------------------------------------------===//

void TensorMapCache::readKey(const LaunchArguments &arguments) const {
  size_t i = 0;
  for (const size_t pointer : pointers)
    key[i++] = static_cast<int64_t>(arguments.address(pointer));
  for (const size_t integer : integers)
    key[i++] = arguments.integerValues()[integer];
}

size_t TensorMapCache::findSlot(bool &isKnown) const {
  uint64_t hash = 0;
  for (const int64_t value : key) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  }
  const size_t first = hash % (capacity / numWays) * numWays;
  size_t unused = capacity;
  isKnown = true;
  for (size_t i = first; i < first + numWays; ++i) {
    if (!slots[i].isUsed)
      unused = std::min(unused, i);
    else if (std::equal(key.begin(), key.end(), &keys[i * key.size()]))
      return i;
  }
  isKnown = false;
  return unused < capacity ? unused : first + replaced++ % numWays;
}

bool TensorMapCache::find(const LaunchArguments &arguments, TensorMap *maps,
                          std::string &whyNot) const {
  const std::lock_guard<std::mutex> lock(mutex);
  if (slots.empty()) {
    keys.resize(capacity * key.size());
    encoded.resize(capacity * all.size());
    slots.resize(capacity);
  }
  readKey(arguments);
  bool isKnown = false;
  const size_t place = findSlot(isKnown);
  Slot &slot = slots[place];
  TensorMap *const kept = &encoded[place * all.size()];
  if (!isKnown) {
    slot.isUsed = false; // should encoding fail
    slot.whyNot = encode(arguments, kept);
    std::copy(key.begin(), key.end(), &keys[place * key.size()]);
    slot.isUsed = true;
  }
  if (!slot.whyNot.empty()) {
    whyNot = slot.whyNot;
    return false;
  }
  std::uninitialized_copy_n(kept, all.size(), maps);
  return true;
}

//===----------------------------------------------------------------------===//
// Maps
//===----------------------------------------------------------------------===//

/// Returns why a map cannot be encoded, or nothing.
std::string TensorMapCache::encode(const LaunchArguments &arguments,
                                   TensorMap *maps) const {
  for (Map &map : all) {
    const std::string problem = encode(map, arguments);
    if (!problem.empty())
      return "argument '" +
             info.arguments[static_cast<size_t>(map.parameter->argument)].name +
             "': " + problem;
    *maps++ = map.encoded;
  }
  return {};
}

std::string TensorMapCache::encode(Map &map,
                                   const LaunchArguments &arguments) const {
  bool isSame = map.isDescribed;
  for (size_t i = 0; i < map.integers.size(); ++i) {
    const int64_t value = arguments.integerValues()[map.integers[i]];
    isSame &= std::exchange(map.values[i], value) == value;
  }
  if (!isSame) {
    map.isDescribed = map.isEncoded = false;
    std::string problem = describe(map, arguments);
    if (!problem.empty())
      return problem;
    map.isDescribed = true;
  }
  const cuda::DevicePointer base =
      arguments.address(static_cast<size_t>(map.parameter->argument)) +
      static_cast<uint64_t>(map.offsetBytes);
  if (map.isEncoded && map.description.base == base)
    return {};
  map.isEncoded = false;
  map.description.base = base;
  std::string problem;
  const std::optional<TensorMap> made =
      TensorMap::tryEncode(device, map.description, problem);
  if (made) {
    map.encoded = *made;
    map.isEncoded = true;
  }
  return problem;
}

/// Fills in the description but for the base. Returns what does not fit its
/// integers, or nothing.
std::string TensorMapCache::describe(Map &map,
                                     const LaunchArguments &arguments) const {
  const TensorMapParameter &parameter = *map.parameter;
  TensorMapDescription &description = map.description;
  const std::vector<int64_t> &values = arguments.integerValues();
  const auto bytes = static_cast<int64_t>(elementSize(parameter.element));
  const auto tooLarge = [&](const GridExpr &expression, const char *what) {
    return std::string(what) + " " + expression.text(info.integerNames()) +
           " does not fit 64 bits or divides by zero";
  };
  map.offsetBytes = 0;
  if (!parameter.offset.steps.empty() &&
      (!parameter.offset.evaluate(values, map.offsetBytes) ||
       __builtin_mul_overflow(map.offsetBytes, bytes, &map.offsetBytes)))
    return tooLarge(parameter.offset, "offset");
  for (size_t i = 0; i < parameter.extents.size(); ++i) {
    int64_t &extent = description.shape[i];
    if (!parameter.extents[i].evaluate(values, extent))
      return tooLarge(parameter.extents[i], "extent");
    // The map may have more, but a copy says where in 32 bits with a sign.
    if (extent > INT32_MAX)
      return "extent " + std::to_string(extent) + " of dimension " +
             std::to_string(i) + " is beyond 2^31 - 1, where copies end";
  }
  for (size_t i = 0; i < parameter.strides.size(); ++i) {
    int64_t &stride = description.strideBytes[i];
    if (!parameter.strides[i].evaluate(values, stride) ||
        __builtin_mul_overflow(stride, bytes, &stride))
      return tooLarge(parameter.strides[i], "stride");
    // Where there is one index only, no stride is ever used.
    constexpr int64_t anyStride = 16;
    if (description.shape[i + 1] == 1)
      stride = anyStride;
  }
  return {};
}
