#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

/// Where and why a text is no JSON, in words for people.
namespace rung {

/// "line 3, column 9: syntax error while …" for what nlohmann's parser says of `text`: `position`
/// is the number of bytes read, absent where its exception has none, `why` what the exception says.
std::string JsonSyntaxProblem(std::string_view text, std::optional<size_t> position,
                              std::string_view why);

}  // namespace rung
