#include "run/journal/run_summary.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <variant>

#include <fcntl.h>
#include <fmt/format.h>

#include "base/values/overloaded.h"
#include "base/values/shell_quote.h"
#include "base/values/units.h"
#include "run/directory/private_files.h"
#include "run/directory/run_directory.h"
#include "run/journal/journal.h"
#include "run/journal/last_sign.h"
#include "wire/files/run_layout.h"

namespace muster {
namespace {

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
  ReadJournal(run_dir + "/journal.jsonl", [&](JournalRecord record) {
    std::visit(Overloaded{[&](const PhaseChanged& e) {
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
                          [&](const SpawnFailed& e) { states[e.process] = State::kEnded; }, [](const auto&) {}},
               record.entry);
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
    summary.seconds = InSeconds(NsUntilLastSign(folder.get(), *first, last ? *last : *first));
    summary.exit_code = 3;
    summary.why = "muster itself exited before the run ended";
    summary.running = 0;  // nobody knows more of these than that they were running
  }
  return summary;
}

}  // namespace muster
