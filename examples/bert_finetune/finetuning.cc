#include "examples/bert_finetune/finetuning.h"

#include <ATen/Parallel.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/log_softmax.h>
#include <ATen/ops/nll_loss.h>
#include <torch/utils.h>

#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <thread>

#include "examples/bert_finetune/batches.h"
#include "examples/bert_finetune/bert_model.h"
#include "examples/bert_finetune/features.h"
#include "examples/bert_finetune/model_input.h"
#include "examples/bert_finetune/stop_signal.h"
#include "trial_runner/training/adamw.h"
#include "trial_runner/training/autocast.h"
#include "trial_runner/training/checkpoint.h"
#include "trial_runner/training/data_parallel.h"
#include "trial_runner/training/process_group.h"
#include "trial_runner/training/seed.h"

namespace bert {
namespace {

using rung::report::Decision;
using rung::training::AdamW;
using rung::training::DataParallel;
using rung::training::DeriveSeed;
using rung::training::NamedTensor;
using rung::training::ProcessGroup;

constexpr size_t kEvaluationBatch = 64;

/// What is read once, before training.
struct Inputs {
  Corpus corpus;
  Safetensors weights;
  std::optional<FeatureCache> features;  ///< with frozen layers
};

absl::StatusOr<Inputs> ReadInputs(const Settings& settings, int threads) {
  const auto tokenizer = WordPieceTokenizer::Load(settings.data + "/vocab.txt");
  if (!tokenizer.ok()) return tokenizer.status();
  auto corpus =
      Corpus::Load(settings.data + "/movieReviewSnippets_GroundTruth.txt", *tokenizer, kMaxTokens);
  if (!corpus.ok()) return corpus.status();
  auto weights = Safetensors::Open(settings.data + "/model.safetensors");
  if (!weights.ok()) return weights.status();
  Inputs inputs{*std::move(corpus), *std::move(weights), std::nullopt};
  if (settings.freeze_layers == 0) return inputs;
  auto features = OpenFeatures(inputs.corpus, inputs.weights,
                               {.folder = settings.cache,
                                .layers = settings.freeze_layers,
                                .bf16 = settings.bf16,
                                .threads = threads,
                                .cancelled = StopSignal::Requested});
  if (!features.ok()) return features.status();
  inputs.features.emplace(*std::move(features));
  return inputs;
}

std::vector<NamedTensor> Trainable(const BertClassifier& model) {
  std::vector<NamedTensor> trainable;
  for (NamedTensor& named : rung::training::NamedTensors(model->named_parameters())) {
    if (named.tensor.requires_grad()) trainable.push_back(std::move(named));
  }
  return trainable;
}

struct Evaluation {
  double loss = 0;      ///< mean negative log-likelihood, nats
  double accuracy = 0;  ///< in [0, 1]
};

class Run {
 public:
  Run(const Settings& settings, const Inputs& inputs, BertClassifier model,
      rung::report::Trial& trial, ProcessGroup& group)
      : settings_(settings),
        inputs_(inputs),
        model_(std::move(model)),
        trial_(trial),
        group_(group),
        trainer_(group, Trainable(model_), {}, {.gradient_norm_max = 1.0}),
        optimizer_(rung::training::DecayMatricesOnly(Trainable(model_), settings.weight_decay),
                   {.learning_rate = settings.lr},
                   {.warmup_steps = settings.WarmupUpdates(),
                    .total_steps = settings.UpdatesAfter(settings.units)}),
        batches_(inputs.corpus.rows, inputs.corpus.training, settings.batch_size, settings.seed) {}

  /// False: a stop signal ended it before its last unit and without a decision.
  bool Train() {
    for (int64_t unit = Resume() + 1; unit <= settings_.units; ++unit) {
      std::map<std::string, double> metrics;
      if (!TrainUnit(unit, metrics)) return false;
      const bool last = unit == settings_.units;
      if (last || unit % settings_.eval_every == 0) {
        const Evaluation validation = Evaluate(inputs_.corpus.validation);
        metrics["loss"] = validation.loss;
        metrics["accuracy"] = validation.accuracy;
      }
      if (last) {
        const Evaluation test = Evaluate(inputs_.corpus.test);
        metrics["test_loss"] = test.loss;
        metrics["test_accuracy"] = test.accuracy;
      }
      const Decision decision = Report(unit, metrics);
      const bool periodic =
          settings_.checkpoint_every > 0 && unit % settings_.checkpoint_every == 0;
      if (decision == Decision::kPause || (periodic && decision == Decision::kContinue)) Save(unit);
      if (decision != Decision::kContinue) return true;
    }
    return true;
  }

 private:
  /// Trains up to the end of `unit`. False: a stop signal ended it before.
  bool TrainUnit(int64_t unit, std::map<std::string, double>& metrics) {
    // Seeded by the unit, so that a resumed attempt draws the masks that the first one would have.
    at::manual_seed(DeriveSeed(DeriveSeed(settings_.seed, static_cast<uint64_t>(group_.rank())),
                               static_cast<uint64_t>(unit)));
    model_->train();
    double loss_sum = 0;
    double count = 0;
    while (optimizer_.steps() < settings_.UpdatesAfter(unit)) {
      if (StopSignal::Requested()) trainer_.RequestStop();
      const std::vector<size_t> share = Share(batches_.Next(), group_.rank(), group_.world_size());
      const rung::training::StepResult step =
          trainer_.Step({{static_cast<int64_t>(share.size()), [&] { return LossSum(share); }}},
                        [&] { optimizer_.Step(); });
      if (step.stop_requested) return false;
      loss_sum += step.loss * static_cast<double>(step.count);
      count += static_cast<double>(step.count);
    }
    metrics["train_loss"] = loss_sum / count;
    return true;
  }

