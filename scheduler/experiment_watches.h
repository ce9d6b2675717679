#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/server_callback.h>

#include <chrono>
#include <map>

#include "core/ids.h"
#include "rung/v1/tuner.pb.h"
#include "scheduler/read_pool.h"
#include "scheduler/server.h"
#include "storage/database_reader.h"

/// The open streams of Tuner.WatchExperiment.
namespace rung {

struct ExperimentWatchesConfig {
  size_t watches_max = 1'000;
  /// A watcher is sent the state this often even if nothing changed: seconds used go on counting.
  std::chrono::milliseconds quiet_max{2'000};
};

/// A watcher gets the state now and after changes, at most every `interval`; the stream ends after
/// the final state was sent. Any thread.
class ExperimentWatches {
 public:
  using Reactor = grpc::ServerWriteReactor<v1::WatchExperimentResponse>;

  /// The references outlive this object, and this object every stream.
  ExperimentWatches(const ExperimentWatchesConfig& config, const DatabaseReader& reader,
                    ReadPool& pool, Server::Clock clock);

  /// The reactor of a new stream; it goes away when the stream is done. `refusal` not OK: the
  /// stream ends with it at once.
  Reactor* Open(ExperimentId experiment, std::chrono::milliseconds interval,
                const absl::Status& refusal);

  void Changed(ExperimentId experiment);
  /// Sends what is due; called every few ten milliseconds.
  void Poll();
  void EndAll(const absl::Status& status);

 private:
  class Stream;

  absl::StatusOr<v1::WatchExperimentResponse> Look(ExperimentId experiment) const;

  const ExperimentWatchesConfig config_;
  const DatabaseReader& reader_;
  ReadPool& pool_;
  const Server::Clock clock_;

  absl::Mutex mutex_;
  std::multimap<ExperimentId, Stream*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rung
