#include "sweep/index/sweep_index.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <utility>
#include <variant>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "base/system/unique_fd.h"
#include "base/values/fingerprint.h"
#include "base/values/overloaded.h"
#include "sweep/record/sweep_directory.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/value_archive.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

constexpr auto kMax = static_cast<TrialNumber>(std::numeric_limits<std::int64_t>::max());

constexpr char kTables[] = R"(
CREATE TABLE IF NOT EXISTS attempts (
  trial INTEGER NOT NULL, attempt INTEGER NOT NULL, last INTEGER NOT NULL, over INTEGER NOT NULL,
  id TEXT NOT NULL, point TEXT NOT NULL, plan TEXT NOT NULL, run TEXT NOT NULL, hosts TEXT NOT NULL,
  began TEXT NOT NULL, ended TEXT, class TEXT, interrupted INTEGER, again INTEGER, blamed TEXT, why TEXT,
  loss REAL, metrics TEXT, ms INTEGER, resumed INTEGER, checkpoint TEXT, job TEXT,
  warning TEXT,
  PRIMARY KEY (trial, attempt)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS reasons (
  text TEXT NOT NULL, place TEXT NOT NULL, count INTEGER NOT NULL, trials TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS rungs (
  trial INTEGER NOT NULL, attempt INTEGER NOT NULL, resource REAL, loss REAL, rung INTEGER NOT NULL,
  results INTEGER NOT NULL, rank INTEGER NOT NULL, threshold INTEGER NOT NULL, stop INTEGER NOT NULL,
  paused INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS promotions (
  trial INTEGER NOT NULL, rung INTEGER NOT NULL, results INTEGER NOT NULL, rank INTEGER NOT NULL,
  threshold INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS medians (
  trial INTEGER NOT NULL, attempt INTEGER NOT NULL, resource REAL, best REAL, finished INTEGER NOT NULL,
  median REAL);
CREATE TABLE IF NOT EXISTS heads (wall TEXT NOT NULL, pid INTEGER NOT NULL, muster TEXT NOT NULL, recipe TEXT NOT NULL,
  accepted INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS departures (
  wall TEXT NOT NULL, complete INTEGER NOT NULL, why TEXT NOT NULL, exit_code INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS quarantined (wall TEXT NOT NULL, host TEXT NOT NULL, why TEXT NOT NULL);
)";

// Must change with the tables, and with the archive of SweepProgress.
constexpr std::int64_t kFormat = 13;
constexpr std::size_t kKnownBytes = 4096;        // of the journal's beginning, and before the position
constexpr std::uint64_t kMaxSteps = 10'000'000;  // of SQLite's virtual machine, to validate an index
// An index is about as large as its journal.
constexpr std::uint64_t kMinBytes = 16U << 20;
constexpr std::uint64_t kBytesPerByte = 8;
constexpr const char* kFiles[] = {kIndexEntry.name, "index.sqlite-journal", "index.sqlite-wal", "index.sqlite-shm"};

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

// Whether it has the tables of an index of this version; not if it has none yet, or is one of another version. Any
// other database is not muster's.
Result<bool> HasTables(const Database& database, const std::string& name) {
  static const std::vector<std::string> expected = [] {
    auto made = Database::Open({}, Database::Mode::kTemporary);
    if (!made || !MakeIndexTables(*made)) return std::vector<std::string>();
    return SchemaOf(*made, "main", std::numeric_limits<std::size_t>::max()).value_or(std::vector<std::string>());
  }();
  const auto schema = SchemaOf(database, name, expected.size());
  if (!schema) return Fail(schema.error());
  if (schema->empty()) return false;
  if (*schema == expected) return true;
  // Other versions have other tables, and one that says which version it is.
  const auto is_held = [](const std::string& one) { return one.starts_with("table held held "); };
  const auto held = std::find_if(expected.begin(), expected.end(), is_held);
  if (held != expected.end() && std::find(schema->begin(), schema->end(), *held) != schema->end()) {
    std::int64_t format = kFormat;
    const Result<bool> read =
        database.Prepare(fmt::format("SELECT format FROM {}.held", name).c_str()).First([&](const Statement& row) {
          format = row.Integer(0);
        });
    if (read && format != kFormat) return false;
  }
  return Damaged("its tables are not those that muster makes");
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
  const Result<bool> progress =
      database.Prepare(In(name, "SELECT bytes, seq FROM {}.account").c_str()).First([&](const Statement& row) {
        indexed.progress = PositionOf(row, 0);
      });
  if (!progress) return Fail(progress.error());
  if (indexed.progress.seq > indexed.rows.seq || indexed.progress.bytes > indexed.rows.bytes) return std::nullopt;
  return indexed;
}

constexpr std::uint64_t kFewBytes = 256U << 10;  // of the journal: reading it is faster than storing progress
constexpr std::uint64_t kShareUnkept = 16;       // the progress is stored when the journal has grown by this fraction
constexpr std::uint64_t kRowsAtOnce = 50'000;    // of a transaction while catching up

UniqueFd FolderAt(const std::string& path) {
  return UniqueFd(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

// Calls `take` for all records after `from`, and updates the progress.
LoadedSweep ReadOn(int folder, SweepProgress progress, JournalPosition from,
                   const std::function<void(const SweepRecord&)>& take) {
  LoadedSweep loaded;
  loaded.progress = std::move(progress);
  loaded.position = ReadSweepJournal(
      folder, from,
      [&](const SweepRecord& record) {
        loaded.progress.Take(record.entry);
        take(record);
      },
      loaded.stopped);
  return loaded;
}

// The progress stored in the folder's index, and its position; zeros if there is no matching index.
Result<std::pair<SweepProgress, JournalPosition>> ProgressInIndex(const std::string& sweep_dir, int folder) {
  const Result<std::uint64_t> bytes = IndexBytes(folder);
  if (!bytes) return Fail(bytes.error());
  if (*bytes == 0 || ::faccessat(folder, kIndexEntry.name, R_OK, 0) != 0) return {};
  auto database = Database::Open(kIndexEntry.In(sweep_dir), Database::Mode::kRead);
  if (!database) return Fail(database.error());
  database->WaitFor(kDatabaseWaitMs);
  database->LimitValues(*bytes);
  if (!database->Run("BEGIN")) return Fail(MachineError("database", database->Problem()));
  const auto indexed = WhatIsIndexed(*database, "main", sweep_dir);
  if (!indexed && database->WasInterrupted()) return {};
  if (!indexed) return Fail(indexed.error());
  if (!*indexed) return {};
  auto progress = StoredSweepProgress(*database, "main");
  if (!progress) return Fail(progress.error());
  return std::pair(*std::move(progress), (*indexed)->progress);
}

// The index is a cache: only the last commit is synced to the disk.
constexpr char kUnsynced[] = "PRAGMA synchronous = OFF";

}  // namespace

bool SweepRows::MakeTables(Database& database) { return database.Run(kTables); }

SweepRows::SweepRows(Database& database, bool above)
    : copy_(database.Prepare(above ? "INSERT OR IGNORE INTO main.attempts SELECT * FROM held.attempts "
                                     "WHERE trial BETWEEN ?1 AND ?2 AND last"
                                   : "SELECT 1")),
      follow_(database.Prepare("UPDATE main.attempts SET last = 0, over = 0 WHERE trial = ?1 AND last")),
      begin_(database.Prepare("INSERT OR REPLACE INTO main.attempts (trial, attempt, last, over, id, point, plan, run, "
                              "hosts, began, resumed, checkpoint, job, warning) "
                              "VALUES (?1, ?2, 1, 0, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)")),
      end_(database.Prepare("UPDATE main.attempts SET ended = ?3, class = ?4, interrupted = ?5, again = ?6, "
                            "blamed = ?7, why = ?8, loss = ?9, metrics = ?10, ms = ?11, over = ?12 "
                            "WHERE trial = ?1 AND attempt = ?2")),
      reopen_(database.Prepare("UPDATE main.attempts SET over = 0 WHERE trial BETWEEN ?1 AND ?2 AND last")),
      reason_(database.Prepare("INSERT INTO main.reasons VALUES (?1, ?2, ?3, ?4)")),
      rung_(database.Prepare("INSERT INTO main.rungs VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)")),
      promotion_(database.Prepare("INSERT INTO main.promotions VALUES (?1, ?2, ?3, ?4, ?5)")),
      median_(database.Prepare("INSERT INTO main.medians VALUES (?1, ?2, ?3, ?4, ?5, ?6)")),
      head_(database.Prepare("INSERT INTO main.heads VALUES (?1, ?2, ?3, ?4, ?5)")),
      departure_(database.Prepare("INSERT INTO main.departures VALUES (?1, ?2, ?3, ?4)")),
      quarantine_(database.Prepare("INSERT INTO main.quarantined VALUES (?1, ?2, ?3)")),
      above_(above) {}

bool SweepRows::Copy(TrialNumber first, TrialNumber last) {
  return !above_ || copy_.Run(std::min(first, kMax), std::min(last, kMax));
}

bool SweepRows::Began(const AttemptBegan& entry, std::string_view wall) {
  if (entry.attempt > 0 && !(Copy(entry.trial, entry.trial) && follow_.Run(entry.trial))) return false;
  return begin_.Run(entry.trial, entry.attempt, entry.id, JsonOf(entry.point), entry.plan, entry.run_id,
                    JsonOf(entry.hosts), wall, entry.resumed.attempt, entry.resumed.checkpoint, entry.job,
                    entry.warning);
}

bool SweepRows::Ended(const AttemptEnded& entry, std::string_view wall) {
  if (!Copy(entry.trial, entry.trial)) return false;
  const bool over = !entry.again && !entry.interrupted;
  return end_.Run(entry.trial, entry.attempt, wall, TrialClassName(entry.trial_class), entry.interrupted, entry.again,
                  entry.blamed, entry.why, entry.loss, JsonOf(entry.metrics), entry.ms, over);
}

bool SweepRows::Take(const SweepRecord& record) {
  const std::string_view wall = record.wall;
  return std::visit(
      Overloaded{
          [&](const SweepBegan& e) { return head_.Run(wall, e.pid, e.muster, e.recipe, e.accepted); },
          [&](const PointsJudged& e) {
            return std::all_of(e.impossible.begin(), e.impossible.end(), [&](const PointsJudged::Reason& reason) {
              std::uint64_t count = 0;
              if (!reason.skipped.empty()) return true;  // part of the progress
              for (const auto& [first, last] : reason.trials) count += last - first + 1;
              return reason_.Run(reason.text, reason.place, count, JsonOf(reason.trials));
            });
          },
          [&](const AttemptBegan& e) { return Began(e, wall); }, [&](const AttemptEnded& e) { return Ended(e, wall); },
          [&](const RungReached& e) {
            const StopDecision& d = e.decision;
            return rung_.Run(e.trial, e.attempt, e.resource, e.loss, d.rung, d.results, d.rank, d.threshold, d.stop,
                             d.paused);
          },
          [&](const MedianStopped& e) {
            return median_.Run(e.trial, e.attempt, e.resource, e.best, e.finished, e.median);
          },
          [&](const TrialPromoted& e) {
            return Copy(e.trial, e.trial) && reopen_.Run(e.trial, e.trial) &&
                   promotion_.Run(e.trial, e.rung, e.results, e.rank, e.threshold);
          },
          [&](const HostQuarantined& e) { return quarantine_.Run(wall, e.host, e.why); },
          [&](const TrialsReopened& e) {
            return std::all_of(e.trials.begin(), e.trials.end(), [&](const TrialRange& range) {
              const auto& [first, last] = range;
              return Copy(first, last) && reopen_.Run(std::min(first, kMax), std::min(last, kMax));
            });
          },
          // Parts of the progress.
          [](const SweepSteered&) { return true; }, [](const SweepEdited&) { return true; },
          [](const ValueSkipped&) { return true; }, [](const ValueRestored&) { return true; },
          [](const NoGainExpected&) { return true; },
          [&](const SweepEnded& e) { return departure_.Run(wall, e.complete, e.why, e.exit_code); }},
      record.entry);
}

// Serialises a sweep's progress (wire/archive/archive.h): the index stores it, so that the whole journal need not be
// read.

namespace progress_archive {

// Two numbers for each range, since an archive has no pairs.
template <class A>
void Pairs(A& archive, std::vector<TrialRange>& ranges) {
  std::vector<std::uint64_t> numbers;
  if constexpr (!A::kReading) {
    for (const auto& [first, last] : ranges) {
      numbers.push_back(first);
      numbers.push_back(last);
    }
  }
  archive(numbers);
  if constexpr (A::kReading) {
    ranges.clear();
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2) ranges.emplace_back(numbers[i], numbers[i + 1]);
  }
}

template <class A>
void Set(A& archive, TrialSet& set) {
  std::vector<TrialRange> ranges = set.ranges();
  Pairs(archive, ranges);
  if constexpr (A::kReading) {
    set = {};
    for (const TrialRange& range : ranges) set.Add(range);
  }
}

}  // namespace progress_archive

template <class A>
void Fields(A& archive, OpenTrial& trial) {
  archive(trial.attempts, trial.counted, trial.free, trial.id, trial.plan, trial.point, trial.running, trial.run_id,
          trial.hosts, trial.devices, trial.first, trial.resumed, trial.rungs, trial.pause, trial.promoted);
  std::uint64_t kept = trial.kept ? std::uint64_t{1} + static_cast<std::uint64_t>(*trial.kept) : 0;
  archive(kept);
  if constexpr (A::kReading) {
    if (kept > kTrialClassNames.size()) return archive.Fail();
    trial.kept.reset();
    if (kept > 0) trial.kept = static_cast<TrialClass>(kept - 1);
  }
}

template <class A>
void Fields(A& archive, RungReport& report) {
  archive(report.rung, report.trial, report.loss, report.stop);
}

template <class A>
void Fields(A& archive, BestTrial& best) {
  archive(best.trial, best.attempt, best.loss, best.id, best.point, best.repeats, best.deviation);
}

template <class A>
void Fields(A& archive, RepeatedPoint::Result& result) {
  archive(result.loss, result.attempt, result.id);
}

template <class A>
void Fields(A& archive, RepeatedPoint& point) {
  archive(point.results);
}

template <class A>
void Fields(A& archive, SkippedValue& skipped) {
  ValueSkipped& why = skipped.why;
  auto trial_class = static_cast<std::uint64_t>(why.trial_class);
  archive(why.name, why.value, trial_class, why.failed, why.hosts, why.other_failed, why.other_over, why.chance);
  progress_archive::Set(archive, skipped.trials);
  if constexpr (A::kReading) {
    if (trial_class >= kTrialClassNames.size()) return archive.Fail();
    why.trial_class = static_cast<TrialClass>(trial_class);
  }
}

template <class V>
void Fields(V& archive, SweepProgress& progress) {
  OpenTrials& open = progress.open_;
  FinishedTrials& finished = progress.finished_;
  archive(progress.sweep_id_, progress.name_, progress.recipe_, open.sampled_, open.judged_to_, open.open_, open.begun_,
          open.attempts_, open.ms_, open.device_ms_, finished.best_, finished.losses_, progress.rung_reports_,
          progress.promotions_, progress.paused_, progress.ended_, progress.steered_, finished.seeds_, finished.points_,
          progress.raced_, progress.edits_, progress.last_edit_, progress.skipped_, progress.no_gain_, progress.groups_,
          progress.group_points_, progress.group_of_);
  // They are numbers of these points, which damage may not change.
  if constexpr (V::kReading) {
    const auto beyond = [&](const auto& one) { return one.second >= progress.group_points_.size(); };
    if (std::any_of(progress.group_of_.begin(), progress.group_of_.end(), beyond)) return archive.Fail();
    if (std::any_of(progress.groups_.begin(), progress.groups_.end(), beyond)) return archive.Fail();
  }
  progress_archive::Set(archive, open.impossible_);
  progress_archive::Set(archive, finished.numbers_);
  std::vector<std::uint64_t> ends, counts;
  std::vector<std::string> restored;
  std::string ids;  // eight bytes each
  if constexpr (!V::kReading) {
    finished.ends_.ForEach([&](TrialNumber trial, TrialEnds::End end) {
      ends.push_back(trial);
      ends.push_back(std::uint64_t{end.attempts} << 8 | static_cast<std::uint64_t>(end.trial_class));
    });
    counts.assign(finished.counts_.begin(), finished.counts_.end());
    restored.assign(progress.restored_.begin(), progress.restored_.end());
    ids.reserve(open.points_.size() * 8);
    for (const std::uint64_t id : open.points_) {
      for (int shift = 0; shift < 64; shift += 8) ids.push_back(static_cast<char>(id >> shift));
    }
  }
  archive(ends, counts, progress.quarantined_, restored, ids);
  if constexpr (V::kReading) {
    if (counts.size() != finished.counts_.size()) return archive.Fail();
    finished.ends_ = {};
    for (std::size_t i = 0; i + 1 < ends.size(); i += 2) {
      const std::uint64_t trial_class = ends[i + 1] & 0xffU;
      if (trial_class >= kTrialClassNames.size()) return archive.Fail();
      finished.ends_.Set(ends[i], {static_cast<TrialClass>(trial_class), static_cast<std::uint32_t>(ends[i + 1] >> 8)});
    }
    for (std::size_t i = 0; i < counts.size(); ++i) finished.counts_[i] = counts[i];
    progress.restored_ = {restored.begin(), restored.end()};
    open.points_.clear();
    open.points_.reserve(ids.size() / 8);
    for (std::size_t at = 0; at + 8 <= ids.size(); at += 8) {
      std::uint64_t id = 0;
      for (std::size_t i = 8; i-- > 0;) id = id << 8 | static_cast<unsigned char>(ids[at + i]);
      open.points_.insert(id);
    }
  }
}

Result<std::optional<Indexed>> WhatIsIndexed(Database& database, const std::string& name,
                                             const std::string& sweep_dir) {
  // In a file that is not an index, even listing the tables can take for ever.
  database.LimitSteps(kMaxSteps);
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
  std::optional<SweepProgress> progress;
  const Result<bool> kept =
      database.Prepare(In(name, "SELECT sum, archive FROM {}.account").c_str()).First([&](const Statement& row) {
        const std::string_view bytes = row.Text(1);
        if (row.Integer(0) == Crc32c(bytes)) progress = Unarchived<SweepProgress>(bytes);
      });
  if (!kept) return Fail(kept.error());
  if (!*kept) return SweepProgress();
  if (!progress) return Damaged("the sweep's summary has a wrong checksum");
  return *std::move(progress);
}

Result<std::uint64_t> IndexBytes(int folder) {
  struct stat index {};
  if (::fstatat(folder, kIndexEntry.name, &index, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  if (!S_ISREG(index.st_mode)) return Damaged("it is not a regular file");
  const auto bytes = static_cast<std::uint64_t>(index.st_size);
  struct stat journal {};
  if (bytes == 0 || ::fstatat(folder, kJournalEntry.name, &journal, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  const auto most = kMinBytes + kBytesPerByte * static_cast<std::uint64_t>(std::max<off_t>(journal.st_size, 0));
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
      .Run(kFormat, position.bytes, position.seq, KnownBy(folder, position.bytes), boot);
}

bool WriteSweepProgress(Database& database, JournalPosition position, const SweepProgress& progress) {
  const std::string archive = Archived(progress);
  return database.Prepare("INSERT OR REPLACE INTO account VALUES (1, ?1, ?2, ?3, ?4)")
      .BindBlob(4, archive)
      .Run(position.bytes, position.seq, Crc32c(archive));
}

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
  bool Write(const SweepProgress& progress, JournalPosition position, bool keep, const std::string& boot_now);
};

Result<bool> SweepIndex::State::Continue() {
  const Result<std::uint64_t> bytes = IndexBytes(folder.get());
  if (!bytes) return Fail(bytes.error());
  if (*bytes == 0) return false;
  if (NamesAnotherFile(folder.get())) {
    return Fail(MachineError("database", "its rollback journal belongs to another database"));
  }
  auto opened = Database::Open(kIndexEntry.In(sweep_dir), Database::Mode::kWrite);
  if (!opened) return Fail(opened.error());
  database = *std::move(opened);
  database->WaitFor(kDatabaseWaitMs);
  const auto indexed = WhatIsIndexed(*database, "main", sweep_dir);
  if (!indexed) return Fail(indexed.error());
  // An index without a position was interrupted while catching up.
  if (!*indexed) return false;
  if (auto checked = CheckRows(*database, "main"); !checked) return Fail(checked.error());
  held = (*indexed)->rows;
  kept = (*indexed)->progress.bytes;
  // Synced to the disk before the first change: from now on the index is valid for this boot only.
  if (!database->Run("PRAGMA cache_size = -32768; PRAGMA synchronous = FULL")) return false;
  if (!database->Prepare("UPDATE held SET boot = ?1").Run(boot)) return false;
  return database->Run(kUnsynced);
}

bool SweepIndex::State::Rebuild() {
  rows.reset();
  database.reset();
  held = {};
  kept = 0;
  within = false;
  RemoveIndex(folder.get());
  auto opened = Database::Open(kIndexEntry.In(sweep_dir), Database::Mode::kWrite);
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

bool SweepIndex::State::Write(const SweepProgress& progress, JournalPosition position, bool keep,
                              const std::string& boot_now) {
  if (!Begin() || !WriteHeld(*database, folder.get(), position, boot_now)) return false;
  return !keep || WriteSweepProgress(*database, position, progress);
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
  SweepProgress progress;
  JournalPosition from;
  if (s.database && s.kept > 0) {
    const auto indexed = WhatIsIndexed(*s.database, "main", s.sweep_dir);
    auto kept_progress = StoredSweepProgress(*s.database, "main");
    if (indexed && *indexed && kept_progress) {
      progress = *std::move(kept_progress);
      from = (*indexed)->progress;
    } else if (!kept_progress) {
      s.damage = kept_progress.error().front().message;
      if (!s.Rebuild()) s.GiveUp();
    }
  }
  std::uint64_t taken = 0;
  LoadedSweep loaded = ReadOn(s.folder.get(), std::move(progress), from, [&](const SweepRecord& record) {
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
  if (taken > 0 || s.held.seq == 0) Commit(loaded.progress, loaded.position);
  if (s.database) s.database->WaitFor(0);
  return loaded;
}

void SweepIndex::Take(const SweepRecord& record) {
  State& s = *state_;
  if (!s.rows) return;
  if (!s.Begin() || !s.rows->Take(record)) return s.GiveUp();
  s.held.seq = record.seq;
}

void SweepIndex::Commit(const SweepProgress& progress, JournalPosition position, bool leaving) {
  State& s = *state_;
  if (!s.database) return;
  const std::uint64_t grown = position.bytes - std::min(position.bytes, s.kept);
  const bool keep = leaving || grown > kFewBytes + s.kept / kShareUnkept;
  if (leaving) {
    s.database->WaitFor(kDatabaseWaitMs);
    // All rows are synced to the disk before the index is declared valid.
    if (!s.Write(progress, position, keep, s.boot)) return s.GiveUp();
    if (!s.database->Run("COMMIT")) return;
    s.within = false;
    s.kept = position.bytes;
    const UniqueFd file(::open(kIndexEntry.In(s.sweep_dir).c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (!file || ::fdatasync(file.get()) != 0) return;
    const bool whole =
        s.database->Run("PRAGMA synchronous = FULL; UPDATE held SET boot = ''") && s.database->Run(kUnsynced);
    if (!whole) s.problem = s.database->Problem();  // it is valid until the machine is switched off
    return;
  }
  if (!s.within && !keep && position.seq == s.held.seq) return;
  if (!s.Write(progress, position, keep, s.boot)) {
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
