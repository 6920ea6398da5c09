// Compares the environment of ps-lite's processes under muster with that of ps-lite's own tests/local.sh, and tests
// that variables exported by a user reach them.
#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include <gtest/gtest.h>

#include "supervision/job.h"

namespace muster::testing {
namespace {

using Env = std::map<std::string, std::string>;

Env EnvironmentIn(const std::string& log) {
  Env env;
  for (std::size_t begin = 0; begin < log.size();) {
    const std::size_t end = std::min(log.find('\n', begin), log.size());
    const std::string line = log.substr(begin, end - begin);
    begin = end + 1;
    if (const std::size_t equals = line.find('='); equals != std::string::npos) {
      env[line.substr(0, equals)] = line.substr(equals + 1);
    }
  }
  return env;
}

// Drops muster's own variables, and those that any shell adds.
void DropOthers(Env& env) {
  std::erase_if(env, [](const auto& entry) {
    static const std::set<std::string> kOfTheShell = {"PWD", "OLDPWD", "SHLVL", "_", "LC_CTYPE"};
    return entry.first.starts_with("MUSTER_") || kOfTheShell.contains(entry.first);
  });
}

// Returns what tests/local.sh of dmlc/ps-lite exports for `local.sh 2 3 ./train`, by role, except HEAPPROFILE: the name
// of a profiler's output file, which no process of ps-lite reads.
Env OfLocalSh(const std::string& role) {
  return {{"DMLC_NUM_SERVER", "2"},
          {"DMLC_NUM_WORKER", "3"},
          {"DMLC_PS_ROOT_URI", "127.0.0.1"},
          {"DMLC_PS_ROOT_PORT", "8000"},
          {"DMLC_ROLE", role}};
}

// Runs the same job with muster, with `environment` added to a minimal one.
class PsLiteRun {
 public:
  PsLiteRun(const std::vector<std::string>& options, const std::vector<std::string>& environment,
            const std::string& script = "/usr/bin/env") {
    Command command;
    command.argv = {MusterProgram(), "run", "@ps-lite", "workers=3", "servers=2", "--run-dir", folder_ / "run"};
    command.argv.insert(command.argv.end(), options.begin(), options.end());
    for (const char* word : {"--", "/bin/sh", "-c"}) command.argv.emplace_back(word);
    command.argv.push_back(script);
    command.env = {"PATH=/usr/bin:/bin", "HOME=" + Home()};
    command.env.insert(command.env.end(), environment.begin(), environment.end());
    command.cwd = folder_.path();
    result = RunCommand(command);
    report = json::parse(ContentOf(folder_ / "run/report.json"), nullptr, false);
  }
  Env Of(const std::string& process) const {
    Env env = EnvironmentIn(ContentOf(folder_ / ("run/logs/" + process + ".0.log")));
    DropOthers(env);
    return env;
  }
  std::string Text() const { return ContentOf(folder_ / "run/report.txt"); }
  std::string Home() const { return folder_.path(); }

  CommandResult result;
  json report;

