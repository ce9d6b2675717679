#pragma once

#include <cstddef>
#include <optional>
#include <string_view>

namespace rung::cli {

/// Where the first byte stands that is not part of well-formed UTF-8 (no surrogates, nothing
/// overlong, nothing above U+10FFFF); nothing if there is none. The service takes UTF-8 only, and
/// protobuf refuses to send anything else without saying to the caller what is wrong.
std::optional<size_t> FirstNonUtf8(std::string_view text);

}  // namespace rung::cli
