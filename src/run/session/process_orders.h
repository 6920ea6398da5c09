// Carries out what the supervisor orders of processes: starts, which are sent as soon as the window of starts has room
// for them, stops and dumps.
#pragma once

#include <cstdint>
#include <optional>

#include "muster/event.h"
#include "run/start/start_specs.h"
#include "run/supervise/start_window.h"

namespace muster {

class AgentLinks;
class LentTerminal;
class RunProcessTable;
struct LiveRun;

class ProcessOrders {
 public:
  ProcessOrders(LiveRun& run, AgentLinks& links, LentTerminal& terminal, RunProcessTable& roll,
                const CallerEnvironment& surroundings);

  void Start(const StartOrdered& order);
  void Stop(const StopOrdered& order);
  void Dump(const DumpOrdered& order);

  // Sends the starts that the window has room for now; the others follow by themselves.
  void SendStarts();
  // Sends all: other commands come after them.
  void SendAllStarts();
  // When SendStarts() has to be called next, at the latest.
  std::optional<MonotonicNs> NextStartAt() const;

  // The host answered a start, or is gone.
  void Answered(std::uint32_t host);
  void Lost(std::uint32_t host);

 private:
  void Send(const StartWindow::Start& start);
  std::uint32_t HostOf(ProcessId process) const;

  LiveRun& run_;
  AgentLinks& links_;
  LentTerminal& terminal_;
  RunProcessTable& roll_;
  Starts starts_;
  StartWindow window_;
  bool starts_due_ = false;  // in the next turn of the loop
};

}  // namespace muster
