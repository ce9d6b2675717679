#include "examples/bert_finetune/corpus.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/examples/temporary_file.h"

namespace bert {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

absl::StatusOr<Corpus> LoadText(std::string_view text) {
  const TemporaryFile vocabulary("[PAD]\n[UNK]\n[CLS]\n[SEP]\ngood\nbad\n");
  const TemporaryFile file(text);
  return Corpus::Load(file.path(), *WordPieceTokenizer::Load(vocabulary.path()), 4);
}

TEST(Corpus, SplitsByIdAndLabelsBySignOfTheRating) {
  const auto corpus =
      LoadText("1\t2.5\tgood\r\n5\t-0.1\tbad bad\r\n10\t0.2\tgood\r\n12\t-3\tbad\r\n");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  EXPECT_THAT(corpus->rows.ids, ElementsAre(1, 5, 10, 12));
  EXPECT_THAT(corpus->rows.labels, ElementsAre(1, 0, 1, 0));
  EXPECT_THAT(corpus->training, ElementsAre(0, 3));
  EXPECT_THAT(corpus->validation, ElementsAre(2));
  EXPECT_THAT(corpus->test, ElementsAre(1));
  EXPECT_THAT(corpus->rows.row_tokens(1), ElementsAre(2, 5, 5, 3));
  EXPECT_THAT(corpus->rows.row_tokens(3), ElementsAre(2, 5, 3));
}

TEST(Corpus, RowRatedZeroIsLeftOut) {
  const auto corpus = LoadText("1\t1\tgood\n2\t0\tgood\n5\t1\tgood\n10\t1\tgood\n");
  ASSERT_TRUE(corpus.ok()) << corpus.status();
  EXPECT_THAT(corpus->rows.ids, ElementsAre(1, 5, 10));
}

TEST(Corpus, RowThatIsNoneIsRefusedWithItsLine) {
  for (const std::string_view line : {"x\t1\tgood", "2\tgood", "3\tnan\tgood", "4\t1x\tgood"}) {
    const auto corpus = LoadText("1\t1\tgood\n" + std::string(line) + "\n");
    EXPECT_EQ(corpus.status().code(), absl::StatusCode::kInvalidArgument) << line;
    EXPECT_THAT(corpus.status().message(), HasSubstr(":2: must be ID, mean rating")) << line;
  }
}

TEST(Corpus, EmptySplitIsRefused) {
  EXPECT_THAT(LoadText("1\t1\tgood\n").status().message(),
              HasSubstr("training 1, validation 0, test 0"));
}

}  // namespace
}  // namespace bert
