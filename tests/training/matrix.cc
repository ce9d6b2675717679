#include "tests/training/matrix.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Functions.h>
#include <ATen/TensorOperators.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "tests/training/gang.h"
#include "trial_runner/training/adamw.h"
#include "trial_runner/training/batch_sampler.h"
#include "trial_runner/training/seed.h"

namespace rung::training {
namespace {

constexpr std::int64_t kFeatures = 16;
constexpr std::int64_t kHidden = 64;
constexpr std::int64_t kClasses = 4;
constexpr std::int64_t kGlobalBatch = 64;
constexpr int kSteps = 20;

at::Tensor Normal(at::IntArrayRef shape, std::uint64_t seed) {
  return at::randn(shape, at::detail::createCPUGenerator(seed), at::TensorOptions(at::kFloat));
}

/// The pieces of a share: as many samples each as possible, the last ones one less.
std::vector<MicroBatch> Split(const Perceptron& model, const std::vector<std::int64_t>& indices,
                              int pieces) {
  std::vector<MicroBatch> share;
  const auto count = static_cast<std::int64_t>(indices.size());
  for (int piece = 0; piece < pieces; ++piece) {
    const std::vector<std::int64_t> part(indices.begin() + count * piece / pieces,
                                         indices.begin() + count * (piece + 1) / pieces);
    share.push_back(
        {static_cast<std::int64_t>(part.size()), [&model, part] { return model.LossSum(part); }});
  }
  return share;
}

void RunCase(ProcessGroup& group, const MatrixCase& shape, const std::filesystem::path& out) {
  // Each rank begins with its own weights: only the broadcast can make them equal.
  const Perceptron model(group.device(), DeriveSeed(1, static_cast<std::uint64_t>(group.rank())),
                         shape.with_unused);
  DataParallel trainer(
      group, model.parameters(), {},
      {.first_bucket_bytes = 4096,  // several buckets even for this model
       .bucket_bytes_max = 16384,
       .find_unused_parameters = shape.with_unused,
       .bf16_gradients = shape.bf16_gradients,
       .gradient_norm_max = shape.clipping ? std::optional<double>(0.05) : std::nullopt,
       .verify_period_steps = 5});
  AdamW optimizer(DecayMatricesOnly(model.parameters(), 0.1), {.learning_rate = 1e-3});
  BatchSampler sampler({.sample_count = shape.sample_count,
                        .global_batch = kGlobalBatch,
                        .seed = 5,
                        .rank = group.rank(),
                        .world_size = group.world_size()});
  std::ofstream file(out / (shape.name + "." + std::to_string(group.rank())), std::ios::binary);
  std::vector<float> losses;
  for (int step = 0; step < kSteps; ++step) {
    const Batch batch = sampler.Next();
    const StepResult result =
        trainer.Step(Split(model, batch.indices, shape.pieces), [&] { optimizer.Step(); });
    if (result.count != batch.global_count) throw TrainingError("wrong global count");
    losses.push_back(static_cast<float>(result.loss));
    if (shape.clipping) losses.push_back(static_cast<float>(result.gradient_norm.value()));
  }
  for (const NamedTensor& named : model.parameters()) {
    const at::Tensor host = named.tensor.detach().cpu().contiguous();
    file.write(static_cast<const char*>(host.const_data_ptr()),
               static_cast<std::streamsize>(host.nbytes()));
  }
  file.write(reinterpret_cast<const char*>(losses.data()),
             static_cast<std::streamsize>(losses.size() * sizeof(float)));
}

int RunMatrix(const nlohmann::json& arguments) {
  const auto group =
      ProcessGroup::Connect(RankEnvironment::FromEnvironment(),
                            {.device = arguments.at("gpu") ? ProcessGroup::DeviceChoice::kGpu
                                                           : ProcessGroup::DeviceChoice::kCpu,
                             .timeout = std::chrono::seconds(120)});
  for (const MatrixCase& shape : MatrixCases()) {
    RunCase(*group, shape, arguments.at("out").get<std::string>());
  }
  group->Shutdown();
  return 0;
}

[[maybe_unused]] const bool kRegistered = RegisterRankProgram("matrix", RunMatrix);

}  // namespace

Perceptron::Perceptron(c10::Device device, std::uint64_t seed, bool with_unused)
    : device_(device), with_unused_(with_unused) {
  const auto add = [&](const char* name, at::IntArrayRef shape, double scale) {
    at::Tensor tensor = (Normal(shape, DeriveSeed(seed, parameters_.size())) * scale).to(device);
    parameters_.push_back({name, tensor.set_requires_grad(true)});
  };
  add("layer1.weight", {kHidden, kFeatures}, 0.25);
  add("layer1.bias", {kHidden}, 0.1);
  add("layer2.weight", {kHidden, kHidden}, 0.125);
  add("layer2.bias", {kHidden}, 0.1);
  add("layer3.weight", {kClasses, kHidden}, 0.125);
  add("layer3.bias", {kClasses}, 0.1);
  if (with_unused) {
    add("extra.weight", {kClasses, kFeatures}, 0.25);
    add("never.weight", {kClasses, kFeatures}, 0.25);
  }
  parameters_.push_back({"twin", parameters_[0].tensor});
}

const at::Tensor& Perceptron::Parameter(const char* name) const {
  for (const NamedTensor& named : parameters_) {
    if (named.name == name) return named.tensor;
  }
  throw TrainingError(std::string("no parameter ") + name);
}

at::Tensor Perceptron::LossSum(const std::vector<std::int64_t>& indices) const {
  std::vector<at::Tensor> rows;
  std::vector<std::int64_t> labels;
  for (const std::int64_t index : indices) {
    rows.push_back(Normal({kFeatures}, static_cast<std::uint64_t>(index)));
    labels.push_back(rows.back()[0].item<float>() > 0 ? index % kClasses : 0);
  }
  const at::Tensor uses_extra = at::tensor(indices, at::kLong).remainder(7).eq(3);
  const at::Tensor input = at::stack(rows).to(device_);
  const at::Tensor target = at::tensor(labels, at::kLong).to(device_);
  at::Tensor hidden =
      at::tanh(at::linear(input, Parameter("layer1.weight"), Parameter("layer1.bias")));
  hidden = at::tanh(at::linear(hidden, Parameter("layer2.weight"), Parameter("layer2.bias")));
  at::Tensor logits = at::linear(hidden, Parameter("layer3.weight"), Parameter("layer3.bias"));
  if (with_unused_ && at::any(uses_extra).item<bool>()) {
    // Row by row, so that the loss of a sample does not depend on the share that it lies in.
    const at::Tensor mask = uses_extra.to(at::kFloat).unsqueeze(1).to(device_);
    logits = logits + mask * at::linear(input, Parameter("extra.weight"));
  }
  return at::cross_entropy_loss(logits, target, {}, at::Reduction::Sum);
}

const std::vector<MatrixCase>& MatrixCases() {
  static const std::vector<MatrixCase> cases = {
      {.name = "even", .sample_count = 640},
      {.name = "uneven", .sample_count = 64 * 2 + 18},      // 18 = 9 + 9 = 4 + 5 + 4 + 5
      {.name = "empty_share", .sample_count = 64 * 2 + 1},  // one sample: all other ranks have none
      {.name = "accumulated", .sample_count = 64 * 2 + 18, .pieces = 3},
      {.name = "unused", .sample_count = 64 * 2 + 1, .with_unused = true},
      {.name = "unused_accumulated", .sample_count = 64 * 2 + 9, .pieces = 3, .with_unused = true},
      {.name = "clipped", .sample_count = 64 * 2 + 18, .clipping = true},
      {.name = "bf16", .sample_count = 64 * 2 + 18, .bf16_gradients = true, .tolerance = 5e-3},
  };
  return cases;
}

std::vector<float> ReadOutcome(const std::filesystem::path& out, const std::string& name,
                               int rank) {
  const std::filesystem::path path = out / (name + "." + std::to_string(rank));
  std::ifstream file(path, std::ios::binary);
  std::vector<float> values(std::filesystem::file_size(path) / sizeof(float));
  file.read(reinterpret_cast<char*>(values.data()),
            static_cast<std::streamsize>(values.size() * sizeof(float)));
  return values;
}

}  // namespace rung::training
