#include "bench/ray_quality.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace rung {
namespace {

using Json = nlohmann::json;

QualitySetting SettingOf(const Json& json) {
  return {.benchmark = json.at("benchmark").get<std::string>(),
          .max_t = json.at("max_t").get<Steps>(),
          .grace_period = json.at("grace_period").get<Steps>(),
          .trials = json.at("trials").get<int32_t>(),
          .workers = json.at("workers").get<int32_t>()};
}

SeedQuality SeedOf(const Json& row) {
  return {.steps = row.at(0).get<int64_t>(),
          .makespan_ms = row.at(1).get<int64_t>(),
          .completed = row.at(2).get<int32_t>(),
          .selected_micro = row.at(3).get<int64_t>(),
          .regret_micro = row.at(4).get<int64_t>()};
}

std::string RowOf(const SeedQuality& seed) {
  return fmt::format("{} steps, {} ms, {} completed, selected {}, regret {} millionths", seed.steps,
                     seed.makespan_ms, seed.completed, seed.selected_micro, seed.regret_micro);
}

}  // namespace

std::string TitleOf(const QualitySetting& setting) {
  return fmt::format("{} {}/{}, N {}, W {}", setting.benchmark, setting.max_t, setting.grace_period,
                     setting.trials, setting.workers);
}

absl::StatusOr<RayQuality> RayQuality::Read(const std::string& folder) {
  const std::string path = folder + "/ray_quality.json";
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(fmt::format("cannot read {}", path));
  RayQuality ray;
  try {
    const Json document = Json::parse(file);
    for (const Json& json : document.at("settings")) {
      Recorded& recorded = ray.settings_[TitleOf(SettingOf(json))];
      if (json.contains("published")) recorded.published = json["published"].get<std::string>();
      for (const Json& row : json.at("seeds")) recorded.seeds.push_back(SeedOf(row));
    }
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", path, error.what()));
  }
  return ray;
}

std::vector<std::string> RayQuality::Differences(const QualitySetting& setting,
                                                 const std::vector<SeedQuality>& ours) const {
  const std::string title = TitleOf(setting);
  const auto found = settings_.find(title);
  if (found == settings_.end()) return {title + ": not recorded from Ray"};
  const Recorded& recorded = found->second;

  std::vector<std::string> differences;
  if (recorded.seeds.size() != ours.size()) {
    differences.push_back(fmt::format("{}: {} seeds recorded from Ray, {} run", title,
                                      recorded.seeds.size(), ours.size()));
    return differences;
  }
  for (size_t seed = 0; seed < ours.size(); ++seed) {
    const std::string of_ray = RowOf(recorded.seeds[seed]);
    const std::string of_rung = RowOf(ours[seed]);
    if (of_ray != of_rung) {
      differences.push_back(
          fmt::format("{}, seed {}: Ray {}; rung {}", title, seed, of_ray, of_rung));
    }
  }
  const std::string cell = Cell(setting, Summarize(ours));
  if (recorded.published && *recorded.published != cell) {
    differences.push_back(
        fmt::format("{}: Ray's published cell {}; rung {}", title, *recorded.published, cell));
  }
  return differences;
}

}  // namespace rung
