// Tests how stub reports and the journal become a table of checks and named failures.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "run/history_of.h"
#include "run/report/rehearsal.h"
#include "run/start/rehearsal_plan.h"

namespace muster {
namespace {

using Outcome = StubFinding::Outcome;

// Four workers, two on each of n1 and n2.
Plan Four(std::uint16_t master = 0) {
  Plan plan;
  plan.name = "job";
  plan.framework = "torch";
  plan.hosts = {{"host0", 2, "n1"}, {"host1", 2, "n2"}};
  Role role;
  role.name = role.plays = role.world = "worker";
  role.command = {"python3", "train.py"};
  plan.roles = {role};
  for (std::uint32_t i = 0; i < 4; ++i) {
    Process process;
    process.index = i;
    process.rank = i;
    process.world_size = 4;
    process.host = i / 2;
    plan.processes.push_back(process);
  }
  plan.ports = {{"master", {0, master, "worker.0"}}};
  return RehearsalPlan(std::move(plan), {});
}

RunHistory Journal(std::vector<JournalEntry> more, Cause cause = Cause::kNone) {
  JournalContents journal;
  RunBegan began;
  began.run_id = "r1";
  began.name = "job";
  began.rehearsal = true;
  more.insert(more.begin(), JournalEntry(began));
  RunEnded ended;
  ended.cause = cause;
  ended.exit_code = cause == Cause::kNone ? 0 : 3;
  more.emplace_back(ended);
  for (JournalEntry& entry : more) {
    const std::uint64_t number = journal.records.size();
    journal.records.push_back({number + 1, "", number * 1'000'000'000, std::move(entry)});
  }
  return HistoryOf(Four(), std::move(journal));
}

std::vector<std::optional<StubReport>> Well(std::uint32_t count = 4) {
  std::vector<std::optional<StubReport>> reports;
  for (std::uint32_t i = 0; i < count; ++i) {
    StubReport report;
    report.process = i;
    report.says_rank = i;
    report.greeted = count - 1;
    for (const Check check :
         {Check::kRanks, Check::kCounts, Check::kPorts, Check::kRendezvousEndpoint, Check::kHello, Check::kFiles})
      report.findings.push_back({check, Outcome::kOk, "well", "", {}});
    reports.emplace_back(std::move(report));
  }
  return reports;
}

const RehearsalRow& Row(const Rehearsal& rehearsal, Check check) {
  return rehearsal.rows[static_cast<std::size_t>(check)];
}

std::string Failures(const Rehearsal& rehearsal) {
  std::string text;
  for (const RehearsalFailure& failure : rehearsal.failures) {
    text += std::string(CheckName(failure.check)) + " [" + PartyText(rehearsal, failure.processes) + "]";
    if (!failure.peers.empty()) text += " [" + PartyText(rehearsal, failure.peers) + "]";
    text += " " + failure.text + "\n";
  }
  return text;
}

TEST(Rehearsal, SucceedsIfEveryStubDoes) {
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({}), Well());
  EXPECT_EQ(Failures(rehearsal), "");
  EXPECT_TRUE(rehearsal.ok());
  EXPECT_EQ(RehearsalExitCode(rehearsal), 0);
  EXPECT_EQ(Row(rehearsal, Check::kRanks).text, "4 ranks, each once");
  EXPECT_EQ(Row(rehearsal, Check::kHello).text, "12 greetings, all pairs");
  EXPECT_EQ(Row(rehearsal, Check::kDevices),
            (RehearsalRow{Check::kDevices, Outcome::kNotChecked, "no process has devices"}));
  EXPECT_EQ(rehearsal.rows.size(), std::size_t{kChecks});
}

TEST(Rehearsal, NamesDuplicateRanks) {
  auto reports = Well();
  reports[3]->says_rank = 0;
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({}), reports);
  EXPECT_EQ(Failures(rehearsal),
            "ranks [rank 0 (worker.0) on n1] rank 0 occurs 2 times\n"
            "ranks [rank 3 (worker.3) on n2] rank 0 occurs 2 times\n");
  EXPECT_EQ(RehearsalExitCode(rehearsal), 1);
  EXPECT_EQ(Row(rehearsal, Check::kRanks).outcome, Outcome::kFailed);
}

TEST(Rehearsal, FoldsTheProcessesOfTwoHostsThatCannotReachEachOther) {
  auto reports = Well();
  for (std::uint32_t i : {0U, 1U})
    reports[i]->findings.push_back({Check::kHello, Outcome::kFailed, "no answer", "a firewall", {2, 3}});
  for (std::uint32_t i : {2U, 3U})
    reports[i]->findings.push_back({Check::kHello, Outcome::kFailed, "no answer", "a firewall", {0, 1}});
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({}), reports);
  EXPECT_EQ(Failures(rehearsal),
            "hello [ranks 0-1 (worker) on n1] [ranks 2-3 (worker) on n2] no answer\n"
            "hello [ranks 2-3 (worker) on n2] [ranks 0-1 (worker) on n1] no answer\n");
}

TEST(Rehearsal, NamesAStubWithoutReport) {
  auto reports = Well();
  reports[2].reset();
  SpawnFailed failed;
  failed.process = 2;
  failed.stage = "directory";
  failed.error = 2;
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({failed}, Cause::kSpawn), reports);
  ASSERT_EQ(rehearsal.failures.size(), 1U);
  EXPECT_EQ(rehearsal.failures[0].check, Check::kStart);
  EXPECT_EQ(rehearsal.failures[0].processes, (std::vector<std::uint32_t>{2}));
  EXPECT_EQ(RehearsalExitCode(rehearsal), 1);
}

