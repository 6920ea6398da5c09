#include "run/session/run_faults.h"

#include <algorithm>
#include <chrono>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "base/values/quoting.h"
#include "run/session/agent_links.h"
#include "run/session/live_run.h"
#include "run/start/rehearsal_plan.h"
#include "run/supervise/run_process_table.h"
#include "stub/records/stub_failure.h"

namespace muster {
namespace {

static_assert(std::equal(kStubFailureNames.begin(), kStubFailureNames.end() - 1,
                         kFaultKindNames.begin() + static_cast<std::ptrdiff_t>(FaultKind::kExit),
                         kFaultKindNames.end()),
              "a fault of a stub has the name of its failure; to wait is none");

constexpr std::uint64_t kSlowTurnMs = 50;
constexpr MonotonicNs kStubListens = 100'000'000;  // after its start a stub knows the signals

tl::unexpected<std::string> Refused(std::string why) { return tl::unexpected<std::string>(std::move(why)); }

}  // namespace

tl::expected<FaultAnswer, std::string> RunFaults::Inject(const ControlRequest& request) {
  const auto kind = std::find(kFaultKindNames.begin(), kFaultKindNames.end(), request.fault);
  FaultInjected fault;
  fault.kind = static_cast<FaultKind>(kind - kFaultKindNames.begin());
  fault.lasts_ms = request.lasts_ms;
  if (kind == kFaultKindNames.end())
    return Refused(fmt::format("{} is no fault: {}", Quoted(request.fault), fmt::join(kFaultKindNames, ", ")));
  if (run_.ended || !run_.supervisor.AtWork())
    return Refused(fmt::format("the run is {}", PhaseName(run_.supervisor.phase())));
  if (IsOfStub(fault.kind) && !IsRehearsalPlan(run_.plan)) return Refused("only stubs fail at a word");
  switch (fault.kind) {
    case FaultKind::kHead:  // the caller kills it next
      run_.journal.Record(std::move(fault));
      return FaultAnswer::kInjected;
    case FaultKind::kPreempt:
    case FaultKind::kTimeLimit:
      return InHead(fault);
    case FaultKind::kDisk:
      return InDisk(std::move(fault), request.target);
    case FaultKind::kSlow:
    case FaultKind::kAgent:
    case FaultKind::kCut:
      fault.host = request.target;
      return InHost(std::move(fault));
    default:
      fault.process = request.target;
      return InProcess(std::move(fault));
  }
}

// Of a host, the first process there.
tl::expected<FaultAnswer, std::string> RunFaults::InProcess(FaultInjected fault) {
  const auto& processes = run_.plan.processes;
  const auto machine = MachineNamed(fault.process);
  const auto found = std::find_if(processes.begin(), processes.end(), [&](const Process& process) {
    const auto id = static_cast<ProcessId>(&process - processes.data());
    if (ProcessName(run_.plan, process) == fault.process) return true;
    return machine && run_.supervisor.slots().machine(process.host) == *machine && Runs(id);
  });
  if (found == processes.end())
    return Refused(fmt::format("there is no process {}, and no process on such a host", Quoted(fault.process)));
  fault.process = ProcessName(run_.plan, *found);
  const auto process = static_cast<ProcessId>(found - processes.begin());
  if (!Runs(process)) return Refused(fmt::format("{} is not running", fault.process));
  const std::uint32_t attempt = fault.attempt = run_.supervisor.attempt(process);
  const FaultKind kind = fault.kind;
  const bool stops = kind == FaultKind::kStop;
  const auto way = StubFailureNamed(kFaultKindNames[static_cast<std::size_t>(kind)]);
  if (way && run_.clock->Monotonic() < processes_.BeganAt(process, attempt) + kStubListens)
    return FaultAnswer::kUnderWay;
  const std::uint64_t lasts_ms = fault.lasts_ms;
  fault.machine = run_.supervisor.slots().machine(found->host);
  fault.host = run_.NameOf(*fault.machine);
  run_.journal.Record(std::move(fault));
  Signal(process, attempt, way ? SignalOf(*way) : stops ? SIGSTOP : SIGKILL);
  if (way == StubFailure::kHang) {
    // The others wait for it, as in a collective.
    for (ProcessId other = 0; other < processes.size(); ++other) {
      const bool counts = run_.plan.roles[processes[other].role].ending != Ending::kNever;
      if (other != process && counts && Runs(other))
        Signal(other, run_.supervisor.attempt(other), SignalOf(StubFailure::kWait));
    }
  }
  if (stops && lasts_ms > 0) {
    After(lasts_ms, [this, process, attempt] {
      if (Runs(process) && run_.supervisor.attempt(process) == attempt) Signal(process, attempt, SIGCONT);
    });
  }
  return FaultAnswer::kInjected;
}

tl::expected<FaultAnswer, std::string> RunFaults::InHost(FaultInjected fault) {
  const auto machine = MachineNamed(fault.host);
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
    return FaultAnswer::kInjected;
  }
  run_.journal.Record(fault);
  if (fault.kind == FaultKind::kAgent) {
    links_.Send(*machine, KillAgent{});
  } else {
    Slow(*machine, run_.clock->Monotonic() + lasts_ms * 1'000'000, true);
  }
  return FaultAnswer::kInjected;
}

tl::expected<FaultAnswer, std::string> RunFaults::InDisk(FaultInjected fault, const std::string& target) {
  if (const auto found = fillings_.find(target); found != fillings_.end()) {
    const Filling& filling = found->second;
    if (!filling.error && !links_.over(filling.machine)) return FaultAnswer::kUnderWay;
    const std::string error = filling.error.value_or("the agent of its host is gone");
    fillings_.erase(found);
    if (error.empty()) return FaultAnswer::kInjected;
    return Refused(error);
  }
  const std::size_t colon = target.find(":/");
  if (colon == std::string::npos) return Refused("a disk is named as HOST:/FOLDER");
  fault.host = target.substr(0, colon);
  fault.directory = target.substr(colon + 1);
  const auto machine = MachineNamed(fault.host);
  if (!machine) return Refused(fmt::format("no host {} is at work in this run", Quoted(fault.host)));
  if (fault.lasts_ms == 0) return Refused("it needs a duration");
  fault.host = run_.NameOf(*machine);
  links_.Send(*machine, FillDisk{fault.directory, fault.lasts_ms});
  fillings_[target] = {*machine, std::move(fault), {}};
  return FaultAnswer::kUnderWay;
}

void RunFaults::Filled(std::uint32_t host, const DiskFilled& answer) {
  for (auto& [target, filling] : fillings_) {
    if (filling.machine != host || filling.error) continue;
    filling.error = answer.error;
    if (answer.error.empty()) run_.journal.Record(filling.fault);
    return;
  }
}

tl::expected<FaultAnswer, std::string> RunFaults::InHead(const FaultInjected& fault) {
  run_.journal.Record(fault);
  // After the answer to the request.
  run_.Later([this, kind = fault.kind] {
    if (!run_.ended && engine_ends_) engine_ends_(kind);
  });
  return FaultAnswer::kInjected;
}

std::optional<std::uint32_t> RunFaults::MachineNamed(const std::string& name) const {
  for (std::uint32_t host = 0; host < run_.plan.hosts.size(); ++host) {
    const std::uint32_t serves = run_.supervisor.slots().machine(host);
    if (run_.NameOf(serves) == name || run_.plan.hosts[host].label == name) return serves;
  }
  return std::nullopt;
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
