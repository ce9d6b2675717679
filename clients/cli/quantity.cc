#include "clients/cli/quantity.h"

#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

namespace rung::cli {
namespace {

// "1 h 0 min" says no more than "1 h".
std::string TwoUnits(int64_t large, std::string_view large_unit, int64_t small,
                     std::string_view small_unit) {
  if (small == 0) return fmt::format("{} {}", large, large_unit);
  return fmt::format("{} {} {} {}", large, large_unit, small, small_unit);
}

}  // namespace

std::string MetricText(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value > 0 ? "inf" : "-inf";
  // Whole numbers up to ten million, a count of examples for instance, read better in full.
  if (std::abs(value) >= 1000 && std::abs(value) < 1e7) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::pair<std::string, std::string> ComparedMetricTexts(double first, double second) {
  std::pair<std::string, std::string> texts{MetricText(first), MetricText(second)};
  const bool differ = first < second || first > second;  // two nan do not
  if (!differ || texts.first != texts.second) return texts;
  return {fmt::format("{}", first), fmt::format("{}", second)};  // read back, they are the values
}

std::string DurationText(double seconds) {
  if (!(seconds > 0)) return "0 s";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  if (seconds > 1e12) return "forever";
  const auto whole = static_cast<int64_t>(std::llround(seconds));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return TwoUnits(whole / 60, "min", whole % 60, "s");
  const int64_t minutes = std::llround(seconds / 60);
  if (minutes < 24 * 60) return TwoUnits(minutes / 60, "h", minutes % 60, "min");
  const int64_t hours = std::llround(seconds / 3600);
  return TwoUnits(hours / 24, "d", hours % 24, "h");
}

std::string TimeText(int64_t us) {
  const std::time_t seconds = us / 1'000'000;
  std::tm local{};
  localtime_r(&seconds, &local);
  char text[32];
  const size_t size = std::strftime(text, sizeof(text), "%Y-%m-%d %H:%M:%S", &local);
  return std::string(text, size);
}

std::string CountText(int64_t count) {
  const std::string digits = fmt::format("{}", count);
  const size_t first = digits[0] == '-' ? 1 : 0;
  std::string text;
  for (size_t i = 0; i < digits.size(); ++i) {
    const size_t left = digits.size() - i;
    if (i > first && left % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

std::string CountText(int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", CountText(count), noun, count == 1 ? "" : "s");
}

std::string MoneyText(double amount) {
  const std::string_view sign = amount < 0 ? "-" : "";
  const double size = std::abs(amount);
  if (size == 0) return "$0";
  if (size < 0.995) {
    std::string text = fmt::format("{:.4g}", size);
    if (text.size() == 3) text += '0';  // "0.6" of a dollar is 60 cents
    return fmt::format("{}${}", sign, text);
  }
  if (size > 1e15) return fmt::format("{}${:.4g}", sign, size);
  const int64_t cents = std::llround(size * 100);
  return fmt::format("{}${}.{:02}", sign, CountText(cents / 100), cents % 100);
}

std::string PercentText(double fraction) { return fmt::format("{:.1f} %", fraction * 100); }

std::string BytesText(int64_t bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  double size = static_cast<double>(bytes);
  size_t unit = 0;
  while (std::abs(size) >= 1024 && unit + 1 < std::size(kUnits)) {
    size /= 1024;
    ++unit;
  }
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{:.{}f} {}", size, size < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string ParamsText(std::string_view params_json) {
  const auto params = nlohmann::ordered_json::parse(params_json, nullptr, false);
  if (!params.is_object()) return Printable(params_json);
  std::string text;
  for (const auto& [name, value] : params.items()) {
    if (!text.empty()) text += ' ';
    text += name;
    text += '=';
    if (value.is_number_float()) {
      text += MetricText(value.get<double>());
    } else if (value.is_string()) {
      text += value.get<std::string>();
    } else {
      text += value.dump();
    }
  }
  return Printable(text);
}

std::string Printable(std::string_view text) {
  std::string printable;
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {  // C1 controls, U+0080 to U+009F, in UTF-8
      printable += '?';
      ++i;
    } else {
      printable += byte < 0x20 || byte == 0x7f ? '?' : text[i];
    }
  }
  return printable;
}

}  // namespace rung::cli
