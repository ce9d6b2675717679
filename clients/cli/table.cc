#include "clients/cli/table.h"

#include <algorithm>

#include "clients/cli/quantity.h"

namespace rung::cli {
namespace {

constexpr std::string_view kReset = "\x1b[0m";
constexpr std::string_view kGap = "  ";

std::string_view Escape(Tone tone) {
  switch (tone) {
    case Tone::kPlain:
      return "";
    case Tone::kDim:
      return "\x1b[2m";
    case Tone::kStrong:
      return "\x1b[1m";
    case Tone::kGood:
      return "\x1b[32m";
    case Tone::kBad:
      return "\x1b[31m";
    case Tone::kWaiting:
      return "\x1b[33m";
    case Tone::kActive:
      return "\x1b[36m";
  }
  return "";
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

}  // namespace

std::string Toned(std::string_view text, Tone tone, bool colour) {
  if (!colour || tone == Tone::kPlain || text.empty()) return std::string(text);
  std::string toned(Escape(tone));
  toned += text;
  toned += kReset;
  return toned;
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return !IsContinuation(c); }));
}

std::string Cut(std::string_view text, size_t width) {
  if (width == 0 || DisplayWidth(text) <= width) return std::string(text);
  size_t kept = 0;
  size_t end = 0;
  for (; end < text.size(); ++end) {
    if (IsContinuation(text[end])) continue;
    if (kept + 1 >= width) break;  // the last column is for the ellipsis
    ++kept;
  }
  return std::string(text.substr(0, end)) + "…";
}

Table::Table(std::vector<Column> columns) : columns_(std::move(columns)) {
  for (Column& column : columns_) column.heading = Printable(column.heading);
}

void Table::AddRow(std::vector<Cell> cells) {
  for (Cell& cell : cells) cell.text = Printable(cell.text);
  cells.resize(columns_.size(), Cell(""));
  rows_.push_back(std::move(cells));
}

std::string Table::Text(const Style& style) const {
  std::vector<size_t> widths;
  std::vector<Cell> headings;
  for (const Column& column : columns_) {
    widths.push_back(style.heading ? DisplayWidth(column.heading) : 0);
    headings.emplace_back(column.heading, Tone::kDim);
  }
  for (const auto& row : rows_) {
    for (size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], DisplayWidth(row[i].text));
    }
  }
  std::string text;
  if (style.heading) text += Line(headings, widths, style);
  for (const auto& row : rows_) text += Line(row, widths, style);
  return text;
}

std::string Table::Line(const std::vector<Cell>& cells, const std::vector<size_t>& widths,
                        const Style& style) const {
  // Padding is owed until more text follows, so that no line ends in spaces.
  std::string line = style.indent;
  size_t used = DisplayWidth(style.indent);
  size_t owed = 0;
  for (size_t i = 0; i < cells.size(); ++i) {
    const size_t size = DisplayWidth(cells[i].text);
    const size_t padding = widths[i] - size;
    if (columns_[i].align == Align::kRight) owed += padding;
    if (size > 0) {
      if (style.width > 0 && used + owed + 1 > style.width) break;
      const std::string shown =
          style.width > 0 ? Cut(cells[i].text, style.width - used - owed) : cells[i].text;
      line.append(owed, ' ');
      line += Toned(shown, cells[i].tone, style.colour);
      used += owed + DisplayWidth(shown);
      owed = 0;
    }
    if (columns_[i].align == Align::kLeft) owed += padding;
    owed += kGap.size();
  }
  line += '\n';
  return line;
}

}  // namespace rung::cli
