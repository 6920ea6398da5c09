// Tests concurrent runs on one loop, with one standing agent and the real programs.
#include <csignal>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "run/journal/journal.h"
#include "run/report/report.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"
#include "run/session/session.h"
#include "support/agent_session.h"
#include "support/journal_contents.h"
#include "support/processes.h"
#include "transport/host_agents.h"
#include "transport/local_transport.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;

class RunInProgressTest : public ::testing::Test {
 protected:
  struct One {
    std::unique_ptr<Transport> transport;
    std::unique_ptr<RunInProgress> run;
    std::optional<RunOutcome> outcome;
    bool begun = false;
  };

  void SetUp() override {
    std::signal(SIGPIPE, SIG_IGN);
    agents_ = std::make_unique<HostAgents>(
        io_, local_, std::vector<std::string>{"localhost"}, "sweep",
        HostAgents::Events{.ready = [this](std::uint32_t, const AgentReady& ready) { standing_ = ready.pid; },
                           .refused = {},
                           .lost = {}});
    agents_->ConnectAll();
  }

  RunRequest Request(const std::string& name, const std::vector<std::string>& verbs) {
    Plan plan = SamplePlan({{"worker"}});
    plan.roles[0].command = {Text(ProbeProgram())};
    for (const std::string& verb : verbs) plan.roles[0].command.emplace_back(verb);
    RunRequest request;
    request.plan = std::move(plan);
    request.environment = {"PATH=/usr/bin:/bin", Token(name)};
    request.cwd = scratch_.path();
    request.run_dir = scratch_ / name;
    request.terse = true;
    request.console = ConsoleOptions::Silent();
    return request;
  }

  One& Begin(RunRequest request, std::function<void(One&)> ended = {}) {
    runs_.push_back(std::make_unique<One>());
    One& one = *runs_.back();
    one.transport = agents_->TransportFor({0});
    request.on_begun = [&one](const std::string&, const std::string&) { one.begun = true; };
    auto run = RunInProgress::Begin(io_, std::move(request), *one.transport,
                                    [&one, ended = std::move(ended)](RunOutcome outcome) {
                                      EXPECT_FALSE(one.outcome) << "it ended twice";
                                      one.outcome = std::move(outcome);
                                      one.run.reset();
                                      if (ended) ended(one);
                                    });
    if (run) {
      one.run = std::move(*run);
    } else {
      ADD_FAILURE() << run.error().front().message;
    }
    return one;
  }

  bool Until(const std::function<bool()>& done) {
    const auto deadline = std::chrono::steady_clock::now() + kDeadline;
    while (!done()) {
      io_.restart();
      if (io_.run_one_until(deadline) == 0) return false;
    }
    return true;
  }
  bool AwaitEnd(const One& one) {
    return Until([&] { return one.outcome.has_value(); });
  }
  // Waits until the run's process has printed that it is ready.
  bool AwaitReady(const std::string& name) {
    const std::string log = scratch_ / name + "/logs/worker.0.0.log";
    return Until([&] { return fs::exists(log); }) && AwaitLine(log, "ready");
  }
  // The run's processes have this in their environment.
  std::string Token(const std::string& name) const { return "RUN_OF_TEST=" + (scratch_ / name) + ";"; }
  bool Lives(const std::string& name) const { return !ProcessesWith(Token(name)).empty(); }

  boost::asio::io_context io_;
  ScratchFolder scratch_;
  LocalTransport local_{AgentPath()};
  pid_t standing_ = 0;
  std::unique_ptr<HostAgents> agents_;
  std::vector<std::unique_ptr<One>> runs_;  // destroyed before the agents they use
};

TEST_F(RunInProgressTest, RunsManyTwoAtATimeInOneProcess) {
  constexpr int kRuns = 8;
  int begun = 0;
  int ended = 0;
  std::function<void()> next = [&] {
    if (begun == kRuns) return;
    const std::string name = std::to_string(begun++);
    Begin(Request(name, {"print", "I am " + name, "exit", "0"}), [&](One&) {
      ++ended;
      next();
    });
  };
  next();
  next();
  ASSERT_TRUE(Until([&] { return ended == kRuns; }));
  std::map<std::string, int> ids;
  for (int i = 0; i < kRuns; ++i) {
    const std::string dir = scratch_ / std::to_string(i);
    ASSERT_TRUE(runs_[static_cast<std::size_t>(i)]->outcome);
    EXPECT_EQ(runs_[static_cast<std::size_t>(i)]->outcome->outcome, "ok");
    EXPECT_EQ(ContentOf(dir + "/logs/worker.0.0.log"), "I am " + std::to_string(i) + "\n");
    const JournalContents journal = ReadJournal(dir + "/journal.jsonl");
    EXPECT_EQ(journal.stopped, "");
    ASSERT_FALSE(journal.records.empty());
    EXPECT_EQ(EntryName(journal.records.back().entry), "run_ended");
    const Result<Report> report = MakeReport(dir);
    ASSERT_TRUE(report) << report.error().front().message;
    EXPECT_EQ(report->outcome, "ok");
    ++ids[report->run];
  }
  EXPECT_EQ(ids.size(), static_cast<std::size_t>(kRuns));
}

