#include "run/hosts/bad_hosts.h"

#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "support/temp_dir.h"

namespace muster::testing {
namespace {

constexpr std::uint64_t kNow = 2'000'000'000;
constexpr std::uint64_t kHour = 3'600;
constexpr std::uint64_t kDay = 24 * kHour;

TEST(BadHosts, HaveTheirFailuresHalvedAfterADay) {
  EXPECT_DOUBLE_EQ(WeightAt({{kNow, "n1", ""}}, kNow), 1);
  EXPECT_DOUBLE_EQ(WeightAt({{kNow - kDay, "n1", ""}}, kNow), 0.5);
  EXPECT_DOUBLE_EQ(WeightAt({{kNow - 2 * kDay, "n1", ""}, {kNow, "n1", ""}}, kNow), 1.25);
  EXPECT_DOUBLE_EQ(WeightAt({{kNow + kDay, "n1", ""}}, kNow), 1) << "a clock that was ahead";
}

TEST(BadHosts, AreReportedUntilTheirFailuresExpire) {
  const std::vector<HostFailure> failures = {
      {kNow - 5 * kHour, "n3", "no answer"},  {kNow - 3 * kHour, "n3", "connection refused"},
      {kNow - 30 * kHour, "n4", "no answer"}, {kNow - 30 * kHour, "n5", "no answer"},
      {kNow - 31 * kHour, "n5", "no answer"}, {kNow - kHour, "n6", "no answer"}};
  EXPECT_EQ(BadHostLines(failures, {"n3", "n4", "n5", "n7"}, kNow),
            (std::vector<std::string>{"n3 failed 2 times in the last day; last 3 h ago: connection refused",
                                      "n5 failed 2 times in the last days; last 30 h ago: no answer"}));
}

// Times are whole seconds.
TEST(BadHosts, HaveTheFailureThatWasRecordedLastAsTheLastOne) {
  const std::vector<HostFailure> failures = {{kNow - kHour, "n1", "first"},
                                             {kNow - kHour, "n1", "second"},
                                             {kNow - 2 * kHour, "n1", "of a run that began earlier"}};
  EXPECT_EQ(BadHostLines(failures, {"n1"}, kNow),
            (std::vector<std::string>{"n1 failed 3 times in the last day; last 1 h ago: second"}));
}

TEST(BadHosts, AreStoredInAPrivateFileOfTheUser) {
  const TempDir folder;
  const std::string file = BadHostsFile({"HOME=/nowhere", "XDG_STATE_HOME=" + folder.path()});
  EXPECT_EQ(file, folder / "muster/hosts.jsonl");
  EXPECT_EQ(BadHostsFile({"HOME=/home/u"}), "/home/u/.local/state/muster/hosts.jsonl");
  EXPECT_EQ(BadHostsFile({}), "");
  EXPECT_TRUE(ReadBadHosts(file).empty());
  ASSERT_TRUE(RememberBadHosts(file, {{kNow, "n1", "no answer"}}));
  ASSERT_TRUE(RememberBadHosts(file, {{kNow, "n2", std::string(1000, 'x')}}));
  const auto failures = ReadBadHosts(file);
  ASSERT_EQ(failures.size(), 2U);
  EXPECT_EQ(failures[0], (HostFailure{kNow, "n1", "no answer"}));
  EXPECT_LT(failures[1].why.size(), 300U);
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  EXPECT_EQ(std::filesystem::status(folder / "muster").permissions(), std::filesystem::perms(0700));
}

TEST(BadHosts, AreForgottenOnce) {
  const TempDir folder;
  const std::string file = folder / "muster/hosts.jsonl";
  RememberBadHosts(file, {{kNow - 9 * kDay, "old", ""}, {kNow - 2 * kDay, "young", ""}});
  RememberBadHosts(file, {{kNow, "new", ""}});
  std::vector<std::string> names;
  for (const HostFailure& failure : ReadBadHosts(file)) names.push_back(failure.host);
  EXPECT_EQ(names, (std::vector<std::string>{"young", "new"}));
}

TEST(BadHosts, TolerateADamagedFile) {
  const TempDir folder;
  const std::string file = folder / "muster/hosts.jsonl";
  ASSERT_TRUE(RememberBadHosts(file, {{kNow, "n1", "no answer"}}));
  std::ofstream(file, std::ios::app)
      << "{\"at\":\nnonsense\n[]\n{\"at\":-1,\"host\":\"n9\",\"why\":\"\"}\n{\"host\":1}\n"
      << std::string("\0\xff", 2);
  ASSERT_TRUE(RememberBadHosts(file, {{kNow, "n2", "no answer"}}));
  EXPECT_EQ(ReadBadHosts(file).size(), 2U);
}

TEST(BadHosts, LoseNothingOnConcurrentWrites) {
  const TempDir folder;
  const std::string file = folder / "muster/hosts.jsonl";
  std::vector<std::thread> heads;
  for (int head = 0; head < 8; ++head) {
    heads.emplace_back([&file, head] {
      for (int i = 0; i < 10; ++i) RememberBadHosts(file, {{kNow, "n" + std::to_string(head), "no answer"}});
    });
  }
  for (std::thread& head : heads) head.join();
  EXPECT_EQ(ReadBadHosts(file).size(), 80U);
}

}  // namespace
}  // namespace muster::testing
