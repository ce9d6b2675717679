#include "replay/trace_json.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/check.h"
#include "core/experiment.h"
#include "core/json_message.h"
#include "core/json_syntax.h"
#include "core/parameters.h"
#include "replay/event_fields.h"
#include "replay/peer_trace.h"
#include "replay/section_text.h"
#include "replay/trace_event.h"
#include "scheduler/json_document.h"
#include "scheduler/json_reader.h"
#include "scheduler/stopping_json.h"

namespace rung {
namespace {

constexpr std::array<std::string_view, 5> kKeys{"goal", "seed", "scheduler", "trials", "events"};

/// Keeps the events as such; every other member of the document becomes a text of its own, to be
/// read as the small document that it is.
class TraceReader final : public nlohmann::json_sax<Json> {
 public:
  using Type = EventField::Type;

  explicit TraceReader(std::string_view text) : text_(text) {}

  bool null() override { return Put({.type = Type::kNull}, "null"); }
  bool boolean(bool value) override {
    return Put({.type = Type::kBoolean, .boolean = value}, value ? "true" : "false");
  }
  bool number_integer(number_integer_t value) override { return Integer(value); }
  bool number_unsigned(number_unsigned_t value) override {
    if (value <= uint64_t{std::numeric_limits<int64_t>::max()}) {
      return Integer(static_cast<int64_t>(value));
    }
    const std::string text = std::to_string(value);
    return Put({.type = Type::kFloat, .number = static_cast<double>(value), .text = text}, text);
  }
  bool number_float(number_float_t value, const string_t& text) override {
    return Put({.type = Type::kFloat, .number = value}, text);
  }
  bool string(string_t& value) override {
    const std::string json = in_events_ ? "" : JsonQuote(value);
    return Put({.type = Type::kString, .text = std::move(value)}, json);
  }
  bool binary(binary_t&) override { return false; }  // no JSON text holds one
  bool start_object(size_t) override { return Open('{'); }
  bool start_array(size_t) override { return Open('['); }
  bool end_object() override { return Close('}'); }
  bool end_array() override { return Close(']'); }
  bool key(string_t& name) override;
  bool parse_error(size_t position, const std::string&,
                   const nlohmann::detail::exception& error) override {
    return Fail("the document is not JSON: " + JsonSyntaxProblem(text_, position, error.what()));
  }

  /// After the parsing.
  absl::StatusOr<Trace> Take();

 private:
  // How deep the parser stands: inside of the document, of `events`, of an event, of its object.
  static constexpr int kInDocument = 1;
  static constexpr int kInEvents = 2;
  static constexpr int kInEvent = 3;
  static constexpr int kInObject = 4;
  static constexpr size_t kNamesMax = 1000;

  bool Fail(std::string message) {
    status_ = absl::InvalidArgumentError(std::move(message));
    return false;
  }
  bool Integer(int64_t value) {
    return Put({.type = Type::kInteger, .integer = value, .number = static_cast<double>(value)},
               in_events_ ? "" : std::to_string(value));
  }

  /// Such a name that stays; empty where an event has too many different ones.
  std::string_view Keep(std::string& name) {
    for (const std::string& known : names_) {
      if (known == name) return known;
    }
    return names_.size() < kNamesMax ? names_.emplace_back(std::move(name)) : std::string_view();
  }

  /// Refuses a key of the document, one that was read or `key_`, which only a peer's trace has.
  bool CheckOwnKeys();
  bool Put(EventField value, std::string_view json);
  bool Open(char bracket);
  bool Close(char bracket);
  bool EndEvent();

  absl::Status ReadOwn();
  absl::Status ReadPeer();
  absl::StatusOr<Json> Section(std::string_view key) const;

