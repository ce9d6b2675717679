#include "clients/cli/home.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <nlohmann/json.hpp>

#include "proto/utf8.h"

namespace rung::cli {
namespace {

std::optional<std::string> Variable(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return value;
}

std::string TextAt(const nlohmann::json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

std::optional<DaemonRecord> ReadRecord(const std::filesystem::path& file) {
  std::ifstream stream(file);
  if (!stream) return std::nullopt;
  const auto json = nlohmann::json::parse(stream, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto pid = json.find("pid");
  if (pid == json.end() || !pid->is_number_integer()) return std::nullopt;
  DaemonRecord record{.pid = pid->get<int64_t>(),
                      .addresses = {},
                      .database = TextAt(json, "database"),
                      .version = TextAt(json, "version"),
                      .name = TextAt(json, "name"),
                      .lock_file = {}};
  const auto addresses = json.find("addresses");
  if (addresses != json.end() && addresses->is_array()) {
    for (const auto& address : *addresses) {
      if (address.is_string()) record.addresses.push_back(address.get<std::string>());
    }
  }
  return record;
}

}  // namespace

absl::StatusOr<Home> Home::FromEnvironment() {
  // Absolute, because daemons and the service outlive this process's current folder.
  std::filesystem::path folder;
  if (const auto home = Variable("RUNG_HOME")) {
    folder = std::filesystem::absolute(*home);
  } else if (const auto data = Variable("XDG_DATA_HOME")) {
    folder = std::filesystem::absolute(*data) / "rung";
  } else if (const auto user = Variable("HOME")) {
    folder = std::filesystem::absolute(*user) / ".local/share/rung";
  } else {
    return absl::FailedPreconditionError(
        "none of RUNG_HOME, XDG_DATA_HOME and HOME is set: set RUNG_HOME to the folder of the "
        "local service");
  }
  absl::Status text = CheckPathIsUtf8(folder.native());
  if (!text.ok()) return text;
  return Home(folder);
}

absl::Status Home::Create() const {
  std::error_code error;
  std::filesystem::create_directories(folder_.parent_path(), error);
  for (const auto& folder : {folder_, logs()}) {
    // A folder that is there keeps its mode: the scheduler decides whether it is private enough.
    if (mkdir(folder.c_str(), 0700) == 0 || errno == EEXIST) continue;
    return absl::FailedPreconditionError(
        fmt::format("cannot make the folder {}: {}; set RUNG_HOME to a folder that you can write "
                    "to",
                    folder.string(), std::strerror(errno)));
  }
  return absl::OkStatus();
}

std::optional<DaemonRecord> Home::SchedulerRecord() const {
  auto record = ReadRecord(folder_ / "scheduler.json");
  if (!record.has_value()) return std::nullopt;
  const std::filesystem::path named = record->database;
  const std::filesystem::path database = named.empty() ? folder_ / "rung.db" : named;
  // Beside the file itself (docs/database.md), so that one that has several names has one lock.
  std::error_code error;
  const std::filesystem::path resolved = std::filesystem::weakly_canonical(database, error);
  record->lock_file = (error ? database : resolved).native() + ".lock";
  return record;
}

std::optional<DaemonRecord> Home::WorkerRecord() const {
  auto record = ReadRecord(folder_ / "worker.json");
  if (record.has_value()) record->lock_file = folder_ / "worker.lock";
  return record;
}

}  // namespace rung::cli
