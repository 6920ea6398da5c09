// Tests failure reports with whole runs: every kind of end, evidence, messages of the processes, and the run's
// start-up.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/system/own_process.h"
#include "base/values/abnormal_exit.h"
#include "supervision/job.h"
#include "support/as_user.h"

namespace muster::testing {
namespace {

// Every first attempt ends in a different way and every second one succeeds, so one run covers all of them.
TEST(Ending, IsDistinguishedForAllExitCodesAndSignals) {
  std::vector<int> signals;
  for (int signal = 1; signal <= SIGRTMAX; ++signal) {
    const bool ends = signal != SIGCHLD && signal != SIGCONT && signal != SIGURG && signal != SIGWINCH &&
                      signal != SIGSTOP && signal != SIGTSTP && signal != SIGTTIN && signal != SIGTTOU &&
                      (signal < 32 || signal >= SIGRTMIN);  // the C library reserves two between them
    if (ends) signals.push_back(signal);
  }
  const Job job(R"(
    local signals = {)" +
                [&] {
                  std::string list;
                  for (const int signal : signals) list += std::to_string(signal) + ",";
                  return list;
                }() +
                R"(}
    job:workers { count = 256 + #signals, restart = { max = 1000, within = "1h", backoff = 0 }, command = { probe },
      each = function(process)
        local first = process.index < 256 and "exit " .. process.index or "die " .. signals[process.index - 255]
        process.command = muster.shell("test $MUSTER_ATTEMPT = 0 || exit 0; exec " .. probe .. " " .. first)
      end })");
  ASSERT_EQ(job.result.exit_code, 0) << job.result.err;
  ASSERT_EQ(job.report["processes"].size(), 256 + signals.size());
  for (std::size_t i = 0; i < 256 + signals.size(); ++i) {
    const json& first = job.report["processes"][i]["attempts"][0];
    if (i < 256) {
      EXPECT_EQ(first["exit_code"], static_cast<int>(i));
      EXPECT_TRUE(first["signal"].is_null()) << i;
    } else {
      EXPECT_EQ(first["signal"], SignalName(signals[i - 256]));
      EXPECT_TRUE(first["exit_code"].is_null()) << signals[i - 256];
    }
  }
  // The journal has the values of the kernel.
  std::size_t ends = 0;
  for (const json& record : job.Records("process_exited")) {
    if (record["attempt"] != 0) continue;
    const auto i = record["process"].get<std::size_t>();
    EXPECT_EQ(record["signalled"], i >= 256) << record;
    EXPECT_EQ(record["code"], i < 256 ? static_cast<int>(i) : signals[i - 256]) << record;
    ++ends;
  }
  EXPECT_EQ(ends, 256 + signals.size());
}

TEST(Failure, IsReportedWithStoppedAndUnaffectedProcesses) {
  const TempDir armed;  // each worker with an installed handler creates a file in it
  const Job job("local armed = \"" + armed.path() + "/\"" + R"(
    job:role "prepare" { command = { probe, "exit", "0" }, ready = { done = true } }
    job:workers { count = 4, after = "prepare",
      each = function(process) if process.rank == 2 then
        process.command = muster.shell(probe .. " await " .. armed .. "0 await " .. armed .. "1 await " .. armed ..
                                       "3; echo step 7; exit 9")
      else
        process.command = { probe, "print", "steady", "on-term", "5", "file", armed .. process.rank, "wait" }
      end end,
      ready = { line = "ste", timeout = "60s" } })");
  EXPECT_EQ(job.result.exit_code, 1);
  const json& failure = job.report["first_failure"];
  EXPECT_EQ(failure["index"], 2);
  EXPECT_EQ(failure["last_lines"], json({"step 7"}));
  ASSERT_FALSE(failure["others"].empty());
  const std::string text = job.Text();
  EXPECT_NE(text.find("  prepare   1 ok\n"), std::string::npos) << text;
  EXPECT_NE(text.find("1 failed first, 3 ended because of it\n"), std::string::npos) << text;
  EXPECT_NE(text.find("around the first failure, that of worker.2:\n"), std::string::npos) << text;
  bool sent = false;
  for (const json& entry : failure["timeline"]) sent = sent || entry["what"] == "was sent SIGTERM";
  EXPECT_TRUE(sent) << failure["timeline"];
}

TEST(Failure, IsReportedWithTheProcesssOwnMessage) {
  const Job job(R"lua(
    job:workers { count = 2, command = { probe, "wait" }, stop = { grace = "1s" },
      each = function(process) if process.rank == 1 then process.command = muster.shell [[
cat > "$MUSTER_ERROR_FILE" <<'JSON'
{"message": {"message": "RuntimeError: shapes do not fit", "extraInfo": {"py_callstack": "Traceback", "timestamp": "1795176376"}}}
JSON
exit 7]] end end })lua");
  const json& failure = job.report["first_failure"];
  EXPECT_EQ(failure["exit_code"], 7);
  EXPECT_EQ(failure["error"]["message"], "RuntimeError: shapes do not fit");
  EXPECT_EQ(failure["error"]["at"], "2026-11-20T12:06:16.000000Z");
  EXPECT_EQ(failure["error"]["traceback"], json({"Traceback"}));
  EXPECT_NE(job.result.err.find("error     RuntimeError: shapes do not fit"), std::string::npos) << job.result.err;
}

TEST(Failure, IsReportedWithThePathOfItsCore) {
  rlimit cores = {};
  if (::getrlimit(RLIMIT_CORE, &cores) != 0 || cores.rlim_max == 0) GTEST_SKIP() << "core dumps are not allowed here";
  const Job job("job:workers { count = 1, command = muster.shell 'ulimit -c unlimited; kill -SEGV $$' }");
  const json& attempt = job.report["processes"][0]["attempts"][0];
  EXPECT_EQ(attempt["signal"], "SIGSEGV");
  if (attempt["core_dumped"] != true) GTEST_SKIP() << "the kernel dumps no core here";
  ASSERT_EQ(job.report["first_failure"]["evidence"].size(), 1U);
  const std::string evidence = job.report["first_failure"]["evidence"][0];
  EXPECT_EQ(attempt["evidence"], json({evidence}));
  EXPECT_NE(job.Text().find("evidence  " + evidence), std::string::npos) << job.Text();
  std::ifstream setting("/proc/sys/kernel/core_pattern");
  std::string pattern;
  std::getline(setting, pattern);
  if (pattern == "core") {
    EXPECT_TRUE(evidence.starts_with("core dump of ")) << evidence;
    EXPECT_NE(evidence.find("/core"), std::string::npos) << evidence;
  }
}

// A memory cgroup with a limit; the path is empty if the machine provides none.
class LimitedMemory {
 public:
  LimitedMemory() {
    for (const char* root : {"/sys/fs/cgroup/memory", "/sys/fs/cgroup"}) {
      const std::string name = std::string(root) + "/muster-test-" + std::to_string(::getpid());
      std::error_code error;
      if (!std::filesystem::create_directory(name, error) || error) continue;
      path = name;
      for (const char* limit : {"/memory.limit_in_bytes", "/memory.max"}) {
        if (!std::filesystem::exists(path + limit)) continue;
        std::ofstream file(path + limit);
        file << (192 << 20) << std::flush;
        if (file) return;
      }
      std::filesystem::remove(path, error);
      path.clear();
    }
  }
  LimitedMemory(const LimitedMemory&) = delete;
  LimitedMemory& operator=(const LimitedMemory&) = delete;
  ~LimitedMemory() {
    if (!path.empty()) ::rmdir(path.c_str());
  }

