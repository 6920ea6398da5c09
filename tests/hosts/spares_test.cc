// Tests spare hosts, which replace lost ones. The processes write into a folder that all hosts share; the times are of
// one monotonic clock and show when and where each process ran.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "hosts/hosts_run.h"
#include "hosts/hosts_testbed.h"
#include "support/check_ledger.h"

namespace muster::testing {
namespace {

// Writes its host and rendezvous address, then the time every 10 ms, like the steps of a training; endlessly in its
// first attempt. The test waits for this output and compares the times of attempts.
constexpr const char* kWitness = R"(import os, sys, time
name = "%s.%s" % (os.environ["MUSTER_RANK"], os.environ["MUSTER_ATTEMPT"])
out = os.open(os.path.join(sys.argv[1], name), os.O_CREAT | os.O_EXCL | os.O_WRONLY | os.O_APPEND)
meeting = ":".join(os.environ.get(name, "-") for name in ("MASTER_ADDR", "MASTER_PORT"))
os.write(out, ("%s %s\n" % (os.uname().nodename, meeting)).encode())
beats = 0
while beats < 20 or (os.environ["MUSTER_ATTEMPT"] == "0" and sys.argv[2] == "stay"):
    os.write(out, b"%d\n" % time.monotonic_ns())
    beats += 1
    if beats == 2:
        print("writes")
    time.sleep(0.01)
)";

// The output of one attempt.
struct Seen {
  std::string host;
  std::string meeting;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

class Witnesses {
 public:
  explicit Witnesses(const HostsTestbed& testbed) : folder_(testbed.folder() + "/seen") {
    std::filesystem::create_directory(folder_);
    std::ofstream(testbed.folder() + "/witness.py") << kWitness;
    command_ = "{ 'python3', '" + testbed.folder() + "/witness.py', '" + folder_ + "', ";
  }

  // Commands: one that runs endlessly in its first attempt, and one that exits.
  std::string stays() const { return command_ + "'stay' }"; }
  std::string ends() const { return command_ + "'end' }"; }

  // Keyed by rank and attempt.
  std::map<std::pair<int, int>, Seen> All() const {
    std::map<std::pair<int, int>, Seen> all;
    for (const auto& entry : std::filesystem::directory_iterator(folder_)) {
      const std::string name = entry.path().filename();
      const std::size_t dot = name.find('.');
      std::ifstream file(entry.path());
      Seen seen;
      file >> seen.host >> seen.meeting;
      for (std::uint64_t at = 0; file >> at; seen.last = at) {
        if (seen.first == 0) seen.first = at;
      }
      all[{std::stoi(name.substr(0, dot)), std::stoi(name.substr(dot + 1))}] = seen;
    }
    return all;
  }

