#include "run/journal/run_summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <variant>

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "base/system/clock.h"
#include "base/system/own_process.h"
#include "base/system/private_files.h"
#include "base/system/unique_fd.h"
#include "base/values/number_text.h"
#include "base/values/overloaded.h"
#include "base/values/quoting.h"
#include "run/directory/process_output.h"
#include "run/directory/run_directory.h"
#include "run/directory/usage_history.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

// What neither the trace nor the summary of a run needs.
constexpr Ignoring<StopOrdered, FirstFailure, FailureTraced, EndedEarly, StrayEvent, FinishOrdered, SignalSent,
                   AgentEmpty, AgentLost, StopRequested, DeadlinePassed, ProcessReady, OutputSeen, RestartPlanned,
                   LimitPassed, FirstOutput, EndEvidence, PortTaken, RebindOrdered, PlanRebound, ProcessDumped,
                   HostDumped, DumpRequested, DumpOrdered, DumpEnded, PtyOpened, PtyClosed, HostActivated,
                   ClockCompared, ReplaceOrdered, HostReplaced, HostsCompared, PathsCompared, CodeShipped, CodeSeen,
                   CheckpointSeen, HostStray, EngineAnswered, FailureJudged, FaultInjected>
    kIgnored;

constexpr std::uint64_t kNsPerSecond = 1'000'000'000;
constexpr std::uint64_t kNsPerMs = 1'000'000;
// The journal is written with its last record; one that is younger was copied.
constexpr std::uint64_t kCopiedAfterNs = 10 * kNsPerSecond;
constexpr std::string_view kLogEnd = ".log";

// 0 for what is no regular file.
std::uint64_t ChangedNs(int folder, const char* name) {
  struct stat status {};
  const bool known = ::fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(status.st_mode);
  if (!known || status.st_mtim.tv_sec < 0) return 0;
  return static_cast<std::uint64_t>(status.st_mtim.tv_sec) * kNsPerSecond +
         static_cast<std::uint64_t>(status.st_mtim.tv_nsec);
}

