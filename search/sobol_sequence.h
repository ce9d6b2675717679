#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

/// The points of Sobol's sequence, which fill the unit cube more evenly than random ones.
///
/// Sources: Sobol' (1967), in the Gray-code order of Antonov and Saleev (1979) and from point 0 on:
/// without it the sequence loses its balance (Owen, "On dropping the first Sobol' point", 2020).
/// Direction numbers: Joe and Kuo, "Constructing Sobol sequences with better two-dimensional
/// projections" (SIAM J. Sci. Comput. 30, 2008), by Boost.Random.
namespace rung {

class SobolSequence {
 public:
  static constexpr size_t kDimensionsMax = 3667;  ///< of Boost's table
  static constexpr size_t kDigits = 32;

  /// At most kDimensionsMax.
  explicit SobolSequence(size_t dimensions);

  /// A coordinate of point `index` as kDigits binary digits after the point, the first one the most
  /// significant: 0x80000000 is 1/2. `dimension` is below the number of dimensions.
  uint32_t At(uint32_t index, size_t dimension) const;

 private:
  std::vector<uint32_t> directions_;  ///< [dimension][digit]
};

}  // namespace rung
