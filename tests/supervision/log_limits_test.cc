// Tests whole runs with log limits, on file systems that can drop the beginning of a file and on others.
#include <algorithm>
#include <array>
#include <cstdint>
#include <filesystem>
#include <sstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sys/inotify.h>

#include "supervision/log_reader.h"
#include "wire/files/log_bytes.h"

namespace muster::testing {
namespace {

constexpr std::uint64_t kLimit = 1U << 20;
constexpr int kLines = 60'000;
constexpr std::size_t kWidth = 100;

// Returns the output of probe's `flood`.
std::string Flooded(int begin, int end) {
  std::string text;
  for (int i = begin; i < end; ++i) {
    std::string line = "n " + std::to_string(i) + " ";
    line.resize(kWidth, '.');
    text += line + '\n';
  }
  return text;
}

class LimitedLogs : public Logs, public ::testing::WithParamInterface<bool> {
 protected:
  std::string Means() const { return GetParam() ? "log-pipe" : "collapse-range"; }
  Words LimitedRun(Words more = {}) const {
    Words words = RunWords({"--log-max", "1MiB"});
    if (GetParam()) words.push_back("--without=collapse_range");
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  // Whether the requested method was used; that depends on the file system, too.
  bool AsAsked() const {
    const std::string journal = ContentOf(folder / "run/journal.jsonl");
    return journal.find('"' + Means() + '"') != std::string::npos;
  }
  // Waits until the log has all output, within the limit: a log that is collapsed in place exceeds it for a while.
  bool AwaitShortLog(const std::string& end) const {
    AwaitFileOfRun({"logs", "worker.0.0.log"});
    const std::string path = folder / "run/logs/worker.0.0.log";
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    ::inotify_add_watch(watch.get(), (folder / "run/logs").c_str(), IN_MODIFY | IN_MOVED_TO);
    const auto short_and_whole = [&] {
      std::error_code error;
      std::uint64_t offset = 0;
      auto log = LogBytes::Open(AT_FDCWD, path);
      return log && log->ReadBefore(UINT64_MAX, end.size(), offset) == end &&
             std::filesystem::file_size(path, error) <= kLimit;
    };
    while (!short_and_whole()) {
      std::array<char, 4096> events = {};
      if (!AwaitReadable(watch.get()) || ::read(watch.get(), events.data(), events.size()) < 0) return false;
    }
    return true;
  }
  LogHead Head() const { return ReadLogHead(AT_FDCWD, folder / "run/logs/worker.0.0.log").value_or(LogHead{}); }
};

INSTANTIATE_TEST_SUITE_P(Each, LimitedLogs, ::testing::Values(false, true),
                         [](const auto& one) { return one.param ? "ByAPipe" : "InPlace"; });

TEST_P(LimitedLogs, KeepTheirEndsUnchanged) {
  Recipe("job:workers { count = 1, command = { probe, 'flood', '" + std::to_string(kLines) + "', '" +
         std::to_string(kWidth) + "', 'n', 'print', 'the end', 'await', here .. '/go', 'exit', '3' } }");
  Pipe stuck;
  Running run(LimitedRun({"--quiet"}), stuck.write.get());
  EXPECT_TRUE(AwaitShortLog("the end\n"));
  Touch("go");
  ASSERT_EQ(run.Wait(), 1) << run.Complaints();
  if (!AsAsked()) GTEST_SKIP() << "a file system that can collapse a range, or MUSTER_WITHOUT without collapse_range";
  const std::string whole = Flooded(0, kLines) + "the end\n";
  const std::string log = ContentOf(folder / "run/logs/worker.0.0.log");
  const LogHead head = Head();
  EXPECT_LE(log.size(), kLimit);
  EXPECT_GE(log.size(), kLimit / 2);
  EXPECT_EQ(head.limit, kLimit);
  EXPECT_EQ(head.kept + log.size(), whole.size());
  EXPECT_TRUE(log == whole.substr(head.kept));

  const CommandResult raw = Show({"--raw"});
  EXPECT_TRUE(raw.out == log);
  EXPECT_NE(raw.err.find("the first " + std::to_string(head.kept) +
                         " bytes of worker.0.0.log were dropped by its limit of " + std::to_string(kLimit) + " bytes"),
            std::string::npos)
      << raw.err;
  const CommandResult tail = Show({"--tail", "1"});
  EXPECT_EQ(tail.out, "the end\n");
  EXPECT_EQ(tail.err, "") << "nothing that was asked for is missing";
  EXPECT_TRUE(Show({"--merge"}).out.ends_with("....\nthe end\n"));
  EXPECT_TRUE(Show({"--since", "1h"}).out.ends_with("....\nthe end\n"));
  EXPECT_EQ(Show({"--since", "2300-01-01T00:00"}).out, "");

  const nlohmann::json report = nlohmann::json::parse(ContentOf(folder / "run/report.json"));
  ASSERT_EQ(report["dropped_logs"].size(), 1U);
  EXPECT_EQ(report["dropped_logs"][0]["bytes"], head.kept);
  EXPECT_EQ(report["dropped_logs"][0]["by"], Means());
  EXPECT_EQ(report["first_failure"]["last_lines"].back(), "the end");
  EXPECT_NE(ContentOf(folder / "run/plan.txt").find("limit log 1048576 bytes each, through a pipe where"),
            std::string::npos);
}

TEST_P(LimitedLogs, AreFollowedWithEveryGapReported) {
  Recipe("job:workers { count = 1, command = { probe, 'print', 'ready', 'await', here .. '/go', 'flood', '" +
         std::to_string(kLines) + "', '" + std::to_string(kWidth) +
         "', 'n', 'await', here .. '/end', 'print', 'the end', 'exit', '0' } }");
  Pipe stuck;
  Running run(LimitedRun({"--quiet"}), stuck.write.get());
  stuck.write.reset();
  AwaitLog("worker.0.0.log", "ready");
  Pipe pipe;
  Running follow({"logs", folder / "run", "--follow", "--raw"}, pipe.write.get());
  pipe.write.reset();
  std::string shown;
  ASSERT_TRUE(ReadPart(pipe.read.get(), shown, "ready\n"));
  Touch("go");
  const std::string last = "n " + std::to_string(kLines - 1) + " ";
  ASSERT_TRUE(ReadPart(pipe.read.get(), shown, last)) << "followed into what took the log's place";
  Touch("end");
  ReadToEnd(pipe.read.get(), shown);
  EXPECT_EQ(follow.Wait(), 0);
  EXPECT_EQ(run.Wait(), 0);
  EXPECT_TRUE(shown.ends_with("the end\n"));
  // The output equals the log except for gaps, each of which was reported with its length.
  const std::string whole = "ready\n" + Flooded(0, kLines) + "the end\n";
  std::uint64_t dropped = 0;
  std::istringstream complaints(follow.Complaints());
  for (std::string line; std::getline(complaints, line);) {
    const std::size_t at = line.find(" bytes of worker.0.0.log are missing");
    if (at == std::string::npos) continue;
    const std::size_t begin = line.rfind(' ', at - 1);
    dropped += std::stoull(line.substr(begin == std::string::npos ? 0 : begin + 1));
  }
  EXPECT_EQ(shown.size() + dropped, whole.size()) << follow.Complaints();
  if (dropped == 0) {
    EXPECT_TRUE(shown == whole);
  }
}

TEST_P(LimitedLogs, AreSearchedForALateReadyLine) {
  Recipe("job:role 'server' { done = 'never', ready = { line = 'here I am' }, command = { probe, 'flood', '" +
         std::to_string(kLines) + "', '" + std::to_string(kWidth) + "', 'n', 'print', 'here I am', 'wait' } }\n" +
         "job:workers { count = 1, after = 'server', command = { probe, 'exit', '0' } }");
  const CommandResult run = Muster(LimitedRun({"--quiet"}));
  EXPECT_EQ(run.exit_code, 0) << run.err;
}

TEST_F(Logs, WithoutALimitAreUnchanged) {
  Recipe("job:workers { count = 1, command = { probe, 'flood', '20000', '100', 'n', 'exit', '0' } }");
  ASSERT_EQ(Muster(RunWords({"--quiet"})).exit_code, 0);
  EXPECT_TRUE(ContentOf(folder / "run/logs/worker.0.0.log") == Flooded(0, 20'000));
  EXPECT_TRUE(ContentOf(folder / "run/logs/worker.0.0.idx").starts_with(kTimeIndexHead));
  EXPECT_EQ(Show({"--tail", "1"}).err, "");
  EXPECT_EQ(ContentOf(folder / "run/report.json").find("dropped_logs"), std::string::npos);
}

TEST_F(Logs, HaveTheLimitsOfTheRecipeOrTheCommandLine) {
  std::ofstream(folder / "recipe.lua") << R"(
    local muster = require "muster"
    return muster.recipe { name = "job", logs = { max = "1GiB" }, plan = function(p, job)
      job:role "a" { command = { "true" }, logs = { max = "2MiB" } }
      job:role "b" { command = { "true" } }
    end })";
  const std::string plan = Muster({"plan", folder / "recipe.lua"}).out;
  EXPECT_NE(plan.find("role a limit log 2097152 bytes"), std::string::npos) << plan;
  EXPECT_NE(plan.find("role b limit log 1073741824 bytes"), std::string::npos) << plan;
  const std::string other = Muster({"plan", folder / "recipe.lua", "--log-max", "3MiB"}).out;
  EXPECT_NE(other.find("role a limit log 3145728 bytes"), std::string::npos) << other;
  EXPECT_NE(other.find("role b limit log 3145728 bytes"), std::string::npos) << other;
  EXPECT_EQ(Muster({"plan", folder / "recipe.lua", "--log-max", "none"}).out.find("limit log"), std::string::npos);
  for (const char* size : {"1023KiB", "0", "-1", "much"}) {
    const CommandResult refused = Muster({"plan", folder / "recipe.lua", std::string("--log-max=") + size});
    EXPECT_EQ(refused.exit_code, 2) << size;
    EXPECT_NE(refused.err.find("from 1MiB"), std::string::npos) << refused.err;
  }
}

}  // namespace
}  // namespace muster::testing
