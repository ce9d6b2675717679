#pragma once

#include <optional>
#include <span>
#include <string>
#include <unordered_set>

#include "core/parameters.h"
#include "search/configuration_tree.h"

/// The configurations that the trials of a finite space have had, so that none comes twice.
namespace rung {

class UsedConfigurations {
 public:
  /// Forgets what was there.
  void Assign(std::span<const Configuration> created);

  /// Whether it was new.
  bool Insert(const Configuration& configuration);

  /// Inserts and returns the next configuration after `drawn` that is not used, in the order of the
  /// tree, around its end: first among those with the values that `drawn` has for `grid` forms,
  /// then among all. nullopt: the space is used up. `tree` is finite.
  std::optional<Configuration> InsertNextAfter(const Configuration& drawn,
                                               const ConfigurationTree& tree);

 private:
  std::unordered_set<std::string> used_;  ///< JSON texts
};

}  // namespace rung
