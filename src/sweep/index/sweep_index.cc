#include "sweep/index/sweep_index.h"

#include <algorithm>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "base/system/unique_fd.h"
#include "sweep/index/database.h"
#include "sweep/index/index_file.h"

namespace muster {
namespace {

constexpr std::uint64_t kFewBytes = 256U << 10;  // of the journal: reading it is faster than storing progress
constexpr std::uint64_t kShareUnkept = 16;       // the progress is stored when the journal has grown by this fraction
constexpr std::uint64_t kRowsAtOnce = 50'000;    // of a transaction while catching up

UniqueFd FolderAt(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Calls `take` for all records after `from`, and updates the progress.
LoadedSweep ReadOn(int folder, SweepProgress account, JournalPosition from,
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

// The progress stored in the folder's index, and its position; zeros if there is no matching index.
Result<std::pair<SweepProgress, JournalPosition>> ProgressInIndex(const std::string& sweep_dir, int folder) {
  const Result<std::uint64_t> bytes = IndexBytes(folder);
  if (!bytes) return Fail(bytes.error());
  if (*bytes == 0 || ::faccessat(folder, kIndexName + 1, R_OK, 0) != 0) return {};
  auto database = Database::Open(sweep_dir + kIndexName, Database::Mode::kRead);
  if (!database) return Fail(database.error());
  database->WaitFor(kDatabaseWaitMs);
  database->LimitValues(*bytes);
  if (!database->Run("BEGIN")) return Fail(MachineError("database", database->Problem()));
  const auto indexed = WhatIsIndexed(*database, "main", sweep_dir);
  if (!indexed && database->WasInterrupted()) return {};
  if (!indexed) return Fail(indexed.error());
  if (!*indexed) return {};
  auto account = StoredSweepProgress(*database, "main");
  if (!account) return Fail(account.error());
  return std::pair(*std::move(account), (*indexed)->account);
}

}  // namespace

LoadedSweep LoadSweepProgress(const std::string& sweep_dir) {
  const UniqueFd folder = FolderAt(sweep_dir);
  auto indexed = ProgressInIndex(sweep_dir, folder.get());
  std::string damage = indexed ? std::string() : indexed.error().front().message;
  LoadedSweep loaded = indexed ? ReadOn(folder.get(), std::move(indexed->first), indexed->second, [](const auto&) {})
                               : ReadOn(folder.get(), {}, {}, [](const auto&) {});
  loaded.damage = std::move(damage);
  return loaded;
}

// --- for the head -----------------------------------------------------------------------------------

namespace {

// The index is a cache: only the last commit is synced to the disk.
constexpr char kUnsynced[] = "PRAGMA synchronous = OFF";

}  // namespace

struct SweepIndex::State {
  std::string sweep_dir;
  UniqueFd folder;
  std::string boot = BootId();
  std::optional<Database> database;
  std::optional<SweepRows> rows;
  JournalPosition held;    // of the rows, including those not committed yet
  std::uint64_t kept = 0;  // bytes of the journal that the stored progress covers
  bool within = false;     // in a transaction
  std::string problem;
  std::string damage;

  // Continues with the existing index. Whether that is possible; an error if it is damaged.
  Result<bool> Continue();
  // Discards the existing index.
  bool Rebuild();
  bool Begin();
  void GiveUp();
  bool Write(const SweepProgress& account, JournalPosition position, bool keep, const std::string& boot_now);
};

Result<bool> SweepIndex::State::Continue() {
  const Result<std::uint64_t> bytes = IndexBytes(folder.get());
  if (!bytes) return Fail(bytes.error());
  if (*bytes == 0) return false;
  if (NamesAnotherFile(folder.get())) {
    return Fail(MachineError("database", "what was left to be undone in it names another file"));
  }
  auto opened = Database::Open(sweep_dir + kIndexName, Database::Mode::kWrite);
  if (!opened) return Fail(opened.error());
  database = *std::move(opened);
  database->WaitFor(kDatabaseWaitMs);
  const auto indexed = WhatIsIndexed(*database, "main", sweep_dir);
  if (!indexed) return Fail(indexed.error());
  // An index without a position was interrupted while catching up.
  if (!*indexed) return false;
  if (auto checked = CheckRows(*database, "main"); !checked) return Fail(checked.error());
  held = (*indexed)->rows;
  kept = (*indexed)->account.bytes;
  // Synced to the disk before the first change: from now on the index is valid for this boot only.
  if (!database->Run("PRAGMA cache_size = -32768; PRAGMA synchronous = FULL")) return false;
  if (!database->Prepare("UPDATE held SET boot = ?1").Bind(1, boot).Run()) return false;
  return database->Run(kUnsynced);
}

bool SweepIndex::State::Rebuild() {
  rows.reset();
  database.reset();
  held = {};
  kept = 0;
  within = false;
  RemoveIndex(folder.get());
  auto opened = Database::Open(sweep_dir + kIndexName, Database::Mode::kWrite);
  if (!opened) {
    problem = opened.error().front().message;
    return false;
  }
  database = *std::move(opened);
  database->WaitFor(kDatabaseWaitMs);
  const bool made =
      database->Run("PRAGMA cache_size = -32768") && database->Run(kUnsynced) && MakeIndexTables(*database);
  problem = made ? std::string() : database->Problem();
  if (made) rows.emplace(*database, false);
  return made;
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

bool SweepIndex::State::Write(const SweepProgress& account, JournalPosition position, bool keep,
                              const std::string& boot_now) {
  if (!Begin() || !WriteHeld(*database, folder.get(), position, boot_now)) return false;
  return !keep || WriteSweepProgress(*database, position, account);
}

SweepIndex::SweepIndex(std::unique_ptr<State> state) : state_(std::move(state)) {}
SweepIndex::SweepIndex(SweepIndex&&) noexcept = default;
SweepIndex& SweepIndex::operator=(SweepIndex&&) noexcept = default;
SweepIndex::~SweepIndex() = default;

SweepIndex SweepIndex::Open(const std::string& sweep_dir) {
  auto state = std::make_unique<State>();
  state->sweep_dir = sweep_dir;
  state->folder = FolderAt(sweep_dir);
  const Result<bool> goes_on = state->Continue();
  if (!goes_on) state->damage = goes_on.error().front().message;
  if (goes_on && *goes_on) {
    state->rows.emplace(*state->database, false);
  } else if (!state->Rebuild()) {
    state->GiveUp();
  }
  return SweepIndex(std::move(state));
}

LoadedSweep SweepIndex::CatchUp() {
  State& s = *state_;
  SweepProgress account;
  JournalPosition from;
  if (s.database && s.kept > 0) {
    const auto indexed = WhatIsIndexed(*s.database, "main", s.sweep_dir);
    auto kept_account = StoredSweepProgress(*s.database, "main");
    if (indexed && *indexed && kept_account) {
      account = *std::move(kept_account);
      from = (*indexed)->account;
    } else if (!kept_account) {
      s.damage = kept_account.error().front().message;
      if (!s.Rebuild()) s.GiveUp();
    }
  }
  std::uint64_t taken = 0;
  LoadedSweep loaded = ReadOn(s.folder.get(), std::move(account), from, [&](const SweepRecord& record) {
    if (!s.rows || record.seq <= s.held.seq) return;
    Take(record);
    // The position is removed first: if this process dies while catching up, the next one discards the rows.
    if (++taken % kRowsAtOnce == 0 && s.database && s.database->Run("DELETE FROM held; COMMIT")) s.within = false;
  });
  if (s.database && loaded.position.seq < s.held.seq) {
    // The rows are of journal entries that no longer exist: the journal was changed before the bytes that identify it.
    if (!s.Rebuild()) s.GiveUp();
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

void SweepIndex::Commit(const SweepProgress& account, JournalPosition position, bool leaving) {
  State& s = *state_;
  if (!s.database) return;
  const std::uint64_t grown = position.bytes - std::min(position.bytes, s.kept);
  const bool keep = leaving || grown > kFewBytes + s.kept / kShareUnkept;
  if (leaving) {
    s.database->WaitFor(kDatabaseWaitMs);
    // All rows are synced to the disk before the index is declared valid.
    if (!s.Write(account, position, keep, s.boot)) return s.GiveUp();
    if (!s.database->Run("COMMIT")) return;
    s.within = false;
    s.kept = position.bytes;
    const UniqueFd file(::open((s.sweep_dir + kIndexName).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file || ::fdatasync(file.get()) != 0) return;
    const bool whole =
        s.database->Run("PRAGMA synchronous = FULL; UPDATE held SET boot = ''") && s.database->Run(kUnsynced);
    if (!whole) s.problem = s.database->Problem();  // it is valid until the machine is switched off
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
const std::string& SweepIndex::damage() const { return state_->damage; }

}  // namespace muster