 private:
  std::string folder_;
  std::string command_;
};

std::string Job(const std::string& framework, const std::string& body) {
  return "local muster = require 'muster'\nreturn muster.recipe {\n  name = 'job', doc = 'a job', framework = '" +
         framework + "',\n  cluster = { hosts = 1, devices_per_host = 2 },\n  plan = function(p, job)\n" + body +
         "\n  end,\n}\n";
}

std::string Workers(const std::string& command, const std::string& scope) {
  return "    job:workers { count = 4, devices = 0, cwd = '/', command = " + command +
         ", restart = { max = 2, backoff = '100ms', scope = '" + scope + "' } }";
}

// At no time may two attempts of one rank run.
void ExpectOneOfEachRank(const std::map<std::pair<int, int>, Seen>& all) {
  for (const auto& [key, seen] : all) {
    const auto next = all.find({key.first, key.second + 1});
    if (next == all.end()) continue;
    EXPECT_LT(seen.last, next->second.first) << "rank " << key.first << " attempt " << key.second;
  }
}

std::vector<std::string> HostsOfAttempts(const json& process) {
  std::vector<std::string> hosts;
  for (const json& attempt : process["attempts"]) hosts.push_back(attempt["host"]);
  return hosts;
}

using Names = std::vector<std::string>;

TEST(SpareHosts, ReplaceADisconnectedHostOnceItsLeaseHasExpired) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const Witnesses witnesses(testbed);
  HostsRun run(testbed, Job("torch", Workers(witnesses.stays(), "job")),
               {"--host", "n[1-3]:2", "--spares", "1", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Result().err;
  EXPECT_EQ(run.Journal("agent_connected").size(), 3U) << "the spare has its agent from the start";
  ASSERT_TRUE(testbed.Cut("n2"));
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;

  const auto all = witnesses.All();
  ASSERT_EQ(all.size(), 8U);
  ExpectOneOfEachRank(all);
  // The head and the processes share one monotonic clock.
  ASSERT_EQ(run.Journal("agent_lost").size(), 1U);
  const std::uint64_t lost = run.Journal("agent_lost")[0]["at"];
  for (const int rank : {2, 3}) {
    EXPECT_EQ(all.at({rank, 0}).host, "n2");
    EXPECT_LT(all.at({rank, 0}).last, lost) << "on the cut host all was gone before it was given up";
    EXPECT_GT(all.at({rank, 1}).first, lost) << "and nothing began elsewhere before that";
    EXPECT_EQ(all.at({rank, 1}).host, "n3");
  }

  const json replaced = run.Journal("host_replaced").at(0);
  EXPECT_EQ(replaced["host"], 1);
  EXPECT_EQ(replaced["by"], 2);
  EXPECT_EQ(replaced["name"], "n3");
  EXPECT_EQ(replaced["address"], "10.77.0.3");
  const json report = run.Report();
  EXPECT_EQ(report["outcome"], "ok");
  EXPECT_EQ(HostsOfAttempts(report["processes"][0]), (Names{"n1", "n1"}));
  EXPECT_EQ(HostsOfAttempts(report["processes"][3]), (Names{"n2", "n3"}));
  EXPECT_EQ(report["replacements"][0]["host"], "n2");
  EXPECT_EQ(report["replacements"][0]["by"], "n3");
  EXPECT_NE(run.Result().err.find("n3 replaced n2, which was lost: no heartbeat for 2 s"), std::string::npos)
      << run.Result().err;
  EXPECT_EQ(run.Report()["plan"], run.Journal("run_began")[0]["plan"]);

  EXPECT_GE(run.Journal("agent_lost")[0]["unheard_ms"], 1'500);
  const std::string ledger = CheckedLedger({run.run_dir()}, {run.run_dir()});
  for (const char* row : {" silent=", " idle_devices=", " productive_lost=", " failing_stopping="}) {
    EXPECT_NE(ledger.find(row), std::string::npos) << ledger;
  }
}

TEST(SpareHosts, HostTheRendezvousIfTheLostHostDid) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const Witnesses witnesses(testbed);
  HostsRun run(testbed, Job("torch", Workers(witnesses.stays(), "role")),
               {"--host", "n[1-3]:2", "--spares", "1", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Result().err;
  ASSERT_TRUE(testbed.PowerOff("n1"));
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  const auto all = witnesses.All();
  ASSERT_EQ(all.size(), 8U);
  ExpectOneOfEachRank(all);
  const std::string meeting = all.at({0, 1}).meeting;
  EXPECT_TRUE(meeting.starts_with("10.77.0.3:")) << meeting;
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_TRUE(all.at({rank, 0}).meeting.starts_with("10.77.0.1:"));
    EXPECT_EQ(all.at({rank, 1}).meeting, meeting) << rank;
  }
}

TEST(SpareHosts, RestartTheWholeJobIfItUsedTheLostHost) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const Witnesses witnesses(testbed);
  // Each process is restarted alone, but all of them use a port on n1.
  const std::string workers = Workers(witnesses.stays() + ", env = { MASTER_PORT = job:port 'meet' }", "process");
  HostsRun run(testbed, Job("none", workers), {"--host", "n[1-3]:2", "--spares", "1", "--host-lease", "1s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Result().err;
  ASSERT_TRUE(testbed.PowerOff("n1"));
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  const auto all = witnesses.All();
  ASSERT_EQ(all.size(), 8U);
  ExpectOneOfEachRank(all);
  const json replaced = run.Journal("host_replaced").at(0);
  for (int rank = 0; rank < 4; ++rank) {
    EXPECT_EQ(all.at({rank, 1}).meeting, "-:" + replaced["ports"]["meet"].dump()) << rank;
  }
  ASSERT_EQ(run.Journal("restart_planned").size(), 1U);
  const json planned = run.Journal("restart_planned")[0];
  EXPECT_EQ(planned["scope"], "job");
  EXPECT_NE(planned["why"].get<std::string>().find("restarting the whole job, because worker.2 uses its address"),
            std::string::npos)
      << planned["why"];
}

TEST(SpareHosts, DoNotAffectProcessesIndependentOfTheLostHost) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const Witnesses witnesses(testbed);
  HostsRun run(testbed, Job("none", Workers(witnesses.stays(), "process")),
               {"--host", "n[1-3]:2", "--spares", "1", "--host-lease", "2s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Result().err;
  ASSERT_TRUE(testbed.PowerOff("n2"));
  ASSERT_TRUE(run.Await("host_replaced", 1)) << run.Result().err;
  ASSERT_TRUE(run.Await("process_exited", 2)) << "those on the spare end by themselves";
  EXPECT_EQ(RunCommand({.argv = testbed.Login({MusterProgram(), "stop", run.run_dir()}), .env = {"PATH=/usr/bin:/bin"}})
                .exit_code,
            0);
  const auto all = witnesses.All();
  EXPECT_EQ(all.size(), 6U) << run.Result().out << run.Result().err;
  ExpectOneOfEachRank(all);
  EXPECT_FALSE(all.contains({0, 1}));
  EXPECT_EQ(all.at({3, 1}).host, "n3");
  EXPECT_EQ(run.Journal("restart_planned").size(), 1U) << "what a host takes with it is one restart of its role";
}

TEST(SpareHosts, ReplaceAHostThatAVerdictExcludes) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  // Whatever runs on n2 fails; the others wait for their end until the third attempt.
  const std::string workers =
      "    job:workers { count = 4, devices = 0, cwd = '/', restart = { verdict = true, backoff = '10ms', scope = "
      "'job' },\n"
      "      command = { 'bash', '-c', 'test $(uname -n) != n2 || exit 5; test $MUSTER_ATTEMPT = 2 || exec sleep 1000' "
      "} }";
  HostsRun run(testbed, Job("torch", workers), {"--host", "n[1-3]:2", "--spares", "1"});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().out << run.Result().err;
  const std::vector<json> judged = run.Journal("failure_judged");
  ASSERT_EQ(judged.size(), 2U);
  EXPECT_EQ(judged[1]["verdict"], "exclude_host");
  EXPECT_EQ(judged[1]["host_name"], "n2");
  ASSERT_EQ(run.Journal("host_replaced").size(), 1U);
  EXPECT_TRUE(run.Journal("agent_lost").empty()) << "its agent stays until the end";
  const json report = run.Report();
  EXPECT_EQ(HostsOfAttempts(report["processes"][0]), (Names{"n1", "n1", "n1"}));
  EXPECT_EQ(HostsOfAttempts(report["processes"][3]), (Names{"n2", "n2", "n3"}));
  EXPECT_EQ(report["replacements"][0]["host"], "n2");
  EXPECT_EQ(report["receipt"]["left"], 0);
  EXPECT_EQ(report["receipt"]["attested"], true);
  CheckedLedger({run.run_dir()}, {run.run_dir()});
}

TEST(SpareHosts, AreMentionedInTheReportIfNoneIsLeft) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const Witnesses witnesses(testbed);
  HostsRun run(testbed, Job("none", Workers(witnesses.stays(), "job")),
               {"--host", "n[1-3]:2", "--spares", "1", "--host-lease", "1s"});
  ASSERT_TRUE(run.Await("first_output", 4)) << run.Result().err;
  // The spare is lost first: that alone affects no process.
  ASSERT_TRUE(testbed.PowerOff("n3"));
  ASSERT_TRUE(run.Await("agent_lost", 1));
  EXPECT_TRUE(run.Journal("restart_planned").empty());
  ASSERT_TRUE(testbed.PowerOff("n2"));
  EXPECT_EQ(run.Result().exit_code, 3);
  const json report = run.Report();
  EXPECT_EQ(report["outcome"], "lost");
  EXPECT_EQ(report["why"], "the agent of n2 was lost: no heartbeat for 1 s, and there is no spare host to replace it");
  EXPECT_EQ(HostsOfAttempts(report["processes"][3]), Names{"n2"});
}

TEST(SpareHosts, AreCheckedBeforeAnythingIsStarted) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(2);
  ASSERT_TRUE(testbed.Up());
  const Witnesses witnesses(testbed);
  HostsRun run(testbed, Job("none", Workers(witnesses.ends(), "job")), {"--host", "n[1-2]:2,x7:2", "--spares", "1"});
  EXPECT_EQ(run.Result().exit_code, 3);
  EXPECT_NE(run.Result().err.find("1 of 3 hosts: there is no host of that name: x7"), std::string::npos)
      << run.Result().err;
  EXPECT_TRUE(run.Journal("process_started").empty());
}

TEST(SpareHosts, RunNothingIfNoHostIsLost) {
  SKIP_WITHOUT_TESTBED();
  HostsTestbed testbed(3);
  ASSERT_TRUE(testbed.Up());
  const Witnesses witnesses(testbed);
  HostsRun run(testbed, Job("none", Workers(witnesses.ends(), "job")), {"--host", "n[1-3]:2", "--spares", "1"});
  EXPECT_EQ(run.Result().exit_code, 0) << run.Result().err;
  for (const auto& [key, seen] : witnesses.All()) EXPECT_NE(seen.host, "n3");
  ASSERT_EQ(run.Journal("agent_empty").size(), 3U);
  for (const json& empty : run.Journal("agent_empty")) EXPECT_EQ(empty["started"], empty["host"] == 2 ? 0 : 2);
  EXPECT_EQ(RunCommand({.argv = testbed.On("n3", {"ls", run.run_dir()})}).exit_code, 2) << "nothing is left there";
}

}  // namespace
}  // namespace muster::testing
