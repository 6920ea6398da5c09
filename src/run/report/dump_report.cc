#include "run/report/dump_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "base/values/overloaded.h"
#include "run/directory/process_output.h"
#include "run/journal/journal.h"

namespace muster {
namespace {

struct DumpDraft {
  DumpReport report;
  std::vector<ProcessDumped> reported;
  std::map<ProcessId, std::uint32_t> running;  // with their attempt, when the dump was ordered
};

// Collects dumps in one pass over the records.
class DumpReading {
 public:
  DumpReading(const Plan& plan, const CheckedJournal& journal) : hosts_(plan, journal) {
    for (const JournalRecord& record : journal.records()) Take(record);
  }
  std::vector<DumpDraft>& drafts() { return drafts_; }

 private:
  DumpDraft* Find(std::uint32_t number) {
    // Dumps are numbered from 1 in the order in which they were ordered.
    return number >= 1 && number <= drafts_.size() ? &drafts_[number - 1] : nullptr;
  }

  void Take(const JournalRecord& record) {
    std::visit(Overloaded{
                   [&](const ProcessStarted& e) { running_[e.process] = e.attempt; },
                   [&](const ProcessExited& e) {
                     const auto found = running_.find(e.process);
                     if (found != running_.end() && found->second == e.attempt) running_.erase(found);
                   },
                   [&](const AgentLost& e) {
                     std::erase_if(running_,
                                   [&](const auto& each) { return hosts_.Of(each.first, each.second) == e.host; });
                   },
                   [&](const DumpOrdered& e) { Begin(e, record.wall); },
                   [&](const ProcessDumped& e) {
                     if (DumpDraft* draft = Find(e.dump)) draft->reported.push_back(e);
                   },
                   [&](const HostDumped& e) {
                     DumpDraft* draft = Find(e.dump);
                     if (draft == nullptr) return;
                     for (const DumpNote& note : e.notes) {
                       draft->report.notes.emplace_back(hosts_.Name(e.host), note);
                     }
                   },
                   [&](const DumpEnded& e) {
                     DumpDraft* draft = Find(e.dump);
                     if (draft == nullptr) return;
                     draft->report.ended = true;
                     draft->report.complete = e.complete;
                   },
                   [](const auto&) {},
               },
               record.entry);
  }

  void Begin(const DumpOrdered& order, const std::string& wall) {
    if (order.dump != drafts_.size() + 1) return;
    DumpDraft& draft = drafts_.emplace_back();
    draft.report.number = order.dump;
    draft.report.at = wall;
    draft.report.why = order.why;
    draft.report.folder = fmt::format("dumps/{}", order.dump);
    draft.running = running_;
  }

  AttemptHosts hosts_;
  std::map<ProcessId, std::uint32_t> running_;
  std::vector<DumpDraft> drafts_;
};

}  // namespace

std::string DumpPath(const Plan& plan, std::uint32_t dump, ProcessId process, std::uint32_t attempt) {
  return fmt::format("dumps/{}/{}.{}.txt", dump, ProcessName(plan, plan.processes[process]), attempt);
}

std::vector<DumpReport> ReadDumps(const Plan& plan, const CheckedJournal& journal, int run_dir,
                                  const DumpFilter& filter) {
  const auto keeps = [&](ProcessId id) {
    const Process& process = plan.processes[id];
    if (!filter.role.empty() && plan.roles[process.role].name != filter.role) return false;
    return !filter.ranks || (process.rank && filter.ranks->Contains(*process.rank));
  };
  DumpReading reading(plan, journal);
  std::vector<DumpReport> dumps;
  for (DumpDraft& draft : reading.drafts()) {
    DumpReport& dump = draft.report;
    dump.groups = FoldDump(plan, draft.reported, keeps);
    for (DumpGroup& group : dump.groups) {
      if (group.first.log_bytes == 0) continue;
      const std::string log = LogPath(plan, group.first.process, group.first.attempt);
      const std::vector<std::string> last = LastLinesBefore(run_dir, log, group.first.log_bytes, 1);
      if (!last.empty()) group.last_line = last.front();
    }
    std::set<ProcessId> unheard;
    for (const auto& [process, attempt] : draft.running) {
      if (keeps(process)) unheard.insert(process);
    }
    for (const ProcessDumped& reported : draft.reported) unheard.erase(reported.process);
    dump.unheard = MembersOf(plan, unheard);
    dumps.push_back(std::move(dump));
  }
  return dumps;
}

Result<DumpReport> FindDump(const std::string& run_dir, std::uint32_t number, const DumpFilter& filter) {
  const Result<RecordedRun> run = ReadRun(run_dir);
  if (!run) return Fail(run.error());
  std::vector<DumpReport> dumps = ReadDumps(*run->plan, run->journal, run->folder.get(), filter);
  for (auto dump = dumps.rbegin(); dump != dumps.rend(); ++dump) {
    if (number != 0 && dump->number != number) continue;
    if (!dump->groups.empty() || !dump->unheard.empty()) return std::move(*dump);
    return Fail(Error("dump", {}, "no such process ran when the dump was taken", "muster report lists the processes"));
  }
  return Fail(Error("dump", {}, "no dump of this run was taken",
                    "muster dump takes one during the run; limits.silent and muster stop --dump before its end"));
}

}  // namespace muster
