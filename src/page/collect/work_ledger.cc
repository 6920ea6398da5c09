#include "page/collect/work_ledger.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <set>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/system/clock.h"
#include "base/system/unique_fd.h"
#include "base/values/quoting.h"
#include "run/directory/job_record.h"
#include "run/directory/run_directory.h"
#include "run/journal/run_summary.h"
#include "run/report/ledger_reader.h"
#include "sweep/record/sweep_directory.h"
#include "sweep/record/sweep_journal.h"
#include "wire/archive/json_fields.h"
#include "wire/archive/json_schema.h"

namespace muster {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kDevice = "device";
constexpr std::string_view kProcessSlot = "process slot";

using WallSpan = std::pair<std::uint64_t, std::uint64_t>;  // nanoseconds since 1970

// How much of `within` none of the spans covers.
std::uint64_t Uncovered(const WallSpan& within, std::vector<WallSpan> spans) {
  std::sort(spans.begin(), spans.end());
  std::uint64_t at = within.first;
  std::uint64_t free = 0;
  for (const auto& [from, to] : spans) {
    if (from > at) free += std::min(from, within.second) - std::min(at, within.second);
    at = std::max(at, to);
  }
  return free + (within.second > at ? within.second - at : 0);
}

class LedgerCollection {
 public:
  Result<void> AddRun(const std::string& dir, bool rehearsals) {
    auto read = ReadLedgerRun(dir);
    if (!read) return Fail(std::move(read.error()));
    if (read->history.began->rehearsal && !rehearsals) return {};
    const std::string id = read->history.began->run_id;
    if (places_.contains(id)) return {};
    places_[id] = runs_.size();
    runs_.push_back(*std::move(read));
    dirs_.push_back(dir);
    return {};
  }

  void AddFound(const NamedRunOrSweep& found) {
    if (!found.is_sweep) return AddOrMiss(found.folder);
    if (const auto added = AddSweep(found.folder); !added) MissFolder(found.folder, added.error());
  }

  // The attempts of a run's job.
  void AddAttempts(const std::string& dir) {
    const std::vector<JobAttempt> attempts = ReadAttempts(FirstAttemptOf(dir));
    for (const JobAttempt& attempt : attempts) AddOrMiss(attempt.run_dir);
    for (std::size_t i = 1; i < attempts.size(); ++i) {
      const auto before = places_.find(attempts[i - 1].run);
      const auto after = places_.find(attempts[i].run);
      if (before == places_.end() || after == places_.end()) continue;
      const LedgerRun& earlier = runs_[before->second];
      LedgerRun& later = runs_[after->second];
      const std::uint64_t ended = earlier.WallOf(earlier.until);
      const std::uint64_t began = later.WallOf(later.history.first.on_head);
      later.queued_ns = began > ended ? began - ended : 0;
    }
  }

  // The runs that those so far continued.
  void AddContinued() {
    std::map<std::string, std::vector<FoundRun>> beside;  // by folder of runs
    for (std::size_t i = 0; i < runs_.size(); ++i) {
      const std::string id = ContinuedRun(runs_[i].history);
      if (id.empty() || places_.contains(id)) continue;
      std::error_code error;
      const std::string folder = fs::absolute(dirs_[i], error).lexically_normal().parent_path().parent_path().string();
      const auto [runs, is_new] = beside.try_emplace(folder);
      if (is_new) runs->second = RunsBelow(folder);
      const auto found =
          std::find_if(runs->second.begin(), runs->second.end(), [&](const FoundRun& run) { return run.id == id; });
      const std::string other = found != runs->second.end() ? found->path : WriterOf(runs_[i].history, id);
      const bool is_rehearsal = runs_[i].history.began->rehearsal;
      if (!other.empty()) AddOrMiss(other, is_rehearsal);
      if (!places_.contains(id)) Miss(fmt::format("run {}, which {} continued", id, dirs_[i]));
    }
  }

