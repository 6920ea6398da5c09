// Tests that a trial has one result, whichever command shows it.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "muster/value.h"
#include "support/file_content.h"
#include "support/sweep_folder.h"
#include "sweep/made_sweep.h"

namespace muster::testing {
namespace {

using nlohmann::json;

SweepFile FileOf(bool maximize) {
  SweepFile file;
  file.sweep_id = "5e11ab1e0001";
  file.name = "made";
  file.objective = Objective{"loss", maximize, {}};
  file.names = {"lr", "optimizer", "workers"};
  return file;
}

AttemptBegan AttemptBegins(TrialNumber trial, std::uint32_t attempt, ResumedFrom resumed = {}) {
  const Point point = MadePoint(trial);
  return {trial, attempt, PointId(point), point, std::string(64, 'a'), "run" + std::to_string(trial), {}, resumed};
}

AttemptEnded AttemptEnds(TrialNumber trial, std::uint32_t attempt, TrialClass trial_class, std::optional<double> loss) {
  AttemptEnded end;
  end.trial = trial;
  end.attempt = attempt;
  end.trial_class = trial_class;
  end.loss = loss;
  if (loss) end.metrics = {{"loss", *loss}};
  if (IsFailure(trial_class)) end.why = "worker.0 exited with code 7";
  end.ms = 1000;
  return end;
}

std::vector<SweepEntry> Begin(std::uint64_t trials) {
  return {SweepBegan{"5e11ab1e0001", "made", trials, 4711, 77, "b007", "0.9.0", "recipe", false},
          PointsJudged{0, trials, {}}};
}

CommandResult Recomputed(const SweepFolder& folder) {
  return RunCommand({{"/usr/bin/python3", "-B", MUSTER_SOURCE_DIR "/tests/support/recompute_sweep.py", MusterProgram(),
                      folder.path()},
                     {"PATH=/usr/bin:/bin", "TZ=UTC"},
                     folder.path()});
}

void ExpectRecomputed(const SweepFolder& folder) {
  const CommandResult result = Recomputed(folder);
  EXPECT_EQ(result.exit_code, 0) << result.out << result.err;
}

class GeneratedSweeps : public ::testing::TestWithParam<unsigned> {};

// With failures, retries, interrupted attempts, several heads and both directions of the objective.
TEST_P(GeneratedSweeps, HaveTheNumbersOfTheirJournal) {
  ExpectRecomputed(SweepFolder(FileOf(GetParam() % 2 == 1), MadeSweep(GetParam(), 40 + GetParam())));
}

INSTANTIATE_TEST_SUITE_P(Trials, GeneratedSweeps, ::testing::Range(1U, 21U));

// Points that are repeated: with failures, repetitions that were stopped, and points without a result.
TEST_P(GeneratedSweeps, HaveTheValuesOfTheirRepeatedPoints) {
  constexpr std::uint64_t kSeeds = 3;
  std::vector<SweepEntry> entries = MadeSweep(GetParam(), 40 + GetParam());
  for (SweepEntry& entry : entries) {
    if (auto* began = std::get_if<SweepBegan>(&entry)) began->seeds = {"workers", kSeeds, GetParam() % 2 == 0};
    auto* attempt = std::get_if<AttemptBegan>(&entry);
    if (attempt == nullptr) continue;
    attempt->point = {{"lr", 0.5 / static_cast<double>(1 + attempt->trial / kSeeds)},
                      {"optimizer", "adam"},
                      {"workers", static_cast<std::int64_t>(attempt->trial % kSeeds)}};
    attempt->id = PointId(attempt->point);
    attempt->resumed = {};
  }
  ExpectRecomputed(SweepFolder(FileOf(GetParam() % 3 == 1), entries));
}

TEST(TrialResults, ArePausedIfTheyMayContinue) {
  std::vector<SweepEntry> entries = Begin(3);
  const auto add = [&](auto entry) { entries.emplace_back(std::move(entry)); };
  for (const TrialNumber trial : {0U, 1U, 2U}) {
    add(AttemptBegins(trial, 0));
    StopDecision decision{0, trial + 1, trial + 1, trial == 2 ? 1U : 0U, true};
    decision.paused = trial < 2;
    add(RungReached{trial, 0, 2, 0.5 + static_cast<double>(trial), decision});
    add(AttemptEnds(trial, 0, TrialClass::kStopped, 0.5 + static_cast<double>(trial)));
  }
  add(TrialPromoted{0, 0, 3, 1, 1});
  AttemptBegan anew = AttemptBegins(0, 1);
  anew.warning = "its checkpoint is missing";
  add(anew);
  add(SweepEnded{false, "ctrl-c", 130});
  const SweepFolder folder(FileOf(false), entries);
  const json trials = json::parse(folder.Muster({"ls", "made", "--json"}).out)["trials"];
  EXPECT_EQ(trials[0]["state"], "lost") << "it runs again";
  EXPECT_EQ(trials[1]["state"], "paused");
  EXPECT_EQ(trials[2]["state"], "stopped");
  EXPECT_EQ(json::parse(folder.Muster({"show", "made", "--json"}).out)["classes"],
            (json{{"paused", 1}, {"stopped", 1}}));
  EXPECT_NE(folder.Muster({"show", "made"}).out.find("1 stopped, 1 paused\n"), std::string::npos)
      << folder.Muster({"show", "made"}).out;
  EXPECT_NE(folder.Muster({"show", "made:1"}).out.find("paused\n"), std::string::npos);
  EXPECT_NE(folder.Muster({"show", "made:0"}).out.find("  warning    its checkpoint is missing\n"), std::string::npos);
  EXPECT_EQ(json::parse(folder.Muster({"show", "made:0", "--json"}).out)["attempts"][1]["warning"],
            "its checkpoint is missing");
  EXPECT_NE(folder.Muster({"ls", "made", "--where", "state == paused"}).out.find("paused"), std::string::npos);
  const CommandResult csv = folder.Muster({"export", "made", "--csv"});
  EXPECT_NE(csv.out.find(",paused,"), std::string::npos) << csv.out;
  ExpectRecomputed(folder);
}

TEST(TrialResults, AreThoseOfTheKeptAttempt) {
  std::vector<SweepEntry> entries = Begin(4);
  const auto add = [&](auto entry) { entries.emplace_back(std::move(entry)); };
  add(AttemptBegins(0, 0)), add(AttemptEnds(0, 0, TrialClass::kOk, 0.25));
  add(AttemptBegins(1, 0)), add(AttemptEnds(1, 0, TrialClass::kOk, 0.5));
  add(AttemptBegins(2, 0)), add(AttemptEnds(2, 0, TrialClass::kStopped, 0.75));
  add(AttemptBegins(3, 0)), add(AttemptEnds(3, 0, TrialClass::kDiverged, 0.01));
  add(TrialsReopened{{{0, 3}}});
  add(AttemptBegins(0, 1)), add(AttemptEnds(0, 1, TrialClass::kStopped, 0.375));
  add(AttemptBegins(1, 1)), add(AttemptEnds(1, 1, TrialClass::kCrash, {}));
  add(AttemptBegins(2, 1)), add(AttemptEnds(2, 1, TrialClass::kStopped, 0.875));
  add(AttemptBegins(3, 1)), add(AttemptEnds(3, 1, TrialClass::kCrash, 0.02));
  add(SweepEnded{true, "all trials have ended", 0});
  const SweepFolder folder(FileOf(false), entries);
  const json trials = json::parse(folder.Muster({"ls", "made", "--json"}).out)["trials"];
  ASSERT_EQ(trials.size(), 4U);
  const auto row = [&](std::size_t trial) {
    return json{trials[trial]["state"], trials[trial]["attempt"], trials[trial]["value"]};
  };
  EXPECT_EQ(row(0), (json{"ok", 1, 0.25})) << "what was stopped later does not replace a result";
  EXPECT_EQ(row(1), (json{"ok", 1, 0.5}));
  EXPECT_EQ(row(2), (json{"stopped", 2, 0.875}));
  EXPECT_EQ(row(3), (json{"crash", 2, nullptr})) << "what a failed attempt reported last is no result";
  const json shown = json::parse(folder.Muster({"show", "made", "--json"}).out);
  EXPECT_EQ(shown["classes"], (json{{"ok", 2}, {"stopped", 1}, {"crash", 1}}));
  EXPECT_NE(folder.Muster({"show", "made:0"}).out.find("ok, the result is that of attempt 1\n"), std::string::npos)
      << folder.Muster({"show", "made:0"}).out;
  const std::string kept = TrialFolder(PointId(MadePoint(0)), 0);
  EXPECT_EQ(json::parse(folder.Muster({"show", "made:best", "--json"}).out)["run_dir"], folder.path() + "/" + kept);
  EXPECT_EQ(json::parse(folder.Muster({"show", "made:0", "--json"}).out)["run_dir"], folder.path() + "/" + kept);
  EXPECT_EQ(folder.Muster({"export", "made", "--csv"}).out.find("0.01"), std::string::npos);
  ExpectRecomputed(folder);
}

TEST(TrialResults, AreRankedAmongThoseForWhichAConditionHolds) {
  std::vector<SweepEntry> entries = Begin(6);  // adam: 0, 2 and 4
  for (TrialNumber trial = 0; trial < 6; ++trial) {
    const bool failed = trial == 4;
    entries.emplace_back(AttemptBegins(trial, 0));
    entries.emplace_back(AttemptEnds(trial, 0, failed ? TrialClass::kCrash : TrialClass::kOk,
                                     failed ? std::nullopt : std::optional(1.0 / static_cast<double>(trial + 1))));
  }
  const SweepFolder folder(FileOf(false), entries);
  const auto best = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"best", "made", "--json", "-n", "9"});
    std::vector<int> numbers;
    const json found = json::parse(folder.Muster(words).out);
    for (const json& trial : found["trials"]) numbers.push_back(trial["trial"]);
    return numbers;
  };
  EXPECT_EQ(best({}), (std::vector{5, 3, 2, 1, 0}));
  EXPECT_EQ(best({"--where", "optimizer == adam"}), (std::vector{2, 0}));
  EXPECT_EQ(best({"--where", "optimizer == adam and lr > 0.4", "--where", "loss <= 1"}), (std::vector{0}));
  const CommandResult first = folder.Muster({"best", "made", "--where", "optimizer == adam"});
  EXPECT_NE(first.out.find("0.333333"), std::string::npos) << first.out;
  const CommandResult none = folder.Muster({"best", "made", "--where", "trial == 4"});
  EXPECT_EQ(none.exit_code, 2);
  EXPECT_NE(none.err.find("the condition holds for no trial that has succeeded with a value"), std::string::npos)
      << none.err;
  EXPECT_NE(folder.Muster({"best", "made", "--where", "optimiser == adam"}).err.find("did you mean"),
            std::string::npos);
  EXPECT_NE(folder.Muster({"best", "made", "--where", "lr > abc"}).err.find("cannot be compared"), std::string::npos);
}

