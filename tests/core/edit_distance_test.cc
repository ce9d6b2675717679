#include "core/edit_distance.h"

#include <gtest/gtest.h>

namespace rung {
namespace {

TEST(EditDistance, CountsInsertionsDeletionsReplacementsAndSwaps) {
  EXPECT_EQ(EditDistance("report", "report"), 0u);
  EXPECT_EQ(EditDistance("", "abc"), 3u);
  EXPECT_EQ(EditDistance("stepp", "step"), 1u);
  EXPECT_EQ(EditDistance("reprot", "report"), 1u);   // one swap
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3u);  // k→s, e→i, +g
  EXPECT_EQ(EditDistance("ca", "abc"), 3u);          // a swapped pair is not edited again
}

}  // namespace
}  // namespace rung
