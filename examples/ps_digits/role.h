// The roles of a registered process, and names of processes in messages. Independent of the rules for ranks.
#pragma once

#include <cstdint>
#include <string>

namespace ps_digits {

enum class Role : std::uint8_t { kScheduler = 0, kServer = 1, kWorker = 2 };

inline std::string RoleWord(Role role) {
  switch (role) {
    case Role::kScheduler:
      return "scheduler";
    case Role::kServer:
      return "server";
    case Role::kWorker:
      return "worker";
  }
  return "unknown role";
}

// "worker 2 (worker_02, 127.0.0.1)": the name of a process for all others once it has a rank.
inline std::string RankedName(Role role, std::uint32_t rank, const std::string& node_id, const std::string& where) {
  return RoleWord(role) + " " + std::to_string(rank) + " (" + node_id + ", " + where + ")";
}

inline std::string UnrankedName(Role role, const std::string& node_id, const std::string& where) {
  return RoleWord(role) + " " + node_id + " (" + where + ")";
}

}  // namespace ps_digits
