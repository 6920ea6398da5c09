// Tests logs of whole runs: selection, merging, and output during and after the run.
#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "supervision/log_reader.h"
#include "wire/files/log_bytes.h"

namespace muster::testing {
namespace {

// --- selection -------------------------------------------------------------------------------------

TEST_F(Logs, AreSelectedByRoleRankAttemptAndText) {
  Recipe(R"(
    job:role "helper" { command = { probe, "print", "I help", "exit", "0" } }
    job:workers { count = 4, restart = { max = 1, backoff = 0 },
      command = muster.shell 'echo try $MUSTER_ATTEMPT of $MUSTER_RANK; test $MUSTER_RANK.$MUSTER_ATTEMPT != 3.0' })");
  ASSERT_EQ(Muster(RunWords({"--quiet"})).exit_code, 0);
  EXPECT_EQ(Show({"--role", "helper"}).out, "I help\n");
  EXPECT_EQ(Show({"--rank", "0-1,3"}).out,
            "worker.0 rank 0 | try 0 of 0\nworker.1 rank 1 | try 0 of 1\n"
            "worker.3 rank 3 | try 0 of 3\nworker.3 rank 3 attempt 1 | try 1 of 3\n");
  EXPECT_EQ(Show({"--attempt", "1"}).out, "worker.3 rank 3 attempt 1 | try 1 of 3\n");
  EXPECT_EQ(Show({"--grep", "^I|of [02]$"}).out,
            "helper.0 | I help\nworker.0 rank 0 | try 0 of 0\nworker.2 rank 2 | try 0 of 2\n");
  EXPECT_EQ(Show({"--rank", "2", "--raw"}).out, "try 0 of 2\n");
  EXPECT_EQ(Show({"--since", "2000-01-01T00:00", "--rank", "2"}).out, "try 0 of 2\n");
  EXPECT_EQ(Show({"--since", "9999-01-01T00:00"}).exit_code, 2) << "beyond what a clock can count";
  EXPECT_EQ(Show({"--since", "2300-01-01T00:00"}).out, "");
}

TEST_F(Logs, RefuseInvalidSelections) {
  Recipe("job:workers { count = 1, command = { probe, 'exit', '0' } }");
  ASSERT_EQ(Muster(RunWords({"--quiet"})).exit_code, 0);
  for (const Words& words : {Words{"--rank", "x"},
                             {"--rank", "9"},
                             {"--grep", "("},
                             {"--since", "yesterday"},
                             {"--raw", "--grep", "x"},
                             {"--raw", "--merge"},
                             {"--role", "nobody"},
                             {"--attempt", "1"}}) {
    const CommandResult refused = Show(words);
    EXPECT_EQ(refused.exit_code, 2) << words[1];
    EXPECT_NE(refused.err.find("error"), std::string::npos) << refused.err;
  }
  const CommandResult tee = Muster({"run", folder / "recipe.lua", "--run-dir", folder / "other", "--tee", "wroker"});
  EXPECT_EQ(tee.exit_code, 2);
  EXPECT_NE(tee.err.find("did you mean \"worker\"?"), std::string::npos) << tee.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "other"));
}

