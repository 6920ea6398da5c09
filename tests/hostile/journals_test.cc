// Tests mutated journals with correct checksums in every reader of run directories, sparse journals and logs, and runs
// that muster ls cannot read.
#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include "base/system/unique_fd.h"
#include "hostile/mutation.h"
#include "plan/plan/roles.h"
#include "plan/text/plan_json.h"
#include "run/console/watch.h"
#include "run/journal/journal.h"
#include "run/journal/run_summary.h"
#include "run/lines/journal_file.h"
#include "run/logs/log_choice.h"
#include "run/report/dump_report.h"
#include "run/report/rehearsal.h"
#include "run/report/report.h"
#include "run/report/report_json.h"
#include "run/sample_entries.h"
#include "run/sample_plan.h"
#include "support/command.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/temp_dir.h"
#include "sweep/trial/trial_class.h"
#include "top/top_snapshots.h"

namespace muster::testing {
namespace {

using nlohmann::json;

Plan PlanOfTheRun() {
  Plan plan = SamplePlan({{"server", 2, Ending::kNever}, {"worker", 4}}, 2);
  plan.roles[1].limits.log_bytes = 1U << 20;
  plan.hosts[0].devices = 2;
  plan.processes[2].devices = {0, 1};
  plan.mindspore = "2.5.0";
  Fold(plan);
  return plan;
}

// A failing run with two attempts and a dump, and one of each kind of entry.
std::vector<JournalEntry> Story() {
  std::vector<JournalEntry> story;
  RunBegan began;
  began.run_id = "3f9a1c2b4d5e";
  began.plan_id = std::string(64, 'a');
  began.name = "sample";
  began.rehearsal = true;
  began.tags = {"a", "b=1"};
  story.emplace_back(began);
  for (std::uint32_t host = 0; host < 2; ++host) {
    story.emplace_back(HostReached{host, "n" + std::to_string(host), "10.0.0.1", false});
    story.emplace_back(AgentConnected{host, 100, 1, "n" + std::to_string(host), {"pidfd", "collapse-range"}, "", 9, 9});
    story.emplace_back(ClockCompared{host, -5'000, 1'000});
  }
  story.emplace_back(PlanBound{"/runs/x", {{"n0", "10.0.0.1", {"0", "1"}}, {"n1", "10.0.0.2", {}}}, {{"rpc", 7}}});
  for (std::uint32_t attempt = 0; attempt < 2; ++attempt) {
    for (ProcessId process = 0; process < 6; ++process) story.emplace_back(StartOrdered{process, attempt});
    for (ProcessId process = 0; process < 6; ++process) {
      story.emplace_back(ProcessStarted{process, attempt, 200 + static_cast<int>(process), 3, 50'000'000});
      story.emplace_back(ProcessReady{process, attempt, 60'000'000});
      story.emplace_back(FirstOutput{process, attempt, 61'000'000});
    }
    if (attempt == 0) {
      ProcessExited crashed;
      crashed.process = 3;
      crashed.code = 1;
      crashed.at = 70'000'000;
      story.emplace_back(crashed);
      story.emplace_back(RestartPlanned{3, 0, "job", {0, 1, 2, 3, 4, 5}, 1, 2, 10, "worker.1 exited with code 1"});
      for (ProcessId process = 0; process < 6; ++process) {
        ProcessExited ended;
        ended.process = process;
        ended.signalled = true;
        ended.code = 15;
        ended.at = 80'000'000;
        if (process != 3) story.emplace_back(ended);
      }
    }
  }
  for (JournalEntry& entry : OneOfEach()) {
    if (!std::holds_alternative<RunBegan>(entry) && !std::holds_alternative<RunEnded>(entry)) {
      story.push_back(std::move(entry));
    }
  }
  story.emplace_back(DumpOrdered{2, "asked"});
  story.emplace_back(FirstFailure{3, 1});
  story.emplace_back(LimitPassed{3, 1, "silent", 5});
  ProcessExited last;
  last.process = 3;
  last.attempt = 1;
  last.code = 9;
  last.at = 90'000'000;
  story.emplace_back(last);
  story.emplace_back(RunEnded{Cause::kFailed, 1, "worker.1 exited with code 9", 9, 9});
  return story;
}

std::vector<json> Records(const std::vector<JournalEntry>& entries) {
  std::vector<json> records;
  for (const JournalEntry& entry : entries) {
    const std::uint64_t seq = records.size() + 1;
    json record = json::parse(JournalLine({seq, "2026-11-20T12:06:16.000000Z", 1'000'000 * seq, entry}));
    record.erase("crc");
    records.push_back(std::move(record));
  }
  return records;
}

std::string LinesOfRecords(const std::vector<json>& records) {
  std::string text;
  for (const json& record : records) {
    std::string line = record.dump(-1, ' ', false, json::error_handler_t::replace);
    line.pop_back();
    SealLine(line);
    text += line;
  }
  return text;
}

std::string MutatedJournal(const std::vector<json>& story, Dice& dice, CaseStory& reported) {
  std::vector<json> records = story;
  for (std::uint64_t changes = 1 + dice.Below(4); changes > 0; --changes) {
    const std::size_t at = dice.Below(records.size());
    const std::string name = records[at].contains("event") ? records[at]["event"].dump() : "?";
    switch (dice.Below(8)) {
      case 0:
        records.erase(records.begin() + static_cast<std::ptrdiff_t>(at));
        reported.Did("without record " + std::to_string(at) + " (" + name + ")");
        break;
      case 1: {
        const json copy = records[at];
        for (std::uint64_t n = dice.OneIn(20) ? 2'000 : 1; n > 0; --n) records.push_back(copy);
        reported.Did("record " + std::to_string(at) + " (" + name + ") again at the end");
        break;
      }
      case 2: {
        const std::size_t other = dice.Below(records.size());
        std::swap(records[at], records[other]);
        reported.Did("records " + std::to_string(at) + " and " + std::to_string(other) + " swapped");
        break;
      }
      default:
        reported.Did("record " + std::to_string(at) + " (" + name + ") " + ChangeOne(records[at], dice));
    }
    if (records.empty()) break;
  }
  const bool renumbered = !dice.OneIn(20);
  for (std::size_t i = 0; renumbered && i < records.size(); ++i) {
    if (records[i].is_object()) records[i]["seq"] = i + 1;
  }
  std::string text = LinesOfRecords(records);
  if (dice.OneIn(10)) reported.Did(ChangeBytes(text, dice));
  return text;
}

// Calls every reader of a run directory.
void ReadAll(const std::string& run_dir, int nowhere) {
  if (const auto report = MakeReport(run_dir)) {
    (void)ReportText(*report);
    (void)ReportJson(*report);
    if (const auto choice = LogChoice::Of(*report, {})) (void)choice->In(run_dir + "/logs");
  }
  for (const bool counted : {false, true}) (void)SummarizeRun(run_dir, counted);
  (void)TraceRun(run_dir);
  for (const std::uint32_t number : {0U, 1U, 2U}) {
    if (const auto dump = FindDump(run_dir, number, {})) {
      (void)DumpText(*dump, 100);
      (void)DumpJsonText(run_dir, *dump);
    }
  }
  if (const auto rehearsal = ReadRehearsal(run_dir)) {
    (void)RehearsalText(*rehearsal);
    (void)RehearsalJson(*rehearsal);
  }
  static const Plan plan = PlanOfTheRun();
  RunOutcome outcome;
  outcome.run_dir = run_dir;
  outcome.outcome = "failed";
  (void)ClassOfRun(plan, outcome, {}, {"n0", "n1"});
  (void)ReadTopState(run_dir);
  ConsoleOptions console;
  console.out = console.err = nowhere;
  (void)WatchRun(run_dir, console, false);
}

class HostileJournals : public ::testing::Test {
 protected:
  void SetUp() override {
    PutContent(folder / "run/plan.json", PlanToJson(PlanOfTheRun()));
    PutContent(folder / "run/logs/worker.1.0.log", "Traceback:\n  File \"a.py\", line 1, in x\nValueError: bad\n");
    PutContent(folder / "run/logs/worker.1.1.log", std::string(100'000, 'x') + "\nend\n");
    PutContent(folder / "run/metrics/worker.0.0.jsonl", "{\"loss\": 1}\n");
  }
  CommandResult Muster(std::vector<std::string> words) const {
    words.insert(words.begin(), MusterProgram());
    return RunCommand({words,
                       {"PATH=/usr/bin:/bin", "MUSTER_HOME=" + folder.path(), "XDG_RUNTIME_DIR=" + folder.path()},
                       folder.path()});
  }

  TempDir folder;
  const std::vector<json> story = Records(Story());
};

TEST_F(HostileJournals, AreReadByEveryReader) {
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const auto wrong = TryCases(1, CasesOf(5'000, 25), [&](Dice& dice, CaseStory& reported) -> std::string {
    PutContent(folder / "run/journal.jsonl", MutatedJournal(story, dice, reported));
    ReadAll(folder / "run", nowhere.get());
    return {};
  });
  EXPECT_TRUE(wrong.empty()) << Lines(wrong);
}

TEST_F(HostileJournals, AreReadUnchangedWithoutMutations) {
  PutContent(folder / "run/journal.jsonl", LinesOfRecords(story));
  const auto report = MakeReport(folder / "run");
  ASSERT_TRUE(report);
  EXPECT_EQ(report->outcome, "failed");
  EXPECT_EQ(report->restarts.size(), 2U);
  EXPECT_TRUE(report->first_failure);
}

// Passes a sample of mutated journals to the real commands.
TEST_F(HostileJournals, AreReadByTheCommands) {
  std::filesystem::create_directories(folder / "runs/sample");
  const std::string run = folder / "runs/sample/20261120-120616-3f9a1c2b4d5e";
  std::filesystem::rename(folder / "run", run);
  for (std::uint64_t seed = 100'001; seed < 100'001 + CasesOf(200, 50); ++seed) {
    Dice dice(seed);
    CaseStory reported;
    PutContent(run + "/journal.jsonl", MutatedJournal(story, dice, reported));
    for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{{"report", run},
                                                                                       {"report", "--json", run},
                                                                                       {"ls"},
                                                                                       {"ps", "--all"},
                                                                                       {"logs", run, "--tail", "3"},
                                                                                       {"dump", run},
                                                                                       {"top", "--once", run},
                                                                                       {"watch", run}}) {
      const CommandResult result = Muster(words);
      EXPECT_LE(result.exit_code, 4) << "seed " << seed << ": " << reported.text() << words.front() << "\n"
                                     << result.err;
    }
  }
}

// A sparse file of 900 GB.
TEST_F(HostileJournals, OfHugeSizeCostOnlyTheirContent) {
  const std::string journal = folder / "run/journal.jsonl";
  PutContent(journal, LinesOfRecords(story));
  std::error_code error;
  std::filesystem::resize_file(journal, std::uintmax_t{900} << 30, error);
  if (error) GTEST_SKIP() << "no file is that long here";
  const UniqueFd nowhere(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  const auto wrong = TryCases(1, 1, [&](Dice&, CaseStory&) -> std::string {
    ReadAll(folder / "run", nowhere.get());
    const auto report = MakeReport(folder / "run");
    return report && report->journal_damage.find("the last line is cut") != std::string::npos
               ? ""
               : "the damage is not told";
  });
  EXPECT_TRUE(wrong.empty()) << Lines(wrong);
}

TEST_F(HostileJournals, AreNamedByALsThatCannotReadThem) {
  const auto put = [&](const std::string& id, const std::string& journal) {
    const std::string run = folder / ("runs/sample/20261120-120616-" + id);
    std::filesystem::create_directories(run);
    std::filesystem::copy(folder / "run/plan.json", run + "/plan.json");
    if (journal != "none") PutContent(run + "/journal.jsonl", journal);
    return run;
  };
  put("aaaaaaaaaaaa", LinesOfRecords(story));
  put("bbbbbbbbbbbb", "");
  put("cccccccccccc", "none");
  const CommandResult well = Muster({"ls"});
  EXPECT_EQ(well.exit_code, 0) << "a head that has written nothing yet is nothing wrong: " << well.err;
  EXPECT_EQ(well.err, "");
  const std::string bad = put("dddddddddddd", "no journal\n");
  for (const std::vector<std::string>& words :
       std::vector<std::vector<std::string>>{{"ls"}, {"ls", "--json"}, {"ls", "--columns", "id"}, {"ps", "--all"}}) {
    const CommandResult listed = Muster(words);
    EXPECT_EQ(listed.exit_code, 1) << words.back();
    EXPECT_NE(listed.out.find("3f9a1c2b4d5e"), std::string::npos) << "the others are there: " << listed.out;
    EXPECT_NE(listed.err.find(bad), std::string::npos) << "and it is named: " << listed.err;
  }
  EXPECT_EQ(Muster({"ps"}).exit_code, 0) << "it is not going on";
}

// A log of 8 TiB: a host can create one by writing far beyond the end.
TEST_F(HostileJournals, MayHaveLogsOfHugeSize) {
  const std::string log = folder / "run/logs/worker.0.1.log";
  PutContent(folder / "run/journal.jsonl", LinesOfRecords(story));
  PutContent(log, "begin\n");
  {
    const UniqueFd file(::open(log.c_str(), O_WRONLY | O_CLOEXEC));
    if (::pwrite(file.get(), "one\ntwo\n", 8, off_t{1} << 43) != 8) GTEST_SKIP() << "no file is that long here";
  }
  const CommandResult tail = Muster({"logs", folder / "run", "--tail", "3", "--role", "worker", "--index", "0"});
  EXPECT_EQ(tail.exit_code, 0) << tail.err;
  EXPECT_NE(tail.out.find("one\n"), std::string::npos) << tail.out;
  EXPECT_TRUE(tail.out.ends_with("two\n")) << tail.out;
  const CommandResult whole = Muster({"logs", folder / "run", "--role", "worker", "--index", "0"});
  EXPECT_EQ(whole.exit_code, 0) << whole.err;
  EXPECT_TRUE(whole.out.ends_with("two\n")) << whole.out.substr(0, 1'000);
  EXPECT_LT(whole.out.size(), 1U << 20);
  EXPECT_NE(whole.err.find("or never written"), std::string::npos) << whole.err;
}

}  // namespace
}  // namespace muster::testing
