#include "sweep/database.h"

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>

#include "base/shell_quote.h"
#include "base/unique_fd.h"

namespace muster {
namespace {

// A path as the URI that opens it for reading alone.
std::string ReadingUri(const std::string& path) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' ||
                       c == '.' || c == '-' || c == '_';
    uri += plain ? std::string(1, c) : fmt::format("%{:02x}", static_cast<unsigned char>(c));
  }
  return uri + "?mode=ro";
}

}  // namespace

void Statement::Finalize::operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
void Database::Close::operator()(sqlite3* database) const { sqlite3_close_v2(database); }

Statement& Statement::Bind(int parameter, std::string_view text) {
  sqlite3_bind_text64(statement_.get(), parameter, text.data() == nullptr ? "" : text.data(), text.size(),
                      SQLITE_TRANSIENT, SQLITE_UTF8);
  return *this;
}

Statement& Statement::Bind(int parameter, double number) {
  sqlite3_bind_double(statement_.get(), parameter, number);
  return *this;
}

Statement& Statement::BindInteger(int parameter, std::int64_t number) {
  sqlite3_bind_int64(statement_.get(), parameter, number);
  return *this;
}

Statement& Statement::BindNull(int parameter) {
  sqlite3_bind_null(statement_.get(), parameter);
  return *this;
}

Statement& Statement::BindBlob(int parameter, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), parameter, bytes.data(), bytes.size(), SQLITE_STATIC);
  return *this;
}

bool Statement::Step() {
  if (statement_ == nullptr) return false;
  if (sqlite3_step(statement_.get()) == SQLITE_ROW) return true;
  Reset();
  return false;
}

bool Statement::Run() {
  if (statement_ == nullptr) return false;
  int result = sqlite3_step(statement_.get());
  while (result == SQLITE_ROW) result = sqlite3_step(statement_.get());
  Reset();
  return result == SQLITE_DONE;
}

void Statement::Reset() { sqlite3_reset(statement_.get()); }
bool Statement::IsNull(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

std::string_view Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(bytes), std::size_t(size));
}

std::int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::Number(int column) const { return sqlite3_column_double(statement_.get(), column); }

Result<Database> Database::Open(const std::string& path, Mode mode) {
  int flags = SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;
  std::string name = path;
  if (mode == Mode::kRead) {
    flags |= SQLITE_OPEN_READONLY | SQLITE_OPEN_NOFOLLOW;
  } else if (mode == Mode::kTemporary) {
    name.clear();
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE;
  } else {
    // Made here, with the modes of all that muster writes; what SQLite puts beside it has the same ones.
    const UniqueFd file(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
    if (!file) return Fail(SystemError("database", fmt::format("cannot make {}", Quoted(path)), errno));
    flags |= SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOFOLLOW;
  }
  sqlite3* opened = nullptr;
  const int result = sqlite3_open_v2(name.c_str(), &opened, flags, nullptr);
  Database database(opened);
  if (result == SQLITE_OK) return database;
  return Fail(MachineError("database", fmt::format("cannot open {}: {}", Quoted(path), sqlite3_errstr(result))));
}

bool Database::Run(const char* statements) {
  return sqlite3_exec(database_.get(), statements, nullptr, nullptr, nullptr) == SQLITE_OK;
}

Statement Database::Prepare(const char* statement) const {
  sqlite3_stmt* prepared = nullptr;
  sqlite3_prepare_v3(database_.get(), statement, -1, SQLITE_PREPARE_PERSISTENT, &prepared, nullptr);
  return Statement(prepared);
}

bool Database::Attach(const std::string& path, const std::string& name) {
  Statement attach = Prepare("ATTACH ?1 AS ?2");
  return attach.Bind(1, ReadingUri(path)).Bind(2, name).Run();
}

void Database::WaitFor(int ms) { sqlite3_busy_timeout(database_.get(), ms); }
std::string Database::Problem() const { return sqlite3_errmsg(database_.get()); }

bool Database::IsBusy() const { return (sqlite3_errcode(database_.get()) & 0xff) == SQLITE_BUSY; }

}  // namespace muster
