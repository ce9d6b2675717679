#pragma once

#include <absl/base/thread_annotations.h>
#include <absl/status/status.h>
#include <absl/synchronization/mutex.h>
#include <grpcpp/support/server_callback.h>

#include <set>

#include "rung/v1/tuner.pb.h"
#include "scheduler/reply_table.h"
#include "scheduler/server.h"

/// The open streams of Tuner.StreamReports.
namespace rung {

struct ReportStreamsConfig {
  size_t streams_max = 10'000;
  size_t window = 64;  ///< reports of one stream that wait for their answer; more are not read yet
};

/// One response for each request, in order. Any thread.
class ReportStreams {
 public:
  using Reactor = grpc::ServerBidiReactor<v1::ReportRequest, v1::ReportResponse>;

  /// The references outlive this object, and this object every stream.
  ReportStreams(const ReportStreamsConfig& config, Server& server, ReplyTable& replies)
      : config_(config), server_(server), replies_(replies) {}

  /// The reactor of a new stream; it goes away when the stream is done. `refusal` not OK: the
  /// stream ends with it at once.
  Reactor* Open(const absl::Status& refusal);
  void EndAll(const absl::Status& status);

 private:
  class Stream;

  const ReportStreamsConfig config_;
  Server& server_;
  ReplyTable& replies_;

  absl::Mutex mutex_;
  std::set<Stream*> streams_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace rung
