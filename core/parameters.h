#pragma once

#include <compare>
#include <string>
#include <string_view>
#include <vector>

/// One point of a search space.
namespace rung {

/// A named value. `json` is its JSON text and its identity: floats as the shortest text that reads
/// back to the same double, integers without a point, so that 16 stays an integer and true a
/// boolean.
struct Parameter {
  std::string name;
  std::string json;
  auto operator<=>(const Parameter&) const = default;
};

/// Parameters in the order of the space. A conditional parameter that does not apply is absent.
struct Configuration {
  std::vector<Parameter> parameters;

  /// The value's JSON text, or nullptr when the parameter is absent.
  const std::string* Find(std::string_view name) const;
  /// `{"lr":0.001,"batch_size":32}`
  std::string ToJson() const;

  auto operator<=>(const Configuration&) const = default;
};

/// `text` as a JSON string literal with its quotes. Control characters are escaped, UTF-8 is kept.
std::string JsonQuote(std::string_view text);

/// Shortest JSON number that reads back to `value`; always with a point or an exponent, so that it
/// stays a float. `value` must be finite.
std::string JsonFloat(double value);

}  // namespace rung
