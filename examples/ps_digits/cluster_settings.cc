// See cluster_settings.h.
#include "ps_digits/cluster_settings.h"

#include <algorithm>
#include <random>

#include "ps_digits/number.h"

namespace ps_digits {
namespace {

constexpr std::int64_t kDefaultTopologySeconds = 1800;
constexpr std::int64_t kDefaultNodeSeconds = 30;
constexpr std::int64_t kMaxSeconds = 1'000'000'000;

const std::string& Lookup(const Environment& environment, const char* name) {
  static const std::string absent;
  const auto found = environment.find(name);
  return found == environment.end() ? absent : found->second;
}

Result<std::int64_t> ReadInteger(const Environment& environment, const char* name, std::int64_t min, std::int64_t max) {
  const std::string& text = Lookup(environment, name);
  if (text.empty()) return Failure{std::string(name) + " is not set"};
  const auto value = ParseInteger(text, min, max);
  if (!value) {
    return Failure{std::string(name) + "=" + text + ": want an integer in " + std::to_string(min) + ".." +
                   std::to_string(max)};
  }
  return *value;
}

Result<std::optional<std::chrono::seconds>> ReadTimeout(const Environment& environment, const char* name,
                                                        std::int64_t fallback) {
  using Timeout = std::optional<std::chrono::seconds>;
  const std::string& text = Lookup(environment, name);
  if (text.empty()) return Timeout{std::chrono::seconds(fallback)};
  const auto value = ParseInteger(text, -kMaxSeconds, kMaxSeconds);
  if (!value || *value == 0) {
    return Failure{std::string(name) + "=" + text + ": want seconds above 0, or a negative number for no limit"};
  }
  if (*value < 0) return Timeout{};
  return Timeout{std::chrono::seconds(*value)};
}

Result<Role> ReadRole(const Environment& environment) {
  const std::string& text = Lookup(environment, "MS_ROLE");
  if (text == "MS_SCHED") return Role::kScheduler;
  if (text == "MS_PSERVER" || text == "MS_SERVER") return Role::kServer;
  if (text == "MS_WORKER") return Role::kWorker;
  const std::string wanted = "want MS_SCHED, MS_PSERVER (or MS_SERVER) or MS_WORKER";
  if (text.empty()) return Failure{"MS_ROLE is not set: " + wanted};
  return Failure{"MS_ROLE=" + text + ": " + wanted};
}

// Like a UUID: the dashes keep it from being parsed as a rank.
std::string RandomNodeId() {
  std::random_device random;
  std::string id;
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) id += '-';
    id += "0123456789abcdef"[random() % 16];
  }
  return id;
}

}  // namespace

bool IsNodeId(const std::string& text) {
  return !text.empty() && text.size() <= kMaxNodeIdLength && std::none_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return byte < 0x20 || byte == 0x7f;
  });
}

Result<ClusterSettings> ReadClusterSettings(const Environment& environment) {
  ClusterSettings settings;
  const auto role = ReadRole(environment);
  if (!role) return role.error();
  settings.role = *role;

  const auto worker_num = ReadInteger(environment, "MS_WORKER_NUM", 1, kMaxProcessesPerRole);
  if (!worker_num) return worker_num.error();
  settings.worker_num = static_cast<std::uint32_t>(*worker_num);
  // MindSpore allows 0 here; a trainer with weights on servers does not.
  const auto server_num = ReadInteger(environment, "MS_SERVER_NUM", 1, kMaxProcessesPerRole);
  if (!server_num) return server_num.error();
  settings.server_num = static_cast<std::uint32_t>(*server_num);

  const std::string& host = Lookup(environment, "MS_SCHED_HOST");
  if (host.empty()) return Failure{"MS_SCHED_HOST is not set"};
  const auto address = Address::Parse(host);
  if (!address) return Failure{"MS_SCHED_HOST=" + host + ": want an IP address literal, not a name"};
  const auto port = ReadInteger(environment, "MS_SCHED_PORT", 1, 65535);
  if (!port) return port.error();
  settings.scheduler = Endpoint{*address, static_cast<std::uint16_t>(*port)};

  const auto topology_timeout = ReadTimeout(environment, "MS_TOPO_TIMEOUT", kDefaultTopologySeconds);
  if (!topology_timeout) return topology_timeout.error();
  settings.topology_timeout = *topology_timeout;
  const auto node_timeout = ReadTimeout(environment, "MS_NODE_TIMEOUT", kDefaultNodeSeconds);
  if (!node_timeout) return node_timeout.error();
  settings.node_timeout = *node_timeout;

  settings.node_id = Lookup(environment, "MS_NODE_ID");
  if (settings.node_id.empty()) {
    settings.node_id = RandomNodeId();
  } else if (!IsNodeId(settings.node_id)) {
    return Failure{"MS_NODE_ID: want at most " + std::to_string(kMaxNodeIdLength) +
                   " characters and no control characters"};
  }
  settings.metrics_file = Lookup(environment, "MUSTER_METRICS");
  return settings;
}

}  // namespace ps_digits
