#include "scheduler/service_home.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <pwd.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <utility>

#include "core/check.h"
#include "proto/utf8.h"

namespace rung {
namespace {

namespace fs = std::filesystem;

constexpr size_t kSocketPathBytesMax = 100;

absl::Status Failed(std::string_view what, const fs::path& path) {
  return absl::FailedPreconditionError(
      fmt::format("{} {}: {}", what, path.string(), std::strerror(errno)));
}

std::string Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

/// Makes `folder` a folder of this user that is closed to others.
absl::Status ClosePrivateFolder(const fs::path& folder) {
  if (mkdir(folder.c_str(), 0700) != 0 && errno != EEXIST) {
    return Failed("cannot make the folder", folder);
  }
  struct stat status {};
  if (lstat(folder.c_str(), &status) != 0) return Failed("cannot look at", folder);
  if (S_ISLNK(status.st_mode) && stat(folder.c_str(), &status) != 0) {
    return Failed("cannot look at", folder);
  }
  if (!S_ISDIR(status.st_mode)) {
    return absl::FailedPreconditionError(fmt::format("{} is no folder", folder.string()));
  }
  if ((status.st_mode & 077) == 0 && status.st_uid == geteuid()) return absl::OkStatus();
  // Never a shared folder such as /tmp or a whole home: closing it would harm others.
  const bool shared =
      (status.st_mode & S_ISVTX) != 0 || folder == "/" || folder == Variable("HOME");
  if (status.st_uid != geteuid() || shared) {
    return absl::FailedPreconditionError(
        fmt::format("{} must be a folder of this user alone: set RUNG_HOME to a folder of its own",
                    folder.string()));
  }
  if (chmod(folder.c_str(), 0700) != 0) return Failed("cannot close to others", folder);
  return absl::OkStatus();
}

/// FNV-1a: names the folder of a long path's socket alike at every start.
uint64_t HashOf(std::string_view text) {
  uint64_t hash = 14695981039346656037u;
  for (const char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash;
}

absl::StatusOr<std::string> RandomSecret() {
  std::array<unsigned char, 32> bytes{};
  if (getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) {
    return absl::InternalError(fmt::format("getrandom: {}", std::strerror(errno)));
  }
  std::string secret;
  for (const unsigned char byte : bytes) secret += fmt::format("{:02x}", byte);
  return secret;
}

/// A new file, or an error if there is one already.
absl::Status CreateFile(const fs::path& path, std::string_view text) {
  const int fd = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
  if (fd < 0) return Failed("cannot make", path);
  const bool written = write(fd, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const absl::Status status = written ? absl::OkStatus() : Failed("cannot write", path);
  close(fd);
  return status;
}

}  // namespace

absl::StatusOr<ServiceHome> ServiceHome::Open() {
  if (const std::string home = Variable("RUNG_HOME"); !home.empty()) return Open(home);
  if (const std::string data = Variable("XDG_DATA_HOME"); !data.empty()) {
    return Open(fs::path(data) / "rung");
  }
  if (const std::string home = Variable("HOME"); !home.empty()) {
    return Open(fs::path(home) / ".local" / "share" / "rung");
  }
  return absl::FailedPreconditionError("set RUNG_HOME to a folder for the scheduler's state");
}

absl::StatusOr<ServiceHome> ServiceHome::Open(const fs::path& folder) {
  std::error_code error;
  fs::path absolute = fs::absolute(folder, error).lexically_normal();
  if (!absolute.has_filename()) absolute = absolute.parent_path();  // "/home/ada/rung/"
  if (error || !absolute.has_filename()) {
    return absl::FailedPreconditionError(
        fmt::format("{}: must be the path of a folder of its own", folder.string()));
  }
  RUNG_RETURN_IF_ERROR(CheckPathIsUtf8(absolute.native()));
  fs::create_directories(absolute.parent_path(), error);
  if (const absl::Status closed = ClosePrivateFolder(absolute); !closed.ok()) return closed;
  return ServiceHome(absolute);
}

absl::StatusOr<fs::path> ServiceHome::SocketPath() const {
  const fs::path here = folder_ / "rung.sock";
  if (here.string().size() <= kSocketPathBytesMax) return here;
  const std::string runtime = Variable("XDG_RUNTIME_DIR");
  const fs::path parent = runtime.empty() || runtime.size() > 50 ? "/tmp" : runtime;
  const fs::path folder =
      parent / fmt::format("rung-{}-{:016x}", geteuid(), HashOf(folder_.string()));
  RUNG_RETURN_IF_ERROR(CheckPathIsUtf8(folder.native()));
  if (const absl::Status closed = ClosePrivateFolder(folder); !closed.ok()) return closed;
  return folder / "rung.sock";
}

void ServiceHome::RemoveSocket(const fs::path& socket) const {
  unlink(socket.c_str());
  if (socket.parent_path() != folder_) rmdir(socket.parent_path().c_str());
}

absl::StatusOr<std::vector<Token>> ServiceHome::Tokens(const std::string& login) const {
  struct stat status {};
  if (lstat(token_file().c_str(), &status) != 0 && errno == ENOENT) {
    const absl::StatusOr<std::string> secret = RandomSecret();
    if (!secret.ok()) return secret.status();
    const absl::Status made = CreateFile(token_file(), fmt::format("{}:{}\n", login, *secret));
    if (!made.ok()) return made;
  }
  if (stat(token_file().c_str(), &status) != 0) return Failed("cannot look at", token_file());
  if ((status.st_mode & 077) != 0) {
    return absl::FailedPreconditionError(
        fmt::format("{0} can be read by others: chmod 600 {0}", token_file().string()));
  }
  if (!S_ISREG(status.st_mode) || static_cast<size_t>(status.st_size) > kTokenFileBytesMax) {
    return absl::FailedPreconditionError(
        fmt::format("{}: must be a file of at most 1 MiB", token_file().string()));
  }
  std::ifstream file(token_file());
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Failed("cannot read", token_file());
  return ParseTokens(text.str(), token_file().string());
}

absl::Status ServiceHome::WriteRecord(const ServiceRecord& record) const {
  const nlohmann::ordered_json json{{"pid", record.pid},
                                    {"addresses", record.addresses},
                                    {"database", record.database},
                                    {"version", record.version},
                                    {"started_us", record.started_us}};
  const fs::path draft = folder_ / fmt::format("scheduler.json.{}", getpid());
  unlink(draft.c_str());
  const absl::Status made =
      CreateFile(draft, json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n");
  if (!made.ok()) return made;
  if (rename(draft.c_str(), record_file().c_str()) != 0) {
    return Failed("cannot replace", record_file());
  }
  return absl::OkStatus();
}

void ServiceHome::RemoveRecord() const { unlink(record_file().c_str()); }

std::string LoginName() {
  std::array<char, 16'384> buffer{};
  passwd entry{};
  passwd* found = nullptr;
  getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
  return found == nullptr ? fmt::format("uid {}", geteuid()) : found->pw_name;
}

}  // namespace rung
