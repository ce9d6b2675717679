#include "examples/bert_finetune/safetensors.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>

#include "tests/examples/temporary_file.h"

namespace bert {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// A file of `header`, padded so that the data are aligned, and the floats 1, 2, 3, 4.
std::string FileOf(std::string header) {
  header.resize((header.size() + 7) / 8 * 8, ' ');
  const uint64_t length = header.size();
  const float values[] = {1, 2, 3, 4};
  std::string file(sizeof length, '\0');
  std::memcpy(file.data(), &length, sizeof length);
  file += header;
  return file.append(reinterpret_cast<const char*>(values), sizeof values);
}

absl::StatusOr<Safetensors> OpenBytes(std::string_view bytes) {
  const TemporaryFile file(bytes);
  return Safetensors::Open(file.path());  // the mapping outlives the name
}

constexpr std::string_view kMatrix =
    R"({"__metadata__":{"format":"pt"},"m":{"dtype":"F32","shape":[2,2],"data_offsets":[0,16]}})";

TEST(SafetensorsFile, HandsOutValuesInRowOrder) {
  const auto file = OpenBytes(FileOf(std::string(kMatrix)));
  ASSERT_TRUE(file.ok()) << file.status();
  const auto values = file->Floats("m", std::vector<int64_t>{2, 2});
  ASSERT_TRUE(values.ok()) << values.status();
  EXPECT_THAT(*values, ElementsAre(1, 2, 3, 4));
}

TEST(SafetensorsFile, MissingTensorAndWrongShapeAreNamed) {
  const auto file = OpenBytes(FileOf(std::string(kMatrix)));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->Floats("pooler", std::vector<int64_t>{4}).status().message(),
              HasSubstr("no tensor pooler among its 1"));
  EXPECT_THAT(file->Floats("m", std::vector<int64_t>{4, 1}).status().message(),
              HasSubstr("tensor m must have shape [4, 1], found [2, 2]"));
}

TEST(SafetensorsFile, OtherDtypeIsRefused) {
  const auto file = OpenBytes(FileOf(R"({"m":{"dtype":"I64","shape":[2],"data_offsets":[0,16]}})"));
  ASSERT_TRUE(file.ok()) << file.status();
  EXPECT_THAT(file->Floats("m", std::vector<int64_t>{2}).status().message(),
              HasSubstr("tensor m must be F32, found I64"));
}

struct BadFile {
  std::string bytes;
  std::string message;
};

TEST(SafetensorsFile, BadFilesAreRefusedWithTheReason) {
  std::string huge = FileOf(std::string(kMatrix));
  huge[5] = '\x01';  // header length + 2^40
  const BadFile cases[] = {
      {"short", "too short"},
      {huge, "exceeds the file's"},
      {FileOf("{not json"), "no safetensors JSON"},
      {FileOf("[]x"), "no safetensors JSON"},
      {FileOf(R"({"m":{"dtype":"F32","shape":[2,2]}})"), "no safetensors JSON"},
      {FileOf(R"({"m":{"dtype":"F99","shape":[4],"data_offsets":[0,16]}})"), "unknown dtype F99"},
      {FileOf(R"({"m":{"dtype":"F32","shape":[4],"data_offsets":[0,99]}})"), "leave the 16 data"},
      {FileOf(R"({"m":{"dtype":"F32","shape":[3],"data_offsets":[0,16]}})"), "does not take 16"},
      {FileOf(R"({"m":{"dtype":"F32","shape":[-4],"data_offsets":[0,16]}})"), "does not take 16"},
      {FileOf(R"({"m":{"dtype":"F32","shape":[4611686018427387908],"data_offsets":[0,16]}})"),
       "does not take 16"},  // 4 * (2^62 + 4) bytes = 16 modulo 2^64
  };
  for (const BadFile& bad : cases) {
    const auto file = OpenBytes(bad.bytes);
    EXPECT_EQ(file.status().code(), absl::StatusCode::kInvalidArgument) << bad.message;
    EXPECT_THAT(file.status().message(), HasSubstr(bad.message));
  }
}

TEST(Fingerprint, ChangesWithEveryByteAndWithLength) {
  std::vector<std::byte> bytes(67);
  const uint64_t before = Fingerprint(bytes);
  for (std::byte& byte : bytes) {
    byte = std::byte{1};
    EXPECT_NE(Fingerprint(bytes), before);
    byte = std::byte{0};
  }
  bytes.push_back(std::byte{0});
  EXPECT_NE(Fingerprint(bytes), before);
}

}  // namespace
}  // namespace bert
