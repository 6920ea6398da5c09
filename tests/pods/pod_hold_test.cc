// Tests the first process of a pod's container, and the agents that join it.
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "pods/stand_in_cluster.h"
#include "support/command.h"

namespace muster::testing {
namespace {

const std::string kAgent = MUSTER_BIN_DIR "/muster-agent";

// In a container of its own.
CommandResult Contained(const std::string& script) {
  return RunCommand({.argv = {"unshare", "--pid", "--fork", "--mount-proc", "--kill-child=KILL", "sh", "-c", script}});
}

TEST(PodHold, EndsIfNoHeadConnects) {
  SKIP_WITHOUT_CLUSTER();
  const auto result = Contained("exec " + kAgent + " --hold 0");
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "muster-agent: no head of muster has connected within 0 s\n");
}

// The agent ends with its stdin.
TEST(PodHold, EndsWithTheLastAgent) {
  SKIP_WITHOUT_CLUSTER();
  const auto result = Contained("(sleep 0.2; exec " + kAgent + " --stdio --held </dev/null >/dev/null) & exec " +
                                kAgent + " --hold 1000");
  EXPECT_EQ(result.exit_code, 0) << result.err;
}

TEST(PodHold, AnAgentOutsideOfAPodIsRefused) {
  const auto result = RunCommand({.argv = {kAgent, "--stdio", "--held"}});
  EXPECT_EQ(result.exit_code, 1);
  EXPECT_EQ(result.err, "muster-agent: process 1 of this container is not `muster-agent --hold`\n");
}

TEST(PodHold, ItsOptionsAreChecked) {
  EXPECT_EQ(RunCommand({.argv = {kAgent, "--hold", "soon"}}).exit_code, 2);
  EXPECT_EQ(RunCommand({.argv = {kAgent, "--held"}}).exit_code, 2);
}

}  // namespace
}  // namespace muster::testing
