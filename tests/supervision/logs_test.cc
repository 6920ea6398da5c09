// Logs of whole runs: shown while they are written and afterwards, to readers that are slow, gone or a terminal, of
// programs that write too much, without newlines, or on purpose what a terminal should not see.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/inotify.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "base/time_index.h"
#include "base/unique_fd.h"
#include "base/utf8.h"
#include "support/await.h"
#include "support/command.h"
#include "support/places.h"
#include "support/processes.h"
#include "support/temp_dir.h"

namespace muster::testing {
namespace {

using Words = std::vector<std::string>;

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A muster that goes on while the test does.
class Running {
 public:
  Running(const Words& words, int out) {
    Words argv = {MusterProgram()};
    argv.insert(argv.end(), words.begin(), words.end());
    posix_spawn_file_actions_t actions;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    ::posix_spawn_file_actions_adddup2(&actions, out, 1);
    ::posix_spawn_file_actions_adddup2(&actions, err_.get(), 2);
    EXPECT_EQ(::posix_spawn(&pid_, argv[0].c_str(), &actions, nullptr, command_detail::Pointers(argv).data(),
                            command_detail::Pointers({"PATH=/usr/bin:/bin"}).data()),
              0);
    ::posix_spawn_file_actions_destroy(&actions);
  }
  ~Running() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    Wait();
  }
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t pid() const { return pid_; }
  void Signal(int signal) const { ::kill(pid_, signal); }
  // 128 + n if signal n ended it.
  int Wait() {
    int status = 0;
    while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
    }
    pid_ = -1;
    return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  }
  std::string Complaints() const { return command_detail::ContentOf(err_.get()); }

