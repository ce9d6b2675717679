#include "search/normal_quantile.h"

#include <boost/math/special_functions/erf.hpp>
#include <numbers>

#include "core/check.h"

namespace rung {

double NormalQuantile(double fraction) {
  RUNG_CHECK(fraction >= 0 && fraction < 1);
  constexpr double kWidth = 0x1p-53;
  if (fraction >= 0.5) return -NormalQuantile(1 - kWidth - fraction);
  // Without promotion to long double, whose size differs between processors.
  using Policy = boost::math::policies::policy<boost::math::policies::promote_double<false>>;
  const double p = fraction + kWidth / 2;  // exact below 1/2
  return -std::numbers::sqrt2 * boost::math::erfc_inv(2 * p, Policy());
}

}  // namespace rung