  std::string_view text_;
  absl::Status status_;
  int depth_ = 0;
  bool in_events_ = false;
  std::string key_;                                                    ///< of the document
  std::string_view outer_;                                             ///< the key of the event
  std::string_view inner_;                                             ///< and of its object
  std::deque<std::string> names_{"report", "trial", "step", "value"};  ///< of events, once each
  EventFields event_;
  std::vector<std::pair<std::string, SectionText>> sections_;  ///< the document's other members
  std::optional<size_t> events_read_;
  Trace trace_;
};

bool TraceReader::key(string_t& name) {
  if (!in_events_ && depth_ > kInDocument) {
    sections_.back().second.Key(name);
  } else if (depth_ == kInDocument) {
    key_ = std::move(name);
    if (key_ == "peer") {
      if (events_read_) return Fail("peer: must come before the events");
      trace_.peer.emplace();
    }
    const bool twice =
        (key_ == "events" && events_read_) ||
        std::ranges::any_of(sections_, [&](const auto& s) { return s.first == key_; });
    if (twice) return Fail(PathOfKey("", key_) + ": key given twice in one object, allowed once");
    // Before the events it may still turn out to be a peer's.
    if (key_ == "events" || events_read_) return CheckOwnKeys();
  } else if (depth_ == kInEvent) {
    outer_ = Keep(name);
    inner_ = {};
    if (outer_.empty()) return Fail(fmt::format("events[{}]: unknown key", event_.index));
  } else if (depth_ == kInObject) {
    inner_ = Keep(name);
    if (inner_.empty()) {
      return Fail(fmt::format("events[{}].{}: unknown key", event_.index, outer_));
    }
  }
  return true;
}

bool TraceReader::CheckOwnKeys() {
  if (trace_.peer) return true;
  const auto check = [&](const std::string& key) {
    if (std::find(kKeys.begin(), kKeys.end(), key) != kKeys.end()) return true;
    const std::string near = DidYouMean(key, std::vector<std::string>(kKeys.begin(), kKeys.end()));
    return Fail(fmt::format("{}: unknown key{} Allowed: {}", PathOfKey("", key),
                            near.empty() ? "." : near, fmt::join(kKeys, ", ")));
  };
  return std::ranges::all_of(sections_, [&](const auto& s) { return check(s.first); }) &&
         check(key_);
}

bool TraceReader::Put(EventField value, std::string_view json) {
  if (depth_ == 0) return Fail(fmt::format("the document: must be an object, found {}", json));
  if (depth_ == kInDocument) {
    if (key_ == "events") {
      return Fail(fmt::format("events: must be an array of events, found {}", json));
    }
    sections_.emplace_back(key_, SectionText());
  }
  if (!in_events_) {
    sections_.back().second.Scalar(json);
    return true;
  }
  if (depth_ == kInEvents) {
    return Fail(
        fmt::format("events[{}]: must be an object, found {}", event_.index, value.Shown()));
  }
  // The elements of an array, and what is nested deeper.
  if (depth_ > kInObject || (depth_ == kInObject && inner_.empty())) return true;
  value.key = outer_;
  if (depth_ == kInObject) value.inner = inner_;
  event_.fields.push_back(std::move(value));
  return true;
}

bool TraceReader::Open(char bracket) {
  const bool object = bracket == '{';
  if (depth_ == 0 && !object) return Fail("the document: must be an object, found an array");
  if (depth_ == kInDocument && key_ == "events") {
    if (object) return Fail("events: must be an array of events, found an object");
    in_events_ = true;
  } else if (depth_ == kInDocument) {
    sections_.emplace_back(key_, SectionText());
  }
  if (!in_events_ && depth_ >= kInDocument) {
    if (depth_ > static_cast<int>(kDocumentDepthMax)) {
      return Fail(fmt::format("{}: nested deeper than {} levels, the most allowed", key_,
                              kDocumentDepthMax));
    }
    sections_.back().second.Open(bracket);
  }
  if (in_events_ && depth_ == kInEvents) {
    if (!object) {
      return Fail(fmt::format("events[{}]: must be an object, found an array", event_.index));
    }
    event_.fields.clear();
  } else if (in_events_ && depth_ > kInEvents) {
    if (!Put({.type = object ? Type::kObject : Type::kArray}, "")) return false;
  }
  ++depth_;
  return true;
}

bool TraceReader::Close(char bracket) {
  --depth_;
  if (!in_events_) {
    if (depth_ >= kInDocument) sections_.back().second.Close(bracket);
    return true;
  }
  if (depth_ == kInEvents) return EndEvent();
  if (depth_ == kInDocument) {
    in_events_ = false;
    events_read_ = event_.index;
  }
  return true;
}

bool TraceReader::EndEvent() {
  if (trace_.peer) {
    auto report = ReadPeerEvent(event_);
    status_ = report.status();
    if (status_.ok() && report->has_value()) {
      trace_.events.push_back((*report)->event);
      trace_.peer->answers.push_back((*report)->answer);
    }
  } else {
    const auto event = ReadTraceEvent(event_);
    status_ = event.status();
    if (status_.ok()) trace_.events.push_back(*event);
  }
  ++event_.index;
  return status_.ok();
}

absl::StatusOr<Json> TraceReader::Section(std::string_view key) const {
  for (const auto& [name, section] : sections_) {
    if (name == key) return ParseJsonDocument(section.text());
  }
  return absl::NotFoundError("");
}

/// All but the events.
absl::Status TraceReader::ReadOwn() {
  if (!sections_.empty() && !CheckOwnKeys()) return status_;
  // As one object, so that what is missing or wrong is said as everywhere.
  std::string text = "{";
  for (const auto& [name, section] : sections_) {
    text += fmt::format("{}{}:{}", text.size() > 1 ? "," : "", JsonQuote(name), section.text());
  }
  const absl::StatusOr<Json> header = ParseJsonDocument(text + "}");
  if (!header.ok()) return header.status();
  JsonProblems problems;
  const JsonObject object(JsonNode(*header, "", problems), {"goal", "seed", "scheduler", "trials"});
  if (const auto goal = object.Require("goal", "\"maximize\" or \"minimize\"")) {
    trace_.setup.goal = goal->Word(kGoalWords);
  }
  if (const auto seed = object.Find("seed")) {
    trace_.setup.seed =
        seed->Integer(std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max());
  }
  if (const auto trials = object.Require("trials", "the number of trials")) {
    trace_.setup.trials = trials->Integer32(1, kTraceTrialsMax);
  }
  if (const auto rule = object.Require("scheduler", "an object such as {\"asha\": {…}}")) {
    trace_.setup.rule = ReadStoppingRule(*rule, std::nullopt);
  }
  if (!events_read_) problems.Refuse("events", "missing, must be an array of events");
  return problems.status();
}

absl::Status TraceReader::ReadPeer() {
  Peer& peer = *trace_.peer;
  const absl::StatusOr<Json> name = Section("peer");
  const absl::StatusOr<Json> version = Section("version");
  const absl::StatusOr<Json> params = Section("params");
  if (name.ok() && name->is_string()) peer.name = name->get<std::string>();
  if (version.ok() && version->is_string()) peer.version = version->get<std::string>();
  if (absl::IsNotFound(params.status())) {
    return absl::InvalidArgumentError("params: missing, must be an object");
  }
  if (!params.ok()) return params.status();
  RUNG_RETURN_IF_ERROR(ReadPeerParams(*params, trace_));
  if (!events_read_) return absl::InvalidArgumentError("events: missing, must be an array");
  for (const TraceEvent& event : trace_.events) {
    trace_.setup.trials = std::max(trace_.setup.trials, event.trial.value + 1);
  }
  if (trace_.setup.goal == Goal::kMinimize) {
    for (RecordedAnswer& answer : peer.answers) {
      if (answer.cutoff) answer.cutoff = -*answer.cutoff;
    }
  }
  return absl::OkStatus();
}

absl::StatusOr<Trace> TraceReader::Take() {
  if (status_.ok()) status_ = trace_.peer ? ReadPeer() : ReadOwn();
  if (!status_.ok()) return status_;
  return std::move(trace_);
}

}  // namespace

absl::StatusOr<Trace> ReadTrace(std::string_view text) {
  if (text.size() > kTraceBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("the trace: must be at most {} bytes, found {}", kTraceBytesMax, text.size()));
  }
  TraceReader reader(text);
  Json::sax_parse(text.begin(), text.end(), &reader);
  return reader.Take();
}

}  // namespace rung
