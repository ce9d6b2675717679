#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace bert {

/// BERT's uncased WordPiece tokenizer: text → token ids of a `vocab.txt`.
///
/// Source: Devlin et al. 2019 and its reference `BasicTokenizer` (clean, lower-case, strip accents,
/// split at white space, punctuation and CJK), then the greedy longest match of Wu et al. 2016.
/// Ids equal those of the `tokenizers` package on every row of the example's text. Case folding and
/// accent stripping cover ASCII, Latin-1 and Latin Extended-A; letters of other scripts pass as
/// they are, which the English vocabulary maps to [UNK] or to single characters.
class WordPieceTokenizer {
 public:
  /// Reads a vocabulary of one token a line; the line number is the id. Errors: NOT_FOUND when the
  /// file cannot be read, INVALID_ARGUMENT when [PAD] (as id 0), [UNK], [CLS] or [SEP] is missing.
  static absl::StatusOr<WordPieceTokenizer> Load(const std::string& vocabulary_path);

  /// [CLS] pieces [SEP]. `max_tokens` (at least 2) bounds the length; [SEP] is kept. Bytes that are
  /// no UTF-8 are dropped, as the replacement character is.
  std::vector<int32_t> Encode(std::string_view text, size_t max_tokens) const;

 private:
  explicit WordPieceTokenizer(std::unordered_map<std::string, int32_t> ids);

  void AppendPieces(const std::string& word, std::vector<int32_t>& ids) const;

  std::unordered_map<std::string, int32_t> ids_;
  int32_t unknown_;
  int32_t classify_;
  int32_t separate_;
};

}  // namespace bert
