#include "run/journal/attempt_hosts.h"

#include <fmt/format.h>

namespace muster {

AttemptHosts::AttemptHosts(const Plan& plan, const CheckedJournal& journal) {
  for (std::uint32_t host = 0; host < plan.hosts.size(); ++host) {
    machine_of_.push_back(host);
    machines_[host].name = plan.hosts[host].label;
  }
  for (const Process& process : plan.processes) host_of_.push_back(process.host);
  for (const JournalRecord& record : journal.records()) {
    if (const auto* reached = std::get_if<HostReached>(&record.entry)) {
      machines_[reached->host].name = reached->name.substr(reached->name.find('@') + 1);
    } else if (const auto* bound = std::get_if<PlanBound>(&record.entry)) {
      for (std::uint32_t host = 0; host < bound->hosts.size(); ++host) {
        machines_[host] = {bound->hosts[host].name, bound->hosts[host].devices};
      }
    } else if (const auto* replaced = std::get_if<HostReplaced>(&record.entry)) {
      if (!replaced->error.empty() || replaced->host >= machine_of_.size()) continue;
      machine_of_[replaced->host] = replaced->by;
      machines_[replaced->by] = {replaced->name, replaced->devices};
    } else if (const auto* ordered = std::get_if<StartOrdered>(&record.entry)) {
      ordered_[{ordered->process, ordered->attempt}] = machine_of_[host_of_[ordered->process]];
    }
  }
}

std::uint32_t AttemptHosts::Of(ProcessId process, std::uint32_t attempt) const {
  const auto found = ordered_.find({process, attempt});
  return found != ordered_.end() ? found->second : machine_of_[host_of_[process]];
}

std::string AttemptHosts::Name(std::uint32_t machine) const {
  const auto found = machines_.find(machine);
  return found == machines_.end() ? fmt::format("host{}", machine) : found->second.name;
}

std::vector<std::string> AttemptHosts::Devices(std::uint32_t machine) const {
  const auto found = machines_.find(machine);
  return found == machines_.end() ? std::vector<std::string>() : found->second.devices;
}

}  // namespace muster
