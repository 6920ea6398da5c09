// A database file of SQLite, and statements prepared for it. Knows SQL, nothing of sweeps.
//
// A file may come from elsewhere: what is in it is data and runs no code of its own, only regular files are opened, and
// an error never looks like the end of the rows.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "muster/result.h"
#include "sweep/index/statement.h"

struct sqlite3;
struct sqlite3_stmt;

namespace muster {

inline constexpr int kDatabaseWaitMs = 5000;

class Database {
 public:
  enum class Mode : std::uint8_t { kRead, kWrite, kTemporary };
  // kWrite: made if it is not there, 0600 whatever the umask. kTemporary: of its own, without a path, gone in the end.
  // Kind "database" for what is no regular file, a link included, or has something beside it that is none.
  static Result<Database> Open(const std::string& path, Mode mode);

  // Statements without parameters and rows; false if one failed.
  [[nodiscard]] bool Run(const char* statements);
  // One that is wrong fails when it is run.
  Statement Prepare(const char* statement) const;
  // Reads another database besides: as `name`.tables. As Open() for its file.
  Result<void> Attach(const std::string& path, const std::string& name);
  // Statements that take more steps of SQLite's machine from now on fail; 0: none do.
  void LimitSteps(std::uint64_t steps);
  // Values of more bytes cannot be read or written.
  void LimitValues(std::uint64_t bytes);
  // Milliseconds to wait for others who have it.
  void WaitFor(int ms);
  // Of the last call that failed.
  std::string Problem() const;
  // That problem is somebody else, for now, or what a writer that was killed left for the next one to undo.
  bool IsBusy() const;

 private:
  struct Close {
    void operator()(sqlite3* database) const;
  };
  explicit Database(sqlite3* database) : database_(database) {}
  std::unique_ptr<sqlite3, Close> database_;
  std::unique_ptr<std::int64_t> steps_left_;
};

}  // namespace muster
