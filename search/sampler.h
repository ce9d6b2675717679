#pragma once

#include <string>

#include "core/counter_random.h"
#include "search/space.h"

/// Values drawn from a parameter's form, and the rounding of every computed float.
namespace rung {

/// The double nearest to `value` written with 12 significant digits. exp and log differ in their
/// last bits between processors; what is left after this rounding does not.
double RoundTo12Digits(double value);

/// exp(x) between `low` and `high`, evenly in the logarithm: `fraction` 0 gives low, 1 gives high.
/// Rounded to 12 digits, then kept within the range. 0 < low ≤ high.
double LogBetween(double low, double high, double fraction);

/// low · (1 − fraction) + high · fraction, rounded to 12 digits, then kept within the range.
double Between(double low, double high, double fraction);

/// The JSON text of a value drawn from `domain` with `random`, which nothing else uses.
///
/// `domain` must be valid. Floats are rounded to 12 digits and then clamped to their range;
/// quantised ones are exact decimals and need neither. A lognormal is the exponential of a normal
/// with the given mean and sd. GridValues are taken in turn by trial number, never drawn here.
std::string SampleValue(const Domain& domain, CounterRandom& random);

/// The JSON text of the value of `domain` below which the share `fraction` of its draws lies: the
/// inverse of its distribution function. `fraction` is a multiple of 2⁻⁵³ in [0, 1). Of n values
/// alike, value ⌊fraction · n⌋ in exact arithmetic; normals by search/normal_quantile.h. Rounded
/// and clamped as above. `domain` is no GridValues.
std::string ValueAt(const Domain& domain, double fraction);

}  // namespace rung
