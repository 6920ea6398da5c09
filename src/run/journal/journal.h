// The journal of a run: JSON lines, one per event and per order, in the order in which they happened, written by one
// head before their consequences; docs/journal.md describes the format. It is read checked against the run's plan:
// records with numbers that the plan does not have are removed and counted here, once, so that no consumer has to
// check them.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "base/system/unique_fd.h"
#include "muster/event.h"
#include "muster/plan.h"
#include "muster/result.h"
#include "run/journal/head_facts.h"
#include "run/lines/journal_file.h"
#include "wire/protocol/protocol.h"

namespace muster {

// The journal of a run: JSON lines, one per event and per order, in the order in which they happened. Written by
// one head, append-only; docs/journal.md describes the format.
//
// A line is {"seq":N,"wall":"…","at":NS,"event":"…", …,"crc":"xxxxxxxx"}: the sequence counts from 1 without
// gaps, `at` is CLOCK_MONOTONIC of the head, and crc is the CRC-32C (RFC 3720, B.4) of the bytes before
// `,"crc"`. A cut, a torn write or a flipped bit therefore ends the journal at that place, and nothing after it
// is used.
//
// Durability: every record is one write(2) at once, before the actions that it explains are performed, so
// nothing is lost if muster is killed. fdatasync is called only after the last record: a power failure may lose
// what the kernel had not written back, but nothing before that. Disk space is reserved for more records, so
// that the journal can be completed even if logs fill the disk.

using JournalEntry =
    std::variant<RunBegan, AgentConnected, PlanBound, PreparationFailed, StartOrdered, StopOrdered, PhaseChanged,
                 FirstFailure, FailureTraced, EndedEarly, StrayEvent, FinishOrdered, RunEnded, ProcessStarted,
                 SpawnFailed, ProcessExited, SignalSent, AgentEmpty, AgentLost, StopRequested, DeadlinePassed,
                 ProcessReady, OutputSeen, RestartPlanned, LimitPassed, FirstOutput, EndEvidence, PortTaken,
                 RebindOrdered, PlanRebound, ProcessDumped, HostDumped, DumpRequested, DumpOrdered, DumpEnded,
                 PtyOpened, PtyClosed, HostActivated, ClockCompared, HostReached, ReplaceOrdered, HostReplaced,
                 HostsCompared, PathsCompared, CodeShipped, CodeSeen, CheckpointSeen, HostStray, DevicesAwaited,
                 EngineAnswered>;

struct JournalRecord {
  std::uint64_t seq = 0;
  std::string wall;  // UTC, RFC 3339 with microseconds
  MonotonicNs at = 0;
  JournalEntry entry;

  bool operator==(const JournalRecord&) const = default;
};

// The name in the line, such as "process_exited".
std::string_view EntryName(const JournalEntry& entry);

// The record as a line, newline included. Bytes of strings that are not UTF-8 are written as \xNN.
std::string JournalLine(const JournalRecord& record);

// Parses one line, given without its newline; empty if it is invalid.
std::optional<JournalRecord> ParseJournalLine(std::string_view line);

struct JournalContents {
  std::vector<JournalRecord> records;  // the longest valid prefix
  std::uint64_t valid_bytes = 0;       // its length
  std::string stopped;                 // why reading stopped before the end of the file; empty if it did not
};

// Never fails, whatever the bytes.
JournalContents ParseJournal(std::string_view bytes);

// A file that cannot be read gives no records and the reason. Reads at most 1 GiB.
JournalContents ReadJournal(const std::string& path);

// Passes the records of the file to `take` one by one, in bounded memory whatever the file's size, until it returns
// false. Returns why reading stopped before the end of the file, like JournalContents::stopped.
std::string ReadJournal(const std::string& path, const std::function<bool(JournalRecord record)>& take);

// Writes the journal of a run: append-only, each record before its consequences.
class JournalWriter {
 public:
  // Creates journal.jsonl in the folder, exclusively. Reserves `room` bytes of the disk beyond its end
  // (run/lines/journal_file.h); kind "journal" if the disk has too little space.
  static Result<JournalWriter> Create(int folder, std::uint64_t room = 0);

