// head_probe AGENT PROBE FOLDER [await]: a head for tests to kill. Starts 64 processes of four kinds through the
// local transport: plain ones, ones that ignore TERM, ones with a child in another session, and ones with a
// daemon; every process carries MUSTER_PROCESS=FOLDER. Prints "agent PID", "started N" as they start,
// with await "ready" once every kind of descendant is there (it is deaf to its agent until then), and "lost KILLED WHY"
// if the agent is lost.
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "support/await.h"
#include "transport/local_transport.h"

namespace {

using namespace muster;

constexpr ProcessId kProcesses = 64;

const std::vector<std::vector<std::string>> kKinds = {{"print", "ready", "wait"},
                                                      {"ignore-term", "child", "print", "ready", "wait"},
                                                      {"session", "print", "ready", "wait"},
                                                      {"daemon", "ignore-term", "print", "ready", "wait"}};

void Print(const std::string& line) {
  std::puts(line.c_str());
  std::fflush(stdout);
}

int Main(const std::string& agent, const std::string& probe, const std::string& folder, bool await_all) {
  boost::asio::io_context io;
  LocalTransport transport(agent);
  auto channel = transport.Connect(io, {0, "localhost"});
  if (!channel) return 1;

  ProcessId started = 0;
  const auto log = [&folder](ProcessId process) { return folder + "/" + std::to_string(process) + ".log"; };
  (*channel)->SetReceiver([&](const ChannelMessage& message) {
    if (const auto* ready = std::get_if<AgentReady>(&message)) Print("agent " + std::to_string(ready->pid));
    if (const auto* lost = std::get_if<AgentLost>(&message)) {
      Print("lost " + std::to_string(lost->killed) + " " + lost->why);
    }
    if (!std::holds_alternative<ProcessStarted>(message)) return;
    Print("started " + std::to_string(++started));
    if (started < kProcesses || !await_all) return;
    for (ProcessId process = 0; process < kProcesses; ++process) {
      if (!testing::AwaitLine(log(process), "ready")) std::exit(2);
    }
    Print("ready");
  });
  (*channel)->Send(Hello{kProtocolVersion, "run", 0, "", 0, folder});
  (*channel)->Send(DefineEnvironment{0, {"MUSTER_PROCESS=" + folder}});
  for (ProcessId process = 0; process < kProcesses; ++process) {
    StartProcess start;
    start.process = process;
    start.argv = {probe};
    const auto& verbs = kKinds[process % kKinds.size()];
    start.argv.insert(start.argv.end(), verbs.begin(), verbs.end());
    start.cwd = folder;
    start.log_path = log(process);
    (*channel)->Send(start);
  }
  const auto work = boost::asio::make_work_guard(io);
  io.run();
  return 0;
}

}  // namespace

int main(int argc, char** argv) { return argc == 4 || argc == 5 ? Main(argv[1], argv[2], argv[3], argc == 5) : 2; }
