#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Aligned columns of text, plain or coloured.
namespace rung::cli {

/// What a piece of text means; a terminal shows it as a colour, everything else as plain text.
enum class Tone { kPlain, kDim, kStrong, kGood, kBad, kWaiting, kActive };

/// `text` in the colour of `tone`; as it is when `colour` is off.
std::string Toned(std::string_view text, Tone tone, bool colour);

/// Columns that `text` takes on a terminal: code points of UTF-8.
size_t DisplayWidth(std::string_view text);

/// `text` cut to `width` columns, its end replaced by "…" when something is missing. 0: no limit.
std::string Cut(std::string_view text, size_t width);

/// Rows under a heading. Headings and cells lose their control characters (Printable). Missing
/// cells are empty.
class Table {
 public:
  enum class Align { kLeft, kRight };
  struct Column {
    std::string heading;
    Align align = Align::kLeft;
  };
  struct Cell {
    Cell(std::string cell_text, Tone cell_tone = Tone::kPlain)  // NOLINT: text is a cell
        : text(std::move(cell_text)), tone(cell_tone) {}
    Cell(const char* cell_text) : text(cell_text) {}  // NOLINT: text is a cell
    std::string text;
    Tone tone = Tone::kPlain;
  };

  explicit Table(std::vector<Column> columns);

  void AddRow(std::vector<Cell> cells);
  bool empty() const { return rows_.empty(); }

  struct Style {
    size_t width = 0;  ///< columns of the terminal; longer lines are cut; 0: no limit
    bool colour = false;
    bool heading = true;
    std::string indent = {};
  };
  /// The table with a newline after each line. Columns are two spaces apart, no trailing spaces.
  std::string Text(const Style& style) const;

 private:
  std::string Line(const std::vector<Cell>& cells, const std::vector<size_t>& widths,
                   const Style& style) const;

  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace rung::cli
