//===- NpyTest.cpp - Reading and writing .npy files -----------------------===//
//
// Part of FlashTile, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "runtime/Npy.h"

#include "tests/runtime/ExpectError.h"
#include "tests/runtime/TemporaryFolder.h"

#include <random>

using namespace flashtile;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class NpyTest : public testing::Test {
protected:
  TemporaryFolder folder;
  const std::string path = folder.file("t.npy");

  /// A file as NumPy writes it.
  static std::string file(const std::string &dictionary,
                          const std::string &data, int major = 1) {
    std::string text = "\x93NUMPY";
    text += static_cast<char>(major);
    text += '\0';
    for (int i = 0; i < (major == 1 ? 2 : 4); ++i)
      text += static_cast<char>(dictionary.size() >> (8 * i) & 0xFF);
    return text + dictionary + data;
  }
  static std::string dictionary(const std::string &descr,
                                const std::string &shape,
                                const char *order = "False") {
    return "{'descr': '" + descr + "', 'fortran_order': " + order +
           ", 'shape': " + shape + ", }\n";
  }
  template <typename T>
  static std::string bytes(std::vector<T> values) {
    return std::string(reinterpret_cast<const char *>(values.data()),
                       values.size() * sizeof(T));
  }
  Tensor readText(const std::string &text,
                  std::optional<DType> dtype = std::nullopt) {
    folder.write("t.npy", text);
    NpyReadOptions options;
    options.dtype = dtype;
    return readNpy(path, options);
  }
  void expectRefused(ErrorCode code, const std::string &part,
                     const std::string &text,
                     std::optional<DType> dtype = std::nullopt) {
    expectError(__FILE__, __LINE__, code, part, [&] { readText(text, dtype); });
    try {
      readText(text, dtype);
    } catch (const Error &error) {
      EXPECT_THAT(error.what(), HasSubstr("'" + path + "'"));
    }
  }
};

} // namespace

TEST_F(NpyTest, EveryTypeComesBack) {
  for (int i = 0; i <= static_cast<int>(DType::I64); ++i) {
    const DType dtype = static_cast<DType>(i);
    for (const Shape &shape : {Shape{2, 3}, Shape{}, Shape{4}, Shape{0, 5}}) {
      const Tensor t = Tensor::full(shape, 1, dtype);
      writeNpy(path, t);
      NpyReadOptions options;
      options.dtype = dtype;
      const Tensor back = readNpy(path, options);
      EXPECT_EQ(back.dtype(), dtype);
      EXPECT_EQ(back.shape(), shape);
      EXPECT_EQ(back.toVector<double>(), t.toVector<double>());
    }
  }
}

TEST_F(NpyTest, WritesWhatNumpyWrites) {
  writeNpy(path, Tensor::fromData<float>({1, 2}, {2}));
  const std::string text = folder.read("t.npy");
  ASSERT_EQ(text.size(), 128u + 8u);
  EXPECT_EQ(text.substr(0, 10), std::string("\x93NUMPY\1\0\x76\0", 10));
  EXPECT_THAT(text,
              HasSubstr("{'descr': '<f4', 'fortran_order': False, 'shape': "
                        "(2,), }  "));
  EXPECT_EQ(text[127], '\n');
  EXPECT_EQ(text.substr(128), bytes<float>({1, 2}));
}

