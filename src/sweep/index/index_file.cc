#include "sweep/index/index_file.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "sweep/index/sweep_rows.h"
#include "sweep/record/sweep_progress_archive.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// Must change with the tables, and with the archive of SweepProgress.
constexpr std::int64_t kFormat = 6;
constexpr std::size_t kKnownBytes = 4096;         // of the journal's beginning, and before the position
constexpr std::uint64_t kMostSteps = 10'000'000;  // of SQLite's virtual machine, to validate an index
// An index is about as large as its journal.
constexpr std::uint64_t kLeastBytes = 16U << 20;
constexpr std::uint64_t kBytesPerByte = 8;
constexpr const char* kFiles[] = {"index.sqlite", "index.sqlite-journal", "index.sqlite-wal", "index.sqlite-shm"};

constexpr char kMeta[] = R"(
CREATE TABLE IF NOT EXISTS held (one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL,
  bytes INTEGER NOT NULL, seq INTEGER NOT NULL, known TEXT NOT NULL, boot TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS account (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL,
  seq INTEGER NOT NULL, sum INTEGER NOT NULL, archive BLOB NOT NULL);
)";

tl::unexpected<Diagnostics> Damaged(const std::string& what) { return Fail(MachineError("database", what)); }

// The definitions of all tables, views, triggers and indices of a database, in a fixed order.
Result<std::vector<std::string>> SchemaOf(const Database& database, const std::string& name, std::size_t most) {
  std::vector<std::string> schema;
  const auto read =
      database.Prepare(fmt::format("SELECT type, name, tbl_name, sql FROM {}.sqlite_master", name).c_str())
          .ForEach([&](const Statement& row) {
            schema.push_back(fmt::format("{} {} {} {}", row.Text(0), row.Text(1), row.Text(2), row.Text(3)));
            return schema.size() <= most;
          });
  if (!read) return Fail(read.error());
  std::sort(schema.begin(), schema.end());
  return schema;
}

// Whether it has the tables of an index, or none yet. A database with other tables, or other objects, is not muster's.
Result<bool> HasTables(const Database& database, const std::string& name) {
  static const std::vector<std::string> expected = [] {
    auto made = Database::Open({}, Database::Mode::kTemporary);
    if (!made || !MakeIndexTables(*made)) return std::vector<std::string>();
    return SchemaOf(*made, "main", std::numeric_limits<std::size_t>::max()).value_or(std::vector<std::string>());
  }();
  const auto schema = SchemaOf(database, name, expected.size());
  if (!schema) return Fail(schema.error());
  if (schema->empty()) return false;
  if (*schema != expected) return Damaged("its tables are not those that muster makes");
  return true;
}

JournalPosition PositionOf(const Statement& row, int column) {
  return {static_cast<std::uint64_t>(row.Integer(column)), static_cast<std::uint64_t>(row.Integer(column + 1))};
}

