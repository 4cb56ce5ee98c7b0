//===- GpuEntriesTest.cpp - Attributes of functions to artifacts ----------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "compiler/Driver/GpuEntries.h"

#include "compiler/Driver/Session.h"

#include <gmock/gmock.h>

using namespace flashtile;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

/// k(x: ptr<bf16>, rows: i64, stride: i64, scale: f32, batch: i32) after
/// reading `functions`.
struct Reading {
  explicit Reading(const std::string &functions)
      : session("k.mlir", options, report), module(session.parse(functions)) {
    kernel.info.name = "k";
    kernel.info.arguments = {{"x", true, ElementType::BF16, false},
                             {"rows", false, ElementType::I64, false},
                             {"stride", false, ElementType::I64, false},
                             {"scale", false, ElementType::F32, false},
                             {"batch", false, ElementType::I32, false}};
    kernel.info.grid = {{{{GridExpr::Op::Constant, 1}}}};
    if (module)
      error = describeEntries(*module, 128, kernel);
    else
      error = session.takeErrors();
  }
  std::string text(const GridExpr &expression) const {
    return expression.text(kernel.info.integerNames());
  }

  CompilerOptions options;
  CompileReport report;
  Session session;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  ArtifactKernel kernel;
  std::string error;
};

std::string function(const std::string &attributes,
                     const std::string &name = "k", int tensorMaps = 0) {
  std::string text = "llvm.func @" + name +
                     "(%x: !llvm.ptr<1>, %rows: i64, %stride: i64, %scale: "
                     "f32, %batch: i32";
  for (int i = 0; i < tensorMaps; ++i)
    text += ", %map" + std::to_string(i) + ": !llvm.ptr";
  return text + ", %gx: i32, %gy: i32, %gz: i32) attributes {" + attributes +
         "} { llvm.return }\n";
}

std::string mapped(const std::string &map) {
  return function("tilegpu.tensor_maps = [" + map + "]", "k", 1);
}

} // namespace

TEST(GpuEntries, DefaultsAreThoseOfAnOrdinaryKernel) {
  const Reading plain(function("shared_bytes = 4096 : i64"));
  ASSERT_EQ(plain.error, "");
  ASSERT_EQ(plain.kernel.entries.size(), 1u);
  const GpuEntry &entry = plain.kernel.entries[0];
  EXPECT_EQ(entry.symbol, "k");
  EXPECT_EQ(entry.numThreads, 128);
  EXPECT_EQ(entry.sharedBytes, 4096);
  EXPECT_EQ(entry.clusterBlocks, 1);
  EXPECT_EQ(entry.persistentBlocks, 0);
  EXPECT_EQ(entry.programsAtOnce, (std::array<int64_t, 3>{1, 1, 1}));
  EXPECT_FALSE(entry.countsPrograms);
  EXPECT_TRUE(entry.tensorMaps.empty());
  EXPECT_EQ(Reading(function("nvvm.maxntid = array<i32: 96, 1, 1>"))
                .kernel.entries.at(0)
                .numThreads,
            96);
}

TEST(GpuEntries, EverythingThatAFunctionSays) {
  const Reading read(
      function("nvvm.maxntid = array<i32: 96, 1, 1>, shared_bytes = 1 : i64, "
               "shared_buffers = [{name = \"ring\", offset = 0 : i64, "
               "bytes = 24 : i64}], tilegpu.num_threads = 160 : i64, "
               "tilegpu.cluster = 2 : i64, tilegpu.persistent = 1 : i64, "
               "tilegpu.tensor_maps = [{argument = 0 : i64, element = bf16, "
               "swizzle = 128 : i64, box = array<i64: 64, 128, 1>, extents = "
               "[64, affine_map<()[n, m] -> (n)>, affine_map<()[n, m, b] -> "
               "(b)>], strides = [affine_map<()[n, m] -> (m)>, "
               "affine_map<()[n, m] -> (n * m + 8)>], offset = "
               "affine_map<(n, m) -> (m * 2)>, padding = \"nan\"}]",
               "k", 1) +
      function("tilegpu.num_threads = 64 : i64", "k__plain"));
  ASSERT_EQ(read.error, "");
  ASSERT_EQ(read.kernel.entries.size(), 2u);
  const GpuEntry &entry = read.kernel.entries[0];
  EXPECT_EQ(entry.numThreads, 160);
  EXPECT_EQ(entry.clusterBlocks, 2);
  EXPECT_EQ(entry.persistentBlocks, 1);
  ASSERT_EQ(entry.sharedBuffers.size(), 1u);
  EXPECT_EQ(entry.sharedBuffers[0].name, "ring");
  EXPECT_EQ(entry.sharedBuffers[0].bytes, 24);
  ASSERT_EQ(entry.tensorMaps.size(), 1u);
  const TensorMapParameter &map = entry.tensorMaps[0];
  EXPECT_EQ(map.argument, 0);
  EXPECT_EQ(map.element, ElementType::BF16);
  EXPECT_EQ(map.swizzleBytes, 128);
  EXPECT_TRUE(map.fillsNaN);
  EXPECT_THAT(map.box, ElementsAre(64, 128, 1));
  ASSERT_EQ(map.extents.size(), 3u);
  EXPECT_EQ(read.text(map.extents[0]), "64");
  EXPECT_EQ(read.text(map.extents[1]), "rows");
  EXPECT_EQ(read.text(map.extents[2]), "batch");
  ASSERT_EQ(map.strides.size(), 2u);
  EXPECT_EQ(read.text(map.strides[0]), "stride");
  EXPECT_EQ(read.text(map.strides[1]), "rows * stride + 8");
  EXPECT_EQ(read.text(map.offset), "stride * 2");
  EXPECT_EQ(read.kernel.entries[1].symbol, "k__plain");
  EXPECT_EQ(read.kernel.entries[1].numThreads, 64);

  // What was read passes the check of artifacts.
  KernelArtifact artifact;
  artifact.target = "sm_90a";
  artifact.kernels = {read.kernel};
  EXPECT_TRUE(artifact.isValid());
}

