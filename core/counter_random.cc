#include "core/counter_random.h"

#include <Random123/philox.h>

#include <bit>

#include "core/check.h"

namespace rung {
namespace {

uint64_t Fnv1a(std::string_view bytes) {
  uint64_t hash = 0xcbf29ce484222325U;
  for (const char byte : bytes) {
    hash ^= static_cast<unsigned char>(byte);
    hash *= 0x100000001b3U;
  }
  return hash;
}

std::array<uint32_t, 2> Halves(uint64_t value) {
  return {static_cast<uint32_t>(value), static_cast<uint32_t>(value >> 32U)};
}

std::array<uint32_t, 4> Philox(const std::array<uint32_t, 4>& counter,
                               const std::array<uint32_t, 2>& key) {
  const philox4x32_ctr_t c = {{counter[0], counter[1], counter[2], counter[3]}};
  const philox4x32_key_t k = {{key[0], key[1]}};
  const philox4x32_ctr_t words = philox4x32(c, k);
  return {words.v[0], words.v[1], words.v[2], words.v[3]};
}

}  // namespace

CounterRandom::CounterRandom(const RandomKey& key) {
  const std::array<uint32_t, 2> name = Halves(Fnv1a(key.name));
  const std::array<uint32_t, 4> stream =
      Philox({name[0], name[1], 0, 1}, Halves(static_cast<uint64_t>(key.seed)));
  key_ = {stream[0], stream[1]};
  counter_ = {static_cast<uint32_t>(key.trial.value), static_cast<uint32_t>(key.redraw), 0, 0};
}

uint64_t CounterRandom::NextBits() {
  if (used_ == block_.size()) {
    const std::array<uint32_t, 4> words = Philox(counter_, key_);
    block_ = {words[0] | uint64_t{words[1]} << 32U, words[2] | uint64_t{words[3]} << 32U};
    ++counter_[2];
    used_ = 0;
  }
  return block_[used_++];
}

double CounterRandom::NextUnit() { return static_cast<double>(NextBits() >> 11U) * 0x1p-53; }

uint64_t CounterRandom::NextBelow(uint64_t bound) {
  RUNG_CHECK(bound >= 1);
  if (bound == 1) return 0;
  const uint64_t mask = ~uint64_t{0} >> static_cast<unsigned>(std::countl_zero(bound - 1));
  uint64_t value = NextBits() & mask;
  while (value >= bound) value = NextBits() & mask;  // each draw succeeds with odds above 1/2
  return value;
}

}  // namespace rung
