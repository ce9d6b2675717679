#include "clients/cli/table.h"

#include <gtest/gtest.h>

namespace rung::cli {
namespace {

Table Sample() {
  Table table({{"NAME"}, {"STEPS", Table::Align::kRight}, {"PARAMETERS"}});
  table.AddRow({"a", "5", "lr=0.1"});
  table.AddRow({"longer", "1,234"});
  return table;
}

TEST(Table, AlignsColumnsWithoutTrailingSpaces) {
  EXPECT_EQ(Sample().Text({}),
            "NAME    STEPS  PARAMETERS\n"
            "a           5  lr=0.1\n"
            "longer  1,234\n");
}

TEST(Table, CutsLinesThatAreTooWide) {
  EXPECT_EQ(Sample().Text({.width = 18}),
            "NAME    STEPS  PA…\n"
            "a           5  lr…\n"
            "longer  1,234\n");
}

TEST(Table, HeadingsAndCellsCannotDriveTheTerminal) {
  Table table({{"loss\xc2\x9b[2J"}});  // U+009B begins a command
  table.AddRow({"a\x1b[2J"});
  EXPECT_EQ(table.Text({}), "loss?[2J\na?[2J\n");
}

TEST(Table, CountsCodePointsNotBytes) {
  Table table({{"A"}, {"B"}});
  table.AddRow({"é", "x"});
  table.AddRow({"ee", "y"});
  EXPECT_EQ(table.Text({.heading = false}), "é   x\nee  y\n");
}

TEST(Table, ColoursOnlyTheText) {
  Table table({{"A"}, {"B"}});
  table.AddRow({{"no", Tone::kBad}, "x"});
  EXPECT_EQ(table.Text({.colour = true, .heading = false}), "\x1b[31mno\x1b[0m  x\n");
  EXPECT_EQ(table.Text({.colour = false, .heading = false}), "no  x\n");
}

TEST(Table, KeepsEscapesOfCellsFromTheTerminal) {
  Table table({{"A"}});
  table.AddRow({"a\x1b[2Jb"});
  EXPECT_EQ(table.Text({.heading = false}), "a?[2Jb\n");
}

TEST(Cut, MarksWhatIsMissing) {
  EXPECT_EQ(Cut("abcdef", 4), "abc…");
  EXPECT_EQ(Cut("abcd", 4), "abcd");
  EXPECT_EQ(Cut("abcd", 0), "abcd");
  EXPECT_EQ(Cut("ééééé", 3), "éé…");
}

}  // namespace
}  // namespace rung::cli
