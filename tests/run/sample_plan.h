// Small, complete plans for the tests of this folder, which depend on the ends of processes and not on commands.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "muster/plan.h"

namespace muster {

struct SampleRole {
  std::string name;
  std::uint32_t count = 1;
  Ending ending = Ending::kAll;
  std::uint32_t grace_ms = 10'000;
  std::uint32_t linger_ms = 35'000;
};

// Distributes processes over the hosts in turn; roles that play "worker" have ranks.
inline Plan SamplePlan(const std::vector<SampleRole>& roles, std::uint32_t hosts = 1) {
  Plan plan;
  plan.name = "sample";
  plan.framework = "none";
  for (std::uint32_t host = 0; host < hosts; ++host) plan.hosts.push_back({"host" + std::to_string(host), 0});
  for (const SampleRole& sample : roles) {
    Role role;
    role.name = sample.name;
    role.plays =
        sample.name == "worker" || sample.name == "server" || sample.name == "scheduler" ? sample.name : "other";
    role.world = sample.name == "worker" ? "worker" : "";
    role.ending = sample.ending;
    role.linger_ms = sample.linger_ms;
    role.stop.grace_ms = sample.grace_ms;
    role.command = {Text("true")};
    for (std::uint32_t index = 0; index < sample.count; ++index) {
      Process process;
      process.role = static_cast<std::uint32_t>(plan.roles.size());
      process.index = index;
      process.host = static_cast<std::uint32_t>(plan.processes.size()) % hosts;
      if (sample.name == "worker") {
        process.rank = index;
        process.world_size = sample.count;
        process.rank_in_stage = index;
      }
      plan.processes.push_back(process);
    }
    plan.roles.push_back(role);
  }
  // Assigns local ranks: among the world's processes on a host, or the role's.
  for (Process& process : plan.processes) {
    process.local_size = 0;
    for (const Process& other : plan.processes) {
      if (other.role != process.role || other.host != process.host) continue;
      if (other.index < process.index) ++process.local_rank;
      ++process.local_size;
    }
  }
  return plan;
}

}  // namespace muster
