// Tests killing any of head, agent and guard: one that remains ends everything, for every
// user.
#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "spawn/leftovers/leftovers.h"
#include "spawn/start/launcher.h"
#include "support/agent_session.h"
#include "support/places.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

constexpr int kWhole = 20;   // trials that kill when all 64 processes and what they started are there
constexpr int kDuring = 10;  // trials that kill at some moment of the start

// How often each trial is made. In a soak that is 400 whole ones for each user: 200 kill the head, 200 the agent.
int Rounds() { return std::getenv("MUSTER_LONG") != nullptr ? 10 : 1; }

// The user of head and agent: the caller, and, if that is root, also a user without privileges.
enum class User { kCaller, kNobody };
constexpr uid_t kNobodyId = 65534;

std::vector<User> Users() {
  std::vector<User> users = {User::kCaller};
  if (::geteuid() == 0) users.push_back(User::kNobody);
  return users;
}

// One head_probe in its own process, with this process as the reaper of last resort: what neither head nor
// agent ends becomes a child of the test and is counted.
class Trial {
 public:
  Trial(User user, int number) : whole_(number < kWhole) { Start(user, number); }
  ~Trial() { KillDescendants({}); }
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;

  std::string Output() const { return folder_ / "head.out"; }
  std::vector<pid_t> Left() const { return ProcessesWith("MUSTER_PROCESS=" + folder_.path()); }

  // 64 processes, and a further one below three of each four.
  void ExpectEverybodyThere() const {
    if (whole_) {
      EXPECT_EQ(Left().size(), 112U);
    } else {
      EXPECT_FALSE(Left().empty());
    }
  }

  pid_t head() const { return head_.pid; }
  pid_t agent() const { return agent_; }
  // The head's where it is done without guards.
  pid_t guard() const { return guard_; }
  bool HeadEnds() const { return AwaitReadable(head_.pidfd.get()); }
  bool AgentEnds() const { return AwaitReadable(agent_pidfd_.get()); }
  bool GuardEnds() const { return AwaitReadable(guard_pidfd_.get()); }

