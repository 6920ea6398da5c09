// Carries out the supervisor's orders about processes: stops, dumps, and starts, which are sent as the start window
// permits.
#pragma once

#include <cstdint>
#include <optional>

#include "muster/event.h"
#include "run/start/start_commands.h"
#include "run/supervise/start_window.h"

namespace muster {

class AgentLinks;
class LentTerminal;
class RunProcessTable;
struct LiveRun;

class ProcessOrders {
 public:
  ProcessOrders(LiveRun& run, AgentLinks& links, LentTerminal& terminal, RunProcessTable& process_table,
                const CallerEnvironment& surroundings);

  void Start(const StartOrdered& order);
  void Stop(const StopOrdered& order);
  void Dump(const DumpOrdered& order);

  // Sends the starts that the window permits now; the others follow automatically.
  void SendStarts();
  // Sends all starts, because other commands must come after them.
  void SendAllStarts();
  // When SendStarts() must be called again at the latest.
  std::optional<MonotonicNs> NextStartAt() const;

  // Whether every ordered start was sent and answered.
  bool AllAnswered() const { return !starts_due_ && window_.empty(); }

  // The host answered a start, or was lost.
  void Answered(std::uint32_t host);
  void Lost(std::uint32_t host);

 private:
  void Send(const StartWindow::Start& start);
  std::uint32_t HostOf(ProcessId process) const;

  LiveRun& run_;
  AgentLinks& links_;
  LentTerminal& terminal_;
  RunProcessTable& process_table_;
  StartCommands starts_;
  StartWindow window_;
  bool starts_due_ = false;  // in the next iteration of the loop
};

}  // namespace muster
