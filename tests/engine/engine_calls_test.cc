// Tests the commands that an engine's page comes to: one golden file for each engine.
#include "engine/engine_calls.h"

#include <chrono>
#include <optional>

#include <gtest/gtest.h>

#include "base/values/quoting.h"
#include "engine/own_page.h"
#include "support/golden.h"

namespace muster {
namespace {

using testing::OwnPage;
using Words = std::vector<std::string>;

const Allocation kAllocation = {"12", {{"n1", 0, 8}, {"n2", 2, 8}, {"n3", 4, 8}, {"login", 6, {}}}};

std::string Lines(const std::string& what, const std::vector<EngineCall>& calls) {
  std::string text;
  for (const EngineCall& call : calls) text += what + ": " + ShellQuoted(std::span(call.words)) + "\n";
  return text;
}

std::string AllCalls(const EnginePage& page) {
  const Words hosts = {"n1", "n3"};
  const Words jobs = {"12", "13"};
  const auto start =
      StartCall(page, kAllocation, hosts,
                {"/opt/my tools/muster-agent", "/home/ann/.local/state/muster/dial/x", {"--isolate", "pid"}});
  EXPECT_TRUE(start);
  if (!start) return {};
  bool on_stdin = false;
  const EngineCall submit = SubmitCall(page, "/tmp/job.sh", on_stdin);
  std::string text = Lines("start", {*start});
  text += Lines(on_stdin ? "submit (script on stdin)" : "submit", {submit});
  text += Lines("cancel", CancelCalls(page, jobs)) + Lines("signal", SignalCalls(page, jobs, "TERM"));
  for (const EngineQuery& query : page.queries) text += Lines("query", QueryCalls(page, query, jobs));
  return text;
}

TEST(EngineCalls, AreGoldenForEachEngine) {
  for (const std::string& engine : OwnEngineNames()) {
    if (OwnPage(engine).manifest) continue;  // no command is part of its page
    testing::ExpectGolden(AllCalls(OwnPage(engine)), "tests/engine/golden/" + engine + ".calls");
  }
}

TEST(EngineCalls, StartOnlyOnHostsOfTheAllocation) {
  const Words hosts = {"n1", "n9"};
  const auto start = StartCall(OwnPage("slurm"), kAllocation, hosts, {"/a", "/d"});
  ASSERT_FALSE(start);
  EXPECT_EQ(start.error().front().message, "host n9 is not in the allocation of slurm job 12");
}

TEST(EngineCalls, APageWithoutAPlaceForOptionsRefusesThem) {
  EnginePage page = OwnPage("slurm");
  page.start.pop_back();
  const Words hosts = {"n1"};
  EXPECT_TRUE(StartCall(page, kAllocation, hosts, {"/a", "/d"}));
  const auto start = StartCall(page, kAllocation, hosts, {"/a", "/d", {"--isolate", "pid"}});
  ASSERT_FALSE(start);
  EXPECT_EQ(start.error().front().message,
            "slurm: its start command has no place for options of the agent: --isolate pid");
}

TEST(EngineCalls, RemoveVariablesThatWouldChangeTheAnswer) {
  const Words clear = {"SQUEUE_*", "SLURM_WAIT"};
  EXPECT_EQ(WithoutVariables({"SQUEUE_FORMAT=%i", "SLURM_WAIT=1", "SLURM_WAITING=1", "PATH=/bin", "odd"}, clear),
            (Words{"SLURM_WAITING=1", "PATH=/bin", "odd"}));
}

TEST(EngineCalls, FindTheJobInWhatTheSubmissionPrinted) {
  EXPECT_EQ(SubmittedJob(OwnPage("slurm"), "4711\n"), "4711");
  EXPECT_EQ(SubmittedJob(OwnPage("slurm"), "4711;cluster2\n"), "4711");
  EXPECT_EQ(SubmittedJob(OwnPage("pbs"), "12.head.site\n"), "12.head.site");
  EXPECT_EQ(SubmittedJob(OwnPage("lsf"), "Job <101> is submitted to queue <normal>.\n"), "101");
  EXPECT_EQ(SubmittedJob(OwnPage("gridengine"), "31.1-4:1\n"), "31");
  EXPECT_FALSE(SubmittedJob(OwnPage("slurm"), ""));
  EXPECT_FALSE(SubmittedJob(OwnPage("lsf"), "Request aborted.\n"));
}

TEST(EngineCalls, NothingIsRequestedAboutNoJob) {
  const EnginePage page = OwnPage("slurm");
  EXPECT_TRUE(QueryCalls(page, page.queries.front(), {}).empty());
  EXPECT_TRUE(CancelCalls(page, {}).empty());
}

TEST(EngineCalls, AreMadeAgainWhileAControllerRestarts) {
  using std::chrono::milliseconds;
  const EnginePage slurm = OwnPage("slurm");
  for (const char* away : {"scontrol: error: Unable to contact slurm controller (connect failure)\n",
                           "slurm_load_jobs error: Socket timed out on send/recv operation\n",
                           "Zero Bytes were transmitted or received"}) {
    EXPECT_EQ(TryAgainAfter(slurm, away, milliseconds(0)), milliseconds(2'000)) << away;
    EXPECT_EQ(TryAgainAfter(slurm, away, milliseconds(58'000)), milliseconds(2'000)) << away;
    EXPECT_EQ(TryAgainAfter(slurm, away, milliseconds(58'001)), std::nullopt) << away;
  }
  EXPECT_EQ(TryAgainAfter(slurm, "slurm_load_jobs error: Invalid job id specified", milliseconds(0)), std::nullopt);
  EXPECT_EQ(TryAgainAfter(slurm, "", milliseconds(0)), std::nullopt);
  EXPECT_EQ(TryAgainAfter(OwnPage("pbs"), "Unable to contact slurm controller", milliseconds(0)), std::nullopt);
}

}  // namespace
}  // namespace muster
