// docs/database.md names every column of every table and view, no other, and its queries run.
#include <SQLiteCpp/Column.h>
#include <SQLiteCpp/Database.h>
#include <SQLiteCpp/Statement.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <vector>

#include "storage/sqlite_storage.h"
#include "tests/storage/sample_rows.h"
#include "tests/storage/temporary_folder.h"

namespace rung {
namespace {

using Columns = std::map<std::string, std::set<std::string>>;

std::string ReadDocument() {
  std::ifstream file(RUNG_SOURCE_DIR "/docs/database.md");
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// What stands between backquotes.
std::vector<std::string> Quoted(const std::string& text) {
  std::vector<std::string> names;
  for (size_t at = text.find('`'); at != std::string::npos; at = text.find('`', at + 1)) {
    const size_t end = text.find('`', at + 1);
    if (end == std::string::npos) break;
    names.push_back(text.substr(at + 1, end - at - 1));
    at = end;
  }
  return names;
}

/// The names in the first cell of each row of each section that is headed by a name.
Columns DocumentedColumns(const std::string& document) {
  Columns columns;
  std::string section;
  std::istringstream lines(document);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("### `")) {
      section = Quoted(line).at(0);
    } else if (line.starts_with("| ") && !section.empty()) {
      for (const std::string& name : Quoted(line.substr(0, line.find('|', 1)))) {
        columns[section].insert(name);
      }
    }
  }
  return columns;
}

Columns ActualColumns(SQLite::Database& database) {
  Columns columns;
  SQLite::Statement statement(
      database,
      "SELECT s.name, c.name FROM sqlite_schema AS s JOIN pragma_table_xinfo(s.name) AS c"
      " WHERE s.type IN ('table', 'view') AND s.name NOT LIKE 'sqlite_%'");
  while (statement.executeStep()) {
    columns[statement.getColumn(0).getString()].insert(statement.getColumn(1).getString());
  }
  return columns;
}

class DocumentationTest : public testing::Test {
 protected:
  DocumentationTest() {
    auto storage = SqliteStorage::Open(folder_ / "rung.db");
    EXPECT_TRUE(storage.ok()) << storage.status();
    EXPECT_TRUE((*storage)
                    ->Commit(BatchOf({SampleExperiment(2), SampleTrial(TrialOf(2, 3)),
                                      SampleAttempt(AttemptOf(2, 3, 0)), SampleDecision(2, 1),
                                      SampleMetric(AttemptOf(2, 3, 0), 10, 0.9),
                                      EventRow{{2}, {}, {}, "kind", "message", {}}}))
                    .ok());
  }

  TemporaryFolder folder_;
};

TEST_F(DocumentationTest, NamesEveryColumnOfEveryTableAndView) {
  SQLite::Database database((folder_ / "rung.db").native(), SQLite::OPEN_READONLY);
  EXPECT_EQ(DocumentedColumns(ReadDocument()), ActualColumns(database));
}

TEST_F(DocumentationTest, EveryQueryGivesRows) {
  SQLite::Database database((folder_ / "rung.db").native(), SQLite::OPEN_READONLY);
  const std::string document = ReadDocument();
  int queries = 0;
  for (size_t at = 0; (at = document.find("```sql\n", at)) != std::string::npos; ++queries) {
    const size_t begin = at + 7;
    at = document.find("```", begin);
    const std::string sql = document.substr(begin, at - begin);
    SQLite::Statement statement(database, sql);
    EXPECT_TRUE(statement.executeStep()) << sql;
  }
  EXPECT_GE(queries, 8);
}

}  // namespace
}  // namespace rung