  /// Over all ranks; equal on all of them.
  Evaluation Evaluate(std::span<const size_t> indices) {
    const at::NoGradGuard no_grad;
    model_->eval();
    double sums[3] = {};  // loss, right answers, rows
    const auto batches = LengthSortedBatches(inputs_.corpus.rows, indices, kEvaluationBatch);
    for (auto i = static_cast<size_t>(group_.rank()); i < batches.size();
         i += static_cast<size_t>(group_.world_size())) {
      const ModelInput input = Input(batches[i]);
      const at::Tensor logits = Logits(input);
      sums[0] += at::nll_loss(at::log_softmax(logits, 1), input.labels, {}, at::Reduction::Sum)
                     .item<double>();
      sums[1] += logits.argmax(1).eq(input.labels).sum().item<double>();
      sums[2] += static_cast<double>(batches[i].size());
    }
    const std::vector<double> total = group_.AllReduceSums(sums);
    return {.loss = total[0] / total[2], .accuracy = total[1] / total[2]};
  }

  at::Tensor LossSum(std::span<const size_t> batch) {
    const ModelInput input = Input(batch);
    return at::nll_loss(at::log_softmax(Logits(input), 1), input.labels, {}, at::Reduction::Sum);
  }

  ModelInput Input(std::span<const size_t> batch) const {
    if (!inputs_.features) return TokenInput(inputs_.corpus.rows, batch);
    ModelInput input = FeatureInput(inputs_.corpus.rows, batch, *inputs_.features);
    if (!settings_.bf16) input.states = input.states.to(at::kFloat);
    return input;
  }

  /// → [rows, 2] float32
  at::Tensor Logits(const ModelInput& input) {
    const rung::training::Bf16Autocast autocast(c10::kCPU, settings_.bf16);
    return model_->forward(inputs_.features ? input.states : model_->Embed(input.states),
                           input.mask);
  }

  /// Rank 0 reports; all ranks get its answer, so that they stop together.
  Decision Report(int64_t unit, const std::map<std::string, double>& metrics) {
    int64_t decision = 0;
    if (group_.rank() == 0) decision = static_cast<int64_t>(trial_.Report(unit, metrics).decision);
    group_.AwaitRankZero();
    static_assert(static_cast<int64_t>(Decision::kContinue) == 0);  // what the other ranks put in
    return static_cast<Decision>(group_.AllReduceExtremes(std::span(&decision, 1)).max[0]);
  }

  std::vector<NamedTensor> CheckpointTensors() const {
    std::vector<NamedTensor> tensors = Trainable(model_);
    for (NamedTensor& state : optimizer_.State()) tensors.push_back(std::move(state));
    return tensors;
  }

  void Save(int64_t unit) {
    const std::filesystem::path path = rung::training::SaveCheckpoint(
        group_, trial_.contract().checkpoint_dir,
        {.step = unit, .updates = optimizer_.steps(), .sampler = {}}, CheckpointTensors());
    if (group_.rank() == 0) trial_.Checkpoint(unit, path);
    group_.AwaitRankZero();
  }

  /// The units that are done: 0, or those of the checkpoint.
  int64_t Resume() {
    const auto& path = trial_.contract().resume_from;
    if (!path) return 0;
    const rung::training::Progress progress =
        rung::training::LoadCheckpoint(group_, *path, CheckpointTensors());
    optimizer_.set_steps(progress.updates);
    // The batches are a function of the seed: those of the updates done are drawn and left.
    for (int64_t update = 0; update < progress.updates; ++update) batches_.Next();
    return progress.step;
  }

  const Settings& settings_;
  const Inputs& inputs_;
  BertClassifier model_;
  rung::report::Trial& trial_;
  ProcessGroup& group_;
  DataParallel trainer_;
  AdamW optimizer_;
  TrainingBatches batches_;
};

}  // namespace

absl::Status Finetune(const Settings& settings, rung::report::Trial& trial) {
  at::set_num_threads(1);
  const absl::StatusOr<Inputs> inputs = ReadInputs(settings, 1);
  if (!inputs.ok()) return inputs.status();
  BertClassifier model(BertClassifierImpl::Options{
      .first_layer = settings.freeze_layers,
      .dropout = settings.dropout,
      .attention = settings.bf16 ? Attention::kPlain : Attention::kFused});
  at::manual_seed(settings.seed);  // of the head
  if (absl::Status loaded = model->Load(inputs->weights); !loaded.ok()) return loaded;
  const auto group = ProcessGroup::Connect(rung::training::RankEnvironment::FromEnvironment(),
                                           {.device = ProcessGroup::DeviceChoice::kCpu});
  const bool trained = Run(settings, *inputs, std::move(model), trial, *group).Train();
  group->Shutdown();
  if (!trained) return absl::CancelledError("a signal ended the training");
  return absl::OkStatus();
}

absl::Status BuildCache(const Settings& settings) {
  const auto threads = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  const absl::StatusOr<Inputs> inputs = ReadInputs(settings, threads);
  if (!inputs.ok()) return inputs.status();
  std::puts(inputs->features->path().c_str());
  return absl::OkStatus();
}

}  // namespace bert
