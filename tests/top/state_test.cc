// Tests how a head's answer and a report are converted to the state of muster top.
#include <gtest/gtest.h>

#include "top/top_state.h"

namespace muster {
namespace {

ProcessStatus Process(std::uint32_t index, std::string state) {
  ProcessStatus process;
  process.role = "worker";
  process.index = index;
  process.state = std::move(state);
  return process;
}

TEST(TopState, ShowsHowProcessesEnded) {
  ControlAnswer answer;
  answer.status.name = "a\x1b[2Jb";
  ProcessStatuses& statuses = answer.processes.emplace();
  statuses.ran_ms = 1'500;
  for (std::uint32_t index = 0; index < 6; ++index) statuses.processes.push_back(Process(index, "ended"));
  statuses.processes[0].exit_code = 0;
  statuses.processes[1].exit_code = 7;
  statuses.processes[2].signal = "SIGKILL";
  statuses.processes[3].spawn_stage = "exec";
  statuses.processes[5] = Process(5, "running");
  statuses.processes[5].pid = 42;
  statuses.processes[5].attempt = 1;
  const TopState state = TopStateOf(answer, "/run");
  EXPECT_EQ(state.name, "a\\x1b[2Jb");
  EXPECT_EQ(state.seconds, 1.5);
  const struct {
    const char* state;
    bool bad;
  } expected[] = {{"exit 0", false},     {"exit 7", true},       {"SIGKILL", true},
                  {"not started", true}, {"not started", false}, {"running", false}};
  for (std::size_t i = 0; i < std::size(expected); ++i) {
    EXPECT_EQ(state.processes[i].state, expected[i].state) << i;
    EXPECT_EQ(state.processes[i].bad, expected[i].bad) << i;
  }
  ASSERT_EQ(state.roles.size(), 1U);
  EXPECT_EQ(state.roles[0].running, 1U);
  EXPECT_EQ(state.roles[0].ended, 5U);
  EXPECT_EQ(state.roles[0].bad, 3U);
  EXPECT_EQ(state.roles[0].restarts, 1U);
}

TEST(TopState, MarksProcessesThatDifferFromMostOfTheirRole) {
  TopState state;
  for (std::uint32_t index = 0; index < 5; ++index) {
    TopProcess& process = state.processes.emplace_back();
    process.role = "worker";
    process.state = index == 3 ? "starting" : "running";
  }
  state.processes[1].attempt = 1;
  CountRoles(state);
  for (std::size_t i = 0; i < 5; ++i) EXPECT_EQ(state.processes[i].outlier, i == 1 || i == 3) << i;
}

TEST(TopState, IsOneJsonObject) {
  TopState state;
  state.run = "ab";
  state.processes.emplace_back().last_line = "\"quoted\"";
  const std::string json = TopJson(state);
  EXPECT_TRUE(json.ends_with("}\n"));
  EXPECT_NE(json.find("\"last_line\":\"\\\"quoted\\\"\""), std::string::npos) << json;
  EXPECT_NE(json.find("\"pid\":null"), std::string::npos) << json;
  EXPECT_NE(json.find("\"format\":1"), std::string::npos) << json;
}

}  // namespace
}  // namespace muster
