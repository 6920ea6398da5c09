// Tests runs in which the agent of one host lies, with scripted agents: the other host must not be affected.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "plan/plan/roles.h"
#include "run/fake_clock.h"
#include "run/journal/journal.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"
#include "run/scripted_channel.h"
#include "run/session/run_request.h"
#include "support/journal_contents.h"
#include "transport/checked_channel.h"

namespace muster {
namespace {

// Two hosts, n1 and n2, with one worker each; the agent of n2 is hostile.
class HostileAgents : public ::testing::Test {
 protected:
  HostileAgents() {
    ::unsetenv("MUSTER_KEEP_RUNS");  // the suite's check would refuse run directories with these reports
    request.plan = SamplePlan({{"worker", 2}}, 2);
    request.hosts = {{"n1", {}, {}}, {"n2", {}, {}}};
    request.cwd = scratch.path();
    request.runs_folder = scratch / "runs";
    request.console.out = request.console.err = words.get();
    request.make_clock = [](boost::asio::io_context&) { return std::make_unique<FakeClock>(); };
  }

  static void Greet(ScriptedAgent& agent, std::string address, bool shares_run_dir = true) {
    AgentReady ready;
    ready.host_name = "n" + std::to_string(agent.host + 1);
    ready.address = std::move(address);
    ready.shares_run_dir = shares_run_dir;
    agent.Say(ready);
  }

  RunOutcome Run(Script script) {
    Fold(request.plan);
    transport = std::make_unique<ScriptedTransport>(std::move(script));
    Result<RunOutcome> outcome = RunPlan(request, *transport);
    EXPECT_TRUE(outcome) << (outcome ? "" : outcome.error().front().message);
    if (outcome) journal = ReadJournal(outcome->run_dir + "/journal.jsonl");
    return outcome.value_or(RunOutcome{});
  }

  template <class Entry>
  std::vector<Entry> Records() const {
    std::vector<Entry> found;
    for (const JournalRecord& record : journal.records) {
      if (const auto* entry = std::get_if<Entry>(&record.entry)) found.push_back(*entry);
    }
    return found;
  }
  template <class Command>
  std::vector<Command> Heard(std::uint32_t host) const {
    std::vector<Command> heard;
    for (const AgentCommand& command : transport->agents.at(host)->heard) {
      if (const auto* one = std::get_if<Command>(&command)) heard.push_back(*one);
    }
    return heard;
  }
  std::string Words() const {
    std::string text(static_cast<std::size_t>(::lseek(words.get(), 0, SEEK_END)), '\0');
    EXPECT_EQ(::pread(words.get(), text.data(), text.size(), 0), static_cast<ssize_t>(text.size()));
    return text;
  }

  ScratchFolder scratch;
  UniqueFd words{::memfd_create("words", MFD_CLOEXEC)};
  RunRequest request;
  std::unique_ptr<ScriptedTransport> transport;
  JournalContents journal;
};

ProcessExited ExitOf(ProcessId process, int code) {
  ProcessExited exited;
  exited.process = process;
  exited.code = code;
  return exited;
}

TEST_F(HostileAgents, CannotReportOnProcessesOfOtherHosts) {
  std::size_t started = 0;
  const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    if (!std::holds_alternative<StartProcess>(command) || ++started < 2) return;
    ScriptedAgent& hostile = *transport->agents.at(1);
    hostile.SayExited(1, 0);
    hostile.Say(ExitOf(0, 0));  // n2 reports success
    transport->agents.at(0)->SayExited(0, 7);
  });
  EXPECT_EQ(outcome.outcome, "failed");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(Records<HostStray>(), (std::vector<HostStray>{{1, "process 0 attempt 0: its end"}}));
  const auto exits = Records<ProcessExited>();
  ASSERT_EQ(exits.size(), 2U);
  for (const ProcessExited& exit : exits) EXPECT_EQ(exit.code, exit.process == 0 ? 7 : 0);
  EXPECT_NE(Words().find("unexpected message from n2, ignored: process 0 attempt "
                         "0: its end\n"),
            std::string::npos)
      << Words();
}

TEST_F(HostileAgents, AreLostIfTheyPersist) {
  request.plan.roles[0].ending = Ending::kAll;
  const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    if (agent.host == 1 && std::holds_alternative<StartProcess>(command)) {
      for (int i = 0; i < 100; ++i) agent.Say(ExitOf(0, 0));
    }
  });
  EXPECT_EQ(outcome.outcome, "lost");
  EXPECT_EQ(Records<HostStray>().size(), CheckedChannel::kMaxStrays + 1);
  const auto lost = Records<AgentLost>();
  ASSERT_EQ(lost.size(), 1U);
  EXPECT_EQ(lost[0].host, 1U);
  EXPECT_EQ(lost[0].why, "too many unexpected messages, last: process 0 attempt 0: its end");
  EXPECT_EQ(Words().find("n2 told what"), Words().rfind("n2 told what")) << "it is said once";
}

