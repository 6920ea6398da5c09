// Tests --isolate=pid: a process ends with its run, whatever it does to escape.
#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <unistd.h>

#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

using nlohmann::json;

std::string LinkOf(const std::string& path) {
  std::array<char, 256> target = {};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  return {target.data(), size > 0 ? static_cast<std::size_t>(size) : 0};
}

std::string SpaceOf(pid_t pid) { return LinkOf("/proc/" + std::to_string(pid) + "/ns/pid"); }

// Returns the processes of that namespace; a zombie belongs to none.
std::vector<pid_t> InSpace(const std::string& space) {
  std::vector<pid_t> found;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const pid_t pid = std::atoi(entry.path().filename().c_str());
    if (pid > 0 && SpaceOf(pid) == space) found.push_back(pid);
  }
  return found;
}

// Five workers that resist being killed, as this user (false) or as an unprivileged user (true).
class Isolated : public ::testing::TestWithParam<bool> {
 protected:
  Isolated()
      : muster_(R"(
    job:workers { count = 5, ready = { line = "up" }, stop = { grace = "1s" }, command = { probe },
      env = { PATH = "/nowhere" },
      each = function(process)
        process.command = ({
          { probe, "print", "up", "wait" },
          { probe, "ignore-term", "print", "up", "wait" },
          { probe, "session", "print", "up", "wait" },
          { probe, "daemon", "print", "up", "wait" },
          { "/usr/bin/env", "-i", probe, "daemon", "session", "print", "up", "wait" } })[process.index + 1]
      end })") {}

  void SetUp() override {
    if (GetParam()) {
      if (::geteuid() != 0) GTEST_SKIP() << "only root becomes somebody else";
      if (!std::filesystem::exists("/usr/bin/setpriv")) GTEST_SKIP() << "setpriv is missing";
      muster_.BecomeAnotherUser();
    }
    muster_.Start({"--isolate", "pid"});
    if (!AwaitRunning()) {
      const int code = muster_.End();
      EXPECT_NE(muster_.Output().find("a PID namespace cannot be created"), std::string::npos) << muster_.Output();
      EXPECT_EQ(code, 3);
      EXPECT_TRUE(muster_.Journal("start_ordered").empty());
      return;
    }
    agent_ = muster_.Journal("agent_connected").at(0)["pid"];
    space_ = SpaceOf(agent_);
    kept_.reset(::open(("/proc/" + std::to_string(agent_) + "/ns/pid").c_str(), O_RDONLY | O_CLOEXEC));
    ASSERT_TRUE(kept_) << std::strerror(errno);
    ASSERT_NE(space_, SpaceOf(::getpid()));
    EXPECT_GE(InSpace(space_).size(), 9U) << "the agent, five workers and what they made";
  }
  void TearDown() override {
    if (space_.empty()) return;
    EXPECT_EQ(InSpace(space_), std::vector<pid_t>());
  }

  // Returns false if muster exits before.
  bool AwaitRunning() const {
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
    ::inotify_add_watch(watch.get(), (muster_ / "out").c_str(), IN_MODIFY);
    std::string watched;
    for (;;) {
      if (watched.empty() &&
          ::inotify_add_watch(watch.get(), (muster_.run_dir() + "/journal.jsonl").c_str(), IN_MODIFY) >= 0)
        watched = "journal";
      for (const json& phase : muster_.Journal("phase")) {
        if (phase["to"] == "running") return true;
        if (phase["to"] == "finishing") return false;
      }
      std::array<char, 4096> events = {};
      if (!AwaitReadable(watch.get())) return false;
      while (::read(watch.get(), events.data(), events.size()) > 0) {
      }
    }
  }

  StartedMuster muster_;
  pid_t agent_ = 0;  // 0: no agent, since a container may forbid namespaces, and then there is nothing to test
  std::string space_;
  // Keeps the namespace open: its number could be reused otherwise, and tests run in parallel.
  UniqueFd kept_;
};

INSTANTIATE_TEST_SUITE_P(As, Isolated, ::testing::Bool(),
                         [](const auto& each) { return std::string(each.param ? "AnotherUser" : "ThisUser"); });

TEST_P(Isolated, AreListedInADumpByTheirOuterPids) {
  const CommandResult dump = muster_.Muster({"dump", muster_.run_dir(), "--json"});
  ASSERT_EQ(dump.exit_code, 0) << dump.err;
  std::size_t seen = 0;
  for (const json& reported : muster_.Journal("process_dumped")) {
    ASSERT_FALSE(reported["states"].empty()) << reported;
    for (const json& state : reported["states"]) {
      EXPECT_EQ(SpaceOf(state["pid"]), space_) << state;
      EXPECT_EQ(SpaceOf(state["parent"]), space_) << state;
      EXPECT_EQ(state["threads"].at(0)["tid"], state["pid"]);
    }
    ++seen;
  }
  EXPECT_EQ(seen, 5U);
  ::kill(muster_.head(), SIGTERM);
  EXPECT_EQ(muster_.End(), 128 + SIGTERM) << muster_.Output();
}

