#pragma once

#include <absl/status/status.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>
#include <torch/nn/modules/normalization.h>
#include <torch/nn/pimpl.h>

#include <cstdint>
#include <vector>

#include "examples/bert_finetune/bert_shape.h"
#include "examples/bert_finetune/safetensors.h"

namespace bert {

/// How attention is computed; the values agree within rounding. The fused CPU kernel is faster in
/// float32, but its bfloat16 backward is not, so bfloat16 runs take the plain one.
enum class Attention { kFused, kPlain };

/// One encoder layer: self-attention and feed-forward, each with dropout, residual and layer norm
/// after it (Devlin et al. 2019).
class BertLayerImpl : public torch::nn::Module {
 public:
  BertLayerImpl(double dropout, Attention attention);

  /// hidden [rows, length, 384] float → the same shape. `mask` [rows, 1, 1, length] is added to the
  /// attention scores: 0 for a token, very negative for padding.
  torch::Tensor forward(const torch::Tensor& hidden, const torch::Tensor& mask);

  /// As forward, but only for the first token: → [rows, 384]. Keys and values still come from all
  /// tokens, so the result equals forward(...)[:, 0]; five sixths of the work are saved where, as
  /// in the last layer before the pooler, nothing else is read.
  torch::Tensor ForwardFirst(const torch::Tensor& hidden, const torch::Tensor& mask);

 private:
  torch::Tensor Attend(const torch::Tensor& queries, const torch::Tensor& hidden,
                       const torch::Tensor& mask);
  torch::Tensor Transform(const torch::Tensor& context, const torch::Tensor& residual);

  double dropout_;
  Attention attention_;
  torch::nn::Linear query_{nullptr};
  torch::nn::Linear key_{nullptr};
  torch::nn::Linear value_{nullptr};
  torch::nn::Linear attention_dense_{nullptr};
  torch::nn::LayerNorm attention_norm_{nullptr};
  torch::nn::Linear intermediate_{nullptr};
  torch::nn::Linear output_dense_{nullptr};
  torch::nn::LayerNorm output_norm_{nullptr};
};
TORCH_MODULE(BertLayer);

/// The layers [first_layer, 6) of the encoder, a pooler with tanh, and a linear head of two
/// classes.
///
/// With first_layer 0 it has the embeddings too and takes token ids; otherwise it takes the hidden
/// states that the layers below have computed once. Parameters are named as in the weights' file,
/// those of the head "classifier.weight" and "classifier.bias". The embeddings are not trained.
class BertClassifierImpl : public torch::nn::Module {
 public:
  struct Options {
    int64_t first_layer = 0;  ///< in [0, 6)
    double dropout = 0.1;     ///< of hidden states and of the pooled vector; attention has none
    Attention attention = Attention::kFused;
  };

  explicit BertClassifierImpl(const Options& options);

  /// Copies the pretrained weights in and draws the head from N(0, 0.02²), zero bias, with torch's
  /// default generator. Errors: a tensor that is missing or of another shape or type, by its name.
  absl::Status Load(const Safetensors& weights);

  /// Token ids [rows, length] int64 → hidden states [rows, length, 384]; first_layer must be 0.
  torch::Tensor Embed(const torch::Tensor& tokens);

  /// hidden [rows, length, 384], the input of layer `first_layer` → logits [rows, 2].
  torch::Tensor forward(torch::Tensor hidden, const torch::Tensor& mask);

  /// hidden, the input of layer `first_layer` → the input of layer `layer`.
  torch::Tensor ForwardTo(int64_t layer, torch::Tensor hidden, const torch::Tensor& mask);

 private:
  Options options_;
  torch::nn::Embedding word_embeddings_{nullptr};
  torch::nn::Embedding position_embeddings_{nullptr};
  torch::nn::Embedding token_type_embeddings_{nullptr};
  torch::nn::LayerNorm embeddings_norm_{nullptr};
  std::vector<BertLayer> layers_;
  torch::nn::Linear pooler_{nullptr};
  torch::nn::Linear classifier_{nullptr};
};
TORCH_MODULE(BertClassifier);

}  // namespace bert
