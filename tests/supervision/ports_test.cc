// Tests ports taken by a foreign process, before the run or between their release by muster and the moment when a
// process of the job listens. The test itself is the foreign process.
#include <array>
#include <csignal>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "spawn/start/tcp_ports.h"
#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

using nlohmann::json;

UniqueFd Take(int number, bool listening = true) {
  UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_port = htons(static_cast<std::uint16_t>(number));
  if (::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) return {};
  if (listening && ::listen(socket.get(), 1) != 0) return {};
  return socket;
}

std::string Taken(int number, const std::string& name, bool seen = true) {
  const std::string by = seen ? "process " + std::to_string(::getpid()) + " (" : "another process";
  return "port " + name + " (" + std::to_string(number) + ") is taken by " + by;
}

class Ports : public ::testing::Test {
 protected:
  // Returns the first line of muster's output that contains the text, from the text on; empty if there is none.
  static std::string Shown(const StartedMuster& muster, const std::string& text) {
    const std::string path = muster / "out";
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    ::inotify_add_watch(watch.get(), path.c_str(), IN_MODIFY);
    for (;;) {
      for (const std::string& line : LinesOf(path)) {
        if (const std::size_t at = line.find(text); at != std::string::npos) return line.substr(at);
      }
      std::array<char, 4096> events = {};
      if (!AwaitReadable(watch.get()) || ::read(watch.get(), events.data(), events.size()) <= 0) return {};
    }
  }
  // Returns the port number that a process's first attempt prints.
  static int PortOf(const StartedMuster& muster, const std::string& name) {
    const std::string words = name + " | port ";
    const std::string line = Shown(muster, words);
    return line.empty() ? 0 : std::stoi(line.substr(words.size()));
  }
  static void MakeFile(const std::string& path) { std::ofstream(path) << "here\n"; }
  static json Report(const StartedMuster& muster) {
    return json::parse(StartedMuster::Content(muster.run_dir() + "/report.json"), nullptr, false);
  }
};

// Prints its port, waits for the file `go`, and listens.
constexpr const char* kServer = R"(
    job:role "server" { ports = "rpc", command = { probe }, each = function(process)
      process.command = { probe, "print", "port " .. process.ports.rpc, "await", folder .. "/go", "listen", process.ports.rpc,
                          "print", "listens", "exit", "0" }
    end })";

TEST_F(Ports, ThatAreStolenAreReplacedForTheWholeJob) {
  StartedMuster muster(std::string(kServer) + R"(
    job:workers { count = 2, command = { probe, "await", folder .. "/go", "on-term", "0" } })");
  muster.Start();
  const int port = PortOf(muster, "server.0");
  const UniqueFd thief = Take(port);
  ASSERT_TRUE(thief);
  MakeFile(muster / "go");
  EXPECT_EQ(muster.End(), 0) << muster.Output();
  const json report = Report(muster);
  ASSERT_EQ(report["restarts"].size(), 1U) << report;
  EXPECT_EQ(report["restarts"][0]["scope"], "job");
  const std::string why = report["restarts"][0]["why"];
  EXPECT_EQ(why.find("server.0 exited with code 97; " + Taken(port, "server.0.rpc")), 0U) << why;
  EXPECT_EQ(report["receipt"]["left"], 0);
  const int other = std::stoi(StartedMuster::Content(muster.run_dir() + "/logs/server.0.1.log").substr(5));
  EXPECT_NE(other, port);
  const json binding = json::parse(StartedMuster::Content(muster.run_dir() + "/binding.json"));
  EXPECT_EQ(binding["ports"]["server.0.rpc"], other);
  const std::vector<json> taken = muster.Journal("port_taken");
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0]["number"], port);
  EXPECT_EQ(taken[0]["running"], false);
  EXPECT_EQ(muster.Journal("plan_rebound").size(), 1U);
}

TEST_F(Ports, ThatAreTakenWithoutListeningAreFoundInTheProcesssOutput) {
  StartedMuster muster(R"(
    job:role "server" { ports = "rpc", command = { probe }, each = function(process)
      process.command = muster.shell('echo port ' .. process.ports.rpc .. '; ' .. probe .. ' await ' .. folder .. '/go listen '
        .. process.ports.rpc .. ' || { echo "bind: Address already in use"; exit 1; }')
    end })");
  muster.Start();
  const int port = PortOf(muster, "server.0");
  const UniqueFd thief = Take(port, false);
  ASSERT_TRUE(thief);
  MakeFile(muster / "go");
  EXPECT_EQ(muster.End(), 0) << muster.Output();
  const json report = Report(muster);
  ASSERT_EQ(report["restarts"].size(), 1U) << report;
  EXPECT_EQ(report["restarts"][0]["why"], "server.0 exited with code 1; " + Taken(port, "server.0.rpc", false));
}

TEST_F(Ports, ThatAreStolenAreTheCauseEvenIfAnotherProcessFailsFirst) {
  StartedMuster muster(R"(
    job:role "server" { ports = "rpc", done = "never", command = { probe }, each = function(process)
      process.command = { probe, "print", "port " .. process.ports.rpc, "wait" }
    end }
    job:workers { count = 1, command = muster.shell("test $MUSTER_ATTEMPT = 1 || " .. probe .. " await " .. folder .. "/go exit 5"),
      stop = { grace = "1s" } })");
  muster.Start();
  const int port = PortOf(muster, "server.0");
  const UniqueFd thief = Take(port);
  ASSERT_TRUE(thief);
  MakeFile(muster / "go");
  EXPECT_EQ(muster.End(), 0) << muster.Output();
  const json report = Report(muster);
  ASSERT_EQ(report["restarts"].size(), 1U) << report;
  const std::string why = report["restarts"][0]["why"];
  EXPECT_EQ(why.find("worker.0 exited with code 5; " + Taken(port, "server.0.rpc")), 0U) << why;
}

