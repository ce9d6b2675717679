#include "examples/bert_finetune/bert_model.h"

#include <ATen/ops/linear.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <torch/nn/init.h>
#include <torch/utils.h>

#include <cmath>
#include <memory>
#include <span>
#include <string>

namespace bert {
namespace {

constexpr int64_t kHeadSize = kHidden / kHeads;

torch::nn::LayerNorm MakeNorm() {
  return torch::nn::LayerNorm(torch::nn::LayerNormOptions({kHidden}).eps(kLayerNormEpsilon));
}

/// A module that only gives its children's parameters their names in the weights' file.
std::shared_ptr<torch::nn::Module> Folder(torch::nn::Module& parent, const std::string& name) {
  return parent.register_module(name, std::make_shared<torch::nn::Module>(name));
}

/// LibTorch's C++ nn::Linear takes matmul and an in-place addition for three dimensions;
/// at::linear, which Python's module calls, is fused and casts the weight as it lies.
torch::Tensor Linear(const torch::nn::LinearImpl& layer, const torch::Tensor& x) {
  return at::linear(x, layer.weight, layer.bias);
}

/// [rows, length, 384] → [rows, heads, length, 32]
torch::Tensor SplitHeads(const torch::Tensor& x) {
  return x.view({x.size(0), x.size(1), kHeads, kHeadSize}).transpose(1, 2);
}

}  // namespace

BertLayerImpl::BertLayerImpl(double dropout, Attention attention)
    : dropout_(dropout), attention_(attention) {
  const auto attention_folder = Folder(*this, "attention");
  const auto self = Folder(*attention_folder, "self");
  query_ = self->register_module("query", torch::nn::Linear(kHidden, kHidden));
  key_ = self->register_module("key", torch::nn::Linear(kHidden, kHidden));
  value_ = self->register_module("value", torch::nn::Linear(kHidden, kHidden));
  const auto attention_output = Folder(*attention_folder, "output");
  attention_dense_ =
      attention_output->register_module("dense", torch::nn::Linear(kHidden, kHidden));
  attention_norm_ = attention_output->register_module("LayerNorm", MakeNorm());
  intermediate_ = Folder(*this, "intermediate")
                      ->register_module("dense", torch::nn::Linear(kHidden, kIntermediate));
  const auto output = Folder(*this, "output");
  output_dense_ = output->register_module("dense", torch::nn::Linear(kIntermediate, kHidden));
  output_norm_ = output->register_module("LayerNorm", MakeNorm());
}

torch::Tensor BertLayerImpl::forward(const torch::Tensor& hidden, const torch::Tensor& mask) {
  return Transform(Attend(hidden, hidden, mask), hidden);
}

torch::Tensor BertLayerImpl::ForwardFirst(const torch::Tensor& hidden, const torch::Tensor& mask) {
  const torch::Tensor first = hidden.slice(1, 0, 1);
  return Transform(Attend(first, hidden, mask), first).squeeze(1);
}

torch::Tensor BertLayerImpl::Attend(const torch::Tensor& queries, const torch::Tensor& hidden,
                                    const torch::Tensor& mask) {
  const torch::Tensor q = SplitHeads(Linear(*query_, queries));
  const torch::Tensor k = SplitHeads(Linear(*key_, hidden));
  const torch::Tensor v = SplitHeads(Linear(*value_, hidden));
  torch::Tensor context;
  if (attention_ == Attention::kFused) {
    context = at::scaled_dot_product_attention(q, k, v, mask);
  } else {
    const double scale = 1.0 / std::sqrt(static_cast<double>(kHeadSize));
    const torch::Tensor scores = torch::matmul(q * scale, k.transpose(-2, -1));
    context = torch::matmul(torch::softmax(scores + mask.to(scores.scalar_type()), -1), v);
  }
  return context.transpose(1, 2).reshape(queries.sizes());
}

torch::Tensor BertLayerImpl::Transform(const torch::Tensor& context,
                                       const torch::Tensor& residual) {
  const torch::Tensor attended = attention_norm_(
      torch::dropout(Linear(*attention_dense_, context), dropout_, is_training()) + residual);
  const torch::Tensor wide = torch::gelu(Linear(*intermediate_, attended));
  return output_norm_(torch::dropout(Linear(*output_dense_, wide), dropout_, is_training()) +
                      attended);
}

BertClassifierImpl::BertClassifierImpl(const Options& options) : options_(options) {
  TORCH_CHECK(options.first_layer >= 0 && options.first_layer < kLayers, "first_layer");
  if (options.first_layer == 0) {
    const auto embeddings = Folder(*this, "embeddings");
    const auto table = [&](const char* name, int64_t rows) {
      return embeddings->register_module(name, torch::nn::Embedding(rows, kHidden));
    };
    word_embeddings_ = table("word_embeddings", kVocabulary);
    position_embeddings_ = table("position_embeddings", kPositions);
    token_type_embeddings_ = table("token_type_embeddings", 2);
    embeddings_norm_ = embeddings->register_module("LayerNorm", MakeNorm());
    for (torch::Tensor& parameter : embeddings->parameters()) parameter.set_requires_grad(false);
  }
  const auto layer_folder = Folder(*Folder(*this, "encoder"), "layer");
  for (int64_t i = options.first_layer; i < kLayers; ++i) {
    layers_.push_back(layer_folder->register_module(std::to_string(i),
                                                    BertLayer(options.dropout, options.attention)));
  }
  pooler_ = Folder(*this, "pooler")->register_module("dense", torch::nn::Linear(kHidden, kHidden));
  classifier_ = register_module("classifier", torch::nn::Linear(kHidden, kClasses));
}

absl::Status BertClassifierImpl::Load(const Safetensors& weights) {
  const torch::NoGradGuard no_grad;
  for (auto& item : named_parameters()) {
    if (item.key().starts_with("classifier.")) continue;
    const auto shape = item.value().sizes();
    const auto values = weights.Floats(item.key(), std::span(shape.data(), shape.size()));
    if (!values.ok()) return values.status();
    // from_blob wants a mutable pointer; the mapped values are only read.
    item.value().copy_(
        torch::from_blob(const_cast<float*>(values->data()), shape, torch::kFloat32));
  }
  torch::nn::init::normal_(classifier_->weight, 0.0, 0.02);
  torch::nn::init::zeros_(classifier_->bias);
  return absl::OkStatus();
}

torch::Tensor BertClassifierImpl::Embed(const torch::Tensor& tokens) {
  TORCH_CHECK(options_.first_layer == 0, "a classifier of upper layers has no embeddings");
  const torch::NoGradGuard frozen;
  const torch::Tensor positions = position_embeddings_->weight.slice(0, 0, tokens.size(1));
  const torch::Tensor sum =
      word_embeddings_(tokens) + positions + token_type_embeddings_->weight.select(0, 0);
  return torch::dropout(embeddings_norm_(sum), options_.dropout, is_training());
}

torch::Tensor BertClassifierImpl::forward(torch::Tensor hidden, const torch::Tensor& mask) {
  hidden = ForwardTo(kLayers - 1, std::move(hidden), mask);
  const torch::Tensor first = layers_.back()->ForwardFirst(hidden, mask);
  const torch::Tensor pooled =
      torch::dropout(torch::tanh(Linear(*pooler_, first)), options_.dropout, is_training());
  return Linear(*classifier_, pooled).to(torch::kFloat32);
}

torch::Tensor BertClassifierImpl::ForwardTo(int64_t layer, torch::Tensor hidden,
                                            const torch::Tensor& mask) {
  for (int64_t i = options_.first_layer; i < layer; ++i) {
    hidden = layers_[static_cast<size_t>(i - options_.first_layer)]->forward(hidden, mask);
  }
  return hidden;
}

}  // namespace bert
