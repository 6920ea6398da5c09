#include "sweep/sweep_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <errno.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "base/fingerprint.h"
#include "base/self_count.h"
#include "base/unique_fd.h"
#include "sweep/sweep_account_archive.h"

namespace muster {
namespace {

// Changes with the tables and with the account's archive.
constexpr std::int64_t kFormat = 2;
constexpr std::size_t kKnownBytes = 4096;        // of the journal's beginning, and of what stands before the position
constexpr std::uint64_t kFewBytes = 256U << 10;  // of the journal: so many are read faster than an account is kept
constexpr std::uint64_t kShareUnkept = 16;     // an account is kept when the journal has grown by one of so many parts
constexpr std::uint64_t kRowsAtOnce = 50'000;  // of a transaction while catching up
constexpr int kWaitMs = 5000;

constexpr char kMeta[] = R"(
CREATE TABLE IF NOT EXISTS held (one INTEGER PRIMARY KEY CHECK (one = 1), format INTEGER NOT NULL,
  bytes INTEGER NOT NULL, seq INTEGER NOT NULL, known TEXT NOT NULL, boot TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS account (one INTEGER PRIMARY KEY CHECK (one = 1), bytes INTEGER NOT NULL,
  seq INTEGER NOT NULL, sum INTEGER NOT NULL, archive BLOB NOT NULL);
)";

UniqueFd FolderAt(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// What a journal is known again by: its first bytes, and the last ones before `end`. Empty if it has not so many.
std::string KnownBy(int folder, std::uint64_t end) {
  const UniqueFd journal(::openat(folder, "journal.jsonl", O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
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

// Calls `take` for all records after `from`.
LoadedSweep ReadOn(int folder, SweepAccount account, JournalPosition from,
                   const std::function<void(const SweepRecord&)>& take) {
  LoadedSweep loaded;
  loaded.account = std::move(account);
  loaded.position = ReadSweepJournal(
      folder, from,
      [&](const SweepRecord& record) {
        loaded.account.Take(record.entry);
        take(record);
      },
      loaded.stopped);
  return loaded;
}

}  // namespace

std::optional<Indexed> WhatIsIndexed(const Database& database, const std::string& name, const std::string& sweep_dir) {
  Statement held = database.Prepare(In(name, "SELECT format, bytes, seq, known, boot FROM {}.held").c_str());
  if (!held.Step() || held.Integer(0) != kFormat) return std::nullopt;
  Indexed indexed;
  indexed.rows = {static_cast<std::uint64_t>(held.Integer(1)), static_cast<std::uint64_t>(held.Integer(2))};
  const std::string boot(held.Text(4));
  const UniqueFd folder = FolderAt(sweep_dir);
  if (!boot.empty() && boot != BootId()) return std::nullopt;
  if (indexed.rows.bytes > 0 && held.Text(3) != KnownBy(folder.get(), indexed.rows.bytes)) return std::nullopt;
  Statement account = database.Prepare(In(name, "SELECT bytes, seq FROM {}.account").c_str());
  if (account.Step()) {
    indexed.account = {static_cast<std::uint64_t>(account.Integer(0)), static_cast<std::uint64_t>(account.Integer(1))};
  }
  if (indexed.account.seq > indexed.rows.seq) return std::nullopt;
  return indexed;
}

std::optional<SweepAccount> KeptAccount(const Database& database, const std::string& name) {
  Statement kept = database.Prepare(In(name, "SELECT sum, archive FROM {}.account").c_str());
  if (!kept.Step()) return std::nullopt;
  const std::string_view bytes = kept.Text(1);
  if (kept.Integer(0) != Crc32c(bytes)) return std::nullopt;
  return Unarchived<SweepAccount>(bytes);
}

LoadedSweep LoadAccount(const std::string& sweep_dir) {
  const UniqueFd folder = FolderAt(sweep_dir);
  SweepAccount account;
  JournalPosition from;
  if (auto database = Database::Open(sweep_dir + kIndexName, Database::Mode::kRead)) {
    database->WaitFor(kWaitMs);
    database->Run("BEGIN");
    if (const auto indexed = WhatIsIndexed(*database, "main", sweep_dir)) {
      if (auto kept = KeptAccount(*database, "main")) {
        account = *std::move(kept);
        from = indexed->account;
      }
    }
  }
  return ReadOn(folder.get(), std::move(account), from, [](const SweepRecord&) {});
}

// --- the head's -------------------------------------------------------------------------------------

struct SweepIndex::State {
  std::string sweep_dir;
  UniqueFd folder;
  std::string boot = BootId();
  std::optional<Database> database;
  std::optional<SweepRows> rows;
  JournalPosition held;    // of the rows, those not committed included
  std::uint64_t kept = 0;  // bytes of the journal that the kept account is of
  bool within = false;     // a transaction
  std::string problem;

  // `empty`: what is there is thrown away.
  bool Open(bool empty);
  bool Begin();
  void GiveUp();
  bool Write(const SweepAccount& account, JournalPosition position, bool keep, const std::string& boot_now);
};

bool SweepIndex::State::Open(bool empty) {
  const std::string path = sweep_dir + kIndexName;
  held = {};
  kept = 0;
  within = false;
  for (const bool again : {false, true}) {
    if (empty && !again) continue;
    rows.reset();
    database.reset();
    if (again) {
      for (const char* name : {"index.sqlite", "index.sqlite-journal"}) ::unlinkat(folder.get(), name, 0);
    }
    auto opened = Database::Open(path, Database::Mode::kWrite);
    if (!opened) {
      problem = opened.error().front().message;
      return false;
    }
    database = *std::move(opened);
    database->WaitFor(kWaitMs);
    // What is written is a cache: only the last commit waits for the disk.
    const bool made = database->Run("PRAGMA synchronous = OFF; PRAGMA cache_size = -32768;") && database->Run(kMeta) &&
                      SweepRows::MakeTables(*database);
    problem = made ? std::string() : database->Problem();
    if (made) {
      // One that does not say how far it goes was left while it caught up.
      if (again) break;
      if (const auto indexed = WhatIsIndexed(*database, "main", sweep_dir)) {
        held = indexed->rows;
        kept = indexed->account.bytes;
        // Known on the disk before anything is changed there: from now on it holds for this start of the machine.
        Statement mark = database->Prepare("UPDATE held SET boot = ?1");
        database->Run("PRAGMA synchronous = FULL");
        if (mark.Bind(1, boot).Run() && database->Run("PRAGMA synchronous = OFF")) break;
      }
    } else if (again) {
      return false;
    }
  }
  rows.emplace(*database, false);
  return true;
}

bool SweepIndex::State::Begin() {
  if (!within) within = database->Run("BEGIN");
  return within;
}

void SweepIndex::State::GiveUp() {
  problem = database ? database->Problem() : problem;
  rows.reset();
  database.reset();
}

bool SweepIndex::State::Write(const SweepAccount& account, JournalPosition position, bool keep,
                              const std::string& boot_now) {
  if (!Begin()) return false;
  Statement now = database->Prepare("INSERT OR REPLACE INTO held VALUES (1, ?1, ?2, ?3, ?4, ?5)");
  const bool told = now.Bind(1, kFormat)
                        .Bind(2, position.bytes)
                        .Bind(3, position.seq)
                        .Bind(4, KnownBy(folder.get(), position.bytes))
                        .Bind(5, boot_now)
                        .Run();
  if (!told || !keep) return told;
  const std::string archive = Archived(account);
  Statement put = database->Prepare("INSERT OR REPLACE INTO account VALUES (1, ?1, ?2, ?3, ?4)");
  return put.Bind(1, position.bytes).Bind(2, position.seq).Bind(3, Crc32c(archive)).BindBlob(4, archive).Run();
}

SweepIndex::SweepIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}
SweepIndex::SweepIndex(SweepIndex&&) noexcept = default;
SweepIndex& SweepIndex::operator=(SweepIndex&&) noexcept = default;
SweepIndex::~SweepIndex() = default;

SweepIndex SweepIndex::Open(const std::string& sweep_dir) {
  auto state = std::make_unique<State>();
  state->sweep_dir = sweep_dir;
  state->folder = FolderAt(sweep_dir);
  if (!state->Open(false)) state->GiveUp();
  return SweepIndex(std::move(state));
}

LoadedSweep SweepIndex::CatchUp() {
  State& s = *state_;
  SweepAccount account;
  JournalPosition from;
  if (s.database && s.kept > 0) {
    const auto indexed = WhatIsIndexed(*s.database, "main", s.sweep_dir);
    auto kept = indexed ? KeptAccount(*s.database, "main") : std::nullopt;
    if (kept) {
      account = *std::move(kept);
      from = indexed->account;
    }
  }
  std::uint64_t taken = 0;
  LoadedSweep loaded = ReadOn(s.folder.get(), std::move(account), from, [&](const SweepRecord& record) {
    if (!s.rows || record.seq <= s.held.seq) return;
    Take(record);
    // Without a word on how far they go: should this end here, the next one throws them away.
    if (++taken % kRowsAtOnce == 0 && s.database && s.database->Run("DELETE FROM held; COMMIT")) s.within = false;
  });
  if (s.database && loaded.position.seq < s.held.seq) {
    // Rows of what the journal does not hold any more: it was altered before the end that they know it by.
    if (!s.Open(true)) s.GiveUp();
    return CatchUp();
  }
  if (taken > 0 || s.held.seq == 0) Commit(loaded.account, loaded.position);
  if (s.database) s.database->WaitFor(0);
  return loaded;
}

void SweepIndex::Take(const SweepRecord& record) {
  State& s = *state_;
  if (!s.rows) return;
  if (!s.Begin() || !s.rows->Take(record)) return s.GiveUp();
  s.held.seq = record.seq;
}

void SweepIndex::Commit(const SweepAccount& account, JournalPosition position, bool leaving) {
  State& s = *state_;
  if (!s.database) return;
  const std::uint64_t grown = position.bytes - std::min(position.bytes, s.kept);
  const bool keep = leaving || grown > kFewBytes + s.kept / kShareUnkept;
  if (leaving) {
    s.database->WaitFor(kWaitMs);
    // Everything that is in the file waits for the disk before it is said to hold.
    if (!s.Write(account, position, keep, s.boot)) return s.GiveUp();
    if (!s.database->Run("COMMIT")) return;
    s.within = false;
    s.kept = position.bytes;
    const UniqueFd file(::open((s.sweep_dir + kIndexName).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file || ::fdatasync(file.get()) != 0) return;
    s.database->Run("PRAGMA synchronous = FULL; UPDATE held SET boot = ''; PRAGMA synchronous = OFF;");
    return;
  }
  if (!s.within && !keep && position.seq == s.held.seq) return;
  if (!s.Write(account, position, keep, s.boot)) {
    if (!s.database->IsBusy()) s.GiveUp();
    return;
  }
  if (!s.database->Run("COMMIT")) {
    if (!s.database->IsBusy()) s.GiveUp();
    return;
  }
  s.within = false;
  s.held = position;
  if (keep) s.kept = position.bytes;
}

const std::string& SweepIndex::problem() const { return state_->problem; }

}  // namespace muster
