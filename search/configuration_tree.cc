#include "search/configuration_tree.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/check.h"
#include "core/counter_random.h"
#include "search/sampler.h"

namespace rung {
namespace {

using Texts = std::vector<std::optional<std::string>>;

absl::Status CheckSteps(const ParameterSpec& spec) {
  std::optional<StepRange> range;
  if (const auto* d = std::get_if<QUniform>(&spec.domain)) range = {d->low, d->high, d->q};
  if (const auto* d = std::get_if<QLogUniform>(&spec.domain)) range = {d->low, d->high, d->q};
  if (!range) return absl::OkStatus();
  const absl::Status status = DecimalSteps::Create(*range).status();
  if (status.ok()) return status;
  return absl::InvalidArgumentError(
      fmt::format("space.{}: {}", spec.name, std::string(status.message())));
}

bool IsGrid(const ParameterSpec& spec) { return std::holds_alternative<GridValues>(spec.domain); }

}  // namespace

absl::StatusOr<ConfigurationTree> ConfigurationTree::Create(
    const SpaceSpec& space, const std::map<std::string, ValueList>& lists) {
  ConfigurationTree tree;
  std::set<std::string> names;
  for (const ParameterSpec& spec : space.parameters) {
    if (!names.insert(spec.name).second) {
      return absl::InvalidArgumentError(fmt::format("space.{}: appears twice", spec.name));
    }
    RUNG_RETURN_IF_ERROR(CheckSteps(spec));
    const auto list = lists.find(spec.name);
    tree.parameters_.push_back(
        {.spec = spec,
         .values = list != lists.end() ? list->second : ValueList::Of(spec.domain),
         .parents = {}});
  }
  RUNG_RETURN_IF_ERROR(tree.Link());
  return tree;
}

absl::Status ConfigurationTree::Link() {
  std::map<std::string, size_t> index_of;
  for (size_t i = 0; i < parameters_.size(); ++i) index_of[parameters_[i].spec.name] = i;
  for (Node& node : parameters_) {
    for (const Condition& condition : node.spec.when) {
      const auto parent = index_of.find(condition.parameter);
      if (parent == index_of.end()) {
        return absl::InvalidArgumentError(
            fmt::format("space.{}.when.{}: is no parameter", node.spec.name, condition.parameter));
      }
      node.parents.push_back(parent->second);
    }
  }
  std::vector<bool> placed(parameters_.size());
  while (order_.size() < parameters_.size()) {
    size_t next = 0;
    const auto ready = [&](size_t i) {
      const std::vector<size_t>& parents = parameters_[i].parents;
      return !placed[i] && std::all_of(parents.begin(), parents.end(),
                                       [&](size_t parent) { return placed[parent]; });
    };
    while (next < parameters_.size() && !ready(next)) ++next;
    if (next == parameters_.size()) {
      const auto stuck =
          static_cast<size_t>(std::find(placed.begin(), placed.end(), false) - placed.begin());
      return absl::InvalidArgumentError(
          fmt::format("space.{}.when: the conditions depend on each other in a circle",
                      parameters_[stuck].spec.name));
    }
    placed[next] = true;
    order_.push_back(next);
  }
  return absl::OkStatus();
}

bool ConfigurationTree::Applies(size_t index, const Texts& texts) const {
  const Node& node = parameters_[index];
  for (size_t i = 0; i < node.parents.size(); ++i) {
    const std::optional<std::string>& value = texts[node.parents[i]];
    const std::vector<std::string>& wanted = node.spec.when[i].values;
    if (!value || std::find(wanted.begin(), wanted.end(), *value) == wanted.end()) return false;
  }
  return true;
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
  for (const Parameter& given : point.parameters) {
    const bool known = std::any_of(parameters_.begin(), parameters_.end(),
                                   [&](const Node& node) { return node.spec.name == given.name; });
    if (!known) {
      return absl::InvalidArgumentError(
          fmt::format("{}.{}: is no parameter of the space", path, given.name));
    }
  }
  Texts texts(parameters_.size());
  for (const size_t i : order_) {
    const ParameterSpec& spec = parameters_[i].spec;
    const std::string* given = point.Find(spec.name);
    if (!Applies(i, texts)) {
      if (given == nullptr) continue;
      return absl::InvalidArgumentError(fmt::format(
          "{}.{}: does not apply to the other values (space.{}.when)", path, spec.name, spec.name));
    }
    if (const auto* constant = std::get_if<Constant>(&spec.domain); given == nullptr) {
      if (constant == nullptr) {
        return absl::InvalidArgumentError(fmt::format("{}.{}: is missing", path, spec.name));
      }
      texts[i] = constant->value;
      continue;
    }
    const absl::StatusOr<std::string> text = ValueOfDomain(spec.domain, *given);
    if (!text.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("{}.{}: {}", path, spec.name, std::string(text.status().message())));
    }
    texts[i] = *text;
  }
  return Gather(texts);
}

bool ConfigurationTree::finite() const {
  return std::all_of(parameters_.begin(), parameters_.end(),
                     [](const Node& node) { return node.values.has_value(); });
}

Texts ConfigurationTree::TextsOf(const Leaf& leaf) const {
  Texts texts(parameters_.size());
  for (const size_t i : order_) {
    if (Applies(i, texts)) texts[i] = parameters_[i].values->At(leaf[i]);
  }
  return texts;
}

Configuration ConfigurationTree::At(const Leaf& leaf) const { return Gather(TextsOf(leaf)); }

std::optional<ConfigurationTree::Leaf> ConfigurationTree::LeafOf(
    const Configuration& configuration) const {
  Leaf leaf = First();
  size_t found = 0;
  for (size_t i = 0; i < parameters_.size(); ++i) {
    const std::string* text = configuration.Find(parameters_[i].spec.name);
    if (text == nullptr) continue;
    const std::optional<uint64_t> index = parameters_[i].values->IndexOf(*text);
    if (!index) return std::nullopt;
    leaf[i] = *index;
    ++found;
  }
  if (found != configuration.parameters.size() || At(leaf) != configuration) return std::nullopt;
  return leaf;
}

bool ConfigurationTree::Next(Leaf& leaf, bool grids_fixed) const {
  const Texts texts = TextsOf(leaf);
  for (size_t place = order_.size(); place-- > 0;) {
    const size_t i = order_[place];
    if (grids_fixed && IsGrid(parameters_[i].spec)) continue;
    if (texts[i] && leaf[i] + 1 < parameters_[i].values->count()) {
      ++leaf[i];
      return true;
    }
    leaf[i] = 0;
  }
  return false;
}

std::optional<int64_t> ConfigurationTree::CountLeaves(int64_t limit) const {
  if (!finite()) return limit;
  const bool conditional = std::any_of(parameters_.begin(), parameters_.end(),
                                       [](const Node& node) { return !node.parents.empty(); });
  if (!conditional) {
    const auto most = static_cast<uint64_t>(limit);
    uint64_t count = 1;
    for (const Node& node : parameters_) {
      if (count > most / node.values->count()) return limit;
      count *= node.values->count();
    }
    return static_cast<int64_t>(std::min(count, most));
  }
  constexpr int64_t kWalkMax = 1'000'000;
  Leaf leaf = First();
  for (int64_t count = 1; count <= kWalkMax; ++count) {
    if (count == limit || !Next(leaf)) return count;
  }
  return std::nullopt;
}

}  // namespace rung
