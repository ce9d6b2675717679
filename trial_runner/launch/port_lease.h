#pragma once

#include <absl/status/statusor.h>

#include <cstdint>
#include <set>

/// Rendezvous ports, one a gang, chosen before it starts.
namespace rung {

class PortPool;

/// One port that no other lease of this pool has. Until ReleaseBind it is also held bound, so that
/// no other program can take it; rank 0 binds it next. Returned to the pool when destroyed.
class PortLease {
 public:
  PortLease(PortLease&& other) noexcept;
  PortLease& operator=(PortLease&& other) noexcept;
  ~PortLease();

  uint16_t port() const { return port_; }
  /// Call it just before the launch.
  void ReleaseBind();

 private:
  friend class PortPool;
  PortLease(PortPool* pool, uint16_t port, int fd) : pool_(pool), port_(port), fd_(fd) {}

  PortPool* pool_;
  uint16_t port_;
  int fd_;
};

/// Ports 20000–29999: outside the kernel's range of ephemeral ports (32768–60999 by default), so
/// that an outgoing connection never sits on one. A port that was given back is the last to be
/// leased again. Outlives its leases.
class PortPool {
 public:
  static constexpr uint16_t kFirst = 20000;
  static constexpr uint16_t kCount = 10000;

  /// `start` spreads the workers of one machine over the range.
  explicit PortPool(uint32_t start) : next_(static_cast<uint16_t>(start % kCount)) {}

  /// Errors: RESOURCE_EXHAUSTED when no port of the range can be bound.
  absl::StatusOr<PortLease> Lease();

 private:
  friend class PortLease;
  std::set<uint16_t> leased_;
  uint16_t next_;
};

}  // namespace rung
