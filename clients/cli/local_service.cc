#include "clients/cli/local_service.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <thread>

#include "clients/cli/client.h"
#include "clients/cli/daemon.h"
#include "clients/cli/words.h"

namespace rung::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

constexpr const char* kScheduler = "rung-scheduler";
constexpr const char* kWorker = "rung-worker";
constexpr milliseconds kPollInterval{50};
constexpr milliseconds kAnswerTimeout{2'000};
constexpr milliseconds kLockPatience{60'000};
constexpr size_t kLogLines = 20;
constexpr int kTrialsListedMax = 10;

// Two `rung local up` at a time must not start two schedulers.
class HomeLock {
 public:
  explicit HomeLock(const Home& home) : file_(home.folder() / "local.lock") {}
  ~HomeLock() {
    if (fd_ >= 0) close(fd_);
  }
  HomeLock(const HomeLock&) = delete;
  HomeLock& operator=(const HomeLock&) = delete;

  /// Errors: DEADLINE_EXCEEDED when another `rung local` keeps it, FAILED_PRECONDITION when the
  /// file cannot be opened or locked.
  absl::Status Take() {
    fd_ = open(file_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
    if (fd_ < 0) return Failed("open");
    const auto deadline = steady_clock::now() + kLockPatience;
    while (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK && errno != EINTR) return Failed("lock");
      if (steady_clock::now() >= deadline) {
        return absl::DeadlineExceededError("another `rung local` is at work here: try again");
      }
      std::this_thread::sleep_for(kPollInterval);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status Failed(const char* what) const {
    const int error = errno;
    return absl::FailedPreconditionError(
        fmt::format("cannot {} {}, which keeps two `rung local` apart: {}; mend that, or set "
                    "RUNG_HOME to another folder",
                    what, file_.string(), std::strerror(error)));
  }

  std::filesystem::path file_;
  int fd_ = -1;
};

std::unique_ptr<Client> LocalClient(const Home& home) {
  const auto address = ResolveAddress({.server = {}, .token_file = {}}, home);
  return address.ok() ? std::make_unique<Client>(*address) : nullptr;
}

// The pid of the scheduler that answers; 0 when none does.
int64_t AnsweringPid(const Home& home) {
  const auto client = LocalClient(home);
  if (client == nullptr) return 0;
  const auto info = client->GetServerInfo(kAnswerTimeout);
  return info.ok() ? info->pid() : 0;
}

bool IsConnected(const Home& home, const DaemonRecord& record) {
  const auto client = LocalClient(home);
  if (client == nullptr) return false;
  const auto workers = client->ListWorkers();
  if (!workers.ok()) return false;
  return std::any_of(workers->begin(), workers->end(), [&](const pb::Worker& worker) {
    return worker.state() == "connected" && (record.name.empty() || worker.name() == record.name);
  });
}

// Waits until `ready` holds. Errors: what the log says when the child ends before, or time is up.
absl::Status Await(const std::string& program, std::optional<pid_t> child,
                   const std::filesystem::path& log, milliseconds patience,
                   const std::function<bool()>& ready) {
  const auto deadline = steady_clock::now() + patience;
  while (!ready()) {
    std::string trouble = child.has_value() ? ChildEnd(*child) : "";
    if (trouble.empty() && steady_clock::now() >= deadline) {
      trouble = fmt::format("is not ready after {} s", patience.count() / 1000);
    }
    if (!trouble.empty()) {
      return absl::UnavailableError(fmt::format("{} {}; the end of {}:\n{}", program, trouble,
                                                log.string(), LogEnd(log, kLogLines)));
    }
    std::this_thread::sleep_for(kPollInterval);
  }
  return absl::OkStatus();
}

}  // namespace

LocalStatus LocalService::Inspect() const {
  LocalStatus status;
  const auto scheduler = home_.SchedulerRecord();
  if (scheduler && IsDaemon(scheduler->pid, kScheduler, scheduler->lock_file)) {
    status.scheduler = scheduler;
    status.answers = AnsweringPid(home_) == scheduler->pid;
  }
  const auto worker = home_.WorkerRecord();
  if (worker && IsDaemon(worker->pid, kWorker, worker->lock_file)) {
    status.worker = worker;
    status.worker_connected = status.answers && IsConnected(home_, *worker);
  }
  return status;
}

absl::Status LocalService::Up(const LocalOptions& options) {
  absl::Status done = home_.Create();
  if (!done.ok()) return done;
  HomeLock lock(home_);
  done = lock.Take();
  if (!done.ok()) return done;
  done = StartScheduler(options);
  if (!done.ok()) return done;
  return StartWorker(options);
}

absl::Status LocalService::StartScheduler(const LocalOptions& options) {
  const std::filesystem::path log = home_.logs() / "scheduler.log";
  const auto record = home_.SchedulerRecord();
  std::optional<pid_t> child;
  int64_t pid = 0;
  if (record && IsDaemon(record->pid, kScheduler, record->lock_file)) {
    pid = record->pid;
    log_ << fmt::format("{} runs already (pid {})", kScheduler, pid) << std::endl;
    if (!options.listen.empty()) {
      log_ << "--listen is not applied to it: `rung local down` first" << std::endl;
    }
  } else {
    const auto program = FindProgram(kScheduler);
    if (!program.ok()) return program.status();
    DaemonCommand command{.program = *program,
                          .arguments = {},
                          .env = {{"RUNG_HOME", home_.folder().string()}},
                          .folder = home_.folder(),
                          .log = log};
    for (const std::string& endpoint : options.listen) {
      command.arguments.insert(command.arguments.end(), {"--listen", endpoint});
    }
    if (options.insecure_network) command.arguments.emplace_back("--insecure-network");
    if (!options.log_level.empty()) {
      command.arguments.insert(command.arguments.end(), {"--log-level", options.log_level});
    }
    const auto started = StartDaemon(command);
    if (!started.ok()) return started.status();
    child = *started;
    pid = *started;
  }
  const absl::Status ready =
      Await(kScheduler, child, log, options.patience, [&] { return AnsweringPid(home_) == pid; });
  if (!ready.ok() || !child.has_value()) return ready;
  const auto now = home_.SchedulerRecord();
  log_ << fmt::format("started {} (pid {}), database {}", kScheduler, pid,
                      now ? now->database : (home_.folder() / "rung.db").string())
       << std::endl;
  return absl::OkStatus();
}

absl::Status LocalService::StartWorker(const LocalOptions& options) {
  const std::filesystem::path log = home_.logs() / "worker.log";
  const auto record = home_.WorkerRecord();
  std::optional<pid_t> child;
  int64_t pid = 0;
  if (record && IsDaemon(record->pid, kWorker, record->lock_file)) {
    pid = record->pid;
    log_ << fmt::format("{} runs already (pid {})", kWorker, pid) << std::endl;
    if (options.cpus.has_value()) {
      log_ << "--cpus is not applied to it: `rung local down` first" << std::endl;
    }
  } else {
    const auto program = FindProgram(kWorker);
    if (!program.ok()) return program.status();
    const auto address = ResolveAddress({.server = {}, .token_file = {}}, home_);
    if (!address.ok()) return address.status();
    DaemonCommand command{.program = *program,
                          .arguments = {"--server", address->target},
                          .env = {{"RUNG_HOME", home_.folder().string()}},
                          .folder = home_.folder(),
                          .log = log};
    if (options.cpus.has_value()) {
      command.arguments.insert(command.arguments.end(), {"--cpus", std::to_string(*options.cpus)});
    }
    if (!options.log_level.empty()) {
      command.arguments.insert(command.arguments.end(), {"--log-level", options.log_level});
    }
    const auto started = StartDaemon(command);
    if (!started.ok()) return started.status();
    child = *started;
    pid = *started;
  }
  const absl::Status ready = Await(kWorker, child, log, options.patience, [&] {
    const auto now = home_.WorkerRecord();
    return now.has_value() && now->pid == pid && IsConnected(home_, *now);
  });
  if (!ready.ok() || !child.has_value()) return ready;
  log_ << fmt::format("started {} (pid {})", kWorker, pid) << std::endl;
  return absl::OkStatus();
}

absl::Status LocalService::Down(milliseconds patience) {
  std::error_code error;
  if (!std::filesystem::exists(home_.folder(), error)) {
    log_ << "nothing runs here: " << home_.folder().string() << " does not exist" << std::endl;
    return absl::OkStatus();
  }
  HomeLock lock(home_);
  const absl::Status taken = lock.Take();
  if (!taken.ok()) return taken;
  const auto record = home_.WorkerRecord();
  if (record && IsDaemon(record->pid, kWorker, record->lock_file)) TellWhatRuns(*record);
  // The worker first: it can still say how its trials ended.
  const auto worker = End(kWorker, home_.WorkerRecord(), patience);
  if (!worker.ok()) return worker.status();
  const auto scheduler = End(kScheduler, home_.SchedulerRecord(), patience);
  if (!scheduler.ok()) return scheduler.status();
  if (!*worker && !*scheduler) log_ << "nothing was running" << std::endl;
  return absl::OkStatus();
}

void LocalService::TellWhatRuns(const DaemonRecord& record) const {
  if (AnsweringPid(home_) == 0) return;  // nobody who knows
  const auto workers = LocalClient(home_)->ListWorkers();
  if (!workers.ok()) return;
  for (const pb::Worker& worker : *workers) {
    if (worker.name() != record.name || worker.attempts().empty()) continue;
    std::string ids;
    for (int i = 0; i < worker.attempts_size() && i < kTrialsListedMax; ++i) {
      ids += fmt::format("{}{}", i > 0 ? " " : "", AttemptText(worker.attempts(i)));
    }
    if (worker.attempts_size() > kTrialsListedMax) ids += " …";
    const bool one = worker.attempts_size() == 1;
    log_
        << fmt::format(
               "{} {} here ({}): SIGTERM, the grace of each (at most 30 s), then SIGKILL; when the "
               "service is back {} queued again, from a stored checkpoint where there is one",
               worker.attempts_size(), one ? "trial runs" : "trials run", ids,
               one ? "it is" : "they are")
        << std::endl;
  }
}

absl::StatusOr<bool> LocalService::End(const std::string& program,
                                       const std::optional<DaemonRecord>& record,
                                       milliseconds patience) {
  if (!record || !IsDaemon(record->pid, program, record->lock_file)) return false;
  const auto pid = static_cast<pid_t>(record->pid);
  const auto end = EndDaemon(pid, program, record->lock_file, patience);
  if (!end.ok()) return end.status();
  const char* how = *end == DaemonEnd::kKilled ? "killed (SIGTERM did not end it)" : "stopped";
  log_ << fmt::format("{} {} (pid {})", how, program, pid) << std::endl;
  return true;
}

}  // namespace rung::cli
