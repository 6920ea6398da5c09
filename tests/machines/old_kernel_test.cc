// Tests whole runs and sweeps on a kernel without the system calls that came after Linux 4.18 (that of RHEL 8).
#include <algorithm>
#include <filesystem>

#include "supervision/started_muster.h"

namespace muster::testing {
namespace {

using nlohmann::json;

const std::string kOldKernel = MUSTER_TESTS_DIR "/old_kernel";

bool Has(const json& list, const std::string& word) { return std::find(list.begin(), list.end(), word) != list.end(); }

CommandResult OnOldKernel(std::vector<std::string> words, const std::string& folder) {
  words.insert(words.begin(), {kOldKernel, MusterProgram()});
  return RunCommand({.argv = std::move(words), .cwd = folder});
}

TEST(OldKernel, RunsSeveralProcessesAndUsesSubstitutesOnly) {
  StartedMuster muster(R"(
    job:role "daemon" { count = 2, done = "never", ready = { line = "up" }, stop = { grace = "200ms" },
                        command = { probe, "session", "daemon", "print", "up", "wait" } }
    job:workers { count = 3, after = { "daemon" }, command = { probe, "print", "hello", "exit", "0" } })");
  muster.Start({}, {kOldKernel});
  EXPECT_EQ(muster.End(), 0) << muster.Output();
  EXPECT_TRUE(muster.Left().empty());
  EXPECT_EQ(KillDescendants({}).killed, 0U) << "something is left";
  for (const char* log : {"worker.0.0", "worker.1.0", "worker.2.0"}) {
    EXPECT_EQ(StartedMuster::Content(muster.run_dir() + "/logs/" + log + ".log"), "hello\n");
  }
  ASSERT_EQ(muster.Journal("agent_connected").size(), 1U);
  const json used = muster.Journal("agent_connected")[0]["mechanisms"];
  for (const char* substitute : {"sigchld", "proc-fd", "copied-files"}) EXPECT_TRUE(Has(used, substitute)) << used;
  const json lockdown = muster.Journal("run_began")[0]["lockdown"];
  EXPECT_TRUE(Has(lockdown, "seccomp") && !Has(lockdown, "landlock")) << lockdown;
}

TEST(OldKernel, ReportsTheFirstFailure) {
  StartedMuster muster(R"(
    job:workers { count = 3, each = function(process)
      process.command = process.index == 1 and { probe, "await", folder .. "/go", "print", "broken", "exit", "7" }
                        or { probe, "file", folder .. "/go", "wait" }
      if process.index == 2 then process.command = { probe, "wait" } end
    end })");
  muster.Start({}, {kOldKernel});
  EXPECT_EQ(muster.End(), 1) << muster.Output();
  EXPECT_NE(muster.Output().find("job failed: worker.1 (rank 1)"), std::string::npos) << muster.Output();
  EXPECT_NE(muster.Output().find("exited with code 7"), std::string::npos) << muster.Output();
  EXPECT_NE(muster.Output().find("worker.1 | broken\n"), std::string::npos) << muster.Output();
  EXPECT_TRUE(muster.Left().empty());
}

TEST(OldKernel, LeavesNothingIfHeadOrAgentIsKilled) {
  for (const bool agent : {false, true}) {
    StartedMuster muster(R"(
      job:workers { count = 2, each = function(process)
        process.command = { probe, "session", "daemon", "file", folder .. "/up" .. process.index, "wait" }
      end })");
    std::vector<UniqueFd> fifos;
    for (const char* name : {"up0", "up1"}) ASSERT_EQ(::mkfifo((muster / name).c_str(), 0600), 0);
    muster.Start({}, {kOldKernel});
    for (const char* name : {"up0", "up1"}) {
      ASSERT_TRUE(fifos.emplace_back(::open((muster / name).c_str(), O_RDONLY | O_CLOEXEC)));
    }
    ASSERT_GE(muster.Left().size(), 6U) << muster.Output();
    const pid_t killed = agent ? muster.Journal("agent_connected").at(0)["pid"].get<pid_t>() : muster.head();
    ASSERT_EQ(::kill(killed, SIGKILL), 0);
    EXPECT_EQ(muster.End(), agent ? 3 : 128 + SIGKILL) << muster.Output();
    EXPECT_TRUE(muster.Left().empty()) << "after the kill of the " << (agent ? "agent" : "head");
    EXPECT_EQ(KillDescendants({}).killed, 0U);
  }
}

TEST(OldKernel, FindsTheBestPointOfASweep) {
  const TempDir folder;
  std::ofstream(folder / "recipe.lua") << R"lua(local muster = require "muster"
    return muster.recipe { name = "s", params = { x = muster.int { 1 } }, metrics = { loss = [[loss=(\S+)]] },
      plan = function(p, job)
        local script = "echo loss=" .. (p.x - 3) * (p.x - 3) .. "; test " .. p.x .. " != 2"
        job:workers { count = 2, command = { "/bin/sh", "-c", script } }
      end })lua";
  const CommandResult swept = OnOldKernel(
      {"sweep", "recipe.lua", "--grid", "x=1..5", "--slots", "2", "--minimize", "loss", "-q"}, folder.path());
  EXPECT_EQ(swept.exit_code, 4) << "one trial fails: " << swept.out << swept.err;
  const CommandResult best = OnOldKernel({"best", "--json"}, folder.path());
  ASSERT_EQ(best.exit_code, 0) << best.err;
  EXPECT_EQ(json::parse(best.out)["trials"][0]["point"]["x"], 3) << best.out;
}

TEST(OldKernel, ReadsRecipesAndTheirFilesBelowTheirFolder) {
  const TempDir folder;
  std::filesystem::create_directory(folder / "sub");
  std::ofstream(folder / "sub/part.lua") << "return { words = { 'true' } }";
  std::ofstream(folder / "recipe.lua") << R"(local muster = require "muster"
    local part = require "sub.part"
    return muster.recipe { name = "r", plan = function(p, job) job:workers { count = 1, command = part.words } end })";
  const CommandResult plan = OnOldKernel({"plan", "recipe.lua", "--json"}, folder.path());
  EXPECT_EQ(plan.exit_code, 0) << plan.err;
  EXPECT_EQ(json::parse(plan.out)["processes"].size(), 1U);
  // Nothing may be read above the folder, with openat2 or without.
  std::ofstream(folder / "sub/out.lua") << "local muster = require 'muster'\nrequire '..recipe'";
  EXPECT_EQ(OnOldKernel({"plan", "sub/out.lua"}, folder.path()).exit_code, 2);
}

}  // namespace
}  // namespace muster::testing
