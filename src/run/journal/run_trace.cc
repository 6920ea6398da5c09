#include "run/journal/run_trace.h"

#include <map>

#include "base/system/self_count.h"
#include "base/values/shell_quote.h"
#include "run/journal/journal.h"

namespace muster {

Result<RunTrace> TraceRun(const std::string& run_dir) {
  RunTrace trace;
  bool elsewhere = false;  // on a host whose pids are not this machine's
  std::map<std::pair<ProcessId, std::uint32_t>, std::pair<std::int32_t, std::uint64_t>> running;
  const std::string stopped = ReadJournal(run_dir + "/journal.jsonl", [&](const JournalRecord& record) {
    if (const auto* began = std::get_if<RunBegan>(&record.entry)) {
      trace.run_id = began->run_id;
      trace.boot = began->boot;
      trace.head = {began->pid, began->start_ticks};
    } else if (const auto* agent = std::get_if<AgentConnected>(&record.entry)) {
      trace.identities.emplace_back(agent->pid, agent->start_ticks);
      trace.cgroup = agent->cgroup;
    } else if (std::holds_alternative<HostReached>(record.entry)) {
      elsewhere = true;
    } else if (const auto* started = std::get_if<ProcessStarted>(&record.entry)) {
      running[{started->process, started->attempt}] = {started->pid, started->start_ticks};
    } else if (const auto* exited = std::get_if<ProcessExited>(&record.entry)) {
      running.erase({exited->process, exited->attempt});
    } else if (std::holds_alternative<RunEnded>(record.entry)) {
      trace.ended = true;
    }
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

}  // namespace muster
