//===- BackwardForm.cpp - How gradients are computed ----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tools/fa-run/BackwardForm.h"

#include "compiler/Support/Error.h"

using namespace flashtile;

CLI::Option *tools::addBackwardFormOption(CLI::App &command,
                                          std::string &form) {
  return command.add_option(
      "--form", form,
      "How gradients are computed: fused, deterministic or dense; the library "
      "chooses one of the first two");
}

FlashAttentionBackwardForm tools::parseBackwardForm(const std::string &form) {
  using Form = FlashAttentionBackwardForm;
  if (form.empty())
    return Form::Default;
  for (const Form known : {Form::Fused, Form::FusedDeterministic, Form::Dense})
    if (form == toString(known))
      return known;
  throw Error(ErrorCode::InvalidArgument,
              "expected --form fused, deterministic or dense, but got '" +
                  form + "'");
}
