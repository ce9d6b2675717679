#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "examples/bert_finetune/wordpiece.h"

namespace bert {

/// Tokenized rows, one after another. Row i has tokens [begins[i], begins[i + 1]).
struct Rows {
  std::vector<int32_t> ids;       ///< number of the row in the file
  std::vector<int64_t> labels;    ///< 1 positive, 0 negative
  std::vector<int32_t> tokens;    ///< of all rows
  std::vector<size_t> begins{0};  ///< size() + 1 offsets into tokens

  size_t size() const { return labels.size(); }
  size_t length(size_t row) const { return begins[row + 1] - begins[row]; }
  std::span<const int32_t> row_tokens(size_t row) const {
    return std::span(tokens).subspan(begins[row], length(row));
  }
};

/// Movie review snippets, each labelled by the sign of its mean human rating.
///
/// Source: Hutto & Gilbert 2014, `movieReviewSnippets_GroundTruth.txt`: lines of ID, mean rating in
/// [-4, 4] and text, tab-separated. Rows rated exactly 0 have no label and are left out. The split
/// is a function of the ID alone: validation ID % 10 == 0, which the search ranks by; test
/// ID % 10 == 5, which no search sees; the rest is training.
struct Corpus {
  Rows rows;
  std::vector<size_t> training;  ///< indices into rows, ascending; so are the others
  std::vector<size_t> validation;
  std::vector<size_t> test;

  /// Rows longer than `max_tokens` are cut. Errors: NOT_FOUND (no file), INVALID_ARGUMENT naming
  /// the line that is no row or the split that is empty.
  static absl::StatusOr<Corpus> Load(const std::string& path, const WordPieceTokenizer& tokenizer,
                                     size_t max_tokens);
};

}  // namespace bert
