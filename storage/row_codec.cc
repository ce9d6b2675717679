#include "storage/row_codec.h"

#include <SQLiteCpp/Column.h>
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rung {
namespace {

// Each table once: its name, how many of its first columns are the key, and (column, field) pairs.
// `R` is the row's type, const for writing.
template <typename Row>
struct Table;

template <typename R, typename F>
void TrialKey(R& id, F& field, const char* number) {
  field("experiment_id", id.experiment.value);
  field(number, id.number.value);
}

template <typename R, typename F>
void AttemptKey(R& id, F& field) {
  TrialKey(id.trial, field, "trial_number");
  field("attempt", id.attempt);
}

template <>
struct Table<ExperimentRow> {
  static constexpr std::string_view kName = "experiments";
  static constexpr size_t kKeys = 1;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    field("id", row.id.value);
    field("name", row.name);
    field("state", row.state);
    field("reason", row.reason);
    field("document", row.document);
    field("metric", row.metric);
    field("goal", row.goal);
    field("best_by", row.best_by);
    field("seed", row.seed);
    field("owner", row.owner);
    field("priority", row.priority);
    field("planned_trials", row.planned_trials);
    field("max_step", row.max_step);
    field("plan", row.plan);
    field("created_us", row.created);
    field("ended_us", row.ended);
  }
};

template <>
struct Table<TrialRow> {
  static constexpr std::string_view kName = "trials";
  static constexpr size_t kKeys = 2;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    TrialKey(row.id, field, "number");
    field("state", row.state);
    field("reason", row.reason);
    field("params", row.params);
    field("bracket", row.bracket);
    field("best_value", row.best_value);
    field("best_step", row.best_step);
    field("last_step", row.last_step);
    field("furthest_step", row.furthest_step);
    field("metric_rows", row.metric_rows);
    field("failures", row.failures);
    field("losses", row.losses);
    field("created_us", row.created);
    field("ended_us", row.ended);
  }
};

template <>
struct Table<AttemptRow> {
  static constexpr std::string_view kName = "attempts";
  static constexpr size_t kKeys = 3;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    AttemptKey(row.id, field);
    field("state", row.state);
    field("exit_cause", row.exit_cause);
    field("exit_code", row.exit_code);
    field("message", row.message);
    field("workers", row.workers);
    field("owner", row.owner);
    field("resume_step", row.resume_step);
    field("processes", row.processes);
    field("gpus", row.gpus);
    field("milli_cpus", row.milli_cpus);
    field("started_us", row.started);
    field("ended_us", row.ended);
    field("gpu_s", row.gpu_s);
    field("cpu_s", row.cpu_s);
    field("lease_s", row.lease_s);
    field("memory_bytes", row.memory_bytes);
  }
};

template <>
struct Table<MetricRow> {
  static constexpr std::string_view kName = "metrics";
  static constexpr size_t kKeys = 5;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    TrialKey(row.attempt.trial, field, "trial_number");
    field("step", row.step);
    field("attempt", row.attempt.attempt);
    field("name", row.name);
    field("value", row.value);
    field("ranks", row.ranks);
    field("time_us", row.time);
  }
};

template <>
struct Table<DecisionRow> {
  static constexpr std::string_view kName = "decisions";
  static constexpr size_t kKeys = 2;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    field("experiment_id", row.experiment.value);
    field("seq", row.seq);
    field("attempt", row.attempt);
    field("bracket", row.bracket);
    field("level", row.level);
    field("trial_number", row.trial.value);
    field("step", row.step);
    field("value", row.value);
    field("n_before", row.n_before);
    field("entries", row.entries);
    field("rank", row.rank);
    field("cutoff", row.cutoff);
    field("rule", row.rule);
    field("decision", row.decision);
    field("reason", row.reason);
    field("time_us", row.time);
  }
};

