// Validates everything that muster prints with --json, and the files that it stores, against the schemas that
// `muster docs --schema` prints: runs, failures and sweeps of this build, and what former versions stored.
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/stat.h>

#include "cli/muster_command.h"
#include "run/control/control_protocol.h"
#include "run/directory/job_record.h"
#include "run/journal/journal.h"
#include "run/notify/notifier.h"
#include "run/sample_entries.h"
#include "stub/records/stub_report.h"
#include "sweep/record/sweep_journal.h"

namespace muster::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr const char* kTrain = R"(local muster = require "muster"
return muster.recipe {
  name = "train", doc = "reports a metric, and fails once if asked to", framework = "torch",
  params = { lr = muster.float { 0.1, above = 0 }, fail = muster.bool { false }, last = muster.int { 0 } },
  profiles = { slow = { lr = 0.01 } },
  plan = function(p, job)
    job:file { "settings.json", json = { lr = p.lr } }
    job:workers { count = 2, devices = 0, restart = { max = 1, scope = "role" },
      command = { "sh", "-c", [[
        echo "{\"step\":1,\"loss\":$1}" >> $MUSTER_METRICS
        test "$2$RANK$MUSTER_ATTEMPT" != true10 || { echo '{"message":"out of luck"}' > $MUSTER_ERROR_FILE; exit 7; }
        exit $3]], "sh", p.lr, tostring(p.fail), p.last } }
  end,
})";
constexpr const char* kSearch = R"(local muster = require "muster"
return muster.sweep {
  name = "search", recipe = muster.load "train.lua", objective = muster.minimize "loss",
  space = { lr = { 0.1, 0.2 }, fail = { false, true } },
})";
// Its process says in the fifo "up", beside the recipe, that it is running.
constexpr const char* kSleep = R"(local muster = require "muster"
return muster.recipe {
  name = "sleep", params = { n = muster.int { 1 }, up = muster.string { "" } },
  plan = function(p, job)
    job:workers { count = 1, devices = 0, command = { "sh", "-c", "echo up > \"$1\"; exec sleep 600", "sh", p.up } }
  end,
})";

constexpr const char* kContext = R"(local muster, context = require "muster", require "muster.context"
return muster.recipe {
  name = "context", mindspore = "1.6.2",
  plan = function(p, job)
    context.set_context { device_target = "CPU" }
    job:workers { count = 1, devices = 0, command = { "true" } }
  end,
})";

std::string ContentOf(const fs::path& path) {
  std::ifstream file(path);
  return {std::istreambuf_iterator<char>(file), {}};
}

class Schemas : public ::testing::Test {
 protected:
  Schemas() {
    std::ofstream(folder_ / "train.lua") << kTrain;
    std::ofstream(folder_ / "search.lua") << kSearch;
    std::ofstream(folder_ / "sleep.lua") << kSleep;
    std::ofstream(folder_ / "context.lua") << kContext;
    std::ofstream(folder_ / "broken.lua") << "local x = 1 +";
    fs::create_directory(folder_ / "schemas");
  }

  CommandResult Call(std::vector<std::string> words) {
    return Muster(std::move(words), {"MUSTER_HOME=" + folder_.path(), "XDG_STATE_HOME=" + folder_.path() + "/state"});
  }

  void Add(const std::string& schema, const std::string& what, const std::string& text) {
    documents_ += json{{"schema", schema}, {"what", what}, {"text", text}}.dump() + "\n";
  }
  // What the command prints, whatever its exit code is.
  std::string Printed(const std::string& schema, std::vector<std::string> words) {
    std::string what;
    for (const std::string& word : words) what += (what.empty() ? "" : " ") + word;
    const CommandResult result = Call(std::move(words));
    EXPECT_NE(result.out, "") << what << ": " << result.err;
    Add(schema, what, result.out);
    return result.out;
  }
  void AddLines(const std::string& schema, const std::string& what, const std::string& text) {
    std::istringstream lines(text);
    int number = 0;
    for (std::string line; std::getline(lines, line);) Add(schema, what + ":" + std::to_string(++number), line);
  }
  // The files of a run's directory.
  void AddRun(const fs::path& dir) {
    for (const auto& [file, schema] : std::vector<std::pair<const char*, const char*>>{{"plan.json", "plan"},
                                                                                       {"report.json", "report"},
                                                                                       {"binding.json", "binding"},
                                                                                       {"inputs.json", "inputs"},
                                                                                       {"tags.json", "tags"}}) {
      if (fs::exists(dir / file)) Add(schema, (dir / file).string(), ContentOf(dir / file));
    }
    AddLines("journal", (dir / "journal.jsonl").string(), ContentOf(dir / "journal.jsonl"));
    AddLines("usage", (dir / "usage.jsonl").string(), ContentOf(dir / "usage.jsonl"));
    AddLines("notifications", (dir / "notifications.jsonl").string(), ContentOf(dir / "notifications.jsonl"));
    if (fs::exists(dir / "context/worker.0.json"))
      Add("context", dir.string(), ContentOf(dir / "context/worker.0.json"));
    if (fs::exists(dir / "metrics")) {
      for (const auto& file : fs::directory_iterator(dir / "metrics"))
        AddLines("metrics", file.path().string(), ContentOf(file.path()));
    }
  }
  void AddSweep(const fs::path& dir) {
    Add("sweep", (dir / "sweep.json").string(), ContentOf(dir / "sweep.json"));
    AddLines("sweep-journal", (dir / "journal.jsonl").string(), ContentOf(dir / "journal.jsonl"));
  }