TEST_F(NpyTest, WritesViewsInOrder) {
  const Tensor t = Tensor::fromData<int32_t>({0, 1, 2, 3, 4, 5}, {2, 3});
  writeNpy(path, t.transpose(0, 1));
  EXPECT_THAT(readNpy(path).toVector<int>(), ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST_F(NpyTest, ReadsFormats2And3) {
  for (int major : {2, 3})
    EXPECT_THAT(readText(file(dictionary("<i2", "(2,)"),
                              bytes<int16_t>({7, -8}), major))
                    .toVector<int>(),
                ElementsAre(7, -8));
}

TEST_F(NpyTest, ReadsFortranOrder) {
  const Tensor t = readText(file(dictionary("<i4", "(2, 3)", "True"),
                                 bytes<int32_t>({1, 2, 3, 4, 5, 6})));
  EXPECT_EQ(t.shape(), (Shape{2, 3}));
  EXPECT_TRUE(t.isContiguous());
  EXPECT_THAT(t.toVector<int>(), ElementsAre(1, 3, 5, 2, 4, 6));
  const Tensor cube = readText(file(dictionary("|i1", "(2, 1, 3)", "True"),
                                    bytes<int8_t>({1, 2, 3, 4, 5, 6})));
  EXPECT_THAT(cube.toVector<int>(), ElementsAre(1, 3, 5, 2, 4, 6));
}

TEST_F(NpyTest, ReadsOtherSpellings) {
  const std::string data = bytes<float>({1, 2});
  for (const char *header :
       {"{\"shape\":(2L,),\"descr\":\"<f4\",\"fortran_order\":False}",
        "  { 'fortran_order' : False , 'shape' : ( 2 , 1 ) , 'descr' : '=f4' "
        "}  \n",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2,)}"})
    EXPECT_THAT(readText(file(header, data)).toVector<float>(),
                ElementsAre(1, 2));
}

TEST_F(NpyTest, BoolsBecomeZeroOrOne) {
  const Tensor t = readText(file(dictionary("|b1", "(3,)"), {0, 1, 7}));
  EXPECT_EQ(t.dtype(), DType::I1);
  EXPECT_EQ(static_cast<const char *>(t.rawData())[2], 1);
}

TEST_F(NpyTest, Bf16AsBitsOrAsFloat) {
  const Tensor t = Tensor::full({3}, 1.5, DType::BF16);
  writeNpy(path, t);
  EXPECT_THAT(folder.read("t.npy"), HasSubstr("'<u2'"));
  NpyReadOptions asBf16;
  asBf16.dtype = DType::BF16;
  EXPECT_EQ(readNpy(path, asBf16).at<BFloat16>({2}), 1.5f);

  NpyWriteOptions asFloat;
  asFloat.narrow = NpyNarrow::AsFloat32;
  writeNpy(path, t, asFloat);
  EXPECT_EQ(readNpy(path).dtype(), DType::F32);
  EXPECT_EQ(readNpy(path, asBf16).at<BFloat16>({2}), 1.5f);
}

TEST_F(NpyTest, Fp8AsBitsOrAsFloat) {
  for (DType dtype : {DType::F8E4M3FN, DType::F8E5M2}) {
    const Tensor t = Tensor::full({3}, -3.5, dtype);
    NpyReadOptions asFp8;
    asFp8.dtype = dtype;
    for (NpyNarrow narrow : {NpyNarrow::AsBits, NpyNarrow::AsFloat32}) {
      NpyWriteOptions options;
      options.narrow = narrow;
      writeNpy(path, t, options);
      EXPECT_THAT(readNpy(path, asFp8).toVector<float>(), testing::Each(-3.5f));
    }
  }
}

TEST_F(NpyTest, ReadsTheVoidTypesOfOtherTools) {
  const std::string data = bytes<uint16_t>({0x3F80, 0x4000});
  for (const char *descr : {"<V2", "|V2"})
    EXPECT_THAT(readText(file(dictionary(descr, "(2,)"), data), DType::BF16)
                    .toVector<float>(),
                ElementsAre(1, 2));
}

TEST_F(NpyTest, RoundsFloat32OnRequest) {
  const std::string text =
      file(dictionary("<f4", "(2,)"), bytes<float>({1.001f, 1e6f}));
  EXPECT_THAT(readText(text, DType::BF16).toVector<float>(),
              ElementsAre(1, BFloat16(1e6f)));
  EXPECT_THAT(readText(text, DType::F8E4M3FN).toVector<float>(),
              ElementsAre(1, 448));
  EXPECT_EQ(readText(text, DType::F16).dtype(), DType::F16);
}

TEST_F(NpyTest, WrongTypeNamesBoth) {
  const auto invalid = ErrorCode::InvalidArgument;
  const std::string one(8, '\0');
  const auto make = [&](const char *descr) {
    return file(dictionary(descr, "(1,)"), one);
  };
  expectRefused(invalid, "type f32, but got '<f8'", make("<f8"), DType::F32);
  expectRefused(invalid, "type f64, but got '<f4'", make("<f4"), DType::F64);
  expectRefused(invalid, "type i32, but got '<f4'", make("<f4"), DType::I32);
  expectRefused(invalid, "type bf16, but got '<f2'", make("<f2"), DType::BF16);
  expectRefused(invalid, "type f32, but got '<i4'", make("<i4"), DType::F32);
  expectRefused(invalid, "type f16, but got '<u2'", make("<u2"), DType::F16);
  expectRefused(invalid, "type bf16, but got '|u1'", make("|u1"), DType::BF16);
  expectRefused(invalid, "type i8, but got '|u1'", make("|u1"), DType::I8);
}

TEST_F(NpyTest, UnsignedNeedsAMeaning) {
  const auto invalid = ErrorCode::InvalidArgument;
  const std::string one(8, '\0');
  expectRefused(invalid, "'|u1' has no meaning of its own; ask for f8E4M3FN",
                file(dictionary("|u1", "(1,)"), one));
  expectRefused(invalid, "'<u2' has no meaning of its own; ask for bf16",
                file(dictionary("<u2", "(1,)"), one));
}

TEST_F(NpyTest, OtherTypesAreNamed) {
  const auto invalid = ErrorCode::InvalidArgument;
  const std::string one(16, '\0');
  for (const char *descr : {"<u4", "<c8", "<f16", "|S4", "<U2", "|O", "<M8",
                            "f4", "", "<", "|f4", "<f", "<x\x01"})
    expectRefused(invalid, "but got '", file(dictionary(descr, "(1,)"), one));
  expectRefused(ErrorCode::Io, "little-endian data, but got '>f4'",
                file(dictionary(">f4", "(1,)"), one));
  expectRefused(ErrorCode::Io, "not that of a structured one",
                file("{'descr': [('a', '<f4')], 'fortran_order': False, "
                     "'shape': (1,)}",
                     one));
}

TEST_F(NpyTest, MissingAndOddFiles) {
  EXPECT_ERROR(NotFound, "'" + path + "': no such file", readNpy(path));
  EXPECT_ERROR(NotFound, "no such file", readNpy(folder.file("no/t.npy")));
  EXPECT_ERROR(Io, "expected a regular file", readNpy(folder.file("")));
  EXPECT_ERROR(Io, "expected a regular file", readNpy("/dev/null"));
  folder.write("file", "");
  EXPECT_ERROR(NotFound, "no such file", readNpy(folder.file("file/t.npy")));
}

TEST_F(NpyTest, BadMagicAndVersion) {
  const auto io = ErrorCode::Io;
  expectRefused(io, "truncated: expected 8 bytes of magic", "");
  expectRefused(io, "truncated", "\x93NUMPY");
  expectRefused(io, "not a .npy file", "PK\3\4 this is an .npz file");
  std::string text = file(dictionary("<f4", "(1,)"), bytes<float>({1}));
  text[6] = 4;
  expectRefused(io, "1.0, 2.0 or 3.0, but got 4.0", text);
  text[6] = 1;
  text[7] = 1;
  expectRefused(io, "but got 1.1", text);
}

TEST_F(NpyTest, TruncationAtEveryByte) {
  const std::string text =
      file(dictionary("<f4", "(2, 2)"), bytes<float>({1, 2, 3, 4}));
  for (size_t size = 0; size < text.size(); ++size)
    expectRefused(ErrorCode::Io, "truncated: expected", text.substr(0, size));
  expectRefused(ErrorCode::Io,
                "expected 16 bytes for shape [2, 2] of '<f4', "
                "but got 15",
                text.substr(0, text.size() - 1));
}

TEST_F(NpyTest, BadHeaders) {
  const auto io = ErrorCode::Io;
  const std::string data(64, '\0');
  const char *start = "{'descr': '<f4', 'fortran_order': False, 'shape': ";
  const auto refuse = [&](const std::string &header, const char *part) {
    expectRefused(io, std::string("bad header: expected ") + part,
                  file(header, data));
  };
  refuse("", "'{', but got the end of the header");
  refuse("\x01\x02", "'{', but got \"??\"");
  refuse("{}", "the keys");
  refuse("{'descr': '<f4', 'shape': (1,)}", "the keys");
  refuse(std::string(start) + "(1,), 'shape': (1,)}", "each of");
  refuse(std::string(start) + "(1,), 'more': 1}", "each of");
  refuse(std::string(start) + "(1,)", "'}'");
  refuse(std::string(start) + "(1,)} x", "the end of the header");
  refuse(std::string(start) + "1}", "'('");
  refuse(std::string(start) + "(1)}", "','");
  refuse(std::string(start) + "(1 2)}", "','");
  refuse(std::string(start) + "(1, 2 3)}", "')'");
  refuse(std::string(start) + "(,)}", "an extent of 0 or more");
  refuse(std::string(start) + "(-1,)}", "an extent of 0 or more");
  refuse(std::string(start) + "(1.5,)}", "','");
  refuse(std::string(start) + "(99999999999999999999,)}",
         "an extent of 0 or more");
  refuse(std::string(start) + "(None,)}", "an extent of 0 or more");
  refuse("{'descr': '<f4", "a string");
  refuse("{descr: '<f4'}", "a string");
  refuse("{'descr' '<f4'}", "':'");
  refuse("{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
         "True or False");
}

TEST_F(NpyTest, HugeShapesAllocateNothing) {
  const auto io = ErrorCode::Io;
  expectRefused(io, "truncated: expected 4000000000000",
                file(dictionary("<f4", "(1000000000000,)"), ""));
  expectRefused(io, "exceeds 63 bits",
                file(dictionary("<f4", "(9223372036854775807,)"), ""));
  expectRefused(
      io, "exceeds 63 bits",
      file(dictionary("<f8", "(4294967296, 4294967296, 4294967296)"), ""));
  expectRefused(io, "exceeds 63 bits",
                file(dictionary("<f4", "(0, 9223372036854775807)"), ""));
  std::string ones = "(";
  for (int i = 0; i < 65; ++i)
    ones += "1, ";
  expectRefused(io, "at most 64 dimensions, but got 65",
                file(dictionary("<f4", ones + ")"), bytes<float>({1})));
  // A header that claims to be 4 GiB long.
  expectRefused(io, "truncated: expected a header of 4294967295 bytes",
                std::string("\x93NUMPY\2\0\xFF\xFF\xFF\xFF{", 13));
}

TEST_F(NpyTest, MutatedFilesReadOrThrow) {
  const std::string seeds[] = {
      file(dictionary("<f4", "(2, 3)"), bytes<float>({1, 2, 3, 4, 5, 6})),
      file(dictionary("|b1", "(4,)", "True"), std::string(4, '\2'), 2),
      file(dictionary("<u2", "()"), bytes<uint16_t>({0x3F80}), 3)};
  static constexpr char symbols[] =
      "'\"{}()[],:0123456789L-<>|=fiubTrue \n\xFF"; // and the final \0
  const std::string alphabet(symbols, sizeof(symbols));
  std::mt19937 random(1);
  const auto below = [&](size_t n) { return random() % n; };
  int successes = 0, refusals = 0;
  for (int round = 0; round < 6000; ++round) {
    std::string text = seeds[below(3)];
    for (size_t edits = 1 + below(4); edits-- > 0;) {
      const size_t place = below(text.size());
      switch (below(5)) {
      case 0:
        text[place] = static_cast<char>(random());
        break;
      case 1:
        text[place] = alphabet[below(alphabet.size())];
        break;
      case 2:
        text.insert(place, 1 + below(20), alphabet[below(alphabet.size())]);
        break;
      case 3:
        text.erase(place, 1 + below(3));
        break;
      case 4:
        text.insert(place, text.substr(below(text.size()), below(12)));
        break;
      }
      if (text.empty())
        break;
    }
    try {
      const Tensor t = readText(
          text, round % 2 ? std::optional<DType>(DType::BF16) : std::nullopt);
      // What was read must have been in the file.
      ASSERT_LE(t.nbytes(), text.size());
      (void)t.toVector<double>();
      ++successes;
    } catch (const Error &error) {
      ASSERT_THAT(error.what(), HasSubstr(path));
      ASSERT_NE(error.code(), ErrorCode::Internal);
      ++refusals;
    }
  }
  EXPECT_GT(successes, 100);
  EXPECT_GT(refusals, 100);
}

TEST_F(NpyTest, FailedWritesLeaveNothing) {
  const Tensor t = Tensor::zeros({2}, DType::F32);
  EXPECT_ERROR(Io, "cannot write '" + folder.file("no/t.npy") + "'",
               writeNpy(folder.file("no/t.npy"), t));
  EXPECT_ERROR(Io, "not a regular file", writeNpy(folder.file(""), t));
  EXPECT_ERROR(InvalidArgument, "undefined", writeNpy(path, Tensor()));
  EXPECT_ERROR(InvalidArgument, "at most 64 dimensions, but the tensor has 65",
               writeNpy(path, Tensor::zeros(Shape(65, 1), DType::F32)));
  NpyWriteOptions options;
  options.narrow = static_cast<NpyNarrow>(2);
  EXPECT_ERROR(InvalidArgument,
               "expected narrow to be AsBits (0) or AsFloat32 (1), but got "
               "the number 2",
               writeNpy(path, t, options));
  EXPECT_EQ(folder.size(), 0u);
}

TEST_F(NpyTest, DataAfterTheArrayIsLeftAlone) {
  // np.save may write several arrays into one file.
  const std::string one = file(dictionary("<f4", "(1,)"), bytes<float>({1}));
  EXPECT_EQ(readText(one + one).item<float>(), 1);
}
