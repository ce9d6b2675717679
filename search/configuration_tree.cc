#include "search/configuration_tree.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "core/check.h"
#include "core/counter_random.h"
#include "core/json_message.h"
#include "search/sampler.h"

namespace rung {
namespace {

absl::Status ErrorAt(std::string_view path, std::string_view what) {
  return absl::InvalidArgumentError(fmt::format("{}: {}", path, what));
}

absl::Status CheckSteps(const ParameterSpec& spec) {
  std::optional<StepRange> range;
  if (const auto* d = std::get_if<QUniform>(&spec.domain)) range = {d->low, d->high, d->q};
  if (const auto* d = std::get_if<QLogUniform>(&spec.domain)) range = {d->low, d->high, d->q};
  if (!range) return absl::OkStatus();
  const absl::Status status = DecimalSteps::Create(*range).status();
  if (status.ok()) return status;
  return ErrorAt(PathOfKey("space", spec.name), std::string(status.message()));
}

bool IsGrid(const ParameterSpec& spec) { return std::holds_alternative<GridValues>(spec.domain); }

}  // namespace

absl::StatusOr<ConfigurationTree> ConfigurationTree::Create(
    const SpaceSpec& space, const std::map<std::string, ValueList>& lists) {
  ConfigurationTree tree;
  for (const ParameterSpec& spec : space.parameters) {
    if (!tree.index_of_.emplace(spec.name, tree.parameters_.size()).second) {
      return ErrorAt(PathOfKey("space", spec.name), "appears twice");
    }
    RUNG_RETURN_IF_ERROR(CheckSteps(spec));
    std::optional<ValueList> all = ValueList::Of(spec.domain);
    const auto list = lists.find(spec.name);
    tree.parameters_.push_back({.spec = spec,
                                .all = all,
                                .values = list != lists.end() ? list->second : all,
                                .parents = {}});
  }
  RUNG_RETURN_IF_ERROR(tree.Link());
  RUNG_RETURN_IF_ERROR(tree.Order());
  return tree;
}

absl::Status ConfigurationTree::RequireParameter(std::string_view path,
                                                 const std::string& name) const {
  if (index_of_.contains(name)) return absl::OkStatus();
  constexpr size_t kShown = 50;
  std::vector<std::string> names;
  for (const Node& node : parameters_) names.push_back(node.spec.name);
  const std::string near = DidYouMean(name, names);
  names.resize(std::min(names.size(), kShown));
  return ErrorAt(
      PathOfKey(path, name),
      fmt::format("no parameter of the space{} Parameters: {}{}", near.empty() ? "." : near,
                  names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")),
                  names.size() < parameters_.size() ? ", …" : ""));
}

absl::Status ConfigurationTree::Link() {
  for (Node& node : parameters_) {
    const std::string path = PathOfKey(PathOfKey("space", node.spec.name), "when");
    for (Condition& condition : node.spec.when) {
      absl::StatusOr<Parent> parent = ParentOf(condition, path);
      if (!parent.ok()) return parent.status();
      node.parents.push_back(*std::move(parent));
    }
  }
  return absl::OkStatus();
}

/// Gives the values of `condition` the texts with which they are drawn.
absl::StatusOr<ConfigurationTree::Parent> ConfigurationTree::ParentOf(Condition& condition,
                                                                      std::string_view path) const {
  RUNG_RETURN_IF_ERROR(RequireParameter(path, condition.parameter));
  Parent parent{.index = index_of_.at(condition.parameter), .wanted = {}};
  const Node& node = parameters_[parent.index];
  for (size_t i = 0; i < condition.values.size(); ++i) {
    absl::StatusOr<std::string> text =
        ValueOfDomain(node.spec.domain, node.all, condition.values[i]);
    if (!text.ok()) {
      return ErrorAt(fmt::format("{}[{}]", PathOfKey(path, condition.parameter), i),
                     std::string(text.status().message()));
    }
    condition.values[i] = *std::move(text);
    const auto index = node.values ? node.values->IndexOf(condition.values[i]) : std::nullopt;
    if (index) parent.wanted.push_back(*index);
  }
  std::sort(parent.wanted.begin(), parent.wanted.end());
  return parent;
}

absl::Status ConfigurationTree::Order() {
  std::vector<bool> placed(parameters_.size());
  const auto waits_for = [&](size_t i) {
    const std::vector<Parent>& parents = parameters_[i].parents;
    return std::find_if(parents.begin(), parents.end(),
                        [&](const Parent& parent) { return !placed[parent.index]; });
  };
  while (order_.size() < parameters_.size()) {
    size_t next = 0;
    const auto ready = [&](size_t i) {
      return !placed[i] && waits_for(i) == parameters_[i].parents.end();
    };
    while (next < parameters_.size() && !ready(next)) ++next;
    if (next == parameters_.size()) {
      // From one that waits to the one for which it waits, until the circle closes.
      auto at =
          static_cast<size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
      for (std::vector<bool> met(parameters_.size()); !met[at]; at = waits_for(at)->index) {
        met[at] = true;
      }
      return ErrorAt(PathOfKey(PathOfKey("space", parameters_[at].spec.name), "when"),
                     "must not lead back to a parameter that waits for this one, found a cycle");
    }
    placed[next] = true;
    order_.push_back(next);
  }
  return absl::OkStatus();
}

bool ConfigurationTree::Applies(size_t index, const Texts& texts) const {
  const Node& node = parameters_[index];
  for (size_t i = 0; i < node.parents.size(); ++i) {
    const std::optional<std::string>& value = texts[node.parents[i].index];
    const std::vector<std::string>& wanted = node.spec.when[i].values;
    if (!value || std::find(wanted.begin(), wanted.end(), *value) == wanted.end()) return false;
  }
  return true;
}

std::vector<bool> ConfigurationTree::AppliedIn(const Leaf& leaf) const {
  std::vector<bool> applied(parameters_.size());
  for (const size_t i : order_) {
    const std::vector<Parent>& parents = parameters_[i].parents;
    applied[i] = std::all_of(parents.begin(), parents.end(), [&](const Parent& parent) {
      return applied[parent.index] &&
             std::binary_search(parent.wanted.begin(), parent.wanted.end(), leaf[parent.index]);
    });
  }
  return applied;
}

Configuration ConfigurationTree::Gather(const Texts& texts) const {
  Configuration configuration;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (texts[i]) configuration.parameters.push_back({parameters_[i].spec.name, *texts[i]});
  }
  return configuration;
}

