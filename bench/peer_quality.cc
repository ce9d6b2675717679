#include "bench/peer_quality.h"

#include <fmt/format.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "core/check.h"

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

absl::StatusOr<PeerQuality> PeerQuality::Read(const std::string& path) {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(fmt::format("cannot read {}", path));
  PeerQuality quality;
  try {
    const Json document = Json::parse(file);
    quality.peer_ = document.at("peer").get<std::string>();
    for (const Json& json : document.at("settings")) {
      Recorded& recorded = quality.settings_[TitleOf(SettingOf(json))];
      if (json.contains("published")) recorded.published = json["published"].get<std::string>();
      for (const Json& row : json.at("seeds")) recorded.seeds.push_back(SeedOf(row));
    }
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", path, error.what()));
  }
  return quality;
}

bool PeerQuality::IsRecorded(const QualitySetting& setting) const {
  return settings_.contains(TitleOf(setting));
}

std::vector<std::string> PeerQuality::Differences(const QualitySetting& setting,
                                                  const std::vector<SeedQuality>& ours) const {
  const std::string title = TitleOf(setting);
  const auto found = settings_.find(title);
  RUNG_CHECK(found != settings_.end());
  const Recorded& recorded = found->second;

  std::vector<std::string> differences;
  if (!recorded.seeds.empty() && recorded.seeds.size() != ours.size()) {
    return {fmt::format("{}: {} seeds recorded from {}, {} run", title, recorded.seeds.size(),
                        peer_, ours.size())};
  }
  for (size_t seed = 0; seed < recorded.seeds.size(); ++seed) {
    const std::string of_peer = RowOf(recorded.seeds[seed]);
    const std::string of_rung = RowOf(ours[seed]);
    if (of_peer != of_rung) {
      differences.push_back(
          fmt::format("{}, seed {}: {} {}; rung {}", title, seed, peer_, of_peer, of_rung));
    }
  }
  const std::string cell = Cell(setting, Summarize(ours));
  if (recorded.published && *recorded.published != cell) {
    differences.push_back(fmt::format("{}: {}'s published cell {}; rung {}", title, peer_,
                                      *recorded.published, cell));
  }
  return differences;
}

}  // namespace rung