  // Adds the next record, which Write() writes.
  void Append(JournalEntry entry, std::uint64_t wall_ns, MonotonicNs at);
  // Writes the added records. If the disk does not accept all of it, the rest is kept and written first the next time.
  void Write();
  // Syncs everything to disk; for the last record.
  void Sync();
  // Frees the reserved disk space, as the destructor does; call it after the last record.
  void Release() { file_.Release(); }

  // errno of the last write or sync, 0 if all is written.
  int error() const { return error_; }
  std::uint64_t records() const { return seq_; }

 private:
  explicit JournalWriter(JournalFile file) : file_(std::move(file)) {}
  JournalFile file_;
  std::uint64_t seq_ = 0;
  std::string unwritten_;
  int error_ = 0;
};

// Checks whether the records of a journal are valid for a plan.

// Checks records against a plan, in the order of the journal.
class PlanFit {
 public:
  explicit PlanFit(const Plan& plan);

  // Returns whether the record is valid: each process that it names is below Plan::processes.size(), each host below
  // Plan::hosts.size() + kMaxSpares; no list of processes is longer than the plan's, and a HostSet ascends. An attempt
  // is ordered once, after the one before it, and named only after that; attempt 0 may always be named.
  bool Take(const JournalRecord& record);
  // Why the last invalid record is invalid.
  const std::string& problem() const { return problem_; }

 private:
  std::vector<std::uint32_t> ordered_;  // by process: number of ordered attempts
  std::uint64_t hosts_;
  std::string problem_;
};

// The journal of a run, checked against the run's plan: the numbers of processes, attempts and hosts in its records are
// valid indices.
//
// A run directory may come from elsewhere, and a journal with correct checksums can name a process that the plan does
// not have. Such records are removed here, once, and counted, so that no consumer has to check.

// More hosts than any run has besides those of its plan.
inline constexpr std::uint32_t kMaxSpares = 1U << 16;

class CheckedJournal {
 public:
  CheckedJournal(const Plan& plan, JournalContents contents);

  const std::vector<JournalRecord>& records() const { return records_; }
  // Why records are missing: JournalContents::stopped, and how many were invalid. Empty if none are missing.
  const std::string& damage() const { return damage_; }

 private:
  std::vector<JournalRecord> records_;
  std::string damage_;
};

// The plan and the checked journal of a run directory: the input of reports.
struct RecordedRun {
  UniqueFd folder;
  std::shared_ptr<const Plan> plan;  // never null
  CheckedJournal journal;
};

// Fails with kind "run" if the folder has no plan, and as PlanFromJson does if the plan is invalid. A journal that
// cannot be read has no records. With `plan`, which must be the one in the folder, plan.json is not read: parsing it is
// most of the work for a plan of many processes.
Result<RecordedRun> ReadRun(const std::string& run_dir, std::shared_ptr<const Plan> plan = nullptr);

// Reads from the journal on which machine (run/supervise/host_replacement.h) each attempt of a run's processes was, and
// the names of the machines.
class AttemptHosts {
 public:
  // The arguments are only read by the constructor.
  AttemptHosts(const Plan& plan, const CheckedJournal& journal);

  // The machine of the attempt; for an attempt that was not ordered, the one that it would be on.
  std::uint32_t Of(ProcessId process, std::uint32_t attempt) const;
  // The machine's own host name; before that is known, the name given by the user, else the plan's label.
  std::string Name(std::uint32_t machine) const;
  // Names of the plan's devices on the machine; empty before they were allocated.
  std::vector<std::string> Devices(std::uint32_t machine) const;

 private:
  struct Machine {
    std::string name;
    std::vector<std::string> devices;
  };

  std::vector<std::uint32_t> host_of_;     // by process: host of the plan
  std::vector<std::uint32_t> machine_of_;  // by host of the plan: its last machine
  std::map<std::uint32_t, Machine> machines_;
  std::map<std::pair<ProcessId, std::uint32_t>, std::uint32_t> ordered_;  // machine of each attempt
};

}  // namespace muster
