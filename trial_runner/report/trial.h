/// How a C++ program takes part in a rung experiment: reads its contract, reports, checkpoints.
///
/// Header-only; needs C++17, POSIX and nlohmann/json. The contract is docs/trials.md: the
/// worker sets environment variables and serves RUNG_SOCKET, a Unix socket that takes one JSON
/// object a line and answers each with one. Started by hand, without RUNG_SOCKET, the same program
/// runs too: its reports go to stderr and every decision is `continue`.
///
///   rung::report::Trial trial = rung::report::Trial::FromEnvironment();
///   const double lr = trial.Param<double>("lr");
///   for (std::int64_t step = trial.contract().resume_step + 1; ...; ++step) {
///     ...
///     if (trial.Report(step, {{"accuracy", accuracy}}).decision != Decision::kContinue) return 0;
///   }
#pragma once

#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>

namespace rung::report {

/// Everything that can go wrong between a trial and its worker. `what()` says what and with which
/// value; the process should print it and exit with a status other than 0.
class TrialError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// What the trial has to do now. A word that this header does not know means kContinue.
enum class Decision { kContinue, kStop, kPause };

struct ReportAnswer {
  Decision decision = Decision::kContinue;
  /// False: the worker keeps the report and delivers it later; a crash of its machine may lose it.
  bool durable = true;
};

/// What the worker promised to this process when it started it.
struct TrialContract {
  nlohmann::json params = nlohmann::json::object();  ///< RUNG_PARAMS: one JSON object
  std::string trial_id;                              ///< RUNG_TRIAL_ID, "12.3"; empty by hand
  std::string experiment;                            ///< RUNG_EXPERIMENT
  std::int64_t attempt = 0;                          ///< RUNG_ATTEMPT: 0, 1, ...
  std::filesystem::path socket;                      ///< RUNG_SOCKET; empty by hand
  std::filesystem::path checkpoint_dir;              ///< RUNG_CHECKPOINT_DIR; empty by hand
  std::optional<std::filesystem::path> resume_from;  ///< RUNG_RESUME_FROM: a checkpoint's path
  std::int64_t resume_step = 0;                      ///< RUNG_RESUME_STEP: steps already done
  std::optional<std::int64_t> max_step;              ///< RUNG_MAX_STEP: the last step to report
  std::uint64_t seed = 0;                            ///< RUNG_SEED
  int rank = 0;                                      ///< RANK, in [0, world_size)
  int local_rank = 0;                                ///< LOCAL_RANK, in [0, world_size)
  int world_size = 1;                                ///< WORLD_SIZE, at least 1

  /// Reads the variables; one that is unset keeps its default. Throws TrialError that names the
  /// variable and its value when a number, the JSON or the rank is wrong.
  static TrialContract FromEnvironment();
};

/// One trial as seen from one of its processes. Not thread-safe: one thread at a time.
class Trial {
 public:
  /// The worker answers a report within its report_wait (seconds), except while it holds 64 that
  /// the scheduler has not taken, and a checkpoint when the scheduler has its row: a scheduler that
  /// is away may take days to come back, and the trial has done nothing wrong. A worker that died
  /// is noticed at once (the socket closes), so this limit only ends a wait for one that hangs.
  static constexpr std::chrono::seconds kAnswerWait = std::chrono::hours(7 * 24);
  static constexpr std::size_t kAnswerBytesMax = 64 * 1024;

  /// Connects when `contract.socket` is set. Throws TrialError that names the socket.
  explicit Trial(TrialContract contract, std::chrono::milliseconds answer_wait = kAnswerWait);
  static Trial FromEnvironment() { return Trial(TrialContract::FromEnvironment()); }

  Trial(Trial&& other) noexcept;
  Trial& operator=(Trial&&) = delete;
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial();

  const TrialContract& contract() const { return contract_; }
  /// False when the program was started by hand.
  bool connected() const { return !contract_.socket.empty(); }

  /// The parameter `name` as bool, std::int64_t, double or std::string. An integer is taken as a
  /// double too, and a float without fraction as an integer; otherwise types must agree. Throws
  /// TrialError when it is missing or of another type.
  template <typename T>
  T Param(std::string_view name) const;
  /// As above, `fallback` when the parameter is missing (a wrong type still throws).
  template <typename T>
  T Param(std::string_view name, T fallback) const;

