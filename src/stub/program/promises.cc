#include "stub/program/promises.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/system/host_devices.h"
#include "base/values/parse_number.h"
#include "base/values/shell_quote.h"
#include "stub/program/contract_table.h"

namespace muster {
namespace {

using Outcome = StubFinding::Outcome;

std::vector<std::string> Split(std::string_view list) {
  std::vector<std::string> words;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    words.emplace_back(list.substr(0, comma));
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
  return words;
}

Check CheckOf(Promise promise) {
  return promise == Promise::kRank || promise == Promise::kLocalRank || promise == Promise::kRole ? Check::kRanks
                                                                                                  : Check::kCounts;
}

// The value according to the plan; nothing if the plan has no number for it.
std::optional<std::uint32_t> Planned(const StubFacts& facts, const StubPeer& self, Promise promise) {
  switch (promise) {
    case Promise::kRank:
      return self.rank;
    case Promise::kWorldSize:
      return self.world_size;
    case Promise::kLocalRank:
      return self.local_rank;
    case Promise::kLocalSize:
      return self.local_size;
    case Promise::kWorkers:
      return facts.workers;
    case Promise::kServers:
      return facts.servers;
    case Promise::kWorkerHosts:
      return facts.worker_hosts;
    case Promise::kRole:
    case Promise::kDevice:
      break;
  }
  return std::nullopt;
}

class Promises {
 public:
  Promises(const StubFacts& facts, const StubPeer& self, const StubVariable& variable, StubReport& account)
      : facts_(facts), self_(self), variable_(variable), account_(account) {}

  void Look(const PromisedVariable& row) {
    if (row.promise == Promise::kDevice) return;
    const Check check = CheckOf(row.promise);
    const char* const value = variable_(std::string(row.variable).c_str());
    if (value == nullptr) {
      if (row.always) Failed(check, fmt::format("{} is not set", row.variable));
      return;
    }
    if (row.promise == Promise::kRole) {
      const std::string_view word = RoleWord(facts_.framework, self_.plays);
      if (value != word)
        Failed(check, fmt::format("{} is {}, and a {} is {}", row.variable, Quoted(value), self_.plays, word));
      return Seen(check, row.variable);
    }
    const auto number = ParseNumber<std::int64_t>(value);
    if (row.promise == Promise::kRank && !account_.says_rank) account_.says_rank = number;
    const auto planned = Planned(facts_, self_, row.promise);
    if (planned && number != std::int64_t{*planned}) {
      Failed(check, fmt::format("{} is {}, and the plan has {}", row.variable, Quoted(value), *planned));
    }
    Seen(check, row.variable);
  }

  void LookAtContext(const std::string& text) {
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("context") || !json["context"].is_object()) {
      return Failed(Check::kCounts, "its context cannot be read");
    }
    const auto& context = json["context"];
    const auto compare = [&](const char* function, const char* attribute, Check check,
                             std::optional<std::uint32_t> planned) {
      if (!planned || !context.contains(function) || !context[function].is_object()) return;
      const auto found = context[function].find(attribute);
      if (found == context[function].end() || !found->is_number_integer()) return;
      if (found->template get<std::int64_t>() != std::int64_t{*planned}) {
        Failed(check, fmt::format("{} of its context is {}, and the plan has {}", attribute,
                                  found->template get<std::int64_t>(), *planned));
      }
      Seen(check, attribute);
    };
    if (self_.plays != "worker") return;
    compare("set_auto_parallel_context", "device_num", Check::kCounts, facts_.workers);
    compare("set_auto_parallel_context", "global_rank", Check::kRanks, self_.rank);
  }

  // {"cluster": {"worker": ["address:port", …], "ps": […]}, …}: as many tasks as the plan has processes.
  void LookAtTensorFlow() {
    const char* const text = variable_("TF_CONFIG");
    if (text == nullptr) return Failed(Check::kCounts, "TF_CONFIG is not set");
    const auto json = nlohmann::json::parse(text, nullptr, false);
    if (!json.is_object() || !json.contains("cluster") || !json["cluster"].is_object())
      return Failed(Check::kCounts, "TF_CONFIG cannot be read");
    for (const auto& [task, planned] : {std::pair{"worker", facts_.workers}, std::pair{"ps", facts_.servers}}) {
      const auto found = json["cluster"].find(task);
      const std::size_t count = found != json["cluster"].end() && found->is_array() ? found->size() : 0;
      if (count != planned)
        Failed(Check::kCounts, fmt::format("TF_CONFIG has {} tasks of {}, and the plan {}", count, task, planned));
    }
    Seen(Check::kCounts, "TF_CONFIG");
  }

  void Report() {
    for (const Check check : {Check::kRanks, Check::kCounts}) {
      const std::string& seen = seen_[check == Check::kRanks ? 0 : 1];
      const bool failed = std::any_of(
          account_.findings.begin(), account_.findings.end(),
          [&](const StubFinding& finding) { return finding.check == check && finding.outcome == Outcome::kFailed; });
      if (!failed && !seen.empty()) account_.findings.push_back({check, Outcome::kOk, seen, {}, {}});
    }
  }

