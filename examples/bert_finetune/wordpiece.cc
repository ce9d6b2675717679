#include "examples/bert_finetune/wordpiece.h"

#include <fmt/format.h>

#include <array>
#include <fstream>
#include <utility>

namespace bert {
namespace {

constexpr char32_t kReplacement = 0xFFFD;
constexpr size_t kMaxWordCharacters = 100;  // longer words are [UNK], as in the reference

/// The lower-case base letter of U+00C0…U+017F; '*' stands for a letter without a decomposition
/// (æ, ø, đ, ß …), which only loses its case.
constexpr std::string_view kBaseLetters =
    "aaaaaa*ceeeeiiii"   // U+00C0
    "*nooooo**uuuuy**"   // U+00D0
    "aaaaaa*ceeeeiiii"   // U+00E0
    "*nooooo**uuuuy*y"   // U+00F0
    "aaaaaaccccccccdd"   // U+0100
    "**eeeeeeeeeegggg"   // U+0110
    "gggghh**iiiiiiii"   // U+0120
    "i***jjkk*llllll*"   // U+0130
    "***nnnnnn***oooo"   // U+0140
    "oo**rrrrrrssssss"   // U+0150
    "sstttt**uuuuuuuu"   // U+0160
    "uuuuwwyyyzzzzzz*";  // U+0170
static_assert(kBaseLetters.size() == 0x180 - 0xC0);

/// Takes the next code point off `text`; kReplacement for a malformed sequence.
char32_t NextCodePoint(std::string_view& text) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  size_t length = 1;
  char32_t code = lead;
  if (lead >= 0xF0 && lead < 0xF8) {
    length = 4;
    code = lead & 0x07U;
  } else if (lead >= 0xE0) {
    length = lead < 0xF0 ? 3 : 0;
    code = lead & 0x0FU;
  } else if (lead >= 0xC0) {
    length = 2;
    code = lead & 0x1FU;
  } else if (lead >= 0x80) {
    length = 0;
  }
  if (length == 0 || length > text.size()) {
    text.remove_prefix(1);
    return kReplacement;
  }
  for (size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xC0U) != 0x80) {
      text.remove_prefix(1);
      return kReplacement;
    }
    code = (code << 6U) | (byte(i) & 0x3FU);
  }
  text.remove_prefix(length);
  return code;
}

void AppendUtf8(char32_t code, std::string& text) {
  const auto put = [&](char32_t byte) { text += static_cast<char>(byte); };
  if (code < 0x80) {
    put(code);
  } else if (code < 0x800) {
    put(0xC0 | (code >> 6U));
    put(0x80 | (code & 0x3FU));
  } else if (code < 0x10000) {
    put(0xE0 | (code >> 12U));
    put(0x80 | ((code >> 6U) & 0x3FU));
    put(0x80 | (code & 0x3FU));
  } else {
    put(0xF0 | (code >> 18U));
    put(0x80 | ((code >> 12U) & 0x3FU));
    put(0x80 | ((code >> 6U) & 0x3FU));
    put(0x80 | (code & 0x3FU));
  }
}

bool IsWhiteSpace(char32_t c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r' || c == 0xA0 || c == 0x1680 ||
         (c >= 0x2000 && c <= 0x200A) || c == 0x2028 || c == 0x2029 || c == 0x202F || c == 0x205F ||
         c == 0x3000;
}

/// Unicode categories Cc and Cf of the blocks that occur in Latin text; asked after white space.
bool IsControl(char32_t c) {
  return c < 0x20 || (c >= 0x7F && c < 0xA0) || c == 0xAD || (c >= 0x200B && c <= 0x200F) ||
         (c >= 0x202A && c <= 0x202E) || (c >= 0x2060 && c <= 0x206F) || c == 0xFEFF;
}

bool IsPunctuation(char32_t c) {
  if (c < 0x80) {  // the reference counts all ASCII symbols, "$" and "^" too
    return (c >= 33 && c <= 47) || (c >= 58 && c <= 64) || (c >= 91 && c <= 96) ||
           (c >= 123 && c <= 126);
  }
  return c == 0xA1 || c == 0xA7 || c == 0xAB || c == 0xB6 || c == 0xB7 || c == 0xBB || c == 0xBF ||
         (c >= 0x2010 && c <= 0x2027) ||
         (c >= 0x2030 && c <= 0x205E && c != 0x2044 && c != 0x2052) ||
         (c >= 0x3001 && c <= 0x3003) || (c >= 0x3008 && c <= 0x3011);
}