  std::string path;
};

TEST(Failure, IsReportedWithTheKernelsOutOfMemoryEvidence) {
#ifdef MUSTER_SANITIZED
  return;  // muster itself then needs more memory than the cgroup has
#endif
  const LimitedMemory memory;
  if (memory.path.empty()) {
    std::puts("no memory cgroup can be made here: nothing is killed for lack of memory");
    return;
  }
  const Job job("job:workers { count = 1, command = { 'dd', 'if=/dev/zero', 'of=/dev/null', 'bs=1G', 'count=1' } }", "",
                {"/bin/sh", "-c", "echo $$ > " + memory.path + "/cgroup.procs && exec \"$@\"", "in-group"});
  ASSERT_EQ(job.report["first_failure"]["signal"], "SIGKILL");
  ASSERT_EQ(job.report["first_failure"]["evidence"].size(), 1U) << job.report["first_failure"];
  const std::string evidence = job.report["first_failure"]["evidence"][0];
  EXPECT_NE(evidence.find("killed for lack of memory"), std::string::npos) << evidence;
}

TEST(Startup, NamesTheSlowestOfEachRole) {
  const Job job(R"(
    job:servers { count = 2, command = { probe, "print", "up", "wait" }, done = "never", stop = { grace = "1s" },
                  ready = { line = "up", timeout = "60s" } }
    job:workers { count = 2, command = { probe, "exit", "0" }, after = "server" })");
  ASSERT_EQ(job.result.exit_code, 0) << job.result.err;
  const json& startup = job.report["timings"]["startup"];
  EXPECT_GT(startup["evaluate"], 0.0);
  EXPECT_GT(startup["plan"], 0.0);
  EXPECT_GT(startup["agent"], 0.0);
  ASSERT_EQ(startup["roles"].size(), 2U);
  const json& server = startup["roles"][0];
  EXPECT_EQ(server["role"], "server");
  for (const char* step : {"spawn", "ready", "first_output"}) {
    EXPECT_EQ(server[step]["processes"], 2) << step << server;
    EXPECT_LE(server[step]["median"], server[step]["slowest"]) << step;
    EXPECT_LT(server[step]["index"], 2) << step;
  }
  const json& worker = startup["roles"][1];
  EXPECT_TRUE(worker["first_output"].is_null()) << "they say nothing";
  EXPECT_TRUE(worker["ready"].is_null());
  EXPECT_GE(worker["ordered"], server["ordered"]);
  EXPECT_NE(job.Text().find("first output\n"), std::string::npos) << job.Text();
}

// Rank 1 fails, leaves its error file and closes its connection; its handlers at exit take longer than it takes rank 0
// to notice and to exit.
TEST(FirstFailure, IsThatOfAnOlderErrorFileIfTheFirstToEndHasOnlyLostAPeer) {
  const Job job(R"(
    local pipe = here .. "/pipe"
    job:workers { count = 2, stop = { grace = "10s" }, each = function(process)
      process.command = process.index == 0
        and muster.shell("mkfifo " .. pipe .. "; read line < " .. pipe ..
                         "; echo '{\"message\": \"connection closed by peer\"}' > $MUSTER_ERROR_FILE; exit 5")
        or muster.shell("until [ -p " .. pipe .. " ]; do :; done; exec 3> " .. pipe ..
                        "; echo '{\"message\": \"loss is nan\"}' > $MUSTER_ERROR_FILE; exec 3>&-; exec " .. probe .. " wait")
    end })");
  ASSERT_EQ(job.result.exit_code, 1) << job.result.err;
  const json& failure = job.report["first_failure"];
  EXPECT_EQ(failure["index"], 1) << failure;
  EXPECT_EQ(failure["error"]["message"], "loss is nan");
  EXPECT_EQ(failure["why"], "left an error file, and then was killed by SIGTERM");
  ASSERT_EQ(failure["evidence"].size(), 1U);
  const std::string evidence = failure["evidence"][0];
  EXPECT_TRUE(evidence.starts_with("its error file is ")) << evidence;
  EXPECT_TRUE(evidence.ends_with(" older than what worker.0 left behind, which ended first")) << evidence;
  EXPECT_EQ(job.report["processes"][0]["verdict"], "victim");
  EXPECT_EQ(failure["signs"], json::array()) << "nothing is doubted";
  EXPECT_NE(job.result.err.find("worker.1 failed first"), std::string::npos) << job.result.err;
}

// A sanitizer may write into a file of its own, below the run directory or beside the program.
TEST(FirstFailure, IsReportedWithTheLogsOfSanitizers) {
  const Job job(R"lua(
    local log = [[echo "==$$==ERROR: AddressSanitizer: heap-use-after-free on address 0x10" > ]]
    local summary = [[echo "SUMMARY: AddressSanitizer: heap-use-after-free a.cc:3 in step" >> ]]
    job:workers { count = 2, stop = { grace = "1s" }, each = function(process)
      if process.index == 0 then
        process.env.ASAN_OPTIONS = "halt_on_error=1:log_path=" .. here .. "/asan"
        process.command = muster.shell("until ls $MUSTER_RUN_DIR/ubsan.* > /dev/null 2>&1; do sleep 0.01; done; " ..
                                       log .. here .. "/asan.$$; " .. summary .. here .. "/asan.$$; exit 1")
      else
        process.command = muster.shell(log .. "$MUSTER_RUN_DIR/ubsan.$$; exec " .. probe .. " wait")
      end
    end })lua");
  ASSERT_EQ(job.result.exit_code, 1) << job.result.err;
  const json& evidence = job.report["first_failure"]["evidence"];
  ASSERT_EQ(evidence.size(), 1U) << evidence;
  EXPECT_EQ(evidence[0].get<std::string>().find("AddressSanitizer: heap-use-after-free a.cc:3 in step, in /"), 0U)
      << evidence;
  ASSERT_EQ(job.report["files"].size(), 1U) << job.report["files"];
  EXPECT_EQ(job.report["files"][0]["process"], "worker.1");
  EXPECT_EQ(job.report["files"][0]["what"], "AddressSanitizer: heap-use-after-free on address 0x10");
  EXPECT_NE(job.Text().find("files     ubsan."), std::string::npos) << job.Text();
}

// Hard limits of the caller, in the units of bash, that are below what muster asks for.
TEST(InheritedLimits, AreTakenAsTheyAre) {
  for (const char* limit : {"-v 2000000", "-n 128", "-t 600", "-c 0", "-s 8000", "-l 64", "-f 100000", "-u 4000"}) {
    RunFolder folder;
    folder.WriteRecipe("job:workers { count = 2, command = { \"true\" } }", "params = { n = muster.int { 1 } },");
    const std::string run = "run recipe.lua --run-dir " + folder.RunDir();
    const std::string sweep = "sweep recipe.lua --grid n=1,2";
    for (const std::string& words : {std::string("plan recipe.lua"), run, sweep, std::string("serve < <(true)")}) {
      const CommandResult result =
          RunCommand({{"/bin/bash", "-c", std::string("ulimit ") + limit + " && exec \"$0\" " + words, MusterProgram()},
                      {"PATH=/usr/bin:/bin"},
                      folder.Folder()});
      EXPECT_EQ(result.exit_code, 0) << limit << ' ' << words << ": " << result.err;
    }
  }
}

// The kernel counts the processes of a user, and does not limit root.
TEST(InheritedLimits, OnTheNumberOfProcessesAreTakenAsTheyAre) {
  constexpr uid_t kUser = 54'321;  // nobody else's
  if (!CanBecomeOthers()) GTEST_SKIP() << "only root can become another user";
  RunFolder folder;
  folder.WriteRecipe("job:workers { count = p.n, command = { \"sleep\", p.n > 2 and \"1000\" or \"0\" } }",
                     "params = { n = muster.int { 2 } },");
  std::filesystem::permissions(folder.Folder(), std::filesystem::perms::all);
  std::filesystem::permissions(folder.Folder() + "/recipe.lua", std::filesystem::perms::all);
  // The build may be in a folder that others cannot enter.
  const std::filesystem::path built = std::filesystem::path(MusterProgram()).parent_path();
  for (const char* program : {"muster", "muster-agent", "muster-evaluator"})
    std::filesystem::copy_file(built / program, folder.Folder() + "/" + program);
  const auto call = [&](const std::string& words) {
    const std::string user = std::to_string(kUser);
    return RunCommand(
        {{"/usr/bin/setpriv", "--reuid=" + user, "--regid=" + user, "--clear-groups", "/bin/bash", "-c",
          "ulimit -u 60 && exec ./muster " + words},
         {"PATH=/usr/bin:/bin", "HOME=" + folder.Folder(), "MUSTER_LEASES=" + folder.Folder() + "/leases"},
         folder.Folder()});
  };
  for (const char* words :
       {"plan recipe.lua", "run recipe.lua --run-dir run", "sweep recipe.lua --grid n=1,2", "serve < <(true)"}) {
    const CommandResult result = call(words);
    EXPECT_EQ(result.exit_code, 0) << words << ": " << result.err;
  }
  const CommandResult beyond = call("run recipe.lua n=100 --run-dir beyond");
  EXPECT_EQ(beyond.exit_code, 3) << beyond.err;
  EXPECT_NE(beyond.err.find("RLIMIT_NPROC is 60"), std::string::npos) << beyond.err;
  EXPECT_TRUE(std::filesystem::exists(folder.Folder() + "/beyond/report.json"));
}

// The kernel kills at the hard limit without a word, and `ulimit -t` sets both.
TEST(InheritedLimits, OnProcessorTimeEndInAReport) {
  RunFolder folder;
  folder.WriteRecipe(R"(
    job:role "limit" { command = muster.shell "ulimit -t > limit.txt", cwd = here, ready = { done = true } }
    -- Lines take the head's time, and that of many short programs.
    job:workers { count = 1, after = "limit", stop = { grace = "1s" },
                  command = muster.shell "while sleep 0.01; do head -c 50000 /dev/zero | tr '\\0' '\\n'; done" })");
  const CommandResult result = RunCommand(
      {{"/bin/bash", "-c", "ulimit -t 3 && exec \"$0\" run recipe.lua --run-dir run > out.txt", MusterProgram()},
       {"PATH=/usr/bin:/bin"},
       folder.Folder()});
  const json report = json::parse(ContentOf(folder.Folder() + "/run/report.json"), nullptr, false);
  ASSERT_TRUE(report.is_object()) << result.exit_code << result.err;
  EXPECT_EQ(report["outcome"], "stopped") << report["why"];
  EXPECT_EQ(report["why"], "ended by SIGXCPU");
  EXPECT_EQ(report["receipt"]["left"], 0);
  EXPECT_EQ(ContentOf(folder.Folder() + "/limit.txt"), "3\n") << "processes have the caller's limit";
}

TEST(InheritedLimits, OfProcessorTimeLeaveAMargin) {
  EXPECT_EQ(ProcessorMargin({3, 3}), 1U);
  EXPECT_EQ(ProcessorMargin({30, 30}), 3U);
  EXPECT_EQ(ProcessorMargin({3'600, 3'600}), 5U);
  EXPECT_EQ(ProcessorMargin({1, 1}), 0U);
  EXPECT_EQ(ProcessorMargin({3, 30}), 0U);
  EXPECT_EQ(ProcessorMargin({RLIM_INFINITY, RLIM_INFINITY}), 0U);
}

TEST(InheritedLimits, OnTheSizeOfFilesEndInAMessage) {
  RunFolder folder;
  folder.WriteRecipe("job:workers { count = 2, command = muster.shell \"yes | head -c 1000000\" }");
  const CommandResult result = RunCommand({{"/bin/sh", "-c", "ulimit -f 64 && exec \"$0\" \"$@\"", MusterProgram(),
                                            "run", "recipe.lua", "--run-dir", folder.RunDir()},
                                           {"PATH=/usr/bin:/bin"},
                                           folder.Folder()});
  EXPECT_GT(result.exit_code, 0) << result.err;
  EXPECT_LT(result.exit_code, 4) << result.err;
  EXPECT_NE(result.err, "");
}

TEST(RunDirectoryInUse, IsReportedIfItIsRemovedOrMoved) {
  for (const auto& [command, words] : {std::pair("rm -rf $HERE/run", "was removed during the run"),
                                       {"mv $HERE/run $HERE/elsewhere", "was moved to"},
                                       {"mv $HERE/run $HERE/elsewhere; mkdir $HERE/run; exit 1", "was moved to"}}) {
    RunFolder folder;
    folder.WriteRecipe(std::string("job:workers { count = 1, env = { HERE = here }, command = muster.shell \"") +
                       command + "\" }");
    const CommandResult result = folder.Muster({"run", "recipe.lua", "--run-dir", folder.RunDir()});
    EXPECT_EQ(result.exit_code, 3) << command << ": " << result.err;
    EXPECT_NE((result.err + result.out).find(words), std::string::npos) << result.err << result.out;
  }
}

TEST(Detach, ReportsAProcessThatCannotBeStarted) {
  RunFolder folder;
  folder.WriteRecipe("job:workers { count = 2, command = { \"no-such-program\" } }");
  const CommandResult result = folder.Muster({"run", "recipe.lua", "--detach", "--run-dir", folder.RunDir()});
  EXPECT_NE(result.exit_code, 0);
  EXPECT_NE(result.err.find("the run did not begin"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("no-such-program"), std::string::npos) << result.err;
  folder.AwaitNothingLeft();
}

}  // namespace
}  // namespace muster::testing
