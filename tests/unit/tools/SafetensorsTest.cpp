//===- tests/unit/tools/SafetensorsTest.cpp -------------------------------===//
//
// Part of Eider, under the Apache License v2.0.
//
// What is written is read back, whatever it is; what is malformed is refused in words that name the
// file and the tensor.
//
//===----------------------------------------------------------------------===//
#include "tools/safetensors/Safetensors.h"
#include "eider/error.h"

#include <csignal>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>
#include <rapidcheck.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

namespace {

using namespace eider;
using namespace eider::safetensors;
using testing::AllOf;
using testing::HasSubstr;

const std::vector<DType> kTypes = {DType::f32,  DType::bf16,     DType::f16,      DType::e4m3,
                                   DType::e5m2, DType::e4m3fnuz, DType::e5m2fnuz, DType::e8m0,
                                   DType::i32,  DType::i64,      DType::u8};

/// A directory of its own for each test.
class SafetensorsTest : public testing::Test {
protected:
  SafetensorsTest() {
    char name[] = "/tmp/eider-safetensors-XXXXXX";
    directory = ::mkdtemp(name);
    path = directory / "file.safetensors";
  }
  ~SafetensorsTest() override { std::filesystem::remove_all(directory); }

  /// Writes a file of these parts; `headerBytes` is what the file claims, by default the truth.
  void put(const std::string &header, const std::string &data = "", int64_t headerBytes = -1) {
    uint64_t claimed = headerBytes < 0 ? header.size() : static_cast<uint64_t>(headerBytes);
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char *>(&claimed), sizeof(claimed));
    file << header << data;
  }

  /// The error of opening the file; one line, names the file, blames the request.
  std::string refusal() {
    try {
      File file(path);
    } catch (const Error &error) {
      EXPECT_EQ(error.kind(), ErrorKind::Request);
      EXPECT_THAT(error.what(), HasSubstr(path.string()));
      EXPECT_THAT(error.what(), Not(HasSubstr("\n")));
      return error.what();
    }
    ADD_FAILURE() << "the file was accepted";
    return "";
  }

  /// The refusal of a header over `data`.
  std::string refusalOf(const std::string &header, const std::string &data = "") {
    put(header, data);
    return refusal();
  }

  std::filesystem::path directory, path;
};

/// What a generated tensor owns.
struct Stored {
  std::string name;
  DType dtype;
  std::vector<int64_t> shape;
  std::vector<std::byte> data;
};

