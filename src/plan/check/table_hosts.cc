#include "plan/check/table_hosts.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>
#include <strings.h>

#include "base/system/host_name.h"
#include "base/values/shell_quote.h"

namespace muster {
namespace {

constexpr std::string_view kRunDir = "${muster:run_dir}/";

// The table's text; null if the plan's processes have none.
const std::string* TableOf(const Plan& plan) {
  for (const Role& role : plan.roles) {
    const auto variable = role.env.find("RANK_TABLE_FILE");
    if (variable == role.env.end() || !variable->second.marked.starts_with(kRunDir)) continue;
    const auto file = plan.files.find(variable->second.marked.substr(kRunDir.size()));
    if (file != plan.files.end()) return &file->second.content.marked;
  }
  return nullptr;
}

std::string TextIn(const nlohmann::json& object, const char* name) {
  const auto found = object.is_object() ? object.find(name) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

// Ranks are texts, and numbers in merged tables.
std::optional<std::uint32_t> RankIn(const nlohmann::json& device) {
  const auto found = device.is_object() ? device.find("rank_id") : device.end();
  if (found == device.end()) return std::nullopt;
  const std::string text = found->is_string() ? found->get<std::string>() : found->dump();
  if (text.empty() || text.size() > 7 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return static_cast<std::uint32_t>(std::stoul(text));
}

// Each rank's server.
std::map<std::uint32_t, std::string> ServersByRank(const nlohmann::json& table) {
  std::map<std::uint32_t, std::string> servers;
  for (const auto& [list, id, members] :
       {std::array{"server_list", "server_id", "device"}, std::array{"node_list", "node_addr", "ranks"}}) {
    const auto found = table.is_object() ? table.find(list) : table.end();
    if (found == table.end() || !found->is_array()) continue;
    for (const auto& server : *found) {
      const auto devices = server.is_object() ? server.find(members) : server.end();
      if (devices == server.end() || !devices->is_array()) continue;
      for (const auto& device : *devices) {
        if (const auto rank = RankIn(device)) servers.emplace(*rank, TextIn(server, id));
      }
    }
  }
  return servers;
}

}  // namespace

bool IsHost(const KnownHost& host, const std::string& text) {
  return text == host.address || (!host.name.empty() && ::strcasecmp(text.c_str(), host.name.c_str()) == 0);
}

std::vector<std::string> HostsOfRankTable(const Plan& plan) {
  const std::string* text = TableOf(plan);
  if (text == nullptr) return {};
  const auto servers = ServersByRank(nlohmann::json::parse(*text, nullptr, false));
  if (servers.empty()) return {};
  std::vector<std::string> hosts(plan.hosts.size());
  std::map<std::uint32_t, std::uint32_t> lowest;  // by host
  for (const Process& process : plan.processes) {
    if (!process.rank || plan.roles[process.role].plays != "worker") continue;
    const auto [found, is_new] = lowest.emplace(process.host, *process.rank);
    if (!is_new) found->second = std::min(found->second, *process.rank);
  }
  for (const auto& [host, rank] : lowest) {
    const auto server = servers.find(rank);
    // The address of a host that is known at its start only.
    if (server != servers.end() && server->second.find("${muster:") == std::string::npos) hosts[host] = server->second;
  }
  return hosts;
}

Diagnostics CheckTableHosts(const Plan& plan, const std::vector<KnownHost>& known, const Place& place) {
  const std::vector<std::string> wanted = HostsOfRankTable(plan);
  std::optional<std::size_t> exchanged;
  std::optional<std::size_t> unknown;
  std::vector<std::string> order;
  for (std::size_t host = 0; host < std::min(wanted.size(), known.size()); ++host) {
    const std::string& id = wanted[host];
    const bool compared = !id.empty() && (!known[host].name.empty() || !known[host].address.empty());
    const auto named = std::find_if(known.begin(), known.end(), [&](const KnownHost& one) { return IsHost(one, id); });
    const KnownHost& right = compared && named != known.end() ? *named : known[host];
    const std::string label = right.name.empty() ? right.address : right.name;
    const std::uint32_t devices = plan.hosts[host].devices;
    order.push_back(devices == 0 ? label : fmt::format("{}:{}", label, devices));
    if (!compared || IsHost(known[host], id)) continue;
    if (named != known.end()) {
      if (!exchanged) exchanged = host;
    } else if (!unknown && IsAddress(id) && IsAddress(known[host].address)) {
      unknown = host;
    }
  }
  const auto differs = [&](std::size_t host) {
    const KnownHost& here = known[host];
    const std::string name = here.name.empty() || here.name == here.address || here.address.empty()
                                 ? (here.name.empty() ? here.address : here.name)
                                 : fmt::format("{} ({})", here.name, here.address);
    return fmt::format("host {} of the run is {}, and the rank table has {} for its ranks", host, Printable(name),
                       Printable(wanted[host]));
  };
  if (exchanged) {
    return {Error("rank_table", place, differs(*exchanged),
                  fmt::format("name the hosts in the order of the table: --host {}", fmt::join(order, ",")))};
  }
  if (unknown) {
    return {Warning("rank_table", place, differs(*unknown),
                    "correct the table, unless that is another address of the same host")};
  }
  return {};
}

}  // namespace muster
