// The part of the supervisor that knows hosts: what a lost one means, and which spare takes its place.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "plan/plan/host_holes.h"
#include "plan/plan/policy_names.h"
#include "run/supervise/supervisor.h"

namespace muster {
namespace {

std::string DevicesText(std::uint32_t count) { return count == 1 ? "1 device" : fmt::format("{} devices", count); }

}  // namespace

void Supervisor::OnHostOver(std::uint32_t machine, bool attested, const std::string& why, MonotonicNs now) {
  if (machine >= machine_over_.size() || machine_over_[machine]) return;  // lost after its end is no news
  machine_over_[machine] = true;
  --machines_left_;
  AnsweredOutput(machine);
  why_ = fmt::format("the agent of {} was lost: {}", slots_.name(machine), why);
  const std::optional<std::uint32_t> host = slots_.host(machine);
  if (!host) {
    // A spare. Before anything is started it is held to what the others are; later it is missed when it is needed.
    slots_.Drop(machine);
    if (phase_ == Phase::kPreparing) Apply(JobInput::kLost, now);
    return OnHostDumped(machine, dump_, now);
  }
  if (at_terminal_ && plan_.processes[at_terminal_->process].host == *host) {
    OnPtyGone(ProcessAttempt(*at_terminal_), now);
  }
  if (!attested && Relocate(*host, now)) return OnHostDumped(machine, dump_, now);
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    if (plan_.processes[process].host == *host) ApplyTo(process, ProcessInput::kLost);
  }
  if (attested && phase_ == Phase::kFinishing) return;
  Apply(JobInput::kLost, now);
  OnHostDumped(machine, dump_, now);
}

bool Supervisor::Relocate(std::uint32_t host, MonotonicNs now) {
  if (!AtWork()) return false;
  std::optional<std::vector<Relocation>> relocations = PlanRelocation(host);
  if (!relocations) return false;
  if (rebinding_) {
    why_ += ", while other ports were looked for";
    return false;
  }
  const std::optional<std::uint32_t> spare = slots_.SpareFor(host);
  if (!spare) {
    why_ += slots_.spares() == 0
                ? ", and there is no spare host to take its place"
                : fmt::format(", and no spare host has {}, as it had", DevicesText(plan_.hosts[host].devices));
    return false;
  }
  for (Relocation& relocation : *relocations) {
    const std::uint32_t role = plan_.processes[relocation.ended].role;
    const RestartPolicy& policy = plan_.roles[role].restart;
    const std::optional<RestartBudget::Grant> grant = budgets_[role].Take(policy, now);
    if (!grant) {
      why_ += fmt::format("; the {} restarts that role {} has are used up", policy.max, plan_.roles[role].name);
      return false;
    }
    relocation.grant = *grant;
  }
  why_ += fmt::format("; {} takes its place", slots_.name(*spare));

  slots_.Replace(host, *spare);
  replacing_.insert(host);
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    const ProcessState state = processes_[process].state;
    if (plan_.processes[process].host != host || !IsThere(state)) continue;
    ApplyTo(process, ProcessInput::kLost);
    silence_.Ended(process, now);
    // It was to be started again, and has ended for that.
    if (state == ProcessState::kStopping) OnRenewedEnded(process);
  }
  for (const Relocation& relocation : *relocations) {
    const std::uint32_t role = plan_.processes[relocation.ended].role;
    actions_.emplace_back(RestartPlanned{relocation.ended, processes_[relocation.ended].attempt,
                                         std::string(RestartScopeName(relocation.scope)), relocation.members,
                                         relocation.grant.count, plan_.roles[role].restart.max,
                                         relocation.grant.delay_ms, why_ + relocation.because});
    const std::uint64_t renewal = BeginRenewal(relocation.members, now);
    Arm(kRenewalTimers + renewal, now + std::uint64_t{relocation.grant.delay_ms} * 1'000'000);
  }
  actions_.emplace_back(ReplaceOrdered{host, *spare});
  return true;
}

std::optional<std::vector<Supervisor::Relocation>> Supervisor::PlanRelocation(std::uint32_t host) {
  using Scope = RestartPolicy::Scope;
  std::vector<Relocation> relocations;  // one for each role that ran there, …
  std::optional<Relocation> whole;      // … or the first whose policy covers the whole job
  const Role* without = nullptr;
  bool needed = false;  // something runs there, or will
  for (ProcessId process = 0; process < processes_.size(); ++process) {
    if (plan_.processes[process].host != host) continue;
    const ProcessState state = processes_[process].state;
    needed = needed || state != ProcessState::kEnded;
    if (state != ProcessState::kStarting && state != ProcessState::kRunning) continue;
    const Role& role = RoleOf(process);
    if (!Restarts(role.restart, {HowEnded::Kind::kLost, 0})) {
      without = &role;
      continue;
    }
    const bool known = std::any_of(relocations.begin(), relocations.end(), [&](const Relocation& each) {
      return plan_.processes[each.ended].role == plan_.processes[process].role;
    });
    if (known && role.restart.scope != Scope::kProcess) continue;
    if (known) {
      relocations.back().members.push_back(process);  // a role's processes follow each other
      continue;
    }
    relocations.push_back({process, role.restart.scope, RestartMembers(process, role.restart.scope), {}, {}});
    if (role.restart.scope == Scope::kJob && !whole) whole = relocations.back();
  }
  if (whole) return std::vector{*whole};
  if (without != nullptr) {
    // Nobody of the job is ever started again: then this needs no words.
    if (!relocations.empty()) why_ += fmt::format(", and role {} is not started again", without->name);
    return std::nullopt;
  }
  if (!needed) return relocations;
  std::vector<bool> again(processes_.size(), false);
  for (const Relocation& each : relocations) {
    for (const ProcessId member : each.members) again[member] = true;
  }
  std::optional<ProcessId> told;
  const bool in_files = FilesTellOf(plan_, host);
  for (ProcessId process = 0; process < processes_.size() && !told; ++process) {
    const ProcessState state = processes_[process].state;
    const bool stays = !again[process] && (state == ProcessState::kStarting || state == ProcessState::kRunning);
    if (stays && (in_files || IsToldOf(plan_, plan_.processes[process], host))) told = process;
  }
  if (!told) return relocations;
  if (relocations.empty()) {
    why_ += fmt::format(", {} knows its address, and its processes cannot be restarted", NameOf(*told));
    return std::nullopt;
  }
  Relocation all = relocations.front();
  all.scope = Scope::kJob;
  all.members = RestartMembers(all.ended, Scope::kJob);
  all.because = fmt::format("; restarting the whole job, because {} {}", NameOf(*told),
                            in_files ? "has a file with its address" : "knows its address");
  return std::vector{all};
}

void Supervisor::OnReplaced(const HostReplaced& event, MonotonicNs now) {
  if (event.host >= plan_.hosts.size() || slots_.machine(event.host) != event.by || replacing_.erase(event.host) == 0) {
    return;  // the job is over, or that spare was lost
  }
  if (!event.error.empty()) {
    why_ = fmt::format("{} cannot take the place of a lost host: {}", slots_.name(event.by), event.error);
    const std::optional<std::uint32_t> spare = slots_.SpareFor(event.host);
    if (!spare) {
      why_ += ", and there is no other spare host that could";
      return Apply(JobInput::kLost, now);
    }
    slots_.Replace(event.host, *spare);
    replacing_.insert(event.host);
    actions_.emplace_back(ReplaceOrdered{event.host, *spare});
    return;
  }
  if (replacing_.empty()) StartDue();
}

}  // namespace muster
