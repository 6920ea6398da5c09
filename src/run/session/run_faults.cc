#include "run/session/run_faults.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "run/session/agent_links.h"
#include "run/session/live_run.h"

namespace muster {
namespace {

constexpr std::uint64_t kSlowTurnMs = 50;

tl::unexpected<std::string> Refused(std::string why) { return tl::unexpected<std::string>(std::move(why)); }

}  // namespace

tl::expected<void, std::string> RunFaults::Inject(const ControlRequest& request) {
  const auto kind = std::find(kFaultKindNames.begin(), kFaultKindNames.end(), request.fault);
  FaultInjected fault;
  fault.kind = static_cast<FaultKind>(kind - kFaultKindNames.begin());
  fault.lasts_ms = request.lasts_ms;
  if (kind == kFaultKindNames.end()) {
    return Refused(fmt::format("{} is no fault: {}", Quoted(request.fault), fmt::join(kFaultKindNames, ", ")));
  }
  if (run_.ended || !run_.supervisor.AtWork())
    return Refused(fmt::format("the run is {}", PhaseName(run_.supervisor.phase())));
  if (fault.kind == FaultKind::kHead) {  // which kills it next
    run_.journal.Record(std::move(fault));
    return {};
  }
  const bool of_process = fault.kind == FaultKind::kKill || fault.kind == FaultKind::kStop;
  (of_process ? fault.process : fault.host) = request.target;
  return of_process ? InProcess(std::move(fault)) : InHost(std::move(fault));
}

tl::expected<void, std::string> RunFaults::InProcess(FaultInjected fault) {
  const auto& processes = run_.plan.processes;
  const auto found = std::find_if(processes.begin(), processes.end(), [&](const Process& process) {
    return ProcessName(run_.plan, process) == fault.process;
  });
  if (found == processes.end()) return Refused(fmt::format("there is no process {}", Quoted(fault.process)));
  const auto process = static_cast<ProcessId>(found - processes.begin());
  if (!Runs(process)) return Refused(fmt::format("{} is not running", fault.process));
  const std::uint32_t attempt = fault.attempt = run_.supervisor.attempt(process);
  const bool stops = fault.kind == FaultKind::kStop;
  const std::uint64_t lasts_ms = fault.lasts_ms;
  fault.machine = run_.supervisor.slots().machine(found->host);
  fault.host = run_.NameOf(*fault.machine);
  run_.journal.Record(std::move(fault));
  Signal(process, attempt, stops ? SIGSTOP : SIGKILL);
  if (stops && lasts_ms > 0) {
    After(lasts_ms, [this, process, attempt] {
      if (Runs(process) && run_.supervisor.attempt(process) == attempt) Signal(process, attempt, SIGCONT);
    });
  }
  return {};
}

tl::expected<void, std::string> RunFaults::InHost(FaultInjected fault) {
  std::optional<std::uint32_t> machine;
  for (std::uint32_t host = 0; host < run_.plan.hosts.size() && !machine; ++host) {
    const std::uint32_t serves = run_.supervisor.slots().machine(host);
    if (run_.NameOf(serves) == fault.host || run_.plan.hosts[host].label == fault.host) machine = serves;
  }
  if (!machine) return Refused(fmt::format("no host {} is at work in this run", Quoted(fault.host)));
  if (links_.over(*machine)) return Refused(fmt::format("the agent of {} is gone", fault.host));
  fault.machine = machine;
  fault.host = run_.NameOf(*machine);
  const std::uint64_t lasts_ms = fault.lasts_ms;
  if (fault.kind != FaultKind::kAgent && lasts_ms == 0) return Refused("it needs a duration");
  if (fault.kind == FaultKind::kCut) {
    if (!links_.Hold(*machine, true)) return Refused(fmt::format("nothing carries the connection to {}", fault.host));
    run_.journal.Record(fault);
    After(lasts_ms, [this, host = *machine] { links_.Hold(host, false); });
    return {};
  }
  run_.journal.Record(fault);
  if (fault.kind == FaultKind::kAgent) {
    links_.Send(*machine, KillAgent{});
  } else {
    Slow(*machine, run_.clock->Monotonic() + lasts_ms * 1'000'000, true);
  }
  return {};
}

void RunFaults::Slow(std::uint32_t host, MonotonicNs end, bool stop) {
  for (ProcessId process = 0; process < run_.plan.processes.size(); ++process) {
    if (run_.supervisor.slots().machine(run_.plan.processes[process].host) != host || !Runs(process)) continue;
    Signal(process, run_.supervisor.attempt(process), stop ? SIGSTOP : SIGCONT);
  }
  if (!stop && run_.clock->Monotonic() >= end) return;
  After(kSlowTurnMs, [this, host, end, stop] { Slow(host, end, !stop); });
}

void RunFaults::Signal(ProcessId process, std::uint32_t attempt, int signal) {
  const std::uint32_t host = run_.supervisor.slots().machine(run_.plan.processes[process].host);
  links_.Send(host, SignalProcess{{process, attempt}, signal});
}

bool RunFaults::Runs(ProcessId process) const { return run_.supervisor.state(process) == ProcessState::kRunning; }

void RunFaults::After(std::uint64_t ms, std::function<void()> act) {
  const std::uint64_t number = next_timer_++;
  boost::asio::steady_timer& timer = timers_.emplace(number, run_.io).first->second;
  timer.expires_after(std::chrono::milliseconds(ms));
  timer.async_wait([this, number, act = std::move(act), weak = run_.session](const boost::system::error_code& error) {
    const auto self = weak.lock();
    if (error || !self || run_.ended) return;
    act();
    timers_.erase(number);
  });
}

}  // namespace muster
