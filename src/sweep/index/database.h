// A SQLite database file, and statements prepared for it. Depends on SQL, not on sweeps.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "muster/result.h"

// A prepared statement of a database.

struct sqlite3_stmt;

namespace muster {

class Statement {
 public:
  // Parameters are numbered from 1, columns from 0.
  Statement& Bind(int parameter, std::string_view text);  // copied
  Statement& Bind(int parameter, double number);
  template <std::integral T>
  Statement& Bind(int parameter, T number) {
    return BindInteger(parameter, static_cast<std::int64_t>(number));
  }
  Statement& Bind(int parameter, const std::optional<double>& number) {
    return number ? Bind(parameter, *number) : BindNull(parameter);
  }
  Statement& BindNull(int parameter);
  Statement& BindBlob(int parameter, std::string_view bytes);  // must outlive the next run

  // Calls `take` for each row until it returns false; the statement can be run again afterwards. Kind "database": not
  // all rows could be read, or the statement or its parameters are invalid.
  [[nodiscard]] Result<void> ForEach(const std::function<bool(const Statement& row)>& take);
  // Reads the first row; whether there is one.
  [[nodiscard]] Result<bool> First(const std::function<void(const Statement& row)>& take);
  // Runs it with these parameters, from the first one on, ignoring rows; whether it succeeded.
  template <class... T>
  [[nodiscard]] bool Run(const T&... parameters) {
    [[maybe_unused]] int number = 0;
    (Bind(++number, parameters), ...);
    return ForEach([](const Statement&) { return true; }).has_value();
  }

  // Of the current row.
  bool IsNull(int column) const;
  std::string_view Text(int column) const;  // valid until the next row; of a blob its bytes
  std::int64_t Integer(int column) const;
  double Number(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  Statement(sqlite3_stmt* statement, int error) : statement_(statement), error_(error) {}
  Statement& BindInteger(int parameter, std::int64_t number);
  void Bound(int result);
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
  int error_;  // the error of preparing it or binding parameters
};

}  // namespace muster

// A SQLite database file, and statements prepared for it. Depends on SQL, not on sweeps.
//
// A file may come from elsewhere: its content is data and executes no code, only regular files are opened, and an error
// never looks like the end of the rows.

struct sqlite3;

namespace muster {

inline constexpr int kDatabaseWaitMs = 5000;

class Database {
 public:
  enum class Mode : std::uint8_t { kRead, kWrite, kTemporary };
  // kWrite: created if missing, with mode 0600 whatever the umask. kTemporary: a private file without a path, removed
  // at the end. Kind "database" if the file, or a file beside it, is not a regular file (a link is none).
  static Result<Database> Open(const std::string& path, Mode mode);

  // Executes statements without parameters and rows; false if one failed.
  [[nodiscard]] bool Run(const char* statements);
  // An invalid statement fails when it is run.
  Statement Prepare(const char* statement) const;
  // Attaches another database for reading, as `name`.tables. Its file is checked as by Open().
  Result<void> Attach(const std::string& path, const std::string& name);
  // Statements that take more steps of SQLite's virtual machine from now on fail; 0: no limit.
  void LimitSteps(std::uint64_t steps);
  // Values with more bytes can neither be read nor written.
  void LimitValues(std::uint64_t bytes);
  // Milliseconds to wait for a lock of another process.
  void WaitFor(int ms);
  // The error of the last call that failed.
  std::string Problem() const;
  // Whether that error is a lock of another process, or a rollback journal left by a writer that was killed.
  bool IsBusy() const;
  // Whether that error is the rollback journal of a writer that was killed: reading needs a rollback, which needs
  // writing. The file is not damaged.
  bool WasInterrupted() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<std::int64_t> steps_left_;
};

}  // namespace muster
