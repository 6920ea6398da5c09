// Tests resuming from checkpoints: muster run --resume, restarts, and the signal that requests a checkpoint. A small
// training in Python writes checkpoints and is killed.
#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "cli/muster_command.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class Resume : public ::testing::Test {
 protected:
  // `fields`: further fields of the recipe; the training's command line comes from its parameters.
  explicit Resume(const std::string& fields = "checkpoint = { dir = \"checkpoints\", latest = \"step_*.txt\" },",
                  const std::string& role = "")
      : recipe_(
            "job:workers { count = 1, devices = 0, " + role +
                "command = { \"python3\", \"" MUSTER_SOURCE_DIR
                "/tests/cli/programs/counting.py\", \"--steps\", p.steps, "
                "\"--die-at\", p.die_at, \"--dir\", job.checkpoint.dir, p.stop ~= \"\" and { \"--stop\", p.stop } or "
                "false, job.resume and { \"--from\", job.resume.checkpoint } or false, p.always and { \"--from\", "
                "job.checkpoint.newest } or false } }",
            fields +
                "params = { steps = muster.int { 3 }, die_at = muster.int { 0 }, stop = muster.string { \"\" }, always "
                "= muster.bool { false } },") {}

  CommandResult Call(std::vector<std::string> words) const {
    return Muster(std::move(words), {"MUSTER_HOME=" + (runs_ / "home")});
  }
  std::string Run(std::vector<std::string> words, int exit_code = 0) {
    const std::string folder = runs_ / std::to_string(++count_);
    words.insert(words.begin(), {"run", "--run-dir", folder, "--quiet"});
    const CommandResult result = Call(std::move(words));
    EXPECT_EQ(result.exit_code, exit_code) << result.err << Log(folder);
    return folder;
  }
  static std::string Text(const std::string& file) {
    std::ifstream stream(file);
    return {std::istreambuf_iterator<char>(stream), {}};
  }
  static json Json(const std::string& file) { return json::parse(Text(file), nullptr, false); }
  static std::string Log(const std::string& run, int attempt = 0) {
    return Text(run + "/logs/worker.0." + std::to_string(attempt) + ".log");
  }
  static std::vector<json> Records(const std::string& run, const std::string& event) {
    std::vector<json> records;
    std::ifstream lines(run + "/journal.jsonl");
    for (std::string line; std::getline(lines, line);) {
      if (json record = json::parse(line); record["event"] == event) records.push_back(std::move(record));
    }
    return records;
  }

  OneRecipe recipe_;
  TempDir runs_;
  int count_ = 0;
};

TEST_F(Resume, ContinuesFromTheLastCheckpointOfAKilledJob) {
  const std::string killed = Run({recipe_.path(), "steps=5", "die_at=3"}, 1);
  EXPECT_EQ(Log(killed), "from 0\nstep 1\nstep 2\nstep 3\n");
  const std::string resumed = Run({"--resume", killed, "die_at=0"});
  EXPECT_EQ(Log(resumed), "from 3\nstep 4\nstep 5\n");
  const json report = Json(resumed + "/report.json");
  const json before = Json(killed + "/report.json");
  EXPECT_EQ(report["parent"], before["run"]);
  EXPECT_EQ(report["resumed"]["run"], before["run"]);
  EXPECT_EQ(report["resumed"]["checkpoint"], killed + "/checkpoints/step_3.txt");
  EXPECT_TRUE(before["resumed"].is_null());
  EXPECT_EQ(Json(resumed + "/inputs.json")["inputs"].back()["kind"], "checkpoint");

  // A run that wrote no checkpoint is resumed from the checkpoint it started from; the plan of a resumed run can be
  // replayed.
  fs::remove_all(resumed + "/checkpoints");
  EXPECT_EQ(Log(Run({"--resume", resumed, "steps=4"})), "from 3\nstep 4\n");
  const CommandResult replay = Call({"replay", resumed, "--quiet", "--run-dir", runs_ / "replay"});
  EXPECT_EQ(replay.exit_code, 0) << replay.err;
  EXPECT_EQ(Log(runs_ / "replay"), "from 3\nstep 4\nstep 5\n");
  EXPECT_EQ(Log(Run({resumed, "steps=6"})), "from 3\nstep 4\nstep 5\nstep 6\n")
      << "its stored recipe is of a resumed run";
}

