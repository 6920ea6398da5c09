// The cluster according to MindSpore's environment variables: this process's role, the number of processes per role,
// and the scheduler's address. Pure: the environment is an argument. An empty variable counts as absent, as in
// MindSpore's own parser.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "ps_digits/address.h"
#include "ps_digits/failure.h"
#include "ps_digits/role.h"

namespace ps_digits {

inline constexpr std::size_t kMaxNodeIdLength = 100;
inline constexpr std::uint32_t kMaxProcessesPerRole = 4096;

using Environment = std::map<std::string, std::string, std::less<>>;

struct ClusterSettings {
  Role role = Role::kWorker;
  std::uint32_t worker_num = 0;
  std::uint32_t server_num = 0;
  Endpoint scheduler;
  std::string node_id;
  std::optional<std::chrono::seconds> topology_timeout;  // absent: no limit
  std::optional<std::chrono::seconds> node_timeout;      // absent: no heartbeat timeout
  std::string metrics_file;                              // empty: no metrics
};

Result<ClusterSettings> ReadClusterSettings(const Environment& environment);

// 1 to 100 characters without control characters: it is used in messages and sent to peers.
bool IsNodeId(const std::string& text);

}  // namespace ps_digits
