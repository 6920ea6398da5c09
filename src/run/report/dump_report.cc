#include "run/report/dump_report.h"

#include <algorithm>
#include <map>
#include <set>

#include <fmt/format.h>

#include "run/directory/process_output.h"

namespace muster {
namespace {

bool WaitsForChild(const ThreadState& thread) {
  return thread.call == "wait4" || thread.call == "waitid" || thread.wait == "do_wait";
}

// The kernel state of the main thread, for comparison with other processes.
std::string KernelKey(const ProcessDumped& reported) {
  if (reported.states.empty()) return {};
  const SystemProcessState& process = reported.states[PlaceOf(reported.states)];
  if (process.threads.empty()) return process.program;
  const ThreadState& main = process.threads.front();
  return fmt::format("{}\n{}\n{}\n{}", process.program, main.state, main.wait, main.call);
}

// Its frames, for comparison; empty if none are known.
std::string FrameKey(const ProcessDumped& reported) {
  if (reported.states.empty()) return {};
  const SystemProcessState& process = reported.states[PlaceOf(reported.states)];
  if (process.threads.empty() || process.threads.front().frames.empty()) return {};
  const ThreadState& main = process.threads.front();
  const bool passing = main.state == "running" || main.state == "sleeping";
  std::string key = fmt::format("{}\n{}\n", process.program, passing ? "" : main.state);
  for (const StackFrame& frame : main.frames)
    key += fmt::format("{}\n{}\n{}\n", frame.function, frame.file, frame.line);
  return key;
}

using PlaceKey = std::pair<bool, std::string>;  // by frames, or by kernel state

// The place of each process. A process without frames, because the time for tools was over, counts as being in the
// place of the others with the same kernel state, if these are all in one place.
std::vector<PlaceKey> PlacesOf(const Plan& plan, const std::vector<const ProcessDumped*>& reported) {
  std::map<std::pair<std::uint32_t, std::string>, std::set<std::string>> frames_by_kernel;
  const auto by_kernel = [&](const ProcessDumped& one) {
    return std::pair(plan.processes[one.process].role, KernelKey(one));
  };
  for (const ProcessDumped* one : reported) {
    if (std::string frames = FrameKey(*one); !frames.empty())
      frames_by_kernel[by_kernel(*one)].insert(std::move(frames));
  }
  std::vector<PlaceKey> places;
  for (const ProcessDumped* one : reported) {
    std::string frames = FrameKey(*one);
    const auto others = frames_by_kernel.find(by_kernel(*one));
    if (frames.empty() && others != frames_by_kernel.end() && others->second.size() == 1) {
      frames = *others->second.begin();
    }
    places.push_back(frames.empty() ? PlaceKey(false, KernelKey(*one)) : PlaceKey(true, std::move(frames)));
  }
  return places;
}

struct StackDraft {
  DumpGroup group;
  std::set<ProcessId> processes;  // accepted by the filter
  std::uint32_t role = 0;
  std::size_t size = 0;  // including those rejected by the filter
};

void Add(StackDraft& draft, const ProcessDumped& reported) {
  DumpGroup& group = draft.group;
  const double silent = static_cast<double>(reported.silent_ms) / 1000;
  if (draft.processes.empty()) group.quietest_seconds = group.longest_seconds = silent;
  // Takes the first message with the most information.
  if (draft.processes.empty() || (FrameKey(group.first).empty() && !FrameKey(reported).empty())) {
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

std::size_t PlaceOf(const std::vector<SystemProcessState>& states) {
  std::size_t place = 0;
  // Continues forward in the list, since children come after their parents.
  while (place < states.size() && !states[place].threads.empty() && WaitsForChild(states[place].threads.front())) {
    const auto child = std::find_if(states.begin() + static_cast<std::ptrdiff_t>(place) + 1, states.end(),
                                    [&](const SystemProcessState& s) { return s.parent == states[place].pid; });
    if (child == states.end()) break;
    place = static_cast<std::size_t>(child - states.begin());
  }
  return place;
}

std::vector<DumpGroup> FoldDump(const Plan& plan, const std::vector<ProcessDumped>& reported,
                                const std::function<bool(ProcessId)>& keep) {
  std::vector<const ProcessDumped*> in_order;
  for (const ProcessDumped& one : reported) {
    if (one.process < plan.processes.size()) in_order.push_back(&one);
  }
  std::stable_sort(in_order.begin(), in_order.end(),
                   [](const auto* a, const auto* b) { return a->process < b->process; });
  std::vector<StackDraft> drafts;
  const std::vector<PlaceKey> places = PlacesOf(plan, in_order);
  std::map<std::pair<std::uint32_t, PlaceKey>, std::size_t> by_place;
  std::map<std::uint32_t, std::size_t> of_role;
  for (std::size_t i = 0; i < in_order.size(); ++i) {
    const ProcessDumped* const one = in_order[i];
    const std::uint32_t role = plan.processes[one->process].role;
    const auto [known, is_new] = by_place.try_emplace(std::pair(role, places[i]), drafts.size());
    if (is_new) drafts.push_back({{}, {}, role, 0});
    StackDraft& draft = drafts[known->second];
    ++of_role[role];
    ++draft.size;
    if (!keep || keep(one->process)) Add(draft, *one);
  }
  std::set<std::uint32_t> have_most;  // roles with more than half of their processes in one place
  for (const StackDraft& draft : drafts) {
    if (2 * draft.size > of_role[draft.role]) have_most.insert(draft.role);
  }
  std::vector<std::pair<std::size_t, DumpGroup>> groups;  // with their sort key
  for (StackDraft& draft : drafts) {
    if (draft.processes.empty()) continue;
    DumpGroup& group = draft.group;
    group.who = MembersOf(plan, draft.processes).front();
    group.outlier = have_most.contains(draft.role) && 2 * draft.size <= of_role[draft.role];
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
