#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/ids.h"
#include "core/parameters.h"
#include "search/space.h"
#include "search/value_list.h"

/// A search space made ready: which parameters apply to which values of the others, drawn
/// configurations, and, where every parameter has a list of values, all configurations in order.
///
/// The order is that of an odometer: parameters as in the document (one that others depend on
/// before them), the last one turning fastest. A parameter that does not apply takes no part, so
/// each leaf is a configuration of its own.
namespace rung {

class ConfigurationTree {
 public:
  /// For each parameter the index of its value; 0 where the parameter does not apply.
  using Leaf = std::vector<uint64_t>;

  /// Values come from `lists` where a parameter has one there, else from its own form.
  /// Errors: INVALID_ARGUMENT with a path below `space`: a repeated name, a condition on no
  /// parameter or on a value that it cannot have, conditions in a circle, steps that cannot be
  /// counted.
  static absl::StatusOr<ConfigurationTree> Create(const SpaceSpec& space,
                                                  const std::map<std::string, ValueList>& lists);

  /// Errors: INVALID_ARGUMENT with the path of `name` below `path` when the space has no such
  /// parameter; names the nearest one.
  absl::Status RequireParameter(std::string_view path, const std::string& name) const;

  /// The configuration of a trial that draws anew for the `redraw`-th time: each parameter from its
  /// own stream, a grid's from the trial's number.
  Configuration Draw(int64_t seed, TrialNumber trial, int32_t redraw) const;
  /// The same with values from elsewhere: `text_of` gives the JSON text of each parameter that
  /// applies and is neither a grid nor a constant.
  Configuration Draw(TrialNumber trial,
                     const std::function<std::string(const ParameterSpec&)>& text_of) const;
  /// How many combinations the grids have: trial i takes combination i mod this. 2^31, more than
  /// there are trials, where there are more.
  int64_t GridCombinations() const;

  /// The values given by `point`, checked, in the order of the space, constants filled in. Errors:
  /// INVALID_ARGUMENT with a path below `path`: an unknown or missing parameter, one that does not
  /// apply, a value that leaves its range.
  absl::StatusOr<Configuration> Complete(const Configuration& point, const std::string& path) const;

  /// Whether every parameter has a list of values; the calls below need it.
  bool finite() const;

  Configuration At(const Leaf& leaf) const;
  /// The leaf of `configuration`; nullopt when it is none.
  std::optional<Leaf> LeafOf(const Configuration& configuration) const;
  Leaf First() const { return Leaf(parameters_.size()); }
  /// Moves to the next leaf; from the last one to the first, and returns false. With `grids_fixed`
  /// the values of `grid` forms stay.
  bool Next(Leaf& leaf, bool grids_fixed = false) const;

  /// How many leaves may be walked or kept at once, at least 1: 10,000,000 parameters and
  /// conditions in all leaves together take about 100 ms and 100 MB.
  int64_t LeavesMax() const;
  /// The number of configurations where it is at most `limit` ≥ 1, else `limit`. Nullopt when
  /// conditions make counting too long (beyond LeavesMax()).
  std::optional<int64_t> CountLeaves(int64_t limit) const;

 private:
  using Texts = std::vector<std::optional<std::string>>;

  /// A parameter on which another one depends.
  struct Parent {
    size_t index = 0;
    std::vector<uint64_t> wanted;  ///< where the condition's values stand in its list; ascending
  };
  struct Node {
    ParameterSpec spec;               ///< the values of `when` as the other's form gives them
    std::optional<ValueList> all;     ///< what the form can give; nullopt: continuous
    std::optional<ValueList> values;  ///< `all`, or the list for this tree
    std::vector<Parent> parents;      ///< of spec.when, in its order
  };

  ConfigurationTree() = default;

  absl::Status Link();
  absl::Status Order();
  absl::StatusOr<Parent> ParentOf(Condition& condition, std::string_view path) const;
  /// `texts` holds a text for each parameter that applies, those before `index` in order_.
  bool Applies(size_t index, const Texts& texts) const;
  /// Which parameters apply in `leaf`.
  std::vector<bool> AppliedIn(const Leaf& leaf) const;
  Configuration Gather(const Texts& texts) const;

  std::vector<Node> parameters_;  ///< in the order of the document
  std::unordered_map<std::string, size_t> index_of_;
  std::vector<size_t> order_;  ///< parents before children
};

}  // namespace rung
