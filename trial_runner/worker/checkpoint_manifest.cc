#include "trial_runner/worker/checkpoint_manifest.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <vector>

#include "core/check.h"
#include "core/json_syntax.h"
#include "proto/utf8.h"

namespace rung::worker {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr size_t kFilesMax = 10'000;
constexpr const char* kSuffix = ".manifest.json";

struct FileEntry {
  std::string name;  ///< relative to the checkpoint; empty when it is itself a file
  int64_t bytes = 0;
};

absl::Status Failure(const fs::path& path, int error) {
  return absl::InternalError(fmt::format("'{}': {}", path.string(), std::strerror(error)));
}

/// Whether a look at a file told that it is not there, rather than that one cannot look.
bool IsMissing(int error) {
  return error == ENOENT || error == ENOTDIR || error == EISDIR || error == ENOTSUP;
}

/// The wire and the manifest take UTF-8 alone.
absl::Status CheckName(const fs::path& path) {
  const absl::Status status = CheckPathIsUtf8(path.string());
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      fmt::format("checkpoint.path: {}", std::string(status.message())));
}

absl::Status Sync(const fs::path& path) {
  const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return Failure(path, errno);
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  return error == 0 ? absl::OkStatus() : Failure(path, error);
}

/// The real path of what is named, if it lies in `folder`.
absl::StatusOr<fs::path> Resolve(const std::string& folder, const std::string& path) {
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) return Failure(folder, error.value());
  const fs::path real = fs::canonical(root / path, error);  // an absolute path replaces the root
  if (error) {
    return absl::NotFoundError(
        fmt::format("checkpoint.path: there is no '{}' in '{}'", path, root.string()));
  }
  const auto [end, unused] = std::mismatch(root.begin(), root.end(), real.begin(), real.end());
  if (end != root.end() || real == root) {
    return absl::InvalidArgumentError(
        fmt::format("checkpoint.path: must lie inside RUNG_CHECKPOINT_DIR '{}', found '{}'",
                    root.string(), path));
  }
  RUNG_RETURN_IF_ERROR(CheckName(real));
  return real;
}

/// The folders of a checkpoint in `folder` (`ROOT/TRIAL/ATTEMPT`, all made for it), from its own up
/// to ROOT: without their entries it would be gone after a power failure.
absl::Status SyncFoldersAbove(const fs::path& checkpoint, const std::string& folder) {
  std::error_code error;
  const fs::path attempt = fs::canonical(folder, error);
  if (error) return Failure(folder, error.value());
  const fs::path root = attempt.parent_path().parent_path();
  for (fs::path above = checkpoint.parent_path();; above = above.parent_path()) {
    RUNG_RETURN_IF_ERROR(Sync(above));
    if (above == root || above == above.parent_path()) return absl::OkStatus();
  }
}

absl::Status AddFile(const fs::directory_entry& entry, const fs::path& root,
                     std::vector<FileEntry>& files) {
  std::error_code error;
  if (entry.is_symlink(error) || !entry.is_regular_file(error)) {
    return absl::InvalidArgumentError(fmt::format(
        "checkpoint.path: may hold files and folders only, found '{}'", entry.path().string()));
  }
  if (files.size() == kFilesMax) {
    return absl::ResourceExhaustedError(
        fmt::format("checkpoint.path: holds more than {} files", kFilesMax));
  }
  RUNG_RETURN_IF_ERROR(CheckName(entry.path()));
  const auto bytes = static_cast<int64_t>(entry.file_size(error));
  if (error) return Failure(entry.path(), error.value());
  const bool single = entry.path() == root;
  files.push_back(
      {.name = single ? "" : entry.path().lexically_relative(root).string(), .bytes = bytes});
  return Sync(entry.path());
}

