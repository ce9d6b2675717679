#include "proto/version.h"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <optional>

namespace rung {
namespace {

constexpr size_t kQuotedBytesMax = 40;

struct Version {
  int major = 0;
  int minor = 0;
};

std::optional<Version> ParseVersion(std::string_view text) {
  Version version;
  const char* end = text.data() + text.size();
  const auto major = std::from_chars(text.data(), end, version.major);
  if (major.ec != std::errc() || major.ptr == end || *major.ptr != '.') return std::nullopt;
  const auto minor = std::from_chars(major.ptr + 1, end, version.minor);
  if (minor.ec != std::errc() || minor.ptr == end || *minor.ptr != '.') return std::nullopt;
  return version;
}

}  // namespace

absl::Status CheckVersions(const VersionOf& peer, const VersionOf& own) {
  const std::optional<Version> theirs = ParseVersion(peer.version);
  const std::optional<Version> ours = ParseVersion(own.version);
  const bool fit =
      theirs && ours && theirs->major == ours->major && std::abs(theirs->minor - ours->minor) <= 1;
  if (fit) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} has version \"{}\", {} {}; one minor version of difference is allowed: "
                  "install the same version on both",
                  peer.who, peer.version.substr(0, kQuotedBytesMax), own.who, own.version));
}

}  // namespace rung
