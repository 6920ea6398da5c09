// Tests ten thousand random layouts for all contracts: every rank exists once, all
// variables with counts agree, no device is used twice, and rank tables are valid for
// HCCL.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "base/values/value_json.h"
#include "lua/evaluated.h"
#include "lua/state/own_data.h"
#include "plan/plan/contract_variables.h"
#include "plan/plan/roles.h"

namespace muster::testing {
namespace {

using nlohmann::json;

#ifdef MUSTER_SANITIZED
constexpr int kLayouts = 1'000;  // each takes ten times as long under a sanitizer
#else
constexpr int kLayouts = 10'000;
#endif

using Meaning = ContractVariable::Meaning;

// A contract of muster's own, from its page.
struct Contract {
  std::string name;
  std::string meets;  // the role at the rendezvous endpoint; empty: none
  bool servers = false;
  bool worlds = false;
  std::set<std::string> documented;         // names of variables
  std::vector<ContractVariable> variables;  // those that say what they carry
};

void PrintTo(const Contract& contract, std::ostream* out) { *out << contract.name; }

std::vector<Contract> Contracts() {
  const Value records = OwnFrameworks().value();
  std::vector<Contract> contracts;
  for (const Value& record : *records.AsList()) {
    Contract contract;
    contract.name = TextField(record, "name");
    contract.meets = TextField(ValueField(record, "meeting"), "role");
    contract.worlds = TruthField(record, "worlds");
    for (const Value& role : ListField(record, "roles")) contract.servers |= TextField(role, "name") == "server";
    for (const Value& variable : ListField(record, "variables"))
      contract.documented.insert(TextField(variable, "name"));
    contract.variables = OwnContractNamed(records, contract.name).value().value();
    contracts.push_back(std::move(contract));
  }
  return contracts;
}

class Chance {
 public:
  explicit Chance(unsigned seed) : engine_(seed) {}
  int Between(int least, int most) { return std::uniform_int_distribution<int>(least, most)(engine_); }
  bool Once(int in) { return Between(1, in) == 1; }

 private:
  std::mt19937 engine_;
};

struct Layout {
  std::string body;
  std::string fields;
};

Layout LayoutBy(Chance& chance, const Contract& contract) {
  const std::string& framework = contract.name;
  const int hosts = chance.Between(1, 3);
  const int devices = chance.Between(1, 4);
  const bool ranktable = framework == "mindspore-ranktable";
  const bool even = framework == "byteps";
  const int per_process = ranktable ? 1 : chance.Between(0, 2) % (devices + 1);
  std::string body;
  if (contract.servers)
    body += "job:servers { count = " + std::to_string(chance.Between(1, 3)) + ", command = { 'x' } } ";
  if (framework == "tensorflow" && chance.Once(2)) body += "job:role 'chief' { as = 'chief', command = { 'x' } } ";
  const int roles = even || ranktable ? 1 : chance.Between(1, 3);
  int room = hosts * (per_process > 0 ? devices / per_process : 4);
  for (int i = 0; i < roles && room > 0; ++i) {
    std::string count;
    if (even || (i == 0 && chance.Once(3))) {
      const int most = per_process > 0 ? devices / per_process : 4;
      const int per_host = chance.Between(1, std::max(1, even ? most : most / roles));
      count = "per_host = " + std::to_string(per_host);
      room -= per_host * hosts;
    } else {
      const int some = chance.Between(1, std::max(1, room / (roles - i)));
      count = "count = " + std::to_string(some);
      room -= some;
    }
    body += "job:role 'w" + std::to_string(i) + "' { as = 'worker', " + count +
            ", command = { 'x' }, devices = " + std::to_string(per_process);
    if (contract.worlds && chance.Once(2)) body += ", world = 'v" + std::to_string(chance.Between(0, 1)) + "'";
    if (per_process == 0 && !even && chance.Once(4)) body += ", spread = 'pack'";
    if (chance.Once(4)) body += ", visible = 'own'";
    body += " } ";
  }
  if (chance.Once(3)) body += "job:role 'other' { command = { 'x' }, count = 2 } ";

  std::string options;
  if (framework == "mpi") options = ", start = 'variables'";
  if (framework == "mindspore" && chance.Once(4)) options = ", recovery = 'on'";
  if (framework == "tensorflow" && chance.Once(2)) options = ", port = 2000";
  if (ranktable) {
    options = ", version = '" + std::string(chance.Once(2) ? "1.0" : chance.Once(2) ? "1.1" : "1.2") + "', servers = {";
    for (int host = 0; host < hosts; ++host) {
      // Addresses that sort differently as text than as numbers.
      options += "{ id = '192.0.2." + std::to_string(7 * (host + 1) * (host % 2 == 0 ? 1 : 9)) +
                 "', super_pod = " + std::to_string(host / 2) + ", devices = {";
      for (int device = 0; device < devices; ++device) {
        options += "{ ip = '198.51." + std::to_string(host) + "." + std::to_string(device) +
                   "', super_device_id = " + std::to_string(host * devices + device) + " },";
      }
      options += "} },";
    }
    options += "}";
  }
  return {body, "framework = { '" + framework + "'" + options + " }, cluster = { hosts = " + std::to_string(hosts) +
                    ", devices_per_host = " + std::to_string(devices) + " },"};
}

std::string In(const Variables& env, const char* name) {
  const auto found = env.find(name);
  return found == env.end() ? "(none)" : found->second.marked;
}

using WorldHost = std::pair<std::string, std::uint32_t>;

// What the plan has for the variables of a worker, by their meaning; of counts one for each role.
class Workers {
 public:
  Workers(const Plan& plan, const std::string& meets) : plan_(plan), meets_(meets) {
    for (const Process& process : plan.processes) {
      const Role& role = plan.roles[process.role];
      ++count_[role.plays];
      if (role.plays != "worker") continue;
      hosts_.insert(process.host);
      if (process.rank) {
        EXPECT_TRUE(ranks_[role.world].insert(*process.rank).second);
        EXPECT_TRUE(local_[WorldHost(role.world, process.host)].insert(process.local_rank).second);
      }
    }
    for (const auto& [world, members] : ranks_) EXPECT_EQ(*members.rbegin() + 1, members.size()) << "a rank is missing";
    for (const auto& [where, members] : local_)
      EXPECT_EQ(*members.rbegin() + 1, members.size()) << "a local rank is missing";
  }