template <>
struct Table<CheckpointRow> {
  static constexpr std::string_view kName = "checkpoints";
  static constexpr size_t kKeys = 4;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    AttemptKey(row.attempt, field);
    field("step", row.step);
    field("path", row.path);
    field("place", row.place);
    field("bytes", row.bytes);
    field("state", row.state);
    field("refs", row.refs);
    field("time_us", row.time);
  }
};

template <>
struct Table<WorkerRow> {
  static constexpr std::string_view kName = "workers";
  static constexpr size_t kKeys = 1;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    field("name", row.name);
    field("state", row.state);
    field("host", row.host);
    field("version", row.version);
    field("milli_cpus", row.milli_cpus);
    field("memory_bytes", row.memory_bytes);
    field("gpus", row.gpus);
    field("gpu_names", row.gpu_names);
    field("first_seen_us", row.first_seen);
    field("last_seen_us", row.last_seen);
  }
};

template <>
struct Table<EventRow> {
  static constexpr std::string_view kName = "events";
  static constexpr size_t kKeys = 0;  // its id is given by SQLite
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    field("experiment_id", row.experiment.value);
    field("trial_number", row.trial);
    field("attempt", row.attempt);
    field("kind", row.kind);
    field("message", row.message);
    field("time_us", row.time);
  }
};

template <>
struct Table<RequestRow> {
  static constexpr std::string_view kName = "requests";
  static constexpr size_t kKeys = 1;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    field("request_id", row.request_id);
    field("method", row.method);
    field("answer", row.answer);
    field("time_us", row.time);
  }
};

template <>
struct Table<LogTailRow> {
  static constexpr std::string_view kName = "log_tails";
  static constexpr size_t kKeys = 4;
  template <typename R, typename F>
  static void Fields(R& row, F& field) {
    AttemptKey(row.attempt, field);
    field("rank", row.rank);
    field("text", row.text);
  }
};

struct ColumnNames {
  std::vector<std::string> names;
  template <typename T>
  void operator()(const char* name, const T&) {
    names.emplace_back(name);
  }
};

template <typename Row>
const std::vector<std::string>& NamesOf() {
  static const std::vector<std::string> names = [] {
    ColumnNames columns;
    const Row row{};
    Table<Row>::Fields(row, columns);
    return columns.names;
  }();
  return names;
}

struct Binder {
  SQLite::Statement& statement;
  int index = 0;

  template <typename T>
  void operator()(const char*, const T& field) {
    ++index;
    Put(field);
  }
  void Put(int32_t field) { statement.bind(index, field); }
  void Put(int64_t field) { statement.bind(index, field); }
  void Put(double field) { statement.bind(index, field); }  // SQLite makes NULL of a NaN
  void Put(const std::string& field) { statement.bindNoCopy(index, field); }
  void Put(WallTime field) { statement.bind(index, field.us); }
  void Put(TrialNumber field) { statement.bind(index, field.value); }
  template <typename E>
  requires std::is_enum_v<E>
  void Put(E field) { statement.bind(index, std::string(ToString(field))); }
  template <typename T>
  void Put(const std::optional<T>& field) {
    if (field.has_value()) {
      Put(*field);
    } else {
      statement.bind(index);
    }
  }
};

std::optional<ExperimentState> Parse(std::string_view word, ExperimentState) {
  return ParseExperimentState(word);
}
std::optional<Goal> Parse(std::string_view word, Goal) { return ParseGoal(word); }
std::optional<BestBy> Parse(std::string_view word, BestBy) { return ParseBestBy(word); }
std::optional<TrialState> Parse(std::string_view word, TrialState) { return ParseTrialState(word); }
std::optional<AttemptState> Parse(std::string_view word, AttemptState) {
  return ParseAttemptState(word);
}
std::optional<ExitCause> Parse(std::string_view word, ExitCause) { return ParseExitCause(word); }

struct Reader {
  SQLite::Statement& statement;
  std::string_view table;
  int index = 0;

