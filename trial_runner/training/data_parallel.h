/// Data-parallel training: every rank holds the whole model, computes on its share of the global
/// batch, and applies the same averaged gradient. Owning the whole step is the point: with
/// LibTorch's Reducer alone, a forgotten prepare_for_backward() trains diverging models without any
/// error.
///
///   auto group = ProcessGroup::Connect(RankEnvironment::FromEnvironment());
///   DataParallel trainer(*group, NamedTensors(model->named_parameters()),
///                        NamedTensors(model->named_buffers()), {.gradient_norm_max = 1.0});
///   AdamW optimizer(DecayMatricesOnly(NamedTensors(model->named_parameters()), 0.01), ...);
///   while (...) {
///     const Batch batch = sampler.Next();
///     const StepResult step = trainer.Step(
///         {{batch.local_count(), [&] { return LossSum(model, batch.indices); }}},
///         [&] { optimizer.Step(); });
///   }
///
/// The result equals that of one process that computes the whole global batch, up to the rounding
/// of sums in another order (1e-5 relative after 20 steps of a small float32 model in the tests);
/// ranks equal each other bit for bit. Source: Li et al., "PyTorch Distributed", VLDB 2020.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "trial_runner/training/named_tensor.h"
#include "trial_runner/training/process_group.h"

namespace rung::training {

struct DataParallelOptions {
  /// Gradients travel in buckets, so that the first leave while the rest is still computed.
  std::int64_t first_bucket_bytes = std::int64_t{1} << 20;
  std::int64_t bucket_bytes_max = std::int64_t{25} << 20;
  /// Needed when a step may leave a trainable parameter without gradient. It costs a walk through
  /// the graph each step; a parameter that no rank used keeps an undefined gradient.
  bool find_unused_parameters = false;
  /// Sends gradients as bfloat16: half the traffic, about 3 significant digits.
  bool bf16_gradients = false;
  /// Scales the reduced gradient so that its global 2-norm is at most this; unset: no clipping.
  std::optional<double> gradient_norm_max = std::nullopt;
  /// Compares parameters over the ranks after step 1 and then every so many steps; 0: never.
  std::int64_t verify_period_steps = 500;
};

/// A piece of this rank's share that fits into memory; the gradients of all pieces add up and
/// travel once, with the last piece.
struct MicroBatch {
  std::int64_t count = 0;  ///< samples, >= 0; one of 0 is skipped
  /// Runs the forward pass → SUM (not mean) of the losses of these samples, floating scalar on the
  /// group's device. Called once a step, with gradients enabled.
  std::function<at::Tensor()> loss_sum;
};

struct StepResult {
  std::int64_t count = 0;  ///< samples of the global batch, over all ranks
  double loss = 0;         ///< mean loss of the global batch before the update; NaN if empty
  std::optional<double> gradient_norm;  ///< before clipping; only with gradient_norm_max
  bool stop_requested = false;  ///< any rank asked before this step: all ranks see it at this one
};

class DataParallel {
 public:
  /// Checks that all ranks have the same names, shapes and dtypes, then overwrites `parameters` and
  /// `buffers` (all on group.device()) with rank 0's. Parameters with requires_grad are trained;
  /// they must not be replaced or change requires_grad later. `group` outlives this object. Throws
  /// TrainingError that names the first tensor that differs.
  DataParallel(ProcessGroup& group, std::vector<NamedTensor> parameters,
               std::vector<NamedTensor> buffers, DataParallelOptions options = {});
  ~DataParallel();
  DataParallel(const DataParallel&) = delete;
  DataParallel& operator=(const DataParallel&) = delete;

  /// One optimiser step of all ranks together: clears gradients, runs forward and backward of each
  /// piece, adds gradients up over the ranks, divides by the global sample count, clips, calls
  /// `update` (which applies the gradients and must do the same on every rank). Shares may be
  /// uneven; a rank may have none. When all shares are empty nothing is updated. Throws
  /// TrainingError: a trainable parameter without gradient while find_unused_parameters is off
  /// (named), a loss that is not a scalar, ranks that differ. Throws c10::Error: a peer is gone.
  StepResult Step(const std::vector<MicroBatch>& share, const std::function<void()>& update);

  /// Asks all ranks to stop; safe in a signal handler and from any thread. The next Step that
  /// begins answers stop_requested on every rank, so that all of them save and leave at the same
  /// step.
  void RequestStop() noexcept;

  /// Number of Steps that updated something.
  std::int64_t steps() const;

  /// Before an evaluation: rank 0's buffers (batch-norm statistics) everywhere.
  void BroadcastBuffers();

  /// Compares the bytes of all parameters over the ranks. Throws TrainingError on every rank,
  /// naming the first tensor that differs.
  void VerifyReplicas();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rung::training