TEST(TrialResults, CountTrialsAtTheRungs) {
  std::vector<SweepEntry> entries = Begin(3);
  const auto add = [&](auto entry) { entries.emplace_back(std::move(entry)); };
  for (const TrialNumber trial : {0U, 1U}) {
    for (const std::uint32_t attempt : {0U, 1U}) {
      add(AttemptBegins(trial, attempt));
      add(RungReached{trial, attempt, 2, 0.5, {0, 2, 1, 1, attempt == 1 && trial == 1}});
      AttemptEnded end = AttemptEnds(trial, attempt, attempt == 0 ? TrialClass::kCrash : TrialClass::kStopped, 0.5);
      end.interrupted = end.again = attempt == 0;
      add(end);
    }
  }
  const SweepFolder folder(FileOf(false), entries);
  const json shown = json::parse(folder.Muster({"show", "made", "--json"}).out);
  EXPECT_EQ(shown["rungs"][0]["trials"], 2) << "not four: both have had two attempts";
  EXPECT_EQ(shown["rungs"][0]["stopped"], 1);
  ExpectRecomputed(folder);
}

TEST(TrialResults, CountTrialsThatAreNotJudgedYetAsPossible) {
  std::vector<SweepEntry> entries = Begin(500);
  std::get<SweepBegan>(entries[0]).trials = 2000;
  entries.emplace_back(AttemptBegins(0, 0));
  entries.emplace_back(AttemptEnds(0, 0, TrialClass::kOk, 0.25));
  const SweepFolder folder(FileOf(false), entries);
  const std::string page = folder / "page.html";
  ASSERT_EQ(folder.Muster({"report", "made", "--html", page}).exit_code, 0);
  std::ifstream file(page);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  EXPECT_NE(text.find(R"("possible":2000)"), std::string::npos);
  EXPECT_NE(text.find(R"("waiting":1999)"), std::string::npos);
  ExpectRecomputed(folder);
}

