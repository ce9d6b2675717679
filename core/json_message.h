#pragma once

#include <span>
#include <string>
#include <string_view>

/// What messages about a JSON document are made of: where, what was found, what was meant.
namespace rung {

/// `path.key`, or `path["key"]` where the key holds a dot, a space or the like. Keys over 128 bytes
/// are cut.
std::string PathOfKey(std::string_view path, std::string_view key);

/// The JSON text of a value as a message shows it: cut after 60 bytes.
std::string ShownJson(std::string_view json);

/// `, did you mean "command"?`, or nothing when no word of `words` is near `found`.
std::string DidYouMean(std::string_view found, std::span<const std::string> words);

}  // namespace rung