  Result<void> AddSweep(const std::string& dir) {
    const auto view = SweepView::Open(dir);
    if (!view) return Fail(view.error());
    const std::size_t first = runs_.size();
    auto read = view->ForEachAttempt([&](const AttemptRow& row) {
      const std::string folder = dir + "/" + TrialFolder(row.id, row.attempt);
      const std::size_t before = runs_.size();
      AddOrMiss(folder);
      if (runs_.size() == before) return true;
      runs_.back().result_used = !row.ended.empty() && !row.interrupted && row.trial_class == TrialClass::kStopped;
      return true;
    });
    if (!read) return Fail(std::move(read.error()));
    AddIdle(dir, first);
    return {};
  }

  WorkLedger End() && {
    for (LedgerRun& run : runs_) {
      const auto continued = places_.find(ContinuedRun(run.history));
      if (continued == places_.end()) continue;
      const LedgerRun& other = runs_[continued->second];
      // A journal may be forged: only a run that began earlier was continued, so that chains end.
      if (other.WallOf(other.history.first.on_head) < run.WallOf(run.history.first.on_head)) {
        run.continues = continued->second;
      }
    }
    WorkLedger made{LedgerOf(runs_), {missing_.begin(), missing_.end()}};
    made.ledgers.devices.Of(LedgerRow::kIdle) += idle_;
    return made;
  }

 private:
  // The run directory with that id in which the checkpoint is that the run began with; empty if it is in none.
  static std::string WriterOf(const RunHistory& history, const std::string& id) {
    for (const CheckpointSeen& seen : history.checkpoints) {
      if (seen.run.empty()) continue;
      for (fs::path above = fs::path(seen.path).parent_path(); above.has_relative_path(); above = above.parent_path()) {
        const auto run = SummarizeRun(above.string(), false);
        if (run && run->run == id) return above.string();
      }
    }
    return {};
  }
  void Miss(std::string what) { missing_.insert(std::move(what)); }
  void MissFolder(const std::string& dir, const Diagnostics& why) { Miss(dir + ": " + why.front().message); }
  void AddOrMiss(const std::string& dir, bool rehearsals = false) {
    if (const auto added = AddRun(dir, rehearsals); !added) MissFolder(dir, added.error());
  }

