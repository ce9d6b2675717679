#include "scheduler/summary_codec.h"

#include <algorithm>

#include "scheduler/proto_codec.h"

namespace rung {
namespace {

v1::TrialCounts CountsToProto(const TrialCounts& counts) {
  v1::TrialCounts proto;
  proto.set_queued(counts.queued);
  proto.set_running(counts.running);
  proto.set_paused(counts.paused);
  proto.set_completed(counts.completed);
  proto.set_stopped(counts.stopped);
  proto.set_failed(counts.failed);
  proto.set_cancelled(counts.cancelled);
  return proto;
}

v1::Rung RungToProto(const RungOccupancy& rung) {
  v1::Rung proto;
  proto.set_bracket(rung.bracket);
  proto.set_level(rung.level);
  proto.set_entries(rung.entries);
  proto.set_continued(rung.continued);
  proto.set_stopped(rung.stopped);
  proto.set_paused(rung.paused);
  proto.set_skipped(rung.skipped);
  proto.set_over_promoted(rung.over_promoted);
  if (rung.best_value) proto.set_best_value(*rung.best_value);
  return proto;
}

}  // namespace

v1::Experiment ToProto(const ExperimentSummary& summary) {
  v1::Experiment proto = ToProto(summary.experiment);
  *proto.mutable_trials() = CountsToProto(summary.trials);
  proto.set_steps_spent(summary.steps_spent);
  proto.set_gpu_seconds(summary.gpu_s);
  proto.set_cpu_seconds(summary.cpu_s);
  if (summary.best) *proto.mutable_best() = ToProto(*summary.best);
  for (const RungOccupancy& rung : summary.rungs) *proto.add_rungs() = RungToProto(rung);
  return proto;
}

v1::Trial ToProto(const TrialSummary& summary) {
  v1::Trial proto = ToProto(summary.trial);
  if (summary.last_value) proto.set_last_value(*summary.last_value);
  return proto;
}

v1::Trial ToProto(const TrialDetail& detail) {
  v1::Trial proto = ToProto(detail.summary);
  for (const AttemptDetail& attempt : detail.attempts) {
    v1::Attempt& added = *proto.add_attempts();
    added = ToProto(attempt.attempt);
    for (const LogTailRow& tail : attempt.log_tails) *added.add_log_tails() = ToProto(tail);
  }
  return proto;
}

v1::Worker ToProto(const WorkerSummary& summary) {
  const WorkerRow& row = summary.worker;
  v1::Worker proto = ToProto(row);
  Resources free{.milli_cpus = row.milli_cpus, .memory_bytes = row.memory_bytes, .gpus = row.gpus};
  for (const AttemptRow& attempt : summary.attempts) {
    *proto.add_attempts() = ToProto(attempt.id);
    free.milli_cpus -= attempt.milli_cpus;
    free.memory_bytes -= attempt.memory_bytes;
    free.gpus -= attempt.gpus;
  }
  free.milli_cpus = std::max<int64_t>(free.milli_cpus, 0);
  free.memory_bytes = std::max<int64_t>(free.memory_bytes, 0);
  free.gpus = std::max(free.gpus, 0);
  *proto.mutable_free() = ToProto(free);
  return proto;
}

}  // namespace rung
