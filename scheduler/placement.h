#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "core/resources.h"

/// Which worker takes a gang, and what to tell a person when none can.
///
/// A gang runs on one worker, all of its processes or none.
namespace rung {

/// The processes of one attempt.
struct Gang {
  int32_t processes = 1;
  Resources per_process;

  Resources Total() const { return per_process.Times(processes); }
  /// What the gang weighs when experiments share: its GPUs, or without GPUs its CPU shares (whole
  /// cores, rounded up), at least 1.
  int64_t Slots() const;
};

/// A connected worker: what it has and what of that nobody holds. `free` is below zero where a
/// worker came back with less than its attempts hold.
struct WorkerOffer {
  std::string name;
  Resources total;
  Resources free;
};

/// Whether each amount of `demand` is within `available`.
bool Fits(const Resources& demand, const Resources& available);

/// The worker with room for the whole gang that is left with the fewest GPUs, then CPUs, then the
/// lowest name (best fit: large holes stay for large gangs); its index, nullopt when none has room.
std::optional<size_t> PlaceGang(const Gang& gang, std::span<const WorkerOffer> workers);

/// What a gang waits for that PlaceGang found no worker for, as a phrase: "needs 4 GPUs for 1
/// process; the largest worker, w1, has 0". It does not change with what is free at the moment.
std::string WhyNotPlaced(const Gang& gang, std::span<const WorkerOffer> workers);

}  // namespace rung
