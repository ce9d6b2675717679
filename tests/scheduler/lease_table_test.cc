#include "scheduler/lease_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rung {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

MonoTime At(int64_t ms) { return MonoTime(std::chrono::milliseconds(ms)); }
LeaseHolder Worker(const std::string& name) { return name; }

TEST(LeaseTable, ExpiresAtTheDeadlineAndOnlyOnce) {
  LeaseTable leases;
  leases.Grant(Worker("w1"), At(100));
  EXPECT_THAT(leases.TakeExpired(At(99)), IsEmpty());
  EXPECT_THAT(leases.TakeExpired(At(100)), ElementsAre(Worker("w1")));
  EXPECT_THAT(leases.TakeExpired(At(200)), IsEmpty());
}

TEST(LeaseTable, RenewalMovesTheDeadlineEitherWay) {
  LeaseTable leases;
  leases.Grant(Worker("w1"), At(100));
  leases.Grant(Worker("w1"), At(200));
  EXPECT_THAT(leases.TakeExpired(At(150)), IsEmpty());
  leases.Grant(Worker("w1"), At(160));
  EXPECT_THAT(leases.TakeExpired(At(160)), ElementsAre(Worker("w1")));
}

TEST(LeaseTable, ReleasedLeasesDoNotExpire) {
  LeaseTable leases;
  const LeaseHolder attempt = AttemptId{{{1}, {2}}, 0};
  leases.Grant(attempt, At(100));
  leases.Release(attempt);
  EXPECT_THAT(leases.TakeExpired(At(100)), IsEmpty());
}

TEST(LeaseTable, ExpiresInTheOrderOfDeadlines) {
  LeaseTable leases;
  leases.Grant(Worker("a"), At(200));
  leases.Grant(Worker("b"), At(100));
  EXPECT_THAT(leases.TakeExpired(At(300)), ElementsAre(Worker("b"), Worker("a")));
}

}  // namespace
}  // namespace rung
