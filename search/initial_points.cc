#include "search/initial_points.h"

#include "core/check.h"

namespace rung {

InitialPoints::InitialPoints(std::vector<Configuration> points, std::unique_ptr<Searcher> rest)
    : points_(std::move(points)), rest_(std::move(rest)) {
  rest_->Restore(points_);
}

std::optional<Configuration> InitialPoints::Suggest(TrialNumber number) {
  RUNG_CHECK(number.value >= 0);
  const auto index = static_cast<size_t>(number.value);
  return index < points_.size() ? points_[index] : rest_->Suggest(number);
}

void InitialPoints::Restore(std::span<const Configuration> created) {
  rest_->Restore(created.size() < points_.size() ? std::span<const Configuration>(points_)
                                                 : created);
}

}  // namespace rung
