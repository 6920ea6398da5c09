// Tests the testbed itself: what each host has of its own, and that nothing of it remains.
#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/syscall.h>

#include "hosts/hosts_testbed.h"
#include "support/await.h"
#include "support/processes.h"

namespace muster::testing {
namespace {

using nlohmann::json;

std::string Output(std::vector<std::string> argv) { return RunCommand({.argv = std::move(argv)}).out; }
int ExitCode(std::vector<std::string> argv) { return RunCommand({.argv = std::move(argv)}).exit_code; }

// Returns pidfds of the inits of all hosts; a host ends with its init.
std::vector<UniqueFd> Inits(const HostsTestbed& testbed, int hosts) {
  std::vector<UniqueFd> inits;
  for (int number = 1; number <= hosts; ++number) {
    inits.push_back(PidFd(testbed.Init("n" + std::to_string(number))));
  }
  return inits;
}

TEST(Testbed, GivesEachHostANameATmpAndPidsOfItsOwn) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(4);
  ASSERT_TRUE(testbed.Up());
  for (const std::string host : {"n1", "n2", "n3", "n4"}) {
    EXPECT_EQ(Output(testbed.Ssh(host, "hostname; echo $SSH_CONNECTION | cut -d' ' -f3")),
              host + "\n10.77.0." + host.substr(1) + "\n");
  }
  EXPECT_EQ(ExitCode(testbed.On("n1", {"touch", "/tmp/of-n1", "/root/of-n1", "/dev/shm/of-n1"})), 0);
  EXPECT_EQ(ExitCode(testbed.On("n2", {"ls", "/tmp/of-n1"})), 2);
  EXPECT_EQ(ExitCode(testbed.On("n2", {"ls", "/dev/shm/of-n1"})), 2);
  EXPECT_EQ(ExitCode({"ls", "/tmp/of-n1"}), 2);
  EXPECT_EQ(Output(testbed.On("n2", {"cat", "/proc/1/comm"})), Output(testbed.On("n1", {"cat", "/proc/1/comm"})));
  EXPECT_EQ(ExitCode(testbed.On("n1", {"kill", "-0", std::to_string(::getpid())})), 1)
      << "it sees no other's processes";
}

TEST(Testbed, LetsHostsSeeItsFolderAndTheBuild) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  EXPECT_EQ(ExitCode(testbed.On("n1", {"touch", testbed.folder() + "/of-all"})), 0);
  EXPECT_EQ(ExitCode(testbed.On("n2", {"ls", testbed.folder() + "/of-all"})), 0);
  EXPECT_EQ(ExitCode(testbed.On("n1", {"touch", testbed.own_folder() + "/not-of-all"})), 0);
  EXPECT_EQ(ExitCode(testbed.On("n2", {"ls", testbed.own_folder() + "/not-of-all"})), 2);
  EXPECT_EQ(Output(testbed.Ssh("n2", std::string(MUSTER_BIN_DIR) + "/muster-agent --version")).substr(0, 12),
            "muster-agent");
}

TEST(Testbed, CutsAndHealsACable) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  ASSERT_TRUE(testbed.Cut("n1"));
  EXPECT_EQ(ExitCode(testbed.Ssh("n1", "true")), 255);
  EXPECT_EQ(ExitCode(testbed.Ssh("n2", "true")), 0);
  EXPECT_EQ(ExitCode(testbed.On("n1", {"true"})), 0) << "only the cable is cut";
  ASSERT_TRUE(testbed.Heal("n1"));
  EXPECT_EQ(ExitCode(testbed.Ssh("n1", "true")), 0);
}

TEST(Testbed, PowersOffAHostAndNoOther) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const std::vector<UniqueFd> inits = Inits(testbed, 2);
  ASSERT_TRUE(testbed.PowerOff("n1"));
  EXPECT_TRUE(AwaitReadable(inits[0].get()));
  EXPECT_EQ(ExitCode(testbed.On("n1", {"true"})), 3);
  EXPECT_EQ(ExitCode(testbed.Ssh("n2", "true")), 0);
  EXPECT_FALSE(testbed.Heal("n1")) << "its cable went with it";
}

