// Tests rank tables: those that muster writes, and those of recipes, which it checks.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lua/evaluated.h"
#include "lua/filled_env.h"

namespace muster::testing {
namespace {

using nlohmann::json;

json TableIn(const Plan& plan) { return json::parse(plan.files.at("files/rank_table.json").content.marked); }

TEST(RankTable, OfOneHostNeedsNoAddress) {
  const Plan plan =
      PlanOf("job:workers { count = 2, command = { 'x' } }",
             "framework = { 'mindspore-ranktable', servers = { { devices = { '198.51.100.1', '198.51.100.2' } } } },"
             " cluster = { devices_per_host = 2 },");
  EXPECT_EQ(TableIn(plan),
            json::parse(R"({"version": "1.0", "status": "completed", "server_count": "1", "server_list": [
    {"server_id": "${muster:host_address:0}", "host_nic_ip": "reserve", "device": [
      {"device_id": "0", "device_ip": "198.51.100.1", "rank_id": "0"},
      {"device_id": "1", "device_ip": "198.51.100.2", "rank_id": "1"}]}]})"));
  EXPECT_EQ(EnvOf(plan, "worker.1"), (Env{{"RANK_TABLE_FILE", "/run/files/rank_table.json"},
                                          {"RANK_ID", "1"},
                                          {"RANK_SIZE", "2"},
                                          {"DEVICE_ID", "1"},
                                          {"LOCAL_RANK", "1"},
                                          {"LOCAL_RANK_SIZE", "2"}}));
}

TEST(RankTable, HasRanksOnProcessorsInFormatOneOne) {
  const Plan plan = PlanOf(
      "job:workers { count = 1, on_hosts = { 0 }, command = { 'x' } }"
      " job:role 'host' { as = 'worker', count = 1, devices = 0, on_hosts = { 1 }, command = { 'x' } }",
      "framework = { 'mindspore-ranktable', version = '1.1', servers = { { id = '192.0.2.11', devices = { "
      "'198.51.100.1' } },"
      " { id = '192.0.2.12', devices = {} } } }, cluster = { hosts = 2, devices_per_host = 1 },");
  EXPECT_EQ(TableIn(plan), json::parse(R"({"version": "1.1", "collective_id": "muster-${muster:run_id}", "node_list": [
    {"node_addr": "192.0.2.11", "ranks": [{"rank_id": "0", "device_id": "0", "rank_ip": "198.51.100.1"}]},
    {"node_addr": "192.0.2.12", "ranks": [{"rank_id": "1"}]}]})"));
  EXPECT_FALSE(EnvOf(plan, "host.0").contains("DEVICE_ID"));
}

TEST(RankTable, NamesSuperPodsInFormatOneTwo) {
  const Plan plan =
      PlanOf("job:workers { count = 2, command = { 'x' } }",
             "framework = { 'mindspore-ranktable', version = '1.2', servers = {"
             " { id = '192.0.2.11', super_pod = 0, devices = { { ip = '198.51.100.1', super_device_id = 0 } } },"
             " { id = '192.0.2.12', super_pod = 0, devices = { { ip = '198.51.100.2', super_device_id = 1 } } } } },"
             " cluster = { hosts = 2, devices_per_host = 1 },");
  EXPECT_EQ(
      TableIn(plan)["super_pod_list"],
      json::parse(
          R"([{"super_pod_id": "0", "server_list": [{"server_id": "192.0.2.11"}, {"server_id": "192.0.2.12"}]}])"));
  EXPECT_EQ(TableIn(plan)["server_list"][1]["device"][0]["super_device_id"], "1");
}

constexpr const char* kTable = R"({"version": "1.0", "server_count": "2", "status": "completed", "server_list": [
  {"server_id": "192.0.2.11", "device": [{"device_id": "0", "device_ip": "198.51.100.1", "rank_id": "0"},
                                         {"device_id": "1", "device_ip": "198.51.100.2", "rank_id": "1"}]},
  {"server_id": "192.0.2.12", "device": [{"device_id": "0", "device_ip": "198.51.100.3", "rank_id": "2"},
                                         {"device_id": "1", "device_ip": "198.51.100.4", "rank_id": "3"}]}]})";

