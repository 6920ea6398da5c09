// Tests logs under difficult conditions: a full disk, a reader or terminal that stalls, a gigabyte without a newline,
// and output that is unsafe for a terminal.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <termios.h>
#include <unistd.h>

#include "base/values/utf8_text.h"
#include "supervision/log_reader.h"

namespace muster::testing {
namespace {

// --- large output ----------------------------------------------------------------------------------

#ifndef MUSTER_SANITIZED
// Returns the process's peak memory in KiB (proc(5), VmHWM).
long PeakKib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6);
  }
  return -1;
}
#endif

TEST_F(Logs, WithoutANewlineNeitherBlockNorUseMemory) {
  const std::uint64_t size = std::getenv("MUSTER_LONG") != nullptr ? 1ULL << 30 : 64ULL << 20;
  Recipe("job:workers { count = 1, command = { probe, 'print', 'ready', 'await', here .. '/go', 'fill', '" +
         std::to_string(size) + "', 'await', here .. '/end', 'exit', '0' } }");
  Pipe stuck;  // a reader that never reads, like a suspended terminal
  Running run(RunWords(), stuck.write.get());
  stuck.write.reset();
  AwaitLog("worker.0.0.log", "ready");
  Pipe pipe;
  Running follow({"logs", folder / "run", "--follow"}, pipe.write.get());
  pipe.write.reset();
  std::string shown;
  ASSERT_TRUE(ReadPart(pipe.read.get(), shown, "ready\n"));
#ifndef MUSTER_SANITIZED
  const std::vector<pid_t> musters = {run.pid(), ChildOf(run.pid()), follow.pid()};
  std::vector<long> before;
  for (const pid_t pid : musters) before.push_back(PeakKib(pid));
#endif
  Touch("go");
  std::uint64_t seen = 0;
  shown.clear();
  EXPECT_TRUE(ReadUntil(pipe.read.get(), shown, [&] {
    seen += static_cast<std::uint64_t>(std::count(shown.begin(), shown.end(), 'x'));
    shown.clear();
    // An incomplete piece is shown at the end.
    return seen + 4096 >= size;
  }));
#ifndef MUSTER_SANITIZED
  for (std::size_t i = 0; i < musters.size(); ++i) {
    EXPECT_GT(before[i], 0) << i;
    RecordProperty("growth_kib_" + std::to_string(i), static_cast<int>(PeakKib(musters[i]) - before[i]));
    EXPECT_LT(PeakKib(musters[i]) - before[i], 8 << 10) << "process " << i << " of head, agent, follower";
  }
#endif
  Touch("end");
  ReadToEnd(pipe.read.get(), shown);
  seen += static_cast<std::uint64_t>(std::count(shown.begin(), shown.end(), 'x'));
  EXPECT_EQ(seen, size);
  EXPECT_EQ(follow.Wait(), 0);
  stuck.read.reset();
  EXPECT_EQ(run.Wait(), 0);

  std::ifstream log(folder / "run/logs/worker.0.0.log", std::ios::binary);
  std::string block(1U << 20, '\0');
  std::uint64_t exact = 0;
  std::string head(6, '\0');
  log.read(head.data(), 6);
  EXPECT_EQ(head, "ready\n");
  while (log.read(block.data(), static_cast<std::streamsize>(block.size())), log.gcount() > 0) {
    exact += static_cast<std::uint64_t>(std::count(block.begin(), block.begin() + log.gcount(), 'x'));
  }
  EXPECT_EQ(exact, size);
  EXPECT_EQ(std::filesystem::file_size(folder / "run/logs/worker.0.0.log"), size + 6);
}

