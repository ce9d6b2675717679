#include "search/sobol_sequence.h"

#include <boost/random/sobol.hpp>

#include "core/check.h"

namespace rung {

SobolSequence::SobolSequence(size_t dimensions) : directions_(dimensions * kDigits) {
  static_assert(boost::random::default_sobol_table::max_dimension == kDimensionsMax);
  RUNG_CHECK(dimensions <= kDimensionsMax);
  if (dimensions == 0) return;
  boost::random::sobol engine(dimensions);
  for (size_t digit = 0; digit < kDigits; ++digit) {
    // Point 2^(k+1) − 1 has the Gray code 2^k, so it is direction k alone. Boost counts without
    // point 0, and its coordinates have 64 digits.
    engine.seed((uint64_t{1} << (digit + 1)) - 2);
    for (size_t dimension = 0; dimension < dimensions; ++dimension) {
      directions_[dimension * kDigits + digit] = static_cast<uint32_t>(engine() >> 32U);
    }
  }
}

uint32_t SobolSequence::At(uint32_t index, size_t dimension) const {
  RUNG_CHECK((dimension + 1) * kDigits <= directions_.size());
  const uint32_t* directions = &directions_[dimension * kDigits];
  uint32_t digits = 0;
  for (uint32_t gray = index ^ (index >> 1U); gray != 0; gray >>= 1U, ++directions) {
    if ((gray & 1U) != 0) digits ^= *directions;
  }
  return digits;
}

}  // namespace rung
