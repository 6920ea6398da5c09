// Tests commands about sweeps: ls, show, best, export, and trials given as a RUN.
#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/golden.h"
#include "support/sweep_folder.h"
#include "sweep/made_sweep.h"

namespace muster::testing {
namespace {

using nlohmann::json;

SweepFile MadeFile(bool maximize = false) {
  return {.sweep_id = "5e11ab1e0001",
          .name = "made",
          .doc = "learning rates",
          .objective = Objective{"loss", maximize, {}},
          .names = {"lr", "optimizer", "workers"},
          .trials = 20,
          .words = {"sweep", "made.lua"},
          .cwd = "/tmp"};
}

SweepEntry Began(TrialNumber trial, std::uint32_t attempt, const Point& point, const std::string& host) {
  return AttemptBegan{trial, attempt, PointId(point), point, std::string(64, 'a'), "run" + std::to_string(trial),
                      {host}};
}

SweepEntry Ended(TrialNumber trial, std::uint32_t attempt, TrialClass trial_class, std::optional<double> loss) {
  AttemptEnded ended;
  ended.trial = trial;
  ended.attempt = attempt;
  ended.trial_class = trial_class;
  ended.loss = loss;
  if (loss) ended.metrics = {{"loss", *loss}, {"note", "a \"b\", c"}};
  if (IsFailure(trial_class)) ended.why = "worker.0 exited with code 7";
  ended.again = IsFailure(trial_class) && attempt == 0;
  ended.ms = 1500;
  return ended;
}

// Six trials: 0 and 5 succeeded, 1 impossible, 2 stopped, 3 crashed twice, 4 running when its head was killed.
std::vector<SweepEntry> Six() {
  PointsJudged judged;
  judged.count = 6;
  judged.impossible = {{"workers = 3 does not divide 8", "gpt.lua:26", {{1, 1}}}};
  return {SweepBegan{"5e11ab1e0001", "made", 20, 4711, 77, "b007", "0.9.0", "recipe", false},
          judged,
          Began(0, 0, MadePoint(0), "n1"),
          Ended(0, 0, TrialClass::kOk, 0.5),
          Began(2, 0, MadePoint(2), "n1"),
          RungReached{2, 0, 4, 0.9, {0, 5, 5, 1, true}},
          Ended(2, 0, TrialClass::kStopped, 0.9),
          Began(3, 0, MadePoint(3), "n2"),
          Ended(3, 0, TrialClass::kCrash, {}),
          Began(3, 1, MadePoint(3), "n2"),
          Ended(3, 1, TrialClass::kCrash, {}),
          HostQuarantined{"n2", "2 failures in a row"},
          Began(5, 0, MadePoint(5), "n1"),
          Ended(5, 0, TrialClass::kOk, 0.25),
          Began(4, 0, MadePoint(4), "n1")};
}

std::vector<std::string> Column(const CommandResult& result, std::size_t column) {
  std::vector<std::string> cells;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string word;
    for (std::size_t i = 0; i <= column; ++i) words >> word;
    cells.push_back(word);
  }
  return cells;
}

using Words = std::vector<std::string>;

TEST(Sweeps, AreListedAfterRunsAndAlone) {
  const SweepFolder folder(MadeFile(), Six());
  const CommandResult all = folder.Muster({"ls"});
  EXPECT_EQ(all.exit_code, 0) << all.err;
  EXPECT_NE(all.out.find("5e11ab1e0001"), std::string::npos) << all.out;
  EXPECT_NE(all.out.find("loss 0.25"), std::string::npos) << all.out;
  const json listed = json::parse(folder.Muster({"ls", "--sweeps", "--json"}).out);
  EXPECT_EQ(listed["format"], 1);
  ASSERT_EQ(listed["sweeps"].size(), 1U);
  EXPECT_EQ(listed["sweeps"][0]["state"], "lost");
  EXPECT_EQ(listed["sweeps"][0]["over"], 4);
  EXPECT_EQ(listed["sweeps"][0]["failed"], 1);
  EXPECT_EQ(listed["sweeps"][0]["best"], 0.25);
  EXPECT_EQ(folder.Checked().exit_code, 0) << folder.Checked().out;
}

TEST(Sweeps, HaveTagsAndANoteOfTheirOwn) {
  const SweepFolder folder(MadeFile(), Six());
  EXPECT_EQ(json::parse(folder.Muster({"show", "made", "--json"}).out)["tags"], json::array());
  EXPECT_EQ(folder.Muster({"ls", "--sweeps"}).out.find("TAGS"), std::string::npos);
  EXPECT_EQ(folder.Muster({"tag", "made", "baseline", "ticket=42", "bad"}).out, "bad\nbaseline\nticket=42\n");
  EXPECT_EQ(folder.Muster({"tag", "5e11ab1e0001", "bad-", "ticket=43"}).out, "baseline\nticket=43\n");
  EXPECT_EQ(folder.Muster({"tag", "made"}).out, "baseline\nticket=43\n");
  EXPECT_EQ(folder.Muster({"note", "made", "the first one"}).out, "the first one\n");
  const CommandResult gone = folder.Muster({"tag", "made", "bad-"});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_NE(gone.err.find("there is no tag \"bad\" to remove"), std::string::npos) << gone.err;

  const json shown = json::parse(folder.Muster({"show", "made", "--json"}).out);
  EXPECT_EQ(shown["tags"], (json{"baseline", "ticket=43"}));
  EXPECT_EQ(shown["note"], "the first one");
  EXPECT_NE(folder.Muster({"show", "made"}).out.find("\ntags         baseline,ticket=43\nnote         the first one\n"),
            std::string::npos)
      << folder.Muster({"show", "made"}).out;
  const json listed = json::parse(folder.Muster({"ls", "--sweeps", "--json"}).out)["sweeps"][0];
  EXPECT_EQ(listed["tags"], (json{"baseline", "ticket=43"}));
  EXPECT_EQ(listed["note"], "the first one");
  const std::string table = folder.Muster({"ls", "--sweeps"}).out;
  EXPECT_NE(table.find("TAGS"), std::string::npos) << table;
  EXPECT_NE(table.find("baseline,ticket=43  the first one"), std::string::npos) << table;
  EXPECT_EQ(folder.Muster({"ls", "made", "--where", "baseline"}).exit_code, 2) << "they are no tags of its trials";
}

TEST(Sweeps, ShowTheirTrialsChosenAndSorted) {
  const SweepFolder folder(MadeFile(), Six());
  EXPECT_EQ(Column(folder.Muster({"ls", "made"}), 0), (Words{"TRIAL", "0", "2", "3", "4", "5"}));
  EXPECT_EQ(Column(folder.Muster({"ls", "made"}), 2), (Words{"STATE", "ok", "stopped", "crash", "lost", "ok"}));
  EXPECT_EQ(Column(folder.Muster({"ls", "5e11", "--where", "optimizer == adam and lr < 0.3", "--columns", "trial"}), 0),
            (Words{"TRIAL", "2", "4"}));
  EXPECT_EQ(Column(folder.Muster({"ls", folder.path(), "--sort", "value", "-n", "3", "--columns", "trial"}), 0),
            (Words{"TRIAL", "5", "0", "2"}));
  EXPECT_EQ(Column(folder.Muster({"ls", "made", "--sort=-value", "-n", "2", "--columns", "trial"}), 0),
            (Words{"TRIAL", "2", "0"}));
  const json listed = json::parse(folder.Muster({"ls", "made", "--json", "--where", "state == ok"}).out);
  EXPECT_EQ(listed["sweep"], "5e11ab1e0001");
  ASSERT_EQ(listed["trials"].size(), 2U);
  EXPECT_EQ(listed["trials"][1]["trial"], 5);
  EXPECT_EQ(listed["trials"][1]["point"]["workers"], 2);
  EXPECT_EQ(listed["trials"][1]["metrics"]["loss"], 0.25);
  const CommandResult slip = folder.Muster({"ls", "made", "--where", "optimiser == adam"});
  EXPECT_EQ(slip.exit_code, 2);
  EXPECT_NE(slip.err.find("did you mean \"optimizer\""), std::string::npos) << slip.err;
}

// Writes the files that a sweep's head would have written for this space.
void Describe(const SweepFolder& folder, const SweepFile& file, std::vector<Value> rates) {
  const Value lr(Value::Map{{"kind", "axis"}, {"name", "lr"}, {"axis", "choice"}, {"values", Value(std::move(rates))}});
  const Value workers(
      Value::Map{{"kind", "axis"}, {"name", "workers"}, {"axis", "range"}, {"low", 1}, {"high", 4}, {"step", 1}});
  const Value space(Value::Map{{"kind", "product"}, {"parts", Value(Value::List{lr, workers})}});
  std::ofstream(folder.path() + "/sweep.json") << SweepFileText(file, Value(Value::Map{{"space", space}}));
}

TEST(Sweeps, AreComparedSideBySide) {
  const SweepFolder folder(MadeFile(), Six());
  SweepFile other_file = MadeFile();
  other_file.sweep_id = "0dd5ab1e0002";
  other_file.name = "other";
  const Point own = {{"lr", 9.0}, {"workers", std::int64_t{1}}, {"optimizer", "sgd"}};
  PointsJudged judged;
  judged.count = 20;
  const SweepFolder other(
      other_file,
      {SweepBegan{"0dd5ab1e0002", "other", 20, 4711, 77, "b007", "0.9.0", "another", false}, judged,
       Began(0, 0, MadePoint(5), "n1"), Ended(0, 0, TrialClass::kOk, 0.125), Began(1, 0, own, "n1"),
       Ended(1, 0, TrialClass::kOk, 0.0625), Began(2, 0, MadePoint(0), "n1"), Ended(2, 0, TrialClass::kOk, 0.75),
       Began(3, 0, MadePoint(3), "n1"), Ended(3, 0, TrialClass::kOk, 2.0), SweepEnded{false, "Ctrl-C", 130}});
  Describe(folder, MadeFile(), {Value(0.5), Value(0.25)});
  Describe(other, other_file, {Value(0.5), Value(9.0)});
  const CommandResult compared = folder.Muster({"ls", "made", other.path()});
  EXPECT_EQ(compared.exit_code, 0) << compared.err;
  ExpectGolden(compared.out, "tests/golden/diff/sweeps.txt");
  const json reported = json::parse(folder.Muster({"ls", "made", other.path(), "--json"}).out);
  EXPECT_EQ(reported["format"], 1);
  ASSERT_EQ(reported["sweeps"].size(), 2U);
  EXPECT_EQ(reported["sweeps"][0]["best"]["value"], 0.25);
  EXPECT_EQ(reported["sweeps"][1]["classes"]["ok"], 4);
  EXPECT_EQ(reported["sweeps"][1]["axes"]["lr"], "0.5, 9");
  ASSERT_EQ(reported["points"].size(), 3U) << reported["points"];
  EXPECT_EQ(reported["points"][0]["trials"][0]["value"], 0.25);
  EXPECT_EQ(reported["points"][0]["trials"][1]["value"], 0.125);
  EXPECT_EQ(reported["points"][2]["trials"][0]["state"], "crash");
  const json first = json::parse(folder.Muster({"ls", "made", other.path(), "--json", "-n", "1"}).out);
  EXPECT_EQ(first["points"].size(), 1U);
  EXPECT_EQ(first["points_of_all"], 3);
  EXPECT_EQ(folder.Muster({"ls", "made", other.path(), "--where", "lr > 1"}).exit_code, 2);
  const CommandResult half = folder.Muster({"ls", "made", "nosuch"});
  EXPECT_EQ(half.exit_code, 2);
  EXPECT_NE(half.err.find("\"nosuch\" names no sweep"), std::string::npos) << half.err;
}

TEST(Sweeps, ShowTheSameStateOfAnAttemptEverywhere) {
  std::vector<SweepEntry> entries = Six();
  AttemptEnded interrupted;
  interrupted.trial = 4;
  interrupted.interrupted = interrupted.again = true;
  interrupted.why = "the sweep was stopped";
  entries.emplace_back(interrupted);
  AttemptBegan resumed = std::get<AttemptBegan>(Began(4, 1, MadePoint(4), "n1"));
  resumed.resumed = {0, "/sweeps/made/t/" + resumed.id.substr(0, 2) + "/" + resumed.id + ".0/checkpoints/step_30.pt"};
  entries.emplace_back(resumed);
  entries.push_back(Ended(4, 1, TrialClass::kOk, 0.125));
  entries.emplace_back(TrialsReopened{{{0, 0}}});
  const SweepFolder folder(MadeFile(), entries);
  const std::string shown = folder.Muster({"show", "made:4"}).out;
  EXPECT_NE(shown.find("attempt 1: interrupted\n"), std::string::npos) << shown;
  EXPECT_NE(shown.find("attempt 2: ok\n  from       checkpoints/step_30.pt of attempt 1\n"), std::string::npos)
      << shown;
  const json of_four = json::parse(folder.Muster({"show", "made:4", "--json"}).out);
  EXPECT_EQ(of_four["attempts"][0]["state"], "interrupted");
  EXPECT_EQ(of_four["attempts"][1]["state"], "ok");
  EXPECT_EQ(of_four["attempts"][1]["resumed"]["attempt"], 1);
  // The ended attempts of a retried trial keep their state.
  EXPECT_EQ(Column(folder.Muster({"ls", "made", "-n", "1"}), 2), (Words{"STATE", "again"}));
  EXPECT_NE(folder.Muster({"show", "made:0"}).out.find("attempt 1: ok\n"), std::string::npos);
  EXPECT_EQ(json::parse(folder.Muster({"show", "made:0", "--json"}).out)["attempts"][0]["state"], "ok");
  const std::string rows = folder.Muster({"export", "made", "--jsonl", "--attempts"}).out;
  EXPECT_NE(rows.find("\"state\":\"interrupted\",\"attempt\":1"), std::string::npos) << rows;
  EXPECT_EQ(rows.find("\"state\":\"again\""), std::string::npos) << rows;
  EXPECT_EQ(json::parse(folder.Muster({"show", "made", "--json"}).out)["best"]["attempt"], 2);
}

TEST(Sweeps, AreShownWithReasonsRungsAndFailures) {
  const SweepFolder folder(MadeFile(), Six());
  const CommandResult shown = folder.Muster({"show"});
  EXPECT_EQ(shown.exit_code, 0) << shown.err;
  for (const char* part : {"lost: its head exited without a record", "20: 4 over, 1 impossible, 0 running, 15 to come",
                           "2 ok, 1 stopped, 1 crash", "gpt.lua:26: workers = 3 does not divide 8",
                           "2 failures in a row", "loss 0.25  trial 5", "n2 1/1"}) {
    EXPECT_NE(shown.out.find(part), std::string::npos) << part << " in\n" << shown.out;
  }
  const json reported = json::parse(folder.Muster({"show", "made", "--json"}).out);
  EXPECT_EQ(reported["classes"], (json{{"ok", 2}, {"stopped", 1}, {"crash", 1}}));
  EXPECT_EQ(reported["rungs"][0]["stopped"], 1);
  EXPECT_EQ(reported["failures"]["host"]["n2"]["failed"], 1);
  EXPECT_EQ(reported["reasons"][0]["trials"], 1);
}

// Prevents: best names another one of equal trials than the first that is listed.
TEST(Sweeps, OfEqualResultsListTheSmallestNumberFirstEverywhere) {
  std::vector<SweepEntry> entries = Six();
  entries.push_back(Ended(4, 0, TrialClass::kOk, 0.25));  // after trial 5
  const SweepFolder folder(MadeFile(), entries);
  EXPECT_NE(folder.Muster({"show", "made:best"}).out.find("4 of made"), std::string::npos);
  const std::vector<std::string> order = {"TRIAL", "4", "5", "0"};
  EXPECT_EQ(Column(folder.Muster({"best", "made", "-n", "3"}), 0), order);
  EXPECT_EQ(Column(folder.Muster({"ls", "made", "--where", "state == ok", "--sort", "value", "--columns", "trial"}), 0),
            order);
}

TEST(Sweeps, WithoutAnObjectiveHaveNoBestTrial) {
  SweepFile file = MadeFile();
  file.objective.reset();
  std::vector<SweepEntry> entries = Six();
  entries.erase(entries.begin() + 1, entries.end());
  const SweepFolder folder(file, entries);
  const CommandResult best = folder.Muster({"show", "made:best"});
  EXPECT_EQ(best.exit_code, 2);
  EXPECT_NE(best.err.find("a sweep without one has no best trial"), std::string::npos) << best.err;
}

TEST(Sweeps, ShowATrialByNumberByIdOrAsTheBest) {
  const SweepFolder folder(MadeFile(), Six());
  const CommandResult best = folder.Muster({"show", "made:best"});
  EXPECT_NE(best.out.find("5 of made"), std::string::npos) << best.out << best.err;
  EXPECT_NE(best.out.find(folder.path() + "/" + TrialFolder(PointId(MadePoint(5)), 0)), std::string::npos) << best.out;
  const json crashed = json::parse(folder.Muster({"show", "made:3", "--json"}).out);
  ASSERT_EQ(crashed["attempts"].size(), 2U);
  EXPECT_EQ(crashed["attempts"][1]["why"], "worker.0 exited with code 7");
  EXPECT_EQ(json::parse(folder.Muster({"show", "made:3.1", "--json"}).out)["attempts"].size(), 1U);
  EXPECT_EQ(json::parse(folder.Muster({"show", ":" + PointId(MadePoint(2)).substr(0, 6), "--json"}).out)["trial"], 2);
  EXPECT_NE(folder.Muster({"show", "made:2"}).out.find("loss 0.9 is 5 of 5"), std::string::npos);
  const CommandResult impossible = folder.Muster({"show", "made:1"});
  EXPECT_EQ(impossible.exit_code, 2);
  EXPECT_NE(impossible.err.find("gpt.lua:26: workers = 3 does not divide 8"), std::string::npos) << impossible.err;
  EXPECT_NE(folder.Muster({"show", "made:7"}).err.find("has not begun"), std::string::npos);
  EXPECT_NE(folder.Muster({"show", "made:20"}).err.find("there is no 20"), std::string::npos);
  EXPECT_NE(folder.Muster({"show", "made:0.5"}).err.find("no attempt 5"), std::string::npos);
}

TEST(Sweeps, ShowTheirBestByTheObjective) {
  const SweepFolder folder(MadeFile(), Six());
  EXPECT_EQ(Column(folder.Muster({"best", "made", "-n", "5"}), 0), (Words{"TRIAL", "5", "0"}));
  const std::string not_from_one = " is not a number from 1 on";
  for (const auto& [number, said] : std::vector<std::pair<std::string, std::string>>{
           {"0", "\"0\"" + not_from_one},
           {"1.5", "\"1.5\"" + not_from_one},
           {"-1", "takes N, got \"-1\""},
           {"99999999999999999999", "takes N, got \"99999999999999999999\""}}) {
    const CommandResult wrong = folder.Muster({"best", "made", "--number=" + number});
    EXPECT_EQ(wrong.exit_code, 2) << number;
    EXPECT_NE(wrong.err.find(said), std::string::npos) << wrong.err;
    EXPECT_LT(wrong.err.size(), 200U);
  }
  std::vector<SweepEntry> entries = Six();
  const SweepFolder greatest(MadeFile(true), entries);
  const json best = json::parse(greatest.Muster({"best", "--json"}).out);
  EXPECT_EQ(best["objective"], (json{{"metric", "loss"}, {"maximize", true}}));
  EXPECT_EQ(best["trials"][0]["value"], -0.25) << "what was maximised is the loss with its sign turned";
  entries.resize(3);
  const SweepFolder none(MadeFile(), entries);
  EXPECT_EQ(none.Muster({"best"}).exit_code, 2);
}

TEST(Sweeps, AreExportedWithTheSameColumnsForAll) {
  const SweepFolder folder(MadeFile(), Six());
  const CommandResult csv = folder.Muster({"export", "made", "--csv"});
  ASSERT_EQ(csv.exit_code, 0) << csv.err;
  std::size_t lines = 0;
  for (std::size_t at = csv.out.find("\r\n"); at != std::string::npos; at = csv.out.find("\r\n", at + 2)) ++lines;
  EXPECT_EQ(lines, 6U);
  EXPECT_NE(csv.out.find("param.lr,param.optimizer,param.workers,metric.loss,metric.note\r\n"), std::string::npos)
      << csv.out;
  EXPECT_NE(csv.out.find(",0.5,adam,1,0.5,\"a \"\"b\"\", c\"\r\n"), std::string::npos) << csv.out;
  ASSERT_EQ(folder.Muster({"export", "made", "--csv", "trials.csv"}).exit_code, 0);
  const CommandResult read =
      RunCommand({{"/usr/bin/python3", "-c",
                   "import csv\nrows=list(csv.DictReader(open('trials.csv', newline=''), strict=True))\n"
                   "print(rows[0]['metric.note'], len(rows))"},
                  {"PATH=/usr/bin:/bin"},
                  folder / ""});
  EXPECT_EQ(read.out, "a \"b\", c 5\n");

  ASSERT_EQ(folder.Muster({"export", "made", "--jsonl", "trials.jsonl", "--attempts"}).exit_code, 0);
  std::ifstream file(folder / "trials.jsonl");
  std::vector<json> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(json::parse(line));
  ASSERT_EQ(rows.size(), 6U);
  EXPECT_EQ(rows[2]["trial"], 3);
  EXPECT_EQ(rows[3]["attempt"], 2);
  for (const json& row : rows) EXPECT_EQ(row.size(), rows[0].size());

  ASSERT_EQ(folder.Muster({"export", "made", "--sqlite", "trials.sqlite"}).exit_code, 0);
  const CommandResult asked =
      RunCommand({{"/usr/bin/python3", "-c",
                   "import sqlite3\nfor r in sqlite3.connect('trials.sqlite').execute("
                   "'select trial, \"param.lr\", \"metric.loss\" from trials where state=\"ok\"'): print(*r)"},
                  {"PATH=/usr/bin:/bin"},
                  folder / ""});
  EXPECT_EQ(asked.out.substr(0, 10), "0 0.5 0.5\n") << asked.err;
  EXPECT_EQ(folder.Muster({"export", "made"}).exit_code, 2);
  EXPECT_EQ(folder.Muster({"export", "made", "--sqlite"}).exit_code, 2);
}

TEST(Sweeps, AllowTheirTrialsWhereARunIsExpected) {
  const SweepFolder folder(MadeFile(), Six());
  std::ofstream(folder / "recipe.lua")
      << "local muster = require \"muster\"\nreturn muster.recipe { name = \"t\", params = { lr = muster.float { 0.1 "
         "}, "
         "optimizer = muster.string { \"x\" }, workers = muster.int { 1 } }, plan = function(p, job)\n"
         "job:workers { count = 1, devices = 0, command = { \"/bin/echo\", \"lr is\", p.lr, p.optimizer, p.workers } } "
         "end }\n";
  const Point point = MadePoint(5);
  const std::string trial = folder.path() + "/" + TrialFolder(PointId(point), 0);
  std::filesystem::create_directories(std::filesystem::path(trial).parent_path());
  const CommandResult ran = folder.Muster(
      {"run", "recipe.lua", "--run-dir", trial, "lr=" + ToText(point.at("lr")), "optimizer=sgd", "workers=2"});
  ASSERT_EQ(ran.exit_code, 0) << ran.err;
  EXPECT_NE(folder.Muster({"logs", "made:best"}).out.find("lr is 0.08333333333333333 sgd 2"), std::string::npos)
      << folder.Muster({"logs", "made:best"}).err;
  const CommandResult again = folder.Muster({"run", "made:best", "lr=0.25"});
  EXPECT_EQ(again.exit_code, 0) << again.err;
  EXPECT_NE(again.out.find("lr is 0.25 sgd 2"), std::string::npos) << again.out;
  const CommandResult differ = folder.Muster({"diff", "made:best", "t"});
  EXPECT_EQ(differ.exit_code, 1) << differ.err;
  EXPECT_NE(differ.out.find("lr"), std::string::npos) << differ.out << differ.err;
  EXPECT_NE(folder.Muster({"report", "made:1"}).err.find("it is impossible"), std::string::npos);
}

TEST(Sweeps, CannotBeResumedWithOtherPoints) {
  const TempDir folder;
  const auto write = [&](const std::string& values) {
    std::ofstream(folder / "s.lua")
        << "local muster = require \"muster\"\nreturn muster.sweep { name = \"s\", recipe = muster.recipe { name = "
           "\"r\", params = { lr = muster.float { 1 } }, plan = function(p, job)\n"
           "job:workers { count = 1, devices = 0, command = { \"/bin/true\" } } end }, space = { lr = "
        << values << " } }\n";
  };
  const auto call = [&](std::vector<std::string> words) {
    return RunCommand({.argv =
                           [&] {
                             words.insert(words.begin(), MusterProgram());
                             return words;
                           }(),
                       .cwd = folder.path()});
  };
  write("{ 0.1, 0.2 }");
  ASSERT_EQ(call({"sweep", "-q", "s.lua"}).exit_code, 0);
  write("{ 0.05, 0.1, 0.2 }");
  EXPECT_NE(call({"resume"}).err.find("have changed since it began"), std::string::npos);
  const CommandResult other = call({"resume", "--accept"});
  EXPECT_EQ(other.exit_code, 2);
  EXPECT_NE(other.err.find("the space or the sampler differs"), std::string::npos) << other.err;
  // Prevents: the hint is the command that was just given.
  EXPECT_NE(other.err.find("hint: its trials are numbers of points: restore the recipe as it was (its copy is in \""),
            std::string::npos)
      << other.err;
  EXPECT_EQ(other.err.find("resume --accept"), std::string::npos) << other.err;
  write("{ 0.1, 0.2 --[[as it was]] }");
  EXPECT_EQ(call({"resume", "-q", "--accept"}).exit_code, 0);
}

TEST(CheckSweep, DetectsEveryProblem) {
  const auto complains = [](std::vector<SweepEntry> entries, const std::string& rule) {
    const SweepFolder folder(MadeFile(), entries);
    const CommandResult checked = folder.Checked();
    EXPECT_EQ(checked.exit_code, 1);
    EXPECT_NE(checked.out.find(rule + ": "), std::string::npos) << rule << " in\n" << checked.out;
  };
  std::vector<SweepEntry> good = Six();
  std::vector<SweepEntry> twice = good;
  twice.push_back(good[1]);
  complains(twice, "S3");
  complains({good[0], good[1], Began(1, 0, MadePoint(1), "n1")}, "S4");
  complains({good[0], good[1], good[2], good[3], Began(0, 1, MadePoint(0), "n1")}, "S5");
  complains({good[0], good[1], good[2], good[2]}, "S6");
  complains({good[0], good[1], good[3]}, "S6");
  complains({good[0], good[1], good[2], good[3], Began(2, 0, MadePoint(0), "n1")}, "S7");
  AttemptBegan forged = std::get<AttemptBegan>(good[2]);
  forged.id = "0123456789abcdef";
  complains({good[0], good[1], forged}, "S7");
  complains({good[0], good[1], SweepEnded{true, "", 0}}, "S8");
  const SweepFolder folder(MadeFile(), good);
  std::filesystem::create_directories(folder.path() + "/t/3f/3f00000000000000.0");
  EXPECT_NE(folder.Checked().out.find("S9: "), std::string::npos);
  EXPECT_EQ(SweepFolder(MadeFile(), good).Checked({"--complete", "6"}).exit_code, 1);
  const SweepFolder drawn(MadeFile(), MadeSweep(3, 20));
  EXPECT_EQ(drawn.Checked().exit_code, 0) << drawn.Checked().out;
}

}  // namespace
}  // namespace muster::testing
