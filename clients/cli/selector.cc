#include "clients/cli/selector.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <string_view>
#include <vector>

namespace rung::cli {
namespace {

constexpr size_t kIdsListedMax = 20;

std::optional<int64_t> ParseNumber(std::string_view text, int64_t max) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  if (number < 0 || number > max) return std::nullopt;
  return number;
}

absl::StatusOr<int64_t> ExperimentByName(const std::string& name, Client& client) {
  auto experiments = client.ListExperiments(name);
  if (!experiments.ok()) return experiments.status();
  if (experiments->empty()) {
    return absl::NotFoundError(fmt::format(
        "no experiment has the id or the name '{}': `rung list` shows all experiments", name));
  }
  if (experiments->size() == 1) return experiments->front().id();
  std::string ids;
  for (size_t i = 0; i < experiments->size() && i < kIdsListedMax; ++i) {
    ids += fmt::format("{}{}", i > 0 ? ", " : "", (*experiments)[i].id());
  }
  if (experiments->size() > kIdsListedMax) ids += ", …";
  return absl::FailedPreconditionError(fmt::format(
      "{} experiments have the name '{}': give the id of one of them: {} (newest first)",
      experiments->size(), name, ids));
}

std::string TrialOf(const Selection& selection) {
  return fmt::format("{}.{}", selection.experiment_id, *selection.trial_number);
}

// What `text` names: an experiment, a trial or an attempt.
absl::StatusOr<Selection> Select(const std::string& text, Client& client) {
  if (text.empty()) return absl::InvalidArgumentError("an id or a name is wanted, found ''");
  if (const auto numbers = ParseNumbers(text)) return *numbers;
  auto id = ExperimentByName(text, client);
  if (id.ok()) return Selection{.experiment_id = *id, .trial_number = {}, .attempt = {}};
  const size_t dot = text.rfind('.');
  if (!absl::IsNotFound(id.status()) || dot == std::string::npos || dot == 0) return id.status();
  const auto number =
      ParseNumber(std::string_view(text).substr(dot + 1), std::numeric_limits<int32_t>::max());
  if (!number.has_value()) return id.status();
  id = ExperimentByName(text.substr(0, dot), client);
  if (!id.ok()) return id.status();
  return Selection{
      .experiment_id = *id, .trial_number = static_cast<int32_t>(*number), .attempt = {}};
}

}  // namespace

std::optional<Selection> ParseNumbers(const std::string& text) {
  std::vector<int64_t> numbers;
  std::string_view rest = text;
  while (true) {
    const size_t dot = rest.find('.');
    const auto number = ParseNumber(rest.substr(0, dot), std::numeric_limits<int64_t>::max());
    if (!number.has_value() || numbers.size() == 3) return std::nullopt;
    if (!numbers.empty() && *number > std::numeric_limits<int32_t>::max()) return std::nullopt;
    numbers.push_back(*number);
    if (dot == std::string_view::npos) break;
    rest.remove_prefix(dot + 1);
  }
  Selection selection{.experiment_id = numbers[0], .trial_number = {}, .attempt = {}};
  if (numbers.size() > 1) selection.trial_number = static_cast<int32_t>(numbers[1]);
  if (numbers.size() > 2) selection.attempt = static_cast<int32_t>(numbers[2]);
  return selection;
}

absl::StatusOr<int64_t> SelectExperiment(const std::string& text, Client& client) {
  const auto selection = Select(text, client);
  if (!selection.ok()) return selection.status();
  if (selection->trial_number.has_value()) {
    return absl::InvalidArgumentError(fmt::format(
        "'{}' names {}; an experiment is wanted here: an id such as {}, or a name", text,
        selection->attempt.has_value() ? "an attempt" : "a trial", selection->experiment_id));
  }
  return selection->experiment_id;
}

absl::StatusOr<Selection> SelectTrial(const std::string& text, Client& client) {
  auto selection = SelectTrialOrAttempt(text, client);
  if (!selection.ok() || !selection->attempt.has_value()) return selection;
  return absl::InvalidArgumentError(
      fmt::format("'{}' names an attempt; a trial is wanted here: {}", text, TrialOf(*selection)));
}

absl::StatusOr<Selection> SelectTrialOrAttempt(const std::string& text, Client& client) {
  auto selection = Select(text, client);
  if (!selection.ok() || selection->trial_number.has_value()) return selection;
  return absl::InvalidArgumentError(fmt::format(
      "'{}' names an experiment; a trial is wanted here, such as {}.0: `rung trials {}` lists "
      "them",
      text, selection->experiment_id, selection->experiment_id));
}

absl::StatusOr<Selection> SelectExperimentOrTrial(const std::string& text, Client& client) {
  auto selection = Select(text, client);
  if (!selection.ok() || !selection->attempt.has_value()) return selection;
  return absl::InvalidArgumentError(
      fmt::format("'{}' names an attempt; an experiment or a trial is wanted here: {} or {}", text,
                  selection->experiment_id, TrialOf(*selection)));
}

}  // namespace rung::cli
