//===- TensorMapCache.cpp - Tensor maps of a kernel's launches ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/TensorMapCache.h"

#include <algorithm>
#include <utility>

using namespace flashtile;

using Swizzle = TensorMapDescription::Swizzle;

static bool dependsOn(const GpuEntry &entry, size_t integer) {
  const auto occurs = [&](const GridExpr &e) { return e.dependsOn(integer); };
  return std::any_of(
      entry.tensorMaps.begin(), entry.tensorMaps.end(),
      [&](const TensorMapParameter &map) {
        return occurs(map.offset) ||
               std::any_of(map.extents.begin(), map.extents.end(), occurs) ||
               std::any_of(map.strides.begin(), map.strides.end(), occurs);
      });
}

TensorMapCache::TensorMapCache(CudaDevice &device, const GpuEntry &entry,
                               const KernelInfo &info)
    : device(device), entry(entry), info(info) {
  for (const TensorMapParameter &map : entry.tensorMaps) {
    const auto argument = static_cast<size_t>(map.argument);
    if (std::find(pointers.begin(), pointers.end(), argument) == pointers.end())
      pointers.push_back(argument);
  }
  for (size_t i = 0; i < info.integerNames().size(); ++i)
    if (dependsOn(entry, i))
      integers.push_back(i);
}

template <typename Function>
void TensorMapCache::forEachInput(const LaunchArguments &arguments,
                                  Function function) const {
  for (const size_t pointer : pointers)
    function(static_cast<int64_t>(arguments.address(pointer)));
  for (const size_t integer : integers)
    function(arguments.integerValues()[integer]);
}

bool TensorMapCache::find(const LaunchArguments &arguments, TensorMap *maps,
                          std::string &whyNot) const {
  uint64_t hash = 0;
  forEachInput(arguments, [&](int64_t value) {
    hash = (hash ^ static_cast<uint64_t>(value)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  });
  const std::lock_guard<std::mutex> lock(mutex);
  auto found = all.find(hash);
  if (found != all.end()) {
    size_t i = 0;
    bool isEqual = true;
    forEachInput(arguments, [&](int64_t value) {
      isEqual &= found->second.key[i++] == value;
    });
    if (!isEqual) {
      all.erase(found);
      found = all.end();
    }
  }
  if (found == all.end()) {
    if (all.size() >= capacity)
      all.clear();
    found = all.emplace(hash, encode(arguments)).first;
  }
  const Encoded &encoded = found->second;
  std::copy(encoded.maps.begin(), encoded.maps.end(), maps);
  if (!encoded.whyNot.empty())
    whyNot = encoded.whyNot;
  return encoded.whyNot.empty();
}

TensorMapCache::Encoded
TensorMapCache::encode(const LaunchArguments &arguments) const {
  Encoded result;
  forEachInput(arguments, [&](int64_t value) { result.key.push_back(value); });
  for (const TensorMapParameter &parameter : entry.tensorMaps) {
    TensorMapDescription description;
    std::string problem = describe(parameter, arguments, description);
    if (problem.empty())
      problem = description.whyNot();
    std::optional<TensorMap> map;
    if (problem.empty())
      map = TensorMap::tryEncode(device, description, problem);
    if (!map) {
      result.maps.clear();
      result.whyNot =
          "argument '" +
          info.arguments[static_cast<size_t>(parameter.argument)].name +
          "': " + problem;
      return result;
    }
    result.maps.push_back(*map);
  }
  return result;
}

static Swizzle swizzleOf(int64_t bytes) {
  return bytes == 128  ? Swizzle::Bytes128
         : bytes == 64 ? Swizzle::Bytes64
         : bytes == 32 ? Swizzle::Bytes32
                       : Swizzle::None;
}

/// Fills in `description`. Returns what does not fit its integers, or nothing.
std::string TensorMapCache::describe(const TensorMapParameter &map,
                                     const LaunchArguments &arguments,
                                     TensorMapDescription &description) const {
  const std::vector<int64_t> &values = arguments.integerValues();
  const auto bytes = static_cast<int64_t>(elementSize(map.element));
  const auto tooLarge = [&](const GridExpr &expression, const char *what) {
    return std::string(what) + " " + expression.text(info.integerNames()) +
           " does not fit 64 bits or divides by zero";
  };
  description.type = map.element;
  description.box = map.box;
  description.swizzle = swizzleOf(map.swizzleBytes);
  description.fill = map.fillsNaN ? TensorMapDescription::Fill::NaN
                                  : TensorMapDescription::Fill::Zero;
  description.base = arguments.address(static_cast<size_t>(map.argument));
  if (!map.offset.steps.empty()) {
    int64_t offset = 0;
    if (!map.offset.evaluate(values, offset) ||
        __builtin_mul_overflow(offset, bytes, &offset))
      return tooLarge(map.offset, "offset");
    description.base += static_cast<uint64_t>(offset);
  }
  for (size_t i = 0; i < map.extents.size(); ++i) {
    int64_t &extent = description.shape.emplace_back();
    if (!map.extents[i].evaluate(values, extent))
      return tooLarge(map.extents[i], "extent");
    // The map may have more, but a copy says where in 32 bits with a sign.
    if (extent > INT32_MAX)
      return "extent " + std::to_string(extent) + " of dimension " +
             std::to_string(i) + " is beyond 2^31 - 1, where copies end";
  }
  for (size_t i = 0; i < map.strides.size(); ++i) {
    int64_t &stride = description.strideBytes.emplace_back();
    if (!map.strides[i].evaluate(values, stride) ||
        __builtin_mul_overflow(stride, bytes, &stride))
      return tooLarge(map.strides[i], "stride");
    // Where there is one index only, no stride is ever used.
    constexpr int64_t anyStride = 16;
    if (description.shape[i + 1] == 1)
      stride = anyStride;
  }
  return {};
}
