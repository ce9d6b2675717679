#include "trial_runner/training/data_parallel.h"

#include <ATen/Functions.h>
#include <c10/core/GradMode.h>
#include <torch/csrc/autograd/function.h>
#include <torch/csrc/autograd/variable.h>

#include <atomic>
#include <bit>
#include <limits>
#include <span>
#include <string_view>
#include <torch/csrc/distributed/c10d/ProcessGroup.hpp>
#include <torch/csrc/distributed/c10d/reducer.hpp>
#include <unordered_set>
#include <utility>

#include "trial_runner/training/byte_hash.h"

namespace rung::training {
namespace {

using TorchGroup = c10::intrusive_ptr<c10d::ProcessGroup>;

std::int64_t HashOf(const at::Tensor& tensor) {
  const at::Tensor host = tensor.detach().cpu().contiguous();
  return std::bit_cast<std::int64_t>(
      ByteHash({static_cast<const std::byte*>(host.const_data_ptr()), host.nbytes()}));
}

std::int64_t HashOf(std::string_view text) {
  return std::bit_cast<std::int64_t>(ByteHash(std::as_bytes(std::span(text))));
}

/// Sums over the ranks while this rank goes on.
class PendingSum {
 public:
  /// `values` are summed in place, on their device; null group: a world of 1.
  PendingSum(const TorchGroup& group, at::Tensor values) : values_(std::move(values)) {
    if (!group) return;
    std::vector<at::Tensor> tensors = {values_};
    work_ = group->allreduce(tensors);
  }
  at::Tensor Wait() {
    if (work_) std::exchange(work_, nullptr)->wait();
    return values_.cpu();
  }

 private:
  at::Tensor values_;
  c10::intrusive_ptr<c10d::Work> work_;
};

/// Sends a bucket as bfloat16 and adds up in it; the loss was scaled so that nothing is left to
/// divide.
class Bf16Hook final : public c10d::CppCommHookInterface<TorchGroup> {
 public:
  using CppCommHookInterface::CppCommHookInterface;

  c10::intrusive_ptr<c10::ivalue::Future> runHook(c10d::GradBucket& bucket) override {
    const at::Tensor buffer = bucket.getBufferRef();
    std::vector<at::Tensor> compressed = {buffer.to(at::kBFloat16)};
    const auto reduced = state_->allreduce(compressed)->getFuture();
    return reduced->then(
        [buffer](c10::ivalue::Future& future) {
          buffer.copy_(future.value().toTensorVector()[0]);
          return c10::IValue(buffer);
        },
        reduced->elementType());
  }
};

}  // namespace

struct DataParallel::State {
  State(ProcessGroup& group_in, DataParallelOptions options_in)
      : group(group_in), options(options_in) {}

  ProcessGroup& group;
  DataParallelOptions options;
  TorchGroup torch_group;               // null in a world of 1
  std::vector<NamedTensor> parameters;  // all, as given
  std::vector<NamedTensor> buffers;
  std::vector<NamedTensor> trainable;  // each tensor once, even if tied under several names
  std::vector<c10::intrusive_ptr<torch::autograd::Node>> accumulators;  // of trainable, kept alive
  std::unique_ptr<c10d::Reducer> reducer;                               // null in a world of 1
  std::atomic<bool> stop{false};
  std::int64_t steps = 0;

