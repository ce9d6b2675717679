#include "trial_runner/training/checkpoint.h"

#include <ATen/ops/empty.h>
#include <fcntl.h>
#include <unistd.h>

#include <bit>
#include <cerrno>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <system_error>
#include <utility>

#include "trial_runner/training/byte_hash.h"

namespace rung::training {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

static_assert(std::endian::native == std::endian::little,
              "safetensors holds little-endian numbers");

constexpr const char* kFileName = "state.safetensors";
constexpr const char* kTemporaryPrefix = ".tmp-";
constexpr int kVersion = 1;
constexpr std::uint64_t kHeaderBytesMax = std::uint64_t{64} << 20;

constexpr std::pair<at::ScalarType, const char*> kTypes[] = {
    {at::kFloat, "F32"}, {at::kDouble, "F64"}, {at::kHalf, "F16"}, {at::kBFloat16, "BF16"},
    {at::kLong, "I64"},  {at::kInt, "I32"},    {at::kByte, "U8"},  {at::kBool, "BOOL"},
};

std::string TypeName(at::ScalarType type) {
  for (const auto& [known, name] : kTypes) {
    if (known == type) return name;
  }
  throw TrainingError(std::string("checkpoints hold no tensors of type ") + c10::toString(type));
}

[[noreturn]] void ThrowErrno(const std::string& what, const fs::path& path) {
  throw TrainingError("cannot " + what + " '" + path.string() +
                      "': " + std::generic_category().message(errno));
}

/// An open file or folder.
class File {
 public:
  File(fs::path path, int flags) : path_(std::move(path)) {
    descriptor_ = ::open(path_.c_str(), flags | O_CLOEXEC, 0644);
    if (descriptor_ < 0) ThrowErrno("open", path_);
  }
  ~File() { ::close(descriptor_); }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  void Write(const void* data, std::size_t size) {
    const char* next = static_cast<const char*>(data);
    while (size > 0) {
      const ssize_t count = ::write(descriptor_, next, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) ThrowErrno("write", path_);
      next += count;
      size -= static_cast<std::size_t>(count);
    }
  }
  void Read(void* data, std::size_t size) {
    char* next = static_cast<char*>(data);
    while (size > 0) {
      const ssize_t count = ::read(descriptor_, next, size);
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) ThrowErrno("read", path_);
      if (count == 0) throw TrainingError("'" + path_.string() + "' is cut off");
      next += count;
      size -= static_cast<std::size_t>(count);
    }
  }
  void Sync() {
    if (::fsync(descriptor_) != 0) ThrowErrno("sync", path_);
  }

 private:
  fs::path path_;
  int descriptor_ = -1;
};

void SyncFolder(const fs::path& folder) { File(folder, O_RDONLY | O_DIRECTORY).Sync(); }

std::span<const std::byte> Bytes(const at::Tensor& tensor) {
  return {static_cast<const std::byte*>(tensor.const_data_ptr()), tensor.nbytes()};
}

std::string Checksum(const at::Tensor& tensor) {
  char text[17];
  std::snprintf(text, sizeof(text), "%016llx",
                static_cast<unsigned long long>(ByteHash(Bytes(tensor))));
  return text;
}

json ProgressJson(const Progress& progress) {
  return {{"step", progress.step},
          {"updates", progress.updates},
          {"epoch", progress.sampler.epoch},
          {"index", progress.sampler.index}};
}

Progress ParseProgress(const json& text) {
  return {.step = text.at("step"),
          .updates = text.at("updates"),
          .sampler = {.epoch = text.at("epoch"), .index = text.at("index")}};
}

void WriteState(const fs::path& path, const Progress& progress,
                std::span<const NamedTensor> tensors) {
  json header = json::object();
  json rung = ProgressJson(progress);
  rung["version"] = kVersion;
  std::vector<at::Tensor> contents;
  std::size_t offset = 0;
  for (const NamedTensor& named : tensors) {
    const at::Tensor& content = contents.emplace_back(named.tensor.detach().cpu().contiguous());
    if (header.contains(named.name)) {
      throw TrainingError("a checkpoint needs unique names, found '" + named.name + "' twice");
    }
    header[named.name] = {{"dtype", TypeName(content.scalar_type())},
                          {"shape", content.sizes().vec()},
                          {"data_offsets", {offset, offset + content.nbytes()}}};
    rung["checksums"][named.name] = Checksum(content);
    offset += content.nbytes();
  }
  header["__metadata__"]["rung"] = rung.dump();
  std::string text = header.dump();
  text.append((8 - text.size() % 8) % 8, ' ');  // tensors begin on a multiple of 8
  const std::uint64_t length = text.size();
  File file(path, O_WRONLY | O_CREAT | O_TRUNC);
  file.Write(&length, sizeof(length));
  file.Write(text.data(), text.size());
  for (const at::Tensor& content : contents) file.Write(content.const_data_ptr(), content.nbytes());
  file.Sync();
}