std::vector<Stored> arbitraryTensors() {
  std::vector<Stored> tensors;
  auto names = *rc::gen::unique<std::vector<std::string>>(
      rc::gen::container<std::string>(rc::gen::inRange<char>(1, 127)));
  for (const std::string &name : names) {
    Stored tensor{name, *rc::gen::elementOf(kTypes), {}, {}};
    tensor.shape = *rc::gen::resize(
        4, rc::gen::container<std::vector<int64_t>>(rc::gen::inRange<int64_t>(0, 6)));
    int64_t elements =
        std::accumulate(tensor.shape.begin(), tensor.shape.end(), int64_t(1), std::multiplies<>());
    for (size_t i = 0; i < elements * sizeOf(tensor.dtype); ++i)
      tensor.data.push_back(static_cast<std::byte>(*rc::gen::arbitrary<uint8_t>()));
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

std::vector<Tensor> viewsOf(const std::vector<Stored> &tensors) {
  std::vector<Tensor> views;
  for (const Stored &tensor : tensors)
    views.push_back({tensor.name, tensor.dtype, tensor.shape, tensor.data});
  return views;
}

TEST_F(SafetensorsTest, WhatIsWrittenIsReadBack) {
  EXPECT_TRUE(rc::check([&] {
    std::vector<Stored> tensors = arbitraryTensors();
    write(path, viewsOf(tensors));
    File file(path);
    RC_ASSERT(file.entries().size() == tensors.size());
    for (const Stored &tensor : tensors) {
      const Entry *entry = file.find(tensor.name);
      RC_ASSERT(entry != nullptr);
      RC_ASSERT(entry->dtype == tensor.dtype);
      RC_ASSERT(entry->shape == tensor.shape);
      RC_ASSERT(entry->offset % sizeOf(tensor.dtype) == 0u);
      RC_ASSERT(file.read(*entry) == tensor.data);
    }
  }));
}

TEST_F(SafetensorsTest, AnyCorruptionOfAByteIsReadOrRefusedButNeverWorse) {
  EXPECT_TRUE(rc::check([&] {
    write(path, viewsOf(arbitraryTensors()));
    std::fstream bytes(path, std::ios::binary | std::ios::in | std::ios::out);
    auto size = static_cast<int64_t>(std::filesystem::file_size(path));
    bytes.seekp(*rc::gen::inRange<int64_t>(0, size));
    bytes.put(*rc::gen::arbitrary<char>());
    bytes.close();
    try {
      File file(path);
      for (const Entry &entry : file.entries())
        RC_ASSERT(file.read(entry).size() == entry.bytes);
    } catch (const Error &error) {
      RC_ASSERT(error.kind() == ErrorKind::Request);
      RC_ASSERT(std::string(error.what()).find('\n') == std::string::npos);
    }
  }));
}

TEST_F(SafetensorsTest, EveryTruncationIsRefused) {
  std::byte data[12] = {};
  write(path, std::vector<Tensor>{{"x", DType::f32, {3}, data}});
  for (auto size = static_cast<int64_t>(std::filesystem::file_size(path)) - 1; size >= 0; --size) {
    std::filesystem::resize_file(path, static_cast<uintmax_t>(size));
    EXPECT_NE(refusal(), "") << "at " << size << " bytes";
  }
}

TEST_F(SafetensorsTest, TheHeaderEndsAtAMultipleOfEight) {
  std::byte data[3] = {};
  write(path, std::vector<Tensor>{{"a", DType::u8, {3}, data}});
  EXPECT_EQ((std::filesystem::file_size(path) - 3) % 8, 0u);
}

TEST_F(SafetensorsTest, MetadataIsSkipped) {
  put(R"({"__metadata__":{"format":"pt"},"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})",
      "a");
  File file(path);
  ASSERT_EQ(file.entries().size(), 1u);
  EXPECT_EQ(file.read(file.entries()[0])[0], std::byte('a'));
}

TEST_F(SafetensorsTest, AScalarHasNoExtents) {
  put(R"({"x":{"dtype":"F32","shape":[],"data_offsets":[0,4]}})", "abcd");
  EXPECT_EQ(File(path).entries()[0].bytes, 4u);
}

//===-- The frame ---------------------------------------------------------===//

TEST_F(SafetensorsTest, MissingFile) { EXPECT_THAT(refusal(), HasSubstr("No such file")); }

TEST_F(SafetensorsTest, Directory) {
  std::filesystem::create_directory(path);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(SafetensorsTest, PipeWithoutWriterDoesNotBlock) {
  ASSERT_EQ(::mkfifo(path.c_str(), 0600), 0);
  EXPECT_THAT(refusal(), HasSubstr("not a regular file"));
}

TEST_F(SafetensorsTest, TooShortForALength) {
  std::ofstream(path) << "abc";
  EXPECT_THAT(refusal(), HasSubstr("truncated: 3 bytes"));
}

TEST_F(SafetensorsTest, HeaderLongerThanTheFile) {
  put("{}", "", 1000);
  EXPECT_THAT(refusal(), AllOf(HasSubstr("1000 bytes"), HasSubstr("has 2")));
}

TEST_F(SafetensorsTest, HeaderLengthOfAllOnes) {
  put("{}", "", 0);
  std::fstream file(path, std::ios::in | std::ios::out | std::ios::binary);
  file << "\xff\xff\xff\xff\xff\xff\xff\xff";
  file.close();
  EXPECT_THAT(refusal(), HasSubstr("18446744073709551615 bytes"));
}

TEST_F(SafetensorsTest, HeaderOverTheLimitIsNotEvenRead) {
  put("{}", "", kMaximumHeaderBytes + 1);
  std::filesystem::resize_file(path, kMaximumHeaderBytes + 100); // sparse: no space is used
  EXPECT_THAT(refusal(), HasSubstr("over the format's limit"));
}

//===-- The JSON ----------------------------------------------------------===//

TEST_F(SafetensorsTest, NotAnObject) {
  EXPECT_THAT(refusalOf("[1]"), HasSubstr("does not start with '{'"));
  EXPECT_THAT(refusalOf(""), HasSubstr("does not start with '{'"));
}

TEST_F(SafetensorsTest, NotJson) {
  EXPECT_THAT(refusalOf("{\"x\":"), HasSubstr("not JSON"));
  EXPECT_THAT(refusalOf("{} {}"), HasSubstr("not JSON"));
  EXPECT_THAT(refusalOf("{\"\xff\":1}"), HasSubstr("not JSON"));
}

TEST_F(SafetensorsTest, DeepNestingCostsNothing) {
  EXPECT_THAT(refusalOf("{\"x\":" + std::string(5'000'000, '[')), HasSubstr("an array"));
}

TEST_F(SafetensorsTest, DuplicateNames) {
  std::string one = R"("x":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  EXPECT_THAT(refusalOf("{" + one + "," + one + "}"), HasSubstr("'x' stands twice"));
}

TEST_F(SafetensorsTest, DuplicateFields) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","dtype":"U8","shape":[0],"data_offsets":[0,0]}})"),
              HasSubstr("tensor 'x': the field 'dtype' stands twice"));
}

