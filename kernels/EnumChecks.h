//===- EnumChecks.h - Values of the enumerations of options ---------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each throws InvalidArgument for a number without a name, whether or not the
// call would have come to use it.
//
//===----------------------------------------------------------------------===//

#ifndef FLASHTILE_KERNELS_ENUMCHECKS_H
#define FLASHTILE_KERNELS_ENUMCHECKS_H

#include "compiler/Support/EnumCheck.h"
#include "kernels/Activation.h"
#include "kernels/AttentionVariant.h"
#include "kernels/CausalAlignment.h"
#include "kernels/FlashAttentionBackwardConfigs.h"

#include <optional>

namespace flashtile::kernels {

inline void checkOption(CausalAlignment alignment) {
  flashtile::checkEnum("alignment", alignment, {"BottomRight", "TopLeft"});
}
inline void checkOption(Activation activation) {
  flashtile::checkEnum("activation", activation,
                       {"None", "Relu", "Gelu", "GeluTanh", "Silu"});
}
inline void checkOption(AttentionVariant variant) {
  flashtile::checkEnum("variant", variant,
                       {"Softcap", "Alibi", "SlidingWindow", "Sigmoid"});
}
inline void checkOption(FlashAttentionBackwardForm form) {
  flashtile::checkEnum("form", form,
                       {"Default", "Fused", "FusedDeterministic", "Dense"});
}

/// Undefined means a choice of the library.
inline void checkOption(std::string_view what,
                        std::optional<ElementType> type) {
  if (type)
    flashtile::checkElementType(what, *type);
}

} // namespace flashtile::kernels

#endif // FLASHTILE_KERNELS_ENUMCHECKS_H