TEST_F(Logs, KeepWhatWasWrittenBeforeTheDiskWasFull) {
  Recipe("job:workers { count = 1, command = { probe, 'flood', '100000', '64', 'line', 'exit', '0' } }");
  const CommandResult run =
      RunOnDisk("512k", "cp '" + folder / "disk/run/logs/worker.0.0.log" + "' '" + folder / "log" + "'");
  if (run.exit_code == 77) GTEST_SKIP() << "a user namespace with a file system of its own";
  EXPECT_EQ(run.exit_code, 1) << run.err;
  const std::string log = ContentOf(folder / "log");
  ASSERT_GT(log.size(), 200'000U);
  std::string expected;
  for (int i = 0; expected.size() < log.size(); ++i) {
    std::string line = "line " + std::to_string(i) + " ";
    line.resize(std::max<std::size_t>(line.size(), 64), '.');
    expected += line + "\n";
  }
  EXPECT_EQ(log, expected.substr(0, log.size()));
  const std::string shown = ContentOf(folder / "shown");
  EXPECT_EQ(std::count(shown.begin(), shown.end(), '\n'),
            std::count(log.begin(), log.end(), '\n') + (log.ends_with('\n') ? 0 : 1));
}

TEST_F(Logs, AndTheJournalContinueWhenAFullDiskHasSpaceAgain) {
  // The first attempt fills the disk and the last one frees space; in between, the space reserved for the journal is
  // used up.
  Recipe(R"(job:workers { count = 1, restart = { max = 200, backoff = 0 }, command = muster.shell [[
    fill="$MUSTER_RUN_DIR/../fill"
    test $MUSTER_ATTEMPT != 0 || dd if=/dev/zero of="$fill" bs=4k 2>/dev/null
    test $MUSTER_ATTEMPT = 160 || exit 3
    rm "$fill"; echo room]] })");
  const CommandResult run = RunOnDisk("1m", "cp -a '" + folder / "disk/run" + "' '" + folder / "kept" + "'");
  if (run.exit_code == 77) GTEST_SKIP() << "a user namespace with a file system of its own";
  EXPECT_EQ(run.exit_code, 0) << run.err;
  const std::string words = "the journal cannot be written; its records are kept in memory until it can";
  const std::size_t said = run.err.find(words);
  EXPECT_NE(said, std::string::npos) << run.err;
  EXPECT_EQ(run.err.find(words, said + 1), std::string::npos) << "said more than once";

  const auto report = nlohmann::json::parse(ContentOf(folder / "kept/report.json"), nullptr, false);
  ASSERT_FALSE(report.is_discarded());
  EXPECT_EQ(report["outcome"], "ok");
  EXPECT_EQ(report["restarts"].size(), 160U);
  const CommandResult anew = Muster({"report", folder / "kept", "--json"});
  auto again = nlohmann::json::parse(anew.out, nullptr, false);
  EXPECT_EQ(again["run_dir"], std::filesystem::canonical(folder / "kept").string());
  again.erase("run_dir");  // only the command has it: a run directory can be moved
  EXPECT_EQ(again, report) << "the journal is not whole";
  EXPECT_EQ(ContentOf(folder / "kept/logs/worker.0.160.log"), "room\n");
}

// --- hostile bytes ---------------------------------------------------------------------------------

