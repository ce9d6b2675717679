#pragma once

#include <absl/status/statusor.h>

#include <chrono>
#include <cstdint>
#include <string_view>

/// Durations and sizes as people write them: one number and its unit.
namespace rung {

/// "500ms", "30s", "1.5h"; units ms, s, m, h, d. From 0 up to 10,000 days, rounded to milliseconds.
/// Errors: INVALID_ARGUMENT that names the text found and the form allowed.
absl::StatusOr<std::chrono::milliseconds> ParseDuration(std::string_view text);

/// "8GiB", "500MB"; units B, KiB, MiB, GiB, TiB (powers of 1024) and kB, MB, GB, TB (of 1000), in
/// bytes, from 0 up to 1,000,000 TiB. Errors: INVALID_ARGUMENT that names the text and the form.
absl::StatusOr<int64_t> ParseSize(std::string_view text);

}  // namespace rung
