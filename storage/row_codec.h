#pragma once

#include <SQLiteCpp/Statement.h>

#include <stdexcept>
#include <string>

#include "storage/rows.h"

/// Rows ↔ columns, for every struct of rows.h that is a table. The only place that knows which
/// field is which column; row_codec.cc lists each pair once.
namespace rung {

/// A column holds a word that is no state, cause or goal: the file was edited or is corrupt.
class MalformedRow : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// `INSERT INTO t (…) VALUES (?, …)`
template <typename Row>
std::string InsertSql();

/// InsertSql, and where the key exists the row is replaced. Not for metrics and events.
template <typename Row>
std::string UpsertSql();

/// The columns in the order in which Read takes them, each with `prefix` before it: `m.step, …`
template <typename Row>
std::string Columns(const std::string& prefix = "");

/// Number of columns, so that a caller knows where its own begin.
template <typename Row>
int ColumnCount();

/// Binds every column of the two statements above. The strings of `row` are not copied: it must
/// outlive the statement's next reset. Throws SQLite::Exception.
template <typename Row>
void Bind(const Row& row, SQLite::Statement& statement);

/// Reads a row whose columns begin at `first`. Throws SQLite::Exception and MalformedRow.
template <typename Row>
Row Read(SQLite::Statement& statement, int first = 0);

}  // namespace rung