absl::StatusOr<std::vector<FileEntry>> SyncedFiles(const fs::path& root) {
  std::vector<FileEntry> files;
  std::error_code error;
  if (!fs::is_directory(root, error)) {
    RUNG_RETURN_IF_ERROR(AddFile(fs::directory_entry(root, error), root, files));
    return files;
  }
  for (fs::recursive_directory_iterator it(root, error), end; !error && it != end;
       it.increment(error)) {
    const bool folder = !it->is_symlink(error) && it->is_directory(error);
    RUNG_RETURN_IF_ERROR(folder ? Sync(it->path()) : AddFile(*it, root, files));
  }
  if (error) return Failure(root, error.value());
  RUNG_RETURN_IF_ERROR(Sync(root));
  std::ranges::sort(files, {}, &FileEntry::name);
  return files;
}

/// By rename, so that a reader finds a whole manifest or none. Its folder is not synced yet.
absl::Status WriteWhole(const fs::path& path, const std::string& text) {
  const fs::path temporary = path.string() + ".tmp";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
  if (fd < 0) return Failure(temporary, errno);
  int error = 0;
  for (size_t done = 0; done < text.size() && error == 0;) {
    const ssize_t size = write(fd, text.data() + done, text.size() - done);
    if (size < 0) error = errno;
    if (size > 0) done += static_cast<size_t>(size);
  }
  if (error == 0 && fsync(fd) != 0) error = errno;
  close(fd);
  if (error == 0 && rename(temporary.c_str(), path.c_str()) != 0) error = errno;
  if (error != 0) {
    unlink(temporary.c_str());
    return Failure(path, error);
  }
  return absl::OkStatus();
}

absl::Status VerifyFile(const std::string& checkpoint, const json& file) {
  const std::string name = file.at("name").get<std::string>();
  const auto bytes = file.at("bytes").get<uint64_t>();
  const fs::path path = name.empty() ? fs::path(checkpoint) : fs::path(checkpoint) / name;
  std::error_code error;
  const uint64_t found = fs::file_size(path, error);
  if (error && !IsMissing(error.value())) {
    return absl::UnavailableError(
        fmt::format("checkpoint file '{}': {}", path.string(), error.message()));
  }
  if (error) {
    return absl::NotFoundError(
        fmt::format("checkpoint '{}' lacks '{}'", checkpoint, path.string()));
  }
  if (found != bytes) {
    return absl::DataLossError(fmt::format(
        "checkpoint file '{}' has {} bytes, its manifest says {}", path.string(), found, bytes));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<WrittenCheckpoint> WriteManifest(const std::string& folder, const std::string& path,
                                                Steps step) {
  const absl::StatusOr<fs::path> real = Resolve(folder, path);
  if (!real.ok()) return real.status();
  const absl::StatusOr<std::vector<FileEntry>> files = SyncedFiles(*real);
  if (!files.ok()) return files.status();
  WrittenCheckpoint checkpoint{.path = real->string(), .bytes = 0};
  json list = json::array();
  for (const FileEntry& file : *files) {
    checkpoint.bytes += file.bytes;
    list.push_back({{"name", file.name}, {"bytes", file.bytes}});
  }
  const json manifest = {{"version", 1}, {"step", step}, {"files", std::move(list)}};
  const std::string text = manifest.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
  RUNG_RETURN_IF_ERROR(WriteWhole(checkpoint.path + kSuffix, text));
  RUNG_RETURN_IF_ERROR(SyncFoldersAbove(*real, folder));
  return checkpoint;
}

absl::Status VerifyCheckpoint(const std::string& path) {
  const std::string manifest_path = path + kSuffix;
  struct stat status {};
  if (stat(manifest_path.c_str(), &status) != 0 && !IsMissing(errno)) {
    return absl::UnavailableError(
        fmt::format("manifest '{}': {}", manifest_path, std::strerror(errno)));
  }
  std::ifstream stream(manifest_path);
  if (!stream) {
    return absl::NotFoundError(fmt::format("checkpoint '{}' has no manifest here", path));
  }
  try {
    const json manifest = json::parse(stream);
    for (const json& file : manifest.at("files")) {
      RUNG_RETURN_IF_ERROR(VerifyFile(path, file));
    }
  } catch (const json::exception& error) {
    return absl::DataLossError(fmt::format("manifest '{}{}' cannot be read: {}", path, kSuffix,
                                           JsonSyntaxProblem({}, std::nullopt, error.what())));
  }
  return absl::OkStatus();
}

}  // namespace rung::worker
