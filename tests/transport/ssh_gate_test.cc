// Tests that the ssh gate belongs to the channels of a loop, not to the transport, which outlives the loop of a run.
#include <optional>
#include <string>

#include <boost/asio/io_context.hpp>
#include <gtest/gtest.h>

#include "transport/ssh_transport.h"

namespace muster::testing {
namespace {

// Why the agent of a host cannot be reached; its loop ends with it.
std::string WhyUnreachable(SshTransport& transport) {
  boost::asio::io_context io;
  auto channel = transport.Connect(io, {0, "n1"});
  if (!channel) return "it could not even begin";
  std::optional<std::string> why;
  (*channel)->SetReceiver([&](ChannelMessage message) {
    if (const auto* unreachable = std::get_if<AgentUnreachable>(&message)) why = unreachable->why;
    if (why) io.stop();
  });
  io.run();
  channel->reset();
  return why.value_or("");
}

// Prevents: a run over SSH ends by using memory of its loop that is gone, and a second run waits for the first one's
// loop.
TEST(SshGate, EndsWithTheLoopOfItsChannels) {
  SshSettings settings;
  settings.program = "/bin/false";
  SshTransport transport(settings, 10'000);
  const std::string first = WhyUnreachable(transport);
  EXPECT_NE(first, "");
  EXPECT_EQ(WhyUnreachable(transport), first);
}

}  // namespace
}  // namespace muster::testing
