// Tests the ssh gate, which belongs to the channels of a loop and not to the transport, and logins that never lead to
// an agent, with programs in the place of ssh.
#include <filesystem>
#include <fstream>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "support/temp_dir.h"
#include "transport/ssh_transport.h"

namespace muster::testing {
namespace {

// Why the agent of a host cannot be reached; its loop ends with it.
AgentUnreachable Unreachable(SshTransport& transport) {
  boost::asio::io_context io;
  auto channel = transport.Connect(io, {0, "n1"});
  if (!channel) return {"it could not even begin", {}};
  AgentUnreachable why;
  (*channel)->SetReceiver([&](ChannelMessage message) {
    if (const auto* unreachable = std::get_if<AgentUnreachable>(&message)) why = *unreachable;
    if (!why.why.empty()) io.stop();
  });
  (*channel)->Send(Hello{kProtocolVersion, "run", 0, "", 0, "/dev/shm"});
  io.run();
  channel->reset();
  return why;
}

// Prevents: a run over SSH ends by using memory of its loop that is gone, and a second run waits for the first one's
// loop.
TEST(SshGate, EndsWithTheLoopOfItsChannels) {
  SshSettings settings;
  settings.program = "/bin/false";
  SshTransport transport(settings, 10'000);
  const std::string first = Unreachable(transport).why;
  EXPECT_NE(first, "");
  EXPECT_EQ(Unreachable(transport).why, first);
}

// The programs in the place of ssh do on this machine what a login does on a host, with the connection as stdin.
TEST(SshTransport, NamesWhatKeepsALoginFromStartingAnAgent) {
  const TempDir folder;
  for (const auto& [login, does] :
       std::vector<std::pair<std::string, std::string>>{{"hangs", "exec sleep 1000"},
                                                        {"reads_its_input", "exec cat > /dev/null"},
                                                        {"another_shell", "exec bash --norc"}}) {
    SshSettings settings;
    settings.program = folder / login;
    settings.greeting_seconds = 1;
    std::ofstream(settings.program) << "#!/bin/sh\ncase \"$*\" in *-G*) exit 0 ;; esac\n" << does << "\n";
    std::filesystem::permissions(settings.program, std::filesystem::perms::owner_all);
    SshTransport transport(settings, 10'000);
    const AgentUnreachable why = Unreachable(transport);
    EXPECT_EQ(why.why, "its agent: no response") << login;
    EXPECT_NE(why.hint.find("a start-up file of the login that waits, reads its input or starts another shell"),
              std::string::npos)
        << login << ": " << why.hint;
    EXPECT_NE(why.hint.find("`ssh HOST true`"), std::string::npos) << login << ": " << why.hint;
  }
}

}  // namespace
}  // namespace muster::testing
