// Tests a sweep of a real training over four hosts: trials are distributed and compared, and those of a lost host are
// repeated.
#include "hosts/sweep_over_hosts.h"

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"

namespace muster::testing {
namespace {

// Returns by trial the last loss that the program itself wrote, for successful trials.
std::map<std::uint64_t, double> LossesOf(const SweepOverHosts& sweep) {
  std::map<std::uint64_t, std::string> folders;
  for (const json& began : sweep.Journal("attempt_began")) {
    const auto id = began["id"].get<std::string>();
    folders[began["trial"]] =
        sweep.Folder() + "/t/" + id.substr(0, 2) + "/" + id + "." + std::to_string(began["attempt"].get<int>());
  }
  std::map<std::uint64_t, double> losses;
  for (const json& ended : sweep.Journal("attempt_ended")) {
    if (ended["class"] != "ok") continue;
    std::ifstream file(folders.at(ended["trial"]) + "/metrics/worker.0.0.jsonl");
    for (std::string line; std::getline(file, line);) {
      losses[ended["trial"]] = json::parse(line)["loss"].get<double>();
    }
  }
  return losses;
}

TEST(SweepsOverHosts, TryEveryPointOnSomeHostAndFindTheBest) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  SweepOverHosts sweep(testbed, {"sweep", "recipes/sweep_digits.lua", "--host", "n[1-4]"});
  ASSERT_EQ(sweep.Result().exit_code, 0) << sweep.Result().out << sweep.Result().err;
  const CommandResult checked = sweep.Checked(48);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;

  std::set<std::string> hosts;
  for (const json& began : sweep.Journal("attempt_began")) hosts.insert(began["hosts"].at(0).get<std::string>());
  EXPECT_EQ(hosts, (std::set<std::string>{"n1", "n2", "n3", "n4"}));
  std::map<std::string, int> ends;
  for (const json& ended : sweep.Journal("attempt_ended")) ++ends[ended["class"].get<std::string>()];
  EXPECT_GT(ends["stopped"], 0);
  EXPECT_GT(ends["ok"], 0);

  const auto losses = LossesOf(sweep);
  ASSERT_FALSE(losses.empty());
  const auto smallest =
      std::min_element(losses.begin(), losses.end(), [](const auto& a, const auto& b) { return a.second < b.second; });
  const json best = json::parse(sweep.Call({"best", "--json"}).out, nullptr, false);
  ASSERT_FALSE(best.is_discarded());
  EXPECT_DOUBLE_EQ(best["trials"].at(0)["objective.loss"].get<double>(), smallest->second) << best.dump(2);
}

TEST(SweepsOverHosts, RepeatTrialsOfALostHostElsewhere) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  SweepOverHosts sweep(testbed, {"sweep", "recipes/sweep_digits.lua", "--host", "n[1-3]"});
  ASSERT_TRUE(sweep.Await("attempt_ended", 4));
  ASSERT_TRUE(testbed.Kill("n2"));
  ASSERT_EQ(sweep.Result().exit_code, 0) << sweep.Result().out << sweep.Result().err;
  const CommandResult checked = sweep.Checked(48);
  EXPECT_EQ(checked.exit_code, 0) << checked.out << checked.err;
  ASSERT_EQ(sweep.Journal("host_quarantined").size(), 1u);
  EXPECT_EQ(sweep.Journal("host_quarantined").at(0)["host"], "n2");
}

}  // namespace
}  // namespace muster::testing
