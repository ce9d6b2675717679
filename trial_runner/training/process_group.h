/// The processes of one attempt as one group that computes sums together.
///
/// A world of 1 uses no store, no socket and no backend, so a single-process trial pays nothing.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "trial_runner/training/named_tensor.h"

namespace c10d {
class ProcessGroup;
}

namespace rung::training {

/// Which of the processes this one is and where they meet: what torchrun sets, and rung too.
struct RankEnvironment {
  int rank = 0;                   ///< RANK, in [0, world_size)
  int world_size = 1;             ///< WORLD_SIZE, at least 1
  int local_rank = 0;             ///< LOCAL_RANK: which of this machine's granted GPUs is ours
  std::string master_addr;        ///< MASTER_ADDR, numeric; not needed in a world of 1
  std::uint16_t master_port = 0;  ///< MASTER_PORT; not needed in a world of 1
  int attempt = 0;                ///< TORCHELASTIC_RESTART_COUNT: keeps apart attempts on one store
  /// TORCHELASTIC_USE_AGENT_STORE is "True": the launcher serves the store; otherwise rank 0 does.
  bool agent_store = false;

  /// Throws TrainingError that names the variable, its value and what is allowed.
  static RankEnvironment FromEnvironment();
};

class ProcessGroup {
 public:
  enum class DeviceChoice {
    kCpu,  ///< Gloo
    kGpu,  ///< NCCL; an error when the program was not linked with rung_training_gpu or sees no GPU
    kAuto,  ///< kGpu where it would work, else kCpu
  };
  struct Options {
    DeviceChoice device = DeviceChoice::kAuto;
    /// Longest wait for a peer, at the rendezvous and in every collective but AwaitRankZero.
    std::chrono::milliseconds timeout = std::chrono::minutes(2);
  };

  /// Waits until all ranks of the environment have come. On GPU call it before any other CUDA work:
  /// it binds this process to its device first. Throws TrainingError or c10::Error.
  static std::unique_ptr<ProcessGroup> Connect(const RankEnvironment& environment, Options options);
  static std::unique_ptr<ProcessGroup> Connect(const RankEnvironment& environment) {
    return Connect(environment, Options());
  }
  /// Without Shutdown() before (an exception passes): aborts, so that no peer waits for this rank.
  ~ProcessGroup();
  ProcessGroup(const ProcessGroup&) = delete;
  ProcessGroup& operator=(const ProcessGroup&) = delete;

  int rank() const;
  int world_size() const;
  /// Where this rank's tensors belong: cpu, or cuda:k.
  c10::Device device() const;

  // Collectives: every rank calls them in the same order, or they time out. They throw c10::Error
  // when a peer has died or does not come within the timeout; the process should then end.

  /// Element-wise sums over the ranks. values: any length, equal on all ranks; summed in float64,
  /// in an order that does not depend on timing, so that all ranks get the same bits.
  std::vector<double> AllReduceSums(std::span<const double> values);
  /// Element-wise minimum and maximum over the ranks of exact int64 values.
  struct Extremes {
    std::vector<std::int64_t> min;
    std::vector<std::int64_t> max;
  };
  Extremes AllReduceExtremes(std::span<const std::int64_t> values);
  /// Overwrites `tensors` (equal shapes, dtypes and order on all ranks; on device()) with rank 0's.
  void Broadcast(std::span<const NamedTensor> tensors);
  /// Rank 0's text, everywhere; up to 1 MiB.
  std::string BroadcastText(const std::string& text);
  /// Returns when all ranks have called it.
  void Barrier();
  /// All ranks call it, rank 0 after what it alone does: to report, to write or to hand over a
  /// checkpoint. That takes as long as the worker, its scheduler and the disk do, hours when the
  /// scheduler is away, so the others wait for rank 0 without the timeout, at most kRankZeroWait;
  /// they fail at once when its process has ended. Then all wait for each other, as in Barrier.
  static constexpr std::chrono::hours kRankZeroWait{7 * 24};  ///< as report::Trial::kAnswerWait
  void AwaitRankZero();

  /// The orderly end after the last collective: waits (up to the timeout) until all ranks are here,
  /// so that none loses its store or its peer. Further collectives are errors.
  void Shutdown();
  /// Ends at once: collectives in flight fail, here and on the peers.
  void Abort();

  /// The LibTorch group for code that needs more; null in a world of 1.
  c10d::ProcessGroup* torch_group() const;

 private:
  struct State;
  explicit ProcessGroup(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rung::training