TEST(Rehearsal, SkipsChecksWithoutReports) {
  std::vector<JournalEntry> entries;
  for (std::uint32_t i = 0; i < 4; ++i) {
    SpawnFailed failed;
    failed.process = i;
    failed.stage = "directory";
    failed.error = 2;
    entries.emplace_back(failed);
  }
  std::vector<std::optional<StubReport>> reports(4);
  const Rehearsal none = JudgeRehearsal(Four(), Journal(entries, Cause::kSpawn), reports);
  EXPECT_EQ(Row(none, Check::kStart).text, "4 of 4 processes");
  for (int i = static_cast<int>(Check::kRanks); i < kChecks; ++i) {
    const auto check = static_cast<Check>(i);
    EXPECT_EQ(Row(none, check), (RehearsalRow{check, Outcome::kNotChecked, "no stub started"})) << CheckName(check);
  }
  const Rehearsal silent = JudgeRehearsal(Four(), Journal({ProcessStarted{}}, Cause::kTimeLimit), reports);
  EXPECT_EQ(Row(silent, Check::kRendezvousEndpoint).text, "no stub reported");
  reports[1] = Well()[1];
  std::erase_if(reports[1]->findings, [](const StubFinding& finding) { return finding.check != Check::kFiles; });
  const Rehearsal one = JudgeRehearsal(Four(), Journal({}, Cause::kSpawn), reports);
  EXPECT_EQ(Row(one, Check::kRanks), (RehearsalRow{Check::kRanks, Outcome::kOk, "1 of 4 ranks, each once"}));
  EXPECT_EQ(Row(one, Check::kCounts), (RehearsalRow{Check::kCounts, Outcome::kNotChecked, "no stub reported it"}));
}

TEST(Rehearsal, ReportsFilesMissingOnSomeHosts) {
  auto reports = Well();
  for (auto& report : reports) {
    report->files.push_back({CheckedFile::Kind::kPath, "data.csv", "/d/data.csv", "", 3, ""});
    report->files.push_back({CheckedFile::Kind::kPath, "out.txt", "", "gone", 0, ""});
  }
  reports[2]->files[0].path.clear();
  reports[3]->files[0].path.clear();
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({}), reports);
  EXPECT_EQ(Failures(rehearsal), "files [rank 2 (worker.2) on n2] \"data.csv\" is missing, but exists on n1\n");
  ASSERT_EQ(rehearsal.notes.size(), 2U) << "one for each host";
  EXPECT_EQ(rehearsal.notes[0].text, "\"out.txt\" does not exist; the job may create it");
}

TEST(Rehearsal, TreatsAnUnreadableFileAsUnknown) {
  auto reports = Well();
  reports[0]->files.push_back({CheckedFile::Kind::kPath, "data.csv", "/d/data.csv", "Permission denied", 0, ""});
  reports[2]->files.push_back({CheckedFile::Kind::kPath, "data.csv", "", "No such file or directory", 0, ""});
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({}), reports);
  EXPECT_EQ(Failures(rehearsal), "");
  ASSERT_EQ(rehearsal.notes.size(), 1U);
  EXPECT_EQ(PartyText(rehearsal, rehearsal.notes[0].processes), "rank 2 (worker.2) on n2");
}

TEST(Rehearsal, ReportsDifferingPrograms) {
  auto reports = Well();
  for (std::uint32_t i : {0U, 2U})
    reports[i]->files.push_back({CheckedFile::Kind::kProgram, "python3", "/usr/bin/python3.11", "", 10, "aaaa"});
  const Rehearsal same = JudgeRehearsal(Four(), Journal({}), reports);
  EXPECT_EQ(Row(same, Check::kVersions).text, "the same on 2 hosts: python3");
  reports[2]->files[0].hash = "bbbb";
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({}), reports);
  ASSERT_EQ(rehearsal.failures.size(), 1U);
  EXPECT_EQ(rehearsal.failures[0].check, Check::kVersions);
  EXPECT_EQ(PartyText(rehearsal, rehearsal.failures[0].processes), "rank 2 (worker.2) on n2");
}