 private:
  void Start(User user, int number) {
    ASSERT_TRUE(BecomeSubreaper());
    const UniqueFd out(::open(Output().c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    SpawnSpec spec;
    if (user == User::kCaller) {
      spec.argv = {std::string(MUSTER_TESTS_DIR) + "/head_probe", AgentPath(), ProbeProgram()};
    } else {
      spec.argv = {"setpriv",       "--reuid", std::to_string(kNobodyId), "--regid", std::to_string(kNobodyId),
                   "--clear-groups"};
      // Where this tree lies others may not be let in.
      for (const std::string& program : {std::string(MUSTER_TESTS_DIR) + "/head_probe", AgentPath(), ProbeProgram()}) {
        spec.argv.push_back(folder_ / std::filesystem::path(program).filename().string());
        std::filesystem::copy_file(program, spec.argv.back());
      }
      ASSERT_EQ(::chown(folder_.path().c_str(), kNobodyId, kNobodyId), 0);
    }
    spec.argv.push_back(folder_.path());
    if (whole_) spec.argv.emplace_back("await");
    for (char** variable = environ; *variable != nullptr; ++variable) spec.env.push_back(*variable);
    spec.stdout_fd = out.get();
    spec.stderr_fd = STDERR_FILENO;
    auto spawned = launcher_.Spawn(spec);
    ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
    head_ = std::move(*spawned);
    const auto line = AwaitLine(Output(), "agent ");
    ASSERT_TRUE(line);
    agent_ = std::atoi(line->substr(6).c_str());
    agent_pidfd_ = PidFd(agent_);
    guard_ = ParentOf(agent_);
    guard_pidfd_ = PidFd(guard_);
    ASSERT_TRUE(agent_pidfd_ && guard_pidfd_);
    const std::string moment = whole_ ? "ready" : "started " + std::to_string(1 + (number - kWhole) * 6);
    ASSERT_TRUE(AwaitLine(Output(), moment));
  }

  bool whole_;
  TempDir folder_;
  Launcher launcher_;
  Spawned head_;
  pid_t agent_ = 0;
  UniqueFd agent_pidfd_;
  pid_t guard_ = 0;
  UniqueFd guard_pidfd_;
};

class Guard : public ::testing::TestWithParam<int> {
 protected:
  // `judge` gets one trial after the other, as every user, until one fails.
  template <class Judge>
  static void ForEachTrial(const Judge& judge) {
    for (int round = 0; round < Rounds(); ++round) {
      for (const User user : Users()) {
        SCOPED_TRACE("round " + std::to_string(round) + (user == User::kNobody ? " as nobody" : ""));
        Trial trial(user, GetParam());
        if (!HasFailure()) trial.ExpectEverybodyThere();
        if (!HasFailure()) judge(trial);
        if (HasFailure()) return;
      }
    }
  }
};

INSTANTIATE_TEST_SUITE_P(Trials, Guard, ::testing::Range(0, kWhole + kDuring));

// Fewer are enough where the guard has a part: the ends of head and agent are tried above all.
class GuardBetween : public Guard {};
INSTANTIATE_TEST_SUITE_P(Trials, GuardBetween,
                         ::testing::Values(0, 1, 2, 3, kWhole, kWhole + 3, kWhole + 6, kWhole + 9));

TEST_P(Guard, LeavesNothingWhenTheHeadIsKilled) {
  ForEachTrial([](const Trial& trial) {
    ::kill(trial.head(), SIGKILL);
    // The agent is gone only after everything else is: no waiting beyond that.
    ASSERT_TRUE(trial.AgentEnds());
    EXPECT_TRUE(trial.Left().empty());
    // A killed head closes its connections first and is gone a little later.
    ASSERT_TRUE(trial.HeadEnds() && trial.GuardEnds());
    const KillReport report = KillDescendants({});
    EXPECT_EQ(report.killed, 0U);
    EXPECT_EQ(report.reaped, 2U) << "head and guard (or agent), and nothing else, were left to reap";
  });
}

TEST_P(GuardBetween, LeavesNothingWhenHeadAndAgentAreKilledAtOnce) {
  ForEachTrial([](const Trial& trial) {
    if (trial.guard() == trial.head()) GTEST_SKIP() << "done without guards";
    ::kill(trial.head(), SIGKILL);
    ::kill(trial.agent(), SIGKILL);
    ASSERT_TRUE(trial.GuardEnds());
    EXPECT_TRUE(trial.Left().empty());
    ASSERT_TRUE(trial.HeadEnds());
    EXPECT_EQ(KillDescendants({}).killed, 0U);
  });
}

TEST_P(GuardBetween, LeavesNothingWhenTheGuardIsKilledWithOneOfThem) {
  ForEachTrial([](const Trial& trial) {
    if (trial.guard() == trial.head()) GTEST_SKIP() << "done without guards";
    const bool with_head = GetParam() % 2 == 0;
    ::kill(trial.guard(), SIGKILL);
    ::kill(with_head ? trial.head() : trial.agent(), SIGKILL);
    if (with_head) {
      ASSERT_TRUE(trial.AgentEnds() && trial.HeadEnds());
    } else {
      ASSERT_TRUE(AwaitLine(trial.Output(), "lost "));
    }
    EXPECT_TRUE(trial.Left().empty());
  });
}

TEST_P(GuardBetween, LeavesNothingWhenTheGuardIsKilled) {
  ForEachTrial([](const Trial& trial) {
    if (trial.guard() == trial.head()) GTEST_SKIP() << "done without guards";
    ::kill(trial.guard(), SIGKILL);
    ASSERT_TRUE(AwaitLine(trial.Output(), "lost "));
    EXPECT_TRUE(trial.Left().empty());
  });
}

TEST_P(Guard, LeavesNothingWhenTheAgentIsKilled) {
  ForEachTrial([](const Trial& trial) {
    ::kill(trial.agent(), SIGKILL);
    const auto lost = AwaitLine(trial.Output(), "lost ");
    ASSERT_TRUE(lost);
    EXPECT_TRUE(trial.Left().empty());
    EXPECT_TRUE(lost->ends_with(" the agent ended by signal 9 (SIGKILL)")) << *lost;
    ::kill(trial.head(), SIGKILL);
    ASSERT_TRUE(trial.HeadEnds());
    EXPECT_EQ(KillDescendants({}).reaped, 1U) << "only the head was left to reap";
  });
}

}  // namespace
}  // namespace muster::testing
