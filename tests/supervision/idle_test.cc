// Tests that an idle run costs nothing: neither head nor agent wakes up, for any number of processes.
#include <cstdlib>
#include <map>

#include "supervision/background_run.h"

namespace muster::testing {
namespace {

// Whether a line of strace -f -o shows a call that waits for events. Attaching strace interrupts such a call once with
// EINTR; the loop then waits again.
bool IsWaiting(const std::string& call) {
  return call.starts_with("epoll_wait(") || call.starts_with("restart_syscall(") ||
         call.starts_with("<... epoll_wait resumed>");
}

// System calls within a few seconds, by pid; no entry for a pid that cannot be traced.
using Calls = std::map<std::string, Words>;

Calls CallsOf(const std::string& head, const std::string& agent, const std::string& file) {
  Command strace;
  strace.argv = {"timeout", "--signal=INT", std::getenv("MUSTER_LONG") != nullptr ? "10" : "2",
                 "strace",  "-f",           "-qq",
                 "-o",      file,           "-p",
                 head,      "-p",           agent};
  RunCommand(strace);
  Calls calls;
  std::ifstream written(file);
  for (std::string line; std::getline(written, line);) {
    const std::size_t space = line.find(' ');
    calls[line.substr(0, space)].push_back(line.substr(line.find_first_not_of(' ', space)));
  }
  return calls;
}

// Returns the calls beyond the interruption by attaching.
Words Wakings(const Words& calls) {
  Words wakings;
  for (const std::string& call : calls) {
    if (!IsWaiting(call)) wakings.push_back(call);
  }
  if (wakings.empty() && calls.size() > 2) wakings = calls;
  return wakings;
}

TEST_F(BackgroundRun, DoesNotWakeUpWhileNothingHappens) {
  ASSERT_EQ(Detach("job:workers { count = 256, stop = { grace = '20s' }, command = { probe, 'wait' } }").exit_code, 0);
  AwaitPhase("running");
  const std::string head = Record("run_began")["pid"].dump();
  const std::string agent = Record("agent_connected")["pid"].dump();
  // The first trace may still show that the head notices our disconnect; a timer would show in every trace.
  Words wakings;
  for (int look = 0; look < 3; ++look) {
    Calls calls = CallsOf(head, agent, RunDir() + "/../calls");
    if (calls[head].empty() || calls[agent].empty()) GTEST_SKIP() << "strace, and the right to use it";
    wakings = Wakings(calls[head]);
    const Words more = Wakings(calls[agent]);
    wakings.insert(wakings.end(), more.begin(), more.end());
    if (wakings.empty()) break;
  }
  EXPECT_TRUE(wakings.empty()) << wakings.size() << " calls, of which one is " << wakings.front();
  EXPECT_EQ(Muster({"stop", RunDir(), "--now", "--wait"}).exit_code, 0);
}

}  // namespace
}  // namespace muster::testing
