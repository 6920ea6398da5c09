#include "run/report/dump_report.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "run/directory/process_output.h"
#include "run/journal/dump_places.h"

namespace muster {
namespace {

struct StackDraft {
  DumpGroup group;
  std::set<ProcessId> processes;  // accepted by the filter
  bool outlier = false;
  std::size_t size = 0;  // including those rejected by the filter
};

void Add(StackDraft& draft, const ProcessDumped& reported) {
  DumpGroup& group = draft.group;
  const double silent = static_cast<double>(reported.silent_ms) / 1000;
  if (draft.processes.empty()) group.quietest_seconds = group.longest_seconds = silent;
  // Takes the first message with the most information.
  if (draft.processes.empty() || (!PlaceIn(group.first).frames && PlaceIn(reported).frames)) {
    group.first = reported;
    group.place = PlaceOf(reported.states);
  }
  group.quietest_seconds = std::min(group.quietest_seconds, silent);
  group.longest_seconds = std::max(group.longest_seconds, silent);
  const std::size_t place = PlaceOf(reported.states);
  if (place < reported.states.size() && reported.window_ns > 0) {
    const double share = static_cast<double>(reported.states[place].cpu_ns) / static_cast<double>(reported.window_ns);
    group.busiest = std::max(group.busiest, share);
  }
  draft.processes.insert(reported.process);
}

}  // namespace

const SystemProcessState* DumpGroup::state() const {
  return place < first.states.size() ? &first.states[place] : nullptr;
}

const ThreadState* DumpGroup::thread() const {
  const SystemProcessState* process = state();
  return process == nullptr || process->threads.empty() ? nullptr : &process->threads.front();
}

std::vector<DumpGroup> FoldDump(const Plan& plan, const std::vector<ProcessDumped>& reported,
                                const std::function<bool(ProcessId)>& keep) {
  std::vector<const ProcessDumped*> in_order;
  for (const ProcessDumped& one : reported) {
    if (one.process < plan.processes.size()) in_order.push_back(&one);
  }
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto* a, const auto* b) { return a->process < b->process; });
  std::vector<PlacedProcess> placed;
  for (const ProcessDumped* one : in_order) placed.push_back({plan.processes[one->process].role, PlaceIn(*one)});
  const ComparedPlaces places = ComparePlaces(placed);
  std::vector<StackDraft> drafts;  // by number of the place
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    if (places.number[i] == drafts.size()) drafts.emplace_back().outlier = places.outlier[i];
    StackDraft& draft = drafts[places.number[i]];
    ++draft.size;
    if (!keep || keep(in_order[i]->process)) Add(draft, *in_order[i]);
  }
  std::vector<std::pair<std::size_t, DumpGroup>> groups;  // with their sort key
  for (StackDraft& draft : drafts) {
    if (draft.processes.empty()) continue;
    DumpGroup& group = draft.group;
    group.who = MembersOf(plan, draft.processes).front();
    group.outlier = draft.outlier;
    groups.emplace_back(group.outlier ? draft.size : in_order.size(), std::move(group));
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<DumpGroup> sorted;
  for (auto& [behind, group] : groups) sorted.push_back(std::move(group));
  return sorted;
}

std::string DumpPath(const Plan& plan, std::uint32_t dump, ProcessId process, std::uint32_t attempt) {
  return fmt::format("dumps/{}/{}.{}.txt", dump, ProcessName(plan, plan.processes[process]), attempt);
}

std::vector<DumpReport> ReadDumps(const Plan& plan, const RunHistory& history, int run_dir, const DumpFilter& filter) {
  const auto keeps = [&](ProcessId id) {
    const Process& process = plan.processes[id];
    if (!filter.role.empty() && plan.roles[process.role].name != filter.role) return false;
    return !filter.ranks || (process.rank && filter.ranks->Contains(*process.rank));
  };
  std::vector<DumpReport> dumps;
  for (const DumpHistory& taken : history.dumps) {
    DumpReport& dump = dumps.emplace_back();
    dump.number = taken.order.dump;
    dump.at = taken.order.wall;
    dump.why = taken.order.why;
    dump.folder = fmt::format("dumps/{}", dump.number);
    dump.ended = taken.ended.has_value();
    dump.complete = taken.ended && taken.ended->complete;
    for (const auto& [machine, note] : taken.notes) dump.notes.emplace_back(history.MachineName(machine), note);
    dump.groups = FoldDump(plan, taken.reported, keeps);
    for (DumpGroup& group : dump.groups) {
      if (group.first.log_bytes == 0) continue;
      const std::string log = LogPath(plan, group.first.process, group.first.attempt);
      const std::vector<std::string> last = LastLinesBefore(run_dir, log, group.first.log_bytes, 1);
      if (!last.empty()) group.last_line = last.front();
    }
    std::set<ProcessId> unheard;
    for (const ProcessId process : taken.running) {
      if (keeps(process)) unheard.insert(process);
    }
    for (const ProcessDumped& reported : taken.reported) unheard.erase(reported.process);
    dump.unheard = MembersOf(plan, unheard);
  }
  return dumps;
}

Result<DumpReport> FindDump(const std::string& run_dir, std::uint32_t number, const DumpFilter& filter) {
  const Result<RecordedRun> run = ReadRun(run_dir);
  if (!run) return Fail(run.error());
  std::vector<DumpReport> dumps = ReadDumps(*run->plan, run->history, run->folder.get(), filter);
  for (auto dump = dumps.rbegin(); dump != dumps.rend(); ++dump) {
    if (number != 0 && dump->number != number) continue;
    if (!dump->groups.empty() || !dump->unheard.empty()) return std::move(*dump);
    return Fail(Error("dump", {}, "no such process ran when the dump was taken", "muster report lists the processes"));
  }
  return Fail(Error("dump", {}, "no dump of this run was taken",
                    "muster dump takes one during the run; limits.silent and muster stop --dump before its end"));
}

}  // namespace muster
