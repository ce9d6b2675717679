#include "examples/bert_finetune/corpus.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <fstream>
#include <string_view>

namespace bert {
namespace {

void Append(int32_t id, bool positive, const std::vector<int32_t>& tokens, Rows& rows) {
  rows.ids.push_back(id);
  rows.labels.push_back(positive ? 1 : 0);
  rows.tokens.insert(rows.tokens.end(), tokens.begin(), tokens.end());
  rows.begins.push_back(rows.tokens.size());
}

/// All of `text` as a number.
template <typename T>
bool ParseAll(std::string_view text, T& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

}  // namespace

absl::StatusOr<Corpus> Corpus::Load(const std::string& path, const WordPieceTokenizer& tokenizer,
                                    size_t max_tokens) {
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(fmt::format("cannot read the text {}: run scripts/setup", path));
  }
  Corpus corpus;
  std::string line;
  for (int64_t number = 1; std::getline(file, line); ++number) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.empty()) continue;
    const size_t first_tab = line.find('\t');
    const size_t second_tab =
        first_tab == std::string::npos ? first_tab : line.find('\t', first_tab + 1);
    const std::string_view view = line;
    int32_t id = 0;
    double rating = 0;
    if (second_tab == std::string::npos || !ParseAll(view.substr(0, first_tab), id) || id < 0 ||
        !ParseAll(view.substr(first_tab + 1, second_tab - first_tab - 1), rating) ||
        !std::isfinite(rating)) {
      return absl::InvalidArgumentError(
          fmt::format("{}:{}: must be ID, mean rating and text with tabs between, found '{}'", path,
                      number, view.substr(0, 60)));
    }
    if (rating == 0) continue;
    std::vector<size_t>& split = id % 10 == 0   ? corpus.validation
                                 : id % 10 == 5 ? corpus.test
                                                : corpus.training;
    split.push_back(corpus.rows.size());
    Append(id, rating > 0, tokenizer.Encode(view.substr(second_tab + 1), max_tokens), corpus.rows);
  }
  if (corpus.training.empty() || corpus.validation.empty() || corpus.test.empty()) {
    return absl::InvalidArgumentError(
        fmt::format("{}: a split is empty: training {}, validation {}, test {} rows", path,
                    corpus.training.size(), corpus.validation.size(), corpus.test.size()));
  }
  return corpus;
}

}  // namespace bert