TEST_P(Isolated, LeaveNothingWhenTheRunIsStopped) {
  if (agent_ <= 0) return;  // without an agent, kill() would hit other processes
  for (const json& started : muster_.Journal("process_started")) {
    EXPECT_EQ(SpaceOf(started["pid"]), space_) << "pids are those of the head's namespace";
  }
  ::kill(muster_.head(), SIGTERM);
  EXPECT_EQ(muster_.End(), 128 + SIGTERM) << muster_.Output();
  const json report = json::parse(StartedMuster::Content(muster_.run_dir() + "/report.json"));
  EXPECT_EQ(report["receipt"]["started"], 5);
  EXPECT_EQ(report["receipt"]["reaped"], 5);
  EXPECT_EQ(report["receipt"]["left"], 0);
  const auto by = report["receipt"]["by"].get<std::vector<std::string>>();
  EXPECT_NE(std::find(by.begin(), by.end(), "pid-namespace"), by.end()) << report["receipt"];
}

TEST_P(Isolated, LeaveNothingWhenTheAgentIsKilled) {
  if (agent_ <= 0) return;  // without an agent, kill() would hit other processes
  ::kill(agent_, SIGKILL);
  EXPECT_EQ(muster_.End(), 3) << muster_.Output();
  EXPECT_EQ(InSpace(space_), std::vector<pid_t>());
  EXPECT_NE(muster_.Output().find("signal 9"), std::string::npos) << muster_.Output();
}

TEST_P(Isolated, LeaveNothingWhenTheGuardIsKilled) {
  if (agent_ <= 0) return;  // without an agent, kill() would hit other processes
  const pid_t guard = ParentOf(agent_);
  ASSERT_GT(guard, 0);
  ASSERT_NE(guard, muster_.head());
  ::kill(guard, SIGKILL);
  EXPECT_EQ(muster_.End(), 3) << muster_.Output();
  EXPECT_EQ(InSpace(space_), std::vector<pid_t>());
}

TEST_P(Isolated, LeaveNothingWhenTheHeadIsKilled) {
  if (agent_ <= 0) return;  // without an agent, kill() would hit other processes
  const UniqueFd agent = PidFd(agent_);
  ASSERT_TRUE(agent);
  ::kill(muster_.head(), SIGKILL);
  EXPECT_EQ(muster_.End(), 128 + SIGKILL);
  EXPECT_TRUE(AwaitReadable(agent.get()));
  EXPECT_EQ(InSpace(space_), std::vector<pid_t>());
}

// Without a namespace this would need muster clean.
TEST_P(Isolated, LeaveNothingWhenHeadAndAgentAreKilledAtOnce) {
  if (agent_ <= 0) return;  // which would be everybody
  const UniqueFd agent = PidFd(agent_);
  ASSERT_TRUE(agent);
  ::kill(agent_, SIGSTOP);
  ::kill(muster_.head(), SIGKILL);
  ::kill(agent_, SIGKILL);
  EXPECT_EQ(muster_.End(), 128 + SIGKILL);
  EXPECT_TRUE(AwaitReadable(agent.get()));
  EXPECT_EQ(InSpace(space_), std::vector<pid_t>());
}

TEST(Isolation, ThatIsUnavailableIsReportedBeforeAnythingStarts) {
  if (!std::filesystem::exists("/usr/bin/unshare")) GTEST_SKIP() << "unshare is missing";
  StartedMuster muster("job:workers { count = 1, command = { probe, 'wait' } }");
  muster.Start({"--isolate", "pid"}, {"/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c",
                                      "echo 0 > /proc/sys/user/max_pid_namespaces || exit 77; exec \"$@\"", "sh"});
  const int code = muster.End();
  if (code != 3 && muster.Output().find("muster") == std::string::npos) GTEST_SKIP() << muster.Output();
  EXPECT_EQ(code, 3);
  EXPECT_NE(muster.Output().find("a PID namespace cannot be created: unshare: No space left on device; "),
            std::string::npos)
      << muster.Output();
  EXPECT_NE(muster.Output().find("user.max_pid_namespaces is 0"), std::string::npos) << muster.Output();
  EXPECT_TRUE(muster.Journal("start_ordered").empty());
}

TEST(Isolation, RequiresAKnownName) {
  StartedMuster muster("job:workers { count = 1, command = { probe, 'wait' } }");
  muster.Start({"--isolate", "moon"});
  EXPECT_EQ(muster.End(), 2);
  EXPECT_NE(muster.Output().find("--isolate \"moon\": there is no such isolation"), std::string::npos)
      << muster.Output();
}

}  // namespace
}  // namespace muster::testing
