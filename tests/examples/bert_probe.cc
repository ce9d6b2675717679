/// bert_probe ids DATA: the token ids of every row of the text in DATA, one row a line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <fstream>
#include <string>
#include <string_view>

#include "examples/bert_finetune/wordpiece.h"

namespace {

int PrintIds(const std::string& data) {
  const auto tokenizer = bert::WordPieceTokenizer::Load(data + "/vocab.txt");
  if (!tokenizer.ok()) {
    fmt::print(stderr, "bert_probe: {}\n", tokenizer.status().ToString());
    return 1;
  }
  std::ifstream file(data + "/movieReviewSnippets_GroundTruth.txt", std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const size_t tab = line.rfind('\t');
    fmt::print("{}\n", fmt::join(tokenizer->Encode(line.substr(tab + 1), 512), " "));
  }
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 3 && std::string_view(argv[1]) == "ids") return PrintIds(argv[2]);
  fmt::print(stderr, "usage: bert_probe ids DATA\n");
  return 2;
}
