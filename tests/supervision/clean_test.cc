// Tests killing head and agent together: their guard kills the remaining processes. If the guard was killed too, muster
// clean finds and kills exactly these processes.
#include <filesystem>

#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

using nlohmann::json;

// Two workers with children that have no parent-death signal; each opens its FIFO when its children are running.
constexpr const char* kDaemons = R"(
  job:workers { count = 2, each = function(process)
    process.command = { probe, "session", "daemon", "file", folder .. "/up" .. process.index, "wait" }
  end })";

// Kept open: otherwise the workers would be killed by SIGPIPE.
using Fifos = std::vector<UniqueFd>;

void StartWhole(StartedMuster& muster, Fifos& fifos) {
  for (const char* name : {"up0", "up1"}) ASSERT_EQ(::mkfifo((muster / name).c_str(), 0600), 0);
  muster.Start();
  // open() waits for the other side.
  for (const char* name : {"up0", "up1"}) {
    ASSERT_TRUE(fifos.emplace_back(::open((muster / name).c_str(), O_RDONLY | O_CLOEXEC)));
  }
}

pid_t AgentOf(const StartedMuster& muster) { return muster.Journal("agent_connected").at(0)["pid"]; }
pid_t GuardOf(const StartedMuster& muster) { return ParentOf(AgentOf(muster)); }

void KillAtOnce(StartedMuster& muster, const std::vector<pid_t>& more) {
  // Stopped first, so that neither can react to the other's end.
  ::kill(muster.head(), SIGSTOP);
  for (const pid_t pid : more) ::kill(pid, SIGSTOP);
  for (const pid_t pid : more) ::kill(pid, SIGKILL);
  ::kill(muster.head(), SIGKILL);
  ReapAtEnd(muster.head_ref());
}

TEST(DoubleKill, LeavesNothing) {
  StartedMuster muster(kDaemons);
  Fifos fifos;
  StartWhole(muster, fifos);
  const pid_t guard_pid = GuardOf(muster);
  if (guard_pid == muster.head()) GTEST_SKIP() << "done without guards";
  const UniqueFd guard = PidFd(guard_pid);
  ASSERT_TRUE(guard);
  ASSERT_GE(muster.Left().size(), 6U);
  KillAtOnce(muster, {AgentOf(muster)});
  ASSERT_TRUE(AwaitReadable(guard.get()));
  EXPECT_TRUE(muster.Left().empty());
  EXPECT_EQ(KillDescendants({}).killed, 0U) << "something is left";
  const std::string group = muster.Journal("agent_connected")[0]["cgroup"];
  EXPECT_TRUE(group.empty() || !std::filesystem::exists(group)) << group;
}

TEST(Clean, KillsProcessesLeftByATripleKill) {
  StartedMuster muster(kDaemons);
  Fifos fifos;
  StartWhole(muster, fifos);
  if (const pid_t guard = GuardOf(muster); guard != muster.head()) {
    KillAtOnce(muster, {guard, AgentOf(muster)});
  } else {
    KillAtOnce(muster, {AgentOf(muster)});
  }
  EXPECT_FALSE(muster.Left().empty()) << "there is nothing to clean";

  // A process of the same program without the run's mark must survive.
  Launcher launcher;
  SpawnSpec spec;
  spec.argv = {std::string(MUSTER_TESTS_DIR) + "/probe", "wait"};
  auto outsider = launcher.Spawn(spec);
  ASSERT_TRUE(outsider);

  const std::string run = muster.run_dir();
  const CommandResult dry = muster.Muster({"clean", run, "--dry-run", "--json"});
  EXPECT_EQ(dry.exit_code, 0) << dry.err;
  EXPECT_GE(json::parse(dry.out)["runs"][0]["found"].size(), 4U) << dry.out;
  EXPECT_GE(muster.Left().size(), 4U) << "a dry run ends nothing";

  // The processes ignore SIGTERM.
  const CommandResult cleaned = muster.Muster({"clean", run, "--grace", "100ms", "--json"});
  EXPECT_EQ(cleaned.exit_code, 0) << cleaned.err;
  const json reported = json::parse(cleaned.out)["runs"][0];
  EXPECT_EQ(reported["left"], 0);
  EXPECT_GE(reported["killed"], 4);
  EXPECT_TRUE(muster.Left().empty());
  EXPECT_FALSE(HasEnded(outsider->ref()));

  const CommandResult again = muster.Muster({"clean", run});
  EXPECT_EQ(again.exit_code, 0);
  EXPECT_NE(again.out.find("nothing is left"), std::string::npos) << again.out;
  const std::string group = muster.Journal("agent_connected")[0]["cgroup"];
  EXPECT_TRUE(group.empty() || !std::filesystem::exists(group)) << group;
  KillChild(outsider->ref());
  ReapAtEnd(outsider->ref());
}

