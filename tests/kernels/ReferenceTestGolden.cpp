//===- ReferenceTestGolden.cpp - Stored cases and their loader ------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The references against results computed elsewhere (tests/data/golden, and
// the folder that FLASHTILE_GOLDEN_DIR names, if any), and the loader against
// manifests and arrays that are wrong.
//
//===----------------------------------------------------------------------===//

#include "ReferenceTestSupport.h"

#include "kernels/Reference/BlockwiseAttention.h"
#include "kernels/Reference/DenseAttention.h"
#include "kernels/Reference/Golden.h"
#include "kernels/Reference/PlainAttention.h"
#include "runtime/Npy.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstdlib>
#include <fstream>

namespace flashtile::reference {

// NOLINTNEXTLINE(readability-identifier-naming): GoogleTest looks for it.
void PrintTo(const GoldenCase &golden, std::ostream *stream) {
  *stream << golden.name << " of " << golden.directory;
}

using ::testing::HasSubstr;
namespace fs = std::filesystem;

static const fs::path ownGolden = fs::path(FLASHTILE_TEST_DATA_DIR) / "golden";

/// Our own folder of cases, and another one that may stand beside it.
static std::vector<GoldenCase> allCases() {
  std::vector<GoldenCase> cases = readGoldenManifest(ownGolden);
  const char *variable = std::getenv("FLASHTILE_GOLDEN_DIR");
  const fs::path other =
      variable ? fs::path(variable) : ownGolden / "../../../../shared/golden";
  // A folder that is asked for must exist.
  if (variable || fs::exists(other / "manifest.json"))
    for (GoldenCase &one : readGoldenManifest(other))
      cases.push_back(std::move(one));
  return cases;
}

namespace {

class GoldenCases : public ::testing::TestWithParam<GoldenCase> {
protected:
  const GoldenCase &golden = GetParam();
  const GoldenTensors data = loadGolden(golden);
};

INSTANTIATE_TEST_SUITE_P(, GoldenCases, ::testing::ValuesIn(allCases()),
                         [](const auto &info) {
                           return std::to_string(info.index) + "_" +
                                  info.param.name;
                         });

TEST_P(GoldenCases, AgreeWithTheReferences) {
  // What rounding the stored results to f32 may leave.
  constexpr double limit = 0x1p-24;
  expectClose(denseAttention(data.q, data.k, data.v, golden.options()),
              data.forward, limit);
  expectClose(
      denseAttentionBackward(data.q, data.k, data.v, data.dO, golden.options()),
      data.gradients, limit);
  const BlockSizes blocks = {24, 40};
  const AttentionResult forward =
      blockwiseAttention(data.q, data.k, data.v, golden.options(), blocks);
  expectClose(forward, data.forward, limit);
  expectClose(blockwiseAttentionBackward(data.q, data.k, data.v, forward,
                                         data.dO, golden.options(), blocks),
              data.gradients, limit);
}

TEST_P(GoldenCases, InputsAreValuesOfTheirType) {
  for (const char *suffix : {"q", "k", "v", "do"}) {
    const Tensor stored = readNpy(
        (golden.directory / (golden.name + "." + suffix + ".npy")).string());
    EXPECT_TRUE(isExactly(stored.to(golden.dtype), stored)) << suffix;
  }
}

// What a kernel is judged by: the f32 blockwise recurrence, rounded once, is
// the best that a kernel can do and must pass.
TEST_P(GoldenCases, TheRecurrenceInF32Passes) {
  AttentionOptions options = golden.options();
  const AttentionResult plain =
      plainAttention(data.q, data.k, data.v, golden.dtype, options);
  const AttentionGradients plainGradients = plainAttentionBackward(
      data.q, data.k, data.v, data.dO, golden.dtype, options);
  options.arithmetic = DType::F32;
  const AttentionResult forward =
      blockwiseAttention(data.q, data.k, data.v, options);
  const AttentionGradients gradients = blockwiseAttentionBackward(
      data.q, data.k, data.v, forward, data.dO, options);

  JudgeRule lseRule;
  lseRule.headRank = 1;
  auto check = [&](const char *name, const Verdict &verdict) {
    EXPECT_TRUE(verdict) << name << ": " << verdict.reason;
  };
  check("o", judge(forward.o.to(golden.dtype), data.forward.o, plain.o));
  check("lse", judge(forward.lse, data.forward.lse, plain.lse, lseRule));
  check("dq", judge(gradients.dq.to(golden.dtype), data.gradients.dq,
                    plainGradients.dq));
  check("dk", judge(gradients.dk.to(golden.dtype), data.gradients.dk,
                    plainGradients.dk));
  check("dv", judge(gradients.dv.to(golden.dtype), data.gradients.dv,
                    plainGradients.dv));
}

// Why a backward must not take the row sums of dO o O from an O that was
// rounded to bf16: where K and V have a mean, the rounding error of the sums
// meets that mean, and dq is worse by a factor than any plain implementation's.
TEST(GoldenOffsetMean, DeltaNeedsTheUnroundedOutput) {
  for (const GoldenCase &golden : readGoldenManifest(ownGolden)) {
    if (golden.name != "offset_mean_bf16")
      continue;
    const GoldenTensors data = loadGolden(golden);
    const AttentionOptions options = golden.options();
    const Tensor plain = plainAttentionBackward(data.q, data.k, data.v, data.dO,
                                                DType::BF16, options)
                             .dq;
    AttentionResult forward =
        blockwiseAttention(data.q, data.k, data.v, options);
    auto judgeGradient = [&] {
      return judge(blockwiseAttentionBackward(data.q, data.k, data.v, forward,
                                              data.dO, options)
                       .dq.to(DType::BF16),
                   data.gradients.dq, plain);
    };
    EXPECT_TRUE(judgeGradient());
    forward.o = forward.o.to(DType::BF16);
    const Verdict verdict = judgeGradient();
    EXPECT_FALSE(verdict);
    EXPECT_GT(verdict.error, 1.5 * verdict.limit);
    return;
  }
  FAIL() << "the case is missing";
}

/// A folder of one case, to be damaged.
class GoldenLoader : public ::testing::Test {
protected:
  using Json = nlohmann::json;

