// Tests console output: lines, process output, followed logs, and the console as a whole.
#include "run/console/console.h"

#include <algorithm>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/system/file_access.h"
#include "base/values/utf8_text.h"
#include "run/logs/log_follower.h"
#include "run/loop/output.h"
#include "run/sample_plan.h"
#include "run/scratch_folder.h"

namespace muster {
namespace {

struct Pipe {
  Pipe() {
    int ends[2] = {-1, -1};
    EXPECT_EQ(::pipe2(ends, O_CLOEXEC), 0);
    read = UniqueFd(ends[0]);
    write = UniqueFd(ends[1]);
  }
  UniqueFd read;
  UniqueFd write;
};

struct Terminal {
  Terminal() {
    master = UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_EQ(::grantpt(master.get()), 0);
    EXPECT_EQ(::unlockpt(master.get()), 0);
    screen = UniqueFd(::open(::ptsname(master.get()), O_RDWR | O_NOCTTY | O_CLOEXEC));
    EXPECT_TRUE(bool(screen));
  }
  UniqueFd master;
  UniqueFd screen;
};

// Reads the other end slowly, on the same loop.
class Reader {
 public:
  Reader(boost::asio::io_context& io, int fd) : descriptor_(io, ::dup(fd)) { Take(); }
  std::string text;
  void Close() { descriptor_.close(); }

 private:
  void Take() {
    descriptor_.async_wait(boost::asio::posix::stream_descriptor::wait_read, [this](boost::system::error_code error) {
      if (error) return;
      char some[777];
      const ssize_t got = ::read(descriptor_.native_handle(), some, sizeof some);
      if (got <= 0) return;
      text.append(some, static_cast<std::size_t>(got));
      Take();
    });
  }
  boost::asio::posix::stream_descriptor descriptor_;
};

std::string WrittenTo(const UniqueFd& file) {
  std::string text;
  char some[4096];
  for (off_t at = 0;;) {
    const ssize_t got = ::pread(file.get(), some, sizeof some, at);
    if (got <= 0) return text;
    text.append(some, static_cast<std::size_t>(got));
    at += got;
  }
}

UniqueFd MemoryFile() { return UniqueFd(::memfd_create("console", MFD_CLOEXEC)); }

bool HasControlBytes(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\n' && c != '\t') || byte == 0x7f;
  });
}

// --- lines ------------------------------------------------------------------------------------------

std::vector<std::string> Cut(std::string_view text, std::size_t chunk) {
  std::vector<std::string> lines;
  LineCutter cutter;
  const LineCutter::Emit emit = [&](std::string_view piece, bool continues) {
    EXPECT_LE(piece.size(), LineCutter::kMaxPiece);
    if (continues && !lines.empty()) {
      lines.back() += piece;
    } else {
      lines.emplace_back(piece);
    }
  };
  for (std::size_t at = 0; at < text.size(); at += chunk) cutter.Feed(text.substr(at, chunk), emit);
  cutter.Flush(emit);
  return lines;
}

TEST(LineCutter, YieldsTheSameLinesForAnySplitOfTheBytes) {
  const std::string text = "one\ntwo\r\n\nbar 10%\rbar 20%\r\nlast, not ended";
  const std::vector<std::string> lines = {"one", "two", "", "bar 10%", "bar 20%", "last, not ended"};
  for (std::size_t chunk = 1; chunk <= text.size(); ++chunk) EXPECT_EQ(Cut(text, chunk), lines) << chunk;
}

TEST(LineCutter, SplitsAnEndlessLineIntoBoundedPieces) {
  std::string text;
  while (text.size() < (1U << 20)) text += "line without end ";
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{4096}, text.size()}) {
    EXPECT_EQ(Cut(text, chunk), std::vector<std::string>{text});
  }
}

TEST(LineCutter, SplitsNoCharacter) {
  std::string text;
  while (text.size() < 5 * LineCutter::kMaxPiece) text += "ä€😀";
  LineCutter cutter;
  cutter.Feed("x" + text, [](std::string_view piece, bool) { EXPECT_TRUE(IsUtf8(piece)); });
}