TEST_F(SafetensorsTest, UnknownField) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0],"more":1}})"),
              HasSubstr("tensor 'x': unknown field 'more'"));
}

TEST_F(SafetensorsTest, MissingFields) {
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[0],"data_offsets":[0,0]}})"), HasSubstr("'x': no dtype"));
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","data_offsets":[0,0]}})"),
              HasSubstr("'x': no shape"));
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[0]}})"), HasSubstr("'x': no data_offsets"));
}

TEST_F(SafetensorsTest, WrongKindsOfValue) {
  EXPECT_THAT(refusalOf(R"({"x":3})"), HasSubstr("a number at 'x'"));
  EXPECT_THAT(refusalOf(R"({"x":"y"})"), HasSubstr("the string 'y' at 'x'"));
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":3}})"), HasSubstr("dtype is a number"));
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":["U8"]}})"), HasSubstr("dtype is an array"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":"3"}})"), HasSubstr("shape is the string '3'"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":{}}})"), HasSubstr("shape is an object"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[null]}})"), HasSubstr("shape has null"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[[1]]}})"), HasSubstr("shape has an array"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[true]}})"), HasSubstr("shape has a boolean"));
  EXPECT_THAT(refusalOf(R"({"__metadata__":{"a":1}})"), HasSubstr("__metadata__ has a number"));
}

TEST_F(SafetensorsTest, NumbersThatAreNoExtents) {
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[-1]}})"), HasSubstr("shape has a negative number"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[1.5]}})"), HasSubstr("no integer of 64 bits"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[1e3]}})"), HasSubstr("no integer of 64 bits"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[99999999999999999999]}})"),
              HasSubstr("no integer of 64 bits"));
  EXPECT_THAT(refusalOf(R"({"x":{"shape":[9223372036854775808]}})"), HasSubstr("beyond 63 bits"));
  EXPECT_THAT(refusalOf(R"({"x":{"data_offsets":[-4,0]}})"),
              HasSubstr("data_offsets has a negative number"));
}

TEST_F(SafetensorsTest, UnknownDType) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"C64","shape":[0],"data_offsets":[0,0]}})"),
              AllOf(HasSubstr("tensor 'x': unknown dtype 'C64'"), HasSubstr("F8_E4M3")));
}

TEST_F(SafetensorsTest, ANameCannotForgeLinesOfAnError) {
  std::string message = refusalOf(R"({"a\nb\u001b[31m":{"dtype":"C64"}})");
  EXPECT_THAT(message, HasSubstr(R"('a\x0ab\x1b[31m')"));
  EXPECT_LT(refusalOf("{\"" + std::string(100000, 'n') + "\":1}").size(), 500u);
}

//===-- Offsets -----------------------------------------------------------===//

TEST_F(SafetensorsTest, OffsetsOtherThanTwo) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0]}})"),
              HasSubstr("data_offsets has 1 numbers"));
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[0],"data_offsets":[0,0,0]}})"),
              HasSubstr("data_offsets has 3 numbers"));
}

TEST_F(SafetensorsTest, EndBeforeBegin) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[2,1]}})", "abc"),
              HasSubstr("end (1) before they begin (2)"));
}