TEST_F(Logs, AreShownAndMergedByTheirTimes) {
  Recipe("job:workers { count = 2, command = { probe, 'exit', '0' } }");
  ASSERT_EQ(Muster(RunWords({"--quiet"})).exit_code, 0);
  constexpr std::uint64_t kSecond = 1'000'000'000;
  const auto put = [&](const std::string& name, const std::string& text, const std::vector<LogTime>& times) {
    std::ofstream(folder / ("run/logs/" + name + ".log"), std::ios::binary) << text;
    std::string index(kTimeIndexHead);
    for (const LogTime& time : times) AppendLogTime(index, {time.wall_ns * kSecond, time.offset});
    const std::string beside = folder / ("run/logs/" + name + ".idx");
    std::ofstream(beside, std::ios::binary) << index;
    std::filesystem::permissions(beside, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  };
  put("worker.0.0", "one\nthree\n", {{1'000, 0}, {1'010, 4}, {1'100, 10}});
  put("worker.1.0", "two\nfour\n", {{1'005, 0}, {1'020, 4}, {1'200, 9}});
  EXPECT_EQ(Show({"--merge"}).out,
            "worker.0 rank 0 | one\nworker.1 rank 1 | two\nworker.0 rank 0 | three\nworker.1 rank 1 | four\n");
  EXPECT_EQ(Show({"--since", "2m", "--merge"}).out, "worker.0 rank 0 | three\nworker.1 rank 1 | four\n");
  EXPECT_EQ(Show({"--since", "1970-01-01T00:17:00"}).out,
            "worker.0 rank 0 | three\nworker.1 rank 1 | two\nworker.1 rank 1 | four\n");
  std::filesystem::remove(folder / "run/logs/worker.1.0.idx");
  const CommandResult without = Show({"--since", "1s"});
  EXPECT_EQ(without.out, "worker.0 rank 0 | three\nworker.1 rank 1 | two\nworker.1 rank 1 | four\n");
  EXPECT_NE(without.err.find("times of 1 logs are unknown"), std::string::npos) << without.err;
}

TEST_F(Logs, OfSelectedProcessesAreShownAmongMany) {
  Recipe("job:workers { count = 12, command = muster.shell 'echo I am $MUSTER_RANK' }");
  const CommandResult run = Muster(RunWords({"--tee", "worker:3,11"}));
  EXPECT_EQ(run.exit_code, 0);
  Words lines;
  std::istringstream out(run.out);
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines, (Words{"worker.11 | I am 11", "worker.3 | I am 3"}));
}

// --- following -------------------------------------------------------------------------------------

TEST_F(Logs, AreFollowedThroughNewAttemptsToTheEndOfTheRun) {
  Recipe(
      "job:workers { count = 1, restart = { max = 1, backoff = 0 }, command = muster.shell("
      "'echo attempt $MUSTER_ATTEMPT; test $MUSTER_ATTEMPT = 1 || { ' .. probe .. ' await ' .. here .. '/go; exit 3; "
      "}') }");
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Running run(RunWords(), null.get());
  AwaitLog("worker.0.0.log", "attempt 0");
  Pipe pipe;
  Running follow({"logs", folder / "run", "--follow"}, pipe.write.get());
  pipe.write.reset();
  std::string shown;
  ASSERT_TRUE(ReadPart(pipe.read.get(), shown, "attempt 0\n"));
  Touch("go");
  ReadToEnd(pipe.read.get(), shown);
  EXPECT_EQ(shown, "attempt 0\nattempt 1\n");
  EXPECT_EQ(follow.Wait(), 0);
  EXPECT_EQ(follow.Complaints(), "");
  EXPECT_EQ(run.Wait(), 0);
}

TEST_F(Logs, AreFollowedFromTheEndOfTheMerge) {
  Recipe(
      "job:workers { count = 2, command = muster.shell("
      "'printf \"begun $MUSTER_RANK\\nhalf\"; ' .. probe .. ' await ' .. here .. '/go; echo done') }");
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Running run(RunWords(), null.get());
  AwaitLog("worker.0.0.log", "begun 0");
  AwaitLog("worker.1.0.log", "begun 1");
  Pipe pipe;
  Running follow({"logs", folder / "run", "--follow", "--merge", "--grep", "half|begun 1"}, pipe.write.get());
  pipe.write.reset();
  std::string shown;
  ASSERT_TRUE(ReadPart(pipe.read.get(), shown, "begun 1\n"));
  Touch("go");
  ReadToEnd(pipe.read.get(), shown);
  Words lines;
  std::istringstream out(shown);
  for (std::string line; std::getline(out, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 3U) << shown;
  EXPECT_EQ(lines[0], "worker.1 rank 1 | begun 1");
  std::sort(lines.begin(), lines.end());
  EXPECT_EQ(lines[0], "worker.0 rank 0 | halfdone");
  EXPECT_EQ(lines[2], "worker.1 rank 1 | halfdone");
  EXPECT_EQ(follow.Wait(), 0);
  EXPECT_EQ(run.Wait(), 0);
}

TEST_F(Logs, StopQuietlyOnInterruptAndWithAKilledHead) {
  Recipe("job:workers { count = 1, command = { probe, 'print', 'here', 'wait' } }");
  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Running run(RunWords(), null.get());
  AwaitLog("worker.0.0.log", "here");
  const Words words = {"logs", folder / "run", "--follow"};
  Pipe interrupted;
  Running first(words, interrupted.write.get());
  Pipe left;
  Running second(words, left.write.get());
  interrupted.write.reset();
  left.write.reset();
  std::string shown;
  ASSERT_TRUE(ReadPart(interrupted.read.get(), shown, "here\n"));
  first.Signal(SIGINT);
  EXPECT_EQ(first.Wait(), 128 + SIGINT);
  EXPECT_EQ(first.Complaints(), "");
  shown.clear();
  ASSERT_TRUE(ReadPart(left.read.get(), shown, "here\n"));
  const UniqueFd agent = PidFd(ChildOf(run.pid()));
  run.Signal(SIGKILL);
  EXPECT_EQ(run.Wait(), 128 + SIGKILL);
  EXPECT_EQ(second.Wait(), 0);
  EXPECT_EQ(second.Complaints(), "");
  // The agent stops the processes of the killed head.
  EXPECT_TRUE(AwaitReadable(agent.get()));
}

}  // namespace
}  // namespace muster::testing
