#include "bench/learning_curves.h"

#include <fmt/format.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

namespace rung {
namespace {

using Json = nlohmann::json;

/// What `read` makes of the file; exceptions of the JSON library end here.
template <typename Read>
auto ReadJson(const std::string& path, Read read) -> absl::StatusOr<decltype(read(Json()))> {
  std::ifstream file(path);
  if (!file) return absl::NotFoundError(fmt::format("cannot read {}", path));
  try {
    return read(Json::parse(file));
  } catch (const Json::exception& error) {
    return absl::InvalidArgumentError(fmt::format("{}: {}", path, error.what()));
  }
}

LearningCurve CurveOf(const Json& json) {
  LearningCurve curve;
  curve.step_ms = json.at("step_ms").get<int64_t>();
  curve.values = json.at("curve").get<std::vector<double>>();
  for (const auto& [step, value] : json.at("true").items()) {
    curve.true_micro[std::stoll(step)] = std::llround(value.get<double>() * 1e6);
  }
  return curve;
}

}  // namespace

absl::StatusOr<std::vector<LearningCurve>> ReadLearningCurves(const std::string& path) {
  return ReadJson(path, [](const Json& json) {
    std::vector<LearningCurve> curves;
    for (const Json& curve : json.at("curves")) curves.push_back(CurveOf(curve));
    return curves;
  });
}

absl::StatusOr<std::vector<std::vector<size_t>>> ReadOrders(const std::string& path) {
  return ReadJson(path, [](const Json& json) {
    return json.at("orders").get<std::vector<std::vector<size_t>>>();
  });
}

}  // namespace rung