// Calls `take` with the folder and each name in it.
template <class Take>
void EachName(int run_folder, const char* name, const Take& take) {
  UniqueFd opened(::openat(run_folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  DIR* const folder = ::fdopendir(opened.get());
  if (folder == nullptr) return;
  opened.release();
  while (const dirent* const entry = ::readdir(folder)) take(::dirfd(folder), entry->d_name);
  ::closedir(folder);
}

std::uint64_t LastChangeNs(int run_folder) {
  std::uint64_t last = ChangedNs(run_folder, kUsageEntry.name);
  for (const char* const name : {kLogsEntry.name, kMetricsEntry.name}) {
    EachName(run_folder, name,
             [&last](int folder, const char* file) { last = std::max(last, ChangedNs(folder, file)); });
  }
  return last;
}

std::uint64_t LastTimeOfLogsNs(int run_folder) {
  std::uint64_t last = 0;
  EachName(run_folder, kLogsEntry.name, [&last](int folder, std::string_view file) {
    if (!file.ends_with(kLogEnd)) return;
    if (auto times = LogTimeReader::Open(folder, std::string(file))) last = std::max(last, times->End());
  });
  return last;
}

}  // namespace

MonotonicNs NsUntilLastSign(int run_folder, const RecordMark& first, const RecordMark& last) {
  const MonotonicNs recorded = last.on_head > first.on_head ? last.on_head - first.on_head : 0;
  const auto began = ParseUtc(first.wall);
  const auto ended = ParseUtc(last.wall);
  if (!began || !ended) return recorded;
  const bool copied = ChangedNs(run_folder, kJournalEntry.name) > *ended + kCopiedAfterNs;
  const std::uint64_t seen = std::min(copied ? LastTimeOfLogsNs(run_folder) : LastChangeNs(run_folder), WallNowNs());
  MonotonicNs until = std::max(recorded, seen > *began ? seen - *began : 0);
  if (copied) until = std::max(until, LastSampleMs(run_folder) * kNsPerMs);
  return until;
}

// These two readers fold the journal themselves, because they have no plan: reading one would be most of their work for
// a list of many runs, and muster clean must find the processes of a run whose plan is damaged. As each event has a
// name here, too, a new one is not ignored by accident.

Result<RunTrace> TraceRun(const std::string& run_dir) {
  RunTrace trace;
  bool elsewhere = false;  // on a host whose pids are not this machine's
  std::map<std::pair<ProcessId, std::uint32_t>, std::pair<std::int32_t, std::uint64_t>> running;
  const Overloaded take{
      [&](const RunBegan& e) {
        trace.run_id = e.run_id;
        trace.boot = e.boot;
        trace.head = {e.pid, e.start_ticks};
      },
      [&](const AgentConnected& e) {
        trace.identities.emplace_back(e.pid, e.start_ticks);
        trace.cgroup = e.cgroup;
      },
      [&](const HostReached&) { elsewhere = true; },
      [&](const ProcessStarted& e) {
        running[{e.process, e.attempt}] = {e.pid, e.start_ticks};
      },
      [&](const ProcessExited& e) {
        running.erase({e.process, e.attempt});
      },
      [&](const RunEnded&) { trace.ended = true; },
      Ignoring<PlanBound, PreparationFailed, StartOrdered, PhaseChanged, SpawnFailed, DevicesAwaited>(),
      kIgnored,
  };
  const std::string stopped = ReadJournal(kJournalEntry.In(run_dir), [&](const JournalRecord& record) {
    std::visit(take, record.entry);
    return true;
  });
  if (trace.run_id.empty()) {
    return Fail(Error("run", {}, "there is no journal of a run in " + Quoted(run_dir), stopped));
  }
  for (const auto& [key, identity] : running) trace.identities.push_back(identity);
  if (elsewhere) {
    trace.identities.clear();
    trace.cgroup.clear();
  }
  return trace;
}

bool HeadLives(const RunTrace& trace) {
  const auto& [pid, start_ticks] = trace.head;
  if (trace.ended || pid <= 0 || start_ticks == 0 || trace.boot.empty() || trace.boot != BootId()) return false;
  return StartTicksOf(pid) == start_ticks;
}

namespace {

RecordMark MarkOf(const JournalRecord& record) { return {record.seq, record.at, record.wall}; }

constexpr std::size_t kEnd = 64U << 10;  // the first and last records are far smaller

std::optional<JournalRecord> FirstRecord(int folder) {
  const UniqueFd file(::openat(folder, kJournalEntry.name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  std::array<char, kEnd> bytes;
  const ssize_t got = ::pread(file.get(), bytes.data(), bytes.size(), 0);
  const std::string_view text(bytes.data(), got > 0 ? static_cast<std::size_t>(got) : 0);
  return ParseJournalLine(text.substr(0, text.find('\n')));
}

// Empty unless the journal ends with a complete record.
std::optional<JournalRecord> LastRecord(int folder) {
  const Result<FileTail> tail = ReadTail(folder, kJournalEntry.name, kEnd);
  if (!tail || !tail->bytes.ends_with('\n')) return std::nullopt;
  std::string_view text(tail->bytes);
  text.remove_suffix(1);
  const std::size_t before = text.rfind('\n');
  return ParseJournalLine(before == std::string_view::npos ? text : text.substr(before + 1));
}

// Counts the states of processes; also returns the last record.
void Count(const std::string& run_dir, RunSummary& summary, std::optional<JournalRecord>& last) {
  enum class State : std::uint8_t { kOrdered, kRunning, kEnded };
  std::map<ProcessId, State> states;
  summary.phase = PhaseName(Phase::kPreparing);
  const Overloaded take{
      [&](const PhaseChanged& e) {
        summary.phase = PhaseName(e.to);
        summary.waits.clear();
      },
      [&](const DevicesAwaited& e) { summary.waits = e.holders; },
      [&](const PlanBound& e) {
        summary.waits.clear();
        summary.devices.clear();
        for (const HostBinding& host : e.hosts) {
          auto& [name, devices] = summary.devices.emplace_back(host.name, host.devices);
          std::erase(devices, "");  // of no process
        }
      },
      [&](const PreparationFailed&) { summary.waits.clear(); },
      [&](const StartOrdered& e) {
        states[e.process] = State::kOrdered;
        if (e.attempt > 0) ++summary.restarts;
      },
      [&](const ProcessStarted& e) { states[e.process] = State::kRunning; },
      [&](const ProcessExited& e) { states[e.process] = State::kEnded; },
      [&](const SpawnFailed& e) { states[e.process] = State::kEnded; },
      Ignoring<RunBegan, AgentConnected, HostReached, RunEnded>(),
      kIgnored,
  };
  ReadJournal(kJournalEntry.In(run_dir), [&](JournalRecord record) {
    std::visit(take, record.entry);
    last = std::move(record);
    return true;
  });
  for (const auto& [process, state] : states) {
    if (state == State::kRunning) ++summary.running;
    if (state == State::kEnded) ++summary.ended;
  }
}

}  // namespace

Result<RunSummary> SummarizeRun(const std::string& run_dir, bool counted) {
  // First of all: if the run is over before the journal is read, the journal has its last record.
  const bool live = IsRunLive(run_dir);
  const UniqueFd folder(::open(run_dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::optional<JournalRecord> first = FirstRecord(folder.get());
  const RunBegan* began = first ? std::get_if<RunBegan>(&first->entry) : nullptr;
  if (began == nullptr) {
    return Fail(Error("run", {}, fmt::format("the journal of {} has no first record", Quoted(run_dir))));
  }
  RunSummary summary;
  summary.run = began->run_id;
  summary.plan = began->plan_id;
  summary.name = began->name;
  summary.rehearsal = began->rehearsal;
  summary.drill = began->drill;
  summary.run_dir = run_dir;
  summary.pid = began->pid;
  summary.started_at = first->wall;

  std::optional<JournalRecord> last = LastRecord(folder.get());
  if (counted) Count(run_dir, summary, last);
  if (last && last->at > first->at) summary.seconds = InSeconds(last->at - first->at);
  if (const RunEnded* ended = last ? std::get_if<RunEnded>(&last->entry) : nullptr) {
    summary.outcome = OutcomeName(ended->cause);
    summary.exit_code = ended->exit_code;
    summary.why = ended->why;
  } else if (live) {
    summary.outcome = "running";
  } else {
    summary.outcome = OutcomeName(Cause::kLost);
    summary.seconds = InSeconds(NsUntilLastSign(folder.get(), MarkOf(*first), MarkOf(last ? *last : *first)));
    summary.exit_code = 3;
    summary.why = "muster itself exited before the run ended";
    summary.running = 0;  // nobody knows more of these than that they were running
  }
  return summary;
}

}  // namespace muster
