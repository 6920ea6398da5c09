#include "agent/parts/process_dumps.h"

#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/system/clock.h"

namespace muster {

ProcessDumps::ProcessDumps(AgentState& state)
    : state_(state),
      taker_(state.io, state.process.launcher,
             {.reported = [this](const ProcessDumped& dumped) { OnDumped(dumped); },
              .done =
                  [this](HostDumped done) {
                    done.host = state_.host;
                    state_.send(done);
                  },
              .idle = [this] { state_.emptied(); }}) {}

void ProcessDumps::Do(const TakeDump& command, const RunningProcessTable& running) {
  std::vector<DumpTaker::Target> targets;
  for (const DumpTarget& one : command.processes) {
    const auto found = running.find({one.process, one.attempt});
    if (found == running.end()) continue;
    const RunningProcess& process = found->second;
    state_.host_folder.Expect(one.path);
    const std::string name = process.mark.substr(process.mark.find('=') + 1);
    targets.push_back({found->first, process.pid,
                       fmt::format("dump {} of {}, {}", command.dump, name, UtcText(WallNowNs())),
                       state_.run_folder.At(one.path), process.log, process.search_path});
  }
  if (state_.space) outer_pids_ = state_.space->Pids();
  taker_.Take(command.dump, std::chrono::milliseconds(command.within_ms), std::move(targets));
}

// Files and tools of a dump use the pids inside the namespace; the head gets outer pids. A process that was started
// after the dump began, and any thread but a main one, has 0.
void ProcessDumps::OnDumped(ProcessDumped dumped) const {
  const auto translate = [this](std::int32_t& pid) {
    const auto found = outer_pids_.find(pid);
    pid = found == outer_pids_.end() ? 0 : found->second;
  };
  for (SystemProcessState& process : dumped.states) {
    if (!state_.space) break;
    const std::int32_t inside = process.pid;
    translate(process.pid);
    translate(process.parent);
    for (ThreadState& thread : process.threads) thread.tid = thread.tid == inside ? process.pid : 0;
  }
  state_.send(dumped);
}

}  // namespace muster