TEST_F(SafetensorsTest, ShapeAndBytesDisagree) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"BF16","shape":[3,5],"data_offsets":[0,29]}})",
                        std::string(29, 'a')),
              HasSubstr("tensor 'x': shape and dtype make 30 bytes, data_offsets 29"));
}

TEST_F(SafetensorsTest, ShapeOverflows) {
  EXPECT_THAT(
      refusalOf(R"({"x":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,0]}})"),
      HasSubstr("overflows 63 bits"));
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[0,4294967296,4294967296],)"
                        R"("data_offsets":[0,0]}})"),
              HasSubstr("overflows 63 bits"));
}

TEST_F(SafetensorsTest, OutOfRange) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[4],"data_offsets":[0,4]}})", "abc"),
              HasSubstr("tensor 'x': its data ends at byte 4 of 3"));
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[2],)"
                        R"("data_offsets":[9223372036854775805,9223372036854775807]}})",
                        "abc"),
              HasSubstr("ends at byte 9223372036854775807 of 3"));
}

TEST_F(SafetensorsTest, Overlap) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[3],"data_offsets":[0,3]},)"
                        R"("y":{"dtype":"U8","shape":[2],"data_offsets":[2,4]}})",
                        "abcd"),
              HasSubstr("tensor 'y': its data overlaps"));
}

TEST_F(SafetensorsTest, Holes) {
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[2,3]}})", "abc"),
              HasSubstr("tensor 'x': a hole of 2 bytes"));
  EXPECT_THAT(refusalOf(R"({"x":{"dtype":"U8","shape":[1],"data_offsets":[0,1]}})", "abc"),
              HasSubstr("2 bytes after the last tensor"));
}

//===-- Reading and writing -----------------------------------------------===//

TEST_F(SafetensorsTest, AFileThatShrinksIsAnError) {
  std::byte data[12] = {};
  write(path, std::vector<Tensor>{{"x", DType::f32, {3}, data}});
  File file(path);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) - 1);
  EXPECT_THROW(file.read(file.entries()[0]), Error);
}

std::string refusalToWrite(const std::string &path, const std::vector<Tensor> &tensors) {
  try {
    write(path, tensors);
  } catch (const Error &error) {
    EXPECT_EQ(error.kind(), ErrorKind::Request);
    return error.what();
  }
  ADD_FAILURE() << "it was written";
  return "";
}

TEST_F(SafetensorsTest, WriterChecksItsTensors) {
  std::byte byte[1] = {};
  EXPECT_THAT(refusalToWrite(path, {{"x", DType::u8, {1}, byte}, {"x", DType::u8, {1}, byte}}),
              HasSubstr("tensor 'x': given twice"));
  EXPECT_THAT(refusalToWrite(path, {{"x", DType::f32, {1}, byte}}), HasSubstr("4 bytes, 1"));
  EXPECT_THAT(refusalToWrite(path, {{"x", DType::u8, {-1}, byte}}), HasSubstr("negative"));
  EXPECT_THAT(refusalToWrite(path, {{"__metadata__", DType::u8, {1}, byte}}), HasSubstr("itself"));
  EXPECT_THAT(refusalToWrite(path, {{"\xff", DType::u8, {1}, byte}}), HasSubstr("UTF-8"));
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST_F(SafetensorsTest, WriterNeedsAPlace) {
  EXPECT_THAT(refusalToWrite(directory / "none" / "x", {}), HasSubstr("No such file or directory"));
  EXPECT_THAT(refusalToWrite(directory, {}), HasSubstr("not a regular file"));
  EXPECT_THAT(refusalToWrite("/dev/null", {}), HasSubstr("not a regular file"));
}

TEST_F(SafetensorsTest, AFailedWriteLeavesTheOldFileAndNothingElse) {
  std::byte old[1] = {std::byte('o')};
  write(path, std::vector<Tensor>{{"old", DType::u8, {1}, old}});
  rlimit before;
  ::getrlimit(RLIMIT_FSIZE, &before);
  auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit small{4096, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  std::vector<std::byte> big(100000);
  EXPECT_THROW(write(path, std::vector<Tensor>{{"new", DType::u8, {100000}, big}}), Error);
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  EXPECT_NE(File(path).find("old"), nullptr);
  auto files = std::filesystem::directory_iterator(directory);
  EXPECT_EQ(std::distance(begin(files), end(files)), 1);
}

} // namespace
