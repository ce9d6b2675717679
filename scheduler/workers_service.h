#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_callback.h>

#include "rung/v1/workers.grpc.pb.h"
#include "scheduler/caller.h"
#include "scheduler/log_relay.h"
#include "scheduler/worker_sessions.h"

namespace rung {

/// Service Workers: what daemons call.
class WorkersService final : public v1::Workers::CallbackService {
 public:
  /// The references outlive the service.
  WorkersService(const CallerCheck& callers, WorkerSessions& sessions, LogRelay& logs)
      : callers_(callers), sessions_(sessions), logs_(logs) {}

  grpc::ServerBidiReactor<v1::WorkerMessage, v1::SchedulerMessage>* Session(
      grpc::CallbackServerContext* context) override {
    return sessions_.Open(context, callers_.NameOf(*context).status());
  }
  grpc::ServerReadReactor<v1::UploadLogRequest>* UploadLog(grpc::CallbackServerContext* context,
                                                           v1::UploadLogResponse*) override {
    return logs_.OpenUpload(callers_.NameOf(*context).status());
  }

 private:
  const CallerCheck& callers_;
  WorkerSessions& sessions_;
  LogRelay& logs_;
};

}  // namespace rung
