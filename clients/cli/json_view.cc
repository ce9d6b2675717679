#include "clients/cli/json_view.h"

#include <cmath>

#include "clients/cli/words.h"

namespace rung::cli {
namespace {

template <typename T>
Json Maybe(bool has, const T& value) {
  return has ? Json(value) : Json(nullptr);
}

Json MaybeNumber(bool has, double value) { return has ? ToJson(value) : Json(nullptr); }

Json MaybeText(const std::string& text) { return Maybe(!text.empty(), text); }

Json ResourcesJson(const pb::Resources& resources) {
  return Json{{"milli_cpus", resources.milli_cpus()},
              {"memory_bytes", resources.memory_bytes()},
              {"gpus", resources.gpus()}};
}

}  // namespace

Json ToJson(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

Json ToJson(const pb::TrialCounts& counts) {
  return Json{{"queued", counts.queued()},      {"running", counts.running()},
              {"paused", counts.paused()},      {"completed", counts.completed()},
              {"stopped", counts.stopped()},    {"failed", counts.failed()},
              {"cancelled", counts.cancelled()}};
}

Json ToJson(const pb::Experiment& e) {
  Json rungs = Json::array();
  for (const pb::Rung& rung : e.rungs()) rungs.push_back(ToJson(rung));
  return Json{{"id", e.id()},
              {"name", e.name()},
              {"state", Word(e.state())},
              {"reason", MaybeText(e.reason())},
              {"metric", e.metric()},
              {"goal", Word(e.goal())},
              {"best_by", Word(e.best_by())},
              {"seed", e.seed()},
              {"owner", e.owner()},
              {"priority", e.priority()},
              {"planned_trials", Maybe(e.has_planned_trials(), e.planned_trials())},
              {"max_step", Maybe(e.has_max_step(), e.max_step())},
              {"created_us", e.created_us()},
              {"ended_us", Maybe(e.has_ended_us(), e.ended_us())},
              {"trials", ToJson(e.trials())},
              {"steps_spent", e.steps_spent()},
              {"gpu_s", ToJson(e.gpu_seconds())},
              {"cpu_s", ToJson(e.cpu_seconds())},
              {"best", e.has_best() ? ToJson(e.best()) : Json(nullptr)},
              {"rungs", rungs},
              {"plan", Parsed(e.plan_json())},
              {"document", Parsed(e.document())}};
}

Json ToJson(const pb::Rung& rung) {
  return Json{{"bracket", rung.bracket()},
              {"level", rung.level()},
              {"entries", rung.entries()},
              {"continued", rung.continued()},
              {"stopped", rung.stopped()},
              {"paused", rung.paused()},
              {"skipped", rung.skipped()},
              {"over_promoted", rung.over_promoted()},
              {"best_value", MaybeNumber(rung.has_best_value(), rung.best_value())}};
}

Json ToJson(const pb::Trial& t) {
  Json attempts = Json::array();
  for (const pb::Attempt& attempt : t.attempts()) attempts.push_back(ToJson(attempt));
  Json json{{"id", TrialText(t)},
            {"experiment_id", t.experiment_id()},
            {"trial_number", t.trial_number()},
            {"state", Word(t.state())},
            {"reason", MaybeText(t.reason())},
            {"params", Parsed(t.params_json())},
            {"bracket", t.bracket()},
            {"best_value", MaybeNumber(t.has_best_value(), t.best_value())},
            {"best_step", Maybe(t.has_best_step(), t.best_step())},
            {"last_value", MaybeNumber(t.has_last_value(), t.last_value())},
            {"last_step", Maybe(t.has_last_step(), t.last_step())},
            {"failures", t.failures()},
            {"losses", t.losses()},
            {"created_us", t.created_us()},
            {"ended_us", Maybe(t.has_ended_us(), t.ended_us())}};
  if (!attempts.empty()) json["attempts"] = attempts;
  return json;
}

Json ToJson(const pb::Attempt& a) {
  Json tails = Json::array();
  for (const pb::LogTail& tail : a.log_tails()) {
    tails.push_back(Json{{"rank", tail.rank()}, {"text", tail.text()}});
  }
  const bool has_cause = a.exit_cause() != pb::EXIT_CAUSE_UNSPECIFIED;
  return Json{{"attempt", a.attempt()},
              {"state", Word(a.state())},
              {"exit_cause", Maybe(has_cause, Word(a.exit_cause()))},
              {"exit_code", Maybe(a.has_exit_code(), a.exit_code())},
              {"message", MaybeText(a.message())},
              {"workers", a.workers()},
              {"owner", MaybeText(a.owner())},
              {"resume_step", a.resume_step()},
              {"processes", a.processes()},
              {"gpus", a.gpus()},
              {"milli_cpus", a.milli_cpus()},
              {"memory_bytes", a.memory_bytes()},
              {"started_us", a.started_us()},
              {"ended_us", Maybe(a.has_ended_us(), a.ended_us())},
              {"gpu_s", ToJson(a.gpu_seconds())},
              {"cpu_s", ToJson(a.cpu_seconds())},
              {"log_tails", tails}};
}

Json ToJson(const pb::Metric& m) {
  return Json{{"trial_number", m.trial_number()},
              {"attempt", m.attempt()},
              {"step", m.step()},
              {"name", m.name()},
              {"value", ToJson(m.value())},
              {"ranks", m.ranks()},
              {"time_us", m.time_us()},
              {"superseded", m.superseded()}};
}

Json ToJson(const pb::DecisionRow& row) {
  return Json{{"seq", row.seq()},
              {"bracket", row.bracket()},
              {"level", row.level()},
              {"trial_number", row.trial_number()},
              {"attempt", row.attempt()},
              {"step", row.step()},
              {"value", ToJson(row.value())},
              {"n_before", row.n_before()},
              {"entries", row.entries()},
              {"rank", Maybe(row.has_rank(), row.rank())},
              {"cutoff", MaybeNumber(row.has_cutoff(), row.cutoff())},
              {"rule", row.rule()},
              {"decision", row.decision()},
              {"reason", MaybeText(row.reason())},
              {"time_us", row.time_us()}};
}

Json ToJson(const pb::Worker& w) {
  Json attempts = Json::array();
  for (const pb::AttemptId& id : w.attempts()) attempts.push_back(AttemptText(id));
  Json gpu_names = Json::array();
  for (const std::string& name : w.gpu_names()) gpu_names.push_back(name);
  return Json{{"name", w.name()},
              {"state", w.state()},
              {"host", w.host()},
              {"version", w.version()},
              {"total", ResourcesJson(w.total())},
              {"free", ResourcesJson(w.free())},
              {"gpu_names", gpu_names},
              {"first_seen_us", w.first_seen_us()},
              {"last_seen_us", w.last_seen_us()},
              {"attempts", attempts}};
}

Json Parsed(const std::string& text) {
  if (text.empty()) return nullptr;
  Json json = Json::parse(text, nullptr, false);
  return json.is_discarded() ? Json(text) : json;
}

std::string Dumped(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace rung::cli
