#include "sweep/index/database.h"

#include <algorithm>
#include <limits>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "base/values/text_parts.h"

namespace muster {
namespace {

tl::unexpected<Diagnostics> Failed(int error, const char* message) {
  return Fail(MachineError("database", fmt::format("{} (SQLite error {})", message, error)));
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }

void Statement::Bound(int result) {
  if (error_ == SQLITE_OK) error_ = result;
}

Statement& Statement::Bind(int parameter, std::string_view text) {
  Bound(sqlite3_bind_text64(statement_.get(), parameter, text.data() == nullptr ? "" : text.data(), text.size(),
                            SQLITE_TRANSIENT, SQLITE_UTF8));
  return *this;
}

Statement& Statement::Bind(int parameter, double number) {
  Bound(sqlite3_bind_double(statement_.get(), parameter, number));
  return *this;
}

Statement& Statement::BindInteger(int parameter, std::int64_t number) {
  Bound(sqlite3_bind_int64(statement_.get(), parameter, number));
  return *this;
}

Statement& Statement::BindNull(int parameter) {
  Bound(sqlite3_bind_null(statement_.get(), parameter));
  return *this;
}

Statement& Statement::BindBlob(int parameter, std::string_view bytes) {
  Bound(sqlite3_bind_blob64(statement_.get(), parameter, bytes.data(), bytes.size(), SQLITE_STATIC));
  return *this;
}

Result<void> Statement::ForEach(const std::function<bool(const Statement& row)>& take) {
  if (error_ != SQLITE_OK) return Failed(error_, sqlite3_errstr(error_));
  int result = sqlite3_step(statement_.get());
  bool wanted = true;
  while (result == SQLITE_ROW && (wanted = take(*this))) result = sqlite3_step(statement_.get());
  Result<void> read;
  if (result != SQLITE_DONE && wanted) read = Failed(result, sqlite3_errmsg(sqlite3_db_handle(statement_.get())));
  sqlite3_reset(statement_.get());
  return read;
}

Result<bool> Statement::First(const std::function<void(const Statement& row)>& take) {
  bool any = false;
  const Result<void> read = ForEach([&](const Statement& row) {
    any = true;
    take(row);
    return false;
  });
  if (!read) return Fail(read.error());
  return any;
}

bool Statement::IsNull(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

std::string_view Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(bytes), std::size_t(size));
}

std::int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::Number(int column) const { return sqlite3_column_double(statement_.get(), column); }

namespace {

// A path as a URI that opens it read-only.
std::string ReadingUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = IsLetterOrDigit(c) || c == '/' || c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?mode=ro";
}

// SQLite also opens the files beside a database, and would wait for a writer of a FIFO.
Result<void> CheckFiles(const std::string& path) {
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    struct stat status {};
    const std::string file = path + suffix;
    const bool there = ::lstat(file.c_str(), &status) == 0;
    if (!there && errno != ENOENT) return Fail(SystemError("database", "cannot open " + Quoted(file), errno));
    if (there && !S_ISREG(status.st_mode)) {
      return Fail(MachineError("database", fmt::format("cannot open {}: it is not a regular file", Quoted(file))));
    }
  }
  return {};
}

}  // namespace

void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Result<Database> Database::Open(const std::string& path, Mode mode) {
  int flags = SQLITE_OPEN_NOMUTEX;
  std::string name = path;
  if (mode != Mode::kTemporary) {
    if (auto checked = CheckFiles(path); !checked) return Fail(std::move(checked.error()));
  }
  if (mode == Mode::kRead) {
    flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW;
  } else if (mode == Mode::kTemporary) {
    name.clear();
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_URI;  // Attach passes a URI
  } else {
    // Created here, with the mode of all files that muster writes; SQLite creates its other files with the same mode.
    const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600));
    if (!file) return Fail(SystemError("database", fmt::format("cannot make {}", Quoted(path)), errno));
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW;
  }
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &opened, flags, nullptr);
  Database database(opened);
  if (result == SQLITE_OK) {
    // Views, triggers and functions that a file contains are not executed.
    for (const auto& [option, on] : {std::pair{SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0},
                                     {SQLITE_DBCONFIG_DEFENSIVE, 1},
                                     {SQLITE_DBCONFIG_ENABLE_TRIGGER, 0},
                                     {SQLITE_DBCONFIG_ENABLE_VIEW, 0}}) {
      sqlite3_db_config(opened, option, on, nullptr);
    }
    return database;
  }
  return Fail(MachineError("database", fmt::format("cannot open {}: {}", Quoted(path), sqlite3_errstr(result))));
}

bool Database::Run(const char* statements) {
  return sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr) == SQLITE_OK;
}

Statement Database::Prepare(const char* statement) const {
  sqlite3_stmt* prepared = nullptr;
  const int error = sqlite3_prepare_v3(database_.get(), statement, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  return {prepared, error};
}

Result<void> Database::Attach(const std::string& path, const std::string& name) {
  if (auto checked = CheckFiles(path); !checked) return checked;
  Statement attach = Prepare("ATTACH ?1 AS ?2");
  return attach.Bind(1, ReadingUri(path)).Bind(2, name).ForEach([](const Statement&) { return true; });
}

void Database::LimitSteps(std::uint64_t steps) {
  constexpr int kAtOnce = 1000;
  steps_left_ = std::make_unique<std::int64_t>(static_cast<std::int64_t>(steps / kAtOnce));
  const auto count = [](void* left) { return --*static_cast<std::int64_t*>(left) < 0 ? 1 : 0; };
  sqlite3_progress_handler(database_.get(), steps == 0 ? 0 : kAtOnce, count, steps_left_.get());
}

void Database::LimitValues(std::uint64_t bytes) {
  constexpr std::uint64_t kMax = std::numeric_limits<std::int32_t>::max();
  sqlite3_limit(database_.get(), SQLITE_LIMIT_LENGTH, static_cast<int>(std::min(bytes, kMax)));
}

void Database::WaitFor(int ms) { sqlite3_busy_timeout(database_.get(), ms); }
std::string Database::Problem() const { return sqlite3_errmsg(database_.get()); }

bool Database::WasInterrupted() const { return (sqlite3_errcode(database_.get()) & 0xff) == SQLITE_READONLY; }

bool Database::IsBusy() const {
  const int error = sqlite3_errcode(database_.get()) & 0xff;
  return error == SQLITE_BUSY || error == SQLITE_LOCKED || error == SQLITE_READONLY;
}

}  // namespace muster
