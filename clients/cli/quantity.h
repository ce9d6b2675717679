#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

/// Quantities as text for people. `--json` never uses these: it keeps full precision.
namespace rung::cli {

/// Four significant digits without trailing zeros: 0.7533, 1234, 1.2e-05. "nan", "inf", "-inf".
std::string MetricText(double value);

/// Two values of a sentence that compares them: as above, but all digits of both where four show
/// two different values as one.
std::pair<std::string, std::string> ComparedMetricTexts(double first, double second);

/// A span of time by its two largest units: "0.4 s", "12 s", "4 min 10 s", "1 h 12 min", "2 d 3 h".
/// Negative spans (clocks that differ between machines) read as zero.
std::string DurationText(double seconds);

/// `us` (UTC, microseconds since 1970) as local time, "2025-03-01 14:05:09".
std::string TimeText(int64_t us);

/// A whole number with thousands separators: "12,345".
std::string CountText(int64_t count);

/// "1 trial", "12,345 trials".
std::string CountText(int64_t count, std::string_view noun);

/// "$1,234.50", "-$3.00"; below a dollar four significant digits, "$0.01234",
/// but never less than the cents, "$0.60".
std::string MoneyText(double amount);

/// One decimal: "-12.3 %".
std::string PercentText(double fraction);

/// "8.0 GiB", "512 MiB", "17 B".
std::string BytesText(int64_t bytes);

/// `params_json`, a JSON object, as "lr=3.2e-05 batch_size=32". Numbers keep four significant
/// digits. Text that is no JSON object is returned as it is.
std::string ParamsText(std::string_view params_json);

/// `text` with every control character replaced by '?': what others wrote must not drive the
/// terminal of the reader.
std::string Printable(std::string_view text);

}  // namespace rung::cli
