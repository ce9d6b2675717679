#pragma once

#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>

#include <filesystem>
#include <string>
#include <vector>

namespace rung {

/// The rows that `sqlite3 FILE "SQL"` would print: columns joined by `|`.
inline std::vector<std::string> AskFile(const std::filesystem::path& file, const std::string& sql) {
  SQLite::Database database(file.native(), SQLite::OPEN_READONLY);
  SQLite::Statement statement(database, sql);
  std::vector<std::string> rows;
  while (statement.executeStep()) {
    std::string row;
    for (int i = 0; i < statement.getColumnCount(); ++i) {
      row += (i > 0 ? "|" : "") + statement.getColumn(i).getString();
    }
    rows.push_back(row);
  }
  return rows;
}

}  // namespace rung