bool IsCjk(char32_t c) {
  return (c >= 0x4E00 && c <= 0x9FFF) || (c >= 0x3400 && c <= 0x4DBF) ||
         (c >= 0x20000 && c <= 0x2A6DF) || (c >= 0x2A700 && c <= 0x2CEAF) ||
         (c >= 0xF900 && c <= 0xFAFF) || (c >= 0x2F800 && c <= 0x2FA1F);
}

bool IsCombiningMark(char32_t c) { return c >= 0x0300 && c <= 0x036F; }

char32_t Fold(char32_t c) {
  if (c >= 'A' && c <= 'Z') return c + 32;
  if (c < 0xC0 || c >= 0x180) return c;
  const char base = kBaseLetters[c - 0xC0];
  if (base != '*') return static_cast<char32_t>(base);
  const bool latin1_upper = c <= 0xDE && c != 0xD7;
  if (latin1_upper) return c + 32;
  // In Extended-A a pair's upper case is even, but odd between U+0139 and U+0148 (ŀ … ŉ).
  const bool odd_upper = c >= 0x139 && c <= 0x148;
  if (c >= 0x100 && c != 0x131 && c != 0x138 && c != 0x149 && c != 0x17F &&
      (c % 2 == 1) == odd_upper) {
    return c + 1;
  }
  return c;
}

/// The words between white space, punctuation and CJK characters as words of their own.
std::vector<std::string> SplitWords(std::string_view text) {
  std::vector<std::string> words;
  std::string word;
  const auto end_word = [&] {
    if (!word.empty()) words.push_back(std::exchange(word, {}));
  };
  while (!text.empty()) {
    const char32_t c = NextCodePoint(text);
    if (IsWhiteSpace(c)) {
      end_word();
    } else if (c == kReplacement || IsControl(c) || IsCombiningMark(c)) {
      continue;
    } else if (IsPunctuation(c) || IsCjk(c)) {
      end_word();
      AppendUtf8(c, word);
      end_word();
    } else {
      AppendUtf8(Fold(c), word);
    }
  }
  end_word();
  return words;
}

size_t CountCharacters(std::string_view text) {
  size_t count = 0;
  for (const char c : text) count += (static_cast<unsigned char>(c) & 0xC0U) != 0x80 ? 1 : 0;
  return count;
}

}  // namespace

WordPieceTokenizer::WordPieceTokenizer(std::unordered_map<std::string, int32_t> ids)
    : ids_(std::move(ids)),
      unknown_(ids_.at("[UNK]")),
      classify_(ids_.at("[CLS]")),
      separate_(ids_.at("[SEP]")) {}

absl::StatusOr<WordPieceTokenizer> WordPieceTokenizer::Load(const std::string& vocabulary_path) {
  std::ifstream file(vocabulary_path, std::ios::binary);
  if (!file) {
    return absl::NotFoundError(
        fmt::format("cannot read the vocabulary {}: run scripts/setup", vocabulary_path));
  }
  std::unordered_map<std::string, int32_t> ids;
  std::string line;
  for (int32_t id = 0; std::getline(file, line); ++id) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    ids.emplace(line, id);
  }
  for (const char* special : {"[PAD]", "[UNK]", "[CLS]", "[SEP]"}) {
    if (!ids.contains(special)) {
      return absl::InvalidArgumentError(
          fmt::format("{}: no token {} among {} lines", vocabulary_path, special, ids.size()));
    }
  }
  if (ids.at("[PAD]") != 0) {
    return absl::InvalidArgumentError(
        fmt::format("{}: [PAD] must be the first line", vocabulary_path));
  }
  return WordPieceTokenizer(std::move(ids));
}

std::vector<int32_t> WordPieceTokenizer::Encode(std::string_view text, size_t max_tokens) const {
  std::vector<int32_t> ids = {classify_};
  for (const std::string& word : SplitWords(text)) AppendPieces(word, ids);
  if (ids.size() > max_tokens - 1) ids.resize(max_tokens - 1);
  ids.push_back(separate_);
  return ids;
}

void WordPieceTokenizer::AppendPieces(const std::string& word, std::vector<int32_t>& ids) const {
  if (CountCharacters(word) > kMaxWordCharacters) {
    ids.push_back(unknown_);
    return;
  }
  const size_t first_piece = ids.size();
  size_t begin = 0;
  while (begin < word.size()) {
    size_t end = word.size();
    auto match = ids_.end();
    for (; end > begin; --end) {
      std::string piece = (begin > 0 ? "##" : "") + word.substr(begin, end - begin);
      match = ids_.find(piece);
      if (match != ids_.end()) break;
    }
    if (match == ids_.end()) {  // one part unknown makes the whole word unknown
      ids.resize(first_piece);
      ids.push_back(unknown_);
      return;
    }
    ids.push_back(match->second);
    begin = end;
  }
}

}  // namespace bert
