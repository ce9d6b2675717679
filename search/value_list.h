#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "search/decimal_steps.h"
#include "search/space.h"

/// The distinct values of one parameter in order, each once, without holding them all in memory.
namespace rung {

class ValueList {
 public:
  /// The values that `domain` can give; nullopt for a continuous one. `domain` must be valid.
  static std::optional<ValueList> Of(const Domain& domain);
  /// These JSON texts, repeats dropped.
  static ValueList FromTexts(const std::vector<std::string>& texts);

  /// At least 1.
  uint64_t count() const;
  /// The JSON text of value `index`, index < count().
  std::string At(uint64_t index) const;
  /// Where the value with this JSON text stands; 1 and 1.0 are one value of a float range. Takes no
  /// longer in a long list.
  std::optional<uint64_t> IndexOf(std::string_view json) const;

 private:
  struct Texts {
    std::vector<std::string> values;
    std::unordered_map<std::string_view, uint64_t> index;  ///< of each of `values`, viewed there
  };
  struct Integers {
    int64_t low;
    uint64_t step;
    uint64_t count;
  };
  // Shared, since a list is copied with every tree that holds it and never changes.
  using Values = std::variant<std::shared_ptr<const Texts>, Integers, DecimalSteps>;

  explicit ValueList(Values values) : values_(std::move(values)) {}

  Values values_;
};

/// The number or the integer that a JSON text is; nullopt for any other text.
std::optional<double> ParseJsonNumber(std::string_view json);
std::optional<int64_t> ParseJsonInteger(std::string_view json);

/// `json` as the text that `domain` itself would give for it (1 becomes 1.0 in a float range).
/// `list` is ValueList::Of(domain). Errors: INVALID_ARGUMENT, without a path, when it is no value
/// of the domain.
absl::StatusOr<std::string> ValueOfDomain(const Domain& domain,
                                          const std::optional<ValueList>& list,
                                          const std::string& json);

}  // namespace rung
