// Head and agent guard each other: whichever is killed, the other ends everything.
#include <csignal>
#include <cstdlib>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "spawn/descendants.h"
#include "spawn/spawn.h"
#include "support/agent_session.h"
#include "support/places.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

constexpr int kWhole = 20;   // trials that kill when all 64 processes and what they started are there
constexpr int kDuring = 10;  // trials that kill at some moment of the start

// One head_probe in its own process, with this process as the reaper of last resort: what neither head nor
// agent ends becomes a child of the test and is counted.
class Guard : public ::testing::TestWithParam<int> {
 protected:
  void SetUp() override {
    ASSERT_TRUE(BecomeSubreaper());
    const UniqueFd out(::open(Output().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    SpawnSpec spec;
    spec.argv = {std::string(MUSTER_TESTS_DIR) + "/head_probe", AgentPath(), ProbeProgram(), folder_.path()};
    if (GetParam() < kWhole) spec.argv.push_back("await");
    for (char** variable = environ; *variable != nullptr; ++variable) spec.env.push_back(*variable);
    spec.stdout_fd = out.get();
    spec.stderr_fd = STDERR_FILENO;
    auto spawned = launcher_.Spawn(spec);
    ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
    head_ = std::move(*spawned);
    const auto line = AwaitLine(Output(), "agent ");
    ASSERT_TRUE(line);
    agent_ = std::atoi(line->substr(6).c_str());
    agent_pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, agent_, 0)));
    ASSERT_TRUE(agent_pidfd_);
    const int during = GetParam() - kWhole;
    const std::string moment = during < 0 ? "ready" : "started " + std::to_string(1 + during * 6);
    ASSERT_TRUE(AwaitLine(Output(), moment));
  }

  void TearDown() override { KillDescendants({}); }

  std::string Output() const { return folder_ / "head.out"; }
  std::vector<pid_t> Left() const { return ProcessesWith("MUSTER_PROCESS=" + folder_.path()); }

  // 64 processes, and a further one below three of each four.
  void ExpectEverybodyThere() const {
    if (GetParam() < kWhole) {
      EXPECT_EQ(Left().size(), 112U);
    } else {
      EXPECT_FALSE(Left().empty());
    }
  }

  TempDir folder_;
  Launcher launcher_;
  Spawned head_;
  pid_t agent_ = 0;
  UniqueFd agent_pidfd_;
};

INSTANTIATE_TEST_SUITE_P(Trials, Guard, ::testing::Range(0, kWhole + kDuring));

TEST_P(Guard, LeavesNothingWhenTheHeadIsKilled) {
  ExpectEverybodyThere();
  ::kill(head_.pid, SIGKILL);
  // The agent is gone only after everything else is: no waiting beyond that.
  ASSERT_TRUE(AwaitReadable(agent_pidfd_.get()));
  EXPECT_TRUE(Left().empty());
  // A killed head closes its connections first and is gone a little later.
  ASSERT_TRUE(AwaitReadable(head_.pidfd.get()));
  const KillReport report = KillDescendants({});
  EXPECT_EQ(report.killed, 0U);
  EXPECT_EQ(report.reaped, 2U) << "head and agent, and nothing else, were left to reap";
}

TEST_P(Guard, LeavesNothingWhenTheAgentIsKilled) {
  ExpectEverybodyThere();
  ::kill(agent_, SIGKILL);
  const auto lost = AwaitLine(Output(), "lost ");
  ASSERT_TRUE(lost);
  EXPECT_TRUE(Left().empty());
  EXPECT_TRUE(lost->ends_with(" the agent ended by signal 9 (SIGKILL)")) << *lost;
  ::kill(head_.pid, SIGKILL);
  ASSERT_TRUE(AwaitReadable(head_.pidfd.get()));
  EXPECT_EQ(KillDescendants({}).reaped, 1U) << "only the head was left to reap";
}

}  // namespace
}  // namespace muster::testing