TEST(LineCutter, LosesNoByte) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    const std::size_t size = random() % 20'000;
    while (text.size() < size)
      text += static_cast<char>(random() % (round % 2 == 0 ? 256 : 192) | (round % 3 == 0 ? 0x80 : 0));
    std::erase_if(text, [](char c) { return c == '\n' || c == '\r'; });
    const std::vector<std::string> lines = Cut(text, 1 + random() % 5'000);
    EXPECT_EQ(lines, text.empty() ? std::vector<std::string>{} : std::vector<std::string>{text});
  }
}

TEST(PrefixedLine, EscapesControlBytes) {
  EXPECT_EQ(PrefixedLine("worker.2", "loss 0.5", false), "worker.2 | loss 0.5\n");
  EXPECT_EQ(PrefixedLine("worker.2", "more", true), "worker.2 + more\n");
  std::mt19937 random(11);
  for (int round = 0; round < 2'000; ++round) {
    std::string piece;
    for (int i = 0; i < 60; ++i) piece += static_cast<char>(random() % 256);
    const std::string line = PrefixedLine("w", piece, false);
    EXPECT_FALSE(HasControlBytes(line));
    EXPECT_TRUE(IsUtf8(line));
    EXPECT_EQ(std::count(line.begin(), line.end(), '\n'), 1);
  }
  EXPECT_EQ(PrefixedLine("w",
                         "\x1b]52;c;aGk=\x07\xc2\x9b"
                         "31m",
                         false)
                .find('\xc2'),
            std::string::npos);
}

// --- output -----------------------------------------------------------------------------------------

TEST(Output, NeitherBlocksNorLosesAnythingWhenItsReaderIsSlow) {
  boost::asio::io_context io;
  Pipe pipe;
  Output output(io, pipe.write.get());
  std::string text;
  for (int i = 0; text.size() < (1U << 20); ++i) text += std::to_string(i) + "\n";
  output.Write(text);  // would block for ever if writes could block
  EXPECT_FALSE(output.room());
  EXPECT_EQ(::fcntl(pipe.write.get(), F_GETFL) & O_NONBLOCK, 0) << "the descriptor is shared with others";
  Reader reader(io, pipe.read.get());
  while (reader.text.size() < text.size() && io.run_one() > 0) {
  }
  EXPECT_EQ(reader.text, text);
  EXPECT_TRUE(output.empty());
}

TEST(Output, ReportsWhenThereIsRoomAgain) {
  boost::asio::io_context io;
  Pipe pipe;
  Output output(io, pipe.write.get());
  int reported = 0;
  output.OnProgress([&] { ++reported; });
  output.Write(std::string(512U << 10, 'x'));
  ASSERT_FALSE(output.room());
  Reader reader(io, pipe.read.get());
  while (!output.room() && io.run_one() > 0) {
  }
  EXPECT_GT(reported, 0);
}

TEST(Output, SurvivesAClosedReader) {
  struct sigaction ignore {};
  struct sigaction before {};
  ignore.sa_handler = SIG_IGN;
  ::sigaction(SIGPIPE, &ignore, &before);
  boost::asio::io_context io;
  Pipe pipe;
  Output output(io, pipe.write.get());
  pipe.read = UniqueFd();
  output.Write("to nobody");
  EXPECT_TRUE(output.gone());
  EXPECT_TRUE(output.room()) << "nobody has to wait for it";
  output.Write("more");
  EXPECT_TRUE(output.empty());
  ::sigaction(SIGPIPE, &before, nullptr);
}

TEST(Output, IsClosedFromTheStartOnAClosedDescriptor) {
  boost::asio::io_context io;
  Output output(io, -1);
  EXPECT_TRUE(output.gone());
  output.Write("x");
}