// Runs muster on a terminal and returns what a user sees.
class Terminal {
 public:
  Terminal() {
    master_.reset(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_EQ(::grantpt(master_.get()), 0);
    EXPECT_EQ(::unlockpt(master_.get()), 0);
    screen_.reset(::open(::ptsname(master_.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    termios mode = {};
    EXPECT_EQ(::tcgetattr(screen_.get(), &mode), 0);
    ::cfmakeraw(&mode);
    EXPECT_EQ(::tcsetattr(screen_.get(), TCSANOW, &mode), 0);
  }
  // Returns all output until the program has exited.
  std::string Show(const Words& words, int* exit_code) {
    Running program(words, screen_.get());
    return ReadAllOf(program, exit_code);
  }
  std::string ReadAllOf(Running& program, int* exit_code) {
    screen_.reset();
    std::string text;
    ReadToEnd(master_.get(), text);  // EIO once the other side is closed
    *exit_code = program.Wait();
    return text;
  }
  int screen() const { return screen_.get(); }
  bool HasShown() const { return AwaitReadable(master_.get(), std::chrono::milliseconds(0)); }
  // Like Ctrl-S and Ctrl-Q.
  void Suspend() const { EXPECT_EQ(::tcflow(screen_.get(), TCOOFF), 0); }
  void GoOn() const { EXPECT_EQ(::tcflow(screen_.get(), TCOON), 0); }

 private:
  UniqueFd master_;
  UniqueFd screen_;
};

// Returns the first byte that a terminal could interpret as a command, or invalid UTF-8.
std::string Offence(std::string_view text) {
  if (!IsUtf8(text)) return "not UTF-8";
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool c1 = byte == 0xC2 && i + 1 < text.size() && static_cast<unsigned char>(text[i + 1]) < 0xA0;
    if ((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7F || c1) {
      return "byte " + std::to_string(byte) + " at " + std::to_string(i);
    }
  }
  return {};
}

TEST_F(Logs, EscapeControlBytesOfAHostileProgram) {
  const std::vector<std::string> tricks = {"\x1b[2J\x1b[H",
                                           "\x1b]0;title\a",
                                           "\x1b]52;c;bHM=\x1b\\",
                                           "\x9b"
                                           "31m",
                                           "\xc2\x9b"
                                           "6n",
                                           "\b\b\b",
                                           "\r",
                                           "\x1bP+q544e\x1b\\",
                                           "\x7f",
                                           "\v\f",
                                           "\xe2\x80",
                                           "\xed\xa0\x80",
                                           "\xff\xfe",
                                           "\x05",
                                           "\x1b#8",
                                           "\x1b(0"};
  std::mt19937 random(20'261'121);
  std::string hostile;
  for (int line = 0; line < 100'000; ++line) {
    for (int part = 0; part < 3; ++part) {
      hostile += tricks[random() % tricks.size()];
      const char byte = static_cast<char>(random());
      if (byte != '\n') hostile += byte;
    }
    hostile += '\n';
  }
  std::ofstream(folder / "hostile", std::ios::binary) << hostile;
  Recipe("job:workers { count = 1, command = { '/bin/cat', here .. '/hostile' } }");
  int exit_code = -1;
  const std::string live = Terminal().Show(RunWords(), &exit_code);
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(Offence(live), "");
  EXPECT_GE(std::count(live.begin(), live.end(), '\n'), 1'000);
  const std::string later = Terminal().Show({"logs", folder / "run"}, &exit_code);
  EXPECT_EQ(exit_code, 0);
  EXPECT_EQ(Offence(later), "");
  EXPECT_GE(std::count(later.begin(), later.end(), '\n'), 100'000);
  EXPECT_EQ(ContentOf(folder / "run/logs/worker.0.0.log"), hostile);
}

TEST_F(Logs, AreWrittenWhileTheTerminalIsSuspended) {
  Recipe("job:workers { count = 12, command = { probe, 'flood', '5000', '100', 'line', 'exit', '0' } }");
  Terminal terminal;
  terminal.Suspend();
  Running run(RunWords({"--tee", "worker:3"}), terminal.screen());
  // The whole run ends before any byte is shown: twelve logs of half a megabyte each.
  AwaitFileOfRun({"report.json"});
  const auto report = nlohmann::json::parse(ContentOf(folder / "run/report.json"), nullptr, false);
  ASSERT_FALSE(report.is_discarded());
  EXPECT_EQ(report["outcome"], "ok");
  for (int i = 0; i < 12; ++i) {
    EXPECT_GE(std::filesystem::file_size(folder / ("run/logs/worker." + std::to_string(i) + ".0.log")), 505'000U) << i;
  }
  EXPECT_FALSE(terminal.HasShown());
  terminal.GoOn();
  int exit_code = -1;
  std::istringstream shown(terminal.ReadAllOf(run, &exit_code));
  EXPECT_EQ(exit_code, 0);
  int next = 0;
  for (std::string line; std::getline(shown, line);) {
    if (line.find("line " + std::to_string(next) + " .") != std::string::npos) ++next;
  }
  EXPECT_EQ(next, 5'000) << "lines of worker.3, in order";
}

}  // namespace
}  // namespace muster::testing