TEST(Testbed, CoexistsWithAnotherOfTheSameNames) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed one(1);
  HostsTestbed other(1);
  ASSERT_TRUE(one.Up());
  ASSERT_TRUE(other.Up());
  EXPECT_EQ(ExitCode(one.On("n1", {"touch", "/tmp/of-one"})), 0);
  EXPECT_EQ(ExitCode(one.Ssh("n1", "ls /tmp/of-one")), 0);
  EXPECT_EQ(ExitCode(other.Ssh("n1", "ls /tmp/of-one")), 2);
}

TEST(Testbed, IsCreatedOnlyOncePerFolder) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(1);
  ASSERT_TRUE(testbed.Up());
  const std::string program = std::string(MUSTER_SOURCE_DIR) + "/tests/hosts/testbed";
  const CommandResult again = RunCommand({.argv = {program, "up", "3", testbed.folder()}});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_EQ(again.out, "up already\n");
  EXPECT_EQ(ExitCode(testbed.Ssh("n1", "true")), 0);
}

TEST(Testbed, EndsWithItsTest) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const std::vector<UniqueFd> inits = Inits(testbed, 3);
  testbed.Down();
  for (const UniqueFd& init : inits) EXPECT_TRUE(AwaitReadable(init.get(), std::chrono::milliseconds(0)));
  EXPECT_EQ(ExitCode({"ls", testbed.ssh_config()}), 2);
}

TEST(Testbed, IsCleanedUpByTheKernelWhenKilled) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const std::vector<UniqueFd> inits = Inits(testbed, 3);
  testbed.KillTestbed();
  for (const UniqueFd& init : inits) EXPECT_TRUE(AwaitReadable(init.get()));
  EXPECT_NE(ExitCode(testbed.On("n1", {"true"})), 0);

  // Files of a killed testbed do not prevent a new one in the same folder.
  const std::string program = std::string(MUSTER_SOURCE_DIR) + "/tests/hosts/testbed";
  const CommandResult again = RunCommand({.argv = {program, "up", "2", testbed.folder()}});
  EXPECT_EQ(again.out, "up\n") << again.err;
}

// Simulates a killed test program: the testbed sees the end of its stdin and exits.
TEST(Testbed, OfSixteenEndsWhenItsOwnerIsKilled) {
  SKIP_WITHOUT_TESTBED();
  const TempDir folder;
  int words[2] = {-1, -1};
  ASSERT_EQ(::pipe2(words, O_CLOEXEC), 0);
  const UniqueFd reported(words[0]);
  UniqueFd tell(words[1]);
  const pid_t owner = ::fork();
  ASSERT_GE(owner, 0);
  if (owner == 0) {
    ::setenv("TMPDIR", folder.path().c_str(), 1);
    HostsTestbed testbed(16);
    const bool up = testbed.Up() && Output(testbed.Ssh("n16", "hostname")) == "n16\n";
    const std::string where = up ? testbed.folder() + "\n" : "not up\n";
    if (::write(tell.get(), where.data(), where.size()) < 0) ::_exit(1);
    for (;;) ::pause();
  }
  tell.reset();
  std::string where;
  for (char c = 0; ::read(reported.get(), &c, 1) == 1 && c != '\n';) where += c;
  std::ifstream file(where + "/testbed.json");
  const json facts = json::parse(file, nullptr, false);
  EXPECT_EQ(facts["hosts"].size(), 16U) << where;
  std::vector<UniqueFd> ends;
  ends.push_back(PidFd(facts["pid"].get<pid_t>()));
  for (const json& host : facts["hosts"]) {
    ends.push_back(PidFd(host["pid"].get<pid_t>()));
  }
  ::kill(owner, SIGKILL);
  ::waitpid(owner, nullptr, 0);
  for (const UniqueFd& end : ends) EXPECT_TRUE(end && AwaitReadable(end.get()));
  EXPECT_FALSE(std::filesystem::exists(where + "/ssh_config"));
}

}  // namespace
}  // namespace muster::testing
