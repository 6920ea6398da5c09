// Tests the comparison of a rank table's hosts with those of the run.
#include <gtest/gtest.h>

#include "plan/check/named_machines.h"

namespace muster {
namespace {

// Two hosts with two ranks each, and a table with one server for each of them.
Plan WithTable(const std::string& first, const std::string& second) {
  Plan plan;
  plan.hosts = {{"host0", 8}, {"host1", 8}};
  Role& role = plan.roles.emplace_back();
  role.name = role.plays = "worker";
  role.env.emplace("RANK_TABLE_FILE", Text("${muster:run_dir}/files/hccl.json"));
  for (std::uint32_t rank = 0; rank < 4; ++rank) {
    Process& process = plan.processes.emplace_back();
    process.index = rank;
    process.rank = rank;
    process.host = rank / 2;
  }
  plan.files["files/hccl.json"].content =
      Text(R"({"version": "1.0", "server_list": [{"server_id": ")" + first +
           R"(", "device": [{"rank_id": "0"}, {"rank_id": "1"}]}, {"server_id": ")" + second +
           R"(", "device": [{"rank_id": 2}, {"rank_id": "3"}]}]})");
  return plan;
}

TEST(TableHosts, AreReadByTheRanksOfAHost) {
  EXPECT_EQ(HostsOfRankTable(WithTable("192.0.2.11", "192.0.2.12")),
            (std::vector<std::string>{"192.0.2.11", "192.0.2.12"}));
  EXPECT_EQ(HostsOfRankTable(WithTable("${muster:host_address:0}", "192.0.2.12")),
            (std::vector<std::string>{"", "192.0.2.12"}))
      << "an address that is known at the start only";
}

TEST(TableHosts, InAnotherOrderAreRefusedWithTheRightOne) {
  const Plan plan = WithTable("192.0.2.11", "192.0.2.12");
  const Diagnostics wrong = CheckTableHosts(plan, {{"b", "192.0.2.12"}, {"a", "192.0.2.11"}}, {"r.lua", 3});
  ASSERT_EQ(wrong.size(), 1U);
  EXPECT_EQ(wrong[0].severity, Severity::kError);
  EXPECT_EQ(wrong[0].place, (Place{"r.lua", 3}));
  EXPECT_EQ(wrong[0].message, "host 0 of the run is b (192.0.2.12), and the rank table has 192.0.2.11 for its ranks");
  EXPECT_EQ(wrong[0].hint, "name the hosts in the order of the table: --host a:8,b:8");
  EXPECT_EQ(CheckTableHosts(WithTable("a", "b"), {{"b", ""}, {"a", ""}}).size(), 1U) << "also by their names";
}

TEST(TableHosts, ThatFitOrAreUnknownAreTaken) {
  const Plan plan = WithTable("192.0.2.11", "192.0.2.12");
  EXPECT_TRUE(CheckTableHosts(plan, {{"a", "192.0.2.11"}, {"b", "192.0.2.12"}}).empty());
  EXPECT_TRUE(CheckTableHosts(plan, {{"192.0.2.11", ""}, {"192.0.2.12", ""}}).empty());
  EXPECT_TRUE(CheckTableHosts(plan, {{"a", ""}, {"b", ""}}).empty()) << "compared at the start";
  EXPECT_TRUE(CheckTableHosts(plan, {{"", ""}, {"", ""}}).empty());
  EXPECT_TRUE(CheckTableHosts(plan, {}).empty());
}

TEST(TableHosts, WithAnotherAddressAreAWarning) {
  const Diagnostics other =
      CheckTableHosts(WithTable("192.0.2.11", "192.0.2.12"), {{"a", "192.0.2.11"}, {"b", "198.51.100.7"}});
  ASSERT_EQ(other.size(), 1U);
  EXPECT_EQ(other[0].severity, Severity::kWarning);
  EXPECT_NE(other[0].message.find("host 1 of the run is b (198.51.100.7)"), std::string::npos) << other[0].message;
}

TEST(TableHosts, IgnoreWhatIsNoTable) {
  Plan plan = WithTable("a", "b");
  for (const char* text : {"", "{", "[]", "7", R"({"server_list": 7})", R"({"server_list": [7, {"device": 1}]})",
                           R"({"server_list": [{"server_id": 1, "device": [{"rank_id": "999999999999"}, null]}]})"}) {
    plan.files["files/hccl.json"].content = Text(text);
    EXPECT_TRUE(HostsOfRankTable(plan).empty()) << text;
    EXPECT_TRUE(CheckTableHosts(plan, {{"b", ""}, {"a", ""}}).empty()) << text;
  }
  plan.files.clear();
  EXPECT_TRUE(HostsOfRankTable(plan).empty());
}

}  // namespace
}  // namespace muster
