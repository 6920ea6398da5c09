// The journal of a run: JSON lines, one per event and per order, in the order in which they happened, written by one
// head before their consequences; docs/journal.md describes the format. Its records are checked one by one against the
// run's plan. run_history.h folds them.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

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
                 EngineAnswered, FailureJudged, FaultInjected>;

struct JournalRecord {
  std::uint64_t seq = 0;
  std::string wall;  // UTC, RFC 3339 with microseconds
  MonotonicNs at = 0;
  JournalEntry entry;

  bool operator==(const JournalRecord&) const = default;
};

// The number and the time of a record.
struct RecordMark {
  std::uint64_t seq = 0;    // lower in records that were written before
  MonotonicNs on_head = 0;  // when the head wrote it
  std::string wall;         // UTC, RFC 3339

  bool operator==(const RecordMark&) const = default;
};

// The name in the line, such as "process_exited".
std::string_view EntryName(const JournalEntry& entry);

// The schema (wire/archive/json_schema.h) of the lines.
std::string JournalSchema();

// The record as a line, newline included. Bytes of strings that are not UTF-8 are written as \xNN.
std::string JournalLine(const JournalRecord& record);

// Parses one line, given without its newline; empty if it is invalid.
std::optional<JournalRecord> ParseJournalLine(std::string_view line);

// Passes the records of the file's first `max_bytes` to `take` one by one, in bounded memory whatever the file's size,
// until it returns false. Returns why reading stopped before the end of the file; empty if it did not.
std::string ReadJournal(const std::string& path, const std::function<bool(JournalRecord record)>& take,
                        std::uint64_t max_bytes = std::numeric_limits<std::uint64_t>::max());

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

// More hosts than any run has besides those of its plan.
inline constexpr std::uint32_t kMaxSpares = 1U << 16;

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

}  // namespace muster