TEST_F(HostileAgents, AreRefusedWithAnInvalidAddress) {
  request.plan.roles[0].command = {"/bin/sh", "-c", "train --master ${muster:host_address:1}"};
  const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<Hello>(command)) {
      return Greet(agent, agent.host == 1 ? "1.2.3.4; touch " + scratch.path() + "/x" : "10.0.0.1");
    }
    agent.Obey(command);
  });
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.why, "1 of 2 hosts: its agent: the address of its host is invalid: n2");
  EXPECT_TRUE(Records<StartOrdered>().empty());
  EXPECT_TRUE(Heard<StartProcess>(0).empty());
}

TEST_F(HostileAgents, InsertOnlyDataIntoShellTexts) {
  request.plan.roles[0].command = {"/bin/sh", "-c", "train \"${muster:host_address:1}\" ${muster:run_dir}"};
  request.runs_folder = scratch / "it's $(touch x)";
  const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<Hello>(command)) return Greet(agent, "10.0.0." + std::to_string(agent.host));
    agent.Obey(command);
    if (const auto* start = std::get_if<StartProcess>(&command)) agent.SayExited(start->process, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
  const auto starts = Heard<StartProcess>(0);
  ASSERT_EQ(starts.size(), 1U);
  const std::string& text = starts[0].argv.at(2);
  EXPECT_TRUE(text.starts_with("train \"10.0.0.1\" '" + scratch.path() + "/it'\\''s $(touch x)/sample/")) << text;
}

TEST_F(HostileAgents, CannotSendUnrequestedAnswers) {
  const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    const auto* start = std::get_if<StartProcess>(&command);
    if (start == nullptr) return;
    if (agent.host == 1) {
      agent.Say(HostDumped{0, 1, std::vector<DumpNote>(200)});
      agent.Say(OutputSeen{0, {0}, {1ULL << 60}});
      agent.Say(PortsHeld{{{"rpc", 1}}, ""});
      agent.Say(PathsOpen{});
    }
    agent.SayExited(start->process, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
  EXPECT_EQ(Records<HostStray>().size(), 4U);
  EXPECT_TRUE(Records<HostDumped>().empty());
}

TEST_F(HostileAgents, CannotReportUsageOfOthersOrFillTheDiskWithTheirOwn) {
  constexpr std::uint64_t kSamples = 20'000;
  const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
    agent.Obey(command);
    const auto* start = std::get_if<StartProcess>(&command);
    if (start == nullptr) return;
    if (agent.host == 1) {
      agent.Say(UsageSampled{{{0, 0, 1, 1, 1}}});
      for (std::uint64_t i = 0; i < kSamples; ++i) agent.Say(UsageSampled{{{1, 0, i, ~i, ~0ULL, ~i}}});
    }
    agent.SayExited(start->process, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
  EXPECT_EQ(Records<HostStray>(), (std::vector<HostStray>{{1, "process 0 attempt 0: its resource usage"}}));
  const std::string file = outcome.run_dir + "/usage.jsonl";
  ASSERT_TRUE(std::filesystem::exists(file));
  EXPECT_LT(std::filesystem::file_size(file), 1U << 20);
  EXPECT_EQ(ContentOf(file).find("[0,"), std::string::npos);
}

TEST_F(HostileAgents, CannotSendFilesOfOthersOrCreateHoles) {
  const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<Hello>(command)) return Greet(agent, "10.0.0.1", agent.host == 0);
    agent.Obey(command);
    const auto* start = std::get_if<StartProcess>(&command);
    if (start == nullptr) return;
    if (agent.host == 1) {
      agent.Say(FileBytes{"logs/worker.0.0.log", 0, "lies", true});
      agent.Say(FileBytes{"recipe/recipe.lua", 0, "lies", true});
      agent.Say(FileBytes{"logs/worker.1.0.log", 1ULL << 43, "last\n", false});
    }
    agent.SayExited(start->process, 0);
  });
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
  EXPECT_EQ(Records<HostStray>().size(), 2U);
  EXPECT_FALSE(std::filesystem::exists(outcome.run_dir + "/logs/worker.0.0.log"));
  EXPECT_EQ(ContentOf(outcome.run_dir + "/logs/worker.1.0.log"),
            "\n[muster: 8796093022208 bytes are not here yet]\nlast\n");
}

}  // namespace
}  // namespace muster
