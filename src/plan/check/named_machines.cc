#include "plan/check/named_machines.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/system/host_name.h"
#include "base/values/shell_quote.h"
#include "plan/environment/environment.h"

namespace muster {
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
      const auto config = nlohmann::json::parse(*text, nullptr, false);
      if (!config.is_object() || !config.contains("cluster") || !config.contains("task")) continue;
      const auto& task = config["task"];
      if (!task.is_object() || !task.contains("type") || !task["type"].is_string()) continue;
      const auto& cluster = config["cluster"];
      const auto addresses = cluster.is_object() ? cluster.find(task["type"].get<std::string>()) : cluster.end();
      const auto index = task.find("index");
      if (addresses == cluster.end() || !addresses->is_array() || index == task.end() || !index->is_number_unsigned())
        continue;
      const auto number = index->get<std::size_t>();
      if (number >= addresses->size() || !(*addresses)[number].is_string()) continue;
      const std::string address = (*addresses)[number];
      if (address.find("${muster:") != std::string::npos) continue;
      const std::string what = fmt::format("{} of task {} {}", kTensorFlow, task["type"].get<std::string>(), number);
      if (Differs(process, process, what, WithoutPort(address))) return;
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
