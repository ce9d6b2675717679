#include "clients/cli/watcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "clients/cli/diagnosis.h"
#include "clients/cli/interrupt.h"
#include "clients/cli/json_view.h"
#include "clients/cli/progress.h"
#include "clients/cli/quantity.h"
#include "clients/cli/verb.h"
#include "clients/cli/wall_clock.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

using std::chrono::steady_clock;

constexpr std::chrono::seconds kLineInterval{5};
constexpr std::chrono::seconds kReconnectLimit{60};
constexpr std::chrono::milliseconds kReconnectPause{500};
constexpr int32_t kUpdateIntervalMs = 500;

bool IsOver(const pb::Experiment& experiment) {
  return IsFinal(experiment.state()) || NeedsAttention(experiment);
}

Json UpdateJson(const pb::WatchExperimentResponse& update) {
  Json trials = Json::array();
  for (const pb::Trial& trial : update.active_trials()) trials.push_back(ToJson(trial));
  return Json{{"experiment", ToJson(update.experiment())},
              {"active_trials", trials},
              {"last_stderr", update.last_stderr()}};
}

// Draws updates: over the former one on a terminal, else a line when there is something to say.
class Painter {
 public:
  explicit Painter(const WatchView& view) : view_(view) {}

  void Show(const pb::WatchExperimentResponse& update) {
    if (view_.json) {
      view_.stream << Dumped(UpdateJson(update)) << std::endl;
    } else if (view_.terminal.interactive) {
      const std::string screen = ProgressScreen(update, WallClockUs(), view_.terminal);
      view_.stream << Erase() << screen << std::flush;
      lines_drawn_ = std::count(screen.begin(), screen.end(), '\n');
    } else {
      ShowLine(update);
    }
  }

 private:
  std::string Erase() const {
    return lines_drawn_ > 0 ? fmt::format("\x1b[{}F\x1b[J", lines_drawn_) : "";
  }

  void ShowLine(const pb::WatchExperimentResponse& update) {
    const auto state = update.experiment().state();
    const auto now = steady_clock::now();
    if (shown_ && state == state_ && now - shown_at_ < kLineInterval) return;
    view_.stream << ProgressLine(update, WallClockUs()) << std::endl;
    shown_ = true;
    shown_at_ = now;
    state_ = state;
  }

  const WatchView& view_;
  ptrdiff_t lines_drawn_ = 0;
  bool shown_ = false;
  steady_clock::time_point shown_at_;
  pb::ExperimentState state_ = pb::EXPERIMENT_STATE_UNSPECIFIED;
};

}  // namespace

bool NeedsAttention(const pb::Experiment& experiment) {
  if (experiment.state() == pb::EXPERIMENT_STATE_FAILED) return true;
  if (experiment.state() == pb::EXPERIMENT_STATE_ACTIVE) return experiment.reason() == "not_loaded";
  return experiment.state() == pb::EXPERIMENT_STATE_PAUSED &&
         (experiment.reason().starts_with("nothing_works") ||
          experiment.reason().starts_with("max_failed_trials"));
}

absl::StatusOr<pb::WatchExperimentResponse> Watch(int64_t experiment_id, const WatchView& view,
                                                  Session& session) {
  const InterruptNotice notice(
      fmt::format("\nExperiment {0} goes on. `rung watch {0}` comes back to it, `rung stop {0}` "
                  "ends it.\n",
                  experiment_id));
  Painter painter(view);
  pb::WatchExperimentRequest request;
  request.set_experiment_id(experiment_id);
  request.set_interval_ms(kUpdateIntervalMs);
  pb::WatchExperimentResponse last;
  std::string refused;
  bool over = false;
  bool told = false;
  auto lost_at = steady_clock::now();
  while (true) {
    const auto client = session.client();
    if (!client.ok()) return client.status();
    const absl::Status status =
        (*client)->WatchExperiment(request, [&](const pb::WatchExperimentResponse& update) {
          last = update;
          painter.Show(last);
          over = IsOver(update.experiment());
          if (view.ends_when_refused && !over) refused = WhyAllWorkersRefuse(last, **client);
          told = false;
          lost_at = steady_clock::now();
          return !over && refused.empty();
        });
    if (over) return last;
    if (!refused.empty()) {
      return absl::FailedPreconditionError(fmt::format(
          "experiment {0} cannot run here: {1}; `rung stop {0}` ends it", experiment_id, refused));
    }
    // A stream that ends early, by an error or without one, is that of a service that went away.
    const bool gone = status.ok() || absl::IsUnavailable(status);
    if (!gone || !last.has_experiment()) {
      return status.ok() ? absl::UnavailableError("the service ended the watch") : status;
    }
    if (steady_clock::now() - lost_at > kReconnectLimit) return status;
    if (!told) {
      session.console().err << "rung: the service is gone; looking for it for "
                            << kReconnectLimit.count() << " s" << std::endl;
      told = true;
      lost_at = steady_clock::now();
    }
    std::this_thread::sleep_for(kReconnectPause);
    session.Disconnect();
  }
}

int ReportEnd(const pb::WatchExperimentResponse& last, Session& session) {
  const pb::Experiment& experiment = last.experiment();
  std::ostream& err = session.console().err;
  const auto client = session.client();
  const std::string no_best = client.ok() ? WhyNoBest(experiment, **client) : "";
  const bool has_value = experiment.has_best() && experiment.best().has_best_value();
  if (!has_value && (!no_best.empty() || !NeedsAttention(experiment))) {
    err << Printable(fmt::format(
               "rung: no trial of experiment {} has a value of its metric '{}'{}{}",
               experiment.id(), experiment.metric(), no_best.empty() ? "" : "; ", no_best))
        << std::endl;
  }
  if (!NeedsAttention(experiment)) return has_value ? kSuccess : kRequestFailed;
  const std::string reason =
      experiment.reason().empty() ? "" : fmt::format(" ({})", experiment.reason());
  err << fmt::format("rung: experiment {} is {}{}\n", experiment.id(), Word(experiment.state()),
                     reason);
  if (!last.last_stderr().empty()) {
    err << "The last stderr of a trial that failed:\n" << last.last_stderr();
    if (!last.last_stderr().ends_with('\n')) err << '\n';
  }
  err << fmt::format("`rung trials {0}` lists the trials, `rung show {0}.0` says more of one.",
                     experiment.id())
      << std::endl;
  return kRequestFailed;
}

}  // namespace rung::cli