  void RequireEqualModels() const;
  void MakeReducer();
  at::Tensor RunForward(const MicroBatch& piece) const;
  std::vector<char> Reached(const at::Tensor& root) const;
  at::Tensor Touch(const std::vector<char>& reached) const;
  void ReduceLast(const at::Tensor& scaled_loss);
  void RequireAllGradients(const at::Tensor& root);
  std::optional<at::Tensor> ClipGradients() const;
};

DataParallel::DataParallel(ProcessGroup& group, std::vector<NamedTensor> parameters,
                           std::vector<NamedTensor> buffers, DataParallelOptions options)
    : state_(std::make_unique<State>(group, options)) {
  state_->parameters = std::move(parameters);
  state_->buffers = std::move(buffers);
  if (group.torch_group() != nullptr) {
    state_->torch_group = TorchGroup::reclaim_copy(group.torch_group());
  }
  std::unordered_set<const at::TensorImpl*> seen;
  for (const NamedTensor& parameter : state_->parameters) {
    const at::Tensor& tensor = parameter.tensor;
    if (!tensor.requires_grad() || !seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    state_->trainable.push_back(parameter);
    state_->accumulators.push_back(torch::autograd::impl::grad_accumulator(tensor));
  }
  if (state_->trainable.empty()) throw TrainingError("no parameter requires a gradient");
  state_->RequireEqualModels();
  group.Broadcast(state_->parameters);
  BroadcastBuffers();
  if (group.world_size() > 1) state_->MakeReducer();
}

DataParallel::~DataParallel() = default;

std::int64_t DataParallel::steps() const { return state_->steps; }
void DataParallel::RequestStop() noexcept { state_->stop.store(true); }
void DataParallel::BroadcastBuffers() { state_->group.Broadcast(state_->buffers); }

/// Before anything is sent: a broadcast between different shapes would wait for bytes that never
/// come.
void DataParallel::State::RequireEqualModels() const {
  std::vector<std::int64_t> hashes;
  std::vector<std::string> texts;
  for (const std::vector<NamedTensor>* tensors : {&parameters, &buffers}) {
    for (const NamedTensor& named : *tensors) {
      if (named.tensor.device() != group.device()) {
        throw TrainingError("'" + named.name + "' is on " + named.tensor.device().str() +
                            ", but this rank's device is " + group.device().str());
      }
      texts.push_back("'" + named.name + "' " + c10::str(named.tensor.sizes()) + " " +
                      c10::toString(named.tensor.scalar_type()) +
                      (named.tensor.requires_grad() ? " trainable" : ""));
      hashes.push_back(HashOf(texts.back()));
    }
  }
  const auto count = static_cast<std::int64_t>(hashes.size());
  const ProcessGroup::Extremes counts = group.AllReduceExtremes(std::span(&count, 1));
  if (counts.min != counts.max) {
    throw TrainingError("the ranks' models have between " + std::to_string(counts.min[0]) +
                        " and " + std::to_string(counts.max[0]) + " tensors");
  }
  const ProcessGroup::Extremes extremes = group.AllReduceExtremes(hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (extremes.min[i] != extremes.max[i]) {
      throw TrainingError("the ranks' models differ in tensor " + std::to_string(i) + ": rank " +
                          std::to_string(group.rank()) + " has " + texts[i]);
    }
  }
}

void DataParallel::State::MakeReducer() {
  std::vector<at::Tensor> tensors;
  for (const NamedTensor& named : trainable) tensors.push_back(named.tensor);
  const std::vector<bool> sparse(tensors.size(), false);
  const auto first = static_cast<std::size_t>(options.first_bucket_bytes);
  const auto cap = static_cast<std::size_t>(options.bucket_bytes_max);
  auto buckets =
      std::get<0>(c10d::compute_bucket_assignment_by_size(tensors, {first, cap}, sparse));
  std::reverse(buckets.begin(), buckets.end());  // gradients become ready from the last layer on
  // Unused parameters are found and reduced by ReduceLast, so the Reducer sees all of them each
  // step: its own detection forgets what earlier pieces of an accumulated step used.
  reducer = std::make_unique<c10d::Reducer>(
      tensors, std::move(buckets), torch_group, sparse, options.bucket_bytes_max,
      /*find_unused_parameters=*/false, /*gradient_as_bucket_view=*/true,
      std::unordered_map<std::size_t, std::string>{}, options.first_bucket_bytes,
      /*skip_all_reduce_unused_params=*/false, /*use_python_reducer=*/false,
      std::vector<std::int64_t>{options.first_bucket_bytes, options.bucket_bytes_max});
  if (options.bf16_gradients) {
    reducer->register_comm_hook(std::make_unique<Bf16Hook>(torch_group));
  }
}

at::Tensor DataParallel::State::RunForward(const MicroBatch& piece) const {
  const at::Tensor loss = piece.loss_sum();
  if (!loss.defined() || loss.numel() != 1 || !loss.is_floating_point() || !loss.requires_grad()) {
    throw TrainingError("loss_sum must return a floating scalar that depends on the parameters" +
                        (loss.defined()
                             ? ", found " + loss.toString() + " of shape " + c10::str(loss.sizes())
                             : ", found an undefined tensor"));
  }
  return loss.reshape({});
}

/// For each trainable parameter, whether the graph of `root` leads to it; none for an undefined
/// root.
std::vector<char> DataParallel::State::Reached(const at::Tensor& root) const {
  std::unordered_set<const torch::autograd::Node*> seen;
  std::vector<const torch::autograd::Node*> open;
  if (root.defined() && root.grad_fn()) open.push_back(root.grad_fn().get());
  seen.insert(open.begin(), open.end());
  while (!open.empty()) {
    const torch::autograd::Node* node = open.back();
    open.pop_back();
    for (const torch::autograd::Edge& edge : node->next_edges()) {
      if (edge.function && seen.insert(edge.function.get()).second) {
        open.push_back(edge.function.get());
      }
    }
  }
  std::vector<char> reached;
  for (const auto& accumulator : accumulators) reached.push_back(seen.contains(accumulator.get()));
  return reached;
}

/// A 0 whose graph leads to the parameters that were not reached and gives them gradients of exact
/// zeros (also where they hold NaN: the sum runs over no element). Float scalar on the device.
at::Tensor DataParallel::State::Touch(const std::vector<char>& reached) const {
  at::Tensor zero = at::zeros({}, at::TensorOptions(at::kFloat).device(group.device()));
  for (std::size_t i = 0; i < trainable.size(); ++i) {
    if (reached[i] == 0) {
      zero = zero + trainable[i].tensor.flatten().slice(0, 0, 0).sum().to(at::kFloat);
    }
  }
  return zero;
}

/// The backward pass with which the gradients travel. `scaled_loss` is undefined on a rank without
/// samples. After it every rank holds the same gradients; those that no rank used are undefined.
void DataParallel::State::ReduceLast(const at::Tensor& scaled_loss) {
  at::Tensor root = scaled_loss;
  std::optional<PendingSum> users;
  if (reducer && (options.find_unused_parameters || !root.defined())) {
    const std::vector<char> reached = Reached(root);
    if (options.find_unused_parameters) {
      at::Tensor used = at::zeros({static_cast<std::int64_t>(trainable.size())}, at::kDouble);
      for (std::size_t i = 0; i < trainable.size(); ++i) {
        const bool in_earlier_piece = trainable[i].tensor.grad().defined();
        if (reached[i] != 0 || in_earlier_piece) used[static_cast<std::int64_t>(i)] = 1;
      }
      users.emplace(torch_group, used);
    }
    root = root.defined() ? root + Touch(reached) : Touch(reached);
  }
  if (reducer) reducer->prepare_for_backward({});
  root.backward();
  if (!options.find_unused_parameters) RequireAllGradients(root);
  if (users) {
    const at::Tensor used = users->Wait();
    for (std::size_t i = 0; i < trainable.size(); ++i) {
      if (used.const_data_ptr<double>()[i] == 0) trainable[i].tensor.mutable_grad().reset();
    }
  }
}

/// A parameter that got no gradient keeps its bucket from ever leaving: an error here, in the same
/// step, instead of ranks that drift apart.
void DataParallel::State::RequireAllGradients(const at::Tensor& root) {
  bool complete = true;
  if (reducer) {
    try {
      reducer->check_finalized();
    } catch (const c10::Error&) {
      complete = false;
    }
  } else {
    for (const NamedTensor& named : trainable) complete &= named.tensor.grad().defined();
  }
  if (complete) return;
  const std::vector<char> reached = Reached(root);
  std::string names;
  for (std::size_t i = 0; i < trainable.size(); ++i) {
    if (reached[i] == 0) names += (names.empty() ? "'" : ", '") + trainable[i].name + "'";
  }
  throw TrainingError("the loss does not depend on trainable parameters " + names +
                      ": freeze them, or set find_unused_parameters");
}

/// → 2-norm of all gradients together before clipping, floating scalar on the device.
std::optional<at::Tensor> DataParallel::State::ClipGradients() const {
  if (!options.gradient_norm_max) return std::nullopt;
  const c10::NoGradGuard no_grad;
  std::vector<at::Tensor> gradients;
  for (const NamedTensor& named : trainable) {
    if (named.tensor.grad().defined()) gradients.push_back(named.tensor.grad());
  }
  const at::Tensor norm = at::linalg_vector_norm(at::stack(at::_foreach_norm(gradients)));
  constexpr double kTiny = 1e-6;  // as torch.nn.utils.clip_grad_norm_: no division by zero
  at::_foreach_mul_(gradients, (*options.gradient_norm_max / (norm + kTiny)).clamp_max(1.0));
  return norm;
}

StepResult DataParallel::Step(const std::vector<MicroBatch>& share,
                              const std::function<void()>& update) {
  State& state = *state_;
  for (const NamedTensor& named : state.trainable) named.tensor.mutable_grad().reset();
  std::vector<const MicroBatch*> pieces;
  std::int64_t local_count = 0;
  for (const MicroBatch& piece : share) {
    if (piece.count < 0) {
      throw TrainingError("a micro-batch of " + std::to_string(piece.count) + " samples");
    }
    local_count += piece.count;
    if (piece.count > 0) pieces.push_back(&piece);
  }
  // On its way while the first forward pass runs.
  PendingSum header(
      state.torch_group,
      at::tensor({static_cast<double>(local_count), state.stop.load() ? 1.0 : 0.0}, at::kDouble));
  if (state.reducer) {
    state.reducer->prepare_for_forward();
    state.reducer->rebuild_buckets();
  }
  at::Tensor loss = pieces.empty() ? at::Tensor() : state.RunForward(*pieces[0]);
  const at::Tensor sums = header.Wait();
  StepResult result;
  result.count = static_cast<std::int64_t>(sums.const_data_ptr<double>()[0]);
  result.stop_requested = sums.const_data_ptr<double>()[1] > 0;
  result.loss = std::numeric_limits<double>::quiet_NaN();
  if (result.count == 0) return result;

  // The Reducer divides by the world size when it adds up; with a hook nobody does.
  const double ranks_in_mean =
      state.options.bf16_gradients ? 1.0 : static_cast<double>(state.group.world_size());
  const double scale = ranks_in_mean / static_cast<double>(result.count);
  at::Tensor loss_sum = at::zeros({1}, at::TensorOptions(at::kDouble).device(state.group.device()));
  if (loss.defined()) loss_sum += loss.detach();
  for (std::size_t i = 1; i < pieces.size(); ++i) {
    (loss * scale).backward();
    loss = state.RunForward(*pieces[i]);
    loss_sum += loss.detach();
  }
  PendingSum global_loss(state.torch_group, loss_sum);
  state.ReduceLast(loss.defined() ? loss * scale : loss);
  const std::optional<at::Tensor> norm = state.ClipGradients();
  update();
  ++state.steps;

  result.loss = global_loss.Wait().item<double>() / static_cast<double>(result.count);
  if (norm) result.gradient_norm = norm->item<double>();
  const std::int64_t period = state.options.verify_period_steps;
  if (period > 0 && (state.steps == 1 || state.steps % period == 0)) VerifyReplicas();
  return result;
}

void DataParallel::VerifyReplicas() {
  if (state_->group.world_size() == 1) return;
  std::vector<std::int64_t> hashes;
  for (const NamedTensor& named : state_->parameters) hashes.push_back(HashOf(named.tensor));
  const ProcessGroup::Extremes extremes = state_->group.AllReduceExtremes(hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    if (extremes.min[i] != extremes.max[i]) {
      throw TrainingError("after step " + std::to_string(state_->steps) +
                          " the ranks hold different values of '" + state_->parameters[i].name +
                          "'");
    }
  }
}

}  // namespace rung::training
