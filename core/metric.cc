#include "core/metric.h"

#include <cmath>

namespace rung {

bool SameValue(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace rung
