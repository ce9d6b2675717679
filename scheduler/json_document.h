#pragma once

#include <absl/status/statusor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

/// JSON text → values, with everything refused that JSON leaves open.
///
/// The order of keys is kept, since it is the order of the search space.
namespace rung {

using Json = nlohmann::ordered_json;

inline constexpr size_t kDocumentBytesMax = 1 << 20;
inline constexpr size_t kDocumentDepthMax = 32;

/// Errors: INVALID_ARGUMENT with line and column for what is not JSON, with the path for a key
/// given twice in one object; also for more than `bytes_max` bytes or kDocumentDepthMax levels of
/// nesting.
absl::StatusOr<Json> ParseJsonDocument(std::string_view text, size_t bytes_max = kDocumentBytesMax);

/// The text that names `value` (core/parameters.h): no spaces, floats by JsonFloat. `value` is
/// finite, as everything that ParseJsonDocument returns.
std::string CanonicalJson(const Json& value);

}  // namespace rung
