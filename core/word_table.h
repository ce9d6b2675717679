#pragma once

#include <array>
#include <optional>
#include <string_view>
#include <utility>

/// The words of an enum, written once and read both ways.
namespace rung {

template <typename Enum, size_t N>
using WordTable = std::array<std::pair<Enum, std::string_view>, N>;

template <typename Enum, size_t N>
constexpr std::string_view WordOf(const WordTable<Enum, N>& table, Enum value) {
  for (const auto& [key, word] : table) {
    if (key == value) return word;
  }
  return {};
}

template <typename Enum, size_t N>
constexpr std::optional<Enum> ValueOf(const WordTable<Enum, N>& table, std::string_view word) {
  for (const auto& [key, candidate] : table) {
    if (candidate == word) return key;
  }
  return std::nullopt;
}

}  // namespace rung
