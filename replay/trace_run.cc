#include "replay/trace_run.h"

#include <fmt/compile.h>
#include <fmt/format.h>

#include <cmath>
#include <string>
#include <utility>
#include <variant>

#include "core/check.h"
#include "core/parameters.h"
#include "core/trial.h"

namespace rung {
namespace {

constexpr size_t kBytesAWrite = 1 << 20;

void AppendNumber(double value, fmt::memory_buffer& out) {
  if (std::isfinite(value)) {
    out.append(JsonFloat(value));
  } else {
    fmt::format_to(fmt::appender(out), FMT_COMPILE("\"{}\""), value);  // "nan", "inf", "-inf"
  }
}

/// Appends the line of one answer, without its end.
struct Write {
  fmt::memory_buffer& out;

  fmt::appender end() const { return fmt::appender(out); }
  void Add(std::string_view text) const { out.append(text); }

  void operator()(const ReportAnswer& answer) const {
    fmt::format_to(end(), FMT_COMPILE(R"({{"trial": {}, "step": {}, "decision": ")"),
                   answer.trial.value, answer.step);
    Add(ToString(answer.decision));
    if (answer.reason.empty()) {
      Add(R"(", "reason": null, )");
    } else {
      Add(R"(", "reason": ")");
      Add(answer.reason);
      Add(R"(", )");
    }
    if (!answer.level) return Add(R"("level": null, "cutoff": null, "n_before": null)");
    fmt::format_to(end(), FMT_COMPILE(R"("level": {}, "cutoff": )"), *answer.level);
    if (answer.cutoff) {
      AppendNumber(*answer.cutoff, out);
    } else {
      Add("null");
    }
    fmt::format_to(end(), FMT_COMPILE(R"(, "n_before": {})"), answer.n_before);
  }
  void operator()(const StartAnswer& answer) const {
    fmt::format_to(end(), FMT_COMPILE(R"({{"start": {})"), answer.trial.value);
  }
  void operator()(const ResumeAnswer& answer) const {
    fmt::format_to(end(), FMT_COMPILE(R"({{"resume": {}, "from": {})"), answer.trial.value,
                   answer.from);
  }
  void operator()(const IdleAnswer& /*answer*/) const { Add(R"({"idle": true)"); }
  void operator()(const ExitAnswer& answer) const {
    fmt::format_to(end(), FMT_COMPILE(R"({{"trial": {}, "state": ")"), answer.trial.value);
    Add(ToString(answer.state));
    Add("\"");
  }
};

absl::StatusOr<TraceAnswer> Happen(const TraceEvent& event, TraceReplay& replay) {
  switch (event.kind) {
    case TraceEvent::Kind::kReport: {
      auto answer = replay.OnReport({event.trial, event.step, event.value});
      if (answer.ok()) return *std::move(answer);
      return absl::InvalidArgumentError(
          fmt::format("events[{}].report.{}", event.index, std::string(answer.status().message())));
    }
    case TraceEvent::Kind::kExit: {
      auto answer = replay.OnExit(event.trial, event.exit);
      if (answer.ok()) return *std::move(answer);
      return absl::InvalidArgumentError(
          fmt::format("events[{}].exit.{}", event.index, std::string(answer.status().message())));
    }
    case TraceEvent::Kind::kFree:
      return replay.OnFree();
  }
  return absl::InternalError("not an event");
}

void Compare(const ReportAnswer& ours, const RecordedAnswer& theirs, const TraceEvent& event,
             const Peer& peer, PeerComparison& comparison) {
  if (!peer.ends_at_max_t && event.step >= peer.max_t) {
    ++comparison.beyond_end;
    return;
  }
  ++comparison.decisions;
  bool same = ours.decision == theirs.decision;
  if (!same) ++comparison.differ;
  if (peer.has_cutoffs && (ours.cutoff || theirs.cutoff)) {
    ++comparison.cutoffs;
    if (ours.cutoff != theirs.cutoff) {
      ++comparison.cutoffs_differ;
      same = false;
    }
  }
  if (!same && !comparison.first_difference) comparison.first_difference = event.index;
}

}  // namespace

absl::StatusOr<std::optional<PeerComparison>> RunTrace(const Trace& trace, const LineSink& sink) {
  absl::StatusOr<TraceReplay> replay = TraceReplay::Create(trace.setup);
  if (!replay.ok()) return replay.status();
  std::optional<PeerComparison> comparison;
  if (trace.peer) comparison.emplace();
  fmt::memory_buffer out;
  absl::Status status;
  for (size_t i = 0; i < trace.events.size() && status.ok(); ++i) {
    const absl::StatusOr<TraceAnswer> answer = Happen(trace.events[i], *replay);
    status = answer.status();
    if (!status.ok()) break;
    std::visit(Write{out}, *answer);
    if (trace.peer) {
      const RecordedAnswer& recorded = trace.peer->answers[i];
      out.append(std::string_view(R"(, "recorded": ")"));
      out.append(ToString(recorded.decision));
      out.push_back('"');
      Compare(std::get<ReportAnswer>(*answer), recorded, trace.events[i], *trace.peer, *comparison);
    }
    out.append(std::string_view("}\n"));
    if (out.size() >= kBytesAWrite) {
      sink({out.data(), out.size()});
      out.clear();
    }
  }
  if (out.size() > 0) sink({out.data(), out.size()});
  if (!status.ok()) return status;
  return comparison;
}

}  // namespace rung
