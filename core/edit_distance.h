#pragma once

#include <cstddef>
#include <string_view>

/// How far a misspelt word is from one that was meant.
namespace rung {

/// The least number of bytes to insert, delete or replace, or of neighbours to swap, that makes `b`
/// of `a`; no part is edited twice. Takes time and memory of a.size() · b.size(), so callers bound
/// what others wrote. Source: optimal string alignment; Damerau, CACM 1964.
size_t EditDistance(std::string_view a, std::string_view b);

}  // namespace rung
