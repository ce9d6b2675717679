#pragma once

/// The inverse of the standard normal distribution function, by Boost.Math's inverse error
/// function.
namespace rung {

/// The value below which a standard normal number lies with the probability p = `fraction` + 2⁻⁵⁴.
/// `fraction` is a multiple of 2⁻⁵³ in [0, 1), so p is the middle of what the multiple stands for
/// and the value is finite (at most 8.3 away from 0). Symmetric: 1 − 2⁻⁵³ − fraction gives its
/// negative.
double NormalQuantile(double fraction);

}  // namespace rung
