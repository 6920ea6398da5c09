// Tests the history of hosts: what a run adds to it, its bounds, and its file.
#include "run/hosts/host_history.h"

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/temp_dir.h"

namespace muster::testing {
namespace {

constexpr std::uint64_t kThen = 2'000'000'000;

HostFirstFailure Failure(std::uint64_t at, const std::string& what = "exit (code 3)") {
  return {at, "0123456789abcdef", "train", "worker.3", 1, 120, "exit", "fedcba9876543210", what};
}

TEST(HostHistory, CountsRunsTimeAndFailures) {
  std::vector<HostHistory> hosts;
  AddRun({{"n1", 60}, {"n2", 60, {Failure(kThen)}}}, kThen, hosts);
  AddRun({{"n2", 40, {Failure(kThen + 50), Failure(kThen + 90)}}, {"", 7}}, kThen + 100, hosts);
  EXPECT_EQ(hosts,
            (std::vector<HostHistory>{
                {"n1", 1, 60, 0, kThen, kThen, {}},
                {"n2", 2, 100, 3, kThen, kThen + 100, {Failure(kThen), Failure(kThen + 50), Failure(kThen + 90)}}}));
}

TEST(HostHistory, KeepsTheNewestFailuresAndTheHostsSeenLast) {
  std::vector<HostHistory> hosts;
  for (std::uint64_t i = 0; i < 20; ++i) AddRun({{"bad", 1, {Failure(kThen + i)}}}, kThen + i, hosts);
  ASSERT_EQ(hosts[0].last_failures.size(), kMaxFailuresOfHost);
  EXPECT_EQ(hosts[0].last_failures.back().at, kThen + 19);
  EXPECT_EQ(hosts[0].failures, 20U);
  std::vector<HostUse> many;
  for (std::size_t i = 0; i < kMaxHistoryHosts + 5; ++i) many.push_back({"n" + std::to_string(i), 1});
  AddRun(many, kThen + 100, hosts);
  EXPECT_EQ(hosts.size(), kMaxHistoryHosts);
  EXPECT_NE(hosts.front().host, "bad") << "it was seen before all others";
}

TEST(HostHistory, CutsLongAndStrangeTexts) {
  std::vector<HostHistory> hosts;
  AddRun({{std::string(5'000, 'h'), 1, {Failure(kThen, "\xff" + std::string(5'000, 'w'))}}}, kThen, hosts);
  EXPECT_EQ(hosts[0].host.size(), kMaxHistoryText);
  EXPECT_EQ(hosts[0].last_failures[0].what.substr(0, 6), "\\xffww");
  EXPECT_EQ(hosts[0].last_failures[0].what.size(), kMaxHistoryText);
}

TEST(HostHistory, IsAPrivateFileOfTheUser) {
  const TempDir folder;
  const std::string file = HostHistoryFile({"HOME=/nowhere", "XDG_STATE_HOME=" + folder.path()});
  EXPECT_EQ(file, folder / "muster/host_history.jsonl");
  EXPECT_EQ(HostHistoryFile({"HOME=/home/u"}), "/home/u/.local/state/muster/host_history.jsonl");
  EXPECT_EQ(HostHistoryFile({}), "");
  EXPECT_TRUE(ReadHostHistory(file).empty());
  ASSERT_TRUE(RememberHostUse(file, {{"n1", 60, {Failure(kThen)}}}, kThen));
  ASSERT_TRUE(RememberHostUse(file, {{"n1", 60}}, kThen + 5));
  EXPECT_EQ(ReadHostHistory(file), (std::vector<HostHistory>{{"n1", 2, 120, 1, kThen, kThen + 5, {Failure(kThen)}}}));
  using std::filesystem::perms;
  EXPECT_EQ(std::filesystem::status(file).permissions(), perms::owner_read | perms::owner_write);
  EXPECT_EQ(std::filesystem::status(folder / "muster").permissions(), perms::owner_all);
}

TEST(HostHistory, ToleratesADamagedFile) {
  const TempDir folder;
  const std::string file = folder / "muster/host_history.jsonl";
  ASSERT_TRUE(RememberHostUse(file, {{"n1", 60}}, kThen));
  {
    std::ofstream(file, std::ios::app) << "{\"host\": 3}\nnot json\n{\"host\": \"n9\", \"runs\": -1}\n[]\n"
                                       << std::string(1U << 20, '[') << "\n"
                                       << "{\"host\": \"" << std::string(100'000, 'x') << "\"}\n";
  }
  ASSERT_TRUE(RememberHostUse(file, {{"n2", 60}}, kThen));
  const std::vector<HostHistory> hosts = ReadHostHistory(file);
  ASSERT_EQ(hosts.size(), 2U);
  EXPECT_EQ(hosts[1].host, "n2");
}

TEST(HostHistory, LosesNothingOnConcurrentWrites) {
  const TempDir folder;
  const std::string file = folder / "muster/host_history.jsonl";
  std::vector<std::thread> heads;
  for (int head = 0; head < 8; ++head) {
    heads.emplace_back([&] {
      for (int i = 0; i < 10; ++i) RememberHostUse(file, {{"n1", 1}}, kThen);
    });
  }
  for (std::thread& head : heads) head.join();
  EXPECT_EQ(ReadHostHistory(file).at(0).runs, 80U);
}

TEST(HostHistory, IsShownWithTheFailuresOfHostsThemselves) {
  std::vector<HostHistory> history;
  AddRun({{"n1", 7'200}, {"n2", 7'200, {Failure(kThen - 7'200), Failure(kThen - 3'600)}}}, kThen - 3'600, history);
  const std::vector<HostFailure> own = {{kThen - 60, "n3", "no answer"}};
  EXPECT_EQ(ShownHostsText(ShownHosts(history, own, {}), false, kThen),
            "host  runs  hours  failures  own  last seen\n"
            "n1    1     2.0    0         0    1 h ago\n"
            "n2    1     2.0    2         0    1 h ago\n"
            "n3    0     0.0    0         1    1 min ago\n");
  EXPECT_EQ(ShownHostsText(ShownHosts(history, own, {"n3", "n2", "n7"}), true, kThen),
            "host  runs  hours  failures  own  last seen\n"
            "n3    0     0.0    0         1    1 min ago\n"
            "  1 min ago: no answer\n"
            "n2    1     2.0    2         0    1 h ago\n"
            "  1 h ago, train 0123456789abcdef, worker.3, step 120: exit (code 3)\n"
            "  2 h ago, train 0123456789abcdef, worker.3, step 120: exit (code 3)\n"
            "n7    0     0.0    0         0    never\n");
  const auto json = nlohmann::json::parse(ShownHostsJson(ShownHosts(history, own, {})));
  ASSERT_EQ(json["hosts"].size(), 3U);
  EXPECT_EQ(json["hosts"][1]["last_failures"][0]["class"], "exit");
  EXPECT_EQ(json["hosts"][2]["own_failures"][0]["why"], "no answer");
  EXPECT_EQ(json["hosts"][2]["first_seen"], nullptr);
}

}  // namespace
}  // namespace muster::testing