TEST(Rehearsal, TakesVersionsOfPackagesFromPreflight) {
  HostsCompared compared;
  compared.differences = {{"torch of python3", {{"2.3.1", {0}}, {"2.2.0", {1}}}},
                          {"kernel", {{"6.1", {0}}, {"5.15", {1}}}}};
  compared.faults = {{"disk", "/tmp is full", "make room", {1}}};
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({compared}), Well());
  EXPECT_EQ(Failures(rehearsal),
            "versions [rank 2 (worker.2) on n2] torch of python3 is 2.2.0, and on n1 2.3.1\n"
            "disk [rank 2 (worker.2) on n2] /tmp is full\n");
}

TEST(Rehearsal, NamesTheHostWithADifferingClock) {
  auto reports = Well();
  reports[0]->clocks = {{2, 3'000'000'000, 1'000'000}};
  reports[2]->clocks = {{0, -3'000'000'000, 1'000'000}};
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({}), reports);
  EXPECT_EQ(Failures(rehearsal), "clock [rank 0 (worker.0) on n1] its clock differs from n2's by 3.0 s\n");
  reports[0]->clocks = {{2, 3'000'000'000, 2'500'000'000}};
  reports[2]->clocks = {{0, INT64_MIN, 1}};
  EXPECT_EQ(Failures(JudgeRehearsal(Four(), Journal({}), reports)), "") << "as much as the way leaves uncertain";
}

TEST(Rehearsal, NamesTheProcessOfATakenPort) {
  const std::vector<std::optional<StubReport>> none(4);
  const Rehearsal rehearsal = JudgeRehearsal(
      Four(29500), Journal({PreparationFailed{"ports on n1: port 29500 is in use by pid 7"}}, Cause::kUnready), none);
  EXPECT_EQ(Failures(rehearsal), "ports [rank 0 (worker.0) on n1] ports on n1: port 29500 is in use by pid 7\n");
  EXPECT_EQ(RehearsalExitCode(rehearsal), 1);
  const Rehearsal unreached =
      JudgeRehearsal(Four(29500), Journal({PreparationFailed{"n2: no answer"}}, Cause::kUnready), none);
  EXPECT_EQ(RehearsalExitCode(unreached), 3);
  EXPECT_EQ(Row(unreached, Check::kHello).outcome, Outcome::kNotChecked);
}

TEST(Rehearsal, ReportsThatALaunchersRanksAreNotRehearsed) {
  Plan plan;
  plan.name = "job";
  plan.framework = "mpi";
  plan.hosts = {{"host0", 1, "n1"}};
  Role role;
  role.name = "worker";
  role.plays = "launcher";
  role.command = {"mpirun", "-n", "4", "solve"};
  plan.roles = {role};
  plan.processes.resize(1);
  auto reports = Well(1);
  std::erase_if(reports[0]->findings, [](const StubFinding& finding) { return finding.check != Check::kFiles; });
  reports[0]->says_rank.reset();
  const Rehearsal rehearsal = JudgeRehearsal(RehearsalPlan(std::move(plan), {}), Journal({}), reports);
  EXPECT_EQ(Row(rehearsal, Check::kRanks).outcome, Outcome::kNotChecked);
  EXPECT_EQ(Row(rehearsal, Check::kRanks).text, "the launcher starts the ranks, and they are not rehearsed");
  ASSERT_EQ(rehearsal.notes.size(), 1U);
  EXPECT_NE(rehearsal.notes[0].text.find("mpirun"), std::string::npos);
}

TEST(Rehearsal, RefusesReportsAboutUnknownProcesses) {
  auto reports = Well();
  reports[0]->findings.push_back({Check::kHello, Outcome::kFailed, "no answer", "", {77, 1}});
  reports[0]->clocks = {{4'000'000'000U, 9'000'000'000, 1}};
  EXPECT_EQ(Failures(JudgeRehearsal(Four(), Journal({}), reports)),
            "hello [rank 0 (worker.0) on n1] [rank 1 (worker.1) on n1] no answer\n");
}

TEST(Rehearsal, IsPrintedAsATableOrJson) {
  auto reports = Well();
  reports[3]->findings.push_back({Check::kDevices, Outcome::kFailed, "hidden \x1b[31m", "a hint", {}});
  const Rehearsal rehearsal = JudgeRehearsal(Four(), Journal({}), reports);
  const std::string text = RehearsalText(rehearsal);
  EXPECT_NE(text.find("rehearsal of job: 4 processes on 2 hosts in 1.0 s\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  devices   FAILED       1 of 4 processes\n"), std::string::npos) << text;
  EXPECT_NE(text.find("  devices: rank 3 (worker.3) on n2: hidden \\x1b[31m\n    hint: a hint\n"), std::string::npos)
      << text;
  const auto json = nlohmann::json::parse(RehearsalJson(rehearsal));
  EXPECT_EQ(json["format"], 1);
  EXPECT_EQ(json["ok"], false);
  EXPECT_EQ(json["failures"][0]["processes"][0]["rank"], 3);
  EXPECT_EQ(json["failures"][0]["processes"][0]["host"], "n2");
  EXPECT_EQ(json["checks"].size(), std::size_t{kChecks});
}

}  // namespace
}  // namespace muster
