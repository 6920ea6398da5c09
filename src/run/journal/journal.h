// The journal of a run: JSON lines, one per event and per order, in the order in which they happened. Written
// by one head, append-only; docs/journal.md holds the format.
//
// A line is {"seq":N,"wall":"…","at":NS,"event":"…", …,"crc":"xxxxxxxx"}: the sequence counts from 1 without
// gaps, `at` is CLOCK_MONOTONIC of the head, and crc is the CRC-32C (RFC 3720, B.4) of the bytes before
// `,"crc"`. So a cut, a torn write or a flipped bit ends the journal where it stands and nothing after it is
// believed.
//
// Policy on the disk: every record is one write(2) at once, before the actions it explains are performed, so
// nothing is lost when muster dies. fdatasync only with the last record: a power cut may cost what the kernel
// had not written back, never what comes before it. Room for more records is kept on the disk: logs that fill it do not
// cost the journal its end.
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
                 HostsCompared, PathsCompared, CodeShipped, CodeSeen, CheckpointSeen, HostStray, DevicesAwaited>;

struct JournalRecord {
  std::uint64_t seq = 0;
  std::string wall;  // UTC, RFC 3339 with microseconds
  MonotonicNs at = 0;
  JournalEntry entry;

  bool operator==(const JournalRecord&) const = default;
};

// "process_exited": the word in the line.
std::string_view EntryName(const JournalEntry& entry);

// The record as its line, newline included. Bytes of strings that are not UTF-8 are written as \xNN.
std::string JournalLine(const JournalRecord& record);

// The record of one line, without its newline; nothing if it is none.
std::optional<JournalRecord> ParseJournalLine(std::string_view line);

struct JournalContents {
  std::vector<JournalRecord> records;  // the longest valid prefix
  std::uint64_t valid_bytes = 0;       // its length
  std::string stopped;                 // why reading ended before the end of the file; empty if it did not
};

// Never fails, whatever the bytes.
JournalContents ParseJournal(std::string_view bytes);

// A file that cannot be read is an empty prefix with its reason. At most 1 GiB of it is read.
JournalContents ReadJournal(const std::string& path);

// Gives the records of the file one by one, in bounded memory whatever its size, until `take` returns false. Why
// reading ended before the end of the file, as JournalContents has it.
std::string ReadJournal(const std::string& path, const std::function<bool(JournalRecord record)>& take);

}  // namespace muster
