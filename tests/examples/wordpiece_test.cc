#include "examples/bert_finetune/wordpiece.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/examples/temporary_file.h"

namespace bert {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Ids are line numbers: [PAD] 0, [UNK] 1, [CLS] 2, [SEP] 3, play 4, ##ing 5, ##er 6, "," 7, cafe 8,
// "n" 9, ##o 10, the character for "middle" 11, "æ" 12.
constexpr std::string_view kVocabulary =
    "[PAD]\n[UNK]\n[CLS]\n[SEP]\nplay\n##ing\n##er\n,\ncafe\nn\n##o\n\xE4\xB8\xAD\n\xC3\xA6\n";

WordPieceTokenizer Tokenizer() {
  const TemporaryFile file(kVocabulary);
  return *WordPieceTokenizer::Load(file.path());
}

TEST(WordPiece, TakesTheLongestPiecesAndLowersCase) {
  EXPECT_THAT(Tokenizer().Encode("Playing player", 48), ElementsAre(2, 4, 5, 4, 6, 3));
}

TEST(WordPiece, WordWithOneUnknownPartIsUnknownAsAWhole) {
  EXPECT_THAT(Tokenizer().Encode("playxing play", 48), ElementsAre(2, 1, 4, 3));
}

TEST(WordPiece, PunctuationAndCjkStandAlone) {
  EXPECT_THAT(Tokenizer().Encode("play,play\xE4\xB8\xADplay", 48),
              ElementsAre(2, 4, 7, 4, 11, 4, 3));
}

TEST(WordPiece, AccentsAreStrippedComposedOrNot) {
  EXPECT_THAT(Tokenizer().Encode("CAF\xC3\x89", 48), ElementsAre(2, 8, 3));           // É
  EXPECT_THAT(Tokenizer().Encode("cafe\xCC\x81", 48), ElementsAre(2, 8, 3));          // e + acute
  EXPECT_THAT(Tokenizer().Encode("\xC5\x87\xC5\x8D", 48), ElementsAre(2, 9, 10, 3));  // Ňō
  EXPECT_THAT(Tokenizer().Encode("\xC3\x86", 48), ElementsAre(2, 12, 3));  // Æ only loses case
}

TEST(WordPiece, CutKeepsTheSeparator) {
  EXPECT_THAT(Tokenizer().Encode("play play play", 4), ElementsAre(2, 4, 4, 3));
}

TEST(WordPiece, EmptyTextIsTwoTokens) {
  EXPECT_THAT(Tokenizer().Encode("", 48), ElementsAre(2, 3));
}

TEST(WordPiece, BrokenUtf8AndControlsAreDropped) {
  EXPECT_THAT(Tokenizer().Encode("pl\xFF\x01"
                                 "ay \xC3",
                                 48),
              ElementsAre(2, 4, 3));
}

TEST(WordPiece, WordOfMoreThanAHundredCharactersIsUnknown) {
  EXPECT_THAT(Tokenizer().Encode("n" + std::string(100, 'o'), 200), ElementsAre(2, 1, 3));
}

TEST(WordPiece, VocabularyWithoutASpecialTokenIsRefusedByName) {
  const TemporaryFile file("[PAD]\n[UNK]\n[CLS]\n");
  const auto tokenizer = WordPieceTokenizer::Load(file.path());
  EXPECT_EQ(tokenizer.status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(tokenizer.status().message(), HasSubstr("no token [SEP] among 3 lines"));
}

TEST(WordPiece, MissingVocabularyNamesTheRemedy) {
  const auto tokenizer = WordPieceTokenizer::Load("/nonexistent/vocab.txt");
  EXPECT_EQ(tokenizer.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(tokenizer.status().message(), HasSubstr("run scripts/setup"));
}

}  // namespace
}  // namespace bert
