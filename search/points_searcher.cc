#include "search/points_searcher.h"

#include <algorithm>

#include "core/check.h"

namespace rung {

PointsSearcher::PointsSearcher(std::vector<Configuration> points)
    : points_(std::move(points)), planned_(static_cast<int64_t>(points_.size())) {}

std::optional<Configuration> PointsSearcher::Suggest(TrialNumber number) {
  RUNG_CHECK(number.value == created_);
  while (position_ < points_.size()) {
    const Configuration& point = points_[position_++];
    if (used_.count(point.ToJson()) != 0) continue;
    ++created_;
    return point;
  }
  return std::nullopt;
}

void PointsSearcher::Restore(std::span<const Configuration> created) {
  created_ = static_cast<int64_t>(created.size());
  position_ = 0;
  used_.clear();
  for (const Configuration& configuration : created) used_.insert(configuration.ToJson());
  planned_ = created_ + std::count_if(points_.begin(), points_.end(), [&](const auto& point) {
               return used_.count(point.ToJson()) == 0;
             });
}

}  // namespace rung
