/// Prints what the example computes, for comparisons with independent implementations.
///
///   bert_probe ids DATA      the token ids of every row of the text, one row a line
///   bert_probe logits DATA   JSON: token ids of some rows, a random head, and float32 logits of
///   them
///                            with fused and plain attention, and of the top layer alone when fed
///                            with the states below it
#include <ATen/Parallel.h>
#include <torch/utils.h>

#include <cstdio>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "examples/bert_finetune/bert_model.h"
#include "examples/bert_finetune/corpus.h"
#include "examples/bert_finetune/model_input.h"
#include "examples/bert_finetune/wordpiece.h"

namespace {

constexpr size_t kRows = 12;

template <typename T>
T Must(absl::StatusOr<T> value) {
  if (!value.ok()) {
    std::fprintf(stderr, "bert_probe: %s\n", value.status().ToString().c_str());
    std::exit(1);
  }
  return *std::move(value);
}

void PrintIds(const std::string& data) {
  const auto tokenizer = Must(bert::WordPieceTokenizer::Load(data + "/vocab.txt"));
  std::ifstream file(data + "/movieReviewSnippets_GroundTruth.txt", std::ios::binary);
  for (std::string line; std::getline(file, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    const size_t tab = line.rfind('\t');
    for (const int32_t id : tokenizer.Encode(line.substr(tab + 1), bert::kPositions)) {
      std::cout << id << ' ';
    }
    std::cout << '\n';
  }
}

template <typename Row>
std::vector<Row> ToRows(const at::Tensor& matrix) {
  std::vector<Row> rows;
  const auto* values = matrix.const_data_ptr<float>();
  for (int64_t i = 0; i < matrix.size(0); ++i, values += matrix.size(1)) {
    rows.emplace_back(values, values + matrix.size(1));
  }
  return rows;
}

bert::BertClassifier LoadModel(const bert::Safetensors& weights, int64_t first_layer,
                               bert::Attention attention) {
  bert::BertClassifier model(
      bert::BertClassifierImpl::Options{.first_layer = first_layer, .attention = attention});
  at::manual_seed(7);  // every model draws the same head
  if (const absl::Status loaded = model->Load(weights); !loaded.ok()) {
    Must(absl::StatusOr<int>(loaded));
  }
  model->eval();
  return model;
}

void PrintLogits(const std::string& data) {
  at::set_num_threads(1);
  const at::NoGradGuard no_grad;
  const auto tokenizer = Must(bert::WordPieceTokenizer::Load(data + "/vocab.txt"));
  const auto corpus = Must(bert::Corpus::Load(data + "/movieReviewSnippets_GroundTruth.txt",
                                              tokenizer, bert::kMaxTokens));
  const auto weights = Must(bert::Safetensors::Open(data + "/model.safetensors"));
  nlohmann::json output;
  std::vector<size_t> batch;  // rows of different lengths, so that most are padded
  for (size_t row = 0; row < kRows; ++row) {
    batch.push_back(row);
    const auto tokens = corpus.rows.row_tokens(row);
    output["ids"].push_back(std::vector<int32_t>(tokens.begin(), tokens.end()));
  }
  const bert::ModelInput input = bert::TokenInput(corpus.rows, batch);
  using Floats = std::vector<float>;
  for (const auto attention : {bert::Attention::kFused, bert::Attention::kPlain}) {
    bert::BertClassifier model = LoadModel(weights, 0, attention);
    const bool fused = attention == bert::Attention::kFused;
    output[fused ? "fused" : "plain"] =
        ToRows<Floats>(model->forward(model->Embed(input.states), input.mask));
    if (!fused) continue;
    const at::Tensor states =
        model->ForwardTo(bert::kLayers - 1, model->Embed(input.states), input.mask);
    output["upper_layer"] = ToRows<Floats>(
        LoadModel(weights, bert::kLayers - 1, attention)->forward(states, input.mask));
    for (const auto& item : model->named_parameters()) {
      if (item.key() == "classifier.weight") {
        output["classifier_weight"] = ToRows<Floats>(item.value());
      } else if (item.key() == "classifier.bias") {
        output["classifier_bias"] = ToRows<Floats>(item.value().view({1, -1})).front();
      }
    }
  }
  std::cout << output << '\n';
}

}  // namespace

int main(int argc, char** argv) {
  const std::string_view what = argc == 3 ? argv[1] : "";
  if (what == "ids") {
    PrintIds(argv[2]);
  } else if (what == "logits") {
    PrintLogits(argv[2]);
  } else {
    std::fprintf(stderr, "usage: bert_probe ids|logits DATA\n");
    return 2;
  }
  return 0;
}