// A trial whose attempts continue each other has one curve.
TEST(TrialResults, HaveTheWholeCurveOfATrialThatContinued) {
  std::vector<SweepEntry> entries = Begin(1);
  AttemptEnded interrupted = AttemptEnds(0, 0, TrialClass::kOk, {});
  interrupted.interrupted = interrupted.again = true;
  entries.emplace_back(AttemptBegins(0, 0));
  entries.emplace_back(interrupted);
  const std::string id = PointId(MadePoint(0));
  entries.emplace_back(AttemptBegins(0, 1, {0, "/x/" + TrialFolder(id, 0) + "/checkpoints/4"}));
  entries.emplace_back(AttemptEnds(0, 1, TrialClass::kOk, 0.125));
  const SweepFolder folder(FileOf(false), entries);
  for (const auto& [attempt, first, last] : {std::tuple{0U, 1, 5}, std::tuple{1U, 5, 8}}) {
    const std::string metrics = folder.path() + "/" + TrialFolder(id, attempt) + "/metrics";
    std::filesystem::create_directories(metrics);
    std::ofstream file(metrics + "/worker.0.0.jsonl");
    for (int epoch = first; epoch <= last; ++epoch) {
      file << json{{"epoch", epoch}, {"loss", 1.0 / epoch + (attempt == 0 && epoch == 5 ? 7 : 0)}}.dump() << "\n";
    }
  }
  const json trial = json::parse(folder.Muster({"ls", "made", "--json"}).out)["trials"][0];
  EXPECT_EQ(trial["run_dirs"].size(), 2U) << trial;
  const std::string shown = folder.Muster({"show", "made:0", "--curve", "loss"}).out;
  EXPECT_EQ(shown.find("7.2"), std::string::npos) << "the report that the continuation replaced\n" << shown;
  const CommandResult rows =
      RunCommand({{"/usr/bin/python3", "-B", "-c",
                   "import sys; sys.path.insert(0, sys.argv[1]); import muster\n"
                   "print([(row['attempt'], row['epoch']) for row in muster.Sweep(sys.argv[2]).history()])",
                   MUSTER_SOURCE_DIR "/python", folder.path()},
                  {"PATH=/usr/bin:/bin", "MUSTER=" + MusterProgram()},
                  folder.path()});
  EXPECT_EQ(rows.out, "[(1, 1), (1, 2), (1, 3), (1, 4), (2, 5), (2, 6), (2, 7), (2, 8)]\n") << rows.err;
  ASSERT_EQ(folder.Muster({"export", "made", "--tensorboard", folder / "tb"}).exit_code, 0);
  const CommandResult csv = folder.Muster({"export", "made", "--curves", "--csv"});
  EXPECT_EQ(csv.out.substr(0, csv.out.find('\n') + 1),
            "trial,id,role,index,report,param.lr,param.optimizer,param.workers,metric.epoch,metric.loss\r\n");
  EXPECT_EQ(std::count(csv.out.begin(), csv.out.end(), '\n'), 9) << csv.out;
  EXPECT_NE(csv.out.find("\r\n0," + id + ",worker,0,5,0.5,adam,1,5,0.2\r\n"), std::string::npos) << csv.out;
}

