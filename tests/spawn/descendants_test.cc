#include <cerrno>
#include <csignal>

#include <gtest/gtest.h>
#include <sys/wait.h>

#include "run_probe.h"
#include "spawn/leftovers/leftovers.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

// Starts a probe and waits until it prints "ready": its descendants exist then.
class Descendants : public ::testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(BecomeSubreaper()); }

  Spawned StartAndAwaitReady(std::vector<std::string> verbs) {
    const std::string path = folder_ / std::to_string(++started_);
    const UniqueFd out(::open(path.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    SpawnSpec spec;
    spec.argv = {ProbePath()};
    spec.argv.insert(spec.argv.end(), verbs.begin(), verbs.end());
    spec.argv.insert(spec.argv.end(), {"print", "ready", "wait"});
    spec.env = {token_.c_str()};
    spec.stdout_fd = out.get();
    auto spawned = launcher_.Spawn(spec);
    EXPECT_TRUE(spawned) << SpawnErrorText(spawned.error());
    EXPECT_TRUE(AwaitLine(path, "ready"));
    return spawned ? std::move(*spawned) : Spawned{};
  }

  static bool NoChildIsLeft() { return ::waitpid(-1, nullptr, WNOHANG) == -1 && errno == ECHILD; }

  TempDir folder_;
  int started_ = 0;
  const std::string token_ = "MUSTER_TEST_TOKEN=" + folder_.path();
  Launcher launcher_;
};

TEST_F(Descendants, AreKilledAndReapedInEverySession) {
  StartAndAwaitReady({"ignore-term", "child", "session", "daemon"});
  ASSERT_EQ(ProcessesWith(token_).size(), 4U);
  const KillReport report = KillDescendants({});
  EXPECT_EQ(report.killed, 4U);
  EXPECT_EQ(report.reaped, 5U);  // includes the parent of the daemon
  EXPECT_TRUE(report.left.empty());
  EXPECT_TRUE(ProcessesWith(token_).empty());
  EXPECT_TRUE(NoChildIsLeft());
}

TEST_F(Descendants, StartAtTheTimeThatIdentifiesThem) {
  for (int i = 0; i < 20; ++i) {
    const std::uint64_t before = StartTicksNow();
    const Spawned started = StartAndAwaitReady({});
    const auto identity = Identify(started.pid);
    ASSERT_TRUE(identity);
    EXPECT_GE(identity->start_ticks, before);
    EXPECT_LE(identity->start_ticks, StartTicksNow());
  }
  KillDescendants({});
}

TEST_F(Descendants, AreSparedIfListedToKeep) {
  const Spawned kept = StartAndAwaitReady({"child"});
  StartAndAwaitReady({"daemon"});
  const auto identity = Identify(kept.pid);
  ASSERT_TRUE(identity);
  const KillReport report = KillDescendants({*identity});
  EXPECT_EQ(report.killed, 2U);
  EXPECT_EQ(ProcessesWith(token_).size(), 2U);
  EXPECT_FALSE(HasEnded(kept.pidfd.get()));
  KillDescendants({});
  EXPECT_TRUE(NoChildIsLeft());
}

TEST_F(Descendants, AreNotSparedForAReusedPid) {
  const Spawned outsider = StartAndAwaitReady({});
  auto identity = Identify(outsider.pid);
  ASSERT_TRUE(identity);
  identity->start_ticks -= 1;
  EXPECT_EQ(KillDescendants({*identity}).killed, 1U);
  EXPECT_TRUE(NoChildIsLeft());
}

TEST_F(Descendants, AreCountedAsReapedOnlyIfAlreadyExited) {
  const Spawned ended = StartAndAwaitReady({});
  ::kill(ended.pid, SIGKILL);
  ASSERT_TRUE(AwaitReadable(ended.pidfd.get()));
  const KillReport report = KillDescendants({});
  EXPECT_EQ(report.killed, 0U);
  EXPECT_EQ(report.reaped, 1U);
}

TEST_F(Descendants, OfAForkBombAreAllKilled) {
  const std::string path = folder_ / "bomb";
  for (int trial = 0; trial < 5; ++trial) {
    SpawnSpec spec;
    spec.argv = {ProbePath(), "bomb", "300"};
    spec.env = {token_.c_str()};
    ASSERT_TRUE(launcher_.Spawn(spec));
    const KillReport report = KillDescendants({});
    EXPECT_TRUE(report.left.empty());
    EXPECT_TRUE(ProcessesWith(token_).empty());
    EXPECT_TRUE(NoChildIsLeft());
  }
}

TEST_F(Descendants, AreListedWithZombies) {
  const Spawned one = StartAndAwaitReady({});
  const Spawned two = StartAndAwaitReady({});
  ::kill(two.pid, SIGKILL);
  ASSERT_TRUE(AwaitReadable(two.pidfd.get()));
  std::vector<pid_t> children = ChildrenNow();
  std::sort(children.begin(), children.end());
  std::vector<pid_t> expected = {one.pid, two.pid};
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(children, expected);
  EXPECT_TRUE(Identify(two.pid));
  KillDescendants({});
  EXPECT_FALSE(Identify(two.pid));
}

TEST(Subreaper, HasItsChildrensStatusEvenIfSigchldWasIgnored) {
  std::signal(SIGCHLD, SIG_IGN);
  ASSERT_TRUE(BecomeSubreaper());
  struct sigaction now = {};
  ::sigaction(SIGCHLD, nullptr, &now);
  EXPECT_EQ(now.sa_handler, SIG_DFL);
}

}  // namespace
}  // namespace muster::testing