  std::string Size(const Process& process) const {
    return std::to_string(ranks_.at(plan_.roles[process.role].world).size());
  }

  // Nothing if the plan has none, or for another kind of meaning.
  std::optional<std::string> Planned(const Process& process, Meaning is, const std::string& of) const {
    const Role& role = plan_.roles[process.role];
    if (is == Meaning::kCount) return std::to_string(count_.contains(of) ? count_.at(of) : 0);
    if (is == Meaning::kWorkerHosts) return std::to_string(hosts_.size());
    if (is == Meaning::kAddress) return AddressFor(process);
    if (!process.rank) return std::nullopt;
    if (is == Meaning::kRank) return std::to_string(*process.rank);
    if (is == Meaning::kWorldSize) return Size(process);
    if (is == Meaning::kLocalRank) return std::to_string(process.local_rank);
    if (is == Meaning::kLocalSize) return std::to_string(local_.at(WorldHost(role.world, process.host)).size());
    return std::nullopt;
  }

 private:
  // Of the host of the process that listens at the endpoint.
  std::optional<std::string> AddressFor(const Process& process) const {
    for (const Process& other : plan_.processes) {
      const Role& role = plan_.roles[other.role];
      const bool same_world = role.world == plan_.roles[process.role].world && other.rank == 0U;
      if (role.plays == meets_ && (role.world.empty() || same_world))
        return "${muster:host_address:" + std::to_string(other.host) + "}";
    }
    return std::nullopt;
  }

  const Plan& plan_;
  const std::string& meets_;
  std::map<std::string, std::size_t> count_;
  std::map<std::string, std::set<std::uint32_t>> ranks_;
  std::map<WorldHost, std::set<std::uint32_t>> local_;
  std::set<std::uint32_t> hosts_;
};

bool IsPort(const std::string& text) { return text.starts_with("${muster:port:") && text.ends_with('}'); }

// A declared variable of a worker has the value of the plan.
void ExpectDeclared(const Workers& workers, const Process& process, const ContractVariable& variable,
                    const std::string& value) {
  if (const auto planned = workers.Planned(process, variable.is, variable.of)) {
    EXPECT_EQ(value, *planned) << variable.name;
  } else if (variable.is == Meaning::kPort) {
    EXPECT_TRUE(IsPort(value)) << variable.name << " " << value;
  } else if (variable.is == Meaning::kEndpoint) {
    const auto address = workers.Planned(process, Meaning::kAddress, {});
    ASSERT_TRUE(address && value.starts_with(*address + ":")) << variable.name << " " << value;
    EXPECT_TRUE(IsPort(value.substr(address->size() + 1))) << variable.name << " " << value;
  } else if (variable.is == Meaning::kRole) {
    EXPECT_EQ(value, variable.words.contains("worker") ? variable.words.at("worker") : "worker");
  }
}

// Of a variable that does not say what it carries: its values, and what they have been equal to in all layouts so far.
struct Guess {
  std::set<std::string> values;
  std::set<std::string> meanings;