Evaluated WithTable(const std::string& table,
                    const std::string& workers = "job:workers { command = { 'x' }, count = 4 }") {
  Request request{Recipe(
      workers,
      "framework = { 'mindspore-ranktable', table = 'hccl.json' }, cluster = { hosts = 2, devices_per_host = 2 },")};
  request.outside.files["hccl.json"] = table;
  return Evaluate(request);
}

TEST(RankTable, OfTheRecipeIsUsedUnchanged) {
  const Evaluated evaluated = WithTable(kTable);
  ASSERT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(evaluated.plan().files.at("files/hccl.json").content.marked, kTable);
  EXPECT_EQ(EnvOf(evaluated.plan(), "worker.3").at("RANK_TABLE_FILE"), "/run/files/hccl.json");
  // Hosts are filled in the order of the table's ranks, which may differ from that of its servers.
  json swapped = json::parse(kTable);
  std::swap(swapped["server_list"][0], swapped["server_list"][1]);
  const Evaluated other = WithTable(swapped.dump());
  ASSERT_EQ(other.problems(), Lines{});
  EXPECT_EQ(ProcessNamed(other.plan(), "worker.0").host, 1U);
}

TEST(RankTable, IsRefusedIfItContradictsItselfOrThePlan) {
  const std::tuple<const char*, const char*, const char*> cases[] = {
      {"/version", "\"2.0\"", "version must be"},
      {"/status", "\"initializing\"", "the file is not complete yet"},
      {"/server_count", "2", "server_count must be"},
      {"/server_count", "\"3\"", "server_count must be"},
      {"/server_list/1/server_id", "\"192.0.2.11\"", "occurs twice"},
      {"/server_list/0/device/0/rank_id", "0.5", "rank_id must be a whole number, usually written as text, got 0.5"},
      {"/server_list/0/device/0/rank_id", "\"x\"", "rank_id must be a whole number"},
      {"/server_list/0/device/0/rank_id", "\"1\"", "rank_id \"1\" occurs twice"},
      {"/server_list/0/device/0/rank_id", "\"4\"", "rank 0 is missing"},
      {"/server_list/0/device/0/device_ip", "\"198.51.100.2\"", "198.51.100.2 is also rank 0's"},
      {"/server_list/0/device/0/device_ip", "\"198.51.100.256\"", "device_ip must be an address"},
      {"/server_list/0/device/0/device_id", "\"1\"", "device_id \"1\" occurs twice"},
      {"/server_list/0/device", "[]", "device is missing or empty"},
      {"/server_list", "{}", "server_list is missing"},
      {"/server_list/1/device/1/device_id", "\"7\"",
       "rank 3: hccl.json has device 7 of server 2, the plan device 1 of host 1"},
  };
  for (const auto& [place, value, wanted] : cases) {
    json table = json::parse(kTable);
    table[json::json_pointer(place)] = json::parse(value);
    const Lines problems = WithTable(table.dump()).problems();
    ASSERT_FALSE(problems.empty()) << place << value;
    EXPECT_NE(problems[0].find(" error rank_table: "), std::string::npos) << problems[0];
    EXPECT_NE(problems[0].find(wanted), std::string::npos) << problems[0];
  }
  EXPECT_EQ(WithTable(kTable, "job:workers { command = { 'x' }, count = 3 }").problems(),
            Lines{"recipe.lua:4 error rank_table: hccl.json has 4 ranks, and the plan 3 workers"});
  EXPECT_EQ(WithTable("{").problems().size(), 1U);
  json disordered = json::parse(kTable);
  disordered["server_list"][1]["server_id"] = "192.0.2.10";
  EXPECT_EQ(WithTable(disordered.dump()).problems(), Lines{"recipe.lua:2 warning rank_table: hccl.json: ranks are "
                                                           "assigned in the order of server_id, and rank 2 is "
                                                           "on 192.0.2.10 after 192.0.2.11"});
}