TEST(Output, WritesToSocketsFilesAndDevices) {
  boost::asio::io_context io;
  int ends[2] = {-1, -1};
  ASSERT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  UniqueFd near(ends[0]);
  UniqueFd far(ends[1]);
  const std::string text(2U << 20, 's');
  Output socket(io, near.get());
  socket.Write(text);
  Reader reader(io, far.get());
  while (reader.text.size() < text.size() && io.run_one() > 0) {
  }
  EXPECT_EQ(reader.text.size(), text.size());

  const UniqueFd file = MemoryFile();
  ASSERT_EQ(::write(file.get(), "before ", 7), 7);
  Output(io, file.get()).Write("after");
  EXPECT_EQ(WrittenTo(file), "before after") << "the offset is the shared one";

  const UniqueFd null(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  Output nothing(io, null.get());
  nothing.Write(text);
  EXPECT_TRUE(nothing.empty());
}

TEST(Output, DoesNotBlockOnAnUnreadTerminal) {
  boost::asio::io_context io;
  Terminal terminal;
  Output output(io, terminal.screen.get());
  EXPECT_TRUE(output.is_terminal());
  output.Write(std::string(1U << 20, 'x'));
  EXPECT_FALSE(output.room());
}

// --- followed logs ----------------------------------------------------------------------------------

class Following : public ::testing::Test {
 protected:
  void Append(const std::string& name, std::string_view text) {
    const UniqueFd file(::open((logs / name).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    ASSERT_EQ(WriteAll(file.get(), text), 0);
  }
  // Runs the loop until the text has been printed.
  void Await(const std::string& text) {
    while (WrittenTo(shown).find(text) == std::string::npos && io.run_one() > 0) {
    }
  }
  void Finish() {
    bool done = false;
    follower.Finish([&] { done = true; });
    while (!done && io.run_one() > 0) {
    }
  }

  ScratchFolder logs;
  boost::asio::io_context io;
  UniqueFd shown = MemoryFile();
  Output output{io, shown.get()};
  LogFollower follower{io, output};
  UniqueFd folder{::open(logs.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(Following, ShowsLinesAsTheyAreWritten) {
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path()));
  follower.Add("worker.0.0.log", "worker.0");
  follower.Add("worker.1.0.log", "worker.1");
  Append("worker.0.0.log", "one\n");
  Await("worker.0 | one\n");
  Append("worker.1.0.log", "two\nthr");
  Await("worker.1 | two\n");
  Append("worker.1.0.log", "ee\n");
  Await("worker.1 | three\n");
  EXPECT_EQ(WrittenTo(shown), "worker.0 | one\nworker.1 | two\nworker.1 | three\n");
}

TEST_F(Following, ShowsTheUnfinishedLastLineAtTheEnd) {
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path()));
  follower.Add("w", "w");
  Append("w", "all but the end");
  Finish();
  EXPECT_EQ(WrittenTo(shown), "w | all but the end\n");
}

TEST_F(Following, ShowsEverythingAtTheEndIfItCannotWatch) {
  EXPECT_FALSE(follower.Watch(folder.get(), logs / "none"));
  follower.Add("w", "w");
  Append("w", "still here\n");
  Finish();
  EXPECT_EQ(WrittenTo(shown), "w | still here\n");
}

TEST_F(Following, ShowsOnlyWhatWasAdded) {
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path()));
  Append("stranger", "x\n");
  follower.Add("w", "w");
  Append("w", "y\n");
  Finish();
  EXPECT_EQ(WrittenTo(shown), "w | y\n");
}

TEST_F(Following, DetectsNewFiles) {
  std::string appeared;
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path(), [&](const std::string& name) {
    appeared += name;
    follower.Add(name, "new");
  }));
  follower.Add("known", "known");
  Append("known", "one\n");
  Append("stranger", "two\n");
  Await("new | two\n");
  EXPECT_EQ(appeared, "stranger");
}

TEST_F(Following, IsNotWokenByWritesToOtherFiles) {
  Append("stranger", "x\n");
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path()));
  Append("w", "");
  follower.Add("w", "w");
  io.poll();
  io.restart();
  Append("stranger", "y\n");
  EXPECT_EQ(io.poll(), 0U);
  io.restart();
  Append("w", "z\n");
  EXPECT_GT(io.poll(), 0U);
  EXPECT_EQ(WrittenTo(shown), "w | z\n");
}

TEST_F(Following, ShowsOnlyKeptBytesFromTheGivenOffset) {
  LogFollower other{io, output, {true, false, [](std::string_view line) { return line != "drop"; }, {}}};
  Append("w", "before\nhalf\ndrop\nkeep\n");
  ASSERT_TRUE(other.Watch(folder.get(), logs.path()));
  FollowFrom from;
  from.offset = 9;
  from.cutter.Feed("ha", [](std::string_view, bool) {});
  other.Add("w", "", std::move(from));
  other.Finish([] {});
  io.run_for(std::chrono::seconds(0));
  EXPECT_EQ(WrittenTo(shown), "half\nkeep\n");
}

