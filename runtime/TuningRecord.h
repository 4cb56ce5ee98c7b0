//===- TuningRecord.h - Results of tuning as text -------------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Internal to the autotuner: the payload that it keeps in the cache on disk. A
// line for each trial, in columns that are divided by tabs.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_RUNTIME_TUNINGRECORD_H
#define FLASHTILE_RUNTIME_TUNINGRECORD_H

#include "runtime/Autotuner.h"

#include <optional>
#include <string>
#include <string_view>

namespace flashtile {

std::string writeTuningRecord(const TuningResult &result);

/// The result that writeTuningRecord() wrote for these configurations; nothing
/// for any other text.
std::optional<TuningResult>
readTuningRecord(std::string_view text,
                 const std::vector<TuningConfig> &configs);

/// The index of the fastest trial; nothing where all failed.
std::optional<size_t> fastestTrial(const std::vector<TuningTrial> &trials);

} // namespace flashtile

#endif // FLASHTILE_RUNTIME_TUNINGRECORD_H