// As the page of the contract says.
TEST(RankTable, IsMadeOfTheGroupedFormOfModelArts) {
  Request request{
      Recipe("job:workers { command = { 'x' }, count = 2 }",
             "cluster = { hosts = 1, devices_per_host = 2 }, framework = (function()\n"
             "local servers = {}\n"
             "for _, instance in ipairs(muster.read_json('jobstart_hccl.json').group_list[1].instance_list) do\n"
             "  local devices = {}\n"
             "  for number, device in ipairs(instance.devices) do devices[number] = device.device_ip end\n"
             "  servers[#servers + 1] = { id = instance.server_id, devices = devices }\n"
             "end return { 'mindspore-ranktable', servers = servers } end)(),")};
  request.outside.files["jobstart_hccl.json"] =
      R"({"group_list": [{"instance_list": [{"server_id": "192.0.2.11", "devices": [
          {"device_id": "0", "device_ip": "198.51.100.1"}, {"device_id": "1", "device_ip": "198.51.100.2"}]}]}]})";
  const Evaluated evaluated = Evaluate(request);
  ASSERT_EQ(evaluated.problems(), Lines{});
  const json table = json::parse(evaluated.plan().files.at("files/rank_table.json").content.marked);
  EXPECT_EQ(table["server_list"][0]["device"][1]["device_ip"], "198.51.100.2");
}

TEST(RankTable, NamesWhatIsMissingAndIsNotPrintedWhole) {
  const std::pair<const char*, const char*> cases[] = {
      {R"({"board_id": "0x0000", "chip_info": "910", "group_list": [{"device_num": "8"}]})",
       "it has no version: this is the grouped form of MindSpore 0.x (board_id, group_list)"},
      {R"({"status": "completed", "group_list": [{"group_name": "job", "instance_list": [
           {"server_id": "192.0.2.11", "devices": [{"device_id": "0", "device_ip": "198.51.100.1"}]}]}]})",
       "it has no version: this is the grouped form that ModelArts writes; give servers instead"},
      {R"({"server_list": [{"server_id": "192.0.2.11"}]})", "and is missing"},
      {R"({"version": {"server_id": "192.0.2.11"}})", "version must be \"1.0\", \"1.1\" or \"1.2\", got a table"},
      {R"([{"server_id": "192.0.2.11"}])", "and is missing"},
  };
  for (const auto& [table, wanted] : cases) {
    const Lines problems = WithTable(table).problems();
    ASSERT_EQ(problems.size(), 1U) << table;
    EXPECT_NE(problems[0].find(wanted), std::string::npos) << problems[0];
    EXPECT_EQ(problems[0].find("192.0.2.11"), std::string::npos) << problems[0];
  }
}

// Compared at once where the hosts are named by addresses.
TEST(RankTable, IsComparedWithTheNamedHosts) {
  const auto problems_on = [](const std::string& hosts, bool given) {
    const std::string servers = given
                                    ? "table = 'hccl.json'"
                                    : "servers = { { id = '192.0.2.11', devices = { '198.51.100.1', '198.51.100.2' } },"
                                      " { id = '192.0.2.12', devices = { '198.51.100.3', '198.51.100.4' } } }";
    Request request{
        Recipe("job:workers { command = { 'x' }, count = 4 }",
               "framework = { 'mindspore-ranktable', " + servers + " }, cluster = { host_list = { " + hosts + " } },")};
    request.outside.files["hccl.json"] = kTable;
    return Evaluate(request).problems();
  };
  for (const bool given : {true, false}) {
    EXPECT_EQ(problems_on("'192.0.2.11:2', '192.0.2.12:2'", given), Lines{});
    EXPECT_EQ(problems_on("'a:2', 'b:2'", given), Lines{}) << "names have no address yet";
    const Lines swapped = problems_on("'192.0.2.12:2', '192.0.2.11:2'", given);
    ASSERT_EQ(swapped.size(), 1U);
    EXPECT_NE(swapped[0].find("error rank_table: host 0 of the run is 192.0.2.12, and the rank table has 192.0.2.11"),
              std::string::npos)
        << swapped[0];
    const Lines other = problems_on("'192.0.2.11:2', '192.0.2.13:2'", given);
    ASSERT_EQ(other.size(), 1U);
    EXPECT_NE(other[0].find("warning rank_table: "), std::string::npos) << other[0];
  }
}