  // Everything that was added is valid, and no longer when it is spoilt; every schema has something.
  void ExpectValid() {
    const json list = json::parse(Call({"docs", "--schema", "--json"}).out);
    for (const json& schema : list["schemas"]) {
      const std::string name = schema["name"];
      const CommandResult printed = Call({"docs", "--schema", name});
      ASSERT_EQ(printed.exit_code, 0) << printed.err;
      std::ofstream(folder_ / ("schemas/" + name + ".json")) << printed.out;
    }
    std::ofstream(folder_ / "documents.jsonl") << documents_;
    const CommandResult result =
        RunCommand({.argv = {"/usr/bin/python3", MUSTER_SOURCE_DIR "/tests/schemas/validate.py", folder_ / "schemas",
                             folder_ / "documents.jsonl"}});
    EXPECT_EQ(result.exit_code, 0) << result.out.substr(0, 20'000) << result.err;
  }

  TempDir folder_;
  std::string documents_;
};

TEST_F(Schemas, DescribeWhatIsPrintedAndStored) {
  const CommandResult has = RunCommand({.argv = {"/usr/bin/python3", "-c", "import jsonschema"}});
  if (has.exit_code != 0) GTEST_SKIP() << "/usr/bin/python3 has no jsonschema (tools/setup --tests)";
  const std::string train = folder_ / "train.lua";
  const std::string search = folder_ / "search.lua";
  const std::string sleep = folder_ / "sleep.lua";

  // Recipes and plans.
  for (const char* recipe : {"hello", "parameter_server", "pipeline", "torch_ddp"}) {
    Printed("plan", {"plan", std::string("recipes/") + recipe + ".lua", "--json"});
    Printed("params", {"params", std::string("recipes/") + recipe + ".lua", "--json"});
  }
  Printed("plan", {"plan", "recipes/pipeline.lua", "--host", "n[1-4]:8", "--json"});
  Printed("environment", {"plan", train, "--env", "worker:0", "--json"});
  Printed("params", {"params", train, "--profile", "slow", "--json"});
  Printed("params", {"params", folder_ / "broken.lua", "--json"});
  Printed("diagnostics", {"check", folder_ / "broken.lua", "--json"});
  Printed("diagnostics", {"check", "recipes/pipeline.lua", "pipeline_stages=3", "micro_batches=0", "--json"});
  Printed("check", {"check", train, "--json"});
  Printed("check", {"check", train, "--deep", "--json"});
  Printed("check", {"check", "recipes/pipeline.lua", "--mindspore", "all", "--json"});
  Printed("check", {"check", "recipes/data_parallel.lua", "--mindspore", "2.7", "--rewrite", "--json"});
  Printed("check", {"check", "recipes/data_parallel.lua", "--mindspore", "2.7", "--rewrite", "--diff", "--json"});
  Printed("check", {"check", "recipes", "--json"});
  Printed("check", {"check", folder_.path(), "--mindspore", "2.6.0", "--json"});
  Printed("diff", {"diff", train, train, "lr=0.2", "fail=true", "--json"});
  Printed("diff", {"diff", "recipes/pipeline.lua", "pipeline_stages=2", "--json"});
  Printed("explain", {"explain", train, "lr", "--json"});
  Printed("why-not", {"why-not", "recipes/pipeline.lua", "pipeline_stages=3", "--json"});
  Printed("explain", {"explain", "recipes/pipeline.lua", "pipeline_stages", "--json"});
  Printed("explain", {"explain", "recipes/pipeline.lua", "MS_WORKER_NUM", "--json"});
  Printed("test", {"test", "recipes", "--json"});
  Printed("test", {"test", folder_.path(), "--json"});
  Printed("docs", {"docs", "rank", "--json"});
  Printed("docs", {"docs", "schemas", "--json"});
  Printed("schemas", {"docs", "--schema", "--json"});
  Printed("recipes", {"ls", "--recipes", "--json"});

  // Runs.
  ASSERT_EQ(Call({"run", train, "--tag", "baseline", "--tag", "ticket=42", "--quiet"}).exit_code, 0);
  ASSERT_EQ(Call({"run", train, "fail=true", "--quiet"}).exit_code, 0);
  ASSERT_NE(Call({"run", train, "last=3", "--quiet"}).exit_code, 0);
  ASSERT_EQ(Call({"run", folder_ / "context.lua", "--notify", "true", "--quiet"}).exit_code, 0);
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "runs")) {
    if (entry.path().filename() == "plan.json") AddRun(entry.path().parent_path());
  }
  for (const char* run : {"train", "train~1", "train~2"}) {
    Printed("report", {"report", run, "--json"});
    Printed("whatif-run", {"whatif", run, "--json"});
  }
  for (const std::string& run : {std::string("train"), std::string("train~1"), folder_.path(), std::string("nothing")})
    Printed("ledger", {"report", "--ledger", run, "--json"});
  Printed("runs", {"ls", "--json"});
  Printed("runs", {"ls", "--columns", "name,lr,tags", "--json"});
  Printed("runs", {"ls", "--where", "nothing == 1", "--json"});
  AddLines("journal", "watch", Call({"watch", "train", "--json"}).out);
  Printed("rehearsal", {"rehearse", train, "--json"});
  Printed("drill", {"drill", train, "--stub", "--step", "10ms", "--steps", "30", "--inject", "stop:worker:0@50ms+50ms",
                    "--json"});
  Printed("doctor", {"doctor", "--json"});
  Printed("clean", {"clean", "--json"});
  Printed("hosts", {"hosts", "--json"});
  Printed("hosts", {"hosts", "n1", "--json"});
  AddLines("host-history", "host_history.jsonl", ContentOf(folder_ / "state/muster/host_history.jsonl"));
  Printed("stub", {"stub", "--json", "--", "true"});
  Printed("diff", {"diff", "train~2", "train", "--json"});
  std::istringstream served(RunCommand({.argv = {"/usr/bin/timeout", "3", MusterProgram(), "serve", "--json"},
                                        .env = {"PATH=/usr/bin:/bin", "MUSTER_HOME=" + folder_.path()}})
                                .out);
  std::string address;
  std::getline(served, address);
  Add("server", "serve", address);

  // Sweeps.
  for (int i = 0; i < 2; ++i) ASSERT_EQ(Call({"sweep", search, "--quiet"}).exit_code, 0);
  ASSERT_EQ(Call({"sweep", train, "--grid", "lr=0.1,0.2,0.3", "--minimize", "loss", "--asha", "step:1..4/2", "--name",
                  "rungs", "--quiet"})
                .exit_code,
            0);
  Printed("preview", {"sweep", search, "--preview", "--json"});
  Printed("preview", {"sweep", train, "--grid", "lr=0.1,0.2,0.3", "--minimize", "loss", "--hyperband", "step:1..4/2",
                      "--promote", "--preview", "--json"});
  Printed("sweeps", {"ls", "--sweeps", "--json"});
  Printed("trials", {"ls", "search", "--json"});
  Printed("trials", {"ls", "search", "--columns", "trial,lr", "--json"});
  Printed("comparison", {"ls", "search", "search~1", "--json"});
  Printed("best", {"best", "search", "--json"});
  Printed("best", {"best", "search", "--where", "lr > 1", "--json"});
  Printed("trial", {"show", "search:best", "--json"});
  Printed("suggestion", {"explain", "search:0", "--json"});
  Printed("importance", {"importance", "search", "--json"});
  Printed("simulation", {"simulate", train, "--between", "1d", "--time", "3d", "--lives", "2", "--sweep", "--json"});
  Printed("whatif", {"whatif", "rungs", "--eta", "3", "--json"});
  Printed("edit",
          {"edit", "rungs", train, "--grid", "lr=0.1,0.4", "--minimize", "loss", "--asha", "step:1..4/2", "--json"});
  for (const char* sweep : {"search", "rungs"}) {
    Printed("sweep-report", {"show", sweep, "--json"});
    Printed("sweep-report", {"report", sweep, "--json"});
  }
  AddLines("sweep-journal", "watch", Call({"watch", "search", "--json"}).out);
  for (const auto& entry : fs::recursive_directory_iterator(folder_ / "sweeps")) {
    if (entry.path().filename() == "sweep.json") AddSweep(entry.path().parent_path());
  }

  // What is running.
  const std::string up = folder_ / "up";
  ASSERT_EQ(::mkfifo(up.c_str(), 0600), 0);
  ASSERT_EQ(Call({"run", sleep, "up=" + up, "--detach"}).exit_code, 0);
  EXPECT_EQ(ContentOf(up), "up\n");
  ASSERT_EQ(Call({"sweep", sleep, "up=" + up, "--grid", "n=1,2,3", "--slots", "1", "--name", "sleeping", "--detach"})
                .exit_code,
            0);
  EXPECT_EQ(ContentOf(up), "up\n");
  Printed("ps", {"ps", "--json"});
  Printed("dump", {"dump", "sleep", "--json"});
  Printed("dumps", {"dump", "sleeping", "--json"});
  Printed("limits", {"steer", "sleeping", "--slots", "2", "--json"});
  EXPECT_EQ(Call({"stop", "sleep", "--now"}).exit_code, 0);
  EXPECT_EQ(Call({"stop", "sleeping", "--now"}).exit_code, 0);

  // What needs an engine or a peer, by the functions that write it.
  for (const JournalEntry& entry : OneOfEach()) {
    Add("journal", std::string(EntryName(entry)), JournalLine({1, "2026-11-20T12:06:18.006123Z", 1, entry}));
  }
  const std::string dir = folder_ / "job";
  fs::create_directory(dir);
  const UniqueFd job(::open(dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  JobRecord record;
  record.engine = "slurm";
  record.requeue_on = {"preempted"};
  ASSERT_TRUE(WriteJobRecord(job.get(), record));
  ASSERT_TRUE(WriteAttempts(dir, {JobAttempt()}));
  ASSERT_TRUE(WriteJobEnd(dir, JobEnd()));
  Add("job", "job.json", ContentOf(dir + "/job.json"));
  Add("attempts", "attempts.json", ContentOf(dir + "/attempts.json"));
  Add("job-end", "job_end.json", ContentOf(dir + "/job_end.json"));
  Notice notice;
  notice.outcome = "ok";
  notice.exit_code = 0;
  Add("notice", "of a run", NoticeLine(notice));
  notice.restart.emplace();
  notice.trial.emplace();
  notice.best.emplace();
  notice.trials.emplace();
  notice.metrics.emplace("loss", 0.5);
  Add("notice", "of a sweep", NoticeLine(notice));
  ControlRequest fault;
  fault.ask = ControlRequest::Ask::kFault;
  fault.fault = "stop";
  fault.target = "worker.3";
  fault.lasts_ms = 5'000;
  Add("control-request", "fault", ControlRequestLine(fault));
  ControlRequest steer;
  steer.ask = ControlRequest::Ask::kSteer;
  steer.slots = 2;
  Add("control-request", "steer", ControlRequestLine(steer));
  ControlAnswer status;
  status.status.roles.emplace_back();
  Add("control-answer", "status", ControlAnswerLine(status));
  ControlAnswer refused;
  refused.error = "no";
  Add("control-answer", "refused", ControlAnswerLine(refused));
  ControlAnswer processes;
  processes.processes.emplace().processes.emplace_back();
  processes.limits = SweepLimits();
  Add("control-answer", "processes", ControlAnswerLine(processes));

  // What former versions stored.
  for (const auto& version : fs::directory_iterator(MUSTER_SOURCE_DIR "/tests/stored")) {
    if (!version.is_directory()) continue;
    for (const auto& entry : fs::recursive_directory_iterator(version.path())) {
      const fs::path& path = entry.path();
      if (path.filename() == "report.json") AddRun(path.parent_path());
      if (path.filename() == "sweep.json") AddSweep(path.parent_path());
      for (const auto& [file, schema] : std::vector<std::pair<const char*, const char*>>{
               {"job.json", "job"}, {"attempts.json", "attempts"}, {"job_end.json", "job-end"}}) {
        if (path.filename() == file) Add(schema, path.string(), ContentOf(path));
      }
    }
  }
  ExpectValid();
}

TEST_F(Schemas, AreNamedWithTheNearestForAnUnknownName) {
  const CommandResult result = Call({"docs", "--schema", "repotr"});
  EXPECT_EQ(result.exit_code, 2);
  EXPECT_NE(result.err.find("there is no schema \"repotr\""), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("did you mean report?"), std::string::npos) << result.err;
}

TEST_F(Schemas, AreInTheTableOfTheirPage) {
  const json list = json::parse(Call({"docs", "--schema", "--json"}).out);
  std::string listed;
  for (const json& schema : list["schemas"]) listed += schema["name"].get<std::string>() + "\n";
  const std::string page = ContentOf(MUSTER_SOURCE_DIR "/docs/schemas.md");
  const std::regex row("\n\\| `([a-z-]+)` \\|");
  std::string described;
  for (std::sregex_iterator it(page.begin(), page.end(), row); it != std::sregex_iterator(); ++it)
    described += (*it)[1].str() + "\n";
  EXPECT_EQ(described, listed);
}

}  // namespace
}  // namespace muster::testing
