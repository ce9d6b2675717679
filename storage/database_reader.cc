#include "storage/database_reader.h"

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/VariadicBind.h>
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>

#include "core/check.h"
#include "storage/page_token.h"
#include "storage/reader_pool.h"
#include "storage/row_codec.h"
#include "storage/schema.h"

namespace rung {
namespace {

/// Steps, gpu_s and cpu_s over the attempts of experiment ?1; those not final count up to ?2.
/// The steps of an attempt are one seek from the end of its trial's range of the table metrics.
constexpr const char* kUsageSql =
    "SELECT coalesce(sum(coalesce((SELECT m.step FROM metrics AS m"
    "   WHERE m.experiment_id = a.experiment_id AND m.trial_number = a.trial_number"
    "   AND m.step > a.resume_step AND m.attempt = a.attempt ORDER BY m.step DESC LIMIT 1),"
    "   a.resume_step) - a.resume_step), 0),"
    " coalesce(sum(CASE WHEN a.state IN ('exited', 'lost') THEN a.gpu_s"
    "   ELSE a.gpus * max(0, ?2 - a.started_us) / 1e6 END), 0),"
    " coalesce(sum(CASE WHEN a.state IN ('exited', 'lost') THEN a.cpu_s"
    "   ELSE a.milli_cpus / 1e3 * max(0, ?2 - a.started_us) / 1e6 END), 0)"
    " FROM attempts AS a WHERE a.experiment_id = ?1";

/// Step and value of the objective's last row of trial t of experiment e.
constexpr const char* kLastObjective =
    "(SELECT m.{0} FROM metrics AS m WHERE m.experiment_id = t.experiment_id"
    " AND m.trial_number = t.number AND m.name = e.metric AND m.superseded = 0"
    " ORDER BY m.step DESC LIMIT 1)";

template <typename... Arguments>
SQLite::Statement Prepare(SQLite::Database& database, const std::string& sql,
                          const Arguments&... arguments) {
  SQLite::Statement statement(database, sql);
  SQLite::bind(statement, arguments...);
  return statement;
}

/// A page of a list: how many items, and after which key.
struct Cursor {
  std::string list;
  int32_t size = 0;
  std::vector<std::string> after;  ///< empty: from the beginning

