// Tests an agent that does not answer (SIGSTOP): stopping the run does not wait for ever, and no process remains.
#include <algorithm>
#include <array>

#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

using nlohmann::json;

// Two workers, each with a grandchild in its own session; their agent is stopped.
class StoppedAgent : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(::mkfifo((muster_ / "up").c_str(), 0600), 0);
    const UniqueFd up(::open((muster_ / "up").c_str(), O_RDWR | O_CLOEXEC));
    muster_.Start();
    std::string heard;
    while (std::count(heard.begin(), heard.end(), '\n') < 2) {
      ASSERT_TRUE(AwaitReadable(up.get())) << muster_.Output();
      std::array<char, 64> bytes = {};
      heard.append(bytes.data(), static_cast<std::size_t>(::read(up.get(), bytes.data(), bytes.size())));
    }
    ASSERT_EQ(::kill(muster_.Journal("agent_connected").at(0)["pid"].get<pid_t>(), SIGSTOP), 0);
  }

  void ExpectAnEnd() {
    EXPECT_EQ(muster_.End(), 128 + SIGINT) << muster_.Output();
    EXPECT_TRUE(muster_.Left().empty());
    EXPECT_EQ(KillDescendants({}).killed, 0U) << "something is left";
    const std::vector<json> lost = muster_.Journal("agent_lost");
    ASSERT_EQ(lost.size(), 1U);
    EXPECT_NE(lost[0]["why"].get<std::string>().find("it did not answer for "), std::string::npos) << lost[0];
    EXPECT_TRUE(muster_.Journal("deadline").empty()) << "the time for stops and ends was waited for";
    EXPECT_EQ(json::parse(StartedMuster::Content(muster_.run_dir() + "/report.json"))["outcome"], "stopped");
  }

  StartedMuster muster_{R"(
    job:workers { count = 2, stop = { grace = "1h" },
                  command = { probe, "session", "daemon", "file", folder .. "/up", "wait" } })"};
};

TEST_F(StoppedAgent, IsGivenUpAfterTheLease) {
  ::kill(muster_.head(), SIGINT);
  ExpectAnEnd();
}

// Three failures at once.
TEST_F(StoppedAgent, IsEndedByItsStoppedGuardWhenTheHeadIsKilled) {
  const auto agent = muster_.Journal("agent_connected").at(0)["pid"].get<pid_t>();
  ::kill(ParentOf(agent), SIGSTOP);
  ::kill(muster_.head(), SIGKILL);
  EXPECT_EQ(muster_.End(), 128 + SIGKILL) << "and the guard has ended";
  EXPECT_TRUE(muster_.Left().empty());
  EXPECT_EQ(KillDescendants({}).killed, 0U) << "something is left";
}

TEST_F(StoppedAgent, IsGivenUpWhenTheUserInsists) {
  ::kill(muster_.head(), SIGINT);
  ASSERT_TRUE(AwaitLine(muster_ / "out", "muster: "));
  ::kill(muster_.head(), SIGINT);
  ExpectAnEnd();
}

}  // namespace
}  // namespace muster::testing
