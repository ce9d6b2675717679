#include "scheduler/searcher_json.h"

#include <array>
#include <vector>

#include "scheduler/space_json.h"

namespace rung {
namespace {

constexpr int32_t kTrialsMax = 1'000'000;
constexpr int32_t kPointsOfRangeMax = 1'000'000;

std::vector<Configuration> ReadConfigurations(const JsonNode& node, size_t least) {
  std::vector<Configuration> configurations;
  const size_t count = node.Array(least, least == 1 ? "configuration" : "configurations");
  for (size_t i = 0; i < count && node.problems().ok(); ++i) {
    configurations.push_back(ReadConfiguration(node.Element(i)));
  }
  return configurations;
}

/// Of random and sobol.
template <typename Spec>
Spec ReadTrials(const JsonNode& node) {
  const JsonObject object(node, {"trials", "initial_points"});
  Spec spec;
  if (const auto trials = object.Require("trials", "the number of trials")) {
    spec.trials = trials->Integer32(1, kTrialsMax);
  }
  return spec;
}

GridSearcherSpec ReadGrid(const JsonNode& node) {
  const JsonObject object(node, {"points", "order", "initial_points"});
  GridSearcherSpec spec;
  if (const auto points = object.Find("points")) {
    if (!points->json().is_object()) {
      points->Refuse("an object such as {\"lr\": 3}");
      return spec;
    }
    for (const auto& member : points->json().items()) {
      spec.points[member.key()] = points->Member(member.key()).Integer32(1, kPointsOfRangeMax);
    }
  }
  if (const auto order = object.Find("order")) {
    constexpr WordTable<bool, 2> kListed{{{false, "shuffled"}, {true, "listed"}}};
    spec.listed = order->Word(kListed);
  }
  return spec;
}

}  // namespace

SearcherSpec ReadSearcher(const JsonNode& node) {
  SearcherSpec spec;
  const JsonObject object(node, {"random", "sobol", "grid", "points", "initial_points"},
                          {"tpe", "external"});
  int kinds = 0;
  for (const char* kind : {"random", "sobol", "grid", "points"}) kinds += object.Find(kind) ? 1 : 0;
  if (kinds != 1) {
    if (node.json().is_object()) {
      node.Refuse("one of {\"random\": …}, {\"sobol\": …}, {\"grid\": …}, {\"points\": …}");
    }
    return spec;
  }
  std::optional<JsonNode> inner;
  if (const auto random = object.Find("random")) {
    spec.kind = ReadTrials<RandomSearcherSpec>(*random);
    inner = random;
  } else if (const auto sobol = object.Find("sobol")) {
    spec.kind = ReadTrials<SobolSearcherSpec>(*sobol);
    inner = sobol;
  } else if (const auto grid = object.Find("grid")) {
    spec.kind = ReadGrid(*grid);
    inner = grid;
  } else if (const auto points = object.Find("points")) {
    spec.kind = PointsSearcherSpec{ReadConfigurations(*points, 1)};
  }
  // Beside the kind's name or among its settings: both readings of INTERFACES.md are natural.
  std::optional<JsonNode> initial = object.Find("initial_points");
  if (inner && inner->json().is_object() && inner->json().contains("initial_points")) {
    const JsonNode within = inner->Member("initial_points");
    if (initial) within.Refuse("given once, here or in `searcher`");
    initial = within;
  }
  if (initial && node.problems().ok()) {
    spec.initial_points = ReadConfigurations(*initial, 0);
    spec.initial_points_path = initial->path();
  }
  return spec;
}

}  // namespace rung
