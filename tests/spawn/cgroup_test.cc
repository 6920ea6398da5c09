// Tests finding a process's cgroup, and killing everything in one.
#include <csignal>
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "spawn/leftovers/confinement.h"
#include "spawn/run_probe.h"

namespace muster::testing {
namespace {

constexpr const char* kMounts =
    "24 1 0:22 / /proc rw - proc proc rw\n"
    "25 24 0:26 / /sys/fs/cgroup/unified rw,nosuid shared:4 - cgroup2 cgroup2 rw\n";

TEST(CgroupFolder, IsTheGroupBelowTheMount) {
  EXPECT_EQ(CgroupFolder("4:memory:/a\n0::/user.slice/x\n", kMounts), "/sys/fs/cgroup/unified/user.slice/x");
  EXPECT_EQ(CgroupFolder("0::/\n", kMounts), "/sys/fs/cgroup/unified");
}

TEST(CgroupFolder, IsSeenFromTheRootOfTheMount) {
  const char* bound = "25 24 0:26 /docker/1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
  EXPECT_EQ(CgroupFolder("0::/docker/1/job\n", bound), "/sys/fs/cgroup/job");
  EXPECT_EQ(CgroupFolder("0::/docker/1\n", bound), "/sys/fs/cgroup");
  EXPECT_EQ(CgroupFolder("0::/docker/12\n", bound), "") << "another group that only begins alike";
}

TEST(CgroupFolder, IsNothingWithoutVersionTwo) {
  EXPECT_EQ(CgroupFolder("4:memory:/a\n", kMounts), "");
  EXPECT_EQ(CgroupFolder("0::/a\n", "24 1 0:22 / /proc rw - proc proc rw\n"), "");
}

TEST(CgroupFiles, AreReadAndWrittenInTheKernelsFormat) {
  const TempDir folder;
  std::ofstream(folder / "cgroup.procs") << "12\n345\n";
  std::ofstream(folder / "cgroup.kill") << "";
  EXPECT_EQ(CgroupMembers(folder.path()), (std::vector<pid_t>{12, 345}));
  EXPECT_TRUE(KillCgroup(folder.path()));
  EXPECT_EQ(LinesOf(folder / "cgroup.kill").size(), 0U) << "no newline: one order, as it is";
  std::string order;
  std::ifstream(folder / "cgroup.kill") >> order;
  EXPECT_EQ(order, "1");
  EXPECT_FALSE(KillCgroup(folder / "none"));
  EXPECT_TRUE(CgroupMembers(folder / "none").empty());
  EXPECT_FALSE(RemoveCgroup(folder.path())) << "somebody is in it";
}

TEST(Cgroup, KillsProcessesStartedInIt) {
  auto group = Cgroup::MakeBelowOwn("muster-test-" + std::to_string(::getpid()));
  if (!group) GTEST_SKIP() << "no cgroup v2 that can be changed, with cgroup.kill";
  ASSERT_TRUE(group->Enter());
  Launcher launcher;
  SpawnSpec spec;
  spec.argv = {ProbePath(), "wait"};
  auto spawned = launcher.Spawn(spec);
  ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
  EXPECT_TRUE(group->Kill());
  const EndedProcess ended = ReapAtEnd(spawned->ref());
  EXPECT_TRUE(ended.signalled);
  EXPECT_EQ(ended.code, SIGKILL);
  EXPECT_FALSE(group->Kill()) << "there is nothing left to end";
  const std::string path = group->path();
  group.reset();
  EXPECT_FALSE(std::filesystem::exists(path));
}

TEST(Cgroup, ContainsItsChildrenButNotTheirStarter) {
  auto group = Cgroup::MakeBelowOwn("muster-test-" + std::to_string(::getpid()));
  if (!group) GTEST_SKIP() << "no cgroup v2 that can be changed, with cgroup.kill";
  for (const bool clone_pidfd : {true, false}) {
    Mechanisms wanted;
    wanted.clone_pidfd = wanted.clone_files = clone_pidfd;
    Launcher launcher(wanted);
    if (!launcher.StartIn(group->Open())) GTEST_SKIP() << "CLONE_INTO_CGROUP";
    SpawnSpec spec;
    spec.argv = {ProbePath(), "wait"};
    auto spawned = launcher.Spawn(spec);
    ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
    EXPECT_EQ(CgroupMembers(group->path()), std::vector<pid_t>{spawned->pid});
    KillChild(spawned->ref());
    EXPECT_TRUE(ReapAtEnd(spawned->ref()).signalled);

    spec.argv = {"/no/such/program"};
    EXPECT_EQ(launcher.Spawn(spec).error().stage, SpawnStage::kExec) << "what failed is told as ever";
    EXPECT_TRUE(CgroupMembers(group->path()).empty());
  }
}

TEST(Cgroup, KillsProcessesBornInIt) {
  auto group = Cgroup::MakeBelowOwn("muster-test-" + std::to_string(::getpid()));
  if (!group) GTEST_SKIP() << "no cgroup v2 that can be changed, with cgroup.kill";
  Launcher launcher;
  if (!launcher.StartIn(group->Open())) GTEST_SKIP() << "CLONE_INTO_CGROUP";
  SpawnSpec spec;
  spec.argv = {ProbePath(), "wait"};
  auto spawned = launcher.Spawn(spec);
  ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
  EXPECT_TRUE(group->Kill());
  EXPECT_EQ(ReapAtEnd(spawned->ref()).code, SIGKILL);

  // Some kernels kill every process born in a group that was killed before; StartIn() must detect that.
  Launcher later;
  if (later.StartIn(group->Open())) {
    auto again = later.Spawn(spec);
    ASSERT_TRUE(again) << SpawnErrorText(again.error());
    EXPECT_FALSE(HasEnded(again->ref()));
    KillChild(again->ref());
    ReapAtEnd(again->ref());
  } else {
    EXPECT_FALSE(later.mechanisms().clone_cgroup);
  }
}

TEST(Cgroup, ResetsSignalsThatTheStarterHandlesIgnoresOrBlocks) {
  auto group = Cgroup::MakeBelowOwn("muster-test-" + std::to_string(::getpid()));
  if (!group) GTEST_SKIP() << "no cgroup v2 that can be changed, with cgroup.kill";
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGRTMAX, SIG_IGN);
  std::signal(SIGUSR1, [](int) {});
  sigset_t blocked;
  sigset_t before;
  sigfillset(&blocked);
  sigprocmask(SIG_SETMASK, &blocked, &before);
  Launcher launcher;
  const bool inside = launcher.StartIn(group->Open());
  const auto run = inside ? RunProbe(launcher, {}, {"signals", "exit", "7"}) : std::nullopt;
  sigprocmask(SIG_SETMASK, &before, nullptr);
  for (const int signal : {SIGPIPE, SIGRTMAX, SIGUSR1}) std::signal(signal, SIG_DFL);
  if (!inside) GTEST_SKIP() << "CLONE_INTO_CGROUP";
  ASSERT_TRUE(run);
  EXPECT_EQ(nlohmann::json::parse(run->lines.at(0)),
            (nlohmann::json{{"SigBlk", "0000000000000000"}, {"SigIgn", "0000000000000000"}}));
  EXPECT_EQ(run->ended.code, 7);
}

TEST(Cgroup, ThatWasRemovedDoesNotPreventStarts) {
  auto group = Cgroup::MakeBelowOwn("muster-test-" + std::to_string(::getpid()));
  if (!group) GTEST_SKIP() << "no cgroup v2 that can be changed, with cgroup.kill";
  Launcher launcher;
  if (!launcher.StartIn(group->Open())) GTEST_SKIP() << "CLONE_INTO_CGROUP";
  ASSERT_TRUE(RemoveCgroup(group->path()));
  SpawnSpec spec;
  spec.argv = {ProbePath(), "wait"};
  auto spawned = launcher.Spawn(spec);
  ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
  EXPECT_TRUE(spawned->pidfd) << "nothing else is given up for it";
  EXPECT_FALSE(launcher.mechanisms().clone_cgroup);
  KillChild(spawned->ref());
  ReapAtEnd(spawned->ref());
}

TEST(Cgroup, IsNotUsedWithoutCloneIntoCgroup) {
  Without without;
  without.Add(Mechanism::kCloneCgroup);
  Launcher launcher(MechanismsBut(without));
  EXPECT_FALSE(launcher.StartIn(UniqueFd(::open("/", O_PATH))));
  EXPECT_FALSE(Launcher().StartIn(UniqueFd())) << "no group";
  EXPECT_FALSE(Launcher().StartIn(UniqueFd(::open("/", O_PATH)))) << "no group either";
}

}  // namespace
}  // namespace muster::testing