TEST_F(Ports, OfAForeignProcessDoNotCountAsReady) {
  StartedMuster muster(R"(
    job:role "server" { ports = "rpc", done = "never", command = { probe }, ready = { port = "rpc" },
      each = function(process) process.command = muster.shell('echo port ' .. process.ports.rpc .. '; if test $MUSTER_ATTEMPT = 0; '
        .. 'then exec ' .. probe .. ' wait; else exec ' .. probe .. ' listen ' .. process.ports.rpc .. ' wait; fi')
    end }
    job:workers { count = 1, command = { probe, "exit", "0" }, after = "server" })");
  muster.Start();
  const int port = PortOf(muster, "server.0");
  const UniqueFd thief = Take(port);
  ASSERT_TRUE(thief);
  EXPECT_EQ(muster.End(), 0) << muster.Output();
  const std::vector<json> ready = muster.Journal("process_ready");
  ASSERT_EQ(ready.size(), 1U);
  EXPECT_EQ(ready[0]["attempt"], 1);
  const std::vector<json> taken = muster.Journal("port_taken");
  ASSERT_EQ(taken.size(), 1U);
  EXPECT_EQ(taken[0]["running"], true);
  const std::string why = Report(muster)["restarts"][0]["why"];
  EXPECT_EQ(why.find("server.0 cannot listen; " + Taken(port, "server.0.rpc")), 0U) << why;
}

int FreePort() {
  const auto held = HoldAnyPort({});
  EXPECT_TRUE(held);
  return held ? held->number : 0;
}

TEST_F(Ports, OfTheRecipeThatAreInUsePreventTheStart) {
  const int port = FreePort();
  const UniqueFd thief = Take(port);
  ASSERT_TRUE(thief);
  StartedMuster muster("job:port('web', { number = " + std::to_string(port) +
                       " }) job:workers { count = 1, command = { probe, 'exit', '0' } }");
  muster.Start();
  EXPECT_EQ(muster.End(), 3);
  EXPECT_NE(muster.Output().find("web: port " + std::to_string(port) + " is in use by process " +
                                 std::to_string(::getpid()) + " ("),
            std::string::npos)
      << muster.Output();
  EXPECT_TRUE(muster.Journal("start_ordered").empty());
}

TEST_F(Ports, OfTheRecipeThatAreStolenAreReportedAndNotReplaced) {
  const int port = FreePort();
  StartedMuster muster("local web = job:port('web', { number = " + std::to_string(port) + R"( })
    job:workers { count = 1, command = { probe, "print", "port " .. web, "await", folder .. "/go", "listen", web } })");
  muster.Start();
  ASSERT_EQ(PortOf(muster, "worker.0"), port);
  const UniqueFd thief = Take(port);
  ASSERT_TRUE(thief);
  MakeFile(muster / "go");
  EXPECT_EQ(muster.End(), 1);
  const json report = Report(muster);
  EXPECT_TRUE(report["restarts"].empty());
  const std::string evidence = report["first_failure"]["evidence"].dump();
  EXPECT_NE(evidence.find(Taken(port, "web")), std::string::npos) << report["first_failure"];
}

TEST_F(Ports, OfAnotherRoleAreAvailableByItsAddress) {
  StartedMuster muster(R"(
    job:role "client" { after = "server",
      command = muster.shell("echo in words " .. job:address "server" .. "; echo \"in env $SERVER\""),
      env = { SERVER = job:address("server", { part = "host" }) .. " at " .. job:address("server", { part = "port" }) } }
    job:role "server" { ports = "rpc", ready = { port = "rpc" }, done = "never", each = function(process)
      process.command = { probe, "print", "port " .. process.ports.rpc, "listen", process.ports.rpc, "wait" }
    end })");
  muster.Start();
  EXPECT_EQ(muster.End(), 0) << muster.Output();
  const std::string port = std::to_string(PortOf(muster, "server.0"));
  EXPECT_EQ(Shown(muster, "in words "), "in words 127.0.0.1:" + port);
  EXPECT_EQ(Shown(muster, "in env "), "in env 127.0.0.1 at " + port);
}

TEST_F(Ports, AreHeldAgainBetweenTwoAttempts) {
  StartedMuster muster(R"(
    job:role "server" { ports = "rpc", restart = { max = 1, backoff = "10m" }, command = { probe }, each = function(process)
      process.command = { probe, "print", "port " .. process.ports.rpc, "await", folder .. "/go", "exit", "5" }
    end }
    job:workers { count = 1, command = { probe, "print", "up", "wait" } })");
  muster.Start();
  const int port = PortOf(muster, "server.0");
  EXPECT_TRUE(Take(port)) << "it is the process's";
  MakeFile(muster / "go");
  ASSERT_NE(Shown(muster, "server.0 exited with code 5: starting it again"), "") << muster.Output();
  EXPECT_FALSE(Take(port)) << "it is held for the next attempt";
  ::kill(muster.head(), SIGTERM);
  EXPECT_EQ(muster.End(), 128 + SIGTERM);
  EXPECT_TRUE(Take(port)) << "it is given up";
}

}  // namespace
}  // namespace muster::testing