  template <typename T>
  void operator()(const char* name, T& field) {
    Get(name, statement.getColumn(index++), field);
  }
  void Get(const char*, const SQLite::Column& column, int32_t& field) { field = column.getInt(); }
  void Get(const char*, const SQLite::Column& column, int64_t& field) { field = column.getInt64(); }
  void Get(const char*, const SQLite::Column& column, double& field) {
    field = column.isNull() ? std::numeric_limits<double>::quiet_NaN() : column.getDouble();
  }
  void Get(const char*, const SQLite::Column& column, std::string& field) {
    field = column.getString();
  }
  void Get(const char*, const SQLite::Column& column, WallTime& field) {
    field.us = column.getInt64();
  }
  void Get(const char*, const SQLite::Column& column, TrialNumber& field) {
    field.value = column.getInt();
  }
  template <typename E>
  requires std::is_enum_v<E>
  void Get(const char* name, const SQLite::Column& column, E& field) {
    const std::string word = column.getString();
    const auto value = Parse(word, E{});
    if (!value.has_value()) {
      throw MalformedRow(fmt::format("{}.{} holds '{}'", table, name, word));
    }
    field = *value;
  }
  template <typename T>
  void Get(const char* name, const SQLite::Column& column, std::optional<T>& field) {
    if (!column.isNull()) Get(name, column, field.emplace());
  }
};

}  // namespace

template <typename Row>
std::string InsertSql() {
  const auto& names = NamesOf<Row>();
  std::string marks = "?";
  for (size_t i = 1; i < names.size(); ++i) marks += ", ?";
  return fmt::format("INSERT INTO {} ({}) VALUES ({})", Table<Row>::kName, fmt::join(names, ", "),
                     marks);
}

template <typename Row>
std::string UpsertSql() {
  const auto& names = NamesOf<Row>();
  const auto keys_end = names.begin() + static_cast<std::ptrdiff_t>(Table<Row>::kKeys);
  std::vector<std::string> updates;
  for (auto it = keys_end; it != names.end(); ++it) {
    updates.push_back(fmt::format("{0} = excluded.{0}", *it));
  }
  return fmt::format("{} ON CONFLICT ({}) DO UPDATE SET {}", InsertSql<Row>(),
                     fmt::join(names.begin(), keys_end, ", "), fmt::join(updates, ", "));
}

template <typename Row>
std::string Columns(const std::string& prefix) {
  const auto& names = NamesOf<Row>();
  return prefix + fmt::format("{}", fmt::join(names, ", " + prefix));
}

template <typename Row>
int ColumnCount() {
  return static_cast<int>(NamesOf<Row>().size());
}

template <typename Row>
void Bind(const Row& row, SQLite::Statement& statement) {
  Binder binder{statement};
  Table<Row>::Fields(row, binder);
}

template <typename Row>
Row Read(SQLite::Statement& statement, int first) {
  Row row;
  Reader reader{statement, Table<Row>::kName, first};
  Table<Row>::Fields(row, reader);
  return row;
}

#define RUNG_INSTANTIATE_ROW(Row)                          \
  template std::string InsertSql<Row>();                   \
  template std::string UpsertSql<Row>();                   \
  template std::string Columns<Row>(const std::string&);   \
  template int ColumnCount<Row>();                         \
  template void Bind<Row>(const Row&, SQLite::Statement&); \
  template Row Read<Row>(SQLite::Statement&, int);

RUNG_INSTANTIATE_ROW(ExperimentRow)
RUNG_INSTANTIATE_ROW(TrialRow)
RUNG_INSTANTIATE_ROW(AttemptRow)
RUNG_INSTANTIATE_ROW(MetricRow)
RUNG_INSTANTIATE_ROW(DecisionRow)
RUNG_INSTANTIATE_ROW(CheckpointRow)
RUNG_INSTANTIATE_ROW(WorkerRow)
RUNG_INSTANTIATE_ROW(EventRow)
RUNG_INSTANTIATE_ROW(RequestRow)
RUNG_INSTANTIATE_ROW(LogTailRow)

#undef RUNG_INSTANTIATE_ROW

}  // namespace rung