 private:
  TempDir folder_;
};

TEST(PsLite, DiffersFromItsOwnLauncherOnlyAsDocumented) {
  const PsLiteRun run({}, {"PS_VERBOSE=1", "DMLC_PS_VAN_TYPE=zmq"});
  ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
  const std::string page = ContentOf(MUSTER_SOURCE_DIR "/docs/frameworks.md");
  const std::string section =
      page.substr(page.find("\n## `ps-lite`"), page.find("\n## `byteps`") - page.find("\n## `ps-lite`"));
  const std::pair<const char*, const char*> processes[] = {{"scheduler.0", "scheduler"}, {"server.0", "server"},
                                                           {"server.1", "server"},       {"worker.0", "worker"},
                                                           {"worker.1", "worker"},       {"worker.2", "worker"}};
  for (const auto& [process, role] : processes) {
    Env wanted = OfLocalSh(role);
    wanted.insert({{"PATH", "/usr/bin:/bin"}, {"HOME", run.Home()}, {"PS_VERBOSE", "1"}, {"DMLC_PS_VAN_TYPE", "zmq"}});
    Env found = run.Of(process);
    EXPECT_FALSE(found.at("DMLC_PS_ROOT_PORT").empty());
    found["DMLC_PS_ROOT_PORT"] = wanted["DMLC_PS_ROOT_PORT"];  // muster chooses a port
    for (const auto& [name, value] : wanted) EXPECT_EQ(found[name], value) << process << " " << name;
    for (const auto& [name, value] : found) {
      if (wanted.contains(name)) continue;
      EXPECT_NE(section.find("| `" + name + "` |"), std::string::npos)
          << process << ": " << name << "=" << value << " is more than local.sh gives, and nothing says why";
    }
  }
}

TEST(PsLite, ReportsRemovedVariablesOnce) {
  const PsLiteRun run({}, {"DMLC_ROLE=worker", "DMLC_NODE_HOST=10.0.0.9", "DMLC_INTERFACE=lo", "SLURM_JOBID=7"});
  ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
  const std::string words =
      "set here, and not inherited by the processes: DMLC_NODE_HOST, DMLC_ROLE; framework ps-lite";
  const std::size_t first = run.result.err.find(words);
  EXPECT_NE(first, std::string::npos) << run.result.err;
  EXPECT_EQ(run.result.err.find("not inherited by the processes", first + words.size()), std::string::npos);
  EXPECT_EQ(run.Of("worker.1").at("DMLC_INTERFACE"), "lo");
  EXPECT_FALSE(run.Of("worker.1").contains("DMLC_NODE_HOST"));
  EXPECT_EQ(PsLiteRun({}, {"PS_VERBOSE=1"}).result.err.find("not inherited"), std::string::npos);
}

TEST(PsLite, AcceptsVariablesOfTheCommandLine) {
  const PsLiteRun run({"--env", "PS_RESEND=1", "--env", "LABEL=a=b c"}, {"PS_RESEND=0"});
  ASSERT_EQ(run.result.exit_code, 0) << run.result.err;
  EXPECT_EQ(run.Of("server.1").at("PS_RESEND"), "1");
  EXPECT_EQ(run.Of("scheduler.0").at("LABEL"), "a=b c");
  const PsLiteRun wrong({"--env", "PS_RESEND"}, {});
  EXPECT_EQ(wrong.result.exit_code, 2);
  EXPECT_NE(wrong.result.err.find("--env \"PS_RESEND\" is not NAME=VALUE"), std::string::npos) << wrong.result.err;
}

TEST(PsLite, ReportsRemovedVariablesOncePerSweep) {
  const TempDir folder;
  std::ofstream(folder / "recipe.lua") << R"(
    local muster = require "muster"
    return muster.recipe {
      name = "sizes", framework = "ps-lite", params = { size = muster.int { 1 } },
      plan = function(p, job)
        job:servers { count = 1, command = { "true" } }
        job:workers { count = p.size, command = { "true" } }
      end,
    })";
  Command command;
  command.argv = {MusterProgram(), "sweep", "recipe.lua", "--grid", "size=1,2,3"};
  command.env = {"PATH=/usr/bin:/bin", "HOME=" + folder.path(), "DMLC_ROLE=worker"};
  command.cwd = folder.path();
  const CommandResult result = RunCommand(command);
  ASSERT_EQ(result.exit_code, 0) << result.err;
  const std::string words = "set here, and not inherited by the processes: DMLC_ROLE;";
  const std::size_t first = result.err.find(words);
  EXPECT_NE(first, std::string::npos) << result.err;
  EXPECT_EQ(result.err.find(words, first + words.size()), std::string::npos) << result.err;
}

// Reports show the ranks from ps-lite's log instead of the indices; here they are in reverse order.
TEST(PsLite, IsReportedWithTheRanksThatItAssigned) {
  const std::string script =
      "test $DMLC_ROLE = worker || exec sleep 100\n"
      "echo \"[10:00:00] src/van.cc:230: W[$((13 - 2 * DMLC_TASK_ID))] is connected to others\"\n"
      "test $DMLC_TASK_ID = 0 || exec sleep 100\nexit 9";
  const PsLiteRun verbose({}, {}, script);
  EXPECT_EQ(verbose.result.exit_code, 1);
  EXPECT_EQ(verbose.report["first_failure"]["index"], 0) << verbose.result.err;
  EXPECT_EQ(verbose.report["first_failure"]["rank"], 2);
  EXPECT_NE(verbose.Text().find("worker.0 (rank 2)"), std::string::npos) << verbose.Text();
  const PsLiteRun silent({}, {}, "test $DMLC_ROLE = worker && exit 9; exec sleep 100");
  EXPECT_TRUE(silent.report["first_failure"]["rank"].is_null());
  EXPECT_NE(silent.Text().find("(rank assigned by ps-lite)"), std::string::npos) << silent.Text();
}

TEST(Torch, KeepsTheCallersNumberOfThreads) {
  const auto threads = [](const std::vector<std::string>& environment) {
    const TempDir folder;
    Command command;
    command.argv = {
        MusterProgram(), "run", "@torch",  "workers=2", "--run-dir",
        folder / "run",  "--",  "/bin/sh", "-c",        "echo $OMP_NUM_THREADS ${NCCL_ASYNC_ERROR_HANDLING-none}"};
    command.env = {"PATH=/usr/bin:/bin"};
    command.env.insert(command.env.end(), environment.begin(), environment.end());
    command.cwd = folder.path();
    EXPECT_EQ(RunCommand(command).exit_code, 0);
    return ContentOf(folder / "run/logs/worker.1.0.log");
  };
  EXPECT_EQ(threads({}), "1 1\n");
  EXPECT_EQ(threads({"OMP_NUM_THREADS=4", "NCCL_ASYNC_ERROR_HANDLING=0"}), "4 0\n") << "as torchrun";
  const TempDir folder;
  Command command;
  command.argv = {MusterProgram(), "plan", "@torch", "workers=2", "--env", "worker", "--env", "A=1", "--", "train"};
  command.cwd = folder.path();
  const CommandResult reported = RunCommand(command);
  EXPECT_NE(reported.out.find("OMP_NUM_THREADS=1 unless it is inherited\n"), std::string::npos)
      << reported.out << reported.err;
  EXPECT_NE(reported.out.find("A=1"), std::string::npos) << reported.out;
}

}  // namespace
}  // namespace muster::testing
