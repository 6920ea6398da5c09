// A database file of SQLite, and statements prepared for it. Knows SQL, nothing of sweeps.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "muster/result.h"

struct sqlite3;
struct sqlite3_stmt;

namespace muster {

class Statement {
 public:
  // Parameters are counted from 1, columns from 0.
  Statement& Bind(int parameter, std::string_view text);  // copied
  Statement& Bind(int parameter, double number);
  template <std::integral T>
  Statement& Bind(int parameter, T number) {
    return BindInteger(parameter, static_cast<std::int64_t>(number));
  }
  Statement& BindNull(int parameter);
  Statement& BindBlob(int parameter, std::string_view bytes);  // has to outlive the next Step

  // Whether there is a row. After the last one, and after an error, the statement can be used anew.
  bool Step();
  // Once through, without rows: whether it went well.
  bool Run();
  void Reset();

  bool IsNull(int column) const;
  std::string_view Text(int column) const;  // until the next Step; of a blob its bytes
  std::int64_t Integer(int column) const;
  double Number(int column) const;

 private:
  friend class Database;
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const;
  };
  explicit Statement(sqlite3_stmt* statement) : statement_(statement) {}
  Statement& BindInteger(int parameter, std::int64_t number);
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

class Database {
 public:
  enum class Mode : std::uint8_t { kRead, kWrite, kTemporary };
  // kWrite: made if it is not there, 0600 whatever the umask. kTemporary: of its own, without a path, gone in the end.
  static Result<Database> Open(const std::string& path, Mode mode);

  // Statements without parameters and rows; false if one failed.
  bool Run(const char* statements);
  // One that is wrong can be stepped and has no rows.
  Statement Prepare(const char* statement) const;
  // Reads another database besides: as `name`.tables.
  bool Attach(const std::string& path, const std::string& name);
  // Milliseconds to wait for others who have it.
  void WaitFor(int ms);
  // Of the last call that failed.
  std::string Problem() const;
  bool IsBusy() const;  // that problem is somebody else, for now

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
};

}  // namespace muster
