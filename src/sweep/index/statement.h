// A prepared statement of a database.
#pragma once

#include <concepts>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "muster/result.h"

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
  Statement& BindNull(int parameter);
  Statement& BindBlob(int parameter, std::string_view bytes);  // must outlive the next run

  // Calls `take` for each row until it returns false; the statement can be run again afterwards. Kind "database": not
  // all rows could be read, or the statement or its parameters are invalid.
  [[nodiscard]] Result<void> ForEach(const std::function<bool(const Statement& row)>& take);
  // Reads the first row; whether there is one.
  [[nodiscard]] Result<bool> First(const std::function<void(const Statement& row)>& take);
  // Runs it, ignoring rows; whether it succeeded.
  [[nodiscard]] bool Run();

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
