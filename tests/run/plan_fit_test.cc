// Tests journals with correct checksums that do not match their plan.
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "plan/plan/roles.h"
#include "plan/text/plan_json.h"
#include "run/history_of.h"
#include "run/journal/run_history.h"
#include "run/report/dump_report.h"
#include "run/report/rehearsal.h"
#include "run/report/report.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"

namespace muster {
namespace {

constexpr ProcessId kNobody = std::numeric_limits<ProcessId>::max();

JournalContents Contents(std::vector<JournalEntry> entries) {
  JournalContents contents;
  for (JournalEntry& entry : entries) {
    contents.records.push_back({contents.records.size() + 1, "w", 0, std::move(entry)});
  }
  return contents;
}

std::vector<std::string> Kept(const Plan& plan, std::vector<JournalEntry> entries) {
  std::vector<std::string> names;
  PlanFit fit(plan);
  for (const JournalRecord& record : Contents(std::move(entries)).records) {
    if (fit.Take(record)) names.emplace_back(EntryName(record.entry));
  }
  return names;
}

template <class E>
JournalEntry OfNobody() {
  E entry;
  entry.process = kNobody;
  return entry;
}

using Names = std::vector<std::string>;

TEST(PlanFit, SkipsRecordsOfUnknownProcesses) {
  const Plan plan = SamplePlan({{"worker", 2}});
  EXPECT_EQ(Kept(plan, {StartOrdered{1, 0}, StartOrdered{2, 0}, StartOrdered{kNobody, 0}}), Names{"start_ordered"});
  EXPECT_EQ(Kept(plan, {StopOrdered{{0, 1}, 15, 0}, StopOrdered{{0, 2}, 15, 0}, StopOrdered{{0, 1, 0}, 15, 0}}),
            Names{"stop_ordered"});
  for (const JournalEntry& entry :
       {OfNobody<FirstFailure>(), OfNobody<FailureTraced>(), OfNobody<ProcessStarted>(), OfNobody<ProcessExited>(),
        OfNobody<SpawnFailed>(), OfNobody<LimitPassed>(), OfNobody<EndEvidence>(), OfNobody<PortTaken>(),
        OfNobody<PtyOpened>(), OfNobody<RestartPlanned>(), OfNobody<ProcessDumped>(),
        JournalEntry(OutputSeen{0, {kNobody}, {1}})}) {
    EXPECT_EQ(Kept(plan, {entry}), Names()) << EntryName(entry);
  }
}

TEST(PlanFit, SkipsRecordsOfAttemptsThatWereNotOrdered) {
  const Plan plan = SamplePlan({{"worker", 2}});
  const std::uint32_t most = std::numeric_limits<std::int32_t>::max();
  EXPECT_EQ(Kept(plan, {StartOrdered{0, most}, StartOrdered{0, 1}}), Names());
  EXPECT_EQ(Kept(plan, {StartOrdered{0, 0}, StartOrdered{0, 0}, FirstFailure{0, 1}, FirstFailure{1, 0}}),
            (Names{"start_ordered", "first_failure"}));
  EXPECT_EQ(Kept(plan, {StartOrdered{0, 0}, StartOrdered{0, 1}, ProcessStarted{0, 1, 1, 1, 1}}).size(), 3U);
}

TEST(PlanFit, SkipsRecordsOfImpossibleHosts) {
  const Plan plan = SamplePlan({{"worker", 2}}, 2);
  EXPECT_EQ(Kept(plan, {AgentLost{1 + kMaxSpares, "", 0}, AgentLost{2 + kMaxSpares, "", 0}}).size(), 1U);
  EXPECT_EQ(Kept(plan, {ReplaceOrdered{kNobody, 0}, ReplaceOrdered{0, kNobody}}), Names());
  HostsCompared compared;
  compared.differences = {{"kernel", {{"6.1", {0, 1}}, {"6.2", {kNobody}}}}};
  EXPECT_EQ(Kept(plan, {compared}), Names()) << "numbers inside of lists count";
  compared.differences = {{"kernel", {{"6.1", {0, 1, 1}}}}};
  EXPECT_EQ(Kept(plan, {compared}), Names()) << "a set of hosts holds each once";
  compared.differences = {{"kernel", {{"6.1", {0, 1}}}}};
  EXPECT_EQ(Kept(plan, {compared}).size(), 1U);
}

TEST(PlanFit, ReportsWhatItSkipped) {
  const Plan plan = SamplePlan({{"worker", 2}});
  EXPECT_EQ(HistoryOf(plan, Contents({FirstFailure{1, 0}})).damage, "");
  EXPECT_EQ(HistoryOf(plan, Contents({FinishOrdered{}, FirstFailure{7, 0}})).damage,
            "record 2 (first_failure) names process 7, and the plan has 2");
  JournalContents contents = Contents({FirstFailure{7, 0}, FirstFailure{0, 3}});
  contents.stopped = "the last line is cut";
  EXPECT_EQ(
      HistoryOf(plan, std::move(contents)).damage,
      "the last line is cut; 2 records do not match the plan, the first: record 1 (first_failure) names process 7, "
      "and the plan has 2");
}

// Prevents: a report of such a run crashes or hangs.
TEST(PlanFit, IsCheckedForReports) {
  const ScratchFolder scratch;
  Plan plan = SamplePlan({{"worker", 2}});
  plan.roles[0].limits.log_bytes = 1U << 20;
  Fold(plan);
  std::filesystem::create_directories(scratch / "logs");
  PutFile(scratch / "plan.json", PlanToJson(plan));
  RunBegan began;
  began.run_id = "a1b2";
  began.rehearsal = true;
  HostsCompared compared;
  compared.differences = {{"driver of gpu", {{"1", {0, 40}}, {"2", {0}}}}};
  std::string journal;
  for (const JournalRecord& record :
       Contents({began, compared, StartOrdered{kNobody, 0}, StartOrdered{0, 0x7fffffff}, OfNobody<ProcessStarted>(),
                 DumpOrdered{1, "asked"}, AgentLost{0, "gone", 0}, FirstFailure{kNobody, 0}})
           .records) {
    journal += JournalLine(record);
  }
  PutFile(scratch / "journal.jsonl", journal);
  const Result<Report> report = MakeReport(scratch.path());
  ASSERT_TRUE(report);
  EXPECT_EQ(report->processes.size(), 2U);
  EXPECT_NE(ReportText(*report).find("the journal could be read only in part: 4 records do not match the plan"),
            std::string::npos)
      << ReportText(*report);
  EXPECT_FALSE(FindDump(scratch.path(), 0, {}));
  EXPECT_TRUE(ReadRehearsal(scratch.path()));
}

}  // namespace
}  // namespace muster
