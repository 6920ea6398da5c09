// Tests the guard of one process: children that do not exit, or are stopped.
#include <array>
#include <csignal>

#include <sys/wait.h>
#include <unistd.h>

#include "spawn/leftovers/confinement.h"
#include "spawn/run_probe.h"

namespace muster::testing {
namespace {

constexpr std::uint64_t kLong = 3'600'000;

// Sets up this process as a guard is: single-threaded, with SIGCHLD and SIGTERM blocked.
class ChildGuard : public ::testing::Test {
 protected:
  ChildGuard() {
    sigset_t watched;
    sigemptyset(&watched);
    for (const int signal : {SIGCHLD, SIGTERM}) sigaddset(&watched, signal);
    ::sigprocmask(SIG_BLOCK, &watched, &before_);
  }
  ~ChildGuard() override { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }

  // Returns once the child has printed "ready".
  pid_t Start(std::vector<std::string> verbs) {
    const UniqueFd out(::open((folder_ / "out").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    SpawnSpec spec;
    spec.argv = {ProbePath()};
    spec.argv.insert(spec.argv.end(), verbs.begin(), verbs.end());
    spec.stdout_fd = out.get();
    auto spawned = launcher_.Spawn(spec);
    EXPECT_TRUE(spawned && AwaitLine(folder_ / "out", "ready"));
    return spawned ? spawned->pid : -1;
  }

  static std::uint64_t AsLongAsItLikes() { return 0; }

  TempDir folder_;
  Launcher launcher_;
  sigset_t before_ = {};
};

TEST_F(ChildGuard, ReportsTheExitStatus) {
  const EndedProcess ended = GuardChild(Start({"print", "ready", "exit", "7"}), AsLongAsItLikes);
  EXPECT_FALSE(ended.signalled);
  EXPECT_EQ(ended.code, 7);
}

TEST_F(ChildGuard, ForwardsSigterm) {
  const pid_t child = Start({"on-term", "5", "print", "ready", "wait"});
  ::raise(SIGTERM);
  EXPECT_EQ(GuardChild(child, AsLongAsItLikes, kLong).code, 5);
}

TEST_F(ChildGuard, KillsAChildThatIgnoresSigterm) {
  const pid_t child = Start({"ignore-term", "print", "ready", "wait"});
  ::raise(SIGTERM);
  EXPECT_EQ(GuardChild(child, AsLongAsItLikes, 50).code, SIGKILL);
}

TEST_F(ChildGuard, SparesAChildThatHasDecidedToGoOnAfterSigterm) {
  const pid_t child = Start({"ignore-term", "print", "ready", "wait"});
  ::raise(SIGTERM);
  int asked = 0;
  const EndedProcess ended = GuardChild(child, AsLongAsItLikes, 50, [&] {
    ++asked;
    ::kill(child, SIGUSR1);  // its own end
    return true;
  });
  EXPECT_EQ(ended.code, SIGUSR1) << "and no SIGKILL";
  EXPECT_EQ(asked, 1);
}

TEST_F(ChildGuard, KillsAStoppedChildOnRequest) {
  const pid_t child = Start({"print", "ready", "stop", "wait"});
  siginfo_t stopped = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(child), &stopped, WSTOPPED | WNOWAIT), 0);
  ::raise(SIGTERM);
  EXPECT_EQ(GuardChild(child, AsLongAsItLikes, 50).code, SIGKILL);
}

TEST_F(ChildGuard, KillsAChildThatStaysStoppedTooLong) {
  std::uint64_t asked = 0;
  const EndedProcess ended = GuardChild(
      Start({"print", "ready", "stop", "wait"}), [&] { return ++asked * 50; }, kLong);
  EXPECT_TRUE(ended.signalled);
  EXPECT_EQ(ended.code, SIGKILL);
  EXPECT_EQ(asked, 1U);
}

TEST_F(ChildGuard, SparesAChildThatIsContinued) {
  const pid_t child = Start({"print", "ready", "stop", "exit", "3"});
  const EndedProcess ended = GuardChild(child, [&] {
    ::kill(child, SIGCONT);
    return kLong;
  });
  EXPECT_FALSE(ended.signalled);
  EXPECT_EQ(ended.code, 3);
}

TEST_F(ChildGuard, ReportsTheNumberOfKilledProcesses) {
  std::array<int, 2> ends = {};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd read(ends[0]);
  UniqueFd write(ends[1]);
  EXPECT_EQ(ReadKilledCount(read.get()), 0U) << "nothing was told yet";
  WriteKilledCount(write.get(), 258);
  EXPECT_EQ(ReadKilledCount(read.get()), 258U);
  write.reset();
  EXPECT_EQ(ReadKilledCount(read.get()), 0U) << "a guard that was killed tells nothing";
}

}  // namespace
}  // namespace muster::testing
