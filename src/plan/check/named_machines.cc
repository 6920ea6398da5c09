#include "plan/check/named_machines.h"

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <strings.h>

#include "base/system/host_name.h"
#include "base/values/quoting.h"
#include "base/values/value_json.h"
#include "base/values/value_text.h"
#include "plan/environment/environment.h"

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

// Ranks are texts, and numbers in merged tables.
std::optional<std::uint32_t> RankIn(const Value& device) {
  const Value& rank = ValueField(device, "rank_id");
  const std::string text = rank.AsString() != nullptr ? *rank.AsString() : JsonText(rank);
  if (text.empty() || text.size() > 7 || text.find_first_not_of("0123456789") != std::string::npos) return std::nullopt;
  return static_cast<std::uint32_t>(std::stoul(text));
}

// Each rank's server.
std::map<std::uint32_t, std::string> ServersByRank(const Value& table) {
  std::map<std::uint32_t, std::string> servers;
  for (const auto& [list, id, members] :
       {std::array{"server_list", "server_id", "device"}, std::array{"node_list", "node_addr", "ranks"}}) {
    for (const Value& server : ListField(table, list)) {
      for (const Value& device : ListField(server, members)) {
        if (const auto rank = RankIn(device)) servers.emplace(*rank, TextField(server, id));
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
  const auto servers = ServersByRank(ValueFromJsonText(*text).value_or(Value()));
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

namespace {

// A variable with the address of the process that listens for all others. That one is known by a variable of its own;
// without one each process is at its own address.
struct Meeting {
  std::string variable;
  std::string part;   // the listening process: a variable …
  std::string value;  // … and its value there
  bool with_port = false;
};

const std::array<Meeting, 5>& Meetings() {
  static const std::array<Meeting, 5> meetings = {{{"MS_SCHED_HOST", "MS_ROLE", "MS_SCHED"},
                                                   {"DMLC_PS_ROOT_URI", "DMLC_ROLE", "scheduler"},
                                                   {"DMLC_NODE_HOST", "", ""},
                                                   {"MASTER_ADDR", "RANK", "0"},
                                                   {"JAX_COORDINATOR_ADDRESS", "JAX_PROCESS_ID", "0", true}}};
  return meetings;
}

const std::string kTensorFlow = "TF_CONFIG";  // NOLINT(cert-err58-cpp)
// With an agent's store rank 0 does not listen itself.
const std::string kAgentStore = "TORCHELASTIC_USE_AGENT_STORE";  // NOLINT(cert-err58-cpp)

// "n1:2222", "[2001:db8::1]:2222"; an address or name without a port stays as it is.
std::string WithoutPort(const std::string& text) {
  if (text.starts_with('[')) return text.substr(1, std::min(text.find(']'), text.size()) - 1);
  const std::size_t colon = text.rfind(':');
  return colon == std::string::npos || text.find(':') != colon ? text : text.substr(0, colon);
}

bool IsLoopback(const std::string& text) {
  return text == "localhost" || text == "::1" || (text.starts_with("127.") && IsAddress(text));
}

class NamedMachines {
 public:
  NamedMachines(const Plan& plan, const std::vector<KnownHost>& known, const Place& place,
                const std::vector<std::string>& inherited)
      : plan_(plan), known_(known), place_(place) {
    for (const std::string& entry : inherited) {
      const std::size_t equals = entry.find('=');
      const std::string_view name = std::string_view(entry).substr(0, equals);
      if (equals != std::string::npos && IsRead(name)) inherited_.emplace_back(name, entry.substr(equals + 1));
    }
  }

  Diagnostics Run() {
    for (const Meeting& meeting : Meetings()) Compare(meeting);
    CompareTasks();
    return std::move(problems_);
  }

 private:
  static bool IsRead(std::string_view name) {
    const auto in = [&](const Meeting& meeting) { return name == meeting.variable || name == meeting.part; };
    return name == kTensorFlow || name == kAgentStore || std::any_of(Meetings().begin(), Meetings().end(), in);
  }

  // The variable's text in the plan, else the inherited one; null if the process does not have it.
  const std::string* TextOf(const Process& process, const std::string& name) const {
    const Role& role = plan_.roles[process.role];
    for (const Variables* variables : {&process.env, &role.env}) {
      const auto found = variables->find(name);
      if (found != variables->end()) return &found->second.marked;
    }
    const auto removes = [&](const std::string& pattern) { return Matches(pattern, name); };
    if (std::any_of(role.unset.begin(), role.unset.end(), removes)) return nullptr;
    const auto found = std::find_if(inherited_.begin(), inherited_.end(),
                                    [&](const auto& variable) { return variable.first == name; });
    return found == inherited_.end() ? nullptr : &found->second;
  }

  // What the recipe or the caller wrote; null for what muster fills in at the start, which is right.
  const std::string* Written(const Process& process, const std::string& name) const {
    const std::string* text = TextOf(process, name);
    return text == nullptr || text->empty() || text->find("${muster:") != std::string::npos ? nullptr : text;
  }

  // The process that listens at that text: the one that has it itself, or the only one.
  const Process* ListenerOf(const Meeting& meeting, const std::string& text) const {
    const Process* only = nullptr;
    std::size_t listeners = 0;
    for (const Process& process : plan_.processes) {
      const std::string* part = TextOf(process, meeting.part);
      if (part == nullptr || *part != meeting.value) continue;
      const std::string* own = TextOf(process, meeting.variable);
      if (own != nullptr && *own == text) return &process;
      only = &process;
      ++listeners;
    }
    return listeners == 1 ? only : nullptr;
  }

  void Compare(const Meeting& meeting) {
    std::map<std::string, const Process*> listeners;
    for (const Process& process : plan_.processes) {
      const std::string* text = Written(process, meeting.variable);
      if (text == nullptr || TextOf(process, kAgentStore) != nullptr) continue;
      const auto [found, is_new] = listeners.try_emplace(*text, nullptr);
      if (is_new && !meeting.part.empty()) found->second = ListenerOf(meeting, *text);
      const Process* there = meeting.part.empty() ? &process : found->second;
      if (there == nullptr) continue;
      const std::string machine = meeting.with_port ? WithoutPort(*text) : *text;
      if (Differs(process, *there, meeting.variable, machine)) return;
    }
  }

  // {"cluster": {"worker": ["n1:2222", …]}, "task": {"type": "worker", "index": 0}}
  void CompareTasks() {
    for (const Process& process : plan_.processes) {
      const std::string* text = TextOf(process, kTensorFlow);
      if (text == nullptr) continue;
      const Value config = ValueFromJsonText(*text).value_or(Value());
      const Value& task = ValueField(config, "task");
      const std::string type = TextField(task, "type");
      const Value::List& addresses = ListField(ValueField(config, "cluster"), type);
      const std::int64_t* number = ValueField(task, "index").AsInt();
      if (number == nullptr || !std::cmp_less(*number, addresses.size()) || *number < 0) continue;
      const std::string* written = addresses[static_cast<std::size_t>(*number)].AsString();
      if (written == nullptr || written->find("${muster:") != std::string::npos) continue;
      const std::string what = fmt::format("{} of task {} {}", kTensorFlow, type, *number);
      if (Differs(process, process, what, WithoutPort(*written))) return;
    }
  }

  // Whether the machine is another one than the host of the process that must be there; reports it.
  bool Differs(const Process& process, const Process& there, const std::string& what, const std::string& machine) {
    if (there.host >= known_.size() || process.host >= known_.size()) return false;
    const KnownHost& right = known_[there.host];
    if (IsHost(right, machine)) return false;
    const auto named =
        std::find_if(known_.begin(), known_.end(), [&](const KnownHost& one) { return IsHost(one, machine); });
    const std::string is_there = fmt::format("{} is on host {}{}", ProcessName(plan_, there), there.host, Label(right));
    const std::string shown = fmt::format("{} = {} of {}", what, Printable(machine), ProcessName(plan_, process));
    const std::string hint = "leave the variable to the framework, or name the hosts in another order with --host";
    if (named != known_.end()) {
      problems_.push_back(
          Error("hosts", place_,
                fmt::format("{} is host {} of the run, and {}", shown, named - known_.begin(), is_there), hint));
    } else if (IsLoopback(machine)) {
      // Hosts that are all addressed by loopback are this machine.
      if (process.host == there.host || IsLoopback(right.address) || IsLoopback(right.name)) return false;
      problems_.push_back(Error(
          "hosts", place_,
          fmt::format("{} is its own host {}{}, and {}", shown, process.host, Label(known_[process.host]), is_there),
          hint));
    } else if (IsAnother(right, machine)) {
      problems_.push_back(Warning("hosts", place_, fmt::format("{} is no host of the run, and {}", shown, is_there),
                                  "correct it, unless that is the same host by another name or address"));
    } else {
      return false;
    }
    return true;
  }

  // Whether it seems to be another machine: a host may have several addresses, and names.
  bool IsAnother(const KnownHost& right, const std::string& machine) const {
    if (IsAddress(machine)) return IsAddress(right.address) && !IsLoopback(right.address);
    const auto first = [](const std::string& name) { return name.substr(0, name.find('.')); };
    return known_.size() > 1 && !right.name.empty() && !IsAddress(right.name) && first(right.name) != first(machine);
  }

  static std::string Label(const KnownHost& host) {
    const std::string& name = host.name.empty() ? host.address : host.name;
    return name.empty() ? "" : fmt::format(" ({})", Printable(name));
  }

  const Plan& plan_;
  const std::vector<KnownHost>& known_;
  const Place& place_;
  std::vector<std::pair<std::string, std::string>> inherited_;
  Diagnostics problems_;
};

}  // namespace

Diagnostics CheckNamedMachines(const Plan& plan, const std::vector<KnownHost>& known, const Place& place,
                               const std::vector<std::string>& inherited) {
  Diagnostics problems = CheckTableHosts(plan, known, place);
  for (Diagnostic& problem : NamedMachines(plan, known, place, inherited).Run()) problems.push_back(std::move(problem));
  return problems;
}

}  // namespace muster