  // Devices that any trial of the sweep used are idle while its head runs and no trial uses them.
  void AddIdle(const std::string& dir, std::size_t first) {
    std::map<std::pair<std::string, std::string>, std::vector<WallSpan>> used;
    for (std::size_t i = first; i < runs_.size(); ++i) {
      const LedgerRun& run = runs_[i];
      const WallSpan span{run.WallOf(run.history.first.on_head), run.WallOf(run.until)};
      for (const Process& process : run.plan->processes) {
        const auto machine = run.history.machines.find(process.host);
        if (machine == run.history.machines.end()) continue;
        for (const std::uint32_t device : process.devices) {
          if (device >= machine->second.devices.size()) continue;
          std::vector<WallSpan>& spans = used[{machine->second.name, machine->second.devices[device]}];
          if (spans.empty() || spans.back() != span) spans.push_back(span);
        }
      }
    }
    if (used.empty()) return;
    std::vector<WallSpan> heads;
    const UniqueFd folder(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    std::string stopped;
    ReadSweepJournal(
        folder.get(), {},
        [&](const SweepRecord& record) {
          const auto wall = ParseUtc(record.wall);
          if (!wall) return;
          if (std::holds_alternative<SweepBegan>(record.entry)) heads.emplace_back(*wall, *wall);
          if (!heads.empty()) heads.back().second = std::max(heads.back().second, *wall);
        },
        stopped);
    for (const auto& [device, spans] : used) {
      for (const WallSpan& head : heads) idle_ += Uncovered(head, spans);
    }
  }

  std::vector<LedgerRun> runs_;
  std::vector<std::string> dirs_;              // in the same order
  std::map<std::string, std::size_t> places_;  // by run id
  std::set<std::string> missing_;
  DeviceNs idle_ = 0;  // of devices of sweeps
};

bool HasBoth(const Ledgers& ledgers) { return ledgers.devices.runs > 0 && ledgers.process_slots.runs > 0; }

// The ledger that comes first, and what it counts.
std::pair<const Ledger&, std::string_view> FirstOf(const Ledgers& ledgers) {
  if (ledgers.devices.runs > 0) return {ledgers.devices, kDevice};
  return {ledgers.process_slots, kProcessSlot};
}

struct PrintedWork {
  PrintedLedger ledger;
  std::vector<std::string> missing;
  bool has_both = false;
  PrintedLedger process_slots = {};
};
template <class V>
void Parts(V& v, const PrintedWork& work) {
  v("format", 1), v("ledger", work.ledger), v("process_slots", OnlyIf(work.has_both, work.process_slots));
  v("missing", work.missing);
}

}  // namespace

Result<WorkLedger> LedgerOfWork(const std::vector<NamedRunOrSweep>& named, const std::vector<NamedRunOrSweep>& found) {
  LedgerCollection collection;
  for (const NamedRunOrSweep& one : named) {
    auto added = one.is_sweep ? collection.AddSweep(one.folder) : collection.AddRun(one.folder, true);
    if (!added) return Fail(std::move(added.error()));
  }
  for (const NamedRunOrSweep& one : found) collection.AddFound(one);
  for (const auto* const work : {&named, &found}) {
    for (const NamedRunOrSweep& one : *work) {
      if (!one.is_sweep) collection.AddAttempts(one.folder);
    }
  }
  collection.AddContinued();
  return std::move(collection).End();
}

std::vector<NamedRunOrSweep> WorkIn(const std::string& folder) {
  std::error_code error;
  const fs::path of_name = fs::absolute(folder + "/.", error).lexically_normal().parent_path();
  std::vector<NamedRunOrSweep> work;
  const auto add = [&](const std::string& below, const DirectoryKind& kind, const std::string& name) {
    for (const FoundRun& one : RunsBelow(below, kind)) {
      if (!name.empty() && one.name != name) continue;
      if (fs::exists(kJournalEntry.In(one.path), error)) work.push_back({one.path, &kind == &kSweepDirectories});
    }
  };
  for (const DirectoryKind* const kind : {&kRunDirectories, &kSweepDirectories}) {
    add(folder, *kind, {});
    add(folder + (kind == &kRunDirectories ? "/runs" : "/sweeps"), *kind, {});
    add(of_name.parent_path().string(), *kind, of_name.filename().string());
  }
  return work;
}

std::string WorkLedgerText(const WorkLedger& ledger) {
  const auto [first, counts] = FirstOf(ledger.ledgers);
  std::string text = LedgerText(first, counts);
  if (HasBoth(ledger.ledgers)) text += LedgerText(ledger.ledgers.process_slots, kProcessSlot);
  for (const std::string& what : ledger.missing) text += fmt::format("  missing: {}\n", Printable(what));
  return text;
}

std::string WorkLedgerJson(const WorkLedger& ledger) {
  const auto [first, counts] = FirstOf(ledger.ledgers);
  const PrintedWork printed{PrintedOf(first, counts), ledger.missing, HasBoth(ledger.ledgers),
                            PrintedOf(ledger.ledgers.process_slots, kProcessSlot)};
  return JsonOf<LedgerForms>(printed, 2) + "\n";
}

std::string WorkLedgerSchema() { return SchemaOf<LedgerForms>(PrintedWork()); }

Value WorkLedgerValue(const WorkLedger& ledger) {
  const auto [first, counts] = FirstOf(ledger.ledgers);
  if (first.Total() == 0) return {};
  Value::List rows;
  for (std::size_t i = 0; i < kLedgerRows; ++i) {
    if (first.rows[i] == 0) continue;
    const std::string name(LedgerRowName(static_cast<LedgerRow>(i)));
    rows.emplace_back(
        Value::Map{{"name", Value(i < kFirstUnknownRow ? name : std::string(kUnknownRowName) + "_" + name)},
                   {"seconds", Value(SecondsOf(first.rows[i]))},
                   {"drilled", Value(SecondsOf(first.drilled[i]))}});
  }
  return Value(Value::Map{{"counts", Value(std::string(counts))},
                          {"runs", Value(static_cast<std::int64_t>(first.runs))},
                          {"drills", Value(static_cast<std::int64_t>(first.drills))},
                          {"total", Value(SecondsOf(first.Total()))},
                          {"rows", Value(std::move(rows))}});
}

}  // namespace muster
