// A lying host, as a program that replaces ssh (MUSTER_SSH). A host whose name begins with "good" has the real agent,
// on this machine; others have a script that speaks the real protocol, and the name selects what it does:
//
//   bad-exit     reports the exit of every process of other hosts, and touches the file $MUSTER_TEST_GO
//   bad-address  reports a command as its address
//   bad-file     sends a file of another host, and a part of its own log at a huge offset
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <string>
#include <string_view>

#include <unistd.h>

#include "hostile/frames_agent.h"
#include "wire/protocol/protocol.h"

namespace muster::testing {
namespace {

void Write(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t size = ::write(STDOUT_FILENO, bytes.data(), bytes.size());
    if (size <= 0) ::_exit(1);
    bytes.remove_prefix(static_cast<std::size_t>(size));
  }
}

// Sends a message besides or instead of those of an honest agent; only commands that start a process cause one.
void Lie(const std::string& host, const AgentCommand& command) {
  const auto* const start = std::get_if<StartProcess>(&command);
  if (start == nullptr) return;
  if (host == "bad-exit") {
    for (ProcessId process = 0; process < 4; ++process) {
      if (process == start->process) continue;
      ProcessExited exited;
      exited.process = process;
      Write(EncodeFrame(AgentMessage(exited)));
    }
    if (const char* const go = std::getenv("MUSTER_TEST_GO")) std::ofstream(go) << "go";
  }
  if (host == "bad-file") {
    Write(EncodeFrame(AgentMessage(FileBytes{"logs/worker.0.0.log", 0, "lies\n", true})));
    Write(EncodeFrame(AgentMessage(FileBytes{"logs/worker.1.0.log", std::uint64_t{1} << 43, "last words\n", false})));
  }
}

int Serve(const std::string& host) {
  FramesAgent agent(1, false, [&](AgentMessage message) {
    auto* const ready = std::get_if<AgentReady>(&message);
    if (ready != nullptr && host == "bad-address") ready->address = "1.2.3.4; touch $MUSTER_TEST_GO";
    Write(EncodeFrame(message));
  });
  agent.EndAtOnce(0);
  Write(kMagic);
  FrameReader frames;
  char bytes[1 << 16];
  for (ssize_t got = ::read(STDIN_FILENO, bytes, sizeof bytes); got > 0;
       got = ::read(STDIN_FILENO, bytes, sizeof bytes)) {
    frames.Feed({bytes, static_cast<std::size_t>(got)});
    while (const auto payload = frames.Next()) {
      const auto command = DecodeCommand(*payload);
      if (!command) return 1;
      agent.Obey(*command);
      Lie(host, *command);
    }
  }
  return 0;
}

}  // namespace
}  // namespace muster::testing

int main(int argc, char** argv) {
  if (argc < 3) return 2;
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]) == "-G") return 0;  // ssh -G: reports no jump host
  }
  const std::string host = argv[argc - 2];
  if (!host.starts_with("good")) return muster::testing::Serve(host);
  ::setenv("SSH_CONNECTION", "127.0.0.1 50000 127.0.0.1 22", 1);
  ::execl("/bin/sh", "sh", "-c", argv[argc - 1], nullptr);
  return 255;
}
