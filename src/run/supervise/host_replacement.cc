#include "run/supervise/host_replacement.h"

#include <algorithm>

#include <fmt/format.h>

#include "base/values/text_parts.h"
#include "plan/plan/roles.h"
#include "run/supervise/process_states.h"

namespace muster {

HostSlots::HostSlots(const Plan& plan, const std::vector<SiteHost>& spares) {
  for (const PlanHost& host : plan.hosts) {
    host_of_.emplace_back(static_cast<std::uint32_t>(machine_of_.size()));
    machine_of_.push_back(machines());
    names_.push_back(host.name.empty() ? host.label : host.name);
    devices_.push_back(host.devices);
  }
  spare_.assign(names_.size(), false);
  for (const SiteHost& spare : spares) {
    names_.push_back(spare.name);
    devices_.push_back(spare.devices.value_or(0));
    spare_.push_back(true);
    host_of_.emplace_back();
  }
}

std::uint32_t HostSlots::spares() const {
  return static_cast<std::uint32_t>(std::count(spare_.begin(), spare_.end(), true));
}

std::optional<std::uint32_t> HostSlots::SpareFor(std::uint32_t host) const {
  std::optional<std::uint32_t> best;
  for (std::uint32_t machine = 0; machine < machines(); ++machine) {
    if (!spare_[machine] || devices_[machine] < devices_[host]) continue;
    if (!best || devices_[machine] < devices_[*best]) best = machine;
  }
  return best;
}

void HostSlots::Replace(std::uint32_t host, std::uint32_t spare) {
  Drop(spare);
  host_of_[machine_of_[host]].reset();
  host_of_[spare] = host;
  machine_of_[host] = spare;
}

void HostSlots::Drop(std::uint32_t spare) { spare_[spare] = false; }

namespace {

// A process that uses the address of the lost host and would continue to run.
std::optional<ProcessId> FirstThatKnows(const Plan& plan, std::uint32_t host, bool in_files,
                                        const std::vector<HostReplacement::Relocation>& relocations,
                                        const ProcessStates& states) {
  std::vector<bool> again(states.count(), false);
  for (const HostReplacement::Relocation& each : relocations) {
    for (const ProcessId member : each.members) again[member] = true;
  }
  for (ProcessId process = 0; process < states.count(); ++process) {
    if (again[process] || !states.IsAtWork(process)) continue;
    if (in_files || RefersToHost(plan, plan.processes[process], host)) return process;
  }
  return std::nullopt;
}

}  // namespace

HostReplacement::HostReplacement(const Plan& plan, const std::vector<SiteHost>& spares)
    : plan_(plan), slots_(plan, spares), over_(slots_.machines(), false), machines_left_(slots_.machines()) {}

bool HostReplacement::MachineOver(std::uint32_t machine) {
  if (machine >= over_.size() || over_[machine]) return false;
  over_[machine] = true;
  --machines_left_;
  if (!slots_.host(machine)) slots_.Drop(machine);
  return true;
}

std::optional<std::vector<HostReplacement::Relocation>> HostReplacement::Relocations(std::uint32_t host,
                                                                                     const ProcessStates& states,
                                                                                     std::string& why) const {
  using Scope = RestartPolicy::Scope;
  std::vector<Relocation> relocations;  // one for each role with processes on the host, …
  std::optional<Relocation> whole;      // … or the first whose policy covers the whole job
  const Role* without = nullptr;
  bool needed = false;  // whether a process runs there, or will
  for (const ProcessId process : states.OnHost(host)) {
    needed = needed || states.state(process) != ProcessState::kEnded;
    if (!states.IsAtWork(process)) continue;
    const Role& role = plan_.roles[plan_.processes[process].role];
    if (!Restarts(role.restart, {HowEnded::Kind::kLost, 0})) {
      without = &role;
      continue;
    }
    const bool known = std::any_of(relocations.begin(), relocations.end(), [&](const Relocation& each) {
      return plan_.processes[each.ended].role == plan_.processes[process].role;
    });
    if (known && role.restart.scope != Scope::kProcess) continue;
    if (known) {
      relocations.back().members.push_back(process);  // processes of a role are consecutive
      continue;
    }
    relocations.push_back({process, role.restart.scope, states.Members(process, role.restart.scope), {}, {}});
    if (role.restart.scope == Scope::kJob && !whole) whole = relocations.back();
  }
  if (whole) return std::vector{*whole};
  if (without != nullptr) {
    // If no role of the job is ever restarted, no explanation is needed.
    if (!relocations.empty()) why += fmt::format(", and role {} is not started again", without->name);
    return std::nullopt;
  }
  if (!needed) return relocations;
  const bool in_files = FilesMentionHost(plan_, host);
  const std::optional<ProcessId> knows = FirstThatKnows(plan_, host, in_files, relocations, states);
  if (!knows) return relocations;
  const std::string name = ProcessName(plan_, plan_.processes[*knows]);
  if (relocations.empty()) {
    why += fmt::format(", {} uses its address, and its processes cannot be restarted", name);
    return std::nullopt;
  }
  Relocation all = relocations.front();
  all.scope = Scope::kJob;
  all.members = states.Members(all.ended, Scope::kJob);
  all.because = fmt::format("; restarting the whole job, because {} {}", name,
                            in_files ? "has a file with its address" : "uses its address");
  return std::vector{all};
}

std::optional<std::uint32_t> HostReplacement::SpareFor(std::uint32_t host, std::string& why) const {
  const std::optional<std::uint32_t> spare = slots_.SpareFor(host);
  if (!spare) {
    why += slots_.spares() == 0
               ? ", and there is no spare host to replace it"
               : fmt::format(", and no spare host has {}, as it had", Counted(plan_.hosts[host].devices, "device"));
  }
  return spare;
}

void HostReplacement::Begin(std::uint32_t host, std::uint32_t spare) {
  slots_.Replace(host, spare);
  replacing_.insert(host);
}

bool HostReplacement::Answered(const HostReplaced& event) {
  return event.host < plan_.hosts.size() && slots_.machine(event.host) == event.by && replacing_.erase(event.host) > 0;
}

}  // namespace muster
