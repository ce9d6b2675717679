#include "clients/cli/document_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <iterator>
#include <utility>

#include "proto/utf8.h"

namespace rung::cli {
namespace {

constexpr size_t kRequestBytesMax = size_t{4} << 20;

absl::StatusOr<std::string> ReadAll(std::istream& stream, const std::string& name) {
  std::string text;
  char buffer[1 << 16];
  while (stream.read(buffer, sizeof(buffer)) || stream.gcount() > 0) {
    text.append(buffer, static_cast<size_t>(stream.gcount()));
    if (text.size() > kRequestBytesMax) {
      return absl::FailedPreconditionError(fmt::format(
          "{} is longer than {} bytes, the most that a request can carry", name, kRequestBytesMax));
    }
  }
  if (const auto bad = FirstNonUtf8(text)) {
    const auto line = std::count(text.begin(), text.begin() + static_cast<ptrdiff_t>(*bad), '\n');
    const size_t before = *bad == 0 ? std::string::npos : text.rfind('\n', *bad - 1);
    return absl::InvalidArgumentError(
        fmt::format("{} is not JSON: line {}, column {}: byte 0x{:02x} is not UTF-8", name,
                    line + 1, *bad - (before == std::string::npos ? 0 : before + 1) + 1,
                    static_cast<unsigned char>(text[*bad])));
  }
  return text;
}

absl::StatusOr<DocumentFile> Document(std::string text, const std::string& folder) {
  if (FirstNonUtf8(folder).has_value()) {
    return absl::FailedPreconditionError(
        fmt::format("the folder {} cannot be trial.working_dir: its name is not UTF-8", folder));
  }
  return DocumentFile{.text = std::move(text), .working_dir = folder};
}

}  // namespace

absl::StatusOr<DocumentFile> ReadDocument(const std::string& file) {
  std::error_code error;
  if (file == "-") {
    auto text = ReadAll(std::cin, "standard input");
    if (!text.ok()) return text.status();
    const auto folder = std::filesystem::current_path(error);
    return Document(*std::move(text), folder.string());
  }
  if (std::filesystem::is_directory(file, error)) {
    return absl::FailedPreconditionError(
        fmt::format("{} is a folder; an experiment document (JSON) is wanted", file));
  }
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return absl::NotFoundError(fmt::format("cannot read {}: {}", file, std::strerror(errno)));
  }
  auto text = ReadAll(stream, file);
  if (!text.ok()) return text.status();
  // The folder as the person named it, links kept: that is the path they expect to see.
  const auto folder = std::filesystem::absolute(file, error).lexically_normal().parent_path();
  return Document(*std::move(text), folder.string());
}

}  // namespace rung::cli