TEST(TrialResults, AreExportedWithTheirCurves) {
  std::vector<SweepEntry> entries = Begin(3);
  for (TrialNumber trial = 0; trial < 3; ++trial) {
    entries.emplace_back(AttemptBegins(trial, 0));
    entries.emplace_back(AttemptEnds(trial, 0, TrialClass::kOk, 0.25));
  }
  const SweepFolder folder(FileOf(false), entries);
  const auto reports = [&](TrialNumber trial, const std::string& name, const std::string& lines) {
    const std::string metrics = folder.path() + "/" + TrialFolder(PointId(MadePoint(trial)), 0) + "/metrics";
    std::filesystem::create_directories(metrics);
    std::ofstream(metrics + "/" + name) << lines;
  };
  reports(0, "worker.0.0.jsonl", "{\"step\": 1, \"loss\": 0.1234567890123}\n{\"acc\": 1}\n{\"note\": \"text\"}\n");
  reports(0, "worker.1.0.jsonl", "{\"step\": 9}\n");  // of a role the first process
  reports(0, "server.0.0.jsonl", "{\"step\": 2}\n");
  reports(2, "worker.0.0.jsonl", "{\"step\": 1, \"loss\": null}\n");
  const std::string head = "trial,id,role,index,report,param.lr,param.optimizer,param.workers,metric.acc,metric.loss,";
  const std::string first = "0," + PointId(MadePoint(0)) + ",", last = "2," + PointId(MadePoint(2)) + ",";
  const std::string csv = head + "metric.step\r\n" +                                //
                          first + "server,0,1,0.5,adam,1,,,2\r\n" +                 //
                          first + "worker,0,1,0.5,adam,1,,0.1234567890123,1\r\n" +  //
                          first + "worker,0,2,0.5,adam,1,1,,\r\n" +                 //
                          last + "worker,0,1," + NumberText(0.5 / 3) + ",adam,3,,nan,1\r\n";
  EXPECT_EQ(folder.Muster({"export", "made", "--curves", "--csv"}).out, csv);
  ASSERT_EQ(folder.Muster({"export", "made", "--curves", "--csv", "curves.csv"}).exit_code, 0);
  EXPECT_EQ(ContentOf(folder / "curves.csv"), csv);
  const std::string lines = folder.Muster({"export", "made", "--curves", "--jsonl"}).out;
  const json row = json::parse(lines.substr(lines.rfind('{')));
  EXPECT_EQ(row["trial"], 2);
  EXPECT_TRUE(row["metric.loss"].is_null()) << "not finite";
  EXPECT_EQ(row["metric.step"], 1);
  const auto trials = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"export", "made", "--jsonl"});
    const CommandResult result = folder.Muster(words);
    std::istringstream rows(result.out);
    std::set<int> numbers;
    for (std::string line; std::getline(rows, line);) numbers.insert(json::parse(line)["trial"].get<int>());
    return result.exit_code == 0 ? numbers : std::set<int>{-1};
  };
  EXPECT_EQ(trials({}), (std::set{0, 1, 2}));
  EXPECT_EQ(trials({"--where", "lr < 0.2"}), std::set{2});
  EXPECT_EQ(trials({"--where", "lr < 0.2", "--attempts"}), std::set{2});
  EXPECT_EQ(trials({"--where", "workers == 1", "--curves"}), std::set{0});
  EXPECT_EQ(trials({"--where", "lr < 0"}), std::set<int>{});
  EXPECT_EQ(trials({"--where", "nosuch < 0"}), std::set{-1});
  EXPECT_EQ(folder.Muster({"export", "made", "--curves"}).exit_code, 2);
  EXPECT_EQ(folder.Muster({"export", "made", "--curves", "--csv", "--attempts"}).exit_code, 2);
}

}  // namespace
}  // namespace muster::testing
