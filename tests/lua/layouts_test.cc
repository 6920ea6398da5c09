// Tests ten thousand random layouts for all contracts: every rank exists once, all
// variables with counts agree, no device is used twice, and rank tables are valid for
// HCCL.
#include <algorithm>
#include <map>
#include <random>
#include <set>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lua/evaluated.h"
#include "plan/plan/roles.h"

namespace muster::testing {
namespace {

using nlohmann::json;

#ifdef MUSTER_SANITIZED
constexpr int kLayouts = 1'000;  // each takes ten times as long under a sanitizer
#else
constexpr int kLayouts = 10'000;
#endif

// How a framework names what muster counts; empty if it has no such variable. `per` is "worlds" or "hosts".
struct Names {
  const char* framework;
  const char* rank;
  const char* size;
  const char* local_rank;
  const char* local_size;
  bool servers = false;
  bool worlds = false;
  bool own_ranks = false;  // the framework assigns ranks itself, so the plan has none
};
constexpr Names kNames[] = {
    {"mindspore", "MS_NODE_ID", "MS_WORKER_NUM", "LOCAL_RANK", "LOCAL_RANK_SIZE"},
    {"mindspore", "RANK_ID", "RANK_SIZE", "LOCAL_RANK", "LOCAL_RANK_SIZE"},
    {"mindspore-ps", "RANK_ID", "RANK_SIZE", "LOCAL_RANK", "LOCAL_RANK_SIZE", true},
    {"mindspore-ranktable", "RANK_ID", "RANK_SIZE", "LOCAL_RANK", "LOCAL_RANK_SIZE"},
    {"torch", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", false, true},
    {"ps-lite", "", "DMLC_NUM_WORKER", "", "", true, false, true},
    {"byteps", "", "", "BYTEPS_LOCAL_RANK", "BYTEPS_LOCAL_SIZE", true},
    {"tensorflow", "", "", "", "", true},
    {"jax", "JAX_PROCESS_ID", "JAX_NUM_PROCESSES", "", "", false, true},
    {"mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE",
     false, true},
};

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

Layout LayoutBy(Chance& chance, const Names& names) {
  const std::string framework = names.framework;
  const int hosts = chance.Between(1, 3);
  const int devices = chance.Between(1, 4);
  const bool ranktable = framework == "mindspore-ranktable";
  const bool even = framework == "byteps";
  const int per_process = ranktable ? 1 : chance.Between(0, 2) % (devices + 1);
  std::string body;
  if (names.servers) body += "job:servers { count = " + std::to_string(chance.Between(1, 3)) + ", command = { 'x' } } ";
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
    if (names.worlds && chance.Once(2)) body += ", world = 'v" + std::to_string(chance.Between(0, 1)) + "'";
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

void ExpectRanks(const Plan& plan, const Names& names) {
  std::map<std::string, std::set<std::uint32_t>> ranks;
  std::map<WorldHost, std::set<std::uint32_t>> local;
  std::map<std::uint32_t, std::set<std::uint32_t>> devices;
  std::set<std::string> node_ids;
  std::set<std::string> task_ids;
  std::size_t with_ids = 0;
  const auto workers = std::count_if(plan.processes.begin(), plan.processes.end(), [&](const Process& process) {
    return plan.roles[process.role].plays == "worker";
  });
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
    if (names.own_ranks) {
      EXPECT_FALSE(process.rank);
      EXPECT_FALSE(env.contains("MUSTER_RANK"));
      EXPECT_TRUE(task_ids.insert(In(env, "DMLC_TASK_ID")).second);
      EXPECT_EQ(In(env, names.size), std::to_string(workers));
      continue;
    }
    ASSERT_TRUE(process.rank);
    EXPECT_TRUE(ranks[role.world].insert(*process.rank).second);
    EXPECT_TRUE(local[WorldHost(role.world, process.host)].insert(process.local_rank).second);
    if (*names.rank != 0) {
      EXPECT_EQ(In(env, names.rank), std::to_string(*process.rank));
    }
    if (*names.local_rank != 0) {
      EXPECT_EQ(In(env, names.local_rank), std::to_string(process.local_rank));
    }
  }
  EXPECT_EQ(node_ids.size(), with_ids) << "a node id is there twice";
  for (const auto& [world, members] : ranks) EXPECT_EQ(*members.rbegin() + 1, members.size()) << "a rank is missing";
  for (const auto& [where, members] : local)
    EXPECT_EQ(*members.rbegin() + 1, members.size()) << "a local rank is missing";
  for (const Process& process : plan.processes) {
    const Role& role = plan.roles[process.role];
    if (role.plays != "worker" || names.own_ranks) continue;
    const Variables env = EffectiveEnv(plan, process);
    const std::string size = std::to_string(ranks[role.world].size());
    EXPECT_EQ(In(env, "MUSTER_WORLD_SIZE"), size);
    if (*names.size != 0) {
      EXPECT_EQ(In(env, names.size), size);
    }
    if (*names.local_size != 0) {
      EXPECT_EQ(In(env, names.local_size), std::to_string(local[WorldHost(role.world, process.host)].size()));
    }
  }
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

class Layouts : public ::testing::TestWithParam<Names> {};

INSTANTIATE_TEST_SUITE_P(Contracts, Layouts, ::testing::ValuesIn(kNames), [](const auto& names) {
  std::string name = std::string(names.param.framework) + "_" + names.param.rank;
  for (char& c : name) c = c == '-' ? '_' : c;
  return name;
});

TEST_P(Layouts, OfAllKindsAreConsistent) {
  const Names& names = GetParam();
  Chance chance(20'260'101);
  const int wanted = kLayouts / static_cast<int>(std::size(kNames));
  int planned = 0;
  for (int tried = 0; planned < wanted; ++tried) {
    ASSERT_LT(tried, 2 * wanted) << "most layouts fit";
    const Layout layout = LayoutBy(chance, names);
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
    ExpectRanks(plan, names);
    if (plan.framework == "mindspore-ranktable") ExpectTable(plan);
    if (plan.framework == "tensorflow") ExpectTasks(plan);
    if (HasFailure()) FAIL() << layout.fields << "\n" << layout.body;
  }
}

}  // namespace
}  // namespace muster::testing
