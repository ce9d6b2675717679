#include "search/rung_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "core/counter_random.h"

namespace rung {
namespace {

TEST(RungTable, AgreesWithASortedListUnderTies) {
  CounterRandom random({.seed = 3, .trial = {0}, .redraw = 0, .name = "table"});
  RungTable table;
  std::vector<std::pair<double, int32_t>> sorted;  // (−value, trial): best first
  for (int32_t trial = 0; trial < 500; ++trial) {
    const double value = static_cast<double>(random.NextBelow(40));
    const std::pair<double, int32_t> entry{-value, trial};
    const auto place = std::lower_bound(sorted.begin(), sorted.end(), entry);
    EXPECT_EQ(table.BetterThan(value, {trial}), place - sorted.begin());
    sorted.insert(place, entry);
    table.Insert(value, {trial});
    const auto index = static_cast<size_t>(random.NextBelow(sorted.size()));
    EXPECT_EQ(table.FromBest(static_cast<int64_t>(index)), -sorted[index].first);
    EXPECT_EQ(table.FromWorst(static_cast<int64_t>(index)),
              -sorted[sorted.size() - 1 - index].first);
  }
  EXPECT_EQ(table.finite(), 500);
}

TEST(RungTable, FindsTheBestAndTheBestBehindAnEntry) {
  RungTable table;
  EXPECT_FALSE(table.Best().has_value());
  table.Insert(.5, {1});
  table.Insert(.7, {2});
  table.Insert(.5, {0});
  EXPECT_EQ(table.Best()->value, 2);
  EXPECT_EQ(table.BestBehind(.7, {2})->value, 0);
  EXPECT_EQ(table.BestBehind(.5, {0})->value, 1);
  EXPECT_FALSE(table.BestBehind(.5, {1}).has_value());
  EXPECT_EQ(table.BestBehind(.6, {9})->value, 0);  // it need not hold the entry
  table.Erase(.5, {0});
  EXPECT_EQ(table.BestBehind(.7, {2})->value, 1);
  EXPECT_EQ(table.finite(), 2);
}

TEST(RungTable, LosersAreEntriesAndNothingElse) {
  RungTable table;
  table.InsertLoser();
  table.Insert(1, {4});
  EXPECT_EQ(table.entries(), 2);
  EXPECT_EQ(table.finite(), 1);
  EXPECT_EQ(table.BetterThan(0.5, {0}), 1);
}

TEST(RungTable, AnEntryTakesAtMost64Bytes) {
  // The tree's own node: three pointers, value and trial, colour, subtree size.
  struct Entry {
    double value;
    int32_t trial;
  };
  using Node = __gnu_pbds::detail::rb_tree_node_<Entry, size_t, std::allocator<char>>;
  constexpr size_t kMallocHeader = 8;
  EXPECT_LE(sizeof(Node) + kMallocHeader, 64U);
}

}  // namespace
}  // namespace rung
