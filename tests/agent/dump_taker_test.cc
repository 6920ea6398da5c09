// Tests dumps of real processes, with stand-ins for py-spy and gdb, and with the real gdb if it is installed.
#include "agent/dump/dump_taker.h"

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "spawn/start/reap.h"
#include "support/await.h"
#include "support/file_content.h"
#include "support/places.h"
#include "support/temp_dir.h"

namespace muster {
namespace {

using testing::ContentOf;
using testing::TempDir;

class DumpTakerTest : public ::testing::Test {
 protected:
  ~DumpTakerTest() override {
    for (const Spawned& process : processes_) {
      ::kill(-process.pid, SIGKILL);
      ReapAtEnd(process.ref());
    }
  }

  // Creates a program of this name; with `python`, muster takes it for a Python interpreter.
  std::string Program(bool python) {
    if (!python) return std::string(MUSTER_TESTS_DIR) + "/probe";
    const std::string copy = folder_ / "python3-probe";
    std::filesystem::copy_file(std::string(MUSTER_TESTS_DIR) + "/probe", copy,
                               std::filesystem::copy_options::skip_existing);
    return copy;
  }

  // Starts a probe that executes the first verbs, prints "up", and executes the rest; returns after that line.
  void Start(std::vector<std::string> verbs, bool python = false, const std::vector<std::string>& first = {}) {
    const std::string log = folder_ / (std::to_string(processes_.size()) + ".log");
    const UniqueFd out(::open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
    SpawnSpec spec;
    spec.argv = {Program(python)};
    spec.argv.insert(spec.argv.end(), first.begin(), first.end());
    spec.argv.insert(spec.argv.end(), {"print", "up"});
    spec.argv.insert(spec.argv.end(), verbs.begin(), verbs.end());
    spec.stdout_fd = out.get();
    spec.grouping = Grouping::kOwnGroup;
    auto spawned = launcher_.Spawn(spec);
    ASSERT_TRUE(spawned) << SpawnErrorText(spawned.error());
    const auto id = static_cast<ProcessId>(processes_.size());
    targets_.push_back({{id, 0},
                        spawned->pid,
                        "dump 1 of probe",
                        {directory_.get(), std::to_string(id) + ".txt"},
                        {directory_.get(), std::to_string(id) + ".log"},
                        folder_ / "tools"});
    processes_.push_back(*std::move(spawned));
    ASSERT_TRUE(testing::AwaitLine(log, "up"));
  }

  // Puts a shell script on the targets' PATH; $pid is the process to inspect.
  void Tool(const std::string& name, const std::string& body) {
    std::filesystem::create_directory(folder_ / "tools");
    std::ofstream(folder_ / ("tools/" + name)) << "#!/bin/sh\nfor pid; do :; done\n" << body << "\n";
    ::chmod((folder_ / ("tools/" + name)).c_str(), 0700);
  }

  // Takes a dump of all targets and waits until it is done.
  void Take(std::chrono::milliseconds within = std::chrono::seconds(20),
            const std::function<void(DumpTaker&)>& then = {}) {
    bool done = false;
    DumpTaker taker(io_, launcher_,
                    {.reported = [this](const ProcessDumped& reported) { reported_.push_back(reported); },
                     .done =
                         [&](HostDumped end) {
                           end_ = std::move(end);
                           done = true;
                         },
                     .idle = [] {}});
    taker.Take(1, within, targets_);
    if (then) then(taker);
    const auto deadline = std::chrono::steady_clock::now() + testing::kDeadline;
    while (!done && io_.run_one_until(deadline) > 0) {
    }
    ASSERT_TRUE(done);
    EXPECT_TRUE(taker.empty()) << "a tool is left";
    std::sort(reported_.begin(), reported_.end(), [](const auto& a, const auto& b) { return a.process < b.process; });
  }

  std::string Kinds() const {
    std::string kinds;
    for (const DumpNote& note : end_.notes) kinds += (kinds.empty() ? "" : " ") + note.kind;
    return kinds;
  }

  TempDir folder_;
  UniqueFd directory_{::open(folder_.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  boost::asio::io_context io_;
  Launcher launcher_;
  std::vector<Spawned> processes_;
  std::vector<DumpTaker::Target> targets_;
  std::vector<ProcessDumped> reported_;
  HostDumped end_;
};

TEST_F(DumpTakerTest, ReportsKernelStateWithoutTools) {
  Start({"wait"});
  Start({"await", folder_ / "never"}, false, {"child"});
  Take();
  EXPECT_EQ(Kinds(), "no_tools");
  ASSERT_EQ(reported_.size(), 2U);
  EXPECT_EQ(reported_[0].log_bytes, 3U);
  EXPECT_GT(reported_[0].window_ns, 0U);
  ASSERT_EQ(reported_[0].states.size(), 1U);
  ASSERT_EQ(reported_[1].states.size(), 2U) << "what is below it is looked at, too";
  const ThreadState& main = reported_[1].states[0].threads.at(0);
  EXPECT_EQ(reported_[1].states[0].program, "probe");
  EXPECT_EQ(reported_[1].states[1].parent, reported_[1].states[0].pid);
  EXPECT_EQ(main.state, "sleeping");
  EXPECT_EQ(main.call, "read");
  EXPECT_EQ(main.target, "inotify");
  struct stat file {};
  ASSERT_EQ(::stat((folder_ / "1.txt").c_str(), &file), 0);
  EXPECT_EQ(file.st_mode, static_cast<mode_t>(S_IFREG | 0600));
  EXPECT_NE(ContentOf(folder_ / "1.txt").find("sleeping"), std::string::npos) << ContentOf(folder_ / "1.txt");
}

TEST_F(DumpTakerTest, UsesPySpyForPythonAndGdbForOtherPrograms) {
  Tool("py-spy",
       R"(printf 'Process 1: python3 --key s3cr3t\nPython v3.11.7 (x)\n\nThread %s (idle): "MainThread"\n' "$pid"
            printf '    read (loader.py:12)\n'; test "$1" = dump)");
  Tool("gdb", R"(printf 'Thread 1 (LWP %s "x"):\n#0  0x1 in pause () from /lib/libc.so\n' "$pid"; /usr/bin/env)");
  Start({"wait"}, true);
  Start({"wait"});
  Take();
  EXPECT_EQ(Kinds(), "");
  ASSERT_EQ(reported_.size(), 2U);
  EXPECT_EQ(reported_[0].states[0].by, "py-spy");
  EXPECT_EQ(reported_[0].states[0].threads[0].frames, (std::vector<StackFrame>{{"read", "loader.py", 12}}));
  EXPECT_EQ(reported_[1].states[0].by, "gdb");
  EXPECT_EQ(reported_[1].states[0].threads[0].frames, (std::vector<StackFrame>{{"pause", "/lib/libc.so", 0}}));
  const std::string text = ContentOf(folder_ / "1.txt");
  EXPECT_NE(text.find("output of gdb:\n  Thread 1"), std::string::npos) << text;
  EXPECT_NE(text.find("PATH="), std::string::npos) << text;
  EXPECT_EQ(text.find("HOME="), std::string::npos) << "a tool gets no environment but where programs are";
  const std::string python = ContentOf(folder_ / "0.txt");
  EXPECT_NE(python.find("Python v3.11.7"), std::string::npos) << python;
  EXPECT_EQ(python.find("s3cr3t"), std::string::npos) << "arguments may be secrets";
}

TEST_F(DumpTakerTest, UsesGdbIfPySpyFails) {
  Tool("py-spy", "echo 'Error: Failed to find python version' >&2; exit 1");
  Tool("gdb", R"(printf 'Thread 1 (LWP %s "x"):\n#0  pause ()\n' "$pid")");
  Start({"wait"}, true);
  Take();
  EXPECT_EQ(Kinds(), "failed");
  EXPECT_EQ(end_.notes[0].detail, "py-spy exited with code 1: Error: Failed to find python version");
  EXPECT_EQ(reported_.at(0).states[0].by, "gdb");
}

TEST_F(DumpTakerTest, ReportsOnceThatTheKernelRefuses) {
  Tool("gdb", "echo x >> \"$0.calls\"; echo 'ptrace: Operation not permitted.'");
  for (int i = 0; i < 12; ++i) Start({"wait"});
  Take();
  EXPECT_EQ(Kinds(), "refused");
  EXPECT_TRUE(end_.notes[0].detail.starts_with("gdb: ptrace: Operation not permitted.")) << end_.notes[0].detail;
  EXPECT_EQ(reported_.size(), 12U);
  EXPECT_LE(ContentOf(folder_ / "tools/gdb.calls").size() / 2, 4U) << "no more than had been begun";
}

TEST_F(DumpTakerTest, KillsAHungToolThatIgnoresSigterm) {
  Tool("gdb", "exec " + std::string(MUSTER_TESTS_DIR) + "/probe ignore-term print said wait");
  for (int i = 0; i < 6; ++i) Start({"wait"});
  Take(std::chrono::seconds(2));
  EXPECT_EQ(Kinds(), "late");
  EXPECT_EQ(reported_.size(), 6U);
  for (const ProcessDumped& reported : reported_) EXPECT_EQ(reported.states.at(0).by, "");
  bool said = false;
  for (int i = 0; i < 6; ++i) {
    said = said || ContentOf(folder_ / (std::to_string(i) + ".txt")).find("said") != std::string::npos;
  }
  EXPECT_TRUE(said) << "what it said until then is kept";
}

TEST_F(DumpTakerTest, ReadsNoMoreThanAMebibyteOfATool) {
  Tool("gdb", R"(printf 'Thread 1 (LWP %s "x"):\n#0  pause ()\n' "$pid"; exec /usr/bin/yes)");
  Start({"wait"});
  Take();
  EXPECT_EQ(reported_.at(0).states[0].by, "gdb");
  // gdb's lines of two bytes are indented by two more.
  EXPECT_GT(ContentOf(folder_ / "0.txt").size(), 1U << 20);
  EXPECT_LT(ContentOf(folder_ / "0.txt").size(), 3U << 20);
}

TEST_F(DumpTakerTest, KeepsNoMoreThanEightMebibytesOfAllTools) {
  Tool("gdb", "exec /usr/bin/yes");
  // The parents block in the same place, which their children do not share: both parents are inspected before the
  // children, so nine mebibytes of output arrive before a file can be written.
  for (int i = 0; i < 2; ++i) Start({"await", folder_ / "never"}, false, std::vector<std::string>(7, "child"));
  Take(std::chrono::minutes(1));
  const std::string files = ContentOf(folder_ / "0.txt") + ContentOf(folder_ / "1.txt");
  EXPECT_NE(files.find("output of gdb, in part:"), std::string::npos);
}

// A tool must not attach to a process that is to be stopped, once that is known.
TEST_F(DumpTakerTest, AttachesNoToolToAProcessThatIsToStop) {
  Tool("gdb", ": > \"$0.called.$pid\"");
  Start({"wait"});
  Start({"wait"});
  Take(std::chrono::seconds(20), [this](DumpTaker& taker) { taker.LetGo(targets_[0].key); });
  EXPECT_EQ(reported_.size(), 2U);
  const auto called = [this](std::size_t i) {
    return std::filesystem::exists(folder_ / ("tools/gdb.called." + std::to_string(targets_[i].pid)));
  };
  EXPECT_FALSE(called(0));
  EXPECT_TRUE(called(1));
}

TEST_F(DumpTakerTest, ContinuesAProcessThatAKilledToolLeftStopped) {
  Tool("gdb", "kill -STOP \"$pid\"; kill -KILL $$");
  Start({"wait"});
  Take();
  std::vector<KernelProcess> tree = ProcessTree(processes_[0].pid);
  ReadThreadStates(tree.at(0));
  EXPECT_NE(tree[0].threads.at(0).state, 'T');
}

TEST_F(DumpTakerTest, LeavesAStoppedProcessStopped) {
  Tool("gdb", "kill -KILL $$");
  Start({"stop"});
  siginfo_t info = {};
  ASSERT_EQ(::waitid(P_PID, static_cast<id_t>(processes_[0].pid), &info, WSTOPPED | WNOWAIT), 0);
  Take();
  EXPECT_EQ(reported_.at(0).states[0].threads[0].state, "stopped");
  std::vector<KernelProcess> tree = ProcessTree(processes_[0].pid);
  ReadThreadStates(tree.at(0));
  EXPECT_EQ(tree[0].threads.at(0).state, 'T');
}

TEST_F(DumpTakerTest, ReportsAProcessThatHasExited) {
  Start({"exit", "0"});
  ASSERT_TRUE(testing::AwaitReadable(processes_[0].pidfd.get()));
  Take();
  ASSERT_EQ(reported_.size(), 1U);
  Take(std::chrono::milliseconds(1));
}

TEST_F(DumpTakerTest, AbandonsADumpForTheNext) {
  Tool("gdb", "exec " + std::string(MUSTER_TESTS_DIR) + "/probe ignore-term wait");
  Start({"wait"});
  Take(std::chrono::milliseconds(400), [this](DumpTaker& taker) {
    // Gives up as soon as a tool runs.
    while (taker.empty() && io_.run_one() > 0) {
    }
    taker.Take(2, std::chrono::milliseconds(400), targets_);
  });
  EXPECT_EQ(end_.dump, 2U);
  ASSERT_EQ(reported_.size(), 1U);
  EXPECT_EQ(reported_[0].dump, 2U);
}

TEST_F(DumpTakerTest, AcceptsAnEmptyListOfTargets) {
  Take();
  EXPECT_TRUE(reported_.empty());
  EXPECT_EQ(end_.dump, 1U);
}

TEST_F(DumpTakerTest, ParsesTheRealGdb) {
  if (::access("/usr/bin/gdb", X_OK) != 0) GTEST_SKIP() << "gdb";
  Start({"wait"});
  targets_[0].search_path = "/usr/bin:/bin";
  Take();
  if (Kinds() == "refused") GTEST_SKIP() << "the right to look into processes: " << end_.notes[0].detail;
  ASSERT_EQ(reported_.at(0).states[0].by, "gdb") << Kinds() << ContentOf(folder_ / "0.txt");
  const std::vector<StackFrame>& frames = reported_[0].states[0].threads[0].frames;
  EXPECT_TRUE(std::any_of(frames.begin(), frames.end(), [](const StackFrame& f) {
    return f.function.find("pause") != std::string::npos;
  })) << ContentOf(folder_ / "0.txt");
}

}  // namespace
}  // namespace muster