TEST(GpuEntries, ACounterIsAParameter) {
  const std::string counts =
      "tilegpu.persistent = 1 : i64, tilegpu.program_counter";
  const Reading read(function(counts, "k", 1));
  ASSERT_EQ(read.error, "");
  EXPECT_TRUE(read.kernel.entries.at(0).countsPrograms);
  EXPECT_THAT(Reading(function(counts)).error,
              HasSubstr("parameters: arguments, tensor maps, a counter and "
                        "three extents"));
  EXPECT_THAT(Reading(function("tilegpu.program_counter", "k", 1)).error,
              HasSubstr("expected 'tilegpu.persistent' with "
                        "'tilegpu.program_counter'"));
}

TEST(GpuEntries, WhatIsWrongIsNamed) {
  const std::string rest = "element = bf16, swizzle = 0 : i64, box = "
                           "array<i64: 8>, extents = [8], strides = []}";
  const std::pair<std::string, const char *> cases[] = {
      {"llvm.func @other() { llvm.return }", "no function 'k'"},
      {function("tilegpu.num_threads = 1025 : i64"),
       "function 'k': expected 'tilegpu.num_threads' to be an integer from 1 "
       "to 1024, but got 1025"},
      {function("tilegpu.cluster = \"two\""),
       "expected 'tilegpu.cluster' to be an integer from 1 to 16, but got "
       "\"two\""},
      {function("tilegpu.persistent = -1 : i64"), "from 0 to 64, but got -1"},
      {function("", "k", 1), "expected 8 parameters"},
      {mapped("5"), "to be an array of dictionaries"},
      {mapped("{" + rest), "expected an integer 'argument'"},
      {mapped("{argument = 0 : i64, element = bf16, swizzle = 0 : i64, "
              "extents = [8], strides = []}"),
       "expected array<i64> 'box'"},
      {mapped("{argument = 0 : i64, element = i7, swizzle = 0 : i64, box = "
              "array<i64: 8>, extents = [8], strides = []}"),
       "no tensor map has elements of type i7"},
      {mapped("{argument = 0 : i64, padding = \"one\", " + rest),
       "expected 'padding'"},
      {mapped("{argument = 0 : i64, offset = \"x\", " + rest),
       "expected 'offset' of a tensor map to be integers or affine maps"},
      {mapped("{argument = 0 : i64, offset = affine_map<()[a, b, c, d] -> "
              "(d)>, " +
              rest),
       "more inputs than the kernel has integer arguments, 3"},
  };
  for (const auto &[text, message] : cases)
    EXPECT_THAT(Reading(text).error, HasSubstr(message)) << text;
}

TEST(GpuEntries, ProgramsAtOnce) {
  const Reading two(function("tilegpu.programs_at_once = array<i64: 1, 2, 1>"));
  ASSERT_EQ(two.error, "");
  EXPECT_EQ(two.kernel.entries.at(0).programsAtOnce,
            (std::array<int64_t, 3>{1, 2, 1}));
  for (const char *wrong : {"array<i64: 2, 1>", "array<i64: 0, 1, 1>",
                            "array<i64: 65, 1, 1>", "2 : i64"})
    EXPECT_THAT(
        Reading(function(std::string("tilegpu.programs_at_once = ") + wrong))
            .error,
        HasSubstr("expected 'tilegpu.programs_at_once' to be an array<i64> of "
                  "three numbers from 1 to 64"))
        << wrong;
}
