// Carries out the supervisor's orders about processes: stops, dumps, and starts, of which a limited number is in
// progress at once; and lends the user's terminal to a process.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <vector>

#include "muster/event.h"
#include "muster/result.h"
#include "run/console/terminal_link.h"
#include "run/journal/head_facts.h"
#include "run/start/start_commands.h"
#include "wire/protocol/protocol.h"

namespace muster {

// Limits the number of concurrent starts: of thousands that are ordered at once only a limited number is sent, and more
// as answers arrive. Heartbeats are handled in between, and starts alone do not saturate the head or a machine that
// many agents share.
//
// Pure: depends on orders, hosts and times; sends nothing itself.
class StartWindow {
 public:
  static constexpr std::size_t kAtOnce = 128;        // most starts sent in one iteration of the loop
  static constexpr std::size_t kUnanswered = 1'024;  // most starts without an answer
  // Hosts that take longer than this (a program on a slow file system) do not delay the others any further.
  static constexpr MonotonicNs kPatience = 500'000'000;

  struct Start {
    StartOrdered order;
    std::uint32_t host = 0;  // number of the machine
  };

  void Ordered(const StartOrdered& order, std::uint32_t host) { waiting_.push_back({order, host}); }
  // The starts to send now, in the order of their orders; at most kAtOnce.
  std::vector<Start> Take(MonotonicNs now);
  // All starts that have not been sent: call it before any other command is sent to a host.
  std::vector<Start> TakeAll();
  // When Take() will return starts: now or later; empty if none is waiting.
  std::optional<MonotonicNs> NextAt(MonotonicNs now) const;

  // Whether every start was sent and answered.
  bool empty() const { return waiting_.empty() && unanswered_ == 0; }

  // A start on that host succeeded or failed.
  void Answered(std::uint32_t host, MonotonicNs now);
  // No more answers are expected from that host.
  void Lost(std::uint32_t host, MonotonicNs now);

 private:
  std::deque<Start> waiting_;
  std::map<std::uint32_t, std::size_t> sent_;  // by host: starts without an answer
  std::size_t unanswered_ = 0;
  MonotonicNs moved_at_ = 0;  // when the last start was sent or answered
};

// Connects the user's terminal to the pseudo-terminal of a process (--pty) when its agent opens one, and disconnects it
// at the end.

class AgentLinks;
struct LiveRun;

// Without --pty it does nothing.
class LentTerminal {
 public:
  LentTerminal(LiveRun& run, AgentLinks& links) : run_(run), links_(links) {}

  // `stop` is called when the user requests the end of the run by keys.
  Result<void> Open(std::function<void()> stop);
  void Saw(const Event& event);
  void Written(const PtyBytes& bytes);
  void Taken(const PtyTaken& taken);
  void Part();
  // Only for the process of --pty.
  PtySize Size() const { return link_->Size(); }

 private:
  LiveRun& run_;
  AgentLinks& links_;
  std::optional<TerminalLink> link_;
};

// Carries out the supervisor's orders about processes: stops, dumps, and starts, which are sent as the start window
// permits.

class RunProcessTable;

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
