#include "search/used_configurations.h"

#include "core/check.h"

namespace rung {

void UsedConfigurations::Assign(std::span<const Configuration> created) {
  used_.clear();
  for (const Configuration& configuration : created) Insert(configuration);
}

bool UsedConfigurations::Insert(const Configuration& configuration) {
  return used_.insert(configuration.ToJson()).second;
}

std::optional<Configuration> UsedConfigurations::InsertNextAfter(const Configuration& drawn,
                                                                 const ConfigurationTree& tree) {
  const std::optional<ConfigurationTree::Leaf> start = tree.LeafOf(drawn);
  RUNG_CHECK(start.has_value());
  for (const bool grids_fixed : {true, false}) {
    ConfigurationTree::Leaf leaf = *start;
    // Every leaf met is one of the trials created, so the walk is no longer than their number.
    do {
      tree.Next(leaf, grids_fixed);
      Configuration configuration = tree.At(leaf);
      if (Insert(configuration)) return configuration;
    } while (leaf != *start);
  }
  return std::nullopt;
}

}  // namespace rung
