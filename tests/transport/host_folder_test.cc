// Tests the run directory of an agent that does not share the head's.
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "support/agent_session.h"

namespace muster::testing {
namespace {

const TransportEntry& Local() { return Transports().front(); }

class HostFolder : public ::testing::TestWithParam<bool> {};

TEST_P(HostFolder, StaysUntilTheHeadSaysThatItHasTheFiles) {
  const bool kept = GetParam();
  AgentPlace place;
  place.run_dir = "run";
  AgentSession agent(Local(), place);
  const std::string folder = agent.folder() / "run";
  StartProcess start = agent.Probe(0, {"args", "--", "a word"});
  start.log_path = folder + "/logs/worker.0.0.log";
  agent.Send(start);
  ASSERT_TRUE(agent.Await<ProcessExited>(0));
  agent.Send(Finish{});
  ASSERT_TRUE(agent.Await<FilesSent>());
  std::string log;
  for (const FileBytes& bytes : agent.All<FileBytes>()) {
    if (bytes.path == "logs/worker.0.0.log" && bytes.offset == 0) log = bytes.content;
  }
  EXPECT_NE(log.find("a word"), std::string::npos) << log;
  EXPECT_TRUE(agent.All<AgentEmpty>().empty()) << "it waits for the answer";
  EXPECT_TRUE(std::filesystem::exists(start.log_path));
  agent.Send(FilesStored{kept});
  ASSERT_TRUE(agent.Await<AgentEmpty>());
  EXPECT_EQ(std::filesystem::exists(start.log_path), !kept);
  EXPECT_EQ(std::filesystem::exists(folder), !kept);
}

INSTANTIATE_TEST_SUITE_P(Head, HostFolder, ::testing::Bool(),
                         [](const auto& kept) { return std::string(kept.param ? "HasThem" : "CouldNotKeepThem"); });

TEST(HostFolderAlone, StaysIfTheHeadGoesWithoutAWord) {
  AgentPlace place;
  place.run_dir = "run";
  AgentSession agent(Local(), place);
  StartProcess start = agent.Probe(0, {"args"});
  start.log_path = agent.folder() / "run/logs/worker.0.0.log";
  agent.Send(start);
  ASSERT_TRUE(agent.Await<ProcessExited>(0));
  agent.Send(Finish{});
  ASSERT_TRUE(agent.Await<FilesSent>());
  agent.CloseChannel();
  EXPECT_TRUE(std::filesystem::exists(start.log_path));
}

TEST(HostFolderAlone, TakesNoAnswerThatItDidNotAskFor) {
  AgentSession agent(Local());
  agent.Send(FilesStored{true});
  const auto failed = agent.Await<AgentFailed>();
  ASSERT_TRUE(failed);
  EXPECT_EQ(failed->why, "files are kept that were not sent");
}

}  // namespace
}  // namespace muster::testing
