#include "proto/token.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace rung {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

TEST(Token, LinesAreNamesAndSecretsWithoutCommentsAndWhiteSpaceAtTheEnd) {
  const auto tokens = ParseTokens("# people\n\nada:s3:cret \t\r\nbéa b:~!\n#x:y\neve:last", "f");
  ASSERT_TRUE(tokens.ok()) << tokens.status();
  ASSERT_THAT(*tokens, SizeIs(3));
  EXPECT_EQ((*tokens)[0].name, "ada");
  EXPECT_EQ((*tokens)[0].secret, "s3:cret");
  EXPECT_EQ((*tokens)[1].name, "béa b");
  EXPECT_EQ((*tokens)[1].secret, "~!");
  EXPECT_EQ((*tokens)[2].secret, "last");
  EXPECT_THAT(*ParseTokens("", "f"), SizeIs(0));
}

TEST(Token, LineThatIsNoTokenIsRefusedWithItsNumber) {
  for (const char* line : {"nothing", ":x", "ada:", "ada: ", "caf\xe9:x", "a\x01:x"}) {
    const auto tokens = ParseTokens(std::string("\nme:s\n") + line + "\n", "/h/token");
    EXPECT_EQ(tokens.status().code(), absl::StatusCode::kFailedPrecondition) << line;
    EXPECT_THAT(std::string(tokens.status().message()),
                HasSubstr("/h/token:3: must be name:secret"));
  }
}

TEST(Token, SecretThatGrpcCannotSendIsRefusedWithTheByteAndNotTold) {
  const struct {
    std::string secret;
    const char* found;
  } cases[] = {{"hid\tden", "0x09"},
               {"hid den", "0x20"},
               {"hidd\xc3\xa9n", "0xc3"},
               {"hidd\x7f", "0x7f"},
               {"hidd\x01"
                "en",
                "0x01"},
               {std::string("hi\0dden", 7), "0x00"}};
  for (const auto& [secret, found] : cases) {
    const auto tokens = ParseTokens("me:" + secret + "\n", "f");
    ASSERT_FALSE(tokens.ok()) << found;
    const std::string message(tokens.status().message());
    EXPECT_EQ(
        message,
        std::string("f:1: must be name:secret, the secret of visible ASCII characters without "
                    "spaces, found byte ") +
            found);
    EXPECT_THAT(message, Not(HasSubstr("hid")));
  }
}

class TokenFileOnDisk : public ::testing::Test {
 protected:
  TokenFileOnDisk() {
    std::string pattern = (std::filesystem::temp_directory_path() / "rung-token-XXXXXX").string();
    folder_ = mkdtemp(pattern.data());
  }
  ~TokenFileOnDisk() override { std::filesystem::remove_all(folder_); }

  absl::StatusOr<std::string> SecretOf(const std::string& text) const {
    std::ofstream(folder_ + "/token") << text;
    return ReadSecret(folder_ + "/token");
  }

  std::string folder_;
};

TEST_F(TokenFileOnDisk, ItsSecretIsTheFirstOne) {
  EXPECT_EQ(*SecretOf("# tokens\n\nworkers:s3:cret \r\nme:other\n"), "s3:cret");
  EXPECT_EQ(*SecretOf("me:first\nno token\n"), "first");
}

TEST_F(TokenFileOnDisk, SaysWhyThereIsNone) {
  EXPECT_EQ(ReadSecret(folder_ + "/gone").status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(SecretOf("# nothing\n").status().message(),
            "the token file '" + folder_ + "/token' holds no line of the form name:secret");
  EXPECT_EQ(SecretOf("me:a\tb\nyou:c\n").status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(ReadSecret("/dev/zero").status().message()), HasSubstr("at most 1 MiB"));
}

}  // namespace
}  // namespace rung
