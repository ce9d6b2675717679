#pragma once

#include <chrono>
#include <cstddef>

/// Waits and sizes of a worker. Production uses the defaults; tests and the simulation shorten
/// them.
namespace rung::worker {

struct Limits {
  /// From the moment a value is complete until its ranks are answered without the scheduler.
  std::chrono::milliseconds report_wait{2'000};
  /// A rank whose value is not complete waits this long.
  std::chrono::milliseconds rank_wait{60'000};
  /// Reports of a rank that were answered `durable: false` and are not delivered; then its reports
  /// wait. With `rank0` that is the number of an attempt.
  size_t undelivered_max = 64;
  /// Reports of a rank that the scheduler has been sent and has not answered; then further ones
  /// wait for its answers. More than a living rank can have, with those that are undelivered and
  /// one a connection: its reports never wait for those of another rank that wait for them.
  size_t in_flight_max = 96;
  /// Warnings that a report which its rank has been answered was refused afterwards, an attempt.
  size_t late_refusals_told_max = 10;
  /// What the scheduler has not answered is sent again after this long within one connection.
  std::chrono::milliseconds resend_interval{10'000};
  /// An exit follows the answers to all reports of its attempt, or comes this long after them. A
  /// daemon that is ended waits as long for the acknowledgement of exits that came before.
  std::chrono::milliseconds exit_wait{10'000};
  /// An attempt waits this long for the resources of one that is being ended.
  std::chrono::milliseconds launch_wait{60'000};
  /// The files of an attempt are waited for this long: before its launch, and when its last process
  /// is gone. A disk that hangs holds nothing longer.
  std::chrono::milliseconds disk_wait{60'000};
  /// A worker with trials that the scheduler does not let in tries this long before it ends them.
  std::chrono::milliseconds refusal_patience{600'000};
  /// Upper bound of a trial's grace when the daemon itself ends.
  std::chrono::milliseconds shutdown_grace_max{30'000};
  /// Steps whose answer is remembered for ranks that come later.
  size_t answered_steps_max = 1'024;
  /// Tails of stderr that one exit carries.
  size_t stderr_tails_max = 16;
};

}  // namespace rung::worker
