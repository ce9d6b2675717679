#include "trial_runner/launch/port_lease.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <set>
#include <vector>

namespace rung {
namespace {

/// As rank 0 does it: any address, with SO_REUSEADDR. Returns the descriptor or −1.
int BindAsStore(uint16_t port) {
  const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const int on = 1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (bind(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 &&
      listen(fd, 1) == 0) {
    return fd;
  }
  close(fd);
  return -1;
}

uint32_t OwnStart() { return static_cast<uint32_t>(getpid()) * 97; }

TEST(PortPool, TwoHundredLeasesAreDifferentAndInTheRange) {
  PortPool pool(OwnStart());
  std::vector<PortLease> leases;
  std::set<uint16_t> ports;
  for (int i = 0; i < 200; ++i) {
    leases.push_back(pool.Lease().value());
    ports.insert(leases.back().port());
  }
  EXPECT_EQ(ports.size(), 200u);
  EXPECT_GE(*ports.begin(), 20000);
  EXPECT_LE(*ports.rbegin(), 29999);
}

TEST(PortPool, LeasedPortIsBoundUntilTheLaunchAndStaysLeasedAfterIt) {
  PortPool pool(OwnStart());
  PortLease lease = pool.Lease().value();
  EXPECT_EQ(BindAsStore(lease.port()), -1);
  lease.ReleaseBind();
  const int store = BindAsStore(lease.port());
  EXPECT_GE(store, 0);
  close(store);
  EXPECT_NE(pool.Lease().value().port(), lease.port());
}

TEST(PortPool, PortTakenByAnotherProgramIsPassedOver) {
  PortPool pool(OwnStart());
  const uint16_t first = pool.Lease().value().port();
  const int other = BindAsStore(first);
  ASSERT_GE(other, 0);
  PortPool again(static_cast<uint32_t>(first - PortPool::kFirst));
  EXPECT_NE(again.Lease().value().port(), first);
  close(other);
}

TEST(PortPool, RangeWrapsAround) {
  PortPool pool(PortPool::kCount - 1);
  const uint16_t first = pool.Lease().value().port();
  const uint16_t second = pool.Lease().value().port();
  EXPECT_LE(second, 29999);
  EXPECT_NE(first, second);
}

}  // namespace
}  // namespace rung