// The bytes that identify a journal: its first ones, and the last ones before `end`. Empty if it is too short.
std::string KnownBy(int folder, std::uint64_t end) {
  const UniqueFd journal(::openat(folder, kJournalEntry.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!journal) return {};
  const std::uint64_t size = std::min<std::uint64_t>(end, kKnownBytes);
  Sha256 hash;
  for (const std::uint64_t offset : {std::uint64_t{0}, end - size}) {
    std::string bytes(size, '\0');
    if (::pread(journal.get(), bytes.data(), size, static_cast<off_t>(offset)) != static_cast<ssize_t>(size)) return {};
    hash.Add(bytes);
  }
  return hash.Hex();
}

std::string In(const std::string& name, const char* statement) { return fmt::format(fmt::runtime(statement), name); }

Result<std::optional<Indexed>> AskIndex(const Database& database, const std::string& name,
                                        const std::string& sweep_dir) {
  const Result<bool> tables = HasTables(database, name);
  if (!tables && database.IsBusy()) return std::nullopt;
  if (!tables) return Fail(tables.error());
  if (!*tables) return std::nullopt;
  Indexed indexed;
  std::int64_t format = 0;
  std::string known, boot;
  const Result<bool> held = database.Prepare(In(name, "SELECT format, bytes, seq, known, boot FROM {}.held").c_str())
                                .First([&](const Statement& row) {
                                  format = row.Integer(0);
                                  indexed.rows = PositionOf(row, 1);
                                  known = row.Text(3);
                                  boot = row.Text(4);
                                });
  if (!held) return Fail(held.error());
  if (!*held || format != kFormat || (!boot.empty() && boot != BootId())) return std::nullopt;
  const UniqueFd folder(::open(sweep_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string knows = KnownBy(folder.get(), indexed.rows.bytes);
  if (indexed.rows.bytes > 0 ? knows.empty() || known != knows : indexed.rows.seq > 0) return std::nullopt;
  const Result<bool> account =
      database.Prepare(In(name, "SELECT bytes, seq FROM {}.account").c_str()).First([&](const Statement& row) {
        indexed.account = PositionOf(row, 0);
      });
  if (!account) return Fail(account.error());
  if (indexed.account.seq > indexed.rows.seq || indexed.account.bytes > indexed.rows.bytes) return std::nullopt;
  return indexed;
}

}  // namespace

Result<std::optional<Indexed>> WhatIsIndexed(Database& database, const std::string& name,
                                             const std::string& sweep_dir) {
  // In a file that is not an index, even listing the tables can take for ever.
  database.LimitSteps(kMostSteps);
  auto indexed = AskIndex(database, name, sweep_dir);
  database.LimitSteps(0);
  return indexed;
}

Result<void> CheckRows(Database& database, const std::string& name) {
  std::string found;
  const Result<bool> checked =
      database.Prepare(In(name, "PRAGMA {}.quick_check(1)").c_str()).First([&](const Statement& row) {
        found = row.Text(0);
      });
  if (!checked) return Fail(checked.error());
  if (found == "ok") return {};
  return Damaged(found);
}

Result<SweepProgress> StoredSweepProgress(Database& database, const std::string& name) {
  std::optional<SweepProgress> account;
  const Result<bool> kept =
      database.Prepare(In(name, "SELECT sum, archive FROM {}.account").c_str()).First([&](const Statement& row) {
        const std::string_view bytes = row.Text(1);
        if (row.Integer(0) == Crc32c(bytes)) account = Unarchived<SweepProgress>(bytes);
      });
  if (!kept) return Fail(kept.error());
  if (!*kept) return SweepProgress();
  if (!account) return Damaged("the sweep's summary has a wrong checksum");
  return *std::move(account);
}

Result<std::uint64_t> IndexBytes(int folder) {
  struct stat index {};
  if (::fstatat(folder, kFiles[0], &index, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  if (!S_ISREG(index.st_mode)) return Damaged("it is not a regular file");
  const auto bytes = static_cast<std::uint64_t>(index.st_size);
  struct stat journal {};
  if (bytes == 0 || ::fstatat(folder, kJournalEntry.name, &journal, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  const auto most = kLeastBytes + kBytesPerByte * static_cast<std::uint64_t>(std::max<off_t>(journal.st_size, 0));
  if (bytes <= most) return bytes;
  return Damaged(fmt::format("its {} bytes are more than the index of such a journal has", bytes));
}

// A rollback journal with a super-journal ends in its name, the length and sum of the name, and this mark
// (sqlite.org/fileformat2.html). SQLite deletes the super-journal after the rollback. muster's index never has one.
bool NamesAnotherFile(int folder) {
  constexpr std::string_view kMark = "\xd9\xd5\x05\xf9\x20\xa1\x63\xd7";
  const UniqueFd journal(::openat(folder, kFiles[1], O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat status {};
  if (!journal || ::fstat(journal.get(), &status) != 0) return false;
  std::array<char, kMark.size()> end = {};
  const off_t at = status.st_size - static_cast<off_t>(end.size());
  if (at < 0 || ::pread(journal.get(), end.data(), end.size(), at) != static_cast<ssize_t>(end.size())) return false;
  return std::string_view(end.data(), end.size()) == kMark;
}

void RemoveIndex(int folder) {
  for (const char* name : kFiles) ::unlinkat(folder, name, 0);
}

bool MakeIndexTables(Database& database) {
  return database.Run("BEGIN IMMEDIATE") && database.Run(kMeta) && SweepRows::MakeTables(database) &&
         database.Run("COMMIT");
}

bool WriteHeld(Database& database, int folder, JournalPosition position, const std::string& boot) {
  return database.Prepare("INSERT OR REPLACE INTO held VALUES (1, ?1, ?2, ?3, ?4, ?5)")
      .Bind(1, kFormat)
      .Bind(2, position.bytes)
      .Bind(3, position.seq)
      .Bind(4, KnownBy(folder, position.bytes))
      .Bind(5, boot)
      .Run();
}

bool WriteSweepProgress(Database& database, JournalPosition position, const SweepProgress& account) {
  const std::string archive = Archived(account);
  return database.Prepare("INSERT OR REPLACE INTO account VALUES (1, ?1, ?2, ?3, ?4)")
      .Bind(1, position.bytes)
      .Bind(2, position.seq)
      .Bind(3, Crc32c(archive))
      .BindBlob(4, archive)
      .Run();
}

}  // namespace muster