  // Neither a constant nor the number of a device, which may be the local rank, too.
  bool IsCertain() const { return values.size() > 1 && !meanings.empty() && !meanings.contains("device"); }
};
using Undeclared = std::map<std::string, Guess>;

void Compare(const Workers& workers, const Process& process, const std::string& name, const std::string& value,
             Undeclared& undeclared) {
  std::set<std::string> equal;
  for (const Meaning is : {Meaning::kRank, Meaning::kWorldSize, Meaning::kLocalRank, Meaning::kLocalSize,
                           Meaning::kWorkerHosts, Meaning::kAddress}) {
    if (value == workers.Planned(process, is, {})) equal.insert(std::string(kMeaningNames[std::size_t(is)]));
  }
  for (const char* role : {"worker", "server"}) {
    if (value == workers.Planned(process, Meaning::kCount, role)) equal.insert(std::string("count of ") + role);
  }
  if (process.devices.size() == 1 && value == std::to_string(process.devices[0])) equal.insert("device");
  if (IsPort(value)) equal.insert("port");
  Guess& guess = undeclared.try_emplace(name, Guess{{}, equal}).first->second;
  std::erase_if(guess.meanings, [&](const std::string& meaning) { return !equal.contains(meaning); });
  if (guess.values.size() < 2) guess.values.insert(value);
}

void ExpectRanks(const Plan& plan, const Contract& contract, Undeclared& undeclared) {
  std::map<std::uint32_t, std::set<std::uint32_t>> devices;
  std::set<std::string> node_ids;
  std::set<std::string> task_ids;
  std::size_t with_ids = 0;
  const Workers workers(plan, contract.meets);
  for (const Process& process : plan.processes) {
    for (const std::uint32_t device : process.devices) {
      EXPECT_TRUE(devices[process.host].insert(device).second) << "device " << device << " of host " << process.host;
      EXPECT_LT(device, plan.hosts[process.host].devices);
    }
    const Variables env = EffectiveEnv(plan, process);
    if (env.contains("MS_NODE_ID")) {
      ++with_ids;
      node_ids.insert(In(env, "MS_NODE_ID"));
    }
    const Role& role = plan.roles[process.role];
    if (role.plays != "worker") continue;
    // Only ps-lite assigns the ranks itself, so the plan has none.
    ASSERT_EQ(process.rank.has_value(), contract.name != "ps-lite");
    EXPECT_EQ(env.contains("MUSTER_RANK"), process.rank.has_value());
    if (process.rank) {
      EXPECT_EQ(In(env, "MUSTER_WORLD_SIZE"), workers.Size(process));
    } else {
      EXPECT_TRUE(task_ids.insert(In(env, "DMLC_TASK_ID")).second);
    }
    std::set<std::string> declared;
    for (const ContractVariable& variable : contract.variables) {
      const auto& roles = variable.roles;
      if (!roles.empty() && std::find(roles.begin(), roles.end(), "worker") == roles.end()) continue;
      declared.insert(variable.name);
      if (!variable.optional || env.contains(variable.name))
        ExpectDeclared(workers, process, variable, In(env, variable.name.c_str()));
    }
    for (const std::string& name : contract.documented) {
      if (env.contains(name) && !declared.contains(name))
        Compare(workers, process, name, In(env, name.c_str()), undeclared);
    }
  }
  EXPECT_EQ(node_ids.size(), with_ids) << "a node id is there twice";
}

void ExpectTable(const Plan& plan) {
  const json table = json::parse(plan.files.at("files/rank_table.json").content.marked);
  const bool hetero = table["version"] == "1.1";
  const json& servers = table[hetero ? "node_list" : "server_list"];
  if (!hetero) {
    EXPECT_EQ(table["server_count"], std::to_string(servers.size()));
    EXPECT_EQ(table["status"], "completed");
  }
  std::string last_server;
  std::size_t next_rank = 0;
  std::set<std::string> addresses;
  for (const json& server : servers) {
    const std::string id = server[hetero ? "node_addr" : "server_id"];
    EXPECT_LT(last_server, id) << "servers are in the order of their addresses as text";
    last_server = id;
    for (const json& device : server[hetero ? "ranks" : "device"]) {
      ASSERT_LT(next_rank, plan.processes.size());
      EXPECT_EQ(device["rank_id"], std::to_string(next_rank));
      EXPECT_TRUE(addresses.insert(device[hetero ? "rank_ip" : "device_ip"]).second);
      for (const Process& process : plan.processes) {
        if (process.rank != next_rank) continue;
        const Variables env = EffectiveEnv(plan, process);
        EXPECT_EQ(device["device_id"], In(env, "DEVICE_ID"));
        EXPECT_EQ(addresses.count("198.51." + std::to_string(process.host) + "." + In(env, "DEVICE_ID")), 1U);
      }
      ++next_rank;
    }
  }
  std::size_t workers = 0;
  for (const Process& process : plan.processes) workers += process.rank.has_value();
  EXPECT_EQ(next_rank, workers);
  if (table["version"] == "1.2") {
    std::size_t in_pods = 0;
    for (const json& pod : table["super_pod_list"]) in_pods += pod["server_list"].size();
    EXPECT_EQ(in_pods, servers.size());
  }
}

void ExpectTasks(const Plan& plan) {
  std::map<std::string, std::set<int>> indices;
  json cluster;
  for (const Process& process : plan.processes) {
    const Variables env = EffectiveEnv(plan, process);
    if (plan.roles[process.role].plays == "other") {
      EXPECT_FALSE(env.contains("TF_CONFIG"));
      continue;
    }
    const json config = json::parse(In(env, "TF_CONFIG"));
    if (cluster.is_null()) cluster = config["cluster"];
    EXPECT_EQ(config["cluster"], cluster) << "all processes have the same cluster";
    const std::string type = config["task"]["type"];
    const int index = config["task"]["index"];
    EXPECT_TRUE(indices[type].insert(index).second);
    const std::string port = "${muster:port:" + ProcessName(plan, process) + ".grpc}";
    EXPECT_EQ(cluster[type].at(static_cast<std::size_t>(index)),
              "${muster:host_address:" + std::to_string(process.host) + "}:" + port);
  }
  for (const auto& [type, members] : indices) EXPECT_EQ(cluster[type].size(), members.size());
  EXPECT_EQ(cluster.size(), indices.size());
  std::set<std::pair<std::uint32_t, std::uint16_t>> numbers;
  for (const auto& [name, port] : plan.ports) {
    if (port.number == 0) continue;
    EXPECT_TRUE(numbers.insert({port.host, port.number}).second) << name;
  }
}

class Layouts : public ::testing::TestWithParam<Contract> {};

INSTANTIATE_TEST_SUITE_P(Contracts, Layouts, ::testing::ValuesIn(Contracts()), [](const auto& contract) {
  std::string name = contract.param.name;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST_P(Layouts, OfAllKindsAreConsistent) {
  const Contract& contract = GetParam();
  Chance chance(20'260'101);
  const int wanted = kLayouts / static_cast<int>(Contracts().size());
  Undeclared undeclared;
  int planned = 0;
  for (int tried = 0; planned < wanted; ++tried) {
    ASSERT_LT(tried, 2 * wanted) << "most layouts fit";
    const Layout layout = LayoutBy(chance, contract);
    const Evaluated evaluated = Evaluate({Recipe(layout.body, layout.fields)});
    if (!evaluated.answer.plan) {
      // A random layout may exceed the hosts, which is reported; there must be no other error.
      for (const Diagnostic& problem : evaluated.answer.diagnostics) {
        ASSERT_EQ(problem.kind, "devices") << problem.message << "\n" << layout.fields << "\n" << layout.body;
      }
      continue;
    }
    ++planned;
    const Plan& plan = evaluated.plan();
    ExpectRanks(plan, contract, undeclared);
    if (plan.framework == "mindspore-ranktable") ExpectTable(plan);
    if (plan.framework == "tensorflow") ExpectTasks(plan);
    if (HasFailure()) FAIL() << layout.fields << "\n" << layout.body;
  }
  // A rehearsal checks only what the contract's page declares.
  for (const auto& [name, guess] : undeclared) {
    EXPECT_FALSE(guess.IsCertain()) << name << " carries the " << *guess.meanings.begin()
                                    << ", and its entry in `variables` does not say so (is = …)";
  }
}

}  // namespace
}  // namespace muster::testing
