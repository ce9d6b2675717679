#pragma once

#include <absl/status/status.h>

#include <string_view>

/// Which versions of rung's programs work together.
namespace rung {

/// Metadata with which both ends of a call say their version.
inline constexpr char kVersionMetadata[] = "rung-version";

struct VersionOf {
  std::string_view who;      ///< "the worker"
  std::string_view version;  ///< "0.1.0"
};

/// Errors: FAILED_PRECONDITION that names both, unless both are MAJOR.MINOR.PATCH of one major
/// version and at most one minor version apart.
absl::Status CheckVersions(const VersionOf& peer, const VersionOf& own);

}  // namespace rung