Configuration ConfigurationTree::Draw(int64_t seed, TrialNumber trial, int32_t redraw) const {
  return Draw(trial, [&](const ParameterSpec& spec) {
    CounterRandom random({.seed = seed, .trial = trial, .redraw = redraw, .name = spec.name});
    return SampleValue(spec.domain, random);
  });
}

Configuration ConfigurationTree::Draw(
    TrialNumber trial, const std::function<std::string(const ParameterSpec&)>& text_of) const {
  // Combination i mod C of the grids' product, the last grid turning fastest.
  std::vector<uint64_t> grid_index(parameters_.size());
  auto rest = static_cast<uint64_t>(trial.value);
  for (size_t i = parameters_.size(); i-- > 0;) {
    if (!IsGrid(parameters_[i].spec)) continue;
    grid_index[i] = rest % parameters_[i].values->count();
    rest /= parameters_[i].values->count();
  }
  Texts texts(parameters_.size());
  for (const size_t i : order_) {
    if (!Applies(i, texts)) continue;
    const ParameterSpec& spec = parameters_[i].spec;
    if (IsGrid(spec)) {
      texts[i] = parameters_[i].values->At(grid_index[i]);
    } else if (const auto* constant = std::get_if<Constant>(&spec.domain)) {
      texts[i] = constant->value;
    } else {
      texts[i] = text_of(spec);
    }
  }
  return Gather(texts);
}

int64_t ConfigurationTree::GridCombinations() const {
  constexpr uint64_t kMax = uint64_t{1} << 31U;
  uint64_t combinations = 1;
  for (const Node& node : parameters_) {
    if (!IsGrid(node.spec)) continue;
    if (node.values->count() > kMax / combinations) return static_cast<int64_t>(kMax);
    combinations *= node.values->count();
  }
  return static_cast<int64_t>(combinations);
}

