#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <cstdlib>

#include "clients/cli/json_view.h"
#include "clients/cli/trial_socket.h"
#include "clients/cli/verbs/verbs.h"

namespace rung::cli {
namespace {

constexpr int kEndNow = 3;  // the decision was stop or pause

struct Options {
  int64_t step = 0;
  std::vector<std::string> metrics;
  int64_t count = 1;
  int64_t timeout_s = 600;
};

// "0.81", "1e-3", "nan", "inf", "-inf"; nothing else.
std::optional<double> ParseValue(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

absl::StatusOr<Json> MetricsJson(const std::vector<std::string>& metrics) {
  Json json = Json::object();
  for (const std::string& metric : metrics) {
    const size_t equals = metric.find('=');
    const auto value = equals == std::string::npos
                           ? std::nullopt
                           : ParseValue(std::string_view(metric).substr(equals + 1));
    if (equals == 0 || !value.has_value()) {
      return absl::InvalidArgumentError(fmt::format(
          "'{}': must be NAME=NUMBER, such as accuracy=0.81 (nan, inf and -inf are allowed)",
          metric));
    }
    const std::string name = metric.substr(0, equals);
    if (json.contains(name)) {
      return absl::InvalidArgumentError(fmt::format("'{}' is given twice", name));
    }
    json[name] = ToJson(*value);
  }
  return json;
}

Outcome Report(const Options& options, Session& session) {
  Console& console = session.console();
  const auto metrics = MetricsJson(options.metrics);
  if (!metrics.ok()) {
    console.err << "rung: " << metrics.status().message() << "\n";
    return kWrongUsage;
  }
  const char* socket = std::getenv("RUNG_SOCKET");
  if (socket == nullptr || *socket == '\0') {
    return absl::FailedPreconditionError(
        "RUNG_SOCKET is not set: `rung report` works inside a trial that rung started");
  }
  Json report{{"step", options.step}, {"metrics", *metrics}};
  if (options.count != 1) report["count"] = options.count;
  const auto answer = AskTrialSocket(socket, Dumped(Json{{"report", report}}),
                                     std::chrono::seconds(options.timeout_s));
  if (!answer.ok()) return answer.status();
  const Json json = Parsed(*answer);
  if (json.is_object() && json.contains("error")) {
    return absl::InvalidArgumentError(
        fmt::format("the report was refused: {}", json.value("error", "")));
  }
  if (!json.is_object() || !json.contains("decision") || !json["decision"].is_string()) {
    return absl::InternalError(fmt::format("RUNG_SOCKET answered '{}'", *answer));
  }
  const std::string decision = json["decision"];
  console.out << decision << "\n";
  if (json.contains("durable") && json["durable"] == false) {
    console.err << "rung: the scheduler has not answered; the worker keeps the report and delivers "
                   "it later\n";
  }
  return decision == "stop" || decision == "pause" ? kEndNow : kSuccess;
}

Action Declare(OptionSet& set) {
  auto options =
      std::make_shared<Options>();  // shared: the parser fills it in, the action reads it
  set.Integer({.flag = "--step",
               .type_name = "N",
               .description = "Finished units of training, from 1",
               .required = true},
              {.min = 0, .max = int64_t{1} << 53}, options->step);
  set.Arguments("NAME=VALUE", options->metrics, "Metrics of this step");
  set.Integer({.flag = "--count",
               .type_name = "N",
               .description = "Samples behind the values, for a mean over ranks"},
              {.min = 1, .max = int64_t{1} << 53}, options->count);
  set.Integer({.flag = "--timeout",
               .type_name = "SECONDS",
               .description = "How long to wait for the answer"},
              {.min = 1, .max = 86'400}, options->timeout_s);
  return [options](Session& session) { return Report(*options, session); };
}

}  // namespace

const Verb kReport{
    "report", "Inside a trial",
    "Report metrics of a step from a trial's shell script, and print the decision: continue, stop\n"
    "or pause. Exit status 0 on continue, 3 on stop and pause (end the trial then; it may do so "
    "with\n"
    "any status), 1 when the report is refused.",
    "  rung report --step 10 accuracy=0.81 loss=0.5 || exit", Declare};

}  // namespace rung::cli
