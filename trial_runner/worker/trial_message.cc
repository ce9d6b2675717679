#include "trial_runner/worker/trial_message.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>

#include "core/edit_distance.h"
#include "core/json_syntax.h"
#include "core/metric_name.h"

namespace rung::worker {
namespace {

using nlohmann::json;

constexpr size_t kQuotedBytesMax = 80;
constexpr int kLineDepthMax = 8;  ///< a report needs 3

/// Ends the reading of a line; never leaves this file.
struct LineError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What was found, short enough for a message.
std::string Found(const json& value) {
  std::string text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > kQuotedBytesMax) text = text.substr(0, kQuotedBytesMax) + "…";
  return text;
}

void CheckKeys(const json& object, const char* where,
               std::initializer_list<std::string_view> keys) {
  for (const auto& item : object.items()) {
    if (std::ranges::find(keys, item.key()) != keys.end()) continue;
    const std::string key = item.key().substr(0, kQuotedBytesMax);
    const std::string_view nearest = *std::ranges::min_element(
        keys, {}, [&](std::string_view allowed) { return EditDistance(allowed, key); });
    const bool alike = EditDistance(nearest, key) <= std::max<size_t>(2, key.size() / 3);
    const std::string hint = alike ? fmt::format("; did you mean '{}'?", nearest) : "";
    throw LineError(fmt::format("{}: unknown key '{}'{} (allowed: {})", where, key, hint,
                                fmt::join(keys, ", ")));
  }
}

const json& Member(const json& object, const char* where, const char* key) {
  const auto it = object.find(key);
  if (it == object.end()) throw LineError(fmt::format("{}: '{}' is missing", where, key));
  return *it;
}

const json& ObjectOf(const json& value, const char* where) {
  if (!value.is_object()) {
    throw LineError(fmt::format("{}: must be an object, found {}", where, Found(value)));
  }
  return value;
}

int64_t IntegerOf(const json& value, std::string_view where, int64_t low) {
  const bool in_range =
      value.is_number_unsigned()
          ? value.get<uint64_t>() <= static_cast<uint64_t>(std::numeric_limits<int64_t>::max()) &&
                value.get<int64_t>() >= low
          : value.is_number_integer() && value.get<int64_t>() >= low;
  if (!in_range) {
    throw LineError(
        fmt::format("{}: must be an integer >= {}, found {}", where, low, Found(value)));
  }
  return value.get<int64_t>();
}

double MetricOf(const std::string& name, const json& value) {
  if (value.is_number()) return value.get<double>();  // JSON has no other than finite ones
  if (value == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (value == "inf") return std::numeric_limits<double>::infinity();
  if (value == "-inf") return -std::numeric_limits<double>::infinity();
  throw LineError(
      fmt::format(R"(report.metrics['{}']: must be a number, "nan", "inf" or "-inf", found {})",
                  name, Found(value)));
}

ReportLine ReadReport(const json& value) {
  const json& report = ObjectOf(value, "report");
  CheckKeys(report, "report", {"step", "metrics", "count"});
  ReportLine line{.step = IntegerOf(Member(report, "report", "step"), "report.step", 1),
                  .metrics = {}};
  const int64_t count =
      report.contains("count") ? IntegerOf(report["count"], "report.count", 1) : 1;
  const json& metrics = ObjectOf(Member(report, "report", "metrics"), "report.metrics");
  if (metrics.empty() || metrics.size() > kMetricsPerReportMax) {
    throw LineError(fmt::format("report.metrics: must hold 1 to {} values, found {}",
                                kMetricsPerReportMax, metrics.size()));
  }
  for (const auto& item : metrics.items()) {
    const std::string& name = item.key();
    if (const absl::Status status = CheckMetricName(name); !status.ok()) {
      throw LineError(fmt::format("report.metrics: {}", std::string(status.message())));
    }
    line.metrics.push_back({.name = name, .value = MetricOf(name, item.value()), .count = count});
  }
  return line;
}

CheckpointLine ReadCheckpoint(const json& value) {
  const json& checkpoint = ObjectOf(value, "checkpoint");
  CheckKeys(checkpoint, "checkpoint", {"step", "path"});
  const json& path = Member(checkpoint, "checkpoint", "path");
  if (!path.is_string()) {
    throw LineError(fmt::format("checkpoint.path: must be a string, found {}", Found(path)));
  }
  return {.step = IntegerOf(Member(checkpoint, "checkpoint", "step"), "checkpoint.step", 1),
          .path = path.get<std::string>()};
}

/// The document of a line. A repeated key is refused: which one was meant cannot be known. So is
/// what is nested deeper than any line needs: values are written by recursion into the messages,
/// and a line has room for a million brackets, which the stack has not.
json ParseDocument(std::string_view line) {
  std::vector<std::set<std::string>> keys;
  const auto check = [&](int depth, json::parse_event_t event, json& parsed) {
    if (depth > kLineDepthMax) {
      throw LineError(
          fmt::format("line: nested deeper than {} levels, the most allowed", kLineDepthMax));
    }
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key &&
        !keys.back().insert(parsed.get<std::string>()).second) {
      throw LineError(fmt::format("key {} stands twice in one object", Found(parsed)));
    }
    return true;
  };
  return json::parse(line, check);
}

}  // namespace

TrialLine ParseTrialLine(std::string_view line) {
  try {
    const json document = ParseDocument(line);
    ObjectOf(document, "line");
    CheckKeys(document, "line", {"report", "checkpoint"});
    if (document.size() != 1) {
      throw LineError("line: must hold either 'report' or 'checkpoint'");
    }
    if (document.contains("report")) return ReadReport(document["report"]);
    return ReadCheckpoint(document["checkpoint"]);
  } catch (const LineError& error) {
    return BadLine{error.what()};
  } catch (const json::parse_error& error) {
    return BadLine{"not a JSON object: " + JsonSyntaxProblem(line, error.byte, error.what())};
  } catch (const json::exception& error) {  // a number that no double holds
    return BadLine{"not a JSON object: " + JsonSyntaxProblem(line, std::nullopt, error.what())};
  }
}

std::string DecisionLine(Decision decision, bool durable) {
  return fmt::format(R"({{"decision":"{}"{}}})", ToString(decision),
                     durable ? "" : R"(,"durable":false)");
}

std::string StoredLine() { return R"({"checkpoint":"stored"})"; }

std::string ErrorLine(std::string_view error) {
  // Quotes what a trial wrote, cut anywhere, so bytes that are no UTF-8 must not get through.
  return json{{"error", error}}.dump(-1, ' ', false, json::error_handler_t::replace);
}

}  // namespace rung::worker