 private:
  void Failed(Check check, std::string text) {
    account_.findings.push_back({check,
                                 Outcome::kFailed,
                                 std::move(text),
                                 "something sets it over the contract: see job:env, env and each of the recipe, the "
                                 "activation and --wrap",
                                 {}});
  }
  void Seen(Check check, std::string_view name) {
    std::string& seen = seen_[check == Check::kRanks ? 0 : 1];
    seen += (seen.empty() ? "" : ", ") + std::string(name);
  }

  const StubFacts& facts_;
  const StubPeer& self_;
  const StubVariable& variable_;
  StubReport& account_;
  std::array<std::string, 2> seen_;
};

bool PlaysInContract(std::string_view plays) { return plays == "scheduler" || plays == "server" || plays == "worker"; }

// Checks the contract's variables for a process that has a role in it.
void CheckContract(const StubFacts& facts, const StubPeer& self, Promises& promises, StubReport& account) {
  for (const PromisedVariable& row : PromisesOf(facts.framework)) {
    if (row.plays.empty() ? PlaysInContract(self.plays) : row.plays == self.plays) promises.Look(row);
  }
  if (facts.framework == "tensorflow") promises.LookAtTensorFlow();
  if (IsKnownContract(facts.framework)) return;
  for (const Check check : {Check::kCounts, Check::kRendezvousEndpoint}) {
    account.findings.push_back(
        {check,
         Outcome::kNotChecked,
         fmt::format("contract {} is the recipe's own: what its variables mean is not known", facts.framework),
         {},
         {}});
  }
}

}  // namespace

void CheckPromises(const StubFacts& facts, std::uint32_t process, const StubVariable& variable,
                   const std::optional<std::string>& context, StubReport& account) {
  const StubPeer& self = facts.processes[process];
  Promises promises(facts, self, variable, account);
  if (self.plays != "other") CheckContract(facts, self, promises, account);
  if (context) promises.LookAtContext(*context);
  // Every process has these, whatever the contract, and no option changes them.
  if (const char* rank = variable("MUSTER_RANK"); rank != nullptr && !account.says_rank)
    account.says_rank = ParseNumber<std::int64_t>(rank);
  promises.Report();
}

void CheckDevices(std::string_view kind, const StubVariable& variable, StubReport& account, const std::string& root) {
  const char* const given = variable("MUSTER_DEVICES");
  const std::vector<std::string> own = Split(given == nullptr ? "" : given);
  if (own.empty()) return;
  const auto reported = [&account](Outcome outcome, std::string text, std::string hint = {}) {
    account.findings.push_back({Check::kDevices, outcome, std::move(text), std::move(hint), {}});
  };
  const DeviceKind* const known = DeviceKindNamed(kind);
  if (known == nullptr) return reported(Outcome::kNotChecked, "the plan names no kind of device that muster knows");
  bool failed = false;
  const auto fail = [&](std::string text, std::string hint) {
    failed = true;
    reported(Outcome::kFailed, std::move(text), std::move(hint));
  };
  const std::string name(known->variable);
  const char* const list = variable(name.c_str());
  const std::vector<std::string> visible = Split(list == nullptr ? "" : list);
  const auto sees = [&](const std::string& device) {
    return std::find(visible.begin(), visible.end(), device) != visible.end();
  };
  for (const std::string& device : own) {
    if (list != nullptr && !sees(device))
      fail(fmt::format("{}={} hides its device {}", name, Quoted(list), device),
           "leave the variable to muster: devices, visible and --devices set it");
  }
  if (const char* const chosen = variable("DEVICE_ID"); chosen != nullptr && kind == "ascend") {
    const auto number = ParseNumber<std::int64_t>(chosen);
    const bool among =
        number && *number >= 0 && (list == nullptr || *number < static_cast<std::int64_t>(visible.size()));
    const std::string device = !among            ? ""
                               : list == nullptr ? std::string(chosen)
                                                 : visible[static_cast<std::size_t>(*number)];
    if (std::find(own.begin(), own.end(), device) == own.end()) {
      fail(fmt::format("DEVICE_ID is {}, which is {}, and its device is {}", Quoted(chosen),
                       device.empty() ? "none that it can see" : "device " + device, given),
           "leave DEVICE_ID to the contract");
    }
  }
  const std::uint32_t count = CountDevices(kind, root).count;
  const std::string node = kind == "ascend" ? "davinci" : kind == "cuda" ? "nvidia" : "";
  if (const char* const believed = variable(kHostDevicesVariable); believed != nullptr && ParseDeviceCount(believed)) {
    reported(Outcome::kNote,
             fmt::format("device nodes are not checked: {}={} stands for them", kHostDevicesVariable, believed));
  } else {
    for (const std::string& device : own) {
      const auto number = ParseNumber<std::int64_t>(device);
      if (failed || !number) continue;  // reported already; or an identifier that only the driver knows
      const std::string path = root + "dev/" + node + device;
      if (*number >= std::int64_t{count}) {
        fail(fmt::format("there {} {} device{} of kind {} here, fewer than the plan gives", count == 1 ? "is" : "are",
                         count, count == 1 ? "" : "s", kind),
             "see muster doctor; the driver may not be loaded");
      } else if (!node.empty() && ::access(path.c_str(), R_OK | W_OK) != 0) {
        fail(fmt::format("{} cannot be opened: {}", path, std::strerror(errno)),
             "this user needs the right to it: often a group, such as HwHiAiUser or video");
      }
    }
  }
  if (!failed) reported(Outcome::kOk, given);
}

}  // namespace muster
