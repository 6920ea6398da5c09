// Tests restarts in progress: when processes may be started again, and how wider restarts replace narrower ones.
#include <gtest/gtest.h>

#include "run/sample_plan.h"
#include "run/supervise/orders.h"
#include "run/supervise/process_states.h"
#include "run/supervise/restarts.h"
#include "run/supervisor_actions.h"

namespace muster {
namespace {

using Roles = std::vector<std::uint32_t>;

std::string DelayDisarmed(std::uint64_t restart) { return "disarm " + std::to_string(kRenewalTimers + restart); }

class RestartRoundsTest : public ::testing::Test {
 protected:
  RestartRoundsTest() {
    for (ProcessId process = 0; process < states_.count(); ++process) {
      states_.Apply(process, ProcessInput::kStart);
      states_.Apply(process, ProcessInput::kStarted);
    }
  }
  std::optional<std::uint64_t> End(ProcessId process) {
    states_.Apply(process, ProcessInput::kExitedBadly);
    return restarts_.Ended(process, states_);
  }

  Plan plan_ = SamplePlan({{"worker", 3}, {"server", 1}});
  ProcessStates states_{plan_};
  Orders orders_;
  RestartRounds restarts_{plan_};
};

TEST_F(RestartRoundsTest, WaitForTheDelayAndForAllExits) {
  states_.Apply(0, ProcessInput::kExitedBadly);
  const std::uint64_t restart = restarts_.Begin({0, 1}, states_, orders_);
  EXPECT_EQ(states_.state(0), ProcessState::kResting);
  EXPECT_EQ(states_.state(1), ProcessState::kStopping);
  EXPECT_EQ(states_.state(2), ProcessState::kRunning);
  EXPECT_EQ(restarts_.TakeDue(restart, states_), Roles{});
  restarts_.DelayOver(restart);
  EXPECT_EQ(restarts_.TakeDue(restart, states_), Roles{}) << "process 1 has not ended";
  EXPECT_EQ(End(1), restart);
  EXPECT_EQ(restarts_.TakeDue(restart, states_), Roles{0});
  EXPECT_EQ(states_.state(1), ProcessState::kWaiting);
  EXPECT_EQ(states_.attempt(0), 1U);
  EXPECT_EQ(states_.attempt(2), 0U);
  EXPECT_EQ(restarts_.TakeDue(restart, states_), Roles{}) << "only once";
}

TEST_F(RestartRoundsTest, AreReplacedByWiderOnes) {
  states_.Apply(0, ProcessInput::kExitedBadly);
  const std::uint64_t narrow = restarts_.Begin({0}, states_, orders_);
  orders_.ArmAt(kRenewalTimers + narrow, 100);
  states_.Apply(3, ProcessInput::kExitedBadly);
  orders_.Take();
  const std::uint64_t wide = restarts_.Begin({0, 1, 2, 3}, states_, orders_);
  EXPECT_EQ(Reported(orders_.Take(), true).front(), DelayDisarmed(narrow));
  EXPECT_EQ(restarts_.Numbers(), std::vector{wide});
  restarts_.DelayOver(wide);
  End(1);
  EXPECT_EQ(End(2), wide);
  EXPECT_EQ(restarts_.TakeDue(wide, states_), (Roles{0, 1}));
  EXPECT_EQ(states_.attempt(0), 1U) << "one attempt for both";
}

TEST_F(RestartRoundsTest, AreCancelledWithTheirTimers) {
  const std::uint64_t restart = restarts_.Begin({0}, states_, orders_);
  orders_.ArmAt(kRenewalTimers + restart, 100);
  orders_.Take();
  restarts_.Cancel(orders_);
  EXPECT_EQ(Reported(orders_.Take(), true), Lines{DelayDisarmed(restart)});
  EXPECT_EQ(End(0), std::nullopt);
  EXPECT_EQ(states_.state(0), ProcessState::kEnded);
}

TEST_F(RestartRoundsTest, AreLimitedByTheRolesBudget) {
  plan_.roles[0].restart.max = 1;
  std::string why = "worker.0 exited";
  EXPECT_TRUE(restarts_.Take(0, 0, why));
  EXPECT_EQ(why, "worker.0 exited");
  EXPECT_FALSE(restarts_.Take(0, 0, why));
  EXPECT_EQ(why, "worker.0 exited; the only restart of role worker is used up");
}

}  // namespace
}  // namespace muster