  /// A part of the key as a number. Only a forged token holds something else; it reads as 0.
  template <typename Number = int64_t>
  Number At(size_t part) const {
    Number number = 0;
    std::from_chars(after[part].data(), after[part].data() + after[part].size(), number);
    return number;
  }
};

struct PageLimits {
  int32_t usual;
  int32_t largest;
};

absl::StatusOr<Cursor> MakeCursor(std::string list, const PageRequest& page, PageLimits limits,
                                  size_t key_size) {
  if (page.size < 0) {
    return absl::InvalidArgumentError(fmt::format("page_size must be 0 (then {}) to {}, found {}",
                                                  limits.usual, limits.largest, page.size));
  }
  Cursor cursor{std::move(list), page.size == 0 ? limits.usual : page.size, {}};
  cursor.size = std::min(cursor.size, limits.largest);
  if (!page.token.empty()) {
    auto key = DecodePageToken(cursor.list, page.token, key_size);
    if (!key.ok()) return key.status();
    cursor.after = *std::move(key);
  }
  return cursor;
}

/// Takes the items that were read with LIMIT size + 1: one too many means that a page follows.
template <typename Item, typename KeyOf>
Page<Item> MakePage(const Cursor& cursor, std::vector<Item> items, KeyOf key_of) {
  Page<Item> page{std::move(items), ""};
  if (page.items.size() > static_cast<size_t>(cursor.size)) {
    page.items.pop_back();
    page.next_page_token = EncodePageToken(cursor.list, key_of(page.items.back()));
  }
  return page;
}

absl::StatusOr<ExperimentRow> ReadExperiment(SQLite::Database& database, ExperimentId id) {
  auto statement = Prepare(
      database, fmt::format("SELECT {} FROM experiments WHERE id = ?", Columns<ExperimentRow>()),
      id.value);
  if (!statement.executeStep()) {
    return absl::NotFoundError(fmt::format("experiment {} does not exist", ToString(id)));
  }
  return Read<ExperimentRow>(statement);
}

absl::Status CheckTrialExists(SQLite::Database& database, TrialId id) {
  auto statement = Prepare(database, "SELECT 1 FROM trials WHERE experiment_id = ? AND number = ?",
                           id.experiment.value, id.number.value);
  if (statement.executeStep()) return absl::OkStatus();
  return absl::NotFoundError(fmt::format("trial {} does not exist", ToString(id)));
}

/// Errors: NOT_FOUND for whichever of the two is missing.
absl::Status CheckExists(SQLite::Database& database, ExperimentId experiment,
                         std::optional<TrialNumber> trial) {
  if (auto row = ReadExperiment(database, experiment); !row.ok()) return row.status();
  if (!trial.has_value()) return absl::OkStatus();
  return CheckTrialExists(database, TrialId{experiment, *trial});
}

void CountUsageUpTo(WallTime now, AttemptRow& attempt) {
  if (IsFinal(attempt.state)) return;
  const double held_s = std::max(0.0, static_cast<double>(now.us - attempt.started.us) / 1e6);
  attempt.gpu_s = attempt.gpus * held_s;
  attempt.cpu_s = static_cast<double>(attempt.milli_cpus) / 1e3 * held_s;
}

/// Which trials of an experiment, in which order. `order` and `where` speak of trials AS t.
struct TrialSelection {
  ExperimentId experiment;
  std::string where;
  std::string order;
  int32_t count = 0;
  std::optional<double> after_key;  ///< ?2 of `where`, if it has one
};

/// The inner query finds the keys, so that the objective's last value is looked up for these alone.
std::vector<TrialSummary> SelectTrials(SQLite::Database& database,
                                       const TrialSelection& selection) {
  auto statement =
      Prepare(database,
              fmt::format("SELECT {0}, {1}, {2} FROM (SELECT t.number FROM trials AS t"
                          " WHERE t.experiment_id = ?1 AND {3} ORDER BY {4} LIMIT {5}) AS chosen"
                          " JOIN trials AS t ON t.experiment_id = ?1 AND t.number = chosen.number"
                          " JOIN experiments AS e ON e.id = ?1 ORDER BY {4}",
                          Columns<TrialRow>("t."), fmt::format(kLastObjective, "step"),
                          fmt::format(kLastObjective, "value"), selection.where, selection.order,
                          selection.count),
              selection.experiment.value);
  if (selection.after_key.has_value()) statement.bind(2, *selection.after_key);
  const int step_column = ColumnCount<TrialRow>();
  std::vector<TrialSummary> trials;
  while (statement.executeStep()) {
    TrialSummary summary{Read<TrialRow>(statement), std::nullopt};
    if (!statement.getColumn(step_column).isNull()) {  // a row whose value is NULL holds NaN
      const SQLite::Column value = statement.getColumn(step_column + 1);
      summary.last_value = value.isNull() ? std::nan("") : value.getDouble();
    }
    trials.push_back(std::move(summary));
  }
  return trials;
}

/// What a trial is sorted by where smaller is better.
std::string BestKey(Goal goal) {
  return goal == Goal::kMaximize ? "-t.best_value" : "t.best_value";
}

std::string BestOrder(Goal goal) {
  return fmt::format("t.best_value IS NULL, {}, t.number", BestKey(goal));
}

void AddCounts(SQLite::Database& database, ExperimentSummary& summary) {
  auto statement =
      Prepare(database, "SELECT state, count(*) FROM trials WHERE experiment_id = ? GROUP BY state",
              summary.experiment.id.value);
  TrialCounts& counts = summary.trials;
  const std::map<std::string_view, int64_t*> by_state = {
      {ToString(TrialState::kQueued), &counts.queued},
      {ToString(TrialState::kRunning), &counts.running},
      {ToString(TrialState::kPaused), &counts.paused},
      {ToString(TrialState::kCompleted), &counts.completed},
      {ToString(TrialState::kStopped), &counts.stopped},
      {ToString(TrialState::kFailed), &counts.failed},
      {ToString(TrialState::kCancelled), &counts.cancelled}};
  while (statement.executeStep()) {
    const std::string state = statement.getColumn(0).getString();
    const auto count = by_state.find(state);
    if (count == by_state.end()) throw MalformedRow("trials.state holds '" + state + "'");
    *count->second = statement.getColumn(1).getInt64();
  }
}

/// All of a summary but its rungs.
ExperimentSummary Summarize(SQLite::Database& database, ExperimentRow row, WallTime now) {
  ExperimentSummary summary;
  summary.experiment = std::move(row);
  AddCounts(database, summary);
  const ExperimentId id = summary.experiment.id;
  auto usage = Prepare(database, kUsageSql, id.value, now.us);
  usage.executeStep();
  summary.steps_spent = usage.getColumn(0).getInt64();
  summary.gpu_s = usage.getColumn(1).getDouble();
  summary.cpu_s = usage.getColumn(2).getDouble();
  std::vector<TrialSummary> best = SelectTrials(
      database,
      {id, "t.best_value IS NOT NULL", BestOrder(summary.experiment.goal), 1, std::nullopt});
  if (!best.empty()) summary.best = std::move(best.front());
  return summary;
}

std::vector<RungOccupancy> ReadRungs(SQLite::Database& database, ExperimentId id) {
  auto statement = Prepare(
      database,
      "SELECT bracket, level, entries, continued, stopped, paused, skipped,"
      " best_value, over_promoted FROM rungs WHERE experiment_id = ? ORDER BY bracket, level",
      id.value);
  std::vector<RungOccupancy> rungs;
  while (statement.executeStep()) {
    RungOccupancy rung;
    rung.bracket = statement.getColumn(0).getInt();
    rung.level = statement.getColumn(1).getInt64();
    rung.entries = statement.getColumn(2).getInt64();
    rung.continued = statement.getColumn(3).getInt64();
    rung.stopped = statement.getColumn(4).getInt64();
    rung.paused = statement.getColumn(5).getInt64();
    rung.skipped = statement.getColumn(6).getInt64();
    if (!statement.getColumn(7).isNull()) rung.best_value = statement.getColumn(7).getDouble();
    rung.over_promoted = statement.getColumn(8).getInt64();
    rungs.push_back(rung);
  }
  return rungs;
}

/// `t.state IN (…)`, or what is always true for no states.
std::string StateCondition(const std::vector<TrialState>& states) {
  if (states.empty()) return "1";
  std::string words;
  for (const TrialState state : states) {
    words += fmt::format("{}'{}'", words.empty() ? "" : ", ", ToString(state));
  }
  return fmt::format("t.state IN ({})", words);
}

/// The trials after the cursor, whose key is (number) or (number, sort key or empty for no value).
/// The sort key is ?2 in the condition.
std::string AfterCondition(const Cursor& cursor, TrialOrder order, Goal goal) {
  if (cursor.after.empty()) return "1";
  const int64_t number = cursor.At(0);
  switch (order) {
    case TrialOrder::kNumber:
      return fmt::format("t.number > {}", number);
    case TrialOrder::kBest:
      if (cursor.after[1].empty()) {
        return fmt::format("t.best_value IS NULL AND t.number > {}", number);
      }
      return fmt::format("(t.best_value IS NULL OR {0} > ?2 OR ({0} = ?2 AND t.number > {1}))",
                         BestKey(goal), number);
  }
  return "1";
}

}  // namespace

class DatabaseReader::Pool : public ReaderPool {
 public:
  using ReaderPool::ReaderPool;
};

DatabaseReader::DatabaseReader(std::unique_ptr<Pool> pool) : pool_(std::move(pool)) {}

DatabaseReader::~DatabaseReader() = default;

absl::StatusOr<std::unique_ptr<DatabaseReader>> DatabaseReader::Open(
    const std::filesystem::path& path, const ReaderOptions& options) {
  std::error_code error;
  if (!std::filesystem::exists(path, error)) {
    return absl::NotFoundError(fmt::format("database {} does not exist", path.native()));
  }
  auto pool = std::make_unique<Pool>(path.native(), options.read_timeout, options.connections_max);
  const auto checked = pool->Read([](SQLite::Database& database) -> absl::StatusOr<bool> {
    RUNG_RETURN_IF_ERROR(CheckSchema(database));
    return true;
  });
  if (!checked.ok()) return checked.status();
  return std::unique_ptr<DatabaseReader>(new DatabaseReader(std::move(pool)));
}

absl::StatusOr<ExperimentSummary> DatabaseReader::GetExperiment(ExperimentId id,
                                                                WallTime now) const {
  return pool_->Read([&](SQLite::Database& database) -> absl::StatusOr<ExperimentSummary> {
    auto row = ReadExperiment(database, id);
    if (!row.ok()) return row.status();
    ExperimentSummary summary = Summarize(database, *std::move(row), now);
    summary.rungs = ReadRungs(database, id);
    return summary;
  });
}

absl::StatusOr<Page<ExperimentSummary>> DatabaseReader::ListExperiments(const std::string& name,
                                                                        const PageRequest& page,
                                                                        WallTime now) const {
  auto cursor = MakeCursor("experiments/" + name, page, {100, 1000}, 1);
  if (!cursor.ok()) return cursor.status();
  using Result = absl::StatusOr<Page<ExperimentSummary>>;
  return pool_->Read([&](SQLite::Database& database) -> Result {
    auto statement =
        Prepare(database,
                fmt::format("SELECT {} FROM experiments WHERE id < ?1 AND (?2 = '' OR name = ?2)"
                            " ORDER BY id DESC LIMIT ?3",
                            Columns<ExperimentRow>()),
                cursor->after.empty() ? INT64_MAX : cursor->At(0), name, cursor->size + 1);
    std::vector<ExperimentSummary> summaries;
    while (statement.executeStep()) {
      auto row = Read<ExperimentRow>(statement);
      row.document.clear();
      row.plan.clear();
      summaries.push_back(Summarize(database, std::move(row), now));
    }
    return MakePage(*cursor, std::move(summaries), [](const ExperimentSummary& summary) {
      return std::vector{ToString(summary.experiment.id)};
    });
  });
}

absl::StatusOr<TrialDetail> DatabaseReader::GetTrial(TrialId id, WallTime now) const {
  return pool_->Read([&](SQLite::Database& database) -> absl::StatusOr<TrialDetail> {
    RUNG_RETURN_IF_ERROR(CheckExists(database, id.experiment, id.number));
    TrialDetail detail;
    detail.summary =
        SelectTrials(database, {id.experiment, fmt::format("t.number = {}", id.number.value),
                                "t.number", 1, std::nullopt})
            .front();
    auto attempts = Prepare(database,
                            fmt::format("SELECT {} FROM attempts WHERE experiment_id = ? AND"
                                        " trial_number = ? ORDER BY attempt DESC LIMIT {}",
                                        Columns<AttemptRow>(), TrialDetail::kAttemptsMax),
                            id.experiment.value, id.number.value);
    while (attempts.executeStep()) {
      detail.attempts.push_back({Read<AttemptRow>(attempts), {}});
      CountUsageUpTo(now, detail.attempts.back().attempt);
    }
    auto tails = Prepare(database,
                         fmt::format("SELECT {} FROM log_tails WHERE experiment_id = ? AND"
                                     " trial_number = ? AND attempt = ? ORDER BY rank",
                                     Columns<LogTailRow>()),
                         id.experiment.value, id.number.value);
    size_t bytes = 0;
    for (AttemptDetail& attempt : detail.attempts) {
      tails.bind(3, attempt.attempt.id.attempt);
      while (bytes < TrialDetail::kTailBytesEnough && tails.executeStep()) {
        attempt.log_tails.push_back(Read<LogTailRow>(tails));
        bytes += attempt.log_tails.back().text.size();
      }
      tails.reset();
    }
    std::ranges::reverse(detail.attempts);
    return detail;
  });
}

absl::StatusOr<Page<TrialSummary>> DatabaseReader::ListTrials(const TrialQuery& query) const {
  const bool best = query.order == TrialOrder::kBest;
  const std::string states = StateCondition(query.states);
  auto cursor = MakeCursor(fmt::format("trials/{}/{}/{}", ToString(query.experiment), best, states),
                           query.page, {100, 1000}, best ? 2 : 1);
  if (!cursor.ok()) return cursor.status();
  return pool_->Read([&](SQLite::Database& database) -> absl::StatusOr<Page<TrialSummary>> {
    auto experiment = ReadExperiment(database, query.experiment);
    if (!experiment.ok()) return experiment.status();
    const Goal goal = experiment->goal;
    TrialSelection selection{query.experiment,
                             states + " AND " + AfterCondition(*cursor, query.order, goal),
                             best ? BestOrder(goal) : "t.number", cursor->size + 1, std::nullopt};
    if (best && !cursor->after.empty() && !cursor->after[1].empty()) {
      selection.after_key = cursor->At<double>(1);
    }
    return MakePage(*cursor, SelectTrials(database, selection), [&](const TrialSummary& summary) {
      std::vector key{fmt::format("{}", summary.trial.id.number.value)};
      const std::optional<double> value = summary.trial.best_value;
      if (best && value.has_value()) {
        key.push_back(fmt::format("{}", goal == Goal::kMaximize ? -*value : *value));
      } else if (best) {
        key.emplace_back();
      }
      return key;
    });
  });
}

absl::StatusOr<Page<StoredMetric>> DatabaseReader::ListMetrics(const MetricQuery& query) const {
  auto cursor = MakeCursor(fmt::format("metrics/{}/{}/{}/{}", ToString(query.experiment),
                                       query.trial.has_value() ? query.trial->value : -1,
                                       query.include_superseded, query.name),
                           query.page, {1000, 10'000}, 4);
  if (!cursor.ok()) return cursor.status();
  return pool_->Read([&](SQLite::Database& database) -> absl::StatusOr<Page<StoredMetric>> {
    RUNG_RETURN_IF_ERROR(CheckExists(database, query.experiment, query.trial));
    auto statement = Prepare(
        database,
        fmt::format(
            "SELECT {}, superseded FROM metrics WHERE experiment_id = ?1 AND (?2 = '' OR"
            " name = ?2) AND superseded <= ?3 AND {} {} ORDER BY trial_number, step,"
            " attempt, name LIMIT {}",
            Columns<MetricRow>(),
            query.trial.has_value() ? fmt::format("trial_number = {}", query.trial->value) : "1",
            cursor->after.empty()
                ? ""
                : fmt::format("AND (trial_number, step, attempt, name) > ({}, {}, {}, ?4)",
                              cursor->At(0), cursor->At(1), cursor->At(2)),
            cursor->size + 1),
        query.experiment.value, query.name, query.include_superseded ? 1 : 0);
    if (!cursor->after.empty()) statement.bind(4, cursor->after[3]);
    std::vector<StoredMetric> metrics;
    while (statement.executeStep()) {
      const bool superseded = statement.getColumn(ColumnCount<MetricRow>()).getInt() != 0;
      metrics.push_back({Read<MetricRow>(statement), superseded});
    }
    return MakePage(*cursor, std::move(metrics), [](const StoredMetric& metric) {
      const MetricRow& row = metric.row;
      return std::vector{fmt::format("{}", row.attempt.trial.number.value),
                         fmt::format("{}", row.step), fmt::format("{}", row.attempt.attempt),
                         row.name};
    });
  });
}

absl::StatusOr<Page<DecisionRow>> DatabaseReader::ListDecisions(const DecisionQuery& query) const {
  const int32_t trial = query.trial.has_value() ? query.trial->value : -1;
  auto cursor = MakeCursor(fmt::format("decisions/{}/{}", ToString(query.experiment), trial),
                           query.page, {1000, 10'000}, 1);
  if (!cursor.ok()) return cursor.status();
  return pool_->Read([&](SQLite::Database& database) -> absl::StatusOr<Page<DecisionRow>> {
    RUNG_RETURN_IF_ERROR(CheckExists(database, query.experiment, query.trial));
    auto statement = Prepare(database,
                             fmt::format("SELECT {} FROM decisions WHERE experiment_id = ?1 AND"
                                         " seq > ?2 AND (?3 < 0 OR trial_number = ?3)"
                                         " ORDER BY seq LIMIT ?4",
                                         Columns<DecisionRow>()),
                             query.experiment.value, cursor->after.empty() ? 0 : cursor->At(0),
                             trial, cursor->size + 1);
    std::vector<DecisionRow> decisions;
    while (statement.executeStep()) decisions.push_back(Read<DecisionRow>(statement));
    return MakePage(*cursor, std::move(decisions),
                    [](const DecisionRow& row) { return std::vector{fmt::format("{}", row.seq)}; });
  });
}

absl::StatusOr<std::vector<WorkerSummary>> DatabaseReader::ListWorkers() const {
  using Result = absl::StatusOr<std::vector<WorkerSummary>>;
  return pool_->Read([&](SQLite::Database& database) -> Result {
    std::vector<WorkerSummary> workers;
    auto rows = Prepare(database,
                        fmt::format("SELECT {} FROM workers ORDER BY name", Columns<WorkerRow>()));
    while (rows.executeStep()) workers.push_back({Read<WorkerRow>(rows), {}});
    auto held = Prepare(database,
                        fmt::format("SELECT {} FROM attempts WHERE state NOT IN ('exited', 'lost')"
                                    " ORDER BY experiment_id, trial_number, attempt",
                                    Columns<AttemptRow>()));
    while (held.executeStep()) {
      const auto attempt = Read<AttemptRow>(held);
      const std::string names = "," + attempt.workers + ",";
      for (WorkerSummary& worker : workers) {
        if (names.find("," + worker.worker.name + ",") != std::string::npos) {
          worker.attempts.push_back(attempt);
        }
      }
    }
    return workers;
  });
}

absl::StatusOr<std::optional<LogTailRow>> DatabaseReader::LastStderr(ExperimentId id) const {
  using Result = absl::StatusOr<std::optional<LogTailRow>>;
  return pool_->Read([&](SQLite::Database& database) -> Result {
    RUNG_RETURN_IF_ERROR(CheckExists(database, id, std::nullopt));
    // The inner query sorts keys alone, not 64 KiB of text each.
    auto statement = Prepare(
        database,
        fmt::format("SELECT {} FROM (SELECT trial_number, attempt, rank FROM log_tails"
                    " JOIN attempts USING (experiment_id, trial_number, attempt)"
                    " WHERE experiment_id = ?1 ORDER BY ended_us DESC, rank LIMIT 1)"
                    " JOIN log_tails USING (trial_number, attempt, rank) WHERE experiment_id = ?1",
                    Columns<LogTailRow>()),
        id.value);
    if (!statement.executeStep()) return std::nullopt;
    return Read<LogTailRow>(statement);
  });
}

}  // namespace rung
