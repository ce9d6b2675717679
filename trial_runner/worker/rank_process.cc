#include "trial_runner/worker/rank_process.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include <boost/asio/read_until.hpp>
#include <charconv>
#include <fstream>
#include <istream>
#include <utility>

#include "trial_runner/launch/environment.h"
#include "trial_runner/launch/orphans.h"

namespace rung::worker {
namespace {

/// The number after `prefix`, or −1.
int32_t NumberAfter(std::string_view line, std::string_view prefix) {
  int32_t number = -1;
  line.remove_prefix(prefix.size());
  std::from_chars(line.data(), line.data() + line.size(), number);
  return number;
}

}  // namespace

std::string FileTail(const std::string& path, size_t bytes_max) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) return "";
  const auto size = static_cast<size_t>(std::max<std::streamoff>(file.tellg(), 0));
  const size_t wanted = std::min(size, bytes_max);
  file.seekg(static_cast<std::streamoff>(size - wanted));
  std::string tail(wanted, '\0');
  file.read(tail.data(), static_cast<std::streamsize>(wanted));
  tail.resize(static_cast<size_t>(file.gcount()));
  return tail;
}

RankProcess::RankProcess(boost::asio::io_context& io, AttemptId attempt, int32_t rank, Emit emit,
                         BeforeGone before_gone)
    : control_(io),
      attempt_(attempt),
      rank_(rank),
      emit_(std::move(emit)),
      before_gone_(std::move(before_gone)) {}

RankProcess::~RankProcess() = default;

absl::Status RankProcess::Start(const ShimLaunch& launch) {
  stderr_path_ = launch.stderr_path;
  socket_path_ = ValueOf(launch.environment, "RUNG_SOCKET");
  const absl::StatusOr<LaunchedShim> shim = LaunchShim(launch);
  if (!shim.ok()) return shim.status();
  shim_ = shim->pid;
  control_.assign(boost::asio::local::stream_protocol(), shim->control_fd);
  Read();
  return absl::OkStatus();
}

void RankProcess::Detach() {
  emit_ = nullptr;
  before_gone_ = nullptr;
  if (could_not_start_) return;  // its shim is ending: Read sees that, and reaps it
  boost::system::error_code ignored;
  control_.close(ignored);
}

void RankProcess::Read() {
  boost::asio::async_read_until(
      control_, input_, '\n', [self = shared_from_this()](boost::system::error_code error, size_t) {
        if (error == boost::asio::error::operation_aborted) return;  // by Detach
        if (error) return self->OnEnd();
        std::istream stream(&self->input_);
        std::string line;
        std::getline(stream, line);
        if (self->emit_) self->OnLine(line);
        self->Read();
      });
}

void RankProcess::OnLine(const std::string& line) {
  constexpr std::string_view kCouldNotStart = "could not start: ";
  constexpr std::string_view kCouldNotStartHere = "could not start here: ";
  constexpr std::string_view kExitedCode = "exited code ";
  constexpr std::string_view kExitedSignal = "exited signal ";
  if (line.starts_with("started ")) {
    emit_(RankStarted{attempt_, rank_});
  } else if (line.starts_with(kCouldNotStart)) {
    could_not_start_ = true;
    emit_(
        RankCouldNotStart{attempt_, rank_, ExitCause::kFailed, line.substr(kCouldNotStart.size())});
  } else if (line.starts_with(kCouldNotStartHere)) {
    could_not_start_ = true;
    emit_(RankCouldNotStart{attempt_, rank_, ExitCause::kCouldNotStart,
                            line.substr(kCouldNotStartHere.size())});
  } else if (line.starts_with(kExitedCode) || line.starts_with(kExitedSignal)) {
    RankExited event{.attempt = attempt_, .rank = rank_};
    if (line.starts_with(kExitedCode)) event.code = NumberAfter(line, kExitedCode);
    if (line.starts_with(kExitedSignal)) event.signal = NumberAfter(line, kExitedSignal);
    exited_ = true;
    failed_ = event.code != 0 || event.signal != 0;
    emit_(event);
  } else if (line == "empty") {
    empty_ = true;  // RankGone follows the end of the connection
  }
}

void RankProcess::OnEnd() {
  boost::system::error_code ignored;
  control_.close(ignored);
  // The shim has ended or is ending. Were it not, nothing could tell it anything any more.
  kill(shim_, SIGKILL);
  int status = 0;
  waitpid(shim_, &status, 0);
  if (could_not_start_) return;
  // Else the shim itself was killed. The rank died with it (PR_SET_PDEATHSIG), its helpers did not.
  if (!empty_) KillOrphans(shim_, socket_path_);
  if (!exited_) {
    exited_ = failed_ = true;
    emit_(RankExited{.attempt = attempt_, .rank = rank_, .code = 0, .signal = SIGKILL});
  }
  before_gone_([self = shared_from_this()] { self->EmitGone(); });
}

void RankProcess::EmitGone() {
  if (!emit_) return;
  emit_(RankGone{.attempt = attempt_,
                 .rank = rank_,
                 .stderr_tail = failed_ ? FileTail(stderr_path_, kStderrTailBytes) : ""});
}

void RankProcess::Command(const char* line) {
  if (!control_.is_open()) return;
  // A handful of short lines in the life of a rank: the buffer never fills. A broken connection is
  // seen by Read.
  [[maybe_unused]] const ssize_t sent =
      send(control_.native_handle(), line, std::char_traits<char>::length(line),
           MSG_NOSIGNAL | MSG_DONTWAIT);
}

}  // namespace rung::worker