TEST_F(RunInProgressTest, StopsOnlyTheGivenRun) {
  One& one = Begin(Request("one", {"print", "ready", "wait"}));
  One& other = Begin(Request("other", {"print", "ready", "wait"}));
  ASSERT_TRUE(AwaitReady("one"));
  ASSERT_TRUE(AwaitReady("other"));
  one.run->Stop(false);
  ASSERT_TRUE(AwaitEnd(one));
  EXPECT_EQ(one.outcome->outcome, "stopped");
  EXPECT_FALSE(other.outcome);
  EXPECT_TRUE(Lives("other"));
  EXPECT_FALSE(Lives("one"));
  other.run->Stop(true);
  ASSERT_TRUE(AwaitEnd(other));
  EXPECT_EQ(other.outcome->outcome, "stopped");
}

TEST_F(RunInProgressTest, CanBeAbandonedWhileRunning) {
  One& one = Begin(Request("one", {"print", "ready", "wait"}));
  One& other = Begin(Request("other", {"print", "ready", "wait"}));
  ASSERT_TRUE(AwaitReady("one"));
  ASSERT_TRUE(AwaitReady("other"));
  one.run.reset();
  // Runs that start and end keep the loop running until the first run's processes have disappeared.
  for (int i = 0; Lives("one") && i < 1000; ++i) {
    One& more = Begin(Request("more" + std::to_string(i), {"exit", "0"}));
    ASSERT_TRUE(AwaitEnd(more));
  }
  EXPECT_FALSE(Lives("one"));
  EXPECT_FALSE(one.outcome);
  EXPECT_TRUE(Lives("other"));
  other.run->Stop(true);
  EXPECT_TRUE(AwaitEnd(other));
}

TEST_F(RunInProgressTest, IsLostWithItsHost) {
  One& one = Begin(Request("one", {"print", "ready", "wait"}));
  One& other = Begin(Request("other", {"print", "ready", "wait"}));
  ASSERT_TRUE(AwaitReady("one"));
  ASSERT_TRUE(AwaitReady("other"));
  ::kill(standing_, SIGKILL);
  ASSERT_TRUE(AwaitEnd(one));
  ASSERT_TRUE(AwaitEnd(other));
  EXPECT_EQ(one.outcome->outcome, "lost");
  EXPECT_NE(other.outcome->why.find("the agent of the host was lost"), std::string::npos) << other.outcome->why;
  EXPECT_FALSE(Lives("one"));
  EXPECT_FALSE(Lives("other"));
}

TEST_F(RunInProgressTest, OmitsRedundantFilesUnlessItFailed) {
  fs::create_directory(scratch_ / "recipe");
  PutFile(scratch_ / "recipe/train.lua", "-- a recipe\n");
  RunRequest request = Request("good", {"exit", "0"});
  request.sources = {{"train.lua", "-- a recipe\n"}, {"part.lua", "-- not in the folder\n"}};
  request.linked_sources = scratch_ / "recipe";
  ASSERT_TRUE(AwaitEnd(Begin(std::move(request))));
  for (const char* left_out : {"plan.txt", "report.json", "report.txt", "control"}) {
    EXPECT_FALSE(fs::exists(scratch_ / "good/" + left_out)) << left_out;
  }
  EXPECT_EQ(fs::hard_link_count(scratch_ / "good/recipe/train.lua"), 2U);
  EXPECT_EQ(ContentOf(scratch_ / "good/recipe/part.lua"), "-- not in the folder\n");
  EXPECT_EQ(ModeOf(scratch_ / "good/recipe/part.lua"), 0600U);

  One& bad = Begin(Request("bad", {"exit", "3"}));
  ASSERT_TRUE(AwaitEnd(bad));
  EXPECT_EQ(bad.outcome->outcome, "failed");
  EXPECT_EQ(bad.outcome->exit_code, 1);
  EXPECT_TRUE(fs::exists(scratch_ / "bad/report.json"));
}

TEST_F(RunInProgressTest, OpensItsControlSocketAfterAWhile) {
  One& one = Begin(Request("one", {"print", "ready", "wait"}));
  ASSERT_TRUE(AwaitReady("one"));
  EXPECT_TRUE(Until([&] { return fs::exists(scratch_ / "one/control"); }));
  one.run->Stop(true);
  ASSERT_TRUE(AwaitEnd(one));
  EXPECT_FALSE(fs::exists(scratch_ / "one/control"));
}

TEST_F(RunInProgressTest, PrintsNothingOnTheTerminal) {
  ::testing::internal::CaptureStderr();
  ::testing::internal::CaptureStdout();
  const bool ended = AwaitEnd(Begin(Request("bad", {"print", "words", "exit", "3"})));
  EXPECT_EQ(::testing::internal::GetCapturedStdout() + ::testing::internal::GetCapturedStderr(), "");
  EXPECT_TRUE(ended);
}

TEST_F(RunInProgressTest, RefusesAFolderThatIsInUse) {
  fs::create_directory(scratch_ / "full");
  PutFile(scratch_ / "full/something", "x");
  const auto transport = agents_->TransportFor({0});
  const auto run = RunInProgress::Begin(io_, Request("full", {"exit", "0"}), *transport,
                                        [](const RunOutcome&) { ADD_FAILURE() << "nothing was begun"; });
  ASSERT_FALSE(run);
  EXPECT_NE(run.error().front().message.find("is not empty"), std::string::npos);
}

}  // namespace
}  // namespace muster::testing