TEST_F(Following, ShowsRawBytesUnchanged) {
  LogFollower other{io, output, {true, true, {}, {}}};
  Append("w", "a\x1b[31m\r\xff");
  ASSERT_TRUE(other.Watch(folder.get(), logs.path()));
  other.Add("w", "w");
  EXPECT_EQ(WrittenTo(shown), "a\x1b[31m\r\xff");
}

TEST_F(Following, HoldsFewDescriptorsForManyLogs) {
  const auto open_now = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path()));
  const auto before = open_now();
  std::string expected;
  for (std::size_t i = 0; i < 3 * LogFollower::kMaxOpen; ++i) {
    const std::string name = "w" + std::to_string(i);
    Append(name, "one\n");
    follower.Add(name, name);
    expected += name + " | one\n";
  }
  const std::string late = "w" + std::to_string(2 * LogFollower::kMaxOpen);
  Append(late, "two\n");
  Finish();
  EXPECT_LE(open_now(), before + static_cast<std::ptrdiff_t>(LogFollower::kMaxOpen));
  EXPECT_EQ(WrittenTo(shown), expected + late + " | two\n");
}

TEST_F(Following, DoesNotFollowALinkThatReplacedALog) {
  PutFile(logs / "secret", "password\n");
  std::filesystem::create_symlink(logs / "secret", logs / "w");
  follower.Watch(folder.get(), logs.path());
  follower.Add("w", "w");
  Finish();
  EXPECT_EQ(WrittenTo(shown), "");
}

TEST_F(Following, ContinuesWhenALogIsTruncatedOrRemoved) {
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path()));
  Append("w", "before\n");
  follower.Add("w", "w");
  Await("before");
  std::filesystem::resize_file(logs / "w", 0);
  Append("v", "other\n");
  follower.Add("v", "v");
  std::filesystem::remove(logs / "v");
  Finish();
  EXPECT_EQ(WrittenTo(shown), "w | before\nv | other\n");
}

TEST(LogFollower, LosesNoLineWithASlowReader) {
  const ScratchFolder logs;
  const UniqueFd folder(::open(logs.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string text;
  std::string expected;
  for (int i = 0; i < 50'000; ++i) {
    text += std::to_string(i) + '\n';
    expected += "w | " + std::to_string(i) + '\n';
  }
  PutFile(logs / "w", text);
  boost::asio::io_context io;
  Pipe pipe;
  Output output(io, pipe.write.get());
  LogFollower follower(io, output);
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path()));
  follower.Add("w", "w");
  Reader reader(io, pipe.read.get());
  bool done = false;
  follower.Finish([&] { done = true; });
  while ((!done || reader.text.size() < expected.size()) && io.run_one() > 0) {
  }
  EXPECT_EQ(reader.text, expected);
}

