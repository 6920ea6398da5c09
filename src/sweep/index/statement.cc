#include "sweep/index/statement.h"

#include <fmt/format.h>
#include <sqlite3.h>

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

bool Statement::Run() {
  return ForEach([](const Statement&) { return true; }).has_value();
}

bool Statement::IsNull(int column) const { return sqlite3_column_type(statement_.get(), column) == SQLITE_NULL; }

std::string_view Statement::Text(int column) const {
  const void* bytes = sqlite3_column_blob(statement_.get(), column);
  const int size = sqlite3_column_bytes(statement_.get(), column);
  return bytes == nullptr ? std::string_view() : std::string_view(static_cast<const char*>(bytes), std::size_t(size));
}

std::int64_t Statement::Integer(int column) const { return sqlite3_column_int64(statement_.get(), column); }
double Statement::Number(int column) const { return sqlite3_column_double(statement_.get(), column); }

}  // namespace muster