  /// Reports `metrics` (not empty, names not empty) after `step` >= 1 finished steps and waits for
  /// the decision. NaN and infinities are sent as "nan", "inf", "-inf". `count` is how many samples
  /// the values stand for, the weight of a mean over ranks (`trial.reduce`); > 0.
  /// Throws TrialError: bad arguments, the worker's error answer, a lost worker, no answer in time.
  ReportAnswer Report(std::int64_t step, const std::map<std::string, double>& metrics,
                      std::optional<std::int64_t> count = std::nullopt);

  /// Hands over what was written under `path` after `step` >= 1 steps: a path inside
  /// checkpoint_dir, relative to it or absolute. Returns once the worker has made it durable
  /// ("stored"). The files must be complete and synced. Throws TrialError as Report does.
  void Checkpoint(std::int64_t step, const std::filesystem::path& path);

 private:
  nlohmann::json Exchange(const nlohmann::json& request);
  void Send(const std::string& line, std::chrono::steady_clock::time_point deadline);
  std::string ReceiveLine(std::chrono::steady_clock::time_point deadline);
  void AwaitReady(short events, std::chrono::steady_clock::time_point deadline) const;

  TrialContract contract_;
  std::chrono::milliseconds answer_wait_;
  int socket_ = -1;
  std::string received_;  // bytes after the last answered line; at most kAnswerBytesMax
};

// ------------------------------------------------------------------------------------------------

namespace internal {

inline std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

template <typename T>
T Number(const char* name, T fallback, T lowest) {
  const std::optional<std::string> text = Variable(name);
  if (!text) return fallback;
  T value{};
  const char* end = text->data() + text->size();
  const auto [stop, error] = std::from_chars(text->data(), end, value);
  if (error != std::errc() || stop != end || value < lowest) {
    throw TrialError(std::string(name) + ": must be an integer of at least " +
                     std::to_string(lowest) + ", found '" + *text + "'");
  }
  return value;
}

inline std::string Errno(int error) { return std::generic_category().message(error); }

inline nlohmann::json MetricValue(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  return value;
}

template <typename T>
bool Holds(const nlohmann::json& value) {
  if constexpr (std::is_same_v<T, bool>) {
    return value.is_boolean();
  } else if constexpr (std::is_same_v<T, std::string>) {
    return value.is_string();
  } else if constexpr (std::is_same_v<T, double>) {
    return value.is_number();
  } else {
    static_assert(std::is_same_v<T, std::int64_t>, "bool, std::int64_t, double or std::string");
    if (value.is_number_integer()) return true;
    constexpr double kExactIntegers = 9007199254740992.0;  // 2^53: doubles count by ones up to here
    return value.is_number_float() && std::abs(value.get<double>()) <= kExactIntegers &&
           value.get<double>() == std::trunc(value.get<double>());
  }
}

template <typename T>
constexpr const char* TypeName() {
  if constexpr (std::is_same_v<T, bool>) return "a boolean";
  if constexpr (std::is_same_v<T, std::string>) return "a string";
  if constexpr (std::is_same_v<T, double>) return "a number";
  return "an integer";
}

}  // namespace internal

inline TrialContract TrialContract::FromEnvironment() {
  TrialContract contract;
  if (const auto text = internal::Variable("RUNG_PARAMS")) {
    contract.params = nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false);
    if (!contract.params.is_object()) {
      throw TrialError("RUNG_PARAMS: must be a JSON object, found '" + text->substr(0, 200) + "'");
    }
  }
  contract.trial_id = internal::Variable("RUNG_TRIAL_ID").value_or("");
  contract.experiment = internal::Variable("RUNG_EXPERIMENT").value_or("");
  contract.attempt = internal::Number<std::int64_t>("RUNG_ATTEMPT", 0, 0);
  contract.socket = internal::Variable("RUNG_SOCKET").value_or("");
  contract.checkpoint_dir = internal::Variable("RUNG_CHECKPOINT_DIR").value_or("");
  if (const auto path = internal::Variable("RUNG_RESUME_FROM")) contract.resume_from = *path;
  contract.resume_step = internal::Number<std::int64_t>("RUNG_RESUME_STEP", 0, 0);
  if (internal::Variable("RUNG_MAX_STEP")) {
    contract.max_step = internal::Number<std::int64_t>("RUNG_MAX_STEP", 0, 0);
  }
  contract.seed = internal::Number<std::uint64_t>("RUNG_SEED", 0, 0);
  contract.world_size = internal::Number<int>("WORLD_SIZE", 1, 1);
  contract.rank = internal::Number<int>("RANK", 0, 0);
  contract.local_rank = internal::Number<int>("LOCAL_RANK", 0, 0);
  if (contract.rank >= contract.world_size) {
    throw TrialError("RANK: must be below WORLD_SIZE " + std::to_string(contract.world_size) +
                     ", found " + std::to_string(contract.rank));
  }
  return contract;
}

