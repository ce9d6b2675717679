#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// The wire's text is UTF-8: protobuf refuses to send anything else, without saying to the caller
/// what is wrong.
namespace rung {

/// Where the first byte stands that is not part of well-formed UTF-8 (no surrogates, nothing
/// overlong, nothing above U+10FFFF); nothing if there is none.
std::optional<size_t> FirstNonUtf8(std::string_view text);

/// `text` with each byte that is not part of well-formed UTF-8 replaced by U+FFFD.
std::string ValidUtf8(std::string_view text);

/// Paths of the service travel as text. Errors: FAILED_PRECONDITION that names `path`, where it is
/// no UTF-8, and what to do.
absl::Status CheckPathIsUtf8(std::string_view path);

}  // namespace rung