TEST(Clean, SkipsALiveRun) {
  StartedMuster muster(kDaemons);
  Fifos fifos;
  StartWhole(muster, fifos);
  const CommandResult busy = muster.Muster({"clean", muster.run_dir()});
  EXPECT_EQ(busy.exit_code, 75);
  EXPECT_NE(busy.out.find("in use by another muster process"), std::string::npos) << busy.out;
  EXPECT_FALSE(muster.Left().empty());
  ::kill(muster.head(), SIGTERM);
  EXPECT_EQ(muster.End(), 128 + SIGTERM);
}

TEST(Clean, SkipsARunWhoseDirectoryWasCopied) {
  StartedMuster muster(kDaemons);
  Fifos fifos;
  StartWhole(muster, fifos);
  const std::string copy = muster / "copy";
  ASSERT_EQ(RunCommand({{"cp", "-r", muster.run_dir(), copy}}).exit_code, 0);
  const std::size_t there = muster.Left().size();
  const CommandResult busy = muster.Muster({"clean", copy, "--grace", "100ms"});
  EXPECT_EQ(busy.exit_code, 75);
  EXPECT_NE(busy.out.find("its run is active (pid " + std::to_string(muster.head())), std::string::npos) << busy.out;
  EXPECT_EQ(muster.Left().size(), there);
  ::kill(muster.head(), SIGTERM);
  EXPECT_EQ(muster.End(), 128 + SIGTERM);
  const CommandResult over = muster.Muster({"clean", copy});
  EXPECT_EQ(over.exit_code, 0);
  EXPECT_NE(over.out.find("nothing is left"), std::string::npos) << over.out;
}

TEST(Clean, RemovesOldRunsOnlyOnRequest) {
  StartedMuster muster("job:workers { count = 1, command = { probe, 'exit', '0' } }");
  for (int i = 0; i < 2; ++i) EXPECT_EQ(muster.Muster({"run", "recipe.lua", "--quiet"}).exit_code, 0);
  const std::string runs = muster / "runs/job";
  const auto count = [&] {
    std::size_t folders = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(runs, error)) folders += !entry.is_symlink();
    return folders;
  };
  EXPECT_EQ(muster.Muster({"clean", "--older-than", "1d", "--yes"}).exit_code, 0);
  EXPECT_EQ(count(), 2U);
  for (const char* bare : {"30", "1.5"}) {
    const CommandResult refused = muster.Muster({"clean", "--older-than", bare, "--yes"});
    EXPECT_EQ(refused.exit_code, 2) << bare;
    EXPECT_NE(refused.err.find(std::string(bare) + "d"), std::string::npos) << refused.err;
  }
  EXPECT_EQ(muster.Muster({"clean", "--older-than", "0"}).exit_code, 2);
  const CommandResult dry = muster.Muster({"clean", "--older-than", "0", "--dry-run"});
  EXPECT_NE(dry.out.find("would be removed"), std::string::npos) << dry.out;
  EXPECT_EQ(count(), 2U);
  EXPECT_EQ(muster.Muster({"clean", "--older-than", "0", "--yes"}).exit_code, 0);
  EXPECT_FALSE(std::filesystem::exists(runs));
}

}  // namespace
}  // namespace muster::testing