inline Trial::Trial(TrialContract contract, std::chrono::milliseconds answer_wait)
    : contract_(std::move(contract)), answer_wait_(answer_wait) {
  if (contract_.socket.empty()) return;
  const std::string& path = contract_.socket.native();
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof(address.sun_path)) {
    throw TrialError("RUNG_SOCKET: path of " + std::to_string(path.size()) +
                     " bytes, the kernel takes 107: '" + path + "'");
  }
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  socket_ = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (socket_ < 0) throw TrialError("cannot make a socket: " + internal::Errno(errno));
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    const int error = errno;
    ::close(std::exchange(socket_, -1));
    throw TrialError("RUNG_SOCKET: cannot connect to '" + path + "': " + internal::Errno(error));
  }
}

inline Trial::Trial(Trial&& other) noexcept
    : contract_(std::move(other.contract_)),
      answer_wait_(other.answer_wait_),
      socket_(std::exchange(other.socket_, -1)),
      received_(std::move(other.received_)) {}

inline Trial::~Trial() {
  if (socket_ >= 0) ::close(socket_);
}

template <typename T>
T Trial::Param(std::string_view name) const {
  const auto found = contract_.params.find(std::string(name));
  if (found == contract_.params.end()) {
    throw TrialError("parameter '" + std::string(name) + "' is missing from RUNG_PARAMS " +
                     contract_.params.dump().substr(0, 500));
  }
  if (!internal::Holds<T>(*found)) {
    throw TrialError("parameter '" + std::string(name) + "': must be " + internal::TypeName<T>() +
                     ", found " + found->dump().substr(0, 200));
  }
  return found->template get<T>();
}

template <typename T>
T Trial::Param(std::string_view name, T fallback) const {
  if (!contract_.params.contains(std::string(name))) return fallback;
  return Param<T>(name);
}

inline ReportAnswer Trial::Report(std::int64_t step, const std::map<std::string, double>& metrics,
                                  std::optional<std::int64_t> count) {
  if (step < 1) throw TrialError("report: step must be >= 1, found " + std::to_string(step));
  if (metrics.empty()) throw TrialError("report: at least one metric is needed");
  if (count && *count <= 0) {
    throw TrialError("report: count must be > 0, found " + std::to_string(*count));
  }
  nlohmann::json values = nlohmann::json::object();
  for (const auto& [name, value] : metrics) {
    if (name.empty()) throw TrialError("report: a metric's name is empty");
    values[name] = internal::MetricValue(value);
  }
  nlohmann::json report = {{"step", step}, {"metrics", std::move(values)}};
  if (count) report["count"] = *count;
  if (!connected()) {
    const std::string text = report.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
    std::fprintf(stderr, "rung: report %s (no RUNG_SOCKET: not recorded)\n", text.c_str());
    return {};
  }
  const nlohmann::json answer = Exchange({{"report", std::move(report)}});
  const auto decision = answer.find("decision");
  if (decision == answer.end() || !decision->is_string()) {
    throw TrialError("the worker's answer to a report has no decision: " + answer.dump());
  }
  ReportAnswer result;
  if (*decision == "stop") result.decision = Decision::kStop;
  if (*decision == "pause") result.decision = Decision::kPause;
  const auto durable = answer.find("durable");
  result.durable = durable == answer.end() || !durable->is_boolean() || durable->get<bool>();
  return result;
}

