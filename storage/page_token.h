#pragma once

#include <absl/status/statusor.h>

#include <string>
#include <string_view>
#include <vector>

/// The opaque text that says where the next page begins.
namespace rung {

/// `list` says which list with which filters; `key` is that of the last item given.
std::string EncodePageToken(std::string_view list, const std::vector<std::string>& key);

/// The key in a token of `list`, of exactly `size` parts.
/// Errors: INVALID_ARGUMENT if the token is damaged or was given by another list or other filters.
absl::StatusOr<std::vector<std::string>> DecodePageToken(std::string_view list,
                                                         std::string_view token, size_t size);

}  // namespace rung