TEST(LogFollower, SkipsOutputOnAFloodedTerminalAndReportsIt) {
  const ScratchFolder logs;
  const UniqueFd folder(::open(logs.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  std::string text;
  while (text.size() < LogFollower::kMaxBehind + (1U << 20)) text += "flood\n";
  PutFile(logs / "w", text + "the last line\n");
  boost::asio::io_context io;
  Terminal terminal;
  Output output(io, terminal.screen.get());
  LogFollower follower(io, output);
  ASSERT_TRUE(follower.Watch(folder.get(), logs.path()));
  follower.Add("w", "w");
  Reader reader(io, terminal.master.get());
  follower.Finish([] {});
  while (reader.text.find("the last line") == std::string::npos && io.run_one() > 0) {
  }
  EXPECT_NE(reader.text.find(" bytes not shown here; they are in logs/w"), std::string::npos);
  EXPECT_LT(reader.text.size(), 1U << 20);
}

// --- the console ------------------------------------------------------------------------------------

class Shown : public ::testing::Test {
 protected:
  ConsoleOptions Options() const {
    ConsoleOptions options;
    options.out = out.get();
    options.err = err.get();
    return options;
  }
  void Finish(Console& console, const std::string& report, bool well) {
    bool done = false;
    io.restart();
    console.Finish(report, well, [&] { done = true; });
    while (!done && io.run_one() > 0) {
    }
    EXPECT_TRUE(done);
  }
  static Event Started(ProcessId process) { return ProcessStarted{process, 0, 1, 1, 1}; }
  static Event Exited(ProcessId process, int code) {
    ProcessExited exited;
    exited.process = process;
    exited.code = code;
    return exited;
  }

  ScratchFolder logs;
  boost::asio::io_context io;
  UniqueFd out = MemoryFile();
  UniqueFd err = MemoryFile();
  UniqueFd folder{::open(logs.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
};

TEST_F(Shown, PrefixesTheOutputOfAFewProcesses) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Console console(io, Options(), plan);
  console.Began("3f9a", "aabbccddeeff00112233", "/runs/x");
  console.Follow(folder.get(), logs.path());
  PutFile(logs / "worker.1.0.log", "step 1\n\x1b[2Jgone\n");
  console.Saw(Started(0));
  console.Saw(Started(1));
  Finish(console, "sample all well\n", true);
  EXPECT_EQ(WrittenTo(out), "worker.1 | step 1\nworker.1 | \\x1b[2Jgone\n");
  EXPECT_EQ(WrittenTo(err),
            "muster: sample: run 3f9a, plan aabbccddeeff, 2 processes\nmuster: in /runs/x\nsample all well\n");
}

TEST_F(Shown, ShowsOneLinePerRoleOfManyProcesses) {
  const Plan plan = SamplePlan({{"server", 2, Ending::kNever}, {"worker", 7}});
  Console console(io, Options(), plan);
  console.Follow(folder.get(), logs.path());
  PutFile(logs / "worker.1.0.log", "not shown\n");
  for (ProcessId process = 0; process < 9; ++process) console.Saw(Started(process));
  for (ProcessId process = 0; process < 9; ++process) console.Saw(Exited(process, process == 4 ? 1 : 0));
  Finish(console, "", true);
  EXPECT_EQ(WrittenTo(out), "");
  EXPECT_EQ(WrittenTo(err),
            "muster: server: 2 started\nmuster: worker: 7 started\nmuster: server: 2 succeeded\n"
            "muster: worker: 6 succeeded, 1 failed\n");
}

// Prevents: processes that muster stopped are counted as failed.
TEST_F(Shown, CountsStoppedProcessesApartFromFailedOnes) {
  const Plan plan = SamplePlan({{"worker", 9}});
  {
    Console console(io, Options(), plan);
    console.Stopping(1, false);
    for (ProcessId process = 0; process < 9; ++process) console.Saw(Exited(process, process == 4 ? 0 : 143));
    Finish(console, "", false);
  }
  EXPECT_NE(WrittenTo(err).find("muster: worker: 1 succeeded, 8 stopped\n"), std::string::npos) << WrittenTo(err);
}

TEST_F(Shown, CountsProcessesThatEndBecauseOfAFailureAsStopped) {
  const Plan plan = SamplePlan({{"worker", 9}});
  Console console(io, Options(), plan);
  console.Saw(Exited(2, 1));
  console.Failed({2, 0});
  for (ProcessId process = 0; process < 9; ++process) {
    if (process != 2) console.Saw(Exited(process, 143));
  }
  Finish(console, "", false);
  EXPECT_NE(WrittenTo(err).find("muster: worker: 1 failed, 8 stopped\n"), std::string::npos) << WrittenTo(err);
}

TEST_F(Shown, ShowsTheRequestedOutputAmongManyProcesses) {
  const Plan plan = SamplePlan({{"worker", kMaxShownProcesses + 1}});
  ConsoleOptions options = Options();
  options.tee = {3};
  Console console(io, options, plan);
  console.Follow(folder.get(), logs.path());
  PutFile(logs / "worker.2.0.log", "not asked for\n");
  PutFile(logs / "worker.3.0.log", "hello\n");
  for (ProcessId process = 0; process < plan.processes.size(); ++process) console.Saw(Started(process));
  Finish(console, "report\n", true);
  EXPECT_EQ(WrittenTo(out), "worker.3 | hello\n");
  EXPECT_EQ(WrittenTo(err), "muster: worker: 9 started\nreport\n");
}

TEST_F(Shown, NamesAFailureAtOnce) {
  const Plan plan = SamplePlan({{"worker", 2}});
  Console console(io, Options(), plan);
  console.Saw(Exited(1, 7));
  console.Failed(FirstFailure{1, 0});
  EXPECT_EQ(WrittenTo(err), "muster: worker.1 exited with code 7\n");
}

TEST_F(Shown, PrintsNothingWhenQuietExceptFailures) {
  const Plan plan = SamplePlan({{"worker", 2}});
  ConsoleOptions options = Options();
  options.quiet = true;
  Console console(io, options, plan);
  console.Began("3f9a", "aabbccddeeff00112233", "/runs/x");
  console.Follow(folder.get(), logs.path());
  PutFile(logs / "worker.0.0.log", "not shown\n");
  console.Saw(Started(0));
  Finish(console, "all well\n", true);
  EXPECT_EQ(WrittenTo(out) + WrittenTo(err), "");

  Console failing(io, options, plan);
  failing.Saw(Exited(1, 7));
  failing.Failed(FirstFailure{1, 0});
  Finish(failing, "the report\n", false);
  EXPECT_EQ(WrittenTo(err), "muster: worker.1 exited with code 7\nthe report\n");
}

TEST_F(Shown, UsesColoursOnlyOnRequest) {
  const Plan plan = SamplePlan({{"worker", 1}});
  ConsoleOptions options = Options();
  Console(io, options, plan).Warn("plain, because a file is not a terminal");
  EXPECT_EQ(WrittenTo(err).find('\x1b'), std::string::npos);
  options.colour = ConsoleOptions::Colour::kAlways;
  Console(io, options, plan).Stopping(1, true);
  EXPECT_NE(WrittenTo(err).find("\x1b[1;33mmuster:\x1b[0m stopping … (Ctrl-C again to kill at once)\n"),
            std::string::npos);
}

// Prevents: a successful run ends with its whole report, or the output of a failed process is printed twice.
TEST_F(Shown, RequestsOnlyTheUnshownPartOfTheReport) {
  const Plan few = SamplePlan({{"worker", 2}});
  const Plan many = SamplePlan({{"worker", kMaxShownProcesses + 1}});
  ConsoleOptions apart = Options();
  ConsoleOptions together = Options();
  together.err = together.out;
  EXPECT_FALSE(Console(io, apart, few).ViewOfReport(true).details);
  EXPECT_TRUE(Console(io, apart, few).ViewOfReport(false).details);
  EXPECT_FALSE(Console(io, apart, few).ViewOfReport(false).output_shown);
  EXPECT_TRUE(Console(io, together, few).ViewOfReport(false).output_shown);
  EXPECT_FALSE(Console(io, together, many).ViewOfReport(false).output_shown) << "there are too many to show";
  EXPECT_FALSE(Console(io, apart, few).ViewOfReport(true).colour);
  apart.verbose = true;
  apart.colour = ConsoleOptions::Colour::kAlways;
  EXPECT_TRUE(Console(io, apart, few).ViewOfReport(true).details);
  EXPECT_TRUE(Console(io, apart, few).ViewOfReport(true).colour);
}

TEST_F(Shown, WaitsForASlowReaderUntilCancelled) {
  const Plan plan = SamplePlan({{"worker", 1}});
  Pipe pipe;
  ConsoleOptions options = Options();
  options.out = pipe.write.get();
  Console console(io, options, plan);
  PutFile(logs / "worker.0.0.log", std::string(1U << 20, 'x') + "\n");
  console.Follow(folder.get(), logs.path());
  console.Saw(Started(0));
  bool done = false;
  console.Finish("report", true, [&] { done = true; });
  while (io.poll() > 0) {
  }
  EXPECT_FALSE(done) << "nobody has read it yet";
  console.Abandon();
  while (!done && io.run_one() > 0) {
  }
  EXPECT_TRUE(done);
}

}  // namespace
}  // namespace muster
