#pragma once

#include <absl/status/status.h>

#include <cstddef>
#include <string_view>

/// What a metric may be called, wherever it is reported.
namespace rung {

constexpr size_t kMetricNameBytesMax = 256;
constexpr size_t kMetricsPerReportMax = 1'000;

/// 1 to kMetricNameBytesMax bytes without control characters (U+0000 to U+001F, U+007F to U+009F),
/// which would cut a name off or garble a terminal. Both wires carry UTF-8 only, so that is not
/// looked at. Errors: INVALID_ARGUMENT: what was found, where, and what is allowed.
absl::Status CheckMetricName(std::string_view name);

}  // namespace rung