absl::StatusOr<Configuration> ConfigurationTree::Complete(const Configuration& point,
                                                          const std::string& path) const {
  Texts given(parameters_.size());
  for (const Parameter& parameter : point.parameters) {
    RUNG_RETURN_IF_ERROR(RequireParameter(path, parameter.name));
    const size_t i = index_of_.at(parameter.name);
    absl::StatusOr<std::string> text =
        ValueOfDomain(parameters_[i].spec.domain, parameters_[i].all, parameter.json);
    if (!text.ok()) {
      return ErrorAt(PathOfKey(path, parameter.name), std::string(text.status().message()));
    }
    given[i] = *std::move(text);
  }
  Texts texts(parameters_.size());
  for (const size_t i : order_) {
    const ParameterSpec& spec = parameters_[i].spec;
    if (!Applies(i, texts)) {
      if (!given[i]) continue;
      return ErrorAt(PathOfKey(path, spec.name),
                     "must be left out, since its `when` does not hold");
    }
    const auto* constant = std::get_if<Constant>(&spec.domain);
    if (!given[i] && constant != nullptr) given[i] = constant->value;
    if (!given[i]) {
      return ErrorAt(PathOfKey(path, spec.name),
                     "missing, every parameter that applies must be given");
    }
    texts[i] = std::move(given[i]);
  }
  return Gather(texts);
}

bool ConfigurationTree::finite() const {
  return std::all_of(parameters_.begin(), parameters_.end(),
                     [](const Node& node) { return node.values.has_value(); });
}

Configuration ConfigurationTree::At(const Leaf& leaf) const {
  const std::vector<bool> applied = AppliedIn(leaf);
  Texts texts(parameters_.size());
  for (size_t i = 0; i < parameters_.size(); ++i) {
    if (applied[i]) texts[i] = parameters_[i].values->At(leaf[i]);
  }
  return Gather(texts);
}

std::optional<ConfigurationTree::Leaf> ConfigurationTree::LeafOf(
    const Configuration& configuration) const {
  Leaf leaf = First();
  for (const Parameter& parameter : configuration.parameters) {
    const auto found = index_of_.find(parameter.name);
    if (found == index_of_.end()) return std::nullopt;
    const std::optional<uint64_t> index =
        parameters_[found->second].values->IndexOf(parameter.json);
    if (!index) return std::nullopt;
    leaf[found->second] = *index;
  }
  if (At(leaf) != configuration) return std::nullopt;
  return leaf;
}

bool ConfigurationTree::Next(Leaf& leaf, bool grids_fixed) const {
  const std::vector<bool> applied = AppliedIn(leaf);
  for (size_t place = order_.size(); place-- > 0;) {
    const size_t i = order_[place];
    if (grids_fixed && IsGrid(parameters_[i].spec)) continue;
    if (applied[i] && leaf[i] + 1 < parameters_[i].values->count()) {
      ++leaf[i];
      return true;
    }
    leaf[i] = 0;
  }
  return false;
}

int64_t ConfigurationTree::LeavesMax() const {
  constexpr size_t kVisitsMax = 10'000'000;
  size_t visits = 1;
  for (const Node& node : parameters_) visits += 1 + node.parents.size();
  return static_cast<int64_t>(std::max<size_t>(kVisitsMax / visits, 1));
}

std::optional<int64_t> ConfigurationTree::CountLeaves(int64_t limit) const {
  if (!finite()) return limit;
  // Each combination of the parameters without a condition begins a leaf at least.
  const auto most = static_cast<uint64_t>(limit);
  uint64_t count = 1;
  bool conditional = false;
  for (const Node& node : parameters_) {
    if (!node.parents.empty()) {
      conditional = true;
      continue;
    }
    if (count > most / node.values->count()) return limit;
    count *= node.values->count();
  }
  if (!conditional || count == most) return static_cast<int64_t>(count);
  const int64_t walk_max = LeavesMax();
  Leaf leaf = First();
  for (int64_t walked = 1; walked <= walk_max; ++walked) {
    if (walked == limit || !Next(leaf)) return walked;
  }
  return std::nullopt;
}

}  // namespace rung
