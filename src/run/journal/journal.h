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
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "muster/event.h"
#include "run/journal/head_facts.h"
#include "wire/protocol/activation_messages.h"

namespace muster {

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

}  // namespace muster
