// The journal of a sweep: JSON lines that define its state (docs/sweeps.md), with each field described once.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include <tl/expected.hpp>

#include "base/system/unique_fd.h"
#include "muster/result.h"
#include "run/lines/journal_file.h"
#include "run/lines/json_lines.h"
#include "sweep/record/sweep_events.h"

namespace muster {

// The fields of every entry of a sweep's journal, each described once: for the journal (docs/sweeps.md), and, for the
// entries that SweepProgress stores, for the archive (sweep/index/sweep_index.h).

template <class V>
void Fields(V& v, Repetitions& e) {
  v("param", e.param), v("count", e.count), v("median", e.median);
}
template <class V>
void Fields(V& v, SweepBegan& e) {
  std::uint64_t format = 1;
  v("format", format);
  if constexpr (V::kReading) {
    if (format != 1) return v.Fail();
  }
  v("sweep", e.sweep_id), v("name", e.name), v("trials", e.trials), v("pid", e.pid), v("start_ticks", e.start_ticks),
      v("boot", e.boot), v("muster", e.muster), v("recipe", e.recipe), v("accepted", e.accepted),
      v("seeds", As<UnlessNone>(e.seeds)), v("all_hosts", As<UnlessNone>(e.all_hosts));
}
template <class V>
void Fields(V& v, PointsJudged& e) {
  v("first", e.first), v("count", e.count), v("impossible", e.impossible), v("points", As<UnlessNone>(e.points)),
      v("chosen", As<UnlessNone>(e.chosen)), v("raced", As<UnlessNone>(e.raced));
}
template <class V>
void Fields(V& v, PointsJudged::Reason& e) {
  v("text", e.text), v("place", e.place), v("trials", e.trials), v("skipped", As<UnlessNone>(e.skipped));
}
template <class V>
void Fields(V& v, ResumedFrom& e) {
  v("attempt", e.attempt), v("checkpoint", e.checkpoint);
}
template <class V>
void Fields(V& v, AttemptBegan& e) {
  v("trial", e.trial), v("attempt", e.attempt), v("id", e.id), v("point", e.point), v("plan", e.plan),
      v("run", e.run_id), v("hosts", As<UnlessNone>(e.hosts)), v("resumed", As<UnlessNone>(e.resumed)),
      v("job", As<UnlessNone>(e.job)), v("devices", As<UnlessNone>(e.devices)), v("warning", As<UnlessNone>(e.warning));
}
template <class V>
void Fields(V& v, StopDecision& e) {
  v("rung", e.rung), v("results", e.results), v("rank", e.rank), v("threshold", e.threshold), v("stop", e.stop);
  v("paused", As<UnlessNone>(e.paused));
}
template <class V>
void Fields(V& v, TrialPromoted& e) {
  v("trial", e.trial), v("rung", e.rung), v("results", e.results), v("rank", e.rank), v("threshold", e.threshold);
}
template <class V>
void Fields(V& v, RungReached& e) {
  v("trial", e.trial), v("attempt", e.attempt), v("resource", e.resource), v("loss", e.loss), v("decision", e.decision);
}
template <class V>
void Fields(V& v, MedianStopped& e) {
  v("trial", e.trial), v("attempt", e.attempt), v("resource", e.resource), v("best", e.best), v("finished", e.finished),
      v("median", e.median);
}
template <class V>
void Fields(V& v, AttemptEnded& e) {
  v("trial", e.trial), v("attempt", e.attempt), v("class", WithNames(e.trial_class, kTrialClassNames)),
      v("interrupted", As<UnlessNone>(e.interrupted)), v("again", As<UnlessNone>(e.again)),
      v("counted", As<UnlessTrue>(e.counted)), v("blamed", As<UnlessNone>(e.blamed)), v("why", As<UnlessNone>(e.why)),
      v("verdict", As<UnlessNone>(e.verdict)), v("rule", As<UnlessNone>(e.rule)), v("loss", As<UnlessNone>(e.loss)),
      v("metrics", As<UnlessNone>(e.metrics)), v("losses", As<UnlessNone>(e.losses)), v("ms", e.ms);
}
template <class V>
void Fields(V& v, HostQuarantined& e) {
  v("host", e.host), v("why", e.why), v("stays", As<UnlessNone>(e.stays));
}
template <class V>
void Fields(V& v, TrialsReopened& e) {
  v("trials", e.trials);
}
template <class V>
void Fields(V& v, SweepSteered& e) {
  v("trials", As<UnlessNone>(e.trials)), v("max_trials", As<UnlessNone>(e.max_trials)),
      v("slots", As<UnlessNone>(e.slots)), v("points", As<UnlessNone>(e.points)),
      v("device_hours", As<UnlessNone>(e.device_hours));
}
template <class V>
void Fields(V& v, ValueSkipped& e) {
  v("name", e.name), v("value", e.value), v("class", WithNames(e.trial_class, kTrialClassNames)), v("failed", e.failed),
      v("hosts", As<UnlessNone>(e.hosts)), v("other_failed", e.other_failed), v("other_over", e.other_over),
      v("chance", e.chance), v("trials", e.trials);
}
template <class V>
void Fields(V& v, ValueRestored& e) {
  v("name", e.name), v("value", e.value), v("trials", e.trials);
}
template <class V>
void Fields(V& v, NoGainExpected& e) {
  v("results", e.results), v("bound", e.bound), v("noise", e.noise), v("repeated", As<UnlessNone>(e.repeated));
}
template <class V>
void Fields(V& v, SweepEdited& e) {
  v("edit", e.edit), v("from", e.from), v("trials", e.trials), v("recipe", e.recipe), v("accepted", e.accepted),
      v("seeds", As<UnlessNone>(e.seeds));
}
template <class V>
void Fields(V& v, SweepEnded& e) {
  v("complete", e.complete), v("why", e.why), v("exit_code", e.exit_code);
}

// The journal of a sweep: JSON lines that define its state; the format is in docs/sweeps.md. Written by one head,
// append-only.
//
// A line is {"seq":N,"wall":"…","event":"…", …,"crc":"xxxxxxxx"} as in the journal of a run (run/journal/journal.h):
// the journal ends at the first truncated, torn or corrupt line, and everything after it is ignored.
//
// Durability: every entry is written by one write(2), before the action that it announces, so nothing is lost if muster
// dies. fdatasync(2) is called before the head exits, and at most once a second before that: a power failure loses at
// most the last second, which is repeated. Disk space for further entries is reserved, so that a sweep that stops
// because the disk is full can record that.

struct SweepRecord {
  std::uint64_t seq = 0;  // from 1, without gaps
  std::string wall;       // UTC, RFC 3339 with microseconds
  SweepEntry entry;

