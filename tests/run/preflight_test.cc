// Tests the preflight of a run on several hosts, with scripted agents.
#include <algorithm>
#include <fstream>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/values/fingerprint.h"
#include "run/fake_clock.h"
#include "run/journal/journal.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"
#include "run/scripted_channel.h"
#include "run/session/run_request.h"
#include "support/journal_contents.h"

namespace muster {
namespace {

class PreflightTest : public ::testing::Test {
 protected:
  // Correctly behaving agents of hosts n1, n2, …; n1 has a port of the plan.
  explicit PreflightTest(std::uint32_t hosts = 3) {
    request.plan = SamplePlan({{"worker", hosts}}, hosts);
    request.plan.ports["meet"] = {0, 0, ""};
    for (std::uint32_t host = 1; host <= hosts; ++host) {
      request.hosts.push_back({"n" + std::to_string(host), "192.0.2." + std::to_string(host), {}});
    }
    request.cwd = scratch.path();
    request.runs_folder = scratch / "runs";
    request.console.out = request.console.err = words.get();
    request.make_clock = [](boost::asio::io_context&) { return std::make_unique<FakeClock>(); };
    request.preflight = Preflight{{}, std::vector<HostNeeds>(hosts), "1.0"};
    request.on_bad_hosts = [this](const auto& hosts_and_why) {
      for (const auto& [host, why] : hosts_and_why) bad.push_back(host + ": " + why);
    };
  }

