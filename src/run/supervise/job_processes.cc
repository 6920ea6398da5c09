#include "run/supervise/job_processes.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <fmt/format.h>

#include "plan/plan/roles.h"
#include "run/journal/head_facts.h"
#include "run/supervise/orders.h"

namespace muster {

namespace {

// "4x32x32": hosts, processes, devices.
std::string ShapeText(const Plan& plan) {
  std::uint64_t devices = 0;
  for (const PlanHost& host : plan.hosts) devices += host.devices;
  return fmt::format("{}x{}x{}", plan.hosts.size(), plan.processes.size(), devices);
}

// The first process of the host that is at work.
std::optional<ProcessId> FirstAtWork(const ProcessStates& states, std::uint32_t host) {
  const auto there = states.OnHost(host);
  const auto found = std::find_if(there.begin(), there.end(), [&](ProcessId each) { return states.IsAtWork(each); });
  return found == there.end() ? std::nullopt : std::optional(*found);
}

}  // namespace

JobProcesses::JobProcesses(const Plan& plan, const std::vector<SiteHost>& spares)
    : plan_(plan), states_(plan), limits_(plan), restarts_(plan), hosts_(plan, spares) {}

void JobProcesses::Begin(Orders& orders) {
  at_work_ = true;
  limits_.JobStarted(orders);
  for (std::uint32_t role = 0; role < plan_.roles.size(); ++role) {
    if (states_.order().MayStart(role)) StartRole(role, orders);
  }
}

void JobProcesses::Retire(Orders& orders) {
  at_work_ = false;
  orders.Disarm(kSilenceTimer);
  restarts_.Cancel(orders);
  ports_.End();
  hosts_.Cancel();
  excluded_.clear();
}

void JobProcesses::Linger(Orders& orders) {
  orders.Disarm(kTimeTimer);
  std::vector<bool> serving(plan_.roles.size(), false);
  for (ProcessId process = 0; process < states_.count(); ++process) {
    const ProcessState state = states_.state(process);
    if (state == ProcessState::kWaiting || state == ProcessState::kResting) {
      states_.Apply(process, ProcessInput::kStop);  // it is no longer needed
    } else if (state != ProcessState::kEnded) {
      serving[plan_.processes[process].role] = true;
    }
  }
  for (std::size_t role = 0; role < serving.size(); ++role) {
    if (serving[role]) orders.ArmIn(kLingerTimers + role, plan_.roles[role].linger_ms);
  }
}

void JobProcesses::Stop(std::optional<std::uint32_t> only_role, bool at_once, Orders& orders) {
  std::vector<ProcessId> signalled;
  const ProcessInput input = at_once ? ProcessInput::kKill : ProcessInput::kStop;
  for (ProcessId process = 0; process < states_.count(); ++process) {
    if (only_role && plan_.processes[process].role != *only_role) continue;
    if (states_.Apply(process, input) == ProcessEffect::kSignal) signalled.push_back(process);
  }
  OrderStops(plan_, signalled, at_once, states_.left() > 0, orders);
}

bool JobProcesses::IsLatest(const ProcessAttempt& who, std::string_view what, Orders& orders) const {
  if (states_.IsLatest(who)) return true;
  orders.Add(StrayEvent{fmt::format("process {} attempt {} {}", who.process, who.attempt, what)});
  return false;
}

void JobProcesses::Started(const ProcessAttempt& who, Orders& orders) {
  if (!IsLatest(who, "started", orders)) return;
  const Process& process = plan_.processes[who.process];
  if (states_.Apply(who.process, ProcessInput::kStarted) == ProcessEffect::kStray) {
    orders.Add(StrayEvent{fmt::format("{} started", ProcessName(plan_, process))});
  } else if (states_.state(who.process) == ProcessState::kRunning) {
    limits_.ProcessStarted(who.process, orders);
    if (plan_.roles[process.role].ready.kind == Readiness::Kind::kStarted) Ready(who.process, orders);
  }
}

void JobProcesses::Ready(ProcessId process, Orders& orders) {
  if (states_.order().IsReady(process)) return;
  orders.Disarm(kReadyTimers + process);
  const std::vector<std::uint32_t> freed = states_.SetReady(process);
  if (!at_work_) return;
  for (const std::uint32_t role : freed) StartRole(role, orders);
}

std::optional<JobInput> JobProcesses::Ended(const ProcessAttempt& who, const HowEnded& end, const std::string& how,
                                            std::string& why, Orders& orders) {
  if (!IsLatest(who, how, orders)) return std::nullopt;
  why = fmt::format("{} {}", ProcessName(plan_, plan_.processes[who.process]), how);
  limits_.ProcessEnded(who, orders);
  ProcessInput input = end.Well() ? ProcessInput::kExitedWithSuccess : ProcessInput::kExitedBadly;
  if (end.kind == HowEnded::Kind::kNotStarted) input = ProcessInput::kSpawnFailed;
  const ProcessEffect effect = states_.Apply(who.process, input);
  if (effect == ProcessEffect::kStray) orders.Add(StrayEvent{why});
  if (effect == ProcessEffect::kFailed) return Failed(who, end, why, orders);
  if (effect == ProcessEffect::kOver) {
    if (const auto restart = restarts_.Ended(who.process, states_)) StartAgainIfDue(*restart, orders);
  }
  if (effect != ProcessEffect::kSucceed) return std::nullopt;

  const Role& role = plan_.roles[plan_.processes[who.process].role];
  const std::optional<std::uint32_t> waiting = states_.order().AwaitedBy(who.process);
  if (role.ready.kind != Readiness::Kind::kDone && waiting && at_work_) {
    why += fmt::format(" before it was ready, and role {} waits for it", plan_.roles[*waiting].name);
    return Failed(who, end, why, orders);
  }
  if (Restarts(role.restart, end) && Restart(who, states_.Members(who.process, role.restart.scope), why, orders))
    return std::nullopt;
  states_.SetDone(who.process, true);
  if (role.ending == Ending::kNever && states_.undone() > 0) orders.Add(EndedEarly{who.process, who.attempt});
  Ready(who.process, orders);
  return std::nullopt;
}

std::optional<JobInput> JobProcesses::Failed(const ProcessAttempt& who, const HowEnded& end, std::string& why,
                                             Orders& orders) {
  const Process& process = plan_.processes[who.process];
  const RestartPolicy& policy = plan_.roles[process.role].restart;
  const bool restarts = Restarts(policy, end);
  const auto verdict = Judge(who, end, restarts && policy.verdict && !ports_.Concerns(who), orders);
  if (RestartElsewhere(who, why, orders)) return std::nullopt;
  if (!restarts) return JobInput::kFailed;
  std::vector<ProcessId> members = states_.Members(who.process, policy.scope);
  bool excludes = false;
  if (policy.verdict && verdict && verdict->verdict != RestartVerdict::kRestart) {
    why += fmt::format("; {}", verdict->evidence);
    if (verdict->verdict == RestartVerdict::kStop) return JobInput::kFailed;
    excludes = CanExclude(process.host, members, why);
  }
  if (!Restart(who, members, why, orders)) return JobInput::kFailed;
  if (excludes) excluded_.insert(process.host);
  return std::nullopt;
}

std::optional<GivenVerdict> JobProcesses::Judge(const ProcessAttempt& who, const HowEnded& end, bool obeyed,
                                                Orders& orders) {
  if (source_ == nullptr || !at_work_) return std::nullopt;
  const Process& process = plan_.processes[who.process];
  const Role& role = plan_.roles[process.role];
  const std::uint32_t machine = hosts_.slots().machine(process.host);
  const bool has_readiness = role.ready.kind != Readiness::Kind::kStarted && role.ready.kind != Readiness::Kind::kDone;
  const FailureTraits traits = source_->Look(
      {who, end, machine, has_readiness ? std::optional(states_.order().IsReady(who.process)) : std::nullopt});
  FailureJudged judged;
  judged.process = who.process;
  judged.attempt = who.attempt;
  judged.host = machine;
  judged.host_name = hosts_.slots().name(machine);
  judged.failure_class = traits.failure_class;
  judged.fingerprint = traits.fingerprint;
  judged.what = traits.what;
  judged.step = traits.step;
  judged.checkpoint = traits.checkpoint;
  judged.checkpoint_at = traits.checkpoint_at;
  judged.ready = traits.ready;
  judged.alone = role.restart.scope == RestartPolicy::Scope::kProcess;
  judged.shape = ShapeText(plan_);
  judged.replaceable = hosts_.slots().SpareFor(process.host).has_value();
  judged.obeyed = obeyed;
  judged.host_unclear = end.of_several;
  if (judged_.size() == kMaxJudgedFailures) judged_.erase(judged_.begin());
  judged_.push_back(std::move(judged));
  GivenVerdict given = GiveVerdict(judged_, *rules_);
  judged_.back().verdict = given.verdict;
  judged_.back().rule = given.rule;
  judged_.back().evidence = given.evidence;
  orders.Add(judged_.back());
  return given;
}

void JobProcesses::RestartDelayOver(std::uint64_t restart, Orders& orders) {
  restarts_.DelayOver(restart);
  StartAgainIfDue(restart, orders);
}

void JobProcesses::PortSeenTaken(const PortTaken& event, std::string& why, Orders& orders) {
  const ProcessAttempt who{event.process, event.attempt};
  if (!IsLatest(who, "lacks a port", orders)) return;
  ports_.Saw(event);
  // If the port cannot be replaced, nothing is done: a running process may still get it.
  if (!event.running || states_.state(event.process) != ProcessState::kRunning) return;
  why = fmt::format("{} cannot listen", ProcessName(plan_, plan_.processes[event.process]));
  RestartElsewhere(who, why, orders);
}

std::optional<JobInput> JobProcesses::Rebound(const PlanRebound& event, std::string& why, Orders& orders) {
  if (!ports_.End()) return std::nullopt;  // the job is over
  if (!event.error.empty()) {
    why = fmt::format("there are no other ports: {}", event.error);
    return JobInput::kUnready;
  }
  StartDue(orders);
  return std::nullopt;
}

std::optional<JobInput> JobProcesses::MachineOver(std::uint32_t machine, bool attested, const std::string& how,
                                                  Phase phase, std::string& why, Orders& orders) {
  if (!hosts_.MachineOver(machine)) return std::nullopt;  // a loss after the reported end changes nothing
  limits_.MachineOver(machine);
  why = fmt::format("the agent of {} was lost: {}", hosts_.slots().name(machine), how);
  const std::optional<std::uint32_t> host = hosts_.slots().host(machine);
  if (!host) {
    // A spare: its loss fails the preparation like that of any host; later it only matters when it is needed.
    return phase == Phase::kPreparing ? std::optional(JobInput::kLost) : std::nullopt;
  }
  if (const std::optional<ProcessAttempt> who = limits_.at_terminal();
      who && plan_.processes[who->process].host == *host) {
    limits_.TerminalClosed(*who, orders);
  }
  excluded_.erase(*host);
  if (!attested && Relocate(*host, why, orders)) return std::nullopt;
  for (const ProcessId process : states_.OnHost(*host)) states_.Apply(process, ProcessInput::kLost);
  if (attested && phase == Phase::kFinishing) return std::nullopt;
  return JobInput::kLost;
}

std::optional<JobInput> JobProcesses::Replaced(const HostReplaced& event, std::string& why, Orders& orders) {
  if (!hosts_.Answered(event)) return std::nullopt;  // the job is over, or that spare was lost
  if (event.error.empty()) {
    if (!hosts_.under_way()) StartDue(orders);
    return std::nullopt;
  }
  why = fmt::format("{} cannot replace a lost host: {}", hosts_.slots().name(event.by), event.error);
  const std::optional<std::uint32_t> spare = hosts_.slots().SpareFor(event.host);
  if (!spare) {
    why += ", and there is no other spare host that could";
    return JobInput::kLost;
  }
  hosts_.Begin(event.host, *spare);
  orders.Add(ReplaceOrdered{event.host, *spare});
  return std::nullopt;
}

void JobProcesses::StartRole(std::uint32_t role, Orders& orders) {
  if (hosts_.under_way() || !excluded_.empty()) return;  // StartDue will start it
  for (ProcessId process = states_.order().First(role); process < states_.order().Last(role); ++process) {
    if (states_.Apply(process, ProcessInput::kStart) == ProcessEffect::kStart) {
      orders.Add(StartOrdered{process, states_.attempt(process)});
    }
  }
}

void JobProcesses::StartDue(Orders& orders) {
  for (const std::uint64_t restart : restarts_.Numbers()) StartAgainIfDue(restart, orders);
  for (std::uint32_t role = 0; role < plan_.roles.size(); ++role) {
    if (states_.order().MayStart(role)) StartRole(role, orders);
  }
}

void JobProcesses::StartAgainIfDue(std::uint64_t restart, Orders& orders) {
  if (ports_.under_way() || hosts_.under_way()) return;
  if (!excluded_.empty()) return ReplaceExcluded(orders);
  for (const std::uint32_t role : restarts_.TakeDue(restart, states_)) {
    if (states_.order().MayStart(role)) StartRole(role, orders);
  }
}

bool JobProcesses::CanExclude(std::uint32_t host, std::vector<ProcessId>& members, std::string& why) const {
  std::string cannot;
  const std::optional<std::uint32_t> spare = hosts_.SpareFor(host, cannot);
  if (!spare || ports_.under_way() || hosts_.under_way()) return false;
  const auto relocations = hosts_.Relocations(host, states_, cannot);
  if (!relocations) return false;
  for (const HostReplacement::Relocation& each : *relocations) {
    members.insert(members.end(), each.members.begin(), each.members.end());
  }
  std::sort(members.begin(), members.end());
  members.erase(std::unique(members.begin(), members.end()), members.end());
  why += fmt::format("; {} replaces it", hosts_.slots().name(*spare));
  return true;
}

void JobProcesses::ReplaceExcluded(Orders& orders) {
  for (auto each = excluded_.begin(); each != excluded_.end();) {
    const std::uint32_t host = *each;
    const auto there = states_.OnHost(host);
    const bool empty = std::none_of(there.begin(), there.end(), [&](ProcessId process) {
      return states_.IsAtWork(process) || states_.state(process) == ProcessState::kStopping;
    });
    if (!empty) {
      ++each;
      continue;
    }
    each = excluded_.erase(each);
    // The spare may have been lost meanwhile: the processes are then started where they were.
    if (const auto spare = hosts_.slots().SpareFor(host)) {
      hosts_.Begin(host, *spare);
      orders.Add(ReplaceOrdered{host, *spare});
    }
  }
  if (excluded_.empty() && !hosts_.under_way()) StartDue(orders);
}

bool JobProcesses::Restart(const ProcessAttempt& who, const std::vector<ProcessId>& members, std::string& why,
                           Orders& orders) {
  if (!at_work_) return false;
  const std::uint32_t role = plan_.processes[who.process].role;
  const RestartPolicy& policy = plan_.roles[role].restart;
  const std::optional<RestartBudget::Grant> grant = restarts_.Take(role, orders.now(), why);
  if (!grant) return false;
  orders.Add(RestartPlanned{who.process, who.attempt, std::string(RestartScopeName(policy.scope)), members,
                            grant->count, policy.max, grant->delay_ms, why});
  orders.ArmIn(kRenewalTimers + restarts_.Begin(members, states_, orders), grant->delay_ms);
  return true;
}

bool JobProcesses::RestartElsewhere(const ProcessAttempt& who, std::string& why, Orders& orders) {
  if (!ports_.Concerns(who) || !at_work_) return false;
  why += fmt::format("; {}", TakenText(*ports_.taken()));
  // One at a time: while a host is replaced, the role's own policy decides.
  if (hosts_.under_way() || !ports_.Allowed(plan_, why)) return false;
  constexpr RestartPolicy::Scope kScope = RestartPolicy::Scope::kJob;
  const std::vector<ProcessId> members = states_.Members(who.process, kScope);
  orders.Add(RestartPlanned{who.process, who.attempt, std::string(RestartScopeName(kScope)), members, ports_.Begin(),
                            kMaxRebinds, 0, why});
  restarts_.DelayOver(restarts_.Begin(members, states_, orders));
  orders.Add(RebindOrdered{});
  return true;
}

bool JobProcesses::Relocate(std::uint32_t host, std::string& why, Orders& orders) {
  if (!at_work_) return false;
  std::optional<std::vector<HostReplacement::Relocation>> relocations = hosts_.Relocations(host, states_, why);
  if (const auto process = FirstAtWork(states_, host)) {
    const RestartPolicy& policy = plan_.roles[plan_.processes[*process].role].restart;
    const bool obeyed = relocations && policy.verdict;
    const auto verdict = Judge({*process, states_.attempt(*process)}, {HowEnded::Kind::kLost, 0}, obeyed, orders);
    if (obeyed && verdict && verdict->verdict == RestartVerdict::kStop) {
      why += fmt::format("; {}", verdict->evidence);
      return false;
    }
  }
  if (!relocations) return false;
  if (ports_.under_way()) {
    why += ", while other ports were being chosen";
    return false;
  }
  const std::optional<std::uint32_t> spare = hosts_.SpareFor(host, why);
  if (!spare) return false;
  for (HostReplacement::Relocation& relocation : *relocations) {
    const auto grant = restarts_.Take(plan_.processes[relocation.ended].role, orders.now(), why);
    if (!grant) return false;
    relocation.grant = *grant;
  }
  why += fmt::format("; {} replaces it", hosts_.slots().name(*spare));

  hosts_.Begin(host, *spare);
  for (const ProcessId process : states_.OnHost(host)) {
    const bool stopping = states_.state(process) == ProcessState::kStopping;
    if (!stopping && !states_.IsAtWork(process)) continue;
    states_.Apply(process, ProcessInput::kLost);
    limits_.ProcessLost(process, orders.now());
    // It was being stopped for a restart, and has now ended.
    if (stopping) restarts_.Ended(process, states_);
  }
  for (const HostReplacement::Relocation& relocation : *relocations) {
    const std::uint32_t role = plan_.processes[relocation.ended].role;
    orders.Add(RestartPlanned{relocation.ended, states_.attempt(relocation.ended),
                              std::string(RestartScopeName(relocation.scope)), relocation.members,
                              relocation.grant.count, plan_.roles[role].restart.max, relocation.grant.delay_ms,
                              why + relocation.because});
    const std::uint64_t restart = restarts_.Begin(relocation.members, states_, orders);
    orders.ArmIn(kRenewalTimers + restart, relocation.grant.delay_ms);
  }
  orders.Add(ReplaceOrdered{host, *spare});
  return true;
}

}  // namespace muster