inline void Trial::Checkpoint(std::int64_t step, const std::filesystem::path& path) {
  if (step < 1) throw TrialError("checkpoint: step must be >= 1, found " + std::to_string(step));
  const std::filesystem::path relative = path.is_absolute()
                                             ? path.lexically_relative(contract_.checkpoint_dir)
                                             : path.lexically_normal();
  if (relative.empty() || relative == "." || *relative.begin() == "..") {
    throw TrialError("checkpoint: '" + path.string() + "' is not inside RUNG_CHECKPOINT_DIR '" +
                     contract_.checkpoint_dir.string() + "'");
  }
  if (!connected()) {
    std::fprintf(stderr, "rung: checkpoint step %lld %s (no RUNG_SOCKET: not recorded)\n",
                 static_cast<long long>(step), relative.c_str());
    return;
  }
  const nlohmann::json answer =
      Exchange({{"checkpoint", {{"step", step}, {"path", relative.string()}}}});
  if (answer.value("checkpoint", nlohmann::json()) != "stored") {
    throw TrialError("the worker did not store checkpoint '" + relative.string() +
                     "': " + answer.dump());
  }
}

inline nlohmann::json Trial::Exchange(const nlohmann::json& request) {
  std::string line;
  try {
    line = request.dump() + "\n";
  } catch (const nlohmann::json::exception& error) {  // a name that is not UTF-8
    throw TrialError(std::string("cannot send: ") + error.what());
  }
  if (socket_ < 0) throw TrialError("the connection to the worker was lost earlier");
  std::string text;
  try {
    const auto deadline = std::chrono::steady_clock::now() + answer_wait_;
    Send(line, deadline);
    text = ReceiveLine(deadline);
  } catch (const TrialError&) {
    ::close(std::exchange(socket_, -1));  // a late answer must not be taken for the next one
    throw;
  }
  nlohmann::json answer = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!answer.is_object()) {
    throw TrialError("the worker answered with '" + text.substr(0, 200) + "', not a JSON object");
  }
  if (const auto error = answer.find("error"); error != answer.end()) {
    const std::string reason = error->is_string() ? error->get<std::string>() : error->dump();
    throw TrialError("the worker refused " + line.substr(0, line.size() - 1) + ": " + reason);
  }
  return answer;
}

inline void Trial::AwaitReady(short events, std::chrono::steady_clock::time_point deadline) const {
  while (true) {
    const auto left =
        std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      throw TrialError("no answer from the worker within " + std::to_string(answer_wait_.count()) +
                       " ms");
    }
    pollfd wanted{socket_, events, 0};
    const int ready =
        ::poll(&wanted, 1, static_cast<int>(std::min<long long>(left.count(), 60000)));
    if (ready > 0) return;
    if (ready < 0 && errno != EINTR) throw TrialError("poll: " + internal::Errno(errno));
  }
}

inline void Trial::Send(const std::string& line, std::chrono::steady_clock::time_point deadline) {
  std::size_t sent = 0;
  while (sent < line.size()) {
    const ssize_t count =
        ::send(socket_, line.data() + sent, line.size() - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (count >= 0) {
      sent += static_cast<std::size_t>(count);
    } else if (errno == EAGAIN) {
      AwaitReady(POLLOUT, deadline);
    } else if (errno != EINTR) {
      throw TrialError("lost the worker: " + internal::Errno(errno));
    }
  }
}

inline std::string Trial::ReceiveLine(std::chrono::steady_clock::time_point deadline) {
  while (true) {
    if (const std::size_t end = received_.find('\n'); end != std::string::npos) {
      std::string line = received_.substr(0, end);
      received_.erase(0, end + 1);
      return line;
    }
    if (received_.size() > kAnswerBytesMax) {
      throw TrialError("the worker's answer is longer than " + std::to_string(kAnswerBytesMax) +
                       " bytes");
    }
    AwaitReady(POLLIN, deadline);
    char buffer[4096];
    const ssize_t count = ::recv(socket_, buffer, sizeof(buffer), MSG_DONTWAIT);
    if (count == 0) throw TrialError("lost the worker: it closed RUNG_SOCKET");
    if (count > 0) {
      received_.append(buffer, static_cast<std::size_t>(count));
    } else if (errno != EAGAIN && errno != EINTR) {
      throw TrialError("lost the worker: " + internal::Errno(errno));
    }
  }
}

}  // namespace rung::report