  static void Obey(ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<Inspect>(command)) {
      Inspected reported;
      reported.facts.muster = "1.0";
      reported.facts.kernel = "6.1";
      agent.Say(reported);
    } else if (std::holds_alternative<OpenPaths>(command)) {
      agent.Say(PathsOpen{static_cast<std::uint16_t>(40'000 + agent.host), ""});
    } else if (std::holds_alternative<ClosePaths>(command)) {
      agent.Say(PathsOpen{});
    } else if (const auto* tried = std::get_if<ProbePaths>(&command)) {
      agent.Say(PathsProbed{std::vector<std::string>(tried->targets.size())});
    } else {
      agent.Obey(command);
      if (std::holds_alternative<StartProcess>(command)) agent.SayExited(agent.host, 0);
    }
  }

  RunOutcome Run(Script script) {
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
  bool Said(const std::string& part) const { return Words().find(part) != std::string::npos; }

  ScratchFolder scratch;
  UniqueFd words{::memfd_create("words", MFD_CLOEXEC)};
  RunRequest request;
  std::unique_ptr<ScriptedTransport> transport;
  JournalContents journal;
  std::vector<std::string> bad;
};

TEST_F(PreflightTest, ChecksHostsAndConnectionsBeforeTheFirstStart) {
  const RunOutcome outcome = Run(Obey);
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
  for (std::uint32_t host = 0; host < 3; ++host) {
    std::vector<std::size_t> order;
    for (const AgentCommand& command : transport->agents.at(host)->heard) order.push_back(command.index());
    const auto place = [&order](const AgentCommand& of) {
      return std::find(order.begin(), order.end(), of.index()) - order.begin();
    };
    EXPECT_LT(place(Inspect{}), place(OpenPaths{}));
    EXPECT_LT(place(OpenPaths{}), place(ProbePaths{}));
    EXPECT_LT(place(ProbePaths{}), place(ClosePaths{}));
    EXPECT_LT(place(ClosePaths{}), place(StartProcess{}));
  }
  // The first agent holds the port of the plan; the others try it besides each other's agents.
  const std::uint16_t meet = Heard<OpenPaths>(0).at(0).ports.at(0);
  EXPECT_TRUE(Heard<OpenPaths>(1).at(0).ports.empty());
  const auto targets = Heard<ProbePaths>(1).at(0).targets;
  ASSERT_EQ(targets.size(), 3U);
  EXPECT_EQ(targets[0].address + ':' + std::to_string(targets[0].port), "192.0.2.1:" + std::to_string(meet));
  EXPECT_EQ(targets[1].address + ':' + std::to_string(targets[1].port), "192.0.2.3:40002");
  ASSERT_EQ(Records<PathsCompared>().size(), 1U);
  EXPECT_EQ(Records<PathsCompared>()[0].tried, 8U);
  EXPECT_TRUE(bad.empty());
}

TEST_F(PreflightTest, StartsNothingBeforeEveryAgentHasReleasedThePorts) {
  std::uint32_t closed = 0;
  const RunOutcome outcome = Run([&closed](ScriptedAgent& agent, const AgentCommand& command) {
    if (std::holds_alternative<StartProcess>(command)) {
      EXPECT_EQ(closed, 3U);
    }
    if (!std::holds_alternative<ClosePaths>(command)) return Obey(agent, command);
    // This agent answers late.
    boost::asio::post(agent.io, [&closed, &agent] {
      ++closed;
      agent.Say(PathsOpen{});
    });
  });
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
}

TEST_F(PreflightTest, StartsNothingIfAHostLacksWhatThePlanNeeds) {
  request.preflight->needs[1].programs = {"train"};
  const RunOutcome outcome = Run([](ScriptedAgent& agent, const AgentCommand& command) {
    if (!std::holds_alternative<Inspect>(command)) return Obey(agent, command);
    Inspected reported;
    reported.facts.muster = "1.0";
    reported.facts.kernel = agent.host == 2 ? "5.15" : "6.1";
    reported.facts.programs = {{"train", agent.host == 1 ? "" : "/bin/train", agent.host == 1 ? "there is none" : ""}};
    agent.Say(reported);
  });
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_EQ(outcome.why, "1 of 3 hosts: train cannot be started: there is none: n2");
  EXPECT_TRUE(Said("n[1-2]: kernel 6.1 · n3: kernel 5.15")) << Words();
  EXPECT_TRUE(Records<StartOrdered>().empty());
  EXPECT_EQ(bad, std::vector<std::string>{"n2: train cannot be started: there is none"});
}

TEST_F(PreflightTest, StartsNothingIfAPortOfThePlanCannotBeReached) {
  const RunOutcome outcome = Run([](ScriptedAgent& agent, const AgentCommand& command) {
    if (!std::holds_alternative<ProbePaths>(command) || agent.host == 0) return Obey(agent, command);
    agent.Say(PathsProbed{{"no answer", "", ""}});
  });
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(outcome.why.starts_with("n[2-3] cannot reach n1:")) << outcome.why;
  EXPECT_TRUE(outcome.why.ends_with("(port meet): no answer")) << outcome.why;
  EXPECT_TRUE(Records<StartOrdered>().empty());
}

TEST_F(PreflightTest, OnlyWarnsOfOtherPorts) {
  const RunOutcome outcome = Run([](ScriptedAgent& agent, const AgentCommand& command) {
    if (!std::holds_alternative<ProbePaths>(command) || agent.host != 2) return Obey(agent, command);
    agent.Say(PathsProbed{{"", "no answer", "no answer"}});
  });
  EXPECT_EQ(outcome.exit_code, 0) << outcome.why;
  EXPECT_TRUE(Said("n3 cannot reach n[1-2]: no answer")) << Words();
}

TEST_F(PreflightTest, RunsOnlyOnRequest) {
  request.preflight.reset();
  EXPECT_EQ(Run(Obey).exit_code, 0);
  EXPECT_TRUE(Heard<Inspect>(0).empty());
  EXPECT_TRUE(Heard<OpenPaths>(0).empty());
  EXPECT_TRUE(Records<HostsCompared>().empty());
}

TEST_F(PreflightTest, StopsIfAHostIsLost) {
  const RunOutcome outcome = Run([](ScriptedAgent& agent, const AgentCommand& command) {
    if (!std::holds_alternative<ProbePaths>(command) || agent.host != 1) return Obey(agent, command);
    agent.Say(AgentLost{1, "no word for 10 s", 0});
  });
  EXPECT_EQ(outcome.exit_code, 3);
  EXPECT_TRUE(Records<StartOrdered>().empty());
  EXPECT_EQ(bad, std::vector<std::string>{"n2: no word for 10 s"});
}

TEST_F(PreflightTest, ShipsCodeBeforeAnythingThatMayUseIt) {
  auto tree = std::make_shared<CodeTree>();
  tree->folder = scratch.path();
  const std::string content(300'000, 'x');
  std::ofstream(scratch / "train.py") << content;
  tree->entries = {{"train.py", false, "", 0644, content.size(), Sha256Hex(content)}};
  tree->hash = CodeTreeHash(tree->entries);
  tree->bytes = content.size();
  request.code = tree;
  std::map<std::uint32_t, std::string> taken;
  const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
    if (const auto* offer = std::get_if<OfferCode>(&command)) {
      EXPECT_TRUE(offer->last);
      EXPECT_EQ(offer->hash, tree->hash);
      // The third host has the code already.
      agent.Say(CodeMissing{agent.host == 2 ? std::vector<std::uint32_t>() : std::vector<std::uint32_t>{0}});
      if (agent.host == 2) agent.Say(CodeReady{"/cache/2", ""});
    } else if (const auto* bytes = std::get_if<CodeBytes>(&command)) {
      EXPECT_LE(bytes->content.size(), kCodeWindow);
      taken[agent.host] += bytes->content;
      agent.Say(CodeReceived{static_cast<std::uint32_t>(bytes->content.size())});
      if (taken[agent.host].size() == content.size()) agent.Say(CodeReady{"/cache/" + std::to_string(agent.host), ""});
    } else {
      Obey(agent, command);
    }
  });
  EXPECT_EQ(outcome.outcome, "ok") << outcome.why;
  EXPECT_EQ(taken[0], content);
  EXPECT_EQ(taken[1], content);
  EXPECT_EQ(taken.count(2), 0U);
  for (std::uint32_t host = 0; host < 3; ++host) {
    EXPECT_EQ(Heard<StartProcess>(host).at(0).cwd, "/cache/" + std::to_string(host));
  }
  const auto shipped = Records<CodeShipped>();
  ASSERT_EQ(shipped.size(), 3U);
  for (const CodeShipped& each : shipped) EXPECT_EQ(each.sent, each.host == 2 ? 0U : content.size());
  EXPECT_NE(ContentOf(outcome.run_dir + "/binding.json").find(tree->hash), std::string::npos);
}

TEST_F(PreflightTest, StopsIfCodeCannotBeShippedOrIsConfirmedTwice) {
  auto tree = std::make_shared<CodeTree>();
  tree->folder = scratch.path();
  tree->entries = {{"gone.py", false, "", 0644, 5, Sha256Hex("hello")}};
  tree->hash = CodeTreeHash(tree->entries);
  request.code = tree;
  for (const AgentMessage& answer :
       std::vector<AgentMessage>{CodeReady{"", "no space"}, CodeMissing{{0}}, CodeMissing{{7}}, CodeReceived{1}}) {
    const RunOutcome outcome = Run([&](ScriptedAgent& agent, const AgentCommand& command) {
      if (!std::holds_alternative<OfferCode>(command)) return Obey(agent, command);
      std::visit(
          [&](const auto& message) {
            if constexpr (std::is_constructible_v<ChannelMessage, decltype(message)>) agent.Say(message);
          },
          answer);
    });
    EXPECT_EQ(outcome.exit_code, 3);
    EXPECT_TRUE(outcome.why.starts_with("the code cannot be shipped to n")) << outcome.why;
    EXPECT_TRUE(Records<StartOrdered>().empty());
  }
}

}  // namespace
}  // namespace muster
