#pragma once

#include <initializer_list>
#include <string>

#include "storage/write_batch.h"

/// Rows with something in every field, so that a forgotten or swapped column shows.
namespace rung {

inline TrialId TrialOf(int64_t experiment, int32_t number) {
  return {ExperimentId{experiment}, TrialNumber{number}};
}
inline AttemptId AttemptOf(int64_t experiment, int32_t number, int32_t attempt) {
  return {TrialOf(experiment, number), attempt};
}

inline ExperimentRow SampleExperiment(int64_t id) {
  ExperimentRow row;
  row.id = ExperimentId{id};
  row.name = "bert-asha";
  row.state = ExperimentState::kActive;
  row.reason = "why";
  row.document = R"({"name": "bert-asha", "text": "naïve; 'quoted'"})";
  row.metric = "accuracy";
  row.goal = Goal::kMaximize;
  row.best_by = BestBy::kLast;
  row.seed = -7;
  row.owner = "ada";
  row.priority = 3;
  row.planned_trials = 27;
  row.max_step = 100;
  row.plan = R"({"levels":[10,30,90]})";
  row.created = WallTime{1'700'000'000'000'001};
  row.ended = WallTime{1'700'000'000'000'002};
  return row;
}

inline TrialRow SampleTrial(TrialId id) {
  TrialRow row;
  row.id = id;
  row.state = TrialState::kRunning;
  row.reason = "because";
  row.params = R"({"lr":0.001,"batch_size":32})";
  row.bracket = 2;
  row.best_value = 0.8125;
  row.best_step = 30;
  row.last_step = 40;
  row.furthest_step = 50;
  row.metric_rows = 100'000;
  row.failures = 1;
  row.losses = 4;
  row.created = WallTime{11};
  row.ended = WallTime{12};
  return row;
}

inline AttemptRow SampleAttempt(AttemptId id) {
  AttemptRow row;
  row.id = id;
  row.state = AttemptState::kExited;
  row.exit_cause = ExitCause::kFailed;
  row.exit_code = 137;
  row.message = "killed by signal 9";
  row.workers = "w1,w2";
  row.owner = "notebook";
  row.resume_step = 8;
  row.processes = 2;
  row.gpus = 4;
  row.milli_cpus = 2500;
  row.memory_bytes = 3'000'000'000;
  row.started = WallTime{1'000'000};
  row.ended = WallTime{3'000'000};
  row.gpu_s = 8;
  row.cpu_s = 5;
  row.lease_s = 90.5;
  return row;
}

inline MetricRow SampleMetric(AttemptId attempt, Steps step, double value,
                              const std::string& name = "accuracy") {
  MetricRow row;
  row.attempt = attempt;
  row.step = step;
  row.name = name;
  row.value = value;
  row.ranks = 2;
  row.time = WallTime{step};
  return row;
}

inline DecisionRow SampleDecision(int64_t experiment, int64_t seq) {
  DecisionRow row;
  row.experiment = ExperimentId{experiment};
  row.seq = seq;
  row.attempt = 5;
  row.bracket = 1;
  row.level = 30;
  row.trial = TrialNumber{6};
  row.step = 31;
  row.value = 0.71;
  row.n_before = 4;
  row.entries = 7;
  row.rank = 3;
  row.cutoff = 0.7533;
  row.rule = "asha.stopping.quantile";
  row.decision = "stop";
  row.reason = "below_cutoff";
  row.time = WallTime{13};
  return row;
}

inline CheckpointRow SampleCheckpoint(AttemptId attempt, Steps step) {
  CheckpointRow row;
  row.attempt = attempt;
  row.step = step;
  row.path = "/checkpoints/12.3.0/step-10";
  row.place = "w1";
  row.bytes = 90'900'000'000;
  row.refs = 2;
  row.time = WallTime{14};
  return row;
}

inline WorkerRow SampleWorker(const std::string& name) {
  WorkerRow row;
  row.name = name;
  row.state = "connected";
  row.host = "10.0.0.7";
  row.version = "0.1.0";
  row.milli_cpus = 96'000;
  row.memory_bytes = 768'000'000'000;
  row.gpus = 8;
  row.gpu_names = R"(["A100"])";
  row.first_seen = WallTime{15};
  row.last_seen = WallTime{16};
  return row;
}

inline RequestRow SampleRequest(const std::string& id, int64_t time_us) {
  RequestRow row;
  row.request_id = id;
  row.method = "CreateExperiment";
  row.answer = "12";
  row.time = WallTime{time_us};
  return row;
}

inline WriteBatch BatchOf(std::initializer_list<Write> writes) {
  WriteBatch batch;
  batch.writes = writes;
  return batch;
}

}  // namespace rung
