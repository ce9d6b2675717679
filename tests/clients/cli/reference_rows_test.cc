#include "clients/cli/reference_rows.h"

#include <gtest/gtest.h>

namespace rung::cli {
namespace {

TEST(ParseReferenceRows, ReadsStringsAndNumbers) {
  const auto reference = ParseReferenceRows(
      R"({"title": "the article", "columns": ["grid", "ASHA"],
          "rows": [{"label": "accuracy", "values": [84.5, "85.3 %"]}]})",
      "article.json");
  ASSERT_TRUE(reference.ok()) << reference.status();
  EXPECT_EQ(reference->title, "the article");
  ASSERT_EQ(reference->rows.size(), 1U);
  EXPECT_EQ(reference->rows[0].values, (std::vector<std::string>{"84.5", "85.3 %"}));
  EXPECT_EQ(reference->note, "");
}

TEST(ParseReferenceRows, NamesWhatIsWrong) {
  const auto message = [](const std::string& text) {
    return std::string(ParseReferenceRows(text, "a.json").status().message());
  };
  EXPECT_EQ(message("["), "a.json: the file: must be a JSON object");
  EXPECT_EQ(message("{}"), "a.json: columns: must be an array of strings");
  EXPECT_EQ(message(R"({"columns": ["a"], "row": []})"),
            "a.json: row: must be absent: allowed are title, columns, rows, note");
  EXPECT_EQ(message(R"({"columns": ["a"], "rows": [{"label": "x", "values": ["1", "2"]}]})"),
            "a.json: rows[0]: must be {\"label\": string, \"values\": [at most one a column]}");
}

}  // namespace
}  // namespace rung::cli
