#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

/// The search space as data. INTERFACES.md §2 has the forms and what each draws;
/// scheduler/space_json.cc reads them, configuration_tree.h checks what one says of another, and
/// the searchers take their values.
namespace rung {

struct Uniform {
  double low = 0, high = 0;  ///< low < high, finite
};
struct QUniform {
  double low = 0, high = 0, q = 0;  ///< low, low + q, … up to high; q > 0
};
struct LogUniform {
  double low = 0, high = 0;  ///< 0 < low < high
};
struct QLogUniform {
  double low = 0, high = 0, q = 0;
};
struct RandInt {
  int64_t low = 0, high = 0;  ///< [low, high), low < high
};
struct QRandInt {
  int64_t low = 0, high = 0, q = 0;  ///< low, low + q, … up to high, included when hit
};
struct LogRandInt {
  int64_t low = 0, high = 0;  ///< [low, high), 1 ≤ low < high
};
struct Normal {
  double mean = 0, sd = 0;  ///< sd > 0
};
struct LogNormal {
  double mean = 0, sd = 0;
};
struct Choice {
  std::vector<std::string> values;  ///< JSON texts, at least one
};
struct GridValues {
  std::vector<std::string> values;  ///< JSON texts, at least one
};
struct Constant {
  std::string value;  ///< JSON text
};

using Domain = std::variant<Uniform, QUniform, LogUniform, QLogUniform, RandInt, QRandInt,
                            LogRandInt, Normal, LogNormal, Choice, GridValues, Constant>;

/// Holds where the parameter `parameter` has one of `values` (JSON texts).
struct Condition {
  std::string parameter;
  std::vector<std::string> values;
};

struct ParameterSpec {
  std::string name;
  Domain domain;
  std::vector<Condition> when;  ///< all must hold; empty: unconditional
};

/// Parameters in the order of the document; names are unique.
struct SpaceSpec {
  std::vector<ParameterSpec> parameters;
};

}  // namespace rung