  bool operator==(const SweepRecord&) const = default;
};

std::string_view SweepEntryName(const SweepEntry& entry);
// The schema (wire/archive/json_schema.h) of its lines.
std::string SweepJournalSchema();
std::string SweepJournalLine(const SweepRecord& record);  // including the newline
// The record of a line without its newline, or why it is invalid.
tl::expected<SweepRecord, std::string> ParseSweepJournalLine(std::string_view line);

// Calls `take` for each intact record after `from`, in constant memory. Returns the end of the last one; `stopped` gets
// the reason if that is not the end of the file.
JournalPosition ReadSweepJournal(int folder, JournalPosition from, const std::function<void(SweepRecord)>& take,
                                 std::string& stopped);

class SweepJournalWriter {
 public:
  // Creates journal.jsonl in the folder, exclusively.
  static Result<SweepJournalWriter> Create(int folder);
  // Continues where reading ended; the rest of the file is cut off.
  static Result<SweepJournalWriter> Continue(int folder, JournalPosition end);

  // Appends and writes, completely or not at all: a partial write is cut off again. 0, or the errno.
  int Append(SweepEntry entry, std::uint64_t wall_ns);
  int Sync();
  bool synced() const { return synced_; }
  JournalPosition position() const { return {file_.bytes(), seq_}; }

 private:
  static Result<SweepJournalWriter> Begin(UniqueFd file, JournalPosition end);
  SweepJournalWriter(UniqueFd file, JournalPosition end);
  JournalFile file_;
  std::uint64_t seq_;
  bool synced_ = true;
};

}  // namespace muster