  GoldenLoader() {
    const auto *test = ::testing::UnitTest::GetInstance()->current_test_info();
    folder = fs::path(::testing::TempDir()) /
             (std::string("flashtile-golden-") + test->name());
    fs::remove_all(folder);
    fs::create_directories(folder);
    for (const char *suffix :
         {"q", "k", "v", "do", "o", "lse", "dq", "dk", "dv"})
      fs::copy(ownGolden / (std::string("tiny_f32.") + suffix + ".npy"),
               folder / (std::string("one.") + suffix + ".npy"));
    write(Json::array({entry}));
  }
  ~GoldenLoader() override { fs::remove_all(folder); }

  void writeText(const std::string &text) {
    std::ofstream(folder / "manifest.json") << text;
  }
  void write(const Json &manifest) { writeText(manifest.dump()); }

  /// The message for a manifest of `text`.
  std::string messageFor(const std::string &text) {
    writeText(text);
    return messageOf(ErrorCode::InvalidArgument,
                     [&] { readGoldenManifest(folder); });
  }
  /// The message for the good entry with one key changed.
  std::string messageFor(const char *key, const Json &value) {
    Json changed = entry;
    changed[key] = value;
    return messageFor(Json::array({changed}).dump());
  }

  fs::path folder;
  Json entry = {{"name", "one"},       {"dtype", "float32"},
                {"batch", 1},          {"heads_q", 1},
                {"heads_kv", 1},       {"seq_q", 4},
                {"seq_k", 4},          {"head_dim", 8},
                {"causal", false},     {"scale", 0.5},
                {"layout", "b h n d"}, {"causal_alignment", "bottom-right"}};
};

TEST_F(GoldenLoader, ReadsACase) {
  const std::vector<GoldenCase> cases = readGoldenManifest(folder);
  ASSERT_EQ(cases.size(), 1u);
  EXPECT_EQ(cases[0].name, "one");
  EXPECT_EQ(cases[0].dtype, DType::F32);
  EXPECT_EQ(cases[0].headDim, 8);
  EXPECT_EQ(cases[0].options().scale, 0.5);
  const GoldenTensors data = loadGolden(cases[0]);
  EXPECT_EQ(data.q.shape(), (Shape{1, 1, 4, 8}));
  EXPECT_EQ(data.forward.lse.shape(), (Shape{1, 1, 4}));
}

TEST_F(GoldenLoader, IgnoresFurtherKeys) {
  entry["comment"] = {{"name", "not a case"}};
  write(Json::array({entry}));
  EXPECT_EQ(readGoldenManifest(folder).size(), 1u);
}

TEST_F(GoldenLoader, RefusesWhatIsNoManifest) {
  const std::string file = (folder / "manifest.json").string();
  EXPECT_THAT(messageFor(std::string("[{]")), HasSubstr(file + ": not valid"));
  EXPECT_THAT(messageFor(std::string("[{]")), HasSubstr("line 1, column 3"));
  EXPECT_THAT(messageFor(std::string()), HasSubstr("not valid JSON"));
  EXPECT_THAT(messageFor(std::string("{}")), HasSubstr("but got object"));
  EXPECT_THAT(messageFor(std::string("[]")), HasSubstr("at least one case"));
  EXPECT_THAT(messageFor(std::string("[7]")),
              HasSubstr("case 0: expected an object, but got 7"));
  EXPECT_THAT(messageFor("[" + entry.dump() + ",7]"), HasSubstr("case 1:"));
  fs::remove(file);
  EXPECT_THAT(
      messageOf(ErrorCode::NotFound, [&] { readGoldenManifest(folder); }),
      HasSubstr(file));
}

TEST_F(GoldenLoader, RefusesMissingKeys) {
  for (const auto &item : entry.items()) {
    Json changed = entry;
    changed.erase(item.key());
    EXPECT_THAT(messageFor(Json::array({changed}).dump()),
                HasSubstr("key '" + item.key() + "' is missing"));
  }
}

TEST_F(GoldenLoader, RefusesWrongValues) {
  EXPECT_THAT(messageFor("dtype", "int8"),
              HasSubstr("case 0 ('one'): key 'dtype': expected one of "
                        "\"float32\", \"float16\""));
  EXPECT_THAT(messageFor("dtype", "int8"), HasSubstr("but got \"int8\""));
  EXPECT_THAT(messageFor("dtype", 5), HasSubstr("but got 5"));
  EXPECT_THAT(messageFor("batch", 0),
              HasSubstr("key 'batch': expected an integer from 1 to "
                        "2147483648, but got 0"));
  EXPECT_THAT(messageFor("seq_q", -3), HasSubstr("but got -3"));
  EXPECT_THAT(messageFor("seq_k", 4.5), HasSubstr("but got 4.5"));
  EXPECT_THAT(messageFor("head_dim", "8"), HasSubstr("but got \"8\""));
  EXPECT_THAT(messageFor("batch", uint64_t(1) << 63), HasSubstr("'batch'"));
  EXPECT_THAT(messageFor("heads_kv", 2),
              HasSubstr("a divisor of 'heads_q', which is 1, but got 2"));
  EXPECT_THAT(messageFor("causal", 1), HasSubstr("true or false, but got 1"));
  EXPECT_THAT(messageFor("scale", nullptr),
              HasSubstr("a finite number, but got null"));
  EXPECT_THAT(messageFor("layout", "b n h d"),
              HasSubstr("expected \"b h n d\", but got \"b n h d\""));
  EXPECT_THAT(messageFor("causal_alignment", "centre"),
              HasSubstr("\"bottom-right\", \"top-left\", but got \"centre\""));
  EXPECT_THAT(messageFor("name", "../one"), HasSubstr("without separators"));
  EXPECT_THAT(messageFor("name", ""), HasSubstr("key 'name'"));
}

TEST_F(GoldenLoader, RefusesDuplicates) {
  EXPECT_THAT(messageFor(Json::array({entry, entry}).dump()),
              HasSubstr("case 1: key 'name': 'one' names an earlier case"));
  std::string text = entry.dump();
  text.insert(1, "\"seq_q\": 8, ");
  EXPECT_THAT(messageFor("[" + text + "]"),
              HasSubstr("key \"seq_q\" appears twice"));
}

TEST_F(GoldenLoader, RefusesWrongArrays) {
  const GoldenCase one = readGoldenManifest(folder).front();
  const std::string file = (folder / "one.dk.npy").string();
  auto message = [&](ErrorCode code) {
    return messageOf(code, [&] { loadGolden(one); });
  };
  writeNpy(file, Tensor::zeros({1, 1, 8, 4}, DType::F32));
  EXPECT_THAT(message(ErrorCode::InvalidArgument),
              HasSubstr(file + ": expected shape [1, 1, 4, 8], but got "
                               "[1, 1, 8, 4]"));
  writeNpy(file, Tensor::zeros({1, 1, 4, 8}, DType::I32));
  EXPECT_THAT(message(ErrorCode::InvalidArgument),
              HasSubstr(file + ": expected floats, but got i32"));
  std::ofstream(file) << "no array";
  EXPECT_THAT(message(ErrorCode::Io), HasSubstr(file));
  fs::remove(file);
  EXPECT_THAT(message(ErrorCode::NotFound), HasSubstr(file));
}

} // namespace
} // namespace flashtile::reference