TEST(RankTable, IsAcceptedFromTheToolThatMergesTables) {
  json merged = json::parse(kTable);
  merged["server_list"][1]["server_id"] = "192.0.2.100";  // sorts after .11 as an address, before it as text
  for (json& server : merged["server_list"]) {
    for (json& device : server["device"]) device["rank_id"] = std::stoi(device["rank_id"].get<std::string>());
  }
  const Evaluated evaluated = WithTable(merged.dump());
  ASSERT_EQ(evaluated.problems(), Lines{});
  EXPECT_EQ(EnvOf(evaluated.plan(), "worker.3").at("RANK_ID"), "3");
}

// The second half of a table of two hosts with eight devices each.
constexpr const char* kUpperHalf = R"({"version": "1.0", "server_count": "2", "status": "completed", "server_list": [
  {"server_id": "192.0.2.11", "device": [{"device_id": "4", "device_ip": "198.51.100.1", "rank_id": "0"},
                                         {"device_id": "5", "device_ip": "198.51.100.2", "rank_id": "1"}]},
  {"server_id": "192.0.2.12", "device": [{"device_id": "4", "device_ip": "198.51.100.3", "rank_id": "2"},
                                         {"device_id": "5", "device_ip": "198.51.100.4", "rank_id": "3"}]}]})";

TEST(RankTable, OfOtherDevicesThanTheFirstRequestsThem) {
  const Evaluated evaluated = WithTable(kUpperHalf);
  ASSERT_EQ(evaluated.problems(), Lines{});
  const Plan& plan = evaluated.plan();
  EXPECT_EQ(plan.device_use.given, (std::vector<std::uint32_t>{4, 5})) << "so that no other run has them";
  EXPECT_EQ(EnvOf(plan, "worker.0").at("DEVICE_ID"), "4");
  EXPECT_EQ(EnvOf(plan, "worker.3").at("DEVICE_ID"), "5");
  for (const char* name : {"worker.0", "worker.3"}) {
    EXPECT_FALSE(EnvOf(plan, name).contains("ASCEND_RT_VISIBLE_DEVICES")) << "device 4 would be another one behind it";
  }
  json uneven = json::parse(kUpperHalf);
  uneven["server_list"][1]["device"][0]["device_id"] = "0";
  uneven["server_list"][1]["device"][1]["device_id"] = "1";
  EXPECT_EQ(WithTable(uneven.dump()).problems(),
            Lines{"recipe.lua:2 error rank_table: the devices of server 1 begin with 4, and those of server 2 with 0: "
                  "every host's have the same numbers"});
}

TEST(RankTable, IsWrittenForTheChosenDevices) {
  const auto device_ids = [](const Plan& plan) {
    std::string ids;
    const json table = TableIn(plan);
    for (const json& device : table["server_list"][0]["device"]) {
      ids += device["device_id"].get<std::string>() + " at " + device["device_ip"].get<std::string>() + "; ";
    }
    return ids;
  };
  const Plan first = PlanOf("job:workers { count = 2, command = { 'x' } }",
                            "framework = { 'mindspore-ranktable', servers = { { first = 4, devices = { '198.51.100.5', "
                            "'198.51.100.6' } } } }, cluster = { devices_per_host = 2 },");
  EXPECT_EQ(device_ids(first), "4 at 198.51.100.5; 5 at 198.51.100.6; ");
  EXPECT_EQ(first.device_use.given, (std::vector<std::uint32_t>{4, 5}));

  Request request{
      Recipe("job:workers { command = { 'x' } }",
             "framework = { 'mindspore-ranktable', servers = { { devices = { '198.51.100.1', "
             "'198.51.100.2', '198.51.100.3', '198.51.100.4' } } } }, cluster = { device_kind = 'ascend' },")};
  request.devices.given = {2, 3};
  const Evaluated chosen = Evaluate(request);
  ASSERT_EQ(chosen.problems(), Lines{});
  EXPECT_EQ(device_ids(chosen.plan()), "2 at 198.51.100.3; 3 at 198.51.100.4; ");
  EXPECT_EQ(EnvOf(chosen.plan(), "worker.1").at("DEVICE_ID"), "3");
  request.devices = {};
  request.devices.any = true;
  EXPECT_EQ(Evaluate(request).problems(), Lines{"recipe.lua:2 error rank_table: --devices free: a rank table names its "
                                                "devices, with their addresses"});
}

}  // namespace
}  // namespace muster::testing