/// Rank 0's part of SaveCheckpoint. The rename is the moment at which the checkpoint exists.
void WriteCheckpoint(const fs::path& folder, const std::string& name, const Progress& progress,
                     std::span<const NamedTensor> tensors) {
  if (folder.empty()) throw TrainingError("no folder for checkpoints (RUNG_CHECKPOINT_DIR)");
  fs::create_directories(folder);
  std::vector<fs::path> leftovers;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().native().starts_with(kTemporaryPrefix)) {
      leftovers.push_back(entry.path());
    }
  }
  for (const fs::path& leftover : leftovers) fs::remove_all(leftover);
  const fs::path temporary = folder / (kTemporaryPrefix + name);
  const fs::path final = folder / name;
  fs::create_directory(temporary);
  WriteState(temporary / kFileName, progress, tensors);
  SyncFolder(temporary);
  const unsigned exchange = fs::exists(final) ? RENAME_EXCHANGE : 0;
  if (::renameat2(AT_FDCWD, temporary.c_str(), AT_FDCWD, final.c_str(), exchange) != 0) {
    ThrowErrno("rename to", final);
  }
  SyncFolder(folder);
  fs::remove_all(temporary);  // the replaced one, if any
}

/// A parsed header; `file` stands at the first tensor's first byte.
struct Header {
  json tensors;
  json checksums;
  Progress progress;
};

Header ReadHeader(File& file, const fs::path& path) {
  std::uint64_t length = 0;
  file.Read(&length, sizeof(length));
  if (length > std::min<std::uint64_t>(kHeaderBytesMax, fs::file_size(path))) {
    throw TrainingError("'" + path.string() + "' has a header of " + std::to_string(length) +
                        " bytes");
  }
  std::string text(length, '\0');
  file.Read(text.data(), text.size());
  Header header;
  header.tensors = json::parse(text);
  const json rung = json::parse(header.tensors.at("__metadata__").at("rung").get<std::string>());
  header.tensors.erase("__metadata__");
  if (rung.at("version") != kVersion) {
    throw TrainingError("'" + path.string() + "' is of checkpoint version " +
                        rung.at("version").dump() + ", this program reads " +
                        std::to_string(kVersion));
  }
  header.progress = ParseProgress(rung);
  header.checksums = rung.value("checksums", json::object());
  return header;
}

void RequireNames(const Header& header, std::span<const NamedTensor> tensors) {
  std::set<std::string> wanted;
  for (const NamedTensor& named : tensors) {
    wanted.insert(named.name);
    if (!header.tensors.contains(named.name)) {
      throw TrainingError("the checkpoint has no '" + named.name + "'");
    }
    const json& entry = header.tensors.at(named.name);
    const std::string found = entry.at("dtype").get<std::string>() + entry.at("shape").dump();
    const std::string expected =
        TypeName(named.tensor.scalar_type()) + json(named.tensor.sizes().vec()).dump();
    if (found != expected) {
      throw TrainingError("the checkpoint's '" + named.name + "' is " + found +
                          ", this model's is " + expected);
    }
  }
  for (const auto& [name, entry] : header.tensors.items()) {
    if (!wanted.contains(name)) throw TrainingError("this model has no '" + name + "'");
  }
}

/// Rank 0's part of LoadCheckpoint: nothing is overwritten unless all of it is sound.
Progress ReadCheckpoint(const fs::path& folder, std::span<const NamedTensor> tensors) {
  const fs::path path = folder / kFileName;
  File file(path, O_RDONLY);
  const Header header = ReadHeader(file, path);
  RequireNames(header, tensors);
  std::multimap<std::pair<std::uint64_t, std::uint64_t>, const NamedTensor*> by_place;
  for (const NamedTensor& named : tensors) {
    const json& place = header.tensors.at(named.name).at("data_offsets");
    by_place.emplace(std::pair(place.at(0), place.at(1)), &named);
  }
  std::vector<std::pair<const NamedTensor*, at::Tensor>> contents;
  std::uint64_t position = 0;
  for (const auto& [place, named] : by_place) {
    at::Tensor content =
        at::empty(named->tensor.sizes(), at::TensorOptions(named->tensor.scalar_type()));
    if (place != std::pair(position, position + content.nbytes())) {
      throw TrainingError("'" + named->name + "' lies at the wrong place in '" + path.string() +
                          "'");
    }
    file.Read(content.mutable_data_ptr(), content.nbytes());
    if (header.checksums.value(named->name, "") != Checksum(content)) {
      throw TrainingError("'" + named->name + "' in '" + path.string() +
                          "' does not match its checksum");
    }
    position += content.nbytes();
    contents.emplace_back(named, std::move(content));
  }
  for (const auto& [named, content] : contents) named->tensor.detach().copy_(content);
  return header.progress;
}

/// Runs `act` on rank 0 and tells all ranks its text, or throws everywhere what it threw there.
template <typename Act>
std::string OnRankZero(ProcessGroup& group, const Act& act) {
  std::string error;
  std::string text;
  if (group.rank() == 0) {
    try {
      text = act();
    } catch (const std::exception& thrown) {
      error = thrown.what();
    }
  }
  group.AwaitRankZero();  // a disk may be slow
  error = group.BroadcastText(error);
  if (!error.empty()) throw TrainingError("checkpoint: " + error);
  return group.BroadcastText(text);
}

}  // namespace

std::filesystem::path SaveCheckpoint(ProcessGroup& group, const std::filesystem::path& folder,
                                     const Progress& progress,
                                     std::span<const NamedTensor> tensors) {
  const std::string name = "step-" + std::to_string(progress.step);
  OnRankZero(group, [&] {
    WriteCheckpoint(folder, name, progress, tensors);
    return std::string();
  });
  return folder / name;
}

Progress LoadCheckpoint(ProcessGroup& group, const std::filesystem::path& path,
                        std::span<const NamedTensor> tensors) {
  const std::string text =
      OnRankZero(group, [&] { return ProgressJson(ReadCheckpoint(path, tensors)).dump(); });
  group.Broadcast(tensors);
  return ParseProgress(json::parse(text));
}

}  // namespace rung::training