TEST_F(Resume, UsesAnotherRecipeOrCheckpointIfNamed) {
  const std::string first = Run({recipe_.path()});
  const CommandResult plain = Call({"plan", recipe_.path(), "--id"});
  const CommandResult id = Call({"plan", "--resume", first, "--id"});
  EXPECT_EQ(id.exit_code, 0) << id.err;
  EXPECT_NE(id.out, plain.out);
  const std::string second =
      Run({recipe_.path(), "--resume", first, "--checkpoint", first + "/checkpoints/step_1.txt"});
  EXPECT_EQ(Log(second), "from 1\nstep 2\nstep 3\n");
  EXPECT_EQ(Call({"plan", "--resume", second, "--id"}).out, id.out) << "which checkpoint it is, a start knows";
  const CommandResult shown = Call({"plan", "--resume", first});
  EXPECT_NE(shown.out.find("continues from \"" + first + "/checkpoints/step_3.txt\""), std::string::npos) << shown.out;
}

TEST_F(Resume, IsShownByOtherCommands) {
  const std::string first = Run({recipe_.path()});
  for (const std::string command : {"check", "rehearse", "doctor"}) {
    const CommandResult good = Call({command, "--resume", first});
    EXPECT_EQ(good.exit_code, 0) << command << good.out << good.err;
    const CommandResult bad = Call({command, "--resume", "nosuchrun"});
    EXPECT_EQ(bad.exit_code, 2) << command;
    EXPECT_EQ(bad.err.find("no recipe"), std::string::npos) << command << bad.err;
    EXPECT_NE(Call({command, "--help"}).out.find("default RECIPE"), std::string::npos) << command;
  }
  EXPECT_EQ(Call({"params", "--help"}).out.find("default RECIPE"), std::string::npos);
}

TEST_F(Resume, ReportsWhyItFails) {
  const std::string run = Run({recipe_.path()});
  const CommandResult unused = Call({"run", MUSTER_SOURCE_DIR "/recipes/hello.lua", "--resume", run});
  EXPECT_EQ(unused.exit_code, 2);
  EXPECT_NE(unused.err.find("passes no checkpoint to its processes"), std::string::npos) << unused.err;
  fs::remove_all(run + "/checkpoints");
  const CommandResult gone = Call({"run", "--resume", run});
  EXPECT_EQ(gone.exit_code, 2);
  EXPECT_NE(gone.err.find("there is no folder \"" + run + "/checkpoints\""), std::string::npos) << gone.err;
  fs::create_directory(run + "/checkpoints");
  std::ofstream(run + "/checkpoints/step_7.txt");
  const CommandResult empty = Call({"run", "--resume", run});
  EXPECT_NE(empty.err.find("step_7.txt\" is empty"), std::string::npos) << empty.err;
  EXPECT_EQ(Call({"run", "--resume", "nosuchrun"}).exit_code, 2);
}

class ResumeAfterRestart : public Resume {
 protected:
  ResumeAfterRestart()
      : Resume("checkpoint = { dir = \"checkpoints\", latest = \"step_*.txt\" },",
               "restart = { max = 1, backoff = 0 }, env = { FROM = job.checkpoint.newest }, ") {}
};

TEST_F(ResumeAfterRestart, GivesEachStartTheNewestCheckpoint) {
  const std::string run = Run({recipe_.path(), "always=true", "die_at=2"});
  EXPECT_EQ(Log(run), "from 0\nstep 1\nstep 2\n");
  EXPECT_EQ(Log(run, 1), "from 2\nstep 3\n");
  ASSERT_EQ(Records(run, "checkpoint_seen").size(), 1U);
  EXPECT_EQ(Json(run + "/binding.json")["checkpoint"], run + "/checkpoints/step_2.txt");
}

class ResumeWithSignal : public Resume {
 protected:
  ResumeWithSignal()
      : Resume("checkpoint = { dir = \"checkpoints\", latest = \"step_*.txt\", signal = \"USR1\", wait = \"1h\" },") {}
};

TEST_F(ResumeWithSignal, RequestsACheckpointBeforeItStops) {
  const std::string run = Run({recipe_.path(), "stop=" + MusterProgram()}, 143);
  EXPECT_NE(Log(run).find("told SIGUSR1\nstep 2\ntold SIGTERM\n"), std::string::npos) << Log(run);
  const auto stops = Records(run, "stop_ordered");
  ASSERT_EQ(stops.size(), 2U);
  EXPECT_EQ(stops[0]["signal"], SIGUSR1);
  EXPECT_EQ(stops[1]["signal"], SIGTERM);
  const auto seen = Records(run, "checkpoint_seen");
  ASSERT_EQ(seen.size(), 1U);
  EXPECT_EQ(seen[0]["path"], run + "/checkpoints/step_2.txt");
  EXPECT_LT(stops[0]["seq"], seen[0]["seq"]);
  EXPECT_LT(seen[0]["seq"], stops[1]["seq"]);
  EXPECT_EQ(Json(run + "/report.json")["checkpoint"], run + "/checkpoints/step_2.txt");
  EXPECT_EQ(Log(Run({"--resume", run, "stop="})), "from 2\nstep 3\n");
}

}  // namespace
}  // namespace muster::testing