 private:
  UniqueFd err_{::memfd_create("stderr", MFD_CLOEXEC)};
  pid_t pid_ = -1;
};

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read.reset(ends[0]);
    write.reset(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

// Reads until `enough` or the end; false if that is not reached.
template <class Enough>
bool ReadUntil(int fd, std::string& text, const Enough& enough) {
  while (!enough()) {
    if (!AwaitReadable(fd)) return false;
    char some[64U << 10];
    const ssize_t got = ::read(fd, some, sizeof some);
    if (got <= 0) return false;
    text.append(some, static_cast<std::size_t>(got));
  }
  return true;
}
bool ReadPart(int fd, std::string& text, const std::string& part) {
  return ReadUntil(fd, text, [&] { return text.find(part) != std::string::npos; });
}
void ReadToEnd(int fd, std::string& text) {
  ReadUntil(fd, text, [] { return false; });
}

class Logs : public ::testing::Test {
 protected:
  // `probe` in the recipe is the program that tests start, `here` this test's folder.
  void Recipe(const std::string& body) {
    std::ofstream(folder / "recipe.lua") << "local muster = require \"muster\"\nlocal probe, here = \""
                                         << MUSTER_TESTS_DIR << "/probe\", \"" << folder.path()
                                         << "\"\nreturn muster.recipe { name = \"job\", plan = function(p, job)\n"
                                         << body << "\nend }\n";
  }
  Words RunWords(const Words& more = {}) const {
    Words words = {"run", folder / "recipe.lua", "--run-dir", folder / "run"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  CommandResult Muster(Words words) const {
    Command command;
    command.argv = {MusterProgram()};
    command.argv.insert(command.argv.end(), words.begin(), words.end());
    command.cwd = folder.path();
    return RunCommand(command);
  }
  CommandResult Show(Words options) const {
    options.insert(options.begin(), {"logs", folder / "run"});
    return Muster(options);
  }
  void Touch(const std::string& name) const { std::ofstream(folder / name) << "x"; }
  // Waits until the process has written this line; its log appears some time after muster was started.
  void AwaitLog(const std::string& log, const std::string& line) const {
    const UniqueFd watch(::inotify_init1(IN_CLOEXEC));
    const std::string path = folder / ("run/logs/" + log);
    std::string at = folder.path();
    for (const char* next : {"/run", "/logs", ""}) {
      const std::string wanted = *next != '\0' ? at + next : path;
      const int number = ::inotify_add_watch(watch.get(), at.c_str(), IN_CREATE);
      while (!std::filesystem::exists(wanted)) {
        ASSERT_TRUE(AwaitReadable(watch.get())) << wanted;
        char events[4096];
        ASSERT_GT(::read(watch.get(), events, sizeof events), 0);
      }
      ::inotify_rm_watch(watch.get(), number);
      at = wanted;
    }
    ASSERT_TRUE(AwaitLine(path, line)) << line;
  }
  void TearDown() override { EXPECT_TRUE(ProcessesWith(folder.path()).empty()) << "something is left"; }

  TempDir folder;
};

pid_t ChildOf(pid_t pid) {
  std::ifstream children("/proc/" + std::to_string(pid) + "/task/" + std::to_string(pid) + "/children");
  pid_t child = -1;
  children >> child;
  return child;
}
// --- choosing --------------------------------------------------------------------------------------

TEST_F(Logs, AreChosenByRoleRankAttemptAndText) {
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

TEST_F(Logs, AreRefusedToWordsThatMeanNothing) {
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
  EXPECT_NE(without.err.find("of 1 logs no times are known"), std::string::npos) << without.err;
}

TEST_F(Logs, OfAFewAreShownWhenManyRun) {
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

TEST_F(Logs, GoOnFromWhereTheyWereMerged) {
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

TEST_F(Logs, AreLeftQuietlyAndEndWithAHeadThatIsKilled) {
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
  const UniqueFd agent(static_cast<int>(::syscall(SYS_pidfd_open, ChildOf(run.pid()), 0)));
  run.Signal(SIGKILL);
  EXPECT_EQ(run.Wait(), 128 + SIGKILL);
  EXPECT_EQ(second.Wait(), 0);
  EXPECT_EQ(second.Complaints(), "");
  // The agent ends what the head left.
  EXPECT_TRUE(AwaitReadable(agent.get()));
}

// --- too much --------------------------------------------------------------------------------------

#ifndef MUSTER_SANITIZED
// The most memory that the process has had, in KiB (proc(5), VmHWM).
long PeakKib(pid_t pid) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::atol(line.c_str() + 6);
  }
  return -1;
}
#endif

TEST_F(Logs, WithoutANewlineBlockNobodyAndTakeNoMemory) {
  const std::uint64_t size = std::getenv("MUSTER_LONG") != nullptr ? 1ULL << 30 : 64ULL << 20;
  Recipe("job:workers { count = 1, command = { probe, 'print', 'ready', 'await', here .. '/go', 'fill', '" +
         std::to_string(size) + "', 'await', here .. '/end', 'exit', '0' } }");
  Pipe stuck;  // a reader that never reads, as a suspended terminal
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
    // What is not a whole piece yet is shown at the end.
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

TEST_F(Logs, KeepWhatADiskTookBeforeItWasFull) {
  Recipe("job:workers { count = 1, command = { probe, 'flood', '100000', '64', 'line', 'exit', '0' } }");
  std::filesystem::create_directory(folder / "disk");
  Command command;
  command.argv = {"unshare",
                  "--user",
                  "--map-root-user",
                  "--mount",
                  "sh",
                  "-c",
                  "mount -t tmpfs -o size=512k none '" + folder / "disk" + "' 2>/dev/null || exit 77\n" +
                      MusterProgram() + " run '" + folder / "recipe.lua" + "' --run-dir '" + folder / "disk/run" +
                      "' > '" + folder / "shown" + "'; code=$?; cp '" + folder / "disk/run/logs/worker.0.0.log" +
                      "' '" + folder / "log" + "'; exit $code"};
  command.cwd = folder.path();
  const CommandResult run = RunCommand(command);
  if (run.exit_code == 77 || run.exit_code == 127 || run.err.starts_with("unshare")) {
    GTEST_SKIP() << "a user namespace with a file system of its own";
  }
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

// --- hostile bytes ---------------------------------------------------------------------------------

// What a person sees who has muster on a terminal.
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
  // Everything that arrives until the program has ended.
  std::string Show(const Words& words, int* exit_code) {
    Running program(words, screen_.get());
    screen_.reset();
    std::string text;
    ReadToEnd(master_.get(), text);  // EIO, once nobody has the screen any more
    *exit_code = program.Wait();
    return text;
  }

 private:
  UniqueFd master_;
  UniqueFd screen_;
};

// The first byte that a terminal could take for a command, or text that is not UTF-8.
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

TEST_F(Logs, LetNoControlByteOfAHostileProgramThrough) {
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

}  // namespace
}  // namespace muster::testing
