#include "search/nested_scrambling.h"

#include "core/counter_random.h"

namespace rung {

double ScrambleDigits(uint32_t digits, const ScramblingKey& key) {
  constexpr uint32_t kDigits = 32;
  uint64_t scrambled = 0;
  uint64_t tail = 0;
  for (uint32_t k = 0; k < kDigits; ++k) {
    const auto before = static_cast<uint32_t>(uint64_t{digits} >> (kDigits - k));
    const uint32_t node = (uint32_t{1} << k) + before;
    CounterRandom random({.seed = key.seed,
                          .trial = {static_cast<int32_t>(node)},
                          .redraw = key.set,
                          .name = key.name});
    const uint64_t digit = (digits >> (kDigits - 1 - k)) & 1U;
    scrambled = scrambled << 1U | (digit ^ random.NextBits() >> 63U);
    if (k + 1 < kDigits) continue;
    tail = random.NextBits();
    if (digit != 0) tail = random.NextBits();
  }
  return static_cast<double>(scrambled << 21U | tail >> 43U) * 0x1p-53;
}

}  // namespace rung
